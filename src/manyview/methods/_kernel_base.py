"""What the methods on dense kernels share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._checks import check_choice, check_integer
from manyview._typing import FloatArray
from manyview.kernels import gaussian_kernel, require_dense
from manyview.methods._base import MultiViewClusterer
from manyview.views import Views


class KernelClusterer(MultiViewClusterer):
    """Base of the methods that start from one dense kernel a view."""

    kernel: Any
    max_dense_samples: Any

    def _takes_similarities(self) -> bool:
        return bool(self.kernel == "precomputed")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("kernel", self.kernel, ("gaussian", "precomputed"))
        check_integer("max_dense_samples", self.max_dense_samples, 1)

    def _kernels(self, views: Views, n_matrices: int) -> list[FloatArray]:
        """The kernel of every view; `n_matrices` is what the whole method holds at once."""
        name = type(self).__name__
        require_dense(name, views.n_samples, n_matrices, self.max_dense_samples)
        kernels, sigmas = [], []
        for view, matrix in zip(views.names, views.matrices, strict=True):
            if self._takes_similarities():
                dense = matrix.toarray() if isinstance(matrix, csr_array) else matrix
                kernels.append((dense + dense.T) / 2)
                continue
            kernel, sigma = gaussian_kernel(self._rows(matrix, view))
            if sigma == 0:
                warnings.warn(
                    f"view '{view}' says nothing about any sample: all samples are equal",
                    stacklevel=3,
                )
            kernels.append(kernel)
            sigmas.append(sigma)
        self.bandwidths_ = np.array(sigmas)
        return kernels

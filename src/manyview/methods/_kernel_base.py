"""What the methods on dense kernels share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, Matrix
from manyview.graphs import FitSize, gaussian_kernel, require_dense, view_sizes
from manyview.inputs import Views, powers_of_two
from manyview.methods._base import MultiViewClusterer
from manyview.runtime import check_choice, check_integer


class KernelClusterer(MultiViewClusterer):
    """Base of the methods that start from one dense kernel a view."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str = "gaussian",
        normalize: str | None = "auto",
        views: Sequence[int] | None = None,
        max_dense_samples: int = 5000,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.normalize = normalize
        self.views = views
        self.max_dense_samples = max_dense_samples
        self.random_state = random_state
        self.verbose = verbose

    def _takes_similarities(self) -> bool:
        return bool(self.kernel == "precomputed")

    def _check_parameters(self) -> None:
        if self._finds_n_clusters:
            raise ValueError(
                f"n_clusters='auto' with {type(self).__name__}, which has no graph to read it "
                "from; expected a number"
            )
        super()._check_parameters()
        check_choice("kernel", self.kernel, ("gaussian", "precomputed"))
        check_integer("max_dense_samples", self.max_dense_samples, 1)

    def _fit_size(self, views: Views) -> FitSize:
        return FitSize(views.n_samples, view_sizes(views), int(self.n_clusters))

    def _check_memory(self, views: Views) -> None:
        needed = self._memory(self._fit_size(views)).peak
        require_dense(type(self).__name__, views.n_samples, needed, self.max_dense_samples)
        super()._check_memory(views)

    def _kernels(self, views: Views) -> list[FloatArray]:
        """The kernel of every view."""
        if self._takes_similarities():
            self.bandwidths_ = np.array([])
            return [self._given(matrix, view) for view, matrix in _pairs(views)]
        rows = [self._rows(matrix, view) for view, matrix in _pairs(views)]
        self._check_distinct(rows)
        kernels, sigmas = zip(*(gaussian_kernel(part) for part in rows), strict=True)
        for view, sigma in zip(views.names, sigmas, strict=True):
            if sigma == 0:
                self._warn_silent(view, "all samples are equal")
        self.bandwidths_ = np.array(sigmas)
        return list(kernels)

    def _given(self, matrix: Matrix, view: str) -> FloatArray:
        dense: FloatArray = matrix.toarray() if isinstance(matrix, csr_array) else matrix
        largest = dense.max()
        if largest == 0:
            self._warn_silent(view, "it has no similarities")
        if largest > 1:  # their unit does not matter, but columns that are too large to add up do
            dense = dense / powers_of_two(largest)
        return (dense + dense.T) / 2

    def _warn_silent(self, view: str, why: str) -> None:
        warnings.warn(f"view '{view}' says nothing about any sample: {why}", stacklevel=4)


def _pairs(views: Views) -> Iterator[tuple[str, Matrix]]:
    return zip(views.names, views.matrices, strict=True)

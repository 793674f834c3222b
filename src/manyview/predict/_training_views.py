"""Views of samples that were clustered, and new samples in the same views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray, Matrix
from manyview.inputs import Views
from manyview.runtime import logger


@dataclass(frozen=True)
class TrainingView:
    """A view of the samples that were clustered.

    Attributes
    ----------
    name : str
    matrix : array or csr_array of shape (n_present, n_features)
        Features as they came, of the samples that the view has.
    samples : array of shape (n_present,), optional
        Their numbers; None where the view has all.
    weight : float
    trust : array of shape (n_present,)
        How much of the sample's edges in this view the other views agree with, from 0 to 1.
    features : tuple of str, optional
        Names of the columns, where they are known.
    """

    name: str
    matrix: Matrix
    samples: IntArray | None
    weight: float
    trust: FloatArray
    features: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])


def match_views(known: Sequence[TrainingView], given: Views) -> Views:
    """New samples in the known views: in their order, with their columns in their order.

    A view that is not given has none of the samples.
    """
    n = given.n_samples
    has = np.ones((n, len(given.names)), dtype=bool) if given.present is None else given.present
    matrices, columns = [], []
    for view in known:
        if view.name in given.names:
            place = given.names.index(view.name)
            names = None if given.features is None else given.features[place]
            matrices.append(_match(view, given.matrices[place], names))
            columns.append(has[:, place])
        else:
            matrices.append(csr_array((n, view.width)))
            columns.append(np.zeros(n, dtype=bool))
    present = np.column_stack(columns)
    return Views(
        tuple(view.name for view in known),
        tuple(matrices),
        None if present.all() else present,
        tuple(view.features for view in known),
    )


def _match(view: TrainingView, matrix: Matrix, names: tuple[str, ...] | None) -> Matrix:
    """The columns of the known view, by name where both have names; dense or sparse as it is."""
    if view.features is not None and names is not None and names != view.features:
        if names == tuple(map(str, range(len(names)))):
            logger.warning(
                "columns of view '%s' have no names; they are taken in the order of the model's",
                view.name,
            )
        else:
            matrix = matrix[:, _places(view, view.features, names)]
    if matrix.shape[1] != view.width:
        raise ValueError(
            f"view '{view.name}' has {matrix.shape[1]} columns; expected {view.width}, as in the "
            "samples that were clustered"
        )
    if isinstance(view.matrix, csr_array):
        return matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def _places(view: TrainingView, known: tuple[str, ...], names: tuple[str, ...]) -> IntArray:
    place = {name: number for number, name in enumerate(names)}
    lacking = [name for name in known if name not in place]
    if lacking:
        raise ValueError(
            f"view '{view.name}' lacks {len(lacking)} of the {len(known)} columns of the samples "
            f"that were clustered, the first is {lacking[0]!r}; expected all of them"
        )
    return np.array([place[name] for name in known], dtype=np.intp)

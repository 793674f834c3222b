"""Views of the training samples, and new samples in the same views."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray, Matrix
from manyview.inputs import DroppedColumn, Table, Views, first_few, imputed, one_hot
from manyview.runtime import logger


@dataclass(frozen=True)
class TrainingView:
    """A view of the training samples: those that were clustered."""

    name: str
    matrix: Matrix  # (n_present, n_features): features as given, of the samples present in the view
    samples: IntArray | None  # (n_present,): which samples these are; None for all
    weight: float
    # (n_present,): the share of the sample's edges in this view that the other views agree with.
    trust: FloatArray
    n_neighbors: int  # how many vote
    features: tuple[str, ...] | None = None  # names of the columns, if known; or None
    scaling: str = "zscore"  # one of `SCALINGS`
    # Of the columns that were one-hot encoded: the columns named "colour=red" are of "colour".
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def has_names(self) -> bool:
        """Whether its columns have names of their own."""
        return self.features is not None and not is_numbered(self.features)


def is_numbered(names: Sequence[str]) -> bool:
    """Whether columns are "0", "1", ..., which stands for no names."""
    return tuple(names) == tuple(map(str, range(len(names))))


def prepare_like(view: TrainingView, table: Table, impute: bool) -> Table:
    """New samples with the columns and categories of the training samples and, to fill empty
    cells, their medians. Medians need not be stored: filling cells with them did not change them.

    Other columns are ignored, whatever they hold.
    """
    missing = [name for name in view.categories if name not in table.categorical]
    if missing:
        raise ValueError(
            f"view '{view.name}' lacks the categorical column {missing[0]!r} of the training "
            "samples; expected it"
        )
    known = {name: table.categorical[name] for name in view.categories}
    others = [DroppedColumn(name, "is text") for name in table.categorical if name not in known]
    dropped = [one for one in table.preparation.dropped if not one.was_asked_for]
    table = one_hot(replace(table, categorical=known), view.categories)
    matrix = _match(view, table.matrix, table.features, [*dropped, *others])
    table = replace(table, matrix=matrix, features=view.features)
    return imputed(table, view.matrix) if impute else table


def match_views(training: Sequence[TrainingView], given: Views) -> Views:
    """New samples in the training views, views and columns in the same order.

    All samples are missing in a view that is not given.
    """
    n = given.n_samples
    matrices, present = [], np.zeros((n, len(training)), dtype=bool)
    for v, view in enumerate(training):
        if view.name in given.names:
            position = given.names.index(view.name)
            names = None if given.features is None else given.features[position]
            matrices.append(_match(view, given.matrices[position], names))
            present[:, v] = True if given.present is None else given.present[:, position]
        else:
            matrices.append(csr_array((n, view.width)))
    return Views(
        tuple(view.name for view in training),
        tuple(matrices),
        None if present.all() else present,
        tuple(view.features for view in training),
    )


def _match(
    view: TrainingView,
    matrix: Matrix,
    names: tuple[str, ...] | None,
    dropped: Sequence[DroppedColumn] = (),
) -> Matrix:
    """The columns of the training view, by name if both have names; dense or sparse as it is.

    `dropped` are columns of the new samples that are not in the matrix, as they are no numbers.
    """
    ignored = [one.name for one in dropped]
    if view.has_names and names is not None and names != view.features:
        if is_numbered(names):
            logger.warning(
                "columns of view '%s' have no names; they are taken in the order of the model's",
                view.name,
            )
        else:
            position = {name: number for number, name in enumerate(names)}
            features = view.features or ()
            _refuse_missing(view, [name for name in features if name not in position], dropped)
            ignored = [name for name in names if name not in features] + ignored
            matrix = matrix[:, [position[name] for name in features]]
    if matrix.shape[1] != view.width:
        without = f" without {first_few(ignored)}" if ignored else ""
        raise ValueError(
            f"view '{view.name}' has {matrix.shape[1]} columns{without}; expected {view.width}, as "
            "in the training samples"
        )
    if ignored:
        logger.warning(
            "view '%s': ignored %d column(s) that the model does not know: %s",
            view.name, len(ignored), first_few(ignored, 10),
        )  # fmt: skip
    if isinstance(view.matrix, csr_array):
        return matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def _refuse_missing(
    view: TrainingView, missing: Sequence[str], dropped: Sequence[DroppedColumn]
) -> None:
    if missing:
        why = {one.name: f"column {one}" for one in dropped}
        reasons = [why[name] for name in missing if name in why][:1]
        raise ValueError(
            f"view '{view.name}' lacks {len(missing)} of the {view.width} columns of the training "
            f"samples: {'; '.join([first_few(missing), *reasons])}; expected all of them as numbers"
        )

"""Tables -> matrices over the same samples, and which samples each has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.inputs._missing import check_finite, check_in_some_view, find_non_finite
from manyview.inputs._names import first_few
from manyview.inputs._prepare import prepared
from manyview.inputs._tables import AlignedTables, Table, numbered
from manyview.runtime import logger


def align(tables: Sequence[Table]) -> AlignedTables:
    """Put the rows of all tables into one order of samples.

    Ids join rows, and samples come in the order in which the tables first name them. Without ids
    row i of every table is sample i. A sample is missing from a view that has no row for it, or a
    row of empty cells only. Matrices that need no change are passed on, not copied.

    See Also
    --------
    manyview.inputs.files.read_views : Reads tables from files.
    manyview.cluster : Takes what `align` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.inputs import Table, align
    >>> text = Table("text", np.array([[1.0], [2.0]]), ("a", "b"), None)
    >>> image = Table("image", np.array([[3.0], [4.0]]), ("b", "c"), None)
    >>> aligned = align([text, image])
    >>> aligned.ids
    ('a', 'b', 'c')
    >>> aligned.present.tolist()
    [[True, False], [True, True], [False, True]]
    """
    tables = prepared(tables)
    has_ids = _check_tables(tables)
    ids = _joined_ids(tables) if has_ids else numbered(_common_rows(tables))
    index = {sample: i for i, sample in enumerate(ids)} if has_ids else {}
    present = np.zeros((len(ids), len(tables)), dtype=bool)
    views: dict[str, Matrix] = {}
    texts: dict[str, list[str | None]] = {}
    for v, table in enumerate(tables):
        samples = np.arange(table.shape[0])  # the sample of each row
        if table.ids is not None:
            samples = np.fromiter((index[sample] for sample in table.ids), np.intp, len(table.ids))
        found = find_non_finite(table.matrix)
        if found.first_value is not None:
            check_finite(
                found, table.name, 0, table.ids or ids, table.feature_names, _advice(table)
            )
        filled = ~found.empty_rows
        present[samples[filled], v] = True
        views[table.name] = _reordered(table.matrix, samples, filled, len(ids))
        for name, cells in table.texts.items():
            column = dict(zip(samples.tolist(), cells, strict=True))
            placed = [column.get(sample) for sample in range(len(ids))]
            is_new = texts.get(name, placed) == placed
            texts[name if is_new else f"{table.name}.{name}"] = placed
    check_in_some_view(present, ids)
    if has_ids:
        _warn_of_strangers(tables)
    return AlignedTables(
        ids,
        views,
        present,
        {table.name: table.feature_names for table in tables},
        has_ids,
        _common_id_name(tables),
        _joined_index(tables, index),
        {table.name: table.preparation for table in tables},
        texts,
    )


def _advice(table: Table) -> str:
    """What else could be done about values that are not finite."""
    values = table.matrix.data if isinstance(table.matrix, csr_array) else table.matrix
    if np.isinf(values).any():
        return ""
    return "; impute='median' (--impute median) fills empty cells"


def _common_id_name(tables: Sequence[Table]) -> str:
    names = {table.id_name for table in tables}
    return next(iter(names)) or "id" if len(names) == 1 else "id"


def _joined_index(tables: Sequence[Table], position: Mapping[str, int]) -> Any:
    """The samples as data frames index them, each as the first frame that has it; None if there is
    a table without index whose rows are joined by id."""
    if not position:
        return next((table.index for table in tables if table.index is not None), None)
    if any(table.index is None for table in tables):
        return None
    joined, n = tables[0].index, len(tables[0].ids or ())
    for table in tables[1:]:
        new = [row for row, sample in enumerate(table.ids or ()) if position[sample] >= n]
        joined, n = joined.append(table.index[new]), n + len(new)
    return joined


def _check_tables(tables: Sequence[Table]) -> bool:
    """Refuse tables that cannot be views; whether they have ids."""
    if not tables:
        raise ValueError("got no tables; expected at least one")
    twice = [name for name, n in Counter(table.name for table in tables).items() if n > 1]
    if twice:
        raise ValueError(f"view name {twice[0]!r} comes more than once; expected distinct names")
    for table in tables:
        shape = table.shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"view {table.name!r} has shape {shape}; expected rows and columns")
        for what, names, n in zip(
            ("rows", "columns"), (table.ids, table.features), shape, strict=True
        ):
            if names is not None and len(names) != n:
                raise ValueError(
                    f"view {table.name!r} has {n} {what}, but names for {len(names)}; "
                    "expected the same number"
                )
    named = [table.name for table in tables if table.ids is not None]
    nameless = [table.name for table in tables if table.ids is None]
    if named and nameless:
        raise ValueError(
            f"{first_few(named)} came with ids, {first_few(nameless)} without; "
            "expected ids in all or in none"
        )
    return bool(named)


def _joined_ids(tables: Sequence[Table]) -> tuple[str, ...]:
    joined: dict[str, None] = {}  # a set that keeps the order
    for table in tables:
        ids = table.ids or ()
        for row, sample in enumerate(ids, start=1):
            if not sample.strip():
                raise ValueError(
                    f"view {table.name!r} has an empty id in row {row}; expected a name"
                )
        if len(set(ids)) < len(ids):
            twice = [(sample, n) for sample, n in Counter(ids).items() if n > 1]
            raise ValueError(
                f"view {table.name!r} has {len(twice)} id(s) in more than one row, the first "
                f"{twice[0][0]!r} in {twice[0][1]} rows; expected every id once"
            )
        joined.update(dict.fromkeys(ids))
    return tuple(joined)


def _common_rows(tables: Sequence[Table]) -> int:
    """The number of rows, which must be the same where no ids join them."""
    if len({table.shape[0] for table in tables}) == 1:
        return tables[0].shape[0]
    counts = ", ".join(f"{table.name!r} has {table.shape[0]} rows" for table in tables)
    message = f"tables without ids differ in length: {counts}; expected the same number"
    shared = set.intersection(*(set(table.shape) for table in tables))
    if shared:  # all would fit if rows and columns of some were exchanged
        n = max(shared)
        turned = first_few([table.name for table in tables if table.shape[0] != n])
        message += f" ({turned} with {n} columns might be transposed)"
    raise ValueError(message)


def _reordered(matrix: Matrix, samples: IntArray, filled: BoolArray, n_samples: int) -> Matrix:
    """The matrix with its row i at samples[i], and zeros where no filled row goes."""
    in_order = len(samples) == n_samples and bool((samples == np.arange(n_samples)).all())
    if in_order and filled.all():
        return matrix
    if isinstance(matrix, csr_array):
        order = np.argsort(samples)
        picked = matrix[order]
        lengths = np.zeros(n_samples, dtype=picked.indptr.dtype)
        lengths[samples[order]] = np.diff(picked.indptr)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(picked.indptr.dtype)
        return csr_array((picked.data, picked.indices, indptr), shape=(n_samples, matrix.shape[1]))
    reordered = np.zeros((n_samples, matrix.shape[1]))
    reordered[samples] = matrix  # selecting the filled rows first would take a third copy
    reordered[samples[~filled]] = 0.0
    return reordered


def _warn_of_strangers(tables: Sequence[Table]) -> None:
    """Ids spelled differently join nothing, which is no error but seldom what was meant."""
    counts = Counter(sample for table in tables for sample in table.ids or ())
    strangers = [
        f"view '{table.name}' shares no id with the other views; its first is {table.ids[0]!r}"
        for table in tables
        if len(tables) > 1 and table.ids and all(counts[sample] == 1 for sample in table.ids)
    ]
    if strangers:
        logger.warning("%s", ", ".join(strangers))

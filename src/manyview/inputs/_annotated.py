"""MuData and AnnData -> tables, recognised by their attributes: neither package is imported."""

from collections.abc import Mapping, Sequence
from typing import Any

from manyview.inputs._align import Table
from manyview.inputs._names import first_few
from manyview.inputs._views import as_matrix, column_names

#: Names of views; or by name, which of its matrices an AnnData gives to the view.
Choice = Mapping[str, str] | Sequence[str]


def is_mudata(data: Any) -> bool:
    return isinstance(getattr(data, "mod", None), Mapping)


def is_anndata(data: Any) -> bool:
    return hasattr(data, "obsm") and hasattr(data, "obs_names") and not is_mudata(data)


def modality_tables(modalities: Mapping[str, Any], views: Choice | None) -> list[Table]:
    """X of the chosen modalities, or the matrices that a dict names."""
    chosen = chosen_names(modalities, views, "modalities")
    places = views if isinstance(views, Mapping) else {}
    return [_table(modalities[name], places.get(name, "X"), name) for name in chosen]


def matrix_tables(data: Any, views: Choice | None) -> list[Table]:
    """The chosen matrices of one AnnData; X by default. A dict gives them names."""
    chosen = ["X"] if views is None else views
    places = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
    return [_table(data, place, str(name)) for name, place in places.items()]


def chosen_names(named: Mapping[str, Any], views: Choice | None, what: str) -> list[str]:
    """The names in `views`, each once, or all names."""
    if views is None:
        return list(named)
    unknown = [name for name in views if name not in named]
    if unknown:
        raise ValueError(f"views has {unknown[0]!r}; expected some of the {what} {list(named)}")
    return list(dict.fromkeys(views))


def refuse_dict(views: Choice | None) -> None:
    if isinstance(views, Mapping):
        raise ValueError("views is a dict, but data is no MuData or AnnData; expected a list")


def _table(data: Any, place: str, name: str) -> Table:
    """X, a layer or an array of obsm as the view `name`."""
    known = _places(data)
    hits = [place] if place in known else [one for one in known if one.partition("/")[2] == place]
    given = f"views has {place!r}" + ("" if name == place else f" for {name!r}")
    if not hits:
        raise ValueError(f"{given}; expected one of {first_few(known, 20)}")
    if len(hits) > 1:
        raise ValueError(f"{given}, a layer and in obsm; expected {' or '.join(map(repr, hits))}")
    group, _, key = hits[0].partition("/")
    matrix = getattr(data, group)[key] if key else data.X
    if matrix is None:
        others = f"one of {first_few(known[1:], 20)}" if known[1:] else "a matrix"
        raise ValueError(f"view {name!r} has no X; expected {others}")
    features = column_names(matrix) if group == "obsm" else _texts(data.var_names)
    return Table(name, as_matrix(matrix, name), _texts(data.obs_names), features)


def _places(data: Any) -> list[str]:
    """The matrices of an AnnData: "X", "layers/NAME" and "obsm/NAME"."""
    layers = [f"layers/{key}" for key in data.layers if key is not None]  # anndata 0.13 has X there
    return ["X", *layers, *(f"obsm/{key}" for key in data.obsm)]


def _texts(index: Any) -> tuple[str, ...]:
    return tuple(map(str, index))

"""New samples in any form -> tables with the names of the views that were clustered."""

from collections.abc import Mapping, Sequence
from typing import Any

from manyview.inputs import AlignedTables, aligned_tables, is_collection


def new_tables(
    data: Any, names: Sequence[str], views: Any = None, present: Any = None
) -> AlignedTables:
    """New samples, aligned by their ids if they have any; views may be missing.

    Parameters
    ----------
    data : as in `manyview.cluster`
    names : the views that were clustered
    views : the parameter `views` that they were clustered with, for data of the same form
    present : boolean array of shape (n_samples, n_views), optional
    """
    if isinstance(data, AlignedTables):
        check_view_names(data.views, names)
        return aligned_tables(data, None, present)
    if isinstance(modalities := getattr(data, "mod", None), Mapping):
        return aligned_tables(data, _among(names if views is None else views, modalities), present)
    if hasattr(data, "obs_names"):
        return aligned_tables(data, names if views is None else views, present)
    if is_collection(data):
        return aligned_tables(named_views(data, names), None, present)
    if views is None and len(names) == 1:
        return aligned_tables({names[0]: data}, None, present)
    return aligned_tables(data, views, present)


def named_views(data: Any, names: Sequence[str]) -> dict[str, Any]:
    """Tables by name: some views in a dict, or all of them in a list."""
    given = getattr(data, "views", data)
    if isinstance(given, Mapping):
        check_view_names(given, names)
        return {str(name): table for name, table in given.items()}
    if len(given) != len(names):
        raise ValueError(
            f"got {len(given)} view(s); expected {len(names)} ({', '.join(names)}), "
            "or a dict of some of them"
        )
    return dict(zip(names, given, strict=True))


def check_view_names(given: Mapping[Any, Any], names: Sequence[str]) -> None:
    """Refuse views that were not clustered."""
    foreign = [str(name) for name in given if str(name) not in names]
    if foreign:
        raise ValueError(
            f"view '{foreign[0]}'; expected some of {', '.join(names)} (on the command line "
            "NAME=FILE names a view)"
        )


def _among(views: Any, modalities: Mapping[str, Any]) -> Any:
    """Those of the views whose modality is there."""
    kept = [name for name in views if name in modalities]
    if not kept:
        raise ValueError(
            f"data has the modalities {list(modalities)}; expected some of {list(views)}"
        )
    return {name: views[name] for name in kept} if isinstance(views, Mapping) else kept

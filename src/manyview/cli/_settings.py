"""Settings of clusterings, which several commands share."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from manyview.cli._terminal import FLAGS
from manyview.methods import methods_with


def add_settings(add: Callable[..., Any]) -> None:
    # fmt: off
    add("--neighbors", default="auto", metavar="K",
        help="neighbours per sample in each view's graph (default: %(default)s)")
    add("--scaling", nargs="+", metavar="[VIEW=]NAME",
        help="what is done to the columns and rows of all views, or of the view whose name stands "
        "before it: auto, paper, zscore, unit, none, tfidf, sqrt, logratio, standard or center "
        "(default: auto for consensus, for others that of the method)")
    # fmt: on
    add_seed(add)


def add_seed(add: Callable[..., Any]) -> None:
    add("--seed", type=int, default=0, metavar="N", help="random seed (default: %(default)s)")


def add_output(add: Callable[..., Any], folder: str, files: str, page: str) -> None:
    # fmt: off
    add("--output", type=Path, default=Path(folder), metavar="DIR",
        help=f"folder for {files} and {page}, which needs 'manyview[report]' "
        "(default: %(default)s)")
    add("--force", action="store_true",
        help="overwrite the files of an earlier run in that folder, and remove what this run does "
        "not write")
    # fmt: on


def add_yes(add: Callable[..., Any]) -> None:
    add("--yes", action="store_true", help="fit even if the memory will probably not be enough")


def settings_of(options: argparse.Namespace, methods: Sequence[str]) -> dict[str, Any]:
    """Parameters of `manyview.cluster` and `manyview.compare`, which all the methods must have."""
    check_seed(options.seed)
    given = options.clusters
    settings: dict[str, Any] = {
        "n_clusters": [_number_or_auto("--clusters", text) for text in given]
        if isinstance(given, list)
        else _number_or_auto("--clusters", given),
        "random_state": options.seed,
    }
    if options.neighbors != "auto":
        settings["n_neighbors"] = _number_or_auto("--neighbors", options.neighbors)
    if options.scaling:
        settings["scaling"] = _scaling(options.scaling)
    if getattr(options, "resolution", None) is not None:
        settings["resolution"] = options.resolution
    for name in settings.keys() - {"n_clusters", "random_state"}:
        check_able(FLAGS[name], methods, methods_with(name))
    return settings


def check_able(flag: str, methods: Sequence[str], able: Sequence[str]) -> None:
    """Refuse an option for methods that have no use for it."""
    for method in methods:
        if method not in able:
            raise ValueError(
                f"{flag} with {FLAGS['method']} {method}; expected one of {', '.join(able)}"
            )


def check_seed(seed: int) -> None:
    from manyview.runtime import check_integer

    check_integer("seed", seed, 0, 2**32 - 1)


def memory_as_asked(options: argparse.Namespace) -> AbstractContextManager[None]:
    """No limit of memory after --yes."""
    from manyview.runtime import memory_limit

    return memory_limit(None) if options.yes else nullcontext()


def _number_or_auto(flag: str, text: str) -> int | str:
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"{flag} {text}; expected a number of at least 1, or auto")
    return number


def _scaling(given: list[str]) -> str | dict[str, str]:
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    pairs = [text.rpartition("=") for text in given]
    for view, _, name in pairs:
        if not view:
            raise ValueError(f"--scaling {name}; expected VIEW=NAME if there are several")
    return {view: name for view, _, name in pairs}

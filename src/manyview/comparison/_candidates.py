"""What is compared: a title, a method, a number of clusters and settings each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from manyview.methods import BY_SHORT_NAME, DEFAULT
from manyview.runtime import check_choice


@dataclass(frozen=True)
class Candidate:
    """One clustering to be made; `settings` are parameters of the method."""

    name: str
    method: str
    n_clusters: int | str
    settings: Mapping[str, Any]
    is_one_of_several: bool  # numbers of clusters under this name

    @property
    def title(self) -> str:
        return f"{self.name}, {self.n_clusters}" if self.is_one_of_several else self.name

    @property
    def is_automatic(self) -> bool:
        """Whether the suggested number of clusters is to be used."""
        return self.n_clusters == "auto" and self.settings.get("resolution") is None


def candidates(
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]],
    n_clusters: int | str | Sequence[int | str],
    options: Mapping[str, Any],
) -> list[Candidate]:
    """Every method with every number of clusters, unless its settings have a number or a
    resolution of their own. Methods and names of parameters are checked."""
    numbers = _numbers(n_clusters)
    found: list[Candidate] = []
    for title, given in _named(methods).items():
        settings = {**options, **given}
        method = settings.pop("method", DEFAULT)
        check_choice("method", method, tuple(BY_SHORT_NAME))
        own = settings.pop("n_clusters", None)
        if settings.get("resolution") is not None:
            own = "auto" if own is None else own
        _check_parameters(title, method, settings)
        several = own is None and len(numbers) > 1
        found += [
            Candidate(title, method, number, settings, several)
            for number in (numbers if own is None else [own])
        ]
    titles = [one.title for one in found]
    if twice := [title for title in titles if titles.count(title) > 1]:
        raise ValueError(f"two clusterings are called {twice[0]!r}; expected distinct titles")
    return found


def with_number(found: Sequence[Candidate], suggested: int) -> list[Candidate]:
    """The candidates with a number where it is to be suggested, none of them twice."""
    resolved: list[Candidate] = []
    for one in found:
        numbered = replace(one, n_clusters=suggested) if one.is_automatic else one
        if numbered not in resolved:
            resolved.append(numbered)
    return resolved


def _named(methods: Any) -> dict[str, Mapping[str, Any]]:
    """Settings by title."""
    if isinstance(methods, str):
        methods = [methods]
    if isinstance(methods, Mapping):
        named = {str(title): given for title, given in methods.items()}
        for title, given in named.items():
            if not isinstance(given, Mapping):
                raise ValueError(
                    f"methods[{title!r}]={given!r}; expected a dict of settings, such as "
                    "{'method': 'consensus', 'n_clusters': 5}"
                )
    else:
        named = {}
        for method in methods:
            check_choice("method", method, tuple(BY_SHORT_NAME))
            named[method] = {"method": method}
    if not named:
        raise ValueError("methods is empty; expected at least one")
    return named


def _numbers(n_clusters: Any) -> list[Any]:
    if isinstance(n_clusters, str) or not hasattr(n_clusters, "__iter__"):
        return [n_clusters]
    numbers = list(dict.fromkeys(n_clusters))
    if not numbers:
        raise ValueError("n_clusters is empty; expected at least one number, or 'auto'")
    return numbers


def _check_parameters(title: str, method: str, settings: Mapping[str, Any]) -> None:
    known = BY_SHORT_NAME[method].make("auto").get_params()
    for name in settings:
        if name not in known or name == "random_state":
            expected = ", ".join(sorted(set(known) - {"n_clusters", "random_state"}))
            raise ValueError(
                f"{title!r} has no setting {name!r}; expected some of {expected}; settings of some "
                "methods only are given by title: methods={'my title': {'method': ..., ...}, ...}"
            )

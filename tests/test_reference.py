"""The reference lists every public name, each with an example and a way to what is near it."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import manyview

PAGE = Path(__file__).parent.parent / "docs" / "api.rst"
MODULES = ("datasets", "metrics", "plotting")
#: Values, which have no docstring.
PLAIN = {"manyview.__version__", "manyview.datasets.SOURCES"}


def public():
    """Full names of what users import."""
    names = {f"manyview.{name}" for name in manyview.__all__ if name not in MODULES}
    for module in MODULES:
        names |= {f"manyview.{module}.{n}" for n in getattr(manyview, module).__all__}
    return names


def listed():
    """Full names of the entries of the page, in its order."""
    module, found = "", []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.rpartition(" ")[2]
        elif re.fullmatch(r" {3}[A-Za-z_][\w.]*", line):
            found.append(f"{module}.{line.strip()}")
    return found


def documented(name):
    module, _, last = name.rpartition(".")
    return inspect.getdoc(getattr(import_module(module), last)) or ""


WITH_DOCS = [name for name in listed() if name not in PLAIN]


def test_every_public_name_is_listed_once():
    found = listed()
    assert len(found) == len(set(found))
    assert public() - {"manyview.__version__"} <= set(found)


@pytest.mark.parametrize("name", WITH_DOCS)
def test_each_has_a_runnable_example(name):
    assert "\n>>> " in documented(name)


@pytest.mark.parametrize("name", WITH_DOCS)
def test_each_leads_to_what_is_near_it(name):
    """Every entry of "See Also" is on the page too; Sphinx finds it by module or in full."""
    section = re.search(r"^See Also\n-+\n((?:.+\n?)+)", documented(name), re.M)
    assert section
    near = [
        one.strip() for line in section[1].splitlines() for one in line.split(" : ")[0].split(",")
    ]
    module = name.rpartition(".")[0]
    assert [one for one in near if not {one, f"{module}.{one}"} & set(listed())] == []

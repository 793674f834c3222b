"""Docs name files that exist, and constants with the values that the code has."""

import ast
import operator
import re
from pathlib import Path

import pytest

import manyview

ROOT = Path(__file__).parent.parent
PACKAGE = Path(manyview.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CONSTANT = re.compile(r"^\| `(\w+)` \| ([\d.,e-]+)( MiB)? \| `([\w/]+\.py)` \|", re.M)
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


def target_of(page, link):
    """The file that a page links to; those of the package are where it is installed."""
    code = link.removeprefix("../src/manyview/")
    return page.parent / link if code == link else PACKAGE / code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_exist(page):
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    paths = re.findall(r"\b((?:tests|benchmarks|docs)/[\w/-]+\.\w+)", text)
    missing = [link for link in links if not target_of(page, link).exists()]
    assert missing + [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_included_is_there(page):
    """Where the included part of a file begins is found once, and its end after it."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^:::\{(?:literal)?include\} (\S+)\n((?::.+\n)+):::$", text, re.M)
    assert len(found) == text.count("include}")
    for name, options in found:
        start, end = re.findall(r"^:(?:start|end)-\w+: \"?(.+?)\"?$", options, re.M)
        part = target_of(page, name).read_text(encoding="utf-8")
        assert part.count(start) == 1, start
        assert end in part.partition(start)[2], end


def number(node):
    """The value of an expression of plain numbers, None for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = number(node.left), number(node.right)
        if left is not None and right is not None:
            return OPERATORS[type(node.op)](left, right)
    return None


def constants(path):
    """Name -> value of the numbers assigned in a module and its classes."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and number(node.value) is not None:
                found[target.id] = number(node.value)
    return found


def test_constants_have_the_values_of_the_architecture_page():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = CONSTANT.findall(page)
    assert len(rows) > 40
    for name, value, unit, file in rows:
        found = constants(PACKAGE / file).get(name)
        assert found == float(value.replace(",", "")) * (2**20 if unit else 1), name

"""What is declared, what is built, and what is never done with files of other people."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import manyview
from tests import core_only

TOP = Path(__file__).parent.parent
PACKAGE = Path(manyview.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

REQUIREMENT = re.compile(
    r"(?P<name>[\w-]+)(\[(?P<extras>[\w,]+)\])?(>=(?P<oldest>[\d.]+))?(; sys_platform .*)?"
)


def declared():
    """The extras of pyproject.toml, the core under ''; names and lower bounds of each."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    lists = {"": project["dependencies"]} | project["optional-dependencies"]
    return {
        extra: [REQUIREMENT.fullmatch(text) for text in requirements]
        for extra, requirements in lists.items()
    }


def test_every_requirement_has_a_lower_bound_and_no_other():
    for extra, requirements in declared().items():
        assert None not in requirements, f"in {extra or 'the core'}"
        for requirement in requirements:
            assert requirement["oldest"] or requirement["name"] == "manyview", requirement[0]


def test_the_constraints_are_the_lower_bounds():
    """`make test-oldest` tests what is declared; change both, or neither."""
    expected = {
        f"{requirement['name']}=={requirement['oldest']}"
        for extra, requirements in declared().items()
        for requirement in requirements
        if requirement["oldest"] and extra != "bench"
    }
    lines = (TOP / "constraints-oldest.txt").read_text().splitlines()
    found = [line for line in lines if line and not line.startswith("#")]
    assert found == sorted(expected)


OF_DEVELOPERS = {"test", "lint", "build", "docs", "audit", "bench", "dev"}


def test_the_readme_has_the_extras_of_users_and_their_packages():
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", (TOP / "README.md").read_text(), re.M)
    found = {extra: sorted(packages.replace("`", "").split(", ")) for extra, packages in rows}
    expected = {
        extra: sorted(
            name
            for one in requirements
            for name in (one["extras"].split(",") if one["name"] == "manyview" else [one["name"]])
        )
        for extra, requirements in declared().items()
        if extra not in OF_DEVELOPERS | {""}
    }
    assert found == expected


def test_all_has_every_extra_of_users():
    lists = declared()

    def reached(extra):
        inner = [one["extras"].split(",") for one in lists[extra] if one["name"] == "manyview"]
        return {extra}.union(*(reached(name) for names in inner for name in names))

    assert reached("all") == set(lists) - OF_DEVELOPERS - {""}


def test_what_is_imported_is_declared():
    """Not left to what other packages happen to bring."""
    names = {requirement["name"] for some in declared().values() for requirement in some}
    # Called otherwise when imported; the last is what jinja2 is made with.
    names |= {"sklearn", "markupsafe"}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=aliases):
                    found = {_root(alias.name) for alias in aliases}
                case ast.ImportFrom(module=str(module)):
                    found = {_root(module)}
                case _:
                    continue
            assert found <= names | sys.stdlib_module_names, path


def test_classifiers_name_the_oldest_python():
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    versions = [
        text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text
    ]
    assert project["requires-python"] == f">={versions[0]}"
    assert sys.version_info >= tuple(int(part) for part in versions[0].split("."))


def test_the_citation_is_of_this_version():
    lines = (TOP / "CITATION.cff").read_text().splitlines()
    assert f"version: {manyview.__version__}" in lines


def test_the_conda_recipe_is_of_this_package():
    """Version, oldest Python, requirements and entry points; one build for all systems has no
    conditions."""
    text = (TOP / "recipe/recipe.yaml").read_text()
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    build = tomllib.loads((TOP / "pyproject.toml").read_text())["build-system"]["requires"]
    lists = {
        name: re.findall(r"- (.+)", entries)
        for name, entries in re.findall(r"^ +(\w+):\n((?: +- .+\n)+)", text, re.M)
    }
    needed = {f"{one['name']} >={one['oldest']}" for one in declared()[""]}
    assert set(lists["run"]) == {"python >=${{ python_min }}", *needed}
    built = {requirement.replace(">=", " >=") for requirement in build}
    assert set(lists["host"]) == {"python ${{ python_min }}.*", "pip", *built}
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert lists["entry_points"] == scripts
    assert f'  version: "{manyview.__version__}"\n' in text
    assert f'  python_min: "{project["requires-python"].removeprefix(">=")}"\n' in text
    assert f"  license: {project['license']}\n" in text
    assert f"  summary: {project['description']}\n" in text


def test_the_changelog_has_this_version_and_known_headings():
    """The form of keepachangelog.com: a date, or unreleased; nothing after a release."""
    text = (TOP / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## \[?([\d.]+)\]? [-(] ?(unreleased|\d{4}-\d\d-\d\d)\)?$", text, re.M)
    assert len(versions) == text.count("\n## ")
    assert versions[0][0] == manyview.__version__
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.M)) <= known


def test_actions_are_named_by_commit():
    """And nothing is granted to all jobs but reading."""
    for path in (TOP / ".github/workflows").glob("*.yml"):
        text = path.read_text()
        uses = re.findall(r"uses: (.+)", text)
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", one) for one in uses), path
        assert "\npermissions:\n  contents: read\n" in text


def test_the_joss_paper_cites_what_its_bibliography_has():
    text, known = (TOP / "paper.md").read_text(), (TOP / "paper.bib").read_text()
    entries = re.findall(r"^@\w+\{(\w+),\n((?:  .+\n)+)\}$", known, re.M)
    assert len(entries) == known.count("\n@") + known.startswith("@")
    assert set(re.findall(r"@(\w+)", text)) == {name for name, _ in entries}
    assert all(
        re.search(r"^  (doi = \{10\.|url = \{https:)", fields, re.M) for _, fields in entries
    )
    _, _, body = text.partition("\n---\n")
    assert 750 <= len(body.partition("# References")[0].split()) <= 1750
    headings = re.findall(r"^# (.+)$", body, re.M)
    assert headings == [
        "Summary", "Statement of need", "State of the field", "Software design",
        "Research impact statement", "AI usage disclosure", "Acknowledgements", "References",
    ]  # fmt: skip


def test_the_joss_paper_has_the_figures_of_the_measurements():
    rows = [
        [cell.strip(" *") for cell in line.split("|")[1:-1]]
        for line in (TOP / "docs/quality.md").read_text().splitlines()
        if line.startswith(("| set |", "| **mean of the 20**"))
    ]
    means = {name: cell.split()[0] for name, cell in zip(*rows[:2], strict=True)}
    quoted = re.findall(r"^\| ([^|]+) \| ([\d.]+) \|$", (TOP / "paper.md").read_text(), re.M)
    assert len(quoted) == 7
    assert dict(quoted).items() <= means.items()


def test_data_goes_into_the_sdist_and_not_into_the_wheel():
    """As declared; `make test-wheel` looks at what is built."""
    targets = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]
    assert {"data", "tests"} <= set(targets["sdist"]["include"])
    assert targets["wheel"] == {"packages": ["src/manyview"]}


# The core, without extras


def test_without_extras(tmp_path):
    """The extras are hidden to a process and to those it starts; `make test-wheel` has none."""
    (tmp_path / "sitecustomize.py").write_text("import core_only\ncore_only.hide()\n")
    program = Path(core_only.__file__)
    paths = [str(tmp_path), str(program.parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("core alone:") == 7


# What is built; `make test-wheel` says where it is


@pytest.fixture(scope="module")
def built():
    if "MANYVIEW_DIST" not in os.environ:
        pytest.skip("nothing was built (make test-wheel does)")
    folder = Path(os.environ["MANYVIEW_DIST"])
    (wheel,), (sdist,), (direct,) = (
        list(folder.glob(pattern)) for pattern in ("*.whl", "*.tar.gz", "tree/*.whl")
    )
    return wheel, sdist, direct


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_the_package_and_nothing_else(built):
    source = TOP / "src" / "manyview"
    expected = {
        f"manyview/{path.relative_to(source).as_posix()}"
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = set(contents(built[0]))
    assert not [name for name in found if name.endswith((".mat", ".npz"))]
    info = {name for name in found if ".dist-info/" in name}
    assert found - info == expected
    for name in (
        "py.typed",
        "reproduce/page.html.j2",
        "report/scripts/clusters.js",
        "report/base.css",
    ):
        assert f"manyview/{name}" in found
    assert {name.partition("/")[2] for name in info} == {
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE",
    }  # fmt: skip


def test_the_page_on_pypi_has_no_relative_links(built):
    (metadata,) = (
        text.decode() for name, text in contents(built[0]).items() if name.endswith("/METADATA")
    )
    links = re.findall(r"\]\(([^)]+)\)", metadata)
    assert len(links) > 15
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_sdist_makes_the_same_wheel_as_the_source(built):
    wheel, _, direct = built
    assert contents(wheel) == contents(direct)


def test_the_sdist_has_what_tests_need_and_nothing_that_is_ignored(built):
    with tarfile.open(built[1]) as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert set(names) == {*tracked, "PKG-INFO"}
    assert {"data/BBC.mat", "data/LICENSE", "tests/data/golden/BBC_sig.npz"} <= set(names)


# Nothing is executed that came from a file

FOREIGN = {
    "cloudpickle", "code", "ctypes", "dill", "joblib", "marshal", "pickle", "runpy", "shelve",
    "yaml",
}  # fmt: skip
EXECUTING = {"__import__", "compile", "eval", "exec"}
SHELLS = {"from_string", "popen", "read_pickle", "spawnv", "system"}


def executed(source):
    """What in a module could run what a file holds, in words."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (f"import {a.name}" for a in names if _root(a.name) in FOREIGN)
            case ast.ImportFrom(module=str(module)) if _root(module) in FOREIGN:
                yield f"from {module}"
            case ast.Call(func=ast.Name(id=name)) if name in EXECUTING:
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in SHELLS:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr=name)):
                if not _our_own_program(node.args, source):
                    yield f"subprocess.{name}({', '.join(map(ast.unparse, node.args))})"
            case ast.ImportFrom(module="subprocess"):
                yield "from subprocess"  # under other names calls would not be seen
            case ast.Call(func=ast.Name(id="import_module"), args=[first, *_]):
                if not _our_own(first):
                    yield f"import_module({ast.unparse(first)})"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="load")):
                if "allow_pickle" not in {keyword.arg for keyword in node.keywords}:
                    yield "np.load without allow_pickle=False"
            case ast.keyword(arg="allow_pickle" | "shell", value=value):
                if not (isinstance(value, ast.Constant) and value.value is False):
                    yield f"{node.arg}={ast.unparse(value)}"


def _root(module):
    return module.partition(".")[0]


def _our_own(name):
    """Whether a module's name begins with that of this package, whatever follows."""
    match name:
        case ast.Constant(value=str(text)):
            return text.startswith("manyview.")
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text.startswith("manyview.")
        case ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__name__")), *_]):
            return True
    return False


def _our_own_program(arguments, source):
    """Whether a process is this Python with a program of ours: a file beside the module, by a
    constant name."""
    match arguments:
        case [ast.List(elts=[executable, *options, ast.Call() as program, _])]:
            plain = all(isinstance(option, ast.Constant) for option in options)
            name = ast.unparse(program).removeprefix("str(").removesuffix(")")
            beside = re.compile(
                rf'^{name} = Path\(__file__\).with_name\("\w+\.py"\)$', re.MULTILINE
            )
            is_ours = name.isupper() and beside.search(source) is not None
            return ast.unparse(executable) == "sys.executable" and plain and is_ours
    return False


@pytest.mark.parametrize("path", MODULES, ids=[p.relative_to(PACKAGE).as_posix() for p in MODULES])
def test_nothing_is_executed_from_files(path):
    assert list(executed(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, joblib",
        "from yaml import load",
        "eval(text)",
        "exec(text)",
        "__import__(name)",
        "os.system(text)",
        "import_module(name)",
        "import_module(f'{name}.reader')",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "npy.read_array(stream, allow_pickle=asked)",
        "pd.read_pickle(path)",
        "environment.from_string(text)",
        "run(words, shell=True)",
        "subprocess.run(words)",
        "subprocess.Popen([sys.executable, '-c', text, '{}'])",
        "subprocess.run([sys.executable, '-c', PROGRAM, '{}'])",
        "subprocess.run([sys.executable, str(PROGRAM), '{}'])",
        "P = Path(__file__).with_name(name)\nsubprocess.run([sys.executable, str(P), '{}'])",
        'P = Path(__file__).with_name("a.py")\nsubprocess.run([sys.executable, name, str(P), x])',
        "from subprocess import run",
    ],
)
def test_what_executes_is_found(source):
    assert len(list(executed(source))) == 1


# The audit


@pytest.fixture
def audit(monkeypatch):
    """`.ci/audit.py`, with two packages to look up; a test says what the services answer."""
    path = TOP / ".ci" / "audit.py"
    spec = spec_from_file_location("audit", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = [{"name": "left", "version": "1.0"}, {"name": "right", "version": "2.0"}]
    monkeypatch.setattr(module, "resolve", lambda _: wanted)
    return module


CANARY = [{"name": "jinja2", "version": "3.1.2", "vulns": [{"id": "CVE-2024-22195"}]}]


def answers(*found):
    """A service that knows the canary, and then says this."""
    return lambda service, pinned: (CANARY if len(pinned) == 1 else list(found), "")


def clean(name):
    return {"name": name, "version": "1.0", "vulns": []}


def test_audit_of_packages_that_nothing_is_known_of(audit, monkeypatch, capsys):
    monkeypatch.setattr(audit, "ask", answers(clean("left"), clean("right")))
    assert audit.main() == 0
    assert "nothing is known against these 2 packages (pypi)" in capsys.readouterr().out


def test_audit_of_a_vulnerable_package(audit, monkeypatch, capsys):
    bad = {"name": "right", "version": "2.0", "vulns": [{"id": "X-1", "fix_versions": ["2.1"]}]}
    monkeypatch.setattr(audit, "ask", answers(clean("left"), bad))
    assert audit.main() == 1
    assert "VULNERABLE right 2.0: X-1; fixed in 2.1" in capsys.readouterr().out


def test_audit_of_what_the_service_skipped(audit, monkeypatch, capsys):
    skipped = {"name": "right", "skip_reason": "not found"}
    monkeypatch.setattr(audit, "ask", answers(clean("left"), skipped))
    assert audit.main() == 2
    assert "NOT AUDITED by pypi: right" in capsys.readouterr().out


def test_audit_takes_silence_for_no_answer(audit, monkeypatch, capsys):
    monkeypatch.setattr(audit, "ask", lambda service, pinned: ([clean("jinja2")], ""))
    assert audit.main() == 2
    shown = capsys.readouterr().out
    assert "NOT AUDITED: no vulnerability service answered" in shown
    assert "pypi: knows nothing of jinja2==3.1.2" in shown

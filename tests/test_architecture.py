"""The rooms of the house: who may import whom. The drawing is in docs/architecture.md."""

import ast
from pathlib import Path

import pytest

import manyview
from manyview.methods import REGISTRY

PACKAGE = Path(manyview.__file__).parent

#: From the ground up. A room imports from those before it, and never from its own floor.
FLOORS = [
    {"_version", "_typing", "_signals"},
    {"runtime", "_kernels"},
    {"inputs"},
    {"inputs.files"},
    {"graphs"},
    {"spectral"},
    {"predict"},
    {"distributed"},
    {"methods"},
    {"datasets", "metrics", "plotting"},
    {"report"},
    {"result"},
    {"api"},
    {"comparison"},
    {"reproduce"},
    {"cli"},
    {"__init__", "__main__"},
]
ROOMS = {room: number for number, floor in enumerate(FLOORS) for room in floor}
#: What users call first or import by name, and what has to be there before any package is.
AT_THE_ROOT = {
    "__init__", "__main__", "_signals", "_typing", "_version", "api", "metrics", "result",
}  # fmt: skip


def module_name(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    inside = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(inside) or "__init__"


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module):
    """The room a module stands in: the longest name that fits."""
    fitting = [room for room in ROOMS if module == room or module.startswith(room + ".")]
    return max(fitting, key=len)


def imports(source, modules=MODULES):
    """The modules of this package that a source imports, wherever in it: also in functions, and
    also for type checkers alone."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(name)) if name.partition(".")[0] == "manyview":
                inside = name.partition(".")[2]
                for alias in node.names:
                    full = f"{inside}.{alias.name}".strip(".")
                    yield full if full in modules else inside or "__init__"
            case ast.Import(names=aliases):
                for alias in aliases:
                    top, _, inside = alias.name.partition(".")
                    if top == "manyview":
                        yield inside or "__init__"


def complaints(module, source, modules=MODULES):
    """What is wrong with the imports of a module."""
    own = room_of(module)
    for name in imports(source, modules):
        other = room_of(name)
        # The version stands at the root, and reproduce hashes the source around it.
        if other == own or name == "__init__":
            continue
        if ROOMS[other] >= ROOMS[own]:
            yield f"{module} imports {name}, which is not below it"
        if any(part.startswith("_") for part in name.removeprefix(other).split(".")):
            yield f"{module} reaches into {other} for {name}"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_downwards_and_to_what_a_room_offers(module):
    source = MODULES[module].read_text(encoding="utf-8")
    assert list(complaints(module, source)) == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("graphs._knn", "from manyview.methods import GBS", "not below"),
        ("graphs._knn", "def f():\n    from manyview.spectral import Spectrum", "not below"),
        ("datasets._builtin", "from manyview import metrics", "not below"),
        ("methods.gbs", "from manyview.graphs._knn import nearest", "reaches into"),
        ("methods.gbs", "from manyview.graphs import _knn", "reaches into"),
        ("methods.gbs", "import manyview.graphs._knn", "reaches into"),
        ("inputs._views", "from manyview.inputs.files import read_views", "not below"),
    ],
)
def test_complaints_are_heard(module, source, said):
    assert [said in text for text in complaints(module, source)] == [True]


def cycle(graph):
    """Modules that import each other in a ring; none if there is none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module) :]
        if module not in done:
            path.append(module)
            found = next(filter(None, map(visit, graph.get(module, ()))), None)
            if found:
                return found
            done.add(path.pop())
        return None

    return next(filter(None, map(visit, graph)), [])


def test_no_module_imports_itself_by_way_of_others():
    graph = {
        module: {name for name in imports(path.read_text(encoding="utf-8")) if name != module}
        for module, path in MODULES.items()
        if not path.name.startswith("__")
    }
    assert cycle(graph) == []
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_the_root_is_for_users():
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_ROOT


def test_modules_inside_rooms_are_private():
    """But for the files of estimators, which people look for by name."""
    for path in PACKAGE.glob("*/**/*.py"):
        estimators = path.parent.name == "methods"
        assert path.name.startswith("_") or estimators, path


@pytest.fixture(params=REGISTRY, ids=lambda method: method.title)
def estimator(request):
    return request.param.make(3)


def test_estimators_have_no_tower(estimator):
    """At most two classes of ours above an estimator."""
    above = type(estimator).__mro__[1:]
    assert len([cls for cls in above if cls.__module__.startswith("manyview")]) <= 2


def test_one_table_has_all_constraints(estimator):
    """`views` is checked with the data, the others by scikit-learn and by the logging."""
    elsewhere = {"views", "view", "random_state", "verbose"}
    assert set(estimator._constraints) == set(estimator.get_params()) - elsewhere


@pytest.mark.parametrize("module", MODULES)
def test_private_members_stay_inside(module):
    """What begins with an underscore is used on self, cls or a class of the same file only."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in own | {"self", "cls", "os"})
    ]
    assert found == []

"""Adding a method is one file and one line in the registry."""

import argparse
from pathlib import Path

import pytest

import manyview
from manyview import datasets, methods, reproduce
from manyview.cli._cluster import add_cluster_options
from manyview.graphs import FitSize, ViewSize
from manyview.methods import BY_SHORT_NAME, DEFAULT, REGISTRY

SHORT_NAMES = [method.short_name for method in REGISTRY if method.short_name is not None]


def test_every_estimator_file_is_registered():
    folder = Path(methods.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert files == {method.module for method in REGISTRY}


@pytest.mark.parametrize("method", REGISTRY, ids=lambda method: method.title)
def test_every_estimator_is_exported(method):
    estimator = method.make(3)
    assert type(estimator).__module__ == f"manyview.methods.{method.module}"
    assert type(estimator) is getattr(manyview, method.estimator)
    assert method.estimator in manyview.__all__
    assert method.parameters.items() <= estimator.get_params().items()


def test_no_other_estimators_are_exported():
    exported = {name for name in manyview.__all__ if hasattr(getattr(manyview, name), "fit")}
    assert exported == {method.estimator for method in REGISTRY}


def test_names_are_distinct():
    assert len(set(SHORT_NAMES)) == len(SHORT_NAMES)
    assert len({method.title for method in REGISTRY}) == len(REGISTRY)
    assert next(iter(BY_SHORT_NAME)) == DEFAULT


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_cluster_takes_every_short_name(name):
    data = datasets.make_blob_views(60, 3, separation=8.0, random_state=0)
    result = manyview.cluster(data.views, 3, method=name)
    assert type(result.estimator).__name__ == BY_SHORT_NAME[name].estimator


def test_cluster_refuses_other_names():
    with pytest.raises(ValueError, match="method='kmedoids'; expected one of") as caught:
        manyview.cluster([[[0.0]]], 3, method="kmedoids")
    offered = str(caught.value).partition("expected one of ")[2]
    assert sorted(part.strip("'") for part in offered.split(", ")) == sorted(SHORT_NAMES)


def test_command_line_offers_every_short_name():
    parser = argparse.ArgumentParser()
    add_cluster_options(parser)
    option = next(action for action in parser._actions if "--method" in action.option_strings)
    assert sorted(option.choices) == sorted(SHORT_NAMES)
    assert option.default == DEFAULT


def test_reproduce_runs_every_method():
    assert list(reproduce.METHODS.values()) == list(REGISTRY)


@pytest.mark.parametrize("method", REGISTRY, ids=lambda method: method.title)
def test_every_estimator_estimates_its_memory(method):
    n = 30_000
    size = FitSize(n, (ViewSize(n, 40), ViewSize(n, 20)), n_clusters=8, n_neighbors=15)
    assert method.make(8)._memory(size).peak > 0


def test_what_takes_missing_views():
    for method in REGISTRY:
        assert method.make(3)._takes_missing == method.takes_missing, method.estimator

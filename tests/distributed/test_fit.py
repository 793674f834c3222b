"""A fit on a cluster has the labels of the same fit on one machine, and every number on the way."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from manyview import CIGMVC, GBS, AngularCIGMVC, ConsensusGraph, datasets
from manyview.spectral import _spectrum
from tests.helpers.goldens import synthetic
from tests.helpers.masks import removed

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from tests.helpers.dask_clusters import assert_same, cluster, let_go

METHODS = [CIGMVC, GBS, AngularCIGMVC]
ENDS_EARLY = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def client():
    """Three workers that are threads of this process."""
    with cluster(3) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """The client of three worker processes."""
    with cluster(3, processes=True) as client:
        yield client


@pytest.fixture(autouse=True)
def nothing_stays(request):
    """After every fit the workers have let go of all that was its."""
    used = [name for name in ("client", "processes") if name in request.fixturenames]
    clients = [request.getfixturevalue(name) for name in used]
    yield
    assert all(map(let_go, clients))


@pytest.fixture(scope="module")
def overlapping():
    """Groups that take some rounds to come apart."""
    return datasets.make_latent_views(400, 4, widths=(8, 10), separation=4.0, random_state=0)


def both(model, views, client, **given):
    """The same fit on one machine and on a cluster."""
    return clone(model).fit(views, client=client, **given), clone(model).fit(views, **given)


@pytest.mark.parametrize("method", [CIGMVC, GBS])
@pytest.mark.parametrize("name", ["blobs", "conflict", "moons"])
def test_goldens(client, name, method):
    golden = synthetic(name)
    views = [golden[f"X{v}"] for v in range(int(golden["n_views"]))]
    spread, single = both(method(int(golden["n_clusters"]), random_state=0), views, client)
    assert_same(spread, single)
    prefix = method.__name__.lower()
    np.testing.assert_array_equal(spread.labels_ + 1, golden[f"{prefix}_labels"])
    assert spread.n_iter_ == golden[f"{prefix}_n_iter"]


@pytest.mark.parametrize(("name", "method"), [("NGs", CIGMVC), ("WebKB", GBS)])
@pytest.mark.filterwarnings("ignore:the graph:UserWarning")
def test_the_papers_data(client, paper_data, name, method):
    data = paper_data(name)
    # Of hundreds of samples that are as near as each other the boundary of a row is one, and their
    # distances agree to the 13th digit.
    model = method(data.n_clusters, random_state=0)
    assert_same(*both(model, data.views, client), exactly=False)


def assert_close(spread, single):
    np.testing.assert_array_equal(spread.labels_, single.labels_)
    assert spread.view_scalings_ == single.view_scalings_
    for name in ("view_weights_", "sample_disagreement_", "confidence_", "stability_"):
        np.testing.assert_allclose(getattr(spread, name), getattr(single, name), rtol=1e-6)


@pytest.mark.parametrize("scaling", ["auto", "paper", "standard", {"view1": "sqrt"}])
def test_consensus(client, scaling):
    """Sums over the columns are made in another order, so it is the same up to rounding."""
    data = datasets.make_latent_views(300, 3, widths=(8, 10), random_state=0)
    views = [np.abs(view) for view in data.views.values()]
    assert_close(*both(ConsensusGraph(3, scaling=scaling, random_state=0), views, client))


def test_consensus_of_a_table_with_many_equal_samples(client, rng):
    grades = rng.integers(1, 6, (5, 4))[rng.integers(0, 5, 300)].astype(float)
    views = [grades, grades[:, :2] + rng.normal(0, 0.3, (300, 2))]
    assert_close(*both(ConsensusGraph(5, random_state=0), views, client))


def test_consensus_of_sparse_and_missing(client, rng):
    views, present = sparse_views(rng), removed(300, 2, 0.2, rng)
    assert_close(*both(ConsensusGraph(3, random_state=0), views, client, present=present))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["BBC", "NGs", "WebKB", "100leaves"])
@pytest.mark.filterwarnings("ignore:the graph:UserWarning")
def test_all_of_the_papers_data(client, paper_data, name, method):
    data = paper_data(name)
    model = method(data.n_clusters, random_state=0)
    assert_same(*both(model, data.views, client), exactly=False)


@pytest.mark.parametrize(
    ("method", "updates"),
    [(CIGMVC, "published"), (CIGMVC, "paper"), (AngularCIGMVC, "exact"), (GBS, "published")],
)
def test_before_the_loop_has_ended(client, overlapping, method, updates):
    """After so few rounds the embedding is no mere indicator of components."""
    model = method(4, updates=updates, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        assert_same(*both(model, overlapping.views, client))


@pytest.mark.parametrize("graph", ["binary", "cosine", "heat"])
@ENDS_EARLY
def test_other_weights(client, overlapping, graph):
    model = CIGMVC(4, graph=graph, max_iter=3, random_state=0)
    # The mean distance of "heat" is a sum over blocks.
    assert_same(*both(model, overlapping.views, client), exactly=graph != "heat")


@pytest.mark.parametrize("scaling", ["none", "unit", "zscore"])
@ENDS_EARLY
def test_other_scaling(client, overlapping, scaling):
    model = GBS(4, scaling=scaling, max_iter=2, random_state=0)
    assert_same(*both(model, overlapping.views, client))


@pytest.mark.parametrize(("by", "method"), [("nan", GBS), ("mask", CIGMVC), ("nan", AngularCIGMVC)])
@ENDS_EARLY
def test_missing_views(client, overlapping, method, by, rng):
    present = removed(400, 2, 0.3, rng)
    views, given = overlapping.views, {}
    if by == "nan":
        columns = zip(views.items(), present.T, strict=True)
        views = {name: np.where(has[:, None], view, np.nan) for (name, view), has in columns}
    else:
        given = {"present": present}
    assert_same(*both(method(4, max_iter=2, random_state=0), views, client, **given))


@ENDS_EARLY
def test_a_view_of_two_samples(client, overlapping):
    """Too few for a graph: that view has no edges."""
    present = np.ones((400, 2), dtype=bool)
    present[2:, 1] = False
    model = GBS(4, max_iter=2, random_state=0)
    with pytest.warns(UserWarning, match="'view1' has no information"):
        spread = clone(model).fit(overlapping.views, present=present, client=client)
    with pytest.warns(UserWarning, match="'view1' has no information"):
        single = clone(model).fit(overlapping.views, present=present)
    assert_same(spread, single)


def test_number_of_clusters_found(client):
    views = datasets.make_blob_views(300, 4, separation=8.0, random_state=0).views
    spread, single = both(AngularCIGMVC("auto", random_state=0), views, client)
    assert_same(spread, single)
    ours, theirs = spread.cluster_number_, single.cluster_number_
    assert ours.n_clusters == theirs.n_clusters == 4
    for name in ("candidates", "stability", "modularity", "eigenvalues", "scores"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6)


def sparse_views(rng, n=300):
    """Counts of few words."""
    topic = np.arange(n) % 3
    rates = rng.random((3, 40)) ** 4
    return [csr_array(rng.poisson(3 * rates[topic]).astype(float)) for _ in range(2)]


def test_identifiers_are_warned_of(client):
    views = list(datasets.make_blob_views(120, 3, separation=8.0, random_state=0).views.values())
    views[1] = np.column_stack([views[1], np.arange(120) + 1000])
    with pytest.warns(UserWarning, match="a different whole number for every sample"):
        ConsensusGraph(3, random_state=0).fit(views, client=client)


@pytest.mark.parametrize("scaling", ["paper", "unit", "none"])
@pytest.mark.filterwarnings("ignore:view .* has raw counts:UserWarning")
@ENDS_EARLY
def test_sparse_views(client, scaling, rng):
    model = CIGMVC(3, scaling=scaling, max_iter=2, random_state=0)
    assert_same(*both(model, sparse_views(rng), client))


@ENDS_EARLY
def test_sparse_views_with_absent_samples(client, rng):
    present = removed(300, 2, 0.3, rng)
    model = CIGMVC(3, max_iter=2, random_state=0)
    assert_same(*both(model, sparse_views(rng), client, present=present))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:the graph:UserWarning")
def test_bridges(client, method):
    """Six groups far from each other, of which two clusters are to be made."""
    views = datasets.make_blob_views(240, 6, spread=0.1, separation=9.0, random_state=0).views
    spread, single = both(method(2, n_neighbors=5, random_state=0), views, client)
    assert len(single.bridges_) == 5
    assert_same(spread, single)


@pytest.mark.filterwarnings("ignore:the graph:UserWarning")
def test_bridges_between_samples_with_views_missing(client, rng):
    views = datasets.make_blob_views(240, 6, spread=0.1, separation=9.0, random_state=0).views
    present = removed(240, 3, 0.3, rng)
    spread, single = both(CIGMVC(2, n_neighbors=5, random_state=0), views, client, present=present)
    assert len(single.bridges_) > 0
    assert_same(spread, single)


def test_warnings_are_the_same(client):
    views = datasets.make_blob_views(120, 4, spread=0.1, separation=9.0, random_state=0).views
    views = {**views, "silent": np.ones((120, 3))}
    said = []
    for where in (client, None):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            CIGMVC(2, n_neighbors=5, random_state=0).fit(views, client=where)
        said.append([str(one.message) for one in warned])
    assert said[0] == said[1]
    assert any("has no information" in text for text in said[0])
    assert any("connected components" in text for text in said[0])


@pytest.mark.parametrize("n_blocks", [1, 5])
@ENDS_EARLY
def test_number_of_workers(overlapping, n_blocks):
    with cluster(n_blocks) as client:
        model = AngularCIGMVC(4, max_iter=3, random_state=0)
        assert_same(*both(model, overlapping.views, client))
        assert let_go(client)


@ENDS_EARLY
def test_more_workers_than_samples():
    views = datasets.make_blob_views(4, 2, random_state=0).views
    with cluster(5) as client:
        assert_same(*both(GBS(2, n_neighbors=2, random_state=0), views, client))
        assert let_go(client)


@ENDS_EARLY
def test_equal_samples(client, rng):
    """Ties everywhere: which of equals counts must not depend on where they lie."""
    views = [rng.integers(0, 3, (200, 3)).astype(float) for _ in range(2)]
    with pytest.warns(UserWarning, match="connected components"):
        spread, single = both(CIGMVC(3, n_neighbors=6, max_iter=3, random_state=0), views, client)
    assert_same(spread, single)


@pytest.mark.parametrize("method", METHODS)
@ENDS_EARLY
def test_more_than_the_solver_for_few_takes(client, method):
    """Beyond 5,000 samples products are computed on the workers."""
    data = datasets.make_latent_views(
        5_400, 4, widths=(6, 6), separation=4.0, stray=0.1, random_state=0
    )
    model = method(4, neighbor_search="exact", max_iter=2, random_state=0)
    assert_same(*both(model, data.views, client))


@pytest.mark.parametrize(
    "model", [CIGMVC(3, max_iter=2), ConsensusGraph(3), ConsensusGraph("auto")]
)
@ENDS_EARLY
def test_ranks_with_missing_and_equal_views(client, monkeypatch, rng, model):
    """As for more samples: rounds on three workers, with the warnings of one machine."""
    monkeypatch.setattr(_spectrum, "CHEBYSHEV_LIMIT", 300)
    views = datasets.make_latent_views(800, 3, widths=(6, 8), separation=7.0, random_state=0).views
    views = {**views, "again": views["view0"]}
    present = removed(800, 2, 0.2, rng)[:, [0, 1, 0]]
    with pytest.warns(UserWarning, match="have nearly the same neighbours") as ours:
        spread = clone(model).set_params(random_state=0).fit(views, present=present, client=client)
    with pytest.warns(UserWarning, match="have nearly the same neighbours") as theirs:
        single = clone(model).set_params(random_state=0).fit(views, present=present)
    assert {str(one.message) for one in ours} == {str(one.message) for one in theirs}
    np.testing.assert_array_equal(spread.labels_, single.labels_)
    for name in ("view_weights_", "sample_disagreement_", "confidence_"):
        np.testing.assert_allclose(getattr(spread, name), getattr(single, name), rtol=1e-6)
    assert spread.is_distributed_


@pytest.fixture(scope="module")
def large():
    return datasets.make_latent_views(20_000, 5, widths=(8, 8), random_state=0)


@ENDS_EARLY
@pytest.mark.slow
def test_twenty_thousand_samples(processes, large):
    """Worker processes, exact neighbours: to the end, and every number on the way."""
    model = CIGMVC(5, neighbor_search="exact", random_state=0)
    spread, single = both(model, large.views, processes)
    assert single.n_iter_ > 2
    assert_same(spread, single)
    assert adjusted_rand_score(spread.labels_, single.labels_) == 1.0


@ENDS_EARLY
@pytest.mark.slow
def test_approximate_neighbors(processes, large):
    model = CIGMVC(5, neighbor_search="approximate", random_state=0)
    spread, single = both(model, large.views, processes)
    assert adjusted_rand_score(spread.labels_, single.labels_) >= 0.98
    for ours in spread.neighbor_search_:
        assert ours.method == "approximate"
        assert ours.recall >= 0.95
        assert 2 * ours.n_probed <= ours.n_cells

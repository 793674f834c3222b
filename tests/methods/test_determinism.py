"""Results do not depend on the order of the input, the threads or the process."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from manyview import (
    CIGMVC,
    GBS,
    MCGL,
    MGL,
    NEMO,
    SNF,
    WNN,
    AnchorGraph,
    AngularCIGMVC,
    ConsensusGraph,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
    SpectralAverage,
    SpectralConcat,
    datasets,
)
from manyview.inputs._canonical_order import canonical_order
from manyview.metrics import adjusted_rand
from manyview.spectral._labels import relabel_by_first_sample

# Methods that do not depend on the order of the views either.
BOTH = (ConsensusGraph, AngularCIGMVC, CIGMVC, GBS, SNF, NEMO, WNN, SpectralAverage)
RUNS = settings(max_examples=10, deadline=None, derandomize=True)


@st.composite
def problems(draw):
    """Blobs of any separation; some with equal samples, ties or missing samples."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_clusters = draw(st.integers(2, 5))
    make = draw(st.sampled_from([datasets.make_blob_views, datasets.make_conflict_views]))
    separation = draw(st.sampled_from([0.5, 3.0, 8.0, 40.0]))
    data = make(
        draw(st.integers(40, 120)), n_clusters, widths=(4, 6, 3), separation=separation,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    views = list(data.views.values())
    n = len(views[0])
    if draw(st.booleans()):  # ties everywhere
        views = [np.round(view) for view in views]
    if draw(st.booleans()):  # samples that are equal in every view
        some = rng.integers(n, size=n)
        views = [np.concatenate([view, view[some[:10]]]) for view in views]
    if draw(st.booleans()):
        views[0] = csr_array(np.where(np.abs(views[0]) > 1, views[0], 0.0))
    present = None
    if draw(st.booleans()):
        present = rng.random((views[0].shape[0], 3)) < 0.8
        present[~present.any(axis=1), 1] = True
    return views, present, n_clusters, rng


def fit(method, views, n_clusters, present=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        rest = {} if present is None else {"present": present}
        return method(n_clusters, random_state=0, **options).fit(views, **rest)


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("max_iter", [100, 2])  # after two rounds labels come from k-means
@RUNS
@given(problems())
def test_order_of_samples_and_views(method, max_iter, problem):
    views, present, n_clusters, rng = problem
    present = present if method._takes_missing else None
    options = {"max_iter": max_iter} if hasattr(method, "max_iter") else {}
    try:
        plain = fit(method, views, n_clusters, present, **options)
    except ValueError as error:
        assert "expected" in str(error)  # noqa: PT017 (too few distinct samples)
        return
    order, views_order = rng.permutation(views[0].shape[0]), rng.permutation(3)
    permuted = fit(
        method,
        [views[v][order] for v in views_order],
        n_clusters,
        None if present is None else present[order][:, views_order],
        **options,
    )
    # Samples that are equal in every view keep their order.
    before, after = (canonical_order(model._views).samples for model in (plain, permuted))
    np.testing.assert_array_equal(plain.embedding_[before], permuted.embedding_[after])
    np.testing.assert_array_equal(
        relabel_by_first_sample(plain.labels_[before]),
        relabel_by_first_sample(permuted.labels_[after]),
    )
    if hasattr(plain, "view_weights_"):
        np.testing.assert_array_equal(plain.view_weights_[views_order], permuted.view_weights_)
    if hasattr(plain, "stop_reason_"):
        assert plain.stop_reason_ == permuted.stop_reason_
    for v, graph in zip(views_order, permuted.view_graphs_, strict=True):
        rows = plain.view_graphs_[v][before][:, before] - graph[after][:, after]
        assert abs(rows).max() == 0


@pytest.mark.parametrize("method", [MGL, MCGL, AnchorGraph])
@RUNS
@given(problems())
def test_order_of_samples(method, problem):
    views, _, n_clusters, rng = problem
    try:
        plain = fit(method, views, n_clusters)
    except ValueError as error:
        assert "expected" in str(error)  # noqa: PT017
        return
    order = rng.permutation(views[0].shape[0])
    permuted = fit(method, [view[order] for view in views], n_clusters)
    before, after = (canonical_order(model._views).samples for model in (plain, permuted))
    np.testing.assert_array_equal(plain.embedding_[before], permuted.embedding_[after])


@pytest.mark.parametrize("method", [MultiViewKMeans, MultiViewSphericalKMeans])
@RUNS
@given(problems())
def test_order_of_samples_and_views_in_k_means(method, problem):
    """Columns of the embedding are in the order of the clusters, and these in that of samples."""
    views, _, n_clusters, rng = problem
    plain = fit(method, views, n_clusters)
    order = rng.permutation(views[0].shape[0])
    permuted = fit(method, [view[order] for view in views[::-1]], n_clusters)
    before, after = (canonical_order(model._views).samples for model in (plain, permuted))
    np.testing.assert_array_equal(
        relabel_by_first_sample(plain.labels_[before]),
        relabel_by_first_sample(permuted.labels_[after]),
    )


def test_order_with_approximate_neighbours(rng):
    views = list(datasets.make_latent_views(6_000, 4, widths=(6, 5), random_state=0).views.values())
    order = rng.permutation(6_000)
    options = {"neighbor_search": "approximate"}
    plain = fit(CIGMVC, views, 4, **options)
    permuted = fit(CIGMVC, [view[order] for view in views[::-1]], 4, **options)
    assert plain.neighbor_search_[0].method == "approximate"
    np.testing.assert_array_equal(plain.embedding_[order], permuted.embedding_)


def test_order_in_precomputed_graphs(rng):
    graphs = [rng.random((60, 60)) for _ in range(3)]
    order = rng.permutation(60)
    plain = fit(CIGMVC, graphs, 3, graph="precomputed")
    permuted = fit(CIGMVC, [g[order][:, order] for g in graphs[::-1]], 3, graph="precomputed")
    np.testing.assert_array_equal(plain.embedding_[order], permuted.embedding_)


@pytest.mark.filterwarnings("ignore:the graph of view", "ignore:view.s. 'view1' took")
@pytest.mark.parametrize("method", [MGL, MCGL, SpectralAverage, SpectralConcat])
def test_order_of_samples_with_many_ties(paper_data, method, rng):
    """In WebKB two views have no information about most samples."""
    data = paper_data("WebKB")
    order = rng.permutation(data.n_samples)
    plain = method(4, random_state=0).fit(data.views)
    shuffled = method(4, random_state=0).fit([view[order] for view in data.views])
    assert adjusted_rand(plain.labels_[order], shuffled.labels_) > 0.95


SCRIPT = """
import hashlib, sys, warnings
import numpy as np
from threadpoolctl import threadpool_limits
import manyview
from manyview import datasets
from manyview._kernels import _compile
_compile.PARALLEL_ROWS = 100  # with one thread kernels are serial all the same
warnings.simplefilter("ignore")
with threadpool_limits(1):  # with more, NumPy 1.26 makes other bits in make_latent_views
    views = datasets.make_conflict_views(200, 4, separation=3.0, random_state=0).views
    many = datasets.make_latent_views(5_500, 4, widths=(6, 5), random_state=0).views
for view in (*views.values(), *many.values()):
    print("data", hashlib.sha256(view.tobytes()).hexdigest()[:16])
found = []
for name in ("AngularCIGMVC", "CIGMVC", "GBS", "CoregSC", "MSC", "MGL", "MCGL",
             "SpectralAverage", "SpectralConcat", "SpectralView", "CoTrainSC", "AnchorGraph",
             "MultiViewKMeans", "MultiViewSphericalKMeans"):
    found.append(getattr(manyview, name)(4, random_state=0).fit(views))
found.append(manyview.AngularCIGMVC(4, max_iter=2, random_state=0).fit(views))
found.append(manyview.CIGMVC(4, neighbor_search="exact", random_state=0).fit(many))
found.append(manyview.GBS(4, neighbor_search="approximate", random_state=0).fit(many))
for model in found:
    parts = (model.labels_.tobytes(), np.ascontiguousarray(model.embedding_).tobytes())
    print(type(model).__name__, *(hashlib.sha256(part).hexdigest()[:16] for part in parts))
"""


def test_threads_and_processes():
    """Labels and embeddings of every method have the same bits, as the data have."""
    outputs = []
    for threads, hash_seed in ((1, 0), (2, 1)):
        counts = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads)
        )
        environment = os.environ | counts | {"PYTHONHASHSEED": str(hash_seed)}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout.splitlines())
    assert len([line for line in outputs[0] if not line.startswith("data")]) >= 16
    assert outputs[0] == outputs[1]

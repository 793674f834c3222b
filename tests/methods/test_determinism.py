"""The same data is the same work: whatever the order, the threads or the process."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from manyview import CIGMVC, GBS, MCGL, MGL, AngularCIGMVC, SpectralAverage, datasets
from manyview.inputs._canonical_order import canonical_order, row_digests
from manyview.inputs._views import views_from_tables
from manyview.spectral._labels import relabel_by_first_sample

# Those whose work does not depend on the order of the views either.
BOTH = (AngularCIGMVC, CIGMVC, GBS, SpectralAverage)
RUNS = settings(max_examples=10, deadline=None, derandomize=True)


@st.composite
def problems(draw):
    """Blobs from clear to hopeless; some with equal samples, few-valued features or gaps."""
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
@pytest.mark.parametrize("max_iter", [100, 2])  # after two rounds k-means has the last word
@RUNS
@given(problems())
def test_the_order_of_samples_and_views_does_not_matter(method, max_iter, problem):
    views, present, n_clusters, rng = problem
    options = {} if method is SpectralAverage else {"max_iter": max_iter}
    try:
        plain = fit(method, views, n_clusters, present, **options)
    except ValueError as error:
        assert "expected" in str(error)  # noqa: PT017 (too few differ; then in any order)
        return
    order, places = rng.permutation(views[0].shape[0]), rng.permutation(3)
    turned = fit(
        method,
        [views[v][order] for v in places],
        n_clusters,
        None if present is None else present[order][:, places],
        **options,
    )
    # Of samples that are equal in every view the first has the first row.
    before, after = (canonical_order(model._views).samples for model in (plain, turned))
    np.testing.assert_array_equal(plain.embedding_[before], turned.embedding_[after])
    np.testing.assert_array_equal(
        relabel_by_first_sample(plain.labels_[before]),
        relabel_by_first_sample(turned.labels_[after]),
    )
    if method is not SpectralAverage:
        np.testing.assert_array_equal(plain.view_weights_[places], turned.view_weights_)
        assert plain.stop_reason_ == turned.stop_reason_
    for v, graph in zip(places, turned.view_graphs_, strict=True):
        rows = plain.view_graphs_[v][before][:, before] - graph[after][:, after]
        assert abs(rows).max() == 0


@pytest.mark.parametrize("method", [MGL, MCGL])
@RUNS
@given(problems())
def test_the_order_of_samples_does_not_matter(method, problem):
    views, _, n_clusters, rng = problem
    try:
        plain = fit(method, views, n_clusters)
    except ValueError as error:
        assert "expected" in str(error)  # noqa: PT017
        return
    order = rng.permutation(views[0].shape[0])
    turned = fit(method, [view[order] for view in views], n_clusters)
    before, after = (canonical_order(model._views).samples for model in (plain, turned))
    np.testing.assert_array_equal(plain.embedding_[before], turned.embedding_[after])


def test_nor_does_it_where_neighbours_are_approximate(rng):
    pytest.importorskip("faiss")
    views = list(datasets.make_latent_views(6_000, 4, widths=(6, 5), random_state=0).views.values())
    order = rng.permutation(6_000)
    options = {"neighbor_search": "approximate"}
    plain = fit(CIGMVC, views, 4, **options)
    turned = fit(CIGMVC, [view[order] for view in views[::-1]], 4, **options)
    assert plain.neighbor_search_[0].method == "approximate"
    np.testing.assert_array_equal(plain.embedding_[order], turned.embedding_)


def test_nor_does_it_in_given_graphs(rng):
    graphs = [rng.random((60, 60)) for _ in range(3)]
    order = rng.permutation(60)
    plain = fit(CIGMVC, graphs, 3, graph="precomputed")
    turned = fit(CIGMVC, [g[order][:, order] for g in graphs[::-1]], 3, graph="precomputed")
    np.testing.assert_array_equal(plain.embedding_[order], turned.embedding_)


def test_rows_are_told_apart_by_what_they_hold_alone(rng):
    table = np.where(rng.random((200, 6)) < 0.5, rng.standard_normal((200, 6)), 0.0)
    table[:10] = table[10:20]
    digests = row_digests(table)
    np.testing.assert_array_equal(digests, row_digests(csr_array(table)))
    np.testing.assert_array_equal(digests, row_digests(np.where(table == 0, -0.0, table)))
    np.testing.assert_array_equal(digests[:10], digests[10:20])
    assert len(set(digests.tolist())) == len(np.unique(table, axis=0))
    moved = table[:, ::-1].copy()
    assert not (digests == row_digests(moved))[(table != 0).any(axis=1)].any()
    unsorted = row_digests(table, with_columns=False)
    np.testing.assert_array_equal(unsorted, row_digests(moved, with_columns=False))


def test_equal_samples_stay_in_the_order_they_come_in(rng):
    table = rng.standard_normal((20, 4))[rng.integers(20, size=100)]
    samples = canonical_order(views_from_tables([table, table[:, :2].copy()])).samples
    assert sorted(samples.tolist()) == list(range(100))
    for row in np.unique(table, axis=0):
        own = np.flatnonzero((table == row).all(axis=1))
        places = np.flatnonzero(np.isin(samples, own))
        np.testing.assert_array_equal(samples[places], own)
        assert (np.diff(places) == 1).all()


SCRIPT = """
import hashlib, sys, warnings
import numpy as np
import manyview
from manyview import datasets
warnings.simplefilter("ignore")
views = datasets.make_conflict_views(200, 4, separation=3.0, random_state=0).views
many = datasets.make_latent_views(5_500, 4, widths=(6, 5), random_state=0).views
found = []
for name in ("AngularCIGMVC", "CIGMVC", "GBS", "CoregSC", "MSC", "MGL", "MCGL",
             "SpectralAverage", "SpectralConcat", "SpectralView"):
    found.append(getattr(manyview, name)(4, random_state=0).fit(views))
found.append(manyview.AngularCIGMVC(4, max_iter=2, random_state=0).fit(views))
for search in ("exact", "approximate")[: 2 if manyview.graphs._knn_faiss.is_available() else 1]:
    for name in ("AngularCIGMVC", "CIGMVC", "GBS"):
        method = getattr(manyview, name)
        found.append(method(4, neighbor_search=search, random_state=0).fit(many))
for model in found:
    parts = (model.labels_.tobytes(), np.ascontiguousarray(model.embedding_).tobytes())
    print(type(model).__name__, *(hashlib.sha256(part).hexdigest()[:16] for part in parts))
"""


def test_neither_threads_nor_processes_matter():
    """Labels and embeddings, bit by bit, of every method."""
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
    assert len(outputs[0]) >= 14
    assert outputs[0] == outputs[1]

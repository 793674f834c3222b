"""Memory estimates of the methods, and fits that are refused because of them."""

import ctypes
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import manyview
from manyview import (
    CIGMVC,
    GBS,
    NEMO,
    SNF,
    WNN,
    AnchorGraph,
    ConsensusGraph,
    CoregSC,
    CoTrainSC,
    MultiViewKMeans,
    SpectralAverage,
    SpectralView,
    memory_limit,
)
from manyview.datasets import make_latent_views
from manyview.graphs import (
    SINGLE_ABOVE,
    FitSize,
    ViewSize,
    _dense_kernels,
    view_sizes,
)
from manyview.inputs import views_from_tables
from manyview.methods import REGISTRY
from manyview.runtime import Run
from manyview.runtime._memory import NEVER_CHECKED
from tests.helpers import memory as measure

ESTIMATORS = [getattr(manyview, name) for name in sorted({method.estimator for method in REGISTRY})]
CELLS = {"neighbor_search": "approximate"}
# What several threads allocate for a short time varies from fit to fit.
SLOW = pytest.mark.slow


def fit_size(**changes):
    n = 30_000
    size = FitSize(n, (ViewSize(n, 40), ViewSize(n, 20)), n_clusters=8, n_neighbors=15)
    return replace(size, **changes)


@settings(max_examples=60, deadline=None)
@given(
    method=st.sampled_from(ESTIMATORS),
    n=st.integers(10, 200_000),
    widths=st.lists(st.integers(1, 3000), min_size=1, max_size=4),
    n_clusters=st.integers(1, 60),
    n_neighbors=st.integers(1, 50),
    stored=st.one_of(st.none(), st.integers(1, 100)),
    all_pairs=st.booleans(),
)
def test_larger_fits_need_more(method, n, widths, n_clusters, n_neighbors, stored, all_pairs):
    model = method(2)
    if method in (SNF, NEMO):  # above their limit they need less: they no longer hold all pairs
        model.set_params(max_dense_samples=2 * n if all_pairs else 0)

    def needed(n=n, widths=widths, n_clusters=n_clusters, n_neighbors=n_neighbors):
        views = (ViewSize(n, width, stored and stored * n) for width in widths)
        return model._memory(FitSize(n, tuple(views), n_clusters, n_neighbors)).peak

    if not n <= SINGLE_ABOVE < 2 * n:  # there weights take half
        assert needed(n=2 * n) >= needed() > 0
    assert needed(widths=[*widths, widths[0]]) >= needed()
    assert needed(widths=[*widths[:-1], 2 * widths[-1]]) >= needed()
    assert needed(n_neighbors=n_neighbors + 1) >= needed()
    assert needed(n_clusters=n_clusters + 1) >= needed()


def latent(n, widths):
    return list(make_latent_views(n, 5, widths=widths, random_state=0).views.values())


def growth_of_a_fit(estimator, n, widths):
    """Bytes by which resident memory rises in a fit: the least of four. The first ones compile the
    kernels, and threads of BLAS and malloc get memory that they keep."""
    warnings.simplefilter("ignore")
    views, found = latent(n, widths), []
    for _ in range(4):
        ctypes.CDLL(None).malloc_trim(0)
        found.append(measure.peak_growth(lambda: clone(estimator).fit(views))[1])
    return min(found)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs Linux with glibc")
@pytest.mark.parametrize(
    ("estimator", "n", "widths"),
    [
        pytest.param(
            SpectralView(5, neighbor_search="exact", random_state=0), 5000, [1000], marks=SLOW
        ),
        (CIGMVC(5, max_iter=1, n_neighbors=30, random_state=0, **CELLS), 14_000, [10, 12, 14]),
        pytest.param(SpectralAverage(5, random_state=0, **CELLS), 16_000, [300, 20], marks=SLOW),
        pytest.param(ConsensusGraph(10, random_state=0, **CELLS), 16_000, [32, 48, 20], marks=SLOW),
        pytest.param(CoregSC(5, max_iter=1, random_state=0), 2100, [10, 10], marks=SLOW),
        (CoTrainSC(5, max_iter=2, random_state=0), 2100, [10, 10]),
        pytest.param(AnchorGraph(5, random_state=0), 40_000, [32, 48, 20], marks=SLOW),
        pytest.param(MultiViewKMeans(10, random_state=0), 80_000, [32, 48, 20], marks=SLOW),
        (SNF(5, max_iter=1, random_state=0), 1600, [10, 10, 10]),
        pytest.param(SNF(5, max_iter=1, random_state=0, **CELLS), 16_000, [10, 10, 10], marks=SLOW),
        pytest.param(NEMO(5, random_state=0, **CELLS), 16_000, [32, 48, 20], marks=SLOW),
        pytest.param(WNN(5, random_state=0, **CELLS), 7_000, [10, 12], marks=SLOW),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_estimates_are_close_to_measured_peaks(estimator, n, widths):
    """Measured in a process of its own: one that has freed much memory seems to need less."""
    estimate = estimator._memory(estimator._fit_size(views_from_tables(latent(n, widths))))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        growth = process.submit(growth_of_a_fit, estimator, n, widths).result()
    assert estimate.peak > 80e6
    assert 0.7 < estimate.peak / growth < 1.3, (estimate, growth)


@pytest.fixture
def no_work(monkeypatch):
    """Fails when a fit gets past the check of memory."""

    def begin(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(Run, "stage", begin)
    monkeypatch.setattr(_dense_kernels, "gaussian_kernel", begin)


@pytest.mark.parametrize("method", ESTIMATORS)
def test_fit_that_needs_too_much_is_refused_before_any_work(method, no_work, rng):
    X = rng.standard_normal((3000 if "kernel" in method().get_params() else 60_000, 30))
    with memory_limit(60 * 10**6), pytest.raises(MemoryError) as raised:
        method(20).fit([X, X])
    message = str(raised.value)
    assert message.count("\n") == 0
    assert message.startswith(f"{method.__name__} needs about ")
    assert "but 60 MB is available; expected " in message
    assert "fewer samples" in message
    assert "manyview.memory_limit(None) to fit anyway" in message
    with memory_limit(None), pytest.raises(AssertionError, match="the work has begun"):
        method(20).fit([X, X])


def test_suggested_savings():
    predict = "fewer samples and predict for the rest"
    assert fit_size().savings("results") == ["fewer neighbours", predict]
    assert fit_size().savings("eigenvectors") == ["fewer neighbours", "fewer clusters", predict]
    assert fit_size().savings("neighbors") == ["fewer features", predict]
    assert fit_size(n_neighbors=None, edges=(10, 10)).savings("results") == ["fewer samples"]
    assert fit_size().savings("kernels")[0] == "a method on graphs, such as GBS"


def test_small_fits_are_never_refused(rng):
    X = rng.standard_normal((200, 3))
    assert GBS(2)._memory(GBS(2)._fit_size(views_from_tables([X]))).peak < NEVER_CHECKED
    with memory_limit(0):
        assert GBS(2).fit([X]).labels_.max() == 1


def test_sizes_of_views_with_missing_samples(rng):
    X = rng.standard_normal((50, 4))
    X[:20] = np.nan
    Y = csr_array(np.where(rng.random((50, 9)) < 0.2, 1.0, 0.0))
    sizes = view_sizes(views_from_tables([X, Y]))
    assert sizes == (ViewSize(30, 4), ViewSize(50, 9, Y.nnz))


def test_spectral_view_counts_one_view(rng):
    narrow, wide = rng.standard_normal((5000, 2)), rng.standard_normal((5000, 1500))
    with memory_limit(70 * 10**6):
        SpectralView(2, view=0, random_state=0).fit([narrow, wide])
        with pytest.raises(MemoryError, match=r"\(neighbors\).* expected fewer features"):
            SpectralView(2, view=1, random_state=0).fit([narrow, wide])

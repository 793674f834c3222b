"""Dense kernels of CoregSC and MSC: precomputed ones, limits, memory."""

import tracemalloc

import numpy as np
import pytest

from manyview import MSC, CoregSC, datasets
from tests.helpers import oracle


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(90, 3, widths=(6, 4, 5), separation=6, random_state=0)


def test_precomputed_kernels(blobs):
    kernels = [
        np.exp(-oracle.squared_distances(oracle.zscore_rows(view)) / (2 * s**2))
        for view, s in zip(
            blobs.views.values(), CoregSC(3).fit(blobs.views).bandwidths_, strict=True
        )
    ]
    for method in (CoregSC, MSC):
        expected = method(3, random_state=0).fit(blobs.views)
        model = method(3, kernel="precomputed", random_state=0).fit(kernels)
        np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize("method", [CoregSC, MSC])
def test_more_samples_than_the_limit(method, rng):
    X = rng.standard_normal((20_000, 3))
    message = r"of 20000 x 20000, \d+\.\d GB; expected at most max_dense_samples=5000"
    with pytest.raises(ValueError, match=message):
        method(3).fit([X, X])
    small = rng.standard_normal((60, 4))
    with pytest.raises(ValueError, match="max_dense_samples=50 samples, or a larger limit"):
        method(3, max_dense_samples=50).fit([small])
    method(3, max_dense_samples=60).fit([small])


@pytest.mark.parametrize("method", [CoregSC, MSC])
def test_equal_samples_and_views_without_similarities(method, rng):
    twice = [np.repeat(rng.standard_normal((2, 8)), 30, axis=0)]
    with pytest.raises(ValueError, match=r"only 2 sample\(s\) of 60 differ; expected 1 to 2"):
        method(3).fit(twice)
    with pytest.warns(UserWarning, match="view 'view0' has no information .* no similarities"):
        method(3, kernel="precomputed", random_state=0).fit([np.zeros((20, 20)), np.eye(20) + 0.1])


@pytest.mark.parametrize(("method", "matrices"), [(CoregSC, 5), (MSC, 20)])
def test_memory_in_the_message_is_that_measured(method, matrices, rng):
    views = [rng.standard_normal((400, 5)) for _ in range(3)]
    with pytest.raises(ValueError, match=f"holds about {matrices} dense matrices"):
        method(3, max_dense_samples=10).fit(views)
    tracemalloc.start()
    method(3, random_state=0).fit(views)
    peak = tracemalloc.get_traced_memory()[1] / (8 * 400**2)
    tracemalloc.stop()
    assert 0.6 * matrices < peak < 1.15 * matrices

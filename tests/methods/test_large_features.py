"""Large tables in single precision, also mapped from files, are converted block by block."""

import numpy as np
import pytest

import manyview
from manyview.datasets import make_blob_views
from manyview.inputs import _blocks
from manyview.inputs import _views as reading
from manyview.methods import REGISTRY
from tests.helpers.masks import removed


@pytest.fixture
def kept_single(monkeypatch):
    """No table is too small to stay in single precision, and blocks have a few rows."""
    monkeypatch.setattr(reading, "LARGE_BYTES", 0)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 8 * 5 * 7)


def views(n=120):
    made = make_blob_views(n, 3, random_state=0).views
    return {name: view.astype(np.float32) for name, view in made.items()}


def in_double(tables):
    return {name: table.astype(np.float64) for name, table in tables.items()}


def mapped(tables, folder):
    for name, table in tables.items():
        np.save(folder / f"{name}.npy", table)
    return {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in tables}


@pytest.mark.parametrize("method", [entry.estimator for entry in REGISTRY])
def test_the_same_result_as_in_double_precision(method, kept_single, tmp_path):
    given = views()
    estimator = getattr(manyview, method)(3, random_state=0)
    known = estimator.fit(in_double(given)).labels_
    found = estimator.fit(mapped(given, tmp_path))
    np.testing.assert_array_equal(found.labels_, known)
    if hasattr(found, "_views"):
        assert all(matrix.dtype == np.float32 for matrix in found._views.matrices)


@pytest.mark.parametrize("scaling", ["auto", "paper", "unit", "none", "sqrt", "standard", "tfidf"])
def test_each_scaling(scaling, kept_single, rng):
    given = {name: np.abs(view) for name, view in views().items()}
    model = manyview.ConsensusGraph(3, scaling=scaling, n_resamples=0, random_state=0)
    present = removed(120, 3, 0.2, rng)
    known = model.fit(in_double(given), present=present).unified_graph_
    found = model.fit(given, present=present).unified_graph_
    assert (known != found).nnz == 0


def test_predictions_report_and_model_file(kept_single, tmp_path):
    given = mapped(views(), tmp_path)
    known = manyview.cluster(in_double(given), 3, random_state=0)
    found = manyview.cluster(given, 3, random_state=0)
    new = {name: table[:20] + 0.01 for name, table in given.items()}
    expected = known.predict(new)
    np.testing.assert_array_equal(found.predict(new).labels, expected.labels)
    found.save_model(tmp_path / "model.zip")
    loaded = manyview.load_model(tmp_path / "model.zip").predict(new)
    np.testing.assert_array_equal(loaded.labels, expected.labels)
    np.testing.assert_allclose(loaded.confidence, expected.confidence)
    assert found.report_html() == known.report_html()


def test_empty_rows_and_infinite_cells(kept_single):
    given = views()
    given["view0"] = given["view0"].copy()
    given["view0"][3] = np.nan
    labels = manyview.ConsensusGraph(3, random_state=0).fit_predict(given)
    assert len(labels) == 120
    given["view0"][5, 1] = np.inf
    with pytest.raises(ValueError, match=r"'view0' has 1 empty .* row 5, column 1"):
        manyview.ConsensusGraph(3).fit(given)

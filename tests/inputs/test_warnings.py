"""Warnings about views that are probably not what their user means."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import manyview
from manyview.datasets import load_digits_views, make_blob_views


def texts(views, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        manyview.cluster(views, 3, n_resamples=0, **options)
    return [str(one.message) for one in caught]


@pytest.fixture
def blobs():
    return dict(make_blob_views(120, 3, separation=6.0, random_state=0).views)


def test_ordinary_views_are_not_warned_of(blobs):
    assert texts(blobs) == []


def test_identifiers(blobs, rng):
    name = next(iter(blobs))
    numbers = rng.permutation(np.arange(120)) + 1000
    (text,) = texts(blobs | {name: np.column_stack([blobs[name], numbers])})
    width = blobs[name].shape[1]
    assert text == (
        f"view '{name}' has a different whole number for every sample in column '{width}': if "
        "these are ids, leave the column out"
    )
    model = manyview.ConsensusGraph(2, n_resamples=0, random_state=0)
    with pytest.warns(UserWarning, match="for every sample in column 1:"):
        model.fit([np.column_stack([blobs[name][:, 0], numbers])])


def test_identifiers_by_name(blobs):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(blobs["view0"]).add_prefix("x").assign(patient=np.arange(120))
    (text,) = texts({"clinic": frame, "other": blobs["view1"]})
    assert "for every sample in column 'patient'" in text


def counts(rng, labels):
    rates = rng.lognormal(2, 1.5, (3, 8))
    return rng.poisson(rates[labels] * rng.lognormal(0, 1.5, (len(labels), 8))).astype(float)


def test_raw_counts(blobs, rng):
    labels = manyview.cluster(blobs, 3, n_resamples=0).labels
    views = blobs | {"rna": counts(rng, labels)}
    assert texts(views) == []
    (text,) = texts(views, scaling={"rna": "none"})
    assert text.startswith("view 'rna' has raw counts, and after scaling='none'")
    assert "use scaling='auto'" in text


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_very_unequal_totals(blobs, rng, make):
    labels = manyview.cluster(blobs, 3, n_resamples=0).labels
    rates = rng.lognormal(0, 1, (3, 200))
    words = rng.poisson(rates[labels] * np.where(np.arange(120) < 12, 0.02, 1)[:, None])
    found = texts(blobs | {"words": make(words.astype(float))}, scaling={"words": "tfidf"})
    assert any("view 'words' has very unequal totals: 10% of the samples" in text for text in found)


def test_totals_beyond_all_numbers(blobs):
    huge = np.full((120, 3), 1.7e308)
    huge[:60, 0] = 1
    assert texts(blobs | {"huge": huge}, scaling={"huge": "tfidf"}) == texts(blobs)


def test_a_view_given_twice(blobs):
    (text,) = texts(blobs | {"again": 3 * blobs["view1"]})
    assert text.startswith("views 'view1' and 'again' have nearly the same neighbours")


def test_a_view_of_noise(rng):
    data = load_digits_views()
    noise = {"noise": rng.standard_normal((data.n_samples, 30))}
    with pytest.warns(UserWarning, match="view 'noise' has hardly anything in common"):
        manyview.cluster(data.views | noise, 10)

"""Scaling of views: the rule of "auto", and each scaling beside a plain twin."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.inputs import SCALING_NAMES, joint_rows, per_view, resolved_scaling, view_rows
from manyview.inputs._scalers import (
    N_COMPONENTS,
    choose_scaling,
    fit_scaler,
    statistics_sample,
)


def text(rng):
    return rng.poisson(0.05, (200, 300)).astype(float)


def histogram(rng):
    counts = rng.random((200, 30)) ** 3
    return counts / counts.sum(axis=1, keepdims=True)


def few_counts(rng):
    depth = rng.lognormal(0, 0.6, (200, 1))
    return rng.poisson(depth * rng.lognormal(3, 1.5, (200, 12))).astype(float)


def units(rng):
    return rng.lognormal(0, 0.4, (200, 8)) * 10.0 ** np.arange(-4, 4)


def with_temperatures(rng):
    return np.column_stack([units(rng), 20 * rng.standard_normal(200) - 5])


def pixels(rng):
    return rng.random((200, 90))


def principal_components(rng):
    scores = rng.standard_normal((200, 20)) * 0.8 ** np.arange(20)
    return scores - scores.mean(axis=0)


def standardised(rng):
    table = units(rng)
    return (table - table.mean(axis=0)) / table.std(axis=0)


def centred_units(rng):
    """Only the means were subtracted; columns of a table are correlated."""
    table = units(rng) * rng.lognormal(0, 0.4, (200, 1))
    return table - table.mean(axis=0)


def steep_components(rng):
    scores = rng.standard_normal((200, 8)) * 10.0 ** -np.arange(8)
    return scores - scores.mean(axis=0)


def grades(rng):
    """Whole numbers that are no counts: ordinary tables are full of them."""
    return rng.integers(1, 11, (200, 9)).astype(float)


def one_unit(rng):
    return rng.normal(5, 1, (200, 4))


KINDS = {
    text: "tfidf",
    histogram: "sqrt",
    few_counts: "logratio",
    units: "standard",
    with_temperatures: "standard",
    pixels: "sqrt",
    principal_components: "center",
    steep_components: "center",
    standardised: "center",
    centred_units: "standard",
    grades: "standard",
    one_unit: "standard",
}


@pytest.mark.parametrize("make", KINDS)
def test_auto_knows_the_kind_of_a_view(make, rng):
    assert choose_scaling(make(rng)) == KINDS[make]


def test_auto_of_sparse_views(rng):
    assert choose_scaling(csr_array(text(rng))) == "tfidf"
    assert choose_scaling(csr_array(text(rng) - (text(rng) > 1))) == "unit"


@pytest.mark.parametrize("values", [0.0, 3.0, 1e300, -1e300])
def test_auto_of_constant_views(values):
    assert choose_scaling(np.full((10, 4), values)) in SCALING_NAMES


def projected(columns, power=0.5):
    """U S^(1 - power) of the centred columns, by a plain decomposition."""
    centred = columns - columns.mean(axis=0)
    U, S, _ = np.linalg.svd(centred, full_matrices=False)
    count = min(N_COMPONENTS, columns.shape[1], max(len(columns) // 8, 2))
    return (U * S ** (1 - power))[:, :count]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def standard(X):
    cubes = ((X - X.mean(axis=0)) ** 3).mean(axis=0) / X.std(axis=0) ** 3
    tails = (X >= 0).all(axis=0) & (cubes > 2)
    logs = np.where(tails, np.log1p(np.maximum(X, 0) / np.median(X, axis=0)), X)
    return (logs - logs.mean(axis=0)) / logs.std(axis=0)


TWINS = {
    "sqrt": lambda X: projected(unit(np.sqrt(X))),
    "logratio": lambda X: projected(np.log1p(X) - np.log1p(X).mean(axis=1, keepdims=True)),
    "standard": lambda X: projected(standard(X), 0.25),
    "center": lambda X: projected(unit(X - X.mean(axis=0))),
}


def sq_distances(rows):
    n = rows.n_samples
    return rows.sq_distances(np.arange(n), np.tile(np.arange(n), (n, 1)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scaling", TWINS)
@pytest.mark.parametrize("width", [5, 40, 130])
def test_distances_are_those_of_the_plain_twin(scaling, width, sparse, rng):
    X = rng.lognormal(0, 1, (64, width)) * rng.lognormal(0, 1, width)
    found = view_rows(csr_array(X) if sparse else X, scaling)
    plain = TWINS[scaling](X)
    expected = ((plain[:, None] - plain) ** 2).sum(axis=-1)
    np.testing.assert_allclose(sq_distances(found), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_tfidf_is_its_plain_twin(make, rng):
    X = text(rng)[:50]
    rarity = np.log((1 + len(X)) / (1 + (X > 0).sum(axis=0))) + 1
    plain = unit(np.sqrt(X * rarity))
    expected = ((plain[:, None] - plain) ** 2).sum(axis=-1)
    np.testing.assert_allclose(sq_distances(view_rows(make(X), "tfidf")), expected, atol=1e-12)


def test_standard_does_not_know_units(rng):
    X = with_temperatures(rng)
    factor = 1000.0 ** rng.integers(-1, 2, X.shape[1])
    distances = sq_distances(view_rows(X, "standard"))
    np.testing.assert_allclose(sq_distances(view_rows(X * factor, "standard")), distances, 1e-6)
    assert choose_scaling(X * factor) == "standard"


@pytest.mark.parametrize("scaling", SCALING_NAMES[2:])
def test_new_samples_are_scaled_as_the_training_samples(scaling, rng):
    """Their number and values do not change how training samples are scaled."""
    X = rng.lognormal(0, 1, (80, 12))
    alone = view_rows(X, scaling)
    for new in (X[:3], 1e6 * X[:40], np.zeros((2, 12)), -X[:2]):
        both = joint_rows(X, new, scaling)
        assert both.n_samples == 80 + len(new)
        known = both.sq_distances(np.arange(80), np.tile(np.arange(80), (80, 1)))
        if scaling != "none" or np.abs(new).max() <= X.max():  # "none" has a common power of two
            np.testing.assert_allclose(known, sq_distances(alone), rtol=1e-9, atol=1e-12)
    same = joint_rows(X, X[:3], scaling)
    gaps = same.sq_distances(np.arange(80, 83), np.arange(3)[:, None])
    np.testing.assert_allclose(gaps, 0, atol=1e-20)


@pytest.mark.parametrize("scaling", SCALING_NAMES[2:])
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_extreme_numbers(scaling, factor, rng):
    X = np.abs(rng.standard_normal((30, 6))) * factor
    assert np.isfinite(sq_distances(view_rows(X, scaling))).all()


@pytest.mark.parametrize("scaling", SCALING_NAMES[2:])
@pytest.mark.parametrize(
    "X",
    [
        [[1e308, 5e-324], [-1e308, 0.0], [1.0, 0.0]],  # differences overflow, quotients underflow
        [[2e-323, 1e-323], [0.0, -1.5e-323], [-1e-323, -2.5e-323]],
    ],
)
def test_numbers_at_the_limits_of_floats(scaling, X):
    X = np.array(X)
    assert np.isfinite(sq_distances(view_rows(X, scaling))).all()
    rows = joint_rows(X, np.array([[9.5, -1e300]]), scaling)
    assert np.isfinite(rows.sq_distances(np.array([3]), np.array([[0, 1, 2]]))).all()


LARGEST, SMALLEST = np.finfo(float).max, 5e-324
SIZES = {
    "all": [LARGEST, -LARGEST, SMALLEST, -SMALLEST, 1.0, -1.0, 0.0],
    "positive": [LARGEST, SMALLEST, 1.0, 0.0],
    "whole": [LARGEST, 1.0, 0.0],
    "large": [LARGEST, LARGEST / 2],
    "small": [SMALLEST, 0.0],
}


@pytest.mark.parametrize("scaling", SCALING_NAMES)
@pytest.mark.parametrize("width", [2, 6, 70])
@pytest.mark.parametrize("sizes", SIZES)
def test_numbers_of_all_sizes_in_one_view(scaling, width, sizes, rng):
    for n in (4, 40):
        X = rng.choice(SIZES[sizes], (n, width))
        chosen = resolved_scaling(X, "a", scaling)
        assert np.isfinite(sq_distances(view_rows(X, chosen))).all()


@pytest.mark.parametrize("scaling", SCALING_NAMES[2:])
@pytest.mark.parametrize("factor", [SMALLEST, 1e-300, 1.0, 1e300])
def test_new_samples_of_any_size(scaling, factor, rng):
    X = rng.lognormal(0, 2, (40, 6)) * factor
    X[:, :2] *= -1
    new = rng.choice(SIZES["all"], (20, 6))
    assert np.isfinite(sq_distances(joint_rows(X, new, scaling))).all()


def test_one_number_far_above_all_others():
    """Its column is replaced by logarithms in units of the smallest number there is."""
    X = np.full((40, 2), SMALLEST)
    X[0] = LARGEST
    rows = view_rows(X, "standard")
    distances = sq_distances(rows)
    assert distances[0, 1] > 1
    assert distances[1, 2] == 0
    assert np.isfinite(distances).all()


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_samples_without_features(make):
    """Also beside samples whose numbers are too large to add up."""
    X = make(np.array([[LARGEST, LARGEST], [0.0, 0.0], [1.0, SMALLEST], [0.0, SMALLEST]]))
    assert fit_scaler(X, "tfidf").empty(X).tolist() == [False, True, False, False]


@pytest.mark.parametrize("value", [7.0, 0.1, LARGEST, SMALLEST])
def test_a_constant_column_is_like_none(value, rng):
    X = rng.lognormal(0, 1, (30, 6))
    with_constant = np.column_stack([X, np.full(30, value)])
    np.testing.assert_allclose(
        sq_distances(view_rows(with_constant, "standard")),
        sq_distances(view_rows(X, "standard")),
        atol=1e-9,
    )


def test_constant_columns_and_rows(rng):
    X = rng.lognormal(0, 1, (30, 6))
    X[:, 2], X[4] = 7.0, 0.0
    for scaling in SCALING_NAMES[2:]:
        assert np.isfinite(sq_distances(view_rows(X, scaling))).all(), scaling


def test_statistics_come_from_some_of_many_samples():
    X = np.arange(400_000.0).reshape(-1, 1)
    some = statistics_sample(X)
    assert len(some) == 50_000
    assert some[0] == 0
    assert some[-1] == 399_999
    assert len(statistics_sample(X[:100])) == 100


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("scaling", ["standard", "tfidf"])
def test_views_in_which_all_samples_are_equal_are_not_scaled(scaling, make):
    assert resolved_scaling(make(np.full((9, 3), 2.0)), "v", scaling) == "none"
    assert resolved_scaling(make(np.eye(9)), "v", scaling) == scaling


def test_one_scaling_per_view():
    names = ("a", "b")
    assert per_view("scaling", "unit", names) == ["unit", "unit"]
    assert per_view("scaling", None, names) == [None, None]
    assert per_view("scaling", {"b": "sqrt"}, names) == ["auto", "sqrt"]
    assert per_view("scaling", ["sqrt", None], names) == ["sqrt", None]
    with pytest.raises(ValueError, match="scaling has view 'c'; expected some of a, b"):
        per_view("scaling", {"c": "sqrt"}, names)
    with pytest.raises(ValueError, match="scaling has 1 entries for 2 views"):
        per_view("scaling", ["sqrt"], names)


def test_the_papers_scaling(rng):
    assert resolved_scaling(rng.random((5, 3)), "v", "paper") == "zscore"
    assert resolved_scaling(rng.random((5, 2)), "v", "paper") == "none"


def test_a_large_column_that_hardly_varies_makes_no_shares(rng):
    """Pressure in pascal beside temperature and humidity: totals are nearly the same."""
    weather = rng.normal([101_325, 293, 40], [100, 2, 5], (200, 3))
    assert choose_scaling(weather) == "standard"
    assert choose_scaling(rng.dirichlet(np.ones(5), 200)) == "sqrt"

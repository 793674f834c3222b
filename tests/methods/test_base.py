"""Wrong parameters and input give an error that names them; unusual input gives a result."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview import CIGMVC, GBS

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 8))
Y = rng.standard_normal((60, 5))


def spoiled(value):
    bad = X.copy()
    bad[4, 2] = value
    return bad


def with_nan_in_sparse():
    bad = sparse.csr_array(X)
    bad.data[100] = np.nan
    return bad


def with_wrong_indices():
    bad = sparse.csr_array(X)
    bad.indices[7] = 99
    return bad


def with_wrong_indptr():
    bad = sparse.csr_array((60, 8))
    bad.indptr[5] = 3
    return bad


ERRORS = {
    "k too large": ({"n_neighbors": 59}, {"text": X, "links": Y},
        "n_neighbors=59, but view 'text' has n_samples=60; expected 1 to 58"),
    "k no integer": ({"n_neighbors": 2.5}, [X],
        "n_neighbors=2.5; expected an integer of at least 1"),
    "k a word": ({"n_neighbors": "few"}, [X],
        "n_neighbors='few'; expected one of 'auto', 'all'"),
    "adaptive and complete": ({"n_neighbors": "all"}, [X],
        "n_neighbors='all' with graph='adaptive'; expected a number of neighbours"),
    "too many clusters": ({"n_clusters": 61}, [X],
        "n_clusters=61, but there are 60 samples; expected 1 to 60"),
    "no clusters": ({"n_clusters": 0}, [X], "n_clusters=0; expected an integer of at least 1"),
    "clusters True": ({"n_clusters": True}, [X], "n_clusters=True; expected an integer"),
    "unknown graph": ({"graph": "knn"}, [X], "graph='knn'; expected one of 'adaptive', 'binary'"),
    "unknown normalisation": ({"scaling": "l1"}, [X], "scaling='l1'; expected one of 'auto'"),
    "unknown updates": ({"updates": "fast"}, [X], "updates='fast'; expected one of 'published'"),
    "lambda 0": ({"lambda_init": 0}, [X], "lambda_init=0; expected a finite number above 0"),
    "lambda inf": ({"lambda_init": np.inf}, [X], "lambda_init=inf; expected a finite number"),
    "tol nan": ({"tol": float("nan")}, [X], "tol=nan; expected a finite number above 0"),
    "no rounds": ({"max_iter": 0}, [X], "max_iter=0; expected an integer of at least 1"),
    "row numbers": ({}, {"text": X, "links": Y[:50]},
        "views differ in their number of rows: 'text' has 60, 'links' has 50; expected the same"),
    "NaN": ({}, {"text": X, "links": spoiled(np.nan)},
        "view 'links' has 1 empty (NaN) or infinite cell(s), the first in row 4, column 2"),
    "infinity": ({}, [spoiled(-np.inf)], "view 'view0' has 1 empty (NaN) or infinite cell(s)"),
    "NaN, sparse": ({}, [Y, with_nan_in_sparse()],
        "view 'view1' has 1 empty (NaN) or infinite cell(s), the first in row 12, column 4"),
    "wrong indices, sparse": ({}, [Y, with_wrong_indices()],
        "view 'view1' is not a valid sparse matrix: "),
    "wrong index pointers, sparse": ({}, with_wrong_indptr(),
        "X is not a valid sparse matrix: index pointers do not ascend from 0"),
    "NaN, one matrix": ({"views": [3, 5]}, spoiled(np.nan),
        "view 'view0' has 1 empty (NaN) or infinite cell(s), the first in row 4, column 2"),
    "strings": ({}, {"text": np.array([["a", "b"]] * 60)},
        "view 'text' is not a table of numbers: it has values of type <U1"),
    "numbers as text": ({}, [pd.DataFrame(X).astype(str)],  # pandas 2 and 3 call it differently
        "view 'view0' is not a table of numbers: it has "),
    "text among objects": ({}, [np.array([[1.0, "b"]] * 60, dtype=object)],
        "view 'view0' is not a table of numbers: it has the text 'b'"),
    "dates": ({}, [X.astype("M8[s]")],
        "view 'view0' is not a table of numbers: it has values of type datetime64[s]"),
    "dates in one frame": ({}, pd.DataFrame({"when": pd.date_range("2020", periods=60)}),
        "X is not a table of numbers: it has values of type datetime64"),
    "polars text": ({}, [pl.DataFrame({"a": ["x"] * 60})],
        "view 'view0' is not a table of numbers: it has values of type String"),
    "masked values": ({}, [Y, np.ma.masked_greater(X, 1.0)],
        f"view 'view1' has {(X > 1).sum()} masked value(s); expected finite numbers"),
    "too large for a float": ({}, [np.array([[10**400, 1]] * 60, dtype=object)],
        "view 'view0' is not a table of numbers: int too large to convert to float"),
    "columns for views": ({}, [pd.Series(X[:, 0]), pd.Series(X[:, 1])],
        "view 'view0' has 1 dimension(s); expected a 2-D table"),
    "None among views": ({}, [None, X], "view 'view0' has 0 dimension(s); expected a 2-D table"),
    "verbose": ({"verbose": "yes"}, [X], "verbose='yes'; expected an integer, or True or False"),
    "lambda beyond floats": ({"lambda_init": 10**400}, [X], "expected a finite number above 0"),
    "fewer distinct samples": ({}, [np.repeat(X[:2], 30, axis=0), np.ones((60, 4))],
        "n_clusters=3, but only 2 sample(s) of 60 differ; expected 1 to 2"),
    "similarities that overflow": ({"graph": "precomputed"}, [np.full((60, 60), 1.7e308)],
        "view 'view0' has similarities too large to add up"),
    "complex": ({}, [X + 1j], "view 'view0' is not a table of numbers: Complex data not supported"),
    "no columns": ({}, [X, np.empty((60, 0))], "view 'view1' is empty, its shape is (60, 0)"),
    "no rows": ({}, [np.empty((0, 3))], "view 'view0' is empty, its shape is (0, 3)"),
    "no views": ({}, [], "got no views; expected at least one 2-D table"),
    "1-D view": ({}, [X, Y[:, 0]], "view 'view1' has 1 dimension(s); expected a 2-D table"),
    "3-D view": ({}, [np.zeros((2, 3, 4))], "view 'view0' has 3 dimension(s); expected a 2-D"),
    "3-D array": ({}, np.zeros((2, 3, 4)), "Found array with dim 3"),
    "names": ({}, {1: X, "1": Y}, "view names [1, '1'] are not distinct as text"),
    "widths": ({"views": [3, 4]}, X, "views=[3, 4]; expected widths that add up to the 8 columns"),
    "width 0": ({"views": [0, 8]}, X, "width in views=0; expected an integer of at least 1"),
    "widths a number": ({"views": 8}, X, "views=8; expected widths, columns per view, or a dict"),
    "widths and tables": ({"views": [8]}, [X],
        "views=[8] cuts one matrix into views, but X is already 1 tables"),
    "one column": ({"scaling": "zscore"}, [Y, X[:, :1]],
        "view 'view1' has n_features=1, and z-scoring each sample over its features"),
    "one sample": ({"n_clusters": 1}, [X[:1]], "n_samples=1; expected at least 2 samples"),
    "two samples": ({"n_clusters": 1}, [X[:2]],
        "view 'view0' has n_samples=2; expected at least 3 for a graph"),
    "not square": ({"graph": "precomputed"}, [X], "view 'view0' has shape (60, 8); expected"),
    "negative": ({"graph": "precomputed"}, [-np.eye(60)],
        "view 'view0' has a negative similarity (-1); expected none below 0"),
    "components": ({"graph": "precomputed"}, [np.kron(np.eye(5), np.ones((12, 12)))],
        "n_clusters=3, but the precomputed graph of view 'view0' has 5 connected components"),
    "components, two views": ({"graph": "precomputed"}, [np.kron(np.eye(5), np.ones((12, 12)))] * 2,
        "n_clusters=3, but the precomputed graphs of the views together have 5 connected"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:view .* has no information")
@pytest.mark.parametrize("method", [CIGMVC, GBS])
@pytest.mark.parametrize("case", ERRORS)
def test_error_message(method, case):
    parameters, views, message = ERRORS[case]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        method(**{"n_clusters": 3} | parameters).fit(views)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [{"n_clusters": np.uint8(3)}, {"n_neighbors": np.int8(58)}, {"max_iter": np.uint8(255)}],
)
def test_small_numpy_integers_do_not_overflow(parameters):
    parameters = {"n_clusters": 3, "lambda_init": 1e4} | parameters
    plain = {name: int(value) for name, value in parameters.items()}
    model, expected = GBS(**parameters).fit([X, Y]), GBS(**plain).fit([X, Y])
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_complete_graphs_of_many_samples(monkeypatch):
    monkeypatch.setattr("manyview.graphs._build.COMPLETE_LIMIT", 50)
    with pytest.raises(ValueError, match="view 'view0' has 60 samples and a complete graph"):
        GBS(3, graph="binary", n_neighbors="all").fit([X])


def no_information(view):
    return f"view '{view}' has no information about any sample"


UNUSUAL = {  # views, parameters, warnings in order
    "one column": ([X[:, :1], Y], {}, []),
    "one view": ([X], {}, []),
    "one cluster": ([X, Y], {"n_clusters": 1}, []),
    "k = N - 2": ([X, Y], {"n_neighbors": 58}, []),
    "N = C": ([X, Y], {"n_clusters": 60}, ["labels come from k-means"]),
    "C > N / 2": ([X, Y], {"n_clusters": 40}, ["labels come from k-means"]),
    "few samples": ([X[:6], Y[:6]], {"n_clusters": 2}, []),
    "every sample twice": ([np.repeat(X[:30], 2, axis=0), np.repeat(Y[:30], 2, axis=0)], {}, []),
    "three samples 20 times": (
        [np.repeat(X[:3], 20, axis=0), np.repeat(Y[:3], 20, axis=0)], {},
        [no_information("view0"), no_information("view1"), "60 connected components"],
    ),
    "six samples ten times": ([np.repeat(X[:6], 10, axis=0)], {}, ["6 connected components"]),
    "half the rows constant": (
        [np.where(np.arange(60)[:, None] < 30, 1.0, X), Y],
        {},
        ["view 'view0' has no nearest neighbours for 31 of 60 samples"],
    ),
    "a constant view": ([np.ones((60, 8)), Y], {}, [no_information("view0")]),
    "two columns, z-scored": ([X[:, :2], Y], {"scaling": "zscore"}, [no_information("view0")]),
    "an empty sparse view": ([sparse.csr_array((60, 50)), Y], {}, [no_information("view0")]),
    "booleans": ([X > 0, Y > 0], {}, []),
    "integers": ([(X * 10).astype(np.int8), Y], {}, []),
    "extreme scales": ([X * 1e300, Y * 1e-300], {}, []),
    "extreme scales as they are": ([X * 1e300, Y * 1e-300], {"scaling": None}, []),
    "far from the origin": ([X + 1e9, Y - 1e9], {"scaling": None}, []),
}  # fmt: skip


@pytest.mark.parametrize("method", [CIGMVC, GBS])
@pytest.mark.parametrize("case", UNUSUAL)
def test_result_of_unusual_input(method, case):
    views, parameters, expected = UNUSUAL[case]
    parameters = {"n_clusters": 3, "random_state": 0} | parameters
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = method(**parameters).fit(views)
    messages = [str(entry.message) for entry in caught]
    assert len(messages) == len(expected), messages
    for message, part in zip(messages, expected, strict=True):
        assert part in message
    assert set(model.labels_) == set(range(parameters["n_clusters"]))
    assert np.isfinite(model.view_weights_).all()
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.unified_graph_.data).all()
    no_warning = not any(entry.category is ConvergenceWarning for entry in caught)
    assert model.converged_ == no_warning

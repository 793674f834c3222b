"""Cross-validation splits samples: one table with `views=`, never a list of tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from manyview import GBS
from manyview.metrics import clustering_accuracy
from tests.helpers.blobs import blobs

SAID = r"X is 3 tables, .* split views instead of samples; expected one table.* views=\[8, 12, 10\]"
WIDTHS = [8, 12, 10]


def share(estimator, X, y=None):
    return estimator.predict_proba(X).max(axis=1).mean()


@pytest.fixture(scope="module")
def tables():
    return list(blobs().views.values())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lists_of_views_are_refused_with_what_works(tables):
    model = GBS(2, random_state=0)
    for call in (
        lambda: cross_val_score(model, tables, cv=3, scoring=share, error_score="raise"),
        lambda: cross_validate(model, tables, cv=3, scoring=share),  # shows all that failed
        lambda: cross_val_predict(model, tables, cv=3),
        lambda: GridSearchCV(model, {"n_clusters": [2, 3]}, cv=3, scoring=share).fit(tables),
        lambda: cross_val_score(
            make_pipeline(FunctionTransformer(), model), tables, cv=3, scoring=share
        ),
    ):
        with pytest.raises(ValueError, match=SAID):
            call()


def test_the_recipe_works(tables):
    X = np.hstack(tables)
    model = GBS(3, views=WIDTHS, random_state=0)
    assert cross_val_score(model, X, cv=3, scoring=share).min() > 0.8
    search = GridSearchCV(model, {"n_clusters": [3, 7]}, cv=3, scoring=share).fit(pd.DataFrame(X))
    assert search.best_params_ == {"n_clusters": 3}
    assert (
        cross_val_score(model, X, blobs().target, cv=3, scoring="adjusted_rand_score").min() > 0.8
    )


def test_a_step_before_may_cut_the_views(tables):
    """There the split is by samples, and a list of views is right."""
    cut = FunctionTransformer(lambda X: np.split(X, [8, 20], axis=1))
    model = make_pipeline(cut, GBS(3, random_state=0))
    assert cross_val_score(model, np.hstack(tables), cv=3, scoring=share).min() > 0.8


def test_views_split_side_by_side(tables):
    parts = train_test_split(*tables, blobs().target, random_state=0)
    model = GBS(3, random_state=0).fit(parts[0:6:2])
    assert clustering_accuracy(parts[7], model.predict(parts[1:6:2])) > 0.9

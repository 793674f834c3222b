"""Cross-validation over several tables, in which scikit-learn would split views, not samples."""

import inspect

import numpy as np

from manyview.inputs import is_collection, name_tables


def refuse_split_views() -> None:
    """Refuse a fit inside a cross-validation or search of scikit-learn over several tables.

    For scikit-learn a list of views is a list of samples: it fits some views and scores others.
    The estimator gets a plain list of fewer views, which nothing tells from a user's own list. So
    we look among the callers for a function of `sklearn.model_selection` whose X is several tables.
    """
    frame = inspect.currentframe()
    while frame is not None:
        inside = str(frame.f_globals.get("__name__")).startswith("sklearn.model_selection.")
        if inside and is_collection(X := frame.f_locals.get("X")):
            tables = name_tables(getattr(X, "views", X))
            widths = [np.shape(table)[-1] for table in tables.values()]
            raise ValueError(
                f"X is {len(tables)} tables, and cross-validation would split views instead of "
                f"samples; expected one table, numpy.hstack(X), with views={widths} in the "
                "estimator (docs/scikit-learn.md)"
            )
        frame = frame.f_back

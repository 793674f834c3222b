"""Data in several views: built in, and generated from a seed."""

from manyview.datasets._builtin import load_breast_cancer_views, load_digits_views
from manyview.datasets._generated import make_blob_views, make_conflict_views, make_moon_views
from manyview.datasets._record import MultiViewData

__all__ = [
    "MultiViewData",
    "load_breast_cancer_views",
    "load_digits_views",
    "make_blob_views",
    "make_conflict_views",
    "make_moon_views",
]

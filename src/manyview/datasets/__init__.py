"""Data in several views: built in, generated from a seed, or read from data files."""

from manyview.datasets._builtin import load_breast_cancer_views, load_digits_views
from manyview.datasets._fetched import (
    SOURCES,
    data_folder,
    fetch,
    fetch_3sources,
    fetch_100leaves,
    fetch_bbc,
    fetch_bbcsport,
    fetch_hw,
    fetch_hw2sources,
    fetch_ngs,
    fetch_webkb,
    status,
)
from manyview.datasets._generated import (
    make_blob_views,
    make_conflict_views,
    make_latent_views,
    make_moon_views,
)
from manyview.datasets._record import MultiViewData

__all__ = [
    "SOURCES", "MultiViewData", "data_folder", "fetch", "fetch_3sources", "fetch_100leaves",
    "fetch_bbc", "fetch_bbcsport", "fetch_hw", "fetch_hw2sources", "fetch_ngs", "fetch_webkb",
    "load_breast_cancer_views", "load_digits_views", "make_blob_views", "make_conflict_views",
    "make_latent_views", "make_moon_views", "status",
]  # fmt: skip

"""Pages for people: one HTML file that needs no network."""

from importlib.util import find_spec

from manyview.report._cluster_page import render_clusters
from manyview.report._contents import FeatureEffect, ReportContents, ViewContents
from manyview.report._from_result import contents_of
from manyview.report._page import Section, Table, figure_svg, render_page

__all__ = [
    "FeatureEffect",
    "ReportContents",
    "Section",
    "Table",
    "ViewContents",
    "contents_of",
    "figure_svg",
    "render_clusters",
    "render_page",
]

_missing = [package for package in ("jinja2", "matplotlib") if find_spec(package) is None]
if _missing:  # before any work is done for a page that cannot be made
    raise ImportError(f"reports need {' and '.join(_missing)}: pip install 'manyview[cli]'")

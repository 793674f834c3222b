"""Pages for people: one HTML file that needs no network."""

from manyview.report._clusters import render_clusters
from manyview.report._contents import FeatureEffect, ReportContents, ViewContents
from manyview.report._describe import contents_of
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

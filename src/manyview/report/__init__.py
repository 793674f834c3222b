"""Report pages: one HTML file each, which loads nothing from the network."""

from manyview.report._assets import environment, package_file
from manyview.report._cluster_page import render_clusters
from manyview.report._contents import ReportContents, ViewContents, contents_of
from manyview.report._notebook import notebook_html
from manyview.report._svg import figure_svg

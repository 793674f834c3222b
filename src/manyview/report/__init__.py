"""Pages for people: one HTML file that needs no network."""

from manyview.report._page import Section, Table, figure_svg, render_page

__all__ = ["Section", "Table", "figure_svg", "render_page"]

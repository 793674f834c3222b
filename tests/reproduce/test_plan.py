"""Experiments, and the figures of the paper."""

from manyview.reproduce._plan import PAPER_ACC, PAPER_NMI, paper_figure


def test_figures_of_the_paper():
    assert paper_figure(PAPER_ACC, "CI-GMVC", "WebKB") == 77.34
    assert paper_figure(PAPER_NMI, "GBS", "100leaves") == 93.43
    assert paper_figure(PAPER_ACC, "average graph", "BBC") is None
    assert paper_figure(PAPER_ACC, "GBS", "digits") is None

"""Sentences about the results."""

from manyview.datasets import fetch
from manyview.reproduce import Results, plan, run_experiments
from manyview.reproduce._text import differences, remarks
from tests.helpers.goldens import DATA


def test_differences_and_remarks(tmp_path):
    """On WebKB with the paper's method and one baseline."""
    data = {"WebKB": fetch("WebKB", DATA)}
    experiments = plan(data, ["MGL", "GBS", "CI-GMVC"], ["stored"])
    found = run_experiments(
        experiments, tmp_path, n_seeds=2, processes=1, data_home=str(DATA),
        progress=lambda *_: None,
    )  # fmt: skip
    results = Results(found)
    text = "\n".join(differences(results) + remarks(results))
    assert "CI-GMVC on WebKB: the paper's NMI of 47.01 is that with the geometric mean;" in text
    assert "MGL, ours (the paper's): ACC on WebKB" in text
    assert "where inputs were not normalised" in text
    assert "GBS, ours (the paper's): ACC" not in text
    assert "(CI-GMVC on WebKB)" in text  # a tiny cluster

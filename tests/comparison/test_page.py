"""Files and page of a comparison."""

import csv
import io
import json
import re

import numpy as np
import pytest

import manyview
from manyview import datasets
from manyview.comparison import _page
from tests.helpers.browser import CHROMIUM, QUIET, needs_browser

# Neither formulas nor markup, wherever they are shown.
TITLE = "<b>$x$ & co"


@pytest.fixture(scope="module")
def found():
    data = datasets.make_blob_views(48, 3, separation=8.0, random_state=0)
    methods = {TITLE: {}, "average": {"method": "average"}, "few": {"graph": "x"}}
    return manyview.compare(data.views, "auto", methods, classes=data.target)


def test_files(found):
    files = found.files("manyview compare a.csv")
    assert list(files)[-1] == "summary.json"
    rows = list(csv.DictReader(io.StringIO(files["comparison.csv"].decode())))
    assert [row["title"] for row in rows] == [TITLE, "average", "few"]
    assert rows[2]["cut"] == ""
    assert "graph='x'" in rows[2]["error"]
    labels = list(csv.DictReader(io.StringIO(files["labels.csv"].decode())))
    assert list(labels[0]) == ["id", TITLE, "average"]
    assert [int(row["average"]) for row in labels] == found.labels["average"].tolist()
    summary = json.loads(files["summary.json"])
    assert summary["command"] == "manyview compare a.csv"
    np.testing.assert_allclose(summary["agreement"]["ARI"], found.agreement)
    assert summary["clusterings"][2]["error"] == found.rows[2].error
    assert summary["parameters"]["average"]["n_clusters"] == 3
    assert summary["n_clusters_evidence"] == found.cluster_number.table()


def test_the_page_is_whole_and_escaped(found):
    page = found.report_html(command="manyview compare 'a & b.csv'")
    assert "2 clusterings of 48 samples" in page
    assert TITLE not in page
    assert "&lt;b&gt;$x$ &amp; co" in page
    assert "manyview compare &#39;a &amp; b.csv&#39;" in page
    assert "failed: graph=&#39;x&#39;" in page
    assert page.count("<svg") == 2  # alluvial, evidence for the number
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)


def test_a_figure_that_is_left_out_is_named(found, monkeypatch):
    assert "not drawn" not in found.report_html()
    monkeypatch.setattr(_page, "_MOST_COLUMNS", 1)
    page = found.report_html()
    assert "is not drawn, as there are more than\n1." in page
    assert page.count("<svg") == 1


def test_report_writes_the_page(found, tmp_path):
    path = found.report(tmp_path / "new" / "page.html", title="Mine")
    assert "<h1>Mine</h1>" in path.read_text(encoding="utf-8")


@needs_browser
@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(scheme, found, tmp_path):
    """No errors, nothing beside a narrow screen, text that stands out from the paper."""
    from playwright.sync_api import sync_playwright

    path = found.report(tmp_path / "page.html")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = browser.new_page(viewport={"width": 360, "height": 800}, color_scheme=scheme)
        errors = []
        page.on("console", lambda message: errors.append(message.text))
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        ink, paper = (
            page.evaluate(f"getComputedStyle(document.body).{name}")
            for name in ("color", "backgroundColor")
        )
        browser.close()
    assert errors == []
    assert width <= 360
    light, dark = (sum(map(int, re.findall(r"\d+", color)[:3])) for color in (paper, ink))
    assert (light - dark if scheme == "light" else dark - light) > 400

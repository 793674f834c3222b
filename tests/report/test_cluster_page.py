"""The page about a clustering: its text and data."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.plotting import FeatureEffect
from manyview.report import render_clusters
from tests.helpers.html import (
    NASTY,
    digits_page,
    digits_with_a_gap,
    page_data,
    page_points,
    some_digits,
    two_groups,
)


@pytest.fixture(scope="module")
def contents():
    return digits_with_a_gap()


@pytest.fixture(scope="module")
def html():
    return digits_page()


def test_page_has_every_part(html, contents):
    for text in (
        "Some digits", "three are missing", "manyview cluster digits/ --seed 0", "AngularCIGMVC",
        "View: gradients", "Unified graph", "3 missing", "pixels 28",
    ):  # fmt: skip
        assert text in html, text
    assert html.count("<svg") == 1 + 4 + 2 + 3  # disagreement, graphs, curves, views alone
    assert html.count('<tr><td class="wrap"') == 3
    assert "samples are shown" not in html  # all are
    for loader in ("<link", "@import", 'src="http', 'href="http', "url(http"):
        assert loader not in html
    groups = re.findall(r'<g id="', html)
    assert groups == []  # ids of figures would clash


def test_maps_of_views_say_how_many_samples_were_placed(html, contents, monkeypatch):
    assert "t-SNE placed" not in html  # all were
    assert ">Confidence</button>" in html  # as Id and Cluster
    monkeypatch.setattr("manyview.report._cluster_page.MAX_VIEW_TSNE", 100)
    assert "single views, t-SNE placed 100 samples" in render_clusters(contents)


def test_data_are_those_of_the_samples(html, contents):
    points = page_points(html)
    assert points.ids == list(contents.ids)
    np.testing.assert_array_equal(points.cluster, contents.labels)
    np.testing.assert_allclose(points.columns["confidence"], contents.confidence, atol=6e-4)
    assert list(points.columns)[1:] == [
        f"disagreement_{name}" for name in ("pixels", "fourier", "gradients", "highest")
    ]
    first, *others, highest = list(points.columns.values())[1:]
    assert np.isnan(first[:3]).all()
    np.testing.assert_allclose(others[1], contents.disagreement[:, 2], atol=6e-4)
    np.testing.assert_allclose(highest, np.nanmax(contents.disagreement, axis=1), atol=6e-4)
    places = points.maps["all views"]
    assert places.min() == 0
    assert places.max() == 1


def test_ids_that_only_count_are_left_out():
    assert page_data(render_clusters(two_groups()))["ids"] is None
    named = render_clusters(two_groups(ids=["a", *map(str, range(1, 10))]))
    assert page_data(named)["ids"][:2] == ["a", "1"]


def test_map_keeps_clusters_together(html, contents):
    places = page_points(html).maps["all views"]
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.mean(contents.labels[distances.argmin(axis=1)] == contents.labels) > 0.9


def test_same_seed_same_page(contents, html):
    assert render_clusters(contents) == html


def test_only_the_own_script_may_run(html):
    scripts = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    assert len(scripts) == 1
    digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
    policy = re.search(r'Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "innerHTML" not in scripts[0]


def test_names_are_text():
    names = dict.fromkeys(["title", "command"], NASTY)
    view = replace(
        two_groups().views[0],
        name=NASTY,
        effects=[[FeatureEffect(NASTY, 1.0, 2.0, 1.0)], []],
    )
    page = render_clusters(
        two_groups(
            ids=[NASTY] * 10,
            views=[view],
            settings={NASTY: NASTY},
            warnings=[NASTY],
            disagreement=np.linspace(0, 1, 10)[:, None],
            **names,
        )
    )
    assert page.count("<script") == page.count("</script>") == 2
    assert NASTY in page_data(page)["ids"]


def test_no_formulas_and_no_warnings_from_names():
    odd = ("$x$", "_hidden", "視点 \N{SNOWMAN}")
    page = render_clusters(some_digits(names=odd))
    for name in odd:
        assert page.count(f">{name}</text>") == 2, name  # disagreement and weights


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_few_samples(n):
    page = render_clusters(two_groups(n))
    assert len(page_points(page).cluster) == n
    assert 'id="disagreement"' not in page
    assert "Mean disagreement" not in page
    assert "This method learns no unified graph" in page
    assert 'id="learning"' not in page
    assert 'id="features"' not in page
    assert 'id="copy"' not in page


def test_samples_without_neighbours_and_one_cluster():
    graph = two_groups().views[0].graph.tolil()
    graph[[0, 7]] = 0
    graph[:, [0, 7]] = 0
    lonely = replace(two_groups().views[0], graph=csr_array(graph))
    page = render_clusters(two_groups(views=[lonely], labels=np.zeros(10, dtype=np.int64)))
    assert np.isfinite(page_points(page).maps["all views"]).all()
    assert "<b>1</b> cluster<" in page
    empty = replace(lonely, graph=csr_array((10, 10)))
    page = render_clusters(two_groups(views=[empty], disagreement=np.full((10, 1), np.nan)))
    assert np.isnan(page_points(page).columns["disagreement_only"]).all()


def test_methods_that_do_not_split_graphs():
    page = render_clusters(some_digits("gbs"))
    assert 'id="disagreement"' not in page
    assert list(page_points(page).columns) == ["confidence"]
    assert 'id="learning"' in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ["a"]}, "ids has 1 entries; expected 10, one per label"),
        ({"confidence": np.ones(3)}, "confidence has 3 entries; expected 10"),
        ({"disagreement": np.ones((4, 1))}, "disagreement has 4 entries; expected 10"),
        ({"labels": np.zeros(0, dtype=int)}, "labels is empty"),
    ],
)
def test_contents_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        render_clusters(two_groups(**change))


def test_the_page_says_how_many_are_shown(monkeypatch):
    monkeypatch.setattr("manyview.report._cluster_page.MAX_SHOWN", 6)
    page = render_clusters(two_groups(10))
    assert "6 of 10 samples are shown" in page
    assert len(page_points(page).cluster) == 6

"""The page about a clustering in a browser."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from manyview.plotting import FeatureEffect
from manyview.report import ViewContents, render_clusters
from tests.helpers.browser import CHROMIUM, QUIET, needs_browser
from tests.helpers.html import (
    NASTY,
    digits_page,
    digits_with_a_gap,
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


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page; fail if it logs, loads or pops up anything."""
    visits = []

    def visit(html, width=1200, scheme="light"):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        seen = []
        page.on("console", lambda message: seen.append(message.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: seen.append(request.url))
        page.goto(path.as_uri())
        visits.append((page, seen, path.as_uri()))
        return page

    yield visit
    for page, seen, address in visits:
        page.close()
        assert seen == [address]


def pixels(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page.evaluate("document.getElementById('canvas').toDataURL()")


def first_column(page):
    return page.locator("#samples tbody td:first-child").all_text_contents()


def column(page, number):
    cells = page.locator(f"#samples tbody td:nth-child({number})").all_text_contents()
    return [float(cell) for cell in cells if cell[0].isdigit()]


def spot(html, page, number):
    """Position of a point on the page, computed independently."""
    x, y = page_points(html).maps["all views"].T
    box = page.locator("#canvas").bounding_box()
    fit = min((box["width"] - 52) / x.max(), (box["height"] - 52) / y.max())
    across = box["width"] / 2 + (x[number] - x.max() / 2) * fit
    down = box["height"] / 2 + (y.max() / 2 - y[number]) * fit
    return across, down


def alone(html):
    """The point with the most distance to all others."""
    places = page_points(html).maps["all views"]
    distances = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places))
    return int(distances.min(axis=1).argmax())


@needs_browser
@pytest.mark.parametrize("width", [1200, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_and_follows_the_scheme(html, visit, width, scheme):
    page = visit(html, width, scheme)
    assert page.title() == "Some digits"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (int(ink.removeprefix("rgb(").split(",")[0]) > 128) == (scheme == "dark")
    before = pixels(page)
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    assert pixels(page) != before
    assert page.locator("#canvas").bounding_box()["width"] > 300


@needs_browser
def test_colour_and_highlight_change_the_map(html, visit):
    page = visit(html)
    drawn = [pixels(page)]
    assert page.locator("#scale").is_hidden()
    for value in ("0", "1", "3"):
        page.select_option("#color", value)
        drawn.append(pixels(page))
    assert page.locator("#scale").is_visible()
    low, high = (float(page.locator(f"#scale-{end}").text_content()) for end in ("low", "high"))
    assert 0 <= low < high <= 1
    page.select_option("#color", "cluster")
    assert pixels(page) == drawn[0]
    cluster = page.locator("#sizes button").nth(2)
    cluster.click()
    assert cluster.get_attribute("aria-pressed") == "true"
    drawn.append(pixels(page))
    cluster.click()
    page.locator("#zoom-in").click()
    drawn.append(pixels(page))
    assert len(set(drawn)) == len(drawn) == 6
    page.locator("#reset").click()
    assert pixels(page) == drawn[0]


@needs_browser
def test_pointing_shows_the_sample(html, visit, contents):
    page = visit(html)
    number = alone(html)
    across, down = spot(html, page, number)
    assert page.locator("#tip").is_hidden()
    page.locator("#canvas").hover(position={"x": across, "y": down})
    shown = page.locator("#tip").inner_text().split()
    assert shown[0] == contents.ids[number]
    assert shown[shown.index("cluster") + 1] == str(contents.labels[number])
    assert shown[shown.index("confidence") + 1] == f"{contents.confidence[number]:.3f}"
    assert shown[shown.index("fourier") + 1] == f"{contents.disagreement[number, 1]:.3f}"
    page.mouse.move(1, 1)
    assert page.locator("#tip").is_hidden()
    page.focus("#canvas")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#tip strong").text_content() in contents.ids
    assert "confidence" in page.locator("#spoken").text_content()


@needs_browser
def test_tapping_shows_the_sample(html, browser, tmp_path, contents):
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800}, has_touch=True)
    page.goto(path.as_uri())
    number = alone(html)
    across, down = spot(html, page, number)
    page.locator("#canvas").tap(position={"x": across, "y": down})
    assert page.locator("#tip strong").text_content() == contents.ids[number]
    page.close()


@needs_browser
def test_table_sorts_and_finds(html, visit, contents):
    page = visit(html)
    given = first_column(page)
    assert len(given) == 200
    assert "The first 200 of 300 samples" in page.locator("#found").text_content()
    heads = page.locator("#samples th")
    assert heads.last.get_attribute("aria-sort") == "descending"
    values = column(page, 7)
    assert values == sorted(values, reverse=True)
    head = page.locator("#samples th button", has_text="Confidence")
    head.click()
    values = column(page, 3)
    assert values == sorted(values, reverse=True)
    assert values[0] == round(contents.confidence.max(), 3)  # of all samples, not of those listed
    head.press("Enter")
    values = column(page, 3)
    assert values == sorted(values)
    assert heads.nth(2).get_attribute("aria-sort") == "ascending"
    assert heads.last.get_attribute("aria-sort") is None
    page.locator("#samples th button").first.click()
    assert first_column(page) == [f"digit-{i}" for i in range(200)]
    page.locator("#samples th button", has_text="pixels").click()
    page.fill("#filter", "digit-1")
    assert sorted(first_column(page)) == sorted(name for name in contents.ids if "digit-1" in name)
    assert "–" in page.locator("#samples tbody tr").first.text_content()  # noqa: RUF001


@needs_browser
def test_any_id_is_found_and_shown(html, visit, contents):
    page = visit(html)
    listed = set(first_column(page))
    for wanted in [name for name in contents.ids if name not in listed][:3]:
        page.fill("#filter", wanted.upper())
        assert first_column(page)[0] == wanted  # before digit-60
        page.locator("#samples .link").first.click()
        assert page.locator("#tip strong").text_content() == wanted
    page.fill("#filter", "digit-299")
    assert page.locator("#found").text_content() == "1 sample found"
    page.fill("#filter", "nobody")
    assert page.locator("#found").text_content() == "0 samples found"
    assert page.locator("#select-found").is_hidden()


@needs_browser
def test_selection_and_names_are_saved(html, visit, contents):
    page = visit(html)
    page.fill("#filter", "digit-29")
    page.locator("#select-found").click()
    page.locator("#sizes button").nth(int(contents.labels[29])).click()
    page.fill("#cluster-name", 'Mine, "all"')
    assert 'Mine, "all"' in page.locator("#sizes").inner_text()
    with page.expect_download() as download:
        page.locator("#save").click()
    rows = pd.read_csv(download.value.path())
    wanted = [
        name
        for name, label in zip(contents.ids, contents.labels, strict=True)
        if "digit-29" in name and label == contents.labels[29]
    ]
    assert rows["id"].tolist() == wanted
    assert set(rows["name"]) == {'Mine, "all"'}
    assert "disagreement_fourier" in rows
    page.locator("#clear").click()
    assert page.locator("#clear").is_hidden()


@needs_browser
def test_a_line_selects_what_is_inside(html, visit):
    page = visit(html)
    page.locator("#select").click()
    box = page.locator("#canvas").bounding_box()
    inside = sum(spot(html, page, i)[1] < 300 for i in range(300))
    right = box["width"] - 2
    page.mouse.move(box["x"] + 1, box["y"] + 20)  # not in the round corner
    page.mouse.down()
    for x, y in [(right, 20), (right, 300), (1, 300)]:
        page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.up()
    assert 0 < inside < 300
    assert page.locator("#save").text_content() == f"Save {inside} as CSV"


@needs_browser
def test_a_map_per_view(html, visit):
    page = visit(html)
    maps = page.locator("#small-maps button")
    assert maps.all_text_contents() == ["all views", "pixels", "fourier", "gradients"]
    before = pixels(page)
    maps.nth(2).click()
    assert maps.nth(2).get_attribute("aria-pressed") == "true"
    assert pixels(page) != before


@needs_browser
def test_nothing_is_off_the_screen_of_a_phone(html, visit):
    page = visit(html, width=390)
    right = page.eval_on_selector_all(
        "main *:not(svg *):not(.unseen)",
        "all => Math.max(...all.map((one) => one.getBoundingClientRect().right))",
    )
    assert right <= 390


@needs_browser
def test_names_are_text_in_the_browser(visit):
    names = [NASTY, '"><img src=x onerror=alert(2)>', "$x$ & '視点'"]
    contents = some_digits(names=tuple(names))
    page = visit(render_clusters(replace(contents, title=NASTY, ids=[NASTY] * 300)))
    assert page.title() == NASTY
    assert page.locator("#color option").all_text_contents()[2:] == [*names, "highest"]
    assert page.locator("#features summary").all_text_contents() == names
    assert first_column(page)[0] == NASTY
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip strong").text_content() == NASTY
    assert page.locator("#tip dt").all_text_contents()[3:] == [*names, "highest"]
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@needs_browser
def test_long_words_do_not_widen_the_page(visit):
    word = "w" * 300
    view = replace(
        two_groups().views[0],
        name=word,
        effects=[[FeatureEffect(word, 9.0, 1e300, -1e-300)], []],
    )
    texts = {"title": word, "command": word, "settings": {word: word}, "warnings": [word]}
    texts["disagreement"] = np.linspace(0, 1, 10)[:, None]
    page = visit(render_clusters(two_groups(views=[view], ids=[word] * 10, **texts)), width=390)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    wide = "section > *, .controls > *, .group *, .settings *, .warnings *"
    right = page.eval_on_selector_all(
        wide, "all => Math.max(...all.map((one) => one.getBoundingClientRect().right))"
    )
    assert right <= 390


@needs_browser
def test_copying_and_printing(html, visit):
    page = visit(html)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    page.wait_for_function("document.getElementById('copy').textContent !== 'Copy'")
    assert page.locator("details[open]").count() == 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details[open]").count() == 3
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 1
    assert len(page.pdf()) > 20_000


@needs_browser
def test_many_points_are_drawn_in_time(visit, rng):
    n = 4000
    labels = np.sort(rng.integers(0, 200, n))
    ring = csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    view = ViewContents("only", n, 3, "zscore", 1.0, 0.5, ring)
    ids = [f"sample {i}" for i in range(n)]
    contents = two_groups(
        ids=ids, labels=labels, confidence=rng.random(n), disagreement=rng.random((n, 1)),
        views=[view],
    )  # fmt: skip
    positions = rng.random((n, 2))
    with pytest.MonkeyPatch.context() as patch:  # a quicker map
        patch.setattr("manyview.report._cluster_page._map_of_all", lambda *_: positions)
        html = render_clusters(contents)
    page = visit(html)
    assert page.locator("#sizes button").count() == 200
    milliseconds = page.evaluate(
        """async () => {
          const color = document.getElementById("color"), times = [];
          for (const value of ["0", "1", "cluster", "1", "0"]) {
            color.value = value;
            await new Promise((done) => requestAnimationFrame(done));
            const started = performance.now();
            color.dispatchEvent(new Event("change"));
            await new Promise((done) => requestAnimationFrame(done));  // drawn
            await new Promise((done) => requestAnimationFrame(done));  // and on the screen
            times.push(performance.now() - started);
          }
          return times.sort((a, b) => a - b)[2];
        }"""
    )
    assert milliseconds < 250  # about 20 on an idle machine

"""The site that `make docs` built: its links lead somewhere, and it loads nothing from outside."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest


class Page(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if tag == "link" and "stylesheet" in given.get("rel", "").split():
            self.loaded.add(given["href"])
        if tag in ("img", "script") and given.get("src"):
            self.loaded.add(given["src"])


@pytest.fixture(scope="module")
def site():
    if "MANYVIEW_SITE" not in os.environ:
        pytest.skip("nothing was built (make docs-check does)")
    folder = Path(os.environ["MANYVIEW_SITE"])
    pages = {path: Page(path) for path in folder.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 60
    return pages


def leads_somewhere(link, path, pages):
    parts = urlsplit(link)
    if parts.scheme:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].ids


def test_links_inside_the_site_lead_somewhere(site):
    broken = [
        (path.name, link)
        for path, page in site.items()
        for link in page.links | page.loaded
        if link != "#" and not leads_somewhere(link, path, site)
    ]
    assert broken == []


def test_links_for_language_models_lead_somewhere(site):
    page = Path(os.environ["MANYVIEW_SITE"]) / "llms.txt"
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_nothing_is_loaded_from_outside(site):
    loaded = set().union(*(page.loaded for page in site.values()))
    assert [link for link in loaded if urlsplit(link).netloc] == []


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<a id="here" href="#there">x</a>')
    pages = {page: Page(page)}
    assert leads_somewhere("#here", page, pages)
    assert leads_somewhere("https://example.org/x", page, pages)
    assert not leads_somewhere("#there", page, pages)
    assert not leads_somewhere("other.html", page, pages)

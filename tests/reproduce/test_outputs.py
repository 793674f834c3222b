"""The page of a run."""

from manyview.reproduce._outputs import render_page
from manyview.reproduce._tables import Table


def test_page_escapes_every_text():
    nasty = "<script>alert(1)</script>"
    table = Table("name", nasty, [nasty], [[nasty]], nasty)
    page = render_page([table], {nasty: [nasty]}, {}, nasty)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 7

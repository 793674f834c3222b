"""Tables as Markdown, CSV and LaTeX."""

from manyview.reproduce._tables import Table


def test_latex_and_markdown_are_well_formed():
    table = Table("t", "Table 3a. 50 % & more_than", ("a", "b_c"), (("x", "1 ± 2"),), "note")
    assert r"\caption{50 \% \& more\_than. note}" in table.latex()
    assert r"x & 1 $\pm$ 2 \\" in table.latex()
    assert "| x | 1 ± 2 |" in table.markdown()
    assert table.csv() == "a,b_c\nx,1 ± 2\n"

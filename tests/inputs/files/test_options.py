"""Options of reading: what is left out, what is an empty cell, how text is written."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyview.inputs import align
from manyview.inputs.files import ReadOptions, read_views
from tests.helpers.table_files import COMPRESS, X, pd, read, write

pytest.importorskip("pyarrow")

SPREADSHEET = "# Größe in cm\n#\nname;größe;crp\nu;1,5;<0,5\n# later\nv;2;3,25\n"
GERMAN = {"decimal": ",", "encoding": "latin-1", "comment": "#", "na_values": ["<0,5"]}


@pytest.mark.parametrize("n_before", [0, 3000])
def test_columns_that_are_left_out_are_named_with_the_first_cell(folder, n_before):
    write("x.csv", "a,crp,city\n" + "1,2,3\n" * n_before + "1,<0.5,Oslo\n2,0.7,Rome\n")
    table = read("x.csv", drop_non_numeric=True)
    assert table.features == ("a",)
    crp, city = table.preparation.dropped
    assert (crp.name, crp.row, crp.value) == ("crp", n_before + 1, "<0.5")
    assert str(city) == f"'city' has 'Oslo' in row {n_before + 1}"
    table = read("x.csv", drop=["city"], na_values=["<0.5"])
    assert table.features == ("a", "crp")
    assert np.isnan(table.matrix[n_before, 1])
    assert [one.name for one in table.preparation.dropped] == ["city"]


def test_columns_of_parquet_files_that_are_left_out(folder):
    frame = pd.DataFrame({"x": [1, 2], "city": ["Oslo", "7"]}, index=["u", "v"])
    frame.to_parquet("x.parquet")
    dropped = read("x.parquet", drop_non_numeric=True).preparation.dropped
    assert [one.name for one in dropped] == ["city", "__index_level_0__"]
    assert "string" in dropped[0].reason
    assert read("x.parquet", drop=["city", "__index_level_0__"]).features == ("x",)


def test_columns_are_dropped_from_all_files_that_have_them(folder):
    write("a.csv", "x,y\n1,2\n")
    pd.DataFrame({"y": [1], "z": [2]}).to_parquet("b.parquet")
    assert [t.features for t in read_views(["a.csv", "b.parquet"], drop=["y"])] == [("x",), ("z",)]
    write("c.csv", "color,y\n1,2\n")
    with pytest.raises(ValueError, match=r"drop has 'colour', but no view .* is 'color'"):
        read("c.csv", drop=["colour"])
    with pytest.raises(ValueError, match=r"c.csv has no numeric column left"):
        read("c.csv", drop=["color", "y"])


@pytest.mark.parametrize("end", ["", *COMPRESS])
def test_a_spreadsheet_with_commas_comments_and_latin_letters(folder, end):
    content = SPREADSHEET.encode("latin-1")
    write(f"x.csv{end}", COMPRESS[end](content) if end else content)
    table = read(f"x.csv{end}@name", **GERMAN)
    assert table.features == ("größe", "crp")
    assert (table.ids, table.id_name) == (("u", "v"), "name")
    np.testing.assert_array_equal(table.matrix, [[1.5, np.nan], [2, 3.25]])


@given(
    numbers=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(-9, 9)), min_size=1
    ),
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16", "utf-8-sig", "cp1252"]),
    comment=st.sampled_from([None, "#", "//"]),
    decimal=st.sampled_from([".", ","]),
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_however_it_is_written_it_is_the_same_table(folder, numbers, encoding, comment, decimal):
    lines = ["ä;b", *(f"{x!r};{y}".replace(".", decimal) for x, y in numbers)]
    if comment:
        lines = [line for own in lines for line in (f"{comment} é;1", own)]
    write("x.csv", "\r\n".join(lines).encode(encoding))
    table = read("x.csv", encoding=encoding, comment=comment, decimal=decimal)
    assert table.features == ("ä", "b")
    np.testing.assert_array_equal(table.matrix, numbers)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,5;2\n3;4,5\n", [[1.5, 2], [3, 4.5]]),
        ("1,5\n2,5\n", [[1.5], [2.5]]),
        ('a,b\n"1,5",2\n', [[1.5, 2]]),
        ("a;b\n1e3;-2,5e-1\n", [[1000, -0.25]]),
    ],
)
def test_decimal_commas(folder, text, rows):
    write("x.csv", text)
    np.testing.assert_array_equal(read("x.csv", decimal=",").matrix, rows)


def test_points_are_no_decimal_signs_beside_commas(folder):
    write("x.csv", "a;b\n1;1.234\n")
    with pytest.raises(ValueError, match=r"has '1.234' in row 1"):
        read("x.csv", decimal=",")


def test_wrong_encodings_say_what_to_do(folder):
    write("x.csv", "é,b\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"x.csv is not in UTF-8; .*--encoding, such as latin-1"):
        read("x.csv")
    write("y.csv", ("a,b\n" + "1,2\n" * 10**6).encode() + b"3,\xff\n")
    with pytest.raises(ValueError, match=r"y.csv is not in ascii; expected ascii, or"):
        read("y.csv", encoding="ascii")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, r"decimal=';'; expected one of '.', ','"),
        ({"encoding": "klingon"}, "encoding='klingon'; expected one that Python knows"),
        ({"encoding": "hex"}, "encoding='hex'; expected"),
        ({"comment": ""}, "comment=''; expected"),
        ({"drop": "x"}, "drop='x'; expected a list"),
        ({"drop": ["x"], "id_column": "x"}, "'x' is to be dropped and used"),
    ],
)
def test_options_that_are_none(options, message):
    with pytest.raises(ValueError, match=message):
        ReadOptions(**options)


@pytest.mark.parametrize(
    "options", [{"decimal": ","}, {"comment": "#"}, {"na_values": ["?"]}, {"encoding": "latin-1"}]
)
def test_options_of_text_without_text(folder, options):
    np.save("x.npy", X)
    with pytest.raises(ValueError, match=r"was asked for; expected a file of .csv"):
        read("x.npy", **options)


def test_an_id_column_per_file(folder):
    write("a@b.csv", "page,x\nu,1\nv,2\n")
    write("c.csv", "url,y\nv,4\nu,3\n")
    np.savez("d.npz", z=X[:2], names=["u", "v"])
    tables = read_views(["a@b.csv@page", "n=c.csv@url", "d.npz:z@names"])
    assert [table.name for table in tables] == ["a@b", "n", "z"]
    aligned = align(tables)
    assert (aligned.ids, aligned.id_name) == (("u", "v"), "id")
    assert aligned.views["n"].tolist() == [[3], [4]]
    assert align(read_views(["a@b.csv", "c.csv@url"], id_column="page")).ids == ("u", "v")
    assert align(read_views(["a@b.csv"], id_column="page")).id_name == "page"


def test_how_text_is_written_is_not_asked_of_sheets(folder):
    write("x.csv", SPREADSHEET.encode("latin-1"))
    pd.DataFrame({"name": ["u", "v"], "größe": [1.5, "<0,5"]}).to_excel("y.xlsx", index=False)
    table = read_views(["x.csv", "y.xlsx"], id_column="name", **GERMAN)[1]
    assert table.features == ("größe",)
    np.testing.assert_array_equal(table.matrix, [[1.5], [np.nan]])
    with pytest.raises(ValueError, match=r"decimal was asked for; expected a file of .csv"):
        read("y.xlsx", decimal=",")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "feather", "xlsx"])
def test_genes_by_samples(folder, kind):
    frame = pd.DataFrame(X.T, index=["g1", "g2", "g3"], columns=["101", "102", "103", "104"])
    write_frame = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}
    if kind == "tsv":
        frame.rename_axis("gene").to_csv("x.tsv", sep="\t")
    elif kind == "feather":
        frame.rename_axis("gene").reset_index().to_feather("x.feather")
    else:
        write_frame[kind](f"x.{kind}")
    table = read(f"x.{kind}", transpose=True)
    assert table.ids == ("101", "102", "103", "104")
    assert table.features == ("g1", "g2", "g3")
    np.testing.assert_array_equal(table.matrix, X)
    assert read(f"x.{kind}", transpose=True, drop=["g2"]).features == ("g1", "g3")
    with pytest.raises(ValueError, match="its header has the ids; expected no --id"):
        read(f"x.{kind}", transpose=True, id_column="gene")


def test_transposed_text_follows_all_rules(folder):
    write("x.csv", "feature,u,v,w\nsex,m,f,m\n# no\nage,31,?, 45\nnote,a,b,c\n")
    options = {"transpose": True, "comment": "#", "na_values": ["?"], "drop": ["note"]}
    table = read("x.csv", **options, categorical=["sex"])
    assert table.features == ("age", "sex=f", "sex=m")
    np.testing.assert_array_equal(table.matrix, [[31, 0, 1], [np.nan, 1, 0], [45, 0, 1]])
    dropped = read("x.csv", **options, drop_non_numeric=True).preparation.dropped
    assert [(one.name, one.row) for one in dropped] == [("note", None), ("sex", 1)]


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "xlsx", "parts"])
def test_categories_of_files(folder, kind):
    frame = pd.DataFrame({"x": [1.5, 2, 3], "colour": ["red", None, "blue"], "code": [7, 8, 7]})
    frame.to_csv("x.csv", index=False)
    frame.to_parquet("x.parquet")
    frame.to_feather("x.feather")
    frame.to_excel("x.xlsx", index=False)
    (folder / "x.parts").mkdir()
    frame[:2].to_parquet("x.parts/1.parquet", index=False)
    frame[2:].to_parquet("x.parts/2.parquet", index=False)
    table = read(f"x.{kind}", categorical=["colour", "code"])
    nan = np.nan
    assert table.features == ("x", "colour=blue", "colour=red", "code=7", "code=8")
    np.testing.assert_array_equal(
        table.matrix, [[1.5, 0, 1, 1, 0], [2, nan, nan, 0, 1], [3, 1, 0, 1, 0]]
    )
    assert table.preparation.categories == {"colour": ("blue", "red"), "code": ("7", "8")}
    only = read(f"x.{kind}", categorical=["colour"], drop=["x", "code"])
    assert only.features == ("colour=blue", "colour=red")
    with pytest.raises(ValueError, match=r"categorical has 'color', but .* is 'colour'"):
        read(f"x.{kind}", categorical=["color"], drop_non_numeric=True)

"""CSV and TSV as people and programs write them."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyview.inputs.files import ReadOptions, _csv_format
from manyview.inputs.files._text_source import text_source
from tests.helpers.table_files import pd, read, write


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that short files have many."""
    monkeypatch.setattr(_csv_format, "_BLOCK", 64)


@pytest.mark.parametrize(
    ("name", "text", "columns", "rows"),
    [
        ("x.csv", "a,b\n1,2\n", ("a", "b"), [[1, 2]]),
        ("x.csv", "a;b\n1;2\n", ("a", "b"), [[1, 2]]),
        ("x.txt", "a\tb\n1\t2\n", ("a", "b"), [[1, 2]]),
        ("x.txt", "a;b\n1;2\n", ("a", "b"), [[1, 2]]),
        ("x.txt", "a\n1\n", ("a",), [[1]]),
        ("x.csv", "1,2\n3,4", ("0", "1"), [[1, 2], [3, 4]]),
        ("x.csv", "1,\n3,4", ("0", "1"), [[1, np.nan], [3, 4]]),
        ("x.csv", "0,1,2\n7,3,4\n", ("0", "1", "2"), [[7, 3, 4]]),
        ("x.csv", "\ufeffa,b\r\n1,2\r\n", ("a", "b"), [[1, 2]]),
        ("x.csv", "\n\na,b\n\n1,2\n\n3,4\n\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("x.csv", '"a, c",b\n"1",2\n', ("a, c", "b"), [[1, 2]]),
        ("x.csv", '"a\nc",b\n1,2\n', ("a\nc", "b"), [[1, 2]]),
        ("x.csv", "a,,b\n1,2,3\n", ("a", "unnamed1", "b"), [[1, 2, 3]]),
        ("x.csv", "a\n1\n\n3\n", ("a",), [[1], [np.nan], [3]]),
        ("x.csv", "a,b\nNA,NaN\nnull,\n1, 2\n", ("a", "b"), [[np.nan] * 2] * 2 + [[1, 2]]),
        ("x.csv", "a,b\ntrue,1\nFalse,0\n,2.5\n", ("a", "b"), [[1, 1], [0, 0], [np.nan, 2.5]]),
        ("x.csv", "a\n0\n1\nTrue\n0.5\n", ("a",), [[0], [1], [1], [0.5]]),
        ("x.csv", f"a\n{2**70}\n{10**400}\n", ("a",), [[2.0**70], [np.inf]]),
        # Spaces around numbers, and around no value
        ("x.csv", "a , b\n 1,2 \n\t3,4\t\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("x.csv", "a,b\n1, NA\n3, \n5,NA \n", ("a", "b"), [[1, np.nan], [3, np.nan], [5, np.nan]]),
        ("x.csv", "a,b\n\u00a01,2\u202f\n", ("a", "b"), [[1, 2]]),
        # Every line ends in a delimiter, or only some
        ("x.csv", "a,b,\n1,2,\n3,4,\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("x.tsv", "1\t2\t\n3\t4\t\n", ("0", "1"), [[1, 2], [3, 4]]),
        ("x.csv", "a,\n1,\n3,4\n", ("a", "unnamed1"), [[1, np.nan], [3, 4]]),
        # Blank lines at the end of one column
        ("x.csv", "a\n1\n\n3\n\n\n", ("a",), [[1], [np.nan], [3]]),
        ("x.csv", "a\r\n1\r\n\r\n", ("a",), [[1]]),
        ("x.csv", 'a\n1\n""\n', ("a",), [[1], [np.nan]]),
        # Delimiters in quotes, and tabs where nobody expects them
        ("x.csv", '"a, c";b\n1;2\n', ("a, c", "b"), [[1, 2]]),
        ("x.csv", '"a; ""c""",b\n1,2\n', ('a; "c"', "b"), [[1, 2]]),
        ("x.txt", '"a, b, c"\td\n1\t2\n', ("a, b, c", "d"), [[1, 2]]),
        ("x.txt", 'd\t"a,\nb,,"\n1\t2\n', ("d", "a,\nb,,"), [[1, 2]]),
        ("x.csv", "a\tb\n1\t2\n", ("a", "b"), [[1, 2]]),
        # First lines of numbers
        ("x.csv", "NA,1\n2,3\n", ("0", "1"), [[np.nan, 1], [2, 3]]),
        ("x.csv", "1,2,3", ("0", "1", "2"), [[1, 2, 3]]),
        ("x.csv", "7", ("0",), [[7]]),
        ("x.csv", "true,False\n0,1\n", ("0", "1"), [[1, 0], [0, 1]]),
        ("x.csv", "2,TRUE,NA\n0,1,3\n", ("0", "1", "2"), [[2, 1, np.nan], [0, 1, 3]]),
        ("x.csv", "true,x\n0,1\n", ("true", "x"), [[0, 1]]),
        ("x.csv", "a,b\r1,2\r3,4\r", ("a", "b"), [[1, 2], [3, 4]]),
        ("x.csv", '"a","b"\r\n"1"," 2"\r\n\r\n', ("a", "b"), [[1, 2]]),
    ],
)
def test_text_as_people_write_it(folder, name, text, columns, rows):
    write(name, text)
    table = read(name)
    assert table.features == columns
    np.testing.assert_array_equal(table.matrix, rows)


CELLS = {"1": 1, " 2.5": 2.5, "-3e2 ": -300, '"4"': 4, "": np.nan, " ": np.nan, "NA": np.nan}
CELLS |= {" NA ": np.nan, '" null"': np.nan, "True": 1, " false": 0, "\u00a05": 5, "\t6": 6}
CELLS |= {"Oslo": None, "1 000": None, '"1,5"': None, '"7\n"': None, "1_0": None, "--1": None}


@given(
    rows=st.lists(st.lists(st.sampled_from(list(CELLS)), min_size=3, max_size=3), min_size=1),
    drop=st.booleans(),
)
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_every_mixture_of_cells_is_read_or_refused(folder, small_blocks, rows, drop):
    write("x.csv", "a,b,c,d\n" + "".join(",".join([*row, "0"]) + "\n" for row in rows))
    values = [[*(CELLS[cell] for cell in row), 0] for row in rows]
    numeric = [j for j in range(4) if all(row[j] is not None for row in values)]
    if len(numeric) < 4 and not drop:
        with pytest.raises(ValueError, match="not numeric"):
            read("x.csv")
        return
    table = read("x.csv", drop_non_numeric=drop)
    assert table.features == tuple("abcd"[j] for j in numeric)
    np.testing.assert_array_equal(table.matrix, [[row[j] for j in numeric] for row in values])


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n"])
def test_a_header_alone(folder, end):
    for header in ("a,b", "a", '"a\nc",b'):
        write("x.csv", header + end)
        write("x.csv.gz", gzip.compress((header + end).encode()))
        for path in ("x.csv", "x.csv.gz"):
            with pytest.raises(ValueError, match=f"{path} has column names and no rows"):
                read(path)


def test_text_zipped_in_parts(folder):
    """As bgzip does it, with an empty part at the end."""
    parts = [b"a\n1\n", b"2\n\n", b""]
    write("x.csv.gz", b"".join(map(gzip.compress, parts)))
    np.testing.assert_array_equal(read("x.csv.gz").matrix, [[1], [2]])


def test_thousands_of_columns_with_words_and_an_open_end(folder, small_blocks):
    n = 3000
    header = "id," + ",".join(f"x{j}" for j in range(n)) + ",\n"
    write("x.csv", header + "007," + "1," * n + "\n" + "8," + "2,true," * (n // 2) + "\n")
    table = read("x.csv", id_column="id")
    assert table.ids == ("007", "8")
    assert table.matrix.shape == (2, n)
    np.testing.assert_array_equal(table.matrix[:, -2:], [[1, 1], [2, 1]])


def test_a_data_frame_of_one_column_without_a_name(folder):
    pd.DataFrame([5, 6]).to_csv("x.csv")
    with pytest.raises(ValueError, match=r"x.csv: the first column has no name"):
        read("x.csv")
    assert read("x.csv", drop_non_numeric=True).matrix.tolist() == [[5], [6]]
    table = read("x.csv", id_column="unnamed0")
    assert (table.ids, table.features) == (("0", "1"), ("0",))


@pytest.mark.parametrize("header", [",0,1", ",a,b", '"","a","b"'])
def test_a_first_column_without_a_name_is_no_feature(folder, header):
    write("x.csv", f"{header}\n7,1,2\n8,3,true\n")
    with pytest.raises(ValueError, match=r"x.csv: the first column has no name.*--id unnamed0"):
        read("x.csv")
    for options in ({"id_column": "unnamed0"}, {"drop_non_numeric": True}):
        table = read("x.csv", **options)
        assert len(table.features) == 2
        np.testing.assert_array_equal(table.matrix, [[1, 2], [3, 1]])
    assert read("x.csv", id_column="unnamed0").ids == ("7", "8")


def test_types_may_change_after_the_first_block(folder, small_blocks):
    write("x.csv", "a,b\n" + "1,2\n" * 500 + "1.5,\n" + "true,1e3\n" + "3,4\n" * 500)
    table = read("x.csv")
    assert table.matrix.shape == (1002, 2)
    np.testing.assert_array_equal(table.matrix[499:503], [[1, 2], [1.5, np.nan], [1, 1e3], [3, 4]])


@pytest.mark.parametrize("n_before", [0, 1000])
def test_text_is_the_same_error_wherever_it_is(folder, small_blocks, n_before):
    write("x.csv", "a,b\n" + "1,2\n" * n_before + "3,Oslo\n" + "5,Rome\n" * 100)
    message = (
        rf"^x.csv: 1 column is not numeric \('b'\), column 'b' has 'Oslo' in row {n_before + 1}; "
        "expected numbers: .*--id.*--drop-non-numeric$"
    )
    with pytest.raises(ValueError, match=message):
        read("x.csv")
    table = read("x.csv", drop_non_numeric=True)
    assert table.features == ("a",)
    assert len(table.matrix) == n_before + 101


def test_many_text_columns_are_counted(folder):
    write("x.csv", ",".join("abcdefgh") + "\n" + ",".join(["2020-01-01"] * 8) + "\n")
    with pytest.raises(ValueError, match=r"8 columns are not numeric \('a', 'b', .*'e', ...\)"):
        read("x.csv")
    with pytest.raises(ValueError, match=r"x.csv has no numeric column left"):
        read("x.csv", drop_non_numeric=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,a\n1,2,3\n", "x.csv has two columns named 'a'"),
        ("a,b\n1,2\n3\n4,5\n", "x.csv: row 2 has 1 fields; expected 2"),
        ("a,b\n1,2\n3,4,5\n", "x.csv: row 2 has 3 fields; expected 2"),
        ("1,2\n3\n", "x.csv: row 2 has 1 fields; expected 2"),
        ("a,b\n", "x.csv has column names and no rows"),
        ("a,b", "x.csv has column names and no rows"),
        ("\n\n", "x.csv has only blank lines"),
        ("é,b\n1,2\n".encode("latin-1"), "x.csv is not in UTF-8"),
        ("a,b\n1,é\n".encode("latin-1"), "x.csv is not in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "x.csv is in UTF-16"),
        ('a,b\n1,"2\n', r"column 'b' has '2\\n' in row 1"),
        ("\n\na,b\n\n1,2\n\n3\n", "x.csv: row 2 has 1 fields; expected 2"),
        ("a\n\n\n", "x.csv has column names and no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "x.csv is not in UTF-8"),
        ("a,b\n1,0x10\n", "has '0x10' in row 1"),
        ("a;b\n1;2,5\n", "has '2,5' in row 1"),
    ],
)
def test_text_that_is_no_table(folder, content, message):
    write("x.csv", content)
    with pytest.raises(ValueError, match=message):
        read("x.csv")


def test_rows_of_differing_length_far_from_the_start(folder, small_blocks):
    write("x.csv", "a,b\n" + "1,2\n" * 1000 + "3\n")
    with pytest.raises(ValueError, match=r"x.csv: row 1001 has 1 fields; expected 2"):
        read("x.csv")


def test_a_quote_that_is_never_closed(folder, small_blocks):
    write("x.csv", 'a,b\n1,"' + "2\n" * 1000)
    with pytest.raises(ValueError, match=r"x.csv: a row is longer than 64 characters, .* a quote"):
        read("x.csv")


def test_cells_may_be_long(folder):
    """Longer than Python's csv reader allows by default."""
    write("x.csv", "text,b\n" + "word " * 40_000 + ",2\n")
    assert read("x.csv", drop_non_numeric=True).matrix.tolist() == [[2]]
    assert csv.field_size_limit() < 200_000


@pytest.mark.parametrize("cell", ["1_0", "\u0661", "0x10", "1 2", "1\u00a02", '"\n1"', "1\x0c"])
def test_what_python_takes_for_a_number_and_people_do_not(folder, cell):
    write("x.csv", f"a,b\n1,2\n3,{cell}\n")
    with pytest.raises(ValueError, match=r"column 'b' has .* in row 2"):
        read("x.csv")


def test_rows_longer_than_a_block(folder, small_blocks):
    write("x.csv", ",".join(f"column{j}" for j in range(300)) + "\n" + ",".join(["1"] * 300))
    assert read("x.csv").matrix.shape == (1, 300)


def test_a_long_line_before_the_end_of_one_column(folder, small_blocks):
    """Its end is not taken for a blank line."""
    write("x.csv", "a\n1\n" + " " * 150 + "2\n\n")
    with pytest.raises(ValueError, match=r"x.csv: a row is longer than 64 characters"):
        read("x.csv")
    write("x.csv", "a\n1\n" + " " * 62 + "2\n\n")
    assert _csv_format.text_format(text_source(Path("x.csv")), ReadOptions()).blank_end == 1


def test_errors_do_not_repeat_long_names(folder):
    write("x.csv", "a" * 5000 + ",b\n1,2\n")
    with pytest.raises(ValueError, match="no column 'id'") as caught:
        read("x.csv", id_column="id")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["id,x\n1,5\n2,6\n", "x,id\n5,1.0\n6,2.0\n", "x,id\n5,1\n6, 2\n"])
def test_whole_numbers_are_the_same_ids_however_written(folder, text):
    write("x.csv", text)
    assert read("x.csv", id_column="id").ids == ("1", "2")


@pytest.mark.parametrize("ids", [("007", "010"), ("a,b", 'c"d'), ("1e5", "1E6"), ("NA", "nan")])
def test_ids_of_text_stay_as_they_are_written(folder, ids):
    pd.DataFrame({"id": ids, "x": [1, 2]}).to_csv("x.csv", index=False)
    assert read("x.csv", id_column="id").ids == ids

"""Files of every format become tables, or one line that names the file."""

from __future__ import annotations

import builtins
import gzip
import io
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_array

from manyview.readers import _parquet, _text_layout, read_views
from manyview.tables import align

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")
ad = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")

X = np.array([[1.0, -2.5, 0.0], [0.0, 1e-3, 7.0], [3.0, 0.0, 1e300], [4.0, 5.0, 6.0]])
IDS = ("a", "b", "c", "d")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, content):
    with open(name, "wb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())
    return name


def read(spec, **options):
    (table,) = read_views([spec], **options)
    return table


def dense(matrix):
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def annotated(matrix=X, ids=IDS, prefix="g"):
    names = [f"{prefix}{j}" for j in range(matrix.shape[1])]
    return ad.AnnData(matrix, obs=pd.DataFrame(index=list(ids)), var=pd.DataFrame(index=names))


def write_h5mu(path):
    modalities = {"rna": annotated(), "adt": annotated(X[2:0:-1, :2], ("c", "b"), "p")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mudata's own, about its future
        mudata.MuData(modalities).write(path)


def write_any(path, matrix=X):
    """The matrix in the format that the extension names."""
    frame = pd.DataFrame(matrix, columns=["x", "y", "z"])
    plain, zipped = str(path).removesuffix(".gz"), str(path).endswith(".gz")
    match os.path.splitext(plain)[1]:
        case ".csv" | ".txt":
            frame.to_csv(path, index=False)
        case ".tsv" | ".tab":
            frame.to_csv(path, index=False, sep="\t")
        case ".parquet" | ".pq":
            frame.to_parquet(path)
        case ".npy":
            np.save(path, matrix)
        case ".npz":
            np.savez_compressed(path, x=matrix)
        case ".mat":
            savemat(path, {"x": matrix}, do_compression=True)
        case ".mtx":
            stream = io.BytesIO()
            mmwrite(stream, sparse.coo_array(matrix), precision=17)
            write(path, gzip.compress(stream.getvalue()) if zipped else stream.getvalue())
        case ".h5ad":
            annotated(matrix).write_h5ad(path)
        case ".h5mu":
            write_h5mu(path)


FORMATS = ["csv", "tsv", "tab", "txt", "csv.gz", "tsv.gz", "parquet", "pq", "npy", "npz", "mat"]
FORMATS += ["mtx", "mtx.gz", "h5ad"]


@pytest.mark.parametrize("extension", FORMATS)
def test_every_format_gives_back_what_was_written(folder, extension):
    path = f"some.data.{extension}"
    write_any(path)
    table = read(path)
    np.testing.assert_array_equal(dense(table.matrix), X)
    assert table.matrix.dtype == np.float64
    assert table.name == "some.data"
    assert table.ids == (IDS if extension == "h5ad" else None)
    if isinstance(table.matrix, np.ndarray):
        assert table.matrix.flags.c_contiguous
    os.rename(path, "UPPER." + extension.upper())
    np.testing.assert_array_equal(dense(read("UPPER." + extension.upper()).matrix), X)


@given(
    numbers=st.lists(
        st.lists(st.floats(width=64, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    ),
    extension=st.sampled_from(["csv", "tsv", "parquet", "npy", "npz", "mat"]),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_all_finite_numbers_survive(folder, numbers, extension):
    matrix = np.array(numbers)
    write_any(f"x.{extension}", matrix)
    # One row of a MAT or NPZ file is a vector, which is read when asked for.
    key = ":x" if extension in ("npz", "mat") else ""
    np.testing.assert_array_equal(read(f"x.{extension}{key}").matrix, matrix)


@given(order=st.permutations(range(4)), kind=st.sampled_from(["csv", "parquet", "npz", "h5ad"]))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_shuffled_rows_with_ids_align_to_the_same(folder, order, kind):
    pd.DataFrame({"id": IDS, "x": X[:, 0]}).to_csv("first.csv", index=False)
    ids = [IDS[i] for i in order]
    frame = pd.DataFrame(X[order], columns=["x", "y", "z"])
    match kind:
        case "csv":
            frame.assign(id=ids).to_csv("second.csv", index=False)
        case "parquet":
            frame.set_index(pd.Index(ids, name="id")).to_parquet("second.parquet")
        case "npz":
            np.savez("second.npz", second=X[order], id=ids)
        case "h5ad":
            annotated(X[order], ids).write_h5ad("second.h5ad")
    aligned = align(read_views(["first.csv", f"second.{kind}"], id_column="id"))
    assert aligned.ids == IDS
    np.testing.assert_array_equal(aligned.views["second"], X)


# What an argument means, and what views are called


def test_paths_names_and_keys(folder):
    np.savez("both.npz", u=X, v=X[:, :2])
    np.save("a=b.npy", X)
    np.savez("k=1:2.npz", u=X, v=X[:, :2])
    os.mkdir("c")
    np.save("c/d.npy", X)

    def names(*specs):
        return [table.name for table in read_views(specs)]

    assert names("both.npz") == ["u", "v"]
    assert names("n=both.npz") == ["n.u", "n.v"]
    assert names("both.npz:v") == ["v"]
    assert names("n=both.npz:v") == ["n"]
    assert names("a=b.npy") == ["a=b"]
    assert names("n=a=b.npy") == ["n"]
    assert names("k=1:2.npz:u") == ["u"]
    assert names("n=k=1:2.npz:u") == ["n"]
    assert names("c/d.npy", "x=c/d.npy") == ["d", "x"]


def test_names_that_clash_are_told_apart(folder):
    for name in ("one", "two"):
        os.mkdir(name)
        np.save(f"{name}/rna.npy", X)
        np.savez(f"{name}.npz", u=X, v=X)
    names = [table.name for table in read_views(["one/rna.npy", "two/rna.npy"])]
    assert names == ["one.rna", "two.rna"]
    names = [table.name for table in read_views(["one.npz", "two.npz:v"])]
    assert names == ["u", "one.v", "two.v"]
    with pytest.raises(ValueError, match=r"'one.npz', 'one.npz' would all be view .*NAME=PATH"):
        read_views(["one.npz:u", "one.npz:u"])
    with pytest.raises(ValueError, match="would all be view 'n'"):
        read_views(["n=one.npz:u", "n=two.npz:u"])


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("none.csv", FileNotFoundError, "^none.csv: no such file"),
        ("n=none.npz:key", FileNotFoundError, "^none.npz: no such file"),
        ("folder", IsADirectoryError, "folder is a folder"),
        ("", ValueError, "got an empty path"),
        (".", IsADirectoryError, r"^\. is a folder"),
        ("n=", FileNotFoundError, "^n=: no such file"),
        ("n=folder", IsADirectoryError, "folder is a folder"),
        ("empty.npy", ValueError, "empty.npy is an empty file"),
        ("x.docx", ValueError, r"x.docx ends in '.docx'; expected one of .csv, .*.h5mu, .csv.gz"),
        ("x.npz.gz", ValueError, "ends in '.gz'"),
        ("x", ValueError, "x ends in 'nothing'"),
        ("=x.csv", ValueError, "empty view name"),
        ("x.csv:key", ValueError, "x.csv holds one table, but key 'key' was asked for"),
    ],
)
def test_files_that_cannot_be_opened(folder, spec, error, message):
    os.mkdir("folder")
    write("empty.npy", b"")
    for name in ("x.docx", "x.npz.gz", "x", "x.csv"):
        write(name, "a\n1\n")
    with pytest.raises(error, match=message):
        read_views([spec])


def test_no_files():
    with pytest.raises(ValueError, match="got no files"):
        read_views([])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_somebody_else(folder):
    os.chmod(write("x.csv", "a\n1\n"), 0)
    with pytest.raises(OSError, match=r"x.csv: cannot be read"):
        read("x.csv")


# Delimited text


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


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that short files have many."""
    monkeypatch.setattr(_text_layout, "_BLOCK", 64)


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
    with pytest.raises(ValueError, match=r"x.csv: a row is longer than 64 bytes, .* a quote"):
        read("x.csv")


def test_rows_longer_than_a_block(folder, small_blocks):
    write("x.csv", ",".join(f"column{j}" for j in range(300)) + "\n" + ",".join(["1"] * 300))
    assert read("x.csv").matrix.shape == (1, 300)


# Ids


@pytest.mark.parametrize("text", ["id,x\n1,5\n2,6\n", "x,id\n5,1.0\n6,2.0\n", "x,id\n5,1\n6, 2\n"])
def test_whole_numbers_are_the_same_ids_however_written(folder, text):
    write("x.csv", text)
    assert read("x.csv", id_column="id").ids == ("1", "2")


@pytest.mark.parametrize("ids", [("007", "010"), ("a,b", 'c"d'), ("1e5", "1E6"), ("NA", "nan")])
def test_ids_of_text_stay_as_they_are_written(folder, ids):
    pd.DataFrame({"id": ids, "x": [1, 2]}).to_csv("x.csv", index=False)
    assert read("x.csv", id_column="id").ids == ids


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2], ("1", "2")),
        ([1.0, 2.0], ("1", "2")),
        ([1.5, 2.0], ("1.5", "2")),
        (["1.0", "2.0"], ("1", "2")),
        (["v1.0", "2.0"], ("v1.0", "2.0")),
        (pd.Categorical(["u", "v"]), ("u", "v")),
        (["NA", "007"], ("NA", "007")),
    ],
)
def test_ids_of_parquet_files(folder, ids, expected):
    pd.DataFrame({"id": ids, "x": [1, 2]}).to_parquet("x.parquet")
    assert read("x.parquet", id_column="id").ids == expected


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_ids_that_are_not_there(folder, extension):
    frame = pd.DataFrame({"id": ["u", None], "x": [1, 2]})
    frame.to_csv("x.csv", index=False)
    frame.to_parquet("x.parquet")
    with pytest.raises(ValueError, match=f"x.{extension} has no id in row 2"):
        read(f"x.{extension}", id_column="id")
    message = f"x.{extension} has no column 'cell' for the ids; expected one of 'id', 'x'"
    with pytest.raises(ValueError, match=message):
        read(f"x.{extension}", id_column="cell")


def test_ids_of_archives(folder):
    np.savez("x.npz", u=X, v=X, id=np.array([1.0, 2, 3, 4]))
    savemat("x.mat", {"u": X, "id": np.array(["p", "q", "r", "s"], dtype=object)})
    savemat("chars.mat", {"u": X, "id": np.array(["p1", "q", "r", "s"])})
    savemat("numbers.mat", {"u": X, "id": np.arange(4)})
    assert [t.ids for t in read_views(["x.npz"], id_column="id")] == [("1", "2", "3", "4")] * 2
    assert read("x.npz:v", id_column="id").ids == ("1", "2", "3", "4")
    assert read("x.mat", id_column="id").ids == ("p", "q", "r", "s")
    assert read("chars.mat", id_column="id").ids == ("p1", "q", "r", "s")
    assert read("numbers.mat", id_column="id").ids == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"u": X}, "x.npz has no array 'id'; expected one of 'u'"),
        ({"u": X, "id": IDS[:3]}, "array 'u' has 4 rows, but 'id' has 3 ids"),
        ({"u": X, "id": X}, r"ids 'id' have shape \(4, 3\); expected one dimension"),
        ({"u": X, "id": ["a", "", "c", "d"]}, "'id' has no id in row 2"),
        ({"u": X, "id": [1.0, np.nan, 3, 4]}, "'id' has no id in row 2"),
    ],
)
def test_ids_of_archives_that_do_not_fit(folder, arrays, message):
    np.savez("x.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_views(["x.npz"], id_column="id")


# Parquet


def test_numbers_of_all_kinds_in_parquet(folder, monkeypatch):
    monkeypatch.setattr(_parquet, "_OPEN_COLUMNS", 3)
    from decimal import Decimal

    columns = {
        "int": pa.array([1, None], pa.int8()),
        "large": pa.array([2**63, 2**64 - 1], pa.uint64()),
        "half": pa.array(np.array([0.5, 1], dtype=np.float16)),
        "single": pa.array([0.5, np.nan], pa.float32()),
        "bool": pa.array([True, False]),
        "decimal": pa.array([Decimal("1.25"), None]),
        "coded": pa.array([7, 8]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
    pq.write_table(pa.table(columns), "x.parquet")
    table = read("x.parquet")
    nan = np.nan
    expected = [[1, 2.0**63, 0.5, 0.5, 1, 1.25, 7, nan], [nan, 2.0**64, 1, nan, 0, nan, 8, nan]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == tuple(columns)


def test_text_in_parquet(folder):
    frame = pd.DataFrame({"x": [1, 2], "city": ["Oslo", "7"], "day": pd.to_datetime(["2020"] * 2)})
    frame.to_parquet("x.parquet")
    message = r"x.parquet: 2 columns are not numeric \('city', 'day'\), column 'city' is of type .*"
    with pytest.raises(ValueError, match=message + "string; .*--id.*--drop-non-numeric"):
        read("x.parquet")
    assert read("x.parquet", drop_non_numeric=True).features == ("x",)


@pytest.mark.parametrize("index", [["u", "v"], [5, 3]])
def test_the_index_of_a_data_frame_is_no_feature(folder, index):
    pd.DataFrame({"x": [1, 2]}, index=index).to_parquet("x.parquet")
    with pytest.raises(ValueError, match="column '__index_level_0__' is the index of a data frame"):
        read("x.parquet")
    assert read("x.parquet", id_column="__index_level_0__").ids == tuple(map(str, index))


def test_parquet_without_rows_or_with_twice_a_column(folder):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has column names and no rows"):
        read("x.parquet")
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has two columns named 'x'"):
        read("x.parquet")


# Arrays


@pytest.mark.parametrize("extension", ["npy", "npz", "mat", "mtx"])
def test_features_by_samples(folder, extension):
    write_any(f"x.{extension}", X)
    table = read(f"x.{extension}", transpose=True)
    np.testing.assert_array_equal(dense(table.matrix), X.T)
    if isinstance(table.matrix, np.ndarray):
        assert table.matrix.flags.c_contiguous


def test_nothing_to_transpose(folder):
    write_any("x.csv")
    with pytest.raises(ValueError, match=r"transpose was asked for; expected a file of .npy"):
        read("x.csv", transpose=True)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_archives(folder, form):
    sparse.save_npz("x.npz", sparse.coo_array(X).asformat(form))
    table = read("x.npz")
    assert isinstance(table.matrix, csr_array)
    assert table.name == "x"
    np.testing.assert_array_equal(table.matrix.toarray(), X)


def test_sparse_indices_out_of_range(folder):
    np.savez(
        "x.npz",
        format=b"csc",
        shape=(3, 2),
        data=np.ones(2),
        indices=np.array([0, 9_000_000]),
        indptr=np.array([0, 1, 2]),
    )
    with pytest.raises(ValueError, match=r"x.npz is not a valid sparse matrix"):
        read("x.npz")


@pytest.mark.parametrize("extension", ["npz", "mat"])
def test_vectors_are_read_only_when_chosen(folder, extension):
    arrays = {"X": X, "y": np.arange(4)[:, None], "Z": X}
    path = f"x.{extension}"
    savemat(path, arrays) if extension == "mat" else np.savez(path, **arrays)
    message = rf"{path}: 'y' cannot be told .*choose arrays with PATH:KEY, .*{path}:X {path}:Z"
    with pytest.raises(ValueError, match=message):
        read_views([path])
    np.testing.assert_array_equal(read(f"{path}:y").matrix, [[0], [1], [2], [3]])
    with pytest.raises(ValueError, match=f"{path} has no array 'W'; expected one of 'X', 'y', 'Z'"):
        read(f"{path}:W")


def test_a_vector_of_one_dimension(folder):
    np.savez("x.npz", y=np.arange(4.0))
    np.testing.assert_array_equal(read("x.npz:y").matrix, [[0], [1], [2], [3]])
    np.save("x.npy", np.arange(4.0))
    with pytest.raises(ValueError, match=r"x.npy has shape \(4,\)"):
        read("x.npy")


ODD = {
    "complex": np.ones((2, 2), dtype=complex),
    "object": np.array([[1, "x"], [2, 3]], dtype=object),
    "structured": np.zeros((2, 2), dtype=[("u", float)]),
    "datetime": np.zeros((2, 2), dtype="datetime64[s]"),
    "text": np.array([["a", "b"], ["c", "d"]]),
}


@pytest.mark.parametrize("kind", ODD)
def test_arrays_that_are_not_numbers(folder, kind):
    np.save("x.npy", ODD[kind])
    np.savez("x.npz", x=ODD[kind])
    with pytest.raises(ValueError, match=r"x.npy"):
        read("x.npy")
    with pytest.raises(ValueError, match=r"x.npz.*(type|objects|shape)"):
        read("x.npz:x")


def test_pickles_are_never_opened(folder):
    class Trap:
        def __reduce__(self):
            return os.mkdir, ("opened",)

    np.save("x.npy", np.array([[Trap()]]), allow_pickle=True)
    np.savez("x.npz", x=np.array([[Trap()]]))
    for path in ("x.npy", "x.npz", "x.npz:x"):
        with pytest.raises(ValueError, match=r"x.np"):
            read(path)
    assert not os.path.exists("opened")


def test_small_types_and_foreign_byte_order(folder):
    for dtype in ("?", "i1", "u8", ">f4", ">i2", "f2", "g"):
        np.save("x.npy", np.asfortranarray(np.eye(3).astype(dtype)))
        matrix = read("x.npy").matrix
        assert matrix.dtype == np.dtype("=f8")
        np.testing.assert_array_equal(matrix, np.eye(3))


def test_wrong_extensions(folder):
    np.savez("x.npz", x=X)
    os.rename("x.npz", "x.npy")
    with pytest.raises(ValueError, match=r"x.npy"):
        read("x.npy")
    np.save("y.npy", X)
    os.rename("y.npy", "y.npz")
    with pytest.raises(ValueError, match=r"y.npz is a single array"):
        read("y.npz")


def test_cell_arrays_and_sparse_variables(folder):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X, sparse.csc_array(X[:, :2])
    savemat("x.mat", {"data": cells, "s": sparse.csc_array(X)})
    tables = read_views(["x.mat"])
    assert [table.name for table in tables] == ["data1", "data2", "s"]
    assert [isinstance(table.matrix, csr_array) for table in tables] == [False, True, True]
    np.testing.assert_array_equal(tables[1].matrix.toarray(), X[:, :2])
    assert [table.name for table in read_views(["n=x.mat:data"])] == ["n.data1", "n.data2"]
    assert read("x.mat:data2").name == "data2"


@pytest.mark.parametrize("extra", [{"note": "by hand"}, {"s": {"u": X}}, {"n": 3.0}])
def test_variables_that_are_no_matrices(folder, extra):
    savemat("x.mat", {"X": X, **extra})
    with pytest.raises(ValueError, match=rf"x.mat: '{next(iter(extra))}' cannot be .*x.mat:X"):
        read_views(["x.mat"])
    np.testing.assert_array_equal(read("x.mat:X").matrix, X)


def test_the_papers_files(shared_data, folder):
    from conftest import SHARED

    expected = shared_data("NGs").views
    tables = read_views([f"{SHARED}/data/NGs.mat:data"], transpose=True)
    assert len(tables) == len(expected)
    for table, matrix in zip(tables, expected, strict=True):
        np.testing.assert_array_equal(dense(table.matrix), dense(csr_array(matrix)))


def test_new_matlab_files(folder):
    import h5py

    with h5py.File("x.mat", "w", userblock_size=512) as store:
        store["x"] = X
    with open("x.mat", "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    with pytest.raises(ValueError, match=r"x.mat is a MATLAB 7.3 .* '-v7'"):
        read("x.mat")


MARKETS = {
    "array real general\n2 2\n1\n2\n3\n4\n": [[1, 3], [2, 4]],
    "array real symmetric\n2 2\n1\n2\n3\n": [[1, 2], [2, 3]],
    "array real skew-symmetric\n2 2\n2\n": [[0, -2], [2, 0]],
    "coordinate integer general\n% a note\n\n2 2 2\n1 1 1\n1 1 2": [[3, 0], [0, 0]],
    "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n": [[0, 1], [1, 1]],
    "coordinate real skew-symmetric\n2 2 1\n2 1 4\n": [[0, -4], [4, 0]],
    "coordinate real general\n2 2 0\n": [[0, 0], [0, 0]],
    f"coordinate real general\n1 2 1\n1 1 0.{'3' * 30}\n": [[1 / 3, 0]],
}


@pytest.mark.parametrize("text", MARKETS)
def test_kinds_of_matrix_market(folder, text):
    write("x.mtx", "%%MatrixMarket matrix " + text)
    np.testing.assert_array_equal(dense(read("x.mtx").matrix), MARKETS[text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "no Matrix Market banner"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n", "no line of sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "2 sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "exceeds"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5\n", "negative"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 5\n", "whole"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "sizes says"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5x\n", "convert"),
        ("%%MatrixMarket matrix array real general\n999999999 99999999\n1\n", "x.mtx"),
    ],
)
def test_matrix_market_that_is_none(folder, text, message):
    write("x.mtx", text)
    with pytest.raises(ValueError, match=rf"x.mtx.*{message}|{message}"):
        read("x.mtx")


# Annotated


def test_what_is_in_an_h5ad_file(folder):
    data = annotated(sparse.csr_matrix(X))
    data.layers["counts"] = X + 1
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["frame"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    data.obsm["counts"] = X[:, :1]
    data.obs["kind"] = pd.Categorical(["s", "t", "s", "t"])
    data.write_h5ad("x.h5ad")
    table = read("x.h5ad")
    assert isinstance(table.matrix, csr_array)
    assert (table.ids, table.features) == (IDS, ("g0", "g1", "g2"))
    np.testing.assert_array_equal(table.matrix.toarray(), X)
    assert read("x.h5ad:X").name == "X"
    assert read("x.h5ad:X_pca").features is None
    assert read("x.h5ad:frame").features == ("u",)
    np.testing.assert_array_equal(read("x.h5ad:layers/counts").matrix, X + 1)
    with pytest.raises(ValueError, match="key 'counts' is ambiguous"):
        read("x.h5ad:counts")
    with pytest.raises(ValueError, match=r"x.h5ad has no key 'umap'; expected one of 'X', "):
        read("x.h5ad:umap")


def test_h5ad_without_x(folder):
    ad.AnnData(obs=pd.DataFrame(index=list(IDS)), obsm={"p": X}).write_h5ad("x.h5ad")
    with pytest.raises(ValueError, match="has no matrix X"):
        read("x.h5ad")
    np.testing.assert_array_equal(read("x.h5ad:p").matrix, X)


def test_modalities_miss_samples(folder):
    write_h5mu("x.h5mu")
    tables = read_views(["x.h5mu"])
    assert [table.name for table in tables] == ["rna", "adt"]
    aligned = align(tables)
    assert aligned.ids == IDS
    assert aligned.present[:, 1].tolist() == [False, True, True, False]
    np.testing.assert_array_equal(aligned.views["adt"][1:3], X[1:3, :2])
    assert aligned.features["adt"] == ("p0", "p1")
    assert read("x.h5mu:adt").name == "adt"
    with pytest.raises(ValueError, match=r"x.h5mu has no modality 'atac'; expected one of 'rna'"):
        read("x.h5mu:atac")


# Damage


def complaint(path):
    """What is said of a file that cannot be read; every other error is a bug."""
    try:
        read_views([path])
    except (ValueError, OSError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("extension", [*FORMATS, "h5mu"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.9, 0.99])
def test_truncated_files_name_the_path(folder, extension, part):
    path = f"x.{extension}"
    write_any(path, X if extension.startswith("h5") else np.vstack([X] * 50))
    content = Path(path).read_bytes()
    write(path, content[: max(1, int(part * len(content)))])
    message = complaint(path)
    if message is None:
        assert extension in ("csv", "tsv", "tab", "txt")  # text may end anywhere
    else:
        assert path in message
        assert "\n" not in message


# Not HDF5, whose own library crashes at some damage before anybody can raise an error.
@pytest.mark.parametrize("extension", [name for name in FORMATS if name != "h5ad"])
def test_damaged_files_never_raise_anything_else(folder, extension):
    path = f"x.{extension}"
    write_any(path)
    content = np.fromfile(path, dtype=np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(80):
        damaged = content.copy()
        places = rng.integers(0, len(content), size=3)
        damaged[places] = rng.integers(0, 256, size=3)
        write(path, damaged.tobytes())
        message = complaint(path) or path
        assert path in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("path", "extra", "library"),
    [
        ("x.csv", "files", "pyarrow"),
        ("x.parquet", "files", "pyarrow"),
        ("x.h5ad", "bio", "anndata"),
    ],
)
def test_missing_libraries(folder, monkeypatch, path, extra, library):
    write_any(path)
    original = builtins.__import__

    def refuse(name, *arguments, **named):
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return original(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        ImportError, match=rf"{path} needs {library}: pip install 'manyview\[{extra}\]'"
    ):
        read(path)

"""Files of every format become tables, or one line that names the file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from manyview.inputs._align import align
from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, ad, annotated, dense, pd, read, write, write_any

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


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


@pytest.mark.parametrize("names", [["b", "a", "c", "d"], [7, 5, 6, 8]])
def test_categorical_names_of_h5ad_files(folder, names):
    h5py = pytest.importorskip("h5py")
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        for axis, chosen in (("obs", names), ("var", names[:3])):
            index = store[axis].attrs["_index"]
            del store[axis][index]
            group = store[axis].create_group(index)
            group.attrs["encoding-type"] = "categorical"
            group["categories"] = sorted(chosen)
            group["codes"] = np.array([sorted(chosen).index(one) for one in chosen], dtype="i1")
    table = read("x.h5ad")
    assert table.ids == tuple(map(str, names))
    assert table.features == tuple(map(str, names[:3]))
    with h5py.File("x.h5ad", "r+") as store:
        store["obs"][store["obs"].attrs["_index"]]["codes"][2] = -1
    with pytest.raises(ValueError, match=r"x.h5ad: .*names of rows have codes that stand for no"):
        read("x.h5ad")


def test_a_long_name_of_very_many_rows(folder):
    h5py = pytest.importorskip("h5py")
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        index = store["obs"].attrs["_index"]
        del store["obs"][index]
        group = store["obs"].create_group(index)
        group["categories"] = ["a" * 10**7]
        group.create_dataset("codes", (10**7,), "i1", chunks=(10**6,))
    assert os.path.getsize("x.h5ad") < 2 * 10**7
    with pytest.raises(ValueError, match=r"x.h5ad: 10,000,000 names of rows would take 100,000,6"):
        read("x.h5ad")


def test_categorical_names_as_anndata_writes_them(folder):
    obs = pd.DataFrame(index=pd.CategoricalIndex(["q", "p", "s", "r"]))
    ad.AnnData(X, obs=obs).write_h5ad("x.h5ad")
    assert read("x.h5ad").ids == ("q", "p", "s", "r")


def test_frames_with_missing_whole_numbers(folder):
    h5py = pytest.importorskip("h5py")
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, -3, 4], dtype="Int64"),
            "b": pd.array([True, False, None, True], dtype="boolean"),
            "f": [0.5, 1.5, 2.5, 3.5],
        },
        index=IDS,
    )
    obs = pd.DataFrame(index=IDS)
    ad.AnnData(X, obs=obs, obsm={"e": frame}).write_h5ad("x.h5ad")
    table = read("x.h5ad:e")
    expected = [[1, 1, 0.5], [np.nan, 0, 1.5], [-3, np.nan, 2.5], [4, 1, 3.5]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == ("n", "b", "f")
    with h5py.File("x.h5ad", "r+") as store:
        del store["obsm/e/n/mask"]
        store["obsm/e/n/mask"] = np.zeros(3, dtype=bool)
    with pytest.raises(ValueError, match=r"x.h5ad: .*column 0 has no mask of its shape"):
        read("x.h5ad:e")


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


@pytest.mark.parametrize("extension", FORMATS)
def test_damaged_files_never_raise_anything_else(folder, extension):
    """A few; `test_fuzz_files` looks for more."""
    path = f"x.{extension}"
    write_any(path)
    content = np.fromfile(path, dtype=np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(4 if extension == "h5ad" else 80):
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
        ("x.h5ad", "bio", "h5py"),
    ],
)
def test_missing_libraries(tmp_path, folder, path, extra, library):
    write_any(path)
    broken = tmp_path / "modules"
    broken.mkdir()
    write(broken / f"{library}.py", "raise ImportError")
    program = "import sys; from manyview.inputs.files import read_views; read_views(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(broken)},
    )
    message = f"ImportError: reading {path} needs {library}: pip install 'manyview[{extra}]'"
    assert done.stderr.splitlines()[-1] == message

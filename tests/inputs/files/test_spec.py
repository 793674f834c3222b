"""What an argument means, and what views are called."""

import os

import numpy as np
import pytest

from manyview.inputs.files import read_views
from tests.helpers.table_files import X, read, write


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
        ("folder", IsADirectoryError, "folder is a folder; expected .* Parquet .*matrix.mtx.*Zarr"),
        ("https://a.org/x.csv", ValueError, "^https://a.org/x.csv is a URL; .*download it first$"),
        ("n=s3://b/x.csv", ValueError, "^s3://b/x.csv is a URL; expected a file: download it"),
        ("gs://b/x.npz:u", ValueError, "^gs://b/x.npz:u is a URL"),
        ("", ValueError, "got an empty path"),
        (".", IsADirectoryError, r"^\. is a folder"),
        ("n=", FileNotFoundError, "^n=: no such file"),
        ("n=folder", IsADirectoryError, "folder is a folder"),
        ("empty.npy", ValueError, "empty.npy is an empty file"),
        ("x.docx", ValueError, r"x.docx ends in '.docx'; expected one of .csv, .*.h5mu, .*.csv.gz"),
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

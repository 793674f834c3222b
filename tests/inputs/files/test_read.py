"""Files of every format become tables, or one line that names the file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyview.inputs import align
from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, annotated, dense, pd, read, write, write_any

pa = pytest.importorskip("pyarrow")


FORMATS = ["csv", "tsv", "tab", "txt", "csv.gz", "tsv.gz", "parquet", "pq", "npy", "npz", "mat"]
FORMATS += ["csv.bz2", "tsv.zst", "csv.zip", "zip", "mtx", "mtx.gz", "h5ad", "feather", "arrow"]
FORMATS += ["xlsx"]
# Another process reads them.
SLOW = ("mat", "mtx", "mtx.gz", "h5ad", "feather", "arrow", "xlsx")


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


@pytest.mark.parametrize("extension", ["npy", "npz", "mat", "mtx"])
def test_features_by_samples(folder, extension):
    write_any(f"x.{extension}", X)
    table = read(f"x.{extension}", transpose=True)
    np.testing.assert_array_equal(dense(table.matrix), X.T)
    if isinstance(table.matrix, np.ndarray):
        assert table.matrix.flags.c_contiguous


def test_nothing_to_transpose(folder):
    write_any("x.h5ad")
    with pytest.raises(ValueError, match=r"transpose was asked for; expected a file of .csv"):
        read("x.h5ad", transpose=True)


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


# Damage


def complaint(path):
    """What is said of a file that cannot be read; every other error is a bug."""
    try:
        read_views([path])
    except (ValueError, OSError) as error:
        return str(error)
    return None


PARTS = [
    (extension, part)
    for extension in [*FORMATS, "h5mu"]
    for part in ([0.6] if extension in ("arrow", "xlsx") else [0.02, 0.3, 0.6, 0.9, 0.99])
]


@pytest.mark.parametrize(("extension", "part"), PARTS)
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


DAMAGES = [
    *((extension, 6 if extension in SLOW else 80) for extension in FORMATS),
    *(pytest.param(extension, 80, marks=pytest.mark.slow) for extension in SLOW),
]


@pytest.mark.parametrize(("extension", "n_files"), DAMAGES)
def test_damaged_files_never_raise_anything_else(folder, extension, n_files):
    """`tests/fuzz/test_files.py` looks for more."""
    path = f"x.{extension}"
    write_any(path)
    content = np.fromfile(path, dtype=np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(n_files):
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
        ("x.parquet", "files", "pyarrow"),
        ("x.h5ad", "bio", "h5py"),
        ("x.xlsx", "files", "openpyxl"),
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

"""Files that are damaged, lie or set traps: tables, or one line that names the file.

Whatever is in a file, reading it takes bounded time and memory, changes nothing and runs nothing.
"""

import gc
import io
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import cli, load_model
from manyview.inputs import align
from manyview.inputs.files import _limits, _sandbox, read_views
from manyview.runtime import _memory as memory
from tests.helpers import damaged_files as damage
from tests.helpers.fuzzing import fuzz
from tests.helpers.hostile_files import BOMBS
from tests.helpers.memory import CLEAR, peak_growth, resident
from tests.helpers.table_files import write
from tests.helpers.trap_files import TRAPS

pytestmark = pytest.mark.skipif(not CLEAR.exists(), reason="peak memory is measured on Linux")

MB = 2**20
#: What readers are told is left, and what they may take beside that: libraries, buffers, garbage.
LEFT = 128 * MB
BESIDE = 256 * MB
SECONDS = 30  # for one file; nearly all take milliseconds, but the machine may be busy
OURS = (ValueError, OSError, ImportError)
QUICK = ["csv", "tsv", "parquet", "npy", "npz", "csv.gz", "csv.bz2", "csv.zst", "csv.zip"]
SLOW = [
    "mat",
    "mtx",
    "mtx.gz",
    "h5ad",
    "feather",
    "xlsx",
    "h5",
]  # read by a process of their own, which takes time to start


@pytest.fixture
def small(folder, monkeypatch):
    """A folder to work in, and a machine of little memory and patience."""
    for module in (memory, _limits, _sandbox):
        left = lambda: max(0, start[0] + LEFT - resident())  # noqa: E731
        monkeypatch.setattr(module, "available_memory", left)
    monkeypatch.setattr(_sandbox, "PATIENCE", 5.0)
    return folder


start = [0]  # bytes that this process held before the work


def read_tables(path, **options):
    for table in read_views([path], **options):
        check_table(table)


read_with_ids = partial(read_tables, id_column="id", drop_non_numeric=True)


def read_key(path):
    read_tables(f"{path}:x")


def check_table(table):
    n_rows, n_columns = table.matrix.shape
    assert n_rows > 0
    assert n_columns > 0
    assert table.matrix.dtype == np.float64
    assert table.ids is None or len(table.ids) == n_rows
    assert table.features is None or len(table.features) == n_columns
    if isinstance(table.matrix, csr_array):
        table.matrix.check_format(full_check=True)
    try:
        view = align([table]).views[table.name]
    except ValueError as error:
        check_message(error, "expected")
    else:
        assert np.isfinite(view.data if isinstance(view, csr_array) else view).all()


def check_message(error, name):
    assert len(str(error).splitlines()) == 1, error
    assert name in str(error) or repr(name)[1:-1] in str(error), error


def outcome_of(read, path):
    """What became of a file; other errors are bugs."""
    try:
        read(path)
    except OURS as error:
        check_message(error, path)
        return "refused"
    return "read"


def trial(path, work):
    """Do the work, see that it takes little time and memory and changes nothing."""
    before = content_of(path)
    started, start[0] = time.monotonic(), resident()
    outcome, growth = peak_growth(work)
    assert time.monotonic() - started < SECONDS
    assert growth < LEFT + BESIDE
    assert os.listdir() == [path]
    assert content_of(path) == before
    return outcome


def content_of(path):
    """The first bytes of a file, or of all files in a folder."""
    if os.path.isdir(path):
        return damage.files_in(Path(path))
    with open(path, "rb") as stream:
        return stream.read(MB)


def fuzz_reader(files, record_property, share, *readers, extensions=QUICK):
    def check(case):
        # Chosen by the content, so that what fails fails again.
        reader = readers[len(case.content) % len(readers)]
        path = write(f"file.{case.extension}", case.content)
        outcome = trial(path, lambda: outcome_of(reader, path))
        os.remove(path)
        return outcome

    fuzz(damage.cases(list(files), extensions), check, record_property, share=share)


def test_text(small, record_property):
    fuzz_reader(damage.text_files(), record_property, 0.06, read_tables, read_with_ids)


def test_parquet(small, tmp_path_factory, record_property):
    files = damage.parquet_files(tmp_path_factory.mktemp("whole"))
    fuzz_reader(files, record_property, 0.06, read_tables, read_with_ids)


def test_numpy(small, record_property):
    fuzz_reader(damage.numpy_files(), record_property, 0.06, read_tables, read_with_ids)


def test_mat(small, record_property):
    readers = (read_tables, read_with_ids, read_key)
    fuzz_reader(damage.mat_files(), record_property, 0.05, *readers, extensions=SLOW)


def test_matrix_market(small, record_property):
    fuzz_reader(damage.market_files(), record_property, 0.04, read_tables, extensions=SLOW)


def test_hdf5(small, tmp_path_factory, record_property):
    files = damage.hdf5_files(tmp_path_factory.mktemp("whole"))
    fuzz_reader(files, record_property, 0.07, read_tables, extensions=SLOW)


def test_arrow(small, tmp_path_factory, record_property):
    files = damage.arrow_files(tmp_path_factory.mktemp("whole"))
    readers = (read_tables, read_with_ids)
    fuzz_reader(files, record_property, 0.03, *readers, extensions=SLOW)


def test_excel(small, tmp_path_factory, record_property):
    files = damage.excel_files(tmp_path_factory.mktemp("whole"))
    fuzz_reader(files, record_property, 0.03, read_tables, read_with_ids, extensions=SLOW)


def fuzz_folder(files, record_property, share):
    """The same for folders, which come as archives of their files."""

    def check(case):
        if not zipfile.is_zipfile(io.BytesIO(case.content)):  # noise, which is no folder
            return "skipped"
        with zipfile.ZipFile(io.BytesIO(case.content)) as archive:
            archive.extractall("folder")
        outcome = trial("folder", lambda: outcome_of(read_tables, "folder"))
        shutil.rmtree("folder")
        return outcome

    files = list(files)
    fuzz(damage.cases(files, [files[0].extension]), check, record_property, share=share)


def test_zarr(small, tmp_path_factory, record_property):
    fuzz_folder(damage.zarr_files(tmp_path_factory.mktemp("whole")), record_property, 0.03)


def test_tenx(small, record_property):
    fuzz_folder(damage.tenx_files(), record_property, 0.03)


def test_models(small, record_property):
    fuzz_reader(damage.model_files(), record_property, 0.03, load_model, extensions=["zip"])


def quick_files(folder):
    return [*damage.text_files(), *damage.numpy_files(), *damage.parquet_files(folder)]


def slow_files(folder):
    return [*damage.mat_files(), *damage.market_files(), *damage.hdf5_files(folder)]


@pytest.mark.parametrize(
    ("files", "extensions", "share"),
    [(quick_files, QUICK, 0.03), (slow_files, SLOW, 0.02)],
    ids=["quick", "slow"],
)
def test_the_command_line(
    small, tmp_path_factory, record_property, capsys, files, extensions, share
):
    """Whatever the file: exit code 2 and one line, for the model knows no view of that name."""
    cases = damage.cases(files(tmp_path_factory.mktemp("whole")), extensions)
    before = signal.getsignal(signal.SIGTERM)

    def check(case):
        path = write(f"file.{case.extension}", case.content)
        start[0] = resident()  # as in `trial`: without it no memory would be left
        code = cli.main(["predict", str(damage.MODEL), f"stranger={path}"])
        os.remove(path)
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        *warned, last = err.splitlines()
        assert last.startswith("manyview: error: ")
        assert all(line.startswith("manyview: warning: ") for line in warned)
        return "refused"

    try:
        fuzz(cases, check, record_property, share=share)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("extension", ["csv", "mat", "h5ad", "zip"])
def test_the_program(folder, extension):
    """As users see it."""
    path = write(f"file.{extension}", b"PK\x03\x04\x89HDF\r\n\x1a\n,\xff" * 20)
    arguments = [path, damage.MODEL] if extension == "zip" else [damage.MODEL, path]
    command = [sys.executable, "-m", "manyview", "predict", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("manyview: error: ")
    assert done.stderr.count("\n") == 1
    assert path in done.stderr
    assert os.listdir() == [path]


# Small files that would fill the memory


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_does_not_fit_is_refused(small, bomb):
    """By its declared size, or as soon as it has grown too large."""
    path, reader, message = BOMBS[bomb]()
    reader = {"tables": read_tables, "ids": read_with_ids}[reader]

    def refused():
        with pytest.raises(ValueError, match=message) as caught:
            reader(path)
        return caught.value

    gc.collect()  # what earlier tests left would go during the work, and leave it more room
    check_message(trial(path, refused), path)


MEASURED = """
import resource, sys
import manyview.inputs.files._limits as limits
import manyview.inputs.files._sandbox as sandbox
from manyview.inputs.files import read_views
sandbox.available_memory = limits.available_memory = lambda: int(sys.argv[2])
try:
    read_views([sys.argv[1]])
except ValueError as error:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


LARGE = ["unfolding chunk", "long names", "nothing in huge chunks", "many cells", "unfolding mat"]


@pytest.mark.parametrize("bomb", [*LARGE, "many numbers", "long market"])
def test_the_process_that_reads_stays_small(folder, bomb):
    """Started from a small one, for what a process held before it was one counts for it too."""
    path, _, _ = BOMBS[bomb]()
    command = [sys.executable, "-c", MEASURED, path, str(LEFT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < LEFT + BESIDE


@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_is_run_or_written(small, trap):
    """Tables, or an error; and the folder is as it was, as `trial` sees to."""
    path = TRAPS[trap]()
    before = sorted(small.parent.iterdir())
    for reader in (read_tables, read_with_ids):
        trial(path, lambda reader=reader: outcome_of(reader, path))
    assert sorted(small.parent.iterdir()) == before

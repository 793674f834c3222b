"""``manyview cluster --scheduler``, with Dask workers in processes."""

import csv
import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from importlib import metadata

import numpy as np
import pandas as pd
import pytest

from manyview import cli, datasets
from manyview.cli import _scheduler
from tests.helpers.interruption import stop

pytest.importorskip("distributed", reason="needs the extra 'dask'")
pytest.importorskip("pyarrow", reason="needs the extra 'files'")

import pyarrow.parquet
from distributed import Client

from manyview.distributed import _memory as memory
from manyview.distributed import _sources as sources
from tests.helpers.dask_clusters import cluster, let_go

LIMIT = 120


@pytest.fixture(scope="module")
def address():
    with cluster(3, processes=True) as client:
        yield client.scheduler.address


@pytest.fixture(scope="module")
def data():
    return datasets.make_blob_views(120, 3, widths=(8, 12), separation=8.0, random_state=0)


def frame_of(view):
    """Columns of several types, and names of the samples."""
    frame = pd.DataFrame(view).add_prefix("f")
    frame["whole"] = np.arange(len(view)) % 3
    frame["single"] = (np.arange(len(view)) % 5).astype(np.float32)
    frame["flag"] = np.arange(len(view)) % 2 == 0
    frame.insert(1, "name", [f"s{i}" for i in range(len(view))])
    return frame


@pytest.fixture
def files(data, folder):
    """Two Parquet files of several row groups."""
    for name, view in data.views.items():
        frame_of(view).to_parquet(f"{name}.parquet", index=False, row_group_size=50)
    return ["view0.parquet", "second=view1.parquet"]


def cut(path, folder, n_parts):
    """The same table as a folder of parts."""
    frame = pd.read_parquet(path)
    os.mkdir(folder)
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        frame.iloc[rows].to_parquet(f"{folder}/part.{i}.parquet", index=False)
    (folder / "_SUCCESS").touch()
    return folder


def run(*words, code=0):
    # Consensus is the same on Dask up to rounding only.
    method = [] if "--method" in words else ["--method", "angular"]
    assert cli.main(["cluster", *map(str, words), "--clusters", "3", *method]) == code


def fails(capsys, *words):
    """The error line of a command, which must leave no files."""
    capsys.readouterr()
    run(*words, "--output", "refused", code=2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("manyview: error: ")
    assert shown.err.count("\n") == 1
    assert not os.path.exists("refused")
    return shown.err


def written(folder):
    """Labels, summary and confidences, without the entries that differ on Dask."""
    with open(f"{folder}/labels.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    confidence = [float(row.pop("confidence")) for row in rows]
    with open(f"{folder}/summary.json", encoding="utf-8") as stream:
        summary = json.load(stream)
    for name in ("command", "seconds", "stage_seconds", "mean_confidence"):
        del summary[name]
    return rows, summary, confidence


def assert_same(ours, theirs):
    outputs, expected = written(ours), written(theirs)
    assert outputs[:2] == expected[:2]
    np.testing.assert_allclose(outputs[2], expected[2], rtol=1e-12)
    assert sorted(os.listdir(ours)) == ["labels.csv", "report.html", "summary.json"]


def test_labels_of_the_local_command(files, address, capsys):
    run(*files, "--id", "name", "--output", "local", "--save-model")
    shutil.copytree("local", "dask")  # files of an earlier run are removed
    capsys.readouterr()
    with watched_reading() as read:
        run(*files, "--id", "name", "--output", "dask", "--force", "--scheduler", address)
    assert read == [["name"], ["name"]]  # features are for the workers
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "second" in shown.out
    assert "report.html" in shown.out
    assert_same("dask", "local")
    assert written("dask")[0][7]["name"] == "s7"
    with open("dask/summary.json", encoding="utf-8") as stream:
        command = json.load(stream)["command"]
    assert command == (
        "manyview cluster view0.parquet second=view1.parquet --id name --clusters 3 "
        f"--neighbors auto --seed 0 --output dask --method angular --scheduler {address}"
    )


@contextmanager
def watched_reading():
    """The columns of Parquet files that this process reads."""
    read = []
    iter_batches = pyarrow.parquet.ParquetFile.iter_batches

    def watched(self, *args, columns=None, **options):
        read.append(columns)
        return iter_batches(self, *args, columns=columns, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pyarrow.parquet.ParquetFile, "iter_batches", watched)
        yield read


def test_folders_of_parts_and_other_formats(files, data, folder, address):
    parts = cut("view0.parquet", folder / "parts", 11)
    pd.read_parquet("view1.parquet").to_csv("view1.csv", index=False)
    words = ["second=view1.csv", "--id", "name"]
    run("first=view0.parquet", *words, "--output", "local")
    run(f"first={parts}", *words, "--output", "dask", "--scheduler", address)
    assert_same("dask", "local")


def test_columns_are_chosen_as_in_the_local_command(files, address, capsys):
    error = fails(capsys, *files, "--scheduler", address)
    assert "1 column is not numeric ('name'), column 'name' is of type" in error
    words = [*files, "--drop-non-numeric", "--method", "gbs"]
    run(*words, "--output", "local")
    run(*words, "--output", "dask", "--scheduler", address)
    assert_same("dask", "local")
    assert [row["id"] for row in written("dask")[0][:2]] == ["0", "1"]


def test_rows_of_empty_cells(files, address):
    frame = pd.read_parquet("view0.parquet")
    frame["flag"] = frame["flag"].astype(float)
    frame.loc[30:50, frame.columns != "name"] = np.nan
    frame.to_parquet("view0.parquet", index=False, row_group_size=50)
    run(*files, "--id", "name", "--output", "local")
    run(*files, "--id", "name", "--output", "dask", "--scheduler", address)
    assert_same("dask", "local")
    assert written("dask")[1]["views"][0]["n_samples"] == 99


@pytest.mark.parametrize("change", ["order", "other", "fewer"])
def test_ids_must_be_the_same_in_the_same_order(files, address, capsys, change):
    frame = pd.read_parquet("view1.parquet")
    if change == "order":
        frame = frame.iloc[::-1]
    elif change == "other":
        frame.loc[4, "name"] = "x"
    else:
        frame = frame.iloc[:-1]
    frame.to_parquet("view1.parquet", index=False)
    found = {
        "order": "have ids 's0' and 's119' in row 1",
        "other": "have ids 's4' and 'x' in row 5",
        "fewer": "have 120 and 119 ids",
    }
    error = fails(capsys, *files, "--id", "name", "--scheduler", address)
    assert f"views 'view0' and 'second' {found[change]}; expected the same ids in" in error


def test_what_does_not_go_together(files, capsys):
    nobody = ["--scheduler", "tcp://127.0.0.1:1"]  # refused before a connection is tried
    for more, expected in (
        (["--checkpoint", "kept"], "--checkpoint with --scheduler; expected one of them"),
        (
            ["--method", "mgl"],
            "--scheduler with --method mgl; expected one of consensus, gbs, cigmvc, angular",
        ),
    ):
        assert expected in fails(capsys, *files, *nobody, *more)
    assert not os.path.exists("kept")


@contextmanager
def listening():
    """A server that does not answer, as one with another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("given", ["nonsense", "127.0.0.1:port", "tcp://127.0.0.1:1", "foo://a:1"])
def test_no_scheduler_there(files, capsys, given):
    error = fails(capsys, *files, "--id", "name", "--scheduler", given)
    assert f"--scheduler {given}: no Dask scheduler reached (" in error


def test_something_else_there(files, capsys, address):
    with listening() as port:
        started = time.monotonic()
        error = fails(capsys, *files, "--id", "name", "--scheduler", f"127.0.0.1:{port}")
        assert time.monotonic() - started < 10
    assert "no Dask scheduler reached (no answer in 4 s)" in error


def test_without_dask(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    error = fails(capsys, *files, "--id", "name", "--scheduler", "127.0.0.1:1")
    assert error == (
        "manyview: error: --scheduler needs distributed, which is not installed; expected: "
        "pip install 'manyview[dask]'\n"
    )


class Workers:
    """A client with the methods that ask for its workers."""

    def __init__(self, answer):
        self.answer = answer

    def wait_for_workers(self, n_workers, timeout):
        assert n_workers == 1

    def run(self, function, package):
        assert (function, package) == (metadata.version, "manyview")
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"tcp://a:1": metadata.version("manyview"), "tcp://a:2": self.answer}


def test_workers_have_the_same_manyview():
    _scheduler._check_workers(Workers(metadata.version("manyview")), "tcp://a:0")
    with pytest.raises(ImportError, match=r"worker at tcp://a:2 has manyview 0\.0\.1; expected "):
        _scheduler._check_workers(Workers("0.0.1"), "tcp://a:0")
    with pytest.raises(ImportError, match=r"has no manyview; expected manyview .* on all"):
        _scheduler._check_workers(Workers(metadata.PackageNotFoundError("manyview")), "tcp://a:0")


def test_memory(files, address, capsys, monkeypatch):
    monkeypatch.setattr(memory, "limit_of", lambda session: 1000)
    words = [*files, "--id", "name", "--scheduler", address]
    error = fails(capsys, *words)
    assert "on each of 3 workers, but 0 MB is the limit of one; expected more workers" in error
    assert error.endswith(", or --yes to fit anyway\n")
    run(*words, "--yes", "--output", "dask")


def test_workers_lost_too_often(files, address, capsys, monkeypatch):
    def lost(*args):
        raise memory.DaskWorkersError("workers were lost again and again")

    monkeypatch.setattr("manyview.distributed.DaskBackend.run_fit", lost)
    error = fails(capsys, *files, "--id", "name", "--scheduler", address)
    assert error == "manyview: error: workers were lost again and again\n"


def test_files_that_workers_do_not_find(files, address, capsys, monkeypatch):
    read = sources.read_files

    def read_and_move(*args, **options):
        tables = read(*args, **options)
        os.rename("view0.parquet", "moved.parquet")
        return tables

    monkeypatch.setattr("manyview.distributed.read_files", read_and_move)
    error = fails(capsys, *files, "--id", "name", "--scheduler", address)
    assert "view0.parquet: a worker finds no such file; expected it there on all" in error


def test_odd_folders(files, folder, address, capsys):
    words = ["--id", "name", "--scheduler", address]
    (folder / "empty").mkdir()
    assert "empty is a folder; expected a file, or a folder of Parquet files" in fails(
        capsys, "empty", *words
    )
    parts = cut("view0.parquet", folder / "parts", 2)
    (parts / "inner").mkdir()
    assert "parts has a folder 'inner'; expected Parquet" in fails(capsys, parts, *words)
    (parts / "inner").rmdir()
    pd.read_parquet(parts / "part.1.parquet").drop(columns="f0").to_parquet(
        parts / "part.1.parquet"
    )
    assert "differ in column 'f0'; expected the same columns" in fails(capsys, parts, *words)


@contextmanager
def operated(folder, n_workers):
    """The address of a scheduler and workers started by the commands of Dask."""
    dask = [sys.executable, "-m", "dask"]
    place = folder / "scheduler.json"
    started = []

    def start(*words):
        with open(folder / f"log{len(started)}", "wb") as log:
            started.append(subprocess.Popen([*dask, *words], stdout=log, stderr=log, cwd=folder))

    try:
        start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(place),
            "--no-dashboard",
        )  # fmt: skip
        deadline = time.monotonic() + LIMIT
        while not place.exists() or not place.read_bytes().rstrip().endswith(b"}"):
            assert started[0].poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for _ in range(n_workers):
            start(
                "worker", "--scheduler-file", str(place), "--nthreads", "1", "--memory-limit",
                "2GB", "--no-dashboard", "--no-nanny",
            )  # fmt: skip
        yield json.loads(place.read_text())["address"]
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.slow
def test_workers_started_by_commands(files, folder, capsys):
    run(*files, "--id", "name", "--output", "local")
    words = [sys.executable, "-m", "manyview", "cluster", *files, "--id", "name", "--clusters", "3"]
    with operated(folder, 2) as there:
        words += ["--method", "angular", "--scheduler", there]
        with Client(there, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=LIMIT)
        done = subprocess.run([*words, "--output", "dask"], capture_output=True, timeout=LIMIT)
        assert (done.returncode, done.stderr) == (0, b"")
    assert_same("dask", "local")


def test_no_workers(files, folder, capsys):
    with operated(folder, 0) as there:
        error = fails(capsys, *files, "--id", "name", "--scheduler", there)
    assert f"--scheduler {there} has no workers; expected at least one" in error


def test_interrupted(files, address, folder):
    """Ctrl-C ends the command with one line, and frees the workers."""

    def begun(dask_scheduler):
        return any(str(key).startswith("manyview") for key in dask_scheduler.tasks)

    with Client(address, set_as_default=False) as client:
        assert let_go(client)
        stopped = stop(
            ["cluster", *files, "--id", "name", "--scheduler", address, "--output", "out"],
            signal.SIGINT, when=lambda: client.run_on_scheduler(begun), cwd=folder,
        )  # fmt: skip
        assert not stopped.finished
        assert (stopped.returncode, stopped.stderr) == (130, "manyview: interrupted\n")
        assert not (folder / "out").exists()
        assert let_go(client)


# Encrypted connections


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """Address of a cluster that accepts no one without a certificate, and options with one."""
    pytest.importorskip("cryptography", reason="makes certificates")
    from distributed.security import Security

    security = Security.temporary()
    with cluster(2, processes=True, protocol="tls://", security=security) as client:
        yield client.scheduler.address, certificates(security, tmp_path_factory.mktemp("ours"))


def certificates(security, folder):
    words = []
    for option, text in (
        ("--tls-ca", security.tls_ca_file),
        ("--tls-cert", security.tls_client_cert),
        ("--tls-key", security.tls_client_key),
    ):
        file = folder / f"{option[6:]}.pem"
        file.write_text(text)
        words += [option, str(file)]
    return words


def test_encrypted(files, closed, capsys):
    address, words = closed
    run(*files, "--id", "name", "--output", "here")
    run(*files, "--id", "name", "--output", "dask", "--scheduler", address, *words)
    assert address.startswith("tls://")
    assert_same("dask", "here")
    with open("dask/summary.json", encoding="utf-8") as stream:
        assert f"--tls-key {words[-1]}" in json.load(stream)["command"]


def test_refused_without_a_certificate_of_the_same_authority(files, closed, capsys, tmp_path):
    from distributed.security import Security

    address = closed[0]
    others = certificates(Security.temporary(), tmp_path)
    for words in ([], others, [*closed[1][:2], *others[2:]]):
        error = fails(capsys, *files, "--id", "name", "--scheduler", address, *words)
        assert f"--scheduler {address}: no Dask scheduler reached (" in error
        assert "expected" in error
        assert "--tls-cert" in error
    unencrypted = address.replace("tls://", "tcp://")
    assert "no Dask scheduler reached" in fails(capsys, *files, "--scheduler", unencrypted)
    with warnings.catch_warnings():  # Dask does not close sockets after a failed handshake
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_certificates_that_cannot_be_used(files, capsys):
    error = fails(capsys, *files, "--tls-key", "key.pem")
    assert "--tls-key with no --scheduler; expected --scheduler tls://HOST:PORT" in error
    error = fails(capsys, *files, "--tls-ca", "a.pem", "--scheduler", "tcp://127.0.0.1:1")
    assert "--tls-ca with tcp://127.0.0.1:1; expected --scheduler tls://" in error
    error = fails(capsys, *files, "--tls-ca", "a.pem", "--scheduler", "tls://127.0.0.1:1")
    assert "--tls-ca a.pem: no such file; expected a PEM file" in error

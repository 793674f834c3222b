"""The code in README.md and docs/ runs as printed.

Python blocks, and lines of indented blocks that begin with ``manyview``, are run in the order of
the page, as one session in a folder of its own. The files they read are made before, small, by
the names in the text, with the id column that the page names; a name with "new" holds some samples
of the page's first file. A scheduler's address stands for one that the test starts, ``/data/`` for
its folder.

Not run are lines that begin with a program of `OTHERS`, which install or build something or start
servers, and blocks after the comment ``<!-- not run: why -->``. Any other line in a block of
commands fails the test. Indented blocks without a command are outputs; Python is never indented.
Commands in running text are parsed, unless they have dots; they need no files.
"""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from manyview import cli, datasets

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHERS = {"cd", "dask", "git", "make", "pip", "pipx"}
BLOCK = re.compile(r"^```(\w*)\n([\s\S]*?)^```$|^( {4}.*(?:\n+ {4}.*)*)", re.M)
NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*\Z")
SCHEDULER = re.compile(r"tcp://(?!127)[\w.]+:\d+")
FILE = re.compile(r"[\w/.-]+\.(?:csv|parquet|mat|h5mu|zarr)\b|/data/\w+/")
ID = re.compile(r"(?:--id |id_column=\")(\w+)")


def commands(block):
    """The ``manyview`` commands of an indented block, as lists of words."""
    for line in block.replace("\\\n", " ").splitlines():
        program, *words = shlex.split(line, comments=True) or ["cd"]
        assert program in OTHERS | {"manyview"}, f"neither run nor known: {line}"
        if program == "manyview":
            yield words


def blocks(page):
    """Kind and text of the blocks of a page that are run."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        kind, fenced, indented = found.groups()
        start = text[: found.start()].rstrip("\n")
        in_list = re.match(r"[-*\d]", start.rpartition("\n\n")[2].lstrip())
        if NOT_RUN.search(start) or (indented and in_list):
            continue
        if kind == "python":
            yield "python", fenced
        assert not re.search(r"^ {4}(import|from) ", indented or "", re.M), indented
        if indented and re.search(r"^ {4}manyview ", indented, re.M):
            yield "shell", indented


def runnable():
    return [page for page in PAGES if any(blocks(page))]


def write(path, view, ids):
    """A file of one view, or of two where the format has several."""
    frame, labels = (
        pd.DataFrame(view).add_prefix("f"),
        pd.Index([f"s{i}" for i in range(len(view))]),
    )
    if ids is not None and path.suffix != ".h5mu":
        frame.insert(0, ids, labels)
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".parquet":
            frame.to_parquet(path, index=False)
        case "":  # a folder of Parquet files
            path.mkdir()
            frame.to_parquet(path / "part.0.parquet", index=False)
        case ".mat":
            pytest.importorskip("scipy.io").savemat(path, {"one": view, "two": view**2})
        case ".zarr":
            da = pytest.importorskip("dask.array")
            pytest.importorskip("zarr")
            da.from_array(view, chunks=(40, -1)).to_zarr(str(path))
        case ".h5mu":
            mudata, anndata = pytest.importorskip("mudata"), pytest.importorskip("anndata")
            with mudata.set_options(pull_on_update=False):
                parts = {
                    name: anndata.AnnData(frame.add_prefix(name).set_index(labels))
                    for name in ("rna", "protein")
                }
                parts["rna"].obsm["X_pca"] = view[:, :3]
                mudata.MuData(parts).write(path)


def make_files(text, folder):
    views = datasets.make_blob_views(120, 12, widths=(6,) * 3, random_state=0).views
    found = ID.search(text)
    names = list(dict.fromkeys(FILE.findall(text)))
    for i, name in enumerate(names):
        new = "new" in name
        view = views["view0"][:20] if new else views[f"view{i % 3}"]
        write(folder / name.lstrip("/"), view, found and found[1])


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("distributed", reason="needs the extra 'dask'")
    from tests.helpers.dask_clusters import cluster

    with cluster(1, protocol="tcp://") as client:
        yield client.scheduler.address


@pytest.mark.filterwarnings("ignore:From 0.4 .update:FutureWarning")  # of mudata
@pytest.mark.filterwarnings("ignore::UserWarning")  # so few samples do not have those clusters
@pytest.mark.filterwarnings("ignore:From 0.4 .update:FutureWarning")  # of mudata
@pytest.mark.parametrize("page", runnable(), ids=lambda page: page.name)
def test_snippets_run_as_printed(page, folder, request, capsys):
    found = list(blocks(page))
    make_files("\n".join(text for _, text in found), folder)
    names = {"__name__": "__main__"}
    for kind, text in found:
        if SCHEDULER.search(text):
            text = SCHEDULER.sub(request.getfixturevalue("address"), text)
        text = text.replace("/data/", f"{folder}/data/")
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
        else:
            for words in commands(text):
                assert cli.main(words) == 0, (words, capsys.readouterr().err)
    if "client" in names:
        names["client"].close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_are_known(page):
    needed = {"cluster": ["x.csv"], "compare": ["x.csv"], "predict": ["model.zip", "x.csv"]}
    for text in re.findall(r"`manyview ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        command, *words = shlex.split(text)
        if "..." not in text:
            cli._parser().parse_args([command, *needed.get(command, []), *words])


def test_snippets_are_found():
    assert {page.name for page in runnable()} >= {"README.md", "files.md", "scaling.md"}

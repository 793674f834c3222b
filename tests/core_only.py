"""What manyview does without any extra, and that what it cannot do names the extra.

A program of its own: `make test-wheel` runs it where nothing but the wheel is installed. Elsewhere
`hide` makes the extras invisible first.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from importlib.machinery import PathFinder
from importlib.util import find_spec

#: What the extras bring, by the names they are imported by.
EXTRAS = (
    "anndata", "bokeh", "dask", "distributed", "h5py", "hypothesis", "igraph", "jinja2",
    "markupsafe", "matplotlib", "mudata", "pandas", "playwright", "polars", "pooch", "pyarrow",
    "pytest", "requests", "rich",
)  # fmt: skip


class _WithoutExtras:
    """Finds modules as ever, but none of the extras."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        hidden = name.partition(".")[0] in EXTRAS
        return None if hidden else PathFinder.find_spec(name, path, target)


def hide():
    """From now on the extras are not there, neither for `import` nor for `find_spec`."""
    others = [finder for finder in sys.meta_path if finder is not PathFinder]
    sys.meta_path[:] = [*others, _WithoutExtras]


def estimators_fit_predict_and_are_saved():
    import manyview

    known = manyview.datasets.make_blob_views(90, 3, random_state=0)
    new = [view[:10] + 0.01 for view in known.views.values()]
    for name in dict.fromkeys(method.estimator for method in manyview.methods.REGISTRY):
        fitted = getattr(manyview, name)(3, random_state=0).fit(known.views)
        score = manyview.metrics.clustering_accuracy(known.target, fitted.labels_)
        assert score > 0.8, f"{name} has an accuracy of {score}"
        manyview.save_model(fitted.to_model(), "model.zip")
        again = manyview.load_model("model.zip").predict(new).labels
        assert (fitted.predict(new) == again).all(), f"{name} differs after it was saved"


def built_in_data_and_scores():
    from manyview import datasets, metrics

    for load in (datasets.load_digits_views, datasets.load_breast_cancer_views):
        data = load()
        scores = metrics.clustering_scores(data.target, data.target)
        assert set(scores.values()) == {1.0}, scores
    for make in (
        datasets.make_blob_views,
        datasets.make_conflict_views,
        datasets.make_latent_views,
        datasets.make_moon_views,
    ):
        assert make(60, random_state=0).n_samples == 60


def arrays_to_a_result():
    import manyview

    data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    result = manyview.cluster(data.views)
    assert result.n_clusters == 3
    assert result.to_csv().count("\n") == 91
    assert result.summary()["n_samples"] == 90
    result.save_model("model.zip")
    assert manyview.suggest_n_clusters(data.views).n_clusters == 3


def files_of_numbers_are_read():
    import numpy as np
    from scipy.io import mmwrite, savemat
    from scipy.sparse import coo_array

    from manyview.inputs.files import read_views

    matrix = np.arange(12.0).reshape(4, 3)
    np.save("x.npy", matrix)
    np.savez("x.npz", x=matrix)
    savemat("x.mat", {"x": matrix})
    mmwrite("x.mtx", coo_array(matrix))
    np.savetxt("x.csv", matrix, delimiter=",", header="a,b,c", comments="")
    for ending in ("npy", "npz", "mat", "mtx", "csv"):
        (table,) = read_views([f"x.{ending}"])
        values = table.matrix.toarray() if hasattr(table.matrix, "toarray") else table.matrix
        assert (values == matrix).all(), f"x.{ending} was read as {values}"


def the_command_tells_its_version():
    from manyview import __version__
    from manyview.cli import main

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        main(["--version"])
    assert shown.getvalue() == f"manyview {__version__}\n", shown.getvalue()


def the_command_clusters_compares_and_predicts():
    import numpy as np

    import manyview

    data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    for name, view in data.views.items():
        ids = np.array([f"s{i}" for i in range(90)])[:, None]
        header = ",".join(["id", *(f"f{j}" for j in range(view.shape[1]))])
        np.savetxt(f"{name}.csv", np.hstack([ids, view]), "%s", ",", header=header, comments="")
    files = [f"{name}.csv" for name in data.views]
    shown = _run("cluster", *files, "--id", "id", "-k", "3", "--output", "out", "--save-model")
    assert set(os.listdir("out")) == {"labels.csv", "summary.json", "model.zip"}
    assert shown.startswith("90 samples in 3 clusters\nview "), shown
    assert shown.endswith(
        "Report: not written, needs jinja2 and matplotlib: pip install 'manyview[report]'\n"
    ), shown
    with open("out/labels.csv") as stream:
        labels = [line.split(",")[:2] for line in stream]
    found = _run("predict", "out/model.zip", *files, "--id", "id")
    assert [line.split(",")[:2] for line in found.splitlines()] == labels, found
    shown = _run("compare", *files, "--id", "id", "-k", "3", "--output", "both")
    assert set(os.listdir("both")) == {"comparison.csv", "labels.csv", "summary.json"}
    assert "\nPage: not written, needs jinja2 and matplotlib: pip install" in shown, shown
    assert _run("datasets").startswith("Data sets in ")


def _run(*words):
    """What a command writes to standard output."""
    from manyview.cli import main

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert main(words) == 0, words
    return shown.getvalue()


def what_is_missing_is_named():
    import manyview
    from manyview.cli import main
    from manyview.inputs.files import read_views

    data = manyview.datasets.make_blob_views(60, 3, random_state=0)
    result = manyview.cluster(data.views, 3)
    for ending in ("parquet", "h5ad", "h5mu"):
        with open(f"x.{ending}", "w") as stream:
            stream.write("id,a\n1,2\n")

    _names("manyview[files]", ImportError, lambda: read_views(["x.parquet"]))
    _names("manyview[bio]", ImportError, lambda: read_views(["x.h5ad"]))
    _names("manyview[bio]", ImportError, lambda: read_views(["x.h5mu"]))
    for spread in (manyview.CIGMVC(3).fit, manyview.cluster):
        _names("manyview[dask]", ImportError, lambda fit=spread: fit(data.views, client="client"))
    _names("manyview[plot]", ImportError, lambda: manyview.plotting)
    _names("manyview[data]", OSError, lambda: manyview.datasets.fetch_bbc("."))
    _names("manyview[report]", ImportError, lambda: result.report("report.html"))
    _names("pip install pandas", ImportError, result.to_frame)
    assert not os.path.exists("report.html")

    for command in (["demo"], ["reproduce"]):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            assert main(command) == 2
        expected = "the report needs jinja2 and matplotlib: pip install 'manyview[report]'\n"
        assert shown.getvalue().endswith(expected), shown.getvalue()


def _names(extra, kind, call):
    """`call` must fail, in one line that says what to install."""
    said = None
    try:
        call()
    except kind as error:
        said = str(error)
    assert said is not None, f"expected an error that names {extra}, got none"
    assert extra in said, f"expected {extra} to be named, got: {said}"
    assert "\n" not in said, f"expected one line, got: {said}"


def main():
    there = sorted(name for name in EXTRAS if find_spec(name) is not None)
    assert not there, f"expected no extras, found {', '.join(there)}"
    checks = (
        the_command_tells_its_version,
        built_in_data_and_scores,
        files_of_numbers_are_read,
        the_command_clusters_compares_and_predicts,
        estimators_fit_predict_and_are_saved,
        arrays_to_a_result,
        what_is_missing_is_named,
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for check in checks:
            check()
            sys.stdout.write(f"core alone: {check.__name__.replace('_', ' ')}\n")


if __name__ == "__main__":
    main()

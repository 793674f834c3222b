"""Pages about a clustering, and their contents."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import manyview
from manyview.datasets import load_digits_views
from manyview.report import ReportContents, ViewContents, contents_of, render_clusters

NASTY = "</script><script>alert(1)</script>"


@cache
def some_digits(method="angular", names=("pixels", "fourier", "gradients")):
    """Contents of a report about 300 digits, with the given names of views."""
    views = zip(names, load_digits_views().views.values(), strict=True)
    index = [f"digit-{i}" for i in range(300)]
    frames = {
        name: pd.DataFrame(view[:300], index=index).add_prefix(f"{name} ") for name, view in views
    }
    result = manyview.cluster(frames, 6, method=method)
    return contents_of(result, "Some digits", "manyview cluster digits/ --seed 0")


@cache
def digits_with_a_gap():
    """The same with a warning, and a first view that lacks three samples."""
    contents = some_digits()
    disagreement = contents.disagreement.copy()
    disagreement[:3, 0] = np.nan
    views = [replace(contents.views[0], n_samples=297), *contents.views[1:]]
    return replace(contents, views=views, disagreement=disagreement, warnings=["three are missing"])


@cache
def digits_page():
    return render_clusters(digits_with_a_gap())


def page_data(html):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1]
    )


def unpacked(values):
    return np.frombuffer(b64decode(values["bytes"]), dtype="<" + values["type"])


def page_points(html):
    """The samples on the page: ids, cluster, x and y from 0 to 1 per map, and columns by name."""
    data = page_data(html)
    cluster = unpacked(data["cluster"])
    columns = {}
    for column in data["columns"]:
        values = unpacked(column["values"])
        if column["values"]["type"] == "i2":
            values = np.where(values == -32768, np.nan, values / 1000)
        columns[column["csv"]] = values
    maps = {
        one["name"]: np.column_stack([unpacked(one[axis]) / 65535 for axis in "xy"])
        for one in data["maps"]
    }
    ids = data["ids"] or [str(i) for i in range(len(cluster))]
    return SimpleNamespace(ids=ids, cluster=cluster, columns=columns, maps=maps)


def two_groups(n=10, **changes):
    """Two complete groups in one view, without the contents that some methods lack."""
    labels = np.repeat([0, 1], [n - n // 2, n // 2])
    graph = csr_array((labels[:, None] == labels) * (1.0 - np.eye(n)))
    contents = ReportContents(
        title="By hand",
        settings={},
        command=None,
        ids=[str(i) for i in range(n)],
        labels=labels,
        confidence=np.ones(n),
        disagreement=None,
        unified_graph=None,
        views=[ViewContents("only", n, 3, "zscore", 1.0, None, graph)],
    )
    return replace(contents, **changes)

"""Pages about a clustering that several tests look at."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import manyview
from manyview.datasets import load_digits_views
from manyview.report import ReportContents, ViewContents, contents_of, render_clusters

NASTY = "</script><script>alert(1)</script>"


@cache
def some_digits(method="angular", names=("pixels", "fourier", "gradients")):
    """What a report about 300 digits gets, their views called by those names."""
    views = zip(names, load_digits_views().views.values(), strict=True)
    index = [f"digit-{i}" for i in range(300)]
    frames = {
        name: pd.DataFrame(view[:300], index=index).add_prefix(f"{name} ") for name, view in views
    }
    result = manyview.cluster(frames, 6, method=method)
    return contents_of(result, "Some digits", "manyview cluster digits/ --seed 0")


@cache
def digits_with_a_gap():
    """The same with a warning, and a first view that says nothing about three samples."""
    contents = some_digits()
    silent = contents.views[0].disagreement.copy()
    silent[:3] = np.nan
    first = replace(contents.views[0], disagreement=silent, n_present=297)
    return replace(contents, views=[first, *contents.views[1:]], warnings=["mind the gap"])


@cache
def digits_page():
    return render_clusters(digits_with_a_gap())


def page_data(html):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1]
    )


def two_groups(n=10, **changes):
    """By hand: two complete groups, one view, nothing that a method may not have."""
    labels = np.repeat([0, 1], [n - n // 2, n // 2])
    graph = csr_array((labels[:, None] == labels) * (1.0 - np.eye(n)))
    contents = ReportContents(
        title="By hand",
        settings={},
        command=None,
        ids=[str(i) for i in range(n)],
        labels=labels,
        confidence=np.ones(n),
        unified_graph=None,
        views=[ViewContents("only", n, 3, 1.0, graph)],
    )
    return replace(contents, **changes)

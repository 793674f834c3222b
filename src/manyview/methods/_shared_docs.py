"""Parameters and attributes that several methods share, written once."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import TypeVar

Class = TypeVar("Class", bound=type)

COMMON = dedent("""\
    n_clusters : int, default=8
        C, the number of clusters. `labels_` has exactly this many, or `fit` raises.
    normalize : {"auto", "zscore", "unit", None}, default="auto"
        What is done to each sample within each view before distances are measured. "zscore"
        subtracts the sample's mean over its features and divides by its standard deviation, as in
        the paper; "unit" scales it to length 1. "auto" is "zscore", except that views of one or
        two columns, of which that would leave a sign at most, are taken as they are.
    views : sequence of int, optional
        Widths of the views, left to right, where X is one matrix.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means and of the eigen-solver's start vectors.
    verbose : int, default=0
        Log each stage and round if positive.
    """)

GRAPH = dedent("""\
    n_neighbors : int, "auto" or "all", default="auto"
        k, the neighbours of a sample in each view's graph. "auto" is 15 as in the paper, or
        n_samples - 2 where that is less; "all" a complete graph, not for `graph="adaptive"`.
    graph : {"adaptive", "binary", "cosine", "heat", "precomputed"}, default="adaptive"
        How the edges of the views' graphs are weighted; see `CIGMVC`.
    """)

KERNEL = dedent("""\
    kernel : {"gaussian", "precomputed"}, default="gaussian"
        Gaussian kernels exp(-d^2 / (2 sigma^2)), sigma the median distance between samples of the
        view; or X holds square matrices of similarities.
    max_dense_samples : int, default=5000
        With more samples `fit` refuses, naming the memory it would need; raise it to go on.
    """)

LEARNED = dedent("""\
    labels_ : array of shape (n_samples,)
        Clusters, numbered in the order of their first samples.
    embedding_ : array of shape (n_samples, n_clusters)
        The rows that k-means clustered.
    view_names_ : tuple of str
    n_features_in_ : int
        Columns of all views together.
    """)

PARTS = {"common": COMMON, "graph": GRAPH, "kernel": KERNEL, "learned": LEARNED}


def shared_docs(cls: Class) -> Class:
    """Put the shared parts where a docstring says ``{common}``, ``{graph}`` and so on."""

    def part(match: re.Match[str]) -> str:
        indent, name = match.groups()
        lines = PARTS[name].rstrip().splitlines()
        return "\n".join(indent + line if line else line for line in lines)

    if cls.__doc__:  # python -OO leaves none
        cls.__doc__ = re.sub(r"^( *)\{(\w+)\}$", part, cls.__doc__, flags=re.MULTILINE)
    return cls

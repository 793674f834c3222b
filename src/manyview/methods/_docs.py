"""Parameters and attributes that several methods share, written once."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import TypeVar

Class = TypeVar("Class", bound=type)

COMMON = dedent("""\
    n_clusters : int or "auto", default=8
        C, the number of clusters. `labels_` has exactly this many, or `fit` raises. "auto" reads
        it off this method's graphs of the views as `suggest_n_clusters` does, up to 20; not for
        methods on kernels.
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
        k, the neighbours of a sample in each view's graph. "auto" is 15 as in the paper (11 in
        `AngularCIGMVC`), or n_samples - 2 where that is less; "all" a complete graph, not for
        `graph="adaptive"`.
    graph : {"adaptive", "binary", "cosine", "heat", "precomputed"}, default="adaptive"
        How the edges of the views' graphs S_v are weighted. "adaptive" is the paper's: in
        proportion to how much closer a neighbour is than the (k+1)-th. "heat" is
        exp(-d^2 / 2t), t the mean squared distance between neighbours. Rows are scaled to sum 1.
        With "precomputed", X holds square matrices of similarities, used as they are but for rows
        that sum to more than 1: they are scaled to 1. Whether a sample resembles itself says
        nothing about clusters: a diagonal is best left 0.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "approximate" sorts the samples into cells and searches as many of them as it takes to find
        98.5 % of the neighbours of a few trial samples; it needs faiss
        (``pip install 'manyview[fast]'``). "auto" is "exact" up to 20,000 samples and
        "approximate" beyond. Sparse views are always searched exactly.
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
        What was clustered: rows for k-means, or the eigenvectors of a graph's Laplacian.
    n_clusters_ : int
        The number of clusters, also where it was "auto"; then `cluster_number_` has the evidence.
    view_names_ : tuple of str
    stage_seconds_ : dict
        Time spent in each stage of the fit.
    n_features_in_ : int
        Columns of all views together.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X was one data frame.
    """)

LOOP = dedent("""\
    lambda_init : float, default=1.0 (0.5 in `AngularCIGMVC`)
        lambda, the weight of the rank constraint, at the start. It doubles in a round that left
        too few components and halves after too many.
    max_iter : int, default=100
        Rounds at most.
    tol : float, default=1e-10
        Sums of Laplacian eigenvalues below this are taken for 0.
    """)

FUSED = dedent("""\
    unified_graph_ : csr_array of shape (n_samples, n_samples)
        U. Its connected components, edges taken both ways, are the clusters.
    view_graphs_, consistent_graphs_, inconsistent_graphs_ : list of csr_array
        S_v, A_v and E_v = S_v - A_v of every view. GBS sets nothing aside: A_v = S_v.
    view_weights_ : array of shape (n_views,)
        alpha_v = 1 / (2 ||U - A_v||_F), U and A_v being those the last round started from: higher
        for views that agree with U. Not scaled to sum 1.
    history_ : list of Round
        What every round left behind, round 0 being the start; ``pandas.DataFrame(history_)``
        makes a table of it.
    n_iter_ : int
        Rounds run.
    converged_ : bool
        Whether U has exactly `n_clusters` components. Where it has not, labels come from k-means
        on the embedding, and a ConvergenceWarning said so.
    stop_reason_ : {"components", "eigenvalues", "too_many", "max_iter", "lambda_limit"}
        "eigenvalues" where they say that U has C components, but links too faint for them are
        left; "too_many" where the consistent parts have fallen into more pieces than that, which
        no later round can join again.
    neighbor_search_ : list of NeighborSearch
        How the neighbours of every view were found, why so, and with what recall.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the views' graphs fell into too many pieces; usually none.
    """)

DISAGREEMENT = dedent("""\
    view_disagreement_ : array of shape (n_views,)
        The share of every view's graph that is inconsistent: the weight of E_v in that of S_v.
        Views that draw different neighbours from the same clusters share few edges, so it is far
        from 0 even where they agree; what counts is which view has more of it than others.
    sample_disagreement_ : array of shape (n_samples, n_views)
        The same for every sample: how much of its edges in that view is inconsistent. NaN where
        the view says nothing about the sample. `edge_disagreement` has it edge by edge.
    """)

PARTS = {
    "common": COMMON,
    "graph": GRAPH,
    "kernel": KERNEL,
    "loop": LOOP,
    "learned": LEARNED,
    "fused": FUSED,
    "disagreement": DISAGREEMENT,
}


def shared_docs(cls: Class) -> Class:
    """Put the shared parts where a docstring says ``{common}``, ``{graph}`` and so on."""

    def part(match: re.Match[str]) -> str:
        indent, name = match.groups()
        lines = PARTS[name].rstrip().splitlines()
        return "\n".join(indent + line if line else line for line in lines)

    if cls.__doc__:  # python -OO leaves none
        cls.__doc__ = re.sub(r"^( *)\{(\w+)\}$", part, cls.__doc__, flags=re.MULTILINE)
    return cls

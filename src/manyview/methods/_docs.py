"""Parameters and attributes that several methods share, written once."""

import re
from textwrap import dedent
from typing import TypeVar

Class = TypeVar("Class", bound=type)

COMMON = dedent("""\
    n_clusters : int or "auto", default=8
        C, the number of clusters. `labels_` has exactly this many, or `fit` raises. "auto"
        suggests a number from 2 to 30, as `suggest_n_clusters` does; methods without graphs, such
        as those on kernels, do not take it. 8 and ``random_state=None`` are scikit-learn's
        defaults; those of `manyview.cluster` are "auto" and 0.
    scaling : str, dict or list, default="paper" or "auto"
        What is done to the columns and rows of each view before distances are measured. The default
        is "paper" in the paper's methods and the spectral baselines, "auto" in the others. A dict
        has the names of views, a list one entry per view. `view_scalings_` tells what was chosen.

        - "auto" looks at the numbers of each view and chooses one of "tfidf" (text, sparse counts),
          "sqrt" (shares, histograms, many columns without negative numbers), "logratio" (counts in
          few columns), "standard" (tables of few columns, or of columns in different units),
          "center" (embeddings) and "unit".
        - "zscore" subtracts a sample's mean over its features and divides by its standard
          deviation; "unit" scales it to length 1; "none" changes nothing.
        - "paper" is "zscore", and "none" for views of one or two columns, of which "zscore" would
          leave at most a sign.

        Precomputed similarities are not scaled: another scaling than the default is refused.
    views : list or dict, optional
        Which columns are a view, if X is one table: widths left to right (``[64, 9]``), or for
        each view its columns (names, positions or a slice), in a list (``[["age", "height"],
        slice(2, 66)]``) or a dict by the name of the view. Columns that no view has are left out.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means and of the eigen-solver's start vectors.
    verbose : int, default=0
        Log each stage and round if positive.
    """)

GRAPH = dedent("""\
    n_neighbors : int, "auto" or "all"; or a list or dict of these, default="auto"
        k, the neighbours of a sample in each view's graph. A list has one entry per view, a dict
        the names of views (not in `SpectralConcat` and `SpectralView`). "auto" is 15 as in the
        paper, 11 in `AngularCIGMVC`, in `ConsensusGraph` 20 or the mean size of a cluster if that
        is less (but at least 10); n_samples - 2 if that is less still; "all" is a complete graph,
        not for `graph="adaptive"`.
    graph : {"adaptive", "binary", "cosine", "heat", "precomputed"}, default="adaptive"
        How the edges of the views' graphs S_v are weighted. "adaptive" is the paper's: in
        proportion to how much closer a neighbour is than the (k+1)-th. "heat" is
        exp(-d^2 / 2t), t the mean squared distance between neighbours. Rows are scaled to sum 1.
        With "precomputed", X holds square matrices of similarities. Rows that sum to more than 1
        are scaled to 1. Leave the diagonal 0: a sample's similarity to itself carries no
        information about clusters.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        "approximate" partitions the samples into cells and searches as many cells as it takes to
        find 98.5 % of the neighbours of a few trial samples. "auto" is "exact" up to 20,000
        samples and "approximate" beyond. Sparse views are always searched exactly.
    """)

KERNEL = dedent("""\
    kernel : {"gaussian", "precomputed"}, default="gaussian"
        Gaussian kernels exp(-d^2 / (2 sigma^2)), sigma the median distance between samples of the
        view; or X holds square matrices of similarities.
    max_dense_samples : int, default=5000
        With more samples `fit` raises, naming the memory it would need.
    """)

CO_EM = dedent("""\
    n_init : int, default=10
        Starts, each by k-means++ in all views side by side. The one with the least sum of
        distances to the nearest centres, in all views, is kept.
    max_iter : int, default=300
        Maximum number of rounds.
    tol : float, default=1e-4
        A round counts as an improvement if the sum of distances of some view falls by more than
        this share. After five others the fit stops: co-EM need not converge.
    """)

FUSED_PARAMETERS = dedent("""\
    n_neighbors : int or "auto"; in `SNF` and `NEMO` also a list or dict of these, default="auto"
        k, the neighbours of a sample in each view. "auto" is 20, or n_samples - 2 if that is less.
    resolution : float, optional
        If given, the Leiden algorithm finds the clusters of the fused graph, and `n_clusters` is
        ignored. A higher resolution gives more clusters; 1 is usual. It needs igraph
        (``pip install 'manyview[leiden]'``). Else k-means clusters the spectral embedding.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        As in `CIGMVC`.
    """)

AFFINITY = FUSED_PARAMETERS + dedent("""\
    max_dense_samples : int, default=2000
        Up to so many samples the similarities of all pairs are computed, as in the original. With
        more, a sample's k strongest edges are looked for among its 3 k nearest samples.
    """)

FUSED_GRAPH = dedent("""\
    unified_graph_ : csr_array of shape (n_samples, n_samples)
        The fused graph, symmetric. Edges from samples to themselves are not used for clustering.
    view_graphs_ : list of csr_array
        Every view's graph of k neighbours, without the samples themselves; rows sum to 1.
    neighbor_search_ : list of NeighborSearch
        Per view: how the neighbours were found, why, and with what recall.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph had too many components; usually none.
    """)

LEARNED = dedent("""\
    labels_ : array of shape (n_samples,)
        Clusters, numbered in the order of their first samples.
    embedding_ : array of shape (n_samples, n_clusters), wider in some methods
        The rows that k-means clustered, or the eigenvectors of the Laplacian of a graph; in
        multi-view k-means the mean distances, over the views, to the clusters' centres.
    n_clusters_ : int
        The number of clusters. If it was "auto", `cluster_number_` has the evidence.
    view_names_ : tuple of str
    view_scalings_ : tuple of str
        The scaling of each view; "none" for precomputed similarities.
    stage_seconds_ : dict
        Time spent in each stage of the fit.
    n_features_in_ : int
        Columns of all views together.
    feature_names_in_ : array of shape (n_features,)
        Only if X was one data frame.
    """)

LOOP = dedent("""\
    lambda_init : float, default=1.0 (0.5 in `AngularCIGMVC`)
        Initial lambda, the weight of the rank constraint. It doubles after a round that left too
        few components and halves after too many.
    max_iter : int, default=100
        Maximum number of rounds.
    tol : float, default=1e-10
        Sums of Laplacian eigenvalues below this count as 0.
    """)

FUSED = dedent("""\
    unified_graph_ : csr_array of shape (n_samples, n_samples)
        U. The connected components of (U + U') / 2 are the clusters.
    view_graphs_, consistent_graphs_, inconsistent_graphs_ : list of csr_array
        S_v, A_v and E_v = S_v - A_v of every view; the last are made when they are asked for. In
        GBS A_v = S_v. Weights between more than 20,000 samples are in single precision.
    view_weights_ : array of shape (n_views,)
        alpha_v = 1 / (2 ||U - A_v||_F), U and A_v being those the last round started from: higher
        for views that agree with U. Not scaled to sum 1.
    history_ : list of Round
        One entry per round, round 0 being the start; ``pandas.DataFrame(history_)`` makes a table
        of it.
    n_iter_ : int
        Rounds run.
    converged_ : bool
        Whether U has exactly `n_clusters` components. If not, labels come from k-means on the
        embedding, with a ConvergenceWarning.
    stop_reason_ : {"components", "eigenvalues", "too_many", "max_iter", "lambda_limit"}
        "components": U has C components. "eigenvalues": its C smallest eigenvalues are 0, but
        edges of tiny weight are left. "too_many": the consistent parts have more than C components
        together, which no later round can change.
    neighbor_search_ : list of NeighborSearch
        Per view: how the neighbours were found, why, and with what recall.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graphs had too many components; usually none.
    """)

DISAGREEMENT = dedent("""\
    view_disagreement_ : array of shape (n_views,)
        The inconsistent share of every view's graph: the weight of E_v divided by that of S_v.
        Views that agree on clusters still share few edges, so the share is far from 0 even then.
        Compare it between views.
    sample_disagreement_ : array of shape (n_samples, n_views)
        The same per sample: the inconsistent share of its edges in that view. NaN where the view
        has no edges from the sample. `edge_disagreement` has it per edge.
    """)

PARTS = {
    "common": COMMON,
    "graph": GRAPH,
    "kernel": KERNEL,
    "co_em": CO_EM,
    "affinity": AFFINITY,
    "fused_graph": FUSED_GRAPH,
    "fused_parameters": FUSED_PARAMETERS,
    "loop": LOOP,
    "learned": LEARNED,
    "fused": FUSED,
    "disagreement": DISAGREEMENT,
}


def shared_docs(cls: Class) -> Class:
    """Replace ``{common}``, ``{graph}`` and so on in a docstring by the shared text."""

    def part(match: re.Match[str]) -> str:
        indent, name = match.groups()
        lines = PARTS[name].rstrip().splitlines()
        return "\n".join(indent + line if line else line for line in lines)

    if cls.__doc__:  # python -OO leaves none
        cls.__doc__ = re.sub(r"^( *)\{(\w+)\}$", part, cls.__doc__, flags=re.MULTILINE)
    return cls

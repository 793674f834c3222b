"""Neighbours -> weighted graphs."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs._knn import TIE, Neighbors
from manyview.graphs._row_block import reordered, starts
from manyview.inputs import Rows

WEIGHTINGS = ("adaptive", "binary", "cosine", "heat")


@dataclass(frozen=True)
class EdgeRules:
    """What the scaling of a view means for its edges."""

    # Rows sum to the share of the k neighbours that are edges, not to 1: a view of words tells
    # little of a sample that has something in common with few others.
    by_count: bool = False
    # A sample that equals more than k others has edges to k of them. Not where equal samples may be
    # those without information.
    joins_equal: bool = False


def edge_rules(scaling: str) -> EdgeRules:
    return EdgeRules(by_count=scaling == "tfidf", joins_equal=scaling in ("tfidf", "standard"))


def neighbor_graph(
    near: Neighbors, weighting: str, sq_norms: FloatArray, rules: EdgeRules | None = None
) -> csr_array:
    """Directed graph of the k nearest neighbours, from k + 1; rows sum to 1 or are empty.

    Only neighbours closer than the (k+1)-th have an edge. All that are tied with it are left out:
    which of several equals is the k-th would otherwise depend on the order of the samples.

    Parameters
    ----------
    near : the k + 1 nearest neighbours
    weighting : {"adaptive", "binary", "cosine", "heat"}
        "adaptive" is s_ij proportional to d_(k+1) - d_ij (the paper's SIG graph); "binary" is 1;
        "cosine" the cosine, at least 0; "heat" exp(-d_ij / (2 t)), t the mean squared distance
        between neighbours in the view.
    sq_norms : squared norms of the samples' rows
    """
    rules = rules or EdgeRules()
    columns = near.indices[:, :-1].astype(np.int32)
    pairs = (sq_norms[:, None], sq_norms[columns]) if weighting == "cosine" else None
    scale = 1.0
    if weighting == "heat":
        distances = np.sort(untied_distances(near.sq_distances))
        scale = float(distances.mean()) if len(distances) else 1.0
    weights = neighbor_weights(near.sq_distances, weighting, pairs, scale)
    return graph_from_neighbors(columns, weights, near.sq_distances[:, -1], len(columns), rules)


def untied_distances(sq_distances: FloatArray) -> FloatArray:
    """Squared distances of the neighbours closer than the last."""
    return sq_distances[:, :-1][_gain(sq_distances) > 0]


def _gain(sq_distances: FloatArray) -> FloatArray:
    """How much closer than the last neighbour the others are; 0 for those tied with it."""
    boundary = sq_distances[:, -1:]
    gain = boundary - sq_distances[:, :-1]
    gain[gain <= TIE * boundary] = 0.0
    return np.asarray(gain)


def neighbor_weights(
    sq_distances: FloatArray,
    weighting: str,
    sq_norm_pairs: tuple[FloatArray, FloatArray] | None = None,
    scale: float = 1.0,
) -> FloatArray:
    """(n, k): weights of the k nearest neighbours, before rows are scaled to sum 1.

    Parameters
    ----------
    sq_distances : array of shape (n, k + 1)
    sq_norm_pairs : squared norms of the samples (n, 1) and of their neighbours (n, k), for "cosine"
    scale : the mean of `untied_distances` over the view, for "heat"
    """
    gain, nearest = _gain(sq_distances), sq_distances[:, :-1]
    if weighting == "adaptive":
        return gain
    if sq_norm_pairs is None:
        return np.where(gain > 0, _binary_or_heat(weighting, nearest, scale), 0.0)
    own, theirs = sq_norm_pairs
    return np.where(gain > 0, _cosines((own + theirs - nearest) / 2, own * theirs), 0.0)


def graph_from_neighbors(
    columns: IntArray, weights: FloatArray, farthest: FloatArray, n_samples: int, rules: EdgeRules
) -> csr_array:
    """Rows of a graph from neighbours (n, k) and the distance of the (k+1)-th."""
    n, k = columns.shape
    if rules.joins_equal:
        weights = np.where(farthest[:, None] == 0, 1.0, weights)
    row_starts = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
    graph = csr_array((weights.ravel(), columns.ravel(), row_starts), shape=(n, n_samples))
    scaled = scale_rows(graph)
    if rules.by_count:
        counts = np.diff(scaled.indptr)
        scaled.data *= np.repeat(counts / k, counts)
    return scaled


def complete_graph(rows: Rows, weighting: str) -> csr_array:
    """Graph of all pairs of different samples, N^2 weights; rows sum to 1 or are empty."""
    products = rows.inner_products(slice(None))
    norms = rows.sq_norms()
    distances = np.maximum(norms[:, None] + norms - 2 * products, 0.0)
    n = len(norms)
    if weighting == "cosine":
        weights = _cosines(products, norms[:, None] * norms)
    else:
        weights = _binary_or_heat(weighting, distances, distances.sum() / (n * (n - 1)))
    np.fill_diagonal(weights, 0.0)
    return scale_rows(csr_array(weights))


def expand_graph(graph: csr_array, samples: IntArray, n: int) -> csr_array:
    """A graph between some of n samples, given in ascending order, as a graph between all."""
    lengths = np.zeros(n, dtype=np.int64)
    lengths[samples] = np.diff(graph.indptr)
    columns = samples.astype(graph.indices.dtype)[graph.indices]
    return csr_array((graph.data, columns, starts(lengths)), shape=(n, n))


def precomputed_graph(matrix: FloatArray | csr_array, order: IntArray) -> csr_array:
    """A user's graph with rows and columns in the given order; rows sum to at most 1.

    Rows that sum to more are scaled to 1. Smaller sums stay: the view knows less of that sample.
    """
    return scale_rows(reordered(csr_array(matrix, dtype=np.float64), order), above=1.0)


def _binary_or_heat(weighting: str, distances: FloatArray, scale: float) -> FloatArray:
    if weighting == "binary":
        return np.ones_like(distances)
    return np.exp(-distances / (2 * scale if scale > 0 else 1.0))


def _cosines(products: FloatArray, sq_norm_pairs: FloatArray) -> FloatArray:
    """Cosines from inner products, at least 0; 0 for rows of zeros."""
    lengths = np.sqrt(sq_norm_pairs)
    cosines = np.divide(products, lengths, np.zeros_like(products), where=lengths > 0)
    return np.maximum(cosines, 0)


def scale_rows(graph: csr_array, above: float = 0.0) -> csr_array:
    """Scale rows whose sum is larger than `above` to sum 1, in place; drop stored zeros."""
    sums = graph.sum(axis=1)
    graph.data /= np.repeat(np.where(sums > above, sums, 1.0), np.diff(graph.indptr))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph

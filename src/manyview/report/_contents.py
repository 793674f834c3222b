"""What a report about a clustering shows, in plain arrays: made elsewhere, drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.plotting import FeatureEffect

__all__ = ["FeatureEffect", "ReportContents", "ViewContents"]


@dataclass(frozen=True)
class ViewContents:
    """One view: its graph, how much it counts, and what sets the clusters apart in it.

    Attributes
    ----------
    name : str
    n_present, n_features : int
        Samples that the view has, and columns.
    weight : float
        Share of the view weights, between 0 and 1.
    graph : csr_array of shape (n_samples, n_samples)
    disagreement : array of shape (n_samples,) or None
        How much of a sample's graph in this view is inconsistent, from 0 to 1; NaN where the view
        says nothing about it. None for methods that do not split graphs.
    mean_disagreement : float or None
    effects : one sequence of features a cluster, the strongest first
    """

    name: str
    n_present: int
    n_features: int
    weight: float
    graph: csr_array
    disagreement: FloatArray | None = None
    mean_disagreement: float | None = None
    effects: Sequence[Sequence[FeatureEffect]] = ()


@dataclass(frozen=True)
class ReportContents:
    """A clustering of N samples in C clusters, numbered from 0.

    Attributes
    ----------
    title : str
    settings : name -> value
        What was clustered and how, in the order to be shown (method, neighbours, seed, version...).
    command : str or None
        A command line that does it again.
    ids : one text a sample
    labels : array of shape (n_samples,)
    confidence : array of shape (n_samples,)
        Share of a sample's neighbours, in all views by their weight, that are in its cluster.
    unified_graph : csr_array or None
    views : one record a view
    history : records of the rounds (`manyview.methods._fusion.Round`), round 0 first; may be empty
    warnings : texts raised during the fit
    """

    title: str
    settings: Mapping[str, str]
    command: str | None
    ids: Sequence[str]
    labels: IntArray
    confidence: FloatArray
    unified_graph: csr_array | None
    views: Sequence[ViewContents]
    history: Sequence[Any] = ()
    warnings: Sequence[str] = field(default_factory=tuple)

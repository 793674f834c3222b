"""Spectral clustering of all views' features side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manyview.graphs import FitSize, stack_graphs
from manyview.inputs import Views, canonical_order, side_by_side
from manyview.methods._docs import shared_docs
from manyview.methods._graph_base import NO_PAIRS, ViewGraphs
from manyview.methods._memory_model import concat_memory
from manyview.methods._spectral_baseline import SpectralBaseline
from manyview.runtime import Estimate, Run


@shared_docs
class SpectralConcat(SpectralBaseline):
    """Normalised spectral clustering of the concatenated features.

    Each view is normalised first, then all features are taken for one view. There is no
    ``graph="precomputed"``: graphs have no features.

    Works on sparse graphs: memory O(V k N), seconds at 20,000 samples.

    Parameters
    ----------
    {common}
    {graph}

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
        The one graph of all features.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph fell into too many pieces; usually none.

    Examples
    --------
    >>> from manyview import SpectralConcat
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralConcat(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._takes_similarities():
            raise ValueError(
                "graph='precomputed' with SpectralConcat; expected features to put side by side"
            )

    def _memory(self, size: FitSize) -> Estimate:
        return concat_memory(size)

    def _chosen_graphs(self, views: Views, run: Run) -> ViewGraphs:
        layout = canonical_order(views)
        rows = side_by_side(
            [self._rows(views.matrices[v][layout.samples], views.names[v]) for v in layout.views]
        )
        name = "all views"
        made = self._graph(rows, name, run)
        self.neighbor_search_ = [] if made.search is None else [made.search]
        self._settle_n_clusters(lambda: stack_graphs([made.graph]), run)
        whole = replace(layout, views=np.zeros(1, dtype=np.intp))
        separate = ViewGraphs((made.graph,), whole, NO_PAIRS, made.cells)
        return self._join(separate, lambda: [rows], f"graph of {name}", run)

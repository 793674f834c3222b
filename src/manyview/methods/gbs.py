"""GBS: a general graph-based system for multi-view clustering."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from manyview.graphs import FitSize, Neighbors, Stack
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH, LOOP
from manyview.methods._docs import shared_docs
from manyview.methods._fusion_results import inconsistent_graphs, unsplit_graphs
from manyview.methods._memory_model import fusion_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.methods.cigmvc import Rules, clusters_by_rules
from manyview.runtime import Estimate, Run


@shared_docs
@dataclass(eq=False, repr=False)
class GBS(PredictMixin, MultiViewClusterer):
    """Graph-based multi-view clustering that does not split the views' graphs.

    One unified graph U is learned from the nearest-neighbour graphs S_v of all views, each weighted
    by how well it agrees with U, until U has `n_clusters` connected components: the clusters. It
    is CI-GMVC without the split into consistent and inconsistent parts.

    Parameters
    ----------
    {common}
    {graph}
    updates : {"published", "paper", "exact"}, default="published"
        "published" follows the published program, whose U is an approximate minimiser; "exact" is
        the exact one. "paper" differs from "published" in CI-GMVC only.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}

    See Also
    --------
    CIGMVC : Splits the views' graphs first.
    MCGL : Refines each view's graph before they are fused.

    References
    ----------
    H. Wang, Y. Yang, B. Liu and H. Fujita, "A study of graph-based system for multi-view
    clustering", Knowledge-Based Systems 163, 2019.

    Examples
    --------
    >>> from manyview import GBS
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(random_state=0)
    >>> model = GBS(n_clusters=5).fit(data.views)
    >>> model.converged_, len(set(model.labels_.tolist()))
    (True, 5)
    """

    _constraints = COMMON | GRAPH | LOOP
    _takes_missing = True

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    updates: str = "published"
    lambda_init: float = 1.0
    max_iter: int = 100
    tol: float = 1e-10
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        present: Any = None,
        checkpoint: str | Path | None = None,
        client: Any = None,
    ) -> Self:
        """Cluster the samples; parameters are those of `CIGMVC.fit`."""
        with self._running() as run, self._backend(run, client, checkpoint) as backend:
            self._learned(
                backend.run_fit(
                    lambda: self._graphs(backend, self._read(backend, X, present)),
                    lambda stack: self._learn(stack, run),
                )
            )
        return self

    def _learn(self, stack: Stack, run: Run) -> dict[str, Any]:
        rules = Rules(None, self.updates, self.lambda_init, self.max_iter, self.tol)
        return dict(stack.compute(clusters_by_rules, run, self.n_clusters_, rules))

    consistent_graphs_ = cached_property(unsplit_graphs)
    inconsistent_graphs_ = cached_property(inconsistent_graphs)

    def _memory(self, size: FitSize) -> Estimate:
        return fusion_memory(size, splits=False)

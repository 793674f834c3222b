"""The angular variant of CI-GMVC: our own, in no paper."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import EdgeWeightByView, FitSize, Neighbors, Stack
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH, LOOP, real
from manyview.methods._docs import shared_docs
from manyview.methods._fusion_results import edge_disagreement, inconsistent_graphs
from manyview.methods._memory_model import fusion_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.methods.cigmvc import Rules, clusters_by_rules
from manyview.runtime import Estimate, Run
from manyview.spectral import Spectrum, unit_rows


@dataclass(frozen=True)
class AngularRules(Rules):
    """Rules with the embedding of normalised spectral clustering."""

    normalized: ClassVar[bool] = True

    def embedding(self, spectrum: Spectrum) -> FloatArray:
        """Eigenvectors with all rows scaled to the same length, ||F||_F^2 = C."""
        n_samples, n_clusters = spectrum.rows.n_samples, spectrum.embedding.shape[1]
        return np.asarray(unit_rows(spectrum.embedding) * np.sqrt(n_clusters / n_samples))

    def row_factor(self, stack: Stack) -> float | FloatArray:
        """Per sample: views present / views with edges."""
        has_edges = stack.rows(EdgeWeightByView()) > 0
        present = stack.n_views if stack.present is None else stack.present.sum(axis=1)
        return np.asarray(present / np.maximum(has_edges.sum(axis=1), 1))


@shared_docs
@dataclass(eq=False, repr=False)
class AngularCIGMVC(PredictMixin, MultiViewClusterer):
    """CI-GMVC in which samples are compared by the angle between their embedded rows.

    As in `CIGMVC` every view's graph S_v is split into a part A_v that is consistent with the other
    views and an inconsistent rest, and one unified graph U is learned until it has
    `n_clusters` connected components. Three things differ:

    - The embedding is that of normalised spectral clustering, every row scaled to the same length.
      The rank constraint then compares directions, and splitting off a few samples is no longer a
      cheap way to gain a component.
    - Where a view has no edges from a sample, the sample's row of U follows the mean of the other
      views, not a row that sums to less than 1.
    - U and A_v are the exact minimisers of the objective, not the published approximations.

    Neighbours (11) and `lambda_init` were chosen once, on the mean over several data sets; see
    docs/angular.md for the alternatives tried.

    Parameters
    ----------
    {common}
    {graph}
    beta : float, default=1e-12
        Price of large inconsistent parts.
    gamma : float, default=1e-5
        Price of inconsistent parts that several views share.
    updates : {"exact", "published", "paper"}, default="exact"
        As in `CIGMVC`.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}
    {disagreement}

    See Also
    --------
    CIGMVC : The paper's method.
    ConsensusGraph : The default method.

    Examples
    --------
    >>> from manyview import AngularCIGMVC
    >>> from manyview.datasets import make_conflict_views
    >>> data = make_conflict_views(random_state=0)
    >>> model = AngularCIGMVC(n_clusters=4, random_state=0).fit(data.views)
    >>> int(model.view_disagreement_.argmax())  # 30 % of its samples follow another cluster there
    0
    """

    _constraints = COMMON | GRAPH | LOOP | {"beta": real(0), "gamma": real(0)}
    _doc_page = "angular.md"
    _takes_missing = True
    _auto_neighbors = 11

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    beta: float = 1e-12
    gamma: float = 1e-5
    updates: str = "exact"
    lambda_init: float = 0.5
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
        penalty = (float(self.beta), float(self.gamma))
        rules = AngularRules(penalty, self.updates, self.lambda_init, self.max_iter, self.tol)
        return dict(stack.compute(clusters_by_rules, run, self.n_clusters_, rules))

    edge_disagreement = edge_disagreement
    inconsistent_graphs_ = cached_property(inconsistent_graphs)

    def _memory(self, size: FitSize) -> Estimate:
        return fusion_memory(size, splits=True)

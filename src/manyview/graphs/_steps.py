"""Steps: computations on the rows of the stacked graphs, on one machine or on Dask workers.

A step is a frozen dataclass with what it needs as fields. It is called with a `RowBlock` and the
values of some graphs on its pattern. `GraphStack` calls it for all rows, `RankStack` for those of
one worker; so each step and its signature exist once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._confidence import own_cluster_share
from manyview.graphs._row_block import RowBlock, by_edge
from manyview.runtime import RowShare, Run, segment_length

#: Metadata of a field: edges look up rows of it; each worker has its own.
EVERYWHERE = {"send": "everywhere"}
#: Metadata of a field: a number, or one for each row.
BY_ROW = {"send": "by row"}


@dataclass(frozen=True)
class Step:
    """One computation on rows.

    Attributes
    ----------
    name : str
        What Dask's dashboard shows.
    takes_incoming : bool
        Whether the first graph's values on the incoming edges are passed too, after its own.
    overwrites : bool
        Whether the result is written over the last graph.
    """

    name: ClassVar[str]
    takes_incoming: ClassVar[bool] = False
    overwrites: ClassVar[bool] = False

    #: (block, *values of graphs) -> what is computed.
    __call__: ClassVar[Callable[..., Any]]


class Stack(Protocol):
    """The graphs of the views on one pattern, on one machine or on Dask workers.

    What represents a graph on the pattern (U) or one per view (A) is known to the stack alone.
    """

    @property
    def n_samples(self) -> int: ...

    @property
    def n_views(self) -> int: ...

    @property
    def share(self) -> RowShare:
        """The rows that are here."""

    @property
    def keeps_embedding(self) -> bool:
        """Whether the embedding of all samples is a result."""

    @property
    def present(self) -> BoolArray | None:
        """(n_samples, V): whether the view has the sample of that row; None if all have all."""

    @property
    def order(self) -> Any:
        """The sample in each row."""

    @property
    def view_order(self) -> Any:
        """The view at each position."""

    @property
    def view_graphs(self) -> Any:
        """S_v, the graphs of the views."""

    def edges(self, step: Step, *graphs: Any) -> Any:
        """A graph on the pattern: the step's value of every edge."""

    def rows(self, step: Step, *graphs: Any) -> NDArray[Any]:
        """The step's values of every row that is here."""

    def total(self, step: Step, *graphs: Any) -> Any:
        """The sum of the step's values over all blocks."""

    def compute(self, function: Callable[..., Any], run: Run, *args: Any) -> Any:
        """function(stack, run, *args), where the rows are; it gives samples by `by_sample`."""

    def symmetric(self, U: Any, dtype: type = np.float64) -> Any:
        """(U + U') / 2, as `laplacian_spectrum` takes it."""

    def n_components(self, A: Any) -> int:
        """Connected components of the union of graphs (V, nnz)."""

    def by_sample(self, rows: NDArray[Any]) -> Any:
        """Rows -> samples in the order of the input, once the result is where the user is."""


@dataclass(frozen=True)
class MeanGraph(Step):
    """The mean of the views' graphs, rows scaled to sum 1."""

    name: ClassVar[str] = "start"

    def __call__(self, block: RowBlock) -> FloatArray:
        mean: FloatArray = block.weights.mean(axis=0)
        sums = block.row_sums(mean)
        for edges, own in by_edge(block.indptr, np.where(sums > 0, sums, 1.0)):
            mean[edges] /= own
        return mean


@dataclass(frozen=True)
class WeightedMean(Step):
    """The weighted mean of the views' graphs; a row sums to the share of the views that have it.

    Scaled to 1 instead, the edges of a sample that only a poor view has would count as much as
    those of all views together, and join what better views separate.
    """

    view_weights: FloatArray
    name: ClassVar[str] = "start"

    def __call__(self, block: RowBlock) -> FloatArray:
        mean, known = np.zeros_like(block.weights[0]), np.zeros(block.n_rows)
        # View by view: sums of BLAS depend on the number of rows, and blocks must give equal bits.
        for share, view in zip(
            (self.view_weights / self.view_weights.sum()).tolist(), block.weights, strict=True
        ):
            mean += share * view
            known += share * (block.row_sums(np.ascontiguousarray(view)) > 0)
        sums = block.row_sums(mean)
        for edges, own in by_edge(block.indptr, np.where(sums > 0, sums, 1.0)):
            mean[edges] /= own  # it may have no inverse
        for edges, own in by_edge(block.indptr, known):
            mean[edges] *= own
        return np.asarray(mean)


@dataclass(frozen=True)
class EdgeWeightByView(Step):
    """(n_rows, V): total weight of the edges of each row in each view."""

    name: ClassVar[str] = "labels"

    def __call__(self, block: RowBlock) -> FloatArray:
        return block.row_sums_by_view(block.weights)


@dataclass(frozen=True)
class EdgeCounts(Step):
    """(V, V + 1): how many edges two views share, or one view has; last, rows with edges."""

    name: ClassVar[str] = "labels"

    def __call__(self, block: RowBlock) -> IntArray:
        has = block.weights > 0
        shared = [[np.count_nonzero(one & other) for other in has] for one in has]
        rows = (block.row_sums_by_view(block.weights) > 0).sum(axis=0)
        return np.column_stack([shared, rows])


@dataclass(frozen=True)
class ClusterWeightByView(Step):
    """(V, C, 2): of each view's edges, the weight inside each cluster and that which touches it,
    half of it from either end."""

    labels: IntArray = field(metadata=EVERYWHERE)
    n_clusters: int
    name: ClassVar[str] = "weights"

    def __call__(self, block: RowBlock) -> FloatArray:
        from manyview import _kernels

        length = segment_length(block.n_samples)
        found = np.zeros((2, -(-block.n_rows // length), self.n_clusters, block.n_views))
        _kernels.cluster_weights(
            block.indptr, block.indices, block.first, block.weights, self.labels, length, *found
        )
        return np.asarray(found.sum(axis=1).T)


@dataclass(frozen=True)
class OwnClusterShare(Step):
    """The share of each row's votes for its own cluster."""

    labels: IntArray = field(metadata=EVERYWHERE)
    trust: FloatArray = field(metadata=EVERYWHERE)
    view_weights: FloatArray = field()
    name: ClassVar[str] = "labels"

    def __call__(self, block: RowBlock) -> FloatArray:
        graphs = [block.as_matrix(np.ascontiguousarray(view)) for view in block.weights]
        return own_cluster_share(graphs, self.labels, self.view_weights, self.trust, block.first)

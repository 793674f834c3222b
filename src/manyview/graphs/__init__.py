"""Views -> nearest-neighbour graphs, stacked on one sparse pattern."""

from manyview.graphs._affinity import AFFINITY_REACH, Affinity, lone_affinity, scaled_affinity
from manyview.graphs._blockwise_stack import BLOCKWISE_ABOVE, BlockwiseStack
from manyview.graphs._bridges import (
    GAP_DIGITS,
    Bridges,
    add_bridges,
    spanning_bridges,
    union_components,
)
from manyview.graphs._build import (
    GraphOptions,
    Neighbors,
    ViewGraphs,
    check_distinct,
    concatenated_graph,
    graphs_in_words,
    joined,
    joined_graph,
    rows_in_order,
    view_graphs,
    warn_of_bridges,
    warn_of_no_edges,
)
from manyview.graphs._cell_index import (
    POINTS_PER_CELL,
    SPARE_CANDIDATES,
    TARGET_RECALL,
    TRIALS,
    CentreIndex,
    cell_centres,
    cell_ranks,
    index_centres,
    min_probed,
    n_cells_for,
    near_cells,
)
from manyview.graphs._cells import Cells, n_probed_for, nearest_centre, sorted_cells
from manyview.graphs._components import (
    breadth_first_depth,
    component_labels,
    count_components,
    join_connected,
)
from manyview.graphs._confidence import own_cluster_share
from manyview.graphs._dense_kernels import check_dense_limit, view_kernels
from manyview.graphs._fit_size import FitSize, ViewSize, view_sizes
from manyview.graphs._knn import (
    SEARCHES,
    NeighborSearch,
    choose_search,
    nearest,
    nearest_reference,
    nearest_reference_exact,
    rank_dense,
)
from manyview.graphs._row_block import (
    SINGLE_ABOVE,
    RowBlock,
    aligned_weights,
    gathered,
    starts,
    united_pattern,
    weight_type,
)
from manyview.graphs._silent import expand_rows, without_silent
from manyview.graphs._stack import GraphStack, stack_graphs
from manyview.graphs._steps import (
    BY_ROW,
    EVERYWHERE,
    ClusterWeightByView,
    EdgeCounts,
    EdgeWeightByView,
    MeanGraph,
    OwnClusterShare,
    Stack,
    Step,
    WeightedMean,
)
from manyview.graphs._weights import (
    WEIGHTINGS,
    EdgeRules,
    edge_rules,
    expand_graph,
    graph_from_neighbors,
    neighbor_graph,
    neighbor_weights,
    scale_rows,
    untied_distances,
)

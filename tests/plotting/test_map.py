"""Coordinates of samples on a map."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import CIGMVC, datasets
from manyview.plotting import graph_embedding, map_embedding


def test_samples_beside_landmarks_are_in_their_clusters():
    data = datasets.make_conflict_views(120, 3, random_state=0)
    model = CIGMVC(3).fit(data.views)
    embedding = graph_embedding(model.view_graphs_, 3)
    coordinates = map_embedding(embedding, np.arange(0, 120, 3))
    assert coordinates.shape == (120, 2)
    distances = np.linalg.norm(coordinates[:, None] - coordinates, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.mean(model.labels_[distances.argmin(axis=1)] == model.labels_) > 0.8


@pytest.mark.parametrize("sizes", [[1], [2], [1, 2], [4, 1, 1], [7, 5, 1], [1] * 9, [3] * 90])
def test_map_of_graphs_of_several_components(sizes):
    components = np.repeat(np.arange(len(sizes)), sizes)
    graph = csr_array((components[:, None] == components) * (1.0 - np.eye(len(components))))
    embedding = graph_embedding([graph, graph], 2)
    coordinates = map_embedding(embedding, np.arange(len(components)))
    assert coordinates.shape == (len(components), 2)
    assert np.isfinite(coordinates).all()

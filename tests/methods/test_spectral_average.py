"""SpectralAverage: accuracy on the paper's data sets."""

import pytest

from manyview import SpectralAverage
from manyview.metrics import clustering_accuracy


@pytest.mark.parametrize(
    ("name", "least"), [("BBC", 0.9), ("NGs", 0.97), ("WebKB", 0.66), ("100leaves", 0.92)]
)
def test_accuracy_on_paper_data(paper_data, name, least):
    data = paper_data(name)
    model = SpectralAverage(data.n_clusters, random_state=0).fit(data.views)
    assert clustering_accuracy(data.target, model.labels_) > least

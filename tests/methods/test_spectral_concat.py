"""SpectralConcat: normalised views side by side."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import SpectralConcat
from tests.helpers import oracle


def test_graph_is_that_of_normalised_views(blobs):
    tables = [oracle.zscore_rows(view) for view in blobs.views.values()]
    expected = oracle.adaptive_graph(np.hstack(tables), 15)
    for wrap in (np.asarray, csr_array):
        model = SpectralConcat(3, random_state=0).fit([wrap(v) for v in blobs.views.values()])
        np.testing.assert_allclose(model.view_graphs_[0].toarray(), expected, atol=1e-12)
    with pytest.raises(ValueError, match="expected features to put side by side"):
        SpectralConcat(3, graph="precomputed").fit([np.eye(20)])

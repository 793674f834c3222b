"""MSC: equal to the published program."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview import MSC


def test_equals_the_published_program(case):
    try:
        golden = case.golden("msc")
        expected = golden("P")
    except FileNotFoundError:
        pytest.skip("no golden file for this data set")
    model = MSC(case.n_clusters, random_state=0).fit(case.views)
    error = np.linalg.norm(model.transition_matrix_ - expected) / np.linalg.norm(expected)
    assert error < 1e-4


def test_warning_at_the_limit_of_rounds(blobs):
    with pytest.warns(ConvergenceWarning, match="after max_iter=2 rounds"):
        model = MSC(3, max_iter=2, random_state=0).fit(blobs.views)
    assert (model.converged_, model.stop_reason_, model.n_iter_) == (False, "max_iter", 2)

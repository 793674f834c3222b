"""SpectralView: one view alone."""

import numpy as np
import pytest

from manyview import SpectralView


@pytest.mark.parametrize("view", [1, "view1", np.int64(1)])
def test_equals_a_fit_of_that_view(blobs, view):
    model = SpectralView(3, view=view, random_state=0).fit(blobs.views)
    alone = SpectralView(3, random_state=0).fit([blobs.views["view1"]])
    np.testing.assert_array_equal(model.labels_, alone.labels_)


@pytest.mark.parametrize("view", [3, -1, "colour", None, True])
def test_unknown_view(blobs, view):
    with pytest.raises(ValueError, match=r"expected a number from 0 to 2 or one of view0"):
        SpectralView(3, view=view).fit(blobs.views)

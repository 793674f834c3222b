"""CoregSC: equal to the published program."""

import numpy as np
import pytest

from manyview import CoregSC
from manyview.metrics import adjusted_rand
from tests.helpers.compared import projector


@pytest.mark.parametrize("scheme", ["pairwise", "centroid"])
def test_equals_the_published_program(case, scheme):
    golden = case.golden("coregsc")
    model = CoregSC(case.n_clusters, scheme=scheme, random_state=0).fit(case.views)
    np.testing.assert_allclose(model.bandwidths_, golden("sigma"), rtol=1e-9)
    expected = golden("pairwise" if scheme == "pairwise" else "centroid_views")
    for v, embedding in enumerate(model.view_embeddings_):
        difference = projector(embedding) - projector(expected[:, :, v])
        assert abs(difference).max() < 1e-6
    if scheme == "centroid":
        assert abs(projector(model.centroid_) - projector(golden("centroid"))).max() < 1e-6


def test_centroid_without_coupling(blobs):
    model = CoregSC(3, scheme="centroid", coupling=0, random_state=0).fit(blobs.views)
    assert adjusted_rand(blobs.target, model.labels_) > 0.8
    model.set_params(scheme="pairwise").fit(blobs.views)
    assert not hasattr(model, "centroid_")

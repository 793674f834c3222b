"""The contents of a page, from a result."""

import numpy as np

import manyview
from manyview.report import contents_of
from tests.helpers.blobs import blobs


def test_settings_name_missing_samples_and_the_reason_to_stop():
    views = blobs().views
    present = np.ones((90, 3), dtype=bool)
    present[:5, 1] = False
    result = manyview.cluster(
        views, 3, present=present, method="angular", n_neighbors=9, random_state=4
    )
    contents = contents_of(result, "", "a command")
    assert contents.title == "3 clusters of 90 samples"
    assert contents.command == "a command"
    rounds = result.estimator.n_iter_
    assert contents.settings | {"fit": ""} == {
        "method": "AngularCIGMVC", "samples": "90", "clusters": "3", "neighbours": "9",
        "seed": "4", "fit": "", "missing": "5 of 270 pairs of sample and view",
        "rounds": f"{rounds} (one component per cluster)",
    }  # fmt: skip
    assert [view.n_samples for view in contents.views] == [90, 85, 90]
    assert len(contents.history) == rounds + 1
    suggested = contents_of(manyview.cluster(views, method="average"), "Mine", None)
    assert suggested.settings["clusters"] == "3 (suggested by the graphs)"
    assert suggested.title == "Mine"
    assert "rounds" not in suggested.settings
    assert suggested.disagreement is None

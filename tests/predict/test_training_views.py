"""Columns of new samples are matched with those of the training samples."""

import numpy as np
import pandas as pd
import pytest

from manyview import AngularCIGMVC, datasets


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(120, 3, separation=8.0, random_state=0)


def test_columns_with_names_may_be_in_any_order(blobs):
    frames = {name: pd.DataFrame(view).add_prefix(name) for name, view in blobs.views.items()}
    model = AngularCIGMVC(3, random_state=0).fit(frames)
    turned = {name: frame[frame.columns[::-1]] for name, frame in frames.items()}
    np.testing.assert_array_equal(model.predict(turned), model.labels_)
    np.testing.assert_array_equal(model.predict(blobs.views), model.labels_)  # without any names
    with pytest.raises(ValueError, match=r"lacks 1 of the 8 columns .*: 'view00'"):
        model.predict({"view0": frames["view0"].drop(columns="view00")})

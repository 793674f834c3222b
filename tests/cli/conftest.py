"""Files that several commands read."""

import numpy as np
import pandas as pd
import pytest

from manyview import datasets


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(90, 3, separation=8.0, random_state=0)


@pytest.fixture
def files(blobs, tmp_path, monkeypatch):
    """Three tables, in different orders, each lacking some samples, two formats."""
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name, view in blobs.views.items():
        kept = rng.permutation(90)[:80]
        frame = pd.DataFrame(view[kept]).add_prefix("f")
        frame.insert(2, "name", [f"s{i}" for i in kept])
        if name == "view1":
            frame.to_parquet("view1.parquet", index=False)
        else:
            frame.to_csv(f"{name}.csv", index=False)
    return ["view0.csv", "view1.parquet", "third=view2.csv"]

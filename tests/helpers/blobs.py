"""Blobs as arrays, and as data frames that lack samples."""

import numpy as np
import pandas as pd

from manyview import datasets


def blobs():
    return datasets.make_blob_views(90, 3, separation=8.0, random_state=0)


def incomplete_frames(views):
    """Data frames in different orders, each lacking some samples."""
    rng = np.random.default_rng(0)
    frames = {}
    for name, view in views.items():
        kept = rng.permutation(90)[:80]
        index = [f"s{i}" for i in kept]
        frames[name] = pd.DataFrame(view[kept], index=index).add_prefix("f")
    return frames

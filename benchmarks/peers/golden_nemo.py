"""The fused matrix of imml's NEMO, for complete views and for views that lack samples."""

import numpy as np
from imml.cluster import NEMO


def golden(views, present, n_neighbors):
    partial = [
        np.where(has[:, None], view, np.nan) for view, has in zip(views, present.T, strict=True)
    ]
    return {"fused": fused(views, n_neighbors), "partial": fused(partial, n_neighbors)}


def fused(views, n_neighbors):
    model = NEMO(n_clusters=3, num_neighbors=n_neighbors, random_state=0).fit(views)
    return np.asarray(model.affinity_matrix_)


if __name__ == "__main__":
    from shared import answer_golden

    answer_golden(golden)

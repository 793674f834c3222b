"""What the scripts of this folder share: each runs in the environment of its package alone.

    python fit_x.py LIMIT input.npz ...

An input has the views v0, v1, ... without classes, n_clusters and seed. Labels are saved beside it,
and its seconds are printed. After a fit of more than LIMIT seconds the other inputs are left out.
"""

import sys
import time
import warnings

import numpy as np


def answer(fit):
    """Call ``fit(views, n_clusters, seed)`` for every input that the command line names."""
    warnings.simplefilter("ignore")
    limit = float(sys.argv[1])
    for path in sys.argv[2:]:
        with np.load(path) as stored:
            views = [stored[f"v{v}"] for v in range(int(stored["n_views"]))]
            n_clusters, seed = int(stored["n_clusters"]), int(stored["seed"])
        started = time.perf_counter()
        labels = fit(views, n_clusters, seed)
        seconds = time.perf_counter() - started
        np.save(path.replace(".npz", ".labels.npy"), np.asarray(labels, dtype=np.int64))
        print(f"seconds {seconds:.3f}", flush=True)
        if seconds > limit:
            break

"""Whole fits against the dense NumPy twin of the published program, in one run.

Both start from the same features and end with labels. Each fit has a process of its own, which
reports its time and how far its memory rose; the compiler is warmed up before, on other data. The
targets are those of the project's first issue. Run it with ``make bench``.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))

# N, C, times faster at least, share of the twin's memory at most
CASES = [(1600, 100, 4, None), (5000, 10, 30, 0.1)]
WIDTHS = (32, 48, 64)


def views_of(n, n_clusters):
    from manyview.datasets import make_blob_views

    # 16 samples a cluster is the shape of the paper's 100leaves; few large ones overlap more.
    separation = 7.0 if n_clusters > 50 else 5.0
    return make_blob_views(n, n_clusters, widths=WIDTHS, separation=separation, random_state=0)


def fit_sparse(views, n_clusters, split):
    from manyview import CIGMVC, GBS

    model = (CIGMVC if split else GBS)(n_clusters, random_state=0).fit(views)
    return model.labels_, model.n_iter_


def fit_dense(views, n_clusters, split):
    """As a plain NumPy user would write it: everything N x N."""
    import oracle

    graphs = []
    for view in views:
        Z = oracle.zscore_rows(view)
        graphs.append(oracle.adaptive_graph(Z, 15))
    labels, _, _, rounds, _ = oracle.fuse(graphs, n_clusters, split=split)
    return labels, rounds


FITS = {"sparse": fit_sparse, "dense": fit_dense}


def worker(kind, n, n_clusters, split):
    from measure import peak_growth

    from manyview.metrics import clustering_accuracy

    small = views_of(80, 2)
    for warm in (True, False):
        FITS[kind](list(small.views.values()), 2, warm)
    data = views_of(n, n_clusters)
    started = time.perf_counter()
    (labels, rounds), growth = peak_growth(
        lambda: FITS[kind](list(data.views.values()), n_clusters, split)
    )
    seconds = time.perf_counter() - started
    accuracy = clustering_accuracy(data.target, labels)
    result = {"seconds": seconds, "bytes": growth, "rounds": rounds, "accuracy": accuracy}
    print(json.dumps(result | {"labels": np.asarray(labels).tolist()}))


def measure(kind, n, n_clusters, split):
    command = [sys.executable, __file__, "--worker", kind, str(n), str(n_clusters), str(int(split))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    from manyview.metrics import adjusted_rand

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=4)
    options = parser.parse_args()
    if options.worker:
        kind, *numbers = options.worker
        worker(kind, *map(int, numbers))
        return 0
    print(f"{platform.platform()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("| method | N | C | rounds | dense s | sparse s | faster | dense MB | sparse MB | ARI |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    missed = []
    for n, n_clusters, faster, share in CASES:
        for split in (False, True):
            name = "CI-GMVC" if split else "GBS"
            dense, sparse = (measure(kind, n, n_clusters, split) for kind in ("dense", "sparse"))
            ratio = dense["seconds"] / sparse["seconds"]
            agreement = adjusted_rand(dense["labels"], sparse["labels"])
            print(
                f"| {name} | {n} | {n_clusters} | {sparse['rounds']} | {dense['seconds']:.1f} | "
                f"{sparse['seconds']:.2f} | {ratio:.1f} x | {dense['bytes'] / 1e6:.0f} | "
                f"{sparse['bytes'] / 1e6:.0f} | {agreement:.3f} |",
                flush=True,
            )
            if ratio < faster:
                missed.append(f"{name} at N={n}: {ratio:.1f} times faster, not {faster}")
            if share and sparse["bytes"] > share * dense["bytes"]:
                missed.append(f"{name} at N={n}: more than {share:g} of the memory")
            if agreement < 1:
                missed.append(f"{name} at N={n}: other labels")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

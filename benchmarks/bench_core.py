"""Whole fits against the dense NumPy twin of the published program, in one run.

Both start from the same features and end with labels. Each fit has a process of its own, which
reports its time and how far its memory rose; the compiler is warmed up before, on other data. Run
it with ``make bench``; about 10 minutes, nearly all of them the twin's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
# N, C, times faster at least, share of the twin's memory at most, fits of which the fastest counts
CASES = [(1600, 100, 8, None, 3), (5000, 10, 100, 0.1, 1)]
WIDTHS = (32, 48, 64)


def views_of(n, n_clusters):
    from manyview.datasets import make_blob_views

    # 16 samples per cluster is the shape of the paper's 100leaves; few large ones overlap more.
    separation = 7.0 if n_clusters > 50 else 5.0
    return make_blob_views(n, n_clusters, widths=WIDTHS, separation=separation, random_state=0)


def fit_sparse(views, n_clusters, split):
    from manyview import CIGMVC, GBS

    model = (CIGMVC if split else GBS)(n_clusters, random_state=0).fit(views)
    return model.labels_, model.n_iter_


def fit_dense(views, n_clusters, split):
    """As a plain NumPy user would write it: everything N x N."""
    from tests.helpers import oracle

    graphs = []
    for view in views:
        Z = oracle.zscore_rows(view)
        graphs.append(oracle.adaptive_graph(Z, 15))
    labels, _, _, rounds, _ = oracle.fuse(graphs, n_clusters, split=split)
    return labels, rounds


FITS = {"sparse": fit_sparse, "dense": fit_dense}


def measure(kind, n, n_clusters, split, repeats):
    from manyview.metrics import clustering_accuracy

    small = views_of(80, 2)
    for warm in (True, False):
        FITS[kind](list(small.views.values()), 2, warm)
    data = views_of(n, n_clusters)
    fits = [
        harness.timed(lambda: FITS[kind](list(data.views.values()), n_clusters, split))
        for _ in range(repeats)
    ]
    (labels, rounds), seconds, _ = min(fits, key=lambda fit: fit[1])
    growth = fits[0][2]  # later ones find memory that the first has left
    accuracy = clustering_accuracy(data.target, labels)
    result = {"seconds": seconds, "bytes": growth, "rounds": rounds, "accuracy": accuracy}
    return result | {"labels": [int(label) for label in labels]}


def main():
    from manyview.metrics import adjusted_rand

    harness.answer_if_asked({"measure": measure})
    rows, missed = [], []
    for n, n_clusters, faster, share, repeats in CASES:
        for split in (False, True):
            name = "CI-GMVC" if split else "GBS"
            case = {"n": n, "n_clusters": n_clusters, "split": split, "repeats": repeats}
            dense, sparse = (
                harness.in_a_process(__file__, "measure", kind=kind, **case)
                for kind in ("dense", "sparse")
            )
            ratio = dense["seconds"] / sparse["seconds"]
            agreement = adjusted_rand(dense["labels"], sparse["labels"])
            rows.append([
                name, f"{n:,}", n_clusters, sparse["rounds"], f"{dense['seconds']:.1f}",
                f"{sparse['seconds']:.2f}", f"{ratio:.1f} x", f"{dense['bytes'] / 1e6:.0f}",
                f"{sparse['bytes'] / 1e6:.0f}", f"{agreement:.3f}",
            ])  # fmt: skip
            print(rows[-1], flush=True)
            if ratio < faster:
                missed.append(f"{name} at N={n}: {ratio:.1f} times faster, not {faster}")
            if share and sparse["bytes"] > share * dense["bytes"]:
                missed.append(f"{name} at N={n}: more than {share:g} of the memory")
            if agreement < 1:
                missed.append(f"{name} at N={n}: other labels")
    head = ["method", "N", "C", "rounds", "dense s", "sparse s", "faster", "dense MB",
            "sparse MB", "ARI"]  # fmt: skip
    harness.write_block(PAGE, "core", f"{harness.machine()}:\n\n{harness.table(head, rows)}")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

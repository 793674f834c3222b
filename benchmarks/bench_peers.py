"""Other packages beside manyview on the same data in the same run, at growing sizes.

Each fit has a process of its own; a package that took longer than the limit, or failed, is not
tried at larger sizes. They are heavy, so they have an environment of their own: run it with
``make bench-peers``; about 10 minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
SIZES = (2_000, 10_000, 50_000)
LIMIT = 120
N_CLUSTERS = 10


def with_manyview(views):
    from manyview import CIGMVC

    return CIGMVC(N_CLUSTERS, random_state=0).fit_predict(views)


def with_sklearn(views):
    import numpy as np
    from sklearn.cluster import SpectralClustering

    one = SpectralClustering(N_CLUSTERS, affinity="nearest_neighbors", random_state=0)
    return one.fit_predict(np.hstack(views))


def with_polyview(views):
    from polyview.cluster import MultiViewCoRegSpectralClustering

    return MultiViewCoRegSpectralClustering(N_CLUSTERS, random_state=0).fit_predict(views)


def with_imml(views):
    from imml.cluster import NEMO

    return NEMO(N_CLUSTERS, random_state=0).fit_predict(views)


# Name, where it is from, and how it is called.
PEERS = {
    "manyview CIGMVC": ("manyview", with_manyview),
    "scikit-learn SpectralClustering, nearest neighbours, features side by side": (
        "scikit-learn",
        with_sklearn,
    ),
    "polyview MultiViewCoRegSpectralClustering": ("polyview", with_polyview),
    "imml NEMO": ("imml", with_imml),
}


def fit(peer, n):
    from manyview.datasets import make_latent_views
    from manyview.metrics import clustering_accuracy

    def views_of(count, seed):
        data = make_latent_views(count, N_CLUSTERS, separation=6.0, random_state=seed)
        return list(data.views.values()), data.target

    _, method = PEERS[peer]
    method(views_of(300, 1)[0])  # imports and compilers
    views, target = views_of(n, 0)
    before = harness.resident()
    labels, seconds, growth = harness.timed(lambda: method(views))
    return {
        "seconds": seconds,
        "peak": before + growth,
        "accuracy": clustering_accuracy(target, labels),
    }


def outcome(peer, n):
    """One row of the table, and whether larger sizes are worth trying."""
    try:
        found = harness.in_a_process(__file__, "fit", timeout=LIMIT, peer=peer, n=n)
    except subprocess.TimeoutExpired:
        return [peer, f"{n:,}", f"not within {LIMIT}", "", ""], False
    except RuntimeError as error:
        last = str(error).strip().splitlines()[-1]
        return [peer, f"{n:,}", f"failed: {last[:80]}", "", ""], False
    row = [peer, f"{n:,}", f"{found['seconds']:.1f}"]
    return [*row, f"{found['peak'] / 2**30:.2f}", f"{found['accuracy']:.3f}"], True


def main():
    harness.answer_if_asked({"fit": fit})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--no-docs", action="store_true", help="print, and leave docs/ alone")
    options = parser.parse_args()
    rows, willing = [], list(PEERS)
    for n in sorted(options.sizes):
        for peer in list(willing):
            row, goes_on = outcome(peer, n)
            print(*row, sep="  ", flush=True)
            rows.append(row)
            if not goes_on:
                willing.remove(peer)
    versions = ", ".join(f"{name} {version(name)}" for name, _ in PEERS.values())
    head = ["package", "N", "seconds", "peak GiB", "ACC"]
    text = f"{harness.machine()}; {versions}:\n\n{harness.table(head, rows)}"
    if not options.no_docs:
        harness.write_block(PAGE, "peers", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

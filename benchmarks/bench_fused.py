"""SNF, NEMO and WNN beside snfpy, imml and muon at N = 2,000, one core each, in the same run.

Seconds are of the processor: the median of three fits, or one fit of a program that takes longer
than 10 s. Environments as for ``benchmarks.fused_goldens``; about 4 minutes. Writes its table into
docs/:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m benchmarks.bench_fused
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import manyview
from benchmarks import harness
from benchmarks.bench_quality import INPUTS, MEMORY, PEERS, versions_in
from benchmarks.fused_goldens import PACKAGES, pythons
from benchmarks.peer_process import PeerProcess
from manyview.metrics import adjusted_rand, clustering_accuracy

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "compared-methods.md"
N, N_CLUSTERS = 2000, 10
N_FITS, REPEAT_LIMIT = 3, 10.0
# As the originals are called in benchmarks/peers: NEMO of imml has N / 6 neighbours.
OURS = {
    "snf": lambda: manyview.SNF(N_CLUSTERS, scaling="none", random_state=0),
    "nemo": lambda: manyview.NEMO(
        N_CLUSTERS, scaling="none", n_neighbors=round(N / 6), random_state=0
    ),
    "wnn": lambda: manyview.WNN(N_CLUSTERS, scaling="none", n_neighbors=15, random_state=0),
}


def main():
    environments = pythons(__doc__)
    data = manyview.datasets.make_latent_views(N, N_CLUSTERS, separation=6.0, random_state=0)
    views = [(view - view.mean(axis=0)) / view.std(axis=0) for view in data.views.values()]
    INPUTS.mkdir(parents=True, exist_ok=True)
    path = INPUTS / "fused.npz"
    facts = {"n_views": len(views), "n_clusters": N_CLUSTERS, "seed": 0}
    np.savez(path, **{f"v{v}": view for v, view in enumerate(views)}, **facts)
    rows = []
    for name, make in OURS.items():
        make().set_params(n_neighbors=5).fit([view[:200] for view in views])  # compiles
        seconds = []
        for _ in range(N_FITS):
            started = time.process_time()
            model = make().fit(views)
            seconds.append(time.process_time() - started)
        _, script, packages = PEERS[PACKAGES[name]]
        process = PeerProcess(environments[name], HERE / "peers" / script, MEMORY)
        asked = {"inputs": [str(path)] * N_FITS, "repeat_limit": REPEAT_LIMIT}
        found = process.ask(asked, 600)
        process.close()
        labels = np.load(path.with_suffix(".labels.npy"))
        its, own = np.median(found["seconds"]), np.median(seconds)
        rows.append([
            type(model).__name__, versions_in(environments[name], packages),
            f"{its:.1f}", f"{own:.2f}", f"{its / own:.1f}",
            f"{clustering_accuracy(data.target, labels):.3f}",
            f"{clustering_accuracy(data.target, model.labels_):.3f}",
            f"{adjusted_rand(labels, model.labels_):.3f}",
        ])  # fmt: skip
        print(*rows[-1], sep="  ", flush=True)
    head = ["method", "original", "its seconds", "our seconds", "times faster", "its ACC",
            "our ACC", "ARI of both"]  # fmt: skip
    harness.write_block(PAGE, "fused", f"{harness.machine()}:\n\n{harness.table(head, rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""CITE-seq cells: manyview beside muon's weighted nearest neighbours (WNN) and Leiden.

Writes the table of docs/measured-cells.md. The cells are in ../shared/real, which is no part of the
project. ``make bench-cells`` makes the environment for muon and runs this in about 15 minutes
on one core. Cell types are used for scoring alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import manyview
from benchmarks import harness, real_data
from benchmarks.bench_quality import PEERS, versions_in
from benchmarks.peer_process import PeerProcess
from manyview.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "measured-cells.md"
SETS = {"citeseq_raw": "raw counts", "citeseq_log": "log, CLR"}
SHUFFLES, LACKING = 3, 0.3
SCORES = (clustering_accuracy, normalized_mutual_info, adjusted_rand)
ENVIRONMENT, SCRIPT, PACKAGES = PEERS["WNN + Leiden"]
PYTHON = HERE.parent / ENVIRONMENT / "bin" / "python"


def cells(name, share, seed):
    """Shuffled views, types, and which cells each view has; a share of the cells lack one view."""
    views, types = real_data.shuffled(*real_data.load(name), seed)
    rng = np.random.default_rng(seed)
    present = np.ones((len(types), len(views)), dtype=bool)
    lacking = rng.permutation(len(types))[: round(share * len(types))]
    present[lacking, rng.integers(len(views), size=len(lacking))] = False
    return views, types, present


def of_manyview(views, present, n_clusters, seed, **options):
    started = time.process_time()
    found = manyview.cluster(views, n_clusters, present=present, random_state=seed, **options)
    return np.arange(len(present)), found.labels, time.process_time() - started


def of_muon(process, views, present, n_clusters, seed):
    """WNN needs all modalities of a cell, so the other cells are dropped."""
    kept = np.flatnonzero(present.all(axis=1))
    tables = real_data.dense([view[kept] for view in views])
    arrays = {f"v{v}": table for v, table in enumerate(tables)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.npz"
        np.savez(path, **arrays, n_views=len(tables), n_clusters=n_clusters, seed=seed)
        found = process.ask({"inputs": [str(path)], "repeat_limit": 0}, seconds=600)
        if "failed" in found:
            raise RuntimeError(found["failed"])
        labels = np.load(path.with_suffix(".labels.npy"))
    return kept, labels, found["seconds"][0]


def measured(method, name, share):
    """Means over the shuffles: cells that got a cluster, clusters, scores of the cells with both
    modalities, ACC of the others, seconds."""
    rows = []
    for seed in range(SHUFFLES):
        views, types, present = cells(name, share, seed)
        kept, labels, seconds = method(views=views, present=present, seed=seed)
        both = present[kept].all(axis=1)
        scores = [100 * score(types[kept][both], labels[both]) for score in SCORES]
        # A cluster stands for the type that most of its cells with both modalities have.
        others = np.nan
        if not both.all():
            table = np.zeros((labels.max() + 1, types.max() + 1))
            np.add.at(table, (labels[both], types[kept][both]), 1)
            others = 100 * (table.argmax(axis=1)[labels] == types[kept])[~both].mean()
        rows.append([100 * len(kept) / len(types), labels.max() + 1, *scores, others, seconds])
    return np.mean(rows, axis=0)


def methods(process):
    """6 is the number of cell types; the others find a number by themselves."""
    muon = partial(of_muon, process)
    return {
        "manyview, 6": partial(of_manyview, n_clusters=6),
        "WNN + Leiden, 6": partial(muon, n_clusters=6),
        "manyview, auto": partial(of_manyview, n_clusters="auto"),
        "manyview, resolution 1": partial(of_manyview, n_clusters="auto", resolution=1.0),
        "WNN + Leiden, resolution 1": partial(muon, n_clusters=0),
    }


def main():
    warnings.simplefilter("ignore")
    if not PYTHON.exists() or not real_data.REAL.exists():
        print(f"needs {PYTHON} (make bench-cells) and {real_data.REAL}")
        return 1
    small = manyview.datasets.make_blob_views(120, 3, random_state=0)
    for options in ({}, {"resolution": 1.0}):  # compiles
        manyview.cluster(small.views, **options)
    process = PeerProcess(PYTHON, HERE / "peers" / SCRIPT, 8 * 2**30)
    rows = []
    for share in (0.0, LACKING):
        for name, said in SETS.items():
            for label, method in methods(process).items():
                found = measured(method, name, share)
                print(f"{share:.0%} {name} {label} {found.round(1)}", flush=True)
                rows.append([f"{share:.0%}", said, label, *shown(*found)])
    process.close()
    head = ["lack one", "data", "method", "with a cluster", "clusters", "ACC", "NMI", "ARI",
            "others", "seconds"]  # fmt: skip
    about = f"{harness.machine()}; {versions_in(PYTHON, PACKAGES)}:"
    harness.write_block(PAGE, "cells", f"{about}\n\n{harness.table(head, rows)}")
    return 0


def shown(kept, n_clusters, *scores):
    texts = ["" if np.isnan(score) else f"{score:.1f}" for score in scores]
    return [f"{kept:.0f} %", f"{n_clusters:.1f}", *texts]


if __name__ == "__main__":
    sys.exit(main())

"""ACC of all methods and of other packages on real data; writes docs/quality.md.

The number of clusters is given, nothing else: one configuration for all sets. Figures are means
over shuffles of the samples. ``make bench-quality`` measures what runs in our environment, in
about 15 minutes on one core. ``make bench-quality-peers`` measures the other packages, each in an
environment of its own, in about 30. Both keep what they found in benchmarks/quality.json and then
write the page, so that either can be run alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering

import manyview
from benchmarks import harness, quality_page, real_data
from manyview.metrics import clustering_accuracy

HERE = Path(__file__).parent
RESULTS = HERE / "quality.json"
INPUTS = HERE.parent / "build" / "quality"  # ignored by git
SHUFFLES = 3
# Of other packages: seconds and bytes that a set may take, and seconds after which a fit is not
# repeated for the other shuffles.
LIMIT, MEMORY, REPEAT_LIMIT = 300, 8 * 2**30, 20


def of_manyview(method, **options):
    def labels(views, n_clusters, seed):
        found = manyview.cluster(views, n_clusters, method=method, random_state=seed, **options)
        return found.labels

    return labels


def kmeans(views, n_clusters, seed):
    model = KMeans(n_clusters, n_init=10, random_state=seed)
    return model.fit_predict(real_data.standardised(views))


def spectral(views, n_clusters, seed):
    model = SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=seed)
    return model.fit_predict(real_data.standardised(views))


HERE_RUN = {
    "consensus": of_manyview("consensus"),
    "angular": of_manyview("angular"),
    "average": of_manyview("average"),
    "average, auto": of_manyview("average", scaling="auto"),
    "CI-GMVC": of_manyview("cigmvc"),
    "GBS": of_manyview("gbs"),
    "k-means": kmeans,
    "spectral": spectral,
}
# Name -> environment, script, and the packages whose versions are reported.
PEERS = {
    "NEMO": (".venv-peers", "fit_nemo.py", ("imml",)),
    "SNF": (".venv-peers-snf", "fit_snf.py", ("snfpy", "scikit-learn")),
    "WNN + Leiden": (".venv-peers-muon", "fit_wnn.py", ("muon", "scanpy")),
}


def measure(method, views, target):
    """ACC and seconds of every shuffle."""
    n_clusters = len(np.unique(target))
    found = {"acc": [], "seconds": []}
    for seed in range(SHUFFLES):
        tables, classes = real_data.shuffled(views, target, seed)
        started = time.perf_counter()
        labels = method(tables, n_clusters, seed)
        found["seconds"].append(round(time.perf_counter() - started, 3))
        found["acc"].append(clustering_accuracy(classes, labels))
    return found


def run_here(results, names):
    warnings.simplefilter("ignore")  # fits that end without C components count too
    small = manyview.datasets.make_blob_views(120, 3, random_state=0)
    for method in HERE_RUN.values():  # compiles
        method(list(small.views.values()), 3, 0)
    for name in names:
        views, target = real_data.load(name)
        for method, function in HERE_RUN.items():
            store(results, method, name, measure(function, views, target))


def run_peers(results, names, peers):
    for peer in peers:
        environment, script, packages = PEERS[peer]
        python = HERE.parent / environment / "bin" / "python"
        if not python.exists():
            print(f"{peer}: no {environment}; see bench-quality-peers in the Makefile")
            continue
        results["versions"][peer] = versions_in(python, packages)
        for name in names:
            store(results, peer, name, measure_peer(python, HERE / "peers" / script, name))


def versions_in(python, packages):
    code = f"from importlib.metadata import version\nfor p in {packages}: print(p, version(p))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ", ".join(done.stdout.splitlines())


def measure_peer(python, script, name):
    """As `measure`, or why there is nothing: {"failed": ...}."""
    views, target = real_data.load(name)
    inputs, classes = [], []
    INPUTS.mkdir(parents=True, exist_ok=True)
    for seed in range(SHUFFLES):
        tables, true = real_data.shuffled(views, target, seed)
        arrays = {f"v{v}": table for v, table in enumerate(real_data.dense(tables))}
        inputs.append(INPUTS / f"{seed}.npz")
        classes.append(true)
        facts = {"n_views": len(views), "n_clusters": len(np.unique(target)), "seed": seed}
        np.savez(inputs[-1], **arrays, **facts)
        inputs[-1].with_suffix(".labels.npy").unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [python, script, str(REPEAT_LIMIT), *map(str, inputs)],
            capture_output=True, text=True, timeout=LIMIT, preexec_fn=limit_memory,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {LIMIT} seconds"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return {"failed": last[:120]}
    lines = [line.split() for line in done.stdout.splitlines()]
    seconds = [float(line[1]) for line in lines if line[:1] == ["seconds"]]
    labels = [np.load(path.with_suffix(".labels.npy")) for path in inputs[: len(seconds)]]
    scores = [clustering_accuracy(y, found) for y, found in zip(classes, labels, strict=False)]
    return {"acc": scores, "seconds": seconds}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def store(results, method, name, found):
    results["methods"].setdefault(method, {})[name] = found
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    said = found.get("failed") or f"{100 * np.mean(found['acc']):.1f}"
    seconds = f"{np.mean(found['seconds']):.1f} s" if "seconds" in found else ""
    print(f"{name:12s} {method:14s} {said} {seconds}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["here"], help="here, peers, page")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--sets", nargs="+", help="some sets; the page is not written")
    options = parser.parse_args()
    names = options.sets or real_data.all_names()
    results = {"versions": {}, "methods": {}}
    if RESULTS.exists():
        results = json.loads(RESULTS.read_text())
    if "here" in options.parts:
        results["versions"]["here"] = harness.machine()
        run_here(results, names)
    if "peers" in options.parts:
        run_peers(results, names, options.peers)
    if not options.sets:
        quality_page.write(results, real_data.real_names(), real_data.BUILT_IN)
    return 0


if __name__ == "__main__":
    sys.exit(main())

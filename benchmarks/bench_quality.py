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
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering

import manyview
from benchmarks import harness, quality_page, real_data
from benchmarks.peer_process import PeerProcess
from manyview.metrics import clustering_accuracy

HERE = Path(__file__).parent
RESULTS = HERE / "quality.json"
INPUTS = HERE.parent / "build" / "quality"  # ignored by git
SHUFFLES = 3
# Of other packages: seconds and bytes that a set may take, and seconds after which a fit is not
# repeated for the other shuffles.
LIMIT, MEMORY, REPEAT_LIMIT = 300, 8 * 2**30, 10


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
    "MGL": of_manyview("mgl"),
    "CI-GMVC": of_manyview("cigmvc"),
    "GBS": of_manyview("gbs"),
    "anchors": of_manyview("anchors"),
    "spherical": of_manyview("spherical"),
    "multi-view k-means": of_manyview("kmeans"),
    "CoTrainSC": of_manyview("cotrain"),
    "SNF, ours": of_manyview("snf"),
    "NEMO, ours": of_manyview("nemo"),
    "WNN, ours": of_manyview("wnn"),
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
    """ACC and seconds of the processor of every shuffle."""
    n_clusters = len(np.unique(target))
    found = {"acc": [], "seconds": []}
    for seed in range(SHUFFLES):
        tables, classes = real_data.shuffled(views, target, seed)
        started = time.process_time()
        labels = method(tables, n_clusters, seed)
        found["seconds"].append(round(time.process_time() - started, 3))
        found["acc"].append(round(clustering_accuracy(classes, labels), 5))
    return found


def run_here(results, wanted):
    warnings.simplefilter("ignore")  # fits that end without C components count too
    small = manyview.datasets.make_blob_views(120, 3, random_state=0)
    for method in HERE_RUN.values():  # compiles
        method(list(small.views.values()), 3, 0)
    for name in real_data.all_names():
        views, target = real_data.load(name)
        for method, function in HERE_RUN.items():
            if wanted(method, name):
                store(results, method, name, measure(function, views, target))


def run_numbers(results, names):
    """The suggested number of clusters of every shuffle."""
    warnings.simplefilter("ignore")  # that there is no structure is in the result
    for name in names:
        views, target = real_data.load(name)
        found = [
            manyview.suggest_n_clusters(
                real_data.shuffled(views, target, seed)[0], random_state=seed
            )
            for seed in range(SHUFFLES)
        ]
        results.setdefault("numbers", {})[name] = {
            "classes": len(np.unique(target)),
            "suggested": [one.n_clusters for one in found],
            "stability": round(float(np.mean([max(one.stability) for one in found])), 3),
        }
        save(results)
        print(f"{name:12s} {results['numbers'][name]}", flush=True)


def run_peers(results, wanted):
    for peer, (environment, script, packages) in PEERS.items():
        names = [name for name in real_data.by_size() if wanted(peer, name)]
        if not names:
            continue
        python = HERE.parent / environment / "bin" / "python"
        if not python.exists():
            print(f"{peer}: no {environment}; see bench-quality-peers in the Makefile")
            continue
        results["versions"][peer] = versions_in(python, packages)
        process = PeerProcess(python, HERE / "peers" / script, MEMORY)
        for name in names:
            store(results, peer, name, measure_peer(process, name))
        process.close()


def versions_in(python, packages):
    code = f"from importlib.metadata import version\nfor p in {packages}: print(p, version(p))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ", ".join(done.stdout.splitlines())


def measure_peer(process, name):
    """As `measure`, or why there is nothing: {"failed": ...}."""
    views, target = real_data.load(name)
    facts = {"n_views": len(views), "n_clusters": len(np.unique(target))}
    inputs, classes = [], []
    INPUTS.mkdir(parents=True, exist_ok=True)
    for seed in range(SHUFFLES):
        tables, true = real_data.shuffled(views, target, seed)
        arrays = {f"v{v}": table for v, table in enumerate(real_data.dense(tables))}
        inputs.append(INPUTS / f"{seed}.npz")
        classes.append(true)
        np.savez(inputs[-1], **arrays, **facts, seed=seed)
    request = {"inputs": list(map(str, inputs)), "repeat_limit": REPEAT_LIMIT}
    found = process.ask(request, LIMIT)
    if "failed" in found:
        return found
    count = len(found["seconds"])
    labels = [np.load(path.with_suffix(".labels.npy")) for path in inputs[:count]]
    pairs = zip(classes[:count], labels, strict=True)
    scores = [round(clustering_accuracy(true, given), 5) for true, given in pairs]
    return {"acc": scores, "seconds": found["seconds"]}


def store(results, method, name, found):
    results["methods"].setdefault(method, {})[name] = found
    save(results)
    said = found.get("failed") or f"{100 * np.mean(found['acc']):.1f}"
    seconds = f"{np.mean(found['seconds']):.1f} s" if "seconds" in found else ""
    print(f"{name:12s} {method:14s} {said} {seconds}", flush=True)


def save(results):
    text = json.dumps(results, indent=1)
    lists = re.sub(r"\[[^\]]*\]", lambda found: " ".join(found[0].split()), text)
    RESULTS.write_text(lists + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["here", "numbers"],
                        help="here, numbers, peers, page")  # fmt: skip
    parser.add_argument("--methods", nargs="+", default=[*HERE_RUN, *PEERS])
    parser.add_argument("--sets", nargs="+", default=real_data.all_names())
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    options = parser.parse_args()
    results = {"versions": {}, "methods": {}}
    if RESULTS.exists():
        results = json.loads(RESULTS.read_text())

    def wanted(method, name):
        known = options.missing and name in results["methods"].get(method, {})
        return method in options.methods and name in options.sets and not known

    if "here" in options.parts:
        results["versions"]["here"] = harness.machine()
        run_here(results, wanted)
    if "numbers" in options.parts:
        run_numbers(results, options.sets)
    if "peers" in options.parts:
        run_peers(results, wanted)
    quality_page.write(results, real_data.real_names(), real_data.BUILT_IN)
    return 0


if __name__ == "__main__":
    sys.exit(main())

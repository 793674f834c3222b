"""Whole fits from 50,000 to a million samples: time by stage, memory, and how both grow.

Each fit runs in its own process, after a smaller fit on other data has compiled the code. Targets
are checked, and the table and figure of docs/performance.md are written. Run it with
``make bench-scale``; about 40 minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks import harness

DOCS = Path(__file__).parent.parent / "docs"
SIZES = (50_000, 100_000, 300_000, 1_000_000)
STAGES = ("neighbors", "fusion", "eigenvectors", "labels")
GIB = 2**30


def views_of(n, n_clusters):
    from manyview.datasets import make_latent_views

    # A hundred centres on a sphere lie closer together than ten, so that sphere is a larger one.
    separation = 6.0 if n_clusters <= 10 else 8.0
    return make_latent_views(n, n_clusters, separation=separation, random_state=0)


def fit(method, n, n_clusters, search="auto"):
    """One warmed-up fit."""
    import manyview
    from manyview.metrics import clustering_accuracy

    estimator = getattr(manyview, method)
    estimator(3, neighbor_search="approximate").fit(views_of(6000, 3).views)
    data = views_of(n, n_clusters)
    before = harness.resident()
    model, seconds, growth = harness.timed(
        lambda: estimator(n_clusters, neighbor_search=search, random_state=0).fit(data.views)
    )
    return {
        "method": method,
        "n": n,
        "n_clusters": n_clusters,
        "seconds": seconds,
        "peak": before + growth,
        "stages": model.stage_seconds_,
        "rounds": model.n_iter_,
        "converged": bool(model.converged_),
        "accuracy": clustering_accuracy(data.target, model.labels_),
        "recall": [search.recall for search in model.neighbor_search_],
        "edges": int(model.unified_graph_.nnz),
        "labels": model.labels_.tolist() if n <= 20_000 else None,
    }


def recall(n):
    """Share of the true 16 nearest that the default search finds for 2,000 samples of a view."""
    import faiss

    from manyview.graphs._knn import nearest
    from manyview.inputs._scaling import normalize_rows

    result = {}
    for name, view in views_of(n, 10).views.items():
        rows = normalize_rows(view, "zscore")
        near = nearest(rows, 16, "auto")
        some = np.random.default_rng(1).choice(n, 2000, replace=False)
        data = rows.data.astype(np.float32)
        true = faiss.knn(data[some], data, 17)[1]
        shared = [
            len(set(true[t]) - {i} & set(near.indices[i])) for t, i in enumerate(some.tolist())
        ]
        result[name] = float(np.mean(shared) / 16)
    return result


JOBS = {"fit": fit, "recall": recall}


class Measured:
    """Measurements by job and settings, kept in a file if one is named: an interrupted run is then
    resumed from it."""

    def __init__(self):
        self.path, self.found = None, {}

    def keep_in(self, path):
        self.path = path
        if path.exists():
            self.found = json.loads(path.read_text())

    def get(self, job, **settings):
        key = json.dumps([job, settings, os.environ.get("NUMBA_NUM_THREADS")])
        if key not in self.found:
            self.found[key] = harness.in_a_process(__file__, job, **settings)
            if self.path:
                self.path.write_text(json.dumps(self.found))
        return self.found[key]


MEASURED = Measured()


def run(job, **settings):
    found = MEASURED.get(job, **settings)
    print(f"{job} {settings}: ", end="")
    if job == "fit":
        print(f"{found['seconds']:.1f} s, {found['peak'] / GIB:.2f} GiB", flush=True)
    else:
        print(found, flush=True)
    return found


def checks(results):
    """Measurement and target as text, and whether the target is met."""
    from manyview.metrics import adjusted_rand

    for fit in results["fits"]:
        who = f"{fit['method']}, N = {fit['n']:,}, C = {fit['n_clusters']}"
        ratio, limit = (
            fit["seconds"] / fit["stages"]["neighbors"],
            3 if fit["n_clusters"] == 10 else 6,
        )
        if fit["n"] >= 100_000:
            text = f"{who}: whole fit {ratio:.2f} times the graphs' time; target: at most {limit}"
            yield text, ratio <= limit
        if fit["n"] == 1_000_000:
            yield (
                f"{who}: {fit['peak'] / GIB:.1f} GiB and {fit['seconds'] / 60:.1f} minutes; "
                "target: at most 12 GiB and 20 minutes",
                fit["peak"] <= 12 * GIB and fit["seconds"] <= 1200,
            )
        if fit["n_clusters"] == 10:
            found = fit["accuracy"]
            yield f"{who}: ACC {found:.3f}; target: 0.8 to 0.98", 0.8 <= found <= 0.98
    for method, (time, memory) in growth(results).items():
        yield f"{method}: time grows with N^{time:.2f}; target: at most N^1.25", time <= 1.25
        yield f"{method}: memory grows with N^{memory:.2f}; target: at most N", memory <= 1
    lowest = min(min(found.values()) for found in results["recall"].values())
    text = f"lowest recall of the neighbour search {lowest:.3f}; target: at least 0.98"
    yield text, lowest >= 0.98
    for method, (exact, found) in results["agreement"].items():
        ari = adjusted_rand(exact, found)
        yield (
            f"{method}, N = 20,000: ARI of the labels with exact and with approximate neighbours "
            f"{ari:.3f}; target: at least 0.98",
            ari >= 0.98,
        )
    same = results["threads"]
    yield "same labels with 1 and 2 threads", same


def growth(results):
    """Exponents of time and memory between the smallest and the largest size of each method."""
    found = {}
    for method in dict.fromkeys(fit["method"] for fit in results["fits"]):
        own = [f for f in results["fits"] if f["method"] == method and f["n_clusters"] == 10]
        if len(own) > 1:
            small, large = min(own, key=lambda f: f["n"]), max(own, key=lambda f: f["n"])
            size = np.log(large["n"] / small["n"])
            found[method] = tuple(
                float(np.log(large[key] / small[key]) / size) for key in ("seconds", "peak")
            )
    return found


def measure(sizes):
    fits = [run("fit", method="CIGMVC", n=n, n_clusters=10) for n in sizes]
    ends = {sizes[0], 100_000, sizes[-1]} & set(sizes)
    fits += [run("fit", method="GBS", n=n, n_clusters=10) for n in sorted(ends)]
    if 100_000 in sizes:
        fits += [run("fit", method="CIGMVC", n=100_000, n_clusters=100)]
    agreement = {
        method: [
            run("fit", method=method, n=20_000, n_clusters=10, search=how)["labels"]
            for how in ("exact", "approximate")
        ]
        for method in ("CIGMVC", "GBS")
    }
    return {
        "machine": harness.machine(),
        "fits": fits,
        "recall": {str(n): run("recall", n=n) for n in (50_000, 200_000)},
        "agreement": agreement,
        "threads": same_for_threads(),
    }


def same_for_threads():
    """Whether one thread and two give the same labels."""
    found = []
    for threads in ("1", "2"):
        for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ[name] = threads
        found.append(
            run("fit", method="CIGMVC", n=20_000, n_clusters=10, search="approximate")["labels"]
        )
    return found[0] == found[1]


def fit_rows(results):
    for fit in results["fits"]:
        stages = fit["stages"]
        yield [
            fit["method"], f"{fit['n']:,}", fit["n_clusters"], fit["rounds"],
            *(f"{stages.get(stage, 0.0):.1f}" for stage in STAGES),
            f"{fit['seconds']:.1f}", f"{fit['seconds'] / stages['neighbors']:.2f}",
            f"{fit['peak'] / GIB:.2f}", f"{fit['accuracy']:.3f}",
        ]  # fmt: skip


def page(results):
    head = ["method", "N", "C", "rounds", "graphs s", "fusion s", "eigenvectors s", "labels s",
            "whole fit s", "whole fit / graphs", "peak GiB", "ACC"]  # fmt: skip
    lines = [
        f"{results['machine']}:",
        "",
        harness.table(head, fit_rows(results)),
        "",
    ]
    lines += [f"- {'met' if met else '**missed**'}: {text}" for text, met in checks(results)]
    return "\n".join(lines) + "\n"


def plot(results, path):
    import matplotlib.pyplot as plt

    fits = [f for f in results["fits"] if f["method"] == "CIGMVC" and f["n_clusters"] == 10]
    sizes = np.array([f["n"] for f in fits])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    names = ("graphs", "fusion", "eigenvectors")
    for stage, name, marker in zip(STAGES[:3], names, "osv", strict=True):
        left.loglog(sizes, [f["stages"][stage] for f in fits], marker=marker, label=name)
    total = np.array([f["seconds"] for f in fits])
    left.loglog(sizes, total, color="black", marker="D", label="whole fit")
    left.loglog(sizes, total[0] * sizes / sizes[0], color="grey", ls=":", label="linear")
    left.loglog(sizes, total[0] * (sizes / sizes[0]) ** 2, color="grey", ls="--", label="quadratic")
    left.set_ylim(top=4 * total[-1])
    left.set(xlabel="samples", ylabel="seconds", title="Time")
    left.legend()
    peak = np.array([f["peak"] for f in fits]) / GIB
    right.loglog(sizes, peak, color="black", marker="D", label="peak resident memory")
    right.loglog(sizes, peak[0] * sizes / sizes[0], color="grey", ls=":", label="linear")
    right.set(xlabel="samples", ylabel="GiB", title="Memory")
    right.legend()
    figure.savefig(path, dpi=110)


def main():
    harness.answer_if_asked(JOBS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--keep", type=Path, help="read results from this file, or write them there"
    )
    parser.add_argument("--no-docs", action="store_true", help="print, and leave docs/ alone")
    options = parser.parse_args()
    if options.keep:
        MEASURED.keep_in(options.keep)
    results = measure(sorted(options.sizes))
    print(page(results))
    if not options.no_docs:
        harness.write_block(DOCS / "performance.md", "scale", page(results))
        plot(results, DOCS / "images" / "scale.png")
    return 0 if all(met for _, met in checks(results)) else 1


if __name__ == "__main__":
    sys.exit(main())

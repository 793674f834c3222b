"""Memory estimates of fits against their measured peaks.

Each fit has its own process. It first warms up on small data, because estimates do not include
compiled code, and returns the memory freed by that to the system. ``make bench-memory`` writes the
table into docs/; `--quick` leaves out the largest fits.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "measured-memory.md"
MEGA = 1e6
#: Smaller peaks are mostly slack of the allocator.
LEAST = 100 * MEGA
WITHIN = (0.7, 1.3)


def dense_views(n, widths, n_clusters, shared):
    from manyview.datasets import make_latent_views

    separation = 6.0 if n_clusters <= 10 else 8.0
    made = make_latent_views(n, n_clusters, widths=widths, separation=separation, random_state=0)
    views = list(made.views.values())
    if shared:  # views with mostly the same neighbours
        rng = np.random.default_rng(1)
        views = [views[0] + shared * rng.standard_normal(views[0].shape) for _ in widths]
    return views


def sparse_views(n, widths, n_clusters, stored):
    """Word counts; each cluster has its own distribution of words."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    target = rng.integers(n_clusters, size=n)
    views = []
    for width in widths:
        often = rng.random((n_clusters, width)) ** 6
        often /= often.sum(axis=1, keepdims=True)
        words = np.empty((n, stored), dtype=np.int32)
        for c in range(n_clusters):
            own = np.flatnonzero(target == c)
            words[own] = rng.choice(width, (len(own), stored), p=often[c])
        counts = csr_array(
            (rng.random(n * stored) + 0.5, words.ravel(), np.arange(0, n * stored + 1, stored)),
            shape=(n, width),
        )
        counts.sum_duplicates()
        views.append(counts)
    return views


def views_of(n, widths, n_clusters, stored=0, shared=0.0):
    if stored:
        return sparse_views(n, widths, n_clusters, stored)
    return dense_views(n, widths, n_clusters, shared)


# Of `estimator_of`, among the settings of a case.
ARGUMENTS = ("method", "n_clusters", "parameters")


def estimator_of(method, n_clusters, parameters):
    import manyview

    return getattr(manyview, method)(**{"n_clusters": n_clusters, "random_state": 0} | parameters)


def fit(method, n, widths, n_clusters, parameters, stored=0, shared=0.0, graphs=False):
    """One fit: its size, how much memory it took, and its seconds."""
    import manyview
    from manyview.inputs import views_from_tables

    warnings.simplefilter("ignore")  # few rounds, close clusters: irrelevant here
    estimator = estimator_of(method, n_clusters, parameters)
    has_search = "neighbor_search" in estimator.get_params()
    for small in (300, 6000) if has_search else (300,):
        some = views_of(small, [12] * len(widths), 3, min(stored, 6))
        search = {"neighbor_search": "exact" if small == 300 else "approximate"}
        warm = type(estimator)(3, random_state=0, **(search if has_search else {}))
        warm.fit(some)
    views = views_of(n, widths, n_clusters, stored, shared)
    if graphs:  # precomputed
        near = manyview.SpectralAverage(n_clusters, random_state=0).fit(views)
        views = near.view_graphs_
        del near
    size = estimator._fit_size(views_from_tables(views))
    ctypes.CDLL(None).malloc_trim(0)
    with manyview.memory_limit(None):
        _, seconds, growth = harness.timed(lambda: estimator.fit(views))
    return {"size": asdict(size), "measured": growth, "seconds": seconds}


def estimate_of(settings, size):
    from manyview.graphs import FitSize, ViewSize

    size = {**size, "views": tuple(ViewSize(**view) for view in size["views"])}
    size["edges"] = None if size["edges"] is None else tuple(size["edges"])
    return estimator_of(*(settings[name] for name in ARGUMENTS))._memory(FitSize(**size))


def case(method, n, widths, n_clusters, k=None, search=None, **more):
    parameters = dict(more.pop("parameters", {}))
    if k is not None:
        parameters["n_neighbors"] = k
    if search is not None:
        parameters["neighbor_search"] = search
    return {"method": method, "n": n, "widths": widths, "n_clusters": n_clusters,
            "parameters": parameters, **more}  # fmt: skip


FEW = {"max_iter": 3}
CASES = [
    case("ConsensusGraph", 50_000, [32, 48, 64], 10),
    case("ConsensusGraph", 20_000, [300, 200], 10, search="exact"),
    case("ConsensusGraph", 60_000, [10, 20], 30),
    case("ConsensusGraph", 20_000, [2_000, 2_000], 5, stored=60),
    case("CIGMVC", 2_000, [10, 10], 5, 15),
    case("CIGMVC", 20_000, [32, 48, 64], 10, 15, "exact", parameters=FEW),
    case("CIGMVC", 30_000, [10, 20, 30, 40], 20, 30, parameters=FEW),
    case("CIGMVC", 60_000, [32], 5, 10, parameters=FEW),
    case("CIGMVC", 10_000, [2_000, 500], 5, 5, "exact", parameters=FEW),
    case("CIGMVC", 15_000, [1_000, 10], 3, 10, "approximate", parameters=FEW),
    case("CIGMVC", 30_000, [100, 100], 100, 15, parameters=FEW),
    case("CIGMVC", 20_000, [2_000, 2_000], 5, 15, stored=60, parameters=FEW),
    case("CIGMVC", 50_000, [32, 48, 64], 10, parameters={"n_clusters": "auto", **FEW}),
    case("CIGMVC", 40_000, [20, 20, 20], 10, 15, shared=0.02, parameters=FEW),
    case("CIGMVC", 30_000, [20, 20], 10, graphs=True, parameters={"graph": "precomputed", **FEW}),
    case("GBS", 50_000, [32, 48], 50, 10, parameters=FEW),
    case("GBS", 12_000, [2_000], 2, 5, "approximate", parameters=FEW),
    case("GBS", 20_000, [500], 10, 15, "exact", parameters=FEW),
    case("GBS", 3_000, [20], 5, "all", parameters={"graph": "heat", **FEW}),
    case("AngularCIGMVC", 60_000, [20, 20], 30, 11, parameters=FEW),
    case("AngularCIGMVC", 20_000, [300, 200], 10, 11, "exact", parameters=FEW),
    case("SpectralAverage", 60_000, [10, 20], 20, 15),
    case("SpectralAverage", 15_000, [2_000, 2_000], 5, 10, stored=150),
    case("SpectralAverage", 3_000, [20, 20], 5, "all", parameters={"graph": "heat"}),
    case("SpectralConcat", 20_000, [300, 200], 10, 15, "approximate"),
    case("SpectralConcat", 15_000, [400, 100], 10, 15, "exact"),
    case("SpectralConcat", 15_000, [2_000, 2_000], 5, 10, stored=60),
    case("SpectralView", 10_000, [800, 10], 10, 15, "exact"),
    case("MGL", 30_000, [20, 20, 20], 10, 15, parameters=FEW),
    case("MGL", 40_000, [20], 50, 15, parameters=FEW),
    case("MCGL", 12_000, [20, 20, 20], 10, 15, parameters={"max_iter": 2}),
    case("MCGL", 15_000, [20, 20], 10, 20, parameters={"max_iter": 2}),
    case("SNF", 2_000, [20, 20, 20], 10),
    case("SNF", 20_000, [32, 48, 64], 10),
    case("NEMO", 2_000, [20, 20, 20], 10),
    case("NEMO", 40_000, [32, 48, 64], 10),
    case("WNN", 20_000, [32, 48, 64], 10),
    case("WNN", 10_000, [2_000, 2_000], 5, stored=60),
    case("AnchorGraph", 60_000, [32, 48, 64], 10),
    case("AnchorGraph", 20_000, [2_000, 500], 5, stored=60),
    case("MultiViewKMeans", 100_000, [32, 48, 64], 10),
    case("MultiViewKMeans", 20_000, [500, 300], 20),
    case("MultiViewSphericalKMeans", 100_000, [2_000, 2_000], 5, stored=60),
    case("CoTrainSC", 2_000, [10, 10, 10], 5, parameters={"max_iter": 1}),
    case("CoregSC", 1_800, [10, 10, 10], 5, parameters={"max_iter": 1}),
    case("CoregSC", 2_500, [10], 20, parameters={"max_iter": 1}),
    case("CoregSC", 2_200, [50, 50], 5, parameters={"max_iter": 1, "scheme": "centroid"}),
    case("CoregSC", 1_500, [12_000, 3_000], 5, parameters={"max_iter": 1}),
    case("MSC", 1_200, [10, 10], 5, parameters={"max_iter": 16}),
    case("MSC", 1_000, [10, 10, 10, 10], 5, parameters={"max_iter": 16}),
]
LARGE = [
    case("CIGMVC", 300_000, [10, 10], 10, 15),
    case("GBS", 200_000, [64, 32, 16], 10, 10),
    case("AngularCIGMVC", 150_000, [32, 48, 64], 10),
    case("SpectralAverage", 200_000, [32, 32], 20),
    case("MGL", 100_000, [20, 20], 10, 15, parameters=FEW),
]


def words(settings):
    """Method and options of a case, for the table."""
    parameters = dict(settings["parameters"])
    shown = [settings["method"]]
    if parameters.get("neighbor_search"):
        shown.append(parameters["neighbor_search"])
    shown += ["sparse"] if settings.get("stored") else []
    shown += ["same neighbours"] if settings.get("shared") else []
    shown += ["precomputed"] if settings.get("graphs") else []
    return ", ".join(shown)


def row(settings, found, estimate):
    parameters = settings["parameters"]
    widths = " + ".join(f"{width:,}" for width in settings["widths"])
    return [
        words(settings), f"{settings['n']:,}", widths,
        parameters.get("n_clusters", settings["n_clusters"]),
        estimator_of(*(settings[name] for name in ARGUMENTS)).get_params().get("n_neighbors", ""),
        estimate.stage, f"{estimate.peak / MEGA:,.0f}", f"{found['measured'] / MEGA:,.0f}",
        f"{estimate.peak / found['measured']:.2f}", f"{found['seconds']:.0f}",
    ]  # fmt: skip


def is_met(settings, found, estimate):
    """Whether the estimate is near the peak; an upper bound if views have edges in common."""
    ratio = estimate.peak / found["measured"]
    most = np.inf if settings.get("shared") else WITHIN[1]
    return estimate.peak < LEAST or WITHIN[0] <= ratio <= most


def page(results):
    head = ["fit", "N", "features", "C", "k", "largest stage", "estimate MB", "measured MB",
            "ratio", "s"]  # fmt: skip
    ratios = [
        estimate.peak / found["measured"]
        for settings, found, estimate in results
        if estimate.peak >= LEAST and not settings.get("shared")
    ]
    return "\n".join(
        [
            f"{harness.machine()}:",
            "",
            harness.table(head, [row(*result) for result in results]),
            "",
            f"{len(ratios)} of the {len(results)} fits are estimated at {LEAST / MEGA:.0f} MB or "
            "more and have views with different neighbours. Their estimates are "
            f"{min(ratios):.2f} to {max(ratios):.2f} times the measured peak; target: "
            f"{WITHIN[0]} to {WITHIN[1]}.",
        ]
    )


def main():
    harness.answer_if_asked({"fit": fit})
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the largest")
    parser.add_argument("--only", help="methods to measure, by name")
    parser.add_argument("--keep", type=Path, help="file of measurements, to resume from")
    options = parser.parse_args()
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    results = []
    for settings in CASES + ([] if options.quick else LARGE):
        if options.only and settings["method"] not in options.only.split(","):
            continue
        key = json.dumps(settings)
        if key not in kept:
            kept[key] = harness.in_a_process(__file__, "fit", **settings)
            if options.keep:
                options.keep.write_text(json.dumps(kept))
        found = kept[key]
        results.append((settings, found, estimate_of(settings, found["size"])))
        print(*row(*results[-1]), "" if is_met(*results[-1]) else "MISSED", sep="; ", flush=True)
    print(page(results))
    if not (options.quick or options.only):
        harness.write_block(PAGE, "memory", page(results))
    return 0 if all(is_met(*result) for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

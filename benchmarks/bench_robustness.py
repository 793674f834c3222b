"""Accuracy: variants of the angular method, and all methods on disturbed data.

Writes the tables of docs/angular.md and the table and figures of docs/robustness.md. Run it with
``make robustness``; about 15 minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import manyview
from benchmarks import harness
from manyview import datasets
from manyview.methods import angular
from manyview.methods._fusion_results import fusion_results
from manyview.methods.cigmvc import Rules, learn_unified_graph
from manyview.metrics import clustering_accuracy

DOCS = Path(__file__).parent.parent / "docs"
DATA = DOCS.parent / "data"
PAPER = ("BBC", "NGs", "WebKB", "100leaves")


def uneven():
    """Six clusters of 500 to 15 samples."""
    data = datasets.make_latent_views(3000, 6, separation=5.0, random_state=1)
    sizes = (500, 250, 120, 60, 30, 15)
    keep = np.concatenate([np.flatnonzero(data.target == c)[:s] for c, s in enumerate(sizes)])
    return {name: view[keep] for name, view in data.views.items()}, data.target[keep]


def all_data():
    """Name -> views and target; samples are shuffled, as some data sets are sorted by class."""
    found = {name: datasets.fetch(name, DATA) for name in PAPER}
    found |= {
        "digits": datasets.load_digits_views(),
        "cancer": datasets.load_breast_cancer_views(),
        "conflict": datasets.make_conflict_views(800, 6, separation=4.5, random_state=0),
        "latent": datasets.make_latent_views(2000, 8, separation=4.5, stray=0.25, random_state=0),
        "moons": datasets.make_moon_views(600, noise=0.12, random_state=0),
    }
    pairs = {name: (data.views, data.target) for name, data in found.items()}
    pairs["uneven"] = uneven()
    shuffled = {}
    for name, (views, target) in pairs.items():
        order = np.random.default_rng(0).permutation(len(target))
        shuffled[name] = ({v: view[order] for v, view in views.items()}, target[order])
    return shuffled


def accuracy(model, views, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that end without C components count too
        return clustering_accuracy(target, model.fit_predict(views))


# --- Variants of the angular method -------------------------------------------------------------


class AngularGBS(manyview.GBS):
    """The angular loop without splitting the graphs."""

    _auto_neighbors = 11

    def _learn(self, stack, run):
        rules = angular.AngularRules(None, self.updates, self.lambda_init, self.max_iter, self.tol)
        fusion = learn_unified_graph(stack, self.n_clusters_, rules, run)
        return fusion_results(stack, fusion, self.n_clusters_, run, splits=False)


@contextmanager
def instead(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def partly_scaled(power):
    """Rows divided by a power of their length; the norm of the embedding is kept."""

    def rows(embedding):
        lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
        scaled = embedding / np.where(lengths > 0, lengths, 1.0) ** power
        return scaled * np.sqrt(len(scaled)) / np.linalg.norm(scaled)

    return instead(angular, "unit_rows", rows)


def over_all_views():
    return instead(angular.AngularRules, "row_factor", Rules.row_factor)


def variants():
    """Name, context in which code is replaced, and function that makes the estimator."""

    def made(method=manyview.AngularCIGMVC, **options):
        return lambda n_clusters: method(n_clusters, random_state=0, **options)

    yield "CI-GMVC as published (k = 15)", nullcontext, made(manyview.CIGMVC)
    yield (
        "CI-GMVC, exact updates, k = 11, lambda 0.5",
        nullcontext,
        made(manyview.CIGMVC, updates="exact", n_neighbors=11, lambda_init=0.5),
    )
    yield "average graph, k = 15", nullcontext, made(manyview.SpectralAverage)
    yield "average graph, k = 11", nullcontext, made(manyview.SpectralAverage, n_neighbors=11)
    yield "**angular, defaults**", nullcontext, made()
    yield "published updates", nullcontext, made(updates="published")
    yield (
        "published updates, k = 15, lambda 1",
        nullcontext,
        made(updates="published", n_neighbors=15, lambda_init=1.0),
    )
    yield "mean over all views, also those without edges", over_all_views, made()
    yield "graphs not split", nullcontext, made(AngularGBS, updates="exact", lambda_init=0.5)
    yield "rows scaled by the square root of their length", lambda: partly_scaled(0.5), made()
    yield "rows scaled by length^0.8", lambda: partly_scaled(0.8), made()
    yield "gamma 0.02", nullcontext, made(gamma=0.02, beta=0.02)
    yield "binary weights", nullcontext, made(graph="binary")
    yield "heat weights", nullcontext, made(graph="heat")
    for k in (7, 9, 10, 12, 13, 15, 20):
        yield f"k = {k}", nullcontext, made(n_neighbors=k)
    for start in (0.1, 0.25, 1.0, 2.0, 4.0):
        yield f"lambda from {start:g}", nullcontext, made(lambda_init=start)


def angular_table(data):
    names = list(data)
    paper = [name for name in names if name in PAPER]
    head = ["variant", *names, *(["mean of the paper's four"] if paper else []), "mean of all"]
    rows = []
    for name, replaced, make in variants():
        with replaced():
            found = {d: accuracy(make(len(set(y))), v, y) for d, (v, y) in data.items()}
        means = [np.mean([found[d] for d in paper])] if paper else []
        figures = [*found.values(), *means, np.mean(list(found.values()))]
        rows.append([name, *(f"{100 * figure:.1f}" for figure in figures)])
        print(*rows[-1], sep="  ", flush=True)
    return harness.table(head, rows)


# --- All methods on disturbed data --------------------------------------------------------------

METHODS: dict[str, Callable] = {
    "consensus": manyview.ConsensusGraph,
    "angular CI-GMVC": manyview.AngularCIGMVC,
    "CI-GMVC": manyview.CIGMVC,
    "GBS": manyview.GBS,
    "average graph": manyview.SpectralAverage,
    "MGL": manyview.MGL,
    "MCGL": manyview.MCGL,
    "MSC": manyview.MSC,
    "CoregSC": manyview.CoregSC,
}
WITHOUT_GRAPHS = ("MSC", "CoregSC")


def few_digits(rng):
    data = datasets.load_digits_views()
    some = rng.permutation(data.n_samples)[:400]
    return {name: view[some] for name, view in data.views.items()}, data.target[some]


def latent(rng):
    seed = int(rng.integers(2**31))
    data = datasets.make_latent_views(400, 6, separation=4.5, random_state=seed)
    return data.views, data.target


def same(views, rng, level):
    return views


def corrupted(views, rng, share):
    """Permute the rows of some samples in the first view."""
    first = next(iter(views))
    table = views[first].copy()
    some = rng.permutation(len(table))[: round(share * len(table))]
    table[some] = table[rng.permutation(some)]
    return {**views, first: table}


def with_noise(views, rng, count):
    n = len(next(iter(views.values())))
    return {**views, **{f"noise{c}": rng.standard_normal((n, 64)) for c in range(count)}}


SWEEPS = {
    "neighbours": ("number of neighbours", (5, 8, 11, 15, 20, 30), same),
    "corrupted": (
        "share of corrupted samples in the first view",
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
        corrupted,
    ),
    "noise": ("number of noise views added", (0, 1, 2, 3), with_noise),
}
SEEDS = 2


def sweep(what, make_data):
    """Method -> mean ACC at each level."""
    _, levels, change = SWEEPS[what]
    found = {name: np.zeros(len(levels)) for name in METHODS}
    for place, level in enumerate(levels):
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            views, target = make_data(rng)
            views = change(views, rng, level)
            for name, method in METHODS.items():
                options = {}
                if what == "neighbours" and name not in WITHOUT_GRAPHS:
                    options["n_neighbors"] = level
                model = method(len(set(target)), random_state=0, **options)
                found[name][place] += accuracy(model, views, target) / SEEDS
        print(what, level, {m: round(float(a[place]), 3) for m, a in found.items()}, flush=True)
    return found


def robustness():
    import matplotlib.pyplot as plt

    text = []
    data = {"digits": few_digits, "latent": latent}
    figure, axes = plt.subplots(
        len(data), len(SWEEPS), figsize=(13, 7), sharey="row", layout="constrained"
    )
    for row, (name, make_data) in zip(axes, data.items(), strict=True):
        for ax, (what, (label, levels, _)) in zip(row, SWEEPS.items(), strict=True):
            found = sweep(what, make_data)
            for number, (method, values) in enumerate(found.items()):
                wide = number == 0
                ax.plot(levels, values, marker="o", ms=3, lw=2.5 if wide else 1.2, label=method,
                        color=f"C{number}", zorder=3 if wide else 2)  # fmt: skip
            ax.set(xlabel=label, title=name)
            rows = [
                [method, *(f"{100 * value:.1f}" for value in values)]
                for method, values in found.items()
            ]
            head = [label, *(f"{level:g}" for level in levels)]
            text += [f"**{name}, {label}**", "", harness.table(head, rows), ""]
        row[0].set_ylabel("ACC")
    axes[0, -1].legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(DOCS / "images" / "robustness.png", dpi=100)
    return "\n".join(text)


def conflicts():
    """AUC with which disagreement scores find the samples that follow another cluster in a view."""
    rows = []
    for method in (manyview.ConsensusGraph, manyview.AngularCIGMVC, manyview.CIGMVC):
        found = []
        for seed in range(10):
            data = datasets.make_conflict_views(random_state=seed)
            model = method(4, random_state=0).fit(data.views)
            found.append(roc_auc_score(data.conflicts[:, 0], model.sample_disagreement_[:, 0]))
        rows.append([method.__name__, f"{np.mean(found):.3f}", f"{min(found):.3f}"])
    return harness.table(["method", "mean AUC", "lowest of 10"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["angular", "robustness", "answers"])
    parts = parser.parse_args().parts
    data = all_data()
    where = f"{harness.machine()}:"
    if "angular" in parts:
        harness.write_block(DOCS / "angular.md", "angular", f"{where}\n\n{angular_table(data)}")
    if "answers" in parts:
        harness.write_block(DOCS / "robustness.md", "conflicts", conflicts())
    if "robustness" in parts:
        harness.write_block(DOCS / "robustness.md", "robustness", f"{where}\n\n{robustness()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

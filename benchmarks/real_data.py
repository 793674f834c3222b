"""Real data in several views, for bench_quality: views as their source has them, samples shuffled.

Four sets are in data/. Sixteen more are NPZ files in ../shared/real, which are no part of the
project; without that folder they are left out. Three come with scikit-learn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_wine

from manyview import datasets

ROOT = Path(__file__).parent.parent
REAL = ROOT.parent / "shared" / "real"
PAPER = ("BBC", "NGs", "WebKB", "100leaves")
BUILT_IN = ("digits", "wine", "cancer")


def real_names():
    """The sets that means and goals are about."""
    return [*PAPER, *sorted(path.stem for path in REAL.glob("*.npz"))]


def all_names():
    return [*real_names(), *BUILT_IN]


def by_size():
    """All names, sets with few samples first."""
    return sorted(all_names(), key=lambda name: len(load(name)[1]))


def load(name):
    """Views and classes of a set."""
    if name in PAPER:
        data = datasets.fetch(name, ROOT / "data")
    elif name == "digits":
        data = datasets.load_digits_views()
    elif name == "wine":
        wine = load_wine()
        return [wine.data[:, :7], wine.data[:, 7:]], wine.target
    elif name == "cancer":
        cancer = load_breast_cancer()  # in its own units
        return np.split(cancer.data, 3, axis=1), cancer.target
    else:
        return _from_npz(REAL / f"{name}.npz")
    return list(data.views.values()), data.target


def _from_npz(path):
    with np.load(path) as file:
        stored = dict(file)
    views = []
    while (key := f"v{len(views)}") in stored or f"{key}_data" in stored:
        if key in stored:
            views.append(np.asarray(stored[key], float))
        else:
            parts = tuple(stored[f"{key}_{part}"] for part in ("data", "indices", "indptr"))
            views.append(csr_array(parts, shape=tuple(stored[f"{key}_shape"])).astype(float))
    return views, stored["y"]


def shuffled(views, target, seed):
    order = np.random.default_rng(seed).permutation(len(target))
    return [view[order] for view in views], target[order]


def dense(views):
    """For packages that take no sparse tables. Constant columns, which z-scores turn into 0 / 0,
    are left out."""
    tables = [view if isinstance(view, np.ndarray) else view.toarray() for view in views]
    return [table[:, np.ptp(table, axis=0) > 0] for table in tables]


def standardised(views):
    """All columns side by side, each with mean 0 and variance 1."""
    columns = np.hstack(dense(views))
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)

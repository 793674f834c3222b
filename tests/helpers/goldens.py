"""The paper's data sets, and outputs of the published programs to compare with."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_array

TESTS = Path(__file__).parent.parent
DATA = TESTS.parent / "data"
GOLDEN = TESTS / "data" / "golden"


class Golden:
    """A golden file: plain arrays by name, and matrices stored as CSR triples."""

    def __init__(self, path, n=None):
        self._file = np.load(path)
        self._n = len(self._file["y"]) if n is None else n

    def __getitem__(self, name):
        return self._file[name]

    def matrix(self, name):
        parts = (self._file[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        return csr_array(tuple(parts), shape=(self._n, self._n))


def synthetic(name):
    return Golden(GOLDEN / f"{name}.npz")


class PaperData:
    """One of the paper's data sets with its goldens."""

    def __init__(self, name):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="(?s).*spmatrix")
            table = loadmat(DATA / f"{name}.mat")
        labels = table["truelabel"].ravel()[0].ravel()
        self.name = name
        self.views = [matrix.T for matrix in table["data"].ravel()]
        self.target = np.unique(labels, return_inverse=True)[1]
        self.n_clusters = len(set(self.target))
        self.n_samples = len(self.target)

    def golden(self, method):
        return Golden(GOLDEN / f"{self.name}_{method}.npz", self.n_samples)

    def golden_graphs(self):
        golden = self.golden("sig")
        return [golden.matrix(f"S{v}") for v in range(len(self.views))]

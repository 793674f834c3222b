"""Data sets with the outputs of the published programs of the compared methods."""

from tests.helpers.goldens import synthetic

SYNTHETIC = ["blobs", "conflict"]


def projector(basis):
    return basis @ basis.T


class Case:
    """One data set with the goldens of the compared methods."""

    def __init__(self, name, paper_data):
        if name in SYNTHETIC:
            self._golden, self._data = synthetic(name), None
            self.views = [self._golden[f"X{v}"] for v in range(int(self._golden["n_views"]))]
            self.n_clusters = int(self._golden["n_clusters"])
            self.graphs = [self._golden.matrix(f"S{v}") for v in range(len(self.views))]
        else:
            self._data = paper_data(name)
            self.views, self.n_clusters = self._data.views, self._data.n_clusters
            self.graphs = self._data.golden_graphs()

    def golden(self, method):
        if self._data is None:
            return lambda name: self._golden[f"{method}_{name}"]
        return self._data.golden(method).__getitem__

    def matrix(self, method, name):
        if self._data is None:
            return self._golden.matrix(f"{method}_{name}")
        return self._data.golden(method).matrix(name)

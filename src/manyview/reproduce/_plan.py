"""Data sets, methods and experiments of the evaluation, and the figures of the paper."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from manyview.datasets import (
    MultiViewData,
    fetch,
    load_breast_cancer_views,
    load_digits_views,
    make_blob_views,
    make_conflict_views,
    make_moon_views,
)
from manyview.methods import REGISTRY

PAPER_DATA = ("BBC", "NGs", "WebKB", "100leaves")
ORDERS = ("stored", "shuffled")

#: Data sets that need no file and no network.
BUILTIN: dict[str, Callable[[], MultiViewData]] = {
    "digits": load_digits_views,
    "breast_cancer": load_breast_cancer_views,
    "blobs": lambda: make_blob_views(random_state=0),
    "conflict": lambda: make_conflict_views(random_state=0),
    "moons": lambda: make_moon_views(random_state=0),
}

#: The rows of the tables.
METHODS = {method.title: method for method in REGISTRY}

#: Table 2 of the paper, ACC in percent.
PAPER_ACC = {
    "CoregSC": (47.01, 27.68, 59.70, 77.06),
    "MSC": (62.32, 31.12, 47.34, 73.79),
    "MGL": (53.96, 82.18, 73.84, 69.04),
    "MCGL": (35.33, 24.60, 54.19, 81.06),
    "GBS": (69.34, 98.20, 74.38, 82.44),
    "CI-GMVC": (70.36, 98.40, 77.34, 82.44),
}
#: Table 3 of the paper, NMI in percent; rows differ in the mean they use.
PAPER_NMI = {
    "CoregSC": (28.63, 8.80, 31.39, 91.65),
    "MSC": (55.31, 9.72, 22.37, 90.14),
    "MGL": (36.97, 83.04, 43.62, 87.53),
    "MCGL": (7.41, 10.72, 8.60, 91.30),
    "GBS": (56.27, 93.92, 37.83, 93.43),
    "CI-GMVC": (58.59, 94.61, 47.01, 93.52),
}


def paper_figure(table: Mapping[str, tuple[float, ...]], method: str, data: str) -> float | None:
    """The paper's figure in percent; None if it has none."""
    if method not in table or data not in PAPER_DATA:
        return None
    return table[method][PAPER_DATA.index(data)]


@dataclass(frozen=True)
class Experiment:
    """A method on a data set, with its samples in one order; `view` is set for single views."""

    data: str
    method: str
    order: str
    view: int | None = None

    @property
    def row(self) -> str:
        return self.method if self.view is None else f"view {self.view}"

    @property
    def title(self) -> str:
        return f"{self.data}, {self.row}, {self.order}"

    @property
    def file(self) -> str:
        return f"{self.data}--{self.row}--{self.order}.json".replace(" ", "_")


def load(name: str, data_home: str | None) -> MultiViewData:
    return BUILTIN[name]() if name in BUILTIN else fetch(name, data_home)


def plan(
    datasets: dict[str, MultiViewData], names: Sequence[str], orders: Sequence[str] = ORDERS
) -> list[Experiment]:
    """All experiments, with one per view for the method "single views"."""
    experiments = []
    for data, loaded in datasets.items():
        for method in names:
            views = range(len(loaded.views)) if method == "single views" else [None]
            experiments += [Experiment(data, method, o, view) for view in views for o in orders]
    return experiments

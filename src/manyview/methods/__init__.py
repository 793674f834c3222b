"""The clustering methods, one per file, and the registry that the other packages read.

Estimators are imported on first use: the registry alone must be cheap for the command line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyview.methods._base import plain_params as plain_params
    from manyview.methods._history import Round as Round
    from manyview.methods.anchor_graph import AnchorGraph as AnchorGraph
    from manyview.methods.angular import AngularCIGMVC as AngularCIGMVC
    from manyview.methods.cigmvc import CIGMVC as CIGMVC
    from manyview.methods.consensus import ConsensusGraph as ConsensusGraph
    from manyview.methods.coregsc import CoregSC as CoregSC
    from manyview.methods.cotrainsc import CoTrainSC as CoTrainSC
    from manyview.methods.gbs import GBS as GBS
    from manyview.methods.kmeans import MultiViewKMeans as MultiViewKMeans
    from manyview.methods.mcgl import MCGL as MCGL
    from manyview.methods.mgl import MGL as MGL
    from manyview.methods.msc import MSC as MSC
    from manyview.methods.nemo import NEMO as NEMO
    from manyview.methods.snf import SNF as SNF
    from manyview.methods.spectral_average import SpectralAverage as SpectralAverage
    from manyview.methods.spectral_concat import SpectralConcat as SpectralConcat
    from manyview.methods.spectral_view import SpectralView as SpectralView
    from manyview.methods.spherical_kmeans import (
        MultiViewSphericalKMeans as MultiViewSphericalKMeans,
    )
    from manyview.methods.wnn import WNN as WNN


@dataclass(frozen=True)
class Method:
    """A method as other packages know it."""

    module: str  # its file in this package
    estimator: str  # name of the class
    # Its row in the tables of `manyview reproduce`, the paper's name if it is in the paper.
    title: str
    # What `manyview.cluster(method=)` and ``--method`` call it; None if they do not offer it.
    short_name: str | None = None
    distributed: bool = False  # whether `fit` takes a Dask client, and a checkpoint folder
    # Whether labels come from k-means on the embedding, so that seeds matter.
    uses_kmeans: bool = False
    takes_missing: bool = False  # whether views may lack samples
    # Those that differ from the defaults.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def make(self, n_clusters: int | str, **parameters: Any) -> Any:
        """A new estimator."""
        found = getattr(import_module(f"{__name__}.{self.module}"), self.estimator)
        return found(n_clusters, **{**self.parameters, **parameters})


#: One line per method, in the order of the tables.
REGISTRY = (
    Method("coregsc", "CoregSC", "CoregSC", uses_kmeans=True),
    Method(
        "coregsc",
        "CoregSC",
        "CoregSC centroid",
        uses_kmeans=True,
        parameters={"scheme": "centroid"},
    ),
    Method("cotrainsc", "CoTrainSC", "CoTrainSC", "cotrain", uses_kmeans=True),
    Method("msc", "MSC", "MSC", uses_kmeans=True),
    Method("mgl", "MGL", "MGL", "mgl", uses_kmeans=True),
    Method("mcgl", "MCGL", "MCGL", "mcgl"),
    Method("gbs", "GBS", "GBS", "gbs", distributed=True, takes_missing=True),
    Method("cigmvc", "CIGMVC", "CI-GMVC", "cigmvc", distributed=True, takes_missing=True),
    Method(
        "angular",
        "AngularCIGMVC",
        "angular CI-GMVC",
        "angular",
        distributed=True,
        takes_missing=True,
    ),
    Method(
        "consensus",
        "ConsensusGraph",
        "consensus graph",
        "consensus",
        distributed=True,
        uses_kmeans=True,
        takes_missing=True,
    ),
    Method(
        "anchor_graph",
        "AnchorGraph",
        "anchor graph",
        "anchors",
        uses_kmeans=True,
        takes_missing=True,
    ),
    Method("kmeans", "MultiViewKMeans", "multi-view k-means", "kmeans", uses_kmeans=True),
    Method(
        "spherical_kmeans",
        "MultiViewSphericalKMeans",
        "multi-view spherical k-means",
        "spherical",
        uses_kmeans=True,
    ),
    Method("snf", "SNF", "SNF", "snf", uses_kmeans=True),
    Method("nemo", "NEMO", "NEMO", "nemo", uses_kmeans=True, takes_missing=True),
    Method("wnn", "WNN", "WNN", "wnn", uses_kmeans=True),
    Method(
        "spectral_average",
        "SpectralAverage",
        "average graph",
        "average",
        uses_kmeans=True,
        takes_missing=True,
    ),
    Method("spectral_concat", "SpectralConcat", "concatenated", uses_kmeans=True),
    Method("spectral_view", "SpectralView", "single views", uses_kmeans=True),
)
#: The method that `manyview.cluster`, the command line and the demo use unless told otherwise.
DEFAULT = "consensus"
#: Methods that `manyview.cluster` offers, by short name, the default first.
BY_SHORT_NAME = {
    method.short_name: method
    for method in sorted(REGISTRY, key=lambda method: method.short_name != DEFAULT)
    if method.short_name is not None
}
#: Those of them that can be resumed from a checkpoint and fitted on Dask.
DISTRIBUTED = tuple(name for name, method in BY_SHORT_NAME.items() if method.distributed)


def methods_with(parameter: str) -> tuple[str, ...]:
    """Short names of the methods that have this parameter."""
    return tuple(
        name
        for name, method in BY_SHORT_NAME.items()
        if parameter in method.make("auto").get_params()
    )


_MODULES = {method.estimator: method.module for method in REGISTRY}
_OTHERS = {"Round": "_history", "plain_params": "_base"}


def __getattr__(name: str) -> Any:
    module = (_MODULES | _OTHERS).get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)

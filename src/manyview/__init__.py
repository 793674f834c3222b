"""Clustering of data that comes in several views.

Everything is imported on first use, so that ``import manyview`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from manyview._version import __version__ as __version__
from manyview.methods import REGISTRY

if TYPE_CHECKING:
    from manyview import datasets as datasets
    from manyview import metrics as metrics
    from manyview import plotting as plotting
    from manyview.api import cluster as cluster
    from manyview.api import suggest_n_clusters as suggest_n_clusters
    from manyview.comparison import Comparison as Comparison
    from manyview.comparison import compare as compare
    from manyview.methods import *  # noqa: F403 (the estimators of the registry)
    from manyview.predict import load_model as load_model
    from manyview.predict import save_model as save_model
    from manyview.result import ClusterResult as ClusterResult
    from manyview.runtime import memory_limit as memory_limit

_PACKAGES = {method.estimator: "methods" for method in REGISTRY} | {
    "ClusterResult": "result",
    "Comparison": "comparison",
    "cluster": "api",
    "compare": "comparison",
    "load_model": "predict",
    "memory_limit": "runtime",
    "save_model": "predict",
    "suggest_n_clusters": "api",
}
_MODULES = ("datasets", "metrics", "plotting")

__all__ = sorted(["__version__", *_PACKAGES, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return getattr(import_module(f"manyview.{_PACKAGES[name]}"), name)
    if name in _MODULES:
        return import_module(f"manyview.{name}")
    raise AttributeError(f"module 'manyview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)

"""Record that all data sets are returned in."""

from dataclasses import dataclass

from manyview._typing import BoolArray, IntArray, Matrix


@dataclass(frozen=True)
class MultiViewData:
    """Samples in several views with their known classes.

    Attributes
    ----------
    views : arrays of shape (n_samples, n_features) by name, the input of `fit`
    target : class of each sample, from 0
    conflicts : array of shape (n_samples, n_views), or None
        Where a view puts a sample into another class than its own; only in generated data.
    """

    name: str
    views: dict[str, Matrix]
    target: IntArray
    target_names: tuple[str, ...]
    description: str
    conflicts: BoolArray | None = None

    @property
    def n_samples(self) -> int:
        return len(self.target)

    @property
    def n_clusters(self) -> int:
        return len(self.target_names)

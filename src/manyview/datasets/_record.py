from __future__ import annotations

from dataclasses import dataclass

from manyview._typing import BoolArray, IntArray, Matrix


@dataclass(frozen=True)
class MultiViewData:
    """Samples in several views with their known classes.

    Attributes
    ----------
    name : str
    views : dict of str to array of shape (n_samples, n_features)
        Can be given to `fit` as it is.
    target : array of shape (n_samples,)
        Class of each sample, from 0.
    target_names : tuple of str
    description : str
    conflicts : array of shape (n_samples, n_views), or None
        Where known: whether a sample's view follows another class than the sample does.
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

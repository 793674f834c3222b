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

    See Also
    --------
    load_digits_views, make_blob_views, fetch

    Examples
    --------
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(90, 3, random_state=0)
    >>> {name: view.shape for name, view in data.views.items()}
    {'view0': (90, 8), 'view1': (90, 12), 'view2': (90, 10)}
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

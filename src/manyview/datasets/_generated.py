"""Synthetic data in several views, generated from a seed."""

from collections.abc import Sequence

import numpy as np
from sklearn.datasets import make_moons

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.datasets._record import MultiViewData
from manyview.runtime import check_integer, check_real


def make_blob_views(
    n_samples: int = 300,
    n_clusters: int = 5,
    *,
    widths: Sequence[int] = (8, 12, 10),
    spread: float = 1.0,
    separation: float = 4.0,
    random_state: int | None = None,
) -> MultiViewData:
    """Gaussian clusters with different centres in each view.

    Parameters
    ----------
    widths : number of features of each view
    spread : standard deviation of the samples around their centre
    separation : typical distance between two centres, for any number of features

    See Also
    --------
    make_conflict_views : The same with a view that disagrees.
    make_latent_views : Overlapping clusters.

    Examples
    --------
    >>> data = make_blob_views(90, 3, widths=(4, 6), random_state=0)
    >>> data.views["view1"].shape, data.n_clusters
    ((90, 6), 3)
    """
    _check(n_samples, n_clusters, widths)
    rng = np.random.default_rng(random_state)
    target = rng.permutation(np.arange(n_samples) % n_clusters)
    views = _gaussian_views(rng, [target] * len(widths), n_clusters, widths, spread, separation)
    return _record("blobs", views, target)


def make_latent_views(
    n_samples: int = 1000,
    n_clusters: int = 10,
    *,
    widths: Sequence[int] = (32, 48, 64),
    latent: int = 8,
    separation: float = 5.0,
    stray: float = 0.15,
    noise: float = 0.1,
    random_state: int | None = None,
) -> MultiViewData:
    """Overlapping clusters, measured by many features that depend on few latent coordinates.

    Each view has `latent` coordinates, in which clusters are Gaussian around centres on a sphere. A
    random linear map turns them into features, and noise is added. Each view also puts some of the
    samples into a random cluster.

    Parameters
    ----------
    widths : number of features of each view
    latent : number of latent coordinates of each view
    separation : typical distance between two centres; clusters have a standard deviation of 1
    stray : share of the samples that a view puts into a random cluster
        `conflicts` of the result has which of them changed cluster.
    noise : standard deviation of the noise added to each feature, which has one of about 1 without

    See Also
    --------
    make_blob_views : Clusters that are easy to tell apart.

    Examples
    --------
    >>> make_latent_views(100, 5, random_state=0).views["view2"].shape
    (100, 64)
    """
    _check(n_samples, n_clusters, widths)
    check_integer("latent", latent, 1)
    if check_real("stray", stray, 0) > 1:
        raise ValueError(f"stray={stray}; expected a share of at most 1")
    check_real("noise", noise, 0)
    rng = np.random.default_rng(random_state)
    target = rng.permutation(np.arange(n_samples) % n_clusters)
    views = []
    conflicts = np.zeros((n_samples, len(widths)), dtype=bool)
    for v, width in enumerate(widths):
        centres = _sphere_points(rng, n_clusters, latent) * separation / np.sqrt(2)
        anywhere = rng.integers(0, n_clusters, n_samples)
        seen = np.where(rng.random(n_samples) < stray, anywhere, target)
        conflicts[:, v] = seen != target
        hidden = centres[seen] + rng.standard_normal((n_samples, latent))
        to_features = rng.standard_normal((latent, width)) / np.sqrt(latent)
        views.append(hidden @ to_features + noise * rng.standard_normal((n_samples, width)))
    return _record("latent", views, target, conflicts)


def _sphere_points(rng: np.random.Generator, count: int, width: int) -> FloatArray:
    """Points far from each other on the unit sphere: each is the best of 64 random ones."""
    points = np.empty((count, width))
    for p in range(count):
        tries = rng.standard_normal((64, width))
        tries /= np.linalg.norm(tries, axis=1, keepdims=True)
        gaps = ((tries[:, None] - points[:p]) ** 2).sum(axis=2).min(axis=1, initial=np.inf)
        points[p] = tries[gaps.argmax()]
    return points


def make_conflict_views(
    n_samples: int = 400,
    n_clusters: int = 4,
    *,
    widths: Sequence[int] = (12, 16, 10),
    view: int = 0,
    share: float = 0.3,
    spread: float = 1.0,
    separation: float = 6.0,
    random_state: int | None = None,
) -> MultiViewData:
    """Blobs, but one view puts some of the samples into another cluster.

    Parameters
    ----------
    view : index of the view that disagrees with the others
    share : share of the samples it disagrees on; `conflicts` of the result has which

    The other parameters are those of `make_blob_views`.

    See Also
    --------
    make_blob_views : The same without a conflict.

    Examples
    --------
    >>> make_conflict_views(100, share=0.3, random_state=0).conflicts.sum(axis=0).tolist()
    [30, 0, 0]
    """
    _check(n_samples, n_clusters, widths)
    check_real("share", share, 0)
    if share > 1 or n_clusters < 2 or view not in range(len(widths)):
        raise ValueError(
            f"share={share}, n_clusters={n_clusters}, view={view}; expected a share of at most 1, "
            f"at least 2 clusters and a view from 0 to {len(widths) - 1}"
        )
    rng = np.random.default_rng(random_state)
    target = rng.permutation(np.arange(n_samples) % n_clusters)
    conflicts = np.zeros((n_samples, len(widths)), dtype=bool)
    conflicts[rng.permutation(n_samples)[: round(share * n_samples)], view] = True
    seen = (target + rng.integers(1, n_clusters, n_samples)) % n_clusters
    followed = [np.where(column, seen, target) for column in conflicts.T]
    views = _gaussian_views(rng, followed, n_clusters, widths, spread, separation)
    return _record("conflict", views, target, conflicts)


def make_moon_views(
    n_samples: int = 300,
    *,
    n_views: int = 2,
    width: int = 6,
    noise: float = 0.05,
    random_state: int | None = None,
) -> MultiViewData:
    """Two interleaved half circles, rotated into `width` dimensions in each view, with noise.

    See Also
    --------
    make_blob_views : Round clusters.

    Examples
    --------
    >>> make_moon_views(100, random_state=0).views["view0"].shape
    (100, 6)
    """
    check_integer("n_views", n_views, 1)
    _check(n_samples, 2, (width,))
    rng = np.random.default_rng(random_state)
    plane, moon = make_moons(n_samples, shuffle=False)
    order = rng.permutation(n_samples)
    views = []
    for _ in range(n_views):
        axes = np.linalg.qr(rng.standard_normal((max(width, 2), 2)))[0][:width]
        scatter = noise * rng.standard_normal((n_samples, width))
        views.append((plane @ axes.T + scatter)[order])
    return _record("moons", views, moon[order].astype(np.intp))


def _gaussian_views(
    rng: np.random.Generator,
    followed: Sequence[IntArray],
    n_clusters: int,
    widths: Sequence[int],
    spread: float,
    separation: float,
) -> list[FloatArray]:
    """One matrix per view; a sample is near the centre of the cluster it follows in that view."""
    views = []
    for cluster, width in zip(followed, widths, strict=True):
        # Two such centres are sqrt(2 width) apart on average.
        centres = rng.standard_normal((n_clusters, width)) * separation / np.sqrt(2 * width)
        views.append(centres[cluster] + spread * rng.standard_normal((len(cluster), width)))
    return views


def _check(n_samples: int, n_clusters: int, widths: Sequence[int]) -> None:
    check_integer("n_clusters", n_clusters, 1)
    check_integer("n_samples", n_samples, n_clusters)
    if not widths:
        raise ValueError("widths is empty; expected the number of features of each view")
    for width in widths:
        check_integer("width", width, 1)


def _record(
    name: str, views: list[FloatArray], target: IntArray, conflicts: BoolArray | None = None
) -> MultiViewData:
    named = {f"view{v}": view for v, view in enumerate(views)}
    clusters = tuple(f"cluster {c}" for c in range(target.max() + 1))
    return MultiViewData(name, named, target, clusters, f"generated: {name}", conflicts)

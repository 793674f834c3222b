"""Outputs of mvlearn and polyview on small generated data -> tests/data/golden/mvlearn.npz.

Each package is run in an environment of its own, mvlearn first:

    python3.9 -m venv /tmp/mvlearn
    /tmp/mvlearn/bin/pip install --no-deps mvlearn==0.5.0 numpy==1.23.5 scipy==1.9.3 \
        scikit-learn==1.1.3 joblib==1.2.0 threadpoolctl==3.1.0
    /tmp/mvlearn/bin/pip install matplotlib==3.5.3 seaborn==0.12.2 pandas==1.5.3 numpy==1.23.5
    /tmp/mvlearn/bin/python benchmarks/make_goldens_mvlearn.py mvlearn
    python3.11 -m venv /tmp/polyview
    /tmp/polyview/bin/pip install polyview==0.1.0
    /tmp/polyview/bin/python benchmarks/make_goldens_mvlearn.py polyview

mvlearn's k-means lets a view learn from itself in every second step, and stops after `patience`
rounds. For the goldens that line is corrected and `patience` is so large that it converges.
"""

import inspect
import sys
import textwrap
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parent.parent / "tests" / "data" / "golden" / "mvlearn.npz"
N_SAMPLES, N_CLUSTERS, WIDTH = 150, 4, 5
ROUNDS = 100


def make_views(n_views, separation, seed):
    """Gaussian clusters; every view has a variance of 1 in all, which our k-means gives it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(N_CLUSTERS, size=N_SAMPLES)
    views = []
    for _ in range(n_views):
        centres = separation * rng.standard_normal((N_CLUSTERS, WIDTH))
        view = centres[labels] + rng.standard_normal((N_SAMPLES, WIDTH))
        views.append((view - view.mean(axis=0)) / np.sqrt(view.var(axis=0).sum()))
    return views


def corrected(kmeans):
    """The class with the M-step of a view on the partition of the other one, as in the paper."""
    source = textwrap.dedent(inspect.getsource(kmeans._one_init))
    wrong, right = "pre_view = (iter_num + 1) % 2", "pre_view = (vi + 1) % 2"
    assert source.count(wrong) == 1
    names = dict(vars(sys.modules[kmeans.__module__]))
    exec(source.replace(wrong, right), names)
    return type(kmeans.__name__, (kmeans,), {"_one_init": names["_one_init"]})


def of_mvlearn():
    from mvlearn.cluster import (
        MultiviewKMeans,
        MultiviewSpectralClustering,
        MultiviewSphericalKMeans,
    )

    views, close = make_views(3, separation=2.5, seed=0), make_views(2, separation=1.6, seed=0)
    found = {f"view{v}": view for v, view in enumerate(views)}
    found.update({f"close{v}": view for v, view in enumerate(close)})
    start = np.random.default_rng(1).choice(N_SAMPLES, N_CLUSTERS, replace=False)
    found["start"] = start
    fixed = corrected(MultiviewKMeans)
    spherical = type("Spherical", (MultiviewSphericalKMeans,), {"_one_init": fixed._one_init})
    for name, kmeans in (("kmeans", fixed), ("spherical", spherical)):
        options = {"init": [view[start] for view in close], "patience": ROUNDS}
        model = kmeans(N_CLUSTERS, **options)
        model.fit(close)  # returns None
        # labels_ of its spherical k-means are those of centres that are not yet normalised.
        found[name] = model.predict(close)
        for v, centres in enumerate(model.centroids_):
            found[f"{name}_centres{v}"] = centres
    # It takes eigenvectors of the largest absolute values; here these are not negative.
    for n_views in (2, 3):
        model = MultiviewSpectralClustering(N_CLUSTERS, random_state=0)
        model.fit(views[:n_views])
        found[f"cotrain{n_views}"] = model.embedding_
    return found


def of_polyview(found):
    from polyview.cluster import MultiViewCoTrainSpectralClustering

    kernels = []
    for v in range(3):
        X = found[f"view{v}"]
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        kernels.append(np.exp(-((distances / np.median(distances)) ** 2) / 2))
    model = MultiViewCoTrainSpectralClustering(
        N_CLUSTERS, max_iter=10, affinity="precomputed", random_state=0
    )
    return {**found, "polyview": model.fit(kernels).embedding_}


def main():
    package = sys.argv[1]
    found = of_mvlearn() if package == "mvlearn" else of_polyview(dict(np.load(GOLDEN)))
    np.savez_compressed(GOLDEN, **found)
    print(GOLDEN, GOLDEN.stat().st_size, "bytes")


if __name__ == "__main__":
    main()

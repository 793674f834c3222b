"""SNF of snfpy, with the settings of its documentation; columns are z-scored by make_affinity."""

import snf
from shared import answer
from sklearn.cluster import spectral_clustering


def fit(views, n_clusters, seed):
    affinities = snf.make_affinity(views, metric="euclidean", K=20, mu=0.5)
    fused = snf.snf(affinities, K=20)
    return spectral_clustering(fused, n_clusters=n_clusters, random_state=seed)


if __name__ == "__main__":
    answer(fit)

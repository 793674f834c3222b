"""NEMO of imml, after column z-scores as in its examples."""

from imml.cluster import NEMO
from shared import answer
from sklearn.preprocessing import StandardScaler


def fit(views, n_clusters, seed):
    scaled = [StandardScaler().fit_transform(view) for view in views]
    return NEMO(n_clusters=n_clusters, random_state=seed).fit_predict(scaled)


if __name__ == "__main__":
    answer(fit)

"""Views made from data sets that scikit-learn ships."""

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from manyview._typing import FloatArray
from manyview.datasets._record import MultiViewData


def load_digits_views() -> MultiViewData:
    """Handwritten digits (1797 images of 8 x 8 pixels, 10 classes) in three views.

    "pixels" is the image, "fourier" the magnitudes of its Fourier transform, which do not change
    when the digit is shifted, "gradients" histograms of edge directions in nine windows.

    See Also
    --------
    load_breast_cancer_views : Also built in.
    fetch : The paper's data sets.

    Examples
    --------
    >>> data = load_digits_views()
    >>> {name: view.shape for name, view in data.views.items()}
    {'pixels': (1797, 64), 'fourier': (1797, 40), 'gradients': (1797, 72)}
    """
    digits = load_digits()
    images = digits.images
    views = {
        "pixels": images.reshape(len(images), -1),
        "fourier": np.abs(np.fft.rfft2(images)).reshape(len(images), -1),
        "gradients": _gradient_histograms(images),
    }
    text = "8 x 8 images of handwritten digits: pixels, Fourier magnitudes, edges"
    return _record("digits", digits, views, text)


def load_breast_cancer_views() -> MultiViewData:
    """Breast cancer, Wisconsin (569 samples, 2 classes) in its three natural views.

    Ten measures of the nuclei in an image of cells: their mean over the nuclei ("mean"), its
    standard error ("error"), and the mean of the three largest values ("worst"). Each feature is
    standardised, because areas in the thousands stand beside fractions.

    See Also
    --------
    load_digits_views : Also built in.
    fetch : The paper's data sets.

    Examples
    --------
    >>> load_breast_cancer_views().views["mean"].shape
    (569, 10)
    """
    cancer = load_breast_cancer()
    data = (cancer.data - cancer.data.mean(axis=0)) / cancer.data.std(axis=0)
    views = {"mean": data[:, :10], "error": data[:, 10:20], "worst": data[:, 20:]}
    text = "ten measures of cell nuclei: their mean, standard error and worst"
    return _record("breast_cancer", cancer, views, text)


def _record(name: str, data: Any, views: dict[str, Any], description: str) -> MultiViewData:
    classes = tuple(map(str, data.target_names))
    return MultiViewData(name, views, data.target.astype(np.intp), classes, description)


def _gradient_histograms(images: FloatArray, n_directions: int = 8) -> FloatArray:
    """Edge strength by direction in nine overlapping 4 x 4 windows."""
    down, right = np.gradient(images, axis=(1, 2))
    strength = np.hypot(down, right)
    turn = np.arctan2(down, right) / (2 * np.pi) % 1.0
    direction = np.floor(turn * n_directions).astype(int) % n_directions
    layers = [np.where(direction == d, strength, 0.0) for d in range(n_directions)]
    windows = [
        layer[:, top : top + 4, left : left + 4].sum(axis=(1, 2))
        for layer in layers
        for top in (0, 2, 4)
        for left in (0, 2, 4)
    ]
    return np.stack(windows, axis=1)

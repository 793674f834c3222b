import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from manyview import datasets


@pytest.mark.parametrize(
    ("load", "shapes"),
    [
        (datasets.load_digits_views, {"pixels": 64, "fourier": 40, "gradients": 72}),
        (datasets.load_breast_cancer_views, {"mean": 10, "error": 10, "worst": 10}),
    ],
)
def test_built_in_data(load, shapes):
    data = load()
    assert {name: view.shape[1] for name, view in data.views.items()} == shapes
    assert set(data.target) == set(range(data.n_clusters))
    for view in data.views.values():
        assert view.shape[0] == data.n_samples
        assert np.isfinite(view).all()
        # every view knows something of the classes, and samples are in the same order in all
        half = data.n_samples // 2
        knows = KNeighborsClassifier().fit(view[:half], data.target[:half])
        assert knows.score(view[half:], data.target[half:]) > 0.7


def test_fourier_magnitudes_do_not_move_with_the_digit():
    pixels = datasets.load_digits_views().views["pixels"].reshape(-1, 8, 8)
    moved = np.abs(np.fft.rfft2(np.roll(pixels, 2, axis=2))).reshape(len(pixels), -1)
    np.testing.assert_allclose(moved, datasets.load_digits_views().views["fourier"], atol=1e-9)


GENERATORS = [
    datasets.make_blob_views,
    datasets.make_conflict_views,
    datasets.make_latent_views,
    datasets.make_moon_views,
]


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_data(make):
    one, same, other = (make(50, random_state=seed) for seed in (1, 1, 2))
    for name, view in one.views.items():
        np.testing.assert_array_equal(view, same.views[name])
        assert not np.array_equal(view, other.views[name])
    np.testing.assert_array_equal(one.target, same.target)
    assert one.n_samples == 50
    assert set(one.target) == set(range(one.n_clusters))


@pytest.mark.parametrize("make", GENERATORS)
def test_generators_leave_the_global_random_state_alone(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (it is what must not change)
    make(50, random_state=1)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002 (the same)


def test_centres_are_as_far_apart_as_asked():
    data = datasets.make_blob_views(
        2000, 40, widths=(4, 40), spread=1e-6, separation=7, random_state=0
    )
    for view in data.views.values():
        centres = np.array([view[data.target == c].mean(axis=0) for c in range(40)])
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2)
        assert np.sqrt((gaps[~np.eye(40, dtype=bool)] ** 2).mean()) == pytest.approx(7, rel=0.1)


def test_conflicts_are_where_they_are_said_to_be():
    data = datasets.make_conflict_views(
        400, 4, view=1, share=0.25, spread=0.01, separation=5, random_state=0
    )
    assert data.conflicts.sum(axis=0).tolist() == [0, 100, 0]
    for v, view in enumerate(data.views.values()):
        agree = ~data.conflicts[:, v]
        centres = np.array([view[agree & (data.target == c)].mean(axis=0) for c in range(4)])
        followed = np.linalg.norm(view[:, None] - centres, axis=2).argmin(axis=1)
        np.testing.assert_array_equal(followed != data.target, data.conflicts[:, v])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: datasets.make_blob_views(3, 5), "n_samples=3; expected an integer of at least 5"),
        (lambda: datasets.make_blob_views(widths=()), "widths is empty"),
        (lambda: datasets.make_latent_views(stray=1.5), "stray=1.5; expected a share of at most 1"),
        (lambda: datasets.make_latent_views(latent=0), "latent=0; expected an integer"),
        (lambda: datasets.make_blob_views(widths=(3, 0)), "width=0; expected an integer"),
        (lambda: datasets.make_conflict_views(view=3), "a view from 0 to 2"),
        (lambda: datasets.make_conflict_views(share=1.5), "a share of at most 1"),
        (lambda: datasets.make_moon_views(n_views=0), "n_views=0; expected an integer"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()

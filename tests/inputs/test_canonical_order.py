"""The canonical order depends on the content of samples alone."""

import numpy as np
from scipy.sparse import csr_array

from manyview.inputs._canonical_order import canonical_order, row_digests
from manyview.inputs._views import views_from_tables


def test_digests_depend_on_the_content_of_rows(rng):
    table = np.where(rng.random((200, 6)) < 0.5, rng.standard_normal((200, 6)), 0.0)
    table[:10] = table[10:20]
    digests = row_digests(table)
    np.testing.assert_array_equal(digests, row_digests(csr_array(table)))
    np.testing.assert_array_equal(digests, row_digests(np.where(table == 0, -0.0, table)))
    np.testing.assert_array_equal(digests[:10], digests[10:20])
    assert len(set(digests.tolist())) == len(np.unique(table, axis=0))
    moved = table[:, ::-1].copy()
    assert not (digests == row_digests(moved))[(table != 0).any(axis=1)].any()
    unsorted = row_digests(table, with_columns=False)
    np.testing.assert_array_equal(unsorted, row_digests(moved, with_columns=False))


def test_equal_samples_keep_their_order(rng):
    table = rng.standard_normal((20, 4))[rng.integers(20, size=100)]
    samples = canonical_order(views_from_tables([table, table[:, :2].copy()])).samples
    assert sorted(samples.tolist()) == list(range(100))
    for row in np.unique(table, axis=0):
        own = np.flatnonzero((table == row).all(axis=1))
        places = np.flatnonzero(np.isin(samples, own))
        np.testing.assert_array_equal(samples[places], own)
        assert (np.diff(places) == 1).all()

"""Which samples views lack, for tests and benchmarks."""

import numpy as np


def removed(n, n_views, share, rng):
    """A mask without that share of all pairs, every sample keeping at least one view."""
    present = np.ones((n, n_views), dtype=bool)
    left = round(share * present.size)
    for pair in rng.permutation(present.size):
        sample, view = divmod(int(pair), n_views)
        if left and present[sample].sum() > 1:
            present[sample, view] = False
            left -= 1
    assert left == 0
    return present

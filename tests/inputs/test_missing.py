"""Values that are not finite, and rows of NaN."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from manyview.inputs._missing import find_non_finite


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_non_finite_values_equal_those_of_a_plain_search(seed, sparse, masked):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, np.nan, np.inf], (5, 3), p=[0.3, 0.4, 0.2, 0.1])
    X[rng.random(5) < 0.4] = np.nan
    looked_at = rng.random(5) < 0.6 if masked else None
    gaps = find_non_finite(csr_array(X) if sparse else X, looked_at)
    empty = [not sparse and all(np.isnan(row)) for row in X]
    holes = [
        (i, j)
        for i, row in enumerate(X)
        for j, value in enumerate(row)
        if not np.isfinite(value) and not empty[i] and (looked_at is None or looked_at[i])
    ]
    assert gaps.empty_rows.tolist() == empty
    assert gaps.n_values == len(holes)
    assert gaps.first_value == (holes[0] if holes else None)

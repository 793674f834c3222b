"""Hashes equal those of plain Python."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import _kernels
from manyview.inputs._canonical_order import row_digests
from tests.helpers import oracle


def test_hash_numbers(rng):
    numbers = rng.integers(2**63, size=30, dtype=np.uint64)
    expected = [oracle.hash_number(int(number)) for number in numbers]
    assert _kernels.hash_numbers(numbers).tolist() == expected


@pytest.mark.parametrize("with_columns", [True, False])
def test_row_digests(rng, with_columns):
    table = np.where(rng.random((30, 7)) < 0.6, rng.standard_normal((30, 7)), 0.0)
    table[3, :2] = -0.0
    expected = [oracle.row_digest(row, with_columns) for row in table]
    assert row_digests(table, with_columns).tolist() == expected
    assert row_digests(csr_array(table), with_columns).tolist() == expected

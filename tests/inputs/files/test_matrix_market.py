"""Matrix Market files, as the other process reads them."""

import numpy as np
import pytest

from tests.helpers.table_files import (
    dense,
    read,
    write,
)

MARKETS = {
    "array real general\n2 2\n1\n2\n3\n4\n": [[1, 3], [2, 4]],
    "array real symmetric\n2 2\n1\n2\n3\n": [[1, 2], [2, 3]],
    "array real skew-symmetric\n2 2\n2\n": [[0, -2], [2, 0]],
    "coordinate integer general\n% a note\n\n2 2 2\n1 1 1\n1 1 2": [[3, 0], [0, 0]],
    "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n": [[0, 1], [1, 1]],
    "coordinate real skew-symmetric\n2 2 1\n2 1 4\n": [[0, -4], [4, 0]],
    "coordinate real general\n2 2 0\n": [[0, 0], [0, 0]],
    "coordinate real general\n2 2 1\n\n1 2 7\n\n": [[0, 7], [0, 0]],
    f"coordinate real general\n1 2 1\n1 1 0.{'3' * 30}\n": [[1 / 3, 0]],
}


@pytest.mark.parametrize("text", MARKETS)
def test_kinds_of_matrix_market(folder, text):
    write("x.mtx", "%%MatrixMarket matrix " + text)
    np.testing.assert_array_equal(dense(read("x.mtx").matrix), MARKETS[text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "no Matrix Market banner"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n", "no line of sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "2 sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "exceeds"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5\n", "negative"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 5\n", "whole"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\nnan 1 5\n", "whole"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1e30 1 5\n", "whole"),
        ("%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n", "2 rows and 3 columns"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "sizes says"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5x\n", "convert"),
        ("%%MatrixMarket matrix array real general\n999999999 99999999\n1\n", "x.mtx"),
    ],
)
def test_matrix_market_that_is_none(folder, text, message):
    write("x.mtx", text)
    with pytest.raises(ValueError, match=rf"x.mtx.*{message}|{message}"):
        read("x.mtx")

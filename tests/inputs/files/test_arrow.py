"""Arrow and Feather files."""

import numpy as np
import pytest

from tests.helpers.table_files import IDS, X, pd, read, write

pa = pytest.importorskip("pyarrow")


def write_stream(path, table):
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=3)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_numbers_and_ids_of_feather_files(folder, compression):
    frame = pd.DataFrame({"id": IDS, "x": X[:, 0], "n": [1, None, 3, 4], "b": [True, False] * 2})
    frame.to_feather("x.feather", compression=compression)
    table = read("x.feather", id_column="id")
    assert (table.name, table.ids, table.features) == ("x", IDS, ("x", "n", "b"))
    expected = np.column_stack([X[:, 0], [1, np.nan, 3, 4], [1, 0, 1, 0]])
    np.testing.assert_array_equal(table.matrix, expected)


def test_streams_and_the_index_of_a_data_frame(folder):
    frame = pd.DataFrame(X, columns=["x", "y", "z"], index=pd.Index(IDS, name="cell"))
    write_stream("x.arrow", pa.Table.from_pandas(frame))
    table = read("x.arrow", id_column="cell")
    assert table.ids == IDS
    np.testing.assert_array_equal(table.matrix, X)
    with pytest.raises(ValueError, match=r"x.arrow: .*'cell' is the index of a data frame"):
        read("x.arrow")


def test_offsets_that_lead_out_of_a_file(folder):
    """Found before texts are made of them, which would read other memory."""
    offsets = np.array([0, 10**6, 2], dtype=np.int32)  # the last is right
    texts = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(b"ab"))
    write_stream("x.arrow", pa.table({"id": texts, "x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"x.arrow: not a readable Arrow file"):
        read("x.arrow", id_column="id")


def test_the_first_version_of_feather(folder):
    write("x.feather", b"FEA1" + bytes(40) + b"FEA1")
    with pytest.raises(ValueError, match=r"x.feather: .*of Feather version 1"):
        read("x.feather")

"""Parquet files."""

import numpy as np
import pytest

from manyview.inputs.files import _limits, _parquet
from tests.helpers.table_files import pd, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_numbers_of_all_kinds_in_parquet(folder, monkeypatch):
    monkeypatch.setattr(_parquet, "_OPEN_COLUMNS", 3)
    from decimal import Decimal

    columns = {
        "int": pa.array([1, None], pa.int8()),
        "large": pa.array([2**63, 2**64 - 1], pa.uint64()),
        "half": pa.array(np.array([0.5, 1], dtype=np.float16)),
        "single": pa.array([0.5, np.nan], pa.float32()),
        "bool": pa.array([True, False]),
        "decimal": pa.array([Decimal("1.25"), None]),
        "coded": pa.array([7, 8]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
    pq.write_table(pa.table(columns), "x.parquet")
    table = read("x.parquet")
    nan = np.nan
    expected = [[1, 2.0**63, 0.5, 0.5, 1, 1.25, 7, nan], [nan, 2.0**64, 1, nan, 0, nan, 8, nan]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == tuple(columns)


def test_text_in_parquet(folder):
    frame = pd.DataFrame({"x": [1, 2], "city": ["Oslo", "7"], "day": pd.to_datetime(["2020"] * 2)})
    frame.to_parquet("x.parquet")
    message = r"x.parquet: 2 columns are not numeric \('city', 'day'\), column 'city' is of type .*"
    with pytest.raises(ValueError, match=message + "string; .*--id.*--drop-non-numeric"):
        read("x.parquet")
    assert read("x.parquet", drop_non_numeric=True).features == ("x",)


@pytest.mark.parametrize("index", [["u", "v"], [5, 3]])
def test_the_index_of_a_data_frame_is_no_feature(folder, index):
    pd.DataFrame({"x": [1, 2]}, index=index).to_parquet("x.parquet")
    with pytest.raises(ValueError, match="column '__index_level_0__' is the index of a data frame"):
        read("x.parquet")
    assert read("x.parquet", id_column="__index_level_0__").ids == tuple(map(str, index))


def test_parquet_without_rows_or_with_twice_a_column(folder):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has column names and no rows"):
        read("x.parquet")
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has two columns named 'x'"):
        read("x.parquet")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2], ("1", "2")),
        ([1.0, 2.0], ("1", "2")),
        ([1.5, 2.0], ("1.5", "2")),
        (["1.0", "2.0"], ("1", "2")),
        (["v1.0", "2.0"], ("v1.0", "2.0")),
        (pd.Categorical(["u", "v"]), ("u", "v")),
        (["NA", "007"], ("NA", "007")),
    ],
)
def test_ids_of_parquet_files(folder, ids, expected):
    pd.DataFrame({"id": ids, "x": [1, 2]}).to_parquet("x.parquet")
    assert read("x.parquet", id_column="id").ids == expected


def write_parts(folder, rows, **extra):
    folder.mkdir()
    for number, part in enumerate(rows):
        frame = pd.DataFrame({"x": np.array(part, dtype=float), "y": 0.5})
        frame["id"] = pd.Series([f"c{i}" for i in part], dtype="string")
        frame.to_parquet(folder / f"part.{number}.parquet", index=False)
    for name, content in extra.items():
        (folder / name).write_bytes(content)


def test_a_folder_is_one_table_in_the_order_of_numbers(folder):
    rows = [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(12)]  # part.10 comes after part.9
    write_parts(folder / "rna.v2", rows, _SUCCESS=b"", notes=b"by hand")
    table = read("rna.v2", id_column="id")
    assert (table.name, table.features) == ("rna.v2", ("x", "y"))
    assert table.ids == tuple(f"c{i}" for i in range(36))
    np.testing.assert_array_equal(table.matrix[:, 0], np.arange(36))
    table = read("rna.v2", drop_non_numeric=True, drop=["y"])
    assert table.features == ("x",)
    assert [one.name for one in table.preparation.dropped] == ["y", "id"]
    pd.DataFrame({"z": [1]}).to_parquet("rna.v2/part.12.parquet")
    with pytest.raises(ValueError, match=r"part.12.parquet and .*part.0.parquet differ in column"):
        read("rna.v2", drop_non_numeric=True)


def test_folders_are_transposed(folder):
    (folder / "x").mkdir()
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=list("abcdef"), columns=["u", "v"])
    for part in (0, 2, 4, 6):
        frame[part : part + 2].to_parquet(f"x/part.{part}.parquet")
    table = read("x", transpose=True)
    assert (table.ids, table.features) == (("u", "v"), tuple("abcdef"))
    np.testing.assert_array_equal(table.matrix, frame.to_numpy().T)
    frame[:1].to_parquet("x/part.8.parquet")
    with pytest.raises(ValueError, match=r"x has two columns named 'a'; expected distinct"):
        read("x", transpose=True)
    frame[["v", "u"]].to_parquet("x/part.8.parquet")
    with pytest.raises(ValueError, match=r"part.8.parquet and .*part.0.parquet differ in their"):
        read("x", transpose=True)


def test_folders_that_do_not_fit(folder, monkeypatch):
    write_parts(folder / "x", [[1, 2], []])
    (folder / "x" / "part.2.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"part.2.parquet: not a readable Parquet"):
        read("x", drop_non_numeric=True)
    write_parts(folder / "y", [[], []])
    with pytest.raises(ValueError, match="y has column names and no rows"):
        read("y", drop_non_numeric=True)
    monkeypatch.setattr(_limits, "available_memory", lambda: 10**6)
    write_parts(folder / "z", [list(range(70_000))] * 2)  # 2.2 MB in all
    with pytest.raises(ValueError, match=r"z: 140,000 rows of 2 numbers, .* would take 2 MB"):
        read("z", drop_non_numeric=True)

"""Excel files: every sheet is a table."""

import datetime
import zipfile

import numpy as np
import pytest

from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, read

openpyxl = pytest.importorskip("openpyxl")


def write_sheets(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_every_sheet_is_a_view(folder):
    rna = [["cell", "x", "a, b;c\nd", 7], *([i, *row] for i, row in zip(IDS, X, strict=True))]
    adt = [["cell", "p"], ["d", 1], ["b", None], ["a", True]]
    write_sheets("x.xlsx", rna=rna, adt=adt, Sheet3=[])
    tables = read_views(["x.xlsx"], id_column="cell")
    assert [table.name for table in tables] == ["rna", "adt"]
    assert tables[0].ids == IDS
    assert tables[0].features == ("x", "a, b;c\nd", "7")
    np.testing.assert_array_equal(tables[0].matrix, X)
    np.testing.assert_array_equal(tables[1].matrix, [[1], [np.nan], [1]])
    assert read("n=x.xlsx:adt", id_column="cell").name == "n"
    with pytest.raises(
        ValueError, match=r"x.xlsx has no sheet 'RNA'; expected one of 'rna', 'adt'"
    ):
        read("x.xlsx:RNA")
    with pytest.raises(ValueError, match=r"x.xlsx:rna: 1 column is not numeric \('cell'\)"):
        read_views(["x.xlsx"])


def test_blank_rows_and_cells(folder):
    """Rows are stored without the empty cells at their ends, and sometimes with too many."""
    day = datetime.date(2020, 1, 1)
    rows = [[], ["x", "y", "z"], [1, 2, 3, "", None], [], [4], [7, None, 9], []]
    write_sheets("x.xlsx", one=rows)
    nan = np.nan
    np.testing.assert_array_equal(read("x.xlsx").matrix, [[1, 2, 3], [4, nan, nan], [7, nan, 9]])
    write_sheets("x.xlsx", one=[["x", "day"], [1, day]])
    with pytest.raises(ValueError, match=r"x.xlsx: .*column 'day' has '2020-01-01.*' in row 1"):
        read("x.xlsx")
    write_sheets("x.xlsx", one=[], two=[[None]])
    with pytest.raises(ValueError, match=r"x.xlsx has no cells that are filled"):
        read("x.xlsx")


def changed_sheet(path, old, new):
    """The file with a text of its sheet replaced."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert old in members[sheet]
    members[sheet] = members[sheet].replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_sizes_that_a_sheet_declares_are_not_believed(folder):
    write_sheets("x.xlsx", one=[["x", "y"], [1, 2], [3, 4]])
    changed_sheet("x.xlsx", b"A1:B3", b"A1:XFD1048576")
    np.testing.assert_array_equal(read("x.xlsx").matrix, [[1, 2], [3, 4]])
    changed_sheet("x.xlsx", b'row r="3"', b'row r="999999999"')
    with pytest.raises(ValueError, match=r"x.xlsx: .*a sheet of more than 1,048,576 rows"):
        read("x.xlsx")

"""Archives of arrays: read as written, or not at all."""

import zipfile

import numpy as np
import pytest

from manyview.runtime import ARCHIVE_ERRORS, archive_bytes, read_archive

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(4, dtype=">i4")}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(archive_bytes("about.json", {"name": "ü"}, ARRAYS))
    return path


def test_read_as_written(path):
    found = read_archive(path, "about.json")
    assert found.manifest == {"name": "ü"}
    np.testing.assert_array_equal(found.array("a", "f", (2, 3)), ARRAYS["a"])
    np.testing.assert_array_equal(found.array("b", "i", (4,)), ARRAYS["b"])
    assert archive_bytes("about.json", {"name": "ü"}, ARRAYS) == path.read_bytes()


@pytest.mark.parametrize(("name", "kind", "shape"), [("a", "f", (3, 2)), ("a", "i", (2, 3))])
def test_other_arrays_than_expected_are_refused(path, name, kind, shape):
    with pytest.raises(ValueError, match=r"a has shape \(2, 3\) and type float64"):
        read_archive(path, "about.json").array(name, kind, shape)


def test_damaged_archives_are_refused(path):
    content = path.read_bytes()
    for position in range(0, len(content), 7):
        changed = content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :]
        path.write_bytes(changed)
        try:
            found = read_archive(path, "about.json")
        except ARCHIVE_ERRORS:
            continue
        np.testing.assert_array_equal(found.array("a", "f", (2, 3)), ARRAYS["a"])
    path.write_bytes(content[:-30])
    with pytest.raises(zipfile.BadZipFile):
        read_archive(path, "about.json")


def test_compressed_members_are_refused(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("about.json", "{}" + " " * 10**6)
        archive.writestr("sha256.txt", "")
    with pytest.raises(ValueError, match="its members are compressed"):
        read_archive(path, "about.json")

"""MAT, Matrix Market, h5ad and h5mu files, as the other process reads them."""

import io
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat
from scipy.sparse import csr_array

from manyview.inputs import align
from manyview.inputs.files import _sandbox_child, read_views
from tests.helpers.goldens import DATA
from tests.helpers.table_files import (
    IDS,
    X,
    ad,
    annotated,
    dense,
    pd,
    read,
    write,
    write_any,
    write_h5mu,
)

h5py = pytest.importorskip("h5py")


# MAT


KINDS = {
    **{kind: X[[0, 1, 3]].astype(kind) for kind in ("i1", "i2", "i4", "i8", "f4", "f8")},
    **{kind: np.abs(X[[0, 1, 3]]).astype(kind) for kind in ("u1", "u2", "u4", "u8")},
    "truths": X > 0,
    "sparse": sparse.csc_array(X),
    "sparse_truths": sparse.csc_array(X > 0),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_numbers_of_all_kinds_in_mat_files(folder, compressed):
    savemat("x.mat", KINDS, do_compression=compressed)
    tables = read_views(["x.mat"])
    assert [table.name for table in tables] == list(KINDS)
    for table, kind in zip(tables, KINDS, strict=True):
        expected = KINDS[kind].toarray() if "sparse" in kind else KINDS[kind]
        assert isinstance(table.matrix, csr_array) == ("sparse" in kind)
        np.testing.assert_array_equal(dense(table.matrix), expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.arange(8.0).reshape(2, 2, 2), r"array 'x' .* shape \(2, 2, 2\)"),
        (np.empty((0, 3)), r"array 'x' has shape \(0, 3\)"),
        (np.array([""]), "array 'x' holds values of type char"),
        (
            np.array([X, "ab", np.empty((0, 0))], dtype=object),
            "array 'x' holds values of type cell",
        ),
    ],
)
def test_variables_that_cannot_be_chosen(folder, value, message):
    savemat("x.mat", {"x": value, "y": X})
    with pytest.raises(ValueError, match=rf"x.mat: {message}.*; expected"):
        read("x.mat:x")
    np.testing.assert_array_equal(read("x.mat:y").matrix, X)


def test_cell_arrays_and_sparse_variables(folder):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X, sparse.csc_array(X[:, :2])
    savemat("x.mat", {"data": cells, "s": sparse.csc_array(X)})
    tables = read_views(["x.mat"])
    assert [table.name for table in tables] == ["data1", "data2", "s"]
    assert [isinstance(table.matrix, csr_array) for table in tables] == [False, True, True]
    np.testing.assert_array_equal(tables[1].matrix.toarray(), X[:, :2])
    assert [table.name for table in read_views(["n=x.mat:data"])] == ["n.data1", "n.data2"]
    assert read("x.mat:data2").name == "data2"


def element(kind, content, order="<"):
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def variable(name, flags, shape, *content, kind_of_name=1, kind_of_shape=5):
    """The bytes of a variable; the lowest byte of its flags is its class."""
    parts = [
        element(6, struct.pack("<II", flags, 0)),
        element(kind_of_shape, struct.pack(f"<{len(shape)}i", *shape)),
        element(kind_of_name, name.encode()),
    ]
    return element(14, b"".join([*parts, *content]))


def write_mat(path, *variables):
    return write(path, b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(variables))


NUMBERS = variable("x", 6, (2, 2), element(9, np.arange(4.0).tobytes()))
TEXTS = {
    "not UTF-8": element(16, b"\x80 am broken"),
    "half of a pair": element(17, b"\x3d\xd8a\0"),
    "a pair": element(17, "\U0001f600".encode("utf-16-le")),
    "a pair in UTF-8": element(16, "\U0001f600".encode()),
    "too short": element(1, b"a"),
    "numbers": element(9, np.ones(2).tobytes()),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("in_cell", [False, True])
def test_odd_text_leaves_the_numbers_readable(folder, kind, in_cell):
    text = variable("" if in_cell else "note", 4, (1, 2), TEXTS[kind])
    write_mat("x.mat", variable("note", 1, (1, 1), text) if in_cell else text, NUMBERS)
    np.testing.assert_array_equal(read("x.mat:x").matrix, [[0, 2], [1, 3]])
    with pytest.raises(ValueError, match=r"x.mat: array 'note' holds values of type"):
        read("x.mat:note")
    with pytest.raises(ValueError, match=r"x.mat: ids 'note' cannot be read"):
        read("x.mat:x", id_column="note")


@pytest.mark.parametrize("kind", [1, 2, 9])
def test_sparse_truths_that_matlab_calls_doubles(folder, kind):
    truths = np.array([[1, 0], [1, 1], [0, 1]])
    rows, starts = (element(5, struct.pack(f"<{len(i)}i", *i)) for i in ([0, 1, 1, 2], [0, 2, 4]))
    write_mat("x.mat", variable("x", 5 | 1 << 9, (3, 2), rows, starts, element(kind, b"\1" * 4)))
    np.testing.assert_array_equal(dense(read("x.mat").matrix), truths)


def test_names_and_shapes_of_other_kinds(folder):
    numbers = element(9, np.arange(4.0).tobytes())
    write_mat("x.mat", variable("x", 6, (2, 2), numbers, kind_of_name=16, kind_of_shape=6))
    np.testing.assert_array_equal(read("x.mat").matrix, [[0, 2], [1, 3]])
    write_mat("x.mat", variable("x", 6, (2, -2), numbers, kind_of_shape=6))
    with pytest.raises(ValueError, match=r"x.mat: not a readable MAT .*negative"):
        read("x.mat")
    write_mat("x.mat", variable("x", 6, (2, -2), numbers))
    with pytest.raises(ValueError, match=r"x.mat: not a readable MAT .*shape \(2, -2\)"):
        read("x.mat")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: zlib.compress(NUMBERS + bytes(8)), "Did not fully consume"),
        # Without its last 4 bytes, the checksum, it is read: SciPy stops at the last number. All
        # numbers are there, but a change of them is not found, as in elements not compressed.
        (lambda folded: folded[:-8], "cut short"),
        (lambda folded: folded[:-1] + bytes([folded[-1] ^ 1]), "incorrect data check"),
    ],
)
def test_the_end_of_what_is_compressed(folder, damage, message):
    def write_folded(folded):
        return write_mat("x.mat", struct.pack("<II", 15, len(folded)) + folded)

    folded = zlib.compress(NUMBERS)
    np.testing.assert_array_equal(read(write_folded(folded)).matrix, [[0, 2], [1, 3]])
    with pytest.raises(ValueError, match=rf"x.mat: not a readable MAT file.*{message}"):
        read(write_folded(damage(folded)))


def test_big_endian_matlab_files(folder):
    start = element(6, struct.pack(">II", 6, 0), ">") + element(5, struct.pack(">2i", 2, 2), ">")
    name = struct.pack(">HH", 1, 1) + b"x\0\0\0"  # the short form
    numbers = element(3, struct.pack(">4h", 1, 2, 3, -4), ">")
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    write("x.mat", header + element(14, start + name + numbers, ">"))
    np.testing.assert_array_equal(read("x.mat").matrix, [[1, 3], [2, -4]])


@pytest.mark.parametrize("kind", ["matrix", "sparse"])
def test_matlab_files_of_version_4(folder, kind):
    savemat("x.mat", {"x": X if kind == "matrix" else sparse.csc_array(X)}, format="4")
    np.testing.assert_array_equal(dense(read("x.mat").matrix), X)
    wrong = struct.pack("<5i", 2, 2, 3, 0, 2) + b"x\0" + np.full((2, 3), np.nan).tobytes()
    with pytest.raises(ValueError, match=r"z.mat: not a readable MAT file"):
        read(write("z.mat", wrong))
    write("y.mat", b"\0")
    with pytest.raises(ValueError, match=r"y.mat: not a readable MAT file"):
        read("y.mat")


def test_two_variables_of_the_same_name(folder):
    savemat("x.mat", {"x": X})
    content = Path("x.mat").read_bytes()
    write("x.mat", content + content[128:])
    with pytest.raises(ValueError, match=r"x.mat: .*two variables are named 'x'"):
        read("x.mat")


def test_the_papers_files(paper_data, folder):
    expected = paper_data("NGs").views
    tables = read_views([f"{DATA}/NGs.mat:data"], transpose=True)
    assert len(tables) == len(expected)
    for table, matrix in zip(tables, expected, strict=True):
        np.testing.assert_array_equal(dense(table.matrix), dense(csr_array(matrix)))


def test_new_matlab_files(folder):
    import h5py

    with h5py.File("x.mat", "w", userblock_size=512) as store:
        store["x"] = X
    with open("x.mat", "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    with pytest.raises(ValueError, match=r"x.mat is a MATLAB 7.3 .* '-v7'"):
        read("x.mat")


# Matrix Market


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


# HDF5


def test_what_is_in_an_h5ad_file(folder):
    data = annotated(sparse.csr_matrix(X))
    data.layers["counts"] = X + 1
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["frame"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    data.obsm["counts"] = X[:, :1]
    data.obs["kind"] = pd.Categorical(["s", "t", "s", "t"])
    data.write_h5ad("x.h5ad")
    table = read("x.h5ad")
    assert isinstance(table.matrix, csr_array)
    assert (table.ids, table.features) == (IDS, ("g0", "g1", "g2"))
    np.testing.assert_array_equal(table.matrix.toarray(), X)
    assert read("x.h5ad:X").name == "X"
    assert read("x.h5ad:X_pca").features is None
    assert read("x.h5ad:frame").features == ("u",)
    np.testing.assert_array_equal(read("x.h5ad:layers/counts").matrix, X + 1)
    with pytest.raises(ValueError, match="key 'counts' is ambiguous"):
        read("x.h5ad:counts")
    with pytest.raises(ValueError, match=r"x.h5ad has no key 'umap'; expected one of 'X', "):
        read("x.h5ad:umap")


def test_h5ad_without_x(folder):
    ad.AnnData(obs=pd.DataFrame(index=list(IDS)), obsm={"p": X}).write_h5ad("x.h5ad")
    with pytest.raises(ValueError, match="has no matrix X"):
        read("x.h5ad")
    np.testing.assert_array_equal(read("x.h5ad:p").matrix, X)


def test_modalities_miss_samples(folder):
    write_h5mu("x.h5mu")
    tables = read_views(["x.h5mu"])
    assert [table.name for table in tables] == ["rna", "adt"]
    aligned = align(tables)
    assert aligned.ids == IDS
    assert aligned.present[:, 1].tolist() == [False, True, True, False]
    np.testing.assert_array_equal(aligned.views["adt"][1:3], X[1:3, :2])
    assert aligned.features["adt"] == ("p0", "p1")
    assert read("x.h5mu:adt").name == "adt"
    with pytest.raises(ValueError, match=r"x.h5mu has no modality 'atac'; expected one of 'rna'"):
        read("x.h5mu:atac")


def test_a_matrix_of_a_modality(folder):
    modality = annotated()
    modality.layers["counts"] = X + 1
    modality.obsm["X_pca"] = X[:, :2]
    modality.obsm["counts"] = X[:, :1]
    write_h5mu("x.h5mu", modality)
    table = read("x.h5mu:rna/X_pca")
    assert (table.name, table.ids, table.features) == ("rna", IDS, None)
    np.testing.assert_array_equal(table.matrix, X[:, :2])
    np.testing.assert_array_equal(read("x.h5mu:rna/layers/counts").matrix, X + 1)
    np.testing.assert_array_equal(read("x.h5mu:rna/X").matrix, X)
    named = read_views(["pca=x.h5mu:rna/X_pca", "x.h5mu:rna", "x.h5mu:adt"])
    assert [table.name for table in named] == ["pca", "rna", "adt"]
    known = "expected one of 'X', 'layers/counts', 'obsm/X_pca', 'obsm/counts'"
    with pytest.raises(ValueError, match=f"x.h5mu has no key 'umap' in 'rna'; {known}"):
        read("x.h5mu:rna/umap")
    with pytest.raises(ValueError, match=r"x.h5mu: key 'counts' in 'rna' is ambiguous; expected"):
        read("x.h5mu:rna/counts")
    with pytest.raises(ValueError, match=r"x.h5mu has no modality 'X_pca'; expected one of 'rna'"):
        read("x.h5mu:X_pca")


def test_links_lead_nowhere(folder):
    annotated().write_h5ad("x.h5ad")
    annotated().write_h5ad("y.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        del store["X"]
        store["X"] = h5py.ExternalLink("y.h5ad", "/X")
    with pytest.raises(ValueError, match=r"x.h5ad: 'X' is a link, or its numbers are in another"):
        read("x.h5ad")
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        store["obs/other"] = h5py.ExternalLink("y.h5ad", "/obs")
        store["obs"].attrs["_index"] = "other/_index"
    with pytest.raises(ValueError, match=r"x.h5ad: 'other' is a link, or its numbers are in anot"):
        read("x.h5ad")


@pytest.mark.parametrize(
    "value", [3.0, np.ones(4), np.ones((4, 3, 1)), np.ones((0, 3)), h5py.Empty("f8")]
)
def test_arrays_that_are_no_matrices(folder, value):
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        del store["X"]
        store["X"] = value
    with pytest.raises(ValueError, match=r"x.h5ad: .*(expected (a matrix|rows)|damaged)"):
        read("x.h5ad")


def test_old_sparse_files_and_frames_of_several_types(folder):
    data = annotated(sparse.csc_matrix(X))
    data.obsm["frame"] = pd.DataFrame({"u": [1, 2, 3, 4], "v": [0.5] * 4}, index=list(IDS))
    data.obsm["odd"] = pd.DataFrame({"u": pd.Categorical(list("aabb"))}, index=list(IDS))
    data.write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        attributes = store["X"].attrs
        attributes["h5sparse_format"], attributes["h5sparse_shape"] = "csc", attributes["shape"]
        for name in ("encoding-type", "encoding-version", "shape"):
            del attributes[name]
    np.testing.assert_array_equal(read("x.h5ad").matrix.toarray(), X)
    frame = read("x.h5ad:frame")
    assert frame.features == ("u", "v")
    np.testing.assert_array_equal(frame.matrix, [[1, 0.5], [2, 0.5], [3, 0.5], [4, 0.5]])
    with pytest.raises(ValueError, match="odd is a 'frame with a column of categorical'"):
        read("x.h5ad:odd")


@pytest.mark.parametrize("names", [["b", "a", "c", "d"], [7, 5, 6, 8]])
def test_categorical_names_of_h5ad_files(folder, names):
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        for axis, chosen in (("obs", names), ("var", names[:3])):
            index = store[axis].attrs["_index"]
            del store[axis][index]
            group = store[axis].create_group(index)
            group.attrs["encoding-type"] = "categorical"
            group["categories"] = sorted(chosen)
            group["codes"] = np.array([sorted(chosen).index(one) for one in chosen], dtype="i1")
    table = read("x.h5ad")
    assert table.ids == tuple(map(str, names))
    assert table.features == tuple(map(str, names[:3]))
    with h5py.File("x.h5ad", "r+") as store:
        store["obs"][store["obs"].attrs["_index"]]["codes"][2] = -1
    with pytest.raises(ValueError, match=r"x.h5ad: .*names in obs have codes that stand for no"):
        read("x.h5ad")


def test_a_long_name_of_very_many_rows(folder):
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        index = store["obs"].attrs["_index"]
        del store["obs"][index]
        group = store["obs"].create_group(index)
        group["categories"] = ["a" * 10**7]
        group.create_dataset("codes", (10**7,), "i1", chunks=(10**6,))
    assert os.path.getsize("x.h5ad") < 2 * 10**7
    with pytest.raises(ValueError, match=r"x.h5ad: .* takes more than .* MB of memory"):
        read("x.h5ad")


def test_categorical_names_as_anndata_writes_them(folder):
    obs = pd.DataFrame(index=pd.CategoricalIndex(["q", "p", "s", "r"]))
    ad.AnnData(X, obs=obs).write_h5ad("x.h5ad")
    assert read("x.h5ad").ids == ("q", "p", "s", "r")


def test_frames_with_missing_whole_numbers(folder):
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, -3, 4], dtype="Int64"),
            "b": pd.array([True, False, None, True], dtype="boolean"),
            "f": [0.5, 1.5, 2.5, 3.5],
        },
        index=IDS,
    )
    obs = pd.DataFrame(index=IDS)
    ad.AnnData(X, obs=obs, obsm={"e": frame}).write_h5ad("x.h5ad")
    table = read("x.h5ad:e")
    expected = [[1, 1, 0.5], [np.nan, 0, 1.5], [-3, np.nan, 2.5], [4, 1, 3.5]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == ("n", "b", "f")
    with h5py.File("x.h5ad", "r+") as store:
        del store["obsm/e/n/mask"]
        store["obsm/e/n/mask"] = np.zeros(3, dtype=bool)
    with pytest.raises(ValueError, match=r"x.h5ad: .*/obsm/e/n has no mask of its shape"):
        read("x.h5ad:e")


@given(
    shape=st.lists(st.integers(0, 40), min_size=1, max_size=2),
    chunk=st.integers(1, 50),
    block=st.sampled_from([1, 64, 1000, 10**6]),
)
@settings(deadline=None)
def test_blocks_cover_an_array_once_and_cut_no_chunk(shape, chunk, block):
    class Dataset:
        chunks = (min(chunk, max(1, shape[0])),)
        dtype = np.dtype("f4")
        starts = ()

        def __getitem__(self, rows):
            self.starts = (*self.starts, rows.start)
            return array[rows]

    array = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    dataset, out = Dataset(), io.BytesIO()
    dataset.shape = array.shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sandbox_child, "_BLOCK", block)
        _sandbox_child._send(out, {}, {"matrix": dataset})
    line, _, content = out.getvalue().partition(b"\n")
    assert json.loads(line) == {"arrays": {"matrix": [shape, "<f4"]}}
    assert content == array.tobytes()
    assert all(start % dataset.chunks[0] == 0 for start in dataset.starts)

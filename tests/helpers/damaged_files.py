"""Intact files of many kinds, and damage done to them."""

import gzip
import hashlib
import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_array

from tests.helpers.table_files import COMPRESS, IDS, X, annotated, mudata, pd, write_h5mu

SMALL = np.arange(12.0).reshape(4, 3)
MODEL = Path(__file__).parent.parent / "data" / "model-v1.zip"

# Intact files to start from


def unchanged(content):
    return content


@dataclass(frozen=True)
class WholeFile:
    """An intact file; damage is done to `content`, and `pack` makes the file of it."""

    name: str
    extension: str
    content: bytes
    pack: Callable[[bytes], bytes] = unchanged

    def __repr__(self):
        return self.name


def saved(save, *arguments, **named):
    stream = io.BytesIO()
    save(stream, *arguments, **named)
    return stream.getvalue()


def as_member(others, name, method=zipfile.ZIP_DEFLATED):
    """Pack a member of an archive whose other members are whole."""

    def pack(content):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            for other, whole in {**others, name: content}.items():
                archive.writestr(other, whole)
        return stream.getvalue()

    return pack


def in_folder(extension, members, pack=unchanged):
    """The files of a folder, each to be damaged in turn, as an archive; empty ones are left out."""

    def archived(name, content):
        files = {**members, name: content}
        filled = {each: pack(whole) for each, whole in files.items() if whole}
        return saved(_write_archive, filled)

    for name, content in members.items():
        yield WholeFile(f"{extension}, {name}", extension, content, partial(archived, name))


def _write_archive(stream, members):
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def as_model_member(name):
    """Pack a member of a model file, and make its checksums fit."""
    with zipfile.ZipFile(MODEL) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}

    def pack(content):
        whole = {**members, name: content}
        del whole["sha256.txt"]
        sums = [f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in whole.items()]
        whole["sha256.txt"] = "".join(sums).encode()
        return as_member(whole, "sha256.txt", zipfile.ZIP_STORED)(whole["sha256.txt"])

    return WholeFile(f"model, {name}", "zip", members[name], pack)


def mat_element(content):
    """An element of a MAT file, compressed, after the file's header."""
    packed = zlib.compress(content)
    return MAT_HEADER + struct.pack("<II", 15, len(packed)) + packed


MAT_HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"


def text_files():
    plain = b"id,x,y\na,1,2.5\nb,-3e2,\nc,NA,true\n"
    tabs = b"x\ty\tz\n" + b"0.5\t1\t-2\n" * 40
    column = b"\xef\xbb\xbf\n\nx\r\n1\r\n\r\n3\r\n\r\n"
    quoted = b'"a, b";"c\nd"\n1;"2"\n3; 4 \n'
    for name, extension, content in (
        ("ids", "csv", plain),
        ("tabs", "tsv", tabs),
        ("one column", "csv", column),
        ("quotes", "csv", quoted),
        ("no header", "txt", b"1,2\n3,4\n"),
    ):
        yield WholeFile(name, extension, content)
        for end, pack in COMPRESS.items():
            yield WholeFile(f"{name}, packed", f"{extension}{end}", content, pack)
    for end, pack in COMPRESS.items():
        yield WholeFile(f"bytes of {end}", f"csv{end}", pack(tabs.replace(b"\t", b",")))
    yield WholeFile("a zip's own bytes", "csv.gz", gzip.compress(tabs))


def numpy_files():
    cube = np.zeros((2, 2, 2))
    names = np.array(IDS)
    for name, array in {
        "matrix": X,
        "fortran": np.asfortranarray(SMALL.astype("f4")),
        "integers": np.arange(12, dtype=">i2").reshape(4, 3),
        "vector": np.arange(4.0),
        "cube": cube,
        "texts": names,
        "records": np.zeros((2, 2), dtype=[("u", float), ("v", "S3")]),
    }.items():
        content = saved(np.save, array)
        yield WholeFile(name, "npy", content)
        others = {"u.npy": saved(np.save, X)}
        yield WholeFile(f"{name}, in an archive", "npz", content, as_member(others, "v.npy"))
    yield WholeFile("archive", "npz", saved(np.savez, u=X, v=X[:, :2], id=names))
    yield WholeFile("compressed archive", "npz", saved(np.savez_compressed, u=X, v=X[:, :2]))
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        content = saved(sparse.save_npz, sparse.coo_array(X).asformat(form), compressed=False)
        yield WholeFile(form, "npz", content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        for part in members:
            yield WholeFile(f"{form}, {part}", "npz", members[part], as_member(members, part))


def mat_files():
    cells = np.empty((1, 3), dtype=object)
    cells[0, :] = X, csr_array(X[:, :2]).tocsc(), SMALL.astype("i2")
    texts = np.array([[text] for text in IDS], dtype=object)
    for name, variables in {
        "matrix": {"x": X},
        "integers": {"x": (X > 0).astype("u1"), "y": SMALL.astype("f4")},
        "sparse": {"x": sparse.csc_array(X)},
        "cells": {"data": cells},
        "ids": {"x": X, "id": texts},
        "text": {"x": X, "note": "by hand", "rows": np.array(["ab", "cd"])},
        "structure": {"x": X, "s": {"u": X, "v": {"w": cells}}},
        "complex": {"x": X + 1j},
    }.items():
        content = saved(savemat, variables)
        yield WholeFile(name, "mat", content)
        yield WholeFile(f"{name}, zipped", "mat", saved(savemat, variables, do_compression=True))
        yield WholeFile(f"{name}, damaged inside", "mat", content[128:], mat_element)
    yield WholeFile("version 4", "mat", saved(savemat, {"x": X, "y": X}, format="4"))
    yield WholeFile("version 4, sparse", "mat", saved(savemat, {"x": csr_array(X)}, format="4"))


def market_files():
    banner = b"%%MatrixMarket matrix "
    for name, content in {
        "coordinate": b"coordinate real general\n% a note\n3 2 3\n1 1 1.5\n3 2 -2\n2 1 1e300\n",
        "symmetric": b"coordinate integer symmetric\n3 3 2\n2 1 1\n3 3 2\n",
        "pattern": b"coordinate pattern general\n2 3 2\n1 1\n2 3\n",
        "array": b"array real general\n2 2\n1\n2\n3\n4\n",
        "symmetric array": b"array real skew-symmetric\n3 3\n1\n2\n3\n",
    }.items():
        yield WholeFile(name, "mtx", banner + content)
        yield WholeFile(f"{name}, zipped", "mtx.gz", banner + content, gzip.compress)


def from_disk(folder, extension, make):
    path = folder / f"whole.{extension}"
    make(path)
    return path.read_bytes()


def parquet_files(folder):
    frame = pd.DataFrame({"id": IDS, "x": [1, 2, 3, 4], "y": [0.5, np.nan, 1, 2]})
    frame["z"] = pd.Categorical([7, 8, 7, 7])
    frame["b"] = [True, False, True, True]
    for name, data, options in (
        ("frame", frame, {}),
        ("pages", pd.concat([frame] * 20), {"row_group_size": 16, "data_page_size": 64}),
        ("plain", frame[["x", "y"]], {"compression": None, "use_dictionary": False}),
        ("gzip", frame[["x", "y", "z"]], {"compression": "gzip", "data_page_version": "2.0"}),
        ("index", frame.set_index("id"), {"compression": "zstd"}),
    ):
        content = from_disk(folder, "parquet", partial(data.to_parquet, **options))
        yield WholeFile(name, "parquet", content)


def arrow_files(folder):
    frame = pd.DataFrame({"id": IDS, "x": [1, 2, 3, 4], "y": [0.5, np.nan, 1, 2]})
    frame["z"] = pd.Categorical([7, 8, 7, 7])
    for compression in ("uncompressed", "lz4", "zstd"):
        content = from_disk(folder, "feather", partial(frame.to_feather, compression=compression))
        yield WholeFile(compression, "feather", content)


def excel_files(folder):
    frame = pd.DataFrame({"id": IDS, "x": [1, 2, 3, 4], "y": [0.5, np.nan, 1, 2]})
    content = from_disk(folder, "xlsx", partial(frame.to_excel, index=False))
    yield WholeFile("sheet", "xlsx", content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"):
        yield WholeFile(f"sheet, {name}", "xlsx", members[name], as_member(members, name))


def cell_ranger(path):
    import h5py

    with h5py.File(path, "w") as store:
        parts = sparse.csr_array(SMALL)  # cells in rows, as barcodes are in columns
        for part in ("data", "indices", "indptr"):
            store[f"matrix/{part}"] = getattr(parts, part)
        store["matrix/shape"] = SMALL.shape[::-1]
        store["matrix/barcodes"] = np.array(IDS, dtype="S")
        for name in ("id", "name", "feature_type"):
            store[f"matrix/features/{name}"] = np.array(["g", "h", "i"], dtype="S")


def hdf5_files(folder):
    whole = annotated(sparse.csr_matrix(X))
    whole.obsm["p"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    long = annotated(np.vstack([X] * 60), [f"c{i}" for i in range(240)])
    for name, make in {
        "dense": annotated().write_h5ad,
        "zipped": partial(chunked, long),
        "csr": whole.write_h5ad,
        "csc": partial(annotated(sparse.csc_matrix(X)).write_h5ad, compression="gzip"),
    }.items():
        yield WholeFile(name, "h5ad", from_disk(folder, "h5ad", make))
    yield WholeFile("modalities", "h5mu", from_disk(folder, "h5mu", write_h5mu))
    yield WholeFile("Cell Ranger", "h5", from_disk(folder, "h5", cell_ranger))


def chunked(data, path):
    import h5py

    data.write_h5ad(path)
    with h5py.File(path, "r+") as store:
        attributes = dict(store["X"].attrs)
        del store["X"]
        store.create_dataset("X", data=data.X, chunks=(7, 2), compression="gzip", shuffle=True)
        store["X"].attrs.update(attributes)


def zarr_files(folder):
    """Stores of AnnData and MuData."""
    sparse_one, dense_one = annotated(sparse.csr_matrix(X)), annotated()
    dense_one.obsm["p"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of the format, and of mudata
        for name, data in {
            "sparse": sparse_one,
            "dense": dense_one,
            "modalities": mudata.MuData({"rna": sparse_one, "adt": dense_one}),
        }.items():
            data.write_zarr(folder / f"{name}.zarr")
            yield from in_folder("zarr", files_in(folder / f"{name}.zarr"))


def files_in(folder):
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def tenx_files():
    members = {
        "matrix.mtx": saved(mmwrite, sparse.coo_array(SMALL.astype(int))),
        "barcodes.tsv": b"AAC-1\nCCA-1\nTTC-1\n",
        "features.tsv": b"E1\tg\tGene Expression\nE2\tg\tGene Expression\n"
        b"P1\tp\tAntibody Capture\nP2\tq\tAntibody Capture\n",
    }
    yield from in_folder("10x", members)
    zipped = {f"{name}.gz": content for name, content in members.items()}
    yield from in_folder("10x", zipped, gzip.compress)
    yield from in_folder("10x", {name: gzip.compress(one) for name, one in zipped.items()})


def model_files():
    yield WholeFile("model", "zip", MODEL.read_bytes())
    names = zipfile.ZipFile(MODEL).namelist()
    yield from (as_model_member(name) for name in names if name != "sha256.txt")


# Damage

#: Numbers that sizes, offsets and types are overwritten with.
NUMBERS = [0, 1, 2, 7, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**64 - 1]
#: What text and headers are overwritten with.
WORDS = [b"nan", b"-1", b"1e400", b"99999999999", b"true", b'"', b"'", b"\n", b"\r", b"\0", b"\xff"]
WORDS += [b",", b"\t", b";", b"(", b"[", b"{", b"}", b"%", b"#", b" ", b"O", b"|S0", b"<f8", b"2L"]
WORDS += [b"\xef\xbb\xbf", b"\xff\xfe", b"../../evil", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"PAR1"]

_positions = st.integers(0, 2**32)
_lengths = st.integers(1, 64)
_widths = st.sampled_from([1, 2, 4, 8])
_DAMAGES = st.one_of(
    st.tuples(st.just("cut"), _positions),
    st.tuples(st.just("flip"), _positions, st.integers(0, 7)),
    st.tuples(st.just("set"), _positions, st.binary(min_size=1, max_size=4)),
    st.tuples(st.just("number"), _positions, st.sampled_from(NUMBERS), _widths),
    st.tuples(st.just("set"), _positions, st.sampled_from(WORDS)),
    st.tuples(st.just("insert"), _positions, st.sampled_from(WORDS)),
    st.tuples(st.just("insert"), _positions, st.binary(min_size=1, max_size=16)),
    st.tuples(st.just("delete"), _positions, _lengths),
    st.tuples(st.just("repeat"), _positions, _lengths),
    st.tuples(st.just("swap"), _positions, _positions, _lengths),
)


class Case:
    """A file's extension and content; how it was made is for people."""

    def __init__(self, extension, content, made):
        self.extension = extension
        self.content = content
        self.made = made

    def __repr__(self):
        return f"Case({self.extension!r}, {self.made})"


@st.composite
def cases(draw, files, extensions):
    """Damaged files, rarely ones of noise, and whole ones under the name of another format."""
    file = draw(st.sampled_from(files))
    extension = file.extension
    kind = draw(st.integers(0, 19))
    if kind == 19:
        noise = draw(st.binary(min_size=1, max_size=200))
        kept = draw(st.sampled_from([0, 4, 8, 128]))  # so that some look right at first
        return Case(extension, file.content[:kept] + noise, f"noise after {kept} of {file}")
    if kind == 18:
        extension = draw(st.sampled_from(extensions))
        return Case(extension, file.pack(file.content), f"{file}, renamed")
    content = file.content
    done = draw(st.lists(_DAMAGES, min_size=1, max_size=3))
    for what, *where in done:
        content = _damaged(content, what, *where)
    return Case(extension, file.pack(content) or b"\0", f"{file!r}, {done}")


def _damaged(content, what, position, *rest):
    at = _offset(content, position)
    match what:
        case "cut":
            return content[:at]
        case "flip":
            return (
                content[:at] + bytes([content[at] ^ 1 << rest[0]]) + content[at + 1 :]
                if content
                else b""
            )
        case "set":
            return content[:at] + rest[0] + content[at + len(rest[0]) :]
        case "number":
            number, width = rest
            return content[:at] + number.to_bytes(8, "little")[:width] + content[at + width :]
        case "insert":
            return content[:at] + rest[0] + content[at:]
        case "delete":
            return content[:at] + content[at + rest[0] :]
        case "repeat":
            return content[:at] + content[at : at + rest[0]] * 2 + content[at + rest[0] :]
        case "swap":
            first, second = sorted((at, _offset(content, rest[0])))
            n = min(rest[1], second - first, len(content) - second)
            one, other = content[first : first + n], content[second : second + n]
            return (
                content[:first] + other + content[first + n : second] + one + content[second + n :]
            )


def _offset(content, position):
    """An offset of a byte that is not zero: much of some formats is zeros that are never read."""
    filled = np.flatnonzero(np.frombuffer(content, np.uint8))
    return int(filled[position % len(filled)]) if len(filled) else 0

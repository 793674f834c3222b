"""Model files: round trips, and errors for anything else."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import AngularCIGMVC, datasets, load_model, save_model
from manyview.predict._model_file import FORMAT_VERSION, model_bytes

OLD = Path(__file__).parent.parent / "data" / "model-v1.zip"


def blobs():
    return datasets.make_blob_views(60, 3, separation=8.0, random_state=0)


def fitted(**options):
    data = blobs()
    present = np.ones((60, 3), dtype=bool)
    present[40:, 1] = False
    views = {**data.views, "view2": csr_array(np.round(data.views["view2"]))}
    return AngularCIGMVC(3, random_state=0, **options).fit(views, present=present), views


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model of a dense, an incomplete and a sparse view, its file, and what it predicts."""
    model, views = fitted()
    path = tmp_path_factory.mktemp("models") / "model.zip"
    save_model(model.to_model([("a", "b", "c", "d", "e", "f", "g", "<h>"), None, None]), path)
    return path, views, model.to_model().predict(views)


def rewritten(path, folder, change):
    """The same file with its members changed; checksums are made anew unless told otherwise."""
    import hashlib

    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.pop("sha256.txt")
    members = change(members) or members
    if "sha256.txt" not in members:
        sums = [f"{hashlib.sha256(c).hexdigest()}  {n}\n" for n, c in members.items()]
        members["sha256.txt"] = "".join(sums).encode()
    out = folder / "changed.zip"
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out


def test_round_trip(saved):
    path, views, expected = saved
    loaded = load_model(path)
    found = loaded.predict(views)
    np.testing.assert_array_equal(found.shares, expected.shares)
    assert loaded.views[0].features[-1] == "<h>"
    assert loaded.views[1].matrix.shape[0] == 40
    assert isinstance(loaded.views[2].matrix, csr_array)
    assert loaded.about["method"] == "AngularCIGMVC"
    assert loaded.about["parameters"]["n_clusters"] == 3
    assert model_bytes(loaded) == path.read_bytes()


def test_the_file_is_as_documented(saved):
    """Plain numpy and json read it; nothing in it is a pickle."""
    with zipfile.ZipFile(saved[0]) as archive:
        manifest = json.loads(archive.read("model.json"))
        for name in archive.namelist():
            if name.endswith(".npy"):
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
        labels = np.load(io.BytesIO(archive.read("labels.npy")))
    assert manifest["format"] == "manyview model"
    assert manifest["version"] == FORMAT_VERSION
    assert len(labels) == manifest["n_samples"] == 60


def test_an_older_file_still_loads():
    """Written by the first version of the format; made once by this module's `main`."""
    model = load_model(OLD)
    found = model.predict({name: blobs().views[name] for name in ("view0", "view1")})
    assert (found.labels == model.labels).mean() > 0.95
    assert model.about["version"] == "0.1.0"


def test_every_truncation_is_refused(saved, tmp_path):
    content = saved[0].read_bytes()
    cut = tmp_path / "cut.zip"
    for length in [0, 1, 3, *range(4, len(content), max(1, len(content) // 60)), len(content) - 1]:
        cut.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cut\.zip is not a complete manyview model file: "):
            load_model(cut)


def test_flipped_bytes_are_refused_or_change_nothing(saved, tmp_path, rng):
    """Bytes that are never used, such as dates in the archive's directory, may differ."""
    path, views, expected = saved
    content = path.read_bytes()
    changed = tmp_path / "changed.zip"
    refused = 0
    for position in rng.choice(len(content), 300, replace=False):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(rng.integers(8))
        changed.write_bytes(damaged)
        try:
            model = load_model(changed)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_array_equal(model.predict(views).shares, expected.shares)
    assert refused > 200


def header(shape, dtype="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def with_manifest(**entries):
    def change(members):
        manifest = json.loads(members["model.json"]) | entries
        members["model.json"] = json.dumps(manifest).encode()

    return change


def with_views(**entries):
    def change(members):
        manifest = json.loads(members["model.json"])
        manifest["views"] = [view | entries for view in manifest["views"]]
        members["model.json"] = json.dumps(manifest).encode()

    return change


def with_member(name, content):
    def change(members):
        members[name] = content

    return change


def array(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def with_starts(starts):
    """A sparse view without entries, the rows of which start anywhere."""

    def change(members):
        members["view2/indptr.npy"] = array(np.array([0, *starts, *[0] * 60])[:61])
        members["view2/indices.npy"] = array(np.empty(0, dtype=np.int64))
        members["view2/data.npy"] = array(np.empty(0))

    return change


def pickled():
    stream = io.BytesIO()
    np.save(stream, np.array([{}] * 60, dtype=object), allow_pickle=True)
    return stream.getvalue()


WRONG = {
    "another format": (with_manifest(format="other"), "does not say 'manyview model'"),
    "from the future": (with_manifest(version=99), "is a model file of format 99; expected"),
    "no version": (with_manifest(version=True), "its version is True"),
    "bad seed": (with_manifest(seed=-5), "no seed"),
    "no weights": (with_views(weight=0.0), "no weights"),
    "same names": (with_views(name="twin"), "same names"),
    "no views": (with_manifest(views=[]), "no views"),
    "bad scaling": (with_views(scaling="__import__"), "the scaling of view 0 is '__import__'"),
    "other length": (with_manifest(n_samples=61), r"labels has shape \(60,\)"),
    "no labels": (lambda members: members.pop("labels.npy") and None, "labels.npy"),
    "huge shape": (
        with_member("labels.npy", header((2**40,), "<i8")), r"labels has shape \(1099511627776,\)"
    ),
    "a lying header": (
        with_member("labels.npy", header((60,), "<i8") + b"1234"), "bytes for shape"
    ),
    "a header that is none": (
        with_member("labels.npy", header((60,), "<i8").replace(b"{", b"z")), "a complete manyview"
    ),
    "rows that start outside": (with_starts([2**40]), "index pointers do not ascend"),
    "rows that start before": (with_starts([-(2**40)]), "index pointers do not ascend"),
    "a pickle": (with_member("labels.npy", pickled()), "type object"),
    "labels out of range": (
        with_member("labels.npy", header((60,), "<i8") + np.full(60, 7).tobytes()),
        "labels are not 0 to 2",
    ),
    "not json": (with_member("model.json", b"{"), "Expecting property name"),
    "nonsense": (with_member("model.json", b"[1]"), "does not say"),
    "wrong checksum": (
        with_member("sha256.txt", b"0" * 64 + b"  model.json\n"), "does not list its members"
    ),
    "a stranger": (with_member("../../etc/passwd", b"x"), None),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_say_what_is_wrong(case, saved, tmp_path):
    change, message = WRONG[case]
    path = rewritten(saved[0], tmp_path, change)
    if message is None:  # ignored: members are never unpacked
        load_model(path)
        assert {entry.name for entry in tmp_path.iterdir()} == {"changed.zip"}
        return
    with pytest.raises(ValueError, match=message):
        load_model(path)


def test_headers_written_by_python_2(saved, tmp_path):
    def change(members):
        members["labels.npy"] = members["labels.npy"].replace(b"(60,), ", b"(60L,),")

    assert len(load_model(rewritten(saved[0], tmp_path, change)).labels) == 60


def test_members_before_the_start_of_the_file(saved, tmp_path):
    """Bytes missing before the directory shift the positions of all members."""
    content = saved[0].read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(content[:3000] + content[4000:])
    with pytest.raises(ValueError, match=r"cut\.zip is not a complete manyview model file: "):
        load_model(cut)


def test_compressed_members_are_refused(saved, tmp_path):
    """They could need more memory than the size of the file."""
    out = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(saved[0]) as archive,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for name in archive.namelist():
            bomb.writestr(name, archive.read(name))
        bomb.writestr("zeros.npy", bytes(10**8))
    assert out.stat().st_size < 10**6
    with pytest.raises(ValueError, match="compressed"):
        load_model(out)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model(tmp_path / "nowhere.zip")
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(ValueError, match="not a complete manyview model file"):
        load_model(tmp_path / "text.zip")
    np.savez(tmp_path / "arrays.zip", a=np.zeros(3))
    with pytest.raises(ValueError, match="not a complete manyview model file"):
        load_model(tmp_path / "arrays.zip.npz")


def main():
    """Write the file of `test_an_older_file_still_loads`; not to be done again."""
    save_model(fitted()[0].to_model(), OLD)


if __name__ == "__main__":
    main()


def test_categories_are_in_the_file(tmp_path):
    import pandas as pd

    import manyview

    data = manyview.datasets.make_blob_views(60, 3, separation=8.0, random_state=0)
    frame = pd.DataFrame(data.views["view0"]).add_prefix("f")
    frame["kind"] = pd.Categorical(np.array(["u", "v", "w"])[data.target])
    result = manyview.cluster({"a": frame}, 3, categorical=["kind"])
    result.save_model(tmp_path / "model.zip")
    model = manyview.load_model(tmp_path / "model.zip")
    assert model.views[0].categories == {"kind": ("u", "v", "w")}
    new = frame[::-1].reset_index(drop=True)
    new.loc[0, "f0"] = np.nan
    assert (model.predict({"a": new}, impute="median").labels == result.labels[::-1]).mean() > 0.97
    with pytest.raises(ValueError, match="lacks the categorical column 'kind'"):
        model.predict({"a": new.drop(columns="kind")}, impute="median")

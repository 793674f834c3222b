"""Files that would run, write or read elsewhere. Each function of `TRAPS` writes one into the
current folder and returns its name."""

import os
import pickle
import stat
import zipfile

import numpy as np
import pytest

from tests.helpers.damaged_files import saved
from tests.helpers.hostile_hdf5 import changed, with_x
from tests.helpers.table_files import X, write

h5py = pytest.importorskip("h5py")


class _Trap:
    def __reduce__(self):
        return os.mkdir, ("opened",)


def pickled_array():
    np.save("x.npy", np.array([[_Trap()]]), allow_pickle=True)
    return "x.npy"


def pickle_alone():
    return write("x.npy", pickle.dumps(_Trap()))


def pickle_in_an_archive():
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", saved(np.save, X))
        archive.writestr("id.npy", saved(np.save, np.array([_Trap()] * 4)))
        archive.writestr("note.npy", pickle.dumps(_Trap()))
    return "x.npz"


def _archive_of(*names):
    with zipfile.ZipFile("x.npz", "w") as archive:
        for name in names:
            archive.writestr(name, saved(np.save, X))
    return "x.npz"


def paths_that_lead_out():
    return _archive_of("../../evil.npy", "../x.npy", "/tmp/evil.npy", "..\\evil.npy", "a/b.npy")


def links_in_an_archive():
    with zipfile.ZipFile("x.npz", "w") as archive:
        link = zipfile.ZipInfo("x.npy")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return "x.npz"


def names_of_two_lines():
    return _archive_of("x\ny.npy", "\x1b[31m\r\n.npy")


def a_link_out_of_hdf5():
    def change(store):
        del store["X"]
        store["X"] = h5py.ExternalLink("/etc/passwd", "/X")

    return changed(change)


def numbers_of_another_file():
    return with_x(shape=(4, 3), external=[("/etc/passwd", 0, 96)])


TRAPS = {
    trap.__name__.replace("_", " "): trap
    for trap in (
        pickled_array,
        pickle_alone,
        pickle_in_an_archive,
        paths_that_lead_out,
        links_in_an_archive,
        names_of_two_lines,
        a_link_out_of_hdf5,
        numbers_of_another_file,
    )
}

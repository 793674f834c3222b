"""What a long fit keeps on disk, to go on from after an interruption.

Everything that a fit does follows from its input, its parameters and its seed, so a fit that goes
on from what was kept ends bit by bit where it would have ended without the interruption.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyview.runtime._archive import ARCHIVE_ERRORS, Archive, read_archive, write_archive
from manyview.runtime._atomic_write import check_folder, write_file

#: Raised whenever older programs could not read what newer ones write.
FORMAT_VERSION = 1
_FORMAT = "manyview checkpoint"
_MANIFEST = "checkpoint.json"
_SUFFIX = ".checkpoint.zip"
# Share of the time of a loop that keeping its state may take.
_SHARE = 0.1


class Checkpoint:
    """A folder with what one fit has so far.

    Parameters
    ----------
    folder : made when something is kept
    fit : what the fit is of, in what JSON can hold
        Kept along with everything. A folder that has something of another fit is refused.
    """

    def __init__(self, folder: str | Path, fit: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        check_folder(self.folder)
        self._fit = dict(fit)
        self._own: set[Path] = set()
        self._ended = self._took = 0.0

    def is_due(self) -> bool:
        """Whether enough time has passed to keep the state of a loop again.

        Every round of a small problem; of a large one as often as it takes a tenth of the time.
        """
        return time.monotonic() - self._ended >= self._took / _SHARE

    def save(self, name: str, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Write something under a name, over what had it."""
        began = time.monotonic()
        manifest = {
            "format": _FORMAT,
            "version": FORMAT_VERSION,
            "fit": self._fit,
            "about": dict(about),
        }
        write_file(
            self._path(name), lambda stream: write_archive(stream, _MANIFEST, manifest, arrays)
        )
        self._own.add(self._path(name))
        self._ended = time.monotonic()
        self._took = self._ended - began

    def load(self, name: str) -> Archive | None:
        """What was kept under a name, None if nothing was; its manifest is `about`."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            found = read_archive(path, _MANIFEST)
            manifest = found.manifest
            if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
                raise ValueError(f"it does not say '{_FORMAT}'")
            version, fit, about = manifest["version"], dict(manifest["fit"]), manifest["about"]
        except ARCHIVE_ERRORS as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"{path} is no whole checkpoint: {reason}; expected one, or a folder without it"
            ) from error
        if version != FORMAT_VERSION:
            raise ValueError(
                f"{path} is a checkpoint of format {version}; expected {FORMAT_VERSION}, or a "
                "folder without it"
            )
        self._check_same(path, fit)
        self._own.add(path)
        return Archive(about, found.members)

    def clear(self) -> None:
        """Remove what this fit kept or went on from, and the folder if nothing else is in it."""
        for path in self._own:
            path.unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"

    def _check_same(self, path: Path, fit: Mapping[str, Any]) -> None:
        for key in dict.fromkeys([*self._fit, *fit]):
            now, then = self._fit.get(key), fit.get(key)
            if now != then:
                raise ValueError(
                    f"{path} is of another fit: {key} was {then!r}, now it is {now!r}; expected "
                    "the same data and parameters, or another folder"
                )

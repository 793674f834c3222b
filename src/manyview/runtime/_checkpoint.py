"""Checkpoints: intermediate results of a long fit on disk, to resume it after an interruption.

A fit depends only on its input, parameters and seed, so a resumed fit ends with the same bits as
an uninterrupted one.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from manyview.runtime._archive import ARCHIVE_ERRORS, Archive, read_archive, write_archive
from manyview.runtime._atomic_write import check_folder, write_file

#: Increased when older versions can't read what newer ones write.
FORMAT_VERSION = 1
_FORMAT = "manyview checkpoint"
_MANIFEST = "checkpoint.json"
_SUFFIX = ".checkpoint.zip"
# Saving may take this share of the time of a loop.
_SHARE = 0.1


class Checkpoint:
    """A folder with the intermediate results of one fit.

    Parameters
    ----------
    folder : created when something is saved
    fit : data and parameters of the fit, as JSON values
        Saved with every result. Results of a different fit are refused.
    """

    def __init__(self, folder: str | Path, fit: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        check_folder(self.folder)
        self._fit = dict(fit)
        self._own: set[Path] = set()
        self._ended = self._took = 0.0

    def is_due(self) -> bool:
        """Whether to save the state of a loop again, so that saving takes a tenth of the time."""
        return time.monotonic() - self._ended >= self._took / _SHARE

    def save(self, name: str, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Save arrays and JSON values (`about`) under a name, replacing earlier ones."""
        began = time.monotonic()
        manifest = {
            "format": _FORMAT,
            "version": FORMAT_VERSION,
            "fit": self._fit,
            "about": dict(about),
        }
        path = self._path(name)
        write_file(path, lambda stream: write_archive(stream, _MANIFEST, manifest, arrays))
        self._own.add(path)
        self._ended = time.monotonic()
        self._took = self._ended - began

    def load(self, name: str) -> Archive | None:
        """What was saved under a name, with `about` as manifest; None if nothing was."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            found = read_archive(path, _MANIFEST)
            manifest = found.manifest
            if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
                raise ValueError(f"its format is not '{_FORMAT}'")
            version, fit, about = manifest["version"], dict(manifest["fit"]), manifest["about"]
        except ARCHIVE_ERRORS as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"{path} is no complete checkpoint: {reason}; expected one, or a folder without it"
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
        """Remove what this fit saved or resumed from, and the folder if it is empty then."""
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

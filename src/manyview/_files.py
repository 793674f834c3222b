"""Writing files whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def check_writable(path: Path) -> None:
    """Raise what writing to `path` would raise, before the work that makes its content."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file, or none yet")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent):
        pass


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that at every moment the old one or the new one is there, entire."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file, or none yet")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(draft, 0o644)  # mkstemp's 0600 would keep others from reading a report
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def check_free(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Raise if files could not be written to a folder, or, without `force`, are there already."""
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken and not force:
        raise FileExistsError(
            f"{folder / taken[0]} exists already; expected another --output, or --force to write "
            "over it"
        )
    for name in taken:
        if (folder / name).is_dir():
            raise IsADirectoryError(f"{folder / name} is a folder; expected a file, or none yet")
    places = (folder, *folder.absolute().parents)
    there = next(place for place in places if os.path.lexists(place))
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is no folder; expected a folder, or nothing yet")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OSError(f"{there} can't be written to: {error.strerror}") from error


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files whole, and all of them or none.

    Where the folder is not there yet, they are made in one beside it that then becomes it, in a
    single step; else in one inside of it, and every file is put in its place when all are ready.
    """
    folder = folder.absolute()
    new = not folder.exists()
    home = folder.parent if new else folder
    home.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=home, prefix=f".{folder.name}.", suffix=".tmp"))
    try:
        for name, content in files.items():
            with (draft / name).open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        if new:
            os.chmod(draft, 0o755)  # mkdtemp's 0700 would keep others from reading
            os.rename(draft, folder)
        else:
            for name in files:
                os.replace(draft / name, folder / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # gone already where it became the folder

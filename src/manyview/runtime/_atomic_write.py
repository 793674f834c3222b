"""Writing files whole or not at all.

What is not ready yet is in a draft: a hidden folder where the files are meant to go, locked by the
process that fills it. A process that is killed leaves its draft, but not the lock: the next one
that writes to the same place removes it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from manyview._signals import defer_stop_signals

if sys.platform != "win32":  # there drafts have no lock, and none is taken for a dead one
    import fcntl

# On some network file systems a lock is seen on its own machine only.
_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_DRAFT = re.compile(rf"\.manyview-{_HOST}-[0-9a-f]{{16}}\.draft")


def check_writable(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Raise if files could not be written to a folder, or, without `force`, are there already."""
    taken = [name for name in names if os.path.lexists(folder / name)]
    if taken and not force:
        raise FileExistsError(
            f"{folder / taken[0]} exists already; expected another --output, or --force to write "
            "over it"
        )
    for name in taken:
        _check_place(folder / name)
    places = (folder, *folder.absolute().parents)
    there = next(place for place in places if os.path.lexists(place))
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is no folder; expected a folder, or nothing yet")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OSError(f"{there} can't be written to: {error.strerror}") from error


def check_folder(folder: Path) -> None:
    """Raise if there is something, but no folder, at the place of a folder."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; expected a folder, or nothing yet")


def write_file(path: Path, content: str | bytes | Callable[[IO[bytes]], None]) -> None:
    """Write a file so that at every moment the old one or the new one is there, entire.

    The content may be a function that writes it to a stream, where it is too large to hold twice.
    """
    _check_place(path)
    path = Path(os.path.realpath(path))  # a link stays one, and what it leads to is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    with _draft(path.parent) as draft:
        new = draft / "new"
        _write(new, content.encode() if isinstance(content, str) else content, path)
        os.replace(new, path)


def write_files(folder: Path, files: Mapping[str, bytes], *, without: Iterable[str] = ()) -> None:
    """Write files whole, and all of them or none; those named in `without` go.

    Where the folder is not there yet, they are made in one beside it that then becomes it, in a
    single step. Else they are made inside of it; then what they replace is taken out, the last
    first, and they are put in, the last last. A process killed in that moment leaves some files
    of one set, never of two, and not the last.
    """
    folder = folder.absolute()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _draft(folder.parent) as draft:
            for name, content in files.items():
                _write(draft / name, content, folder / name)
            os.rename(draft, folder)
        return
    replaced = [name for name in dict.fromkeys([*without, *files]) if _there(folder / name)]
    with _draft(folder) as draft:
        new, old = draft / "new", draft / "old"
        new.mkdir()
        old.mkdir()
        for name, content in files.items():
            _write(new / name, content, folder / name)
        with defer_stop_signals():
            _exchange(folder, replaced[::-1], old, list(files), new)


def _exchange(folder: Path, replaced: list[str], old: Path, placed: list[str], new: Path) -> None:
    """Take files out and others in; or, if that fails, leave everything as it was."""
    moves = [(folder / name, old / name) for name in replaced]
    moves += [(new / name, folder / name) for name in placed]
    done = []
    try:
        for source, target in moves:
            os.rename(source, target)
            done.append((source, target))
    except OSError:
        for source, target in reversed(done):
            os.rename(target, source)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _check_place(path: Path) -> None:
    """A folder, a device or a pipe is not to be replaced by a file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file, or none yet")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file; expected a file, or none yet")


def _there(path: Path) -> bool:
    _check_place(path)
    return os.path.lexists(path)


def _write(path: Path, content: bytes | Callable[[IO[bytes]], None], meant: Path) -> None:
    """Write a file of a draft, down to the disk; an error names the file it is meant for."""
    try:
        with path.open("wb") as stream:
            if callable(content):
                content(stream)
            else:
                stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        error.filename = str(meant)
        raise


@contextmanager
def _draft(home: Path) -> Iterator[Path]:
    """A folder for what is not ready yet; gone afterwards, unless it was renamed."""
    _remove_dead(home)
    draft = _draft_name(home)
    locks: list[int] = []
    try:
        while True:
            try:
                draft.mkdir()
            except OSError as error:
                error.filename = str(home)
                raise
            lock = _lock(draft, wait=True)
            if lock is not None:
                locks.append(lock)
            if draft.is_dir():
                break
            draft = _draft_name(home)  # it was taken for a dead one before it was locked
        yield draft
    finally:
        try:
            _remove(draft, locks)
        except KeyboardInterrupt:  # it may have come just before requests were held back
            _remove(draft, locks)
            raise


def _remove(draft: Path, locks: list[int]) -> None:
    with defer_stop_signals():
        if not _any_in(draft / "old"):  # what could not be put back is not thrown away
            shutil.rmtree(draft, ignore_errors=True)
        while locks:
            os.close(locks.pop())


def _draft_name(home: Path) -> Path:
    return home / f".manyview-{_HOST}-{secrets.token_hex(8)}.draft"


def _any_in(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _remove_dead(home: Path) -> None:
    """Remove drafts of this machine and user that no process has a lock on any more."""
    with os.scandir(home) as entries:
        drafts = [Path(entry.path) for entry in entries if _DRAFT.fullmatch(entry.name)]
    for draft in drafts:
        lock = _lock(draft, wait=False)
        if lock is None:
            continue
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                shutil.rmtree(draft, ignore_errors=True)
        finally:
            os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """Lock a folder until the handle is closed or the process ends.

    None where it is gone, another process has it, or the file system knows no locks.
    """
    if sys.platform == "win32":
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle

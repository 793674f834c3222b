"""Writing files completely or not at all.

New files are first written to a draft, a hidden folder beside their destination, and then renamed.
A killed process leaves its draft behind; the next write to the same folder removes it.
"""

import os
import platform
import secrets
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from manyview._signals import defer_stop_signals

if sys.platform != "win32":
    import fcntl

# Part of a draft's name: on some network file systems other machines do not see a lock.
_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
_OLD = ".old"


def check_writable(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Raise if files can't be written to a folder or, without `force`, exist already."""
    existing = [name for name in names if os.path.lexists(folder / name)]
    if existing and not force:
        raise FileExistsError(
            f"{folder / existing[0]} exists already; expected another --output, or --force to "
            "replace it"
        )
    for name in existing:
        _check_replaceable(folder / name)
    nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    check_folder(nearest)
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise OSError(f"{nearest} can't be written to: {error.strerror}") from error


def check_folder(folder: Path) -> None:
    """Raise if the path exists but is no folder."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; expected a folder, or nothing yet")


def write_file(path: Path, content: str | bytes | Callable[[IO[bytes]], None]) -> None:
    """Write a file so that at every moment the complete old or the complete new one is there.

    `content` may be a function that writes to a stream, for content too large to hold twice.
    """
    _check_replaceable(path)
    path = Path(os.path.realpath(path))  # a link stays a link, its target is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    with _draft(path.parent) as draft:
        _write(draft / "new", content.encode() if isinstance(content, str) else content, path)
        os.replace(draft / "new", path)


def write_files(folder: Path, files: Mapping[str, bytes], *, without: Iterable[str] = ()) -> None:
    """Write a set of files, all or none; remove those named in `without`.

    A new folder appears in a single step. In an existing folder old files are moved out in reverse
    order and new ones moved in in order: the last file marks a complete set. A process killed in
    between leaves some files of one set, never of two, and not the last.
    """
    folder = folder.absolute()
    is_new = not folder.exists()
    folder.parent.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in dict.fromkeys([*without, *files])]
    replaced = [path for path in paths if os.path.lexists(path)]
    for path in replaced:
        _check_replaceable(path)
    with _draft(folder.parent if is_new else folder) as draft:
        for name, content in files.items():
            _write(draft / name, content, folder / name)
        if is_new:
            os.rename(draft, folder)
            return
        old = draft / _OLD
        old.mkdir()
        moves = [(path, old / path.name) for path in reversed(replaced)]
        _move_all(moves + [(draft / name, folder / name) for name in files])
        shutil.rmtree(old, ignore_errors=True)


def _move_all(moves: list[tuple[Path, Path]]) -> None:
    """Rename files in order; after an error, undo what was done."""
    done = []
    try:
        for source, target in moves:
            os.rename(source, target)
            done.append((source, target))
    except OSError:
        for source, target in reversed(done):
            os.rename(target, source)
        raise


def _check_replaceable(path: Path) -> None:
    """Raise if the path is a folder, a device or a pipe."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; expected a file, or none yet")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file; expected a file, or none yet")


def _write(path: Path, content: bytes | Callable[[IO[bytes]], None], destination: Path) -> None:
    """Write a file of a draft down to the disk; errors name the destination."""
    with _errors_name(destination), path.open("wb") as stream:
        content(stream) if callable(content) else stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def _errors_name(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def _draft(home: Path) -> Iterator[Path]:
    """A temporary folder in `home`, removed at the end unless it was renamed.

    Stop signals are deferred until then.
    """
    draft = home / f".manyview-{_HOST}-{secrets.token_hex(8)}.draft"
    with _lock(home), defer_stop_signals():
        with _errors_name(home):
            draft.mkdir()
        try:
            yield draft
        finally:
            if not any((draft / _OLD).glob("*")):  # files that could not be moved back stay
                shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _lock(home: Path) -> Iterator[None]:
    """Remove drafts of killed processes, then hold a shared lock on a folder.

    Every writer holds one, so nobody uses the drafts that are there under an exclusive lock.
    Without locks (on Windows and some file systems) old drafts stay.
    """
    handle = None
    try:
        with suppress(OSError):
            handle = os.open(home, os.O_RDONLY)  # Windows opens no folders
            with suppress(OSError):  # somebody else is writing
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_drafts(home)
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _remove_drafts(home: Path) -> None:
    """Remove all drafts of this machine and user."""
    for draft in home.glob(f".manyview-{_HOST}-{'[0-9a-f]' * 16}.draft"):
        found = draft.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            shutil.rmtree(draft, ignore_errors=True)

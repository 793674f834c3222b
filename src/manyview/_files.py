"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
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

"""What every room stands on: checks, logging, the run of a fit, memory, checkpoints, files."""

from manyview.runtime._archive import DAMAGE, Archive, archive_bytes, read_archive
from manyview.runtime._atomic_write import check_folder, check_free, write_all, write_whole
from manyview.runtime._checkpoint import Checkpoint
from manyview.runtime._checks import check_choice, check_integer, check_real, importing
from manyview.runtime._log import logger, verbosity
from manyview.runtime._memory import (
    Estimate,
    NotEnoughMemoryError,
    available,
    check,
    fits,
    in_words,
    memory_limit,
    room,
)
from manyview.runtime._run import Run

__all__ = [
    "DAMAGE",
    "Archive",
    "Checkpoint",
    "Estimate",
    "NotEnoughMemoryError",
    "Run",
    "archive_bytes",
    "available",
    "check",
    "check_choice",
    "check_folder",
    "check_free",
    "check_integer",
    "check_real",
    "fits",
    "importing",
    "in_words",
    "logger",
    "memory_limit",
    "read_archive",
    "room",
    "verbosity",
    "write_all",
    "write_whole",
]

"""Used everywhere: checks, logging, seed and timings of a fit, memory, checkpoints, files."""

from manyview.runtime._archive import ARCHIVE_ERRORS, Archive, archive_bytes, read_archive
from manyview.runtime._atomic_write import check_folder, check_writable, write_file, write_files
from manyview.runtime._checkpoint import Checkpoint
from manyview.runtime._checks import (
    check_choice,
    check_integer,
    check_real,
    did_you_mean,
    require_extra,
    require_pandas,
)
from manyview.runtime._eigen import some_eigenpairs
from manyview.runtime._log import logger, verbosity, warn
from manyview.runtime._memory import (
    Estimate,
    NotEnoughMemoryError,
    available_memory,
    check_memory,
    format_bytes,
    memory_left,
    memory_limit,
)
from manyview.runtime._row_share import RowShare, segment_length, total_of
from manyview.runtime._run import Run
from manyview.runtime._threads import in_threads, n_threads, one_blas_thread, thread_pools

"""What Windows does not have, taken away from a Python on Linux."""

import os
import shutil
import signal
import sys

_SIGNALS = (
    "SIGHUP", "SIGPROF", "SIGALRM", "setitimer", "ITIMER_PROF", "pthread_sigmask",
)  # fmt: skip
_OS = ("fork", "geteuid", "getuid")


def take_away():
    """For `sitecustomize` of a process of its own."""
    for module, names in ((signal, _SIGNALS), (os, _OS)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    sys.modules["resource"] = None  # as if it were not installed
    os.open = without_folders(os.open)
    shutil._use_fd_functions = False  # it opens folders where it can


def without_folders(opened):
    """`os.open` as it is on Windows, which opens no folders."""

    def open_file(path, *rest, **options):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **options)

    return open_file

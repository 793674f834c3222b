"""The command line as a process, and what it writes."""

import csv
import subprocess
import sys


def run(*arguments, **kwargs):
    command = [sys.executable, "-m", "manyview", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)


def labels_in(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))

"""What reports need beyond the core install."""

from importlib.util import find_spec
from pathlib import Path

from manyview.cli._terminal import print_line, print_path

_NEEDED = ("jinja2", "matplotlib")


def missing_for_report() -> str:
    """What is not installed and how to install it, in words; nothing if reports can be written."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    return f"needs {' and '.join(missing)}: pip install 'manyview[report]'" if missing else ""


def print_page(label: str, path: Path) -> None:
    """Where the page is, or why there is none."""
    if missing := missing_for_report():
        print_line(f"{label}: not written, {missing}")
    else:
        print_path(label, path)


def require_report(what: str) -> None:
    """Refuse a command or option whose purpose is a report, before the work."""
    if missing := missing_for_report():
        raise ImportError(f"{what}: the report {missing}")

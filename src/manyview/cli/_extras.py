"""What reports need beyond the core install."""

from importlib.util import find_spec

_NEEDED = ("jinja2", "matplotlib")


def missing_for_report() -> str:
    """What is not installed and how to install it, in words; nothing if reports can be written."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    return f"needs {' and '.join(missing)}: pip install 'manyview[report]'" if missing else ""


def require_report(what: str) -> None:
    """Refuse a command or option whose purpose is a report, before the work."""
    if missing := missing_for_report():
        raise ImportError(f"{what}: the report {missing}")

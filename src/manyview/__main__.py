"""The ``manyview`` command, also as ``python -m manyview``."""

import sys
from contextlib import suppress

from manyview._signals import handle_stop_signals, ignore_stop_signals, raise_if_stopped


def main() -> int:
    """Run the command; a stop signal ends it with one line, even during the imports."""
    try:
        handle_stop_signals()
        from manyview.cli import main as run

        code = run()
        if code == 0:
            raise_if_stopped()
        return code
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # the terminal may be closed
            sys.stderr.write(f"manyview: interrupted{stop}\n")
        return 130
    finally:
        ignore_stop_signals()  # Python is about to exit


if __name__ == "__main__":
    sys.exit(main())

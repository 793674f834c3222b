"""The ``manyview`` command, also as ``python -m manyview``."""

import sys
from contextlib import suppress

from manyview._signals import handle_stop_signals, ignore_stop_signals


def main() -> int:
    """Run the command; a stop signal ends it with one line, even during the imports."""
    try:
        handle_stop_signals()
        from manyview.cli import main as run

        return run()
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be closed
            sys.stderr.write("manyview: interrupted\n")
        return 130
    finally:
        ignore_stop_signals()  # Python is about to exit


if __name__ == "__main__":
    sys.exit(main())

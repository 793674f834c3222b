"""The ``manyview`` command, also as ``python -m manyview``."""

import sys
from contextlib import suppress

from manyview._signals import handle_stop_signals, ignore_stop_signals


def main() -> int:
    """Entry point; a request to stop is answered in one line even while the rest is imported."""
    try:
        handle_stop_signals()
        from manyview.cli import main as run

        return run()
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be what has gone
            sys.stderr.write("manyview: interrupted\n")
        return 130
    finally:
        ignore_stop_signals()  # what comes now would only disturb the interpreter's end


if __name__ == "__main__":
    sys.exit(main())

"""The ``manyview`` command, also as ``python -m manyview``."""

import sys
from contextlib import suppress

from manyview._signals import ignore, listen


def main() -> int:
    """Entry point; a request to stop is answered in one line even while the rest is imported."""
    try:
        listen()
        from manyview.cli import main as run

        return run()
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal may be what has gone
            sys.stderr.write("manyview: interrupted\n")
        return 130
    finally:
        ignore()  # what comes now would only disturb the interpreter's end


if __name__ == "__main__":
    sys.exit(main())

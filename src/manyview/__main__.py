"""``python -m manyview`` is the ``manyview`` command."""

import sys

from manyview.cli import main

sys.exit(main())

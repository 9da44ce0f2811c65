"""``python -m baton_runner``: the same as the ``baton`` command."""

import sys

from baton_runner.cli import main

if __name__ == "__main__":
    sys.exit(main())

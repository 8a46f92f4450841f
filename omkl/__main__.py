"""``python -m omkl`` is the ``omkl`` command."""

import sys

from omkl.cli import command

if __name__ == "__main__":
    sys.exit(command())

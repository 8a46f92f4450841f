"""The process of the ``omkl`` command, also as ``python -m omkl``."""

import atexit
import gc
import sys

from omkl.cli import main

__all__ = ["command"]


def command() -> int:
    """Run the command of this process's arguments and return its exit code."""
    # Python looks for garbage 350 times in a first run, nearly always among what libraries define, and once
    # more at its end: 0.2 s of 1.3 s.
    gc.set_threshold(100_000, 10, 10)
    atexit.register(gc.freeze)
    return main()


if __name__ == "__main__":
    sys.exit(command())

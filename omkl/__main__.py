"""``python -m omkl`` is the ``omkl`` command."""

import os
import sys


def _leave_the_current_folder() -> None:
    """Import nothing more from the current folder, which ``python -m`` puts first, unless omkl is there."""
    if sys.flags.safe_path:
        return
    here = sys.path[0]
    if os.path.dirname(os.path.dirname(__file__)) != here:
        del sys.path[0]
    else:  # a checkout that is not installed: the processes that this one starts need it too
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))


if __name__ == "__main__":
    _leave_the_current_folder()

    from omkl.cli import command

    sys.exit(command())

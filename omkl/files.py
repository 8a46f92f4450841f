"""Files that several processes share: written whole or not at all, and locks.

The locks are those of the system (by filelock), which end with the process that held them. Where there are
none, filelock takes the existence of the lock's file in their place, and breaks a lock whose process has died
on the same machine.
"""

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock as Lock
else:
    Lock = object


@contextlib.contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file; a second process waits (and says so) until the first is done.

    what: what the holder does, such as "submitting". Raises OSError where it cannot be locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = hold(path)
    if lock is None:
        print(f"waiting: another process is {what}", file=sys.stderr, flush=True)
        lock = hold(path, wait=True)
    try:
        yield
    finally:
        lock.release()


def hold(path: Path, wait: bool = False) -> Lock | None:
    """Take a lock file and return its lock, to be released; None where another process holds it.

    Raises OSError where it cannot be locked.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[sS]oft.*", category=UserWarning)  # as said above
        from filelock import FileLock, Timeout

        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            return None
    return lock


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A new file that takes the target's place when the block ends well, and vanishes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

"""The temporary files of a run outside its store, and the removal of those that killed runs left.

A run that starts workers has a folder ``omkl-…`` in the folder for temporary files. Its file ``owner`` names
the run's machine and process, which holds the lock ``lock`` as long as it lives. So neither a process number
that is used again nor a process in another container is taken for it. Its semaphores and shared arrays carry
its process number.
"""

import contextlib
import json
import multiprocessing.process
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from omkl.files import hold, locked

PREFIX = "omkl-"
_FORGOTTEN = 7 * 24 * 3600.0  # seconds after which a folder that names no owner has none
_SHARED = Path("/dev/shm")  # where Linux keeps named semaphores


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for temporary files, removed at the end, or by a later run if this process is killed."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with locked(folder / "lock", "using it"):  # before the owner is named: a sweep looks at both
            (folder / "owner").write_text(
                json.dumps({"host": socket.gethostname(), "pid": os.getpid()}), encoding="utf-8"
            )
            yield folder


@cache
def remove_leftovers() -> None:
    """Remove the leftovers of this user's killed runs, once per process, as far as that is possible."""
    if sys.platform == "win32":  # it has none of these semaphores
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if _mine(folder) and folder.is_dir() and not folder.is_symlink():
                _sweep(folder)


def mark_semaphores() -> None:
    """Give the named semaphores that multiprocessing makes from now on this process's number."""
    # there is no public way; loky's semaphores carry the number already
    multiprocessing.process.current_process()._config["semprefix"] = f"/{PREFIX}{os.getpid()}"  # type: ignore[attr-defined]


def _sweep(folder: Path) -> None:
    try:
        owner = json.loads((folder / "owner").read_text(encoding="utf-8") or "{}")
    except FileNotFoundError:
        owner = {}
    if not owner:  # killed before it was written, or of an older version
        newest = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
        if time.time() - newest >= _FORGOTTEN:
            shutil.rmtree(folder)
    elif lock := hold(folder / "lock"):
        try:
            pid = int(owner["pid"])
            if owner["host"] == socket.gethostname() and not _alive(pid):
                _remove_shared(pid)
                shutil.rmtree(folder)
        finally:
            lock.release()


def _remove_shared(pid: int) -> None:
    """Remove the semaphores and the shared arrays of a process that is gone."""
    for name in (f"sem.loky-{pid}-*", f"sem.{PREFIX}{pid}-*"):
        for path in filter(_mine, _SHARED.glob(name)):
            path.unlink(missing_ok=True)
    for place in (_SHARED, Path(tempfile.gettempdir())):
        for path in filter(_mine, place.glob(f"joblib_memmapping_folder_{pid}_*")):
            shutil.rmtree(path, ignore_errors=True)


def _mine(path: Path) -> bool:
    return path.lstat().st_uid == os.getuid()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True

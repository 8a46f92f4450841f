"""What a run puts outside its store while it lasts, and removing what killed runs left there.

A run that starts workers has a folder ``omkl-…`` in the folder for temporary files. In it ``owner`` names the
run's machine and process, which holds a lock on that file as long as it lives: no process number that is used
again, and no other container, can be taken for it. Its semaphores and shared arrays carry its number.
"""

import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PREFIX = "omkl-"
_FORGOTTEN = 7 * 24 * 3600.0  # seconds after which a folder that names no owner has none
_SHARED = Path("/dev/shm")  # where Linux keeps named semaphores


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for temporary files, removed in the end, or by a later run if this process is killed."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        owner = Path(name, "owner")
        with open(owner, "w") as file:
            _lock(file)
            json.dump({"host": socket.gethostname(), "pid": os.getpid()}, file)
            file.flush()
            yield Path(name)


@cache
def sweep() -> None:
    """Remove what killed runs of this user left, once per process. What cannot be removed stays."""
    if sys.platform == "win32":  # which keeps what is in use, and has none of these semaphores
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if _mine(folder) and folder.is_dir() and not folder.is_symlink():
                _sweep(folder)


def mark_semaphores() -> None:
    """Give the named semaphores that multiprocessing makes from now on this process's number."""
    import multiprocessing.process

    # there is no public way; loky's carry the number already
    multiprocessing.process.current_process()._config["semprefix"] = f"/{PREFIX}{os.getpid()}"


def _sweep(folder: Path) -> None:
    owner = {}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(FileNotFoundError):
            file = stack.enter_context(open(folder / "owner", "r+"))
            if not _lock(file):
                return
            owner = json.loads(file.read() or "{}")
        if owner:
            pid = int(owner["pid"])
            if owner["host"] != socket.gethostname() or _alive(pid):
                return
            _remove_shared(pid)
        else:  # killed before it could say, or an older version's
            newest = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
            if time.time() - newest < _FORGOTTEN:
                return
        shutil.rmtree(folder)


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
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _lock(file: object) -> bool:
    """Lock a file until it is closed; whether that was possible. True where there are no such locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

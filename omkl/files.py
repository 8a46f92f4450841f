"""Files that several processes share: they are written as a whole or not at all, and locked.

The locks come from the system (through filelock) and end with the process that held them. On a file system
without locks, filelock uses the existence of the lock file instead, and breaks the lock of a dead process of
the same machine.
"""

import contextlib
import errno
import hashlib
import importlib.util
import math
import os
import re
import shutil
import socket
import sys
import uuid
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from omkl.errors import path_error, without_controls

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from filelock import BaseFileLock as Lock
else:
    Lock = object

LONGEST_WAIT = 60.0  # seconds for a process that compiles: it may be suspended, and each could do it alone


@contextlib.contextmanager
def locked(path: Path, what: str, longest: float = math.inf) -> Iterator[bool]:
    """Hold a lock file. A second process says for whom it waits, and waits until the first is done.

    what: what the holder does, such as "submitting"    longest: seconds after which it goes on without the
    lock, where that costs time alone: the holder may be suspended; 0 does not wait, and says nothing. Yields
    whether the lock is held. Raises OSError where the file cannot be locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock, holder = hold_lock(path), path.with_name(f"{path.name}.holder")
    if lock is None and longest:
        who = "another process"
        with contextlib.suppress(OSError, UnicodeDecodeError):
            who = f"another process ({without_controls(holder.read_text(encoding='utf-8'))})"
        print(f"waiting: {who} is {what}", file=sys.stderr, flush=True)
        lock = hold_lock(path, longest)
        if lock is None:
            print(f"{who} has not ended in {longest:.0f} s: not waiting any longer", file=sys.stderr)
    try:
        if lock is not None:
            holder.write_text(f"{os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        yield lock is not None
    finally:
        if lock is not None:
            holder.unlink(missing_ok=True)
            lock.release()


def hold_lock(path: Path, wait: float = 0.0) -> Lock | None:
    """Take a lock file and return its lock, which the caller releases. None if another process holds it.

    wait: seconds until it is given up. The content of the file is lost. Raises OSError where the file cannot
    be locked.
    """
    with warnings.catch_warnings():
        # of a file system without locks, see the module's text
        warnings.filterwarnings("ignore", message=".*[sS]oft.*", category=UserWarning)
        from filelock import FileLock, Timeout

        lock = FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=-1 if wait == math.inf else wait)
        except Timeout:
            return None
    return lock


def remove_lock(path: Path, lock: Lock) -> None:
    """Remove a lock file that this process holds, and release it.

    It is removed while it is held, so that a process that opened it before sees that it is gone, and takes
    no lock that nobody else can see.
    """
    if fcntl is None:
        lock.release()  # some systems cannot remove an open file
    with contextlib.suppress(OSError):  # one that stays is nobody's, and goes with the next command
        path.unlink()
    lock.release()


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Yield a new file. It replaces the target, durably, when the block succeeds; else it is removed.

    Before, those are removed that killed processes left of the same target (POSIX). Of several processes
    that replace it at once, the last wins. A link stays: what it leads to is replaced. A pipe or a device,
    such as /dev/stdout, is written to.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
        return
    if target.is_symlink():
        target = Path(os.path.realpath(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    start = _start(target)
    for left in target.parent.glob(f"{start}*.part"):
        remove_unused(left)
    part, file = _new_part(target.parent, start)
    try:
        with file:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, part)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # some systems cannot rename an open file
            os.replace(part, target)  # while it is locked, else it could be taken for left behind
        sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def check_writable(target: Path) -> None:
    """Raise OSError where `replacing` could not make the file; what killed processes left of it is removed.

    Of folders that are missing, the one that they would be made in is looked at.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):  # opened, a pipe would wait for its reader
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        return
    if target.is_symlink():
        target = Path(os.path.realpath(target))
    folder = next(above for above in target.absolute().parents if above.exists())
    start = _start(target)
    for left in folder.glob(f"{start}*.part"):
        remove_unused(left)
    part, file = _new_part(folder, start)
    file.close()
    part.unlink()


def write_text(path: Path, text: str) -> int:
    """Write a file as a whole, return its size. Raises OmklError if that fails."""
    try:
        with replacing(path) as file:
            size = file.write(text.encode())
    except OSError as error:
        raise path_error(f"write {path}", error) from error
    return size


def _new_part(folder: Path, start: str) -> tuple[Path, IO[bytes]]:
    """Create a file that this process holds a lock of while it is open, where the file system has locks."""
    while True:
        part = folder / f"{start}{uuid.uuid4().hex[:12]}.part"
        file = open(part, "xb")  # noqa: SIM115 (its caller closes it)
        if fcntl is None:
            return part, file
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:  # else it was removed before it was locked
            return part, file
        file.close()


def _start(target: Path) -> str:
    """Return how the names of a target's new files begin; short, since its own may be of any length."""
    return f".{hashlib.blake2b(target.name.encode(), digest_size=4).hexdigest()}-"


def remove_unused(part: Path) -> None:
    """Remove a file of `_new_part` whose process has died."""
    if fcntl is not None:
        with contextlib.suppress(OSError), open(part, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def sync_folder(path: Path) -> None:
    """Make the name of a new file durable (POSIX; other systems have no such call)."""
    if os.name == "posix":
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


# ------------------------------------------------------------------ sources


_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE
)


def sources(module: Path) -> list[Path]:
    """Return the files of a module and of all that it imports, but for the engine and installed packages."""
    found: dict[Path, None] = {}
    left = [module]
    while left:
        path = left.pop()
        if path not in found and path.is_file():
            found[path] = None
            left += _imported(path)
    return sorted(found)


def _imported(path: Path) -> Iterator[Path]:
    """Yield the files of what a file imports; of a package, or of ``from . import``, all of the folder."""
    for dots, name, names in _IMPORT.findall(path.read_bytes()):
        if dots:
            folder = path.parents[len(dots) - 1]
            base = folder.joinpath(*name.decode().split("."))
            yield from (
                [base.with_suffix(".py")] if base.with_suffix(".py").is_file() else sorted(base.rglob("*.py"))
            )
            continue
        for each in re.split(rb"[, \t]+", names) if names else [name]:
            yield from _module_files(each.decode())


def _module_files(name: str) -> list[Path]:
    """Return the source of an imported module, or all of its package; empty of what need not be looked at."""
    top, _, rest = name.partition(".")
    if top == "omkl":
        room, _, module = rest.partition(".")
        if room not in ("algorithms", "stacks"):  # those of compiled code beside the engine
            return []
        places = map(Path, importlib.import_module(f"omkl.{room}").__path__)
        return [path for place in places for path in place.glob(f"{module or '*'}.py")]
    if top in sys.stdlib_module_names:
        return []
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # importing it will tell
        return []
    if spec is None:
        return []
    folders = list(map(Path, spec.submodule_search_locations or ()))
    if any(part in ("site-packages", "dist-packages") for part in Path(spec.origin or folders[0]).parts):
        return []
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))] or [Path(str(spec.origin))]


def hash_of(paths: Iterable[Path]) -> str:
    """Return a hash of these files' names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]

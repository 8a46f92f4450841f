"""Numba's files of compiled code: in folders named by a hash of the sources, each with a checksum at its end.

Numba's own cache looks only at the caller's file: edit a helper, and the old code would run. With the
engine's hash in the folder's name it cannot. A module of learners has a folder of its own in there, named by
its own hash: one learner edited or added leaves the others compiled. Import this before numba.

The checksum is compared before a file is loaded. A damaged file could load wrong machine code, and crash. It
is deleted, and numba compiles what was in it again. Numba itself stops reading where its own data end.
"""

import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from omkl.files import hold
from omkl.paths import cache_folder

_PACKAGE = Path(__file__).resolve().parent.parent
_MARK = b"omkl sealed "
_reported = False


def _sources(folder: str) -> list[Path]:
    return sorted((_PACKAGE / folder).glob("*.py"))


def stands_alone(module: Path) -> bool:
    """Whether a module of learners uses no other one."""
    text = module.read_bytes()
    return b"omkl.algorithms" not in text and b"from ." not in text


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def compiled_folder() -> Path:
    """The folder of compiled code for the engine as it is now."""
    return cache_folder() / "numba" / _hash(_sources("engine"))


def base() -> Path:
    """That folder, or the one that the environment names."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or compiled_folder())


def module_folder(module: Path) -> Path:
    """The folder in there for a module of learners as it is now, with all others if it uses another."""
    others = dict.fromkeys([*_sources("algorithms"), *sorted(module.parent.glob("*.py"))])
    return base() / f"{module.stem}-{_hash([module] if stands_alone(module) else others)}"


def folder_of(compiled: Any) -> Path:
    """The folder of a learner's compiled function."""
    return module_folder(Path(compiled.py_func.__code__.co_filename))


@contextmanager
def apart(module: Path) -> Iterator[None]:
    """Give what is compiled in a module that is imported meanwhile the module's own folder."""
    import numba

    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(module_folder(module))
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def has(compiled: Any) -> bool:
    """Whether the cache holds some version of a compiled function."""
    name = compiled.py_func.__name__
    return any(folder_of(compiled).rglob(f"*.{name}-*.nbi"))


def _seal(path: Path, content: bytes) -> bytes:
    """Return what ends a file: it holds for this name, so that no file can stand for another."""
    name = f"{path.parent.name}/{path.name}\n".encode()
    return _MARK + hashlib.sha256(name + content).digest()


def _file_is_intact(path: Path) -> bool:
    """Whether a file is as it was written. One that is not is deleted; the first of a process is reported."""
    global _reported
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return True  # nothing wrong would be loaded
    except OSError:
        content = b""
    end = len(content) - len(_MARK) - hashlib.sha256().digest_size
    if end > 0 and content[end:] == _seal(path, content[:end]):
        return True
    with suppress(OSError):
        path.unlink()
    if not _reported:
        _reported = True
        text = f"omkl: warning: {path}: the compiled code is damaged; it is deleted and compiled again"
        print(text, file=sys.stderr, flush=True)
    return False


def intact(compiled: Any) -> bool:
    """Whether nothing that the cache holds of a compiled function is damaged; what is has been deleted."""
    folder = compiled.stats.cache_path  # None of a function that is not to be cached
    paths = Path(folder).glob(f"*.{compiled.py_func.__name__}-*.nb?") if folder else []
    return not [path for path in paths if not _file_is_intact(path)]


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(compiled_folder())
from numba.core import caching  # noqa: E402 (numba reads the folder when it is imported)
from numba.core import config as _settings  # noqa: E402

setattr(_settings, "CACHE_DIR", str(base()))  # noqa: B010  numba may have been imported before this


class SealedFiles(caching.IndexDataCacheFile):
    """The index and the data of one compiled function; those of other packages stay as numba has them."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        folder = Path(cache_path)
        self.sealed = folder.name.startswith(("engine_", "algorithms_")) or folder.is_relative_to(_PACKAGE)

    def save(self, key: Any, data: Any) -> None:
        """Save as numba does, but one process at a time: two would give two versions of a helper one name."""
        with ExitStack() as stack:
            if self.sealed:
                with suppress(OSError):  # a file system without locks
                    lock = hold(base() / "saving", wait=True)
                    if lock is not None:
                        stack.callback(lock.release)
            super().save(key, data)

    def _load_index(self) -> dict:
        return super()._load_index() if not self.sealed or _file_is_intact(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        if self.sealed and not _file_is_intact(Path(self._data_path(name))):
            raise FileNotFoundError(name)  # then numba compiles it
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        with super()._open_for_write(filepath) as file:
            if not self.sealed:
                yield file
                return
            written = io.BytesIO()
            yield written
            file.write(written.getvalue() + _seal(Path(filepath), written.getvalue()))


setattr(caching, "IndexDataCacheFile", SealedFiles)  # noqa: B010  numba's caches look it up there

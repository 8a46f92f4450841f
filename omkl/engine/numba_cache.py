"""Numba's files of compiled code: in folders named by a hash of the sources, each with a checksum at its end.

Numba's own cache looks only at the caller's file: edit a helper, and the old code would run. With the
engine's hash in the folder's name it cannot. A module of learners has a folder of its own in there, named by
its own hash: one learner edited or added leaves the others compiled. Import this before numba.

The checksum is compared before a file is loaded. A damaged file could load wrong machine code, and crash. It
is deleted, and numba compiles what was in it again. Numba itself stops reading where its own data end.

Nothing needs the files: where they cannot be written, each process compiles for itself. Numba would look for
another folder then, beside the sources, whose name has no hash of the engine.
"""

import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from omkl.errors import UserError
from omkl.files import hold
from omkl.paths import cache_folder

_PACKAGE = Path(__file__).resolve().parent.parent
_MARK = b"omkl sealed "
_ROOM = 2**20  # bytes: what a learner's files need at least
_reported = False
_lost = ""  # why this process could not save something


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


def unusable() -> str:
    """Return why that folder cannot keep what is compiled, empty where it can."""
    folder = base()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    return ""


def lost() -> str:
    """Return why something that this process compiled could not be kept, empty where all was."""
    return _lost


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
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = str(module_folder(module))
    try:
        yield
    finally:
        _settings.CACHE_DIR = before


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
    except (FileNotFoundError, NotADirectoryError, PermissionError):
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
from numba.core import config as _config  # noqa: E402

_settings: Any = _config
_settings.CACHE_DIR = str(base())  # numba may have been imported before this
if _settings.DISABLE_JIT:
    raise UserError("numba's compiler is switched off, and omkl needs it: unset NUMBA_DISABLE_JIT")

_caching: Any = caching
_InOneFolder: Any = getattr(caching, "UserProvidedCacheLocator", None) or _caching._UserProvidedCacheLocator


class InOurFolder(_InOneFolder):
    """The place of the files of omkl's functions and of learners of a folder, writable or not."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the place of a function, None for those of other packages."""
        ours = Path(py_file).is_relative_to(_PACKAGE) or Path(_settings.CACHE_DIR) != base()  # see `apart`
        return cls(py_func, py_file) if ours else None

    def ensure_cache_path(self) -> None:
        """Do nothing: saving makes the folder."""


_caching.CompileResultCacheImpl._locator_classes.insert(0, InOurFolder)


class SealedFiles(caching.IndexDataCacheFile):
    """The index and the data of one compiled function; those of other packages stay as numba has them."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        folder = Path(cache_path)
        self.sealed = folder.name.startswith(("engine_", "algorithms_"))

    def save(self, key: Any, data: Any) -> None:
        """Save as numba does, but one process at a time: two would give two versions of a helper one name.

        What cannot be saved is noted (see `lost`), and nothing more is tried.
        """
        global _lost
        if not self.sealed:
            super().save(key, data)
            return
        if _lost:
            return
        with ExitStack() as stack:
            try:
                Path(self._index_path).parent.mkdir(parents=True, exist_ok=True)
                with suppress(OSError):  # a file system without locks
                    lock = hold(base() / "saving", wait=True)
                    if lock is not None:
                        stack.callback(lock.release)
                super().save(key, data)
            except OSError as error:
                _lost = f"{base()}: {error.strerror or error}"

    def _load_index(self) -> dict:
        if self.sealed and not _file_is_intact(Path(self._index_path)):
            return {}
        try:
            return super()._load_index()
        except OSError:  # a folder that cannot be read
            return {}

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


_caching.IndexDataCacheFile = SealedFiles  # numba's caches look it up there

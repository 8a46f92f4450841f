"""Where numba keeps compiled code: in folders that are named by a hash of the sources.

Numba's own cache looks only at the caller's file: edit a helper, and the old code would run. With a hash of
all sources in the folder's name it cannot. The engine's sources name the folder of all; any other module has
a folder in there, named by its own source and those that it imports, so that one learner edited or added
leaves the others compiled. Installed packages are not looked at. Import this before numba.

Nothing needs the files: where they cannot be written, each process compiles for itself.
"""

import hashlib
import os
import pickle
import tempfile
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any

from omkl.errors import UserError
from omkl.files import LONGEST_WAIT, hash_of, hold_lock, sources
from omkl.paths import cache_folder

_PACKAGE = Path(__file__).resolve().parent.parent
_ROOM = 2**20  # bytes: what a learner's files need at least
_lost = ""  # why this process could not save something
_wait = LONGEST_WAIT  # seconds for another process that saves


def compiled_folder() -> Path:
    """The folder of compiled code for the engine as it is now."""
    return cache_folder() / "numba" / hash_of(sorted((_PACKAGE / "engine").glob("*.py")))


def base() -> Path:
    """That folder, or the one that the environment names."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or compiled_folder())


def module_folder(module: Path) -> Path:
    """The folder for what is compiled of a module: of the engine's the base, of any other one in there."""
    if module.parent == _PACKAGE / "engine":
        return base()
    return base() / f"{module.stem}-{hash_of(sources(module))}"


def unusable() -> str:
    """Return why the folder cannot keep what is compiled, empty where it can."""
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


class BySources(_InOneFolder):
    """The place of the files of what a source file compiles, writable or not."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        own: str = self.get_suitable_cache_subpath(py_file)
        self._cache_path = str(module_folder(Path(py_file)) / own)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the place of a function of a file, None for one of a notebook or an installed package."""
        path = Path(py_file)
        ours = path.is_relative_to(_PACKAGE) or not {"site-packages", "dist-packages"} & set(path.parts)
        return cls(py_func, py_file) if ours and path.is_file() else None

    def ensure_cache_path(self) -> None:
        """Do nothing: saving makes the folder."""


_caching.CompileResultCacheImpl._locator_classes.insert(0, BySources)


class SharedFiles(caching.IndexDataCacheFile):
    """The index and the data of one compiled function, which several processes may write.

    Each file begins with a checksum, also of numba's version and the source's stamp, as loading damaged code
    would end the process. A file that does not agree is one that is not there.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save as numba does, but one process at a time: two would give two versions of a helper one name.

        What cannot be saved is noted (see `lost`), and nothing more is tried. The data name their key, as an
        index that was lost is begun again with the names of old data.
        """
        global _lost, _wait
        if _lost:
            return
        with ExitStack() as stack:
            try:
                Path(self._index_path).parent.mkdir(parents=True, exist_ok=True)
                with suppress(OSError):  # a file system without locks
                    lock = hold_lock(base() / "saving", _wait)
                    if lock is not None:
                        stack.callback(lock.release)
                    else:
                        _wait = 0.0  # its process is suspended
                index = self._load_index()
                free = next(name for name in map(self._data_name, count(1)) if name not in index.values())
                name = index.setdefault(key, free)
                self._write(self._data_path(name), (key, data))
                self._write(self._index_path, index)
            except OSError as error:
                _lost = f"{base()}: {error.strerror or error}"

    def load(self, key: Any) -> Any:
        """Return the data of a key, None where there are none that can be read."""
        name = self._load_index().get(key)
        saved = self._read(self._data_path(name)) if name else None
        return saved[1] if saved and saved[0] == key else None

    def _load_index(self) -> dict:
        return self._read(self._index_path) or {}

    def _checksum(self, body: bytes) -> bytes:
        stamp = repr((self._version, self._source_stamp)).encode()
        return hashlib.blake2b(stamp + body, digest_size=16).digest()

    def _write(self, path: str, content: Any) -> None:
        body = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(self._checksum(body) + body)

    def _read(self, path: str) -> Any:
        try:
            raw = Path(path).read_bytes()
            return pickle.loads(raw[16:]) if raw[:16] == self._checksum(raw[16:]) else None
        except Exception:  # not there, or of a class that another version of a package lacks
            return None


_caching.IndexDataCacheFile = SharedFiles  # numba's caches look it up there

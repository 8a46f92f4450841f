"""Numba's files of compiled code, each with a checksum at its end that is compared before anything is loaded.

A damaged file would end in an error of pickle's, or load wrong machine code and crash without a word. Such a
file is deleted, and numba compiles what was in it again. Numba itself stops reading where its own data end.
"""

import hashlib
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from numba.core import caching

_MARK = b"omkl sealed "
_PACKAGE = Path(__file__).resolve().parent.parent
_told = False


def _seal(path: Path, content: bytes) -> bytes:
    """Return what ends a file: it holds for this name, so that no file can stand for another."""
    name = f"{path.parent.name}/{path.name}\n".encode()
    return _MARK + hashlib.sha256(name + content).digest()


def intact(path: Path) -> bool:
    """Whether a file is as it was written. One that is not is deleted; the first of a process is reported."""
    global _told
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
    if not _told:
        _told = True
        text = f"omkl: warning: {path}: the compiled code is damaged; it is deleted and compiled again"
        print(text, file=sys.stderr, flush=True)
    return False


class SealedFiles(caching.IndexDataCacheFile):
    """The index and the data of one compiled function; those of other packages stay as numba has them."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        folder = Path(cache_path)
        self.sealed = folder.name.startswith(("engine_", "algorithms_")) or folder.is_relative_to(_PACKAGE)

    def _load_index(self) -> dict:
        return super()._load_index() if not self.sealed or intact(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        if self.sealed and not intact(Path(self._data_path(name))):
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

"""Data files on disk: finding them under their usual names, and reading them with care."""

import bz2
import codecs
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

from omkl.errors import CALLED, UserError, counted, shortlist, show
from omkl.files import replacing
from omkl.paths import cache_folder, data_folders

COMPRESSION = (".xz", ".bz2", ".gz", ".zip")
SUFFIXES = (*(f".libsvm{end}" for end in COMPRESSION), ".libsvm", *COMPRESSION, "")
LIMIT = 4 * 2**30  # bytes after decompression, where nothing narrower is known
BLOCK = 4 * 2**20


def is_compressed(path: Path) -> bool:
    """Whether a file's ending is one of compression."""
    return path.suffix.lower() in COMPRESSION


def files_folder() -> Path:
    """Return the folder that downloads go to."""
    return cache_folder() / "files"


def search_folders() -> list[Path]:
    """Return the folders in which data files are searched for: OMKL_DATA's, then the downloads."""
    return [*data_folders(), files_folder()]


def find_in(folder: Path, name: str) -> Path | None:
    """Return the file called ``name`` in ``folder``, with any of SUFFIXES, or None."""
    paths = (folder / (name + suffix) for suffix in SUFFIXES)
    return next((path for path in paths if os.path.isfile(path)), None)


def find_file(name: str) -> Path | None:
    """Return the first file called ``name`` on the search path, or None."""
    return next((path for folder in search_folders() if (path := find_in(folder, name))), None)


def environment(name: str) -> str:
    """Return the value of an environment variable, empty where it is not set."""
    return os.environ.get(name, "").strip()


def offline() -> bool:
    """Whether OMKL_OFFLINE forbids the network."""
    return environment("OMKL_OFFLINE").lower() not in ("", "0", "false", "no")


@cache
def standard_input() -> Path:
    """Return a file with what standard input holds, which is read once, in blocks.

    The file is named by its content, so that workers and later jobs find it; those of yesterday are deleted.
    Raises UserError for a terminal, and for nothing.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise UserError(
            "- stands for standard input, which is a terminal; write COMMAND | omkl ..., or < FILE"
        )
    folder = cache_folder() / "stdin"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes them, too
            if time.time() - old.stat().st_mtime > 86_400:
                old.unlink()
    path, digest = folder / str(os.getpid()), hashlib.sha256()
    with replacing(path) as file:
        while block := sys.stdin.buffer.read(BLOCK):
            digest.update(block)
            file.write(block)
        if not file.tell():
            raise UserError("standard input is empty; write COMMAND | omkl ..., or < FILE")
    path = path.replace(folder / digest.hexdigest()[:16])
    CALLED[str(path)] = "standard input"
    return path


def _open_zip(path: Path, mode: str) -> IO[bytes]:
    """Open the one file in a .zip. Raises UserError for several."""
    with zipfile.ZipFile(path) as archive:  # the member keeps the file open
        names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]  # of macOS
        if len(names) != 1:
            held = f"{counted(len(names), 'file')} ({shortlist(list(map(show, names)))})"
            raise UserError(f"{path}: the archive holds {held}; extract the one to be read")
        return archive.open(names[0])


OPENERS = {
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x1f\x8b": gzip.open,
    b"PK\x03\x04": _open_zip,
    b"PK\x05\x06": _open_zip,  # with no file in it
}


class _Capped(io.RawIOBase):
    """A decompressed stream that ends with a UserError when it exceeds its limit or is damaged."""

    def __init__(self, path: Path, limit: int | None):
        self.path, self.limit, self.count = path, limit, 0
        with open(path, "rb") as file:
            magic = file.read(6)
        opener: Any = next((opener for mark, opener in OPENERS.items() if magic.startswith(mark)), open)
        self.stream: Any = self._careful(lambda: opener(path, "rb"))

    def _careful(self, call: Callable[[], Any]) -> Any:
        """Return what a decompressor gives. Raises UserError with what it says of a damaged file."""
        try:
            return call()
        except UserError:
            raise
        except Exception as error:  # each has kinds of its own, zipfile four
            raise UserError(f"{self.path}: cannot be decompressed or read: {error}") from error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data: bytes = self._careful(lambda: self.stream.read(len(buffer)))
        self.count += len(data)
        if self.limit is not None and self.count > self.limit:
            fault = f"holds more than {self.limit:,} bytes after decompression, more than this data can need"
            raise UserError(f"{self.path}: {fault}")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
        super().close()


def open_binary(path: Path, limit: int | None = None) -> io.BufferedReader:
    """Open a plain, .gz, .bz2, .xz or .zip file, known by its first bytes, for reading what it holds.

    Reading raises UserError beyond ``limit`` bytes, those that a download may hold, and on a damaged file; a
    missing file is a UserError too.
    """
    try:
        return io.BufferedReader(_Capped(Path(path), limit), 2**20)
    except OSError as error:
        raise UserError(f"{path}: cannot be opened: {error.strerror}") from error


def line_blocks(path: Path, limit: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, bytes of whole lines) in blocks of about 4 MiB, no byte order mark."""
    with open_binary(path, limit) as file:
        if file.peek(3)[:3] == codecs.BOM_UTF8:  # editors on Windows put it first
            file.read(3)
        line = 1
        while block := file.read(BLOCK):
            block += file.readline()  # the rest of its last line
            yield line, block
            line += block.count(b"\n")

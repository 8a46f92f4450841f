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
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

from omkl.errors import CALLED, UserError, counted, shortlist, show
from omkl.paths import cache_folder, data_folders

COMPRESSION = (".xz", ".bz2", ".gz", ".zst", ".zip")
SUFFIXES = (*(f".libsvm{end}" for end in COMPRESSION), ".libsvm", *COMPRESSION, "")
LIMIT = 4 * 2**30  # bytes after decompression, where nothing narrower is known
LONGEST_LINE = 64 * 2**20
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


def size_limit(expected: int | None = None) -> int:
    """Return how many bytes a file may hold after decompression: OMKL_MAX_BYTES, else the expected size."""
    text = environment("OMKL_MAX_BYTES")
    if not text:
        return expected or LIMIT
    if not text.isdecimal() or int(text) == 0:
        raise UserError(f"OMKL_MAX_BYTES={text!r} is not a positive whole number of bytes")
    return int(text)


def offline() -> bool:
    """Whether OMKL_OFFLINE forbids the network."""
    return environment("OMKL_OFFLINE").lower() not in ("", "0", "false", "no")


@cache
def standard_input() -> Path:
    """Return a file with what standard input holds, which is read once, in blocks.

    The file is named by its content, so that workers and later jobs find it; those of yesterday are deleted.
    Raises UserError for a terminal, for nothing, and for more than a file may hold.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise UserError(
            "- stands for standard input, which is a terminal; write COMMAND | omkl ..., or < FILE"
        )
    folder, limit = cache_folder() / "stdin", size_limit()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes them, too
            if time.time() - old.stat().st_mtime > 86_400:
                old.unlink()
    digest, size = hashlib.sha256(), 0
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            while block := sys.stdin.buffer.read(BLOCK):
                size += len(block)
                if size > limit:
                    fault = f"standard input holds more than {limit:,} bytes"
                    raise UserError(f"{fault}; set OMKL_MAX_BYTES to read it")
                digest.update(block)
                file.write(block)
            if not size:
                raise UserError("standard input is empty; write COMMAND | omkl ..., or < FILE")
        except BaseException:
            os.unlink(file.name)
            raise
    path = folder / digest.hexdigest()[:16]
    os.replace(file.name, path)
    CALLED[str(path)] = "standard input"
    return path


def _open_zip(path: Path, mode: str) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:  # the member keeps the file open
        return archive.open(only_member(archive, path))


def only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    """Return the one file in a .zip. Raises UserError for several files and for an encrypted one."""
    members = [
        item
        for item in archive.infolist()  # macOS adds files of its own
        if not item.is_dir() and not item.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1 or members[0].flag_bits & 1:
        names = shortlist([show(item.filename) for item in members])
        fault = "is encrypted" if len(members) == 1 else f"holds {counted(len(members), 'file')} ({names})"
        raise UserError(f"{path}: the archive {fault}; extract the one to be read")
    return members[0]


def _open_zst(path: Path, mode: str) -> Any:
    try:
        from backports import zstd
    except ImportError:
        raise UserError(f"{path}: .zst files need backports.zstd; pip install 'omkl[zstd]'") from None
    return zstd.open(path, "rb")


OPENERS = {
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x1f\x8b": gzip.open,
    b"\x28\xb5\x2f\xfd": _open_zst,
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
            raise UserError(f"{self.path}: {fault}; set OMKL_MAX_BYTES to read it anyway")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
        super().close()


def open_binary(path: Path, limit: int | None = None) -> io.BufferedReader:
    """Open a plain, .gz, .bz2, .xz, .zst or .zip file, known by its first bytes, for reading what it holds.

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
            rest = file.readline(LONGEST_LINE + 1)  # of the block's last line
            block += rest
            if len(rest) > LONGEST_LINE:
                line += block.count(b"\n", 0, -1)
                raise UserError(f"{path}:{line}: the line is longer than {LONGEST_LINE:,} bytes")
            yield line, block
            line += block.count(b"\n")

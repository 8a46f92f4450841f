"""Rows that arrive in parts: one part stays in memory, several lie in files without a name."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from omkl.data.parse import Examples
from omkl.errors import UserError
from omkl.paths import cache_folder

_DTYPES = {"indptr": np.int64, "indices": np.int32, "values": np.float64, "labels": np.float64}


class Gathered:
    """The rows of parts added one after the other, with labels that are numbers.

    From the second part on, each array goes to a temporary file in the cache's folder, which the system
    deletes when its last use ends. The arrays are mapped, so that no more than one part is in memory.
    """

    def __init__(self) -> None:
        self._first: Examples | None = None
        self._files: dict[str, IO[bytes]] = {}
        self._nnz = self._d = 0

    def add(self, part: Examples) -> None:
        """Add rows. Raises UserError where the disk is full."""
        if self._first is None:
            self._first = part
            return
        try:
            if not self._files:
                self._files = {key: _temporary() for key in _DTYPES}
                np.zeros(1, np.int64).tofile(self._files["indptr"])
                self._write(self._first)
            self._write(part)
        except OSError as error:
            raise UserError(f"{_folder() or tempfile.gettempdir()}: {error.strerror or error}") from error

    def _write(self, part: Examples) -> None:
        arrays = part._asdict() | {"indptr": part.indptr[1:] + self._nnz}
        for key, dtype in _DTYPES.items():
            self._files[key].write(np.ascontiguousarray(arrays[key], dtype).data.cast("B"))
        self._nnz += len(part.indices)
        self._d = max(self._d, part.d)

    def examples(self) -> Examples:
        """Return all rows; arrays of several parts are mapped and cannot be written."""
        assert self._first is not None
        if not self._files:
            return self._first
        arrays: dict[str, Any] = {}
        for key, dtype in _DTYPES.items():
            self._files[key].flush()
            empty = self._files[key].tell() == 0  # such a file cannot be mapped
            arrays[key] = np.empty(0, dtype) if empty else np.memmap(self._files[key], dtype, "r")
            self._files[key].close()
        return Examples(**arrays, d=self._d, base=self._first.base)


def _folder() -> Path | None:
    """Return the cache's folder, None where it cannot be made."""
    with suppress(OSError):
        (folder := cache_folder()).mkdir(parents=True, exist_ok=True)
        return folder
    return None


def _temporary() -> IO[bytes]:
    with suppress(OSError):
        return tempfile.TemporaryFile(dir=_folder())
    return tempfile.TemporaryFile()

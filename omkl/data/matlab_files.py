"""MATLAB files (.mat, versions 4 to 7.2) with an array X and labels or targets y, read by scipy."""

import struct
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from omkl.data.data_files import size_limit
from omkl.data.parse import Examples, decoding, dense
from omkl.errors import UserError, show

_HEADER, _COMPRESSED = 128, 15
_BLOCK = 2**18


def read_mat(path: Path, limit: int | None = None) -> Examples:
    """Return the examples of X (T, d) or (d, T), full or sparse, and y with T entries, as float64.

    The side of X that is as long as y counts the examples, the first one if both are. Raises UserError for
    a missing array, another shape, NaN or infinite numbers, and more than ``limit`` bytes.
    """
    from scipy import sparse
    from scipy.io import loadmat, whosmat

    limit = size_limit() if limit is None else limit
    with decoding(path, "not a MATLAB file with arrays X and y"):
        size = _uncompressed(path, limit)
        if size > limit:
            raise UserError(f"{path}: holds more than {limit:,} bytes; set OMKL_MAX_BYTES to read it")
        names = [name for name, _, _ in whosmat(path)]
        if missing := sorted({"X", "y"} - set(names)):
            raise UserError(f"{path}: has no array {' and '.join(missing)}, only {show(', '.join(names))}")
        arrays = loadmat(path, variable_names=("X", "y"))
        X, y = arrays["X"], arrays["y"]
        if X.dtype.kind not in "biuf" or sparse.issparse(y) or y.dtype.kind not in "biuf":
            raise ValueError("X and y should be arrays of numbers")
    y = y.astype(np.float64).ravel()
    if X.ndim != 2 or len(y) not in X.shape:
        raise UserError(
            f"{path}: X {X.shape} should have as many rows, or columns, as y has entries ({len(y)})"
        )
    if sparse.issparse(X):
        X = sparse.csr_array(X if X.shape[0] == len(y) else X.T, dtype=np.float64)
        X.sum_duplicates()
        X.eliminate_zeros()
        values = X.data
    else:
        values = X = np.ascontiguousarray(X if X.shape[0] == len(y) else X.T, np.float64)
    if not (np.isfinite(values).all() and np.isfinite(y).all()):
        raise UserError(f"{path}: holds a number that is not finite")
    return dense(X, y)


def _uncompressed(path: Path, limit: int) -> int:
    """Return how many bytes the arrays of a file take when they are decompressed, or more than ``limit``."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        header = file.read(_HEADER)
        if len(header) < _HEADER or header[126:128] not in (b"IM", b"MI"):
            return size  # version 4, which compresses nothing; scipy says what else it is
        order = "<" if header[126:128] == b"IM" else ">"
        total = 0
        while total <= limit and len(tag := file.read(8)) == 8:
            kind, length = struct.unpack(f"{order}II", tag)
            total += _inflated(file, length, limit) if kind == _COMPRESSED else length
            if kind != _COMPRESSED:
                file.seek(length, 1)
    return total


def _inflated(file: IO[bytes], length: int, limit: int) -> int:
    inflate, total = zlib.decompressobj(), 0
    while length > 0 and total <= limit and (block := file.read(min(length, _BLOCK))):
        length -= len(block)
        while block and total <= limit:
            total += len(inflate.decompress(block, _BLOCK))
            block = inflate.unconsumed_tail
    file.seek(length, 1)
    return total

"""Texts and arrays as users have them, read strictly: LIBSVM, delimited tables, .npz.

LIBSVM text is read by whole blocks with numpy; a block that breaks any rule is read again line by line, which
finds the line to name. scikit-learn's reader is not used: it does not name the line and lets NaN pass.
"""

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from omkl.data.files import line_blocks, open_binary, size_limit
from omkl.errors import UserError

LARGEST_INDEX = 2**31 - 1
_SPACE = np.zeros(256, dtype=bool)
_SPACE[[9, 10, 11, 12, 13, 32]] = True


class Rows(NamedTuple):
    """Sparse rows with labels as the source writes them; explicit zeros are dropped.

    indptr (T+1,) int64   indices (nnz,) int32 from 0   values (nnz,) float64
    labels (T,) float64, or str where they are words   d: highest column seen, or the number of columns
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    d: int


class _Block(NamedTuple):
    labels: np.ndarray
    counts: np.ndarray
    indices: np.ndarray  # from 1
    values: np.ndarray


def read_libsvm(paths: list[Path], limit: int | None = None) -> Rows:
    """Read LIBSVM text (plain, .gz, .bz2 or .xz); several files are one after the other.

    A row is ``label index:value ...``, indices from 1 and ascending; ``#`` begins a comment; empty lines are
    skipped. Raises UserError naming file:line for a broken line and for NaN or infinite numbers.
    """
    blocks = []
    for path in paths:
        found = 0
        for line, data in line_blocks(path, limit):
            block = _fast_block(data)
            if block is None:
                block = _slow_block(data, line, path)
            blocks.append(block)
            found += len(block.labels)
        if found == 0:
            raise UserError(
                f"{path}: no examples in it (LIBSVM text is one 'label index:value ...' per line)"
            )
    labels, counts, indices, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    rows = np.repeat(np.arange(len(labels)), counts)
    keep = values != 0.0
    return csr(rows[keep], indices[keep] - 1, values[keep], labels, int(indices.max(initial=0)))


def csr(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, labels: np.ndarray, d: int) -> Rows:
    """Return Rows from entries sorted by row and column (nnz,), with labels (T,)."""
    indptr = np.zeros(len(labels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(labels)), out=indptr[1:])
    return Rows(indptr, columns.astype(np.int32), np.ascontiguousarray(values, dtype=np.float64), labels, d)


def dense(X: np.ndarray, labels: np.ndarray) -> Rows:
    """Return Rows of a dense X (T, d), without its zeros."""
    rows, columns = np.nonzero(X)
    return csr(rows, columns, X[rows, columns], labels, X.shape[1])


def undense(rows: Rows) -> np.ndarray:
    """Return the dense X (T, d) of Rows."""
    X = np.zeros((len(rows.labels), rows.d))
    X[np.repeat(np.arange(len(X)), np.diff(rows.indptr)), rows.indices] = rows.values
    return X


def _fast_block(data: bytes) -> _Block | None:
    """Return the block's rows, or None when any of its lines breaks a rule."""
    if b"#" in data:
        data = re.sub(rb"#[^\n]*", b"", data)
    text = np.frombuffer(data + b" ", dtype=np.uint8)
    space = _SPACE[text]
    starts = np.flatnonzero(~space & np.concatenate(([True], space[:-1])))
    colons = np.flatnonzero(text == ord(":"))
    if len(starts) == 0:
        return _Block(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    line = np.searchsorted(np.flatnonzero(text == ord("\n")), starts)
    first = np.concatenate(([True], line[1:] != line[:-1]))
    token = np.searchsorted(starts, colons, side="right") - 1
    if len(colons) and token[0] < 0:
        return None
    per_token = np.bincount(token, minlength=len(starts))
    digits = np.concatenate(([0], np.cumsum((text >= ord("0")) & (text <= ord("9")), dtype=np.int64)))
    width = colons - starts[token]
    if (
        not np.array_equal(per_token == 0, first)  # a label has no colon; another token has one
        or (width == 0).any()  # after digits and nothing else (so a second colon fails here)
        or not np.array_equal(digits[colons] - digits[starts[token]], width)
    ):
        return None
    # an empty value makes the numbers fewer than expected, and nothing makes them more
    numbers = _numbers(data.replace(b":", b" "), len(starts) + len(colons))
    if numbers is None or not np.isfinite(numbers).all():
        return None
    place = np.arange(len(starts)) + np.cumsum(per_token) - per_token
    entry = place[~first]
    indices = numbers[entry]
    row = np.cumsum(first) - 1
    row_of_entry = row[~first]
    if len(indices):
        ascends = (indices[1:] > indices[:-1]) | (row_of_entry[1:] != row_of_entry[:-1])
        if indices.min() < 1 or indices.max() > LARGEST_INDEX or not ascends.all():
            return None
    counts = np.bincount(row_of_entry, minlength=row[-1] + 1)
    return _Block(numbers[place[first]], counts, indices.astype(np.int64), numbers[entry + 1])


def _numbers(data: bytes, count: int) -> np.ndarray | None:
    """Return the ``count`` numbers of the text, or None if any part of it is something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy < 2.3 warns and returns the numbers before
        try:
            numbers = np.fromstring(data.decode("ascii"), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return numbers if len(numbers) == count else None


def _slow_block(data: bytes, line: int, path: Path) -> _Block:
    """Read the block line by line; raises UserError naming the first line that breaks a rule."""
    labels, counts, indices, values = [], [], [], []
    for number, text in enumerate(data.split(b"\n"), line):
        tokens = text.split(b"#", 1)[0].split()
        if not tokens:
            continue
        where = f"{path}:{number}"
        labels.append(to_number(tokens[0].decode("utf-8", "replace"), f"{where}: label"))
        counts.append(len(tokens) - 1)
        previous = 0
        for token in tokens[1:]:
            word = token.decode("utf-8", "replace")
            index, colon, value = word.partition(":")
            if index == "qid":
                raise UserError(f"{where}: {word!r} marks a ranking file; remove the qid: fields")
            if not colon or not (index.isascii() and index.isdecimal()):
                raise UserError(
                    f"{where}: {word!r} is not 'index:value' with a whole number before the colon"
                )
            if int(index) == 0:
                raise UserError(f"{where}: index 0; LIBSVM indices start at 1")
            if int(index) > LARGEST_INDEX:
                raise UserError(f"{where}: index {index} is above {LARGEST_INDEX}")
            if int(index) <= previous:
                raise UserError(
                    f"{where}: index {index} after {previous}; indices must ascend, each at most once"
                )
            previous = int(index)
            indices.append(previous)
            values.append(to_number(value, f"{where}: value of index {index}"))
    return _Block(
        np.array(labels, float),
        np.array(counts, np.int64),
        np.array(indices, np.int64),
        np.array(values, float),
    )


def to_number(text: str, what: str) -> float:
    """Return the finite number that the text is; raises UserError beginning with ``what``."""
    try:
        value = float(text) if "_" not in text and text.isascii() else None
    except ValueError:
        value = None
    if value is None:
        raise UserError(f"{what}: {text!r} is not a number")
    if not np.isfinite(value):
        raise UserError(f"{what}: {text!r} is not finite")
    return value


def read_cells(path: Path, delimiter: str, limit: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped cells) of a delimited text; ``whitespace`` splits at any run of it.

    Empty lines are skipped. Raises UserError naming file:line where the quoting is broken.
    """
    with io.TextIOWrapper(open_binary(path, limit), "utf-8-sig", "replace", newline="") as file:
        if delimiter == "whitespace":
            for number, line in enumerate(file, 1):
                if cells := line.split():
                    yield number, cells
            return
        reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error as error:
            raise UserError(f"{path}:{reader.line_num}: {error}") from error


def read_npz(path: Path, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return X (T, d) and y (T,) of an .npz stream as float64; pickled members are refused.

    Raises UserError for a missing member, a wrong shape, NaN or infinite numbers (naming the row).
    """
    limit = size_limit() if limit is None else limit
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > limit:
            raise UserError(
                f"{path}: holds {size:,} bytes, more than {limit:,}; set OMKL_MAX_BYTES to read it"
            )
        with np.load(path, allow_pickle=False) as file:
            missing = {"X", "y"} - set(file.files)
            if missing:
                raise UserError(
                    f"{path}: has no array {' and '.join(sorted(missing))}, only {', '.join(file.files)}"
                )
            X, y = (np.asarray(file[key], dtype=np.float64) for key in ("X", "y"))
    except (OSError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: not an .npz file with numeric arrays X and y: {error}") from error
    y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise UserError(f"{path}: X {X.shape} and y {y.shape} should be (T, d) and (T,)")
    bad = np.flatnonzero(~(np.isfinite(X).all(axis=1) & np.isfinite(y)))
    if len(bad):
        raise UserError(f"{path}: row {bad[0] + 1} holds a number that is not finite")
    return X, y

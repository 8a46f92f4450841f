"""Texts and arrays as users have them, read strictly: LIBSVM, delimited tables, .npz.

LIBSVM text is read in whole blocks with numpy. A block that breaks any rule is read again line by line, to
name the line. scikit-learn's reader does not name the line and accepts NaN.
"""

import contextlib
import csv
import io
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from omkl.data import files
from omkl.data.files import line_blocks, open_binary, size_limit
from omkl.errors import OmklError, UserError, show

LARGEST_INDEX = 2**31 - 1
LONGEST_INDEX = 100  # digits; int() refuses some thousands of them
_SPACE = np.zeros(256, dtype=bool)
_SPACE[[9, 10, 11, 12, 13, 32]] = True


class Examples(NamedTuple):
    """Sparse rows, with labels as the source writes them; explicit zeros are dropped.

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


def read_libsvm(paths: list[Path], limit: int | None = None) -> Examples:
    """Read LIBSVM text (plain, .gz, .bz2 or .xz); several files are one after the other.

    A row is ``label index:value ...``, indices from 1 and ascending; ``#`` begins a comment; empty lines are
    skipped. Raises UserError naming file:line for a broken line and for NaN or infinite numbers.
    """
    blocks = []
    for path in paths:
        count = 0
        for line, data in line_blocks(path, limit):
            block = _fast_block(data)
            if block is None:
                block = _slow_block(data, line, path)
            blocks.append(block)
            count += len(block.labels)
        if count == 0:
            raise UserError(
                f"{path}: no examples in it (LIBSVM text is one 'label index:value ...' per line)"
            )
    labels, counts, indices, values = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    rows = np.repeat(np.arange(len(labels)), counts)
    keep = values != 0.0
    return csr(rows[keep], indices[keep] - 1, values[keep], labels, int(indices.max(initial=0)))


def csr(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, labels: np.ndarray, d: int) -> Examples:
    """Return Examples from entries sorted by row and column (nnz,), with labels (T,)."""
    indptr = np.zeros(len(labels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(labels)), out=indptr[1:])
    return Examples(
        indptr, columns.astype(np.int32), np.ascontiguousarray(values, dtype=np.float64), labels, d
    )


def dense(X: np.ndarray, labels: np.ndarray) -> Examples:
    """Return Examples of a dense X (T, d), without its zeros."""
    rows, columns = np.nonzero(X)
    return csr(rows, columns, X[rows, columns], labels, X.shape[1])


def undense(rows: Examples) -> np.ndarray:
    """Return the dense X (T, d) of Examples."""
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
                raise UserError(f"{where}: {show(word)} belongs to a ranking file; remove the qid: fields")
            if not colon or not (index.isascii() and index.isdecimal()):
                raise UserError(
                    f"{where}: {show(word)} is not 'index:value' with a whole number before the colon"
                )
            column = int(index) if len(index) <= LONGEST_INDEX else LARGEST_INDEX + 1
            if column == 0:
                raise UserError(f"{where}: index 0; LIBSVM indices start at 1")
            if column > LARGEST_INDEX:
                raise UserError(f"{where}: index {index[:LONGEST_INDEX]} is above {LARGEST_INDEX}")
            if column <= previous:
                raise UserError(
                    f"{where}: index {column} after {previous}; indices must ascend, each at most once"
                )
            previous = column
            indices.append(previous)
            values.append(to_number(value, f"{where}: value of index {index}"))
    kinds = zip((labels, counts, indices, values), (float, np.int64, np.int64, float), strict=True)
    return _Block(*(np.array(column, kind) for column, kind in kinds))


def to_number(text: str, what: str) -> float:
    """Return the finite number that the text is; raises UserError beginning with ``what``."""
    try:
        value = float(text) if "_" not in text and text.isascii() else None
    except ValueError:
        value = None
    if value is None:
        raise UserError(f"{what}: {show(text)} is not a number")
    if not np.isfinite(value):
        raise UserError(f"{what}: {show(text)} is not finite")
    return value


def read_fields(path: Path, delimiter: str, limit: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped fields) of a delimited text; ``whitespace`` splits at any run of it.

    Empty lines are skipped. Raises UserError naming file:line where the quoting is broken.
    """
    with io.TextIOWrapper(open_binary(path, limit), "utf-8-sig", "replace", newline="") as file:
        if delimiter == "whitespace":
            for number, line in enumerate(_lines(file, path), 1):
                if fields := line.split():
                    yield number, fields
            return
        reader = csv.reader(_lines(file, path), delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for fields in reader:
                if any(field.strip() for field in fields):
                    yield reader.line_num, [field.strip() for field in fields]
        except csv.Error as error:
            raise UserError(f"{path}:{reader.line_num}: {error}") from error


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    """Yield the lines of a text whose lines have an end."""
    number = 1
    while line := file.readline(files.LONGEST_LINE + 1):
        if len(line) > files.LONGEST_LINE:
            raise UserError(f"{path}:{number}: the line is longer than {files.LONGEST_LINE:,} characters")
        yield line
        number += 1


def read_npz(path: Path, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return X (T, d) and y (T,) of an .npz stream as float64; pickled members are refused.

    Raises UserError for a missing member, a wrong shape, NaN or infinite numbers (naming the row).
    """
    limit = size_limit() if limit is None else limit
    with decoding(path, "not an .npz file with numeric arrays X and y"), zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if missing := {"X", "y"} - set(names):
            known = show(", ".join(names))
            raise UserError(f"{path}: has no array {' and '.join(sorted(missing))}, only {known}")
        size = sum(_size(archive, key) for key in ("X", "y"))
        if size > limit:
            raise UserError(
                f"{path}: holds {size:,} bytes, more than {limit:,}; set OMKL_MAX_BYTES to read it"
            )
        X, y = (_numeric(read_array(archive, key)) for key in ("X", "y"))
    y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise UserError(f"{path}: X {X.shape} and y {y.shape} should be (T, d) and (T,)")
    bad = np.flatnonzero(~(np.isfinite(X).all(axis=1) & np.isfinite(y)))
    if len(bad):
        raise UserError(f"{path}: row {bad[0] + 1} holds a number that is not finite")
    return X, y


@contextlib.contextmanager
def decoding(path: Path, fault: str, kind: type[OmklError] = UserError) -> Iterator[None]:
    """Turn any error of numpy and zipfile on a foreign file into one error of this kind, on one line."""
    try:
        yield
    except OmklError:
        raise
    except Exception as error:  # a dozen kinds, from tokenize.TokenError to NotImplementedError
        raise kind(f"{path}: {fault}: {' '.join(str(error).split())[:200]}") from error


def read_array(archive: zipfile.ZipFile, key: str) -> np.ndarray:
    """Return the array of an archive's member; refuse pickles and headers that announce too much."""
    member = archive.getinfo(f"{key}.npy")
    with archive.open(member) as stream:
        shape, dtype = array_header(stream)
        if math.prod(shape) * dtype.itemsize > member.file_size:  # before memory is reserved for it
            raise ValueError(f"{key} {shape} is incomplete")
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def array_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and dtype from an .npy header and leave the stream behind it."""
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers.get(version, readers[2, 0])(stream)
    if min(shape, default=0) < 0:
        raise ValueError(f"a negative shape {shape}")
    return shape, dtype


def _size(archive: zipfile.ZipFile, key: str) -> int:
    """Return the bytes that a member takes, packed in the file or as float64, whichever is more."""
    member = archive.getinfo(f"{key}.npy")
    with archive.open(member) as stream:
        shape, _ = array_header(stream)
    return max(member.file_size, 8 * math.prod(shape))


def _numeric(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise ValueError(f"numbers of kind {array.dtype}")
    return array.astype(np.float64)

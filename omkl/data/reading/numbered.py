"""Files of numbered columns: LIBSVM text and .npz files as users have them, read strictly.

LIBSVM text is read in whole blocks by scikit-learn, which does not name the line and accepts NaN. A block
that breaks any rule is read again line by line.
"""

import contextlib
import io
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omkl.data.reading.opening import line_blocks
from omkl.errors import OmklError, UserError, show

LARGEST_INDEX = 2**31 - 1
MANY = 2**24  # columns; more than a learner can hold state for, more than any registered set has
LONGEST_INDEX = 100  # digits; int() refuses some thousands of them
# labels, entries per row, indices from 1, values
_Block = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_QID = re.compile(rb"(?<=[ \t])qid:[^\s]*")
_NOT_PLAIN = (b"qid", b" +", b" -", b"\t+", b"\t-", b"_")  # of a block: for the slow reader
_LARGE = 2**16  # bytes, from which on scikit-learn is worth its import


class Examples(NamedTuple):
    """Sparse rows, with labels as the source writes them; explicit zeros are dropped.

    indptr (T+1,) int64   indices (nnz,) int32 from 0   values (nnz,) float64
    labels (T,) float64, or str where they are words   d: highest column seen, or the number of columns
    base: the index that LIBSVM text gives the first column
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    d: int
    base: int = 1


def read_libsvm(
    paths: list[Path], limit: int | None = None, base: int | None = 1, drop_qid: bool = False
) -> Examples:
    """Read LIBSVM text (plain or compressed); several files are one after the other.

    A row is ``label index:value ...``, indices ascending; ``#`` begins a comment; empty lines are skipped.
    base: the index of the first column, 0 or 1; None: 0 if an index is 0, else 1. Raises UserError naming
    file:line for a broken line and for NaN or infinite numbers. drop_qid: whether the ``qid:`` fields of
    rankings are left out
    """
    parts, first = [], 1
    for path in paths:
        for block in _libsvm_blocks(path, limit, base, drop_qid):
            first = min(first, int(block[2].min(initial=1)))
            parts.append(_of_block(*block, base or 0))
    examples = joined(parts)
    if base is not None:
        return examples
    examples.indices[:] -= first  # in place: a file may be as large as memory allows
    return examples._replace(d=max(examples.d - first, 0), base=first)


def libsvm_parts(path: Path, limit: int | None, base: int, drop_qid: bool) -> Iterator[Examples]:
    """Yield the examples of LIBSVM text in parts of some megabytes, see `read_libsvm`."""
    for block in _libsvm_blocks(path, limit, base, drop_qid):
        yield _of_block(*block, base)


def _libsvm_blocks(path: Path, limit: int | None, base: int | None, drop_qid: bool) -> Iterator[_Block]:
    """Yield the rows of a file in blocks. Raises UserError, see `read_libsvm`."""
    count, least = 0, base or 0
    for line, data in line_blocks(path, limit):
        if drop_qid:
            data = _QID.sub(b"", data)
        block = _fast_block(data, least) or _slow_block(data, line, path, least)
        count += len(block[0])
        yield block
    if count == 0:
        raise UserError(f"{path}: no examples in it; LIBSVM text has one 'label index:value ...' per line")


def _of_block(
    labels: np.ndarray, counts: np.ndarray, indices: np.ndarray, values: np.ndarray, base: int
) -> Examples:
    """Return the entries of a block that are not 0."""
    keep = values != 0.0
    indptr = np.append(0, np.cumsum(keep))[np.append(0, np.cumsum(counts))]
    d = int(indices.max(initial=base - 1)) + 1 - base
    return Examples(indptr, (indices[keep] - base).astype(np.int32), values[keep], labels, d, base)


def joined(blocks: Sequence[Examples]) -> Examples:
    """Return the rows of these parts, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([0] + [len(part.indices) for part in blocks])
    indptr = np.concatenate([[0], *(part.indptr[1:] + end for part, end in zip(blocks, ends, strict=False))])
    indices, values, labels = (
        np.concatenate([getattr(part, key) for part in blocks]) for key in ("indices", "values", "labels")
    )
    d = max(part.d for part in blocks)
    return Examples(indptr.astype(np.int64), indices, values, labels, d, blocks[0].base)


def dense(X: Any, labels: np.ndarray) -> Examples:
    """Return Examples of X (T, d), dense or a scipy.sparse.csr_array of our own, without its zeros."""
    if not isinstance(X, np.ndarray):
        X.sum_duplicates()
        X.eliminate_zeros()
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
        return Examples(indptr, indices, X.data, labels, X.shape[1])
    there, d = X != 0.0, X.shape[1]
    if there.all():  # without the index of what is there, which takes memory
        indptr, indices = d * np.arange(len(X) + 1), np.tile(np.arange(d, dtype=np.int32), len(X))
        return Examples(indptr, indices, np.asarray(X.reshape(-1), np.float64), labels, d)
    indptr = np.zeros(len(X) + 1, np.int64)
    np.cumsum(np.count_nonzero(there, axis=1), out=indptr[1:])
    columns = np.broadcast_to(np.arange(d, dtype=np.int32), X.shape)
    return Examples(indptr, columns[there], np.asarray(X[there], np.float64), labels, d)


def undense(examples: Examples) -> np.ndarray:
    """Return the dense X (T, d) of Examples."""
    X = np.zeros((len(examples.labels), examples.d))
    X[np.repeat(np.arange(len(X)), np.diff(examples.indptr)), examples.indices] = examples.values
    return X


def _fast_block(data: bytes, least: int) -> _Block | None:
    """Return the block's rows, by scikit-learn, or None if a line breaks a rule or the block is small.

    least: the smallest index
    """
    if len(data) < _LARGE or not data.isascii() or any(mark in data for mark in _NOT_PLAIN):
        return None
    from sklearn.datasets import load_svmlight_file  # .5 s

    try:
        X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
    except (ValueError, OverflowError):
        return None
    if not np.isfinite(X.data).all() or not np.isfinite(y).all() or X.indices.min(initial=least) < least:
        return None
    return y, np.diff(X.indptr), X.indices, X.data


def _slow_block(data: bytes, line: int, path: Path, least: int) -> _Block:
    """Read the block line by line. Raises UserError naming the first line that breaks a rule."""
    labels, counts, indices, values = [], [], [], []
    for number, text in enumerate(data.split(b"\n"), line):
        where, row = f"{path}:{number}", text.split(b"#", 1)[0]
        tokens = row.decode(errors="replace").split()
        if not tokens:
            continue
        labels.append(to_number(tokens[0], f"{where}: a line begins with its label, a number"))
        counts.append(len(tokens) - 1)
        previous = least - 1
        for word in tokens[1:]:
            index, mark, value = word.partition(":")
            is_next = mark and index.isascii() and index.isdecimal() and len(index) <= LONGEST_INDEX
            if not (is_next and previous < int(index) <= LARGEST_INDEX):
                start = "1 (index_base=1)" if least else "0"
                helps = f"whole numbers that ascend, from {start} to {LARGEST_INDEX}"
                helps = (
                    "; qid=drop leaves these fields out" if index == "qid" else f"; the indices are {helps}"
                )
                raise UserError(f"{where}: {show(word)} is not the next 'index:value'{helps}")
            previous = int(index)
            indices.append(previous)
            values.append(to_number(value, f"{where}: value of index {index}"))
    return np.array(labels), np.array(counts, np.int64), np.array(indices, np.int64), np.array(values)


def to_number(text: str, what: str) -> float:
    """Return the finite number that the text is. Raises UserError beginning with ``what``."""
    try:
        value = float(text) if "_" not in text and text.isascii() else None
    except ValueError:
        value = None
    if value is None or not math.isfinite(value):
        raise UserError(f"{what}: {show(text)} is not {'a number' if value is None else 'finite'}")
    return value


def read_npz(path: Path, limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return X (T, d) as float64 and y (T,) of an .npz file; pickled members are refused.

    NaN in X is a gap. Raises UserError for a missing member, a wrong shape, infinite numbers or targets that
    are NaN (naming the row), and more than ``limit`` bytes.
    """
    with decoding(path, "not an .npz file with arrays X and y"), zipfile.ZipFile(path) as archive:
        check_size(path, archive, limit)
        arrays = np.load(path, allow_pickle=False)
        if not {"X", "y"} <= set(arrays):
            raise UserError(f"{path}: has no arrays X and y, only {show(', '.join(arrays))}; name them so")
        X, y = arrays["X"], arrays["y"]
        if X.dtype.kind not in "biuf" or y.dtype.kind not in "biufU":
            raise ValueError(f"X holds {X.dtype}, y {y.dtype}")
    X = X.astype(np.float64)
    y = y.astype(np.float64) if y.dtype.kind == "f" else y
    y = y.ravel() if y.ndim == 2 and 1 in y.shape else y
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise UserError(f"{path}: X {X.shape} and y {y.shape} should be (T, d) and (T,)")
    bad = np.isinf(X).any(axis=1) | (~np.isfinite(y) if y.dtype.kind == "f" else False)
    if bad.any():
        raise UserError(f"{path}: row {int(np.argmax(bad)) + 1} holds a number that is not finite")
    return X, y


def check_size(path: Path, archive: zipfile.ZipFile, limit: int | None) -> None:
    """Raise UserError for an archive that holds more than ``limit`` bytes."""
    size = sum(member.file_size for member in archive.infolist())
    if limit is not None and size > limit:
        raise UserError(f"{path}: holds {size:,} bytes, more than {limit:,}")


@contextlib.contextmanager
def decoding(path: Path, fault: str, kind: type[OmklError] = UserError) -> Iterator[None]:
    """Turn any error of numpy and zipfile on a foreign file into one error of this kind, on one line."""
    try:
        yield
    except OmklError:
        raise
    except Exception as error:  # a dozen kinds, from tokenize.TokenError to NotImplementedError
        raise kind(f"{path}: {fault}: {' '.join(str(error).split())[:200]}") from error

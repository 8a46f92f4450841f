"""From a source's own format to rows and ±1 labels, as the set's YAML declares (or as a user's file shows).

A YAML's ``forms`` list the ways a set is found: LIBSVM text, or the original table with what to do to it.
All of them must give the same content hash.
"""

import itertools
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from omkl.data.files import open_binary
from omkl.data.parse import (
    LARGEST_INDEX,
    LONGEST_INDEX,
    Rows,
    csr,
    read_cells,
    read_libsvm,
    read_npz,
    to_number,
)
from omkl.errors import UserError, show

COMPRESSION = (".xz", ".bz2", ".gz")
LONGEST_LABEL = 100
TEXT = (".libsvm", ".svm", ".txt", ".csv", ".tsv", ".data", ".npz")


@dataclass(frozen=True)
class Link:
    """Where a file is downloaded from; ``member`` is its name inside a .zip archive."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of a form: the name it is looked for under, and where it can be downloaded (none: never)."""

    name: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Form:
    """One format that a set is found in, and the steps from there to rows and labels.

    format: libsvm (files one after the other) | table | sparse_binary (a line lists the columns that are 1)
        | sklearn (the copy that scikit-learn embeds)
    labels: source label -> +1 or -1; other labels are errors
    label: column of the label: first | last | number from 1 | file (the second file holds one label per line)
    delimiter: "," or "whitespace"   drop: columns left out, from 1   values: words -> numbers
    missing: rows with this mark in a kept feature are left out
    """

    format: str
    files: tuple[DataFile, ...] = ()
    labels: dict[str, int] | None = None
    label: str | int = "last"
    delimiter: str = ","
    drop: tuple[int, ...] = ()
    values: dict[str, float] | None = None
    missing: str | None = None
    header: bool | None = False  # None: taken as one where the first line's features are no numbers
    dataset: str | None = None


def read_form(form: Form, paths: Sequence[Path], limit: int | None = None) -> Rows:
    """Read the form's files into rows with labels still as in the source; UserError for bad content."""
    paths = list(paths)
    if form.format == "libsvm":
        return read_libsvm(paths, limit)
    if form.format == "sklearn":
        return _read_sklearn(form)
    rows = (
        _read_columns(paths[0], limit)
        if form.format == "sparse_binary"
        else _read_table(form, paths[0], limit)
    )
    if form.label != "file":
        return rows
    labels = _read_labels(paths[1], limit)
    if len(labels) != len(rows.labels):
        raise UserError(f"{paths[1]}: {len(labels)} labels for the {len(rows.labels)} rows of {paths[0]}")
    return rows._replace(labels=labels)


def read_user_file(path: Path) -> Rows:
    """Read a file that no YAML describes, by its suffix: .npz with X and y, .csv or .tsv, else LIBSVM text.

    Of a .csv or .tsv the last column is the label; a first line whose features are no numbers is skipped.
    """
    inner = path.with_suffix("") if path.suffix in COMPRESSION else path
    if inner.suffix == ".npz":
        return dense(*read_npz(path))
    if inner.suffix in (".csv", ".tsv"):
        return _read_table(Form("table", delimiter=_delimiter(path), header=None), path, None)
    return read_libsvm([path])


def stem(path: Path) -> str:
    """Return the file's name without the suffixes of compression and format: ``my.libsvm.xz`` -> ``my``."""
    name = path.name.removesuffix(next((s for s in COMPRESSION if path.name.endswith(s)), ""))
    return name.removesuffix(next((s for s in TEXT if name.endswith(s)), "")) or path.name


def signs(
    labels: np.ndarray, mapping: dict[str, int] | None, where: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return y (T,) of +1 and -1, and notes that tell a mapping which no YAML declared.

    Without ``mapping`` the smaller of two labels becomes -1. Raises UserError for labels outside the mapping,
    or that are not two classes, saying which were found.
    """
    found, place = np.unique(_as_numbers(labels), return_inverse=True)
    texts = [_text(label) for label in found]
    words = [text if text.isprintable() else show(text) for text in texts]
    if mapping is None:
        if len(found) != 2:
            shown = ", ".join(words[:8]) + (", ..." if len(found) > 8 else "")
            raise UserError(
                f"{where}: {len(found)} different labels ({shown}); classification needs exactly two"
            )
        y = np.array([-1.0, 1.0])[place.ravel()]
        return y, () if texts == ["-1", "1"] else (f"labels: {words[0]} -> -1, {words[1]} -> +1",)
    unknown = [text for text in texts if text not in mapping]
    if unknown:
        raise UserError(f"{where}: label {show(unknown[0])}; expected one of {', '.join(mapping)}")
    return np.array([float(mapping[text]) for text in texts])[place.ravel()], ()


def dense(X: np.ndarray, labels: np.ndarray) -> Rows:
    """Return Rows of a dense X (T, d), without its zeros."""
    rows, columns = np.nonzero(X)
    return csr(rows, columns, X[rows, columns], labels, X.shape[1])


def _as_numbers(labels: np.ndarray) -> np.ndarray:
    """Labels as numbers if all of them are, so that '+1', '1' and '1.0' are the same; else as they are."""
    try:
        return labels.astype(np.float64)
    except ValueError:
        return labels


def _text(label: object) -> str:
    """Canonical text of a label: whole numbers without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _read_table(form: Form, path: Path, limit: int | None) -> Rows:
    numbers, lines, labels = array("d"), array("q"), []
    words = {word: repr(value) for word, value in (form.values or {}).items()}
    width = 0
    for line, cells in read_cells(path, form.delimiter, limit):
        if width == 0:
            width = len(cells)
            label = _label_column(form.label, width, path)
            kept = [i for i in range(width) if i != label and i + 1 not in form.drop]
            if not kept:
                raise UserError(
                    f"{path}:{line}: {width} column(s), so no features; is the delimiter {form.delimiter!r}?"
                )
            if form.header or (form.header is None and _is_header(cells, kept)):
                continue
        if len(cells) != width:
            raise UserError(f"{path}:{line}: {len(cells)} columns; the lines before have {width}")
        features = [cells[i] for i in kept]
        if form.missing is not None and form.missing in features:
            continue
        features = [words.get(cell, cell) for cell in features]
        try:
            if "_" in "".join(features):
                raise ValueError("float() would read 1_000")
            numbers.extend(map(float, features))
        except ValueError:
            for column, cell in zip(kept, features, strict=True):
                to_number(cell, f"{path}:{line}: column {column + 1}")
            raise
        lines.append(line)
        labels.append(_checked_label(cells[label], f"{path}:{line}") if label is not None else "")
    if not lines:
        raise UserError(f"{path}: no examples in it")
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(lines), len(kept))
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        column = kept[int(np.argmin(np.isfinite(X[bad[0]])))] + 1
        raise UserError(f"{path}:{lines[bad[0]]}: column {column} is not finite")
    empty = next((lines[i] for i, text in enumerate(labels) if not text), None) if label is not None else None
    if empty is not None:
        raise UserError(f"{path}:{empty}: the label (column {label + 1}) is empty")
    return dense(X, np.array(labels))


def _label_column(label: str | int, width: int, path: Path) -> int | None:
    if label == "file":
        return None
    column = {"first": 1, "last": width}.get(label, label)
    if not isinstance(column, int) or not 1 <= column <= width:
        raise UserError(f"{path}: the label should be column {label} but there are {width} columns")
    return column - 1


def _is_header(cells: list[str], kept: list[int]) -> bool:
    """Whether none of the features of the first line is a number."""

    def numeric(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    return not any(numeric(cells[i]) for i in kept)


def _delimiter(path: Path) -> str:
    """The delimiter of a user's table: the first of , ; tab that its first line has, else white space."""
    with open_binary(path) as file:
        first = file.readline(2**20).decode("utf-8", "replace")
    return next((mark for mark in (",", ";", "\t") if mark in first), "whitespace")


def _read_columns(path: Path, limit: int | None) -> Rows:
    """Read lines that list the columns (from 1, ascending) which are 1."""
    indptr, columns = array("q", [0]), array("q")
    for line, cells in read_cells(path, "whitespace", limit):
        bad = next((cell for cell in cells if not (cell.isascii() and cell.isdecimal())), None)
        if bad is not None:
            raise UserError(f"{path}:{line}: {show(bad)} is not a column number")
        row = [int(cell) if len(cell) <= LONGEST_INDEX else LARGEST_INDEX + 1 for cell in cells]
        if max(row) > LARGEST_INDEX:
            raise UserError(f"{path}:{line}: a column number is above {LARGEST_INDEX}")
        if row[0] < 1 or any(b <= a for a, b in itertools.pairwise(row)):
            raise UserError(f"{path}:{line}: column numbers must start at 1 and ascend")
        columns.extend(row)
        indptr.append(len(columns))
    if len(indptr) == 1:
        raise UserError(f"{path}: no examples in it")
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(np.frombuffer(indptr, np.int64)))
    indices = np.frombuffer(columns, np.int64)
    d = int(indices.max(initial=0))
    return csr(rows, indices - 1, np.ones(len(indices)), np.empty(len(indptr) - 1), d)


def _read_labels(path: Path, limit: int | None) -> np.ndarray:
    labels = []
    for line, cells in read_cells(path, "whitespace", limit):
        if len(cells) != 1:
            raise UserError(f"{path}:{line}: {len(cells)} words; a label file has one label per line")
        labels.append(_checked_label(cells[0], f"{path}:{line}"))
    return np.array(labels)


def _checked_label(text: str, where: str) -> str:
    """Return the label if it is short: numpy makes room for the longest one in every row."""
    if len(text) > LONGEST_LABEL:
        raise UserError(f"{where}: the label has {len(text):,} characters; at most {LONGEST_LABEL} are read")
    return text


def _read_sklearn(form: Form) -> Rows:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
    return dense(X, y.astype(np.float64))

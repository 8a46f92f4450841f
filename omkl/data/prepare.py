"""From a source's own format to rows and labels or targets, as its YAML declares (or as a user's file shows).

A YAML's ``forms`` list the ways a set is found: LIBSVM text, or the original table with what to do to it.
All of them must give the same content hash.
"""

import itertools
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from omkl.data.files import COMPRESSION, size_limit
from omkl.data.forms import Affine, Form
from omkl.data.parse import (
    LARGEST_INDEX,
    LONGEST_INDEX,
    Rows,
    csr,
    dense,
    read_cells,
    read_libsvm,
    read_npz,
    to_number,
    undense,
)
from omkl.data.streams import generate
from omkl.data.tables import checked_label, delimiter, read_table
from omkl.errors import UserError, show


def read_form(form: Form, paths: Sequence[Path], limit: int | None = None) -> Rows:
    """Read the form's files into rows with labels still as in the source, or as targets are wanted.

    Raises UserError for bad content.
    """
    rows = _read_source(form, list(paths), limit)
    if form.target is None and form.scale is None and not form.unit:
        return rows
    if 8 * len(rows.labels) * rows.d > size_limit(limit):
        raise UserError(f"{paths[0]}: {len(rows.labels)} rows of {rows.d} columns are too many")
    if form.unit:
        X = undense(rows)
        least, range_ = X.min(axis=0), np.ptp(X, axis=0)
        rows = dense((X - least) / np.where(range_ > 0, range_, 1.0), rows.labels)
    if form.target is None and form.scale is None:
        return rows
    X, raw = undense(rows), targets(rows.labels, str(paths[0]))[0]
    target, scale = form.target or Affine(), form.scale or Affine()
    if target.keep:
        kept = (target.keep[0] <= raw) & (raw <= target.keep[1])
        if not kept.any():
            raise UserError(f"{paths[0]}: no example's target lies in {list(target.keep)}")
        X, raw = X[kept], raw[kept]
    return dense(scale(X), target(raw))


def _read_source(form: Form, paths: list[Path], limit: int | None) -> Rows:
    if form.format == "libsvm":
        return read_libsvm(paths, limit)
    if form.format == "sklearn":
        return _read_sklearn(form)
    if form.format == "stream":
        return generate(form.dataset, 1)
    if form.format == "npz":
        return dense(*read_npz(paths[0], limit))
    rows = (
        _read_columns(paths[0], limit)
        if form.format == "sparse_binary"
        else read_table(form, paths[0], limit)
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
        return read_table(Form("table", delimiter=delimiter(path), header=None), path, None)
    return read_libsvm([path])


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
                + (
                    "; task=regression takes them as targets"
                    if found.dtype.kind == "f" and len(found) > 1
                    else ""
                )
            )
        y = np.array([-1.0, 1.0])[place.ravel()]
        return y, () if texts == ["-1", "1"] else (f"labels: {words[0]} -> -1, {words[1]} -> +1",)
    unknown = [text for text in texts if text not in mapping]
    if unknown:
        raise UserError(f"{where}: label {show(unknown[0])}; expected one of {', '.join(mapping)}")
    return np.array([float(mapping[text]) for text in texts])[place.ravel()], ()


def targets(labels: np.ndarray, where: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return y (T,) of labels that are numbers, and no notes. Raises UserError for one that is none."""
    numbers = labels
    if labels.dtype.kind != "f":
        numbers = np.array([to_number(str(label), f"{where}: target") for label in labels])
    if not np.isfinite(numbers).all():
        raise UserError(f"{where}: a target is not finite")
    return numbers, ()


def _as_numbers(labels: np.ndarray) -> np.ndarray:
    """Labels as numbers if all of them are, so that '+1', '1' and '1.0' are the same; else as they are."""
    try:
        return labels.astype(np.float64)
    except ValueError:
        return labels


def _text(label: object) -> str:
    """Canonical text of a label: whole numbers without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


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
        labels.append(checked_label(cells[0], f"{path}:{line}"))
    return np.array(labels)


def _read_sklearn(form: Form) -> Rows:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
    return dense(X, y.astype(np.float64))

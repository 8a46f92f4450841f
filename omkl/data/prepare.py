"""From a source's own format to examples, as its YAML declares (or as a user's file shows).

A YAML's ``forms`` list the formats of a set: LIBSVM text, or the original table with what to do to it.
All of them must give the same content hash.
"""

import itertools
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omkl.data.dataset import Dataset, content_hash
from omkl.data.files import COMPRESSION, data_name, size_limit
from omkl.data.forms import Affine, Form
from omkl.data.parse import (
    LARGEST_INDEX,
    LONGEST_INDEX,
    Examples,
    csr,
    dense,
    read_fields,
    read_libsvm,
    read_npz,
    to_number,
    undense,
)
from omkl.data.streams import generate
from omkl.data.tables import checked_label, delimiter, read_table
from omkl.errors import UserError, show

if TYPE_CHECKING:
    from omkl.data.registry import DataEntry


def parse_file(path: Path, task: str) -> Dataset:
    """Read a file that no YAML describes."""
    examples, where = read_user_file(path), str(path)
    if examples.d == 0:
        raise UserError(f"{where}: no features in any example")
    if task == "classification":
        y, notes = signs(examples.labels, None, where)
    else:
        y, notes = targets(examples.labels, where), ()
    return dataset_of(data_name(path), examples, y, examples.d, task, notes)


def parse(item: "DataEntry", source: tuple[Form, list[Path]]) -> Dataset:
    """Read the source of a registered set; check that the content is the registered one."""
    form, paths = source
    where = " + ".join(str(path) for path in paths) or f"what {form.format} gives for {item.name}"
    examples = read_form(form, paths, size_limit(item.size_limit(form)))
    labels = examples.labels
    y = signs(labels, form.labels, where)[0] if form.labels else targets(labels, where)
    dataset = dataset_of(item.name, examples, y, item.d, item.task, item.notes)
    columns = int(examples.indices.max(initial=-1)) + 1
    if dataset.content_hash != item.content_hash or columns > item.d:
        expected = f"expected {item.content_hash} (T={item.T}, d={item.d})"
        share = f", {dataset.positive_share:.6f} positive" if item.task == "classification" else ""
        got = f"got {dataset.content_hash} (T={dataset.T}, d={columns}{share})"
        raise UserError(f"{where}: not the registered content of {item.name}: {expected}, {got}")
    return dataset


def dataset_of(
    name: str, examples: Examples, y: np.ndarray, d: int, task: str, notes: tuple[str, ...]
) -> Dataset:
    arrays = (examples.indptr, examples.indices, examples.values, y)
    return Dataset(name, *arrays, d, task, content_hash(*arrays), None, notes)


def read_form(form: Form, paths: Sequence[Path], limit: int | None = None) -> Examples:
    """Return the examples of a form's files, labels as in the source, or changed as ``target`` says.

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
    X, raw = undense(rows), targets(rows.labels, str(paths[0]))
    target, scale = form.target or Affine(), form.scale or Affine()
    if target.keep:
        kept = (target.keep[0] <= raw) & (raw <= target.keep[1])
        if not kept.any():
            raise UserError(f"{paths[0]}: no example's target lies in {list(target.keep)}")
        X, raw = X[kept], raw[kept]
    return dense(scale(X), target(raw))


def _read_source(form: Form, paths: list[Path], limit: int | None) -> Examples:
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


def read_user_file(path: Path) -> Examples:
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
    """Return y (T,) of +1 and -1, and notes on a mapping that no YAML declared.

    Without ``mapping`` the smaller of two labels becomes -1. Raises UserError for labels outside the mapping,
    or that are not two classes, and lists them.
    """
    distinct, place = np.unique(_as_numbers(labels), return_inverse=True)
    texts = [_text(label) for label in distinct]
    words = [text if text.isprintable() else show(text) for text in texts]
    if mapping is None:
        if len(distinct) != 2:
            shown = ", ".join(words[:8]) + (", ..." if len(distinct) > 8 else "")
            raise UserError(
                f"{where}: {len(distinct)} different labels ({shown}); classification needs exactly two"
                + (
                    "; task=regression takes them as targets"
                    if distinct.dtype.kind == "f" and len(distinct) > 1
                    else ""
                )
            )
        y = np.array([-1.0, 1.0])[place.ravel()]
        return y, () if texts == ["-1", "1"] else (f"labels: {words[0]} -> -1, {words[1]} -> +1",)
    unknown = [text for text in texts if text not in mapping]
    if unknown:
        raise UserError(f"{where}: label {show(unknown[0])}; expected one of {', '.join(mapping)}")
    return np.array([float(mapping[text]) for text in texts])[place.ravel()], ()


def targets(labels: np.ndarray, where: str) -> np.ndarray:
    """Return y (T,) of labels that are numbers. Raises UserError for one that is not."""
    numbers = labels
    if labels.dtype.kind != "f":
        numbers = np.array([to_number(str(label), f"{where}: target") for label in labels])
    if not np.isfinite(numbers).all():
        raise UserError(f"{where}: a target is not finite")
    return numbers


def _as_numbers(labels: np.ndarray) -> np.ndarray:
    """Return labels as numbers if all of them are, so that '+1', '1' and '1.0' agree; else as they are."""
    try:
        return labels.astype(np.float64)
    except ValueError:
        return labels


def _text(label: object) -> str:
    """Return the canonical text of a label: whole numbers without a point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _read_columns(path: Path, limit: int | None) -> Examples:
    """Read lines that list the columns (from 1, ascending) which are 1."""
    indptr, columns = array("q", [0]), array("q")
    for line, fields in read_fields(path, "whitespace", limit):
        bad = next((field for field in fields if not (field.isascii() and field.isdecimal())), None)
        if bad is not None:
            raise UserError(f"{path}:{line}: {show(bad)} is not a column number")
        row = [int(field) if len(field) <= LONGEST_INDEX else LARGEST_INDEX + 1 for field in fields]
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
    for line, fields in read_fields(path, "whitespace", limit):
        if len(fields) != 1:
            raise UserError(f"{path}:{line}: {len(fields)} words; a label file has one label per line")
        labels.append(checked_label(fields[0], f"{path}:{line}"))
    return np.array(labels)


def _read_sklearn(form: Form) -> Examples:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
    return dense(X, y.astype(np.float64))

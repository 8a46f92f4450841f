"""From files to a data set, as a form declares it: that of a YAML, or the one that a user's file shows."""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from omkl.data import table_files
from omkl.data.data_files import data_name, size_limit, suffix
from omkl.data.dataset import Dataset, content_hash
from omkl.data.delimited import beginning, guessed, read_columns, read_fields, read_labels, read_table
from omkl.data.labels import Classes, against_rest, class_numbers, note_on, note_on_alike, targets
from omkl.data.parse import Examples, dense, read_libsvm, read_npz, undense
from omkl.data.recipe import AS_IT_IS, Preparation, Recipe, note_on_gaps, recipe_of, refuse_odd_targets
from omkl.data.registry import Affine, DataEntry, Form
from omkl.data.streams import generate
from omkl.errors import UserError

KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arff": "arff",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
}
TABLES = ("csv", "parquet", "arff")
TABLE_KEYS = [key.name for key in fields(Preparation) if key.name != "index_base"]
_ENTRY = re.compile(r"(?:[0-9]+|qid):[^\s,;|]*")  # of a row of LIBSVM text


def parse(name: str, form: Form, paths: Sequence[Path], task: str, item: DataEntry | None = None) -> Dataset:
    """Return the data set in the files of a form. Raises UserError if it is not the content of ``item``."""
    where = " + ".join(str(path) for path in paths) or f"the {form.format} data of {name}"
    examples = read_form(form, paths, size_limit(item.size_limit(form)) if item else None)
    classes: Classes = None
    if examples.d == 0 and item is None:
        raise UserError(f"{where}: no features in any example")
    if task == "classification":
        y, classes = class_numbers(examples.labels, form.labels, where)
    else:
        y = targets(examples.labels, where)
    if item is None:
        counted = "an index is 0, so the columns count from 0 (index_base=0)"
        notes = (counted,) if form.index_base is None and examples.base == 0 else ()
        return dataset_of(name, examples, y, examples.d, task, notes, classes)
    dataset = replace(dataset_of(name, examples, y, item.d, task, item.notes), classes=item.classes)
    columns = int(examples.indices.max(initial=-1)) + 1
    if dataset.content_hash != item.content_hash or columns > item.d:
        two = task == "classification" and item.classes is None
        share = f", {dataset.positive_share:.6f} positive" if two else ""
        raise UserError(
            f"{where}: not the registered content of {name}: "
            f"expected {item.content_hash} (T={item.T}, d={item.d}), "
            f"got {dataset.content_hash} (T={dataset.T}, d={columns}{share})"
        )
    return dataset


def dataset_of(
    name: str,
    examples: Examples,
    y: np.ndarray,
    d: int,
    task: str,
    notes: tuple[str, ...],
    classes: Classes = None,
) -> Dataset:
    """Return the data set of these examples with labels or targets y (T,).

    classes: of a source without YAML, as `class_numbers` returns them; a note says which is which.
    """
    notes = (*notes, *note_on(classes))
    arrays = (examples.indptr, examples.indices, examples.values, y)
    return Dataset(name, *arrays, d, task, content_hash(*arrays), None, notes, classes, examples.base)


def form_of_file(path: Path, preparation: Preparation = AS_IT_IS) -> Form:
    """Return how a user's file is read that is no table: .npz with X and y, else LIBSVM text."""
    base = None if preparation.index_base == "auto" else int(preparation.index_base)
    return Form("npz") if kind_of_file(path) == "npz" else Form("libsvm", index_base=base)


def is_table(path: Path) -> bool:
    """Whether a user's file is a table of named columns."""
    return kind_of_file(path) in TABLES


def kind_of_file(path: Path) -> str:
    """Return the kind of a user's file: csv, parquet, arff, npz or libsvm.

    By its ending where that says it; others, such as .data and .txt, by their first lines.
    """
    return KINDS.get(suffix(path)) or _kind_of_text(path)


def _kind_of_text(path: Path) -> str:
    for line in beginning(path).split("\n"):
        line = line.partition("#")[0]
        words = line.split()
        if any(map(_ENTRY.fullmatch, words)):
            return "libsvm"
        if guessed(line) or len(words) > 1:
            return "csv"
    return "libsvm"


def check_settings(spec: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this kind."""
    kind = kind_of_file(path)
    for keys, kinds, what in (
        (("index_base",), ("libsvm",), "LIBSVM text"),
        (("header", "delimiter"), ("csv",), "tables that are delimited text (.csv, .tsv)"),
        (tuple(TABLE_KEYS), TABLES, "tables (.csv, .tsv, .arff, .parquet)"),
    ):
        if kind not in kinds and (words := preparation.words_of(keys)):
            raise UserError(f"data={spec}: {words} is for {what}")


def read_table_file(path: Path, task: str, preparation: Preparation) -> tuple[Dataset, Recipe]:
    """Return the data set of a user's table, and the recipe that prepares others like it.

    Raises UserError that names file, line, column and what helps.
    """
    table = table_files.read(path, preparation.form, size_limit())
    recipe, notes = recipe_of(table, preparation)
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    rows = len(table.columns[0].text)
    if len(kept) < rows:
        notes.append(f"missing=drop leaves out {rows - len(kept)} of {rows} rows")
    notes += note_on_gaps(table, recipe)
    where = f"{path}: column '{recipe.label}'"
    classes: Classes = None
    if task != "classification":
        refuse_odd_targets(table, recipe)
        y = targets(labels.astype(str), where)
    elif preparation.positive is not None:
        y, classes, recipe.alike = against_rest(labels, preparation.positive, where)
        notes += note_on_alike([classes[1], *recipe.alike])
    else:
        y, classes = class_numbers(labels, None, where)
    examples = dense(X, labels)
    return dataset_of(data_name(path), examples, y, examples.d, task, tuple(notes), classes), recipe


def read_form(form: Form, paths: Sequence[Path], limit: int | None = None) -> Examples:
    """Return the examples of a form's files, labels as in the source, or changed as ``target`` says.

    Raises UserError for bad content, and for a file that holds more than ``limit`` bytes.
    """
    examples = _read_source(form, list(paths), limit)
    if not (form.target or form.scale or form.unit):
        return examples
    if 8 * len(examples.labels) * examples.d > size_limit(limit):
        raise UserError(f"{paths[0]}: {len(examples.labels)} rows of {examples.d} columns are too many")
    X, labels = undense(examples), examples.labels
    if form.unit:
        least, spread = X.min(axis=0), np.ptp(X, axis=0)
        X = (X - least) / np.where(spread > 0, spread, 1.0)
    if form.target or form.scale:
        target, scale = form.target or Affine(), form.scale or Affine()
        labels = targets(labels, str(paths[0]))
        if target.keep:
            kept = (target.keep[0] <= labels) & (labels <= target.keep[1])
            if not kept.any():
                raise UserError(f"{paths[0]}: no example has a target in {list(target.keep)}")
            X, labels = X[kept], labels[kept]
        X, labels = scale(X), target(labels)
    return dense(X, labels)


def _read_source(form: Form, paths: list[Path], limit: int | None) -> Examples:
    if form.format == "libsvm":
        return read_libsvm(paths, limit, form.index_base)
    if form.format == "npz":
        return dense(*read_npz(paths[0], limit))
    if form.format == "stream":
        return generate(form.dataset, 1)
    if form.format == "sklearn":
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
        return dense(X, y.astype(np.float64))
    if form.format == "sparse_binary":
        examples = read_columns(paths[0], limit)
    else:
        examples = read_table(form, read_fields(paths[0], form.delimiter, limit), paths[0])
    if form.label != "file":
        return examples
    labels = read_labels(paths[1], limit)
    if len(labels) != len(examples.labels):
        count = len(examples.labels)
        raise UserError(f"{paths[1]}: {len(labels)} labels for the {count} rows of {paths[0]}")
    return examples._replace(labels=labels)

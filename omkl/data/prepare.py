"""From files to a data set, as a form declares it: that of a YAML, or the one that a user's file shows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from omkl.data.data_files import size_limit
from omkl.data.dataset import Dataset, content_hash
from omkl.data.formats import data_name, format_of
from omkl.data.labels import Classes, against_rest, class_numbers, note_on, note_on_alike, targets
from omkl.data.matlab_files import read_mat
from omkl.data.number_streams import realised
from omkl.data.parse import Examples, dense, joined, libsvm_parts, read_npz
from omkl.data.preparation import Preparation
from omkl.data.raw_files import READERS
from omkl.data.recipe import Recipe, note_on_gaps, recipe_of, refuse_odd_targets
from omkl.data.registry import DataEntry, Form
from omkl.data.tables import Table
from omkl.errors import UserError


def read_registered(item: DataEntry, form: Form, paths: Sequence[Path]) -> Dataset:
    """Return the registered set in the files of a form. Raises UserError if they have other content.

    The source is read in parts, so that no text and no dense rows are in memory as a whole.
    """
    where = " + ".join(str(path) for path in paths) or f"the {form.format} data of {item.name}"
    limit = size_limit(item.size_limit(form))
    rows = []
    for part in source_parts(form, list(paths), limit):
        if item.task == "classification":
            y, _ = class_numbers(part.labels, form.labels, where)
        else:
            y = targets(part.labels, where)
        rows.append(part._replace(labels=y))
    examples, notes = joined(rows), item.notes_on_content
    dataset = dataset_of(item.name, examples, examples.labels, item.d, item.task, notes, registered=True)
    dataset = replace(dataset, classes=item.classes)
    columns = int(examples.indices.max(initial=-1)) + 1
    if item.content_hash is None:
        same = (dataset.T, columns) == (item.T, item.d)
    else:
        same = dataset.content_hash == item.content_hash and columns <= item.d
    if not same:
        two = item.task == "classification" and item.classes is None
        share = f", {dataset.positive_share:.6f} positive" if two else ""
        raise UserError(
            f"{where}: not the registered content of {item.name}: "
            f"expected {item.content_hash or 'any hash'} (T={item.T}, d={item.d}), "
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
    *,
    registered: bool = False,
) -> Dataset:
    """Return the data set of these examples with labels or targets y (T,).

    classes: of a source without YAML, as `class_numbers` returns them; a note says which is which.
    registered: whether its hash is that of the numbers alone, as the registry has it
    """
    notes = (*notes, *note_on(classes))
    arrays = (examples.indptr, examples.indices, examples.values, y)
    own = content_hash(*arrays, d=0 if registered else d)
    return Dataset(name, *arrays, d, task, own, None, notes, classes, examples.base)


def read_file(path: Path, task: str, preparation: Preparation) -> tuple[Dataset, Recipe | None]:
    """Return the data set of a user's file, and of a table the recipe that prepares others like it.

    Raises UserError that names file, line, column and what helps.
    """
    examples = format_of(path).read(path, preparation, size_limit(), ())
    if isinstance(examples, Table):
        return prepared_table(examples, task, preparation)
    if examples.d == 0:
        raise UserError(f"{path}: no features in any example")
    y, classes = _labels(examples.labels, task, str(path))
    counted = "an index is 0, so the columns count from 0 (index_base=0)"
    notes = (counted,) if preparation.index_base == "auto" and examples.base == 0 else ()
    return dataset_of(data_name(path), examples, y, examples.d, task, notes, classes), None


def _labels(labels: np.ndarray, task: str, where: str) -> tuple[np.ndarray, Classes]:
    """Return labels or targets as numbers (T,), and the names of the classes."""
    return class_numbers(labels, None, where) if task == "classification" else (targets(labels, where), None)


def prepared_table(table: Table, task: str, preparation: Preparation) -> tuple[Dataset, Recipe]:
    """Return the data set of a table, and the recipe that prepares others like it.

    Raises UserError that names row, column and what helps.
    """
    recipe, notes = recipe_of(table, preparation, task)
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    rows = len(table)
    if len(kept) < rows:
        notes.append(f"missing=drop leaves out {rows - len(kept)} of {rows} rows")
    notes += note_on_gaps(table, recipe)
    where = f"{table.path}: column '{recipe.label}'"
    classes: Classes
    if task == "classification" and preparation.positive is not None:
        y, pair, alike = against_rest(labels, preparation.positive, where)
        recipe.alike = tuple(alike)
        notes += note_on_alike([pair[1], *recipe.alike])
        classes = pair
    else:
        if task != "classification":
            refuse_odd_targets(table, recipe)
        y, classes = _labels(labels, task, where)
    examples = dense(X, labels)
    return dataset_of(data_name(table.path), examples, y, examples.d, task, tuple(notes), classes), recipe


def source_parts(form: Form, paths: list[Path], limit: int | None) -> Iterator[Examples]:
    """Yield the examples of a form's files in parts, with labels as in the source.

    Raises UserError for bad content, and for a file that holds more than ``limit`` bytes.
    """
    if form.format == "libsvm":
        for path in paths:
            yield from libsvm_parts(path, limit, form.index_base, False)
    elif form.format == "npz":
        yield dense(*read_npz(paths[0], limit))
    elif form.format == "mat":
        yield read_mat(paths[0], limit)
    elif form.format == "stream":
        yield realised(form.dataset, 1)
    elif form.format == "sklearn":
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
        yield dense(X, y.astype(np.float64))
    else:
        yield from READERS[form.format](paths, limit)

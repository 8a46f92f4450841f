"""Rows of a file, prepared as other data were: for a model that learnt those, or as their test set."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omkl.data import DataRef, registry
from omkl.data.dataset import Dataset
from omkl.data.preparation import Preparation
from omkl.data.preparing.columns import WORDS
from omkl.data.preparing.labels import distinct, finder, targets
from omkl.data.preparing.recipe import Recipe, left_out_rows, note_on_filled
from omkl.data.preparing.user_table import Table, table_of
from omkl.data.reading.formats import LIBSVM, format_of, parts_of
from omkl.data.reading.numbered import Examples, dense
from omkl.data.reading.opening import standard_input
from omkl.errors import UserError, counted, quoted, shortlist, show, suggest

PART = 20_000  # rows of a file that are in memory at once


class Rows(NamedTuple):
    """A part of the rows of a file for a model: CSR arrays, and labels or targets, nan where not known.

    y: None where the file has none    numbers: of the rows in their file, from 1; some may have been left out
    start, stop: the first row of the part and the one after its last    ids (stop - start,): texts by column
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    y: np.ndarray | None
    numbers: np.ndarray
    start: int
    stop: int
    ids: dict[str, np.ndarray]


@dataclass
class Tally:
    """What is to be said of the rows of a file, counted over its parts: what the model does not know or take.

    kept: rows that were not left out    unseen: words by column    unknown: labels    gaps: by column
    new_columns: numbered columns that training never saw, with their counts of values
    """

    path: Path
    recipe: Recipe | None = None
    rows: int = 0
    kept: int = 0
    labels: int = 0
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    new_columns: Counter[int] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> list[str]:
        """The notes for the user."""
        notes = note_on_filled(self.recipe, self.gaps, new=True) if self.recipe else []
        for name, counts in self.unseen.items():
            if counts:
                said = f"column '{name}' holds values that were not in the training data: {_listed(counts)}"
                notes.append(f"{said}; in {counts.total()} of {self.kept} rows all of its features are 0")
        if new := self.new_columns:
            columns = counted(len(new), "column")
            held = f"{counted(new.total(), 'value')} in {counted(self.kept, 'row')}"
            listed = shortlist(list(map(str, sorted(new))))
            notes.append(f"{columns} beyond those of the training data left out: {listed} ({held})")
        rows, count = [], self.unknown.total()
        if self.kept < self.rows:
            rows.append(left_out_rows(self.recipe, self.rows - self.kept, self.rows))
        if count:
            are = "is" if count == 1 else "are"
            said = f"{count} of {self.labels} labels {are} unknown to the model"
            rows.append(f"{said}: {_listed(self.unknown)}")
        return [f"{self.path}: {note}" for note in (*notes, *(["; ".join(rows)] if rows else []))]


def _listed(counts: Counter[str]) -> str:
    return shortlist([f"{quoted([text])[0]} ({count})" for text, count in counts.most_common()])


def described_data(data: DataRef) -> dict[str, Any]:
    """Return what a model knows of its data: how other rows are to be prepared, and what their labels are."""
    dataset, recipe = data.load(), data.recipe
    is_classes = dataset.task == "classification"
    return {
        "task": dataset.task,
        "data": dataset.name,
        "content_hash": dataset.content_hash,
        "classes": list(dataset.classes or ("-1", "+1")) if is_classes else None,
        "values_of_classes": values_of_classes(dataset),
        "recipe": recipe.to_json() if recipe else None,
        "index_base": dataset.index_base,
        "features": recipe.features if recipe else None,
    }


def values_of_classes(dataset: Dataset) -> list[Any] | None:
    """Return the classes in the order of their numbers as the source holds them; None without classes."""
    return list(dataset.values_of_classes or (-1, 1)) if dataset.task == "classification" else None


def rows_like(
    about: dict[str, Any],
    d: int,
    path: Path,
    labelled: bool,
    tally: Tally,
    check: Callable[[Examples, int], None] = lambda examples, kept: None,
) -> Iterator[Rows]:
    """Return the rows of a file in parts, as the data were prepared that `described_data` describes.

    d: the number of features    labelled: whether each row must have a label
    check: is called with each part and the number of rows up to its end
    """
    path = standard_input() if str(path) == "-" else path
    if not path.is_file():
        hint = "; name a file, not a data set" if str(path) in registry.registered_names() else ""
        raise UserError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    recipe = Recipe.from_json(about["recipe"]) if about.get("recipe") else None
    if not recipe and format_of(path).is_table:
        training_data = about.get("data") or "other data"
        raise UserError(f"{path} is a table; the model was trained on {training_data}, not on one")
    tally.path = path
    preparation = Preparation(index_base=about.get("index_base", 1), qid="drop")
    preparation, texts = (recipe.preparation, recipe.texts) if recipe else (preparation, None)

    def parts() -> Iterator[Rows]:
        for part in parts_of(path, preparation, PART, texts):
            start, ids, there = tally.rows, {}, True
            if isinstance(part, Examples):
                examples, kept, rows = part, np.arange(len(part.labels)), len(part.labels)
            elif len(part.frame):
                assert recipe is not None
                table = table_of(part, str(path), preparation)
                examples, there, kept = prepared_rows(recipe, table, labelled, tally)
                ids, rows = recipe.ids(table), len(table)
            else:
                continue
            tally.rows, tally.kept = start + rows, tally.kept + len(kept)
            largest = int(examples.indices.max(initial=-1)) + 1
            if largest > d and format_of(path) is not LIBSVM:
                raise UserError(f"{path}: column {largest}; the model has {counted(d, 'feature')}")
            if largest > d:
                examples = _known_columns(examples, d, preparation, tally)
            check(examples, tally.kept)
            if labelled and not there:
                label = about["recipe"]["label"]
                raise UserError(f"{path}: no column '{label}' with the labels to learn from")
            y = labels_of_model(examples.labels, about, path, labelled, tally) if there else None
            yield Rows(*examples[:3], y, start + kept + 1, start + 1, start + rows + 1, ids)

    return parts()


def _known_columns(examples: Examples, d: int, preparation: Preparation, tally: Tally) -> Examples:
    """Return LIBSVM rows without the columns beyond the first d, which were 0 in all rows of training."""
    has_column = examples.indices < d
    new = examples.indices[~has_column] + int(preparation.index_base)
    tally.new_columns.update(new.tolist())
    indptr = np.append(0, np.cumsum(has_column))[examples.indptr]
    return examples._replace(
        indptr=indptr, indices=examples.indices[has_column], values=examples.values[has_column]
    )


def prepared_rows(
    recipe: Recipe, table: Table, labelled: bool, tally: Tally
) -> tuple[Examples, bool, np.ndarray]:
    """Return the rows of a table that are kept, whether they have labels, and which they are.

    What is to be said of it is added to ``tally``.
    """
    X, labels, kept = recipe.apply(table, new=True, labelled=labelled)
    tally.recipe = recipe
    for column in recipe.columns:
        source = table.columns[column.name]
        tally.gaps[column.name] += int(source.missing[kept].sum())
        if column.kind == WORDS:
            known = {"", *column.parts}
            new = [word for word in source.texts[kept] if word not in known]
            tally.unseen.setdefault(column.name, Counter()).update(new)
    return dense(X, np.empty(len(kept)) if labels is None else labels), labels is not None, kept


def labels_of_model(
    labels: np.ndarray, about: dict[str, Any], path: Path, strict: bool, tally: Tally
) -> np.ndarray:
    """Return the labels as the learner takes them, nan where one is not known.

    labels: an empty text is a missing one    strict: whether another label than the model's is an error
    """
    task, recipe = about["task"], about.get("recipe") or {}
    there = ~np.isnan(labels) if labels.dtype.kind in "iuf" else labels != ""
    y = np.full(len(labels), np.nan)
    if task != "classification":
        y[there] = targets(labels[there], str(path))
    else:
        names, place, _ = distinct(labels[there])
        classes, rest = about["classes"], math.nan
        of_more = {name: float(number) for number, name in enumerate(classes)}
        known = {classes[0]: -1.0, classes[1]: 1.0} if len(classes) == 2 else of_more
        if recipe.get("preparation", {}).get("positive") is not None:
            known, rest = {classes[1]: 1.0}, -1.0
        find, values = finder(known), list(known.values())
        found = [find(name) for name in names]
        if strict and None in found and math.isnan(rest):
            label = names[found.index(None)]
            near, knows = suggest(label, map(str, known)), shortlist(quoted(known))
            raise UserError(f"{path}: label {show(label)}{near}; the model knows {knows}")
        numbers = [rest if number is None else values[number] for number in found]
        y[there] = np.array(numbers, float)[place]
        tally.unknown.update(names[number] for number in place[np.isnan(y[there])])
    tally.labels += len(labels)
    return y

"""Rows for a saved model: of a file or in memory, prepared as the data that it was trained on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.arrays import in_rows_of, rows_of_array
from omkl.data.preparing.new_rows import Rows, Tally, labels_of_model, prepared_rows, rows_like
from omkl.data.preparing.recipe import Recipe
from omkl.data.preparing.user_table import as_frame, table_of
from omkl.data.reading.formats import ReadFrame
from omkl.data.reading.numbered import Examples
from omkl.errors import UserError, counted
from omkl.models.saved_model import SavedModel
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_rows


def check_sizes(learner: Learner, indptr: np.ndarray, values: np.ndarray, rounds: int, where: str) -> None:
    try:
        check_rows(learner.growth, indptr, values, rounds)
    except ValueError as error:
        raise UserError(f"{where}: {error}; scale the features") from None


def rows_of_file(model: SavedModel, path: Path, labelled: bool) -> tuple[Iterator[Rows], Tally]:
    """Return the rows of a file in parts, as the model's data were prepared, and what is to be said of them.

    What is to be said is complete when all parts have been taken. labelled: whether they must have labels
    Raises UserError, also while the parts are taken, for a file that does not fit the model.
    """
    tally = Tally(path)

    def check(examples: Examples, kept: int) -> None:
        rounds = model.progress.rounds + kept if labelled else 1
        check_sizes(model.learner, examples.indptr, examples.values, rounds, str(tally.path))

    return rows_like(model.about, model.learner.d, path, labelled, tally, check), tally


def rows_in_memory(
    model: SavedModel, X: Any, y: Any = None, labelled: bool = False
) -> tuple[Iterator[Rows], Tally]:
    """Return rows of a frame, an array (n, d) or a sparse matrix as one part, and what is to be said of them.

    y: labels (n,), None where they are unknown or a column    labelled: whether each row must have a label.
    Raises UserError for what does not fit the model.
    """
    learner, about, where = model.learner, model.about, Path("data")
    tally = Tally(where)
    if recipe := about.get("recipe") and Recipe.from_json(about["recipe"]):
        frame = _frame_of(X, [column.name for column in recipe.columns])
        table = table_of(ReadFrame(frame), str(where), recipe.preparation)
        examples, there, kept = prepared_rows(recipe, table, labelled and y is None, tally)
        labels = in_rows_of(X, y)[kept] if y is not None else examples.labels if there else None
        count = len(table)
    else:
        if isinstance(X, Mapping) or _are_records(X):
            raise UserError("data: the model was trained on an array, whose columns have no names; give one")
        X = as_frame(X).to_numpy() if hasattr(X, "columns") else X
        X = np.reshape(X, (1, -1)) if getattr(X, "ndim", 2) == 1 else X
        examples = rows_of_array(X, "data")
        count = len(examples.labels)
        labels, kept = None if y is None else in_rows_of(X, y), np.arange(count)
    if examples.d > learner.d:
        raise UserError(f"data: column {examples.d}; the model has {counted(learner.d, 'feature')}")
    check_sizes(learner, examples.indptr, examples.values, model.progress.rounds + count, "data")
    if labelled and labels is None:
        raise UserError("data: no labels to learn from; give them with y=..., or label=... of a frame")
    tally.rows, tally.kept, numbers = count, len(kept), None
    if labels is not None:
        labels = labels if labels.dtype.kind in "iuf" else labels.astype(str)
        numbers = labels_of_model(labels, about, where, labelled, tally)
    arrays = examples.indptr, examples.indices, examples.values
    return iter([Rows(*arrays, numbers, kept + 1, 1, count + 1, {})]), tally


def _are_records(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], Mapping)


def _frame_of(X: Any, columns: list[str]) -> Any:
    """Return rows as a frame: a frame, a row by name or a list of such, or an array with these columns."""
    if hasattr(X, "columns") or _are_records(X):
        return as_frame(X)
    import pandas as pd

    if hasattr(X, "items"):  # a dict, a Series
        return pd.DataFrame([dict(X.items())])
    values = X.toarray() if hasattr(X, "toarray") else np.atleast_2d(np.asarray(X))
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise UserError(
            f"data: the model has the columns {', '.join(columns)}; an array needs these {len(columns)} in "
            f"this order, and has {counted(values.shape[-1], 'column')}; a frame may have others too"
        )
    return pd.DataFrame(values, columns=columns)

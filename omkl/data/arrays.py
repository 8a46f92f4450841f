"""Data sets from arrays and matrices in memory, and labels beside a frame."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.preparation import Preparation
from omkl.data.preparing.columns import Column
from omkl.data.preparing.labels import notes_on_classes, task_of, y_of
from omkl.data.preparing.notes import ColumnsOf, notes_on
from omkl.data.preparing.recipe import prepared_table
from omkl.data.preparing.user_table import Table, as_frame, table_of
from omkl.data.reading.formats import ReadFrame
from omkl.data.reading.numbered import Examples, dense
from omkl.errors import UserError, counted, shortlist

_NO_LABELS = (datetime.date, datetime.time, datetime.timedelta, complex)


def from_arrays(X: Any, y: Any, *, name: str = "arrays", task: str = "classification") -> Dataset:
    """Return a data set of the rows of X, in their order.

    X (T, d): a numpy array or a scipy sparse matrix of numbers, or a data frame, whose columns may hold words
    and dates, too; y (T,): labels of any kind, of which the smaller of two becomes -1 and more become 0, 1,
    ... in their order (see `omkl.data.preparing.labels`), or numbers with ``task="regression"``.
    NaN is a gap. Raises UserError for values that are infinite or no numbers, by row and column, for missing
    labels, for masked, complex and date values, and for labels that are no 2 to 1000 classes.
    """
    if hasattr(X, "columns"):
        return replace(prepared_table(with_labels(X, y, name), task)[0], name=name)
    examples = rows_of_array(X, name)
    y = in_rows_of(X, y)
    labels = _labels(y, name)
    if len(labels) != len(examples.labels):
        raise UserError(f"{name}: {counted(len(labels), 'label')} for {counted(len(examples.labels), 'row')}")
    return dataset_of_numbered(examples._replace(labels=labels), task, name, y)


def dataset_of_numbered(examples: Examples, task: str, name: str, raw: Any) -> Dataset:
    """Return the data set of numbered columns, with notes. raw: of labels whose values have types"""
    notes = list[str]()
    if task == "auto":
        task, said = task_of(examples.labels, Path(name).name)
        notes += [said] if said else []
    y, classes = y_of(examples.labels, task, name)
    notes += notes_on_classes(classes, y)
    if task != "novelty":
        notes += notes_on(ColumnsOf(examples), examples, y, classes=classes is not None)
        columns, counts = np.unique(examples.indices[np.isnan(examples.values)], return_counts=True)
        texts = [f"column {at + 1} ({n})" for at, n in zip(columns.tolist(), counts.tolist(), strict=True)]
        notes += [f"missing values were filled: {shortlist(texts)} with {FILLED}"] if texts else []
    return dataset_of(name, examples, y, examples.d, task, tuple(notes), classes, raw=raw)


def rows_of_array(X: Any, name: str) -> Examples:
    """Return the rows of an array or a sparse matrix (T, d). Raises UserError, see `from_arrays`."""
    import scipy.sparse as sp  # 0.15 s

    values = X if sp.issparse(X) else _floats(X, name)
    if values.ndim != 2 or 0 in values.shape:
        raise UserError(f"{name}: X must have rows and columns, but its shape is {values.shape}")
    if values.dtype.kind == "c":
        raise UserError(f"{name}: X holds complex numbers; give their real and imaginary parts as columns")
    if sp.issparse(values):
        values = sp.csr_array(values, dtype=np.float64, copy=True)
    examples = dense(values, np.empty(values.shape[0]))
    if np.may_share_memory(examples.values, values):
        examples = examples._replace(values=examples.values.copy())
    examples.values[np.isnan(examples.values)] = np.nan  # the same bits for all, as the hash needs
    if np.isinf(examples.values).any():
        at = int(np.argmax(np.isinf(examples.values)))
        row, column = int(np.searchsorted(examples.indptr, at, "right")) - 1, int(examples.indices[at])
        raise UserError(f"{name}: row {row}, column {column} is {examples.values[at]}; it must be finite")
    return examples


def _floats(X: Any, name: str) -> np.ndarray:
    """Return X as float64. Raises UserError for cells that are masked or no numbers."""
    if np.ma.is_masked(X):
        row, column = np.argwhere(np.ma.getmaskarray(X))[0][:2]
        raise UserError(f"{name}: row {row}, column {column} is masked; fill it in, or leave the row out")
    try:
        values = np.asarray(X)
        if values.dtype.kind not in "biufcO":
            raise ValueError(f"it holds {values.dtype}")
        return values if values.dtype.kind == "c" else np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        fault = f"{name}: X is not an array of numbers ({' '.join(str(error).split())})"
        raise UserError(f"{fault}; columns of a data frame may hold words and dates") from None


def in_rows_of(X: Any, y: Any) -> np.ndarray:
    """Return labels (n,) in the order of the rows of X.

    Two pandas objects whose indices hold the same labels, each once, are joined by these, others by position.
    Raises UserError where the indices share labels but cannot be joined, and for several columns.
    """
    shape = np.shape(y)
    if len(shape) == 2 and shape[1] > 1:
        names = ", ".join(map(str, getattr(y, "columns", [])))
        raise UserError(f"y=... has {shape[1]} columns{f' ({names})' if names else ''}; give one of them")
    rows: Any = getattr(X, "index", None)
    labels: Any = getattr(y, "index", None)
    is_joint = all(hasattr(index, "isin") for index in (rows, labels))
    if is_joint and len(rows) == len(labels) and not rows.equals(labels):
        shared = int(rows.isin(labels).sum())
        if rows.is_unique and labels.is_unique and shared == len(rows):
            y = y.reindex(rows)
        elif shared:
            fault = (
                f"the index of y=... has {shared} of the frame's {len(rows)} labels, or some of them twice"
            )
            helps = "y.to_numpy() gives the labels by position"
            raise UserError(f"{fault}, so they cannot be joined; {helps}")
    return y.reshape(-1) if isinstance(y, np.ma.MaskedArray) else np.asarray(y).reshape(-1)


def _labels(y: Any, name: str) -> np.ndarray:
    """Return labels (T,) as numbers or texts. Raises UserError for those that are no labels, by row."""
    import pandas as pd

    if isinstance(y, np.ma.MaskedArray):
        y = np.ma.filled(np.ma.asarray(y, object), np.nan)
    column = Column("y", pd.Series(y.astype(str) if y.dtype.kind == "S" else y))
    if column.dtype.kind in "mMc" or any(isinstance(one, _NO_LABELS) for one in column.values):
        helps = "give numbers, such as days since the first, or, if each is a class, text"
        raise UserError(f"{name}: the labels are dates, times or complex numbers; {helps}")
    missing = column.missing | (column.texts == "nan")
    if missing.any():
        row = int(np.argmax(missing))
        raise UserError(f"{name}: the label of row {row} is missing; give it one, or leave the row out")
    return column.labels()


def with_labels(data: Any, y: Any, path: str, label: str = "y=...") -> Table:
    """Return a frame of any library with labels beside it as a further column, which is the label."""
    frame, labels = as_frame(data), in_rows_of(data, y)
    if len(labels) != len(frame):
        raise UserError(f"{path}: {counted(len(labels), 'label')} for {counted(len(frame), 'row')}")
    return table_of(ReadFrame(frame.assign(**{label: labels})), path, Preparation(label=label))

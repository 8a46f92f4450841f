"""Data sets from arrays and matrices in memory, and labels beside a frame."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.preparation import Preparation
from omkl.data.preparing.labels import notes_on_classes, task_of, y_of
from omkl.data.preparing.notes import ColumnsOf, notes_on
from omkl.data.preparing.recipe import prepared_table
from omkl.data.preparing.user_table import Table, as_frame, table_of
from omkl.data.reading.formats import ReadFrame
from omkl.data.reading.numbered import Examples, dense
from omkl.errors import UserError, counted, shortlist, show

_DATES = (datetime.date, datetime.time, datetime.timedelta)
_MISSING = ("NAType", "NaTType")  # types of what pandas takes for missing


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
    y = y if isinstance(y, np.ma.MaskedArray) else in_rows_of(X, y)
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
        gaps = [
            f"column {at + 1} ({count})" for at, count in zip(columns.tolist(), counts.tolist(), strict=True)
        ]
        notes += [f"missing values were filled: {shortlist(gaps)} with {FILLED}"] if gaps else []
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
        values.sum_duplicates()
        values.eliminate_zeros()
    examples = dense(values, np.empty(values.shape[0]))
    if np.may_share_memory(examples.values, values):
        examples = examples._replace(values=examples.values.copy())
    examples.values[np.isnan(examples.values)] = np.nan  # the same bits for all, as the hash needs
    if np.isinf(examples.values).any():
        at = int(np.argmax(np.isinf(examples.values)))
        row, column = int(np.searchsorted(examples.indptr, at, "right")) - 1, int(examples.indices[at])
        raise UserError(f"{name}: row {row}, column {column} is {examples.values[at]}; it must be finite")
    return examples


def in_rows_of(X: Any, y: Any) -> np.ndarray:
    """Return labels (n,) in the order of the rows of X.

    Two pandas objects whose indices hold the same labels are joined by these, others by position. Raises
    UserError where some of these are there twice, in another order, where the indices share a part alone,
    and for several columns.
    """
    shape = np.shape(y)
    if len(shape) == 2 and shape[1] > 1:
        names = ", ".join(map(str, getattr(y, "columns", [])))
        raise UserError(f"y=... has {shape[1]} columns{f' ({names})' if names else ''}; give one of them")
    at: Any = getattr(X, "index", None)
    index: Any = getattr(y, "index", None)
    if hasattr(at, "equals") and hasattr(index, "equals") and len(at) == len(index) and not at.equals(index):
        if at.is_unique and index.is_unique:
            shared = int(at.isin(index).sum())
            if 0 < shared < len(at):
                raise UserError(
                    f"the index of y=... has {shared} of the frame's {len(at)} labels, so they cannot be "
                    "joined; y.to_numpy() gives the labels by position"
                )
            y = y.reindex(at) if shared else y
        elif at.sort_values().equals(index.sort_values()):
            raise UserError(
                "the index of y=... has the labels of the frame in another order, some of them "
                "twice, so they cannot be joined; y.to_numpy() gives the labels by position"
            )
    return np.asarray(y).reshape(-1)


def _floats(X: Any, name: str) -> np.ndarray:
    """Return X as float64. Raises UserError that names the first cell that is no number."""
    try:
        values = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        raise UserError(f"{name}: X is not an array of numbers ({show(str(error))})") from None
    if np.ma.is_masked(values):
        row, column = np.argwhere(np.ma.getmaskarray(values))[0][:2]
        raise UserError(f"{name}: row {row}, column {column} is masked; fill it in, or leave the row out")
    if values.dtype.kind in "biufc":
        return values if values.dtype.kind == "c" else np.asarray(values, np.float64)
    for place, value in np.ndenumerate(values):
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, np.timedelta64)
        if not (value is None or type(value).__name__ in _MISSING or is_number):
            at = ", ".join(f"{side} {number}" for side, number in zip(("row", "column"), place, strict=False))
            helps = "convert dates to numbers, such as days since the first, or give a data frame"
            raise UserError(f"{name}: {at} holds {show(value)}, which is no number; {helps}")
    gaps = [np.nan if value is None or type(value).__name__ in _MISSING else value for value in values.flat]
    return np.array(gaps, np.float64).reshape(values.shape)


def _labels(y: Any, name: str) -> np.ndarray:
    """Return labels (T,) as numbers or texts. Raises UserError for those that are no labels, by row."""
    import pandas as pd

    labels = np.asarray(y).reshape(-1)
    if labels.dtype.kind == "c":
        raise UserError(f"{name}: the labels are complex numbers; give real numbers or words")
    if labels.dtype.kind in "mM" or any(isinstance(label, _DATES) for label in labels.tolist()):
        raise UserError(
            f"{name}: the labels are dates or times; convert them to numbers, such as days since the first, "
            "or, if each is a class, to text"
        )
    if labels.dtype.kind in "iuf":
        missing = np.isnan(labels)
    else:
        missing = pd.isna(np.asarray(y, object).reshape(-1)) | (labels.astype(str) == "nan")
        labels = labels.astype(str)
    if isinstance(y, np.ma.MaskedArray):
        missing = missing | np.ma.getmaskarray(y).reshape(-1)
    if missing.any():
        row = int(np.argmax(missing))
        raise UserError(f"{name}: the label of row {row} is missing; give it one, or leave the row out")
    return labels


def with_labels(data: Any, y: Any, path: str, label: str = "y=...") -> Table:
    """Return a frame of any library with labels beside it as a further column, which is the label."""
    frame, labels = as_frame(data), in_rows_of(data, y)
    if len(labels) != len(frame):
        raise UserError(f"{path}: {counted(len(labels), 'label')} for {counted(len(frame), 'row')}")
    return table_of(ReadFrame(frame.assign(**{label: labels})), path, Preparation(label=label))

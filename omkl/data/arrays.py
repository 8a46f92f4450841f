"""Data sets from arrays and data frames in memory."""

import contextlib
import datetime
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.labels import Classes, class_numbers, targets
from omkl.data.parse import Examples
from omkl.data.prepare import dataset_of
from omkl.errors import UserError, counted, show

_DATES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta)
_MISSING = ("nan", "NaN", "<NA>", "NaT")  # texts that numpy and pandas make of missing values


def from_arrays(X: Any, y: Any, *, name: str = "arrays", task: str = "classification") -> Dataset:
    """Return a data set of the rows of X, in their order.

    X (T, d): a numpy array, a scipy sparse matrix, or a data frame (pandas, polars) of numbers; y (T,):
    labels of any kind, of which the smaller of two becomes -1 and more become 0, 1, ... in their order
    (`omkl.data.labels` says what a class is), or numbers with ``task="regression"``. Raises UserError for
    values that are no finite numbers, by row and column, for missing labels, for masked, complex and date
    values, and for labels that are no 2 to 1000 classes.
    """
    import scipy.sparse as sp  # 0.15 s

    names = [f"'{column}'" for column in getattr(X, "columns", [])]
    values = X if sp.issparse(X) else _dense(X, names, name)
    if values.ndim != 2 or 0 in values.shape:
        raise UserError(f"{name}: X must have rows and columns, but its shape is {values.shape}")
    rows = sp.csr_array(values)
    if rows.dtype.kind == "c":
        raise UserError(f"{name}: X holds complex numbers; give their real and imaginary parts as columns")
    rows = rows.astype(np.float64, copy=False)
    if rows.data.base is not None or sp.issparse(X):
        rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        at = int(np.argmin(np.isfinite(rows.data)))
        row, column = int(np.searchsorted(rows.indptr, at, "right")) - 1, int(rows.indices[at])
        which = names[column] if names else str(column)
        raise UserError(f"{name}: row {row}, column {which} is {rows.data[at]}; it must be finite")
    labels = _labels(y, name)
    if len(labels) != rows.shape[0]:
        raise UserError(f"{name}: {counted(len(labels), 'label')} for {counted(rows.shape[0], 'row')}")
    classes: Classes = None
    if task == "classification":
        target, classes = class_numbers(labels, None, name)
    else:
        target = targets(labels, name)
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    examples = Examples(indptr, indices, rows.data, labels, rows.shape[1])
    return dataset_of(name, examples, target, rows.shape[1], task, (), classes)


def _dense(X: Any, names: list[str], name: str) -> np.ndarray:
    """Return X as float64. Raises UserError that names the first column with other values than numbers."""
    try:
        values = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        raise UserError(f"{name}: X is not an array of numbers ({show(str(error))})") from None
    with contextlib.suppress(TypeError, ValueError):
        if not (np.ma.is_masked(values) or values.dtype.kind == "c" or _are_dates(values)):
            return np.asarray(values, dtype=np.float64)
    for i in range(values.shape[1] if values.ndim == 2 else 0):
        column = X.iloc[:, i] if hasattr(X, "iloc") else X[:, i] if names else values[:, i]
        if fault := _fault(column if isinstance(column, np.ma.MaskedArray) else np.asarray(column)):
            raise UserError(f"{name}: column {names[i] if names else i} {fault}")
    raise UserError(f"{name} holds values that are not numbers")


def _fault(column: np.ndarray) -> str | None:
    """Return why a column (T,) is not one of numbers, and what helps; None if it is one."""
    if np.ma.is_masked(column):
        row = int(np.argmax(np.ma.getmaskarray(column)))
        return f"is masked in row {row}; fill it in, or leave the row out"
    if column.dtype.kind == "c":
        return "holds complex numbers; give their real and imaginary parts as two columns"
    if _are_dates(column):
        return "holds dates or times; convert them to numbers, such as days since the first"
    for row, value in enumerate(column.tolist()):
        if _is_missing(value):
            return f"has no value in row {row}; fill it in, or leave the row out"
        try:
            float(value)
        except (TypeError, ValueError):
            return f"holds values that are not numbers, such as {show(value)} in row {row}; leave it out"
    return None


def _labels(y: Any, name: str) -> np.ndarray:
    """Return labels (T,) as numbers or texts. Raises UserError for those that are no labels, by row."""
    labels = np.asarray(y).reshape(-1)
    if labels.dtype.kind == "c":
        raise UserError(f"{name}: the labels are complex numbers; give real numbers or words")
    if _are_dates(labels):
        raise UserError(
            f"{name}: the labels are dates or times; convert them to numbers, such as days since the first, "
            "or, if each is a class, to text"
        )
    if labels.dtype.kind in "iuf":
        missing = np.isnan(labels)
    else:
        nothing = [label is None for label in labels.tolist()]
        labels = labels.astype(str)
        missing = np.isin(labels, _MISSING) | np.array(nothing, bool)
    if isinstance(y, np.ma.MaskedArray):
        missing = missing | np.ma.getmaskarray(y).reshape(-1)
    if missing.any():
        row = int(np.argmax(missing))
        raise UserError(f"{name}: the label of row {row} is missing; give it one, or leave the row out")
    return labels


def _are_dates(values: np.ndarray) -> bool:
    """Whether some of the values are dates or times, which numpy reads as nanoseconds."""
    kind = values.dtype.kind
    return kind in "mM" or (kind == "O" and any(isinstance(value, _DATES) for value in values.flat))


def _is_missing(value: Any) -> bool:
    return value is None or str(value) in _MISSING

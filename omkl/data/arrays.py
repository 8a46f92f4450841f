"""Data sets from arrays and data frames in memory."""

from typing import Any

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.labels import Classes, class_numbers, targets
from omkl.data.parse import Examples
from omkl.data.prepare import dataset_of
from omkl.errors import UserError


def from_arrays(X: Any, y: Any, *, name: str = "arrays", task: str = "classification") -> Dataset:
    """Return a data set of the rows of X, in their order.

    X (T, d): a numpy array, a scipy sparse matrix, or a data frame (pandas, polars) of numbers; y (T,):
    labels of any kind, of which the smaller of two becomes -1 and more become 0, 1, ... in their order, or
    numbers with ``task="regression"``. Raises UserError for values that are no finite numbers, by row and
    column, and for labels that are no 2 to 1000 classes.
    """
    import scipy.sparse as sp  # 0.15 s

    names = [str(column) for column in getattr(X, "columns", [])]
    try:
        rows = sp.csr_array(X if sp.issparse(X) else np.asarray(X, dtype=np.float64), dtype=np.float64)
    except (TypeError, ValueError):
        words = [column for column in names if not _is_numeric(X[column])]
        where = f": column '{words[0]}'" if words else ""
        raise UserError(f"{name}{where} holds values that are not numbers") from None
    if rows.ndim != 2 or 0 in rows.shape:
        raise UserError(f"{name}: X must have rows and columns, its shape is {rows.shape}")
    if rows.data.base is not None or sp.issparse(X):
        rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        at = int(np.argmin(np.isfinite(rows.data)))
        row, column = int(np.searchsorted(rows.indptr, at, "right")) - 1, int(rows.indices[at])
        which = f"'{names[column]}'" if names else str(column)
        raise UserError(f"{name}: row {row}, column {which} is {rows.data[at]}; it must be finite")
    labels = np.asarray(y).reshape(-1)
    if len(labels) != rows.shape[0]:
        raise UserError(f"{name}: {len(labels)} labels for {rows.shape[0]} rows")
    if labels.dtype.kind in "OUSb":
        labels = labels.astype(str)
    classes: Classes = None
    if task == "classification":
        target, classes = class_numbers(labels, None, name)
    else:
        target = targets(labels, name)
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    examples = Examples(indptr, indices, rows.data, labels, rows.shape[1])
    return dataset_of(name, examples, target, rows.shape[1], task, (), classes)


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True

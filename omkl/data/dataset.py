"""A data set in memory: sparse rows in time order, labels, the hash of its content; features far from 0."""

import contextlib
import datetime
import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparing.labels import Classes, note_on, task_of, values_of, y_of
from omkl.data.preparing.notes import notes_on
from omkl.data.reading.numbered import Examples, dense
from omkl.errors import UserError, counted, shortlist, show

MANY = 2**24  # columns; more than a learner can hold state for, more than any registered set has
_FAR = 1000.0  # smaller features are not looked into
_UNLIKE = 10.0  # times the median deviation: a feature that hides the others from a kernel
_LOST = 1e-3  # of the mean squared distance from the mean: the error from which on users are warned

_DATES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta)
_MISSING = ("nan", "NaN", "<NA>", "NaT")  # texts that numpy and pandas make of missing values


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """T examples with d features as compressed sparse rows; zeros are not stored, dense data included.

    indptr (T+1,) int64   indices (nnz,) int32, from 0, ascending in a row   values (nnz,) float64, NaN for a
        gap, which the learner fills (`omkl.passes.scaling`)
    y (T,) float64: of two classes -1 or +1, of more 0 .. n_classes-1; the target of a regression; of novelty,
        which no learner reads, the source's label   content_hash: see `content_hash`
    path: the cached copy that workers memory-map, None where the cache cannot be written
    notes: for the user (the label mapping of a file without YAML, the traps of a registered set)
    classes: the labels in the order of their numbers, as a file without YAML writes them or the registry
        names them; None of other data, and of registered sets of two classes
    index_base: the index that LIBSVM text gave the first column
    values_of_classes: the classes as the source holds them, see `omkl.data.preparing.labels.values_of`
    """

    name: str
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    y: np.ndarray
    d: int
    task: str
    content_hash: str
    path: Path | None = None
    notes: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None
    index_base: int = 1
    values_of_classes: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        task = f"{self.n_classes} classes" if self.n_classes > 2 else self.task
        return f"Dataset({self.name!r}, T={self.T}, d={self.d}, {task}, sha256 {self.content_hash[:12]})"

    @property
    def T(self) -> int:
        """Number of examples."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 for other tasks, too."""
        return len(self.classes) if self.classes else 2

    @property
    def nnz(self) -> int:
        """Number of stored (non-zero) values."""
        return len(self.values)

    @property
    def positive_share(self) -> float:
        """Share of the examples with label +1, of two classes."""
        return float(np.mean(self.y == 1.0))


def compact(dataset: Dataset) -> Dataset:
    """Return the set for a learner: of more than MANY columns, only those in use, in their order.

    A learner's state has room for d columns, and one example may use column 2^31 - 1. No kernel value depends
    on unused columns; random features are drawn for the remaining ones.
    """
    if dataset.d <= MANY:
        return dataset
    used, indices = np.unique(dataset.indices, return_inverse=True)
    return replace(dataset, indices=indices.astype(np.int32), d=max(1, len(used)), path=None)


def content_hash(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, y: np.ndarray, d: int = 0
) -> str:
    """Return the hex sha256 over the four arrays' bytes: little-endian int64, int32, float64, float64.

    The same for a set however it is written, compressed or prepared, as long as every number is the same.
    d: columns of data that are not registered, whose last ones may be empty; results depend on those, too
    (random features, scaling), so that d (int64) follows where it is not the last column in use.
    """
    digest = hashlib.sha256()
    for array, dtype in ((indptr, "<i8"), (indices, "<i4"), (values, "<f8"), (y, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=dtype).data.cast("B") if array.size else b"")
    if d > int(indices.max(initial=-1)) + 1:
        digest.update(np.array([d], "<i8").data.cast("B"))
    return digest.hexdigest()


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
    raw: Any = None,
) -> Dataset:
    """Return the data set of these examples with labels or targets y (T,).

    classes: of a source without YAML, as `class_numbers` returns them; a note says which is which.
    registered: whether its hash is that of the numbers alone, as the registry has it
    raw: the labels of a source whose values have types, see `values_of`
    """
    notes = (*notes, *note_on(classes))
    arrays = (examples.indptr, examples.indices, examples.values, y)
    digest = content_hash(*arrays, d=0 if registered else d)
    values = values_of(classes, raw)
    return Dataset(name, *arrays, d, task, digest, None, notes, classes, examples.base, values)


# ------------------------------------------------------------------ from arrays and data frames


def from_arrays(X: Any, y: Any, *, name: str = "arrays", task: str = "classification") -> Dataset:
    """Return a data set of the rows of X, in their order.

    X (T, d): a numpy array, a scipy sparse matrix, or a data frame (pandas, polars) of numbers; y (T,):
    labels of any kind, of which the smaller of two becomes -1 and more become 0, 1, ... in their order
    (`omkl.data.preparing.labels` says what a class is), or numbers with ``task="regression"``. NaN is a gap,
    and so is None, or what else pandas takes for missing. Raises UserError for values that are infinite or no
    numbers, by row and column, for missing labels, for masked, complex and date values, and for labels that
    are no 2 to 1000 classes.
    """
    import scipy.sparse as sp  # 0.15 s

    names = [f"'{column}'" for column in getattr(X, "columns", [])]
    values = X if sp.issparse(X) else _dense(X, names, name)
    if values.ndim != 2 or 0 in values.shape:
        raise UserError(f"{name}: X must have rows and columns, but its shape is {values.shape}")
    if values.dtype.kind == "c":
        raise UserError(f"{name}: X holds complex numbers; give their real and imaginary parts as columns")
    if sp.issparse(values):
        values = sp.csr_array(values, dtype=np.float64, copy=True)
        values.sum_duplicates()
        values.eliminate_zeros()
    examples = dense(values, np.empty(len(values) if isinstance(values, np.ndarray) else values.shape[0]))
    if np.may_share_memory(examples.values, values):
        examples = examples._replace(values=examples.values.copy())
    examples.values[np.isnan(examples.values)] = np.nan  # the same bits for all, as the hash needs
    if np.isinf(examples.values).any():
        at = int(np.argmax(np.isinf(examples.values)))
        row, column = int(np.searchsorted(examples.indptr, at, "right")) - 1, int(examples.indices[at])
        which = names[column] if names else str(column)
        raise UserError(f"{name}: row {row}, column {which} is {examples.values[at]}; it must be finite")
    y = y if isinstance(y, np.ma.MaskedArray) else in_rows_of(X, y)
    labels = _labels(y, name)
    if len(labels) != values.shape[0]:
        raise UserError(f"{name}: {counted(len(labels), 'label')} for {counted(values.shape[0], 'row')}")
    said = ""
    if task == "auto":
        task, said = task_of(labels, "y")
    numbers, classes = y_of(labels, task, name)
    is_labelled = classes is not None
    notes = tuple(notes_on(values, numbers, classes=is_labelled)) if task != "novelty" else ()
    notes += (*([said] if said else []), *note_on_gaps(examples.indices, examples.values, names))
    examples = examples._replace(labels=labels)
    return dataset_of(name, examples, numbers, values.shape[1], task, notes, classes, raw=y)


FILLED = "the mean of earlier rows"


def note_on_gaps(indices: np.ndarray, values: np.ndarray, names: Sequence[str] = ()) -> list[str]:
    """Return a note on the gaps of an array (CSR); names: of its columns, else they have numbers, from 1."""
    columns, counts = np.unique(indices[np.isnan(values)], return_counts=True)
    if not columns.size:
        return []
    called = [names[at] if names else f"column {at + 1}" for at in columns.tolist()]
    texts = [f"{name} ({count})" for name, count in zip(called, counts.tolist(), strict=True)]
    return [f"missing values were filled: {shortlist(texts)} with {FILLED}"]


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
    if values.ndim == 2 and values.dtype.kind == "O":  # with gaps that float() does not take
        return np.array([[_number(value) for value in row] for row in values.tolist()], np.float64)
    raise UserError(f"{name} holds values that are not numbers")


def _number(value: Any) -> float:
    return np.nan if _is_missing(value) else float(value)


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
        try:
            _number(value)
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


# ------------------------------------------------------------------ features that need scaling


def unlike_features(dataset: Dataset) -> tuple[float, float] | None:
    """Return the median and the largest deviation of the features where a kernel sees the largest alone.

    None where the largest is at most _UNLIKE times the median of those that vary.
    """
    spread = _moments(dataset.T, dataset.indices, dataset.values)[2]
    deviations = np.sqrt(spread[spread > 0] / dataset.T)
    if not deviations.size or deviations.max() <= _UNLIKE * np.median(deviations):
        return None
    return float(np.median(deviations)), float(deviations.max())


def _moments(T: int, indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features in use, their means, and their summed squared deviations, over T rows.

    A feature with gaps has those of its values, the deviations as if it had T of them.
    """
    used, columns = np.arange(int(indices.max(initial=0)) + 1), indices
    if len(used) > MANY:  # an example may use column 2^31 - 1
        used, columns = np.unique(indices, return_inverse=True)
    n, gap = np.full(len(used), float(T)), np.isnan(values)
    if gap.any():
        n = np.maximum(n - np.bincount(columns[gap], minlength=len(used)), 1.0)
        columns, values = columns[~gap], values[~gap]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused elsewhere
        count = np.bincount(columns, minlength=len(used))
        mean = np.bincount(columns, values, len(used)) / n
        spread = np.bincount(columns, np.square(values - mean[columns]), len(used)).astype(float)
        spread += (n - count) * np.square(mean)
    return used, mean, spread * (T / n)


def warn_of_offsets(dataset: Dataset, kernels: Iterable[Mapping[str, Any]]) -> None:
    """Warn where the features of a data set lie too far from 0 for one of these kernels."""
    if far := far_feature(dataset.T, dataset.indices, dataset.values, kernels):
        advice = "set scale=online, or subtract the means"
        warnings.warn(f"data={dataset.name}: {far_text(*far)}; {advice}", stacklevel=2)


def far_feature(
    T: int, indices: np.ndarray, values: np.ndarray, kernels: Iterable[Mapping[str, Any]]
) -> tuple[int, float] | None:
    """Return the feature (from 1) farthest from 0, and its mean; None where kernel values are right.

    A kernel may need squared distances, and ``|x|^2 + |z|^2 - 2 x z``, rounded, is none. indices (from 0),
    values: of the non-zeros of T rows.
    """
    if values.size == 0 or np.nanmax(np.abs(values), initial=0.0) < _FAR:
        return None
    if all(kernel["kind"] == "polynomial" for kernel in kernels):
        return None
    used, mean, spread = _moments(T, indices, values)
    with np.errstate(over="ignore", invalid="ignore"):
        norm2 = float(np.nansum(np.square(values)) / T)
        error, distance = norm2 * np.finfo(float).eps, float(spread.sum() / T)
    far = np.abs(mean).argmax()
    return (int(used[far]) + 1, float(mean[far])) if error > _LOST * distance else None


def far_text(feature: int, mean: float) -> str:
    """Return what is wrong with this feature (from 1)."""
    return (
        f"the features lie far from 0 (feature {feature} has the mean {mean:.3g}), so that squared distances "
        "lose the digits in which examples differ"
    )

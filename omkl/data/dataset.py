"""A data set in memory: sparse rows in time order, labels, the hash of its content."""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparing.labels import Classes, values_of
from omkl.data.reading.numbered import MANY, Examples


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """T examples with d features as compressed sparse rows; zeros are not stored, dense data included.

    indptr (T+1,) int64   indices (nnz,) int32, from 0, ascending in a row   values (nnz,) float64, NaN for a
        gap, which the learner fills (`omkl.rounds.scaling`)
    y (T,) float64: of two classes -1 or +1, of more 0 .. n_classes-1; the target of a regression; of novelty,
        which no learner reads, the source's label   content_hash: see `content_hash`
    path: the cached copy that workers memory-map, None where the cache cannot be written
    notes: for the user (the label mapping of a file without YAML, the traps of a registered set)
    classes: the labels in the order of their numbers, as a file without YAML writes them or the registry
        names them; None of other data, and of registered sets of two classes
    index_base: the index that LIBSVM text gave the first column
    values_of_classes: the classes as the source holds them, see `omkl.data.preparing.labels.values_of`
    features (d,): the names of a table's features    renumbered: whether they are other columns than the
        table's own, as where words became several of them
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
    features: tuple[str, ...] | None = None
    renumbered: bool = False

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, T={self.T}, d={self.d}, {self.task}, sha256 {self.content_hash[:12]})"

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
    def told(self) -> str:
        """A hash of what the classes and columns are called, which estimators of other packages see."""
        labels = [
            [type(label).__name__, str(label)] for label in self.values_of_classes or self.classes or ()
        ]
        told = json.dumps([labels, self.features, self.renumbered])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

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
    d = max(1, len(used))
    return replace(dataset, indices=indices.astype(np.int32), d=d, path=None, features=None)


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

    classes: of a source without YAML, as `y_of` returns them
    registered: whether its hash is that of the numbers alone, as the registry has it
    raw: the labels of a source whose values have types, see `values_of`
    """
    arrays = (examples.indptr, examples.indices, examples.values, y)
    digest = content_hash(*arrays, d=0 if registered else d)
    values = values_of(classes, raw)
    return Dataset(name, *arrays, d, task, digest, None, notes, classes, examples.base, values)


FILLED = "the mean of earlier rows"

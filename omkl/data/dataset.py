"""A data set in memory: sparse rows in time order, labels, and the hash of its content."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

MANY = 2**24  # columns; more than a learner can hold state for, more than any registered set has


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """T examples with d features as compressed sparse rows; zeros are not stored, dense data included.

    indptr (T+1,) int64   indices (nnz,) int32, from 0, ascending in a row   values (nnz,) float64
    y (T,) float64: of two classes -1 or +1, of more 0 .. n_classes-1; the target of a regression; of novelty,
        which no learner reads, the source's label   content_hash: see `content_hash`
    path: the cached copy that workers memory-map with `load_cached`, None where the cache cannot be written
    notes: for the user (the label mapping of a file without YAML, the traps of a registered set)
    classes: the labels in the order of their numbers, as a file without YAML writes them or the registry
        names them; None of other data, and of registered sets of two classes
    index_base: the index that LIBSVM text gave the first column
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


def content_hash(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, y: np.ndarray) -> str:
    """Return the hex sha256 over the four arrays' bytes: little-endian int64, int32, float64, float64.

    The same for a set however it is written, compressed or prepared, as long as every number is the same.
    """
    digest = hashlib.sha256()
    for array, dtype in ((indptr, "<i8"), (indices, "<i4"), (values, "<f8"), (y, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=dtype).data.cast("B") if array.size else b"")
    return digest.hexdigest()

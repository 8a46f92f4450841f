"""A data set in memory: sparse rows in time order, labels, the hash of its content; features far from 0."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparing.labels import Classes, values_of
from omkl.data.reading.numbered import MANY, Examples

_FAR = 1000.0  # smaller features are not looked into
_LOST = 1e-3  # of the mean squared distance from the mean: the error from which on users are warned


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

    classes: of a source without YAML, as `class_numbers` returns them
    registered: whether its hash is that of the numbers alone, as the registry has it
    raw: the labels of a source whose values have types, see `values_of`
    """
    arrays = (examples.indptr, examples.indices, examples.values, y)
    digest = content_hash(*arrays, d=0 if registered else d)
    values = values_of(classes, raw)
    return Dataset(name, *arrays, d, task, digest, None, notes, classes, examples.base, values)


FILLED = "the mean of earlier rows"


# ------------------------------------------------------------------ features that need scaling


def unlike_features(dataset: Dataset, times: float) -> tuple[float, float] | None:
    """Return the median and the largest deviation of the features where a kernel sees the largest alone.

    None where the largest is at most so many times the median of those that vary.
    """
    spread = _moments(dataset.T, dataset.indices, dataset.values)[2]
    deviations = np.sqrt(spread[spread > 0] / dataset.T)
    if not deviations.size or deviations.max() <= times * np.median(deviations):
        return None
    return float(np.median(deviations)), float(deviations.max())


def _moments(T: int, indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features in use, their means, and their summed squared deviations, over T rows.

    A feature with gaps has those of its values, the deviations as if it had T of them.
    """
    columns, last = indices, int(indices.max(initial=0))
    if last < MANY:
        used = np.arange(last + 1)
    else:  # an example may use column 2^31 - 1
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


def notes_on_offsets(dataset: Dataset, kernels: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a note where the features of a data set lie too far from 0 for one of these kernels."""
    far = far_feature(dataset.T, dataset.indices, dataset.values, kernels)
    advice = "set scale=online, or subtract the means"
    return [f"{dataset.name}: {far_text(*far)}; {advice}"] if far else []


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

"""Whether features lie so far from 0 that squared distances lose the digits in which examples differ."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset

_FAR = 1000.0  # smaller features are not looked into
_LOST = 1e-3  # of the mean squared distance from the mean: the error from which on users are warned


def warn_of_offsets(dataset: Dataset, kernels: Iterable[Mapping[str, Any]]) -> None:
    """Warn where the features of a data set lie too far from 0 for one of these kernels."""
    if far := far_feature(dataset.T, dataset.indices, dataset.values, kernels):
        advice = "subtract the means, or set scale=minmax or scale=standard for a table"
        warnings.warn(f"data={dataset.name}: {text(*far)}; {advice}", stacklevel=2)


def far_feature(
    T: int, indices: np.ndarray, values: np.ndarray, kernels: Iterable[Mapping[str, Any]]
) -> tuple[int, float] | None:
    """Return the feature (from 1) farthest from 0, and its mean; None where kernel values are right.

    A kernel may need squared distances, and ``|x|^2 + |z|^2 - 2 x z``, rounded, is none. indices (from 0),
    values: of the non-zeros of T rows.
    """
    if values.size == 0 or np.abs(values).max() < _FAR:
        return None
    if all(kernel["kind"] == "polynomial" for kernel in kernels):
        return None
    used, columns = np.unique(indices, return_inverse=True)  # an example may use column 2^31 - 1
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused elsewhere
        count = np.bincount(columns)
        mean = np.bincount(columns, values) / T
        spread = np.bincount(columns, np.square(values - mean[columns]))
        spread += (T - count) * np.square(mean)
        norm2 = float(np.square(values).sum() / T)
        error, distance = norm2 * np.finfo(float).eps, float(spread.sum() / T)
    far = np.abs(mean).argmax()
    return (int(used[far]) + 1, float(mean[far])) if error > _LOST * distance else None


def text(feature: int, mean: float) -> str:
    """Return what is wrong with this feature (from 1)."""
    return (
        f"the features lie far from 0 (feature {feature} has the mean {mean:.3g}), so that squared distances "
        "lose the digits in which examples differ"
    )

"""Features that need scaling: far from 0, or so unlike that a kernel sees one of them alone."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.reading.numbered import MANY

_FAR = 1000.0  # smaller features are not looked into
_LOST = 1e-3  # of the mean squared distance from the mean: the error from which on users are warned


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

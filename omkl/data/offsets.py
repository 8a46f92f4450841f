"""Whether features lie so far from 0 that squared distances lose the digits in which examples differ."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset, compact

_FAR = 1000.0  # smaller features are not looked into
_LOST = 1e-3  # of the mean squared distance from the mean: the error from which on users are warned


def warn_of_offsets(dataset: Dataset, kernels: Iterable[Mapping[str, Any]]) -> None:
    """Warn where a kernel needs squared distances, and ``|x|^2 + |z|^2 - 2 x z``, rounded, is none."""
    if dataset.nnz == 0 or np.abs(dataset.values).max() < _FAR:
        return
    if all(kernel["kind"] == "polynomial" for kernel in kernels):
        return
    rows = compact(dataset)
    columns, values, T = rows.indices, rows.values, rows.T
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused elsewhere
        count = np.bincount(columns, minlength=rows.d)
        mean = np.bincount(columns, values, rows.d) / T
        spread = np.bincount(columns, np.square(values - mean[columns]), rows.d)
        spread += (T - count) * np.square(mean)
        norm2 = float(np.square(values).sum() / T)
        error, distance = norm2 * np.finfo(float).eps, float(spread.sum() / T)
    if error > _LOST * distance:
        far = np.abs(mean).argmax()
        feature = dataset.indices[np.argmax(columns == far)] + 1
        warnings.warn(
            f"data={dataset.name}: the features lie far from 0 (feature {feature} has the mean "
            f"{mean[far]:.3g}), so that squared distances lose the digits in which examples differ; subtract "
            "the means, or set scale=minmax or scale=standard for a table",
            stacklevel=2,
        )

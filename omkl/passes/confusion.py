"""How often examples of each class are taken for each class: the counts of a pass, as a cell holds them.

Up to DENSE classes they are a list of C rows (true class) of C counts (class predicted). More classes have
the counts that are not 0, ``{"classes": C, "true": [...], "predicted": [...], "counts": [...]}``. Off the
diagonal the MOST largest are kept; the others of a row are one count of the class predicted CUT.

A tie is a mistake, and its prediction the lowest class: that may be the true one, on the diagonal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

DENSE = 32
MOST = 10_000
CUT = -1
Stored = Sequence[Sequence[int]] | Mapping[str, Any]


def confusion_counts(true: np.ndarray, predicted: np.ndarray, C: int) -> list[list[int]] | dict[str, Any]:
    """Return the counts of T rounds as a cell holds them; true, predicted (T,) classes from 0."""
    places, counts = np.unique(true.astype(np.int64) * C + predicted, return_counts=True)
    if C <= DENSE:
        return np.bincount(places, counts, C * C).astype(int).reshape(C, C).tolist()
    rows, columns = np.divmod(places, C)
    off = np.flatnonzero(rows != columns)
    dropped = off[np.argsort(-counts[off], kind="stable")][MOST:]
    cut = np.bincount(rows[dropped], counts[dropped], C).astype(int)
    kept = np.setdiff1d(np.arange(len(counts)), dropped)
    rest = np.flatnonzero(cut)
    return {
        "classes": C,
        "true": [*rows[kept].tolist(), *rest.tolist()],
        "predicted": [*columns[kept].tolist(), *[CUT] * len(rest)],
        "counts": [*counts[kept].tolist(), *cut[rest].tolist()],
    }


def matrices(stored: Sequence[Stored]) -> np.ndarray:
    """Return the counts (R, C, C + 1) of the cells of R passes; the last column holds what was cut."""
    if all(isinstance(one, list) for one in stored):
        return np.pad(np.array(stored, np.int64), ((0, 0), (0, 0), (0, 1)))
    return np.stack([_spread(one) if isinstance(one, Mapping) else matrices([one])[0] for one in stored])


def _spread(stored: Mapping[str, Any]) -> np.ndarray:
    matrix = np.zeros((stored["classes"], stored["classes"] + 1), np.int64)
    matrix[stored["true"], stored["predicted"]] = stored["counts"]  # CUT is the last column
    return matrix

"""Confusion matrices of rows: their repetitions together, the names of the classes, each class's error."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from omkl.data import confusion, registry
from omkl.reports.expected import Expected

MOST_NAMED = 10  # classes of which a table shows all errors, of more the WORST largest
WORST = 5


def class_names(data: str, content: str, count: int, expected: Expected) -> list[str]:
    """Return the names of a data set's classes, as its source writes them where that is known, else numbers.

    data, content: name and hash of the cells    count: of the classes
    """
    names = expected.classes.get(data)
    if names is None and count > 2:
        entry = registry.entry_of(data, content)
        names = entry.classes if entry else None
    if names is not None and len(names) == count:
        return list(names)
    return ["-1", "+1"] if count == 2 else list(map(str, range(count)))


def counts_of(stored: Iterable[Any]) -> np.ndarray | None:
    """Return the counts (R, C, C + 1) of those of some cells that have them, None without any."""
    known = [one for one in stored if isinstance(one, list | dict)]
    return confusion.matrices(known) if known else None


def mean_errors(stored: Iterable[Any]) -> list[float] | None:
    """Return the mean error of each class in percent, None where no cell has counts."""
    counts = counts_of(stored)
    if counts is None:
        return None
    known = np.ma.masked_invalid(confusion.errors(counts)).mean(axis=0)
    return (100.0 * np.ma.filled(known, np.nan)).tolist()


def errors_text(names: Sequence[str] | None, errors: Sequence[float] | None) -> str:
    """Return errors for a table: of all classes, or of many the largest; empty without any."""
    if names is None or errors is None:
        return ""
    pairs = [(name, error) for name, error in zip(names, errors, strict=True) if error == error]
    more = ""
    if len(pairs) > MOST_NAMED:
        pairs, more = sorted(pairs, key=lambda pair: -pair[1])[:WORST], ", ..."
    return ", ".join(f"{name} {error:.1f}" for name, error in pairs) + more

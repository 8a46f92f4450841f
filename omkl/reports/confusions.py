"""Confusion matrices of rows: their repetitions together, the names of the classes, each class's error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omkl.data import registry
from omkl.reports.expected import Expected
from omkl.reports.rows import Parts

if TYPE_CHECKING:
    import pandas as pd

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


def class_errors(
    parts: Parts, count: int, cells: "pd.DataFrame", expected: Expected
) -> tuple[list[list[str] | None], list[list[float] | None]]:
    """Return the classes of each of ``count`` rows, and the mean error of each class in percent.

    None where no cell has counts. parts: as of `by_count`
    """
    names: list[list[str] | None] = [None] * count
    means: list[list[float] | None] = [None] * count
    counted = cells["hits"].notna().to_numpy()
    if not counted.any():
        return names, means
    stored, data, content = (cells[name].to_numpy() for name in ("hits", "data", "data_hash"))
    memo: dict[tuple[str, str, int], list[str]] = {}
    for own, places in parts:
        hits, there = stored[places], counted[places]
        firsts = hits[np.arange(len(own)), there.argmax(axis=1)].tolist()
        kinds = [
            (n, len(one) // 16) if n else (0, 0) for n, one in zip(there.sum(1).tolist(), firsts, strict=True)
        ]
        for n, C in set(kinds) - {(0, 0)}:  # of repetitions with counts, of classes
            alike = np.array([kind == (n, C) for kind in kinds])
            joined = b"".join(hits[alike][there[alike]].tolist())
            if len(joined) != np.count_nonzero(alike) * n * 16 * C:
                continue  # repetitions of different numbers of classes: a forged segment
            counts = np.frombuffer(joined, "<i8").reshape(-1, n, 2, C)
            made = _errors(counts[:, :, 0], counts[:, :, 1])
            for at, first, mean in zip(own[alike].tolist(), places[alike, 0].tolist(), made, strict=True):
                which = str(data[first]), str(content[first]), C
                if which not in memo:
                    memo[which] = class_names(*which, expected)
                names[at], means[at] = memo[which], mean
    return names, means


def _errors(right: np.ndarray, whole: np.ndarray) -> list[list[float]]:
    """Return the mean over n repetitions (R, n, C) of the share of a class's examples taken for another.

    In percent; repetitions without examples of the class do not count, NaN where there are no others.
    """
    with np.errstate(invalid="ignore"):
        errors = 1.0 - right / whole
        means = np.where(whole, errors, 0.0).sum(axis=1) / (whole > 0).sum(axis=1)
    return (100.0 * means).tolist()


def errors_text(names: Sequence[str] | None, errors: Sequence[float] | None) -> str:
    """Return errors for a table: of all classes, or of many the largest; empty without any."""
    if names is None or errors is None:
        return ""
    pairs = [(name, error) for name, error in zip(names, errors, strict=True) if error == error]
    more = ""
    if len(pairs) > MOST_NAMED:
        pairs, more = sorted(pairs, key=lambda pair: -pair[1])[:WORST], ", ..."
    return ", ".join(f"{name} {error:.1f}" for name, error in pairs) + more

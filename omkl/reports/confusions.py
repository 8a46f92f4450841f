"""Confusion matrices of rows: their repetitions together, the names of the classes, each class's error."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.data import confusion, registry
from omkl.reports.expected import Expected
from omkl.reports.rows import Row

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


def counts_of(stored: Iterable[Any]) -> np.ndarray | None:
    """Return the counts (R, C, C + 1) of those of some cells that have them, None without any."""
    known = [one for one in stored if isinstance(one, list | dict)]
    return confusion.matrices(known) if known else None


def class_errors(
    rows: Sequence[Row], cells: "pd.DataFrame", expected: Expected
) -> tuple[list[list[str] | None], list[list[float] | None]]:
    """Return the classes of each row, and the mean error of each class in percent; None without counts."""
    names: list[list[str] | None] = [None] * len(rows)
    means: list[list[float] | None] = [None] * len(rows)
    stored = cells["hits"].to_numpy()
    alike: dict[tuple[int, int], list[int]] = {}  # rows with the same number of counts and of classes
    if not cells["hits"].notna().any():
        return names, means
    kept = [[one for one in stored[row.cells].tolist() if isinstance(one, bytes)] for row in rows]
    for at, own in enumerate(kept):
        if own:
            alike.setdefault((len(own), len(own[0]) // 16), []).append(at)
    content, data = cells["data_hash"].to_numpy(), cells["data"].to_numpy()
    memo: dict[tuple[str, str, int], list[str]] = {}
    for (n, C), places in alike.items():
        hits = np.frombuffer(b"".join(one for at in places for one in kept[at]), "<i8")
        hits = hits.reshape(len(places), n, 2, C)
        for at, mean in zip(places, _errors(hits[:, :, 0], hits[:, :, 1]), strict=True):
            first = rows[at].cells[0]
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

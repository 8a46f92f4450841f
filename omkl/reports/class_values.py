"""What each class of a data set has in a row of a table: its name, its error, its F1.

The counts of a cell are those of `omkl.store.cell_measures.hits_of`: right, whole, taken (C,).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omkl.data import registry
from omkl.reports.rows import Parts, ReportPlan
from omkl.store.cell_measures import mean_there

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 10  # classes of which a table shows all values, of more the WORST
WORST = 5


def class_names(data: str, content: str, count: int, expected: ReportPlan) -> list[str]:
    """Return the names of a data set's classes, as its source writes them where that is known, else numbers.

    data, content: name and hash of the cells    count: of the classes
    """
    names = expected.classes.get((data, content), expected.classes.get((data, None)))
    if names is None and count > 2:
        entry = registry.entry_of(data, content)
        names = entry.classes if entry else None
    if names is not None and len(names) == count:
        return list(names)
    return ["-1", "+1"] if count == 2 else list(map(str, range(count)))


def of_classes(parts: Parts, count: int, cells: "pd.DataFrame", expected: ReportPlan) -> dict[str, list]:
    """Return columns of each of ``count`` rows: the names of its ``classes``, and what each has on average.

    class_errors: the share of its examples taken for another one in percent    class_f1: its F1
    None where no cell has counts. parts: as of `by_count`
    """
    made: dict[str, list] = {name: [None] * count for name in ("classes", "class_errors", "class_f1")}
    stored, data, content = (cells[name].to_numpy() for name in ("hits", "data", "data_hash"))
    for own, places in parts:
        for at, row in zip(own.tolist(), places.tolist(), strict=True):
            hits = [np.frombuffer(one, "<i8").reshape(3, -1) for one in stored[row] if isinstance(one, bytes)]
            if not hits:
                continue
            which = str(data[row[0]]), str(content[row[0]]), hits[0].shape[1]
            errors, f1 = _of_each(*np.array(hits, float).transpose(1, 0, 2)[:, None])
            made["classes"][at] = class_names(*which, expected)
            made["class_errors"][at], made["class_f1"][at] = errors[0], f1[0]
    return made


def _of_each(right: np.ndarray, whole: np.ndarray, taken: np.ndarray) -> tuple[list, list]:
    """Return means over n repetitions (R, n, C) of each class's error in percent, and of its F1.

    Repetitions without examples of the class do not count for its error, NaN where there are no others.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = 1.0 - right / whole
        f1 = 2.0 * right / (whole + np.where(taken[..., :1] < 0, np.nan, taken))
        means = [mean_there(np.moveaxis(values, 1, -1)).tolist() for values in (errors, f1)]
    return [[100.0 * error for error in own] for own in means[0]], means[1]


def classes_text(
    names: Sequence[str] | None, values: Sequence[float] | None, digits: int = 1, largest: bool = True
) -> str:
    """Return a value of each class for a table, of many classes the worst; empty without any.

    largest: whether these are the worst
    """
    if names is None or values is None:
        return ""
    pairs = [(name, value) for name, value in zip(names, values, strict=True) if value == value]
    more = ""
    if len(pairs) > MOST_NAMED:
        pairs = sorted(pairs, key=lambda pair: -pair[1] if largest else pair[1])[:WORST]
        more = ", ..."
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in pairs) + more

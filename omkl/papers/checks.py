"""How a claim is checked on one paper's rows: one function per kind, found by its name.

A check takes the rows and the claim's options and returns findings, one per data set: whether the claim holds
there, and the numbers that say so.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, suggest
from omkl.papers.compare import Compared
from omkl.reports.measures import BY_TASK
from omkl.reports.rows import Row
from omkl.reports.summary import difference, not_worse, paired_ps

if TYPE_CHECKING:
    import pandas as pd

_FORMS = {"mistake_pct": "{:.2f} %", "seconds": "{:.3g} s", "mse_e3": "{:.3g}"}
Options = Mapping[str, Any]  # what conf/paper says of a claim
ERROR = "error"  # the measure that the data set's task is judged by


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds on one data set (None: undecided), and its numbers."""

    data: str
    holds: bool | None
    numbers: str


@dataclass(frozen=True)
class Rows:
    """The finished rows of a claim's runs on one data set, by label; cells for paired tests."""

    data: str
    task: str
    records: Mapping[str, list[dict[str, Any]]]
    rows: Mapping[str, list[Row]]
    cells: "pd.DataFrame"

    def mean(self, label: str, measure: str) -> float:
        """Return a row's mean of a measure (ERROR: of the task's); NaN where it has not finished."""
        records = self.records.get(label)
        return _mean(records[0], self.measure(measure)) if records else float("nan")

    def measure(self, name: str) -> str:
        """Return a measure's name, for ERROR that of the task."""
        return BY_TASK[self.task].name if name == ERROR else name

    def best(self, labels: list[str], measure: str) -> str:
        """Return the label with the lowest mean."""
        return min(labels, key=lambda label: (np.nan_to_num(self.mean(label, measure), nan=np.inf), label))


def on_each(compared: Compared, pool: str | None) -> Iterator[Rows]:
    """Yield the finished rows per data set, those with a pool only of this one."""
    records = compared.summary.to_dict("records")
    table: dict[str, tuple[dict, dict]] = {}
    for row, record in zip(compared.rows, records, strict=True):
        if record["reps"] and (pool is None or record["pool"] in (None, pool)):
            by_label, rows = table.setdefault(record["data"], ({}, {}))
            by_label.setdefault(record["label"], []).append(record)
            rows.setdefault(record["label"], []).append(row)
    for data, (by_label, rows) in table.items():
        task = next(iter(by_label.values()))[0]["task"]
        yield Rows(data, task, by_label, rows, compared.cells)


def less(rows: Rows, options: Options) -> Finding:
    """``left`` has less of ``measure`` than ``right`` (of several rights: than the least); needs no test."""
    measure, rights = rows.measure(options["measure"]), _list(options["right"])
    right = rows.best(rights, measure)
    a, b = rows.mean(options["left"], measure), rows.mean(right, measure)
    named = f" ({right})" if len(rights) > 1 else ""
    return Finding(rows.data, _known(a < b, a, b), f"{_text(a, measure)} : {_text(b, measure)}{named}")


def comparable(rows: Rows, options: Options) -> Finding:
    """``left`` has no more error than ``right``, or no more by a paired t-test at 5 %."""
    left, measure = options["left"], rows.measure(ERROR)
    right = rows.best(_list(options["right"]), measure)
    a, b = rows.mean(left, measure), rows.mean(right, measure)
    numbers = f"{_text(a, measure)} : {_text(b, measure)}"
    if np.isnan(a) or np.isnan(b):
        return Finding(rows.data, None, numbers)
    more = difference(rows.rows[left][0], rows.rows[right][0], rows.cells)
    return Finding(rows.data, bool(a <= b or not_worse(more, *paired_ps([more]))), numbers)


def ratio(rows: Rows, options: Options) -> Finding:
    """``left`` / ``right`` lies within [``low``, ``high``]; of ``measure``, or left's and right's own."""
    measures = [options.get(f"{side}_measure", options.get("measure")) for side in ("left", "right")]
    a, b = rows.mean(options["left"], measures[0]), rows.mean(options["right"], measures[1])
    share = a / b if b else float("nan")
    return Finding(rows.data, _known(_within(share, options), share), f"{share:.3g}")


def ordered(rows: Rows, options: Options) -> Finding:
    """The labels of ``order`` rise in ``measure``."""
    values = [rows.mean(label, options["measure"]) for label in options["order"]]
    rising = all(a < b for a, b in itertools.pairwise(values))
    numbers = " : ".join(_text(value, options["measure"]) for value in values)
    return Finding(rows.data, _known(rising, *values), numbers)


def best_between(rows: Rows, options: Options) -> Finding:
    """Of the rows called ``label``, the best by mistakes has its hyperparameter ``key`` in [low, high]."""
    value, error = min(_grid(rows, options), key=lambda pair: (pair[1], pair[0]))
    return Finding(
        rows.data, _within(value, options), f"best at {options['key']} = {value:g} ({error:.2f} %)"
    )


def trend(rows: Rows, options: Options) -> Finding:
    """``measure`` of the rows called ``label`` rises or falls (``up``, ``down``) along ``key`` to ``until``.

    That is: its rank correlation (Spearman) with the key is at least 0.8 in that direction.
    """
    from scipy.stats import spearmanr

    grid = [pair for pair in _grid(rows, options) if pair[0] <= options.get("until", np.inf)]
    x, y = np.array(sorted(grid)).T
    rho = float(spearmanr(x, y).statistic)
    ends = f"{_text(y[0], options['measure'])} at {x[0]:g}, {_text(y[-1], options['measure'])} at {x[-1]:g}"
    holds = (rho if options["direction"] == "up" else -rho) >= 0.8
    return Finding(rows.data, _known(holds, rho), f"{ends}; rank correlation {rho:+.2f}")


def step(rows: Rows, options: Options) -> Finding:
    """From ``key`` = ``start`` to ``end``, ``measure`` of ``label`` changes by a factor in [low, high]."""
    grid = dict(_grid(rows, options))
    if missing := [end for end in ("start", "end") if float(options[end]) not in grid]:
        has = ", ".join(f"{value:g}" for value in sorted(grid))
        raise UserError(f"{missing[0]}: {options['key']} = {options[missing[0]]} was not run; there is {has}")
    a, b = grid[float(options["start"])], grid[float(options["end"])]
    numbers = f"{_text(a, options['measure'])} to {_text(b, options['measure'])}, {b / a:.3g} x"
    return Finding(rows.data, _within(b / a, options), numbers)


def tracks(rows: Rows, options: Options) -> Finding:
    """The largest final weight of ``label`` is on average at least ``low`` or at most ``high``."""
    weights = [
        max(weights)
        for row in rows.rows.get(options["label"], [])
        for weights in rows.cells["weights"].iloc[row.cells]
    ]
    mean = float(np.mean(weights)) if weights else float("nan")
    return Finding(rows.data, _known(_within(mean, options), mean), f"{mean:.3f}")


def value_within(rows: Rows, options: Options) -> Finding:
    """``measure`` of ``label`` lies within [``low``, ``high``]."""
    value = rows.mean(options["label"], options["measure"])
    return Finding(rows.data, _known(_within(value, options), value), _text(value, options["measure"]))


KINDS: dict[str, Callable[[Rows, Options], Finding]] = {
    check.__name__: check
    for check in (less, comparable, ratio, ordered, best_between, trend, step, tracks, value_within)
}


def _grid(rows: Rows, options: Options) -> list[tuple[float, float]]:
    """Return (value of the hyperparameter, mean of the measure) of each row called ``label``."""
    records = rows.records.get(options["label"], [])
    measure = options.get("measure", "mistake_pct")
    if len(records) < 2:
        raise UserError(f"{options['label']} has {len(records)} rows on {rows.data}; a sweep is needed")
    key = options["key"]
    if lacking := [record for record in records if not isinstance(record["params"].get(key), (int, float))]:
        known = lacking[0]["params"]
        raise UserError(f"key: {options['label']} has no number '{key}'{suggest(key, known)}")
    return [(float(record["params"][key]), _mean(record, measure)) for record in records]


def _mean(record: Mapping[str, Any], measure: str) -> float:
    if f"{measure}_mean" not in record:
        known = [name.removesuffix("_mean") for name in record if name.endswith("_mean")]
        raise UserError(
            f"measure: there is no {measure}{suggest(measure, known)}; there is {', '.join(known)}"
        )
    return float(record[f"{measure}_mean"])


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _within(value: float, options: Options) -> bool:
    return bool(options.get("low", -np.inf) <= value <= options.get("high", np.inf))


def _known(holds: Any, *values: float) -> bool | None:
    return None if np.isnan(values).any() else bool(holds)


def _text(value: float, measure: str) -> str:
    if np.isnan(value):
        return "–"
    return _FORMS.get(measure, "{:.0f}").format(value)

"""A paper's claims, each checked: holds on k of n data sets, with the numbers.

A check, one function per kind, is found by its name. It takes the rows of one data set and the claim's
options in conf/paper, and returns whether the claim holds there (None: undecided), and the numbers that show
it.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, suggest
from omkl.publications.compare import Compared, compare_rows
from omkl.publications.paper import QUANTIFIERS, Paper, as_list
from omkl.publications.paper_tables import TableResult, not_tuned, unfinished
from omkl.publications.selection import Selection, work_of
from omkl.reports.measures import ERROR
from omkl.reports.results_table import failed, incomplete
from omkl.reports.rows import by_count
from omkl.reports.summary import LEAST_COMMON, Tested, not_worse, paired_ps
from omkl.reports.table import Table
from omkl.store.columns import with_extra
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from omkl.runs.runner import Outcome

_MARKS = {True: "", False: " (no)", None: " (?)"}
_FORMS = {"mistake_pct": "{:.2f} %", "seconds": "{:.3g} s"} | {
    own.name: "{:.3g}" for own in MEASURES.values() if own.tasks and own.name != "mistake_pct"
}
WORDS = {own.word: own.name for own in MEASURES.values() if own.tasks}
Options = Mapping[str, Any]
Answer = tuple[bool | None, str]


@dataclass(frozen=True)
class ClaimRows:
    """The finished rows of a claim's runs on one data set.

    records: those of the summary, by label, with the reports' Row as ``row``    cells: for paired tests
    """

    data: str
    task: str
    records: dict[str, list[dict[str, Any]]]
    cells: "pd.DataFrame"

    def mean(self, label: str, measure: str) -> float:
        """Return a row's mean of a measure; NaN where it has not finished."""
        records = self.records.get(label)
        return _mean(records[0], self.measure(measure)) if records else float("nan")

    def measure(self, name: str) -> str:
        """Return a measure's name, for ERROR that of the task."""
        rows = (own for records in self.records.values() for own in records)
        return next(rows)["measure"] if name == ERROR else WORDS.get(name, name)

    def best(self, labels: str | list[str], measure: str) -> str:
        """Return the label with the best mean: the lowest, but of a measure of which more is better."""
        sign = _sign(measure)
        means = {
            label: np.nan_to_num(sign * self.mean(label, measure), nan=np.inf) for label in as_list(labels)
        }
        return min(means, key=lambda label: (means[label], label))

    def grid(self, options: Options) -> list[tuple[float, float]]:
        """Return (value of the hyperparameter, mean of the measure) of each row called ``label``."""
        label, key, records = options["label"], options["key"], self.records.get(options["label"], [])
        if len(records) < 2:
            raise UserError(f"{label} has {len(records)} rows on {self.data}; the claim needs a sweep")
        for record in records:
            if not isinstance(record["params"].get(key), (int, float)):
                raise UserError(f"key: {label} has no number '{key}'{suggest(key, record['params'])}")
        measure = self.measure(options.get("measure", "mistake_pct"))
        return [(float(record["params"][key]), _mean(record, measure)) for record in records]


def on_each(compared: Compared, pool: str | None) -> list[ClaimRows]:
    """Return the finished rows per data set, those with a pool only of this one."""
    table: dict[str, ClaimRows] = {}
    for row, record in zip(compared.rows, compared.summary.to_dict("records"), strict=True):
        if record["reps"] and (pool is None or record["pool"] in (None, pool)):
            new = ClaimRows(record["data"], record["task"], {}, compared.cells)
            own = table.setdefault(record["data"], new).records
            own.setdefault(record["label"], []).append(record | {"row": row})
    return list(table.values())


def less(rows: ClaimRows, options: Options) -> Answer:
    """``left`` is better in ``measure`` than ``right`` (of several rights: than the best); needs no test.

    That is less of it, but more of a measure such as auc.
    """
    measure = rows.measure(options["measure"])
    right = rows.best(options["right"], measure)
    a, b = rows.mean(options["left"], measure), rows.mean(right, measure)
    named = f" ({right})" if len(as_list(options["right"])) > 1 else ""
    is_less = _sign(measure) * a < _sign(measure) * b
    return _known(is_less, a, b), f"{_shown(a, measure)} : {_shown(b, measure)}{named}"


def comparable(rows: ClaimRows, options: Options) -> Answer:
    """``left`` is no worse than ``right``, or not by a paired t-test at 5 %; by ``measure``, else the error.

    Undecided where it is worse, and the two share too few repetitions for a test.
    """
    left, measure = options["left"], rows.measure(options.get("measure", ERROR))
    right = rows.best(options["right"], measure)
    a, b = rows.mean(left, measure), rows.mean(right, measure)
    numbers = f"{_shown(a, measure)} : {_shown(b, measure)}"
    if np.isnan(a) or np.isnan(b):
        return None, numbers
    ours, other = (rows.records[side][0]["row"] for side in (left, right))
    tested = Tested(with_extra(rows.cells))
    ((_, more),) = tested.differences(by_count([ours]), other, MEASURES[measure])
    worse = _sign(measure) * a > _sign(measure) * b
    if worse and more.shape[1] < LEAST_COMMON:
        return None, numbers
    return not worse or bool(not_worse(more, paired_ps(more)).all()), numbers


def ratio(rows: ClaimRows, options: Options) -> Answer:
    """``left`` / ``right`` lies within [``low``, ``high``], of ``measure``."""
    a, b = (rows.mean(options[side], options["measure"]) for side in ("left", "right"))
    share = a / b if b else float("nan")
    return _known(_within(share, options), share), f"{share:.3g}"


def ordered(rows: ClaimRows, options: Options) -> Answer:
    """The labels of ``order`` rise in ``measure``."""
    values = [rows.mean(label, options["measure"]) for label in options["order"]]
    rising = all(a < b for a, b in itertools.pairwise(values))
    return _known(rising, *values), " : ".join(_shown(value, options["measure"]) for value in values)


def best_between(rows: ClaimRows, options: Options) -> Answer:
    """The best of the rows called ``label`` has its hyperparameter ``key`` in [low, high].

    By mistakes, or by ``measure``.
    """
    measure = rows.measure(options.get("measure", "mistake_pct"))
    value, error = min(rows.grid(options), key=lambda pair: (_sign(measure) * pair[1], pair[0]))
    return _within(value, options), f"best at {options['key']} = {value:g} ({_shown(error, measure)})"


def trend(rows: ClaimRows, options: Options) -> Answer:
    """``measure`` of the rows called ``label`` rises or falls (``up``, ``down``) along ``key`` to ``until``.

    That is: its rank correlation (Spearman) with the key is at least 0.8 in that direction.
    """
    from scipy.stats import spearmanr

    grid = [pair for pair in rows.grid(options) if pair[0] <= options.get("until", np.inf)]
    x, y = np.array(sorted(grid)).T
    rho = float(spearmanr(x, y).statistic)
    ends = f"{_shown(y[0], options['measure'])} at {x[0]:g}, {_shown(y[-1], options['measure'])} at {x[-1]:g}"
    holds = (rho if options["direction"] == "up" else -rho) >= 0.8
    return _known(holds, rho), f"{ends}; rank correlation {rho:+.2f}"


def step(rows: ClaimRows, options: Options) -> Answer:
    """From ``key`` = ``start`` to ``end``, ``measure`` of ``label`` changes by a factor in [low, high]."""
    grid = dict(rows.grid(options))
    for end in ("start", "end"):
        if float(options[end]) not in grid:
            has = ", ".join(f"{value:g}" for value in sorted(grid))
            raise UserError(f"{end}: {options['key']} = {options[end]} was not run; its values are {has}")
    a, b = grid[float(options["start"])], grid[float(options["end"])]
    numbers = f"{_shown(a, options['measure'])} to {_shown(b, options['measure'])}, {b / a:.3g} x"
    return _within(b / a, options), numbers


def tracks(rows: ClaimRows, options: Options) -> Answer:
    """The largest final weight of ``label`` is on average at least ``low`` or at most ``high``."""
    weights = [
        max(weights)
        for record in rows.records.get(options["label"], [])
        for weights in rows.cells["weights"].iloc[record["row"].cells]
    ]
    mean = float(np.mean(weights)) if weights else float("nan")
    return _known(_within(mean, options), mean), f"{mean:.3f}"


def value_within(rows: ClaimRows, options: Options) -> Answer:
    """``measure`` of ``label`` lies within [``low``, ``high``]."""
    value = rows.mean(options["label"], options["measure"])
    return _known(_within(value, options), value), _shown(value, options["measure"])


KINDS: dict[str, Callable[[ClaimRows, Options], Answer]] = {
    check.__name__: check
    for check in (less, comparable, ratio, ordered, best_between, trend, step, tracks, value_within)
}


def _sign(measure: str) -> float:
    return MEASURES[measure].sign if measure in MEASURES else 1.0


def _mean(record: Mapping[str, Any], measure: str) -> float:
    if f"{measure}_mean" not in record:
        known = [name.removesuffix("_mean") for name in record if name.endswith("_mean")]
        near = suggest(measure, known)
        raise UserError(f"measure: unknown measure '{measure}'{near}; known: {', '.join(known)}")
    return float(record[f"{measure}_mean"])


def _within(value: float, options: Options) -> bool:
    return bool(options.get("low", -np.inf) <= value <= options.get("high", np.inf))


def _known(holds: Any, *values: float) -> bool | None:
    return None if np.isnan(values).any() else bool(holds)


def _shown(value: float, measure: str) -> str:
    return "–" if np.isnan(value) else _FORMS.get(WORDS.get(measure, measure), "{:.0f}").format(value)


def check_claims(paper: Paper, selection: Selection, **how: Any) -> TableResult:
    """Run the missing cells of a paper's claims and check each; how: of ``Work.run``."""
    work = work_of(paper, paper.claims.values(), selection)
    return claims_of(paper, selection, work.run(**how), lenient=bool(work.pending))


def claims_of(paper: Paper, selection: Selection, outcome: "Outcome", lenient: bool = False) -> TableResult:
    """Check a paper's claims on the cells of an outcome, which may hold others too.

    lenient: a claim whose rows do not suffice is undecided, and no UserError
    """
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    command = selection.command("claims", paper.name)
    for item in paper.claims.values():
        compared, lacks = compare_rows(paper, item, work_of(paper, [item], selection), outcome), ""
        try:
            each = on_each(compared, item.options.get("pool"))
            answers = {one.data: KINDS[item.kind](one, item.options) for one in each}
            answers |= {data: (None, answers[data][1]) for data in unfinished(compared) & answers.keys()}
        except UserError as error:
            if not lenient:
                raise UserError(f"conf/paper/{paper.name}.yaml: claims.{item.number}: {error}") from error
            answers, lacks = {}, str(error)
        there = compared.summary[compared.summary["missing"] == ""]
        own = [*incomplete(there, f"`{command}`"), *failed(compared.expected)]
        own += not_tuned(compared.work, f"`omkl tune {paper.name}`")
        if not answers and (names := dict.fromkeys(name for _, name in compared.work.missing)):
            lacks = lacks or f"no data: {', '.join(names)}"
            own += [f"{name}: the data are not available: {compared.work.how[name]}" for name in names]
        known = [holds for holds, _ in answers.values() if holds is not None]
        sets = str(item.options.get("sets", "all"))
        row: dict[str, Any] = {"claim": item.number, "text": item.title, "said of": sets}
        row |= {"holds on": sum(known), "of": len(known), "verdict": verdict(sets, known)}
        texts = (f"{data} {numbers}{_MARKS[holds]}" for data, (holds, numbers) in answers.items())
        rows.append(row | {"numbers": "; ".join(texts) or lacks, "incomplete": "; ".join(own)})
        warnings += own
    return TableResult(_table(rows, list(dict.fromkeys(warnings)), command), outcome)


def verdict(sets: str, known: Sequence[bool]) -> str:
    """Return whether a claim holds on the share of data sets that ``sets`` requires; known: on each."""
    if not known:
        return "undecided"
    share, least = sum(known) / len(known), QUANTIFIERS[sets]
    return "holds" if (share > least if least < 0.8 else share >= least) else "does not hold"


def _table(records: list[dict[str, Any]], warnings: list[str], command: str) -> Table:
    shown = [
        {
            "#": str(place),
            "claim": row["text"],
            "said of": row["said of"],
            "holds on": f"{row['holds on']} of {row['of']}",
            "verdict": row["verdict"],
        }
        for place, row in enumerate(records, 1)
    ]
    lines = [f"{place}. {row['numbers']}" for place, row in enumerate(records, 1)]
    below = ["Numbers, data set by data set (no: it does not hold there):"]
    below.append("\n".join([*lines, *(f"! {warning}" for warning in warnings)]))
    return Table.of(records, shown, below=below, command=command)

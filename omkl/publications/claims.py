"""A paper's claims, each checked: holds on k of n data sets, with the numbers.

A check, one function per kind, is found by its name. It takes the rows of one data set and the claim's
options in conf/paper, and returns whether the claim holds there (None: undecided), and the numbers that show
it. All tests are paired, over the permutations that both rows have run, at 5 %, and not corrected for their
number.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, counted, suggest
from omkl.publications.compare import Compared, compare_rows
from omkl.publications.paper import Item, Paper, as_list, needed_share
from omkl.publications.paper_tables import TableResult, not_tuned, unfinished
from omkl.publications.selection import Selection, work_of
from omkl.reports.measures import ERROR
from omkl.reports.results_table import failed, incomplete
from omkl.reports.rows import Row
from omkl.reports.summary import ALPHA, LEAST_COMMON, not_worse, paired_ps
from omkl.reports.table import Table
from omkl.store.cell_measures import CellMeasures, with_extra
from omkl.store.store import Store
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd

    from omkl.runs.runner import Outcome

SHORT = 0.01  # seconds: shorter times are mostly what a call costs, and decide nothing
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

    records: those of the summary, by label, with the reports' Row as ``row``    cells, measures: of all data
    sets, for paired tests
    curves: by the cells' keys, of a claim that counts kernel values
    """

    data: str
    task: str
    records: dict[str, list[dict[str, Any]]]
    cells: "pd.DataFrame"
    measures: CellMeasures
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

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

    def worst(self, labels: str | list[str], measure: str) -> str:
        """Return the label with the worst mean, one without a mean first."""
        sign = _sign(measure)
        means = {
            label: np.nan_to_num(sign * self.mean(label, measure), nan=np.inf) for label in as_list(labels)
        }
        return max(means, key=lambda label: (means[label], label))

    def row(self, label: str) -> Row:
        """Return the row called so; of several the first."""
        return self.records[label][0]["row"]

    def errors(self, measure: str) -> np.ndarray:
        """Return a measure or such a field as seconds of each cell (N,), signed so that less is better."""
        if measure not in MEASURES and measure not in self.cells:
            raise UserError(f"measure: '{measure}' is not known of each cell, so it cannot be tested")
        own = self.measures.of(measure) if measure in MEASURES else self.cells[measure].to_numpy(float)
        return _sign(measure) * own

    def top_weights(self) -> np.ndarray:
        """Return the largest weight of a kernel after the pass of each cell (N,), NaN without weights."""
        return np.array([max(own) if isinstance(own, list) else np.nan for own in self.cells["weights"]])

    def differences(self, left: Row, right: Row, values: np.ndarray) -> np.ndarray:
        """Return left's values minus right's (n,), over the n permutations that both have run.

        values: of each cell (N,); of a permutation that a row has twice, the first cell counts. One
        repetition that stands for all is compared with each of the other row's
        """
        seeds = self.cells["permutation_seed"].tolist()
        ours, theirs = ({seeds[at]: values[at] for at in reversed(row.cells)} for row in (left, right))
        if left.stands_for_all:
            ours = dict.fromkeys(theirs, values[left.cells[0]])
        elif right.stands_for_all:
            theirs = dict.fromkeys(ours, values[right.cells[0]])
        return np.array([ours[seed] - theirs[seed] for seed in ours if seed in theirs], float)

    def kernel_values(self, label: str, size: str) -> float:
        """Return how many kernel values a pass of this row needs, in the mean; NaN without curves.

        That is the sum over the rounds of ``size``: n_sv_sum, the vectors of all kernels, or n_sv_combined,
        those of the kernels that the round draws. Between the points of a curve it is taken for linear.
        """
        if label not in self.records:
            return float("nan")
        keys = self.cells["key"].iloc[self.row(label).cells]
        curves = [own for key in keys if size in (own := self.curves.get(key, {}))]
        sums = [np.trapezoid(curve[size], curve["t"]) for curve in curves]
        return float(np.mean(sums)) if sums else float("nan")

    def grid(self, options: Options) -> list[tuple[float, float]]:
        """Return (value of the hyperparameter, mean of the measure) of each row called ``label``."""
        label, key, records = options["label"], options["key"], self.records.get(options["label"], [])
        if len(records) < 2:
            raise UserError(
                f"{label} has {counted(len(records), 'row')} on {self.data}; the claim needs a sweep"
            )
        for record in records:
            if not isinstance(record["params"].get(key), (int, float)):
                raise UserError(f"key: {label} has no number '{key}'{suggest(key, record['params'])}")
        measure = self.measure(options.get("measure", "mistake_pct"))
        return [(float(record["params"][key]), _mean(record, measure)) for record in records]


def on_each(
    compared: Compared, options: Options, measures: CellMeasures, curves: dict[str, Any]
) -> list[ClaimRows]:
    """Return the finished rows per data set; of the claim's ``data`` and ``pool`` where it names them.

    measures: of the cells    curves: those read before, by the cells' keys; where the claim counts kernel
    values, the others are added
    """
    table: dict[str, ClaimRows] = {}
    pool, data = options.get("pool"), as_list(options.get("data", []))
    lacking: set[str] = set()
    for row, record in zip(compared.rows, compared.summary.to_dict("records"), strict=True):
        if data and record["data"] not in data:
            continue
        if record["reps"] and (pool is None or record["pool"] in (None, pool)):
            new = ClaimRows(record["data"], record["task"], {}, compared.cells, measures, curves)
            own = table.setdefault(record["data"], new).records
            own.setdefault(record["label"], []).append(record | {"row": row})
            if record["label"] in options.get("counts", ()):
                lacking |= set(compared.cells["key"].iloc[row.cells]) - curves.keys()
    if lacking:
        curves |= Store(compared.work.plans[0].store).curves(lacking)
    return list(table.values())


# -------------------------------------------------------------------- tests


def is_less(differences: np.ndarray) -> bool | None:
    """Return whether the mean of paired differences (n,) is significantly below 0; None with too few."""
    if differences.size < LEAST_COMMON:
        return None
    return bool(differences.mean() < 0 and paired_ps(differences[None])[0] < ALPHA)


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Return the 90 % interval of the mean of paired differences (n,), n > 1.

    It lies above -margin and below +margin just where two one-sided paired t-tests at 5 % say that the mean
    does (TOST).
    """
    if np.ptp(differences) <= 1e-12 * abs(differences).max():  # nothing varies but the rounding of rates
        return float(differences[0]), float(differences[0])
    from scipy.stats import ttest_1samp

    low, high = ttest_1samp(differences, 0.0).confidence_interval(1.0 - 2.0 * ALPHA)
    return float(low), float(high)


# -------------------------------------------------------------------- the kinds


def less(rows: ClaimRows, options: Options) -> Answer:
    """``left`` is better in ``measure`` than ``right``; of several, each left than each right.

    Better is less of it, but more of a measure such as auc. With ``significant`` a paired t-test must say so.
    """
    measure = rows.measure(options["measure"])
    left, right = rows.worst(options["left"], measure), rows.best(options["right"], measure)
    a, b = rows.mean(left, measure), rows.mean(right, measure)
    named = [
        f" ({label})" if len(as_list(options[side])) > 1 else ""
        for side, label in (("left", left), ("right", right))
    ]
    numbers = f"{_shown(a, measure)}{named[0]} : {_shown(b, measure)}{named[1]}"
    holds = _known(_sign(measure) * a < _sign(measure) * b, a, b)
    if holds and options.get("significant"):
        holds = is_less(rows.differences(rows.row(left), rows.row(right), rows.errors(measure)))
    return holds, numbers


def best(rows: ClaimRows, options: Options) -> Answer:
    """``left`` (one of several) is the best of left and ``right``, or not significantly worse than the best.

    By ``measure``, else the error, and a paired t-test. Undecided where it is worse, and the two share too
    few repetitions for a test.
    """
    measure, left = rows.measure(options.get("measure", ERROR)), as_list(options["left"])
    ours, other = rows.best(left, measure), rows.best(options["right"], measure)
    a, b = rows.mean(ours, measure), rows.mean(other, measure)
    named = [
        f" ({ours})" if len(left) > 1 else "",
        f" ({other})" if len(as_list(options["right"])) > 1 else "",
    ]
    numbers = f"{_shown(a, measure)}{named[0]} : {_shown(b, measure)}{named[1]}"
    if np.isnan(a) or np.isnan(b):
        return None, numbers
    if _sign(measure) * a <= _sign(measure) * b:
        return True, numbers
    there = [label for label in left if label in rows.records]
    errors = rows.errors(measure)
    tested = [rows.differences(rows.row(label), rows.row(other), errors) for label in there]
    if any(more.size < LEAST_COMMON for more in tested):
        return None, numbers
    return any(bool(not_worse(more[None], paired_ps(more[None]))[0]) for more in tested), numbers


def comparable(rows: ClaimRows, options: Options) -> Answer:
    """The means of ``left`` and ``right`` differ by less than ``margin``, by two one-sided paired t-tests.

    By ``measure``, else the error; the usual margin is what is practically equal. With ``or_better`` left may
    be better by more, so that one of the two decides. Undecided with too few repetitions in common.
    """
    measure = rows.measure(options.get("measure", ERROR))
    left, right = options["left"], rows.best(options["right"], measure)
    a, b = rows.mean(left, measure), rows.mean(right, measure)
    numbers = f"{_shown(a, measure)} : {_shown(b, measure)}"
    if np.isnan(a) or np.isnan(b):
        return None, numbers
    more = rows.differences(rows.row(left), rows.row(right), rows.errors(measure))
    if more.size < LEAST_COMMON:
        return None, numbers
    low, high = interval(more)
    margin = options.get("margin", MEASURES[measure].practically_equal(b))
    holds = high < margin and (bool(options.get("or_better")) or low > -margin)
    return holds, f"{numbers} ({low:+.3g} to {high:+.3g})"


def ratio(rows: ClaimRows, options: Options) -> Answer:
    """``left`` / ``right`` lies within [``low``, ``high``], of ``measure``.

    Where ``counts`` say what to count, the kernel values are shown too, and times below SHORT are undecided.
    """
    sides = (options["left"], options["right"])
    a, b = (rows.mean(side, options["measure"]) for side in sides)
    share = a / b if b else float("nan")
    if "counts" not in options:
        return _known(_within(share, options), share), f"{share:.3g}"
    x, y = _counts(rows, sides, options)
    counted = x / y if y else float("nan")
    holds = None if min(a, b) < SHORT else _known(_within(share, options), share)
    return holds, f"time {share:.3g}, values {counted:.3g}"


def ordered(rows: ClaimRows, options: Options) -> Answer:
    """The labels of ``order`` rise in ``measure``; ``counts`` as of ratio."""
    values = [rows.mean(label, options["measure"]) for label in options["order"]]
    text = " : ".join(_shown(value, options["measure"]) for value in values)
    if "counts" in options:
        counted = _counts(rows, options["order"], options)
        text += f", values {' : '.join(_shown(value, 'kernel_values') for value in counted)}"
        if min(values) < SHORT:
            return None, text
    rising = all(a < b for a, b in itertools.pairwise(values))
    return _known(rising, *values), text


def best_between(rows: ClaimRows, options: Options) -> Answer:
    """Of the rows called ``label``, the best with its ``key`` in [low, high] is as good as the best of all.

    By mistakes, or by ``measure``: not significantly worse by a paired t-test.
    """
    measure = rows.measure(options.get("measure", "mistake_pct"))
    places = {at: (_sign(measure) * error, value) for at, (value, error) in enumerate(rows.grid(options))}
    every, records = sorted(places, key=places.__getitem__), rows.records[options["label"]]
    inside = [at for at in every if _within(places[at][1], options)]
    if not inside:
        raise UserError(f"low, high: no value of {options['key']} that was run lies between them")
    of_all, own = every[0], inside[0]
    shown = [f"{places[at][1]:g} ({_shown(abs(places[at][0]), measure)})" for at in (of_all, own)]
    numbers = f"best at {options['key']} = {shown[0]}"
    if own == of_all:
        return True, numbers
    more = rows.differences(records[own]["row"], records[of_all]["row"], rows.errors(measure))
    numbers += f", inside {shown[1]}"
    if more.size < LEAST_COMMON:
        return None, numbers
    p = paired_ps(more[None])
    return bool(not_worse(more[None], p)[0]), f"{numbers}, p = {p[0]:.2g}"


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
    """The largest final weight of each ``left`` is significantly above that of each ``right``.

    By paired t-tests.
    """
    weights, sides = rows.top_weights(), [as_list(options[side]) for side in ("left", "right")]
    if any(label not in rows.records for side in sides for label in side):
        return None, ""
    means = [" and ".join(f"{weights[rows.row(label).cells].mean():.3f}" for label in side) for side in sides]
    answers = [
        is_less(rows.differences(rows.row(right), rows.row(left), weights))
        for left, right in itertools.product(*sides)
    ]
    holds = None if None in answers else all(answers)
    return holds, " : ".join(means)


def value_within(rows: ClaimRows, options: Options) -> Answer:
    """``measure`` of ``label`` lies within [``low``, ``high``]."""
    value = rows.mean(options["label"], options["measure"])
    return _known(_within(value, options), value), _shown(value, options["measure"])


KINDS: dict[str, Callable[[ClaimRows, Options], Answer]] = {
    check.__name__: check
    for check in (less, best, comparable, ratio, ordered, best_between, trend, step, tracks, value_within)
}


def _sign(measure: str) -> float:
    return MEASURES[measure].sign if measure in MEASURES else 1.0


def _counts(rows: ClaimRows, labels: Iterable[str], options: Options) -> list[float]:
    return [rows.kernel_values(label, options["counts"][label]) for label in labels]


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
    measures, curves = CellMeasures(with_extra(outcome.cells)), dict[str, Any]()
    command = selection.command("claims", paper.name)
    for item in paper.claims.values():
        compared, lacks = compare_rows(paper, item, work_of(paper, [item], selection), outcome), ""
        try:
            each = on_each(compared, item.options, measures, curves)
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
        if not answers and "data" in item.options:
            lacks = lacks or f"not run on {', '.join(as_list(item.options['data']))}"
        known = [holds for holds, _ in answers.values() if holds is not None]
        sets = str(item.options.get("sets", "all"))
        row: dict[str, Any] = {"claim": item.number, "text": item.title, "said of": sets}
        row |= {"holds on": sum(known), "of": len(known), "verdict": verdict(sets, known)}
        texts = (f"{data} {numbers}{_MARKS[holds]}" for data, (holds, numbers) in answers.items())
        rows.append(row | {"numbers": "; ".join(texts) or lacks, "incomplete": "; ".join(own)})
        warnings += own
    terms = [text for text, needed in _TERMS.items() if any(map(needed, paper.claims.values()))]
    return TableResult(_table(rows, terms, list(dict.fromkeys(warnings)), command), outcome)


def verdict(sets: str, known: Sequence[bool]) -> str:
    """Return whether a claim holds on the share of data sets that ``sets`` requires; known: on each."""
    if not known:
        return "undecided"
    return "holds" if needed_share(sets)(sum(known) / len(known)) else "does not hold"


_TERMS: dict[str, Callable[[Item], bool]] = {
    "a : b (low to high): the 90 % interval of the difference. Two rows are comparable where it lies within "
    "± 0.5 percentage points, or the margin that the claim names (two one-sided paired t-tests, 5 %); one is "
    "at least comparable where the interval ends below the margin.": lambda item: item.kind == "comparable",
    "values: kernel values of a pass, one for each stored vector of each kernel that a round needs. Times "
    f"below {1000 * SHORT:.0f} ms decide nothing (?).": lambda item: "counts" in item.options,
}


def _table(records: list[dict[str, Any]], terms: list[str], warnings: list[str], command: str) -> Table:
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
    below = [*terms, "Numbers, data set by data set (no: it does not hold there):"]
    below.append("\n".join([*lines, *(f"! {warning}" for warning in warnings)]))
    return Table.of(records, shown, below=below, command=command)

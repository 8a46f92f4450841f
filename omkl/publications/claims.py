"""A paper's claims, each checked: holds on k of n data sets, with the numbers.

A check, one function per kind, is found by its name. It takes the rows of one data set and the claim's
options in conf/paper, and returns YES, NO, SAME or UNKNOWN, and the numbers that show it. Two rows are
compared over the permutations that both have run, by a paired t-test at 5 %, not corrected for the number of
tests. With fewer than five, or in file order, the means decide, beyond what is practically equal.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, counted
from omkl.publications.claim_rows import (
    NO,
    SAME,
    SHORT,
    UNKNOWN,
    WORDS,
    YES,
    ClaimRows,
    Options,
    Pair,
    is_short,
    on_each,
    sign_of,
)
from omkl.publications.compare import Compared, are_few, compare_rows
from omkl.publications.paper import Item, Paper, as_list, enumerated, needed_share
from omkl.publications.paper_tables import unfinished
from omkl.publications.selection import PaperPlans, Selection, plans_of
from omkl.publications.table_result import TableResult
from omkl.publications.tuned_ranks import not_tuned
from omkl.reports import statistics
from omkl.reports.captions import some
from omkl.reports.measures import ERROR
from omkl.reports.results_table import failed, incomplete
from omkl.reports.statistics import ALPHA, LEAST_COMMON
from omkl.reports.table import Table
from omkl.store.fields import CellMeasures, with_extra
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome

OTHERS = "others"  # in place of labels: all other rows of the runs
NEAR = 0.05  # of the other's mean: a comparable one, where a claim names no margin
DIGITS = 12  # the most that tell two numbers apart
TOO_FEW = "too few to say"  # the verdict of a selection with fewer permutations than a test needs
_ON_EXCEPTIONS = {YES: NO, NO: YES, SAME: YES}  # where a claim says that it does not hold
_MARKS = {YES: "", NO: " (no)", SAME: " (=)", UNKNOWN: " (?)"}
_FORMS = {"mistake_pct": (".{}f", 2, " %"), "seconds": ("#.{}g", 3, " s"), "top_weight": (".{}f", 3, "")} | {
    own.name: ("#.{}g", 3, "") for own in MEASURES.values() if own.tasks and own.name != "mistake_pct"
}
Answer = tuple[str, str]


# -------------------------------------------------------------------- the kinds


def less(rows: ClaimRows, options: Options) -> Answer:
    """``left`` is better in ``measure`` than ``right``; of several, each left than each right.

    right: ``others`` for all other rows. Better is less of it, but more of a measure such as auc. ``order``:
    labels in place of left and right, of which each is better than the next; ``counts`` as of within. With
    ``significant`` no difference is a no.
    """
    measure = rows.measure(options["measure"])
    order = options.get("order")
    sides = [] if order else [_labels(rows, options, side) for side in ("left", "right")]
    both = itertools.pairwise(order) if order else itertools.product(*sides)
    pairs = [rows.pair(left, right, measure) for left, right in both]
    answers = [pair.answer for pair in pairs]
    answer = min(answers, key=(NO, UNKNOWN, SAME, YES).index)
    shown = [pair for pair, verdict in zip(pairs, answers, strict=True) if verdict == answer]
    if options.get("significant"):
        tested = not any(pair.p != pair.p and pair.sign is not None for pair in pairs)
        answer = {SAME: NO}.get(answer, answer) if tested else UNKNOWN
    if order:
        means = [rows.mean(label, measure) for label in order]
        text = " : ".join(_shown(means, measure))
        return answer, text + _counted(rows, order, options)
    worst = max(shown, key=lambda pair: np.nan_to_num(sign_of(measure) * (pair.a - pair.b), nan=np.inf))
    return answer, _pair_text(worst, measure, *(len(side) > 1 for side in sides))


def best(rows: ClaimRows, options: Options) -> Answer:
    """``left`` (one of several) is the best of left and ``right``, or not significantly worse than the best.

    right: ``others`` for all other rows. By ``measure``, else the error. Undecided where it is worse by
    more than counts without a test, and the two share too few repetitions for one.
    """
    measure = rows.measure(options.get("measure", ERROR))
    left, right = _labels(rows, options, "left"), _labels(rows, options, "right")
    other = rows.best(right, measure)
    pair = rows.pair(rows.best(left, measure), other, measure)
    numbers = _pair_text(pair, measure, len(left) > 1, len(right) > 1)
    if pair.sign is None or sign_of(measure) * (pair.a - pair.b) <= 0:
        return UNKNOWN if pair.sign is None else YES, numbers
    pairs = [rows.pair(label, other, measure) for label in left if label in rows.records]
    if any(pair_of_left.p != pair_of_left.p and pair_of_left.sign == 1 for pair_of_left in pairs):
        return UNKNOWN, numbers
    return YES if any(pair_of_left.sign != 1 for pair_of_left in pairs) else NO, numbers


def comparable(rows: ClaimRows, options: Options) -> Answer:
    """The means of ``left`` and ``right`` differ by less than ``margin``, by two one-sided paired t-tests.

    By ``measure``, else the error; the usual margin is 5 % of right's mean. Of several the best counts;
    right: ``others`` for all other rows. With ``or_better`` left may be better by more: one test decides.
    Undecided with too few repetitions in common.
    """
    measure = rows.measure(options.get("measure", ERROR))
    left, right = (_labels(rows, options, side) for side in ("left", "right"))
    pair = rows.pair(rows.best(left, measure), rows.best(right, measure), measure)
    numbers = _pair_text(pair._replace(p=np.nan), measure, len(left) > 1, len(right) > 1)
    if pair.sign is None:
        return UNKNOWN, numbers
    more = rows.differences(rows.row(pair.left), rows.row(pair.right), measure)
    if more.size < LEAST_COMMON:
        return UNKNOWN, numbers
    low, high = statistics.mean_interval(more)
    margin = options.get("margin", NEAR * abs(pair.b))
    holds = high < margin and (bool(options.get("or_better")) or low > -margin)
    return _answer(holds), f"{numbers} ({low:+.3g} to {high:+.3g}, finds {statistics.detectable(more):.2g})"


def within(rows: ClaimRows, options: Options) -> Answer:
    """``measure`` of ``left`` lies within [``low``, ``high``], or its ratio to that of ``right``.

    Of several the best counts; ``right`` is ``others`` for all other rows. Where ``counts`` say what to
    count, the kernel values are shown too.
    """
    measure = rows.measure(options["measure"])
    labels = [_labels(rows, options, side) for side in ("left", "right") if side in options]
    sides = [rows.best(label, measure) for label in labels]
    means = [rows.mean(side, measure) for side in sides]
    if len(sides) == 1:
        value, text = means[0], _shown(means, measure)[0]
    else:
        value = _ratio(*means)
        text = f"time {value:.3g}" if "counts" in options else f"{value:.3g}"
        text += f" ({sides[1]})" if len(labels[1]) > 1 else ""
    text += _counted(rows, sides, options, share=True)
    if is_short(measure, *means):
        return UNKNOWN, text
    return _answer(_within(value, options), value), text


def best_between(rows: ClaimRows, options: Options) -> Answer:
    """Of the rows called ``label``, the best with its ``key`` in [low, high] is as good as the best of all.

    By mistakes, or by ``measure``: not significantly worse by a paired t-test.
    """
    measure = rows.measure(options.get("measure", "mistake_pct"))
    places = {at: (sign_of(measure) * error, value) for at, (value, error) in enumerate(rows.grid(options))}
    every, records = sorted(places, key=places.__getitem__), rows.records[options["label"]]
    inside = [at for at in every if _within(places[at][1], options)]
    if not inside:
        raise UserError(f"low, high: no value of {options['key']} that was run lies between them")
    of_all, best_inside = every[0], inside[0]
    shown = _shown([abs(places[at][0]) for at in (of_all, best_inside)], measure)
    numbers = f"best at {options['key']} = {places[of_all][1]:g} ({shown[0]})"
    if best_inside == of_all:
        return YES, numbers
    pair = rows.pair_of(records[best_inside]["row"], records[of_all]["row"], measure)
    numbers += f", inside {places[best_inside][1]:g} ({shown[1]})"
    if pair.p != pair.p:
        return UNKNOWN, numbers
    return _answer(pair.sign != 1), f"{numbers}, p = {pair.p:.2g}"


def trend(rows: ClaimRows, options: Options) -> Answer:
    """``measure`` of the rows called ``label`` rises or falls (``up``, ``down``) along ``key`` to ``until``.

    That is: its rank correlation (Spearman) with the key is at least 0.8 in that direction.
    """
    grid = [pair for pair in rows.grid(options) if pair[0] <= options.get("until", np.inf)]
    x, y = np.array(sorted(grid)).T
    rho = statistics.rank_correlation(x, y).rho
    first, last = _shown([y[0], y[-1]], options["measure"])
    text = f"{first} at {x[0]:g}, {last} at {x[-1]:g}; rank correlation {rho:+.2f}"
    if is_short(options["measure"], *y):
        return UNKNOWN, text
    return _answer((rho if options["direction"] == "up" else -rho) >= 0.8, rho), text


def step(rows: ClaimRows, options: Options) -> Answer:
    """From ``key`` = ``start`` to ``end``, ``measure`` of ``label`` changes by a factor in [low, high]."""
    grid = dict(rows.grid(options))
    for end in ("start", "end"):
        if float(options[end]) not in grid:
            has = ", ".join(f"{value:g}" for value in sorted(grid))
            raise UserError(f"{end}: {options['key']} = {options[end]} was not run; its values are {has}")
    a, b = grid[float(options["start"])], grid[float(options["end"])]
    numbers = f"{' to '.join(_shown([a, b], options['measure']))}, {b / a:.3g} x"
    if is_short(options["measure"], a, b):
        return UNKNOWN, numbers
    return _answer(_within(b / a, options)), numbers


def across(rows_of_sets: Sequence[ClaimRows], options: Options) -> Answer:
    """The ratio of ``left``'s measure to that of ``right`` goes ``direction`` with the data's size.

    That is: over all data sets but those whose times are too short, its rank correlation (Spearman) with the
    number of examples differs from 0 at 5 % in that direction. Where ``counts`` say what to count, that of
    the kernel values is shown too.
    """
    measure, sides, sizes = options["measure"], (options["left"], options["right"]), []
    ratios: dict[str, list[float]] = {"the ratio": [], "that of values": []}
    for rows in rows_of_sets:
        a, b = (rows.mean(side, measure) for side in sides)
        sizes.append(rows.records[sides[0]][0]["T"] if sides[0] in rows.records else np.nan)
        ratios["the ratio"].append(np.nan if is_short(measure, a, b) else _ratio(a, b))
        if "counts" in options:
            a, b = (rows.kernel_values(side, options["counts"][side]) for side in sides)
            ratios["that of values"].append(_ratio(a, b))
    ranks = {name: statistics.rank_correlation(sizes, values) for name, values in ratios.items() if values}
    text = "; ".join(
        f"{name} and T: {counted(rank.n, 'data set')}"
        + (f", rank correlation {rank.rho:+.2f}, p = {rank.p:.2g}" if rank.p == rank.p else "")
        for name, rank in ranks.items()
    )
    found = ranks["the ratio"]
    if np.isnan(found.p):
        return UNKNOWN, text
    return SAME if found.p >= ALPHA else _answer((found.rho > 0) == (options["direction"] == "up")), text


ACROSS: dict[str, Callable[[Sequence[ClaimRows], Options], Answer]] = {across.__name__: across}
KINDS: dict[str, Callable[[ClaimRows, Options], Answer]] = {
    check.__name__: check for check in (less, best, comparable, within, best_between, trend, step)
}


def _labels(rows: ClaimRows, options: Options, side: str) -> list[str]:
    """Return the labels of a side that has rows of its own; ``others``: all but those of left."""
    if options[side] != OTHERS:
        return as_list(options[side])
    left = as_list(options["left"])
    return [label for label in rows.records if label not in left]


def _ratio(a: float, b: float) -> float:
    return a / b if b else float("nan")


def _counted(rows: ClaimRows, labels: Sequence[str], options: Options, share: bool = False) -> str:
    """Return the kernel values of rows as text, of two their ratio if ``share``; none without ``counts``."""
    if "counts" not in options:
        return ""
    counts = [rows.kernel_values(label, options["counts"][label]) for label in labels]
    if share:
        return f", values {_ratio(*counts):.3g}"
    return f", values {' : '.join(_shown(counts, 'kernel_values'))}"


def _within(value: float, options: Options) -> bool:
    return bool(options.get("low", -np.inf) <= value <= options.get("high", np.inf))


def _answer(holds: Any, *values: float) -> str:
    return UNKNOWN if np.isnan(values).any() else YES if holds else NO


def _pair_text(pair: Pair, measure: str, several_left: bool = False, several_right: bool = False) -> str:
    """Return both means, with the labels of a side that has several, and the p-value where it says much."""
    a, b = _shown([pair.a, pair.b], measure)
    a += f" ({pair.left})" if several_left else ""
    b += f" ({pair.right})" if several_right else ""
    return f"{a} : {b}" + (f", p = {pair.p:.2g}" if pair.p >= 0.001 else "")


def _shown(values: Sequence[float], measure: str) -> list[str]:
    """Return values with as many digits as tell those apart that are not equal."""
    form, digits, unit = _FORMS.get(WORDS.get(measure, measure), (".{}f", 0, ""))
    distinct = {float(f"{value:.10g}") for value in values if value == value}
    while digits < DIGITS and len({f"{value:{form.format(digits)}}" for value in distinct}) < len(distinct):
        digits += 1
    texts = (f"{value:{form.format(digits)}}".rstrip(".") for value in values)
    return ["–" if value != value else text + unit for value, text in zip(values, texts, strict=True)]


def check_claims(paper: Paper, selection: Selection, **how: Any) -> TableResult:
    """Run the missing cells of a paper's claims and check each; how: of ``PaperPlans.run``."""
    work = plans_of(paper, paper.claims.values(), selection)
    return claims_of(paper, selection, work, work.run(**how), lenient=bool(work.pending))


def claims_of(
    paper: Paper, selection: Selection, work: PaperPlans, outcome: "Outcome", lenient: bool = False
) -> TableResult:
    """Check a paper's claims on the outcome of a work, which may hold others too.

    lenient: a claim whose rows do not suffice is undecided, and no UserError; so it is where the selection
    names the data
    """
    measures, curves = CellMeasures(with_extra(outcome.cells)), dict[str, Any]()
    command = selection.command("claims", paper.name, *paper.claims.values())
    checks = []
    for item in paper.claims.values():
        if lacking := item.lacking or _other_sets(item, selection, work):
            checks.append(_Check(item, {}, lacking, []))
            continue
        compared = compare_rows(paper, item, work, outcome)
        answers: dict[str, Answer] = {}
        try:
            answers, lacks = _answers(compared, on_each(compared, item.options, measures, curves)), ""
        except UserError as error:
            if not (lenient or selection.data):
                raise UserError(f"conf/paper/{paper.name}.yaml: claims.{item.number}: {error}") from error
            lacks = str(error)
        warnings = _warnings(compared, command, f"`omkl tune {paper.name}`", bool(answers))
        lacks = lacks or _why_none(compared)
        checks.append(_Check(item, answers, lacks, warnings, are_few(compared, selection)))
    terms = [text for text, needed in _TERMS.items() if any(map(needed, paper.claims.values()))]
    warnings = list(dict.fromkeys(warning for check in checks for warning in check.warnings))
    table = _table([check.row() for check in checks], terms, warnings, command)
    return TableResult(table, outcome, warnings=[check.warnings for check in checks])


@dataclass(frozen=True)
class _Check:
    """A claim with its answers by data set.

    lacks: why there are none    warnings: on the cells of its rows    few: as of `are_few`
    """

    item: Item
    answers: Mapping[str, Answer]
    lacks: str
    warnings: list[str]
    few: bool = False

    def row(self) -> dict[str, Any]:
        """Return the claim's row as plain values."""
        options = self.item.options
        apart, sets = as_list(options.get("exceptions", [])), str(options.get("sets", "all"))
        answers = {
            data: (_ON_EXCEPTIONS.get(answer, answer) if data in apart else answer, numbers)
            for data, (answer, numbers) in self.answers.items()
        }
        decided = [answer for answer, _ in answers.values() if answer != UNKNOWN]
        on_others = [answer for data, (answer, _) in answers.items() if data not in apart]
        on_exceptions = [answer for data, (answer, _) in answers.items() if data in apart]
        texts = (
            f"{data} {numbers}{' (an exception)' if data in apart else ''}{_MARKS[answer]}".strip()
            for data, (answer, numbers) in answers.items()
        )
        return {
            "claim": self.item.number,
            "text": self.item.title,
            "said of": sets,
            "holds on": decided.count(YES),
            "of": len(decided),
            "verdict": TOO_FEW if self.few and decided else verdict(sets, on_others, on_exceptions),
            "numbers": "; ".join(texts) or self.lacks,
            "incomplete": "; ".join(self.warnings),
        }


def _answers(compared: Compared, rows_of_sets: Sequence[ClaimRows]) -> dict[str, Answer]:
    """Return a claim's answers by data set, UNKNOWN where cells are missing. Raises UserError as its kind."""
    item = compared.item
    if item.kind in ACROSS:
        answers = {"": ACROSS[item.kind](rows_of_sets, item.options)}
    else:
        answers = {one.data: KINDS[item.kind](one, item.options) for one in rows_of_sets}
    return answers | {data: (UNKNOWN, answers[data][1]) for data in unfinished(compared) & answers.keys()}


def _warnings(compared: Compared, command: str, tune: str, answered: bool) -> list[str]:
    """Return warnings on the rows of a claim; without an answer also each data set that it would need."""
    there = compared.summary[compared.summary["missing"] == ""]
    names = () if answered else dict.fromkeys(name for _, name in compared.work.missing)
    return [
        *incomplete(there, compared.expected, f"`{command}`"),
        *failed(compared.expected),
        *not_tuned(compared.work, tune),
        *(f"{name}: the data are not available: {compared.work.how[name]}" for name in names),
    ]


def _other_sets(item: Item, selection: Selection, work: PaperPlans) -> str:
    """Return which data sets a claim is about where it is about none of those that are selected, else ""."""
    if not selection.names or any(work.sets_of(item).values()):
        return ""
    about = as_list(item.options.get("data", ())) or [name for run in item.runs for name in run.data]
    return f"not about {enumerated(selection.names)}, but about {some(list(dict.fromkeys(about)))}"


def _why_none(compared: Compared) -> str:
    """Return why a claim has no answer where nothing was wrong: its data are not there, or were not run."""
    if names := dict.fromkeys(name for _, name in compared.work.missing):
        return f"no data: {', '.join(names)}"
    data = as_list(compared.item.options.get("data", ()))
    return f"not run on {', '.join(data)}" if data else ""


def verdict(sets: str, answers: Sequence[str], exceptions: Sequence[str] = ()) -> str:
    """Return whether a claim holds on the share of data sets that ``sets`` requires, and on all exceptions.

    SAME where it would, if the data sets without a difference were on its side. answers: on each data set
    """
    decided = [answer for answer in answers if answer != UNKNOWN]
    if not decided:
        return UNKNOWN
    enough, share = needed_share(sets), decided.count(YES) / len(decided)
    if NO in exceptions:
        return NO
    if enough(share):
        return YES
    return SAME if enough(share + decided.count(SAME) / len(decided)) else NO


_TERMS: dict[str, Callable[[Item], bool]] = {
    "a : b (low to high): the 90 % interval of the difference. Two rows are comparable where it lies within "
    f"± {100 * NEAR:.0f} % of the other's mean, or the margin that the claim names (two one-sided paired "
    "t-tests, 5 %); one is at least comparable where the interval ends below the margin. finds: the "
    "difference that a paired t-test at 5 % finds four times in five.": lambda item: (
        item.kind == "comparable"
    ),
    "p: of the paired t-test where it is 0.001 or more. (=): no significant difference, or without a test "
    "one that is practically none. A claim's verdict is no difference where it would hold if these were on "
    "its side.": lambda item: item.kind in ("less", *ACROSS),
    f"Times below {1000 * SHORT:.0f} ms decide nothing (?).": lambda item: (
        item.options.get("measure") == "seconds"
    ),
    "values: kernel values of a pass, one for each stored vector of each kernel that a round "
    "needs.": lambda item: "counts" in item.options,
}


def _table(records: list[dict[str, Any]], terms: list[str], warnings: list[str], command: str) -> Table:
    shown = [
        {"#": str(place), "claim": row["text"], "said of": row["said of"]}
        | {"holds on": f"{row['holds on']} of {row['of']}", "verdict": row["verdict"]}
        for place, row in enumerate(records, 1)
    ]
    lines = [f"{place}. {row['numbers']}" for place, row in enumerate(records, 1)]
    below = [*terms, "Numbers, data set by data set (no: it does not hold there; ?: undecided):"]
    below.append("\n".join([*lines, *(f"! {warning}" for warning in warnings)]))
    return Table.of(records, shown, below=below, command=command)

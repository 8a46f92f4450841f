"""Tasks and measures: what a data set asks of a learner, and what tells how well the learner does it.

A learner states its tasks, a data set its one. The measures are one table, of which fields of a cell,
columns, marks, figures and the page of measures are made. A measure of the scores is computed when a pass
ends (omkl/passes/scores.py) and stored; what follows from the confusion matrix, or from another field, is
computed when cells are read (omkl/store/fields.py).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from omkl.errors import UserError, suggest

TASKS = ("classification", "regression", "novelty")


def by_task(value: Any) -> bool:
    """Whether a default is a value for each task: ``{regression: squared, classification: logistic}``."""
    return isinstance(value, Mapping) and bool(value) and value.keys() <= set(TASKS)


def for_task(values: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return hyperparameters with this task's value of each that has values by task, else the first."""
    return {
        name: value.get(task, next(iter(value.values()))) if by_task(value) else value
        for name, value in values.items()
    }


# ------------------------------------------------------------------ measures


CLASSES, NUMBERS = ("classification",), ("regression",)
OF_CLASSES = {  # columns with a value of each class: header
    "class_errors": "class errors %",
    "f1": "F1",
}
BINS = 15  # of the expected calibration error
WITHIN_95 = 1.959963984540054  # standard deviations, of a normal distribution


def least_scores(level: float) -> int:
    """Return how many errors an interval of this level needs before it: n with (n + 1) level <= n."""
    return max(1, math.ceil(as_decimals(level / (1.0 - level))))


def as_decimals(value: float) -> float:
    """Return a value as decimals write it: 10 times 0.9 is 9, and no rounding error more."""
    return round(value, 9)


@dataclass(frozen=True)
class Measure:
    """A measure of a pass, in tables, or over the examples, or both.

    name: of the columns NAME_mean and NAME_std of a summary    word: what a reader calls it
    header, meaning: in tables    formula: for the page of measures    unit: of its values
    tasks: of the data on which it counts; none where it is only drawn over the examples
    of: what it is made from: "mistakes", "scores" (with the labels or targets), "counts" (the confusion
    matrix), "probabilities", "variance" (of the predictions), "intervals" (around them)
    held_out: the measure of a pass that it is on the rows of ``test=``, "" for one of a pass
    field: of a cell, which holds it where it is stored    scale: of the field, in the measure
    better: whether less or more of it is better, "" where neither is
    digits: decimals in tables, None for as many as its size asks for
    tested: column of the cells that the t-test takes, "" for its own values

    Over the examples: label: of the axis, "" where it is not drawn    needs: the list of the curve that it is
    made from    kind: "rate" (settles; the first examples say nothing), "count" (starts at 0), "size" (a
    count that some learners do not have at all), "share" (between 0 and 1)    root: of a mean
    windowed: over parts of the stream    signed: it may be below 0
    """

    name: str
    label: str = ""
    needs: str = ""
    kind: Literal["rate", "count", "size", "share"] = "rate"
    scale: float = 1.0
    header: str = ""
    meaning: str = ""
    formula: str = ""
    unit: str = ""
    tasks: tuple[str, ...] = ()
    of: Literal["", "mistakes", "scores", "counts", "probabilities", "variance", "intervals"] = ""
    held_out: str = ""
    field: str = ""
    better: Literal["", "less", "more"] = "less"
    digits: int | None = 3
    tested: str = ""
    root: bool = False
    windowed: bool = False
    signed: bool = False

    @property
    def word(self) -> str:
        return {"mistake_pct": "mistakes", "mse_e3": "mse"}.get(self.name, self.name.removesuffix("_pct"))

    @property
    def title(self) -> str:
        """What an axis is called."""
        return self.label or self.header

    @property
    def sign(self) -> float:
        """1 where less of it is better, else -1."""
        return -1.0 if self.better == "more" else 1.0

    def practically_equal(self, value: float) -> float:
        """Return which difference from a value matters to nobody: 0.5 points, 0.005, or 0.5 % of an error."""
        if self.unit.startswith("of the target"):
            return 0.005 * abs(value)
        return 0.5 if self.unit == "%" else 0.005

    @property
    def best(self) -> str:
        """What the best rows have, "" where no learner is better than another."""
        if self.better == "less":
            return {"mistake_pct": "fewest mistakes", "mse_e3": "least MSE"}.get(
                self.name, f"least {self.header}"
            )
        return f"largest {self.header}" if self.better else ""


REGRET = "regret"  # a curve that is made when it is drawn: omkl.theorems.rerun

_OF_PASSES = (
    Measure(
        *("mistake_pct", "mistake rate (%)", "mistakes", "rate", 100.0),
        header="mistake %",
        meaning="mistakes of one pass in percent of the examples",
        formula="100 · mistakes / T",
        unit="%",
        tasks=CLASSES,
        of="mistakes",
        digits=2,
        tested="mistakes",
    ),
    Measure(
        "balanced_pct",
        scale=100.0,
        header="balanced %",
        meaning="balanced error: the mean of the classes' errors in percent",
        formula="100 · (1 − mean of the recalls)",
        unit="%",
        tasks=CLASSES,
        of="counts",
        digits=2,
    ),
    Measure(
        "kappa",
        header="κ",
        meaning="Cohen's kappa: how much the predictions are right beyond chance; 1 is perfect, 0 is chance",
        formula="(p − p_c) / (1 − p_c); p: share of the rounds on the diagonal of the confusion matrix, "
        "p_c = Σ_c (share of class c) · (share of predictions of c)",
        tasks=CLASSES,
        of="counts",
        better="more",
    ),
    Measure(
        "kappa_temporal",
        header="κ temporal",
        meaning="kappa against the last label: 0 is no better than predicting that nothing changes",
        formula="(p − p_l) / (1 − p_l); p: share of the rounds without a mistake, p_l: that of the last "
        "label, which errs in the first round",
        tasks=CLASSES,
        of="scores",
        field="kappa_temporal",
        better="more",
    ),
    Measure(
        "macro_f1",
        header="macro F1",
        meaning="mean of the classes' F1, of all classes that occur or are predicted",
        formula="mean of F1_c = 2 TP_c / (examples of c + predictions of c)",
        tasks=CLASSES,
        of="counts",
        better="more",
    ),
    Measure(
        "auc",
        header="AUC",
        meaning="area under the ROC curve of the scores of one pass, each before its update; ties count half",
        formula="(Σ ranks of the scores of +1 − P (P + 1) / 2) / (P N), for P examples of +1 and N of −1; "
        "of more classes the mean over the classes, each against all others",
        tasks=CLASSES,
        of="scores",
        field="auc",
        better="more",
        digits=4,
    ),
    Measure(
        *("log_loss", "log loss", "log_loss"),
        header="log loss",
        meaning="mean of −log of the probability given to the true class",
        formula="mean of −log P(y)",
        tasks=CLASSES,
        of="probabilities",
        field="log_loss",
    ),
    Measure(
        *("brier", "Brier score", "brier"),
        header="Brier",
        meaning="mean squared difference of the probabilities and what happened",
        formula="mean of (P(+1) − 1[y = +1])²; of more classes of Σ_c (P(c) − 1[y = c])²",
        tasks=CLASSES,
        of="probabilities",
        field="brier",
    ),
    Measure(
        "ece",
        header="ECE",
        meaning=f"expected calibration error over {BINS} equal bins of the predicted class's probability",
        formula="Σ_bins (share of the rounds) · |share without a mistake − mean probability of the class "
        "predicted|",
        tasks=CLASSES,
        of="probabilities",
        field="ece",
    ),
    Measure(
        *("mse_e3", "mean squared error × 1000", "loss", "rate", 1000.0),
        header="MSE x 1e3",
        meaning="mean squared error of one pass, each prediction before its update, times 1000",
        formula="1000 · mean of (ŷ − y)²",
        unit="of the target squared, times 1000",
        tasks=NUMBERS,
        of="scores",
        digits=2,
        tested="mse",
    ),
    Measure(
        *("rmse", "root mean squared error", "loss"),
        root=True,
        header="RMSE",
        meaning="root of the mean squared error of one pass, each prediction before its update, in the "
        "target's units; of your own data without the first rounds, until the target has varied",
        formula="√(mean of (ŷ − y)²)",
        unit="of the target",
        tasks=NUMBERS,
        of="scores",
        digits=None,
    ),
    Measure(
        *("mae", "mean absolute error", "mae"),
        header="MAE",
        meaning="mean absolute error, in the target's units",
        formula="mean of |ŷ − y|",
        unit="of the target",
        tasks=NUMBERS,
        of="scores",
        field="mae",
        digits=None,
    ),
    Measure(
        "r2",
        header="R²",
        meaning="share of the target's variance that the predictions explain; 0 is the stream's mean",
        formula="1 − Σ (ŷ − y)² / Σ (y − ȳ)², ȳ the mean of the whole stream",
        tasks=NUMBERS,
        of="scores",
        field="r2",
        better="more",
    ),
    Measure(
        *("nlpd", "negative log predictive density", "nlpd"),
        signed=True,
        header="NLPD",
        meaning="negative log predictive density of the targets, mean over one pass",
        formula="mean of −log p(y)",
        tasks=NUMBERS,
        of="variance",
        field="nlpd",
    ),
    Measure(
        *("coverage_pct", "coverage of the 95 % interval (%)", "coverage", "rate", 100.0),
        header="coverage %",
        meaning="share of the targets inside the interval that is to hold 95 % of them",
        formula="100 · share of |ŷ − y| ≤ 1.96 · √variance",
        unit="%",
        tasks=NUMBERS,
        of="variance",
        field="coverage",
        better="",
        digits=2,
    ),
    Measure(
        *("interval_coverage_pct", "coverage of the intervals (%)", "interval_coverage", "rate", 100.0),
        header="interval coverage %",
        meaning="share of the targets inside the intervals of interval=, where there is one",
        formula="100 · share of |ŷ − y| ≤ h, h half of the interval's width",
        unit="%",
        tasks=NUMBERS,
        of="intervals",
        field="interval_coverage",
        better="",
        digits=2,
    ),
    Measure(
        *("interval_width", "width of the intervals", "interval_width"),
        header="interval width",
        meaning="mean width of the intervals of interval=, in the target's units",
        formula="mean of 2h",
        unit="of the target",
        tasks=NUMBERS,
        of="intervals",
        field="interval_width",
        better="",
        digits=None,
    ),
    Measure(
        *("interval_score", "interval score", "interval_score"),
        header="interval score",
        meaning="width of the intervals of interval= and a price of what lies outside, in the target's units",
        formula="mean of 2h + (2 / α) · max(0, |ŷ − y| − h), 1 − α the share asked for "
        "(Gneiting and Raftery, 2007)",
        unit="of the target",
        tasks=NUMBERS,
        of="intervals",
        field="interval_score",
        digits=None,
    ),
)


def _on_held_out(measure: Measure) -> Iterator[Measure]:
    """Yield a measure on the rows of ``test=``: of the last hypothesis, and of the averaged one."""
    short, field = {"mistake_pct": ("pct", "rate")}.get(measure.name, (measure.name,) * 2)
    told = {"mistake_pct": "percentage of mistakes"}.get(measure.name, measure.header)
    header = {"mistake_pct": "%"}.get(measure.name, measure.header)
    for kind, formula in (
        ("test", ""),
        ("averaged", "of (1/T) Σ_t f_t for each kernel, f_t before round t's update"),
    ):
        which = "last" if kind == "test" else kind
        yield replace(
            measure,
            name=f"{kind}_{short}",
            header=f"{kind} {header}",
            meaning=f"{told} of the {which} hypothesis on the rows that are held out (test=)",
            formula=", ".join(filter(None, (measure.formula, formula))),
            field=f"{kind}_{field.removesuffix('_pct')}",
            held_out=measure.name,
            label="",
            needs="",
            tested="",
            root=False,
        )


_ORDERED = ("kappa_temporal", "mse_e3")  # a measure of an order, and that of papers
_ALL = (
    *_OF_PASSES,
    *(own for one in _OF_PASSES if one.name not in _ORDERED for own in _on_held_out(one)),
    Measure("windowed_pct", "mistake rate in window (%)", "mistakes", "rate", 100.0, windowed=True),
    Measure("windowed_rmse", "RMSE in window", "loss", "rate", root=True, windowed=True),
    Measure("mistakes", "mistakes", "mistakes", "count"),
    Measure(REGRET, "regret against the best fixed function", REGRET, "count", signed=True),
    Measure("n_sv_sum", "support vectors (#SV)", "n_sv_sum", "size"),
    Measure("n_sv_union", "distinct examples stored", "n_sv_union", "size"),
    Measure("n_sv_combined", "support vectors combined", "n_sv_combined", "size"),
    Measure("top_weight", "weight of the best kernel", "weights", "share", better="more"),
)
MEASURES = {measure.name: measure for measure in _ALL}
STORED = {measure.field: measure for measure in _ALL if measure.field}  # by the field of a cell
REPORTED = ("nlpd", "variance", "degrees")  # what a learner may tell of each round of a regression
TASK_ERROR = {  # the error of each task
    "classification": MEASURES["mistake_pct"],
    "regression": MEASURES["rmse"],
    "novelty": replace(
        MEASURES["mistake_pct"],
        label="flagged as novel (%)",
        header="novel %",
        meaning="examples flagged as novel in percent",
        tasks=("novelty",),
        better="",
    ),
}
OF_PAPERS = {"regression": MEASURES["mse_e3"]}  # what a paper's own data sets are reported in


def listed_measures() -> list[Measure]:
    """Return the measures that lists show: of passes, and the errors on held-out rows, as all others have."""
    errors = ("", *(measure.name for measure in TASK_ERROR.values()))
    return [measure for measure in _ALL if measure.tasks and measure.held_out in errors]


def measures_of(task: str) -> list[Measure]:
    """Return the measures of a task, in the order of tables."""
    return (
        [TASK_ERROR["novelty"]]
        if task == "novelty"
        else [measure for measure in _ALL if task in measure.tasks]
    )


def judging_on(name: str, tasks: Iterable[str]) -> Measure:
    """As `judging`, for data of these tasks. Raises UserError where it is a measure of none of them."""
    measure, tasks = judging(name), list(tasks)
    if not set(measure.tasks) & set(tasks):
        choices = [one.word for task in tasks for one in measures_of(task) if one.better and not one.held_out]
        own_text = f": choose one of {', '.join(dict.fromkeys(choices))}" if choices else ""
        raise UserError(
            f"{name} is a measure of a {measure.tasks[0]}, and the task is {' and '.join(tasks)}{own_text}"
        )
    return measure


def measure_column(name: str) -> str:
    """Return the name of a table's column of a measure, or of one by class. Raises UserError for another."""
    measures = {measure.word: measure for measure in _ALL if measure.tasks}
    if name not in measures and name not in OF_CLASSES:
        raise _no_measure(name, measures, [*measures, *OF_CLASSES])
    return name


def judging(name: str) -> Measure:
    """Return a measure by which learners can be compared, by its name or word. Raises UserError."""
    measures = {named.word: named for named in _ALL if named.tasks and named.better}
    measure = measures.get(name) or MEASURES.get(name)
    if measure is None or measure.word not in measures:
        raise _no_measure(name, measures, measures)
    return measure


def _no_measure(name: str, measures: Mapping[str, Measure], words: Iterable[str]) -> UserError:
    of_passes = [word for word in words if word not in measures or not measures[word].held_out]
    more = "with test= also test, averaged, and test_ or averaged_ before another name"
    near = suggest(name, [*measures, *words])
    return UserError(f"no measure '{name}'{near}: choose among {', '.join(of_passes)}; {more}")

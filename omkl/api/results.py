"""What shows itself as a table; Results: the cells of a run or a sweep with summary, notes and figures.

The rounds of a cell are a frame; the cell runs again for it, since the store holds sums of them alone.
"""

import shlex
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omkl.api.call import Call
from omkl.config import Plan
from omkl.errors import UserError, counted, quoted, suggest, without_controls
from omkl.passes.cell import Cell, data_and_order, run_whole
from omkl.reports.results_table import (
    USUAL,
    TableOptions,
    run_table,
)
from omkl.reports.rows import ReportPlan, Row, rows_of
from omkl.reports.summary import READ, summary_of_rows
from omkl.reports.sweep_table import best_settings, check_options, sweep_table
from omkl.reports.table import Table
from omkl.reports.table_cells import fit_to_width
from omkl.runs.cells import expand
from omkl.runs.runner import run_plan, stored_plans
from omkl.seeds import learner_seed
from omkl.store.outcome import Outcome
from omkl.store.store import Store
from omkl.tasks import REGRET, judging_on

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as MplFigure

    from omkl.figures.figure import Figure


class Shown(ABC):
    """Something that is shown as a table."""

    inner: ClassVar[frozenset[str]] = frozenset()  # what completion leaves out: parts of omkl use it

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - self.inner - {"inner", "render", "report_table"})

    @abstractmethod
    def report_table(self) -> Table:
        """Return the table for readers."""

    def render(self, fmt: str = "table") -> str:
        """Return the table as text: ``table``, ``json``, ``csv``, ``markdown`` or ``latex``."""
        return self.report_table().render(fmt)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        with fit_to_width():
            return str(self)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.render("markdown")

    def to_latex(self) -> str:
        """Return the table as LaTeX (booktabs)."""
        return self.render("latex")

    def to_html(self) -> str:
        """Return the table as HTML without scripts, readable on light and dark ground."""
        return self.report_table().html()

    def _repr_html_(self) -> str:
        return self.report_table().narrowed().html()

    @property
    def notes(self) -> list[str]:
        """What a reader must know: of the data, unfinished repetitions, failed cells, ends of a grid."""
        table = self.report_table()
        return [without_controls(note) for note in (*table.about, *table.warnings)]


@dataclass(frozen=True, repr=False)
class Results(Shown):
    """What a run or a sweep has found.

    In a terminal its text is the command's table, in a notebook its HTML. ``a + b`` puts the rows of two
    results into one table.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each data set, learner and setting: means and standard deviations over the repetitions.
    cells : pandas.DataFrame
        A row for each repetition. An estimator of `omkl.sklearn` with ``random_state=learner_seed`` repeats
        it on the rows of ``omkl.data.order(data, order, seed, rep)[0]``.
    settings : pandas.DataFrame
        A row for each learner and setting: its hyperparameters.
    best : pandas.DataFrame
        Of each data set and learner the row of ``table`` with the least error.
    notes : list of str
        What a reader must know: unfinished repetitions, failed cells, settings at the end of a grid.
    """

    parts: tuple[ReportPlan, ...]
    is_sweep: bool = False
    inner = frozenset(
        {"check_options", "expected", "figure", "has_learners", "is_sweep", "outcome", "parts", "rows", "run"}
        | {"stored", "to_draw"}
    )

    @classmethod
    def stored(cls, plan: Plan, command: str = "", is_sweep: bool = False) -> "Results":
        """Return what the store holds of a plan; command: as typed, for captions."""
        return cls((ReportPlan((plan,), stored_plans([plan], READ)[0], command),), is_sweep)

    @classmethod
    def run(
        cls, plan: Plan, command: str = "", is_sweep: bool = False, whole: bool = True, **how: Any
    ) -> "Results":
        """Run the missing cells of a plan and return its results; how: of ``run_plan``.

        whole: with all that is stored of the cells, which takes longer where they are many
        """
        plan.warn_of_data()
        outcome = run_plan(plan, **how, columns=None if whole else READ)
        return cls((ReportPlan((plan,), outcome, command),), is_sweep)

    @classmethod
    def to_draw(
        cls, plan: Plan, kind: str, command: str, words: Sequence[str] = (), measure: str | None = None
    ) -> "Results":
        """Return what the store holds of a plan for a figure of a measure; words: of the plan, for a message.

        Raises UserError where a learner has not finished any cell; warns of other cells that are missing.
        """
        tasks = dict.fromkeys(ref.task for ref in plan.data)
        of_classes = {"confusion": "a confusion matrix", "calibration": "a figure of probabilities"}
        if kind in of_classes and "classification" not in tasks:
            text = f"{of_classes[kind]} needs a classification, but the task is {' and '.join(tasks)}"
            raise UserError(f"data={','.join(map(str, plan.data))}: {text}")
        if measure and kind == "sweep":
            judging_on(measure, tasks)
        results = cls.stored(plan, command)
        requested, found = results.parts[0].outcome.requested, len(results._cells)
        if found < requested:
            missing = f"the store {plan.store} holds {found} of {requested} cells"
            if not {setting.learner for setting in plan.settings} <= set(results._cells["algo"]):
                verb = "sweep" if plan.swept else "run"
                raise UserError(f"{missing}; `omkl {shlex.join([verb, *words])}` computes them")
            warnings.warn(missing, stacklevel=2)
        return results

    @staticmethod
    def check_options(plan: Plan, fmt: str, options: TableOptions, is_sweep: bool, by: str = "") -> None:
        """Refuse unknown columns of a table, or a measure that is none, before any work."""
        tasks = dict.fromkeys(ref.task for ref in plan.data)
        if by and judging_on(by, tasks).held_out and plan.test is None:
            raise UserError(f"by={by}: no rows are held out; add test=0.2, or another share or file")
        if options.columns:
            outcome = stored_plans([plan], READ)[0]
            check_options(outcome.cells[:0], ReportPlan((plan,), outcome), fmt, options, is_sweep, tasks)

    def __add__(self, other: "Results") -> "Results":
        if not isinstance(other, Results):
            return NotImplemented
        return Results((*self.parts, *other.parts), self.is_sweep or other.is_sweep)

    def by(self, measure: str) -> "Results":
        """Return the same results, compared by another measure: best rows, marks, figures, ranks.

        measure: such as ``"auc"`` or ``"mae"``; "" for the error of each task. Raises UserError for a name
        that is none, and for a measure of another task.
        """
        if measure:
            judging_on(measure, dict.fromkeys(ref.task for plan in self._plans for ref in plan.data))
        return replace(self, parts=tuple(replace(part, by=measure) for part in self.parts))

    # ------------------------------------------------------------------ as data

    @cached_property
    def cells(self) -> "pd.DataFrame":
        frame = self._cells.copy()
        specs = self.expected.specs
        drawn = [
            _learner_seed(int(permutation), name, specs.get(name))
            for permutation, name in zip(frame["permutation_seed"], frame["algo"], strict=True)
        ]
        place = frame.columns.get_loc("permutation_seed") + 1
        frame.insert(place, "learner_seed", np.array(drawn, dtype=object))  # of 128 bits
        return frame

    @cached_property
    def _cells(self) -> "pd.DataFrame":
        """The cells as they are stored."""
        return self.expected.outcome.cells

    @property
    def _plans(self) -> list[Plan]:
        return [plan for part in self.parts for plan in part.plans]

    @cached_property
    def expected(self) -> ReportPlan:
        """What a report should hold, of all parts."""
        return replace(
            self.parts[0],
            plans=tuple(plan for part in self.parts for plan in part.plans),
            outcome=Outcome.joined([part.outcome for part in self.parts]),
            command="; ".join(dict.fromkeys(part.command for part in self.parts if part.command)),
        )

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of the table: of each data set the learners, then the yardsticks; each row once."""
        return rows_of(self._cells, self.expected)

    @cached_property
    def table(self) -> "pd.DataFrame":
        return summary_of_rows(self.rows, self._cells, self.expected)

    @cached_property
    def best(self) -> "pd.DataFrame":
        return best_settings(self.table)

    @property
    def settings(self) -> "pd.DataFrame":
        import pandas as pd

        rows = _distinct(
            {"algo": row.learner, "pool": row.pool, **row.params} for row in self.rows if not row.is_yardstick
        )
        return pd.DataFrame(rows)

    @property
    def has_learners(self) -> bool:
        """Whether some learner that is no yardstick has finished a cell."""
        return any(row.cells and not row.is_yardstick for row in self.rows)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the first of its parts."""
        return self.parts[0].outcome

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The lines of the cells that failed."""
        return [line for part in self.parts for line in part.outcome.failed]

    # ------------------------------------------------------------------ as a table

    def report_table(self, options: TableOptions = USUAL) -> Table:
        """Return the table for readers; options: order of the rows, and columns."""
        make = sweep_table if self.is_sweep else run_table
        return make(self.table, self._cells, self.expected, options)

    # ------------------------------------------------------------------ as figures

    def figure(self, kind: str, measure: str | None = None) -> "Figure":
        """Return a figure, to draw or write: curve, confusion, calibration, sweep, times or ranks.

        measure: of a curve, such as ``n_sv_sum``, else one by which learners are compared; None is the error.
        Raises UserError where there is nothing to draw.
        """
        from omkl.figures.kinds import figure_named
        from omkl.reports.measures import measure_named

        if measure is not None and kind != "curve":
            return self.by(measure).figure(kind)
        measure = measure and measure_named(measure).name
        cells = self._whole() if kind in ("confusion", "calibration") else self._cells
        stored: Mapping[str, Mapping[str, Any]] = self._curves() if kind == "curve" else {}
        stored = self._with_regret(stored) if measure == REGRET else stored
        measures = self._usual_curves if measure is None else (measure,)
        return figure_named(kind, cells, stored, self.expected, measures, self.rows)

    @property
    def _usual_curves(self) -> tuple[str, ...]:
        """The measures of curves: the error, of streams in order in windows, and #SV."""
        from omkl.reports.measures import PAIR

        tasks = {ref.task for plan in self._plans for ref in plan.data}
        if any(plan.order != "file" for plan in self._plans) or len(tasks) > 1 or "novelty" in tasks:
            return PAIR
        return ("windowed_rmse" if "regression" in tasks else "windowed_pct", *PAIR[1:])

    def rounds(self, algo: str = "", data: str = "", rep: int = 0) -> "pd.DataFrame":
        """Return the rounds of a cell, which runs again, as a frame.

        Its columns are ``row`` (of the data), ``score``, ``prediction``, ``label`` and ``loss`` (1 of a
        mistake, or the squared error, NaN in rounds that count in no measure; of a novelty detection without
        the last two), ``low`` and ``high`` with ``interval=``, and ``P CLASS`` where there are probabilities;
        its index is the round, from 1.

        Parameters
        ----------
        algo
            A learner's name or label, or a ``key`` of `cells`; if there is one learner alone, it is meant.
        data
            The name of a data set, where there are several.
        rep
            The repetition, from 0.

        Raises
        ------
        omkl.errors.UserError
            Where no cell, or several, are meant.
        """
        from omkl.api.results import chosen_cell, rounds_frame

        cells = [cell for plan in self._plans for cell in expand(plan)]
        return rounds_frame(chosen_cell(cells, algo, data, rep))

    def curve(self, measure: str | None = None) -> "MplFigure":
        """Draw learning curves: the error, or another measure such as ``n_sv_sum``, over the examples.

        In file order the error is that of each window: a mean since the beginning hides what changes.
        """
        return self._drawn("curve", measure)

    def ranks(self, measure: str | None = None) -> "MplFigure":
        """Draw the learners' average ranks over the data sets, with what does not differ significantly."""
        return self._drawn("ranks", measure)

    def comparison(self, first: str = "", measure: str = "") -> Table:
        """Return how a learner compares with each of the others over the data sets, by tests that also say
        what is practically equal.

        first: a learner's label; if empty, that of the lowest average rank. measure: as in `by`
        """
        from omkl.reports.pairwise import comparison
        from omkl.reports.ranks import average_ranks

        ranks = average_ranks((self.by(measure) if measure else self).table)
        if first and first not in ranks.average:
            names = ", ".join(quoted(ranks.average))
            raise UserError(f"no learner '{first}'{suggest(first, ranks.average)}; ranked are {names}")
        return comparison(ranks, first)

    def confusion(self) -> "MplFigure":
        """Draw confusion matrices."""
        return self._drawn("confusion")

    def heatmap(self, measure: str | None = None) -> "MplFigure":
        """Draw the error, or another measure, over what was swept: lines over one hyperparameter, maps over
        two."""
        return self._drawn("sweep", measure)

    def times(self) -> "MplFigure":
        """Draw the seconds of each learner."""
        return self._drawn("times")

    def pareto(self, cost: str = "time") -> "MplFigure":
        """Draw error against a cost (``time``, ``size``, ``memory``), and the front that no learner beats."""
        from omkl.figures.costs import costs_of, pareto
        from omkl.publications.paper_tables import with_costs
        from omkl.reports.grid import grid_table

        records = grid_table(with_costs(self.table).assign(per_data=[row.per_data for row in self.rows]))
        return pareto(costs_of(records, cost), cost).draw()

    def _drawn(self, kind: str, measure: str | None = None) -> "MplFigure":
        return self.figure(kind, measure).draw()

    def report(self, path: str | Path) -> Path:
        """Write a page for the browser, one file with tables and figures, and return its path."""
        from omkl.api.report import page_path
        from omkl.pages.documents import write_html
        from omkl.pages.runs import results_page

        target = page_path(path)
        if len({plan.store for plan in self._plans}) > 1:
            raise UserError("a page shows one store; merge the stores with `omkl results merge`")
        page = results_page(self._whole(), self.expected, self._plans, self.expected.command, self.rows)
        write_html(page, target)
        return target

    def _curves(self) -> dict[str, dict[str, Any]]:
        stores = {plan.store: Store(plan.store) for plan in self._plans}
        keys = set(self._cells["key"])
        return {key: curve for store in stores.values() for key, curve in store.curves(keys).items()}

    def _with_regret(self, curves: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Return the curves with the regret, of the learners that have one."""
        from omkl.theorems.rerun import regret_curve

        cells = {cell.key: cell for plan in self._plans for cell in expand(plan)}
        return {key: regret_curve(cells[key], curve) for key, curve in curves.items()}

    def _whole(self) -> "pd.DataFrame":
        """Return the cells with all that is stored of them, such as confusion matrices and revisions."""
        if {"confusion", "revision"} <= set(self._cells):
            return self._cells
        whole = [replace(part.outcome, cells=stored_plans([*part.plans])[0].cells) for part in self.parts]
        return Outcome.joined(whole).cells


def _learner_seed(permutation: int, name: str, spec: Any) -> int:
    """Return the seed of a learner's own random numbers on one permutation."""
    seed = learner_seed(permutation, getattr(spec, "draws_as", None) or name)
    return seed % 2**32 if spec is not None and spec.estimator else seed


def _distinct(items: Iterable[Any]) -> list[Any]:
    """Return items without their repetitions; they need not be hashable."""
    kept: list[Any] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


# ------------------------------------------------------------------ from Python


def run_call(call: Call, is_sweep: bool = False, stored: bool = False, **how: Any) -> Results:
    """Run a call to its end and return its results; how: jobs, fresh, progress.

    stored: return what the store holds, and run nothing
    """
    plan = call.plan(is_sweep)
    if stored:
        if how.get("fresh"):
            raise UserError("stored=True runs nothing and fresh=True runs everything; give only one")
        return Results.stored(plan, call.line("sweep" if is_sweep else "run"), is_sweep)
    if plan.exec["name"] == "slurm":
        from omkl.runs.slurm import check_objects

        check_objects(plan)
        raise UserError("exec=slurm submits cells and does not wait; use `omkl run`, and stored=True later")
    results = Results.run(plan, call.line("sweep" if is_sweep else "run"), is_sweep, **how)
    check_end(results.outcome, 6)
    return results


def kept(outcome: Any) -> str:
    """Return what an interrupted run has left, an Outcome or a Tuning: as a notebook shows it."""
    requested = getattr(outcome, "requested", None)
    if requested is None:
        return "the cells that have finished are in the store; the same call goes on from there"
    done = f"{len(outcome.cells)} of {counted(requested, 'cell')}"
    return f"{done} are in the store; the same call runs the others, and stored=True shows what there is"


def check_end(outcome: Any, level: int = 5) -> None:
    """Raise KeyboardInterrupt where Ctrl-C ended what has run, if anything; warn of each cell that failed.

    level: frames from here to the caller of omkl
    """
    if outcome and outcome.interrupted:
        raise KeyboardInterrupt(kept(outcome))
    for line in outcome.failed if outcome else ():
        where = f"{line['algo']} on {line['data']}, repetition {line['rep']}"
        warnings.warn(without_controls(f"{where}: {line['error']}"), stacklevel=level)


# ------------------------------------------------------------------ the rounds of a cell


def chosen_cell(cells: Sequence[Cell], algo: str, data: str, rep: int) -> Cell:
    """Return the one cell of a learner on a data set in a repetition.

    algo: a learner's name or label, or a cell's key    algo, data: empty where there is one alone. Raises
    UserError where no cell, or several, are meant.
    """
    for what, word, names_of in (
        ("algo", algo, lambda cell: (cell.spec.name, cell.spec.label, cell.key)),
        ("data", data, lambda cell: (cell.data.name,)),
    ):
        found = [cell for cell in cells if not word or word in names_of(cell)]
        if not found:
            names = list(dict.fromkeys(names_of(cell)[0] for cell in cells))
            raise UserError(
                f"{what}={word}: no such cell{suggest(word, names) or '; there are ' + ', '.join(names)}"
            )
        cells = found
    reps = sorted({cell.rep for cell in cells})
    if not (found := [cell for cell in cells if cell.rep == rep or cell.key == algo]):
        raise UserError(f"rep={rep}: there are the repetitions {reps[0]} to {reps[-1]}")
    if len(found) > 1:
        kinds = ", ".join(dict.fromkeys(f"{cell.spec.name} on {cell.data.name}" for cell in found))
        raise UserError(
            f"rounds of {len(found)} cells ({kinds}): name the learner and the data, or give a key of .cells"
        )
    return found[0]


def rounds_frame(cell: Cell) -> "pd.DataFrame":
    """Return the rounds of a cell, which runs again, as `Results.rounds` does."""
    import pandas as pd

    _, _, trace, left_out, P, intervals = run_whole(cell)
    dataset, order = data_and_order(cell)
    y = dataset.y[order]
    columns: dict[str, Any] = {"row": order, "score": trace.score}
    if dataset.task == "regression":
        columns |= {"prediction": trace.score, "label": y, "loss": np.square(trace.score - y)}
        if left_out is not None:
            columns["loss"][left_out] = np.nan
        if intervals is not None:
            columns |= {"low": trace.score - intervals.half, "high": trace.score + intervals.half}
    elif dataset.task == "novelty":  # whose labels no learner reads
        columns["prediction"] = np.where(trace.mistake, "novel", "usual")
    else:
        predicted, label = trace.predicted, y.astype(np.int64)
        if predicted is None:  # of two classes: a mistake is the other one
            label = (y > 0).astype(np.int64)
            predicted = label ^ trace.mistake
        names = dataset.values_of_classes or dataset.classes or (-1, 1)
        kind = object if len(set(map(type, names))) > 1 else None
        classes = np.array(names, kind)
        columns |= {"prediction": classes[predicted], "label": classes[label]}
        columns["loss"] = trace.mistake.astype(np.int64)
        if P is not None:
            columns |= {f"P {name}": of_class for name, of_class in zip(names, P.T, strict=True)}
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(order) + 1, name="round"))

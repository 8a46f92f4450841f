"""Rows of a paper's table: ours next to the published values (results/published), and which do not agree."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import nan
from typing import TYPE_CHECKING, Any

from omkl.config import Setting
from omkl.config.parameters import word_text
from omkl.config.planned import Group, PlannedRow
from omkl.config.words import SCALES
from omkl.data.orders import is_one_order
from omkl.errors import UserError, show, suggest
from omkl.paths import extensions, published_folder
from omkl.publications.paper import Item, Paper, Run, as_list
from omkl.publications.selection import PaperPlans, Selection
from omkl.reports.rows import ReportPlan, Row
from omkl.reports.statistics import ALPHA, LEAST_COMMON, welch
from omkl.reports.summary import summary_of_rows

if TYPE_CHECKING:
    import pandas as pd

    from omkl.store.outcome import Outcome

WITHIN = 2.0  # published standard deviations
# column of the summary, metric of the published CSV; those with a standard deviation count in the verdict
METRICS = (("mistake_pct", "mistake_percent"), ("n_sv_sum", "n_sv"), ("seconds", "seconds"))
COLUMNS = ("published", "published_std", "gap", "difference", "welch_p")  # of each, beside ours
DECIDING = {"mistake_pct": "mistakes", "n_sv_sum": "#SV"}
# What a published value is found to be: not rejected by Welch's t-test, rejected but within WITHIN, outside.
AGREES, CLOSE, DIFFERS = "agrees", "close", "differs"
SIGNS = {AGREES: "=", CLOSE: "≈", "no data": "", "": ""}  # of a row's verdict; else it differs: ≠


@dataclass(frozen=True)
class Value:
    """A published mean and standard deviation (None where none is printed), and the last digit's step."""

    mean: float
    std: float | None
    step: float

    def difference(self, ours: float) -> float | None:
        """Return ours minus published in published standard deviations, None where there is none, or 0."""
        return (ours - self.mean) / self.std if self.std else None

    def is_near(self, ours: float) -> bool | None:
        """Return whether ours lies within two published standard deviations, None without one.

        Where 0 is printed, a count or a constant answer: within one of the last printed digit.
        """
        if self.std is None:
            return None
        return bool(abs(ours - self.mean) <= (WITHIN * self.std or self.step * (1.0 + 1e-9)))

    def verdict(self, ours: float, std: float, reps: int, published_reps: int) -> str:
        """Return AGREES, CLOSE or DIFFERS: not rejected by Welch's test, rejected but near, not near."""
        if not self.is_near(ours):
            return DIFFERS
        return CLOSE if self.welch_p(ours, std, reps, published_reps) < ALPHA else AGREES

    def welch_p(self, ours: float, std: float, reps: int, published_reps: int) -> float:
        """Return the two-sided p-value of Welch's t-test of the two means.

        NaN with fewer than two repetitions. Where neither varies: 1 for means that agree, else 0.
        """
        if self.std is None or min(reps, published_reps) < 2:
            return nan
        if not (std or self.std):
            return float(bool(self.is_near(ours)))
        return welch(ours, std, reps, self.mean, self.std, published_reps)


@cache
def published_lines(stem: str) -> list[dict[str, str]]:
    """Return the lines of a CSV, by column; of ``datasets``: paper, data, T, d, note."""
    folders = [published_folder(), *(folder / "results" / "published" for folder in extensions())]
    paths = [path for folder in folders for path in folder.glob("*.csv")]
    path = next((path for path in paths if path.stem == stem), None)
    if path is None:
        near = suggest(stem, [path.stem for path in paths])
        raise UserError(f"published: {show(stem)}: there is no {folders[0] / stem}.csv{near}")
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def published_values(stem: str) -> dict[tuple[str, ...], Value]:
    """Return the published values of a CSV by (table, data, algorithm, metric)."""
    published: dict[tuple[str, ...], Value] = {}
    for line in published_lines(stem):
        std = float(line["std"]) if line["std"] else None
        step = 10.0 ** -len(line["mean"].partition(".")[2])
        key = (line["table"], line["data"], line["algorithm"], line["metric"])
        published[key] = Value(float(line["mean"]), std, step)
    return published


@dataclass
class Compared:
    """The rows of a table, figure or claim (``item``), with its title.

    summary: columns of reports.summary, one row per data set and learner, and of each METRICS name
    ``NAME_published``, ``NAME_published_std``, ``NAME_gap`` (ours minus published), ``NAME_difference`` (the
    same in published standard deviations), NaN where there is none, or a deviation is 0, ``NAME_welch_p``;
    ``run``, ``extra``, ``per_data`` (hyperparameters that the run sets per data set), ``missing`` (how to get
    data that are not there), ``verdict``, ``note`` (its number)
    rows: the same, with their places in ``cells``    expected: for labels, failed cells, the command
    whole: the summary before a table keeps a part of it, for warnings
    notes: the explanations of cells that differ, from 1
    verdicts: of the published values of the paper's rows: AGREES, CLOSE or DIFFERS
    """

    item: Item
    title: str
    work: PaperPlans
    cells: "pd.DataFrame"
    expected: ReportPlan
    rows: list[Row]
    summary: "pd.DataFrame"
    whole: "pd.DataFrame"
    notes: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)


def are_few(compared: Compared, selection: Selection) -> bool:
    """Return whether the selection leaves fewer permutations than a test needs where there are more."""
    cut = selection.quick or (selection.reps or LEAST_COMMON) < LEAST_COMMON
    rows = zip(*(compared.summary[name] for name in ("order", "data", "asked")), strict=True)
    return cut and any(asked < LEAST_COMMON and not is_one_order(order, data) for order, data, asked in rows)


def compare_rows(
    paper: Paper, item: Item, work: PaperPlans, outcome: "Outcome", command: str = ""
) -> Compared:
    """Return the rows of a table: data sets in order, in each the runs' learners, then the yardsticks.

    work: of this item, and maybe of others    outcome: of ``work.run``    command: makes the table
    """
    work = work.of(item)
    with_runs = {
        (ref.name, setting.learner) for plan in work.plans for ref in plan.data for setting in plan.settings
    }
    failed = [cell for cell in outcome.failed if (cell["data"], cell["algo"]) in with_runs]
    outcome = replace(outcome, failed=failed, stale={})
    expected = ReportPlan(tuple(work.plans), outcome, command, str(item.options.get("by", "")))
    pairs = _rows(work, outcome)
    rows, runs = [row for row, _ in pairs], [run for _, run in pairs]
    summary = summary_of_rows(rows, outcome.cells, expected)
    summary["run"] = [run.name for run in runs]
    summary["extra"] = [run.extra for run in runs]
    summary["per_data"] = [row.per_data for row in rows]
    summary["missing"] = [work.how[row.data] if (run, row.data) in work.missing else "" for row, run in pairs]
    title = item.titled(summary["data"])
    compared = Compared(item, title, work, outcome.cells, expected, rows, summary, summary)
    _add_published(compared, runs, _published(paper, item), paper.published_reps or 0)
    return compared


def _rows(work: PaperPlans, outcome: "Outcome") -> list[tuple[Row, Run]]:
    """Return the rows with the run that each belongs to: data sets in the order the runs list them.

    In a data set the learners come in the order of the runs, then the yardsticks. A setting that two runs
    have is one row, of the run with more repetitions, unless they label it differently; a setting that is a
    learner of one run is no yardstick.
    """
    place = {key: at for at, key in reversed([*enumerate(outcome.cells["key"])])}
    row_and_run: dict[tuple, tuple[Row, Run]] = {}
    of_learners: set[tuple] = set()
    _add_missing(row_and_run, work)
    for run, planned in _planned(work, outcome):
        which = planned.group, planned.setting.identity
        key = (*which, None if planned.is_yardstick else run.labels.get(planned.setting.learner))
        stored = row_and_run.get(key)
        if stored and (planned.is_yardstick or stored[0].planned >= planned.asked):
            continue
        if planned.is_yardstick and which in of_learners:
            continue
        name, setting = work.stands_in.get(planned.ref.word, planned.group.data), planned.setting
        if not planned.is_yardstick:
            of_learners.add(which)
            setting = _named(setting, run)
        row = replace(Row.of(planned), data=name, setting=setting)
        row.find(place)
        row_and_run[key] = (row, run)
    runs = [*(part.run for part in work.parts), *(run for run, _ in work.missing)]
    names = dict.fromkeys([*(name for run in runs for name in run.data), *work.data])
    order = {name: at for at, name in enumerate(names)}
    return sorted(
        row_and_run.values(), key=lambda pair: (order.get(pair[0].data, len(order)), pair[0].is_yardstick)
    )


def _add_missing(row_and_run: dict[tuple, tuple[Row, Run]], work: PaperPlans) -> None:
    """Add rows of data sets that are not available."""
    for run, data in work.missing:
        for learner in () if run.extra else as_list(run.words["algo"]):
            setting = Setting(learner, label=run.labels.get(learner))
            row = Row(data, Group(data, "", "", "", ""), setting, False, setting.spec.tasks[0])
            row_and_run[data, run.name, learner] = (row, run)


def _planned(work: PaperPlans, outcome: "Outcome") -> Iterator[tuple[Run, PlannedRow]]:
    """Yield the rows of each plan on its data sets, those of its learners and then, of all plans, yardsticks.

    All learners come first, so that a learner among the yardsticks is none.
    """
    for is_yardstick in (False, True):
        for run, plan, number in work.parts:
            words = {ref.word for ref in plan.data}
            for row in outcome.planned[number]:
                if row.is_yardstick == is_yardstick and row.ref.word in words:
                    yield run, row


def _named(setting: Setting, run: Run) -> Setting:
    """Return the setting of a learner as its run calls it."""
    label = run.labels.get(setting.learner)
    if run.tune is None:
        return replace(setting, label=label, per_data=run.per_data_params)
    # its hyperparameters make no learner of its own; the scaling that the run gives does
    given = [word_text(key, run.words[key]) for key in SCALES if key in run.words]
    label = ", ".join([label or setting.spec.label, *given])
    return replace(setting, label=label, per_data=run.per_data_params, pool=None)


def _published(paper: Paper, item: Item) -> dict[tuple[str, ...], Value]:
    """Return the published values of a table by (data, algorithm, metric).

    ``published_data``: the names under which data sets of ours are published ("": it is not).
    """
    if not paper.published or "published" not in item.options:
        return {}
    number, names = str(item.options["published"]), item.options.get("published_data", {})
    of_table = {
        key[1:]: value for key, value in published_values(paper.published).items() if key[0] == number
    }
    renamed = {
        (row_name, *key[1:]): value
        for row_name, name in names.items()
        for key, value in of_table.items()
        if key[0] == name
    }
    return {key: value for key, value in of_table.items() if key[0] not in names} | renamed


def _add_published(
    compared: Compared, runs: list[Run], published: Mapping[tuple[str, ...], Value], reps: int
) -> None:
    """Add the published columns, the verdicts, and the notes that explain differences."""
    summary, used = compared.summary, compared.notes
    records: list[dict[str, Any]] = []
    for ours, run in zip(summary.to_dict("records"), runs, strict=True):
        of_row = {
            name: published.get((ours["data"], run.published.get(ours["algo"], ""), metric))
            for name, metric in METRICS
        }
        record = {key: value for name in of_row for key, value in _columns(ours, name, of_row[name], reps)}
        verdicts = _verdicts(ours, of_row, reps)
        compared.verdicts += [] if run.extra else verdicts.values()
        if ours["missing"]:
            verdict, note = "no data", f"{ours['data']}: {ours['missing']}"
        else:
            out = [name for name, answer in verdicts.items() if answer == DIFFERS]
            note = _note(compared.item, {"data": ours["data"], "row": ours["label"], "of": out})
            is_compared = ours["reps"] and any(value is not None for value in of_row.values())
            verdict = _verdict(out, verdicts, note) if is_compared else ""
        if note and note not in used:
            used.append(note)
        records.append(record | {"verdict": verdict, "note": used.index(note) + 1 if note else None})
    for name in records[0] if records else ():
        summary[name] = [record[name] for record in records]


def _columns(
    ours: Mapping[str, Any], name: str, value: Value | None, reps: int
) -> Iterator[tuple[str, float | None]]:
    """Yield the columns of a published value, and how ours differs from it."""
    cells: tuple[float | None, ...] = (None,) * 5
    if value:
        mean = float(ours[f"{name}_mean"])
        p = value.welch_p(mean, float(ours[f"{name}_std"]), ours["reps"], reps)
        cells = (value.mean, value.std, mean - value.mean, value.difference(mean), p)
    for column, part in zip(COLUMNS, cells, strict=True):
        yield f"{name}_{column}", nan if part is None else part


def _verdicts(ours: Mapping[str, Any], of_row: Mapping[str, Value | None], reps: int) -> dict[str, str]:
    """Return the verdict of each measure that decides, where both values and their spread are known."""
    verdicts = {}
    for name, value in of_row.items():
        mean = float(ours[f"{name}_mean"])
        if value and value.std is not None and mean == mean and name in DECIDING:
            verdicts[name] = value.verdict(mean, float(ours[f"{name}_std"]), ours["reps"], reps)
    return verdicts


def _verdict(out: list[str], verdicts: Mapping[str, str], note: str) -> str:
    """Return the verdict of a row; out: the measures that differ    note: which explains it"""
    if out:
        differ = " and ".join(DECIDING[name] for name in out) + " differ"
        return differ + ("" if note else ", unexplained")
    return CLOSE if CLOSE in verdicts.values() else AGREES


def _note(item: Item, row: Mapping[str, str | Sequence[str]]) -> str:
    """Return the table's first note that is about this row.

    A note's ``data``, ``row`` and ``of`` (a column) name its subjects, one or several, all where left out.
    It is shown under a row that differs, and with ``always`` under one that agrees too.
    """
    for note in item.options.get("notes", ()):
        subjects = {key: as_list(getattr(note, key) or ()) for key in row}
        about = all(not names or set(as_list(row[key])) & set(names) for key, names in subjects.items())
        if about and (row["of"] or note.always):
            return str(note.text)
    return ""

"""The table of results: a run's or a sweep's summary as a table, with its terms and warnings."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl import conf
from omkl.config.parameters import SCALING, params_text, shown_text
from omkl.config.planned import rounds_text
from omkl.data.orders import is_one_order
from omkl.errors import UserError, counted, suggest
from omkl.paths import store_folder
from omkl.reports.captions import few_rounds, n_cells, one_round, repetitions_of, some
from omkl.reports.grid import csv_table
from omkl.reports.measures import (
    MOST_NAMED,
    WORST,
    best_of,
    classes_text,
    measure_of,
    signed_measures,
)
from omkl.reports.origins import made_with, origin_warnings
from omkl.reports.rows import ReportPlan
from omkl.reports.statistics import LEAST_COMMON
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING, Columns, Rule, Spread, TableRow
from omkl.tasks import MEASURES, OF_CLASSES, OF_PAPERS, TASK_ERROR, Measure, measures_of

if TYPE_CHECKING:
    import pandas as pd

INCOMPLETE = "INCOMPLETE"  # how a warning begins that repetitions are missing
AGAIN = "the same command"
CONSTANTS = ("majority", "running_mean")  # learners that answer the same for all rows
# How a warning about what is missing begins, after the titles that it is about.
URGENT = re.compile(r"(?:^|: )(?:INCOMPLETE|FAILED|NOT TUNED YET)\b")
NO_TEST = "no test"  # a term
MADE_WITH = "made with"  # the term of versions, machines and workers
LONGEST = 10  # characters of a number that is written out
BALANCED = "balanced_pct"  # shown where a class is rare
LEAST = (  # columns that are left out where there is no room, the first of them first
    *("seconds_ratio", "seconds_published", "n_sv_sum_diff", "mistake_pct_diff", "mse_e3_diff"),
    *("seconds", "n_sv_sum_published", "n_sv_sum"),
)
OF_TASKS = {own.name: own.word for own in MEASURES.values() if own.tasks}
_WORDS = OF_TASKS | {
    f"n_sv_{part}": word for part, word in (("sum", "sv"), ("union", "union"), ("combined", "combined"))
}


def full_table(summary: "pd.DataFrame", swept: Iterable[str] = (), rare: Collection[str] = ()) -> Table:
    """Lay a summary out in all columns; hyperparameters named in ``swept`` get columns of their own.

    Columns without content are not ``usual``: pools when there is but one, hyperparameters when all are the
    defaults, repetitions where all have finished as many; nor are those that few readers want.
    rare: data sets for which the balanced error is wanted
    """
    rows = summary.to_dict("records")
    names = [name for name in swept if any(name in row["params"] for row in rows)]
    columns = Columns()
    _add_settings(columns, rows, names)
    _add_measures(columns, summary, rows, rare)
    _add_vectors(columns, summary)
    header = "largest weight" if "kernel" in names else "kernel"
    columns.add("kernel", header, [row["kernel"] for row in rows], "left", usual=False)
    for name, header in OF_CLASSES.items():
        columns.add(name, header, [_of_classes(row, name) or MISSING for row in rows], "left", usual=False)
    columns.add("seconds", "seconds", _seconds(summary["seconds_mean"].astype(float)))
    memory = [number(value, 1) for value in summary["memory_mib_mean"].astype(float)]
    columns.add("memory", "MiB", memory, usual=False)
    reps = [f"{'' if row['complete'] else '! '}{row['reps']}/{row['asked']}" for row in rows]
    columns.add("reps", "reps", reps, usual=_reps_of(summary) is None)
    for name in ("T", "m"):
        sizes = [MISSING if row[name] is None else str(row[name]) for row in rows]
        columns.add(name, name, sizes, usual=False)
    columns.add("p", "p", [number(row["p_value"], 4) for row in rows], usual=False)
    lines = [
        TableRow(cells, row["data"], _rule(up, row), row["complete"], row["is_yardstick"])
        for up, row, *cells in zip([None, *rows][: len(rows)], rows, *columns.contents, strict=True)
    ]
    done = sorted({row["reps"] for row in rows if row["reps"]})
    return Table(columns.columns, lines, least=LEAST, records={}, reps=done)


def _add_settings(columns: Columns, rows: list[dict[str, Any]], names: list[str]) -> None:
    """Add the columns that say what a row is; names: hyperparameters with columns of their own."""
    columns.add("data", "data", [row["data"] for row in rows], "left")
    pools = [row["pool"] if isinstance(row["pool"], str) else MISSING for row in rows]
    columns.add("pool", "pool", pools, "left", usual=len(set(pools) - {MISSING}) > 1)
    columns.add("learner", "learner", [row["label"] for row in rows], "left")
    columns.add("algo", "algo", [row["algo"] for row in rows], "left", usual=False)
    for name in names:
        values = [shown_text(row["params"][name]) if name in row["params"] else MISSING for row in rows]
        columns.add(f"algo.{name}", name, values)
    settings = [_settings(row, names) for row in rows]
    columns.add("settings", "settings", settings, "left", usual=any(settings))


def _add_measures(
    columns: Columns, summary: "pd.DataFrame", rows: list[dict[str, Any]], rare: Collection[str]
) -> None:
    """Add a column for each measure of the tasks; rare: as of `full_table`."""
    deciders, has_rare = set(summary["measure"]), not {*rare}.isdisjoint(summary["data"])
    for task in dict.fromkeys(summary["task"]):
        of_task, shown = summary.where(summary["task"] == task), _shown_with(summary, task)
        for measure in measures_of(task):
            errors = measure_cells(measure, summary, of_task)
            errors = [marked(error, row, measure) for error, row in zip(errors, rows, strict=True)]
            deciding = measure.name in deciders
            usual = deciding or measure.name in shown or (measure.name == BALANCED and has_rare)
            more: dict[str, Any] = {"marks": deciding, "meaning": measure.meaning, "usual": usual}
            columns.add(measure.name, measure.header, errors, **more)


def _add_vectors(columns: Columns, summary: "pd.DataFrame") -> None:
    """Add the numbers of support vectors."""
    # A learner without kernels, or that runs on random features, has no support vectors to count.
    no_vectors = (summary["n_sv_sum_mean"] == 0) | (summary["m"] == 0)
    counts = summary[[name for name in summary.columns if name.startswith("n_sv_")]].mask(no_vectors)
    stored = bool(counts["n_sv_sum_mean"].notna().any() or (summary["task"] == "classification").all())
    spreads = counts["n_sv_sum_std"].astype(float).max() > 0
    places = 1 if spreads else _places(counts["n_sv_sum_mean"])
    columns.add("n_sv_sum", "#SV", _spreads(counts, "n_sv_sum", places), usual=stored)
    columns.add("n_sv_union", "union", _counts(counts["n_sv_union_mean"]), usual=False)
    columns.add("n_sv_combined", "combined", _counts(counts["n_sv_combined_mean"]), usual=False)


def marked(cell: Spread, row: dict[str, Any], measure: Measure) -> Spread:
    """Return the cell with the mark of its row, in the column by which the row is compared."""
    if not row["marked"] or row["measure"] != measure.name:
        return cell
    return replace(cell, mark="best" if row["best"] else "near")


def _reps_of(summary: "pd.DataFrame") -> int | None:
    """Return the repetitions that all rows have finished, None where they differ or some are missing."""
    asked = summary[summary["asked"] > 0]  # not the data that are not there
    counts = set(asked["reps"])
    return counts.pop() if len(counts) == 1 and asked["complete"].all() else None


def _rule(above: dict | None, row: dict) -> Rule | None:
    if above is not None and above["data"] != row["data"]:
        return "data"
    return "yardsticks" if above is not None and row["is_yardstick"] > above["is_yardstick"] else None


def _settings(row: dict[str, Any], swept: Sequence[str]) -> str:
    """Return the text of the hyperparameters that have no column of their own."""
    rest = {name: row["params"][name] for name in row["shown"] if name not in swept}
    return params_text(rest) if swept else row["settings"]


def _shown_with(summary: "pd.DataFrame", task: str) -> tuple[str, ...]:
    """Return the measures of a task that a table has beside the one that its rows are compared by."""
    of_task = summary[summary["task"] == task]
    usual = {measures[task].name for measures in (TASK_ERROR, OF_PAPERS) if task in measures}
    held_out = {*of_task["measure"], *usual}
    extra = ["mae"] if (of_task["measure"] == "rmse").any() else []
    extra += ["nlpd", *(one.name for one in measures_of(task) if one.of == "intervals" and not one.held_out)]
    extra += [measure.name for measure in measures_of(task) if measure.held_out in held_out]
    told = tuple(name for name in extra if of_task[f"{name}_mean"].notna().any())
    by_usual = set(of_task["measure"]) <= usual
    return told if by_usual else (TASK_ERROR[task].name, *told)


def _of_classes(row: dict[str, Any], name: str) -> str:
    """Return a value of each class as text; name: of OF_CLASSES."""
    if name == "f1":
        return classes_text(row["classes"], row["class_f1"], 3, largest=False)
    return classes_text(row["classes"], row["class_errors"])


def measure_cells(measure: Measure, summary: "pd.DataFrame", records: "pd.DataFrame") -> list[Spread]:
    """Return a measure's cells; records: the summary, rows that it is not for empty.

    A measure in the target's units has the decimals that the values of a data set ask for.
    """
    if measure.digits is not None:
        return _spreads(records, measure.name, measure.digits)
    cells: list[Spread] = []
    for _, part in records.groupby(summary["data"], sort=False):
        sizes = part[f"{measure.name}_mean"].astype(float).abs()
        cells += _spreads(part, measure.name, digits_of(measure, sizes[sizes > 0].min()))
    places = np.argsort([at for _, part in records.groupby(summary["data"], sort=False) for at in part.index])
    return [cells[at] for at in places]


def digits_of(measure: Measure, value: float) -> int:
    """Return the decimals of a measure of this size: its own, or those that show four digits of it."""
    if measure.digits is not None:
        return measure.digits
    return int(np.clip(3 - np.floor(np.log10(value)), 0, 8)) if value > 0 and np.isfinite(value) else 2


def _spreads(table: "pd.DataFrame", name: str, places: int) -> list[Spread]:
    means, stds = (table[f"{name}_{part}"].astype(float).tolist() for part in ("mean", "std"))
    return [spread(mean, std, places) for mean, std in zip(means, stds, strict=True)]


def _places(values: "pd.Series") -> int:
    """Return the decimals of a column of counts: none where all are whole numbers."""
    there = values.astype(float).dropna()
    return 0 if (there == there.round()).all() else 1


def _counts(values: "pd.Series") -> list[str]:
    places = _places(values)
    return [number(value, places) for value in values.astype(float)]


def _seconds(values: "pd.Series") -> list[str]:
    """Return seconds with the decimals that the column's largest needs; 0.000 becomes ``<0.001``."""
    largest = values.max()
    places = 3 if not largest >= 10 else 2 if largest < 1000 else 1
    least = 10.0**-places
    return [f"<{least:.{places}f}" if 0 <= v < least / 2 else number(v, places) for v in values]


def spread(mean: float, std: float, places: int) -> Spread:
    """Return a mean and a standard deviation as text, both with decimals or both as 1.50e12."""
    short = not fits(mean, places)
    return Spread(number(mean, places, short), number(std, places, short))


def fits(value: float, places: int) -> bool:
    """Return whether a number is short enough to be written out."""
    return np.isnan(value) or len(f"{value:.{places}f}") <= LONGEST


def number(value: float, places: int, short: bool = False) -> str:
    """Return a number with fixed decimals, a dash for NaN; one that is long, or if short, as 1.50e12."""
    if np.isnan(value):
        return MISSING
    if fits(value, places) and not short:
        return f"{value:.{places}f}"
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits}e{int(exponent)}"


# -------------------------------------------------------------------- what a reader wants


@dataclass(frozen=True)
class TableOptions:
    """The reader's wishes.

    sort: mistakes, seconds or sv, None for the plan's order    columns: names, or +NAME and -NAME to change
    the usual ones
    """

    sort: str | None = None
    columns: tuple[str, ...] = ()

    def sorted(self, summary: "pd.DataFrame") -> "pd.DataFrame":
        """Return a summary with the rows of each data set in this order, the yardsticks still below.

        ``mistakes`` is the error of the data's task; rows without a value come last.
        """
        if self.sort is None or summary.empty:
            return summary
        seconds, sizes = summary["seconds_mean"], summary["n_sv_sum_mean"]
        keys = {"mistakes": signed_measures(summary), "seconds": seconds, "sv": sizes}
        places = {name: place for place, name in enumerate(dict.fromkeys(summary["data"]))}
        order = summary.assign(place=summary["data"].map(places), by=keys[self.sort])
        order = order.sort_values(["place", "is_yardstick", "by"], kind="stable", na_position="last")
        return summary.loc[order.index].reset_index(drop=True)

    def check(self, names: Sequence[str]) -> None:
        """Raise UserError for a wanted column that is not among these names."""
        for word in self.columns:
            if (name := word.lstrip("+-")) not in names:
                there_are = ", ".join(dict.fromkeys(names))
                raise UserError(
                    f"--columns {word}: no such column{suggest(name, names)}; there are {there_are}"
                )

    def chosen(self, table: Table) -> Table:
        """Return a table with the columns that are wanted. Raises UserError for a name that it lacks."""
        names = [word_of(column.name) for column in table.columns]
        words = self._words_for(table, names)
        replace(self, columns=words).check(names)
        added = {word.lstrip("+") for word in words}
        wanted = _wanted(
            words,
            [name for name, table_column in zip(names, table.columns, strict=True) if table_column.usual],
        )
        places = [
            place
            for name in wanted
            for place, other in enumerate(names)
            if other == name and (table.columns[place].usual or name in added)  # two columns may be "kernel"
        ]
        if not self.columns:
            places.sort()
        chosen = tuple(table.columns[place].name for place in places if names[place] in added)
        return replace(table.only(places), chosen=chosen)

    def _words_for(self, table: Table, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that are asked for; mistakes stands also for what decides in a regression."""
        marked = [name for name, column in zip(names, table.columns, strict=True) if column.marks]
        if "mistakes" in names or not marked:
            return self.columns
        return tuple(re.sub(r"^([+-]?)mistakes$", rf"\1{marked[0]}", word) for word in self.columns)


def _wanted(words: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return the names of the columns that words ask for: NAME, or the usual ones with +NAME, -NAME."""
    plain = [word for word in words if word[0] not in "+-"] or usual
    added = [word[1:] for word in words if word[0] == "+"]
    return [name for name in dict.fromkeys([*plain, *added]) if f"-{name}" not in words]


USUAL = TableOptions()


def word_of(column: str) -> str:
    """Return what a reader calls a column: ``sv`` for n_sv_sum, ``beta`` for algo.beta."""
    return _WORDS.get(column, column.removeprefix("algo."))


# -------------------------------------------------------------------- tables of a run


def run_table(
    summary: "pd.DataFrame",
    cells: "pd.DataFrame",
    expected: ReportPlan,
    options: TableOptions = USUAL,
    swept: Sequence[str] = (),
) -> Table:
    """Return the table of a summary, with its terms and the warnings about its rows.

    swept: hyperparameters that get columns of their own
    """
    summary = options.sorted(summary)
    table = options.chosen(full_table(summary, swept, expected.rare))
    return replace(
        table,
        shared=heading(summary, cells),
        terms=terms_of(table, summary, cells),
        about=(*expected.about_data, *few_rounds(cells, expected)),
        warnings=warnings_of(summary, cells, expected),
        command=expected.command,
        records={"summary": summary.drop(columns="ranked"), "cells": cells},
        flat=partial(csv_table, summary, swept),
    )


def measures_table(summary: "pd.DataFrame", cells: "pd.DataFrame") -> Table:
    """Return the table of all measures that the rows of a summary have."""
    shown = [name for name in OF_TASKS if summary[f"{name}_mean"].notna().any()]
    words = [*map(word_of, shown), *(("f1",) if summary["class_f1"].notna().any() else ())]
    table = full_table(summary)
    usual = {word_of(column.name) for column in table.columns if column.usual}
    names = [name for name in ("data", "pool", "learner", "settings") if name in usual]
    chosen = TableOptions(columns=(*names, *words)).chosen(table)
    return replace(chosen, terms=terms_of(chosen, summary, cells), records={})


# -------------------------------------------------------------------- terms and warnings


def terms_of(table: Table, summary: "pd.DataFrame", cells: "pd.DataFrame") -> list[tuple[str, str]]:
    """Return (term, meaning) of the columns that the table has, and what made the cells.

    summary: of the table's rows
    """
    errors = [number for number, column in enumerate(table.columns) if column.meaning]
    values = [line.cells[number] for line in table.rows for number in errors]
    varies = any(isinstance(cell, Spread) and cell.varies for cell in values)
    repetitions = repetitions_of(set(cells["order"]) if len(cells) else ())
    spread = f", mean ± standard deviation over the {repetitions}" if varies else ""
    terms = [(table.columns[n].header, f"{table.columns[n].meaning}{spread}") for n in errors]
    if errors:
        is_near = any(isinstance(cell, Spread) and cell.mark == "near" for cell in values)
        terms += _terms_of_marks(summary, repetitions, any(row.marked for row in table.rows), is_near)
    headers = {column.name: column.header for column in table.columns}
    meanings = _meanings(repetitions if varies else "")
    terms += [(headers[name], meaning) for name, meaning in meanings.items() if name in headers]
    machine = made_with(cells)
    return [*terms, (MADE_WITH, machine)] if machine else terms


def _terms_of_marks(
    summary: "pd.DataFrame", repetitions: str, is_best: bool, is_near: bool
) -> Iterator[tuple[str, str]]:
    """Yield what the marks mean that a table has, and why rows have none; repetitions: what they are."""
    if is_best:
        yield "best", f"{best_of(summary)} on the data set"
    if is_near:
        odd = "; its mean may be above that of a row that varies less" if _is_odd(summary) else ""
        yield (
            "near",
            f"not significantly worse (paired t-test over the same {repetitions}, two-sided, 5 %){odd}",
        )
    if _lacks_test(summary):
        done = summary[summary["reps"] > 0]
        if all(map(is_one_order, done["order"], done["data"])):
            yield NO_TEST, "all repetitions have one order, so that nothing is tested or marked"
        else:
            yield NO_TEST, f"fewer than {LEAST_COMMON} {repetitions} are too few to say which row is better"


def _meanings(repetitions: str) -> dict[str, str]:
    """Return what the other columns mean, by name; repetitions: what they are, where values differ."""
    won = f"; 15/20: in 15 of 20 {repetitions}, otherwise in all" if repetitions else ""
    few = f"; of more than {MOST_NAMED} classes the {WORST} largest"
    return {
        "n_sv_sum": "support vectors, summed over the kernels",
        "n_sv_union": "distinct examples stored",
        "n_sv_combined": "support vectors of the classifiers that the last prediction combined",
        "kernel": f"the kernel with the largest weight when the pass ends{won}",
        "class_errors": f"share of each class's examples taken for another class{few}",
        "f1": f"of each class: 2 · hits / (examples + predictions){few.replace('largest', 'smallest')}",
        "seconds": "learner time of one pass",
        "memory": "memory of one pass: the arrays of state, stream and trace, as reserved",
        "p": "of the paired t-test against the best row of the data set",
    }


def _is_odd(summary: "pd.DataFrame") -> bool:
    """Return whether a row without a mark has a better mean than one that is not significantly worse."""
    done = summary[summary["reps"] > 0]
    costs = done.assign(cost=signed_measures(done))
    for _, rows in costs.groupby("data", sort=False):
        near, plain = rows["marked"] & ~rows["best"], ~rows["marked"]
        if near.any() and plain.any() and rows.loc[plain, "cost"].min() < rows.loc[near, "cost"].max():
            return True
    return False


def _lacks_test(summary: "pd.DataFrame") -> bool:
    """Return whether a row that has a rival on its data set shares too few permutations with the best."""
    done = summary[summary["reps"] > 0]
    compared = done.duplicated("data", keep=False) & (done["common"] < LEAST_COMMON)
    return any(measure_of(row).better for row in done[compared].to_dict("records"))


def warnings_of(
    summary: "pd.DataFrame",
    cells: "pd.DataFrame",
    expected: ReportPlan,
    again: str = AGAIN,
    timed: bool = True,
) -> list[str]:
    """Return warnings: doubtful data, repetitions missing, cells failed, older revisions, times mixed.

    again: which command runs what is missing    timed: whether the table shows times
    """
    return [
        *expected.doubts,
        *incomplete(summary, expected, again),
        *failed(expected),
        *_stale(expected),
        *one_round(cells, expected),
        *no_better_than_a_constant(summary),
        *origin_warnings(cells, timed),
    ]


def no_better_than_a_constant(summary: "pd.DataFrame") -> list[str]:
    """Return a warning about the data sets on which no learner is clearly better than a constant answer.

    That is by two standard deviations of the constant answer over the repetitions.
    """
    done = summary[summary["reps"] > 0]
    done = done.assign(cost=signed_measures(done)) if len(done) else done
    names = []
    for data, rows in done.groupby("data", sort=False):
        is_constant = rows["algo"].isin(CONSTANTS)
        learners = rows[~rows["is_yardstick"].astype(bool) & ~is_constant]
        for row in rows[is_constant].to_dict("records"):
            spread = row[f"{measure_of(row).name}_std"]
            if learners["cost"].min() >= row["cost"] - (2 * spread if spread == spread else 0.0):
                names.append(str(data))
    return [f"no learner is clearly better than a constant answer on {some(names, ', ')}"] if names else []


def incomplete(summary: "pd.DataFrame", expected: ReportPlan, again: str = AGAIN) -> list[str]:
    """Return a warning about the rows that lack repetitions, none where all are there.

    again: which command runs those that have not failed
    """
    names = [
        f"{row.label}{f' ({row.settings})' if row.settings else ''} on {row.data} {row.reps} of {row.asked}"
        for row in summary[~summary["complete"]].itertuples()
    ]
    missing = (summary["asked"] - summary["reps"]).clip(lower=0).sum()
    advice = f"; {again} runs the missing ones" if missing > len(expected.failed) else ""
    basis = f"Means and marks are of the finished repetitions{advice}"
    return [f"{INCOMPLETE}: {some(names, '; ')}. {basis}"] if names else []


def failed(expected: ReportPlan) -> list[str]:
    """Return a warning about the cells that failed, none where all went well.

    A row whose cells fail has the first one's reason: the others' differ in the round at most.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for cell in expected.failed:
        spec = expected.specs.get(cell["algo"])
        params = spec.unusual(cell["params"], cell.get("task", "classification")) if spec else cell["params"]
        which = f"{expected.label(cell['algo'])}{f' ({params_text(params)})' if params else ''}"
        rows.setdefault(f"{which} on {cell['data']}", []).append(cell)
    names = []
    for which, cells in rows.items():
        error = str(cells[0].get("error") or "no reason recorded").strip().splitlines()[-1]
        reps = some([str(cell["rep"]) for cell in cells])
        names.append(f"{which}, repetition{'s' * (len(cells) > 1)} {reps}: {error}")
    count = n_cells(len(expected.failed))
    return [f"FAILED: {count}, not in the means: {some(names, '; ')}"] if names else []


def _stale(expected: ReportPlan) -> list[str]:
    usual = expected.store == store_folder(None)
    where = "" if usual else f" store={shlex.quote(str(expected.store))}"
    return [
        f"{n_cells(count)} of revision {revision} of {learner} in the store {'are' if count > 1 else 'is'} "
        f"not used: its {'results have' if isinstance(revision, int) else 'source has'} changed since; "
        f"`omkl results prune --old{where}{_folder(learner)} --yes` removes such cells"
        for (learner, revision), count in sorted(expected.stale.items(), key=str)
    ]


def _folder(learner: str) -> str:
    """Return the option that names the folder of a learner of the user's, "" for one of ours."""
    if conf.of_omkl("algo", learner):
        return ""
    folder = conf.file("algo", learner).parents[2]
    return f" --with {shlex.quote(str(folder))}"


def heading(summary: "pd.DataFrame", cells: "pd.DataFrame") -> str:
    """Return one line about what all rows share: pool, order, seed; and the sizes of a few data sets."""
    facts = [*_facts(summary, cells), {counted(reps, "repetition")} if (reps := _reps_of(summary)) else ()]
    shared = [text for texts in facts if len(texts) == 1 for text in texts]
    sizes = {row.data: row.T for row in summary.itertuples() if row.T == row.T and row.T is not None}
    few = [f"{name}: {counted(int(T), 'example')}" for name, T in sizes.items()] if len(sizes) <= 4 else []
    return " · ".join(filter(None, [*shared, ", ".join(few)]))


def _facts(summary: "pd.DataFrame", cells: "pd.DataFrame") -> list[set[str]]:
    """Return what rows may share, each as the texts of all rows: it is shared where there is one text."""
    orders = {f"order {order}" for order in summary["order"] if order}
    params = list(
        {id(params_of_cell): params_of_cell for params_of_cell in cells["params"]}.values()
    )  # cells share them
    return [
        {f"pool {pool}" for pool in summary["pool"] if isinstance(pool, str)},
        orders,
        {f"rounds {part}" if part else "" for part in map(rounds_text, cells["rounds"])},
        {rounds_text(None, test) for test in cells["test"]},
        *(
            {f"{name} {params_of_cell[name]}" if name in params_of_cell else "" for params_of_cell in params}
            for name in SCALING
        ),
        {f"seed {seed}" for seed in cells.get("seed", ()) if orders != {"order file"}},
    ]

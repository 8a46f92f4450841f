"""Rows of a paper's table: ours beside the published values, and what does not agree."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omkl.papers.paper import Item, Paper, Run
from omkl.papers.published import Value, values
from omkl.papers.rows import rows_of_work
from omkl.papers.selection import Work
from omkl.reports.expected import Expected
from omkl.reports.rows import Row
from omkl.reports.summary import summary_of_rows

if TYPE_CHECKING:
    import pandas as pd


# column of the summary, metric of the published CSV; those with a standard deviation count in the verdict
METRICS = (("mistake_pct", "mistake_percent"), ("n_sv_sum", "n_sv"), ("seconds", "seconds"))
DECIDING = ("mistake_pct", "n_sv_sum")


@dataclass
class Compared:
    """A table's rows.

    summary: columns of reports.summary, one row per data set and learner, and of each METRICS name
    ``NAME_published``, ``NAME_published_std``, ``NAME_gap`` (ours minus published), ``NAME_difference`` (the
    same in published standard deviations, None where there is none or it is 0);
    ``run``, ``extra``, ``per_data`` (hyperparameters that the run sets per data set), ``missing`` (how to get
    data that are not there), ``verdict``, ``note`` (its number)
    rows: the same, with their places in ``cells``    notes: what explains the cells that differ, from 1
    agreeing, counted: of published cells
    """

    summary: "pd.DataFrame"
    rows: list[Row]
    cells: "pd.DataFrame"
    notes: list[str] = field(default_factory=list)
    agreeing: int = 0
    counted: int = 0


def compare(paper: Paper, item: Item, work: Work, cells: "pd.DataFrame", expected: Expected) -> Compared:
    """Return the rows of a table: data sets in order, in each the runs' learners, then the yardsticks.

    cells: as of ``Outcome.cells``; expected: for labels and failed cells.
    """
    pairs = rows_of_work(work, cells, expected)
    rows, runs = [row for row, _ in pairs], [run for _, run in pairs]
    summary = summary_of_rows(rows, cells, expected)
    summary["run"] = [run.name for run in runs]
    summary["extra"] = [run.extra for run in runs]
    summary["per_data"] = [row.per_data for row in rows]
    summary["missing"] = [work.how[row.data] if (run, row.data) in work.missing else "" for row, run in pairs]
    found = Compared(summary, rows, cells)
    _add_published(found, pairs, _published(paper, item), item.options.get("notes", []))
    return found


def _published(paper: Paper, item: Item) -> dict[tuple[str, str, str], Value]:
    """Return the published values of a table by (data, algorithm, metric).

    ``published_data`` says under which name a data set of ours is published ("": it is not).
    """
    if not paper.published or "published" not in item.options:
        return {}
    table, names = str(item.options["published"]), item.options.get("published_data", {})
    found = {key[1:]: value for key, value in values(paper.published).items() if key[0] == table}
    renamed = {
        (own, *key[1:]): v for own, name in names.items() for key, v in found.items() if key[0] == name
    }
    return {key: value for key, value in found.items() if key[0] not in names} | renamed


def _add_published(
    found: Compared, pairs: list[tuple[Row, Run]], published: dict[tuple, Value], notes: list[dict]
) -> None:
    """Add the published columns, the verdicts, and the notes that explain what differs."""
    summary, used = found.summary, []
    columns: dict[str, list[Any]] = {}
    verdicts, marks = [], []
    for place, (row, run) in enumerate(pairs):
        own = {m: published.get((row.data, run.published.get(row.algo, ""), csv)) for m, csv in METRICS}
        out = []
        for name, value in own.items():
            ours = float(summary[f"{name}_mean"].iloc[place])
            known = value is not None and ours == ours
            columns.setdefault(f"{name}_published", []).append(value.mean if value else None)
            columns.setdefault(f"{name}_published_std", []).append(value.std if value else None)
            columns.setdefault(f"{name}_gap", []).append(ours - value.mean if known else None)
            columns.setdefault(f"{name}_difference", []).append(value.difference(ours) if known else None)
            if known and name in DECIDING and value.std is not None:
                agrees = bool(value.agrees(ours))
                found.counted += not run.extra
                found.agreeing += agrees and not run.extra
                out += [] if agrees else [name]
        label = str(summary["label"].iloc[place])
        note = _note(row.data, label, out, notes, summary["missing"].iloc[place])
        if note and note not in used:
            used.append(note)
        compared = any(value is not None for value in own.values())
        verdicts.append(_verdict(compared, bool(summary["missing"].iloc[place]), out, bool(note)))
        marks.append(used.index(note) + 1 if note else None)
    for name, column in columns.items():
        summary[name] = column
    summary["verdict"], summary["note"] = verdicts, marks
    found.notes = used


def _verdict(compared: bool, missing: bool, out: list[str], explained: bool) -> str:
    if missing:
        return "no data"
    if not compared:
        return ""
    if not out:
        return "agrees"
    names = {"mistake_pct": "mistakes", "n_sv_sum": "#SV"}
    return " and ".join(names[name] for name in out) + (" differ" if explained else " differ, unexplained")


def _note(data: str, label: str, out: list[str], notes: list[dict], missing: str) -> str:
    """Return the first note that speaks of this row.

    A note's ``data``, ``row`` and ``of`` (a column) say what it is about, each a name or several, all where
    left out; it stands under a row that differs, and with ``always`` under one that agrees too.
    """
    if missing:
        return f"{data}: {missing}"
    for note in notes:
        about = all(
            key not in note or set(have) & set([note[key]] if isinstance(note[key], str) else note[key])
            for key, have in (("data", [data]), ("row", [label]), ("of", out))
        )
        if about and (out or note.get("always")):
            return str(note["text"])
    return ""

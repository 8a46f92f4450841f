"""Rows of a paper's table: ours next to the published values, and what does not agree."""

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
    compared = Compared(summary, rows, cells)
    _add_published(compared, runs, _published(paper, item), item.options.get("notes", []))
    return compared


def _published(paper: Paper, item: Item) -> dict[tuple[str, str, str], Value]:
    """Return the published values of a table by (data, algorithm, metric).

    ``published_data`` says under which name a data set of ours is published ("": it is not).
    """
    if not paper.published or "published" not in item.options:
        return {}
    table, names = str(item.options["published"]), item.options.get("published_data", {})
    known = {key[1:]: value for key, value in values(paper.published).items() if key[0] == table}
    renamed = {
        (own, *key[1:]): v for own, name in names.items() for key, v in known.items() if key[0] == name
    }
    return {key: value for key, value in known.items() if key[0] not in names} | renamed


def _add_published(
    compared: Compared, runs: list[Run], published: dict[tuple, Value], notes: list[dict]
) -> None:
    """Add the published columns, the verdicts, and the notes that explain what differs."""
    summary, used = compared.summary, compared.notes
    records: list[dict[str, Any]] = []
    for ours, run in zip(summary.to_dict("records"), runs, strict=True):
        algorithm, missing = run.published.get(ours["algo"], ""), ours["missing"]
        record: dict[str, Any] = {}
        printed, out = False, []
        for name, metric in METRICS:
            value, mean = published.get((ours["data"], algorithm, metric)), float(ours[f"{name}_mean"])
            known = value is not None and mean == mean
            printed |= value is not None
            record[f"{name}_published"] = value.mean if value else None
            record[f"{name}_published_std"] = value.std if value else None
            record[f"{name}_gap"] = mean - value.mean if known else None
            record[f"{name}_difference"] = value.difference(mean) if known else None
            if known and name in DECIDING and value.std is not None:
                agrees = bool(value.agrees(mean))
                compared.counted += not run.extra
                compared.agreeing += agrees and not run.extra
                out += [] if agrees else [name]
        about = f"{ours['data']}: {missing}" if missing else ""
        note = about or _note({"data": ours["data"], "row": ours["label"], "of": out}, notes)
        if note and note not in used:
            used.append(note)
        record["verdict"] = "no data" if missing else _verdict(out, bool(note)) if printed else ""
        record["note"] = used.index(note) + 1 if note else None
        records.append(record)
    for name in records[0] if records else ():
        summary[name] = [record[name] for record in records]


def _verdict(out: list[str], explained: bool) -> str:
    names = {"mistake_pct": "mistakes", "n_sv_sum": "#SV"}
    differ = "differ" if explained else "differ, unexplained"
    return f"{' and '.join(names[name] for name in out)} {differ}" if out else "agrees"


def _note(row: dict[str, str | list[str]], notes: list[dict]) -> str:
    """Return the first note that is about this row.

    A note's ``data``, ``row`` and ``of`` (a column) say what it is about, each a name or several, all where
    left out; it is shown under a row that differs, and with ``always`` under one that agrees too.
    """
    for note in notes:
        about = all(key not in note or set(_list(have)) & set(_list(note[key])) for key, have in row.items())
        if about and (row["of"] or note.get("always")):
            return str(note["text"])
    return ""


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value

"""Rows of a paper's table: ours beside the published values, and what does not agree."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omkl.papers.paper import Item, Paper, Run
from omkl.papers.published import Value, values
from omkl.papers.selection import Work
from omkl.reports.asked import Asked
from omkl.reports.rows import Row, identity
from omkl.reports.summary import summary_of_rows

if TYPE_CHECKING:
    import pandas as pd

    from omkl.config import Setting

# column of the summary, metric of the published CSV; those with a standard deviation count in the verdict
METRICS = (("mistake_pct", "mistake_percent"), ("n_sv_sum", "n_sv"), ("seconds", "seconds"))
DECIDING = ("mistake_pct", "n_sv_sum")


@dataclass
class Compared:
    """A table's rows.

    summary: columns of reports.summary, one row per data set and learner, and of each METRICS name
    ``NAME_published``, ``NAME_published_std``, ``NAME_difference`` (in published standard deviations);
    ``run``, ``extra``, ``missing`` (how to get data that are not there), ``verdict``, ``note`` (its number)
    rows: the same, with their places in ``cells``    notes: what explains the cells that differ, from 1
    agreeing, counted: of published cells
    """

    summary: "pd.DataFrame"
    rows: list[Row]
    cells: "pd.DataFrame"
    notes: list[str] = field(default_factory=list)
    agreeing: int = 0
    counted: int = 0


def compare(paper: Paper, item: Item, work: Work, cells: "pd.DataFrame", asked: Asked) -> Compared:
    """Return the rows of a table: data sets in order, in each the runs' learners, then the yardsticks.

    cells: as of ``Outcome.cells``; asked: for labels and failed cells.
    """
    cells = cells.drop_duplicates(["key", "data"]).reset_index(drop=True)
    rows, runs = _rows(work, cells, asked)
    summary = summary_of_rows(rows, cells, asked)
    summary["run"] = [run.name for run in runs]
    summary["extra"] = [run.extra for run in runs]
    summary["missing"] = [
        work.how[row.data] if (run, row.data) in work.missing else ""
        for row, run in zip(rows, runs, strict=True)
    ]
    found = Compared(summary, rows, cells)
    published = values(paper.published) if paper.published and "published" in item.options else {}
    table = str(item.options.get("published", ""))
    _add_published(
        found,
        rows,
        runs,
        {k[1:]: v for k, v in published.items() if k[0] == table},
        item.options.get("notes", []),
    )
    return found


def _rows(work: Work, cells: "pd.DataFrame", asked: Asked) -> tuple[list[Row], list[Run]]:
    """Return the rows in order, and the run that each belongs to."""
    places: dict[tuple, list[int]] = {}
    columns = ("data", "order", "algo", "params", "pool_spec", "rep")
    memo: dict[tuple, str] = {}
    for at, (data, order, algo, params, pool, rep) in enumerate(
        zip(*(cells[name] for name in columns), strict=True)
    ):
        which = (algo, id(params), id(pool))
        if which not in memo:
            memo[which] = identity(algo, params, pool if isinstance(pool, dict) else None)
        places.setdefault((data, order, memo[which]), []).append((rep, at))
    table: dict[tuple, tuple[Row, Run]] = {}
    tasks = dict(zip(cells["data"], cells["task"].fillna("classification"), strict=True))

    def put(run: Run, data: str, order: str, setting: "Setting", reps: int, yardstick: bool) -> None:
        key = (data, order, identity(setting.algo, setting.params, setting.pool))
        mine = [at for rep, at in places.get(key, []) if rep < reps]
        pool = setting.pool["name"] if setting.pool else None
        known = table.get(key)
        if known and (yardstick or not known[0].is_yardstick) and known[0].asked >= reps:
            return
        row = Row(data, order, setting.algo, dict(setting.params), pool, yardstick, tasks.get(data), mine)
        row.label, row.asked = run.labels.get(setting.algo), reps
        table[key] = (row, run)

    for run, data in work.missing:
        for algo in [] if run.extra else _algos(run):
            row = Row(data, "", algo, {}, None, False, asked.tasks(algo)[0], [], run.labels.get(algo), 0)
            table[data, run.name, algo] = (row, run)
    for part in work.parts:
        for data in part.plan.data:
            for setting in part.plan.settings:
                put(part.run, _shown(data, cells), part.plan.order, setting, part.plan.reps, False)
    for part in work.parts:
        for data in part.plan.data:
            for setting in part.plan.yardsticks:
                if (_shown(data, cells), setting.algo) in _run_by(cells):
                    put(part.run, _shown(data, cells), part.plan.order, setting, part.plan.reps, True)
    order = {name: place for place, name in enumerate(dict.fromkeys(row.data for row, _ in table.values()))}
    listed = _data_order(work)
    found = sorted(
        table.values(),
        key=lambda pair: (
            listed.get(pair[0].data, len(listed) + order[pair[0].data]),
            pair[0].is_yardstick,
        ),
    )
    return [row for row, _ in found], [run for _, run in found]


def _run_by(cells: "pd.DataFrame") -> set[tuple[str, str]]:
    return set(zip(cells["data"], cells["algo"], strict=True))


def _algos(run: Run) -> list[str]:
    algos = run.words["algo"]
    return [algos] if isinstance(algos, str) else list(algos)


def _shown(data: str, cells: "pd.DataFrame") -> str:
    from omkl.reports.rows import data_name

    return data if (cells["data"] == data).any() else data_name(data)


def _data_order(work: Work) -> dict[str, int]:
    """Return the place of each data set: as the runs list them."""
    names: dict[str, int] = {}
    runs = dict.fromkeys([*(part.run.name for part in work.parts), *(run.name for run, _ in work.missing)])
    by_name = {part.run.name: part.run for part in work.parts} | {run.name: run for run, _ in work.missing}
    for name in runs:
        data = by_name[name].words.get("data", [])
        for entry in [data] if isinstance(data, str) else data:
            names.setdefault(entry, len(names))
    return names


def _add_published(
    found: Compared, rows: list[Row], runs: list[Run], published: dict[tuple, Value], notes: list[dict]
) -> None:
    """Add the published columns, the verdicts, and the notes that explain what differs."""
    summary, used = found.summary, []
    columns: dict[str, list[Any]] = {}
    verdicts, marks = [], []
    for place, (row, run) in enumerate(zip(rows, runs, strict=True)):
        own = {m: published.get((row.data, run.published.get(row.algo, ""), csv)) for m, csv in METRICS}
        out = []
        for name, value in own.items():
            ours = float(summary[f"{name}_mean"].iloc[place])
            known = value is not None and ours == ours
            columns.setdefault(f"{name}_published", []).append(value.mean if value else None)
            columns.setdefault(f"{name}_published_std", []).append(value.std if value else None)
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

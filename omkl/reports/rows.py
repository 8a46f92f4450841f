"""Cells to rows: which cells are repetitions of one row, how rows are ordered, what they are called."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omkl.config.settings_text import params_text
from omkl.data.files import data_name
from omkl.reports.expected import Expected
from omkl.tasks import for_task

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Row:
    """One learner with its settings on one data set: the unit over which repetitions are averaged.

    data: the printed name of the data set    task: its task    order: of the stream    pool: name or None
    cells: positions in the DataFrame, none when nothing has finished
    label: printed in place of the learner's    planned: repetitions asked for, where rows differ in that
    per_data: hyperparameters that are chosen for each data set, which make no learner of its own in a figure
    """

    data: str
    order: str
    algo: str
    params: dict[str, Any]
    pool: str | None
    is_yardstick: bool
    task: str = "classification"
    cells: list[int] = field(default_factory=list)
    label: str | None = None
    planned: int = 0
    per_data: tuple[str, ...] = ()


def identity(algo: str, params: Mapping[str, Any], pool: Mapping[str, Any] | None) -> str:
    """Return what makes two settings the same: learner, hyperparameters, and what the pool holds.

    As in the cell's key, the pool's name does not count.
    """
    kernels = {"normalise": pool["normalise"], "kernels": pool["kernels"]} if pool else None
    return json.dumps([algo, params, kernels], sort_keys=True)


def rows_of(cells: "pd.DataFrame", expected: Expected) -> list[Row]:
    """Return the rows: data sets in order, in each the learners and then the yardsticks, in order.

    Only finished cells count, each key once. What was asked for stands in the order of ``asked``, with an
    empty row where nothing has finished; cells that were not asked for come after, sorted by name. A setting
    asked for as learner and as yardstick is a learner.
    """
    known = _settings(expected)
    table: dict[tuple, Row] = {}
    for position, (group, key, cell) in enumerate(_finished(cells)):
        if key is None:
            continue
        if (group, key) not in table:
            _, is_yardstick, setting = known.get(key, (0, False, None))
            pool = setting.pool["name"] if setting and setting.pool else cell["pool"]
            row = Row(
                cell["data"], cell["order"], cell["algo"], cell["params"], pool, is_yardstick, cell["task"]
            )
            table[group, key] = row
        table[group, key].cells.append(position)
    groups = _groups(table, expected)
    for group in groups:
        task = _task(group, table, expected)
        for key, (_, is_yardstick, setting) in known.items():
            fits = setting.fits(task) and not (is_yardstick and task not in expected.tasks(setting.algo))
            if (group, key) not in table and fits:
                pool = setting.pool["name"] if setting.pool else None
                table[group, key] = Row(
                    group[0], group[2], setting.algo, dict(setting.params), pool, is_yardstick, task
                )
    _tell_apart(table, groups)
    last = len(known)

    def place(item: tuple[tuple, Row]) -> tuple:
        (group, key), row = item
        return (
            groups.index(group),
            row.is_yardstick,
            known.get(key, (last,))[0],
            row.algo,
            row.pool or "",
            key,
        )

    rows = [row for _, row in sorted(table.items(), key=place)]
    most = max((len(row.cells) for row in rows), default=0)
    for row in rows:
        row.planned = most if expected.reps is None else expected.reps
    return rows


def _settings(expected: Expected) -> dict[str, tuple[int, bool, Any]]:
    known: dict[str, tuple[int, bool, Any]] = {}
    for setting in expected.settings:
        known.setdefault(identity(setting.algo, setting.params, setting.pool), (len(known), False, setting))
    for setting in expected.yardsticks:
        known.setdefault(identity(setting.algo, setting.params, setting.pool), (len(known), True, setting))
    return known


def _finished(cells: "pd.DataFrame") -> Iterable[tuple[tuple, str | None, dict]]:
    """Yield (group, identity, named fields) of each cell; identity None for a cell that does not count."""
    names = ("key", "status", "data", "data_hash", "order", "algo", "params", "pool", "pool_spec", "task")
    columns = [cells[name].tolist() for name in names] if len(cells) else [[] for _ in names]
    seen: set[str] = set()
    memo: dict[tuple, str] = {}  # cells share their params and pool objects: dump each pair once
    for key, status, data, data_hash, order, algo, params, pool, spec, task in zip(*columns, strict=True):
        counts = status == "ok" and key not in seen
        seen.add(key)
        spec = spec if isinstance(spec, dict) else None  # pandas may hold None as NaN
        pool = pool if isinstance(pool, str) else None
        which = (algo, id(params), id(spec))
        if counts and which not in memo:
            memo[which] = identity(algo, params, spec)
        cell = {"data": data, "order": order, "algo": algo, "params": params, "pool": pool}
        cell["task"] = task if isinstance(task, str) else "classification"
        yield (data, data_hash, order), memo[which] if counts else None, cell


def _task(group: tuple, table: Mapping[tuple, Row], expected: Expected) -> str:
    """Return the task of a data set: that of its cells, where there are none the learners' first."""
    found = [row.task for (where, _), row in table.items() if where == group]
    return (
        found or [task for s in expected.settings for task in expected.tasks(s.algo)] or ["classification"]
    )[0]


def _groups(table: Mapping[tuple, Row], expected: Expected) -> list[tuple]:
    found = sorted({group for group, _ in table}, key=lambda group: tuple(map(str, group)))
    groups = []
    for spec in expected.data:
        name = spec if any(group[0] == spec for group in found) else data_name(spec)
        matching = [group for group in found if group[0] == name] or [(name, None, "")]
        groups += [group for group in matching if group not in groups]
    return groups + [group for group in found if group not in groups]


def _tell_apart(table: Mapping[tuple, Row], groups: list[tuple]) -> None:
    """Add to a data set's name what tells it from another of the same name: the order, part of its hash."""
    names = [group[0] for group in groups]
    for group in groups:
        twins = [other for other in groups if other[0] == group[0]]
        if names.count(group[0]) == 1:
            continue
        marks = []
        if len({twin[1] for twin in twins}) > 1:
            marks.append(str(group[1])[:6])
        if len({twin[2] for twin in twins}) > 1:
            marks.append(f"order={group[2]}")
        for (where, _), row in table.items():
            if where == group:
                row.data = f"{group[0]} ({', '.join(marks)})"


def shown_params(rows: list[Row], expected: Expected) -> list[dict[str, Any]]:
    """Return for each row the hyperparameters worth showing.

    Of a learner these are the ones that differ between its rows, or from its defaults; in all its rows alike.
    """
    values: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for name, value in row.params.items():
            values.setdefault((row.algo, name), set()).add(json.dumps(value, sort_keys=True))
    for algo, spec in expected.specs.items():
        for task in {row.task for row in rows if row.algo == algo}:
            for name, value in for_task(spec.defaults, task).items():
                if (algo, name) in values:
                    values[algo, name].add(json.dumps(value, sort_keys=True))
    return [{k: v for k, v in row.params.items() if len(values[row.algo, k]) > 1} for row in rows]


def line_names(rows: list[Row], expected: Expected) -> list[str]:
    """Return what each row is called in a legend: learner, what tells its settings apart, pool if several."""
    several = len({row.pool for row in rows} - {None}) > 1
    names = []
    for row, shown in zip(rows, shown_params(rows, expected), strict=True):
        if row.label:  # a label of its own says what the row is
            names.append(row.label)
            continue
        shown = {name: value for name, value in shown.items() if name not in row.per_data}
        parts = [expected.label(row.algo), params_text(shown), row.pool if several and row.pool else ""]
        names.append(", ".join(part for part in parts if part))
    return names

"""From cells to rows: which cells are repetitions of one row, the order of the rows, and their names."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import params_text
from omkl.data.files import data_name
from omkl.reports.expected import Expected
from omkl.tasks import for_task

if TYPE_CHECKING:
    import pandas as pd

_READ = ["data", "data_hash", "order", "algo", "params", "pool", "pool_spec", "task", "rounds"]


@dataclass
class Row:
    """One learner with its settings on one data set: the unit over which repetitions are averaged.

    data: the printed name of the data set    task: its task    order: of the stream    pool: name or None
    cells: positions in the DataFrame, none when nothing has finished    planned: repetitions it should have
    label: printed in place of the learner's name
    per_data: hyperparameters that are chosen for each data set, which make no learner of its own in a figure
    rounds: the part of the stream, as ``0:5000``, empty for all of it
    """

    data: str
    order: str
    learner: str
    params: dict[str, Any]
    pool: str | None
    is_yardstick: bool
    task: str = "classification"
    cells: list[int] = field(default_factory=list)
    planned: int = 0
    label: str | None = None
    per_data: tuple[str, ...] = ()
    rounds: str = ""

    @classmethod
    def of(cls, setting: Any, data: str, order: str, is_yardstick: bool, task: str, **more: Any) -> "Row":
        """Return the row of an omkl.config.Setting."""
        pool = setting.pool["name"] if setting.pool else None
        return cls(data, order, setting.learner, dict(setting.params), pool, is_yardstick, task, **more)


def identity(learner: str, params: Mapping[str, Any], pool: Mapping[str, Any] | None) -> str:
    """Return what makes two settings the same: learner, hyperparameters, and what the pool holds.

    As in the cell's key, the pool's name does not count.
    """
    kernels = {"normalise": pool["normalise"], "kernels": pool["kernels"]} if pool else None
    return json.dumps([learner, params, kernels], sort_keys=True)


def identities(cells: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """Yield the identity of each cell; cells: columns by name."""
    memo: dict[tuple, str] = {}  # cells share their params and pool objects: dump each pair once
    for learner, params, pool in zip(cells["algo"], cells["params"], cells["pool_spec"], strict=True):
        pool = pool if isinstance(pool, dict) else None  # pandas may hold None as NaN
        which = (learner, id(params), id(pool))
        if which not in memo:
            memo[which] = identity(learner, params, pool)
        yield memo[which]


def rounds_of(cells: "pd.DataFrame") -> list[str]:
    """Return the part of the stream of each cell as ``0:5000``, empty for all of it."""
    parts = cells["rounds"]
    return [":".join(map(str, part)) if isinstance(part, list | tuple) else "" for part in parts]


def alike(cells: "pd.DataFrame") -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each kind, and each row's kind: rows of one kind hold the same objects.

    Equal objects may be of different kinds. So what is read of each kind is read of few rows.
    """
    import pandas as pd

    of = np.zeros(len(cells), np.int64)
    for name in cells:
        values = cells[name].to_numpy()
        if values.dtype == object:
            values = np.fromiter(map(id, values), np.int64, len(values))
        own, known = pd.factorize(values, use_na_sentinel=False)
        of = pd.factorize(of * len(known) + own)[0] if len(known) > 1 else of
    return np.unique(of, return_index=True)[1], of


def divided(numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the places of each number below ``count``, ascending."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers, minlength=count))[:-1]) if count else []


def rows_of(cells: "pd.DataFrame", expected: Expected) -> list[Row]:
    """Return the rows: data sets in order, in each the learners and then the yardsticks, in order.

    Only finished cells count, each key once. Expected rows come in the order of ``expected``, with an empty
    row where nothing has finished; others come after, sorted by name. A setting that is expected as learner
    and as yardstick is a learner.
    """
    known: dict[str, tuple[int, bool, Any]] = {}
    for is_yardstick, settings in ((False, expected.settings), (True, expected.yardsticks)):
        for setting in settings:
            same = identity(setting.learner, setting.params, setting.pool)
            known.setdefault(same, (len(known), is_yardstick, setting))
    table: dict[tuple, Row] = {}
    places = (~cells["key"].duplicated() & (cells["status"] == "ok")).to_numpy().nonzero()[0]
    finished = cells.reindex(columns=_READ).iloc[places]
    firsts, of = alike(finished)
    kinds = finished.iloc[firsts]
    number: dict[tuple, int] = {}
    numbers = np.empty(len(firsts), int)  # of the row of each kind
    records = zip(kinds.to_dict("records"), identities(kinds), rounds_of(kinds), strict=True)
    for at, (cell, same, rounds) in enumerate(records):
        group = (cell["data"], cell["data_hash"], cell["order"], rounds)
        numbers[at] = number.setdefault((group, same), len(number))
        if (group, same) not in table:
            _, is_yardstick, setting = known.get(same, (0, False, None))
            task, pool = (part if isinstance(part, str) else None for part in (cell["task"], cell["pool"]))
            pool = setting.pool["name"] if setting and setting.pool else pool
            own = (cell["order"], cell["algo"], cell["params"], pool, is_yardstick, task or "classification")
            table[group, same] = Row(cell["data"], *own, rounds=rounds)
    for row, where in zip(table.values(), divided(numbers[of], len(number)), strict=True):
        row.cells = places[where].tolist()
    groups = _groups(table, expected)
    usual = [task for setting in expected.settings for task in expected.tasks(setting.learner)]
    for group in groups:
        # The task of a data set is that of its cells; where there are none, the learners' first.
        tasks = [row.task for (where, _), row in table.items() if where == group] or usual
        task = tasks[0] if tasks else "classification"
        for same, (_, is_yardstick, setting) in known.items():
            fits = setting.fits(task) and not (is_yardstick and task not in expected.tasks(setting.learner))
            if (group, same) not in table and fits:
                table[group, same] = Row.of(setting, group[0], group[2], is_yardstick, task)
    _distinguish(table, groups)

    def place(item: tuple[tuple, Row]) -> tuple:
        (group, same), row = item
        first = known.get(same, (len(known),))[0]
        return groups.index(group), row.is_yardstick, first, row.learner, row.pool or "", same

    rows = [row for _, row in sorted(table.items(), key=place)]
    most = max((len(row.cells) for row in rows), default=0)
    for row in rows:
        row.planned = most if expected.reps is None else expected.reps
    return rows


def _groups(table: Mapping[tuple, Row], expected: Expected) -> list[tuple]:
    """Return the (data, hash, order, rounds) of the rows, the expected data sets first."""
    present = sorted({group for group, _ in table}, key=lambda group: tuple(map(str, group)))
    groups: list[tuple] = []
    for spec in expected.data:
        name = spec if any(group[0] == spec for group in present) else data_name(spec)
        groups += [group for group in present if group[0] == name] or [(name, None, "", "")]
    return list(dict.fromkeys([*groups, *present]))


def _distinguish(table: Mapping[tuple, Row], groups: Sequence[tuple]) -> None:
    """Add to a data set's name what distinguishes it from another of the name: order, hash, rounds."""
    for (group, _), row in table.items():
        same = zip(*(g for g in groups if g[0] == group[0]), strict=True)
        _, hashes, orders, parts = (set(part) for part in same)
        marks = [str(group[1])[:6]] if len(hashes) > 1 else []
        marks += [f"order={group[2]}"] if len(orders) > 1 else []
        marks += [f"rounds={group[3]}"] if len(parts) > 1 and group[3] else []
        if marks:
            row.data = f"{group[0]} ({', '.join(marks)})"


def shown_params(rows: list[Row], expected: Expected) -> list[dict[str, Any]]:
    """Return for each row the hyperparameters that a table shows.

    Of a learner these are the ones that differ between its rows, or from its defaults; in all its rows alike.
    """
    values: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for name, value in row.params.items():
            values.setdefault((row.learner, name), set()).add(json.dumps(value, sort_keys=True))
    for learner, spec in expected.specs.items():
        for task in {row.task for row in rows if row.learner == learner}:
            for name, value in for_task(spec.defaults, task).items():
                if (learner, name) in values:
                    values[learner, name].add(json.dumps(value, sort_keys=True))
    return [{k: v for k, v in row.params.items() if len(values[row.learner, k]) > 1} for row in rows]


def line_names(rows: list[Row], expected: Expected) -> list[str]:
    """Return the name of each row in a legend: learner, hyperparameters that differ, pool if several."""
    several = len({row.pool for row in rows} - {None}) > 1
    names = []
    for row, shown in zip(rows, shown_params(rows, expected), strict=True):
        shown = {name: value for name, value in shown.items() if name not in row.per_data}
        parts = (expected.label(row.learner), params_text(shown), row.pool if several else "")
        names.append(row.label or ", ".join(filter(None, parts)))  # a label of its own says all
    return names

"""From cells to rows: what a report should hold, which cells make one row, the rows' order and names."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.parameters import SCALING, identity, params_text
from omkl.data import distinct_reps
from omkl.data.preparation import in_shell
from omkl.store.fields import with_extra
from omkl.tasks import for_task

if TYPE_CHECKING:
    import pandas as pd

Parts = list[tuple[np.ndarray, np.ndarray]]  # as of `by_count`
# rows that compete: data, hash, order, rounds, hash of what is held out
Group = tuple[str, Any, str, str, str]
_READ = ["data", "data_hash", "order", "algo", "params", "pool", "pool_spec", "task"]
_READ += ["rounds", "test", "held_out"]


@dataclass(frozen=True)
class ReportPlan:
    """The rows that a report should have, and where they come from.

    reps, seed: repetitions of each row, and the base of their seeds    order: of the stream
    settings, yardsticks: objects with ``learner``, ``params``, ``stored``, ``pool`` (omkl.config.Setting), in
    the order of the rows
    data: names or paths of the data sets, in order    specs: LearnerSpec by learner name
    failed: lines of failed cells
    stale: number of cells of older revisions in the store by (learner, revision); for another source of a
    folder's learner the revision is a text that says so
    swept: keys given several values, such as "algo.beta"    command: as typed, for captions and metadata
    about_data: what is to be known of the user's own files: which label is +1, how a table was scaled
    doubts: what is likely to be wrong in them, so a warning
    rare: the data sets one of whose two classes is rare, so that tables have the balanced error, too
    classes: the names of each data set's classes, by its name and hash, the hash None for any
    by: the measure by which rows are compared, "" for the error of their task
    store: folder of the cells, for commands in notes

    Everything may be left out: rows are then what the cells hold, in alphabetical order.
    """

    reps: int | None = None
    settings: tuple = ()
    yardsticks: tuple = ()
    data: tuple[str, ...] = ()
    specs: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[Mapping[str, Any], ...] = ()
    swept: tuple[str, ...] = ()
    stale: Mapping[tuple[str, int | str], int] = field(default_factory=dict)
    command: str = ""
    about_data: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    classes: Mapping[tuple[str, str | None], tuple[str, ...]] = field(default_factory=dict)
    by: str = ""
    store: Path | None = None
    seed: int | None = None
    order: str = ""

    @classmethod
    def of(cls, plan: Any, failed: Any = (), command: str = "", stale: Any = None) -> "ReportPlan":
        """Return what is expected of an omkl.config.Plan; failed, stale: lines and counts of its Outcome."""
        from omkl.config import learner_spec
        from omkl.config.plan_notes import rare_class

        names = dict.fromkeys(setting.learner for setting in (*plan.settings, *plan.yardsticks))
        return cls(
            reps=plan.reps,
            settings=tuple(plan.settings),
            yardsticks=tuple(plan.yardsticks),
            data=tuple(ref.name for ref in plan.data),
            specs={name: learner_spec(name) for name in names},
            failed=tuple(failed),
            swept=tuple(plan.swept),
            command=command,
            stale=stale or {},
            about_data=plan.about_data,
            doubts=plan.doubts,
            rare=tuple(ref.name for ref in plan.data if rare_class(ref)),
            classes={
                (ref.name, None if ref.is_registered else ref.content_hash): ref.classes
                for ref in plan.data
                if ref.classes
            },
            store=plan.store,
            seed=plan.seed,
            order=plan.order,
        )

    def tasks(self, learner: str) -> list[str]:
        """Return the learner's tasks, classification where no spec is known."""
        return getattr(self.specs.get(learner), "tasks", ["classification"])

    def label(self, learner: str) -> str:
        """Return the learner's printed name, its plain name where no spec is known."""
        return self.specs[learner].label if learner in self.specs else learner


@dataclass
class Row:
    """One learner with its settings on one data set: the unit over which repetitions are averaged.

    data: the printed name of the data set    task: its task    order: of the stream    pool: name or None
    cells: positions in the DataFrame, none when nothing has finished    planned: repetitions it should have
    equal: whether one repetition stands for all, since they would be equal (`omkl.data.distinct_reps`)
    label: printed in place of the learner's name
    per_data: hyperparameters that are chosen for each data set, which make no learner of its own in a figure
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
    equal: bool = False
    label: str | None = None
    per_data: tuple[str, ...] = ()

    @classmethod
    def of(cls, setting: Any, data: str, order: str, is_yardstick: bool, task: str) -> "Row":
        """Return the row of an omkl.config.Setting."""
        pool = setting.pool["name"] if setting.pool else None
        more = {"label": setting.label, "per_data": setting.per_data}
        return cls(data, order, setting.learner, dict(setting.stored), pool, is_yardstick, task, **more)


def identities(cells: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """Yield the identity of each cell; cells: columns by name."""
    memo: dict[tuple, str] = {}  # cells share their params and pool objects: dump each pair once
    for learner, params, pool in zip(cells["algo"], cells["params"], cells["pool_spec"], strict=True):
        pool = pool if isinstance(pool, dict) else None  # pandas may hold None as NaN
        which = (learner, id(params), id(pool))
        if which not in memo:
            memo[which] = identity(learner, params, pool)
        yield memo[which]


def rounds_text(part: Any, test: Any = None) -> str:
    """Return a part of the stream as ``0:5000``, empty for all of it; with what is held out, where it is."""
    rounds = ":".join(map(str, part)) if isinstance(part, list | tuple) else ""
    return " ".join(filter(None, (rounds, f"test={test}" if isinstance(test, str) else "")))


def alike(cells: "pd.DataFrame") -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each kind, and each row's kind: rows of one kind hold the same objects.

    Equal objects may be of different kinds. So what is read of each kind is read of few rows.
    """
    import pandas as pd

    group = np.zeros(len(cells), np.int64)
    for name in cells:
        values = cells[name].to_numpy()
        if values.dtype == object:  # what it holds are addresses, as `id` gives them
            values = np.frombuffer(np.ascontiguousarray(values), np.intp) if len(values) else values
        if (values != values[:1]).any():
            codes, distinct = pd.factorize(values, use_na_sentinel=False)
            group = pd.factorize(group * len(distinct) + codes)[0]
    first = np.full(group.max(initial=-1) + 1, len(group))
    first[group[::-1]] = np.arange(len(group))[::-1]  # of equal places the last one written counts
    return first, group


def divided(numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the places of each number below ``count``, ascending."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers, minlength=count))[:-1]) if count else []


def by_count(rows: Sequence[Row]) -> Parts:
    """Return the rows that have cells by their count n: the numbers (R,) of rows, the places (R, n) of cells.

    So what is made of each row's cells is made of many rows at once.
    """
    counts, group = np.unique([len(row.cells) for row in rows], return_inverse=True)
    groups = zip(counts.tolist(), divided(group, len(counts)), strict=True)
    return [
        (places, np.array([rows[at].cells for at in places.tolist()], int))
        for count, places in groups
        if count
    ]


def rows_of(cells: "pd.DataFrame", expected: ReportPlan) -> list[Row]:
    """Return the rows: data sets in order, in each the learners and then the yardsticks, in order.

    Only finished cells count, each key once. Expected rows come in the order of ``expected``, with an empty
    row where nothing has finished; others come after, sorted by name. A setting that is expected as learner
    and as yardstick is a learner.
    """
    return rows_of_parts([(cells, expected)], cells)


def rows_of_parts(frames: Sequence[tuple["pd.DataFrame", ReportPlan]], cells: "pd.DataFrame") -> list[Row]:
    """Return the rows of several reports as those of one: each row once, with all of its repetitions.

    frames: the cells of each report, and what is expected of it    cells: those of all, each once
    """
    found = [_found(frame, expected) for frame, expected in frames]
    rows, groups = found[0] if len(found) == 1 else _joined(found, frames, cells)
    _distinguish(rows, groups, cells)
    return list(rows.values())


RowsByGroup = dict[tuple[Group, str], Row]  # by group and identity of the setting, in the order of the rows


def _joined(
    found: Sequence[tuple[RowsByGroup, list[Group]]],
    frames: Sequence[tuple["pd.DataFrame", ReportPlan]],
    cells: "pd.DataFrame",
) -> tuple[RowsByGroup, list[Group]]:
    """Return the rows of several reports and their groups; the cells of other seeds are more repetitions."""
    place = {key: at for at, key in enumerate(cells["key"])}
    present = [group for _, groups in found for group in groups if group[1] is not None]
    all_rows: RowsByGroup = {}
    asked: dict[tuple[Group, str], dict[int | None, tuple[int, set[int]]]] = {}  # of each seed, and there
    for (rows, _), (frame, expected) in zip(found, frames, strict=True):
        keys = frame["key"].to_numpy()
        for (group, same), row in rows.items():
            if group[1] is None:  # nothing has finished on the data set here
                group = next((other for other in present if other[0] == group[0]), group)
            row.cells = [place[key] for key in keys[row.cells]]
            joined = all_rows.setdefault((group, same), row)
            of_seed = asked.setdefault((group, same), {})
            count, there = of_seed.get(expected.seed, (0, set()))
            of_seed[expected.seed] = max(count, row.planned), there | {*row.cells}
            if joined is not row:
                joined.is_yardstick &= row.is_yardstick
                joined.cells = list(dict.fromkeys([*joined.cells, *row.cells]))
                missing = (max(0, count - len(there)) for count, there in of_seed.values())
                joined.planned = len(joined.cells) + sum(missing)
    sets: dict[tuple, int] = {}
    ranks: dict[Group, tuple[int, int]] = {}
    for group, _ in all_rows:
        ranks.setdefault(group, (sets.setdefault(group[:2], len(sets)), len(ranks)))
    order = sorted(all_rows, key=lambda which: (ranks[which[0]], all_rows[which].is_yardstick))
    return {which: all_rows[which] for which in order}, sorted(ranks, key=lambda group: ranks[group])


Planned = tuple[int, bool, Any]  # the rank of a setting in a plan, whether it is a yardstick, and the setting


class _Settings:
    """The settings of a report by identity, of which several may be for different data sets."""

    def __init__(self, expected: ReportPlan) -> None:
        every = [(False, each_setting) for each_setting in expected.settings] + [
            (True, each_setting) for each_setting in expected.yardsticks
        ]
        self.count = len(every)
        self.by_identity: dict[str, list[Planned]] = {}
        for rank, (is_yardstick, setting) in enumerate(every):
            same = identity(setting.learner, setting.stored, setting.pool)
            self.by_identity.setdefault(same, []).append((rank, is_yardstick, setting))

    def of(self, same: str, task: str, data: str) -> Planned:
        """Return the setting of an identity for data of a task; None with the last rank where none is."""
        fitting = (entry for entry in self.by_identity.get(same, ()) if entry[2].fits(task, data))
        return next(fitting, (self.count, False, None))


def _found(cells: "pd.DataFrame", expected: ReportPlan) -> tuple[RowsByGroup, list[Group]]:
    """Return the rows of one report in order, and their groups."""
    settings = _Settings(expected)
    rows = _rows_of_cells(cells, settings)
    groups = _groups(rows, expected)
    _add_expected(rows, groups, settings, expected)
    most = max((len(row.cells) for row in rows.values()), default=0)
    asked = most if expected.reps is None else expected.reps
    for (group, _), row in rows.items():
        spec = expected.specs.get(row.learner)
        how = (spec is None or spec.draws, group[0], group[1])
        row.equal = distinct_reps(2, group[2] or expected.order, *how) == 1
        row.planned = min(asked, max(1, len(row.cells))) if row.equal else asked
    ranks = {group: rank for rank, group in enumerate(groups)}

    def place(item: tuple[tuple, Row]) -> tuple:
        (group, same), row = item
        rank = settings.of(same, row.task, group[0])[0]
        return ranks[group], row.is_yardstick, rank, row.learner, row.pool or "", same

    return dict(sorted(rows.items(), key=place)), groups


def _rows_of_cells(cells: "pd.DataFrame", settings: _Settings) -> RowsByGroup:
    """Return a row for the cells of each group and setting."""
    rows: RowsByGroup = {}
    good = (cells["status"] == "ok").to_numpy() if "status" in cells else np.ones(len(cells), bool)
    if "key" in cells:
        good = good & ~cells["key"].duplicated().to_numpy()
    places = good.nonzero()[0]
    finished = cells.reindex(columns=_READ)
    finished = finished if len(places) == len(cells) else finished.iloc[places]
    firsts, group = alike(finished)
    kinds = finished.iloc[firsts]
    number: dict[tuple, int] = {}
    numbers = np.empty(len(firsts), int)  # of the row of each kind
    fields = (
        kinds[name].tolist() for name in ("data", "data_hash", "order", "algo", "params", "pool", "task")
    )
    rounds = map(rounds_text, kinds["rounds"], kinds["test"])
    held_out = (test if isinstance(test, str) else "" for test in kinds["held_out"])
    records = zip(*fields, identities(kinds), rounds, held_out, strict=True)
    for at, (data, content, order, algo, params, pool, task, same, *part) in enumerate(records):
        which = (data, content, order, *part), same
        numbers[at] = number.setdefault(which, len(number))
        if which not in rows:
            task = task if isinstance(task, str) else "classification"
            _, is_yardstick, setting = settings.of(same, task, data)
            if setting:
                rows[which] = Row.of(setting, data, order, is_yardstick, task)
                rows[which].params = params  # which rows of the same settings share
            else:
                pool = pool if isinstance(pool, str) else None
                rows[which] = Row(data, order, algo, params, pool, False, task)
    for row, where in zip(rows.values(), divided(numbers[group], len(number)), strict=True):
        row.cells = places[where].tolist()
    return rows


def _add_expected(rows: RowsByGroup, groups: list[Group], settings: _Settings, expected: ReportPlan) -> None:
    """Add the rows of settings of which no cell has finished."""
    usual = [task for setting in expected.settings for task in expected.tasks(setting.learner)]
    tasks = {group: row.task for (group, _), row in reversed(rows.items())}  # of the first row
    for group in groups:
        # The task of a data set is that of its cells; where there are none, the learners' first.
        task = tasks.get(group, next(iter(usual), "classification"))
        for same in settings.by_identity:
            _, is_yardstick, setting = settings.of(same, task, group[0])
            if setting is None or (is_yardstick and task not in expected.tasks(setting.learner)):
                continue
            if (group, same) not in rows:
                rows[group, same] = Row.of(setting, group[0], group[2], is_yardstick, task)


def contents_apart(entries: Mapping[tuple[str, str], Any]) -> dict[tuple[str, str], str]:
    """Return what tells data sets of one name apart, by name and hash, empty for one that needs no word.

    entries: the provenance of a cell of each. It is the words of the preparation that the others of the name
    do not have, else the hash.
    """
    words_of = {
        which: shlex.split(str(entry.get("prepared", ""))) if isinstance(entry, dict) else []
        for which, entry in entries.items()
    }
    marks: dict[tuple[str, str], str] = {}
    for which, of_content in words_of.items():
        others = [words_of[other] for other in words_of if other[0] == which[0] and other != which]
        shared = {word for word in of_content if all(word in other for other in others)}
        marks[which] = " ".join(in_shell(word) for word in of_content if word not in shared)
    texts = [(name, mark) for (name, _), mark in marks.items()]
    return {
        which: str(which[1])[:6] if texts.count((which[0], mark)) > 1 else mark
        for which, mark in marks.items()
    }


def _groups(rows: RowsByGroup, expected: ReportPlan) -> list[Group]:
    """Return the groups of the rows, the expected data sets first."""
    present = sorted({group for group, _ in rows}, key=lambda group: tuple(map(str, group)))
    groups: list[Group] = []
    for name in expected.data:
        groups += [group for group in present if group[0] == name] or [(name, None, "", "", "")]
    return list(dict.fromkeys([*groups, *present]))


def _distinguish(rows: RowsByGroup, groups: Sequence[Group], cells: "pd.DataFrame") -> None:
    """Add to a data set's name what distinguishes it from another of the name.

    That is its preparation, else its hash; the order; the rounds, and what is held out.
    """
    firsts = {group[:2]: row.cells[0] for (group, _), row in [*rows.items()][::-1] if row.cells}
    names = [name for name, _ in firsts]
    several = {which: at for which, at in firsts.items() if names.count(which[0]) > 1}
    entries = with_extra(cells.iloc[[*several.values()]])["origin"].tolist() if several else []
    of_content = contents_apart(dict(zip(several, entries, strict=True)))
    marks = {group: _differences(group, groups, of_content) for group in groups}
    for (group, _), row in rows.items():
        if marks.get(group):
            row.data = f"{group[0]} ({', '.join(marks[group])})"


def _differences(
    group: Group, groups: Sequence[Group], of_content: Mapping[tuple[Any, Any], str]
) -> list[str]:
    """Return what tells a group from others of its data set's name; of_content: for names of two contents."""
    name, content, order, rounds, test = group
    same = [other for other in groups if other[0] == name]
    contents, orders, rounds_texts = ({other[at] for other in same} for at in (1, 2, 3))
    tests = {other[4] for other in same if other[3] == rounds}
    marks = [of_content.get((name, content), str(content)[:6])] if len(contents) > 1 else []
    marks += [f"order={order}"] if len(orders) > 1 else []
    if rounds and (len(rounds_texts) > 1 or len(tests) > 1):
        file = f" {test[:6]}" if len(tests) > 1 else ""  # files of one name
        marks.append(f"{rounds if rounds.startswith('test=') else f'rounds={rounds}'}{file}")
    return [*filter(None, marks)]


def shown_params(rows: list[Row], expected: ReportPlan) -> list[dict[str, Any]]:
    """Return for each row the hyperparameters that a table shows.

    Of a learner these are the ones that differ between its rows, or from its defaults; in all its rows alike.
    Rows that share their ``params`` share these too.
    """
    distinct = {(row.learner, id(row.params)): row.params for row in rows}  # rows share these
    tasks: dict[str, set[str]] = {}
    for row in rows:
        tasks.setdefault(row.learner, set()).add(row.task)
    differ = _differing([(learner, params) for (learner, _), params in distinct.items()], tasks, expected)
    several = {name for name in SCALING if len({params.get(name) for params in distinct.values()}) > 1}
    shown = {
        which: {
            name: value for name, value in params.items() if (which[0], name) in differ or name in several
        }
        for which, params in distinct.items()
    }
    return [shown[row.learner, id(row.params)] for row in rows]


def _differing(
    used: Iterable[tuple[str, Mapping[str, Any]]], tasks: Mapping[str, set[str]], expected: ReportPlan
) -> set[tuple[str, str]]:
    """Return learner and name of the hyperparameters that differ between its settings, or from its defaults.

    used: each learner's settings    tasks: of its rows
    """
    values: dict[tuple[str, str], set[str]] = {}
    for learner, params in used:
        for name, value in params.items():
            values.setdefault((learner, name), set()).add(json.dumps(value, sort_keys=True))
    for learner, name in values:
        spec = expected.specs.get(learner)
        if spec is None:
            continue
        for task in tasks[learner]:
            defaults = for_task(spec.defaults, task)
            if name in defaults:
                values[learner, name].add(json.dumps(defaults[name], sort_keys=True))
        if name not in SCALING and name not in spec.defaults:
            values[learner, name].add("")  # an object's parameters are those that differ
    return {which for which, texts in values.items() if len(texts) > 1}


def own_labels(rows: list[Row]) -> list[str]:
    """Return the label of each row where it says all of it; "" without one, and where several share it."""
    different: dict[tuple[str, str, str | None], set[tuple]] = {}
    for row in rows:
        which = (row.learner, id(row.params), row.pool)
        different.setdefault((row.data, row.order, row.label), set()).add(which)
    shared = {label for (_, _, label), settings in different.items() if len(settings) > 1}
    return ["" if row.label in shared else row.label or "" for row in rows]


def row_names(rows: list[Row], expected: ReportPlan) -> list[str]:
    """Return what the learner of each row is called: its label, or its name; both where labels are shared."""
    learners: dict[str | None, set[str]] = {}
    for row in rows:
        learners.setdefault(row.label, set()).add(row.learner)
    names = [expected.label(row.learner) for row in rows]
    return [
        name if not row.label else row.label if len(learners[row.label]) == 1 else f"{row.label} ({name})"
        for row, name in zip(rows, names, strict=True)
    ]


def line_names(rows: list[Row], expected: ReportPlan) -> list[str]:
    """Return the name of each row in a legend: learner, hyperparameters that differ, pool if several."""
    several = len({row.pool for row in rows} - {None}) > 1
    names = []
    described = zip(
        rows, shown_params(rows, expected), own_labels(rows), row_names(rows, expected), strict=True
    )
    for row, shown, label, name in described:
        shown = {name: value for name, value in shown.items() if name not in row.per_data}
        texts = (name, params_text(shown), row.pool if several else "")
        names.append(label or ", ".join(filter(None, texts)))
    return names

"""From cells to rows: what a report should hold, which cells make one row, the rows' names."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config import LearnerSpec, Plan, Setting, learner_spec, learner_specs
from omkl.config.parameters import SCALING, params_text
from omkl.config.plan_notes import held_out_notes, rare_class
from omkl.config.planned import Group, PlannedRow
from omkl.store.outcome import Outcome
from omkl.tasks import for_task
from omkl.typed import in_shell

if TYPE_CHECKING:
    import pandas as pd

Parts = list[tuple[np.ndarray, np.ndarray]]  # as of `by_count`


@dataclass(frozen=True)
class ReportPlan:
    """What a report is about.

    plans, outcome: what was to be run, and what has    command: as typed, for captions and metadata
    by: the measure by which rows are compared, "" for the error of their task
    """

    plans: tuple[Plan, ...]
    outcome: Outcome
    command: str = ""
    by: str = ""

    @property
    def settings(self) -> list[Setting]:
        """The settings of all plans, without the yardsticks."""
        return [setting for plan in self.plans for setting in plan.settings]

    @cached_property
    def specs(self) -> dict[str, LearnerSpec]:
        """The learners by name."""
        every = [setting for plan in self.plans for setting in (*plan.settings, *plan.yardsticks)]
        return learner_specs(dict.fromkeys(setting.learner for setting in every))

    def label(self, learner: str) -> str:
        """Return the learner's printed name; it may be one of rows whose data are not there."""
        return (self.specs.get(learner) or learner_spec(learner)).label

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The lines of failed cells."""
        return self.outcome.failed

    @property
    def stale(self) -> dict[tuple[str, int | str], int]:
        """The numbers of cells of older revisions, see `Outcome`."""
        return self.outcome.stale

    @property
    def store(self) -> Path:
        """The folder of the cells, for commands in notes."""
        return self.plans[0].store

    @property
    def swept(self) -> tuple[str, ...]:
        """The keys given several values, such as "algo.beta"."""
        return tuple(dict.fromkeys(key for plan in self.plans for key in plan.swept))

    @cached_property
    def about_data(self) -> tuple[str, ...]:
        """What is to be known of the data: which label is +1, how a table was scaled, what is held out."""
        notes = [note for plan in self.plans for note in (*plan.about_data, *_held_out_notes(plan))]
        return tuple(dict.fromkeys(notes))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is likely to be wrong in the user's own data, so a warning."""
        return tuple(dict.fromkeys(doubt for plan in self.plans for doubt in plan.doubts))

    @cached_property
    def rare(self) -> tuple[str, ...]:
        """The data sets one of whose two classes is rare, so that tables have the balanced error, too."""
        return tuple(ref.name for plan in self.plans for ref in plan.data if rare_class(ref))

    @cached_property
    def classes(self) -> dict[tuple[str, str | None], tuple[str, ...]]:
        """The names of each data set's classes, by its name and hash, the hash None for any."""
        return {
            (ref.name, None if ref.is_registered else ref.content_hash): ref.classes
            for plan in reversed(self.plans)
            for ref in plan.data
            if ref.classes
        }


def _held_out_notes(plan: Plan) -> list[str]:
    how = plan.rounds, plan.order, plan.seed
    return [note for ref in plan.data for note in held_out_notes(plan.test, ref, *how)]


@dataclass
class Row:
    """A setting on a data set: the unit over which repetitions are averaged.

    data: the printed name of the data set    task: its task    group: the rows that it competes with
    keys: of its repetitions    cells: places in the DataFrame of those that have finished
    planned: repetitions that it should have
    """

    data: str
    group: Group
    setting: Setting
    is_yardstick: bool
    task: str = "classification"
    keys: list[str] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    planned: int = 0

    @classmethod
    def of(cls, planned: PlannedRow) -> "Row":
        """Return a row of a plan, without its cells."""
        group, ref = planned.group, planned.ref
        about = group.data, group, planned.setting, planned.is_yardstick, ref.task
        return cls(*about, keys=list(planned.keys), planned=planned.asked)

    def find(self, place: Mapping[str, int]) -> None:
        """Find the cells that have finished; place: in the DataFrame, by key."""
        self.cells = [place[key] for key in self.keys if key in place]

    @property
    def order(self) -> str:
        """The order of the stream."""
        return self.group.order

    @property
    def learner(self) -> str:
        """The learner's name."""
        return self.setting.learner

    @property
    def params(self) -> dict[str, Any]:
        """The hyperparameters, with the scaling."""
        return self.setting.stored

    @property
    def pool(self) -> str | None:
        """The name of the pool."""
        return self.setting.pool["name"] if self.setting.pool else None

    @property
    def label(self) -> str | None:
        """What is printed in place of the learner's name."""
        return self.setting.label

    @property
    def per_data(self) -> tuple[str, ...]:
        """The hyperparameters that are chosen for each data set: no learner of its own in a figure."""
        return self.setting.per_data


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

    A setting that several plans have on a data set is one row, with all of its repetitions, unless it has
    another label; one that is a learner of one plan and a yardstick of another is a learner.
    """
    place = {key: at for at, key in reversed([*enumerate(cells["key"])])}
    rows: dict[tuple[Group, str, str | None], Row] = {}
    prepared: dict[tuple[str, str], str] = {}
    for planned in (row for of_plan in expected.outcome.planned for row in of_plan):
        group, setting = planned.group, planned.setting
        which = group, setting.identity, setting.label
        if row := rows.get(which):
            row.keys = list(dict.fromkeys([*row.keys, *planned.keys]))
            row.planned = max(row.planned, len(row.keys))
            row.is_yardstick &= planned.is_yardstick
        else:
            rows[which] = Row.of(planned)
        prepared[group[:2]] = planned.ref.prepared
    for row in rows.values():
        row.find(place)
    sets: dict[tuple, int] = {}
    ranks: dict[Group, tuple[int, int]] = {}
    for group, *_ in rows:
        ranks.setdefault(group, (sets.setdefault(group[:2], len(sets)), len(ranks)))
    _distinguish(rows.values(), ranks, prepared)
    return sorted(rows.values(), key=lambda row: (ranks[row.group], row.is_yardstick))


def contents_apart(prepared: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return what tells data sets of one name apart, by name and hash, empty for one that needs no word.

    prepared: how each was prepared, as one types it. It is the words of the preparation that the others of
    the name do not have, else the hash.
    """
    words_of = {which: shlex.split(words) for which, words in prepared.items()}
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


def _distinguish(
    rows: Iterable[Row], groups: Iterable[Group], prepared: Mapping[tuple[str, str], str]
) -> None:
    """Add to a data set's name what distinguishes it from another of the name.

    That is its preparation, else its hash; the order; the rounds, and what is held out.
    """
    names = [name for name, _ in prepared]
    several = {which: words for which, words in prepared.items() if names.count(which[0]) > 1}
    of_content, every = contents_apart(several), list(groups)
    marks = {group: _differences(group, every, of_content) for group in every}
    for row in rows:
        if marks[row.group]:
            row.data = f"{row.group.data} ({', '.join(marks[row.group])})"


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
    Rows of the same setting share them.
    """
    distinct = {(row.learner, row.setting.identity): row.params for row in rows}
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
    return [shown[row.learner, row.setting.identity] for row in rows]


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
        spec = expected.specs[learner]
        for task in tasks[learner]:
            defaults = for_task(spec.defaults, task)
            if name in defaults:
                values[learner, name].add(json.dumps(defaults[name], sort_keys=True))
        if name not in SCALING and name not in spec.defaults:
            values[learner, name].add("")  # an object's parameters are those that differ
    return {which for which, texts in values.items() if len(texts) > 1}


def own_labels(rows: list[Row]) -> list[str]:
    """Return the label of each row where it says all of it; "" without one, and where several share it."""
    different: dict[tuple[str, str, str | None], set[str]] = {}
    for row in rows:
        different.setdefault((row.data, row.order, row.label), set()).add(row.setting.identity)
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

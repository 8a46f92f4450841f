"""The part of a paper's table or figure that a command selects, and the plans that make its cells."""

import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from omkl.config import Plan, learner_specs, plan
from omkl.config.learners import kin_of
from omkl.data import DataRef, find, registered
from omkl.data.orders import has_authors
from omkl.errors import OmklError, UserError, suggest
from omkl.publications.paper import KINDS, Item, Paper, Run, as_list, with_folders
from omkl.publications.tuned import split_tuned, tuned_runs

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome

QUICK_REPS, QUICK_T, QUICK_DATA = 2, 1500, "wdbc"
YOURS = "yours"  # the run of the learners that the user adds
_WORDS = ("store", "seed", "exec", "block")  # settings that a table leaves to its user


@dataclass(frozen=True)
class Selection:
    """The part of a table, figure or paper that a command selects.

    reps: in place of the table's own, where that is larger    data: names in place of the table's own;
    NAME=PATH gives a file to a set that cannot be had    learners: shown next to the paper's
    quick: two repetitions of the small data sets (`_small`)    words: KEY=VALUE of store, seed, exec, block
    full: all repetitions, also where the table has fewer for a data set to save time
    dry: nothing is to run, so that nothing is downloaded
    """

    reps: int | None = None
    data: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    quick: bool = False
    words: tuple[str, ...] = ()
    full: bool = False
    dry: bool = False

    def __post_init__(self) -> None:
        for word in self.words:
            key = word.partition("=")[0]
            if key.partition(".")[0] not in _WORDS:
                near = suggest(key, ["data", "reps", "algo"])
                raise UserError(
                    f"{word}: the paper's conf sets this; you can set {', '.join(_WORDS)}"
                    + (near or ", and choose data=, reps= and algo=")
                )

    @property
    def names(self) -> list[str]:
        """The names of the data sets."""
        return [word.partition("=")[0] for word in self.data]

    @property
    def files(self) -> dict[str, str]:
        """The files given for data sets, by name."""
        return dict(word.split("=", 1) for word in self.data if "=" in word)

    def command(self, verb: str, name: str, *items: Item) -> str:
        """Return the command that makes this part of a table, figure or claims (``verb``) again.

        name: of the paper, or of its one item    items: all that it makes
        """
        words = ["omkl", verb, name, *with_folders(run for item in items for run in item.runs)]
        words += [f"--{option}" for option in ("quick", "full") if getattr(self, option)]
        words += [f"reps={self.reps}"] if self.reps else []
        words += [f"data={','.join(self.data)}"] if self.data else []
        words += [f"algo={','.join(self.learners)}"] if self.learners else []
        return shlex.join(words + [word for word in self.words if word.startswith("seed=")])


class PlannedRun(NamedTuple):
    """One plan of a table: a run, on the data sets that share its settings.

    number: of its rows in the outcome of all plans
    """

    run: Run
    plan: Plan
    number: int


@dataclass(frozen=True)
class PaperPlans:
    """What a table or figure needs: its parts, and the data that are not available.

    missing: (run, data set) pairs    how: why a data set is not there and how to get it, by its name
    stands_in: the paper's name of the set that a file of the user's stands in for, by the file
    pending: (run, data set, learner) that are not tuned yet
    sets_of: returns the names of the data sets of an item's runs, by the run's name
    """

    parts: tuple[PlannedRun, ...]
    missing: tuple[tuple[Run, str], ...]
    how: Mapping[str, str]
    stands_in: Mapping[str, str]
    pending: tuple[tuple[Run, str, str], ...] = ()
    sets_of: Callable[[Item], Mapping[str, list[str]]] = lambda item: {}

    def of(self, item: Item) -> "PaperPlans":
        """Return what one item needs, in the order of its runs; its rows are in the outcome of all plans."""
        sets = self.sets_of(item)
        place = {name: at for at, name in enumerate(sets)}

        def has(run: Run, *names: str) -> bool:
            return not {*names}.isdisjoint(sets.get(run.name, ()))

        parts = [
            part._replace(plan=replace(part.plan, data=data))
            for part in self.parts
            if (data := tuple(ref for ref in part.plan.data if has(part.run, ref.name, *self._words(ref))))
        ]
        return replace(
            self,
            parts=tuple(sorted(parts, key=lambda part: place[part.run.name])),
            missing=tuple(pair for pair in self.missing if has(*pair)),
            pending=tuple(entry for entry in self.pending if has(*entry[:2])),
        )

    def _words(self, ref: DataRef) -> tuple[str, str]:
        return ref.word, self.stands_in.get(ref.word, ref.word)

    @property
    def plans(self) -> list[Plan]:
        """The plans of all parts."""
        return [part.plan for part in self.parts]

    @property
    def data(self) -> list[str]:
        """The data sets of all parts in order, with those that are not available, each once."""
        names = [self.stands_in.get(ref.word, ref.word) for part in self.parts for ref in part.plan.data]
        names += [name for _, name in self.missing] + [name for _, name, _ in self.pending]
        return list(dict.fromkeys(names))

    def run(self, stored: bool = False, **how: Any) -> "Outcome":
        """Run the cells of all parts through one executor; how: jobs, fresh ... of runner.run_plans.

        stored: run nothing, take what the store holds
        """
        from omkl.runs.runner import run_plans, stored_plans

        if not self.plans and self.pending:
            run, name, learner = self.pending[0]
            raise UserError(f"{learner} on {name} is not tuned yet; `omkl tune {run.paper}` tunes it")
        if not self.plans:
            first, *others = dict.fromkeys(name for _, name in self.missing)
            names, about = ", ".join([first, *others]), f"{first}: " if others else ""
            more = "; data=NAME gives the reason for each other set" if others else ""
            raise UserError(f"{names}: the data are not available: {about}{self.how[first]}{more}")
        return stored_plans(self.plans)[0] if stored else run_plans(self.plans, **how)


def plans_of(paper: Paper, items: Iterable[Item], selection: Selection) -> PaperPlans:
    """Return the plans of these tables, figures or claims, cut to the selection.

    Raises UserError for an unknown data set or learner, and where all is of learners that are not there.
    """
    items = list(items)
    if items and all(item.lacking for item in items):
        raise UserError(f"{items[0].name}: {items[0].lacking}")
    given, groups = _given(paper, selection), _groups(paper, items, selection)
    how = _unavailable(paper, groups, given, selection)
    runs, pending = _parts(groups, given, how, selection)
    missing = [(group.run, name) for group in groups for name in group.data if name in how]
    if not runs and not missing and not pending:
        raise UserError(f"data={','.join(selection.data)}: {paper.name} has no such data")
    _warn_of_orders(name for group in groups for name in group.reordered if name not in how)
    stands_in = {path: name for name, path in given.items()}
    parts = tuple(PlannedRun(run, plan, number) for number, (run, plan) in enumerate(runs))
    sets_of = partial(_sets, paper=paper, selection=selection)
    return PaperPlans(parts, tuple(missing), how, stands_in, tuple(pending), sets_of)


class _Group(NamedTuple):
    """Data sets of a run that share its settings; reordered: those without the authors' permutations here."""

    run: Run
    values: dict[str, Any]
    data: list[str]
    reordered: list[str]


def _unavailable(
    paper: Paper, groups: list[_Group], given: Mapping[str, str], selection: Selection
) -> dict[str, str]:
    """Return why data sets of the groups are not there, by name; every mistake in the values comes first."""
    how = {name: entry.how for name, entry in paper.unavailable.items() if name not in given}
    for group in groups:
        names = [given.get(name, name) for name in group.data if name not in how]
        _plan(group.values, names or [QUICK_DATA], selection)
    for name in dict.fromkeys(name for group in groups for name in group.data):
        if name not in how and name not in given and (reason := _reason(name, selection.dry)):
            how[name] = reason
    return how


def _parts(
    groups: list[_Group], given: Mapping[str, str], how: Mapping[str, str], selection: Selection
) -> tuple[list[tuple[Run, Plan]], list[tuple[Run, str, str]]]:
    """Return the plans of the groups on the data that are there, and what is not tuned yet."""
    planned_runs: list[tuple[Run, Plan]] = []
    pending: list[tuple[Run, str, str]] = []
    for run, values, names, _ in groups:
        if data := [given.get(name, name) for name in names if name not in how]:
            plan = _plan(values, data, selection)
            plans, lacking = ([plan], []) if run.tune is None else split_tuned(run, plan)
            planned_runs += [(run, planned) for planned in plans]
            pending += [(run, name, learner) for name, learner in lacking]
    return planned_runs, pending


def _groups(paper: Paper, items: list[Item], selection: Selection) -> list[_Group]:
    """Return what the runs of these items and the user's learners run, cut to the selection."""
    chosen = list({run.name: run for item in items for run in item.runs}.values())
    of_items = [_sets(item, paper, selection) for item in items]
    groups: list[_Group] = []
    for run in [*chosen, *_yours(chosen, selection)]:
        names = [name for sets in of_items for name in sets.get(run.name, ())]
        alike: dict[str, _Group] = {}
        for name in sorted({*names}, key=[*run.data, *names].index):
            values = {**run.words, **run.per_data.get(name, {})}
            reorders = values.get("order") == "authors" and not has_authors(name)
            if reorders:
                values["order"] = "permuted"
            if selection.full and "reps" in run.words:
                values["reps"] = max(values["reps"], run.words["reps"])
            group = alike.setdefault(repr(values), _Group(run, values, [], []))
            group.data.append(name)
            group.reordered.extend([name] * reorders)
        groups += alike.values()
    return groups


def _sets(item: Item, paper: Paper, selection: Selection) -> dict[str, list[str]]:
    """Return the data sets on which an item's runs run, by the run's name.

    A set that none of them lists takes the place of theirs. A claim is only about the sets that it names, and
    about sets for its learners.
    """
    listed = list(dict.fromkeys(name for run in item.runs for name in run.data))
    small = _small(item, paper, selection.dry) if selection.quick and not selection.names else ()
    wanted = selection.names or small or listed
    others = [name for name in selection.names if name not in listed]
    if item.kind in KINDS["claims"]:
        about = as_list(item.options.get("data", ())) if selection.names else ()
        wanted = [name for name in wanted if not about or name in about]
        others = [name for name in others if name in wanted and all(_is_for(run, name) for run in item.runs)]
    sets = {run.name: [*(name for name in run.data if name in wanted), *others] for run in item.runs}
    return sets | {YOURS: [name for name in [*listed, *others] if name in wanted]}


def _is_for(run: Run, name: str) -> bool:
    """Whether a data set that a run does not list is one for its learners."""
    try:
        task = find(name, task="auto").task
    except UserError:
        return True  # a mistake that the plan names
    specs = learner_specs(as_list(run.words["algo"])).values()
    return all(task in spec.tasks or kin_of(spec.name, task) for spec in specs)


def _warn_of_orders(names: Iterable[str]) -> None:
    """Warn of data sets that run in our permutations instead of the authors'."""
    if here := list(dict.fromkeys(names)):
        warnings.warn(
            "the authors' permutations are not available (order=authors needs OMKL_DATA); ours are used for "
            f"{', '.join(here)} instead",
            stacklevel=3,
        )


def tuned_plans(paper: Paper, selection: Selection) -> dict[str, Plan]:
    """Return the plans of the runs whose learners are to be tuned, on the data that are there, by name."""
    plans = {}
    for run in tuned_runs(paper):
        names = [name for name in run.data if not selection.names or name in selection.names]
        if data := [name for name in names if not _reason(name, selection.dry)]:
            plans[run.name] = _plan(dict(run.words), data, selection)
    return plans


def _given(paper: Paper, selection: Selection) -> dict[str, str]:
    """Return the files that a selection gives for data sets that cannot be had, by name."""
    for name, path in selection.files.items():
        if name not in paper.unavailable:
            others = f", but for {' and '.join(paper.unavailable)}" if paper.unavailable else ""
            raise UserError(
                f"data={name}={path}: no file can be given for it{others}; put the set's own file into a "
                "folder of OMKL_DATA, under its name"
            )
    return selection.files


def _reason(name: str, dry: bool) -> str:
    """Return why a registered data set is not available on this machine, "" where it is."""
    try:
        ref = find(name)
    except UserError:
        return ""  # a mistake that the plan names
    if not ref.is_registered or (dry and ref.to_be_downloaded):
        return ""
    try:
        ref.load()
    except OmklError as error:
        text = re.sub(r"(?<!:)\n\s*", "; ", str(error))
        return " ".join(text.split())
    return ""


def _small(item: Item, paper: Paper, dry: bool) -> set[str]:
    """Return the small data sets of a table, figure or claim; where it has none here, the smallest it has.

    They depend on the item alone, so a claim is checked on the sets that the command ran.
    """
    names = {name for run in item.runs for name in run.data} - paper.unavailable.keys()
    sizes = {name: registered(name).T for name in names}
    small = {name for name, T in sizes.items() if T <= QUICK_T}
    if any(not _reason(name, dry) for name in sorted(small)):
        return small
    here = {name for name in names if registered(name).state != "missing"} or small or names
    least = min((sizes[name] for name in here), default=0)
    return {name for name in here if sizes[name] == least}


def _yours(runs: list[Run], selection: Selection) -> list[Run]:
    """Return a run of the selection's learners, shown next to the paper's, on all its data sets."""
    if not selection.learners:
        return []
    data = list(dict.fromkeys(name for run in runs for name in run.data))
    reps = max((int(run.words.get("reps", 0)) for run in runs), default=0)
    values: dict[str, Any] = {"algo": list(selection.learners), "data": data}
    return [Run(YOURS, values | ({"reps": reps} if reps else {}), extra=True)]


def _plan(values: dict[str, Any], data: Sequence[str], selection: Selection) -> Plan:
    """Return the plan of a run's values on these data, with no more repetitions than the selection allows."""
    limits = [selection.reps] if selection.reps is not None else []
    limits += [QUICK_REPS] if selection.quick else []
    given = [int(values["reps"])] if "reps" in values else []
    if given or (limits and values.get("order") != "file"):
        values = {**values, "reps": min(given + limits)}
    return plan(list(selection.words), sweep=True, values=values, data=data)

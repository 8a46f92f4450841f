"""Which part of a paper's table or figure is wanted, and the plans that make its cells."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omkl.config import Plan, plan
from omkl.errors import OmklError, UserError, suggest
from omkl.papers.paper import Item, Paper, Run

QUICK_REPS, QUICK_T, QUICK_DATA = 2, 1500, "wdbc"
_WORDS = ("store", "seed", "exec", "block")  # settings that a table leaves to its user


@dataclass(frozen=True)
class Selection:
    """What a command asks of a table.

    reps: in place of the table's own, where that is larger    data: names in place of the table's own;
    NAME=PATH gives a file to a set that is not there: to a registered one its own, checked against the
    content hash, to one that is not available here any file    algos: learners shown beside the paper's
    quick: two repetitions of the small data sets    words: KEY=VALUE of store, seed, exec, block
    """

    reps: int | None = None
    data: tuple[str, ...] = ()
    algos: tuple[str, ...] = ()
    quick: bool = False
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in self.words:
            key = word.partition("=")[0]
            if key.partition(".")[0] not in _WORDS:
                near = suggest(key, ["--data", "--reps", "--algo"])
                raise UserError(
                    f"{word}: the paper's conf sets this; {', '.join(_WORDS)} are yours to set"
                    + (near or ", and the options --data, --reps, --algo")
                )


@dataclass(frozen=True)
class Part:
    """One plan of a table: a run, on the data sets that share its settings."""

    run: Run
    plan: Plan


@dataclass(frozen=True)
class Work:
    """What a table or figure needs: its parts, and what is not available.

    missing: (run, data set) pairs    how: why a data set is not there and how to get it, by its name
    stands_in: the paper's name of the set that a file of the user's stands in for, by the file
    """

    parts: tuple[Part, ...]
    missing: tuple[tuple[Run, str], ...]
    how: Mapping[str, str]
    stands_in: Mapping[str, str] = field(default_factory=dict)

    @property
    def plans(self) -> list[Plan]:
        """Return the plans of all parts."""
        return [part.plan for part in self.parts]

    @property
    def data(self) -> list[str]:
        """Return the data sets of all parts in order, with those that are not available, each once."""
        found = [self.stands_in.get(name, name) for part in self.parts for name in part.plan.data]
        return list(dict.fromkeys([*found, *(name for _, name in self.missing)]))


def work_of(paper: Paper, items: Iterable[Item], selection: Selection) -> Work:
    """Return the plans of these tables, figures or claims, cut to the selection.

    Raises UserError for a data set or learner that is not there.
    """
    runs = list(dict.fromkeys(run.name for item in items for run in item.runs))
    known = {run.name: run for item in items for run in item.runs}
    chosen = [known[name] for name in runs]
    listed = {name for run in chosen for name in listed_data(run)}
    files = _files(paper, selection)
    wanted = [word.partition("=")[0] for word in selection.data] or (
        _small(chosen, paper) if selection.quick else []
    )
    how = {name: str(entry["how"]) for name, entry in paper.unavailable.items() if name not in files}
    groups: list[tuple[Run, dict, list[str]]] = []  # data sets of a run that share its settings
    for run in [*chosen, *_yours(chosen, selection)]:
        by_words: dict[str, tuple[dict, list[str]]] = {}
        for name in _data_of(run, listed, wanted):
            words = {**run.words, **run.per_data.get(name, {})}
            by_words.setdefault(repr(words), (words, []))[1].append(name)
        groups += [(run, words, names) for words, names in by_words.values()]
    for _, words, names in groups:  # every mistake in the words is told before data are looked for
        _plan(words, [files.get(name, name) for name in names if name not in how] or [QUICK_DATA], selection)
    parts, missing = [], []
    for run, words, names in groups:
        for name in names:
            if name not in how and name not in files and (reason := _reason(name)):
                how[name] = reason
        missing += [(run, name) for name in names if name in how]
        if data := [files.get(name, name) for name in names if name not in how]:
            parts.append(Part(run, _plan(words, data, selection)))
    if not parts and not missing:
        raise UserError(f"--data {','.join(selection.data)}: nothing of it can be had for {paper.name}")
    return Work(tuple(parts), tuple(missing), how, {path: name for name, path in files.items()})


def _files(paper: Paper, selection: Selection) -> dict[str, str]:
    """Return the files that stand in for sets that are not available, and use those of registered sets."""
    from omkl import data

    files = dict(word.split("=", 1) for word in selection.data if "=" in word)
    for name, path in files.items():
        if name not in paper.unavailable and not data.registry.is_name(name):
            known = [*paper.unavailable, *data.registry.names()]
            raise UserError(
                f"--data {name}={path}: a file can be given for a registered data set"
                f"{''.join(f', or for {other}' for other in paper.unavailable)}{suggest(name, known)}"
            )
        if name not in paper.unavailable:
            data.use(name, path)
    return {name: path for name, path in files.items() if name in paper.unavailable}


def _reason(name: str) -> str:
    """Return why a registered data set is not available on this machine, the empty string where it can."""
    import omkl.data

    if not omkl.data.registry.is_name(name):
        return ""  # a file, or a mistake that the plan names
    try:
        omkl.data.load(name)
    except OmklError as error:
        told = re.sub(r"(?<!:)\n\s*", "; ", str(error))
        return (
            f"{' '.join(told.split())}; or give the set's own file with --data {name}=PATH, "
            "which is checked against the set's content hash"
        )
    return ""


def listed_data(run: Run) -> list[str]:
    """Return the data sets that a run names."""
    data = run.words.get("data", [])
    return [data] if isinstance(data, str) else list(data)


def _data_of(run: Run, listed: set[str], wanted: list[str]) -> list[str]:
    """Return a run's data sets: its own among those wanted, and any wanted that no run lists."""
    data = listed_data(run)
    if not wanted:
        return data
    return [name for name in data if name in wanted] + [name for name in wanted if name not in listed]


def _small(runs: list[Run], paper: Paper) -> list[str]:
    """Return the small data sets of these runs; where they have none, one that every machine has."""
    from omkl.data import registry

    known = {name for run in runs for name in listed_data(run)} - paper.unavailable.keys()
    entries = [registry.entry(name) for name in sorted(known)]
    small = [entry.name for entry in entries if entry.T <= QUICK_T]
    usual = registry.entry(QUICK_DATA)
    if small or any(entry.task != usual.task for entry in entries):
        return small or [min(entries, key=lambda entry: entry.T).name]
    return [usual.name]


def _yours(runs: list[Run], selection: Selection) -> list[Run]:
    """Return a run of the learners asked for beside the paper's, on all its data sets."""
    if not selection.algos:
        return []
    data = dict.fromkeys(name for run in runs for name in listed_data(run))
    reps = max((int(run.words.get("reps", 0)) for run in runs), default=0)
    words: dict[str, Any] = {"algo": list(selection.algos), "data": list(data)}
    return [Run("yours", words | ({"reps": reps} if reps else {}), extra=True)]


def _plan(words: dict[str, Any], data: list[str], selection: Selection) -> Plan:
    words = {**words, "data": data}
    most = min(n for n in (selection.reps, QUICK_REPS if selection.quick else None, 10**9) if n is not None)
    if "reps" in words:
        words["reps"] = min(int(words["reps"]), most)
    elif most < 10**9 and words.get("order") != "file":
        words["reps"] = most
    return plan([*(f"{key}={_word(value)}" for key, value in words.items()), *selection.words], sweep=True)


def _word(value: Any) -> str:
    """Return a value as one types it: lists bare (``a,b``), mappings in braces."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_word, value)) if value else "[]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_word(part)}" for key, part in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def command_words(run: Run, data: list[str] | None = None) -> list[str]:
    """Return the words of the ``omkl run`` that a run stands for."""
    words = dict(run.words) | ({"data": data} if data else {})
    return [f"{key}={_word(value)}" for key, value in words.items()]

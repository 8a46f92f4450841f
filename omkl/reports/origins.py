"""Where the cells of a table come from: code, versions, machines, load; and doubts about their times."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import counted
from omkl.reports.captions import n_cells, some
from omkl.reports.rows import Parts, alike
from omkl.reports.table_cells import INFLATED
from omkl.store.fields import with_extra

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("commit", "versions", "machines", "load_max")
CROWDED = 1.5  # load per core above which times are doubtful: one worker per core alone brings 1

Entry = Mapping[str, Any]  # the provenance of a cell


class Origins:
    """The provenance of many cells: each distinct one, but for time and load, once.

    of: (n,) which entry each cell has, -1 for none    load: (n,) of the machine, NaN where it is not known
    """

    def __init__(self, cells: "pd.DataFrame") -> None:
        import pandas as pd

        cells = with_extra(cells)
        self.entries: list[Entry] = []
        memo: dict[str, int] = {}
        firsts, group = alike(cells[["origin"]])
        numbers = np.full(len(firsts), -1)
        for at, entry in enumerate(cells["origin"].to_numpy()[firsts].tolist()):  # in the order of the cells
            if isinstance(entry, dict):
                numbers[at] = memo.setdefault(_key(entry), len(memo))
                if numbers[at] == len(self.entries):
                    self.entries.append(entry)
        self.of = numbers[group]
        self.load = pd.to_numeric(cells["load"], errors="coerce").to_numpy(float)

    def columns(self, row_groups: Parts, count: int) -> dict[str, list[Any]]:
        """Return the provenance of the cells of ``count`` rows, in columns of CSV or JSON: COLUMNS."""
        which: list[tuple[int, ...]] = [()] * count
        loads: list[float | None] = [None] * count
        for rows, places in row_groups:
            numbers, most = self.of[places], np.fmax.reduce(self.load[places], axis=1)
            if (numbers == numbers[:, :1]).all():
                numbers = numbers[:, :1]
            for at, entries, load in zip(rows.tolist(), numbers.tolist(), most.tolist(), strict=True):
                which[at] = tuple(dict.fromkeys(entries))
                loads[at] = None if math.isnan(load) else load
        texts = {group: [*_texts([self.entries[at] for at in group if at >= 0])] for group in set(which)}
        texts_by_column = {
            name: [texts[group][at] for group in which] for at, name in enumerate(COLUMNS[:-1])
        }
        return texts_by_column | {COLUMNS[-1]: loads}


def origin_columns(entries: Iterable[Any]) -> dict[str, Any]:
    """Return the provenance of some cells in a row of CSV or JSON: COLUMNS."""
    there = [entry for entry in entries if isinstance(entry, dict)]
    return dict(zip(COLUMNS, (*_texts(there), max(_numbers(there, "load"), default=None)), strict=True))


def times_of(entries: Iterable[Entry]) -> list[str]:
    """Return when cells were made, to the minute, ascending; empty texts where that is not known."""
    return sorted(str(entry.get("time", ""))[:16].replace("T", " ") for entry in entries)


def span(ordered: Sequence[Any], form: str = "") -> str:
    """Return the first and the last of ordered values as ``1 to 3``, one where these are equal."""
    return " to ".join(f"{value:{form}}" for value in dict.fromkeys((*ordered[:1], *ordered[-1:])))


def made_with(cells: "pd.DataFrame") -> str:
    """Return one line: versions and commits, machines, workers, load; empty where no cell has them."""
    origins = Origins(cells)
    commits, versions, machines = _texts(origins.entries)
    texts = [", ".join(filter(None, (versions, commits))), machines]
    for word, values in (
        ("workers", _numbers(origins.entries, "jobs")),
        ("load", origins.load[~np.isnan(origins.load)]),
    ):
        if len(values):
            texts.append(f"{word} {span(sorted(values), 'g')}")
    return " · ".join(filter(None, texts))


def origin_warnings(cells: "pd.DataFrame", timed: bool = True) -> list[str]:
    """Return warnings: times of different CPUs or of crowded machines, versions mixed.

    timed: whether the table shows times
    """
    origins = Origins(cells)
    counts = np.bincount(origins.of[origins.of >= 0], minlength=len(origins.entries)).tolist()
    cpus = [entry.get("cpu") for entry in origins.entries]
    versions = [_of(entry).get("omkl") for entry in origins.entries]
    jobs = np.array([*map(_busy, origins.entries), np.nan], float)
    cores = np.array([*(next(iter(_numbers([e], "cores")), np.nan) for e in origins.entries), np.nan], float)
    mixed = _mixed(versions, counts, "cells were made by different versions of omkl")
    if not timed:
        return mixed
    return [
        *_mixed(cpus, counts, "seconds were measured on different CPUs"),
        *mixed,
        *_crowded(origins, jobs[origins.of], cores[origins.of], 1.0, "with {} on {}", "worker"),
        *_crowded(origins, origins.load, cores[origins.of], CROWDED, "while the load was {} on {}"),
    ]


def _busy(entry: Entry) -> float:
    """Return how many threads all workers have."""
    return math.prod([*_numbers([entry], "jobs"), *_numbers([entry], "threads")] or [math.nan])


def _crowded(
    origins: Origins, busy: np.ndarray, cores: np.ndarray, limit: float, text: str, noun: str = ""
) -> list[str]:
    over = np.flatnonzero((busy > limit * cores) & (cores != 0))
    if not len(over):
        return []
    worst = over[np.argmax(busy[over] / cores[over])]
    count, total = len(over), int((origins.of >= 0).sum())
    load = counted(int(busy[worst]), noun) if noun else f"{busy[worst]:g}"
    ran = text.format(load, counted(int(cores[worst]), "core"))
    return [f"{INFLATED}: {count} of {total} cells ran {ran}"]


def _mixed(values: list[Any], counts: list[int], text: str) -> list[str]:
    sums: Counter[str] = Counter()
    for value, count in zip(values, counts, strict=True):
        if value is not None:
            sums[str(value)] += count
    listed = ", ".join(f"{value} ({n_cells(count)})" for value, count in sums.most_common())
    return [f"{text}: {listed}"] if len(sums) > 1 else []


def _key(entry: Entry) -> str:
    """Return what makes two entries the same: all but time and load."""
    return repr([part for part in entry.items() if part[0] not in ("time", "load")])


def _of(entry: Entry) -> Entry:
    versions = entry.get("versions")
    return versions if isinstance(versions, dict) else {}


def _numbers(entries: Iterable[Entry], name: str) -> list[float]:
    return [entry[name] for entry in entries if isinstance(entry.get(name), (int, float))]


def _texts(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the different commits, then the versions, then the machines; of many the first few."""
    for describe in (_commit, _versions, _machine):
        yield some(list(filter(None, dict.fromkeys(map(describe, entries)))), "; ", at_most=3)


def _commit(entry: Entry) -> str:
    commit = entry.get("commit")
    return f"commit {str(commit)[:12]}{' with changes' if entry.get('dirty') else ''}" if commit else ""


def _versions(entry: Entry) -> str:
    return ", ".join(f"{name} {number}" for name, number in _of(entry).items())


def _machine(entry: Entry) -> str:
    inner = [str(entry["cpu"])] if entry.get("cpu") else []
    inner += [counted(int(cores), "core") for cores in _numbers([entry], "cores") if cores]
    name, about = str(entry.get("host") or ""), ", ".join(inner)
    return f"{name} ({about})" if name and about else name or about

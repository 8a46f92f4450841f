"""Where the cells of a table come from: code, versions, machines, load; and doubts about their times."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from omkl.reports.captions import n_cells, some

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("commit", "versions", "machines", "load_max")
CROWDED = 1.5  # load per core above which times are doubtful: one worker per core alone brings 1

Entry = Mapping[str, Any]  # the provenance of a cell


def columns(entries: Iterable[Any]) -> dict[str, Any]:
    """Return the provenance of some cells in a row of CSV or JSON: COLUMNS."""
    known = _known(entries)
    return dict(zip(COLUMNS, (*_texts(known), max(_numbers(known, "load"), default=None)), strict=True))


def made_with(cells: "pd.DataFrame") -> str:
    """Return one line: versions and commits, machines, workers, load; empty where no cell has them."""
    known = _known(cells.get("provenance", ()))
    commits, versions, machines = _texts(known)
    parts = [", ".join(filter(None, (versions, commits))), machines]
    for word, name in (("workers", "jobs"), ("load", "load")):
        if values := _numbers(known, name):
            ends = dict.fromkeys((min(values), max(values)))
            parts.append(f"{word} {' to '.join(f'{value:g}' for value in ends)}")
    return " · ".join(filter(None, parts))


def doubts(cells: "pd.DataFrame") -> list[str]:
    """Return warnings: times of different CPUs or of crowded machines, versions mixed."""
    known = _known(cells.get("provenance", ()))
    return [
        *_mixed([entry.get("cpu") for entry in known], "seconds were measured on different CPUs"),
        *_mixed([_of(entry).get("omkl") for entry in known], "cells were made by different versions of omkl"),
        *_crowded([_busy(entry) for entry in known], "jobs", 1.0, "with {:g} workers on {:g} cores"),
        *_crowded(known, "load", CROWDED, "under a load of {:g} on {:g} cores"),
    ]


def _busy(entry: Entry) -> Entry:
    """Count a worker of several threads as so many."""
    workers, threads = _numbers([entry], "jobs"), _numbers([entry], "threads")
    return {**entry, "jobs": workers[0] * threads[0]} if workers and threads else entry


def _crowded(entries: list[Entry], name: str, limit: float, text: str) -> list[str]:
    both = [(*_numbers([entry], name), *_numbers([entry], "cores")) for entry in entries]
    over = [pair for pair in both if len(pair) == 2 and all(pair) and pair[0] > limit * pair[1]]
    if not over:
        return []
    worst = max(over, key=lambda pair: pair[0] / pair[1])
    return [f"seconds may be too long: {len(over)} of {len(entries)} cells ran {text.format(*worst)}"]


def _mixed(values: list[Any], text: str) -> list[str]:
    counts = Counter(str(value) for value in values if value is not None).most_common()
    listed = ", ".join(f"{value} ({n_cells(count)})" for value, count in counts)
    return [f"{text}: {listed}"] if len(counts) > 1 else []


def _known(entries: Iterable[Any]) -> list[Entry]:
    return [entry for entry in entries if isinstance(entry, dict)]


def _of(entry: Entry) -> Entry:
    versions = entry.get("versions")
    return versions if isinstance(versions, dict) else {}


def _numbers(entries: Iterable[Entry], name: str) -> list[float]:
    return [entry[name] for entry in entries if isinstance(entry.get(name), (int, float))]


def _texts(entries: list[Entry]) -> Iterator[str]:
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
    inner += [f"{cores:g} cores" for cores in _numbers([entry], "cores") if cores]
    name, about = str(entry.get("host") or ""), ", ".join(inner)
    return f"{name} ({about})" if name and about else name or about

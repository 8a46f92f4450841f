"""Where the cells of a table come from: code, versions, machines, load; and when their times mislead."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("commit", "versions", "machines", "load_max")
CROWDED = 1.5  # load per core above which times are doubtful: one worker per core alone brings 1
_AT_MOST = 3

Entry = Mapping[str, Any]  # the provenance of a cell


def columns(entries: Iterable[Any]) -> dict[str, Any]:
    """Return what a row of CSV or JSON says about some cells' provenance: COLUMNS."""
    known = [entry for entry in entries if isinstance(entry, dict)]
    texts = {
        "commit": _all(known, _commit),
        "versions": _all(known, _versions),
        "machines": _all(known, _machine),
    }
    return texts | {"load_max": max(_numbers(known, "load"), default=None)}


def made_with(cells: "pd.DataFrame") -> str:
    """Return one line: versions and commits, machines, workers, load; empty where no cell says."""
    known = _entries(cells)
    parts = [
        ", ".join(text for text in (_all(known, _versions), _all(known, _commit)) if text),
        _all(known, _machine),
        _range("workers ", _numbers(known, "jobs")),
        _range("load ", _numbers(known, "load")),
    ]
    return " · ".join(part for part in parts if part)


def doubts(cells: "pd.DataFrame") -> list[str]:
    """Return warnings: times of different CPUs or of crowded machines, versions mixed."""
    known = _entries(cells)
    return [
        *_mixed([entry.get("cpu") for entry in known], "seconds were measured on different CPUs"),
        *_mixed([_of(entry).get("omkl") for entry in known], "cells were made by different versions of omkl"),
        *_crowded(known, "jobs", 1.0, "with {:g} workers on {:g} cores"),
        *_crowded(known, "load", CROWDED, "under a load of {:g} on {:g} cores"),
    ]


def _crowded(entries: list[Entry], name: str, limit: float, text: str) -> list[str]:
    both = [(*_numbers([entry], name), *_numbers([entry], "cores")) for entry in entries]
    over = [pair for pair in both if len(pair) == 2 and all(pair) and pair[0] > limit * pair[1]]
    if not over:
        return []
    worst = max(over, key=lambda pair: pair[0] / pair[1])
    return [f"seconds may be too long: {len(over)} of {len(entries)} cells ran {text.format(*worst)}"]


def _mixed(values: list[Any], text: str) -> list[str]:
    counts = Counter(str(value) for value in values if value is not None)
    if len(counts) < 2:
        return []
    return [f"{text}: {', '.join(f'{value} ({count} cells)' for value, count in counts.most_common())}"]


def _entries(cells: "pd.DataFrame") -> list[Entry]:
    return [entry for entry in cells.get("provenance", ()) if isinstance(entry, dict)]


def _all(entries: list[Entry], describe: Callable[[Entry], str]) -> str:
    texts = [text for text in dict.fromkeys(map(describe, entries)) if text]
    more = f" and {len(texts) - _AT_MOST} more" if len(texts) > _AT_MOST else ""
    return "; ".join(texts[:_AT_MOST]) + more


def _commit(entry: Entry) -> str:
    commit = entry.get("commit")
    return f"commit {str(commit)[:12]}{' with changes' if entry.get('dirty') else ''}" if commit else ""


def _of(entry: Entry) -> Entry:
    versions = entry.get("versions")
    return versions if isinstance(versions, dict) else {}


def _versions(entry: Entry) -> str:
    return ", ".join(f"{name} {number}" for name, number in _of(entry).items())


def _machine(entry: Entry) -> str:
    inner = [str(entry["cpu"])] if entry.get("cpu") else []
    inner += [f"{cores:g} cores" for cores in _numbers([entry], "cores") if cores]
    name = str(entry.get("host") or "")
    return f"{name} ({', '.join(inner)})" if name and inner else name or ", ".join(inner)


def _numbers(entries: Iterable[Entry], name: str) -> list[float]:
    return [entry[name] for entry in entries if isinstance(entry.get(name), (int, float))]


def _range(name: str, values: list[float]) -> str:
    ends = dict.fromkeys((min(values), max(values))) if values else ()
    return name + " to ".join(f"{value:g}" for value in ends) if ends else ""

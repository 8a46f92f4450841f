"""Where the cells of a table come from: code, versions, machines, load; and when their times mislead."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("commit", "versions", "machines", "load_max")
CROWDED = 1.5  # load per core from which on times are doubted: one worker per core alone brings 1
_AT_MOST = 3


def columns(entries: Iterable[Any]) -> dict[str, Any]:
    """Return of some cells' provenance what a row of CSV or JSON says of it: COLUMNS."""
    known = [entry for entry in entries if isinstance(entry, dict)]
    loads = [load for entry in known if (load := _number(entry, "load")) is not None]
    return {
        "commit": _all(known, _commit),
        "versions": _all(known, _versions),
        "machines": _all(known, _machine),
        "load_max": max(loads, default=None),
    }


def made_with(cells: "pd.DataFrame") -> str:
    """Return one line: versions and commits, machines, workers, load; empty where no cell says."""
    known = _entries(cells)
    parts = [
        ", ".join(text for text in (_all(known, _versions), _all(known, _commit)) if text),
        _all(known, _machine),
        _range([_number(entry, "jobs") for entry in known], "workers "),
        _range([_number(entry, "load") for entry in known], "load "),
    ]
    return " · ".join(part for part in parts if part)


def doubts(cells: "pd.DataFrame") -> list[str]:
    """Return warnings: times of different CPUs or of crowded machines, versions mixed."""
    known = _entries(cells)
    return [
        *_mixed(known, lambda entry: entry.get("cpu"), "seconds were taken on different CPUs"),
        *_mixed(known, _own_version, "cells were made by different versions of omkl"),
        *_crowded(known, "jobs", 1.0, "with {:g} workers on {:g} cores"),
        *_crowded(known, "load", CROWDED, "under a load of {:g} on {:g} cores"),
    ]


def _crowded(entries: list[dict], name: str, limit: float, text: str) -> list[str]:
    both = [(_number(entry, name), _number(entry, "cores")) for entry in entries]
    over = [(many, cores) for many, cores in both if many and cores and many > limit * cores]
    if not over:
        return []
    worst = max(over, key=lambda pair: pair[0] / pair[1])
    return [f"seconds may be too long: {len(over)} of {len(entries)} cells ran {text.format(*worst)}"]


def _mixed(entries: list[dict], value: Callable[[dict], Any], text: str) -> list[str]:
    found = Counter(str(part) for entry in entries if (part := value(entry)) is not None)
    if len(found) < 2:
        return []
    return [f"{text}: {', '.join(f'{part} ({count} cells)' for part, count in found.most_common())}"]


def _entries(cells: "pd.DataFrame") -> list[dict]:
    return [entry for entry in cells.get("provenance", ()) if isinstance(entry, dict)]


def _all(entries: list[dict], describe: Callable[[dict], str]) -> str:
    found = [text for text in dict.fromkeys(map(describe, entries)) if text]
    more = f" and {len(found) - _AT_MOST} more" if len(found) > _AT_MOST else ""
    return "; ".join(found[:_AT_MOST]) + more


def _commit(entry: dict) -> str:
    commit = entry.get("commit")
    return f"commit {str(commit)[:12]}{' with changes' if entry.get('dirty') else ''}" if commit else ""


def _versions(entry: dict) -> str:
    versions = entry.get("versions")
    found = versions if isinstance(versions, dict) else {}
    return ", ".join(f"{name} {number}" for name, number in found.items())


def _own_version(entry: dict) -> Any:
    versions = entry.get("versions")
    return versions.get("omkl") if isinstance(versions, dict) else None


def _machine(entry: dict) -> str:
    inner = [str(entry["cpu"])] if entry.get("cpu") else []
    inner += [f"{cores:g} cores"] if (cores := _number(entry, "cores")) else []
    name = str(entry.get("host") or "")
    return f"{name} ({', '.join(inner)})" if name and inner else name or ", ".join(inner)


def _number(entry: dict, name: str) -> float | None:
    value = entry.get(name)
    return value if isinstance(value, (int, float)) else None


def _range(values: list[float | None], name: str) -> str:
    known = sorted({value for value in values if value is not None})
    return name + " to ".join(f"{value:g}" for value in dict.fromkeys((known[0], known[-1]))) if known else ""

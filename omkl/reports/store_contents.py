"""What a store holds: a row per group of cells, and its cells as a flat table."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config import learner_specs
from omkl.config.parameters import identity, params_text, value_text
from omkl.config.planned import rounds_text
from omkl.errors import UserError, path_error, suggest
from omkl.files import replacing
from omkl.reports.grid import flat
from omkl.reports.origins import Origins, span
from omkl.reports.rows import alike, contents_apart, divided
from omkl.reports.table import csv_of
from omkl.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

_PLACED = ["algo", "data", "data_hash", "order", "revision", "source", "rounds", "test"]
_GROUPED = [*_PLACED, "params", "pool_spec"]
_LISTED = [*_GROUPED, "pool", "task", "seconds", "date", "origin", "load"]


def contents(
    store: Store, learners: Collection[str] = (), data: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return one row per learner, settings, pool, data set, order and revision: what the store holds of it.

    ``cells`` are finished, ``failed`` have only failed; ``seconds`` is the learner's time of all of them.
    learners, data: names to keep (all when empty). Raises UserError for a name that the store does not hold.
    """
    specs = learner_specs()
    finished = chosen_cells(store, learners, data, _LISTED)
    failed = failed_lines(store, learners, data)
    firsts, group = alike(finished[_GROUPED])
    kinds = [*finished.iloc[firsts].to_dict("records"), *failed]
    groups: dict[tuple, int] = {}
    columns = {name: [kind[name] for kind in kinds] for name in ("algo", "params", "pool_spec")}
    numbers = np.empty(len(kinds), int)  # of the group of each kind, and of each failed cell
    for at, (kind, setting) in enumerate(zip(kinds, _identities(columns), strict=True)):
        place = tuple(str(kind[name]) for name in _PLACED)
        numbers[at] = groups.setdefault((*place, setting), len(groups))
    places = divided(numbers[group], len(groups))
    seconds, dates = finished["seconds"].to_numpy(), finished["date"].to_numpy()
    origins = Origins(finished)
    first = dict(reversed([*zip(numbers.tolist(), kinds, strict=True)]))
    failures: dict[int, list[dict]] = {}
    for number, line in zip(numbers[len(firsts) :].tolist(), failed, strict=True):
        failures.setdefault(number, []).append(line)
    apart = _apart(groups, places, failures, origins)
    rows = []
    for _, number in sorted(groups.items()):
        kind, lines, broken = first[number], places[number], failures.get(number, [])
        spec = specs.get(kind["algo"])
        params = spec.unusual(kind["params"], kind["task"]) if spec else kind["params"]
        revision = spec.revision if spec else kind["revision"]
        now = "" if revision == kind["revision"] else f" (now {revision})"
        entries = [origins.entries[at] for at in set(origins.of[lines].tolist()) - {-1}]
        entries += [line["provenance"] for line in broken]
        dated = {*dates[lines].tolist(), *(str(line["provenance"].get("time", ""))[:10] for line in broken)}
        days = sorted(dated - {"", None})
        rows.append(
            {
                "algo": kind["algo"],
                "settings": params_text(params),
                "pool": kind["pool"] if isinstance(kind["pool"], str) else "",
                "data": " ".join(
                    filter(None, (kind["data"], apart.get((kind["data"], str(kind["data_hash"])))))
                ),
                "order": " ".join(filter(None, (kind["order"], rounds_text(kind["rounds"], kind["test"])))),
                "revision": f"{kind['revision']}{now}{_source(kind['source'])}",
                "cells": len(lines),
                "failed": len(broken),
                "seconds": round(sum(seconds[lines].tolist()), 3),
                "dates": span(days),
                "machines": ", ".join(sorted({str(entry.get("host", "?")) for entry in entries})),
            }
        )
    _tell_apart(rows, [first[number] for _, number in sorted(groups.items())])
    return rows


def _tell_apart(rows: list[dict[str, Any]], kinds: list[dict[str, Any]]) -> None:
    """Show all hyperparameters, and then the pool's kernels, of rows that look alike without them."""
    keys = ("algo", "settings", "pool", "data", "order", "revision")
    for part in ("params", "pool_spec", "task"):
        counts = Counter(tuple(row[key] for key in keys) for row in rows)
        for row, kind in zip(rows, kinds, strict=True):
            if counts[tuple(row[key] for key in keys)] > 1 and kind.get(part):
                text = params_text(kind[part]) if part == "params" else str(kind[part])
                key = "pool" if part == "pool_spec" else "settings"
                more = hashlib.sha256(text.encode()).hexdigest()[:6] if part == "pool_spec" else text
                row[key] = more if part == "params" else f"{row[key]} ({more})".strip()


def _identities(cells: Mapping[str, Iterable[Any]]) -> Iterator[str]:
    """Yield the identity of each cell; cells: columns by name."""
    memo: dict[tuple, str] = {}  # cells share their params and pool objects: dump each pair once
    for learner, params, pool in zip(cells["algo"], cells["params"], cells["pool_spec"], strict=True):
        pool = pool if isinstance(pool, dict) else None  # pandas may hold None as NaN
        which = (learner, id(params), id(pool))
        if which not in memo:
            memo[which] = identity(learner, params, pool)
        yield memo[which]


def _apart(
    groups: dict[tuple, int], places: list[np.ndarray], failures: dict[int, list[dict]], origins: Origins
) -> dict[tuple[str, str], str]:
    """Return what tells data sets of one name apart, in brackets, by name and hash."""
    entries: dict[tuple[str, str], Any] = {}
    for (_, data, content, *_), number in groups.items():
        provenances = [origins.entries[at] for at in origins.of[places[number][:1]].tolist() if at >= 0]
        provenances += [line["provenance"] for line in failures.get(number, [])]
        if provenances or (data, content) not in entries:
            entries[data, content] = provenances[0] if provenances else None
    names = [name for name, _ in entries]
    several = {which: entry for which, entry in entries.items() if names.count(which[0]) > 1}
    prepared = {
        which: str(entry.get("prepared", "")) if isinstance(entry, dict) else ""
        for which, entry in several.items()
    }
    return {which: f"({mark})" for which, mark in contents_apart(prepared).items() if mark}


def _source(text: str | None) -> str:
    """Return in short what a learner of the user's own was made of, empty for one of ours."""
    if not text:
        return ""
    pieces = text.split("; ")  # of an estimator: the adapter, its name, a hash or nothing, packages
    pieces = pieces[2:] if text.startswith("estimator ") else pieces
    digits = set("0123456789abcdef")
    return f" ({', '.join(part[:8] if set(part) <= digits else part for part in pieces)})"


def chosen_cells(
    store: Store, learners: Collection[str], data: Collection[str], columns: Sequence[str] | None = None
) -> "pd.DataFrame":
    """Return the cells of these learners and data sets, all when empty, with these columns, all when None.

    Raises UserError for a name that the store lacks.
    """
    wanted = _wanted(learners, data)
    cells = store.cells(columns=columns, where=wanted)
    if all(set(names) <= set(cells[column]) for column, names in wanted.items()):
        return cells
    stored = store.cells(columns=("algo", "data"))
    for column, names in wanted.items():
        stored_values = set(stored[column])
        for name in names:
            if name not in stored_values:
                has = f"it has {', '.join(sorted(stored_values))}" if stored_values else "it is empty"
                raise UserError(f"{column}={name}: the store holds none{suggest(name, stored_values)}; {has}")
        stored = stored[stored[column].isin(names)]
    return cells


def failed_lines(store: Store, learners: Collection[str], data: Collection[str]) -> list[dict[str, Any]]:
    """Return the lines of the failed cells of these learners and data sets, all when empty."""
    wanted = _wanted(learners, data).items()
    return [line for line in store.failed() if all(line[column] in names for column, names in wanted)]


def _wanted(learners: Collection[str], data: Collection[str]) -> dict[str, list[str]]:
    return {column: list(names) for column, names in (("algo", learners), ("data", data)) if names}


def flat_table(store: Store, learners: Collection[str] = (), data: Collection[str] = ()) -> "pd.DataFrame":
    """Return the finished cells with one value per column; learners and data choose as in ``contents``.

    Hyperparameters are in the columns ``algo.NAME`` (a kernel's: ``algo.kernel.NAME``), the pool's parts
    under ``pool.normalise`` and ``pool.kernels`` (JSON), where it ran under ``provenance.NAME``. Lists of
    numbers, one per kernel, stay lists. A hyperparameter that some learner lacks is empty there.
    """
    import pandas as pd

    cells = chosen_cells(store, learners, data)
    columns: dict[str, list] = {}
    for name in cells:
        values = cells[name].tolist()
        if name in ("params", "provenance"):
            rows = [dict(flat(value, "algo." if name == "params" else "provenance.")) for value in values]
            names = dict.fromkeys(key for row in rows for key in row)
            columns |= {name: [row.get(name) for row in rows] for name in names}
        elif name == "pool_spec":
            specs = [value if isinstance(value, dict) else {} for value in values]
            columns["pool.normalise"] = [spec.get("normalise") for spec in specs]
            columns["pool.kernels"] = [json.dumps(spec["kernels"]) if spec else None for spec in specs]
        else:
            columns[name] = values
    return pd.DataFrame({name: _one_kind(values) for name, values in columns.items()})


def _one_kind(values: list) -> list:
    """Return values of which some are numbers and some are not as text, so that a column has one type."""
    kinds = {bool if isinstance(v, bool) else float if isinstance(v, int) else type(v) for v in values}
    kinds.discard(type(None))
    if len(kinds) > 1:
        return [None if value is None else value_text(value) for value in values]
    numbers = [number for some in values for number in some or ()] if kinds == {list} else []
    if any(isinstance(n, float) for n in numbers) and all(isinstance(n, (int, float)) for n in numbers):
        return [list(map(float, v)) if v else v for v in values]
    return values


def export(cells: "pd.DataFrame", out: str | Path) -> Path:
    """Write a table as CSV and return the path. Raises UserError for another kind of file."""
    path = Path(out)
    if path.suffix != ".csv":
        raise UserError(f"--out {out}: the file's name must end in .csv; pandas writes other formats")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        with replacing(path) as file:
            file.write(as_csv(cells).encode())
    except OSError as error:
        raise path_error(f"write {path}", error) from error
    return path


def as_csv(cells: "pd.DataFrame") -> str:
    """Return a table as CSV; lists are written as JSON."""
    lists = [name for name in cells if any(isinstance(value, list) for value in cells[name])]
    text = {name: [json.dumps(v) if isinstance(v, list) else None for v in cells[name]] for name in lists}
    return csv_of(cells.assign(**text))

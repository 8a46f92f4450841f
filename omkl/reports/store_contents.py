"""What a store holds: a row per group of cells, and its cells as a flat table."""

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, suggest
from omkl.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


def contents(
    store: Store, learners: Collection[str] = (), data: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return one row per learner, settings, pool, data set, order and revision: what the store holds of it.

    ``cells`` are finished, ``failed`` have only failed; ``seconds`` is the learner's time of all of them.
    learners, data: names to keep (all when empty). Raises UserError for a name that the store does not hold.
    """
    from omkl.config import learner_specs
    from omkl.config.settings_text import params_text
    from omkl.reports.rows import identities

    specs = learner_specs()
    lines = chosen(store.cells(), learners, data).to_dict("records")
    wanted = [(name, set(names)) for name, names in (("algo", learners), ("data", data)) if names]
    lines += [line for line in store.failed() if all(line[name] in names for name, names in wanted)]
    columns = {name: [line[name] for line in lines] for name in ("algo", "params", "pool_spec")}
    groups: dict[tuple, list[dict]] = {}
    for cell, setting in zip(lines, identities(columns), strict=True):
        place = (
            cell["algo"],
            cell["data"],
            cell["data_hash"],
            cell["order"],
            cell["revision"],
            cell["source"],
            cell["rounds"],
        )
        groups.setdefault((*map(str, place), setting), []).append(cell)
    rows = []
    for _, cells in sorted(groups.items()):
        first, spec = cells[0], specs.get(cells[0]["algo"])
        params = spec.unusual(first["params"], first["task"]) if spec else first["params"]
        now = "" if spec is None or spec.revision == first["revision"] else f" (now {spec.revision})"
        finished = [cell["seconds"] for cell in cells if cell["status"] == "ok"]
        origins = [cell["provenance"] for cell in cells]
        dates = sorted({str(origin.get("time", ""))[:10] for origin in origins} - {""})
        rows.append(
            {
                "algo": first["algo"],
                "settings": params_text(params),
                "pool": first["pool"] if isinstance(first["pool"], str) else "",
                "data": first["data"],
                "order": " ".join([first["order"], *_rounds(first["rounds"])]),
                "revision": f"{first['revision']}{now}{_source(first['source'])}",
                "cells": len(finished),
                "failed": len(cells) - len(finished),
                "seconds": round(sum(finished), 3),
                "dates": " to ".join(dict.fromkeys((*dates[:1], *dates[-1:]))),
                "machines": ", ".join(sorted({str(origin.get("host", "?")) for origin in origins})),
            }
        )
    return rows


def _rounds(part: Any) -> list[str]:
    """Return the rounds of a cell that is a part of the stream, as ``0:5000``."""
    return [":".join(map(str, part))] if isinstance(part, list) else []


def _source(text: str | None) -> str:
    """Return in short what a learner of the user's own was made of, empty for one of ours."""
    if not text:
        return ""
    parts = text.split("; ")  # of an estimator: the adapter, its name, a hash or nothing, packages
    parts = parts[2:] if text.startswith("estimator ") else parts
    digits = set("0123456789abcdef")
    return f" ({', '.join(part[:8] if set(part) <= digits else part for part in parts)})"


def chosen(cells: "pd.DataFrame", learners: Collection[str], data: Collection[str]) -> "pd.DataFrame":
    """Return the cells of these learners and data sets, all when empty. Raises UserError for one it lacks."""
    for column, names in (("algo", list(learners)), ("data", list(data))):
        held = set(cells[column])
        for name in names:
            if name not in held:
                has = f"it has {', '.join(sorted(held))}" if held else "it is empty"
                raise UserError(f"{column}={name}: the store holds none{suggest(name, held)}; {has}")
        cells = cells[cells[column].isin(names)] if names else cells
    return cells


def flat_table(store: Store, learners: Collection[str] = (), data: Collection[str] = ()) -> "pd.DataFrame":
    """Return the finished cells with one value per column; learners and data choose as in ``contents``.

    Hyperparameters are in the columns ``algo.NAME`` (a kernel's: ``algo.kernel.NAME``), the pool's parts
    under ``pool.normalise`` and ``pool.kernels`` (JSON), where it ran under ``provenance.NAME``. Lists of
    numbers, one per kernel, stay lists. A hyperparameter that some learner lacks is empty there.
    """
    import pandas as pd

    from omkl.reports.grid import flat

    cells = chosen(store.cells(), learners, data)
    table: dict[str, list] = {}
    for name in cells:
        values = cells[name].tolist()
        if name in ("params", "provenance"):
            rows = [dict(flat(value, "algo." if name == "params" else "provenance.")) for value in values]
            names = dict.fromkeys(key for row in rows for key in row)
            table |= {name: [row.get(name) for row in rows] for name in names}
        elif name == "pool_spec":
            specs = [value if isinstance(value, dict) else {} for value in values]
            table["pool.normalise"] = [spec.get("normalise") for spec in specs]
            table["pool.kernels"] = [json.dumps(spec["kernels"]) if spec else None for spec in specs]
        else:
            table[name] = values
    return pd.DataFrame({name: _one_kind(values) for name, values in table.items()})


def _one_kind(values: list) -> list:
    """Return values of which some are numbers and some are not as text, so that a column has one type."""
    from omkl.config.settings_text import value_text

    kinds = {bool if isinstance(v, bool) else float if isinstance(v, int) else type(v) for v in values}
    kinds.discard(type(None))
    if len(kinds) > 1:
        return [None if value is None else value_text(value) for value in values]
    numbers = [number for some in values for number in some or ()] if kinds == {list} else []
    if any(isinstance(n, float) for n in numbers) and all(isinstance(n, (int, float)) for n in numbers):
        return [list(map(float, v)) if v else v for v in values]
    return values

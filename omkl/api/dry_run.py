"""What a command would do, as a table: its cells, those that are in the store, and how long these took."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from omkl.config import Plan
from omkl.config.parameters import params_text
from omkl.errors import UserError, counted
from omkl.reports.table import Table
from omkl.runs.cells import Expanded, SizeUnknown, check_data, data_names, expanded
from omkl.runs.runner import by_key
from omkl.store.store import Store


def dry_run(plans: Sequence[Plan], fresh: bool = False) -> tuple[Table, list[dict[str, Any]], list[str]]:
    """Return what `run_plans` would do with these plans; nothing runs and nothing is written.

    The table, its rows as plain data, and remarks: what would be downloaded, and which budgets are not known
    yet. Raises UserError for no plans, and as `expanded`, `check_data` and the store do.
    """
    if not plans:
        raise UserError(
            "--dry-run: nothing would run, because no data are available, or the table needs no runs"
        )
    assumed: list[str] = []
    rows = [row for plan in plans for row in _rows(plan, assumed)]
    cells = by_key([cell for row in rows for cell in row.cells])
    with Store(plans[0].store) as store:
        stored = store.cells(set(cells), ("key", "seconds"))
    seconds = dict(zip(stored["key"], stored["seconds"], strict=True))
    done = set() if fresh else seconds.keys()
    check_data([cell for key, cell in cells.items() if key not in done and not cell.data.to_be_downloaded])
    names, seen = data_names(cells.values()), set[str]()
    records: list[dict[str, Any]] = []
    for row, _ in rows:
        keys = [key for key in row.keys if key not in seen]
        seen |= {*row.keys}
        count = len(keys) if row.keys else row.asked
        if not count:  # its cells are those of an earlier row
            continue
        setting, left = row.setting, count - sum(key in done for key in keys)
        shown = params_text(setting.spec.unusual(setting.stored, row.ref.task))
        pool = f" pool={setting.pool['name']}" if setting.pool else ""
        took = [seconds[key] for key in row.keys if key in seconds]
        records.append(
            {
                "data": names.get(row.group.content, row.group.data),
                "algo": setting.learner,
                "settings": f"{shown}{pool}".strip(),
                "cells": count,
                "done": count - left,
                "to run": left,
                "seconds each": fmean(took) if took else None,
            }
        )
    texts = [row | {"seconds each": _short(row["seconds each"])} for row in records]
    whole, missing = (sum(row[name] for row in records) for name in ("cells", "to run"))
    found = f"{counted(whole, 'cell')}: {whole - missing} in the store, {missing} to run"
    table = Table.of(records, texts, least=("settings",), findings=[found])
    return table, records, _remarks(plans, assumed)


def _short(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3g}"


def _rows(plan: Plan, assumed: list[str]) -> Iterator[Expanded]:
    """Yield the rows of a plan; those of a learner whose size is not known yet come first."""
    try:
        yield from expanded(plan)
    except SizeUnknown as unknown:
        assumed += [setting.learner for setting in unknown.plan.settings]
        yield from expanded(unknown.plan)
        yield from expanded(plan, budgets={})


def _remarks(plans: Sequence[Plan], assumed: list[str]) -> list[str]:
    names = dict.fromkeys(ref.name for plan in plans for ref in plan.data if ref.to_be_downloaded)
    downloads = [f"to be downloaded first: {', '.join(names)}"]
    return downloads[: len(names)] + [
        f"a budget matches the size of {learner}, which is not known yet: some of its cells may be done"
        for learner in dict.fromkeys(assumed)
    ]

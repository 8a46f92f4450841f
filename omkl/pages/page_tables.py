"""Tables of a page on its data sets, and on where the cells come from."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.data import DataRef, registry
from omkl.reports import origins
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd


def data_sets(cells: "pd.DataFrame", plans: Iterable[Plan] = ()) -> Table:
    """Return the properties of the cells' data sets; plans: for what is known of the user's own files."""
    of_user = {ref.content_hash: ref for plan in plans for ref in plan.data if not ref.is_registered}
    rows = []
    for (name, content), part in cells.groupby(["data", "data_hash"], sort=False):
        row = {"data": name, "task": part["task"].iloc[0], "T": str(int(part["T"].iloc[0]))}
        row |= {"d": "", "non-zero %": "", "classes": "", "positive %": "", "what it is": ""}
        if entry := registry.entry_of(name, content):
            row |= _shape(entry, row["task"], entry.positive_share) | {"what it is": entry.title}
        elif ref := of_user.get(content):
            two = row["task"] == "classification" and ref.n_classes == 2
            share = ref.load().positive_share if two else None
            row |= _shape(ref, row["task"], share) | {"what it is": f"your file {ref}"}
        rows.append(row)
    terms = [("T", "examples"), ("d", "features"), ("non-zero %", "entries that are not 0, in percent")]
    terms += [("positive %", "examples of the class +1, in percent")]
    return _aligned(Table.of(rows, terms=terms))


def _shape(data: registry.DataEntry | DataRef, task: str, positive: float | None) -> dict[str, str]:
    """Return the number of features and of classes, and the shares of entries that are not 0 and of +1."""
    classes = str(data.n_classes) if task == "classification" else ""
    dense = "" if data.nnz is None else f"{100 * data.nnz / max(data.T * data.d, 1):.3g}"
    share = "" if positive is None else f"{100 * positive:.1f}"
    return {"d": str(data.d), "non-zero %": dense, "classes": classes, "positive %": share}


def provenance(cells: "pd.DataFrame") -> Table:
    """Return where the cells come from: a row per code, machine and workers, with its dates and loads."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for entry in cells["provenance"]:
        origin = origins.origin_columns([entry])
        workers = f"{entry.get('backend') or 'unknown'}, {entry.get('jobs') or '?'}"
        code = ", ".join(filter(None, (origin["versions"], origin["commit"])))
        groups.setdefault((code, origin["machines"], workers), []).append(entry)
    rows = []
    for (code, machine, workers), entries in groups.items():
        times = origins.times_of(entries)
        loads = sorted(entry["load"] for entry in entries if isinstance(entry.get("load"), (int, float)))
        row = {"cells": str(len(entries)), "code": code, "machine": machine, "workers": workers}
        rows.append(row | {"load": origins.span(loads, "g"), "from (UTC)": times[0], "to (UTC)": times[-1]})
    terms = [("load", "of the machine over one minute, when each cell ended: least and most")]
    return _aligned(Table.of(rows, terms=terms))


def _aligned(table: Table) -> Table:
    """Return a table with the columns of numbers at the right."""
    cells = table.rows[0].cells if table.rows else []
    columns = [
        replace(column, align="right" if _is_number(cell) else "left")
        for column, cell in zip(table.columns, cells, strict=False)
    ]
    return replace(table, columns=columns or table.columns)


def _is_number(text: Any) -> bool:
    return str(text).replace(".", "", 1).isdecimal()

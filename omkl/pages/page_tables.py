"""Tables of a page: what opens below each row, the data sets, and where the cells come from."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.config import Plan, learner_names, learner_spec, pool, pool_names
from omkl.config.parameters import SCALING, kernels_text, params_text, word_text
from omkl.data import DataRef, registry
from omkl.errors import counted
from omkl.reports import captions
from omkl.reports.captions import some
from omkl.reports.results_table import NO_TEST
from omkl.reports.rows import Row
from omkl.reports.table import COMMAND, Records, Table
from omkl.reports.table_cells import Column

if TYPE_CHECKING:
    import pandas as pd

About = Sequence[tuple[str, str]]  # (name, text) pairs; a command has the name COMMAND


def with_details(
    table: Table, name: str, rows: Sequence[Row], cells: "pd.DataFrame", names: Mapping[str, str]
) -> Table:
    """Return a table of results with what opens below each row; rows: those of its summary.

    name: of the table's file    names: paths of the user's files by data set. Beside a learner's label is the
    name that one types. Why rows have no mark is said below the table, and which rows have no cell yet; the
    other terms open; its warnings are the page's.
    """
    at = next((at + 1 for at, column in enumerate(table.columns) if column.name == "learner"), None)
    detailed, missing = [], []
    for row, table_row in zip(rows, table.rows, strict=True):
        named = dict(zip((column.name for column in table.columns), map(str, table_row.cells), strict=True))
        if not row.cells:
            missing.append(f"{named.get('learner', row.learner)} on {row.data}")
            continue
        if at is not None:
            table_row = replace(table_row, cells=[*table_row.cells[:at], row.learner, *table_row.cells[at:]])
        note = table.notes[table_row.refs[0] - 1] if table_row.refs else ""
        detailed.append(replace(table_row, about=about(row, cells, names, note)))
    terms = [(term, text) for term, text in table.terms if term != NO_TEST]
    findings = [f"{term.capitalize()}: {text}." for term, text in table.terms if term == NO_TEST]
    if missing:
        findings.append(f"{counted(len(missing), 'row')} without a finished cell: {some(missing)}.")
    columns = table.columns
    if at is not None:
        columns = [*columns[:at], Column("typed", "name", "left"), *columns[at:]]
        terms = [*terms, ("name", "of the learner, as algo= takes it")]
    findings = [*findings, *table.findings]
    return replace(table, name=name, columns=columns, rows=detailed, terms=terms, findings=findings)


def plain_table(name: str, records: Records, abouts: Sequence[About] = (), **more: Any) -> Table:
    """Return records as a table with what opens below rows; numbers are at the right. more: of Table.of."""
    table = Table.of(records, name=name, **more)
    sides: list[Any] = (
        ["right" if _is_number(cell) else "left" for cell in table.rows[0].cells] if table.rows else []
    )
    columns = [replace(column, align=side) for column, side in zip(table.columns, sides, strict=True)]
    rows = [
        replace(row, about=details)
        for row, details in zip(table.rows, abouts or [()] * len(records), strict=True)
    ]
    return replace(table, columns=columns, rows=rows)


def _is_number(text: Any) -> bool:
    return str(text).replace(".", "", 1).isdecimal()


# -------------------------------------------------------------------- below a row


def about(row: Row, cells: "pd.DataFrame", names: Mapping[str, str], note: str = "") -> list[tuple[str, str]]:
    """Return what is to be known of a row; cells: those that it has its places in.

    names: paths of the user's own files by the names of their data sets    note: the verdict's explanation
    """
    of_row = cells.iloc[row.cells]
    first = of_row.iloc[0].to_dict() if len(of_row) else {}
    data = str(first.get("data", row.data))
    facts = [("note", note)] if note else []
    facts += [(COMMAND, row_command(row, first, names.get(data, data)))]
    facts += [("learner", f"{row.learner}, revision {first['revision']}" if first else row.learner)]
    if row.params:
        facts.append(("hyperparameters", params_text(row.params)))
    if isinstance(first.get("pool_spec"), dict):
        spec = first["pool_spec"]
        kernels = f"{kernels_text(spec['kernels'])}; normalise={spec['normalise']}"
        facts.append(("kernels", f"{row.pool}: {kernels}"))
    if not first:
        return facts
    facts.append(("data", f"{data}, {first['T']:.0f} examples, sha256 {first['data_hash']}"))
    when = captions.span(captions.times_of(of_row["provenance"]))
    origin = captions.origin_columns(of_row["provenance"])
    load = f"load at most {origin['load_max']:g}" if origin["load_max"] is not None else ""
    origins = filter(None, (origin["versions"], origin["commit"], origin["machines"], load))
    return [*facts, ("made with", " · ".join(origins)), ("made at", f"{when} UTC" if when else "unknown")]


def row_command(row: Row, first: Mapping[str, Any], data: str) -> str:
    """Return the ``omkl run`` that makes a row's cells; first: one of them, empty where there is none."""
    words = [word_text("algo", row.learner), f"data={data}"]
    if isinstance(spec := first.get("pool_spec"), dict):
        words += _pool(str(row.pool), spec)
    elif row.pool in pool_names():
        words.append(f"pool={row.pool}")
    words += [f"order={row.order}"] if row.order else []
    words += [f"reps={row.planned}", f"seed={first['seed']}"] if first else []
    words += [
        word_text(key if key in SCALING else f"algo.{key}", value) for key, value in _unusual(row).items()
    ]
    words += ["yardsticks=[]", *_prepared(first)]
    return f"omkl run {shlex.join(words)}"


def _unusual(row: Row) -> dict[str, Any]:
    if row.learner not in learner_names():  # a learner of an old store may be gone
        return row.params
    return learner_spec(row.learner).unusual(row.params, row.task)


def _pool(name: str, spec: Mapping[str, Any]) -> list[str]:
    """Return the words of a pool: its name if it still holds these kernels, else the kernels."""
    if name in pool_names():
        pool_here = pool(name)
        if all(pool_here[key] == spec[key] for key in ("normalise", "kernels")):
            return [f"pool={name}"]
    kernels = word_text("", spec["kernels"])[1:]
    return [f"pool.kernels=[{kernels}]", f"pool.normalise={spec['normalise']}"]


def _prepared(first: Mapping[str, Any]) -> list[str]:
    """Return the words for a file of the user's: its task, and how its table was prepared."""
    if not first or registry.entry_of(str(first["data"]), str(first["data_hash"])):
        return []
    provenance = first.get("provenance")
    text = provenance.get("prepared", "") if isinstance(provenance, dict) else ""
    task = [f"task={first['task']}"] if first["task"] != "classification" else []
    return [*task, *shlex.split(text)]


# -------------------------------------------------------------------- data sets, origin


def data_sets(cells: "pd.DataFrame", plans: Iterable[Plan] = ()) -> Table:
    """Return the properties of the cells' data sets; plans: for what is known of the user's own files."""
    of_user = {ref.content_hash: ref for plan in plans for ref in plan.data if not ref.is_registered}
    rows, abouts = [], []
    for (name, content), part in cells.groupby(["data", "data_hash"], sort=False):
        row = {"data": name, "task": part["task"].iloc[0], "T": str(int(part["T"].iloc[0]))}
        row |= {"d": "", "non-zero %": "", "classes": "", "positive %": "", "what it is": ""}
        facts: list[tuple[str, str]] = []
        if entry := registry.entry_of(name, content):
            row |= _shape(entry, row["task"], entry.positive_share) | {"what it is": entry.title}
            facts = [("what it is", entry.description), ("source", entry.source), ("licence", entry.licence)]
            facts += [("note", note) for note in entry.remarks]
        elif ref := of_user.get(content):
            two = row["task"] == "classification" and ref.n_classes == 2
            share = ref.load().positive_share if two else None
            row |= _shape(ref, row["task"], share) | {"what it is": f"your file {ref}"}
            facts = [("note", note) for note in ref.notes]
        rows.append(row)
        abouts.append([*facts, ("sha256 of the parsed numbers", str(content))])
    terms = [("T", "examples"), ("d", "features"), ("non-zero %", "entries that are not 0, in percent")]
    terms += [("positive %", "examples of the class +1, in percent")]
    return plain_table("data-sets", rows, abouts, terms=terms)


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
        origin = captions.origin_columns([entry])
        workers = f"{entry.get('backend') or 'unknown'}, {entry.get('jobs') or '?'}"
        code = ", ".join(filter(None, (origin["versions"], origin["commit"])))
        groups.setdefault((code, origin["machines"], workers), []).append(entry)
    rows = []
    for (code, machine, workers), entries in groups.items():
        times = captions.times_of(entries)
        loads = sorted(entry["load"] for entry in entries if isinstance(entry.get("load"), (int, float)))
        row = {"cells": str(len(entries)), "code": code, "machine": machine, "workers": workers}
        rows.append(row | {"load": captions.span(loads, "g"), "from (UTC)": times[0], "to (UTC)": times[-1]})
    terms = [("load", "of the machine over one minute, when each cell ended: least and most")]
    return plain_table("made-with", rows, terms=terms)

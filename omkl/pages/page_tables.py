"""Tables of a page: those of reports and papers, with what opens below each row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.data import DataRef, registry
from omkl.pages.content import About, Line, Table
from omkl.pages.row_details import about
from omkl.reports import origin, plain_table
from omkl.reports.display import Column, Display
from omkl.reports.notes import NO_TEST
from omkl.reports.rows import Row

if TYPE_CHECKING:
    import pandas as pd


def results(
    table: Table,
    summary: "pd.DataFrame",
    laid_out: Display,
    rows: Sequence[Row],
    cells: "pd.DataFrame",
    names: Mapping[str, str],
) -> Table:
    """Return a table without columns and lines with those of results; rows: those of the summary.

    names: paths of the user's files by data set. The numbers of the table's notes are in the summary's column
    ``note``. Why rows have no mark is said below the table, the other terms open.
    """
    numbers = summary["note"].tolist() if "note" in summary else [None] * len(summary)
    columns, lines = laid_out.columns, []
    for row, line, number in zip(rows, laid_out.lines, numbers, strict=True):
        refs = [int(number)] if number and number == number else []
        texts = (row.data, *line.cells[1:]) if columns[0].name == "data" else line.cells
        if refs:  # printed as a link
            texts = tuple(t.removesuffix(f" [{refs[0]}]") if isinstance(t, str) else t for t in texts)
        own = about(row, cells, names, table.notes[refs[0] - 1] if refs else "")
        lines.append(Line(texts, own, refs, row.data, line.marked, line.complete, line.is_yardstick))
    terms = [(term, text) for term, text in table.terms if term != NO_TEST]
    below = [f"{term.capitalize()}: {text}." for term, text in table.terms if term == NO_TEST]
    return replace(table, columns=columns, lines=lines, terms=terms, below=[*below, *table.below])


def laid(name: str, laid_out: Display, csv: str, **more: Any) -> Table:
    """Return a laid-out table whose first column is the data set, named once; more: of Table."""
    lines, data = [], ""
    for line in laid_out.lines:
        data = str(line.cells[0] or data)
        lines.append(Line((data, *line.cells[1:]), group=data, marked=line.marked))
    return Table(name, laid_out.columns, lines, csv, **more)


def plain(
    name: str, rows: list[dict[str, Any]], csv: str, abouts: Sequence[About] = (), **more: Any
) -> Table:
    """Return rows of plain values as a table; numbers are at the right. more: of Table."""
    first = rows[0] if rows else {}
    columns = [Column(key, key, "right" if _is_number(first[key]) else "left") for key in first]
    opened = zip(rows, abouts or [()] * len(rows), strict=True)
    lines = [Line([str(value) for value in row.values()], own) for row, own in opened]
    return Table(name, columns, lines, csv, **more)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (
        isinstance(value, str) and value.replace(".", "", 1).isdecimal()
    )


# -------------------------------------------------------------------- data sets, origin


def data_sets(cells: "pd.DataFrame", plans: Iterable[Plan] = ()) -> Table:
    """Return the properties of the cells' data sets; plans: for what is known of the user's own files."""
    own = {ref.content_hash: ref for plan in plans for ref in plan.data if not ref.is_registered}
    rows, abouts = [], []
    for (name, content), part in cells.groupby(["data", "data_hash"], sort=False):
        row = {"data": name, "task": part["task"].iloc[0], "T": str(int(part["T"].iloc[0]))}
        row |= {"d": "", "non-zero %": "", "classes": "", "positive %": "", "what it is": ""}
        known: list[tuple[str, str]] = []
        if entry := registry.entry_of(name, content):
            row |= _shape(entry, row["task"], entry.positive_share) | {"what it is": entry.title}
            known = [("what it is", entry.description), ("source", entry.source), ("licence", entry.licence)]
            known += [("note", note) for note in entry.remarks]
        elif ref := own.get(content):
            two = row["task"] == "classification" and ref.n_classes == 2
            share = ref.load().positive_share if two else None
            row |= _shape(ref, row["task"], share) | {"what it is": f"your file {ref}"}
            known = [("note", note) for note in ref.notes]
        rows.append(row)
        abouts.append([*known, ("sha256 of the parsed numbers", str(content))])
    terms = [("T", "examples"), ("d", "features"), ("non-zero %", "entries that are not 0, in percent")]
    terms += [("positive %", "examples of the class +1, in percent")]
    return plain("data-sets", rows, plain_table.render(rows, "csv"), abouts, terms=terms)


def _shape(data: registry.DataEntry | DataRef, task: str, positive: float | None) -> dict[str, str]:
    """Return the number of features and of classes, and the shares of entries that are not 0 and of +1."""
    classes = str(data.n_classes) if task == "classification" else ""
    dense = f"{100 * data.nnz / max(data.T * data.d, 1):.3g}"
    share = "" if positive is None else f"{100 * positive:.1f}"
    return {"d": str(data.d), "non-zero %": dense, "classes": classes, "positive %": share}


def provenance(cells: "pd.DataFrame") -> Table:
    """Return where the cells come from: a row per code, machine and workers, with its dates and loads."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for entry in cells["provenance"]:
        made = origin.columns([entry])
        workers = f"{entry.get('backend') or 'unknown'}, {entry.get('jobs') or '?'}"
        code = ", ".join(filter(None, (made["versions"], made["commit"])))
        groups.setdefault((code, made["machines"], workers), []).append(entry)
    rows = []
    for (code, machine, workers), entries in groups.items():
        times = origin.times_of(entries)
        loads = sorted(entry["load"] for entry in entries if isinstance(entry.get("load"), (int, float)))
        row = {"cells": str(len(entries)), "code": code, "machine": machine, "workers": workers}
        rows.append(row | {"load": origin.span(loads, "g"), "from (UTC)": times[0], "to (UTC)": times[-1]})
    terms = [("load", "of the machine over one minute, when each cell ended: least and most")]
    return plain("made-with", rows, plain_table.render(rows, "csv"), terms=terms)

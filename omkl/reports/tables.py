"""Tables as text: terminal, Markdown, JSON, CSV; LaTeX is in latex.py."""

import json
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from warnings import warn

from omkl.reports.display import MISSING, Display, Line, Spread, display
from omkl.reports.expected import Expected
from omkl.reports.formats import check_format
from omkl.reports.latex import latex
from omkl.reports.measures import least_of
from omkl.reports.notes import heading, legend, notes

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 100


def render(
    summary: "pd.DataFrame",
    cells: "pd.DataFrame",
    expected: Expected,
    fmt: str = "table",
    *,
    swept: Iterable[str] = (),
    more: dict[str, "pd.DataFrame"] | None = None,
) -> str:
    """Return a summary as text that ends with a newline.

    fmt: "table" for the terminal, "json" (strict: no NaN), "csv" (one line per row, full precision),
    "markdown", "latex" (booktabs). swept: hyperparameters that get columns of their own. more: further
    summaries by name, printed after the first and put under their names in JSON; not in CSV.

    Raises UserError for an unknown format.
    """
    check_format(fmt)
    more = more or {}
    if fmt == "json":
        return to_json({"summary": summary, **more, "cells": cells}, notes(summary, cells, expected))
    if fmt == "csv":
        return to_csv(_for_csv(summary, swept), notes(summary, cells, expected))
    tables = [(None, display(summary, swept)), *((name, display(part, swept)) for name, part in more.items())]
    shared = heading(summary, expected, cells)
    terms, warnings = legend(tables[0][1], least_of(summary), cells), notes(summary, cells, expected)
    return write(tables, terms, warnings, shared, expected.command, fmt)


def write(
    tables: list[tuple[str | None, Display]],
    terms: list[tuple[str, str]],
    warnings: list[str],
    shared: str,
    command: str,
    fmt: str,
) -> str:
    """Return tables that are laid out as text: fmt "table" for the terminal, "markdown" or "latex".

    tables: (title or None, Display)    terms: (term, meaning)    warnings: what a reader must know first
    shared: what all rows share    command: that made them
    """
    form = {"table": _terminal, "markdown": _markdown, "latex": latex}[fmt]
    return form(tables, terms, warnings, shared, command)


# -------------------------------------------------------------------- terminal


def _terminal(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    blocks = [shared] if shared else []
    for title, table in tables:
        blocks.append((f"{title}\n" if title else "") + _plain_table(table))
    wide = max(len(term) for term, _ in terms)
    lines = [_hang(f"{term:<{wide}}  ", meaning) for term, meaning in terms]
    lines += [_hang("! ", warning) for warning in warnings]
    blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _hang(start: str, text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False
    )


def _plain_table(table: Display) -> str:
    from tabulate import tabulate

    columns = [_aligned(table, number) for number in range(len(table.columns))]
    text = tabulate(
        list(zip(*columns, strict=True)),
        headers=[column.header for column in table.columns],
        colalign=[column.align for column in table.columns],
        tablefmt="simple",
        disable_numparse=True,
    )
    head, rule, *body = text.split("\n")
    first = len(rule.split(" ")[0])
    lines = [head.rstrip(), rule]
    for line, row in zip(body, table.lines, strict=True):
        if row.rule == "data":
            lines.append(rule)
        elif row.rule == "yardsticks":
            lines.append(" " * first + rule[first:])
        lines.append(line.rstrip())
    return "\n".join(lines)


def _aligned(table: Display, number: int) -> list[str]:
    """Return a column's cells with the ± below one another and the mark at the left.

    The padding is inside the text, where tabulate keeps it.
    """
    cells = [line.cells[number] for line in table.lines]
    spreads = [cell for cell in cells if isinstance(cell, Spread)]
    if not spreads:
        return [str(cell) for cell in cells]
    left, right = max(len(s.mean) for s in spreads), max(len(s.std) for s in spreads)
    marks = table.columns[number].marks
    return [
        f"{'*' if marks and line.marked else ' '} {cell.mean:>{left}} ± {cell.std:>{right}}"
        if cell.mean != MISSING
        else MISSING
        for cell, line in zip(cells, table.lines, strict=True)
    ]


# -------------------------------------------------------------------- Markdown


def _markdown(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    blocks = [f"`{command}`" if command else "", shared]
    for title, table in tables:
        blocks += [f"**{title}**" if title else "", _markdown_table(table)]
    terms = [
        ("**bold**" if term == "*" else term, meaning) for term, meaning in terms if term != "yardsticks"
    ]
    blocks.append("\n".join(f"* {term}: {_safe(meaning)}" for term, meaning in terms))
    blocks.append("\n".join(f"* **{_safe(warning)}**" for warning in warnings))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_table(table: Display) -> str:
    from tabulate import tabulate

    return tabulate(
        [[_markdown_cell(table, line, number) for number in range(len(line.cells))] for line in table.lines],
        headers=[column.header for column in table.columns],
        colalign=[column.align for column in table.columns],
        tablefmt="pipe",
        disable_numparse=True,
    )


def _markdown_cell(table: Display, line: Line, number: int) -> str:
    cell, column = line.cells[number], table.columns[number]
    name = column.name
    if isinstance(cell, Spread):
        text = f"{cell.mean} ± {cell.std}" if cell.mean != MISSING else MISSING
        return f"**{text}**" if column.marks and line.marked else text
    if name == "reps" and not line.complete:
        return f"**{cell}**"
    return _safe(cell) + (" (yardstick)" if name == "learner" and line.is_yardstick else "")


def _safe(text: str) -> str:
    """Escape what Markdown would take for markup in names and messages."""
    for sign in "\\|*_`<[":
        text = text.replace(sign, "\\" + sign)
    return text


# -------------------------------------------------------------------- JSON, CSV


def to_json(tables: dict[str, "pd.DataFrame"], warnings: list[str]) -> str:
    """Return DataFrames by name as strict JSON: lists of records; NaN and infinity become null.

    The warnings stand under "notes".
    """
    parts = []
    for name, table in tables.items():
        records = [_strict(record) for record in table.to_dict("records")]
        lines = [json.dumps(record, allow_nan=False, ensure_ascii=False) for record in records]
        parts.append(f"{json.dumps(name)}: [" + "".join(f"\n  {line}," for line in lines)[:-1] + "\n]")
    parts.append(f'"notes": {json.dumps(warnings, ensure_ascii=False)}')
    return "{" + ",\n".join(parts) + "}\n"


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _strict(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def to_csv(table: "pd.DataFrame", warnings: list[str]) -> str:
    """Return a DataFrame as CSV, which has no place for the warnings: they are given to Python's."""
    for warning in warnings:
        warn(warning, stacklevel=2)
    return table.to_csv(index=False, lineterminator="\n")


def _for_csv(summary: "pd.DataFrame", swept: Iterable[str]) -> "pd.DataFrame":
    table = summary.drop(columns="shown")
    for name in swept:
        values = [params.get(name) for params in table["params"]]
        table.insert(table.columns.get_loc("settings"), f"algo.{name}", values)
    table["params"] = [json.dumps(params, sort_keys=True) for params in table["params"]]
    return table

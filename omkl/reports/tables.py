"""Tables as text: terminal, Markdown, JSON, CSV; LaTeX is in latex.py."""

import json
import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from warnings import warn

from omkl.reports.display import MISSING, Column, Display, Line, Spread, display
from omkl.reports.expected import Expected
from omkl.reports.latex import latex
from omkl.reports.measures import least_of
from omkl.reports.notes import heading, legend, notes
from omkl.reports.plain_table import check_format

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
    blocks += [(f"{title}\n" if title else "") + _plain_table(table) for title, table in tables]
    wide = max(len(term) for term, _ in terms)
    lines = [_hang(f"{term:<{wide}}  ", meaning) for term, meaning in terms]
    lines += [_hang("! ", warning) for warning in warnings]
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _hang(start: str, text: str) -> str:
    hang = {"initial_indent": start, "subsequent_indent": " " * len(start)}
    return textwrap.fill(text, _WIDTH, break_long_words=False, **hang)


def _plain_table(table: Display) -> str:
    columns = [_aligned(table, number) for number in range(len(table.columns))]
    head, rule, *body = _tabulated(table, list(zip(*columns, strict=True)), "simple").split("\n")
    first = len(rule.split(" ")[0])
    above = {"data": [rule], "yardsticks": [" " * first + rule[first:]], None: []}
    lines = [head.rstrip(), rule]
    for text, line in zip(body, table.lines, strict=True):
        lines += [*above[line.rule], text.rstrip()]
    return "\n".join(lines)


def _tabulated(table: Display, contents: list, style: str) -> str:
    from tabulate import tabulate

    headers, sides = [c.header for c in table.columns], [c.align for c in table.columns]
    return tabulate(contents, headers=headers, colalign=sides, tablefmt=style, disable_numparse=True)


def _aligned(table: Display, number: int) -> list[str]:
    """Return a column's cells with the ± below one another and the mark at the left.

    The padding is inside the text, where tabulate keeps it.
    """
    cells = [line.cells[number] for line in table.lines]
    spreads = [cell for cell in cells if isinstance(cell, Spread)]
    left, right = (max((len(getattr(s, part)) for s in spreads), default=0) for part in ("mean", "std"))
    texts = []
    for cell, line in zip(cells, table.lines, strict=True):
        if isinstance(cell, Spread) and cell.mean != MISSING:
            mark = "*" if table.columns[number].marks and line.marked else " "
            cell = f"{mark} {cell.mean:>{left}} ± {cell.std:>{right}}"
        texts.append(cell.mean if isinstance(cell, Spread) else str(cell))
    return texts


# -------------------------------------------------------------------- Markdown


def _markdown(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    blocks = [f"`{command}`" if command else "", shared]
    for title, table in tables:
        cells = [
            [
                _markdown_cell(cell, column, line)
                for cell, column in zip(line.cells, table.columns, strict=True)
            ]
            for line in table.lines
        ]
        blocks += [f"**{title}**" if title else "", _tabulated(table, cells, "pipe")]
    terms = [("**bold**" if term == "*" else term, text) for term, text in terms if term != "yardsticks"]
    blocks.append("\n".join(f"* {term}: {_safe(meaning)}" for term, meaning in terms))
    blocks.append("\n".join(f"* **{_safe(warning)}**" for warning in warnings))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_cell(cell: str | Spread, column: Column, line: Line) -> str:
    if isinstance(cell, Spread):
        text = f"{cell.mean} ± {cell.std}" if cell.mean != MISSING else MISSING
        return f"**{text}**" if column.marks and line.marked else text
    if column.name == "reps" and not line.complete:
        return f"**{cell}**"
    return _safe(cell) + (" (yardstick)" if column.name == "learner" and line.is_yardstick else "")


def _safe(text: str) -> str:
    """Escape what Markdown would take for markup in names and messages."""
    return re.sub(r"([\\|*_`<\[])", r"\\\1", text)


# -------------------------------------------------------------------- JSON, CSV


def to_json(tables: dict[str, "pd.DataFrame"], warnings: list[str]) -> str:
    """Return DataFrames by name as strict JSON: lists of records; NaN and infinity become null.

    The warnings are in "notes".
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

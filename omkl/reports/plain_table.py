"""The formats of a table, and rows of plain values as text: lists and small tables."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from omkl.errors import UserError, suggest
from omkl.reports.fitting import WIDTH, Texts, fits, lay_out

FORMATS = ("table", "json", "csv", "markdown", "latex")


def check_format(fmt: str) -> None:
    """Raise UserError for an unknown format."""
    if fmt not in FORMATS:
        raise UserError(f"unknown format '{fmt}'{suggest(fmt, FORMATS)}: choose one of {', '.join(FORMATS)}")


def render(rows: list[dict[str, Any]], fmt: str, least: Sequence[str] = ()) -> str:
    """Return rows as text that ends with a newline; fmt is one of FORMATS.

    least: the columns that a narrow terminal leaves out, the first of them first
    """
    if fmt == "json":
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    if fmt == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0].keys() if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()
    from tabulate import tabulate

    styles = {"table": "simple", "markdown": "pipe", "latex": "latex_booktabs"}
    names, first = (list(rows[0]), rows[0].values()) if rows else ([], ())
    sides = ["right" if isinstance(value, int) else "left" for value in first] or None
    body = [list(row.values()) for row in rows]
    text = tabulate(body, names, styles[fmt], disable_numparse=True, colalign=sides) + "\n"
    width = WIDTH.get()
    if fmt != "table" or width is None or max(map(len, text.split("\n"))) <= width:
        return text
    return _fitted(rows, names, sides or [], least, width)


def _fitted(
    rows: list[dict[str, Any]], names: list[str], sides: list[Any], least: Sequence[str], width: int
) -> str:
    """Return a table that is too wide for the terminal, without columns that are empty or ``least``."""
    columns = {}
    for name, side in zip(names, sides, strict=True):
        cells = ["" if row[name] is None else _on_one_line(str(row[name])) for row in rows]
        if any(cells):
            columns[name] = Texts(name, cells, side, side == "left")
    left_out = []
    for name in least:
        if fits(list(columns.values()), width):
            break
        if columns.pop(name, None):
            left_out.append(name)
    head, rule, body = lay_out(list(columns.values()), width)
    more = f"\nnot shown: {', '.join(left_out)} (--wide)\n" if left_out else ""
    return "\n".join([head, rule, *body]).replace("\u00a0", " ") + "\n" + more


def _on_one_line(text: str) -> str:
    """Return text without line ends, in which a mean stays with its deviation."""
    return text.replace("\n", " ").replace(" ± ", "\u00a0±\u00a0")

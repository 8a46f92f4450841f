"""The formats of a table, and rows of plain values as text: lists and small tables."""

import csv
import io
import json
from typing import Any

from omkl.errors import UserError, suggest

FORMATS = ("table", "json", "csv", "markdown", "latex")


def check_format(fmt: str) -> None:
    """Raise UserError for an unknown format."""
    if fmt not in FORMATS:
        raise UserError(f"unknown format '{fmt}'{suggest(fmt, FORMATS)}: choose one of {', '.join(FORMATS)}")


def render(rows: list[dict[str, Any]], fmt: str) -> str:
    """Return rows as text that ends with a newline; fmt is one of FORMATS."""
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
    return tabulate(body, names, styles[fmt], disable_numparse=True, colalign=sides) + "\n"

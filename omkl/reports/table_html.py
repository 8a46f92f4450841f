"""A table in HTML, by the templates in omkl/web: jinja2 escapes every text, so no name becomes markup."""

from functools import cache
from typing import Any

from omkl.reports.table_cells import MARK_NAMES, MISSING, Column, Spread, TableRow


@cache
def template(name: str) -> Any:
    """Return a template of omkl/web."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("omkl", "web"), autoescape=True, trim_blocks=True, undefined=StrictUndefined
    )
    functions = (kind_of, row_kinds, part_of, mean_widths)
    made.globals |= {function.__name__: function for function in functions}
    made.globals |= {"MISSING": MISSING, "MARK_NAMES": MARK_NAMES["text"]}
    return made.get_template(name)


def html_of(table: Any) -> str:
    """Return a table.Table without scripts, readable on a dark and on a light page."""
    return template("alone.html").render(table=table)


def kind_of(column: Column) -> str:
    """Return the classes of a column's cells.

    A narrow screen scrolls: a row's name stays in view (stick), and so does the measure (marks).
    """
    kinds = ["text" if column.align == "left" else "number"]
    kinds += ["stick"] if column.name in ("learner", "algo") else []
    kinds += ["marks"] if column.marks else []
    kinds += ["of-data"] if column.name == "data" else []
    return " ".join(kinds)


def row_kinds(row: TableRow, above: TableRow | None) -> str:
    """Return the classes of a row."""
    kinds = [name for name in ("marked", "is_yardstick") if getattr(row, name)]
    kinds += [] if row.complete else ["incomplete"]
    if above and row.group != above.group:
        kinds.append("begins")
    elif above and row.is_yardstick > above.is_yardstick:
        kinds.append("yardsticks")
    return " ".join(kinds)


def part_of(column: Column) -> str:
    """Return which measure a column is about whose header does not say it: that of ``published``, say."""
    measure, _, part = column.name.rpartition("_")
    names = {"mistake_pct": "mistake %", "n_sv_sum": "#SV", "seconds": "seconds"}
    return names.get(measure, "") if part in ("published", "diff", "ratio") else ""


def mean_widths(table: Any) -> list[tuple[int, int]]:
    """Return the characters of the longest mean and deviation of each column."""
    contents = [[row.cells[at] for row in table.rows] for at in range(len(table.columns))]
    spreads = [[cell for cell in cells if isinstance(cell, Spread) and cell.varies] for cells in contents]
    return [
        (max((len(s.mean) for s in own), default=0), max((len(s.std) for s in own), default=0))
        for own in spreads
    ]

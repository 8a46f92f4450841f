"""A table of learner times: seconds of each, and its share of one that the others are compared with."""

from typing import TYPE_CHECKING

from omkl.errors import UserError
from omkl.papers.compare import Compared
from omkl.papers.paper import Item
from omkl.papers.render import warnings_for
from omkl.reports.captions import basis
from omkl.reports.display import MISSING, Column, Display, Line, number
from omkl.reports.expected import Expected
from omkl.reports.measures import learners_of
from omkl.reports.tables import check_format, to_csv, to_json, write

if TYPE_CHECKING:
    import pandas as pd

_SHARE = ("%", "of the first learner's time on the same data set and pool")


def times_of(summary: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """Return seconds by data set and pool (rows) and learner (columns), the base first."""
    own = learners_of(summary)
    own = own.assign(pool=own["pool"].fillna(MISSING))
    table = own.pivot_table(index=["data", "pool"], columns="label", values="seconds_mean", sort=False)
    if base not in table:
        raise UserError(f"no finished cells of {base}, to which the others' time is compared")
    return table[[base, *(name for name in table if name != base)]]


def render_times(found: Compared, item: Item, expected: Expected, fmt: str, title: str = "") -> str:
    """Return the table as text; fmt as in reports.tables.render."""
    check_format(fmt)
    base = item.options["base"]
    warnings = warnings_for(found.summary, found.cells, expected)
    times = times_of(found.summary, base)
    ratios = times.div(times[base], axis=0)
    flat = times.join(ratios.drop(columns=base).add_suffix(" ratio")).reset_index()
    if fmt == "json":
        return to_json({"times": flat}, warnings)
    if fmt == "csv":
        return to_csv(flat, warnings)
    others = list(ratios.columns[1:])
    columns = [Column("data", "data", "left"), Column("pool", "pool", "left")]
    columns += [Column(name, f"{name} s") for name in times]
    columns += [Column(f"{name}%", f"{name} %") for name in others]
    lines, last = [], None
    for (data, pool), row in times.iterrows():
        shares = [number(100 * ratios.loc[(data, pool), name], 0) for name in others]
        cells = (data if data != last else "", pool, *(number(value, 4) for value in row), *shares)
        lines.append(Line(cells, "data" if last not in (None, data) else None, False, True, False))
        last = data
    lines.append(_summary_line(ratios[others], len(times.columns)))
    done = found.summary[found.summary["reps"] > 0]
    of = basis(int(done["reps"].max()), done["order"])
    table = Display(tuple(columns), tuple(lines))
    terms = [("s", f"learner time of one pass, {of}"), _SHARE]
    return write([(title or item.title, table)], terms, warnings, "", expected.command, fmt)


def _summary_line(ratios: "pd.DataFrame", blank: int) -> Line:
    medians = [number(100 * ratios[name].median(), 0) for name in ratios]
    return Line(("median", "", *[""] * blank, *medians), "data", False, True, False)

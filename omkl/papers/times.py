"""A table of learner times: seconds of each, and its share of one that the others are compared with."""

from typing import TYPE_CHECKING

from omkl.errors import UserError
from omkl.papers.compare import Compared
from omkl.papers.paper import Item
from omkl.reports.asked import Asked
from omkl.reports.display import Column, Display, Line, number
from omkl.reports.tables import to_json, write

if TYPE_CHECKING:
    import pandas as pd

_TERMS = [
    ("s", "learner time of one pass, mean over the permutations"),
    ("%", "of the first learner's time on the same data set and pool"),
]


def times_of(summary: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """Return seconds by data set and pool (rows) and learner (columns), the base first."""
    own = summary[~summary["is_yardstick"].astype(bool)]
    table = own.pivot_table(index=["data", "pool"], columns="label", values="seconds_mean", sort=False)
    if base not in table:
        raise UserError(f"no finished cells of {base}, to which the others' time is compared")
    return table[[base, *(name for name in table if name != base)]]


def render_times(found: Compared, item: Item, asked: Asked, fmt: str) -> str:
    """Return the table as text; fmt as in reports.tables.render."""
    base = item.options["base"]
    times = times_of(found.summary, base)
    ratios = times.div(times[base], axis=0)
    flat = times.join(ratios.drop(columns=base).add_suffix(" ratio")).reset_index()
    if fmt == "json":
        return to_json({"times": flat})
    if fmt == "csv":
        return flat.to_csv(index=False, lineterminator="\n")
    others = list(ratios.columns[1:])
    columns = [Column("data", "data", "left"), Column("pool", "pool", "left")]
    columns += [Column(name, f"{name} s") for name in times]
    columns += [Column(f"{name}%", f"{name} %") for name in others]
    lines, last = [], None
    for (data, pool), row in times.iterrows():
        shares = [number(100 * ratios.loc[(data, pool), name], 0) for name in others]
        cells = (data if data != last else "", pool, *(f"{value:.4f}" for value in row), *shares)
        lines.append(Line(cells, "data" if last not in (None, data) else None, False, True, False))
        last = data
    lines.append(_summary_line(ratios[others], len(times.columns)))
    return write([(item.title, Display(tuple(columns), tuple(lines)))], _TERMS, [], "", asked.command, fmt)


def _summary_line(ratios: "pd.DataFrame", blank: int) -> Line:
    medians = [number(100 * ratios[name].median(), 0) for name in ratios]
    return Line(("median", "", *[""] * blank, *medians), "data", False, True, False)

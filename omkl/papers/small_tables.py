"""A paper's two small tables: the times of its learners, and the sizes of its data sets."""

from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.papers.compare import Compared
from omkl.papers.paper import Item, Paper
from omkl.papers.published import sizes
from omkl.papers.render import warnings_for
from omkl.reports import plain_table
from omkl.reports.captions import basis
from omkl.reports.display import MISSING, Column, Display, Line, number
from omkl.reports.expected import Expected
from omkl.reports.measures import learners_of
from omkl.reports.plain_table import check_format
from omkl.reports.tables import to_csv, to_json, write

if TYPE_CHECKING:
    import pandas as pd

_SHARE = ("%", "of the first learner's time on the same data set and pool")


def times_of(summary: "pd.DataFrame", base: str) -> "pd.DataFrame":
    """Return seconds by data set and pool (rows) and learner (columns), the base first."""
    own = learners_of(summary)
    own = own.assign(pool=own["pool"].fillna(MISSING))
    table = own.pivot_table(index=["data", "pool"], columns="label", values="seconds_mean", sort=False)
    if base not in table:
        raise UserError(f"no cell of {base} has finished, to whose time the others are compared")
    return table[[base, *(name for name in table if name != base)]]


def render_times(compared: Compared, item: Item, expected: Expected, fmt: str, title: str) -> str:
    """Return seconds, and their share of those of ``base``; fmt as in reports.tables.render."""
    check_format(fmt)
    base = item.options["base"]
    warnings = warnings_for(compared.summary, compared.cells, expected)
    times = times_of(compared.summary, base)
    shares = times.drop(columns=base).div(times[base], axis=0)
    flat = times.join(shares.add_suffix(" ratio")).reset_index()
    if fmt == "json":
        return to_json({"times": flat}, warnings)
    if fmt == "csv":
        return to_csv(flat, warnings)
    columns = [Column("data", "data", "left"), Column("pool", "pool", "left")]
    columns += [Column(name, f"{name} s") for name in times]
    columns += [Column(f"{name}%", f"{name} %") for name in shares]
    lines, last = [], None
    for (data, pool), row in times.iterrows():
        percents = [number(100 * share, 0) for share in shares.loc[(data, pool)]]
        cells = (data if data != last else "", pool, *(number(value, 4) for value in row), *percents)
        lines.append(Line(cells, "data" if last not in (None, data) else None))
        last = data
    medians = [number(100 * shares[name].median(), 0) for name in shares]
    lines.append(Line(("median", "", *[""] * len(times.columns), *medians), "data"))
    done = compared.summary[compared.summary["reps"] > 0]
    terms = [("s", f"learner time of one pass, {basis(int(done['reps'].max()), done['order'])}"), _SHARE]
    display = Display(tuple(columns), tuple(lines))
    return write([(title, display)], terms, warnings, "", expected.command, fmt)


def sizes_rows(paper: Paper, names: list[str]) -> list[dict[str, Any]]:
    """Return per data set: examples, features, share of the positive class, next to the published sizes."""
    from omkl.data import registry

    published = {line["data"]: line for line in sizes() if line["paper"] == paper.published}
    rows = []
    for name in names:
        T, d, positive, about = "none", "none", "", str(paper.unavailable.get(name, {}).get("title"))
        if name not in paper.unavailable:
            entry = registry.entry(name)
            T, d, about = str(entry.T), str(entry.d), entry.title
            positive = f"{100 * entry.positive_share:.1f}" if entry.positive_share is not None else ""
        row = {"data": name, "T": T, "d": d, "positive %": positive}
        if published:
            printed = published.get(name, {})
            row |= {"T published": printed.get("T", ""), "d published": printed.get("d", "")}
            row["verdict"] = _verdict(T, d, printed)
        rows.append(row | {"what it is": about})
    return rows


def _verdict(T: str, d: str, printed: dict[str, str]) -> str:
    if T == "none":
        return "no data"
    if not printed:
        return "not in the paper"
    differs = [key for key, own in (("T", T), ("d", d)) if own != printed[key]]
    return f"{', '.join(differs)} differ" if differs else "agrees"


def render_sizes(paper: Paper, rows: list[dict[str, Any]], fmt: str, title: str) -> str:
    """Return the rows as text, with how to obtain what is not available."""
    check_format(fmt)
    how = {row["data"]: paper.unavailable.get(row["data"], {}).get("how", "") for row in rows}
    if fmt in ("json", "csv"):
        return plain_table.render([row | {"missing": how[row["data"]]} for row in rows], fmt)
    table = plain_table.render(rows, fmt)
    below = "".join(f"\n{name}: {text}.\n" for name, text in how.items() if text)
    if fmt == "latex":
        return "".join(f"% {line}\n" for line in f"{title}\n{below}".split("\n") if line) + table
    return f"{title}\n\n{table}{below}"

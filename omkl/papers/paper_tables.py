"""A paper's tables: one function per kind, found by its name in conf/paper."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.papers.best import best
from omkl.papers.compare import Compared, compare, published_lines
from omkl.papers.paper import Item, Paper
from omkl.papers.render import render, warnings_of, written
from omkl.papers.selection import Selection, work_of
from omkl.reports import plain_table
from omkl.reports.captions import basis
from omkl.reports.display import MISSING, Column, Display, Line, number
from omkl.reports.measures import learners_of
from omkl.reports.table_text import to_csv, to_json

if TYPE_CHECKING:
    import pandas as pd

    from omkl.run.runner import Outcome

_SHARE = ("%", "of the first learner's time on the same data set and pool")


@dataclass(frozen=True)
class Made:
    """A table or the like: its text in a format, its rows, the outcome of the run (None where nothing ran).

    title: with the data that are in it
    """

    text: Callable[[str], str]
    rows: "pd.DataFrame"
    outcome: "Outcome | None" = None
    title: str = ""


def table(paper: Paper, item: Item, selection: Selection, **how: Any) -> Made:
    """Run the missing cells of a table and return it, in the formats of reports.tables.render.

    how: of ``Work.run``. Raises UserError for a selection without data, OmklError when the store cannot be
    read or written.
    """
    if item.kind == "sizes":
        return sizes(paper, item, selection)
    work = work_of(paper, [item], selection)
    outcome = work.run(**how)
    compared = compare(paper, item, work, outcome, selection.command("table", item.name))
    if item.kind == "tuning":
        keep_best(compared)
    return Made(partial(KINDS[item.kind], compared), compared.summary, outcome, compared.title)


def keep_best(compared: Compared) -> None:
    """Keep in the summary of a sweep the best setting of each learner, with its hyperparameters as text."""
    from omkl.config.settings_text import params_text
    from omkl.reports.report import best_settings

    swept = [key.removeprefix("algo.") for key in compared.expected.swept]
    every = compared.summary["params"]
    texts = [params_text({k: params[k] for k in swept if k in params}) for params in every]
    compared.whole = compared.summary.assign(settings=texts)
    compared.summary = best_settings(compared.whole)


def times(compared: Compared, fmt: str) -> str:
    """Return seconds as text, and their share of those of the learner ``base``."""
    plain_table.check_format(fmt)
    flat, display, terms = times_layout(compared)
    warnings = warnings_of(compared)
    if fmt == "json":
        return to_json({"times": flat}, warnings)
    if fmt == "csv":
        return to_csv(flat, warnings)
    return written(compared, (display, terms), warnings, [], fmt)


def times_layout(compared: Compared) -> tuple["pd.DataFrame", Display, list[tuple[str, str]]]:
    """Return the rows of a table of times, its columns and lines, and the terms under it."""
    summary, base = compared.summary, compared.item.options["base"]
    own = learners_of(summary)
    own = own.assign(pool=own["pool"].fillna(MISSING))
    seconds = own.pivot_table(index=["data", "pool"], columns="label", values="seconds_mean", sort=False)
    if base not in seconds:
        raise UserError(
            f"no cell of {base} has finished; the table compares the other learners with its time"
        )
    seconds = seconds[[base, *(name for name in seconds if name != base)]]
    shares = seconds.drop(columns=base).div(seconds[base], axis=0)
    flat = seconds.join(shares.add_suffix(" ratio")).reset_index()
    columns = [Column("data", "data", "left"), Column("pool", "pool", "left")]
    columns += [Column(name, f"{name} s") for name in seconds]
    columns += [Column(f"{name}%", f"{name} %") for name in shares]
    rows, last = [], None
    for (data, pool), row in seconds.iterrows():
        percents = [number(100 * share, 0) for share in shares.loc[(data, pool)]]
        cells = (data if data != last else "", pool, *(number(value, 4) for value in row), *percents)
        rows.append(Line(cells, "data" if last not in (None, data) else None))
        last = data
    medians = [number(100 * shares[name].median(), 0) for name in shares]
    rows.append(Line(("median", "", *[""] * len(seconds.columns), *medians), "data"))
    done = summary[summary["reps"] > 0]
    terms = [("s", f"learner time of one pass, {basis(int(done['reps'].max()), done['order'])}"), _SHARE]
    return flat, Display(tuple(columns), tuple(rows)), terms


KINDS: dict[str, Callable[[Compared, str], str]] = {
    "results": render,
    "tuning": render,
    "times": times,
    "best": best,
}


def sizes(paper: Paper, item: Item, selection: Selection) -> Made:
    """The data sets, made of the registry, not of cells.

    Rows: examples, features, share of the positive class, next to the published sizes.
    """
    import pandas as pd

    from omkl.data import registry

    published = {
        line["data"]: line for line in published_lines("datasets") if line["paper"] == paper.published
    }
    names = selection.names or list(item.options["data"])
    rows = []
    for name in names:
        T, d, positive, about = "", "", "", str(paper.unavailable.get(name, {}).get("title"))
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
    how = {name: paper.unavailable.get(name, {}).get("how", "") for name in names}
    title = item.titled(names)
    return Made(partial(_sizes_text, rows, how, title), pd.DataFrame(rows), title=title)


def _verdict(T: str, d: str, printed: dict[str, str]) -> str:
    if not T:
        return "no data"
    if not printed:
        return "not in the paper"
    differs = [key for key, own in (("T", T), ("d", d)) if own != printed[key]]
    return f"{', '.join(differs)} differ" if differs else "agrees"


def _sizes_text(rows: list[dict[str, str]], how: dict[str, str], title: str, fmt: str) -> str:
    """Return the rows as text, with how to obtain the data that are not available."""
    plain_table.check_format(fmt)
    if fmt in ("json", "csv"):
        return plain_table.render([row | {"missing": how[row["data"]]} for row in rows], fmt)
    table = plain_table.render([{key: text or MISSING for key, text in row.items()} for row in rows], fmt)
    below = "".join(f"\n{name}: {text}.\n" for name, text in how.items() if text)
    if fmt == "latex":
        about = "".join(f"% {line}\n" for line in f"{title}\n{below}".split("\n") if line)
        return about + table.replace(MISSING, "--")
    return f"{title}\n\n{table}{below}"

"""A paper's figures: one function per kind, found by its name in conf/paper."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.figures.costs import costs_of, pareto, times_figure
from omkl.figures.curves import learning_curves
from omkl.figures.figure import Figure
from omkl.figures.rank_diagram import rank_figure
from omkl.figures.sensitivity import sensitivity, sensitivity_table
from omkl.figures.style import current
from omkl.publications.compare import Compared, compare_rows
from omkl.publications.paper import Item, Paper, as_list
from omkl.publications.selection import Selection, plans_of
from omkl.reports import captions
from omkl.reports.grid import grid_table
from omkl.reports.ranks import average_ranks
from omkl.reports.symbols import symbol
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome


@dataclass(frozen=True)
class FigureResult:
    """The files of a figure, and the outcome of its run (None where none was needed).

    title: with the data that are drawn    figure: what was drawn
    """

    files: list[Path]
    outcome: "Outcome | None"
    title: str
    figure: Figure


def draw_item(
    paper: Paper, item: Item, selection: Selection, out: str | None = None, **how: Any
) -> FigureResult:
    """Run the missing cells of a figure and draw it.

    out: file or folder (Figure.write); else a folder in the store    how: of ``PaperPlans.run``
    """
    drawn, outcome, store_path = figure_of(paper, item, selection, **how)
    stem = item.name.replace("/", "-")
    target = store_path / "figures" / "local" / stem if out is None else Path(out)
    folder = out is not None and (out.endswith("/") or target.is_dir())
    files = drawn.write(target / stem if folder else target)
    return FigureResult(files, outcome, drawn.title, drawn)


def figure_of(
    paper: Paper, item: Item, selection: Selection, **how: Any
) -> tuple[Figure, "Outcome | None", Path]:
    """Run the missing cells of a figure; return it, the outcome of its run, and the folder of its store.

    how: of ``PaperPlans.run``
    """
    command = selection.command("figure", item.name, item) + current().words()
    work = plans_of(paper, [item], selection)
    outcome = work.run(**how)
    drawn = paper_figure(selected(compare_rows(paper, item, work, outcome, command)))
    return replace(drawn, command=command), outcome, Path(work.plans[0].store)


def paper_figure(shown: Compared, name: str = "") -> Figure:
    """Return the figure of rows; name: of its files. Raises UserError where too few have finished."""
    drawn = KINDS[shown.item.kind](shown)
    return replace(drawn, name=name or drawn.name, command=shown.expected.command)


def selected(compared: Compared) -> Compared:
    """Return the rows that a figure shows, with its title. Raises UserError where none has finished."""
    item = compared.item
    pool, yardsticks = item.options.get("pool"), item.options.get("yardsticks", True)
    sets = as_list(item.options.get("data", ()))
    keep = [
        not missing
        and (not sets or row.data in sets)
        and (pool is None or row.pool in (None, pool))
        and (yardsticks or not row.is_yardstick)
        for row, missing in zip(compared.rows, compared.summary["missing"], strict=True)
    ]
    rows, summary = list(itertools.compress(compared.rows, keep)), compared.summary[keep]
    if not any(row.cells for row in rows):
        raise UserError(f"{item.name}: no cell has finished")
    title = item.titled(summary.loc[summary["reps"] > 0, "data"])
    return replace(compared, rows=rows, summary=summary.reset_index(drop=True), title=title)


def _labels(compared: Compared) -> dict[str, Any]:
    """Return the title of a figure, and the warning about lines that lack repetitions."""
    return {"title": compared.title, "warnings": captions.shortfall_of(grid_table(compared.summary))}


def _curves(compared: Compared) -> Figure:
    """Return ``measure`` of the cells' curves against the examples seen, a panel per data set."""
    from omkl.store.store import Store

    options, cells = compared.item.options, compared.cells
    stored = Store(compared.work.plans[0].store).curves(set(cells["key"]))
    about: dict[str, Any] = {
        "names": (options["measure"],),
        "log": options.get("log"),
        "title": compared.title,
    }
    return learning_curves(cells, stored, compared.expected, compared.rows, **about)


def _sensitivity(compared: Compared) -> Figure:
    """Return each ``measure`` against the swept hyperparameter ``key``, a panel per data set."""
    import pandas as pd

    options, tables = compared.item.options, []
    measures = as_list(options.get("measure", "mistake_pct"))
    for measure in measures:
        points = sensitivity_table(compared.summary, options["key"], measure)
        label = MEASURES[measure].label if measure in MEASURES else measure
        names = points["panel"] + f" · {label}" if points["panel"].nunique() > 1 else label
        tables.append(points.assign(y_label=label, panel=names if measures[1:] else points["panel"]))
    return sensitivity(pd.concat(tables), x_label=symbol(options["key"]), **_labels(compared))


def _ranks(compared: Compared) -> Figure:
    """Return the critical-difference diagram of average ranks over the data sets."""
    averaged = average_ranks(compared.summary)
    if absent := list(dict.fromkeys(name for _, name in compared.work.missing)):
        averaged = replace(averaged, left_out=(*averaged.left_out, f"{captions.some(absent)}: no data here"))
    return rank_figure(averaged, title=compared.item.titled(averaged.each.index))


def _times(compared: Compared) -> Figure:
    """Return each learner's time, a panel per data set."""
    return times_figure(grid_table(compared.summary[compared.summary["reps"] > 0]), **_labels(compared))


def _pareto(compared: Compared) -> Figure:
    """Return error against ``cost`` (costs.COSTS), and the front that no learner beats."""
    from omkl.publications.paper_tables import with_costs

    cost, done = compared.item.options["cost"], compared.summary[compared.summary["reps"] > 0]
    return pareto(costs_of(grid_table(with_costs(done)), cost), cost, **_labels(compared))


KINDS: dict[str, Callable[[Compared], Figure]] = {
    "curves": _curves,
    "sensitivity": _sensitivity,
    "ranks": _ranks,
    "times": _times,
    "pareto": _pareto,
}

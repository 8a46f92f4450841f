"""A paper's figures: one function per kind, found by its name in conf/paper."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.papers.compare import Compared, compare
from omkl.papers.paper import Item, Paper
from omkl.papers.selection import Selection, work_of
from omkl.reports import captions, look, style
from omkl.reports.grid import grid_table
from omkl.reports.measures import learners_of, measure_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from omkl.reports.ranks import Ranks
    from omkl.run.runner import Outcome


@dataclass(frozen=True)
class Drawn:
    """The files of a figure, and the outcome of its run (None where none was needed).

    title: with the data that are drawn
    """

    files: list[Path]
    outcome: "Outcome | None"
    title: str


def figure(paper: Paper, item: Item, selection: Selection, out: str | None = None, **how: Any) -> Drawn:
    """Run the missing cells of a figure and draw it.

    out: file or folder (style.save); else a folder in the store    how: of ``Work.run``
    """
    command = selection.command("figure", item.name) + look.current().words()
    if item.kind == "digits":
        return Drawn(digits(item, _target(item, out, "results"), command), None, item.titled())
    work = work_of(paper, [item], selection)
    outcome = work.run(**how)
    shown = selected(compare(paper, item, work, outcome, command))
    return Drawn(KINDS[item.kind](shown, _target(item, out, work.plans[0].store)), outcome, shown.title)


def selected(compared: Compared) -> Compared:
    """Return the rows that a figure shows, with its title. Raises UserError where none has finished."""
    item = compared.item
    pool, yardsticks = item.options.get("pool"), item.options.get("yardsticks", True)
    keep = [
        not missing and (pool is None or row.pool in (None, pool)) and (yardsticks or not row.is_yardstick)
        for row, missing in zip(compared.rows, compared.summary["missing"], strict=True)
    ]
    rows, summary = list(itertools.compress(compared.rows, keep)), compared.summary[keep]
    if not any(row.cells for row in rows):
        raise UserError(f"{item.name}: no cell has finished")
    title = item.titled(summary.loc[summary["reps"] > 0, "data"])
    return replace(compared, rows=rows, summary=summary.reset_index(drop=True), title=title)


def _target(item: Item, out: str | None, store: str | Path) -> str:
    """Return where the figure goes: ``out``, else a file named after it."""
    stem = item.name.replace("/", "-")
    if out is None:
        return str(Path(store) / "figures" / "local" / stem)
    return str(Path(out) / stem) if out.endswith("/") or Path(out).is_dir() else out


def _labels(compared: Compared) -> dict[str, Any]:
    """Return the title of a figure, and the warning about lines that lack repetitions."""
    return {"title": compared.title, "warnings": captions.shortfall_of(grid_table(compared.summary))}


def _save(compared: Compared, figure: "Figure", out: str) -> list[Path]:
    return style.save(figure, out, compared.title, compared.expected.command)


def curves(compared: Compared, out: str) -> list[Path]:
    """Draw ``measure`` of the cells' curves against the examples seen, a panel per data set."""
    from omkl.reports.curves import curve_figure
    from omkl.store.store import Store

    options, cells = compared.item.options, compared.cells
    stored = Store(compared.work.plans[0].store).curves(set(cells["key"]))
    looks = {"log": options["log"]} if "log" in options else {}
    looks |= {"expected": compared.expected, "rows": compared.rows, "title": compared.title}
    return curve_figure(cells, stored, out, (options["measure"],), **looks)


def sensitivity(compared: Compared, out: str) -> list[Path]:
    """Draw ``measure`` against the swept hyperparameter ``key``, a panel per data set."""
    from omkl.reports.sensitivity import draw_sensitivity

    x_label = style.symbol(compared.item.options["key"])
    return _save(compared, draw_sensitivity(swept(compared), x_label=x_label, **_labels(compared)), out)


def swept(compared: Compared) -> "pd.DataFrame":
    """Return the points of ``sensitivity``, as sensitivity.draw_sensitivity takes them."""
    from omkl.reports.sensitivity import sensitivity_table

    options = compared.item.options
    return sensitivity_table(compared.summary, options["key"], options.get("measure", "mistake_pct"))


def ranks(compared: Compared, out: str) -> list[Path]:
    """Draw the critical-difference diagram of average ranks over the data sets."""
    from omkl.reports.ranks import draw_ranks

    drawn = ranked(compared)
    titled = replace(compared, title=compared.item.titled(drawn.each.index))
    return _save(titled, draw_ranks(drawn, titled.title), out)


def ranked(compared: Compared) -> "Ranks":
    """Return the average ranks of a figure's rows. Raises UserError where there are too few."""
    from omkl.reports.ranks import average_ranks

    made = average_ranks(compared.summary, measure=measure_of(compared.summary).name)
    if absent := list(dict.fromkeys(name for _, name in compared.work.missing)):
        made = replace(made, left_out=(*made.left_out, f"{captions.some(absent)}: no data here"))
    return made


def times(compared: Compared, out: str) -> list[Path]:
    """Draw each learner's time over the slowest's, a panel per data set."""
    from omkl.reports.time_figure import draw_times

    table = grid_table(compared.summary[compared.summary["reps"] > 0])
    return _save(compared, draw_times(table, **_labels(compared)), out)


def pareto(compared: Compared, out: str) -> list[Path]:
    """Draw error against ``cost`` (time or size), a panel per data set, with the front of the learners."""
    from omkl.reports.pareto import draw_pareto

    cost = compared.item.options["cost"]
    return _save(compared, draw_pareto(costs(compared), cost, **_labels(compared)), out)


def costs(compared: Compared) -> "pd.DataFrame":
    """Return the points of ``pareto``, as pareto.draw_pareto takes them."""
    from omkl.papers.best import with_costs
    from omkl.reports.pareto import costs_of

    done = compared.summary[compared.summary["reps"] > 0]
    return costs_of(grid_table(with_costs(done)), compared.item.options["cost"])


def spa(compared: Compared, out: str) -> list[Path]:
    """Draw the effect of alpha and beta of SPA, and the other budget learners (BOMKL, Figure 1)."""
    from omkl.reports.sensitivity import draw_sensitivity

    return _save(compared, draw_sensitivity(spa_table(compared), columns=3, **_labels(compared)), out)


def spa_table(compared: Compared) -> "pd.DataFrame":
    """Return the points of ``spa``: a row per point, as sensitivity.draw_sensitivity takes them.

    A budget learner belongs to the beta whose SPA stores as many vectors as it may. Six panels per data set.
    """
    import pandas as pd

    done = learners_of(compared.summary[compared.summary["reps"] > 0])
    done = done.assign(line=done["label"])
    fixed = {key: float(compared.item.options[key]) for key in ("alpha", "beta")}
    points = []
    labels = {"mistake_pct": "mistake rate (%)", "n_sv_sum": "support vectors (#SV)", "seconds": "seconds"}
    data = list(dict.fromkeys(done["data"]))
    letters = (f"({letter})" for letter in "abcdef" * len(data))
    for which, (key, other) in itertools.product(data, (("alpha", "beta"), ("beta", "alpha"))):
        here = done[done["data"] == which]
        own = here[here["algo"] == "bomkc_spa"]
        swept = own[[params[other] == fixed[other] for params in own["params"]]]
        swept = swept.assign(x=[float(params[key]) for params in swept["params"]])
        rivals = here[here["algo"] != "bomkc_spa"] if key == "beta" and len(swept) else here.iloc[:0]
        sizes = swept["n_sv_sum_mean"].to_numpy()
        nearest = [swept["x"].iloc[abs(sizes - size).argmin()] for size in rivals["n_sv_sum_mean"]]
        both = pd.concat([swept, rivals.assign(x=nearest)]) if len(rivals) else swept
        for measure, label in labels.items():
            panel = f"{next(letters)} {style.symbol(key)}, {label}"
            part = swept if measure == "n_sv_sum" else both
            part = part.assign(panel=f"{which} {panel}" if len(data) > 1 else panel, y_label=label)
            part = part.assign(y_mean=part[f"{measure}_mean"], y_std=part[f"{measure}_std"])
            points.append(part.assign(x_label=style.symbol(key)))
    if not points:
        raise UserError(f"{compared.item.name}: only yardsticks have finished")
    return pd.concat(points, ignore_index=True)


KINDS: dict[str, Callable[[Compared, str], list[Path]]] = {
    draw.__name__: draw for draw in (curves, sensitivity, ranks, times, spa, pareto)
}


def digits(item: Item, out: str, command: str) -> list[Path]:
    """Draw the first novelties of a pass over USPS, and the worst of its two parts (NORMA, Fig. 3).

    It is not made of cells, unlike the figures of KINDS.
    """
    from omkl.papers.novelty import novelties
    from omkl.reports.digits import Pictures, draw_pictures

    drawn = novelties()
    shown = {"first margin errors": drawn.first, "worst of train": drawn.train, "worst of test": drawn.test}
    panels = [Pictures(name, p.images, (1000 * p.scores).tolist(), places=1) for name, p in shown.items()]
    share = 100 * drawn.fraction
    note = f"below each: 1000 (f(x) − ρ) · {share:.2f} % of the pass novel · {drawn.seconds:.2g} s"
    return style.save(draw_pictures(panels, title=item.titled(), note=note), out, item.titled(), command)

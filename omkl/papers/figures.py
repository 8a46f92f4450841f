"""A paper's figures: one function per kind, found by its name in conf/paper."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.papers.compare import compare
from omkl.papers.make import about_of, command_of, kind_of, run
from omkl.papers.paper import Item, Paper
from omkl.papers.selection import Selection, Work, work_of
from omkl.reports import captions, style
from omkl.reports.expected import Expected
from omkl.reports.grid import grid_table
from omkl.reports.measures import learners_of, measure_of
from omkl.reports.rows import Row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from omkl.run.runner import Outcome


@dataclass(frozen=True)
class Drawn:
    """The files of a figure, and what the run came to (None where none was needed).

    title: with the data that are drawn
    """

    files: list[Path]
    outcome: "Outcome | None"
    title: str


@dataclass(frozen=True)
class Material:
    """What a figure is drawn from: finished cells and their curves, rows of them, what was expected.

    rows, summary: also those of which nothing has finished    absent: data sets that are not available
    """

    item: Item
    cells: "pd.DataFrame"
    rows: list[Row]
    curves: Mapping[str, Mapping[str, Any]]
    summary: "pd.DataFrame"
    expected: Expected
    absent: tuple[str, ...] = ()

    @property
    def options(self) -> Mapping[str, Any]:
        """What the conf says besides title, kind and runs."""
        return self.item.options

    @property
    def title(self) -> str:
        """The figure's title, with the data sets of which something is drawn."""
        return self.item.titled(self.summary.loc[self.summary["reps"] > 0, "data"])

    @property
    def said(self) -> dict[str, Any]:
        """What is written on the figure."""
        return {"title": self.title, "warnings": self.warnings}

    def save(self, figure: "Figure", out: str) -> list[Path]:
        """Write the figure to files with its title and command, and return these."""
        return style.save(figure, out, self.title, self.expected.command)

    @property
    def warnings(self) -> list[str]:
        """Which lines rest on fewer repetitions than they should."""
        return captions.shortfall_of(grid_table(self.summary))


def figure(paper: Paper, item: Item, selection: Selection, out: str | None = None, **how: Any) -> Drawn:
    """Run what is missing of a figure and draw it.

    out: file or folder (style.save); else a folder in the store. how: as in make.run; raises as make.table.
    """
    draw = kind_of(figure_kinds(), item, "figures")
    if item.kind in STANDALONE:
        return Drawn(draw(item, _target(item, out, "results"), selection), None, item.titled())
    work = work_of(paper, [item], selection)
    outcome = run(work, **how)
    material = _material(paper, item, work, outcome, command_of("figure", item, selection))
    return Drawn(draw(material, _target(item, out, work.plans[0].store)), outcome, material.title)


def _target(item: Item, out: str | None, store: str | Path) -> str:
    """Return where the figure goes: ``out``, else a file named after it."""
    stem = item.name.replace("/", "-")
    if out is None:
        return str(Path(store) / "figures" / "local" / stem)
    return str(Path(out) / stem) if out.endswith("/") or Path(out).is_dir() else out


def _material(paper: Paper, item: Item, work: Work, outcome: "Outcome", command: str) -> Material:
    from omkl.store.store import Store

    expected = about_of(work, outcome, command)
    compared = compare(paper, item, work, outcome.cells, expected)
    pool, yardsticks = item.options.get("pool"), item.options.get("yardsticks", True)
    keep = [
        not missing and (pool is None or row.pool in (None, pool)) and (yardsticks or not row.is_yardstick)
        for row, missing in zip(compared.rows, compared.summary["missing"], strict=True)
    ]
    rows = list(itertools.compress(compared.rows, keep))
    if not any(row.cells for row in rows):
        raise UserError(f"{item.name}: no cell has finished")
    summary = compared.summary[keep].reset_index(drop=True)
    curves = Store(work.plans[0].store).curves(set(compared.cells["key"]))
    absent = tuple(dict.fromkeys(name for _, name in work.missing))
    return Material(item, compared.cells, rows, curves, summary, expected, absent)


def curves(material: Material, out: str) -> list[Path]:
    """Draw ``measure`` of the cells' curves against the examples seen, a panel per data set."""
    from omkl.reports.curves import curve_figure

    looks = {key: material.options[key] for key in ("log", "log_x") if key in material.options}
    looks |= {"expected": material.expected, "rows": material.rows, "title": material.title}
    return curve_figure(material.cells, material.curves, out, (material.options["measure"],), **looks)


def sensitivity(material: Material, out: str) -> list[Path]:
    """Draw ``measure`` against the swept hyperparameter ``key``, a panel per data set."""
    from omkl.reports.sensitivity import draw_sensitivity, sensitivity_table

    key = material.options["key"]
    table = sensitivity_table(material.summary, key, material.options.get("measure", "mistake_pct"))
    return material.save(draw_sensitivity(table, x_label=style.symbol(key), **material.said), out)


def ranks(material: Material, out: str) -> list[Path]:
    """Draw the critical-difference diagram of average ranks over the data sets."""
    from omkl.reports.ranks import average_ranks, draw_ranks

    drawn = average_ranks(material.summary, measure=measure_of(material.summary).name)
    if material.absent:
        drawn = replace(drawn, left_out=(*drawn.left_out, f"{captions.some(material.absent)}: no data here"))
    title = material.item.titled(drawn.each.index)
    return style.save(draw_ranks(drawn, title), out, title, material.expected.command)


def times(material: Material, out: str) -> list[Path]:
    """Draw each learner's time over the slowest's, a panel per data set."""
    from omkl.reports.time_figure import draw_times

    table = grid_table(material.summary[material.summary["reps"] > 0])
    return material.save(draw_times(table, **material.said), out)


def spa(material: Material, out: str) -> list[Path]:
    """Draw what alpha and beta of SPA do, and the other budget learners at equal size (BOMKL, Fig. 1).

    A budget learner belongs to the beta whose SPA stores as many vectors as it may. Six panels per data set.
    """
    import pandas as pd

    from omkl.reports.sensitivity import draw_sensitivity

    done = learners_of(material.summary[material.summary["reps"] > 0])
    done = done.assign(line=done["label"])
    fixed = {"alpha": float(material.options["alpha"]), "beta": float(material.options["beta"])}
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
    table = pd.concat(points, ignore_index=True)
    return material.save(draw_sensitivity(table, columns=3, **material.said), out)


def digits(item: Item, out: str, selection: Selection) -> list[Path]:
    """Draw the first novelties of a pass over USPS, and the worst of its two parts (NORMA, Fig. 3)."""
    from omkl.papers.novelty import novelties
    from omkl.reports.digits import Pictures, draw_pictures

    drawn = novelties()
    shown = {"first margin errors": drawn.first, "worst of train": drawn.train, "worst of test": drawn.test}
    panels = [Pictures(name, p.images, (1000 * p.scores).tolist(), places=1) for name, p in shown.items()]
    share, command = 100 * drawn.fraction, command_of("figure", item, selection)
    note = f"below each: 1000 (f(x) - rho) · {share:.2f} % of the pass novel · {drawn.seconds:.2g} s"
    return style.save(draw_pictures(panels, title=item.titled(), note=note), out, item.titled(), command)


KINDS: dict[str, Callable[[Material, str], list[Path]]] = {
    draw.__name__: draw for draw in (curves, sensitivity, ranks, times, spa)
}
# Figures that are not made of cells.
STANDALONE: dict[str, Callable[[Item, str, Selection], list[Path]]] = {"digits": digits}


def figure_kinds() -> dict[str, Callable]:
    """Return what draws a figure, by its kind in conf/paper."""
    return KINDS | STANDALONE

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
from omkl.papers.titles import title_of
from omkl.reports import captions, style
from omkl.reports.expected import Expected
from omkl.reports.measures import learners_of, measure_of
from omkl.reports.rows import Row
from omkl.reports.sweep_grid import grid_table

if TYPE_CHECKING:
    import pandas as pd

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
    """What a figure is drawn from: finished cells and their curves, rows of them, what was asked for.

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
        """What the conf says beside title, kind and runs."""
        return self.item.options

    @property
    def title(self) -> str:
        """The figure's title, with the data sets of which something is drawn."""
        return title_of(self.item, self.summary.loc[self.summary["reps"] > 0, "data"])

    @property
    def warnings(self) -> list[str]:
        """Which lines rest on fewer repetitions than they should."""
        return captions.shortfall_of(grid_table(self.summary))


def figure(
    paper: Paper,
    item: Item,
    selection: Selection,
    out: str | None = None,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    fail_fast: bool = False,
) -> Drawn:
    """Run what is missing of a figure and draw it.

    out: file or folder (reports.style.target); else a folder in the store. Raises as make.table does.
    """
    draw = kind_of(figure_kinds(), item, "figures")
    if item.kind in STANDALONE:
        return Drawn(draw(item, _target(item, out, "results"), selection), None, title_of(item))
    work = work_of(paper, [item], selection)
    outcome = run(work, jobs=jobs, fresh=fresh, progress=progress, fail_fast=fail_fast)
    material = _material(paper, item, work, outcome, command_of("figure", item, selection))
    return Drawn(draw(material, _target(item, out, work.plans[0].store)), outcome, material.title)


def _target(item: Item, out: str | None, store: str | Path) -> str:
    """Return where the figure goes: the file asked for, else one named after it."""
    stem = item.name.replace("/", "-")
    if out is None:
        return str(Path(store) / "figures" / "local" / stem)
    return str(Path(out) / stem) if out.endswith("/") or Path(out).is_dir() else out


def _material(paper: Paper, item: Item, work: Work, outcome: "Outcome", command: str) -> Material:
    from omkl.store.store import Store

    about = about_of(work, outcome, command)
    found = compare(paper, item, work, outcome.cells, about)
    pool = item.options.get("pool")
    beside = item.options.get("yardsticks", True)
    keep = [
        not missing and (pool is None or row.pool in (None, pool)) and (beside or not row.is_yardstick)
        for row, missing in zip(found.rows, found.summary["missing"], strict=True)
    ]
    rows = [row for row, kept in zip(found.rows, keep, strict=True) if kept]
    if not any(row.cells for row in rows):
        raise UserError(f"{item.name}: no cell has finished")
    summary = found.summary[keep].reset_index(drop=True)
    curves = Store(work.plans[0].store).curves(set(found.cells["key"]))
    absent = tuple(dict.fromkeys(name for _, name in work.missing))
    return Material(item, found.cells, rows, curves, summary, about, absent)


def curves(material: Material, out: str) -> list[Path]:
    """Draw ``measure`` of the cells' curves against the examples seen, a panel per data set."""
    from omkl.reports.curves import curve_figure

    looks = {key: material.options[key] for key in ("log", "log_x") if key in material.options}
    return curve_figure(
        material.cells,
        material.curves,
        out,
        (material.options["measure"],),
        expected=material.expected,
        rows=material.rows,
        title=material.title,
        **looks,
    )


def sensitivity(material: Material, out: str) -> list[Path]:
    """Draw ``measure`` against the swept hyperparameter ``key``, a panel per data set."""
    from omkl.reports.sensitivity import sensitivity_figure, sensitivity_table

    key = material.options["key"]
    table = sensitivity_table(material.summary, key, material.options.get("measure", "mistake_pct"))
    return sensitivity_figure(
        table,
        out,
        command=material.expected.command,
        title=material.title,
        x_label=style.symbol(key),
        warnings=material.warnings,
    )


def ranks(material: Material, out: str) -> list[Path]:
    """Draw the critical-difference diagram of average ranks over the data sets."""
    from omkl.reports.rank_figure import rank_figure
    from omkl.reports.ranks import average_ranks

    found = average_ranks(material.summary, measure=measure_of(material.summary).name)
    if material.absent:
        found = replace(found, left_out=(*found.left_out, f"{captions.some(material.absent)}: no data here"))
    title = title_of(material.item, found.each.index)
    return rank_figure(found, out, title=title, command=material.expected.command)


def times(material: Material, out: str) -> list[Path]:
    """Draw each learner's time over the slowest's, a panel per data set."""
    from omkl.reports.time_figure import times_figure

    table = grid_table(material.summary[material.summary["reps"] > 0])
    return times_figure(
        table, out, command=material.expected.command, title=material.title, warnings=material.warnings
    )


def spa(material: Material, out: str) -> list[Path]:
    """Draw what alpha and beta of SPA do, and the other budget learners at equal size (BOMKL, Fig. 1).

    A budget learner belongs to the beta whose SPA stores as many vectors as it may. Six panels per data set.
    """
    import pandas as pd

    from omkl.reports.sensitivity import sensitivity_figure

    done = learners_of(material.summary[material.summary["reps"] > 0])
    fixed = {"alpha": float(material.options["alpha"]), "beta": float(material.options["beta"])}
    points = []

    def add(panel: str, rows: "pd.DataFrame", x: "pd.Series", key: str, measure: str, label: str) -> None:
        points.append(
            pd.DataFrame(
                {
                    "panel": panel,
                    "x": x,
                    "line": rows["label"],
                    "is_yardstick": False,
                    "y_mean": rows[f"{measure}_mean"],
                    "y_std": rows[f"{measure}_std"],
                    "reps": rows["reps"],
                    "order": rows["order"],
                    "x_label": style.symbol(key),
                    "y_label": label,
                }
            )
        )

    names = {"mistake_pct": "mistake rate (%)", "n_sv_sum": "support vectors (#SV)", "seconds": "seconds"}
    data = list(dict.fromkeys(done["data"]))
    letters = (f"({letter})" for letter in "abcdef" * len(data))
    for which, (key, other) in itertools.product(data, (("alpha", "beta"), ("beta", "alpha"))):
        here = done[done["data"] == which]
        own = here[here["algo"] == "bomkc_spa"]
        swept = own[[params[other] == fixed[other] for params in own["params"]]]
        at = pd.Series([float(params[key]) for params in swept["params"]], index=swept.index)
        rivals = here[here["algo"] != "bomkc_spa"] if key == "beta" and len(swept) else here.iloc[:0]
        sizes = swept["n_sv_sum_mean"].to_numpy()
        nearest = [at.iloc[abs(sizes - size).argmin()] for size in rivals["n_sv_sum_mean"]]
        for measure in ("mistake_pct", "n_sv_sum", "seconds"):
            panel = f"{next(letters)} {style.symbol(key)}, {names[measure]}"
            panel = f"{which} {panel}" if len(data) > 1 else panel
            add(panel, swept, at, key, measure, names[measure])
            if measure != "n_sv_sum" and len(rivals):
                add(panel, rivals, pd.Series(nearest, index=rivals.index), key, measure, names[measure])
    return sensitivity_figure(
        pd.concat(points, ignore_index=True),
        out,
        command=material.expected.command,
        title=material.title,
        columns=3,
        warnings=material.warnings,
    )


def digits(item: Item, out: str, selection: Selection) -> list[Path]:
    """Draw the first novelties of a pass over USPS, and the worst of its two parts (NORMA, Fig. 3)."""
    from omkl.papers.novelty import novelties
    from omkl.reports.digits import Pictures, pictures_figure

    found = novelties()
    shown = {"first margin errors": found.first, "worst of train": found.train, "worst of test": found.test}
    panels = [Pictures(name, p.images, (1000 * p.scores).tolist(), places=1) for name, p in shown.items()]
    share, command = 100 * found.fraction, command_of("figure", item, selection)
    note = f"below each: 1000 (f(x) - rho) · {share:.2f} % of the pass novel · {found.seconds:.2g} s"
    return pictures_figure(panels, out, command=command, title=title_of(item), note=note)


KINDS: dict[str, Callable[[Material, str], list[Path]]] = {
    draw.__name__: draw for draw in (curves, sensitivity, ranks, times, spa)
}
# Figures that are not made of cells.
STANDALONE: dict[str, Callable[[Item, str, Selection], list[Path]]] = {"digits": digits}


def figure_kinds() -> dict[str, Callable]:
    """Return what draws a figure, by its kind in conf/paper."""
    return KINDS | STANDALONE

"""How long learners take: bars of each one's time as a share of the slowest's, per data set."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.reports import captions, style
from omkl.reports.sweep_grid import grid_table
from omkl.reports.ticks import plain_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.21  # inches
HATCHES = (None, "////", "....", "xxxx", "----", "++++")  # of bars of the same colour


def times_table(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table that ``draw_times`` takes from a summary: all rows of which something has finished."""
    table = grid_table(summary[summary["reps"] > 0], {})
    columns = {"data": "data", "line": "learner", "seconds_mean": "seconds", "is_yardstick": "is_yardstick"}
    columns |= {"reps": "reps", "order": "order"}
    return table[list(columns)].rename(columns=columns).reset_index(drop=True)


def draw_times(
    table: "pd.DataFrame",
    *,
    title: str = "",
    palette: Iterable[str] = (),
    columns: int | None = None,
    warnings: Iterable[str] = (),
) -> "Figure":
    """Draw a panel per data set with a bar per learner: its seconds over those of the slowest there.

    table: columns data, learner, seconds (one row per pair), optionally is_yardstick (grey). The slowest's
    seconds stand above the panel, each share at its bar; a learner that a data set lacks has a dash.
    palette: as in style.line_styles. warnings: stand below, where the columns reps and order also say what
    the times are means of. Raises UserError for an empty table or a pair given twice.
    """
    if table.empty or table.duplicated(["data", "learner"]).any():
        raise UserError("a figure of times needs one time for each data set and learner")
    if "is_yardstick" not in table:
        table = table.assign(is_yardstick=False)
    data, names = (list(dict.fromkeys(table[column])) for column in ("data", "learner"))
    grey = set(table.loc[table["is_yardstick"].astype(bool), "learner"])
    names = [name for name in names if name not in grey] + [name for name in names if name in grey]
    learners = [name for name in names if name not in grey]
    styles = style.line_styles(learners, [name for name in names if name in grey], palette)
    rows, wide = style.grid_shape(len(data))
    if columns:
        rows, wide = -(-len(data) // columns), columns
    label = 0.068 * max(map(len, names))
    with style.looks():
        figure = style.new_figure(0.4 + label + 2.5 * wide, 0.5 + rows * (0.75 + _BAR * len(names)))
        panels = figure.subplots(rows, wide, squeeze=False, sharex=True, sharey=True)
        for number, axes in enumerate(panels.flat):
            if number >= len(data):
                axes.remove()
                continue
            part = table[table["data"] == data[number]].set_index("learner")["seconds"]
            _panel(axes, part, names, styles)
            axes.set_title(data[number])
            axes.set_title(f"slowest: {_seconds(part.max())}", loc="right", fontsize=7.5, fontweight="normal")
            if number + wide >= len(data):
                axes.set_xlabel("time / slowest's time")
                axes.tick_params(labelbottom=True)
        text = captions.basis(int(table["reps"].max()), table["order"]) if "reps" in table else ""
        style.note_below(figure, text, warnings)
        if title:
            figure.suptitle(title, fontsize=11)
    return figure


def _panel(axes: "Axes", seconds: "pd.Series", names: list[str], styles: dict) -> None:
    slowest = float(seconds.max())
    for place, name in enumerate(names):
        if name not in seconds.index or not slowest > 0:
            axes.text(0.01, place, "–", va="center", fontsize=7.5)
            continue
        share = float(seconds[name]) / slowest
        look = styles[name]
        same = [styles[other]["color"] for other in names[:place]].count(look["color"])
        hatch = HATCHES[same % len(HATCHES)]
        axes.barh(place, share, height=0.72, color=look["color"], hatch=hatch, edgecolor="white", linewidth=0)
        text = f"{share:.2f}" if share >= 0.01 else plain_number(float(f"{share:.1g}"))
        axes.text(share + 0.015, place, text, va="center", fontsize=7.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, 1.17)
    axes.set_xticks([0, 0.5, 1.0], ["0", "0.5", "1"])
    axes.grid(visible=False, axis="y")


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"


def times_figure(
    table: "pd.DataFrame", out: str | Path, *, command: str = "", title: str = "", **looks: Any
) -> list[Path]:
    """Draw the table to files and return these; ``looks`` as in draw_times, out as in style.target."""
    figure = draw_times(table, title=title, **looks)
    out = style.target(out, "times", table["learner"].astype(str).tolist(), table["data"].tolist())
    return style.save(figure, out, title or "Times", command)

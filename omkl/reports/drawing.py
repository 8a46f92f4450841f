"""Figures drawn by matplotlib, for files. What is drawn is in ``figures``; here is how."""

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omkl.data.labels import label_text
from omkl.reports import figure_layout as layout
from omkl.reports import figure_style
from omkl.reports.figure_style import current, factor, looks, points
from omkl.reports.figures import Confusion, Dots, Figure, HeatMap, Lines, Pictures, in_symbols, robust_range
from omkl.reports.front_drawing import draw_fronts
from omkl.reports.line_drawing import (
    Styles,
    draw_lines,
    finish_panel,
    note_left_out,
    plain_number,
    robust_limits,
    value_panel,
)
from omkl.reports.ranks import Ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn


def write_files(figure: Figure, out: str | Path) -> list[Path]:
    """Draw a figure to files and return these; out: as in figure_style.save."""
    title = figure.title or figure.name
    return figure_style.write_figure(draw(figure), out, figure.name, title, figure.command)


def draw(figure: Figure) -> "Drawn":
    """Draw a figure in the chosen style."""
    with looks():
        drawn: Any = _drawn(figure)
    drawn._repr_png_ = partial(figure_style.as_png, drawn)  # for notebooks, which need no pyplot then
    return drawn


def _drawn(figure: Figure) -> "Drawn":
    first = figure.panels[0].views[0]
    if isinstance(first, Confusion):
        return _confusions(figure)
    if any(panel.group for panel in figure.panels):
        return _maps(figure)
    if isinstance(first, Lines):
        return draw_fronts(figure) if first.kind == "front" else draw_lines(figure)
    if isinstance(first, Dots):
        return _bars(figure) if first.as_shares else _dots(figure)
    return _pictures(figure) if isinstance(first, Pictures) else _ranks(figure, cast(Ranks, first))


# -------------------------------------------------------------------- dots and bars

MOST_DOTS = 30
_BAR = 0.21  # inches
HATCHES = (None, "////", "....", "xxxx", "----", "++++")  # of bars of the same colour


def _dots(figure: Figure) -> "Drawn":
    """Draw the first rows of each panel as dots, filled where marked (not worse than the best)."""
    from matplotlib.lines import Line2D

    views = cast(Sequence[Dots], figure.views())
    most = min(max(len(view.names) for view in views), MOST_DOTS)
    drawn = layout.new_figure(6.5, 0.8 + len(views) * (0.7 + 0.19 * most))
    every = drawn.subplots(len(views), 1, squeeze=False)[:, 0]
    for axes, panel, view in zip(every, figure.panels, views, strict=True):
        _dot_panel(axes, view, figure.styles)
        few = f" (best {MOST_DOTS} of {len(view.names)} settings)" if len(view.names) > MOST_DOTS else ""
        layout.panel_title(axes, f"{panel.name}{few}", len(views) == 1)
    every[-1].set_xlabel(" or ".join(dict.fromkeys(view.label for view in views)))
    seen = {text for axes in every for text in axes.get_legend_handles_labels()[1]}
    handles: dict[str, Line2D] = {}
    for name, style in figure.styles.items():
        if name in seen:
            dot = {"marker": style.marker or "o", "linestyle": "none"}
            shape = {"linestyle": (0, style.dashes)} if style.is_yardstick else dot
            handles[name] = Line2D([], [], color=style.colour, **shape)
    if len(handles) > layout.MOST_NAMES:  # the ticks name the learners
        handles = {name: handle for name, handle in handles.items() if figure.styles[name].is_yardstick}
    layout.legend_below(drawn, handles, figure.text("bars"))
    return drawn


def _dot_panel(axes: "Axes", view: Dots, styles: Styles) -> None:
    best = slice(MOST_DOTS)
    mean, std = view.mean[best], view.std[best]
    rows = zip(view.lines, mean, std, view.marked, strict=False)
    for place, (line, value, reach, marked) in enumerate(rows):
        style = styles[line]
        dot: dict[str, Any] = {"marker": style.marker or "o", "markersize": 5, "elinewidth": 1}
        dot["color"] = style.colour
        dot["markerfacecolor"] = style.colour if marked else "white"
        axes.errorbar(value, place, xerr=None if np.isnan(reach) else reach, label=line, **dot)
    axes.set_yticks(range(len(mean)), map(in_symbols, view.names[best]))
    axes.set_ylim(len(mean) - 0.5, -0.5)
    ends = [*np.maximum(mean - np.nan_to_num(std), 0.0), *(mean + np.nan_to_num(std))]
    levels = dict(view.levels)
    limits, out = robust_limits(ends, levels)
    axes.set_xlim(*limits)
    for name, level in levels.items():
        if name not in out:
            look = {key: own for key, own in layout.line_look(styles[name]).items() if key != "linewidth"}
            axes.axvline(level, label=name, linewidth=1.2, **look)
    note_left_out(axes, {name: levels[name] for name in out}, across=True)


def _bars(figure: Figure) -> "Drawn":
    """Draw a bar per learner: its mean over the largest of the panel.

    The largest is written above the panel, each share at its bar; a learner that a panel lacks has a dash.
    """
    names = list(figure.styles)
    label = 0.068 * factor() * max(map(len, names))
    count = len(figure.panels)
    rows, wide = layout.grid_shape(count, narrowest=layout.NARROWEST_PANEL + label / 2)
    drawn = layout.new_figure(0.4 + label + 2.5 * wide, 0.5 + rows * (0.75 + _BAR * len(names)))
    every = layout.subplots(drawn, count, rows, wide, sharex=True, sharey=True)
    for number, (axes, panel) in enumerate(zip(every, figure.panels, strict=True)):
        view = cast(Dots, panel.views[0])
        most = float(view.mean.max())
        _bar_panel(
            axes, dict(zip(view.names, view.mean / most if most > 0 else view.mean, strict=True)), figure
        )
        slowest = f"slowest: {most:.3g} s" if most < 1000 else f"slowest: {most:,.0f} s"
        axes.set_title(slowest, loc="right", fontsize=points(7.5), fontweight="normal")
        layout.panel_title(axes, panel.name, count == 1)
        if number + wide >= count:
            axes.set_xlabel("time / slowest's time")
            axes.tick_params(labelbottom=True)
    layout.note_below(drawn, figure.caption)
    layout.put_title(drawn, figure.title)
    return drawn


def _bar_panel(axes: "Axes", shares: Mapping[str, float], figure: Figure) -> None:
    colours = [style.colour for style in figure.styles.values()]
    for place, name in enumerate(figure.styles):
        share = float(shares.get(name, np.nan))
        if np.isnan(share):
            axes.text(0.01, place, "–", va="center", fontsize=points(7.5))
            continue
        hatch = HATCHES[colours[:place].count(colours[place]) % len(HATCHES)]
        look: dict[str, Any] = {"color": colours[place], "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        axes.barh(place, share, height=0.72, **look)
        text = f"{share:.2f}" if share >= 0.01 else plain_number(float(f"{share:.1g}"))
        axes.text(share + 0.015, place, text, va="center", fontsize=points(7.5))
    axes.set_yticks(range(len(colours)), map(in_symbols, figure.styles))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(colours) - 0.4, -0.6)
    axes.set_xlim(0, 1.17)
    axes.set_xticks([0, 0.5, 1.0], ["0", "0.5", "1"])
    axes.grid(visible=False, axis="y")


# -------------------------------------------------------------------- heat maps

_CURVE = 5  # rows of a heat map that are as high as a curve
_NARROWEST = 2.2  # inches of a panel with a heat map
_ABOVE_BAR = 0.3  # inches between the panels and their colour bar


def _maps(figure: Figure) -> "Drawn":
    """Draw a panel per data set and learner, with one colour scale per data set.

    Rows of panels are learners, columns are data sets; a single learner's data sets, or a single data set's
    learners, are laid out in rows of four; so are all where the chosen width has no room.
    """
    data = list(dict.fromkeys(panel.group for panel in figure.panels))
    learners, chosen = list(figure.styles), current().width
    flows = len(data) == 1 or len(learners) == 1 or (chosen or np.inf) < _NARROWEST * len(data)
    count = len(figure.panels)
    shape = layout.grid_shape(count, narrowest=_NARROWEST) if flows else (len(learners), len(data))
    views: dict[str, list[HeatMap | Lines]] = {name: [] for name in learners}
    for panel in figure.panels:
        views[panel.name.removeprefix(f"{panel.group} · ")].append(cast(HeatMap | Lines, panel.views[0]))
    # Panels in one row of the figure are equally high.
    high = [max([len(v.rows) if isinstance(v, HeatMap) else _CURVE for v in own]) for own in views.values()]
    heights = np.clip(0.3 * np.array([max(high)] * shape[0] if flows else high), 0.3, 2.6)
    every = [view for own in views.values() for view in own]
    across = max(len(v.columns) if isinstance(v, HeatMap) else len(v.ticks or ()) for v in every)
    width = float(np.clip(0.46 * across, 1.9, 4.2))
    width = chosen / shape[1] - 0.8 if chosen else width
    drawn = layout.new_figure((width + 0.8) * shape[1], 1.1 + float((heights + 0.75).sum()))
    grid = drawn.subplots(*shape, squeeze=False, height_ratios=heights.tolist())
    places = {name: place for place, name in enumerate(f"{d} · {n}" for n in learners for d in data)}
    used: dict[str, list[Axes]] = {}
    images: dict[str, tuple[Any, str, tuple[bool, bool]]] = {}
    free = list(range(grid.size))
    # In a single column, the panels of a data set are above its colour bar.
    for number, panel in enumerate(figure.panels):
        place = number if flows else places[panel.name]
        free.remove(place)
        axes, view = grid.flat[place], panel.views[0]
        if isinstance(view, HeatMap):
            same = [one.views[0] for one in figure.panels if one.group == panel.group]
            means = np.concatenate([one.mean.ravel() for one in same if isinstance(one, HeatMap)])
            limits = robust_range(means, view.sign)
            room = (width, float(heights[place // shape[1]]))
            beyond = bool((means < limits[0]).any()), bool((means > limits[1]).any())
            images[panel.group] = _heat_map(axes, view, limits, room), view.label, beyond
        elif isinstance(view, Lines):
            value_panel(axes, view, figure.styles)
            finish_panel(axes)
            axes.set_xlabel(view.x_label)
            axes.set_ylabel(view.label)
        layout.panel_title(axes, in_symbols(panel.name), count == 1, 9.0)
        used.setdefault(panel.group, []).append(axes)
    pad = _ABOVE_BAR / drawn.get_figheight()
    for which, (image, label, beyond) in images.items():
        ends = {(False, False): "neither", (True, False): "min", (False, True): "max"}.get(beyond, "both")
        look: dict[str, Any] = {"location": "bottom", "aspect": 35, "shrink": 0.9, "pad": pad, "extend": ends}
        bar = drawn.colorbar(image, ax=used[which], **look)
        bar.outline.set_visible(False)  # type: ignore[operator]
        bar.ax.tick_params(labelsize=points(7.5))
        note = in_symbols(figure.notes.get(which, ""))
        text = textwrap.fill(note, max(20, int(14 * width / factor())))
        bar.set_label(f"{label}\n{text}".strip(), fontsize=points(8))
    below = [f"{which}: {text}" for which, text in figure.notes.items() if which not in images and text]
    layout.note_below(drawn, "\n".join([figure.text("bands"), *below]))
    for unused in free:
        grid.flat[unused].remove()
    return drawn


def _heat_map(axes: "Axes", view: HeatMap, limits: tuple[float, float], room: tuple[float, float]) -> Any:
    """Draw one panel; room: width and height of its picture in inches, which decide on the annotations."""
    from matplotlib.patches import Rectangle

    columns, rows = view.columns, view.rows
    scale: dict[str, Any] = {"vmin": limits[0], "vmax": limits[1], "cmap": "cividis_r"}
    image = axes.imshow(view.mean, aspect="auto", origin="lower", **scale)
    _bare(axes)
    step = -(-len(columns) // 10), -(-len(rows) // 10)
    axes.set_xticks(range(0, len(columns), step[0]), columns[:: step[0]])
    axes.set_yticks(range(0, len(rows), step[1]), rows[:: step[1]])
    axes.set_xlabel(view.x_label if any(columns) else "")
    axes.set_ylabel(view.y_label if any(rows) else "")
    best = view.best
    annotated = room[0] / len(columns) >= 0.36 and room[1] / len(rows) >= 0.17
    for (i, j), rate in np.ndenumerate(view.mean):
        if annotated and not np.isnan(rate):
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": points(7.5)}
            look["weight"] = "bold" if (i, j) == best else "normal"
            look["color"] = "white" if rate > (limits[0] + limits[1]) / 2 else "black"
            axes.text(j, i, f"{rate:.1f}", **look)
    frame: dict[str, Any] = {"fill": False, "edgecolor": "black", "linewidth": 2, "zorder": 4}
    axes.add_patch(Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, clip_on=False, **frame))
    return image


def _bare(axes: "Axes") -> None:
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


# -------------------------------------------------------------------- confusion matrices

_CELL = 0.32  # inches of a class, where there is room
_SMALLEST, _LARGEST = 1.5, 4.2  # inches of a panel's picture
_LEAST_CELL = 0.26  # inches that a count needs
_BESIDE = 0.9  # inches of a panel beside its picture and the names
_NAME = 14  # characters of a class's name
MOST_TICKS = 20
GAMMA = 0.45  # of the colours, so that a share of one percent is seen


def _confusions(figure: Figure) -> "Drawn":
    """Draw matrices: colours are shares of the true class's examples, numbers mean counts, where they fit."""
    views = cast(Sequence[Confusion], figure.views())
    most, count = max(len(view.classes) for view in views), len(views)
    side = float(np.clip(_CELL * most, _SMALLEST, _LARGEST))
    label = 0.075 * factor() * max(len(_short(name)) for view in views for name in view.classes)
    room = side + label + _BESIDE
    columns = max(1, min(layout.PANEL_COLUMNS, int(layout.WIDEST_FIGURE / room)))
    height, wide = layout.grid_shape(count, columns, _SMALLEST + label + 0.9)
    if width := current().width:
        side = max(0.5, width / wide - label - _BESIDE)
    drawn = layout.new_figure(room * wide, (side + label + 0.95) * height + 0.75)
    every, numbered = layout.subplots(drawn, count, height, wide), False
    single = len({panel.group for panel in figure.panels}) == 1
    for axes, panel, view in zip(every, figure.panels, views, strict=True):
        image, numbers = _confusion_panel(axes, view, side)
        numbered |= numbers
        title = panel.name.removeprefix(f"{panel.group} · ") if single else panel.name
        below = f"{view.mistakes:.2f} % mistakes"
        layout.panel_title(axes, in_symbols(title), count == 1, 9.0, below=below)
    lines = max(axes.get_title("left").count("\n") for axes in every)
    drawn.set_figheight(drawn.get_figheight() + points(9) / 60 * lines * height)
    shrink = min(1.0, 4.0 / (room * wide))
    bar = drawn.colorbar(image, ax=every, location="bottom", aspect=40, shrink=shrink)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(labelsize=points(7.5))
    bar.set_ticks([0, 1, 5, 20, 50, 100])
    bar.set_label(views[0].label, fontsize=points(8))
    text = "numbers: examples of one pass; " if numbered else ""
    layout.note_below(drawn, text + figure.text(""))
    layout.put_title(drawn, figure.title)
    return drawn


def _confusion_panel(axes: "Axes", view: Confusion, side: float) -> tuple[Any, bool]:
    """Draw one matrix; return its picture, and whether there are numbers in it; side: its inches."""
    from matplotlib.colors import PowerNorm

    C, shares = len(view.classes), np.ma.masked_invalid(view.shares)
    image = axes.imshow(shares, cmap="Blues", norm=PowerNorm(GAMMA, 0, 100), interpolation="nearest")
    _bare(axes)
    step = -(-C // MOST_TICKS)
    ticks, names = range(0, C, step), [_short(name) for name in view.classes[::step]]
    long = max(map(len, names)) > 3
    turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axes.set_xticks(ticks, names, **turned)
    axes.set_yticks(ticks, names)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    places = 0 if (view.counts == np.round(view.counts)).all() else 1
    texts = [[_count(count, places) for count in row] for row in view.counts]
    longest = max(len(text) for row in texts for text in row)
    letter = 0.0075 * points(7.5)
    numbered = side / C >= max(_LEAST_CELL, letter * longest)
    if numbered:
        for i, j in np.ndindex(C, C):
            if texts[i][j]:
                dark = shares[i, j] > 25
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": points(7.5)}
                axes.text(j, i, texts[i][j], color="white" if dark else "#333333", **look)
    return image, numbered


def _count(count: float, places: int) -> str:
    """Return a mean count as text, empty for 0, with a decimal where it is small."""
    if count == 0:
        return ""
    return f"{count:.{places if count < 10 else 0}f}" if count >= 0.05 or not places else "<.1"


def _short(name: str) -> str:
    name = label_text(name)
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


# -------------------------------------------------------------------- ranks

_ROW = 0.21  # inches, of a label in the diagram; everything below the scale is measured in such rows
_BETWEEN = 0.42  # rows between bars
_SCALE = 4.4  # inches


def _ranks(figure: Figure, ranks: Ranks) -> "Drawn":
    """Draw the critical-difference diagram (Demsar, 2006, Figure 1): a scale, best at the left, with labels.

    A thick bar joins learners that do not differ significantly. The better half is at the left.
    """
    names, groups = list(ranks.drawn), ranks.drawn_groups
    half = (len(names) + 1) // 2
    k = max(len(names), int(np.ceil(ranks.drawn[names[-1]])))  # the end of the scale
    deep = 0.9 + _BETWEEN * len(groups)  # rows from the scale to the first label
    beside = 2 * (0.3 + 0.068 * factor() * (max(map(len, names)) + 7))
    width = current().width or _SCALE + beside
    caption = [line for part in (figure.caption, *figure.more) for line in _wrapped(part, width)]
    above = 0.4 if figure.title and current().title else 0.15
    drawn = layout.new_figure(width, _ROW * (3.2 + deep + half) + 0.17 * len(caption) + above)
    axes = drawn.subplots()
    axes.set_axis_off()
    axes.set_xlim(1, k)
    axes.set_ylim(deep + half, -3.2)
    step = max(1, int(np.ceil(0.16 * (k - 1) / max(width - beside, 0.5))))
    _scale(axes, ranks.cd, k, step)
    for number, name in enumerate(names):
        row = deep + (number if number < half else len(names) - 1 - number)
        _leg(axes, ranks.average[name], name, row, number < half, k, layout.line_look(figure.styles[name]))
    for number, group in enumerate(groups):
        y, out = 0.45 + _BETWEEN * number, 0.006 * (k - 1)
        ends = [ranks.average[group[0]] - out, ranks.average[group[-1]] + out]
        axes.plot(ends, [y, y], color="#222222", linewidth=3.5, solid_capstyle="butt", zorder=4)
    drawn.supxlabel("\n".join(caption), fontsize=points(7.5), color=layout.GREY, x=0.5)
    layout.put_title(drawn, figure.title)
    return drawn


def _wrapped(text: str, width: float) -> list[str]:
    """Break a line between its parts, and parts that are longer than a line between words."""
    room = int(width / (0.06 * factor()))
    lines: list[str] = []
    for part in text.split(" · "):
        if lines and len(lines[-1]) + 3 + len(part) <= room:
            lines[-1] += f" · {part}"
        else:
            lines += textwrap.wrap(part, room, break_on_hyphens=False)
    return lines


def _scale(axes: "Axes", cd: float, k: int, step: int) -> None:
    """Draw the scale, and above it the critical difference; with an arrow where that is longer.

    step: between the ranks that have a number
    """

    def stroke(x: list[float], y: list[float]) -> None:
        axes.plot(x, y, color="black", linewidth=1.0, clip_on=False)

    stroke([1, k], [0, 0])
    for rank in range(1, k + 1):
        stroke([rank, rank], [0, -0.35])
        number = "" if (rank - 1) % step else str(rank)
        axes.text(rank, -0.5, number, ha="center", va="bottom", fontsize=points(8))
    fits, end = 1 + cd <= k, min(1 + cd, k)
    stroke([1, end], [-2.0, -2.0])
    for place in (1, end) if fits else (1,):
        stroke([place, place], [-2.2, -1.8])
    text = f"CD = {cd:.2f}{'' if fits else ' →'}"
    axes.text((1 + end) / 2, -2.3, text, ha="center", va="bottom", fontsize=points(8))


def _leg(axes: "Axes", rank: float, name: str, row: float, left: bool, k: int, look: dict) -> None:
    side = 1 - 0.02 * (k - 1) if left else k + 0.02 * (k - 1)
    look = {**look, "linewidth": 1.2, "clip_on": False, "solid_joinstyle": "miter", "markevery": [2]}
    axes.plot([rank, rank, side], [0, row, row], **look)
    name = in_symbols(name)
    text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
    place: dict[str, Any] = {"ha": "right" if left else "left", "va": "center", "annotation_clip": False}
    offset = (-5 if left else 5, 0)
    axes.annotate(text, (side, row), offset, textcoords="offset points", fontsize=points(8.5), **place)


# -------------------------------------------------------------------- pictures

_GAP = 2  # pixels around a picture
_TEXT = 7  # pixels below it, for the score
_PICTURE = 0.42  # inches of a picture where the width is chosen: its score has room
ACROSS = 5


def _pictures(figure: Figure, across: int = ACROSS) -> "Drawn":
    """Draw panels of square pictures side by side, ``across`` pictures in a row, the least value white.

    Where the chosen width has no room for the scores, panels are below each other, and rows longer.
    """
    views, count = cast(Sequence[Pictures], figure.views()), len(figure.panels)
    filled = [view.values for view in views if view.values.size]
    limits = {"vmin": min(v.min() for v in filled), "vmax": max(v.max() for v in filled)}
    chosen = current().width
    down, wide = layout.grid_shape(count, narrowest=_PICTURE * across + 0.3)
    across = max(across, int((chosen / wide - 0.3) / _PICTURE)) if chosen and down > 1 else across
    rows = max(-(-len(view.values) // across) for view in views)
    drawn = layout.new_figure(wide * (0.48 * across + 0.3), 0.55 * rows * down + 0.7)
    every = layout.subplots(drawn, count, down, wide)
    for axes, panel, view in zip(every, figure.panels, views, strict=True):
        side = round(np.sqrt(view.values.shape[1]))
        wide, high = side + 2 * _GAP, side + _GAP + _TEXT
        sheet = np.full((rows * high, across * wide), np.nan)
        for number, (values, score) in enumerate(zip(view.values, view.scores, strict=True)):
            top, left = number // across * high + _GAP, number % across * wide + _GAP
            sheet[top : top + side, left : left + side] = values.reshape(side, side)
            text = f"{score:.{view.digits}f}".replace("-", "−")
            axes.text(left + side / 2, top + side, text, ha="center", va="top", fontsize=points(6))
        axes.imshow(sheet, cmap="gray_r", interpolation="nearest", **limits)
        axes.set_axis_off()
        axes.set_title(panel.name if len(view.values) else f"{panel.name}: none")
    layout.note_below(drawn, figure.text(""))
    layout.put_title(drawn, figure.title)
    return drawn

"""Lines drawn by matplotlib: panels of curves, their spread, overlaps, axes and legend."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omkl.config.settings_text import value_text
from omkl.reports import figure_layout as layout
from omkl.reports.figure_layout import line_look, mark_broken
from omkl.reports.figure_style import current, factor, points
from omkl.reports.figures import Curve, Figure, Lines, LineStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawn
    from matplotlib.lines import Line2D

FEW_BANDS = 4  # learners of a panel up to which each has a band; the bands of more would mix to one brown
FIRST = 10  # a rate over fewer examples is not drawn: it varies too much
SETTLED = 0.05  # the share of a stream after which the axis of a rate must show every curve
FEW = 12  # points up to which each is marked, because nothing is known between them
WIDEN = 1.5  # an axis of a rate may be so many times as long as the learners need, for yardsticks to be seen
NEAR = 0.012  # of a panel's height: about the width of a line
MOSTLY = 0.8  # share of two lines that must overlap before they are striped
_HEIGHTS = {1: 2.5, 2: 2.3875, 3: 1.91}  # inches of a curve's panel: alone, the upper, those below it
_BARS = 5  # on each line, where bars replace bands
Points = tuple[np.ndarray, np.ndarray]  # x and y, (n,) each
Styles = Mapping[str, LineStyle]


def draw_lines(figure: Figure) -> "Drawn":
    """Draw each panel's views one below the other; overlapping lines are striped in their colours."""
    from matplotlib.lines import Line2D

    first = cast(Lines, figure.panels[0].views[0])
    high = max(len(panel.views) for panel in figure.panels)
    heights = [_HEIGHTS[1] if high == 1 else _HEIGHTS[3 if place else 2] for place in range(high)]
    if first.kind == "value":
        heights = [2.9 if first.ring else 2.6]
    bands = few_bands(figure)
    count, alone = len(figure.panels), len(figure.panels) == 1
    drawn, stacks, columns = layout.stacks(count, heights, figure.styles, figure.columns)
    for place, (stack, panel) in enumerate(zip(stacks, figure.panels, strict=True)):
        views = cast(Sequence[Lines], panel.views)
        for number, (axes, view) in enumerate(zip(stack, views, strict=False)):
            _line_panel(axes, view, figure.styles, bands)
            finish_panel(axes, None if number else current().ylim)  # #SV below has a scale of its own
            others = {
                cast(Lines, own.views[number]).label for own in figure.panels if number < len(own.views)
            }
            # Left of each panel where the panels measure different things.
            if place % columns == 0 or len(others) > 1:
                axes.set_ylabel(view.label)
        for unused in stack[len(views) :]:
            unused.remove()
        *upper, lowest = stack[: len(views)]
        for axes in upper:
            axes.sharex(lowest)
            axes.tick_params(labelbottom=False)
        layout.panel_title(stack[0], panel.name, alone)
        lowest.set_xlabel(views[-1].x_label)
    drawn.align_ylabels() if high > 1 else drawn.align_xlabels()
    ends = [(axes, _ends(axes)) for axes in drawn.axes]
    seen = {name for _, own in ends for name in own}
    handles = {name: Line2D([], [], **line_look(own)) for name, own in figure.styles.items() if name in seen}
    caption = figure.text("bands" if bands else "bars")
    layout.put_title(drawn, figure.title)
    if len(handles) > layout.MOST_NAMES:
        layout.note_below(drawn, caption)
        layout.label_ends(drawn, ends, figure.styles)
    else:
        layout.legend_below(drawn, handles, caption)
    return drawn


def few_bands(figure: Figure) -> bool:
    """Return whether no panel has more learners than there may be bands in one: a figure has one kind."""
    views = [view for view in figure.views() if isinstance(view, Lines)]
    return all(len(_learners(view, figure.styles)) <= FEW_BANDS for view in views)


def _learners(view: Lines, styles: Styles) -> list[str]:
    return [line.name for line in view.lines if not styles[line.name].is_yardstick]


def _line_panel(axes: "Axes", view: Lines, styles: Styles, bands: bool) -> None:
    if view.kind == "value":
        value_panel(axes, view, styles, bands)
    else:
        _curve_panel(axes, view, styles, bands)


def finish_panel(axes: "Axes", limits: tuple[float, float] | None = None) -> None:
    """Set the ends of the y axis that the user wants; then stripe lines, and name those that end beyond it.

    A line that leaves the panel and comes back is not named: where it ends, its value can be read.
    """
    if limits:
        axes.set_ylim(*limits)
    part_lines(axes)
    low, high = axes.get_ylim()
    last = {
        name: float(np.asarray(line.get_ydata(), dtype=float)[-1]) for name, line in _labelled(axes).items()
    }
    note_left_out(axes, {name: y for name, y in last.items() if y < low or y > high})


def _curve_panel(axes: "Axes", view: Lines, styles: Styles, bands: bool) -> None:
    """Draw one measure over the examples of one data set, and set the limits and scales of its axes."""
    kind, lines = view.kind, view.lines
    end = max(line.x.max() for line in lines)
    if kind == "rate":
        lines = [_part(line, line.x >= min(FIRST, end)) for line in lines]
    if kind in ("count", "size") and not view.log:  # counts start at 0
        lines = [
            Curve(one.name, *(np.append(0.0, own) for own in (one.x, one.mean, one.std))) for one in lines
        ]
    learners = _learners(view, styles)
    for line in lines:
        most = 1.0 if kind == "share" else np.inf
        _draw_line(axes, line, styles[line.name], learners, bands=bands, most=most)
    axes.set_xlim(0, end)
    if kind == "share":
        axes.set_ylim(-0.02, 1.02)
        for drawn in axes.get_lines():
            if np.size(drawn.get_xdata()) <= FEW:
                marker = "o" if drawn.get_marker() == "None" else drawn.get_marker()
                drawn.set(marker=marker, markersize=3.5, markevery=None, clip_on=False)
    elif view.log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
        late = np.concatenate([line.mean[line.x >= SETTLED * end] for line in view.lines])
        if kind == "rate" and (late > 0).any():
            axes.set_ylim(0.8 * late[late > 0].min(), 1.25 * late.max())
    elif kind == "rate":
        _limit_rate(axes, lines, styles, view.signed)
    else:
        if not view.signed:
            axes.set_ylim(bottom=0)
        thousands(axes.yaxis)
    thousands(axes.xaxis)


def _part(line: Curve, places: np.ndarray) -> Curve:
    return Curve(line.name, line.x[places], line.mean[places], line.std[places])


def _limit_rate(axes: "Axes", lines: Sequence[Curve], styles: Styles, signed: bool) -> None:
    """Show all of the learners' curves but the start, and of the yardsticks what is not far away."""
    must_see: list[float] = []
    finals: dict[str, float] = {}
    late: dict[str, tuple[float, float]] = {}  # the range of each yardstick
    for line in lines:
        seen = line.x / line.x.max()
        if styles[line.name].is_yardstick:
            finals[line.name] = float(line.mean[-1])
            own = line.mean[seen >= 4 * SETTLED]
            late[line.name] = float(own.min()), float(own.max())
        else:
            mean, std = (values[seen >= SETTLED] for values in (line.mean, np.nan_to_num(line.std)))
            must_see += [*np.maximum(mean - std, -np.inf if signed else 0.0), *(mean + std)]
    most = {line: high for line, (_, high) in late.items()}
    _, out = robust_limits(must_see, most, WIDEN)
    (low, high), _ = robust_limits(must_see, most | {line: finals[line] for line in out}, WIDEN)
    low = min([low, *(least - 0.02 * abs(least) for least, _ in late.values())])
    axes.set_ylim(low, high)


def value_panel(axes: "Axes", view: Lines, styles: Styles, bands: bool = True) -> None:
    """Draw one panel over a hyperparameter: points, spread, and levels that are not far away."""
    must_see: list[float] = []
    levels: dict[str, float] = {}
    if view.log:
        axes.set_yscale("log")
        plain_log(axes.yaxis)
    learners = _learners(view, styles)
    for line in view.lines:
        style = styles[line.name]
        if style.is_yardstick:
            levels[line.name] = float(line.mean[0])
            axes.axhline(line.mean[0], label=line.name, **line_look(style))
            continue
        reach = np.nan_to_num(line.std)
        must_see += [
            *np.maximum(line.mean - reach, 0.5 * line.mean if view.log else 0.0),
            *(line.mean + reach),
        ]
        _draw_line(axes, line, style, learners, bands=bands, points=True)
        if view.ring and not line.is_level:
            ring: dict[str, Any] = {
                "markerfacecolor": "none",
                "markeredgecolor": style.colour,
                "markersize": 9,
                "zorder": 4,
            }
            best = int((view.sign * line.mean).argmin())
            axes.plot(line.x[best], line.mean[best], marker="o", linestyle="none", **ring)
    if not view.log:
        limits, _ = robust_limits(must_see, levels)
        axes.set_ylim(*limits)
        if limits[1] >= 1000:
            thousands(axes.yaxis)
    if view.ticks:
        _number_axis(axes, list(view.ticks), view.log_x)


def _draw_line(
    axes: "Axes",
    line: Curve,
    style: LineStyle,
    learners: Sequence[str],
    *,
    bands: bool,
    points: bool = False,
    most: float = np.inf,
) -> None:
    """Draw a line, and if it is one of ``learners``, its standard deviation.

    The spread is a band, or without ``bands`` bars at places of the line's own. points: mark all points, and
    give each a bar. most: where the spread ends, such as 1 of a share.
    """
    x, mean, std, own = line.x, line.mean, np.nan_to_num(line.std), line.name in learners
    look = line_look(style)
    band: dict[str, Any] = {"color": style.colour, "alpha": 0.15, "linewidth": 0, "zorder": 1.5}
    if line.is_level:
        axes.axhline(mean[0], label=line.name, **(look | {"marker": "None"} if own else look))
        if own and std[0] > 0 and bands:
            axes.axhspan(max(mean[0] - std[0], 0.0), mean[0] + std[0], **band | {"zorder": 1})
        return
    every = {"marker": "o", "markersize": 3.5, **look, "markevery": None} if points else look
    axes.plot(x, mean, label=line.name, **every)
    if not own or not line.varies:
        return
    least = 0.0 if (mean >= 0.0).all() else -np.inf
    low = np.maximum(mean - std, 0.5 * mean if axes.get_yscale() == "log" else least)
    high = np.minimum(mean + std, most)
    if bands:
        axes.fill_between(x, low, high, **band)
        return
    step = 1 if points else max(1, x.size // _BARS)
    some = slice(list(learners).index(line.name) * step // len(learners), None, step)
    bar = {"color": style.colour, "alpha": 0.7, "linewidth": 0.9, "zorder": look["zorder"]}
    axes.vlines(x[some], low[some], high[some], **bar)


# -------------------------------------------------------------------- axes and their limits


def robust_limits(
    learners: list[float], yardsticks: dict[str, float], widen: float = 2.0
) -> tuple[tuple[float, float], list[str]]:
    """Return the limits of an axis of a measure such as mistake rates, and the yardsticks they leave out.

    learners: all values that must be seen; yardsticks: one value each. A yardstick better than the learners
    is always seen; one that is worse is left out where it would press the rest into less than 1/``widen``
    of the axis.
    """
    values = learners or list(yardsticks.values())
    low, high = min([*values, *yardsticks.values()]), max(values)
    span = max(high - low, 0.02 * abs(high), 1e-9)
    high = max([high, *(v for v in yardsticks.values() if v <= high + span * (widen - 1))])
    margin = 0.06 * max(high - low, span)
    left_out = [name for name, value in yardsticks.items() if value > high]
    return (low - margin if low < 0 else max(0.0, low - margin), high + margin), left_out


def note_left_out(axes: "Axes", values: Mapping[str, float], across: bool = False) -> None:
    """Name above a panel what is beyond its y axis (or x axis: across), with the values; break the axis."""
    low, high = axes.get_xlim() if across else axes.get_ylim()
    arrows = ("←", "→") if across else ("↓", "↑")
    parts = [
        f"{name} {value:{'.1f' if value >= 1 else '.2g'}} {arrows[int(value >= (low + high) / 2)]}"
        for name, value in values.items()
    ]
    if parts:
        if any(value > high for value in values.values()):
            mark_broken(axes, across)
        about: dict[str, Any] = {"fontsize": points(7), "fontweight": "normal", "color": "#666666"}
        axes.set_title("\n".join(parts), loc="right", **about)


def plain_number(value: float) -> str:
    """Return a number of an axis without an exponent: ``0.6``, ``10,000``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6f}".rstrip("0").rstrip(".")


def plain_log(axis: "Axis") -> None:
    """Label an axis of a log scale with plain numbers: 0.6 and 10,000, not 6e-01 and 10^4."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return plain_number(x) if super().__call__(x, pos) else ""  # "" where a label has no room

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(2, 0.5)))


def thousands(axis: "Axis") -> None:
    """Put few ticks on an axis of counts, with commas."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter("{x:,.0f}")


def _number_axis(axes: "Axes", values: list[float], log: bool) -> None:
    """Put ticks at the swept values (ascending), where there is room."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if log:
        axes.set_xscale("log")
    places = np.log(values) if log else np.asarray(values, dtype=float)
    shown: list[float] = []
    last = -np.inf
    span = places[-1] - places[0]
    crowded = current().width and 2.5 * factor() / layout.panel_width(axes)
    letter = 0.019 * max(1.0, crowded or 0.0)
    for value, place in zip(values, places, strict=True):
        if place - last >= span * letter * (2 + len(value_text(value))):
            shown.append(value)
            last = place
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([value_text(float(value)) for value in shown]))
    axes.xaxis.set_minor_locator(NullLocator())


# -------------------------------------------------------------------- lines that overlap, or are out of view


def part_lines(axes: "Axes") -> None:
    """Stripe labelled lines that overlap over most of their length; call it once the limits are set."""
    groups: list[list[tuple[Line2D, Points]]] = []
    for line in _labelled(axes).values():
        own = _in_panel(axes, line)
        group = next((group for group in groups if _near(group[0][1], own)), None)
        if group is None:
            groups.append([(line, own)])
        else:
            group.append((line, own))
    for group in groups:
        stripe([line for line, _ in group])


def stripe(lines: "Sequence[Line2D]", length: float = 4.0) -> None:
    """Give lines dashes that take turns, so that each colour shows; length: of a dash in line widths."""
    for number, line in enumerate(lines):
        if len(lines) > 1:
            # A positive offset starts inside the pattern: later lines start with a longer gap.
            offset = length * (len(lines) - number) % (length * len(lines))
            line.set_linestyle((offset, (length, length * (len(lines) - 1))))


def _labelled(axes: "Axes") -> "dict[str, Line2D]":
    """Return the lines of a panel that a legend may name, by name."""
    named = {str(line.get_label()): line for line in axes.get_lines()}
    return {name: line for name, line in named.items() if not name.startswith("_")}


def _inside(y: np.ndarray) -> bool:
    y = y[np.isfinite(y)]
    return bool(y.size) and bool(y.min() <= 1.0 and y.max() >= 0.0)


def _in_panel(axes: "Axes", line: "Line2D") -> Points:
    """Return a line's points as shares of the panel; a level line spans the panel."""
    xy = np.array(line.get_xydata(), dtype=float)
    scale = axes.transScale + axes.transLimits
    if line.get_transform() == axes.get_yaxis_transform(which="grid"):
        return xy[:, 0], scale.transform(np.column_stack([[axes.get_xlim()[0]] * 2, xy[:, 1]]))[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = scale.transform(xy).T
    return x, y


def _ends(axes: "Axes") -> dict[str, tuple[float, float]]:
    """Return where the labelled lines of a panel that are in view end, as shares of the panel."""
    ends = {}
    for name, line in _labelled(axes).items():
        x, y = _in_panel(axes, line)
        if _inside(y):
            last = np.flatnonzero(np.isfinite(y))[-1]
            ends[name] = (float(np.clip(x[last], 0.0, 1.0)), float(np.clip(y[last], 0.0, 1.0)))
    return ends


def _near(one: Points, other: Points) -> bool:
    start, stop = max(one[0].min(), other[0].min()), min(one[0].max(), other[0].max())
    wide = max(np.ptp(one[0]), np.ptp(other[0]))
    if stop - start < MOSTLY * wide or not (_inside(one[1]) and _inside(other[1])):
        return False
    x = np.linspace(start, stop, 60)
    gaps = np.abs(np.interp(x, *one) - np.interp(x, *other))
    return bool((gaps <= NEAR).mean() >= MOSTLY)

"""Lines of figures: their names and styles, spread, overlaps, axes and legend."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import value_text
from omkl.reports import captions, layout, style
from omkl.reports import look as looking
from omkl.reports.end_labels import label_ends
from omkl.reports.measures import learners_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FEW_BANDS = 4  # learners of a panel up to which each has a band; the bands of more would mix to one brown
NEAR = 0.012  # of a panel's height: about the width of a line
MOSTLY = 0.8  # share of two lines that must overlap before they are striped
WIDE = 30.0  # ratio of values from which on an axis is logarithmic
_POINTS = 60
_BARS = 5  # on each line, where bars replace bands

Points = tuple[np.ndarray, np.ndarray]  # x and y, (n,) each


def names_of(table: "pd.DataFrame") -> tuple[list[str], list[str]]:
    """Return the names of the learners and those of the yardsticks, in order; a learner is no yardstick."""
    learners = list(dict.fromkeys(learners_of(table)["line"]))
    return learners, [name for name in dict.fromkeys(table["line"]) if name not in learners]


def styles_of(table: "pd.DataFrame", palette: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the style of each learner and yardstick; palette: as in style.line_styles."""
    return style.line_styles(*names_of(table), palette)


def finish(
    figure: "Figure",
    table: "pd.DataFrame",
    styles: dict[str, dict[str, Any]],
    *,
    by: str = "data",
    stds: Sequence[str] = (),
    more: str = "",
    warnings: Iterable[str] = (),
    title: str = "",
) -> None:
    """Add the title, and below the panels the legend of the lines in view, a caption and the warnings.

    More lines than a legend can name are named where they end.

    table: a row per point, panels in its column ``by``; stds: its columns of standard deviations that are
    drawn; without a column ``reps`` the caption is ``more`` alone.
    """
    from matplotlib.lines import Line2D

    ends = [(axes, _ends(axes)) for axes in figure.axes]
    seen = {name for _, own in ends for name in own}
    handles = {name: Line2D([], [], **look) for name, look in styles.items() if name in seen}
    spread = "bands" if few_bands(table, by) else "bars"
    caption = captions.caption(table, spread, stds) if "reps" in table else ""
    layout.put_title(figure, title)
    if len(handles) > layout.MOST_NAMES:
        layout.note_below(figure, caption + more, warnings)
        label_ends(figure, ends, styles)
    else:
        layout.legend_below(figure, handles, caption + more, warnings)


def few_bands(table: "pd.DataFrame", by: str = "data") -> bool:
    """Return whether no panel has more learners than there may be bands in one: a figure has one kind."""
    return bool((learners_of(table).groupby(by)["line"].nunique() <= FEW_BANDS).all())


# -------------------------------------------------------------------- spread


def draw_line(
    axes: "Axes",
    x: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    name: str,
    look: dict[str, Any],
    learners: Sequence[str],
    *,
    bands: bool,
    points: bool = False,
    most: float = np.inf,
) -> None:
    """Draw a line (n,), and if it is one of ``learners``, its standard deviation (NaN where there is none).

    The spread is a band, or without ``bands`` bars at places of the line's own. A line whose x are all NaN
    is level. points: mark all points, and give each a bar. most: where the spread ends, such as
    1 of a share.
    """
    std = np.nan_to_num(std)
    band = {"color": look["color"], "alpha": 0.15, "linewidth": 0, "zorder": 1.5}
    if np.isnan(x).all():
        axes.axhline(mean[0], label=name, **(look | {"marker": "None"} if name in learners else look))
        if name in learners and std[0] > 0 and bands:
            axes.axhspan(max(mean[0] - std[0], 0.0), mean[0] + std[0], **band | {"zorder": 1})
        return
    every = {"marker": "o", "markersize": 3.5, **look, "markevery": None} if points else look
    axes.plot(x, mean, label=name, **every)
    if name not in learners or not std.any():
        return
    least = 0.0 if (mean >= 0.0).all() else -np.inf
    low = np.maximum(mean - std, 0.5 * mean if axes.get_yscale() == "log" else least)
    high = np.minimum(mean + std, most)
    if bands:
        axes.fill_between(x, low, high, **band)
        return
    step = 1 if points else max(1, x.size // _BARS)
    some = slice(list(learners).index(name) * step // len(learners), None, step)
    bar = {"color": look["color"], "alpha": 0.7, "linewidth": 0.9, "zorder": look["zorder"]}
    axes.vlines(x[some], low[some], high[some], **bar)


# -------------------------------------------------------------------- lines that overlap, or are out of view


def part_lines(axes: "Axes") -> None:
    """Stripe labelled lines that overlap over most of their length; call it once the limits are set."""
    drawn = _labelled(axes)
    groups: list[list[tuple[Line2D, Points]]] = []
    for line in drawn.values():
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
    return {
        str(line.get_label()): line for line in axes.get_lines() if not str(line.get_label()).startswith("_")
    }


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
    x = np.linspace(start, stop, _POINTS)
    gaps = np.abs(np.interp(x, *one) - np.interp(x, *other))
    return bool((gaps <= NEAR).mean() >= MOSTLY)


# -------------------------------------------------------------------- axes


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


def is_log_spaced(values: Iterable[float]) -> bool:
    """Return whether positive values are spread more evenly on a log axis, over a factor of 8 at least."""
    ordered = sorted(set(values))
    if len(ordered) < 2 or ordered[0] <= 0 or ordered[-1] / ordered[0] < 8:
        return False
    log, linear = (steps.std() / steps.mean() for steps in (np.diff(np.log(ordered)), np.diff(ordered)))
    # Two values over such a factor say nothing about their spacing; 0.01 and 0.1 are meant as decades.
    return len(ordered) == 2 or bool(log < linear)


def number_axis(axes: "Axes", values: list[float]) -> None:
    """Put ticks at the swept values (ascending), where there is room."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    log = is_log_spaced(values)
    if log:
        axes.set_xscale("log")
    places = np.log(values) if log else np.asarray(values, dtype=float)
    shown: list[float] = []
    last = -np.inf
    span = places[-1] - places[0]
    crowded = looking.current().width and 2.5 * looking.factor() / layout.panel_width(axes)
    letter = 0.019 * max(1.0, crowded or 0.0)
    for value, place in zip(values, places, strict=True):
        if place - last >= span * letter * (2 + len(value_text(value))):
            shown.append(value)
            last = place
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([value_text(float(value)) for value in shown]))
    axes.xaxis.set_minor_locator(NullLocator())

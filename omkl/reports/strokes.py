"""How lines are drawn so that each can be seen: their spread, lines on one another, which are in view."""

from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.reports import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

FEW_BANDS = 4  # learners of a panel up to which each has a band; the bands of more are one brown
NEAR = 0.012  # of a panel's height: about the width of a line
MOSTLY = 0.8  # of two lines that lie on one another
_POINTS = 60
_BARS = 5  # on each line, where bars stand in for bands


def spread_name(counts: list[int]) -> str:
    """Return what shows the standard deviation in panels of so many learners."""
    names = ["bands"] * any(count <= FEW_BANDS for count in counts)
    names += ["bars"] * any(count > FEW_BANDS for count in counts)
    return " or ".join(names)


def draw_spread(
    axes: "Axes",
    x: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    look: dict,
    place: int,
    of: int,
    *,
    every: bool = False,
) -> None:
    """Draw ±1 standard deviation of a line: a band, or bars at its own places where there are many lines.

    x, mean, std (n,), NaN in std where there is none; place: of the line among ``of``, from 0; every: bars at
    all points, for lines of few.
    """
    std = np.nan_to_num(std)
    if not std.any():
        return
    log = axes.get_yscale() == "log"
    low = np.maximum(mean - std, 0.5 * mean if log else 0.0)
    if of <= FEW_BANDS:
        band = {"color": look["color"], "alpha": 0.15, "linewidth": 0, "zorder": 1.5}
        axes.fill_between(x, low, mean + std, **band)
        return
    step = 1 if every else max(1, x.size // _BARS)
    some = slice(place * step // of, None, step)
    bar = {"color": look["color"], "alpha": 0.7, "linewidth": 0.9, "zorder": look["zorder"]}
    axes.vlines(x[some], low[some], (mean + std)[some], **bar)


def draw_level(axes: "Axes", mean: float, std: float, look: dict, name: str, of: int) -> None:
    """Draw a level line, and its band where there are few learners (``of``) in the panel."""
    axes.axhline(mean, label=name, **{**look, "marker": "None"})
    if std > 0 and of <= FEW_BANDS:
        band = {"color": look["color"], "alpha": 0.15, "linewidth": 0, "zorder": 1}
        axes.axhspan(max(mean - std, 0.0), mean + std, **band)


def part_lines(axes: "Axes") -> None:
    """Let labelled lines that lie on one another over most of their way take turns; the limits are set."""
    lines = {line.get_label(): line for line in labelled(axes)}
    seen = {name: _in_panel(axes, line) for name, line in lines.items()}
    groups: list[list[str]] = []
    for name, own in seen.items():
        group = next((group for group in groups if _near(seen[group[0]], own)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    style.stripe(lines, {name: [place] for place, group in enumerate(groups) for name in group})


def labelled(axes: "Axes") -> "list[Line2D]":
    """Return the lines of a panel that a legend may name."""
    return [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]


def in_view(panels: "list[Axes]") -> set[Any]:
    """Return the labels of the lines of which some panel shows a part; the limits are set."""
    return {
        line.get_label() for axes in panels for line in labelled(axes) if _visible(_in_panel(axes, line)[1])
    }


def _visible(y: np.ndarray) -> bool:
    y = y[np.isfinite(y)]
    return bool(y.size) and bool(y.min() <= 1.0 and y.max() >= 0.0)


def _in_panel(axes: "Axes", line: "Line2D") -> tuple[np.ndarray, np.ndarray]:
    """Return a line's points as shares of the panel, (n,) and (n,); a level line spans the panel."""
    xy = np.array(line.get_xydata(), dtype=float)
    if line.get_transform() == axes.get_yaxis_transform(which="grid"):
        y = (axes.transScale + axes.transLimits).transform(
            np.column_stack([[axes.get_xlim()[0]] * 2, xy[:, 1]])
        )
        return xy[:, 0], y[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple((axes.transScale + axes.transLimits).transform(xy).T)


def _near(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    start, stop = max(one[0].min(), other[0].min()), min(one[0].max(), other[0].max())
    wide = max(np.ptp(one[0]), np.ptp(other[0]))
    if stop - start < MOSTLY * wide or not (_visible(one[1]) and _visible(other[1])):
        return False
    x = np.linspace(start, stop, _POINTS)
    gaps = np.abs(np.interp(x, *one) - np.interp(x, *other))
    return bool((gaps <= NEAR).mean() >= MOSTLY)

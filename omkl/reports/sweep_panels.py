"""One panel of a sweep over one number: a curve for each learner, and the axis of its values."""

from typing import TYPE_CHECKING

import numpy as np

from omkl.config.settings_text import value_text
from omkl.reports import strokes, style
from omkl.reports.task_measures import measure_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def is_log_spaced(values: list[float]) -> bool:
    """Return whether positive values are spread more evenly on a log axis, over a factor of 8 at least."""
    values = sorted(set(values))
    if len(values) < 2 or values[0] <= 0 or values[-1] / values[0] < 8:
        return False

    def unevenness(steps: np.ndarray) -> float:
        return float(steps.std() / steps.mean())

    # Two values over such a factor say nothing about their spacing; 0.01 and 0.1 are meant as decades.
    return len(values) == 2 or unevenness(np.diff(np.log(values))) < unevenness(np.diff(values))


def curve_panel(axes: "Axes", part: "pd.DataFrame", at: str, values: list[float], styles: dict) -> None:
    """Draw a data set's panel: a line per learner, level where it lacks the swept number."""
    must_see: list[float] = []
    levels: dict[str, float] = {}
    learners = list(dict.fromkeys(part.loc[~part["is_yardstick"].astype(bool), "line"]))
    name = measure_of(part).name
    for (line, is_yardstick), rows in part.groupby(["line", "is_yardstick"], sort=False):
        rows = rows.sort_values(at)
        x, mean = rows[at].to_numpy(), rows[f"{name}_mean"].to_numpy(dtype=float)
        std = np.nan_to_num(rows[f"{name}_std"].to_numpy(dtype=float))
        look = styles[line]
        if is_yardstick:
            axes.axhline(mean[0], label=line, **look)
            levels[line] = float(mean[0])
            continue
        must_see += [*np.maximum(mean - std, 0.0), *(mean + std)]
        if np.isnan(x).all():
            strokes.draw_level(axes, mean[0], std[0], look, line, len(learners))
            continue
        axes.plot(x, mean, label=line, **style.with_points(look))
        strokes.draw_spread(axes, x, mean, std, look, learners.index(line), len(learners), every=True)
        lowest = int(mean.argmin())
        ring = {"markerfacecolor": "none", "markeredgecolor": look["color"], "markersize": 9, "zorder": 4}
        axes.plot(x[lowest], mean[lowest], marker="o", linestyle="none", **ring)
    limits, out = style.robust_limits(must_see, levels)
    axes.set_ylim(*limits)
    style.note_left_out(axes, {line: levels[line] for line in out})
    strokes.part_lines(axes)
    number_axis(axes, values)


def number_axis(axes: "Axes", values: list[float]) -> None:
    """Put ticks at the swept values, as many as have room."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    if is_log_spaced(values):
        axes.set_xscale("log")
        places = np.log(values)
    else:
        places = np.asarray(values, dtype=float)
    shown, last = [], -np.inf
    span = places[-1] - places[0]
    for value, place in zip(values, places, strict=True):
        if place - last >= span * 0.019 * (2 + len(value_text(value))):
            shown.append(value)
            last = place
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FixedFormatter([value_text(float(value)) for value in shown]))
    axes.xaxis.set_minor_locator(NullLocator())

"""Reliability diagrams: how often the class predicted is right where its probability is so large."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.figures.line_styles import LineStyle, line_styles
from omkl.figures.scales import thousands
from omkl.reports import captions
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of
from omkl.tasks import BINS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure


@dataclass(frozen=True)
class Reliability:
    """The bins (BINS,) of a row: rounds of one pass, the mean probability of the class predicted, and the
    share of the rounds in which it was right; NaN of an empty bin."""

    data: str
    line: str
    rounds: np.ndarray
    probability: np.ndarray
    right: np.ndarray


def reliability_diagram(cells: "pd.DataFrame", expected: ReportPlan, rows: list[Row] | None = None) -> Figure:
    """Return reliability diagrams of the learners' rows; of the yardsticks' only where there are no others.

    The bins are those of the expected calibration error, of all repetitions together. Raises UserError where
    no cell has probabilities.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    named = zip(rows, line_names(rows, expected), strict=True)
    every = [(row, _bins(cells, row, line)) for row, line in named]
    found = [(row, bins) for row, bins in every if bins]
    found = [(row, bins) for row, bins in found if not row.is_yardstick] or found
    if not found:
        raise UserError(
            "no stored cell has probabilities; choose a learner that gives them, such as auto, or run the "
            "learners with calibration=platt"
        )
    lines = list(dict.fromkeys(bins.line for _, bins in found))
    fewer = f"drawn: the first {style.MOST_LINES} of {len(lines)} learners"
    lines = lines[: style.MOST_LINES]
    sets, left_out = figure_names.first_panels(list(dict.fromkeys(row.data for row, _ in found)))
    panels = [[bins for _, bins in found if bins.data == data and bins.line in lines] for data in sets]
    note = join_notes(
        captions.basis(max(len(row.cells) for row, _ in found), [row.order for row, _ in found]),
        f"{BINS} equal bins of the probability of the class predicted",
        fewer if len({bins.line for _, bins in found}) > len(lines) else "",
        left_out,
    )
    warnings = captions.shortfall(
        (bins.line, row.data, row.order, len(row.cells), row.planned) for row, bins in found
    )
    styles = line_styles(lines)
    make = lambda: _draw(sets, panels, styles)  # noqa: E731
    return Figure("calibration", make, len(sets), "", note, warnings, expected.command)


def _bins(cells: "pd.DataFrame", row: Row, line: str) -> Reliability | None:
    """Return the bins of a row's cells together, None where they have no probabilities."""
    stored = [one for one in cells["reliability"].iloc[row.cells] if isinstance(one, list)]
    sums = np.zeros((3, BINS))
    for place, rounds, probability, right in (one for bins in stored for one in bins):
        sums[:, place] += rounds, rounds * probability, right
    if not stored:
        return None
    with np.errstate(invalid="ignore"):
        return Reliability(row.data, line, sums[0] / len(stored), *(sums[1:] / sums[0]))


def _draw(
    sets: Sequence[str], panels: Sequence[Sequence[Reliability]], styles: Mapping[str, LineStyle]
) -> "MplFigure":
    """Draw for each data set the shares over the probabilities, and below them how many rounds there are."""
    drawn, stacks = panel_grid.panels(len(sets), 1.6, 2)
    for (top, bottom), data, lines in zip(stacks, sets, panels, strict=True):
        panel_grid.panel_title(top, data, len(sets) == 1)
        low = min(float(np.nanmin(bins.probability)) for bins in lines)
        low = np.floor(low * BINS) / BINS
        top.plot([low, 1.0], [low, 1.0], color=style.GREY, linewidth=0.8, dashes=(3, 2), zorder=1)
        for bins in lines:
            _draw_bins(top, bottom, bins, styles[bins.line])
        top.set_xlim(low, 1.0)
        top.set_ylim(-0.02, 1.02)
        bottom.set_xlim(low, 1.0)
        bottom.set_ylim(bottom=0.0)
        thousands(bottom.yaxis, 3)
        top.tick_params(labelbottom=False)
        bottom.set_xlabel("probability")
        if panel_grid.is_leftmost(top):
            top.set_ylabel("share right")
            bottom.set_ylabel("rounds")
    drawn.align_ylabels()
    panel_grid.draw_legend(drawn, styles)
    return drawn


def _draw_bins(top: "Axes", bottom: "Axes", bins: Reliability, line_style: LineStyle) -> None:
    """Draw the bins of one line: a dot for each that holds something, and an outline of their counts."""
    line: dict[str, Any] = line_style.properties() | {"marker": line_style.marker or "o", "markersize": 3.2}
    there = bins.rounds > 0
    dots = line | {"markevery": None, "label": bins.line}
    top.plot(bins.probability[there], bins.right[there], **dots)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    properties = {name: line[name] for name in ("color", "linestyle", "zorder")}
    bottom.stairs(bins.rounds, edges, linewidth=1.2, **properties)

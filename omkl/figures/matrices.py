"""Confusion matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, shown
from omkl.figures import figure_names, panel_grid, style
from omkl.figures.figure import Figure
from omkl.figures.figure_names import join_notes
from omkl.passes import confusion as confusion_counts
from omkl.reports import captions
from omkl.reports.measures import class_names
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of
from omkl.reports.symbols import in_symbols

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MplFigure

MOST_TICKS = 20
GAMMA = 0.45  # of the colours, so that a share of one percent is seen
_NAME = 14  # characters of a class's name
_LEAST_CELL = 0.2  # inches that a count needs


@dataclass(frozen=True)
class Matrix:
    """Mean counts (C, C) of true classes (rows) over predicted ones; those cut (C,); mistakes in percent."""

    data: str
    line: str
    classes: Sequence[str]
    counts: np.ndarray
    cut: np.ndarray
    mistakes: float

    @property
    def shares(self) -> np.ndarray:
        """The counts over those of their true class, in percent; NaN of a class without examples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return 100.0 * self.counts / (self.counts.sum(axis=1) + self.cut)[:, None]


def confusion(
    cells: "pd.DataFrame",
    expected: ReportPlan,
    rows: list[Row] | None = None,
    *,
    name: str = "confusion",
    classes: Sequence[int] | None = None,
) -> Figure:
    """Return confusion matrices of the learners' rows; of the yardsticks' only where there are no others.

    Cells of regressions and novelty detections have no counts. classes: the numbers of
    classes of which matrices are made, None for any. Raises UserError where there is none.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    named = zip(rows, line_names(rows, expected), strict=True)
    every = [(row, _matrix(cells, row, line, expected, classes)) for row, line in named]
    shown = [(row, matrix) for row, matrix in every if matrix]
    shown = [(row, matrix) for row, matrix in shown if not row.is_yardstick] or shown
    if not shown:
        raise UserError("no stored cell has a confusion matrix; only classification has one")
    _, left_out = figure_names.first_panels(
        [f"{matrix.data} · {matrix.line}" for _, matrix in shown], "matrices"
    )
    drawn = [matrix for _, matrix in shown][: style.MOST_PANELS]
    sets = list(dict.fromkeys(matrix.data for matrix in drawn))
    text = join_notes(
        "numbers: examples of one pass, where there is room",
        captions.basis(max(len(row.cells) for row, _ in shown), [row.order for row, _ in shown]),
        "the rarest of the confusions are not drawn" if any(matrix.cut.any() for matrix in drawn) else "",
        left_out,
    )
    warnings = captions.shortfall(
        (matrix.line, row.data, row.order, len(row.cells), row.planned) for row, matrix in shown
    )
    title = sets[0] if len(sets) == 1 else ""
    return Figure(name, lambda: _draw(drawn), len(drawn), title, text, warnings, expected.command)


def _matrix(
    cells: "pd.DataFrame", row: Row, line: str, expected: ReportPlan, classes: Sequence[int] | None
) -> Matrix | None:
    """Return the matrix of a row, None where its cells have no counts, or not of so many classes."""
    stored = [one for one in cells["confusion"].iloc[row.cells] if isinstance(one, list | dict)]
    counts = confusion_counts.matrices(stored) if stored else np.zeros((0, 0, 1))
    if not stored or (classes is not None and counts.shape[1] not in classes):
        return None
    data, content = (str(cells[column].iat[row.cells[0]]) for column in ("data", "data_hash"))
    names = class_names(data, content, counts.shape[1], expected)
    mean = counts.mean(axis=0)
    mistakes = 100.0 * float(cells["mistake_rate"].to_numpy()[row.cells].astype(float).mean())
    return Matrix(row.data, line, names, mean[:, :-1], mean[:, -1], mistakes)


def _draw(matrices: Sequence[Matrix]) -> "MplFigure":
    """Draw matrices: colours are shares of the true class's examples, numbers mean counts, where they fit."""
    most = max(len(matrix.classes) for matrix in matrices)
    longest = max(len(_short(name)) for matrix in matrices for name in matrix.classes)
    # A matrix is square: its panel is as high as it is wide beside the names.
    beside = 0.45 + 0.055 * longest
    drawn, stacks = panel_grid.panels(len(matrices), 4.0, columns=3, narrowest=2.0)
    across = panel_grid.panels_per_row(drawn)
    side = float(np.clip(drawn.get_figwidth() / across - beside, 0.5, max(1.2, 0.3 * most)))
    rows = -(-len(matrices) // across)
    below = 0.055 * longest if longest > 3 else 0.1
    drawn.set_figheight(rows * (side + below + 0.6) + 0.45)
    several = len({matrix.data for matrix in matrices}) > 1
    image = None
    for (axes,), matrix in zip(stacks, matrices, strict=True):
        image = _panel(axes, matrix, side)
        title = f"{matrix.data} · {matrix.line}" if several else matrix.line
        axes.set_title(f"{in_symbols(title)}\n", loc="left")
        text = f"{matrix.mistakes:.2f} % mistakes"
        axes.text(0.0, 1.02, text, transform=axes.transAxes, fontsize=style.SMALL, va="bottom")
    place: dict[str, Any] = {
        "location": "bottom",
        "aspect": 40,
        "shrink": min(1.0, 3.2 / drawn.get_figwidth()),
    }
    bar = drawn.colorbar(image, ax=drawn.axes, **place)  # type: ignore[arg-type]
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6.5)
    bar.set_ticks([0, 1, 5, 20, 50, 100])
    bar.set_label("% of the true class's examples", fontsize=style.SMALL)
    return drawn


def _panel(axes: "Axes", matrix: Matrix, side: float) -> Any:
    """Draw one matrix, with numbers where there is room; return its picture. side: its inches."""
    from matplotlib.colors import PowerNorm

    C, shares = len(matrix.classes), np.ma.masked_invalid(matrix.shares)
    norm = PowerNorm(GAMMA, 0, 100)
    cells: dict[str, Any] = {"cmap": "Blues", "norm": norm, "edgecolor": "face", "linewidth": 0.1}
    edges = np.arange(C + 1) - 0.5
    image = axes.pcolormesh(edges, edges, shares, rasterized=C > 40, **cells)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    step = -(-C // MOST_TICKS)
    ticks, names = range(0, C, step), [_short(name) for name in matrix.classes[::step]]
    long = max(map(len, names)) > 3
    turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axes.set_xticks(ticks, names, **turned)
    axes.set_yticks(ticks, names)
    axes.set_xlabel("predicted class")
    if panel_grid.is_leftmost(axes):
        axes.set_ylabel("true class")
    places = 0 if (matrix.counts == np.round(matrix.counts)).all() else 1
    texts = [[_count(count, places) for count in row] for row in matrix.counts]
    longest = max(len(text) for row in texts for text in row)
    if side / C >= max(_LEAST_CELL, 0.058 * longest):
        for i, j in np.ndindex(C, C):
            if texts[i][j]:
                colour = "white" if shares[i, j] > 25 else "#333333"
                axes.text(j, i, texts[i][j], ha="center", va="center", fontsize=6.5, color=colour)
    return image


def _count(count: float, places: int) -> str:
    """Return a mean count as text, empty for 0, with a decimal where it is small."""
    if count == 0:
        return ""
    return f"{count:.{places if count < 10 else 0}f}" if count >= 0.05 or not places else "<.1"


def _short(name: str) -> str:
    name = shown(name)
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"

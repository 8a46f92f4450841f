"""Confusion matrices as heat maps: which class is taken for which, a panel per data set and learner."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.data import confusion
from omkl.data.labels import printable
from omkl.errors import UserError
from omkl.reports import captions, layout, style
from omkl.reports import look as looking
from omkl.reports.confusions import class_names
from omkl.reports.expected import Expected
from omkl.reports.look import points as size
from omkl.reports.rows import Row, line_names, rows_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_CELL = 0.32  # inches of a class, where there is room
_SMALLEST, _LARGEST = 1.5, 4.2  # inches of a panel's picture
_LEAST_CELL = 0.26  # inches that a count needs
_BESIDE = 0.9  # inches of a panel beside its picture and the names
_NAME = 14  # characters of a class's name
MOST_TICKS = 20
GAMMA = 0.45  # of the colours, so that a share of one percent is seen


class Confusion(NamedTuple):
    """A row's mean counts (C, C), those cut (C,), the names of the classes, and the mistakes in percent."""

    row: Row
    line: str
    counts: np.ndarray
    cut: np.ndarray
    names: list[str]
    mistakes: float

    @property
    def shares(self) -> np.ndarray:
        """The counts over those of their true class, in percent; NaN of a class without examples."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return 100.0 * self.counts / (self.counts.sum(axis=1) + self.cut)[:, None]


def confusions(cells: "pd.DataFrame", expected: Expected, rows: list[Row]) -> list[Confusion]:
    """Return the confusion matrices of the learners' rows; of the yardsticks' only where there are no others.

    None of cells without counts: those of regressions, novelty detections and older versions.
    """
    made = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        stored = [one for one in cells["confusion"].iloc[row.cells] if isinstance(one, list | dict)]
        if stored:
            counts = confusion.matrices(stored)
            data, content = (str(cells[name].iat[row.cells[0]]) for name in ("data", "data_hash"))
            names = class_names(data, content, counts.shape[1], expected)
            mean = counts.mean(axis=0)
            mistakes = 100.0 * float(cells["mistake_rate"].to_numpy()[row.cells].astype(float).mean())
            made.append(Confusion(row, line, mean[:, :-1], mean[:, -1], names, mistakes))
    return [one for one in made if not one.row.is_yardstick] or made


def confusion_figure(
    cells: "pd.DataFrame", out: str | Path, *, expected: Expected, rows: list[Row] | None = None
) -> list[Path]:
    """Draw the cells' confusion matrices to files and return these; out: as in style.save.

    Colours are shares of the true class's examples, numbers are mean counts of one pass, where they fit.
    Raises UserError where there is none.
    """
    made = confusions(cells, expected, rows_of(cells, expected) if rows is None else rows)
    if not made:
        raise UserError(
            "no stored cell has a confusion matrix: only classifications have one, and older versions did "
            "not store it; `omkl run --fresh` with the same words runs them again"
        )
    named = [(one.line, one.row.data, len(one.row.cells), one.row.planned) for one in made]
    with style.looks():
        figure = _draw(made, captions.shortfall(named))
    drawn = [one.row.learner for one in made], [one.row.data for one in made]
    return style.save(figure, out, "Confusion matrices", expected.command, ("confusion", *drawn))


def _draw(made: list[Confusion], warnings: list[str]) -> Any:
    most = max(len(one.names) for one in made)
    side = float(np.clip(_CELL * most, _SMALLEST, _LARGEST))
    label = 0.075 * looking.factor() * max(len(_short(name)) for one in made for name in one.names)
    room = side + label + _BESIDE
    columns = max(1, min(layout.PANEL_COLUMNS, int(layout.WIDEST_FIGURE / room)))
    height, wide = layout.grid_shape(len(made), columns, _SMALLEST + label + 0.9)
    if looking.current().width:
        side = max(0.5, looking.current().width / wide - label - _BESIDE)  # type: ignore[operator]
    figure = style.new_figure(room * wide, (side + label + 0.95) * height + 0.75)
    panels, numbered = layout.subplots(figure, len(made), height, wide), False
    for axes, one in zip(panels, made, strict=True):
        image, numbers = _panel(axes, one, side)
        numbered |= numbers
        title = one.line if len({each.row.data for each in made}) == 1 else f"{one.row.data} · {one.line}"
        errors = f"{one.mistakes:.2f} % mistakes"
        layout.panel_title(axes, style.in_symbols(title), len(made) == 1, 9.0, below=errors)
    lines = max(axes.get_title("left").count("\n") for axes in panels)
    figure.set_figheight(figure.get_figheight() + size(9) / 60 * lines * height)
    shrink = min(1.0, 4.0 / (room * wide))
    bar = figure.colorbar(image, ax=panels, location="bottom", aspect=40, shrink=shrink)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=size(7.5))
    bar.set_ticks([0, 1, 5, 20, 50, 100])
    bar.set_label("% of the true class's examples", fontsize=size(8))
    most_reps = max(len(one.row.cells) for one in made)
    text = "numbers: examples of one pass; " if numbered else ""
    text += captions.basis(most_reps, [one.row.order for one in made])
    if any(one.cut.any() for one in made):
        text += "; the rarest of the confusions are not drawn"
    layout.note_below(figure, text, warnings)
    data = dict.fromkeys(one.row.data for one in made)
    layout.put_title(figure, next(iter(data)) if len(data) == 1 else "")
    return figure


def _panel(axes: "Axes", one: Confusion, side: float) -> tuple[Any, bool]:
    """Draw one matrix; return its picture, and whether there are numbers in it; side: its inches."""
    from matplotlib.colors import PowerNorm

    C, shares = len(one.names), np.ma.masked_invalid(one.shares)
    image = axes.imshow(shares, cmap="Blues", norm=PowerNorm(GAMMA, 0, 100), interpolation="nearest")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    step = -(-C // MOST_TICKS)
    ticks, names = range(0, C, step), [_short(name) for name in one.names[::step]]
    long = max(map(len, names)) > 3
    turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axes.set_xticks(ticks, names, **turned)
    axes.set_yticks(ticks, names)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    places = 0 if (one.counts == np.round(one.counts)).all() else 1
    texts = [[_count(count, places) for count in row] for row in one.counts]
    longest = max(len(text) for row in texts for text in row)
    letter = 0.0075 * size(7.5)
    numbered = side / C >= max(_LEAST_CELL, letter * longest)
    if numbered:
        for i, j in np.ndindex(C, C):
            if texts[i][j]:
                dark = shares[i, j] > 25
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size(7.5)}
                axes.text(j, i, texts[i][j], color="white" if dark else "#333333", **look)
    return image, numbered


def _count(count: float, places: int) -> str:
    """Return a mean count as text, empty for 0, with a decimal where it is small."""
    if count == 0:
        return ""
    return f"{count:.{places if count < 10 else 0}f}" if count >= 0.05 or not places else "<.1"


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"

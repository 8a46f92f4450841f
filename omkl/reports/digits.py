"""Pictures of examples with their scores: which digits a novelty detector finds unusual."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omkl.errors import UserError
from omkl.reports import layout, style
from omkl.reports import look as looking
from omkl.reports.look import points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GAP = 2  # pixels around a picture
_TEXT = 7  # pixels below it, for the score
_WIDE = 0.42  # inches of a picture where the width is chosen: its score has room
ACROSS = 5


@dataclass(frozen=True)
class Pictures:
    """A panel: its title, the pictures' values (n, side * side) row by row, and the score below each.

    places: decimals of the scores
    """

    title: str
    values: np.ndarray
    scores: Sequence[float]
    places: int = 2


def draw_pictures(
    panels: Sequence[Pictures], *, across: int = ACROSS, title: str = "", note: str = ""
) -> "Figure":
    """Draw panels of square pictures side by side, ``across`` pictures in a row, the least value white.

    Where the chosen width has no room for the scores, panels are below each other, and rows longer. note: a
    line below. Raises UserError for no pictures, pictures that are not square, or another number of scores.
    """
    for panel in panels:
        side = round(np.sqrt(panel.values.shape[1])) if panel.values.ndim == 2 else 0
        if side * side != panel.values.shape[-1] or len(panel.scores) != len(panel.values):
            raise UserError(
                f"'{panel.title}': pictures need values (n, side * side) and n scores, "
                f"not {panel.values.shape} and {len(panel.scores)}"
            )
    filled = [panel.values for panel in panels if panel.values.size]
    if not filled:
        raise UserError("no pictures to draw")
    limits = {"vmin": min(v.min() for v in filled), "vmax": max(v.max() for v in filled)}
    chosen = looking.current().width
    down, wide = layout.grid_shape(len(panels), narrowest=_WIDE * across + 0.3)
    across = max(across, int((chosen / wide - 0.3) / _WIDE)) if chosen and down > 1 else across
    rows = max(-(-len(panel.values) // across) for panel in panels)
    with style.looks():
        figure = style.new_figure(wide * (0.48 * across + 0.3), 0.55 * rows * down + 0.7)
        for axes, panel in zip(layout.subplots(figure, len(panels), down, wide), panels, strict=True):
            side = round(np.sqrt(panel.values.shape[1]))
            wide, high = side + 2 * _GAP, side + _GAP + _TEXT
            sheet = np.full((rows * high, across * wide), np.nan)
            for number, (values, score) in enumerate(zip(panel.values, panel.scores, strict=True)):
                top, left = number // across * high + _GAP, number % across * wide + _GAP
                sheet[top : top + side, left : left + side] = values.reshape(side, side)
                text = f"{score:.{panel.places}f}".replace("-", "−")
                axes.text(left + side / 2, top + side, text, ha="center", va="top", fontsize=points(6))
            axes.imshow(sheet, cmap="gray_r", interpolation="nearest", **limits)
            axes.set_axis_off()
            axes.set_title(panel.title if len(panel.values) else f"{panel.title}: none")
        layout.note_below(figure, note)
        layout.put_title(figure, title)
    return figure

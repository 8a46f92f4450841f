"""Pictures of examples with their scores: which digits a novelty detector finds unusual."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omkl.errors import UserError
from omkl.reports import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GAP = 2  # pixels around a picture
_TEXT = 7  # pixels below it, for the score


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
    panels: Sequence[Pictures], *, across: int = 5, title: str = "", note: str = ""
) -> "Figure":
    """Draw panels of square pictures side by side, ``across`` pictures in a row, the least value white.

    note: a line below. Raises UserError for no pictures, pictures that are not square, or another number of
    scores.
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
    rows = max(-(-len(panel.values) // across) for panel in panels)
    with style.looks():
        figure = style.new_figure(len(panels) * (0.48 * across + 0.3), 0.55 * rows + 0.7)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            side = round(np.sqrt(panel.values.shape[1]))
            wide, high = side + 2 * _GAP, side + _GAP + _TEXT
            sheet = np.full((rows * high, across * wide), np.nan)
            for number, (values, score) in enumerate(zip(panel.values, panel.scores, strict=True)):
                top, left = number // across * high + _GAP, number % across * wide + _GAP
                sheet[top : top + side, left : left + side] = values.reshape(side, side)
                text = f"{score:.{panel.places}f}".replace("-", "−")
                axes.text(left + side / 2, top + side, text, ha="center", va="top", fontsize=6)
            axes.imshow(sheet, cmap="gray_r", interpolation="nearest", **limits)
            axes.set_axis_off()
            axes.set_title(panel.title if len(panel.values) else f"{panel.title}: none")
        if note:
            figure.supxlabel(note, fontsize=7.5, color=style.GREY)
        style.put_title(figure, title)
    return figure

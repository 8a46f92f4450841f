"""Which learners are best for their cost: error against seconds or size, and the front that none beats."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports import layout, style
from omkl.reports.figure_lines import plain_log
from omkl.reports.look import mark, points
from omkl.reports.measures import axis_of, errors_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = {  # option of conf/paper: column of the table, label of the axis
    "time": ("per_1000", "seconds for 1000 examples"),
    "size": ("size", "vectors (#SV) or random features"),
}
_COLUMNS = 3
_SIDES: tuple[tuple[tuple[bool, bool], dict[str, Any]], ...] = (  # (at its left, below it), where a name goes
    ((False, False), {"xytext": (4, 3), "ha": "left", "va": "bottom"}),
    ((False, True), {"xytext": (4, -3), "ha": "left", "va": "top"}),
    ((True, True), {"xytext": (-4, -3), "ha": "right", "va": "top"}),
    ((True, False), {"xytext": (-4, 3), "ha": "right", "va": "bottom"}),
)
Box = tuple[float, float, float, float]
_DECADES = 30.0  # between the least and the largest cost; then only powers of ten have numbers
_LEAST = 4  # learners of the least error that are named, too
_FAR = 2.0  # a learner is off the panel whose distance to the best is over this many times the median one


def front(cost: Iterable[float], error: Iterable[float]) -> list[int]:
    """Return the places of the points that no other beats in both, cheapest first; NaN is beaten.

    Of points that are equal in both the first is on the front.
    """
    both = enumerate(zip(cost, error, strict=True))
    pairs = sorted((c, e, place) for place, (c, e) in both if c + e == c + e)
    kept: list[int] = []
    least = np.inf
    for _, own, place in pairs:
        if own < least:
            kept.append(place)
            least = own
    return kept


def costs_of(table: "pd.DataFrame", cost: str) -> "pd.DataFrame":
    """Return the rows that have a cost and an error, with columns ``cost`` and ``error``.

    table: a summary with the columns of ``papers.best.with_costs``    cost: one of COSTS
    """
    if cost not in COSTS:
        raise UserError(f"cost: {cost!r} is unknown; known: {', '.join(COSTS)}")
    vectors = table["n_sv_sum_mean"].astype(float)
    table = table.assign(size=table["features"].where(table["features"].notna(), vectors.where(vectors > 0)))
    errors = np.array(errors_of(table), dtype=float)
    table = table.assign(cost=table[COSTS[cost][0]].astype(float), error=errors)
    return table[(table["cost"] > 0) & table["error"].notna()]


def draw_pareto(
    table: "pd.DataFrame", cost: str, *, title: str = "", warnings: Iterable[str] = ()
) -> "Figure":
    """Draw a panel per data set: a point per learner, and the front of those that no other one beats.

    table: as of ``costs_of``, with ``line``, the learners' names. Learners far above the best are counted
    in the panel's corner.
    """
    if table.empty:
        raise UserError("no learner has both an error and a cost")
    data = list(dict.fromkeys(table["data"]))
    rows, wide = layout.grid_shape(len(data), _COLUMNS)
    with style.looks():
        figure = style.new_figure(0.3 + 4.0 * wide, 0.6 + 3.1 * rows)
        panels = layout.subplots(figure, len(data), rows, wide)
        for number, (axes, which) in enumerate(zip(panels, data, strict=True)):
            _panel(axes, table[table["data"] == which])
            layout.panel_title(axes, which, len(data) == 1)
            if number + wide >= len(data):
                axes.set_xlabel(COSTS[cost][1])
            if number % wide == 0:
                axes.set_ylabel(axis_of(table))
        text = "joined: no other learner has less error at no more cost; named as well: the least errors"
        layout.note_below(figure, text, warnings)
        layout.put_title(figure, title)
    return figure


def _side(axes: "Axes", text: str, x: float, y: float, taken: list[Box]) -> dict[str, Any] | None:
    """Return where a name goes so that it hides no other one, None where there is no room; notes its box."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    place = np.log(x / left) / np.log(right / left), (y - low) / (high - low)  # in shares of the panel
    wide, tall = 0.0022 * points(6.5) * len(text), 0.0085 * points(6.5)
    for (to_left, below), look in _SIDES:
        start = place[0] - wide - 0.01 if to_left else place[0] + 0.01
        base = place[1] - tall - 0.01 if below else place[1] + 0.01
        box = (start, base, start + wide, base + tall)
        if all(box[2] < b[0] or b[2] < box[0] or box[3] < b[1] or b[3] < box[1] for b in taken):
            taken.append(box)
            return look
    return None


def _panel(axes: "Axes", part: "pd.DataFrame") -> None:
    cost, error = part["cost"].to_numpy(), part["error"].to_numpy()
    names = part["line"].tolist()
    best = error.min()
    highest = best + max(_FAR * float(np.median(error - best)), 0.02 * abs(best))
    places = front(cost, error)
    highest = max(highest, *error[places])
    near = error <= highest
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": mark(3.6), "markeredgewidth": 0}
    axes.plot(cost[near], error[near], color="#9a9a9a", **look)
    look = {"color": style.COLOURS[0], "marker": "o", "markersize": mark(4.6), "linewidth": 1.0}
    axes.plot(cost[places], error[places], **look)
    axes.set_xscale("log")
    margin = 0.06 * (highest - best)
    axes.set_ylim(best - 3 * margin, highest + margin)
    least, most = cost[near].min(), cost[near].max()
    spread = max(most / least, 2.0)
    axes.set_xlim(least / spread**0.06, most * spread**0.30)  # room for names
    plain_log(axes.xaxis)
    if spread > _DECADES:
        axes.xaxis.set_minor_formatter("")
    few = [place for place in np.argsort(error, kind="stable")[:_LEAST] if place not in places]
    taken: list[Box] = []
    for place in [*places, *few]:
        text, on_front = style.in_symbols(names[place]), place in places
        where = _side(axes, text, cost[place], error[place], taken)
        if where or on_front:
            look = {"color": "black" if on_front else style.GREY, "fontsize": points(6.5)}
            look |= where or _SIDES[0][1]
            axes.annotate(text, (cost[place], error[place]), textcoords="offset points", **look)
    if not near.all():
        look = {"ha": "right", "va": "top", "color": style.GREY, "fontsize": points(7)}
        axes.text(0.99, 0.99, f"{(~near).sum()} above", transform=axes.transAxes, **look)

"""How a reader wants a run's table: the order of its rows, and its columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omkl.errors import UserError, suggest
from omkl.reports.display import Display
from omkl.reports.measures import errors_of

if TYPE_CHECKING:
    import pandas as pd

_WORDS = {"mistake_pct": "mistakes", "mse_e3": "mistakes"} | {
    f"n_sv_{part}": word for part, word in (("sum", "sv"), ("union", "union"), ("combined", "combined"))
}


@dataclass(frozen=True)
class View:
    """The reader's wishes.

    sort: mistakes, seconds or sv, None for the plan's order    columns: names, or +NAME and -NAME to change
    the usual ones
    """

    sort: str | None = None
    columns: tuple[str, ...] = ()

    def sorted(self, summary: "pd.DataFrame") -> "pd.DataFrame":
        """Return a summary with the rows of each data set in this order, the yardsticks still below.

        ``mistakes`` is the error of the data's task; rows without a value come last.
        """
        if self.sort is None or summary.empty:
            return summary
        seconds, sizes = summary["seconds_mean"], summary["n_sv_sum_mean"]
        keys = {"mistakes": errors_of(summary), "seconds": seconds, "sv": sizes}
        places = {name: place for place, name in enumerate(dict.fromkeys(summary["data"]))}
        order = summary.assign(place=summary["data"].map(places), by=keys[self.sort])
        order = order.sort_values(["place", "is_yardstick", "by"], kind="stable", na_position="last")
        return summary.loc[order.index].reset_index(drop=True)

    def check(self, names: Sequence[str]) -> None:
        """Raise UserError for a wanted column that is not among these names."""
        for word in self.columns:
            if (name := word.lstrip("+-")) not in names:
                known = ", ".join(dict.fromkeys(names))
                raise UserError(f"--columns {word}: no such column{suggest(name, names)}; there are {known}")

    def chosen(self, table: Display) -> Display:
        """Return a table with the columns that are wanted. Raises UserError for a name that it lacks."""
        names = [word_of(column.name) for column in table.columns]
        self.check(names)
        wanted = [word for word in self.columns if word[0] not in "+-"]
        wanted = wanted or [name for name, own in zip(names, table.columns, strict=True) if own.usual]
        wanted += [word[1:] for word in self.columns if word[0] == "+" and word[1:] not in wanted]
        wanted = [name for name in wanted if f"-{name}" not in self.columns]
        named = {word.lstrip("+") for word in self.columns}
        kept = [
            at
            for name in dict.fromkeys(wanted)
            for at, own in enumerate(names)
            if own == name and (table.columns[at].usual or name in named)  # two columns may be "kernel"
        ]
        if not self.columns:
            kept = sorted(kept)
        chosen = tuple(table.columns[at].name for at in kept if names[at] in named)
        return replace(table.only(kept), chosen=chosen)


USUAL = View()


def word_of(column: str) -> str:
    """Return what a reader calls a column: ``sv`` for n_sv_sum, ``beta`` for algo.beta."""
    return _WORDS.get(column, column.removeprefix("algo."))

"""The text below a figure: over which repetitions its lines are means, and which lines have fewer."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from omkl.errors import counted, quoted

if TYPE_CHECKING:
    import pandas as pd

AT_MOST = 5
_PLURAL = {"permuted": "permutations", "authors": "of the authors' permutations"}
_SINGLE = {"file": "one pass in file order", "authors": "one of the authors' permutations"}


def some(names: Sequence[str], between: str = ", ", at_most: int = AT_MOST) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return between.join(quoted(names[:at_most]) if between == ", " else names[:at_most]) + more


def n_cells(count: int) -> str:
    """Return ``1 cell`` or ``2 cells``."""
    return counted(count, "cell")


def repetitions_of(orders: Iterable[str]) -> str:
    """Return the word for repetitions: permutations where the order is permuted, else repetitions."""
    return "permutations" if set(filter(None, orders)) <= {"permuted", "authors"} else "repetitions"


def basis(reps: int, orders: Iterable[str]) -> str:
    """Return how a line is made: ``mean over 20 permutations``, ``one pass in file order``."""
    known = sorted(set(filter(None, orders)))
    if reps == 1:
        return _SINGLE.get(known[0], "one pass in one order") if len(known) == 1 else "one pass"
    if known == ["file"]:
        return f"mean over {reps} repetitions in file order"
    return f"mean over {reps} {_PLURAL.get(known[0], '') if len(known) == 1 else repetitions_of(known)}"


def shortfall(lines: Iterable[tuple[str, str, str, int, int]]) -> list[str]:
    """Return warnings about lines with fewer repetitions than expected, or than others have.

    In file order one repetition stands for all of a learner that draws nothing.

    lines: (name, data set, order, repetitions done, repetitions expected).
    """
    lines = list(dict.fromkeys(lines))
    most = max((done for *_, done, _ in lines), default=0)
    missing = [f"{name} on {data} {done} of {of}" for name, data, _, done, of in lines if done < of]
    fewer = [
        f"{name} on {data} {done}"
        for name, data, order, done, of in lines
        if of <= done < most and (order, of) != ("file", 1)
    ]
    warnings = [f"INCOMPLETE, repetitions done: {some(missing, '; ')}"] if missing else []
    return warnings + ([f"unequal repetitions: {some(fewer, '; ')}, the most {most}"] if fewer else [])


def shortfall_of(table: "pd.DataFrame") -> list[str]:
    """Return the warnings of a table with the columns line, data, order, reps and asked."""
    return shortfall(table[["line", "data", "order", "reps", "asked"]].itertuples(index=False, name=None))

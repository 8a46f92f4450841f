"""The text below a figure or table: over which repetitions it has means, what has fewer, odd errors."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from omkl.errors import counted, quoted

if TYPE_CHECKING:
    import pandas as pd

    from omkl.reports.rows import ReportPlan


AT_MOST = 5
_PLURAL = {
    "permuted": "permutations",
    "halves": "permutations within each half",
    "authors": "of the authors' permutations",
}
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
    return "permutations" if set(filter(None, orders)) <= {"permuted", "halves", "authors"} else "repetitions"


def basis(reps: int, orders: Iterable[str]) -> str:
    """Return how a line is made: ``mean over 20 permutations``, ``one pass in file order``."""
    distinct = sorted(set(filter(None, orders)))
    if reps == 1:
        return _SINGLE.get(distinct[0], "one pass in one order") if len(distinct) == 1 else "one pass"
    if distinct == ["file"]:
        return f"mean over {reps} repetitions in file order"
    return (
        f"mean over {reps} {_PLURAL.get(distinct[0], '') if len(distinct) == 1 else repetitions_of(distinct)}"
    )


def shortfall(lines: Iterable[tuple[str, str, str, int, int]]) -> list[str]:
    """Return warnings about lines with fewer repetitions than expected, or than others have.

    In file order one repetition stands for all of a learner that draws nothing.

    lines: (name, data set, order, repetitions done, repetitions expected).
    """
    lines = list(dict.fromkeys(lines))
    most = max((done for *_, done, _ in lines), default=0)
    missing = [
        f"{name} on {data} {done} of {planned}" for name, data, _, done, planned in lines if done < planned
    ]
    fewer = [
        f"{name} on {data} {done}"
        for name, data, order, done, planned in lines
        if planned <= done < most and (order, planned) != ("file", 1)
    ]
    warnings = [f"INCOMPLETE, repetitions done: {some(missing, '; ')}"] if missing else []
    return warnings + ([f"unequal repetitions: {some(fewer, '; ')}, the most {most}"] if fewer else [])


def shortfall_of(table: "pd.DataFrame") -> list[str]:
    """Return the warnings of a table with the columns line, data, order, reps and asked."""
    return shortfall(table[["line", "data", "order", "reps", "asked"]].itertuples(index=False, name=None))


def one_round(cells: "pd.DataFrame", expected: "ReportPlan") -> list[str]:
    """Return a warning about regressions of which one round makes more than half of the squared error."""
    if "worst_round" not in cells:
        return []
    texts = []
    for (algo, data), rows in cells[cells["worst_round"].notna()].groupby(["algo", "data"], sort=False):
        rounds = sorted({int(number) for number in rows["worst_round"]})
        which = f"round {rounds[0]}" if len(rounds) == 1 else f"one round ({some(list(map(str, rounds)))})"
        first = ", before anything was learnt" if rounds == [1] else ""
        texts.append(
            f"{expected.label(str(algo))} on {data}: {which}{first}, in {counted(len(rows), 'repetition')}"
        )
    return [f"one round makes more than half of the squared error: {some(texts, '; ')}"] if texts else []


def few_rounds(cells: "pd.DataFrame", expected: "ReportPlan") -> list[str]:
    """Return a note about regressions of which few rounds make more than half of the squared error."""
    if "few_rounds" not in cells:
        return []
    texts = []
    for (algo, data), rows in cells[cells["few_rounds"].notna()].groupby(["algo", "data"], sort=False):
        few, T = int(rows["few_rounds"].max()), counted(int(rows["T"].max()), "row")
        texts.append(f"{expected.label(str(algo))} on {data}: {few} of {T}")
    most = "few rows make more than half of the squared error"
    return [f"{most}, so MAE tells more of the others: {some(texts, '; ')}"] if texts else []

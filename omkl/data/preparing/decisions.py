"""What becomes of a column: numbers, words or dates, or why it is left out, or what stops a run."""

from dataclasses import dataclass

import numpy as np

from omkl.data.preparation import Stop
from omkl.data.preparing.columns import DATE, LONGEST_TEXT, WORDS, Column, PreparedColumn
from omkl.data.preparing.mending import stop_of
from omkl.data.preparing.user_table import Table

FEW_WORDS = 50  # different words of a column that is not declared as classes ...
FEWEST_ROWS = 10  # ... each of which has as many rows on average
MOST_CATEGORIES = 1000
EMPTY = "it has no value in any row"
ROW_NAMES = "it has no name and names the rows"
NAMELESS = ("column 1", "Unnamed: 0")  # as omkl and pandas call it
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too


@dataclass(frozen=True)
class Decision:
    """What becomes of a column: a `PreparedColumn`, or why it is left out, or what stops a run.

    said: what is to be said of it
    """

    column: PreparedColumn | None = None
    left_out: str = ""
    stop: Stop | None = None
    said: str = ""


def decide(column: Column, table: Table) -> Decision:
    """Return what becomes of a column of features."""
    name = column.name
    if column.missing.all():
        return Decision(left_out=EMPTY, said=f"left out, since {EMPTY}")
    if names_rows(column, table):
        return Decision(left_out=ROW_NAMES, said=f"left out, since {ROW_NAMES}")
    if column.is_declared:
        is_text = column.dtype.name != "category"
        return _words(column, table, *((FEW_WORDS, FEWEST_ROWS) if is_text else (MOST_CATEGORIES, 0)))
    if stop := stop_of(column, table):
        return Decision(stop=stop)
    if column.dtype.kind == "M" or (not column.is_truth and _are_dates(column)):
        return _dates(column)
    if column.numbers is not None:
        return Decision(PreparedColumn(name))
    return _words(column, table, FEW_WORDS, FEWEST_ROWS)


def _are_dates(column: Column) -> bool:
    if column.is_numeric and column.numbers is not None and not np.nanmin(column.numbers) >= 1000_01_01:
        return False
    return column.dates is not None


def names_rows(column: Column, table: Table) -> bool:
    """Whether a column is what R and pandas write before the rows: first, nameless, each cell different."""
    if (
        not table.named
        or column.name not in NAMELESS
        or table.names[0] != column.name
        or column.missing.any()
    ):
        return False
    if column.numbers is None:
        return len(column.words) == len(column) > 1
    return bool((np.diff(column.numbers) > 0).all() and (column.numbers == np.round(column.numbers)).all())


def _dates(column: Column) -> Decision:
    days = column.dates
    assert days is not None
    clock = bool((days[~column.missing] % 1 != 0).any())
    features = (*_DAYS, *(("hour",) if clock else ()))
    said = f"{'eight digits that are ' if column.is_numeric else ''}dates as {', '.join(features)}"
    zone, offset = getattr(column.dtype, "tz", None), next(iter(column.offsets))
    said += f", the local times of {zone}" if zone else f", in local time (offset {offset})" if offset else ""
    return Decision(
        PreparedColumn(column.name, DATE, features, float(np.floor(np.nanmin(days))), offset), said=said
    )


def _words(column: Column, table: Table, most: int, rows: int) -> Decision:
    different = len(column.words)
    if any(len(word) > LONGEST_TEXT for word in column.words):
        why = f"it holds texts of over {LONGEST_TEXT} characters"
    elif different <= most and rows * different <= len(table):
        return Decision(PreparedColumn(column.name, WORDS))
    else:
        why = f"{different} different words in {len(table)} rows are too many"
    return Decision(left_out=why, said=f"left out, since {why}")

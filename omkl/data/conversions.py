"""What is made of a column that is no plain numbers: dates, times, words.

`conversion` decides it from one table; `Conversion.columns` does it to any table with such a column.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omkl.data.preparation import TableFormat, kind_of
from omkl.data.tables import Table
from omkl.errors import UserError, show

LETTERS = "letters"
FEW_WORDS = 50  # different words of a column that become features without being asked for
FEWEST_ROWS = 10  # for each of them, on average
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*([ap]m)?", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\d{4}\b")


@dataclass(frozen=True)
class Conversion:
    """How a column becomes numbers.

    kind: ``a date``, ``a time`` or ``letters``    parts: of a date, or of words, what becomes a feature
    first: of dates, the day (from 1970) that is 0    day_first: whether 3/4/2020 is in April
    """

    kind: str
    parts: tuple[str, ...] = ()
    first: float = 0.0
    day_first: bool = False

    def columns(self, name: str, table: Table) -> dict[str, np.ndarray]:
        """Return the columns of numbers by name. Raises UserError with the row of a value that is none."""
        texts, there = table.text(name), ~table.missing(name)
        distinct, place = np.unique(texts[there].astype(str), return_inverse=True)
        values = self._values(distinct)
        bad = ~np.isfinite(next(iter(values.values())))
        if bad.any():
            row = int(np.flatnonzero(there)[np.argmax(bad[place])])
            raise UserError(
                f"{table.where(row)}: column '{name}' holds {show(texts[row])}, which is not "
                f"{self.kind} as the others are; correct the cell, or remove the row"
            )
        made = {}
        for part, of_distinct in values.items():
            numbers = np.full(len(table), np.nan)
            numbers[there] = of_distinct[place]
            made[f"{name} ({part})" if part else name] = numbers
        return made

    def _values(self, texts: np.ndarray) -> dict[str, np.ndarray]:
        """Return numbers by part, '' for a column that stays one; nan where a text is none."""
        if self.kind == "a date":
            days = _days(texts, self.day_first)
            return {part: _part(part, days, self.first) for part in self.parts}
        if self.kind == "a time":
            return {"": np.array([_hours(text) for text in texts], float)}
        codes = np.zeros((len(texts), len(self.parts)))
        for row, text in enumerate(texts):
            codes[row, : len(text)] = [ord(letter) for letter in text[: len(self.parts)]]
        return dict(zip(self.parts, codes.T, strict=True))


def conversion(values: Iterable[str], dates: str, day_first: str = "auto") -> tuple[Conversion | None, str]:
    """Return how texts become numbers, or None where they are words; and what to say of it.

    dates: ``parts`` or ``ordinal``    day_first: of Preparation
    """
    texts = sorted(set(values))
    kind = kind_of(texts) if texts else None
    if kind == "a date":
        return _of_dates(texts, dates, day_first)
    return (Conversion("a time"), "times as hours") if kind == "a time" else (None, "")


def letters(texts: Iterable[str]) -> Conversion:
    """Return how a column of words becomes the codes of their letters, place by place; 0 after the last."""
    longest = max(map(len, texts), default=0)
    return Conversion(LETTERS, tuple(f"letter {place}" for place in range(1, longest + 1)))


def words_of(texts: Iterable[str], form: TableFormat) -> list[str] | None:
    """Return the different words of a column, or None where half of its values or more are numbers."""
    counts = Counter(texts)
    numbers = sum(count for text, count in counts.items() if form.number(text) is not None)
    return None if 2 * numbers >= counts.total() else sorted(counts)


def are_few(count: int, rows: int) -> bool:
    """Whether that many different words of as many rows become features without being asked for."""
    return count <= FEW_WORDS and FEWEST_ROWS * count <= rows


# ------------------------------------------------------------------ texts to numbers


def _of_dates(texts: list[str], dates: str, wanted: str) -> tuple[Conversion | None, str]:
    day_first, doubt = _day_first(texts, wanted)
    days = _days(np.array(texts), day_first)
    if not np.isfinite(days).all():
        return None, f"no dates, since {show(texts[int(np.argmin(np.isfinite(days)))])} is none"
    clock = any(":" in text for text in texts)
    parts = ("days",) if dates == "ordinal" else (*_DAYS, *(("hour",) if clock else ()))
    first = float(np.floor(days.min()))
    said = "dates as " + (", ".join(parts) if len(parts) > 1 else "days since the first")
    return Conversion("a date", parts, first, day_first), said + doubt


def _day_first(texts: Iterable[str], wanted: str) -> tuple[bool, str]:
    """Return whether the day comes before the month, and what to say where nothing shows it."""
    first, second, point = 0, 0, False
    for text in texts:
        if match := _SLASHED.match(text):
            first, second = max(first, int(match[1])), max(second, int(match[3]))
            point = point or match[2] == "."
    if not first or first > 12 or second > 12:
        return first > 12, ""
    if wanted != "auto":
        return wanted == "yes", ""
    order, other = (("day", "month"), "no") if point else (("month", "day"), "yes")
    return point, f", the {order[0]} before the {order[1]} (day_first={other} if that is wrong)"


def _days(texts: np.ndarray, day_first: bool) -> np.ndarray:
    """Return the days since 1970 of dates, with the time of day as a fraction; nan where a text is none.

    So is one in the other order: pandas would read 3/13/2024 as 13 March whatever day_first says.
    """
    import pandas as pd

    days = np.full(len(texts), np.nan)
    year_first = np.array([bool(_YEAR_FIRST.match(text)) for text in texts], bool)
    in_order = np.array([_is_in_order(text, day_first) for text in texts], bool)
    for chosen, order in ((year_first, False), (~year_first & in_order, day_first)):
        if chosen.any():
            own: Any = pd.Series(texts[chosen], dtype=object)
            read = pd.to_datetime(own, format="mixed", dayfirst=order, utc=True, errors="coerce")
            days[chosen] = ((read - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)).to_numpy(float)
    return days


def _is_in_order(text: str, day_first: bool) -> bool:
    """Whether day and month of a date such as 3/4/2024 can be in this order; true of other forms."""
    match = _SLASHED.match(text)
    if not match:
        return True
    day, month = (int(match[1]), int(match[3])) if day_first else (int(match[3]), int(match[1]))
    return day <= 31 and month <= 12


def _part(part: str, days: np.ndarray, first: float) -> np.ndarray:
    """Return one part of dates. weekday: 0 is Monday"""
    if part == "days":
        return days - first
    if part == "hour":
        return np.round((days - np.floor(days)) * 24, 6)
    whole = np.where(np.isfinite(days), np.floor(days), 0).astype("datetime64[D]")
    months = whole.astype("datetime64[M]")
    if part == "month":
        values = months.astype(np.int64) % 12 + 1
    elif part == "day":
        values = (whole - months.astype("datetime64[D]")).astype(np.int64) + 1
    else:
        values = (whole.astype(np.int64) + 3) % 7
    return np.where(np.isfinite(days), values, np.nan)


def _hours(text: str) -> float:
    match = _CLOCK.match(text)
    if not match:
        return np.nan
    hours = int(match[1]) % 12 + 12 * (match[4].lower() == "pm") if match[4] else int(match[1])
    seconds = float((match[3] or "0").replace(",", "."))
    return hours + int(match[2]) / 60 + seconds / 3600

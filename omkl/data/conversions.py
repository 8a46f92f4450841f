"""What is made of a column that is no plain numbers: dates, times, percentages, amounts of money, words.

`conversion` decides it from one table; `Conversion.columns` does it to any table with such a column.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from omkl.data.tables import MONEY, Column, Table, TableFormat, kind_of, readings_of
from omkl.errors import UserError, show

AMOUNTS = ("a percentage", "an amount of money")
LETTERS = "letters"
FEW_WORDS = 50  # different words of a column that become features without being asked for
FEWEST_ROWS = 10  # for each of them, on average
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*([ap]m)?", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\d{4}\b")
_SIGN = re.compile(rf"%|{MONEY}", re.IGNORECASE)


@dataclass(frozen=True)
class Conversion:
    """How a column becomes numbers.

    kind: of KINDS, or ``letters``    parts: of a date, or of words, what becomes a feature
    first: of dates, the day (from 1970) that is 0    day_first: whether 3/4/2020 is in April
    thousands, decimal: of percentages and money, how the numbers are written; '' for no thousands
    """

    kind: str
    parts: tuple[str, ...] = ()
    first: float = 0.0
    day_first: bool = False
    thousands: str = ""
    decimal: str = "."

    def columns(self, column: Column, table: Table) -> list[Column]:
        """Return the columns of numbers. Raises UserError that names the row of a value that is none."""
        is_read = self.decimal == "." or not column.distinct.as_written  # else 8.000 is 8000, not 8
        if column.numbers is not None and self.kind in AMOUNTS and is_read:
            return [column]  # of a part of a file in which no value has its sign
        there = ~column.missing
        distinct, place = np.unique(column.text[there].astype(str), return_inverse=True)
        values = self._values(distinct)
        bad = ~np.isfinite(next(iter(values.values())))
        if bad.any():
            row = int(np.flatnonzero(there)[np.argmax(bad[place])])
            raise UserError(
                f"{table.where(row)}: column '{column.name}' holds {show(column.text[row])}, which is not "
                f"{self.kind} as the others are; correct the cell, or remove the row"
            )
        made = []
        for part, of_distinct in values.items():
            numbers = np.full(len(column.text), np.nan)
            numbers[there] = of_distinct[place]
            text = column.text  # of a date, for messages
            if not part:
                text = np.array(
                    ["" if gap else repr(float(x)) for gap, x in zip(~there, numbers, strict=True)], object
                )
            name = f"{column.name} ({part})" if part else column.name
            made.append(Column(name, text, column.missing, numbers))
        return made

    def _values(self, texts: np.ndarray) -> dict[str, np.ndarray]:
        """Return numbers by part, '' for a column that stays one; nan where a text is none."""
        if self.kind == "a date":
            days = _days(texts, self.day_first)
            return {part: _part(part, days, self.first) for part in self.parts}
        if self.kind == "a time":
            return {"": np.array([_hours(text) for text in texts], float)}
        if self.kind == LETTERS:
            codes = np.zeros((len(texts), len(self.parts)))
            for row, text in enumerate(texts):
                codes[row, : len(text)] = [ord(letter) for letter in text[: len(self.parts)]]
            return dict(zip(self.parts, codes.T, strict=True))
        form = TableFormat(thousands=self.thousands or None, decimal=self.decimal)
        found = (form.number(_bare(text)) for text in texts)
        return {"": np.array([np.nan if number is None else number for number in found], float)}


def conversion(
    column: Column, form: TableFormat, dates: str, day_first: str = "auto"
) -> tuple[Conversion | None, str]:
    """Return how a column of texts becomes numbers, or None where its texts are words; and what to say of it.

    dates: ``parts`` or ``ordinal``    day_first: of Preparation
    """
    texts = sorted({str(text) for text in column.text[~column.missing]})
    if not texts:
        return None, ""
    if kind_of(texts) == "a date":
        return _of_dates(texts, dates, day_first)
    if kind_of(texts) == "a time":
        return Conversion("a time"), "times as hours"
    words = [text for text in texts if form.number(text) is None]
    kind = kind_of(words)
    if kind not in AMOUNTS:
        return None, ""
    bare = [_bare(text) for text in texts]
    if all(form.number(text) is not None for text in bare):
        found: list[tuple[str | None, str]] = [(form.thousands, form.decimal)]
    else:
        odd = next(text for text in bare if form.number(text) is None)
        found = [(other.thousands, other.decimal) for other, _ in readings_of(bare, odd)]
    if len(found) != 1:
        return None, ""
    thousands, decimal = found[0]
    example = words[-1]
    number = TableFormat(thousands=thousands, decimal=decimal).number(_bare(example))
    what = "percentages" if kind == "a percentage" else "amounts of money"
    made = Conversion(kind, thousands=thousands or "", decimal=decimal)
    return made, f"{what} as numbers ({example} is {number:g})"


def letters(column: Column) -> Conversion:
    """Return how a column of words becomes the codes of their letters, place by place; 0 after the last."""
    longest = max((len(str(text)) for text in column.text[~column.missing]), default=0)
    return Conversion(LETTERS, tuple(f"letter {place}" for place in range(1, longest + 1)))


def words_of(column: Column, form: TableFormat) -> np.ndarray | None:
    """Return the different words of a column, or None where half of its values or more are numbers."""
    texts, counts = np.unique(column.text[~column.missing].astype(str), return_counts=True)
    numbers = np.array([form.number(text) is not None for text in texts], bool)
    return None if 2 * counts[numbers].sum() >= counts.sum() else texts


def are_few(count: int, rows: int) -> bool:
    """Whether that many different words of as many rows become features without being asked for."""
    return count <= FEW_WORDS and FEWEST_ROWS * count <= rows


# ------------------------------------------------------------------ texts to numbers


def _bare(text: str) -> str:
    """Return a percentage or an amount of money without its sign."""
    return _SIGN.sub("", text).replace(" ", "").strip()


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

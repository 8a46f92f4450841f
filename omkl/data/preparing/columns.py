"""A column of a user's table: its facts, found once, and the features that it becomes.

`omkl.data.preparing.recipe` says from one table what a column is; `PreparedColumn.values` makes the
features of any table. What its source declares to be classes (a category, a dictionary, a nominal attribute)
is words.
"""

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from omkl.data.preparation import clean
from omkl.errors import UserError, show

KINDS = NUMBERS, WORDS, DATE = "numbers", "words", "a date"
TRUTH = {"false": 0.0, "true": 1.0}
Where = Callable[[int], str]  # file and number of a row, as messages have them
_EPOCH, _DAY = datetime.datetime(1970, 1, 1), datetime.timedelta(days=1)
_ISO = re.compile(r"([1-9]\d{3})(?:-(\d\d)|([-/.])(\d{1,2})\3(\d{1,2})(?:[T ]+(\d{1,2})(:.+)?)?)", re.ASCII)


class Column:
    """A column as its source has it, and what is to be known of it, found when it is first asked for.

    key: what the frame calls it    values: a Series of pandas
    is_declared: whether its source says that its values are classes
    """

    def __init__(self, name: str, values: Any, key: Any = None, is_declared: bool = False) -> None:
        self.name, self.values, self.key = name, values, name if key is None else key
        self.dtype = values.dtype
        self.is_declared = is_declared or getattr(self.dtype, "name", "") == "category"

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether its source holds numbers; True and False are none."""
        return self.dtype.kind in "iuf" and not self.is_declared

    @cached_property
    def missing(self) -> np.ndarray:
        """Which rows have no value (T,)."""
        return np.asarray(self.values.isna(), bool)

    @cached_property
    def raw(self) -> tuple[np.ndarray, list[str]]:
        """The place of each row's text (T,), -1 in gaps, and the different texts as they are written."""
        import pandas as pd

        place, different = pd.factorize(self.values)
        return place, [_text_of(value) for value in different]

    @cached_property
    def words(self) -> list[str]:
        """The different values as texts in NFC with single blanks, in the order in which they come."""
        return list(dict.fromkeys(map(clean, self.raw[1])))

    @cached_property
    def place(self) -> np.ndarray:
        """The place in `words` of each row (T,), -1 in gaps."""
        raw_place, raw = self.raw
        if len(self.words) == len(raw):
            return raw_place
        at = {word: number for number, word in enumerate(self.words)}
        return np.array([*(at[clean(text)] for text in raw), -1])[raw_place]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many rows hold each of the words."""
        return np.bincount(self.place[self.place >= 0], minlength=len(self.words))

    @cached_property
    def texts(self) -> np.ndarray:
        """The values as texts (T,), empty in gaps."""
        return np.array([*self.words, ""], object)[self.place]

    @cached_property
    def is_truth(self) -> bool:
        """Whether the values are true and false, and there are some."""
        if self.dtype.kind == "b" or self.is_numeric:
            return self.dtype.kind == "b"
        return bool(self.words) and all(word.lower() in TRUTH for word in self.words)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The values as numbers (T,), nan in gaps; True is 1. None where some value is no number."""
        if self.is_numeric or self.dtype.kind == "b":
            gaps = {"na_value": np.nan} if self.missing.any() else {}
            return np.asarray(self.values.to_numpy(np.float64, **gaps))
        if self.dtype.kind in "mMc":
            return None
        numbers = np.array([TRUTH[w.lower()] for w in self.words]) if self.is_truth else floats(self.words)
        return None if numbers is None else np.append(numbers, np.nan)[self.place]

    @cached_property
    def dates(self) -> np.ndarray | None:
        """The days since 1970 (T,), nan in gaps; None where some value is no date with the year first."""
        if self.dtype.kind == "M":
            local = self.values.dt.tz_localize(None) if getattr(self.dtype, "tz", None) else self.values
            days = local.to_numpy("datetime64[us]").astype(np.int64) / 86_400e6
            return np.where(self.missing, np.nan, days)
        if self.is_numeric:
            days = eight_digit_days(self.numbers)
            return None if np.isnan(days[~self.missing]).any() else days
        days = np.array([np.nan if date is None else date[0] for date in self._read_dates])
        return None if np.isnan(days).any() else np.append(days, np.nan)[self.place]

    @property
    def are_dates(self) -> bool:
        """Whether its values are dates: of numbers, of eight digits that nothing else would have."""
        if self.is_numeric and self.numbers is not None and not np.nanmin(self.numbers) >= 1000_01_01:
            return False
        return not self.is_truth and self.dates is not None

    @cached_property
    def _read_dates(self) -> list[tuple[float, str] | None]:
        return [date_of(word) for word in self.words]

    @property
    def offsets(self) -> list[str]:
        """The different offsets from UTC of its times, empty texts for none."""
        if self.dtype.kind == "M" or self.is_numeric:
            return [""]
        return sorted({date[1] for date in self._read_dates if date})

    def labels(self) -> np.ndarray:
        """Return the values as labels (T,): numbers, or texts that are empty in gaps."""
        if not self.is_numeric:
            return self.texts
        if isinstance(self.dtype, np.dtype) or not self.missing.any():
            return np.asarray(self.values.to_numpy())  # whole numbers as they are
        return np.asarray(self.numbers)


def _text_of(value: Any) -> str:
    """Return a value as a text: a whole number without a point."""
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if is_whole else value)


def floats(words: list[str]) -> np.ndarray | None:
    """Return words as numbers, None where one is none; what is called nan is none."""
    return np.array(words, object).astype(np.float64) if all(map(is_float, words)) else None


def is_float(word: str) -> bool:
    """Whether a word is a number, as Python writes them."""
    try:
        number = float(word)
    except ValueError:
        return False
    return number == number and word.isascii() and "_" not in word


# ------------------------------------------------------------------ the features


@dataclass
class PreparedColumn:
    """A column of features, and what it took from its table; a gap of numbers and dates is NaN.

    parts: of words the categories, the empty one for gaps, of dates what becomes a feature
    first: of dates, the day (from 1970) that is 0    offset: of their times, the one that all cells have
    """

    name: str
    kind: str = NUMBERS
    parts: tuple[str, ...] = ()
    first: float = 0.0
    offset: str = ""

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.kind == WORDS:
            return [f"{self.name}={part}" if part else f"{self.name} (no value)" for part in self.parts]
        return [f"{self.name} ({part})" for part in self.parts] or [self.name]

    def values(self, column: Column, where: Where) -> np.ndarray:
        """Return the features (T, 1 or more). Raises UserError with the row of a value that does not fit."""
        if self.kind == WORDS:
            at = {part: number for number, part in enumerate(self.parts)}
            found = np.array([*(at.get(word, -1) for word in column.words), at.get("", -1)])[column.place]
            return (found[:, None] == np.arange(len(self.parts))).astype(float)
        if self.kind == NUMBERS:
            return numbers_of(column, where)[:, None]
        days = column.dates
        if days is None or any(offset not in ("", self.offset) for offset in column.offsets):
            dates = map(date_of, column.words)
            bad = [date is None or date[1] not in ("", self.offset) for date in dates]
            raise UserError(_no(column, where, bad, "not a date as the others are"))
        return np.column_stack([_part(part, days, self.first) for part in self.parts])


def numbers_of(column: Column, where: Where) -> np.ndarray:
    """Return the numbers of a column (T,). Raises UserError for a value that is none, or not finite."""
    if column.numbers is None:
        bad = [not is_float(word) for word in column.words]
        raise UserError(_no(column, where, bad, "not a number"))
    if (odd := np.isinf(column.numbers)).any():
        raise UserError(f"{where(int(np.argmax(odd)))}: column '{column.name}' is not finite")
    return column.numbers


def _no(column: Column, where: Where, bad: list[bool], what: str) -> str:
    """Return what is wrong with a column of new rows, or of targets. bad: which of its words"""
    at = bad.index(True) if True in bad else 0
    holds = (
        f"{where(int(np.argmax(column.place == at)))}: column '{column.name}' holds {show(column.words[at])}"
    )
    return f"{holds}, which is {what}; correct the cell, or remove the row"


# ------------------------------------------------------------------ dates


def date_of(text: str) -> tuple[float, str] | None:
    """Return the days since 1970 of a date with the year first, and the offset of its time; else None.

    The time of day is a fraction; the offset is empty where there is none. Years are 1000 to 9999.
    """
    match = _ISO.fullmatch(text)
    if not match:
        return None
    year, only, _, month, day, hour, time = match.groups(default="")
    date = f"{year}-{only or month:0>2}-{day or 1:0>2}T{hour:0>2}{time.replace(' ', '')}"
    try:
        when = datetime.datetime.fromisoformat(date)
    except ValueError:
        return None
    return (when.replace(tzinfo=None) - _EPOCH) / _DAY, "" if when.tzinfo is None else when.isoformat()[-6:]


def looks_iso(text: str) -> bool:
    """Whether a text is written as a date with the year first, though there may be no such day."""
    return bool(_ISO.fullmatch(text))


def eight_digit_days(numbers: Any) -> np.ndarray:
    """Return the days since 1970 of numbers such as 20240305 (T,), nan where one is no date."""
    different, place = np.unique(numbers, return_inverse=True)
    texts = [f"{number:.0f}" if number == np.round(number) else "" for number in different]
    dates = [date_of(f"{text[:4]}-{text[4:6]}-{text[6:]}") if len(text) == 8 else None for text in texts]
    return np.array([np.nan if date is None else date[0] for date in dates])[place.ravel()]


def _part(part: str, days: np.ndarray, first: float) -> np.ndarray:
    """Return one part of dates. weekday: 0 is Monday"""
    import pandas as pd

    if part == "days":
        return days - first
    if part == "hour":
        return np.round((days - np.floor(days)) * 24, 6)
    if part == "weekday":
        return (np.floor(days) + 3) % 7
    whole = pd.DatetimeIndex(np.floor(days).astype("datetime64[D]").astype("datetime64[s]"))
    return np.asarray(getattr(whole, part), np.float64)

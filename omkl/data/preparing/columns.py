"""What a column of a table is, and the features that it becomes: numbers, words or ISO dates.

A column is one of these or it stops the run: `decide` says which, from one table; `Column.values` makes the
features of any table. What is near to numbers and is none (units, percentages, money, dates in other orders)
is refused with what to write.
"""

import datetime
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omkl.data.preparation import (
    TRUTH,
    Preparation,
    Stop,
    column_word,
    in_shell,
    is_near_number,
    na_text,
    typed,
)
from omkl.data.reading.tables import DataTable, distinct_texts
from omkl.errors import UserError, show

KINDS = NUMBERS, WORDS, LETTERS, DATE = "numbers", "words", "letters", "a date"
FEW_WORDS = 50  # different words of a column that become features without being asked for
FEWEST_ROWS = 10  # for each of them, on average
MOST_CATEGORIES = 1000
LONGEST_TEXT = 100  # of a label or category: numpy reserves the length of the longest in every row
FEW_CODES = 3  # words in a column of numbers that may mean a gap
ONLINE = "online"  # of ``missing``: the learner fills gaps with what it has seen
EMPTY = "it has no value in any row"
ROW_NAMES = "it has no name and names the rows"
NAMELESS = ("column 1", "Unnamed: 0")  # as omkl and pandas call it
_RARE = ((" ", "."), (" ", ","), ("'", "."), ("'", ","))
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_ISO = re.compile(
    r"(?P<year>[1-9]\d{3})(?:-(?P<only>\d{2})|([-/.])(?P<month>\d{1,2})\3(?P<day>\d{1,2})"
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?"
    r"\s*(?P<offset>Z|[+-]\d{2}:?\d{2})?)?)",
    re.ASCII,
)
_EIGHT = re.compile(r"([1-9]\d{3})(\d{2})(\d{2})", re.ASCII)
_CENSORED = re.compile(r"[<>≤≥]\s*=?\s*[-+]?[\d.,]+")
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})\b")
_NAMED_MONTH = re.compile(
    r"(?:\d{1,2}[-. ]+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ]+\d{1,4}\b.*",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?", re.IGNORECASE)


@dataclass
class PreparedColumn:
    """A column, and what it took from its table; a gap of its features is NaN where ``means`` are empty.

    parts: of words the categories, of dates and letters what becomes a feature
    first: of dates, the day (from 1970) that is 0    offset: of their times, the one that all cells have
    means, scaling: of each feature, the mean of the table, and shift and factor; empty for none
    """

    name: str
    kind: str = NUMBERS
    parts: tuple[str, ...] = ()
    first: float = 0.0
    offset: str = ""
    means: tuple[float, ...] = ()
    scaling: tuple[tuple[float, float], ...] = ()

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.kind == WORDS:
            return [f"{self.name}={part}" if part else f"{self.name} (no value)" for part in self.parts]
        return [f"{self.name} ({part})" for part in self.parts] or [self.name]

    def values(self, table: DataTable) -> np.ndarray | None:
        """Return the features (T, 1 or more), nan in gaps of all but words; None where some are no numbers.

        Raises UserError with the row of a value that is no date.
        """
        if self.kind == NUMBERS:
            numbers = table.numbers(self.name)
            return None if numbers is None else numbers[:, None]
        if self.kind == WORDS:
            different, place = distinct_texts(table.text(self.name))
            fold = self.folding
            categories, folded = (
                np.array(list(map(fold, column)), object) for column in (self.parts, different)
            )
            return (folded[:, None] == categories).astype(float)[place]
        there = ~table.missing(self.name)
        texts = date_texts(self.name, table)
        different, place = distinct_texts(texts[there])
        features = np.full((len(table), len(self.features)), np.nan)
        features[there] = self._numbers(different)[place]
        bad = there & ~np.isfinite(features[:, :1]).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise UserError(
                f"{table.where(row)}: column '{self.name}' holds {show(texts[row])}, which is not "
                f"{self.kind} as the others are; correct the cell, or remove the row"
            )
        return features

    def _numbers(self, texts: np.ndarray) -> np.ndarray:
        """Return the features of different texts, nan where one is no date."""
        if self.kind == DATE:
            read = [date_of(text) for text in texts]
            days = np.array(
                [np.nan if date is None or date[1] not in ("", self.offset) else date[0] for date in read]
            )
            return np.column_stack([_part(part, days, self.first) for part in self.parts])
        codes = np.zeros((len(texts), len(self.parts)))
        for row, text in enumerate(texts):
            codes[row, : len(text)] = [ord(letter) for letter in text[: len(self.parts)]]
        return codes

    @property
    def folding(self) -> Callable[[str], str]:
        """What is done to texts before they are compared with the words; True and true are one."""
        return str.lower if {word.lower() for word in self.parts if word} <= TRUTH.keys() else str

    def with_words(self, table: DataTable) -> "PreparedColumn":
        """Return a column of words with those of this table."""
        name = self.name
        values = tuple(sorted(set(table.text(name)[~table.missing(name)])))
        if table.is_truth(name):  # one each, in capital letters or not
            lower = [value.lower() for value in values]
            values = tuple(value for i, value in enumerate(values) if lower.index(lower[i]) == i)
        gaps = table.form.missing == ONLINE and table.missing(name).any()
        return replace(self, parts=(*values, "") if gaps else values)


def date_texts(name: str, table: DataTable) -> np.ndarray:
    """Return a column of dates or letters as texts (T,): whole numbers, as 20240305, without a point."""
    if not table.is_text(name) and (numbers := table.numbers(name)) is not None:
        return np.array(["" if np.isnan(number) else f"{number:.0f}" for number in numbers], object)
    return table.text(name)


# ------------------------------------------------------------------ what a column is


@dataclass(frozen=True)
class Decision:
    """What becomes of a column: a `PreparedColumn`, or why it is left out, or what stops a run.

    said: what is to be said of it
    """

    column: PreparedColumn | None = None
    left_out: str = ""
    stop: Stop | None = None
    said: str = ""


def decide(name: str, table: DataTable) -> Decision:
    """Return what becomes of a column of features."""
    form, missing = table.form, table.missing(name)
    if form.missing != "error" and missing.all():
        return Decision(left_out=EMPTY, said=f"left out, since {EMPTY}")
    if names_rows(name, table):
        return Decision(left_out=ROW_NAMES, said=f"left out, since {ROW_NAMES}")
    if name in {table.names[table.place(word, "categorical")] for word in form.named_words}:
        return _words(name, table, named=True)
    numbers = table.numbers(name)
    if numbers is not None and not table.is_truth(name):
        if not _are_eight_digits(numbers[~missing]):
            return Decision(PreparedColumn(name))
        return _dates(
            name, table, [f"{number:.0f}" for number in np.unique(numbers[~missing])], "eight digits"
        )
    if numbers is not None:
        return Decision(PreparedColumn(name, WORDS if form.of_words == "onehot" else NUMBERS))
    different, _ = distinct_texts(table.text(name)[~missing])
    dates = [date_of(text) for text in different]
    if None not in dates:
        return _dates(name, table, different, "")
    if stop := _near_numbers(name, table, dates.count(None) < 0.5 * len(dates)):
        return Decision(stop=stop)
    if form.of_words == LETTERS:
        letters = tuple(f"letter {place}" for place in range(1, max(map(len, different)) + 1))
        said = f"the codes of {len(letters)} letters, for kernels of texts such as spectrum"
        return Decision(PreparedColumn(name, LETTERS, letters), said=said)
    return _words(name, table)


def names_rows(name: str, table: DataTable) -> bool:
    """Whether a column is what R and pandas write before the rows: first, nameless, each cell different."""
    if not table.named or name not in NAMELESS or table.names.index(name) or table.missing(name).any():
        return False
    numbers = table.numbers(name)
    if numbers is None:
        return len(set(table.text(name))) == len(table) > 1
    return bool((np.diff(numbers) > 0).all() and (numbers == np.round(numbers)).all())


def _are_eight_digits(numbers: np.ndarray) -> bool:
    """Whether numbers, of which there are some, are all dates such as 20240305."""
    whole = bool(((numbers >= 1000_01_01) & (numbers <= 9999_12_31) & (numbers == np.round(numbers))).all())
    return whole and all(date_of(f"{number:.0f}") for number in np.unique(numbers))


def _dates(name: str, table: DataTable, texts: Iterable[str], form: str) -> Decision:
    """Return what becomes of a column of dates. Offsets of their times must be one, which is local time."""
    if table.form.dates == "drop":
        return Decision(left_out="dates=drop")
    read = [date for date in map(date_of, texts) if date is not None]
    offsets = sorted({offset for _, offset in read})
    if len(offsets) > 1:
        shown = " and ".join(offset or "none" for offset in offsets[:3])
        return Decision(stop=_offsets_differ(name, table, shown))
    days = np.array([day for day, _ in read])
    clock = bool((days != np.floor(days)).any())
    features = ("days",) if table.form.dates == "ordinal" else (*_DAYS, *(("hour",) if clock else ()))
    said = "dates as " + (", ".join(features) if len(features) > 1 else "days since the first")
    said = f"{form} that are {said}" if form else said
    said += f", in local time (offset {offsets[0]})" if offsets[0] else ""
    return Decision(PreparedColumn(name, DATE, features, float(np.floor(days.min())), offsets[0]), said=said)


def _offsets_differ(name: str, table: DataTable, shown: str) -> Stop:
    frame = f"frame[{name!r}]"
    local = f"pandas.to_datetime({frame}, utc=True).dt.tz_convert('Europe/Berlin').dt.tz_localize(None)"
    text = f"column '{name}' has times with different offsets from UTC ({shown}); write local times"
    helps = f"in pandas {frame} = {local}, or {column_word('drop', name)} leaves the column out"
    return Stop(f"{table.path}: {text}, {helps}", {"drop": name}, name)


def _words(name: str, table: DataTable, named: bool = False) -> Decision:
    """Return what becomes of a column of words; named: by ``categorical=``."""
    form = table.form
    texts = table.text(name)[~table.missing(name)]
    different = distinct_texts(texts)[0]
    few = _are_few(different, table)
    if form.of_words == "error" and not named:
        word = texts[0]
        at = table.where(int(np.argmax(~table.missing(name))))
        text = f"{at}: column '{name}' holds {show(word)}, which is not a number; "
        mend: dict[str, Any] = {"categorical": name} if few else {"drop": name}
        helps = f"{column_word('categorical', name)} makes a feature of each word, " if few else ""
        return Decision(
            stop=Stop(f"{text}{helps}{column_word('drop', name)} leaves the column out", mend, name)
        )
    if any(len(text) > LONGEST_TEXT for text in different):
        return _left_out(name, f"it holds texts of over {LONGEST_TEXT} characters", named, table)
    if few or ((named or form.of_words == "onehot") and len(different) <= MOST_CATEGORIES):
        return Decision(PreparedColumn(name, WORDS))
    return _left_out(
        name, f"{len(different)} different words in {len(table)} rows are too many", named, table
    )


def _are_few(different: Collection[str], table: DataTable) -> bool:
    """Whether that many different words become features without being asked for."""
    return len(different) <= FEW_WORDS and FEWEST_ROWS * len(different) <= len(table)


def _left_out(name: str, why: str, named: bool, table: DataTable) -> Decision:
    if not named:
        return Decision(left_out=why, said=f"left out, since {why}")
    text = f"{table.path}: {column_word('categorical', name)}: {why}"
    return Decision(stop=Stop(f"{text}; at most {MOST_CATEGORIES} become features", {"drop": name}, name))


# ------------------------------------------------------------------ what stops a run


def _near_numbers(name: str, table: DataTable, dates: bool) -> Stop | None:
    """Return what stops a run where most cells of a column that is not all numbers begin or end with one.

    dates: whether most of the different cells are ISO dates
    """
    form, missing = table.form, table.missing(name)
    texts = table.text(name)
    counts = Counter(texts[~missing])
    fine = {text for text in counts if (date_of(text) if dates else form.number(text)) is not None}
    near = sum(count for text, count in counts.items() if text in fine or is_near_number(text))
    if 2 * near < counts.total():
        return None
    odd = [text for text in counts if text not in fine]
    row = next(i for i, text in enumerate(texts) if text and not missing[i] and text not in fine)
    count = sum(counts[text] for text in odd)
    what, helps, mend = _fault(name, odd, list(counts), texts[row], dates, table)
    remedy = f"{column_word('drop', name)} leaves the column out"
    if not mend and _are_few(counts, table):
        remedy = f"{column_word('categorical', name)} makes a feature of each value, {remedy}"
    cells = f" ({count} such cells)" if count > 1 else ""
    text = f"{table.where(row)}: column '{name}' holds {show(texts[row])}, {what}{cells}; {helps}; {remedy}"
    return Stop(text, mend or {"drop": name}, name)


def _fault(
    name: str, odd: list[str], texts: list[str], first: str, dates: bool, table: DataTable
) -> tuple[str, str, dict[str, Any]]:
    """Return what the cells of a column are that are no numbers, what to write, and settings that mend it.

    odd: the different texts that are no numbers (dates: no ISO dates)    texts: all of them    first: of odd
    """
    form, frame = table.form, f"frame[{name!r}]"
    if found := readings(texts, first, form):
        ways = " or ".join(f"{words} reads it as {value}" for words, value, _ in found)
        return "a number in another notation", ways, found[0][2]
    no_days = dates and all(map(_ISO.fullmatch, odd))  # such as 2023-02-30
    codes = no_days or all(_CENSORED.fullmatch(text) or not is_near_number(text) for text in odd)
    if len(odd) <= FEW_CODES and codes and len(odd) < len(texts):
        others = {word for word in table.gap_words(table.names) if word.lower() not in map(str.lower, odd)}
        gaps = (*sorted(others), *odd)
        helps = f"{in_shell(na_text(gaps))} takes {'these words' if odd[1:] else 'it'} as a missing value"
        return f"which is no {'date' if dates else 'number'}", helps, {"na": gaps}
    if date := _date_fault(odd, dates, frame):
        return *date, {}
    if all(_TIME.fullmatch(text) for text in odd):
        hours = f"pandas.to_timedelta({frame} + ':00').dt.total_seconds() / 3600"
        return "a time of day", f"write hours as numbers, in pandas {frame} = {hours}", {}
    around = _around(odd)
    if any(around):
        strip = "".join(
            f".str.remove{way}({text!r})"
            for way, text in zip(("prefix", "suffix"), around, strict=True)
            if text
        )
        return "a number with a text", f"write numbers, in pandas {frame} = {frame}{strip}.astype(float)", {}
    return "a number in a notation that is not read", "write numbers such as -1.5 or 2e3", {}


def _date_fault(odd: list[str], dates: bool, frame: str) -> tuple[str, str] | None:
    """Return what dates in another order are, and what to write; None for other texts."""
    if orders := _orders(odd):
        if "%y" in orders[0]:
            return "a date", "write the year with four digits and first, as in 2024-03-05"
        ways = " or ".join(f"format={order!r}" for order in orders)
        helps = f"write the year first, in pandas {frame} = pandas.to_datetime({frame}, {ways})"
        return "a date that does not begin with the year", helps
    if dates or any(_NAMED_MONTH.fullmatch(text) for text in odd):
        helps = f"write dates as in 2024-03-05, in pandas {frame} = pandas.to_datetime({frame})"
        return "which is no date that begins with the year", helps
    return None


def _orders(texts: list[str]) -> list[str]:
    """Return the formats, as strptime takes them, that texts such as 05/04/1999 can have."""
    matches = [match for text in texts if (match := _SLASHED.match(text))]
    if len(matches) < len(texts) or len({match[2] for match in matches}) > 1:
        return []
    mark, year = matches[0][2], "%Y" if all(len(match[4]) == 4 for match in matches) else "%y"
    clock = " %H:%M" if all(" " in text for text in texts) else ""
    orders = [
        order
        for order, month in (("%d %m", 3), ("%m %d", 1))
        if all(int(match[month]) <= 12 for match in matches)
    ]
    return [mark.join([*order.split(), year]) + clock for order in orders]


def _around(texts: list[str]) -> tuple[str, str]:
    """Return what stands before and after the number in all of these texts; empty where that differs."""
    found = {re.fullmatch(r"([^\d.+-]*)[-+]?[\d.]+([^\d.+-]*)", text) for text in texts}
    if None in found:
        return "", ""
    around = {match.groups() for match in found if match}
    return next(iter(around)) if len(around) == 1 else ("", "")  # type: ignore[return-value]


def readings(
    texts: Collection[str], example: str, form: Preparation
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the settings with which all texts are numbers: as words, what the example is then, as values.

    Empty where no setting makes them numbers, such as for words.
    """
    found: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for thousands, decimal in ((None, "."), (None, ","), (",", "."), (".", ","), *_RARE):
        other = Preparation(thousands=thousands, decimal=decimal)
        plain = other.plain(example)
        if plain is None or plain in found or any(other.number(text) is None for text in texts):
            continue
        words = [f"decimal={decimal}"] if decimal != form.decimal else []
        words += [f"thousands={typed(thousands)}"] if thousands != form.thousands else []
        found[plain] = " ".join(words), plain, {"decimal": decimal, "thousands": thousands}
    return list(found.values())


def stop_of_label(name: str, table: DataTable) -> Stop | None:
    """Return what stops a run at the label: numbers in another notation, which would be classes, or times."""
    if getattr(table.raw.get(name), "dtype", np.dtype(float)).kind == "M":
        frame = f"frame[{name!r}]"
        helps = f"if each is a class, {frame} = {frame}.astype(str) in pandas, else write a number"
        return Stop(f"{table.path}: the label (column '{name}') holds dates or times; {helps}", {}, name)
    texts = table.text(name)[~table.missing(name)]
    if not len(texts) or table.numbers(name) is not None:
        return None
    row, word = table.first_word(name)
    if not (found := readings(set(texts), word, table.form)):
        return None
    ways = " or ".join(f"{words} reads it as {value}" for words, value, _ in found)
    holds = f"{table.where(row)}: the label (column '{name}') holds {show(word)}"
    return Stop(f"{holds}, a number in another notation; {ways}", found[0][2], name)


def no_number(name: str, table: DataTable) -> str:
    """Return what is wrong with a column of new rows, or of targets, that is not all numbers."""
    row, word = table.first_word(name)
    holds = f"{table.where(row)}: column '{name}' holds {show(word)}"
    return f"{holds}, which is not a number; correct the cell, or remove the row"


# ------------------------------------------------------------------ dates


def date_of(text: str) -> tuple[float, str] | None:
    """Return the days since 1970 of a date with the year first, and the offset of its time; else None.

    The time of day is a fraction; the offset is empty where there is none. Years are 1000 to 9999.
    """
    match = _ISO.fullmatch(text)
    eight = None if match else _EIGHT.fullmatch(text)
    try:
        if eight:
            return float(datetime.date(*map(int, eight.groups())).toordinal() - _EPOCH), ""
        if not match:
            return None
        month, day = (match["only"], "1") if match["only"] else (match["month"], match["day"])
        days = float(datetime.date(int(match["year"]), int(month), int(day)).toordinal() - _EPOCH)
    except ValueError:
        return None
    if match["hour"] is None:
        return days, ""
    second = float((match["second"] or "0").replace(",", "."))
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24 or minute > 59 or second >= 61 or (hour == 24 and minute + second > 0):
        return None
    offset = (match["offset"] or "").replace("Z", "+00:00")
    offset = f"{offset[:3]}:{offset[3:]}" if len(offset) == 5 else offset
    return days + (hour * 3600 + minute * 60 + second) / 86400, offset


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

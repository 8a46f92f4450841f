"""What a column of a table is, and the features that it becomes: numbers, words, dates, times, letters.

`Column.of` decides it from the texts of one table; `Column.values` makes the features of any table.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omkl.data.labels import TRUTH
from omkl.data.preparation import Preparation, column_word, in_shell, na_text, typed
from omkl.data.tables import Table
from omkl.errors import UserError, show

KINDS = NUMBERS, WORDS, LETTERS, DATE, TIME = "numbers", "words", "letters", "a date", "a time"
FEW_WORDS = 50  # different words of a column that become features without being asked for
FEWEST_ROWS = 10  # for each of them, on average
MOST_CATEGORIES = 1000
LONGEST_TEXT = 100  # of a label or category: numpy reserves the length of the longest in every row
LONGEST = 100  # characters of a date, or of a number with its unit
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?")  # with a decimal point or comma
_SEPARATED = (
    r"(?:\d{1,3}(?:[ .,'_\u00a0]\d{3})+(?:[.,]\d+)?|\d+(?:[.,\uff0e\u066b]\d*)?|[.,]\d+)(?:[eEdD][-+]?\d+)?"
)
_UNREAD = re.compile(  # numbers in brackets, with signs around them, fractions, numbers of programs
    rf"[(\[]?\s*[-+\u2212\u2013~\u2248<>=\u2264\u2265\u00b1#^*'\"\u2018\u2019]*\s*{_SEPARATED}\s*[-+*?!\u00b0\u2032'\"^]*\s*[)\]]?"
    r"|[-+]?\d+\s*/\s*\d+|[-+]?0[xX][0-9a-fA-F]+"
)
ONLINE = "online"  # of ``missing``: the learner fills gaps with what it has seen
FEW_CODES = 3  # words in a column of numbers that may mean a gap
_MONEY = r"(?:[$€£¥₹]|USD|EUR|GBP|JPY|CHF|CNY|INR)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?\s*(?:z|[-+]\d{2}:?\d{2})?"
_DAY = (
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-. ]+{_MONTH}[-, ]+\d{{2,4}}|{_MONTH}[ -]+\d{{1,2}}[-, ]+\d{{4}}"
    rf"|\d{{4}}[-/](?:0[1-9]|1[0-2])|{_MONTH}[-, ]+\d{{4}})"
)
_FORMS = {
    "a percentage": re.compile(r"[-+]?\s*[\d.,'\s]*\d\s*%"),
    "an amount of money": re.compile(
        rf"[-+]?\s*{_MONEY}\s*[-+]?[\d.,'\s]*\d|[-+]?[\d.,'\s]*\d\s*{_MONEY}", re.IGNORECASE
    ),
    "a date": re.compile(rf"{_DAY}(?:[T ]+{_TIME})?", re.IGNORECASE),
    "a time": re.compile(_TIME, re.IGNORECASE),
}
_RARE = ((" ", "."), (" ", ","), ("'", "."), ("'", ","))
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too
_SLASHED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*([ap]m)?", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"\d{4}\b")


@dataclass
class Column:
    """A column, and what it took from its table; a gap of its features is NaN where ``means`` are empty.

    parts: of words the categories, of dates and letters what becomes a feature
    first: of dates, the day (from 1970) that is 0    day_first: whether 3/4/2020 is in April
    means, scaling: of each feature, the mean of the table, and shift and factor; empty for none
    """

    name: str
    kind: str = NUMBERS
    parts: tuple[str, ...] = ()
    first: float = 0.0
    day_first: bool = False
    means: tuple[float, ...] = ()
    scaling: tuple[tuple[float, float], ...] = ()

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.kind == WORDS:
            return [f"{self.name}={part}" if part else f"{self.name} (no value)" for part in self.parts]
        return [f"{self.name} ({part})" for part in self.parts] or [self.name]

    @classmethod
    def of(cls, name: str, texts: Sequence[str], form: Preparation) -> tuple["Column", str]:
        """Return what a column of these texts, not all numbers, becomes; and what to say of it."""
        distinct, said = sorted(set(texts)), ""
        kind = kind_of(distinct) if distinct else None
        if kind == TIME:
            return cls(name, TIME), "times as hours"
        if kind == DATE:
            own, said = _of_dates(name, distinct, form)
            if own:
                return own, said
        if form.categorical == LETTERS and not is_odd(distinct, form):
            parts = tuple(f"letter {place}" for place in range(1, max(map(len, distinct), default=0) + 1))
            said = f"the codes of {len(parts)} letters, for kernels of texts such as spectrum"
            return cls(name, LETTERS, parts), said
        is_auto = form.categorical == "auto" and words_of(texts, form) is not None
        return cls(name, WORDS if is_auto or form.categorical == "onehot" else NUMBERS), said

    def values(self, table: Table) -> np.ndarray | None:
        """Return the features (T, 1 or more), nan in gaps of all but words; None where some are no numbers.

        Raises UserError with the row of a value that is no date or time.
        """
        if self.kind == NUMBERS:
            numbers = table.numbers(self.name)
            return None if numbers is None else numbers[:, None]
        texts = table.text(self.name)
        if self.kind == WORDS:
            fold = self.folding
            known, words = (np.array(list(map(fold, own)), object) for own in (self.parts, texts))
            return (words[:, None] == known).astype(float)
        there = ~table.missing(self.name)
        distinct, place = np.unique(texts[there].astype(str), return_inverse=True)
        made = np.full((len(table), len(self.features)), np.nan)
        made[there] = self._numbers(distinct)[place]
        bad = there & ~np.isfinite(made[:, :1]).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise UserError(
                f"{table.where(row)}: column '{self.name}' holds {show(texts[row])}, which is not "
                f"{self.kind} as the others are; correct the cell, or remove the row"
            )
        return made

    def _numbers(self, texts: np.ndarray) -> np.ndarray:
        """Return the features of different texts, nan where one is no date or time."""
        if self.kind == DATE:
            days = _days(texts, self.day_first)
            return np.column_stack([_part(part, days, self.first) for part in self.parts])
        if self.kind == TIME:
            return np.array([_hours(text) for text in texts], float)[:, None]
        codes = np.zeros((len(texts), len(self.parts)))
        for row, text in enumerate(texts):
            codes[row, : len(text)] = [ord(letter) for letter in text[: len(self.parts)]]
        return codes

    @property
    def folding(self) -> Callable[[str], str]:
        """What is done to texts before they are compared with the words; True and true are one."""
        return str.lower if {word.lower() for word in self.parts if word} <= TRUTH.keys() else str

    def with_words(self, table: Table) -> "Column":
        """Return a column of words with those of this table. Raises UserError for what can be none."""
        name = self.name
        values = tuple(sorted(set(table.text(name)[~table.missing(name)])))
        if table.is_truth(name):  # one each, in capital letters or not
            lower = [value.lower() for value in values]
            values = tuple(value for i, value in enumerate(values) if lower.index(lower[i]) == i)
        elif is_odd(values, table.form):
            raise UserError(no_number(name, table))
        drop = f"{column_word('drop', name)} leaves the column out"
        if len(values) > MOST_CATEGORIES:
            raise UserError(
                f"{table.path}: column '{name}' has {len(values)} different values, such as "
                f"{show(values[0])}; categorical=onehot takes {MOST_CATEGORIES}; {drop}"
            )
        long = next((value for value in values if len(value) > LONGEST_TEXT), None)
        if long is not None:
            raise UserError(f"{table.path}: column '{name}' holds a text of {len(long)} characters; {drop}")
        gaps = table.form.missing == ONLINE and table.missing(name).any()
        return replace(self, parts=(*values, "") if gaps else values)


def words_of(texts: Iterable[str], form: Preparation) -> list[str] | None:
    """Return the different words of a column, or None where half of its values or more are numbers."""
    counts = Counter(texts)
    numbers = sum(count for text, count in counts.items() if form.number(text) is not None)
    return None if 2 * numbers >= counts.total() else sorted(counts)


def are_few(count: int, rows: int) -> bool:
    """Whether that many different words of as many rows become features without being asked for."""
    return count <= FEW_WORDS and FEWEST_ROWS * count <= rows


# ------------------------------------------------------------------ what texts are


def codes_of_gaps(texts: Iterable[str], form: Preparation) -> list[str]:
    """Return the words that may mean a gap: all that are no numbers, at most three, in a column of numbers.

    Empty where they are more, look like numbers themselves, or the numbers are fewer than the words.
    """
    words, numbers = set[str](), set[str]()
    for text in texts:
        (words if form.number(text) is None else numbers).add(text)
        if len(words) > FEW_CODES:
            return []
    if len(words) > len(numbers) or any(_UNREAD.fullmatch(word) for word in words):
        return []
    return sorted(words)


def na_word(codes: Iterable[str], table: Table) -> str:
    """Return the setting that makes gaps of these words too, beside those that the table has now."""
    others = {word for word in table.gap_words(table.names) if word.lower() not in map(str.lower, codes)}
    return in_shell(na_text([*sorted(others), *codes]))


def unread_number(texts: Iterable[str], form: Preparation) -> str | None:
    """Return the first text that is a number in a notation that is not read, if all that are none are so."""
    odd = [text for text in texts if form.number(text) is None]
    return odd[0] if odd and all(len(t) <= LONGEST and _UNREAD.fullmatch(t) for t in odd) else None


def readings(texts: Collection[str], example: str, form: Preparation) -> dict[str, str]:
    """Return the settings with which all texts are numbers, each with what it makes of one of them.

    Empty where no setting makes them numbers, such as for words.
    """
    found: dict[str, str] = {}
    for thousands, decimal in ((None, "."), (None, ","), (",", "."), (".", ","), *_RARE):
        other = Preparation(thousands=thousands, decimal=decimal)
        plain = other.plain(example)
        if plain is None or plain in found.values() or any(other.number(text) is None for text in texts):
            continue
        words = [f"decimal={decimal}"] if decimal != form.decimal else []
        words += [f"thousands={typed(thousands)}"] if thousands != form.thousands else []
        found[" ".join(words)] = plain
    return found


def kind_of(texts: Sequence[str]) -> str | None:
    """Return what all these texts are, if it is a percentage, an amount of money, a date or a time."""
    return next(
        (
            name
            for name, form in _FORMS.items()
            if all(len(text) <= LONGEST and form.fullmatch(text) for text in texts)
        ),
        None,
    )


def kind_of_amounts(texts: Iterable[str], form: Preparation) -> str | None:
    """Return what the texts that are no numbers are, if it is a percentage or an amount of money."""
    words = [text for text in texts if form.number(text) is None]
    kind = kind_of(words) if words else None
    return kind if kind in ("a percentage", "an amount of money") else None


def is_odd(texts: Collection[str], form: Preparation) -> bool:
    """Whether texts are numbers in another notation, or with a sign, so that they are taken for no words."""
    word = next((text for text in texts if form.number(text) is None), "")
    return bool(word and (other_notation(texts, word, form) or kind_of_amounts(texts, form)))


def other_notation(texts: Collection[str], word: str, form: Preparation) -> str | None:
    """Return with which settings all texts are numbers, and what the word is then; None for other texts."""
    if found := readings(texts, word, form):
        return "which is " + " or ".join(f"{value} with {words}" for words, value in found.items())
    if all(_NUMBER.fullmatch(text) for text in texts):
        return "a number with a decimal comma in a column with decimal points; write all numbers in one way"
    return None


def no_number(name: str, table: Table, new: bool = False, target: bool = False) -> str:
    """Return what is wrong with a column that is not all numbers, and what helps.

    new: no setting can be changed    target: the column can neither be left out nor be categories
    """
    form = table.form
    there = table.text(name)[~table.missing(name)]
    row, word = table.first_word(name)
    holds = f"{table.where(row)}: column '{name}' holds {show(word)}"
    drop = f"{column_word('drop', name)} leaves the column out"
    if new and readings(there, word, form):
        return f"{holds}, which is not a number in the notation of the training data; write it as there"
    if said := other_notation(there, word, form):
        return f"{holds}, {said}"
    if not new and (codes := codes_of_gaps(there, form)):
        them = "these words" if codes[1:] else "it"
        rest = "" if target else f", {drop}"
        return (
            f"{holds}, which is not a number; {na_word(codes, table)} takes {them} as a missing value{rest}"
        )
    if kind := kind_of(there) or kind_of_amounts(there, form):
        if kind in ("a date", "a time"):
            convert = "write a number for each"
        else:
            convert = "write the numbers without their sign, for example in pandas"
        return f"{holds}, {kind}; {convert}{'' if new or target else f', or {drop}'}"
    if unread_number(there, form):
        convert = "a number in a notation that is not read; write numbers such as -1.5 or 2e3"
        return f"{holds}, {convert}{'' if new or target else f', or {drop}'}"
    helps = f"categorical=onehot makes a feature of each value, {drop}"
    helps = "correct the cell, or remove the row" if new or target else helps
    if row == 0 and any("header=yes" in note for note in table.notes):
        helps += "; header=yes takes the first line as names"
    return f"{holds}, which is not a number; {helps}"


def fault_of_words(name: str, table: Table) -> tuple[str, str] | None:
    """Return why a column that is not all numbers stops a run, and which settings help; None if it does not.

    The latter is empty where the cells must be corrected.
    """
    form = table.form
    there, (_, word) = table.text(name)[~table.missing(name)], table.first_word(name)
    if other_notation(there, word, form):
        return f"{show(word)} is in another notation", " or ".join(readings(there, word, form))
    words = words_of(there, form)
    if form.categorical != "onehot" and words is None and (codes := codes_of_gaps(there, form)):
        return f"{' or '.join(map(show, codes))} is no number", na_word(codes, table)
    kind = kind_of_amounts(there, form)
    if kind or not (form.categorical == "onehot" or (form.categorical == "auto" and words is not None)):
        return f"{show(word)} is {kind or 'no number'}", "" if kind else "categorical=onehot"
    return None


# ------------------------------------------------------------------ dates and times


def _of_dates(name: str, texts: list[str], form: Preparation) -> tuple[Column | None, str]:
    day_first, doubt = _day_first(texts, form.day_first)
    days = _days(np.array(texts), day_first)
    if not np.isfinite(days).all():
        return None, f"no dates, since {show(texts[int(np.argmin(np.isfinite(days)))])} is none"
    clock = any(":" in text for text in texts)
    parts = ("days",) if form.dates == "ordinal" else (*_DAYS, *(("hour",) if clock else ()))
    first = float(np.floor(days.min()))
    said = "dates as " + (", ".join(parts) if len(parts) > 1 else "days since the first")
    return Column(name, DATE, parts, first, day_first), said + doubt


def _day_first(texts: Iterable[str], wanted: str) -> tuple[bool, str]:
    """Return whether the day comes before the month, and what to say where nothing shows it."""
    first, second, point = 0, 0, False
    for text in texts:
        if match := _SLASHED.match(text):
            first, second = max(first, int(match[1])), max(second, int(match[3]))
            point = point or match[2] == "."
    if not first:
        return False, ""
    if first > 12 or second > 12:
        return first > 12, f", the {'day before the month' if first > 12 else 'month before the day'}"
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

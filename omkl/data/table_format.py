"""The texts of a table's cells: which are gaps, how numbers are written, and what else a text may be."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from omkl.errors import UserError, show

MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "<na>")  # the gaps, without regard to case
LONGEST = 100  # characters of a date, or of a number with its unit
_GROUPING = {" ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}  # in all the forms that programs write
_MONEY = r"(?:[A-Z]{0,2}[$€£¥₹₽₩₺₫₪₦¢]|USD|EUR|GBP|JPY|CHF|CNY|INR|Rs\.?)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?\s*(?:z|[-+]\d{2}:?\d{2})?"
_DAY = (
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-. ]+{_MONTH}[-, ]+\d{{2,4}}|{_MONTH}[ -]+\d{{1,2}}[-, ]+\d{{4}})"
)
KINDS = {
    "a percentage": re.compile(r"[-+]?\s*[\d.,'\s]*\d\s*%"),
    "an amount of money": re.compile(
        rf"[-+]?\s*{_MONEY}\s*[-+]?[\d.,'\s]*\d|[-+]?[\d.,'\s]*\d\s*{_MONEY}", re.IGNORECASE
    ),
    "a date": re.compile(rf"{_DAY}(?:[T ]+{_TIME})?", re.IGNORECASE),
    "a time": re.compile(_TIME, re.IGNORECASE),
}


@dataclass(frozen=True)
class TableFormat:
    """How a user's table is written; the defaults suit most.

    header: ``auto``, or ``yes`` or ``no``: whether the first line names the columns
    delimiter: ``auto``, or one character; a space stands for any run of white space
    thousands: the character between groups of three digits, None for none    decimal: a point or a comma
    na: the words that are gaps, without regard to case, None for MISSING; an empty cell always is one
    """

    header: str = "auto"
    delimiter: str = "auto"
    thousands: str | None = None
    decimal: str = "."
    na: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Raise UserError for settings that contradict each other or cannot be."""
        if self.header not in ("auto", "yes", "no"):
            raise UserError(f"header={show(self.header)}: must be auto, yes or no")
        marks = [self.delimiter] if self.delimiter != "auto" else []
        marks += [self.decimal] + ([] if self.thousands is None else [self.thousands])
        if not all(isinstance(mark, str) and len(mark) == 1 for mark in marks):
            raise UserError("delimiter, thousands and decimal must be one character each")
        if self.delimiter != "auto" and (self.delimiter.isalnum() or self.delimiter in '"\r\n'):
            raise UserError(f"delimiter={show(self.delimiter)}: this character cannot separate columns")
        if self.decimal not in ".,":
            raise UserError(f"decimal={self.decimal}: must be a point or a comma")
        if self.thousands == self.decimal:
            other = "," if self.decimal == "." else "."
            raise UserError(f"thousands={self.thousands}: the decimal sign is the same; add decimal={other}")
        if self.thousands is not None and (self.thousands.isalnum() or self.thousands in "+-"):
            raise UserError(f"thousands={show(self.thousands)}: this character cannot separate digits")
        if self.na is not None and not (
            isinstance(self.na, tuple) and all(isinstance(word, str) for word in self.na)
        ):
            raise UserError(f"na={show(self.na)}: must be words")

    @property
    def gaps(self) -> frozenset[str]:
        """The texts in lower case that mean that a cell has no value."""
        return frozenset(MISSING if self.na is None else ("", *(word.lower() for word in self.na)))

    def number(self, text: str) -> float | None:
        """Return the number that a text is in this format, None for other text."""
        plain = self.plain(text)
        try:
            return None if plain is None or "_" in plain else float(plain)  # float() would read 1_000
        except ValueError:
            return None

    def plain(self, text: str) -> str | None:
        """Return a number's text with a decimal point and without thousands; None for what is no number."""
        if self.thousands is None and self.decimal == ".":
            return text
        if _written(self.thousands, self.decimal).fullmatch(text):
            text = re.sub(_grouping(self.thousands), "", text) if self.thousands else text
            return text.replace(self.decimal, ".")
        return text if self.decimal == "." or not {".", ","} & set(text) else None


def _grouping(thousands: str) -> str:
    return _GROUPING.get(thousands, re.escape(thousands))


@cache
def _written(thousands: str | None, decimal: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:{_grouping(thousands)}\d{{3}})+|" if thousands else ""
    point = re.escape(decimal)
    body = rf"(?:(?:{grouped}\d+)(?:{point}\d*)?|{point}\d+)"
    return re.compile(rf"[-+]?{body}(?:[eE][-+]?\d+)?", re.ASCII)


def typed(mark: str | None) -> str:
    """Return a separator as one types it on the command line."""
    return {"\t": "tab", " ": "space", None: "null"}.get(mark, str(mark))


def readings(texts: Iterable[str], example: str, form: TableFormat) -> dict[str, str]:
    """Return the settings with which all texts are numbers, each with what it makes of one of them.

    Empty where no setting makes them numbers, such as for words.
    """
    texts = list(texts)
    found: dict[str, str] = {}
    for thousands, decimal in ((None, "."), (None, ","), (",", "."), (".", ","), *_RARE):
        other = TableFormat(thousands=thousands, decimal=decimal)
        plain = other.plain(example)
        if plain is None or plain in found.values() or any(other.number(text) is None for text in texts):
            continue
        words = [f"decimal={decimal}"] if decimal != form.decimal else []
        words += [f"thousands={typed(thousands)}"] if thousands != form.thousands else []
        found[" ".join(words)] = plain
    return found


_RARE = ((" ", "."), (" ", ","), ("'", "."), ("'", ","))


def kind_of(texts: Sequence[str]) -> str | None:
    """Return what all these texts are, if it is a percentage, an amount of money, a date or a time."""
    return next(
        (
            name
            for name, form in KINDS.items()
            if all(len(text) <= LONGEST and form.fullmatch(text) for text in texts)
        ),
        None,
    )

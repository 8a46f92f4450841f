"""A user's table as named columns: texts, gaps, numbers where all are, and how these are written."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.labels import TRUTH
from omkl.errors import UserError, counted, quoted, show, suggest

MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "<na>")  # the gaps, without regard to case
LONGEST = 100  # characters of a date, or of a number with its unit
_GROUPING = {" ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}  # in all the forms that programs write
MONEY = r"(?:[A-Z]{0,2}[$€£¥₹₽₩₺₫₪₦¢]|USD|EUR|GBP|JPY|CHF|CNY|INR|Rs\.?)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?\s*(?:z|[-+]\d{2}:?\d{2})?"
_DAY = (
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[-. ]+{_MONTH}[-, ]+\d{{2,4}}|{_MONTH}[ -]+\d{{1,2}}[-, ]+\d{{4}})"
)
KINDS = {
    "a percentage": re.compile(r"[-+]?\s*[\d.,'\s]*\d\s*%"),
    "an amount of money": re.compile(
        rf"[-+]?\s*{MONEY}\s*[-+]?[\d.,'\s]*\d|[-+]?[\d.,'\s]*\d\s*{MONEY}", re.IGNORECASE
    ),
    "a date": re.compile(rf"{_DAY}(?:[T ]+{_TIME})?", re.IGNORECASE),
    "a time": re.compile(_TIME, re.IGNORECASE),
}

_PLAIN = re.compile(  # texts that a setting need not quote: omkl.config.grammar reads them as they are
    r"(?!(?:null|true|false|inf|nan)\Z)[^\W\d_]\w*(?: \w+)*|0|[1-9][0-9]{0,17}", re.IGNORECASE
)
_PLAIN_CLASS = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|true|false", re.IGNORECASE)


@dataclass(frozen=True)
class TableFormat:
    """How a user's table is written; the defaults suit most.

    header: ``auto``, or ``yes`` or ``no``: whether the first line names the columns
    delimiter: ``auto``, or one character; a space stands for any run of white space
    encoding: of the text, ``auto`` for UTF-8
    thousands: the character between groups of three digits, None for none    decimal: a point or a comma
    na: the words that are gaps, without regard to case, None for MISSING; an empty cell always is one
    """

    header: str = "auto"
    delimiter: str = "auto"
    encoding: str = "auto"
    thousands: str | None = None
    decimal: str = "."
    na: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Raise UserError for settings that contradict each other or cannot be."""
        if self.header not in ("auto", "yes", "no"):
            raise UserError(f"header={show(self.header)}: must be auto, yes or no")
        if self.encoding != "auto":
            _check_encoding(self.encoding)
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


def _check_encoding(name: str) -> None:
    """Raise UserError for a name that is none of an encoding of text."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        near = suggest(name, ("utf-8", "utf-16", "latin1", "cp1252", "cp1250", "cp1251", "gbk", "shift_jis"))
        raise UserError(
            f"encoding={show(name)}: no such encoding{near}; write one such as utf-16, latin1 or cp1252"
        ) from None


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


def typed_setting(key: str, *texts: str) -> str:
    """Return the setting of columns or of a class as omkl reads it: ``drop=age,"price, net"``."""
    plain = {
        text: _PLAIN.fullmatch(text) or (key == "positive" and _PLAIN_CLASS.fullmatch(text)) for text in texts
    }
    quotes = not all(plain.values())  # beside a quoted text, letters beyond ASCII need quotes too
    values = [
        text if plain[text] and not (quotes and not text.isascii()) else _in_quotes(text) for text in texts
    ]
    return f"{key}={','.join(values)}"


def _in_quotes(text: str) -> str:
    """Return a text in quotes; in them only a quote, and the backslashes before one, are escaped."""
    return '"' + re.sub(r'(\\*)("|\Z)', lambda found: 2 * found[1] + (found[2] and r"\""), text) + '"'


def in_shell(word: str) -> str:
    """Return a setting as one types it in a shell: ``'drop=mean radius'``."""
    return word if re.fullmatch(r"[\w@%+=:,./#\[\]-]+", word) else shlex.quote(word)


def column_word(key: str, name: str) -> str:
    """Return the setting that names a column, as one types it: ``drop=age``, ``'drop="price, net"'``."""
    return in_shell(typed_setting(key, name))


def readings(texts: Iterable[str], example: str, form: TableFormat) -> dict[str, str]:
    """Return the settings with which all texts are numbers, each with what it makes of one of them.

    Empty where no setting makes them numbers, such as for words.
    """
    found: dict[str, str] = {}
    for other, plain in readings_of(texts, example):
        words = [f"decimal={other.decimal}"] if other.decimal != form.decimal else []
        words += [f"thousands={typed(other.thousands)}"] if other.thousands != form.thousands else []
        found[" ".join(words)] = plain
    return found


def readings_of(texts: Iterable[str], example: str) -> list[tuple[TableFormat, str]]:
    """Return the formats in which all texts are numbers, each with what it makes of one of them."""
    texts = list(texts)
    found: list[tuple[TableFormat, str]] = []
    for thousands, decimal in ((None, "."), (None, ","), (",", "."), (".", ","), *_RARE):
        other = TableFormat(thousands=thousands, decimal=decimal)
        plain = other.plain(example)
        if plain is None or any(plain == known for _, known in found):
            continue
        if all(other.number(text) is not None for text in texts):
            found.append((other, plain))
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


AS_MOST = TableFormat()


# ------------------------------------------------------------------ columns


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its name, its values as text, and as numbers, where missing ones are nan.

    The text of a column of numbers has a decimal point and no thousands, however the file writes them.
    numbers: None where some value is neither a number nor missing    missing (T,): which values are
    truth: whether the values are True and False, of which the numbers are 1 and 0
    as_written: whether the numbers come from these texts, of which another format may make others
    """

    name: str
    text: np.ndarray
    missing: np.ndarray
    numbers: np.ndarray | None
    truth: bool = False
    as_written: bool = False

    @property
    def distinct(self) -> "Column":
        """A column with each of the values at least once, and no other; that of a sparse one is short."""
        return self

    def first_word(self, form: TableFormat) -> tuple[int, str]:
        """Return the row and the text of the first value that is no number in this format."""
        texts, missing = self.text, self.missing
        row = next(i for i, text in enumerate(texts) if not missing[i] and form.number(text) is None)
        return row, texts[row]


class SparseColumn(Column):
    """A column of a sparse file: the rows that it has a value in, and the value of all others.

    Its arrays are made when they are asked for, and not kept: there may be 100,000 such columns.
    """

    def __init__(self, name: str, T: int, rows: np.ndarray, entries: Column):
        """entries: the value of all other rows, if there are any, and those of ``rows``."""
        object.__setattr__(self, "name", name)
        self.T, self.rows, self.entries = T, rows, entries

    def _spread(self, values: np.ndarray) -> np.ndarray:
        place = np.zeros(self.T, np.int64)  # of each row, among the entries
        place[self.rows] = np.arange(len(self.rows)) + (len(self.rows) < self.T)
        return values[place]

    @property
    def distinct(self) -> Column:
        return self.entries

    @property
    def text(self) -> np.ndarray:  # type: ignore[override]
        return self._spread(self.entries.text)

    @property
    def missing(self) -> np.ndarray:  # type: ignore[override]
        return self._spread(self.entries.missing)

    @property
    def numbers(self) -> np.ndarray | None:  # type: ignore[override]
        return None if self.entries.numbers is None else self._spread(self.entries.numbers)


@dataclass
class Table:
    """The columns of a file, the line that each row ends at (T,), and whether its columns have names.

    notes: for the user, on what was decided in reading it    sparse: whether its rows list what is not 0
    before: rows of the file before the first one, where this is a part of it
    """

    path: Path
    columns: list[Column]
    lines: np.ndarray | None
    named: bool
    notes: tuple[str, ...] = ()
    sparse: bool = False
    before: int = 0

    def where(self, row: int) -> str:
        """Return file and line of a row."""
        return (
            f"{self.path}: row {self.before + row + 1}"
            if self.lines is None
            else f"{self.path}:{self.lines[row]}"
        )

    def place(self, wanted: str | int, key: str) -> int:
        """Return the place of a column named or numbered (from 1). Raises UserError for another.

        A number is no place where other columns have numbers as names.
        """
        names = [column.name for column in self.columns]
        if str(wanted) in names:
            return names.index(str(wanted))
        known = ", ".join(quoted(names[:8])) + (", ..." if len(names) > 8 else "")
        if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
            if not any(name.isdecimal() and int(name[:9]) <= len(names) for name in names):
                return int(wanted) - 1
            raise UserError(
                f"{key}={wanted}: {self.path} has no column named {wanted}, and others have numbers as "
                f"names; write a name: {known}"
            )
        near = suggest(str(wanted), names)
        meant = [name for name in names if f"'{name}'" in near and '"' in typed_setting(key, name)]
        near += f"; type {column_word(key, meant[0])}" if meant else ""
        raise UserError(
            f"{key}={wanted}: {self.path} has no such column{near}; "
            f"it has {counted(len(names), 'column')}: {known}"
        )

    def note_on(self, wanted: str, key: str) -> list[str]:
        """Return a note where a column's name is a number other than its place."""
        place = self.place(wanted, key) + 1
        if not wanted.isdecimal() or int(wanted) == place:
            return []
        return [f"{key}={wanted} is the column named {wanted}, which is column {place} of the file"]


def column_of(name: str, text: np.ndarray, form: TableFormat) -> Column:
    gaps = form.gaps
    missing = np.fromiter((value.lower() in gaps for value in text), bool, len(text))
    plain = text
    if (form.thousands, form.decimal) != (None, "."):
        made = [value if gap else form.plain(value) for value, gap in zip(text, missing, strict=True)]
        if None in made:
            return Column(name, text, missing, None)
        plain = np.array(made, object)
    numbers = np.full(len(text), np.nan)
    if not missing.all() and all(value.lower() in TRUTH for value in text[~missing]):
        numbers[~missing] = [TRUTH[value.lower()] for value in text[~missing]]
        return Column(name, text, missing, numbers, truth=True)
    try:
        if any("_" in value for value in plain):
            raise ValueError
        numbers[~missing] = plain[~missing].astype(np.float64)
    except ValueError:
        return Column(name, text, missing, None)
    return replace(numeric_column(name, plain, missing, numbers, form), as_written=plain is text)


def numeric_column(
    name: str, text: np.ndarray, missing: np.ndarray, numbers: np.ndarray, form: TableFormat
) -> Column:
    gaps = [number for word in form.na or () if (number := AS_MOST.number(word)) is not None]
    missing = missing | np.isin(numbers, gaps)  # -999 and -999.0 are the same gap
    return Column(name, text, missing, np.where(missing, np.nan, numbers))


def as_pandas(frame: Any) -> Any:
    """Return a data frame of any library as one of pandas; a lazy one of polars is collected."""
    import pandas as pd

    if hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, pd.DataFrame):
        return frame
    return pd.DataFrame({name: _values(frame[name]) for name in frame.columns})


def _values(column: Any) -> Any:
    """Return the values of a column of polars or the like; whole numbers beside gaps keep all digits."""
    kind = str(getattr(column, "dtype", ""))
    has_gaps = hasattr(column, "null_count") and column.null_count()
    if has_gaps and re.fullmatch(r"U?Int(8|16|32|64)", kind):  # floats in numpy
        import pandas as pd

        return pd.array(column.to_list(), dtype=kind)
    return column.to_numpy()


def of_frame(frame: Any, path: Path, form: TableFormat = AS_MOST) -> Table:
    """Return the columns of a data frame (pandas, polars). Raises UserError for one without rows."""
    import pandas as pd

    frame = as_pandas(frame)
    if not len(frame):
        raise UserError(f"{path}: no examples in it")
    columns = []
    names = list(map(str, frame.columns))
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"{path}: two columns are named {show(twice[0])}; rename one")
    for name in frame.columns:
        values = frame[name]
        missing = values.isna().to_numpy()
        text = np.where(missing, "", values.astype(str)).astype(object)  # with all digits, for labels
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            columns.append(numeric_column(str(name), text, missing, numbers, form))
        else:
            columns.append(column_of(str(name), text, form))
    return Table(path, columns, None, True)

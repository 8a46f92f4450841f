"""A user's table (CSV, TSV, ARFF, Parquet) as named columns: the texts of a file, numbers where all are."""

import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.arff_files import read_arff
from omkl.data.data_files import is_compressed, open_binary, suffix
from omkl.data.delimited import layout, read_fields
from omkl.data.labels import TRUTH, listed
from omkl.data.table_format import TableFormat
from omkl.errors import UserError, show, suggest

ENOUGH = 10  # rows that show how the numbers of a column usually are
AS_MOST = TableFormat()


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its name, its values as text, and as numbers, where missing ones are nan.

    The text of a column of numbers has a decimal point and no thousands, however the file writes them.
    numbers: None where some value is neither a number nor missing    missing (T,): which values are
    truth: whether the values are True and False, of which the numbers are 1 and 0
    """

    name: str
    text: np.ndarray
    missing: np.ndarray
    numbers: np.ndarray | None
    truth: bool = False

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
    """

    path: Path
    columns: list[Column]
    lines: np.ndarray | None
    named: bool
    notes: tuple[str, ...] = ()
    sparse: bool = False

    def where(self, row: int) -> str:
        """Return file and line of a row."""
        return f"{self.path}: row {row + 1}" if self.lines is None else f"{self.path}:{self.lines[row]}"

    def place(self, wanted: str | int, key: str) -> int:
        """Return the place of a column named or numbered (from 1). Raises UserError for another.

        A number is no place where other columns have numbers as names.
        """
        names = [column.name for column in self.columns]
        if str(wanted) in names:
            return names.index(str(wanted))
        known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
            if not any(name.isdecimal() and int(name[:9]) <= len(names) for name in names):
                return int(wanted) - 1
            raise UserError(
                f"{key}={wanted}: {self.path} has no column named {wanted}, and others are named by numbers; "
                f"write a name: {known}"
            )
        raise UserError(
            f"{key}={wanted}: {self.path} has no such column{suggest(str(wanted), names)}; "
            f"its {len(names)} columns are {known}"
        )

    def note_on(self, wanted: str, key: str) -> list[str]:
        """Return a note where a column's name is a number other than its place."""
        place = self.place(wanted, key) + 1
        if not wanted.isdecimal() or int(wanted) == place:
            return []
        return [f"{key}={wanted} is the column named {wanted}, which is column {place} of the file"]


def read(path: Path, form: TableFormat = AS_MOST, limit: int | None = None) -> Table:
    """Return a table of at most ``limit`` bytes. Raises UserError that names file and line."""
    if suffix(path) == ".parquet":
        return _parquet(path, form, limit)
    if suffix(path) == ".arff":
        return _arff(path, form, limit)
    delimiter, skipped = layout(path, form.delimiter)
    lines, rows, notes = _rows(path, delimiter, limit, skipped)
    names, note = _names(rows, form)
    notes += note
    named = names is not None
    if len(rows) == named:
        raise UserError(f"{path}: no examples in it")
    if names is None:
        names = [str(i + 1) for i in range(len(rows[0]))]
    if len(set(names)) < len(names):
        double = next(name for i, name in enumerate(names) if name in names[:i])
        helps = ", or set header=no if this line is a row" if form.header == "auto" else ""
        raise UserError(f"{path}:{lines[0]}: two columns are named {show(double)}; rename one{helps}")
    columns = [_column(name, cells, form) for name, cells in zip(names, _cells(rows[named:]), strict=True)]
    return Table(path, columns, np.array(lines[named:]), named, tuple(notes))


def _rows(
    path: Path, delimiter: str, limit: int | None, skipped: int
) -> tuple[list[int], list[list[str]], list[str]]:
    """Return the lines that the rows end at, the rows, and notes.

    Fields that only a delimiter at the end of the lines makes are left out.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    extra = 0  # fields of each row but the first beyond its own, empty as the lines end with a delimiter
    for line, fields in read_fields(path, delimiter, limit, skipped):
        if len(rows) == 1:
            if len(fields) == len(rows[0]) + 1 and not fields[-1]:
                extra = 1
            elif len(fields) == len(rows[0]) - 1 and not rows[0][-1]:
                rows[0].pop()
        if rows and (len(fields) != len(rows[0]) + extra or any(fields[len(rows[0]) :])):
            raise UserError(
                f"{path}:{line}: {len(fields)} columns; the lines before have {len(rows[0]) + extra}"
            )
        lines.append(line)
        rows.append(fields[: len(rows[0])] if rows else fields)
    ends = 0
    while rows and ends < len(rows[0]) and not any(row[-1 - ends] for row in rows):
        ends += 1
    if ends:
        rows = [row[:-ends] for row in rows]
    if not (ends or extra):
        return lines, rows, []
    what = f"the last {ends} columns have" if ends > 1 else "the last column has"
    note = f"{what} no name and no value (the lines end with a delimiter), and left out"
    return lines, rows, [note.replace("and left", "and are left" if ends > 1 else "and is left")]


def _cells(rows: list[list[str]]) -> list[np.ndarray]:
    """Return the texts of each column (T,)."""
    return [np.array(cells, object) for cells in zip(*rows, strict=True)]


def _names(rows: list[list[str]], form: TableFormat) -> tuple[list[str] | None, list[str]]:
    """Return the names that the first row gives the columns, None where it is a row of data; and notes."""
    note: list[str] = []
    is_header = form.header == "yes" and bool(rows)
    if form.header == "auto" and rows:
        is_header, note = _is_header(rows, form)
    if not is_header:
        return None, note
    return [re.sub(r"\s*[\r\n]+\s*", " ", name) or f"column {i + 1}" for i, name in enumerate(rows[0])], note


def _is_header(rows: list[list[str]], form: TableFormat) -> tuple[bool, list[str]]:
    """Return whether the first row names the columns, and a note where that is not plain.

    It does if it has a word above numbers, or if no word of it is a value of its column. Numbers may be names
    if they are unlike those below.
    """
    first = rows[0]
    shown = f"the first line ({listed([text or 'no name' for text in first])})"
    names = [f"{shown} is taken as the columns' names; header=no takes it as a row"]
    row = [f"{shown} is taken as a row; header=yes takes it as the columns' names"]
    numbers = [text for text in first if form.number(text) is not None]
    words = [
        i
        for i, text in enumerate(first)
        if text.lower() not in form.gaps | TRUTH.keys() and form.number(text) is None
    ]
    if not words and not _count_up(numbers, 3):
        return False, []
    if len(rows) == 1:
        return not numbers, []

    @cache
    def below(i: int) -> Column:
        return _column("", np.array([other[i] for other in rows[1:]], object), form)

    if not words:
        if not first[0] and "" not in below(0).text:  # as pandas writes an index
            return True, names
        unlike = sum(_is_unlike(text, below(i)) for i, text in enumerate(first))
        decided = len(rows) > ENOUGH and not _count_up(rows[1], 3) and 2 * unlike >= len(first)
        return (True, names) if decided else (False, row)
    if any(below(i).numbers is not None and not below(i).missing.all() for i in words):
        return (True, names if numbers else []) if _may_be_names(numbers) else (False, row)
    seen = sum(first[i] in below(i).text for i in words)
    new = not seen and any(len(set(below(i).text)) < len(rows) - 1 for i in words)  # to a list of few words
    if any(text in numbers and below(i).numbers is not None for i, text in enumerate(first)):
        if new and _count_up(numbers, 2):
            return True, names
        return False, row if new else []
    if 2 * seen >= len(words):
        return False, row
    return True, names if seen else []


def _may_be_names(numbers: Sequence[str]) -> bool:
    """Whether numbers among words may name columns: different whole ones, or three or more that ascend."""
    values = [float(text) for text in numbers if text.replace(".", "").isdecimal()]
    whole = all(text.isdecimal() for text in numbers) and len(set(numbers)) == len(numbers)
    ascend = len(values) == len(numbers) >= 3 and all(a < b for a, b in itertools.pairwise(values))
    return whole or ascend


def _count_up(texts: Sequence[str], least: int) -> bool:
    """Whether texts, a blank first one left out, are whole numbers in equal steps: 0, 1, 2 or 2019, 2020."""
    texts = texts[1:] if texts and not texts[0] else texts
    if len(texts) < least or not all(
        text.isascii() and text.isdecimal() and len(text) < 10 for text in texts
    ):
        return False
    steps = np.diff([int(text) for text in texts])
    return bool((steps == steps[0]).all() and steps[0] > 0)


def _is_unlike(text: str, column: Column) -> bool:
    """Whether a whole number is unlike the numbers of a column: all have a point, or it is far from them."""
    if column.numbers is None or column.missing.all() or not text:
        return False
    there = ~column.missing
    if all("." in value for value in column.text[there]):
        return True
    low, high = column.numbers[there].min(), column.numbers[there].max()
    return bool(abs(float(text) - (low + high) / 2) > 1.5 * (high - low))


def _column(name: str, text: np.ndarray, form: TableFormat) -> Column:
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
    return _numeric(name, plain, missing, numbers, form)


def _numeric(
    name: str, text: np.ndarray, missing: np.ndarray, numbers: np.ndarray, form: TableFormat
) -> Column:
    gaps = [number for word in form.na or () if (number := AS_MOST.number(word)) is not None]
    missing = missing | np.isin(numbers, gaps)  # -999 and -999.0 are the same gap
    return Column(name, text, missing, np.where(missing, np.nan, numbers))


def _arff(path: Path, form: TableFormat, limit: int | None) -> Table:
    form = replace(form, na=("?",)) if form.na is None else form  # None may be the name of a class
    content = read_arff(path, limit)
    T = len(content.lines)
    if not T:
        raise UserError(f"{path}: no examples in it")
    columns = []
    for name, default, rows, texts in zip(
        content.names, content.defaults, content.rows, content.texts, strict=True
    ):
        entries = ([default] if len(texts) < T else []) + texts
        column = _column(name, np.array(entries, object), form)
        columns.append(SparseColumn(name, T, np.array(rows, np.int64), column) if content.sparse else column)
    return Table(path, columns, np.array(content.lines), True, (), content.sparse)


def _parquet(path: Path, form: TableFormat, limit: int | None) -> Table:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401 (pandas reads with it)
    except ImportError:
        raise UserError(f"{path}: Parquet files need pyarrow; pip install 'omkl[parquet]'") from None
    try:
        frame = pd.read_parquet(io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path)
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from None
    return of_frame(frame, path, form)


def of_frame(frame: Any, path: Path, form: TableFormat = AS_MOST) -> Table:
    """Return the columns of a pandas data frame. Raises UserError for one without rows."""
    import pandas as pd

    if not len(frame):
        raise UserError(f"{path}: no examples in it")
    columns = []
    for name in frame.columns:
        values = frame[name]
        missing = values.isna().to_numpy()
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
            text = np.where(missing, "", values.astype(str)).astype(object)  # with all digits, for labels
            columns.append(_numeric(str(name), text, missing, numbers, form))
        else:
            text = np.where(missing, "", values.astype(str)).astype(object)
            columns.append(_column(str(name), text, form))
    return Table(path, columns, None, True)

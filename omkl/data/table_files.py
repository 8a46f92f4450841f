"""A user's table (CSV, TSV, Parquet) as named columns: text as in the file, and numbers where all are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.delimited import read_fields
from omkl.data.labels import TRUTH
from omkl.errors import UserError, show, suggest

MISSING = frozenset(("", "?", "na", "n/a", "nan", "null", "none", "<na>"))


@dataclass
class Column:
    """A column: its name, its values as text, and as numbers, where missing ones are nan.

    numbers: None where some value is neither a number nor missing    missing (T,): which values are
    truth: whether the values are True and False, of which the numbers are 1 and 0
    """

    name: str
    text: np.ndarray
    missing: np.ndarray
    numbers: np.ndarray | None
    truth: bool = False

    def first_word(self) -> tuple[int, str]:
        """Return the row and the text of the first value that is no number."""
        row = next(i for i, text in enumerate(self.text) if not self.missing[i] and _number(text) is None)
        return row, self.text[row]


@dataclass
class Table:
    """The columns of a file, the line that each row ends at (T,), and whether its columns have names."""

    path: Path
    columns: list[Column]
    lines: np.ndarray | None
    named: bool

    def where(self, row: int) -> str:
        """Return file and line of a row."""
        return f"{self.path}: row {row + 1}" if self.lines is None else f"{self.path}:{self.lines[row]}"

    def place(self, wanted: str | int, key: str) -> int:
        """Return the place of a column named or numbered (from 1). Raises UserError for another."""
        names = [column.name for column in self.columns]
        if str(wanted) in names:
            return names.index(str(wanted))
        if str(wanted).isdigit() and 1 <= int(wanted) <= len(names):
            return int(wanted) - 1
        known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise UserError(
            f"{key}={wanted}: {self.path} has no such column{suggest(str(wanted), names)}; "
            f"its {len(names)} columns are {known}"
        )


def read(path: Path, delimiter: str, limit: int | None) -> Table:
    """Return a table of at most ``limit`` bytes. Raises UserError that names file and line."""
    if path.suffix == ".parquet":
        return _parquet(path)
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, fields in read_fields(path, delimiter, limit):
        if rows and len(fields) != len(rows[0]):
            raise UserError(f"{path}:{line}: {len(fields)} columns; the lines before have {len(rows[0])}")
        lines.append(line)
        rows.append(fields)
    named = bool(rows) and all(_number(field) is None for field in rows[0])
    if len(rows) == named:
        raise UserError(f"{path}: no examples in it")
    names = [name or f"column {i + 1}" for i, name in enumerate(rows[0])]
    if not named:
        names = [str(i + 1) for i in range(len(names))]
    if len(set(names)) < len(names):
        double = next(name for i, name in enumerate(names) if name in names[:i])
        raise UserError(f"{path}:1: two columns are named {show(double)}; rename one")
    columns = [
        _column(name, np.array([row[i] for row in rows[named:]], object)) for i, name in enumerate(names)
    ]
    return Table(path, columns, np.array(lines[named:]), named)


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)  # float() would read 1_000
    except ValueError:
        return None


def _column(name: str, text: np.ndarray) -> Column:
    missing = np.fromiter((value.lower() in MISSING for value in text), bool, len(text))
    numbers = np.full(len(text), np.nan)
    if not missing.all() and all(value.lower() in TRUTH for value in text[~missing]):
        numbers[~missing] = [TRUTH[value.lower()] for value in text[~missing]]
        return Column(name, text, missing, numbers, truth=True)
    try:
        if any("_" in value for value in text):
            raise ValueError
        numbers[~missing] = text[~missing].astype(np.float64)
    except ValueError:
        return Column(name, text, missing, None)
    return Column(name, text, missing, numbers)


def _parquet(path: Path) -> Table:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401 (pandas reads with it)
    except ImportError:
        raise UserError(f"{path}: Parquet files need pyarrow; pip install 'omkl[parquet]'") from None
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from None
    return of_frame(frame, path)


def of_frame(frame: Any, path: Path) -> Table:
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
            columns.append(Column(str(name), text, missing, numbers))
        else:
            columns.append(_column(str(name), np.where(missing, "", values.astype(str)).astype(object)))
    return Table(path, columns, None, True)

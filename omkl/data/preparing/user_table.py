"""A user's table: its columns by name, from whichever data frame, dict or file it comes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from omkl.data.preparation import AS_IT_IS, LABELS, Preparation
from omkl.data.preparing.columns import Column
from omkl.data.reading.formats import ReadFrame
from omkl.errors import UserError, counted, quoted, show, suggest

MOST_COLUMNS = 100_000
MOST_NAMED = 20  # columns in a message


@dataclass
class Table:
    """A frame as it was read, and its columns by name. path: as messages call it"""

    path: str
    read: ReadFrame
    columns: dict[str, Column]
    form: Preparation = AS_IT_IS

    def __len__(self) -> int:
        return len(self.read.frame)

    @property
    def names(self) -> list[str]:
        """The names of the columns, or their numbers from 1 where they have none."""
        return list(self.columns)

    def where(self, row: int) -> str:
        """Return file and number of a row, of a frame its label, too."""
        index, before = self.read.frame.index, self.read.before
        is_plain = hasattr(index, "start") and index[:1].tolist() in ([], [0], [before])  # numbers alone
        return f"{self.path}: row {before + row + 1}{'' if is_plain else f' (index {show(index[row])})'}"

    @property
    def label(self) -> str:
        """The label's column: that of ``label=``, or the one that is called as in LABELS.

        Raises UserError where there is none, or two.
        """
        if self.form.label is not None:
            return self.column(self.form.label, "label")
        out = {self.column(name, key) for key in ("id", "drop") for name in getattr(self.form, key)}
        found = [name for name in self.names if name.lower() in LABELS and name not in out]
        if len(found) == 1:
            return found[0]
        what = f"the label may be column {' or '.join(map(show, found))}"
        fault = what if found else f"no column is called {', '.join(LABELS[:-1])} or {LABELS[-1]}"
        helps = f"name the label's column with label=COLUMN; the columns are {self._shown()}"
        raise UserError(f"{self.path}: {fault}; {helps}")

    def _shown(self) -> str:
        more = ", ..." if len(self.names) > MOST_NAMED else ""
        return ", ".join(quoted(self.names[:MOST_NAMED])) + more + self.of_separator

    @property
    def of_separator(self) -> str:
        """What helps where all of a file is in one column."""
        mark = r"'read.sep=\s+' (white space)" if " " in self.names[0] else "'read.sep=;'"
        return f"; {mark} says what separates the columns" if len(self.names) == 1 else ""

    def column(self, wanted: str, key: str) -> str:
        """Return the name of the column named, or numbered from 1. Raises UserError where there is none."""
        names = self.names
        if found := next((name for name in (wanted, f"'{wanted}'") if name in self.columns), None):
            return found
        if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(names):
            return names[int(wanted) - 1]
        near = suggest(wanted, names) if len(names) > 1 else ""
        has = f"it has {counted(len(names), 'column')}: {self._shown()}"
        raise UserError(f"{key}={wanted}: {self.path} has no such column{near}; {has}")


def table_of(read: ReadFrame, path: str, form: Preparation = AS_IT_IS) -> Table:
    """Return a frame as a table. Raises UserError for one without rows, and for equal names."""
    import pandas as pd

    frame = read.frame
    if not len(frame) and not read.before:
        raise UserError(f"{path}: no examples in it")
    if isinstance(frame.columns, pd.MultiIndex):
        join = "frame.columns = frame.columns.map('_'.join)"
        raise UserError(f"{path}: the columns are a MultiIndex; give each one name: {join}")
    keys = list(frame.columns)
    names = [read.name_of(key, at) for at, key in enumerate(keys)]
    if len(set(names)) < len(names):
        double = next(name for at, name in enumerate(names) if name in names[:at])
        raise UserError(f"{path}: two columns are named {show(double)}; rename one")
    if len(names) > MOST_COLUMNS:
        text = f"{len(names):,} columns; a table may have {MOST_COLUMNS:,}; write wide data as LIBSVM text"
        raise UserError(f"{path}: {text}")
    columns = {
        name: Column(name, frame.iloc[:, at], key if read.named else name, key in read.texts)
        for at, (name, key) in enumerate(zip(names, keys, strict=True))
    }
    return Table(path, read, columns, form)


def as_frame(data: Any) -> Any:
    """Return a data frame of any library, a dict of columns, or a list of records as a frame of pandas."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping | list):
        return pd.DataFrame(data)
    data = data.collect() if hasattr(data, "collect") else data
    if not hasattr(data, "to_pandas"):  # as polars, pyarrow and others have it
        return pd.DataFrame({name: np.asarray(data[name]) for name in data.columns})
    try:
        return data.to_pandas()
    except ImportError as error:
        library = type(data).__module__.partition(".")[0]
        raise UserError(f"a frame of {library} needs {error.name}") from None

"""A user's table: its columns by name, from whichever data frame, dict or file it comes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from omkl.data.preparation import AS_IT_IS, LABELS, Preparation, clean, column_word, typed_setting
from omkl.data.preparing.columns import Column
from omkl.data.reading.formats import ReadFrame
from omkl.errors import UserError, counted, quoted, show, suggest

MOST_COLUMNS = 100_000
MOST_NAMED = 20  # columns in a message


@dataclass
class Table:
    """A table: its columns by name, and how it was read.

    path: as messages call it    named: whether the columns have names of their own
    before: rows of the file before the first one    notes: for the user, on what was decided in reading it
    script: the lines of pandas that read it    index: of a frame whose index says more than the rows' numbers
    """

    path: str
    columns: dict[str, Column]
    rows: int
    form: Preparation = AS_IT_IS
    named: bool = True
    before: int = 0
    notes: list[str] = field(default_factory=list)
    script: Sequence[str] = ()
    index: Any = None

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> list[str]:
        """The names of the columns, or their numbers from 1 where they have none."""
        return list(self.columns)

    def where(self, row: int) -> str:
        """Return file and number of a row, of a frame its label, too."""
        label = f" (index {show(self.index[row])})" if self.index is not None else ""
        return f"{self.path}: row {self.before + row + 1}{label}"

    @property
    def label(self) -> str:
        """The label's column: that of ``label=``, or the one that is called as in LABELS.

        Raises UserError where there is none, or two.
        """
        names, wanted = self.names, self.form
        if wanted.label is not None:
            return names[self.place(wanted.label, "label")]
        out = {self.place(name, key) for key in ("id", "drop") for name in getattr(wanted, key)}
        found = [i for i, name in enumerate(names) if name.lower() in LABELS and i not in out]
        if len(found) == 1:
            return names[found[0]]
        columns = ", ".join(quoted(names[:MOST_NAMED])) + (", ..." if len(names) > MOST_NAMED else "")
        if found:
            fault = f"the label may be column {' or '.join(show(names[i]) for i in found)}"
        else:
            fault = f"no column is called {', '.join(LABELS[:-1])} or {LABELS[-1]}"
        raise UserError(
            f"{self.path}: {fault}; name the label's column with label=COLUMN; the columns are {columns}"
        )

    def place(self, wanted: str, key: str) -> int:
        """Return the place of a column named or numbered (from 1). Raises UserError for another.

        A number is no place where other columns have numbers as names.
        """
        names = self.names
        if wanted in self.columns:
            return names.index(wanted)
        columns = ", ".join(quoted(names[:8])) + (", ..." if len(names) > 8 else "")
        if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(names):
            if not any(name.isdecimal() and int(name[:9]) <= len(names) for name in names):
                return int(wanted) - 1
            raise UserError(
                f"{key}={wanted}: {self.path} has no column named {wanted}, and others have numbers as "
                f"names; write a name: {columns}"
            )
        near = suggest(wanted, names)
        meant = [name for name in names if f"'{name}'" in near and '"' in typed_setting(key, name)]
        near += f"; type {column_word(key, meant[0])}" if meant else ""
        count = counted(len(names), "column")
        raise UserError(f"{key}={wanted}: {self.path} has no such column{near}; it has {count}: {columns}")

    def note_on(self, wanted: str, key: str) -> list[str]:
        """Return a note where a column's name is a number other than its place."""
        place = self.place(wanted, key) + 1
        if not wanted.isdecimal() or int(wanted) == place:
            return []
        return [f"{key}={wanted} is the column named {wanted}, which is column {place} of the file"]


# ------------------------------------------------------------------ from data frames


def table_of(read: ReadFrame, path: str, form: Preparation = AS_IT_IS) -> Table:
    """Return a frame as a table. Raises UserError for one without rows, and for equal names."""
    import pandas as pd

    frame, named, before, declared = read.frame, read.named, read.before, set(read.texts)
    if not len(frame) and not before:
        raise UserError(f"{path}: no examples in it")
    if isinstance(frame.columns, pd.MultiIndex):
        join = "frame.columns = frame.columns.map('_'.join)"
        raise UserError(f"{path}: the columns are a MultiIndex; give each one name: {join}")
    keys = list(frame.columns)
    names = [clean(str(key)) for key in keys] if named else [str(at + 1) for at in range(len(keys))]
    names = [name or f"column {at}" for at, name in enumerate(names, 1)]
    if len(set(names)) < len(names):
        double = next(name for at, name in enumerate(names) if name in names[:at])
        raise UserError(f"{path}: two columns are named {show(double)}; rename one")
    if len(names) > MOST_COLUMNS:
        text = f"{len(names):,} columns; a table may have {MOST_COLUMNS:,}; write wide data as LIBSVM text"
        raise UserError(f"{path}: {text}")
    columns = {
        name: Column(name, frame.iloc[:, at], key if named else name, key in declared)
        for at, (name, key) in enumerate(zip(names, keys, strict=True))
    }
    index = (
        None
        if isinstance(frame.index, pd.RangeIndex) and frame.index[:1].tolist() in ([], [0], [before])
        else frame.index
    )
    return Table(path, columns, len(frame), form, named, before, list(read.notes), read.script, index)


def as_frame(data: Any) -> Any:
    """Return a data frame of any library, a dict of columns, or a list of records as a frame of pandas."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if isinstance(data, Mapping | list):
        return pd.DataFrame(data)
    data = data.collect() if hasattr(data, "collect") else data
    if hasattr(data, "to_pandas"):  # of polars, pyarrow and others
        try:
            return data.to_pandas()
        except ImportError as error:
            raise UserError(
                f"a frame of {type(data).__module__.partition('.')[0]} needs {error.name}"
            ) from None
    return pd.DataFrame({name: np.asarray(data[name]) for name in data.columns})

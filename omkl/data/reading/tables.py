"""A user's table: a pandas DataFrame of numbers and texts, and where each row stands."""

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.data.preparation import AS_IT_IS, LABELS, TRUTH, Preparation, Stop, column_word, typed_setting
from omkl.errors import UserError, counted, quoted, show, suggest

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 100_000
MOST_NAMED = 20  # columns in a message
GapWords = dict[str, int]  # the texts of a column that are gaps or not finite, each with its first row
Values = np.ndarray | Any  # numbers (T,), texts (T,) as objects, or an array of pandas


@dataclass
class DataTable:
    """A table: its columns by name, and where each row stands.

    frame: a column is one of numbers, whose gaps are nan, or of texts, whose gaps are None; the index is the
    line that each row ends at, or its number    unit: what stands between the path and that number
    named: whether the columns have names of their own    last: whether the last one is the label where
    nothing else says which, as in ARFF    words: see `GapWords`, by column
    form: how it was read    notes: for the user, on what was decided in reading it
    sparse: whether its rows list what is not 0
    raw: the columns that are kept as text but have values of other types in their source
    index: of the rows of a frame whose index says more than their numbers
    """

    path: Path
    frame: "pd.DataFrame"
    form: Preparation
    named: bool = True
    last: bool = False
    unit: str = ":"
    words: dict[str, GapWords] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sparse: bool = False
    raw: dict[str, Any] = field(default_factory=dict)
    index: Any = None

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[str]:
        """The names of the columns, or their numbers from 1 where they have none."""
        return list(self.frame.columns)

    def where(self, row: int) -> str:
        """Return file and line of a row, of a frame its number and its label."""
        number = self.frame.index[row]
        label = f" (index {show(self.index[number - 1])})" if self.index is not None else ""
        return f"{self.path}{self.unit}{number}{label}"

    @property
    def label(self) -> str:
        """The label's column, see `label_place`."""
        return self.names[label_place(self.names, self.last or not self.named, self.form, self.path)]

    def place(self, wanted: str, key: str) -> int:
        """Return the place of a column, see `place_of`."""
        return place_of(self.names, wanted, key, self.path)

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """The columns as arrays, which are faster to get at than those of a frame; there may be 100,000."""
        return {name: values.array for name, values in self.frame.items()}

    def missing(self, name: str) -> np.ndarray:
        """Return which rows have no value (T,)."""
        if name not in self._missing:
            values = self._arrays[name]
            is_float = values.dtype == np.float64
            self._missing[name] = (
                np.isnan(np.asarray(values)) if is_float else np.asarray(values.isna(), bool)
            )
        return self._missing[name]

    @cached_property
    def _missing(self) -> dict[str, np.ndarray]:
        """What `missing` has found, which is asked for several times."""
        return {}

    def text(self, name: str) -> np.ndarray:
        """Return a column as texts (T,), empty in gaps."""
        values = self._arrays[name]
        texts = np.array(values if _is_text(values) else self.frame[name].astype(str), object)
        texts[self.missing(name)] = ""
        return texts

    def numbers(self, name: str) -> np.ndarray | None:
        """Return a column as numbers (T,), nan in gaps; True is 1. None where some value is no number."""
        values = self._arrays[name]
        if _is_text(values):
            return numbers_of(self.text(name), self.form)
        if isinstance(values.dtype, np.dtype) or self.sparse:
            return np.asarray(values, np.float64)
        return np.asarray(values.to_numpy(np.float64, na_value=np.nan))

    def is_text(self, name: str) -> bool:
        """Whether a column is kept as texts."""
        return _is_text(self._arrays[name])

    def is_truth(self, name: str) -> bool:
        """Whether the values of a column are True and False, and there are some."""
        values = self._arrays[name]
        return _is_text(values) and _are_truth(np.asarray(values, object)[~self.missing(name)])

    def labels(self, name: str) -> np.ndarray:
        """Return a column of labels as texts (T,); numbers have a decimal point and no thousands."""
        texts = self.text(name)
        is_plain = self.form.is_plain and all(map(str.isascii, texts))
        if is_plain or not _is_text(self._arrays[name]) or self.numbers(name) is None:
            return texts
        return np.array([self.form.plain(text) if text else "" for text in texts], object)

    def cell(self, name: str, row: int) -> str:
        """Return the text of a gap or of a number that is not finite, the first one of its kind."""
        gap_words = self.words.get(name, {})
        return next((word for word, first in gap_words.items() if first == row), str(self.text(name)[row]))

    def first_word(self, name: str) -> tuple[int, str]:
        """Return the row and the text of the first value that is no number."""
        texts = self.text(name)
        row = next(i for i, text in enumerate(texts) if text and self.form.number(text) is None)
        return row, texts[row]

    def gap_words(self, names: Iterable[str]) -> set[str]:
        """Return the words that are gaps of these columns."""
        gaps, numeric = self.form.gaps, numeric_gaps(self.form)
        words = {word for name in names for word in self.words.get(name, ())}
        return {word for word in words if word.lower() in gaps or self.form.number(word) in numeric}

    def note_on(self, wanted: str, key: str) -> list[str]:
        """Return a note where a column's name is a number other than its place."""
        place = self.place(wanted, key) + 1
        if not wanted.isdecimal() or int(wanted) == place:
            return []
        return [f"{key}={wanted} is the column named {wanted}, which is column {place} of the file"]


def place_of(names: Sequence[str], wanted: str, key: str, path: Path) -> int:
    """Return the place of a column named or numbered (from 1). Raises UserError for another.

    A number is no place where other columns have numbers as names.
    """
    if wanted in names:
        return names.index(wanted)
    columns = ", ".join(quoted(names[:8])) + (", ..." if len(names) > 8 else "")
    if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(names):
        if not any(name.isdecimal() and int(name[:9]) <= len(names) for name in names):
            return int(wanted) - 1
        raise UserError(
            f"{key}={wanted}: {path} has no column named {wanted}, and others have numbers as "
            f"names; write a name: {columns}"
        )
    near = suggest(wanted, names)
    meant = [name for name in names if f"'{name}'" in near and '"' in typed_setting(key, name)]
    near += f"; type {column_word(key, meant[0])}" if meant else ""
    raise UserError(
        f"{key}={wanted}: {path} has no such column{near}; it has {counted(len(names), 'column')}: {columns}"
    )


def label_place(names: Sequence[str], last: bool, wanted: Preparation, path: Path) -> int:
    """Return the place of the label's column: that of ``label=``, or the one that is called as in LABELS.

    last: whether it is the last one where none is called so: the columns have no names, or it is ARFF
    Raises Stop where the label is not said, or two columns could be it.
    """
    if wanted.label is not None:
        return place_of(names, wanted.label, "label", path)
    out = {place_of(names, name, key, path) for key in ("id", "drop") for name in getattr(wanted, key)}
    found = [i for i, name in enumerate(names) if name.strip().lower() in LABELS and i not in out]
    if len(found) == 1 or (found and last):
        return found[-1]
    if last:
        return len(names) - 1
    columns = ", ".join(quoted(names[:MOST_NAMED])) + (", ..." if len(names) > MOST_NAMED else "")
    if found:
        fault = f"the label may be column {' or '.join(show(names[i]) for i in found)}"
    else:
        fault = f"no column is called {', '.join(LABELS[:-1])} or {LABELS[-1]}"
    raise Stop(
        f"{path}: {fault}; name the label's column with label=COLUMN; the columns are {columns}",
        {"label": names[(found or [len(names) - 1])[-1]]},
    )


def kept_as_text(names: Sequence[str], last: bool, wanted: Preparation, path: Path) -> set[str]:
    """Return the columns whose texts matter even if they are numbers: label, ``id``, ``categorical``."""
    kept = set[str]()
    with suppress(UserError):  # where a table lacks them, `recipe_of` says so
        kept.add(names[label_place(names, last, wanted, path)])
    for key, given in (("id", wanted.id), ("categorical", wanted.named_words)):
        with suppress(UserError):
            kept |= {names[place_of(names, name, key, path)] for name in given}
    return kept


# ------------------------------------------------------------------ columns


def _is_text(values: Any) -> bool:
    """Whether an array of pandas holds no numbers; True and False are words."""
    return values.dtype.kind not in "iuf"


def _are_truth(texts: Iterable[str]) -> bool:
    """Whether these texts, without gaps, are True and False; False if there are none."""
    first, rest = itertools.tee(texts)
    return next(first, None) is not None and all(text.lower() in TRUTH for text in rest)


def numeric_gaps(form: Preparation) -> list[float]:
    """Return the gaps that are numbers: -999 and -999.0 are the same gap."""
    return [number for word in form.na or () if (number := AS_IT_IS.number(word)) is not None]


def _numbers(texts: np.ndarray, form: Preparation) -> np.ndarray | None:
    """Return texts without gaps as numbers, None where one is none; nan is inf here, since it is no gap."""
    if not (form.is_plain and all(map(str.isascii, texts))):
        plain = [form.plain(text) for text in texts]
        if None in plain:
            return None
        texts = np.array(plain, object)
    try:
        numbers = texts.astype(np.float64)
    except ValueError:
        return None
    numbers[np.isnan(numbers)] = np.inf
    return None if any("_" in text for text in texts) else numbers


def distinct_texts(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different texts (n,) in the order in which they come, and the place of each text (T,)."""
    import pandas as pd

    codes, different = pd.factorize(texts)
    return np.asarray(different, object), codes


def numbers_of(texts: np.ndarray, form: Preparation) -> np.ndarray | None:
    """Return texts as numbers (T,), nan in gaps; True is 1. None where some text is neither."""
    different, place = distinct_texts(texts)
    missing = np.array([text.lower() in form.gaps for text in different], bool)
    there = different[~missing]
    found = _numbers(there, form)
    if _are_truth(there):
        found = np.array([TRUTH[text.lower()] for text in there], float)
    if found is None:
        return None
    numbers = np.full(len(different), np.nan)
    numbers[~missing] = found
    numbers[np.isin(numbers, numeric_gaps(form))] = np.nan
    return numbers[place]


def number_column(texts: np.ndarray, form: Preparation) -> tuple[np.ndarray, GapWords] | None:
    """Return the numbers (T,) of a column of texts, nan in gaps, and its `GapWords`; else None."""
    numbers = numbers_of(texts, form)
    if numbers is None or _are_truth(text for text in texts if text.lower() not in form.gaps):
        return None
    return numbers, _gap_words(texts, ~np.isfinite(numbers))


def text_column(texts: np.ndarray, form: Preparation) -> tuple[np.ndarray, GapWords]:
    """Return a column of texts (T,), None in gaps, and its `GapWords`.

    Words are in Unicode's NFC, with single blanks, and without quotes of one kind around all of them.
    """
    different, place = distinct_texts(texts)
    missing = np.array([text.lower() in form.gaps for text in different], bool)
    if numeric_gaps(form) and (numbers := number_column(different, form)):
        missing = np.isnan(numbers[0])
    cleaned = [clean(text) for text in different]
    there = [word for word, is_gap in zip(cleaned, missing, strict=True) if not is_gap]
    if there and all(len(word) > 2 and word[0] == word[-1] in "'`" for word in there):
        cleaned = [word[1:-1].strip() if word[:1] in tuple("'`") else word for word in cleaned]
    texts_or_none = np.array(
        [None if is_gap else word for word, is_gap in zip(cleaned, missing, strict=True)], object
    )
    return texts_or_none[place], _gap_words(texts, missing[place])


def clean(text: str) -> str:
    """Return a word in Unicode's NFC with single blanks, so that what looks the same is the same."""
    return " ".join(text.split()) if text.isascii() else " ".join(unicodedata.normalize("NFC", text).split())


def _gap_words(texts: np.ndarray, odd: np.ndarray) -> GapWords:
    first_rows: GapWords = {}
    for row in np.flatnonzero(odd).tolist():
        if texts[row]:
            first_rows.setdefault(texts[row], row)
    return first_rows


def table_of(
    path: Path,
    columns: dict[str, Values],
    index: Sequence[int] | np.ndarray,
    form: Preparation,
    texts: Collection[str],
    words: dict[str, GapWords] | None = None,
    **about: Any,
) -> DataTable:
    """Return the table of these columns; those of texts that are numbers become numbers.

    index: see DataTable    texts: columns that stay texts, see `kept_as_text`
    words: of columns that are numbers already    about: the other fields of DataTable
    """
    import pandas as pd

    place, parsed, words, gaps = pd.Index(index), dict[str, Any](), dict(words or {}), numeric_gaps(form)
    for name, values in columns.items():
        gap_words: GapWords = {}
        if isinstance(values, np.ndarray) and values.dtype == object:
            found = None if name in texts else number_column(values, form)
            values, gap_words = found or text_column(values, form)
        elif gaps and not about.get("sparse"):
            numbers = pd.Series(values).to_numpy(np.float64, na_value=np.nan)
            if (odd := np.isin(numbers, gaps)).any():
                values = np.where(odd, np.nan, numbers)
                gap_words = {
                    repr(float(numbers[row])).removesuffix(".0"): row
                    for row in np.flatnonzero(odd)[::-1].tolist()
                }
        words |= {name: {**words.get(name, {}), **gap_words}} if gap_words else {}
        if isinstance(values, np.ndarray) and values.dtype == object:
            values = pd.Series(values, place, object, copy=False)  # else pandas looks for a kind of its own
        parsed[name] = values
    return DataTable(path, pd.DataFrame(parsed, place, copy=False), form, words=words, **about)


def check_width(count: int, where: str) -> None:
    """Raise UserError for more columns than a table may have."""
    if count > MOST_COLUMNS:
        raise UserError(
            f"{where}: {count:,} columns; a table may have {MOST_COLUMNS:,}; write wide data as LIBSVM text"
        )


# ------------------------------------------------------------------ frames from Python, Parquet and Feather


def as_pandas(frame: Any) -> "pd.DataFrame":
    """Return a data frame of any library, or a table of pyarrow, as one of pandas."""
    import pandas as pd

    if hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, pd.DataFrame):
        if isinstance(frame.columns, pd.MultiIndex):
            join = "frame.columns = frame.columns.map('_'.join)"
            raise UserError(f"the columns of the frame are a MultiIndex; give each one name: {join}")
        return frame
    if hasattr(frame, "column_names"):  # of pyarrow
        return of_arrow(frame)
    return pd.DataFrame({name: _values(frame[name]) for name in frame.columns})


def of_arrow(table: Any) -> Any:
    """Return a table or batch of pyarrow as a frame whose whole numbers keep all digits beside gaps."""
    import pandas as pd
    import pyarrow

    names = (f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
    kinds = {getattr(pyarrow, name.lower())(): pd.api.types.pandas_dtype(name) for name in names}
    return table.to_pandas(types_mapper=kinds.get)


def _values(column: Any) -> Any:
    """Return the values of a column of polars or the like; whole numbers beside gaps keep all digits."""
    kind = str(getattr(column, "dtype", ""))
    has_gaps = hasattr(column, "null_count") and column.null_count()
    if has_gaps and re.fullmatch(r"U?Int(8|16|32|64)", kind):  # floats in numpy
        import pandas as pd

        return pd.array(column.to_list(), dtype=kind)
    return column.to_numpy()


def of_frame(
    frame: Any,
    path: Path,
    form: Preparation = AS_IT_IS,
    texts: Collection[str] = (),
    before: int = 0,
) -> DataTable:
    """Return a data frame (pandas, polars) as a table. Raises UserError for one without rows.

    before: rows of the file before the first one, where this is a part of it
    """
    frame = as_pandas(frame)
    if not len(frame):
        raise UserError(f"{path}: no examples in it")
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise UserError(f"{path}: the columns have names of several levels (MultiIndex); give each one name")
    names = [clean(str(name)) for name in frame.columns]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UserError(f"{path}: two columns are named {show(twice[0])}; rename one")
    check_width(len(names), str(path))
    texts = {*texts, *kept_as_text(names, False, form, path)}
    columns: dict[str, Values] = {}
    raw: dict[str, Any] = {}
    notes = list[str]()
    for name, (_, values) in zip(names, frame.items(), strict=True):
        if (zone := getattr(values.dtype, "tz", None)) is not None:
            values = values.dt.tz_localize(None)
            notes.append(f"'{name}': the local times of {zone}")
        if name in texts:
            raw[name] = values
        if _is_text(values) or name in texts:
            missing = np.asarray(values.isna(), bool)
            _check_cells(values[~missing].head(100), name, names, path, form)
            columns[name] = np.where(missing, "", np.array(values.astype(str), object))
        else:
            columns[name] = values.array
    rows = np.arange(before + 1, before + len(frame) + 1)
    table = table_of(path, columns, rows, form, texts, unit=": row ", raw=raw, notes=tuple(notes))
    if not before and not (frame.index.dtype.kind == "i" and (frame.index == np.arange(len(frame))).all()):
        table.index = frame.index
    return table


def _check_cells(values: Any, name: str, names: Sequence[str], path: Path, form: Preparation) -> None:
    """Raise UserError for a column of lists, or of complex numbers that is not left out."""
    if any(isinstance(value, list | dict | np.ndarray) for value in values):
        raise UserError(f"{path}: column '{name}' holds lists; write a number or a text for each row")
    if (odd := next((value for value in values if isinstance(value, complex)), None)) is not None:
        with suppress(UserError):
            if name in {names[place_of(names, wanted, "drop", path)] for wanted in form.drop}:
                return
        row = list(values).index(odd) + 1
        raise UserError(
            f"{path}: row {row}: column '{name}' holds {odd}, a complex number; give its real and imaginary "
            f"parts as two columns, or {column_word('drop', name)} leaves it out"
        )

"""Notes on what in a user's data may make every number wrong, the same for all sources.

The call, for files of every format, frames, arrays and sparse matrices alike::

    notes += notes_on(X, y, columns, classes=task == "classification")

    X (T, d)   the features as they are before ``scale=``: an array, or a scipy.sparse.csr_array without
               duplicates; nan is a gap
    y (T,)     the numbers of the classes, or the targets
    columns    a `Described` for each column; None where columns have no names, one for each feature

It says which columns are the label, row numbers or identifiers, hold codes of gaps, or give the order in
time, and which words differ in case or Unicode form alone. Nothing is left out without being asked for.
Beside it stand `note_on_alike` for labels and `note_on_codes` for targets.

All of it comes from statistics of whole arrays: 50,000 columns of 20,000 sparse rows take a fraction of a
second.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.data.preparation import column_word
from omkl.errors import counted, quoted

FEWEST = 10  # rows: of fewer, a column may look like that by chance
IN_ORDER = "; order=file keeps it"  # a note that says nothing to those who keep it
WRITE_ALIKE = "write them alike if they are the same"  # how a note ends that is a warning
_NUMBERS_ROWS = "is a row number"
_MOST_NAMED = 5  # columns of one kind that have a note each
_FIRST = 64  # rows of each class that are looked at first
_FEWEST_EQUAL = 3  # cells that hold a code
_FEWEST_OTHERS = 5  # different values beside a code: a flag has fewer
_MOST_CODES = 3  # of one column
_MOST_LOOKED_AT = 100  # columns, one by one
_FAR = 10.0  # times the spread of the others: a number so far away may mean a gap, however it is written
_CHANCE_COPY, _CHANCE_THRESHOLD = (
    20,
    1000,
)  # arrangements of the labels for each column; of fewer it is chance
_NINES = re.compile(r"-?(9{2,}|8{2,}|7{2,})(\.[987]*)?")
_TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_IDS = {"id", "ids", "identifier", "nr", "no", "code", "key", "index", "idx", "uid", "uuid", "guid", "serial"}
_IDS |= {"record", "row", "case", "obs"}
_PEOPLE = {"person", "patient", "participant", "subject", "respondent"}  # who has a block of rows
_PLACES = {"zip", "post", "postal", "area", "country", "region", "state", "dialing"}  # codes that say where
_GLUED = re.compile(
    r"(user|row|rec|record|case|item|player|team|cust|customer|order|product|patient|subject|person|emp|"
    r"employee|student|sample|session|transaction|account|client|member|household|station|site|game|image)"
    r"(id|no|nr|code)"
)
_UNITS = (  # of time, the coarser first
    {"year", "yr", "date", "datetime", "timestamp", "time", "period"},
    {"quarter", "qtr"},
    {"month", "mon", "mth"},
    {"week"},
    {"day"},
    {"hour", "hr"},
    {"minute", "min"},
    {"second", "sec"},
)
_YEARS = 1500, 2200  # a column without a name that counts from here may be one of years


class Described(NamedTuple):
    """A column of the features, as notes need it.

    kind: numbers, words, a date, or another whose features are not looked at
    width: how many features it has; of a date the first counts days
    words: of words, the word of each feature, empty for that of gaps
    first: of a date, the day (from 1970) that is 0
    """

    name: str
    kind: str = "numbers"
    width: int = 1
    words: tuple[str, ...] = ()
    first: float = 0.0


@np.errstate(over="ignore", invalid="ignore")  # of numbers near the largest double
def notes_on(
    X: Any, y: np.ndarray, columns: Sequence[Described] | None = None, *, classes: bool
) -> list[str]:
    """Return notes on the columns of features X (T, d) with labels or targets y (T,), see the module."""
    notes = [
        note
        for column in columns or ()
        if column.kind == "words"
        for note in note_on_alike(column.words, f"column '{column.name}'")
    ]
    C = X if columns is None else _one_each(X, columns)
    T, d = C.shape
    named = _Names(columns, d)
    if T < FEWEST or not d:
        return notes
    ends = _lowest(C), _highest(C)
    label = _label_notes(C, np.asarray(y), classes, named)
    time, order = _order_notes(C, named)
    numbered = _row_notes(C, *ends, named, time | label.keys())
    codes = _code_notes(C, *ends, named, label.keys())
    return [*notes, *_shortened(list(label.values())), *order, *numbered, *codes]


def _one_each(X: Any, columns: Sequence[Described]) -> Any:
    """Return one number for each column (T, n): of words the place of the word, of a date the days."""
    import scipy.sparse as sp

    widths = np.array([column.width for column in columns], int)
    starts = np.cumsum(widths) - widths
    if (widths == 1).all() and not any(column.words for column in columns):
        return X
    rows, places, factors, gaps = list[int](), list[int](), list[float](), list[int]()
    for at, (column, start) in enumerate(zip(columns, starts.tolist(), strict=True)):
        if column.words:
            rows += range(start, start + column.width)
            places += [at] * column.width
            factors += [float(place) if word else -1.0 for place, word in enumerate(column.words, 1)]
            gaps += [at] * ("" in column.words)
        elif column.width == 1 or column.kind == "a date":
            rows.append(start)
            places.append(at)
            factors.append(1.0)
    which = sp.csr_array((factors, (rows, places)), shape=(X.shape[1], len(columns)))
    C = X @ which
    if gaps and isinstance(C, np.ndarray):
        at_gaps = C[:, gaps]
        C[:, gaps] = np.where(at_gaps == -1.0, np.nan, at_gaps)
    elif gaps:
        C = sp.csr_array(C)
        C.data[np.isin(C.indices, gaps) & (C.data == -1.0)] = np.nan
    return C


class _Names:
    """How columns are called in notes, and what excludes them."""

    def __init__(self, columns: Sequence[Described] | None, d: int):
        self.columns, self.d = columns, d

    def __call__(self, at: int) -> str:
        return f"column {at + 1}" if self.columns is None else f"column '{self.columns[at].name}'"

    def without(self, at: int) -> str:
        """Return how the column is excluded."""
        if self.columns is None:
            return "leave it out"
        return f"exclude it with {column_word('drop', self.columns[at].name)}"

    def kind(self, at: int) -> str:
        """Return the kind of a column."""
        return "numbers" if self.columns is None else self.columns[at].kind

    def of_kind(self, kind: str) -> np.ndarray:
        """Return which columns are of a kind (n,)."""
        if self.columns is None:
            return np.full(self.d, kind == "numbers")
        return np.array([column.kind == kind for column in self.columns], bool)

    def tokens(self, at: int) -> list[str]:
        """Return the words of a column's name, in lower case."""
        name = self.columns[at].name if self.columns else ""
        return [token.lower() for token in _TOKEN.findall(name)]


def _shortened(notes: list[str]) -> list[str]:
    """Return the first of notes of one kind, and how many columns more there are."""
    more = len(notes) - _MOST_NAMED
    return notes[:_MOST_NAMED] + ([f"and so for {counted(more, 'more column')}"] if more > 0 else [])


# ------------------------------------------------------------------ statistics of all columns at once


def _lowest(C: Any, above: np.ndarray | None = None) -> np.ndarray:
    """Return the smallest number of each column above ``above`` (d,), inf where there is none."""
    T, d = C.shape
    if isinstance(C, np.ndarray):
        if above is None:
            return np.asarray(np.fmin.reduce(C, axis=0, initial=np.inf))  # without nan
        return np.asarray(np.min(C, axis=0, where=above < C, initial=np.inf))
    lows, above = np.full(d, np.inf), np.full(d, -np.inf) if above is None else above
    chosen = C.data > above[C.indices]
    np.minimum.at(lows, C.indices[chosen], C.data[chosen])
    return np.where((_stored(C) < T) & (above < 0), np.minimum(lows, 0.0), lows)


def _highest(C: Any, below: np.ndarray | None = None) -> np.ndarray:
    """Return the largest number of each column below ``below`` (d,), -inf where there is none."""
    T, d = C.shape
    if isinstance(C, np.ndarray):
        if below is None:
            return np.asarray(np.fmax.reduce(C, axis=0, initial=-np.inf))
        return np.asarray(np.max(C, axis=0, where=below > C, initial=-np.inf))
    highs, below = np.full(d, -np.inf), np.full(d, np.inf) if below is None else below
    chosen = C.data < below[C.indices]
    np.maximum.at(highs, C.indices[chosen], C.data[chosen])
    return np.where((_stored(C) < T) & (below > 0), np.maximum(highs, 0.0), highs)


def _count(C: Any, values: np.ndarray) -> np.ndarray:
    """Return how many rows of each column hold its value (d,)."""
    T, d = C.shape
    if isinstance(C, np.ndarray):
        return np.asarray(np.count_nonzero(values == C, axis=0))
    same = np.bincount(C.indices[C.data == values[C.indices]], minlength=d)
    return np.asarray(same + np.where(values == 0.0, T - _stored(C), 0))


def _gaps(C: Any) -> np.ndarray:
    """Return how many rows of each column are gaps (d,)."""
    if isinstance(C, np.ndarray):
        return np.asarray(np.count_nonzero(np.isnan(C), axis=0))
    return np.bincount(C.indices[np.isnan(C.data)], minlength=C.shape[1])


def _stored(C: Any) -> np.ndarray:
    """Return how many values of each column of a sparse matrix are stored (d,)."""
    return np.bincount(C.indices, minlength=C.shape[1])


def _taken(C: Any, at: np.ndarray) -> Any:
    """Return some columns."""
    return C if len(at) == C.shape[1] else C[:, at]


def _column(C: Any, at: int) -> np.ndarray:
    return np.asarray(C[:, at] if isinstance(C, np.ndarray) else C[:, [at]].toarray().ravel(), float)


# ------------------------------------------------------------------ the label as a feature


def _label_notes(C: Any, y: np.ndarray, classes: bool, named: _Names) -> dict[int, str]:
    """Return notes on columns that are the label, by the column."""
    T = len(y)
    values, place = np.unique(y, return_inverse=True)
    place = place.ravel()
    n = len(values)
    if n < 2 or (classes and 3 * n > T):  # too few rows of each class
        return {}
    if not classes and 2 * n > T:
        found = dict.fromkeys(_equal_to(C, y), "is the label in other words")
    else:
        found = _of_classes(C, place, n, named.of_kind("numbers"))
    return {at: f"{named(at)} {said}; {named.without(at)}" for at, said in found.items()}


def _equal_to(C: Any, y: np.ndarray) -> list[int]:
    """Return the columns that hold the targets."""
    y = np.asarray(y, float)
    if isinstance(C, np.ndarray):
        first = np.isclose(C[:_FIRST], y[:_FIRST, None], rtol=1e-12, atol=0.0).all(axis=0)
        return [at for at in np.flatnonzero(first).tolist() if np.allclose(C[:, at], y, rtol=1e-12, atol=0)]
    T, d = C.shape
    y_of_entry = np.repeat(y, np.diff(C.indptr))
    same = np.bincount(C.indices[np.isclose(C.data, y_of_entry, rtol=1e-12, atol=0.0)], minlength=d)
    zeros = np.count_nonzero(y == 0) - np.bincount(C.indices[y_of_entry == 0], minlength=d)
    return np.flatnonzero(same + zeros == T).tolist()


def _of_classes(C: Any, place: np.ndarray, n: int, numeric: np.ndarray) -> dict[int, str]:
    """Return what is said of columns that have one value for each class, gaps or a threshold there.

    place (T,): the class of each row    numeric (d,): which columns a threshold may divide
    """
    T, d = C.shape
    sizes = np.bincount(place, minlength=n)
    ways = (math.lgamma(T + 1) - sum(math.lgamma(size + 1) for size in sizes)) / math.log(10)
    at, order = np.arange(d), np.argsort(place, kind="stable")
    rows = np.split(order, np.cumsum(sizes)[:-1])
    if isinstance(C, np.ndarray) and 2 * n * _FIRST < T:  # most columns are none after a look at few rows
        at, _ = _like_classes(C, at, [of_class[:_FIRST] for of_class in rows], numeric)
    at, said = _like_classes(C, at, rows, numeric)
    found = {}
    for column, kind in zip(at.tolist(), said, strict=True):
        fewest = _CHANCE_COPY if kind.startswith("is") else _CHANCE_THRESHOLD
        if ways >= math.log10(fewest * d):
            found[column] = kind
    return found


def _like_classes(
    C: Any, at: np.ndarray, rows: list[np.ndarray], numeric: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Return those of the columns ``at`` that are like the classes, and how. rows: those of each class"""
    n, C = len(rows), _taken(C, at)
    may_have_gaps = _gaps(C) > 0
    lows, highs, gaps = [np.zeros((0, len(at))) for _ in range(3)]
    for of_class in rows:
        part = C[of_class]
        lows, highs = np.vstack([lows, [_lowest(part)]]), np.vstack([highs, [_highest(part)]])
        gaps = np.vstack([gaps, [_gaps(part) / len(of_class)]])
        kept = _constant(lows, highs, gaps) | (((gaps == 0) | (gaps == 1)).all(axis=0) & may_have_gaps)
        if n == 2:
            kept |= _divided(lows, highs, gaps) & numeric[at]
        if not kept.all():
            C, at, may_have_gaps = C[:, kept], at[kept], may_have_gaps[kept]
            lows, highs, gaps = lows[:, kept], highs[:, kept], gaps[:, kept]
        if not len(at):
            return at, []
    said, constant, gap = list[str](), _constant(lows, highs, gaps), np.asarray(gaps.any(axis=0))
    where = "in the rows of one class" if n == 2 else "in all rows of some classes and in no others"
    for i in range(len(at)):
        if constant[i]:
            said.append("is the label in other words")
        elif gap[i]:
            said.append(f"has its gaps {where}")
        else:
            ends = sorted((float(lows[c, i]), float(highs[c, i])) for c in range(n))
            said.append(f"alone divides the classes, between {ends[0][1]:.6g} and {ends[1][0]:.6g}")
    return at, said


def _constant(lows: np.ndarray, highs: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Return which columns have one value in each class, a different one in each; a gap is a value."""
    is_one = (((lows == highs) & (gaps == 0)) | (gaps == 1)).all(axis=0)
    ordered = np.sort(lows, axis=0)  # inf where all are gaps
    return np.asarray(is_one & (ordered[1:] != ordered[:-1]).all(axis=0))


def _divided(lows: np.ndarray, highs: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Return which columns a threshold divides in two classes; all, of one class."""
    if len(lows) < 2:
        return np.ones(lows.shape[1], bool)
    return np.asarray(((highs[0] < lows[1]) | (highs[1] < lows[0])) & (gaps == 0).all(axis=0))


# ------------------------------------------------------------------ order in time, row numbers


def _order_notes(C: Any, named: _Names) -> tuple[set[int], list[str]]:
    """Return the columns that say when, and a note if the rows are in their order."""
    if named.columns is None:
        years = [at for at in _counting(C) if _YEARS[0] <= C[0, at] <= _YEARS[1]]
        return set(years), [f"the rows are in the order of {named(at)}{IN_ORDER}" for at in years[:1]]
    units = dict(_units(named, named.columns))
    if not (order := _longest_order(units, {at: np.sign(np.diff(_column(C, at))) for at in units})):
        return set(units), []
    listing = ", ".join(quoted(named.columns[at].name for at in order))
    return set(units), [f"the rows are in the order of {listing}{IN_ORDER}"]


def _units(named: _Names, columns: Sequence[Described]) -> Iterator[tuple[int, int]]:
    """Yield the columns that say when, with their place in _UNITS, coarse ones first."""
    for at, column in enumerate(columns):
        tokens = named.tokens(at)
        unit = next((unit for unit, words in enumerate(_UNITS) if not words.isdisjoint(tokens)), None)
        if column.kind == "a date":
            yield at, 0
        elif column.kind == "numbers" and unit is not None and "birth" not in tokens:
            yield at, unit


def _longest_order(units: dict[int, int], ascends: dict[int, np.ndarray]) -> list[int]:
    """Return most columns that the rows are in the order of: one, and finer ones within it.

    units: see `_units`    ascends (T - 1,): the signs of the differences of rows
    """
    best = list[int]()
    for start in units:
        if not (ascends[start] >= 0).all() or not ascends[start].any():  # nan is in no order
            continue
        keys, tied = [start], ascends[start] == 0
        for at in sorted(units, key=lambda at: (units[at], at)):
            if units[at] > units[start] and tied.any() and (ascends[at][tied] >= 0).all():
                if not ascends[at][tied].any():
                    continue
                keys.append(at)
                tied = tied & (ascends[at] == 0)
        if len(keys) > len(best):
            best = keys
    return best


def _counting(C: Any) -> list[int]:
    """Return the columns whose numbers grow by one from row to row."""
    T, d = C.shape
    at = np.arange(d) if isinstance(C, np.ndarray) else np.flatnonzero(_stored(C) >= T - 1)
    for rows in (_FIRST, T):
        part = C[:rows][:, at]
        part = part if isinstance(part, np.ndarray) else part.toarray()
        at = at[(np.diff(part, axis=0) == 1).all(axis=0)]
    return at.tolist()


def _row_notes(C: Any, lows: np.ndarray, highs: np.ndarray, named: _Names, others: set[int]) -> list[str]:
    """Return notes on columns that number the rows, and on identifiers.

    lows, highs (n,): of the columns    others: those that are neither
    """
    T, d = C.shape
    found = dict.fromkeys(_counting(C), _NUMBERS_ROWS)
    at = np.flatnonzero(((lows == 0) | (lows == 1)) & (highs == lows + (T - 1)))
    found |= dict.fromkeys(
        (i for i in at.tolist() if i not in found and _is_unique(_column(C, i))), _NUMBERS_ROWS
    )
    if named.columns is not None:
        for i in range(d):
            if i not in found and (said := _identifier(C, i, named)):
                found[i] = said
    left = {i: said for i, said in sorted(found.items()) if i not in others}
    return _shortened([f"{named(i)} {said}; {named.without(i)}" for i, said in left.items()])


def _is_unique(numbers: np.ndarray) -> bool:
    return bool((np.diff(np.sort(numbers)) > 0).all() and (numbers == np.round(numbers)).all())


def _identifier(C: Any, at: int, named: _Names) -> str:
    """Return what is said of a column that is called an identifier and has a value for each row or block."""
    kind, tokens = named.kind(at), named.tokens(at)
    is_id = not _IDS.isdisjoint(tokens) or any(map(_GLUED.fullmatch, tokens))
    if (
        not (is_id or not _PEOPLE.isdisjoint(tokens))
        or not _PLACES.isdisjoint(tokens)
        or kind not in ("numbers", "words")
    ):
        return ""
    numbers = _column(C, at)
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any():
        return ""
    different = len(np.unique(numbers))
    if different == len(numbers) and is_id:
        return "is an identifier, with another value in each row"
    blocks = 1 + np.count_nonzero(np.diff(numbers))
    if different == blocks and FEWEST <= different <= len(numbers) / 2:
        return (
            "is an identifier, with one value in each block of rows, of which some are learnt before others "
            "are predicted (test=FILE with other blocks measures new ones)"
        )
    return ""


# ------------------------------------------------------------------ codes of gaps


def _code_notes(
    C: Any, lows: np.ndarray, highs: np.ndarray, named: _Names, label: Iterable[int]
) -> list[str]:
    """Return notes on numbers and dates that are far from all others and repeat exactly, such as -999.

    lows, highs (n,): of the columns    label: columns that are the label
    """
    usable = np.isfinite(lows) & np.isfinite(highs) & (named.of_kind("numbers") | named.of_kind("a date"))
    usable[list(label)] = False
    far = set[int]()
    for ends, others, second_of in ((lows, highs, _lowest), (highs, lows, _highest)):
        often = np.flatnonzero(usable & (_count(C, ends) >= _FEWEST_EQUAL))
        if len(often):
            second = second_of(_taken(C, often), ends[often])
            far |= set(often[np.abs(second - ends[often]) > np.abs(others[often] - second)].tolist())
    notes = list[str]()
    for at in sorted(far)[:_MOST_LOOKED_AT]:
        column = named.columns[at] if named.columns else None
        first = column.first if column and column.kind == "a date" else None
        said = _codes(_column(C, at), named(at), "which missing= fills" if column else "", first)
        notes += [said] if said else []
    return _shortened(notes)


def note_on_codes(name: str, numbers: np.ndarray, then: str) -> list[str]:
    """Return a note on numbers (T,) that are far from all others and repeat exactly, such as -999.

    then: what happens to a gap
    """
    said = _codes(numbers, f"column '{name}'", then)
    return [said] if said else []


@np.errstate(over="ignore", invalid="ignore")
def _codes(numbers: np.ndarray, name: str, then: str, first: float | None = None) -> str:
    """Return the note on a column's codes, empty where it has none.

    then: what happens to a gap, empty where no setting makes one    first: of dates, the day that is 0
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    T, codes = int(counts.sum()), list[tuple[str, int]]()
    while len(values) > _FEWEST_OTHERS and len(codes) < _MOST_CODES:
        far = [
            end
            for end, others in ((0, values[1:]), (-1, values[:-1]))
            if counts[end] >= _FEWEST_EQUAL
            and (values[end] != 0 or 2 * counts[end] < counts.sum())  # what sparse data hold
            and _is_code(values[end], others, first is not None)
        ]
        if not far:
            break
        codes.append((_shown(values[far[0]], first), int(counts[far[0]])))
        keep = slice(1, None) if far[0] == 0 else slice(0, -1)
        values, counts = values[keep], counts[keep]
    if not codes:
        return ""
    said = " and ".join(f"{count} of {T} rows are {code}" for code, count in codes)
    ends = [f"{value:.6g}" if first is None else _shown(value, first) for value in (values[0], values[-1])]
    helps = f"na={','.join(code for code, _ in codes)} makes them gaps, {then}"
    helps = helps if then else "fill them in, or leave the rows out"
    return f"{name}: {said}, the others {' to '.join(ends)}; if that means that there is no value, {helps}"


def _is_code(value: float, others: np.ndarray, is_date: bool) -> bool:
    """Whether a value is far from the others, and so far or so written that it is not the end of a scale."""
    spread = others[-1] - others[0]
    gap = max(others[0] - value, value - others[-1])
    if not gap > spread:
        return False
    is_negative = value < 0 <= others[0]
    return bool(is_date or is_negative or gap > _FAR * spread or _NINES.fullmatch(_shown(value)))


def _shown(value: float, first: float | None = None) -> str:
    """Return a number as one types it; the date of a day."""
    if first is None:
        return repr(float(value)).removesuffix(".0")
    return str(np.datetime64(math.floor(value + first), "D"))


# ------------------------------------------------------------------ words


def note_on_alike(words: Iterable[str], what: str = "labels") -> tuple[str, ...]:
    """Return a note on words that differ in case, white space, quotes or Unicode form alone; else none.

    So do numbers that are written in different ways. what: the words are
    """
    groups: dict[float | str, list[str]] = {}
    for word in words:
        groups.setdefault(_folded(word), []).append(word)
    alike = [" and ".join(map(_told_apart, spellings)) for spellings in groups.values() if len(spellings) > 1]
    if not alike:
        return ()
    shown = ", ".join(alike[:_MOST_NAMED]) + (", ..." if alike[_MOST_NAMED:] else "")
    kind = "classes" if what == "labels" else "words"
    return (f"{what}: {shown} are different {kind}; {WRITE_ALIKE}",)


def _seen(word: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKC", word) if unicodedata.category(one) != "Cf")


def _told_apart(word: str) -> str:
    """Return a word, with the codes of its letters where these are not seen."""
    return word if word == _seen(word).strip() else ascii(word)


def _folded(word: str) -> float | str:
    text = _seen(word).casefold().strip("\"'.,;:()[] ")
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    return re.sub(r"[\s_-]+", " ", text) if math.isnan(number) else number

"""Notes on what in a user's data may make every number wrong, the same for all sources.

There are five kinds, all from what columns are, not from what they are called: the label or a threshold of it
among the features; row numbers and blocks of rows; codes of gaps; order in time; and scale, of which
`omkl.data.dataset.unlike_features` tells. Beside them stand words that differ in spelling alone, and copies
of rows. Only columns in use are looked at, by statistics of whole arrays: a column 2^31 - 1 costs nothing.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.data.preparation import column_word
from omkl.errors import counted

FEWEST = 10  # rows: of fewer, a column may look like that by chance
WRITE_ALIKE = "write them alike if they are the same"  # how notes end that are warnings
IS_CLASS = "correct or remove the row if this is no class"
COPIES = "a permutation learns one of them before it predicts another"
IN_TIME = (
    "order=file keeps it; a permutation has seen tomorrow"  # notes that say nothing to those who keep it
)
_IN_BLOCKS = "(test=FILE with other blocks measures new ones)"
_NUMBERS_ROWS = "is a row number"
_MOSTLY = 0.8  # of the rows of a sparse column that is looked at one by one
_MOST_NAMED = 5  # columns of one kind that have a note each
_FIRST = 64  # rows of each class that are looked at first
_FEWEST_EQUAL = 3  # cells that hold a code
_FEWEST_OTHERS = 5  # different values beside a code: a flag has fewer
_MOST_CODES = 3  # of one column
_MOST_LOOKED_AT = 100  # columns, one by one
_FAR = 10.0  # times the spread of the others: a number so far away may mean a gap, however it is written
_CHANCE_COPY = 20  # arrangements of the labels for each column; of fewer it is chance
_CHANCE_THRESHOLD = 1000
_NINES = re.compile(r"-?(9{2,}|8{2,}|7{2,})(\.[987]*)?")
_YEARS = 1500, 2200  # whole numbers that do not descend and may be years
_SHARE_OF_COPIES = 0.1  # of the rows, from which on a note tells of them


class Described(NamedTuple):
    """A column of the features, as notes need it.

    kind: numbers, words or a date    width: how many features it has; of a date the first counts days
    words: of words, the word of each feature, empty for that of gaps
    first: of a date, the day (from 1970) that is 0    key: what the frame calls it
    """

    name: str
    kind: str = "numbers"
    width: int = 1
    words: tuple[str, ...] = ()
    first: float = 0.0
    key: Any = ""


def is_warning(note: str) -> bool:
    """Whether a note is a warning: what is probably a mistake in the data."""
    return note.endswith((WRITE_ALIKE, IS_CLASS, COPIES))


def is_of_order(note: str) -> bool:
    """Whether a note says nothing to those who keep the order of the file."""
    return note.endswith((IN_TIME, COPIES, _IN_BLOCKS))


@np.errstate(over="ignore", invalid="ignore")  # of numbers near the largest double
def notes_on(
    X: Any, y: np.ndarray, columns: Sequence[Described] | None = None, *, classes: bool
) -> list[str]:
    """Return notes on the columns of features X (T, d) with labels or targets y (T,), see the module.

    X: as it is before it is scaled, an array, or a scipy.sparse.csr_array without duplicates; nan is a gap
    columns: None where they have no names, one for each feature
    """
    notes = [
        note
        for column in columns or ()
        if column.kind == "words"
        for note in note_on_alike(column.words, f"column '{column.name}'")
    ]
    C, used = _in_use(X) if columns is None else (_one_each(X, columns), np.arange(len(columns)))
    named = _Names(columns, used)
    if C.shape[0] < FEWEST or not C.shape[1]:
        return notes
    ends = _lowest(C), _highest(C)
    label = _label_notes(C, np.asarray(y), classes, named)
    order, in_order = _order_notes(C, *ends, named, label.keys())
    codes = _code_notes(C, *ends, named, [*label, *in_order])
    return [*notes, *_shortened(list(label.values())), *order, *codes, *_copies(C, ends, y)]


def _in_use(X: Any) -> tuple[Any, np.ndarray]:
    """Return the columns that hold anything, and their places."""
    if isinstance(X, np.ndarray):
        return X, np.arange(X.shape[1])
    import scipy.sparse as sp

    used, indices = np.unique(X.indices, return_inverse=True)
    shape = (X.shape[0], len(used))
    return sp.csr_array((X.data, indices.astype(np.int32), X.indptr), shape), used


def _one_each(X: np.ndarray, columns: Sequence[Described]) -> np.ndarray:
    """Return one number for each column (T, n): of words the place of the word, of a date the days."""
    if all(column.width == 1 and not column.words for column in columns):
        return X
    each, start = np.empty((len(X), len(columns))), 0
    for at, column in enumerate(columns):
        part = X[:, start : start + column.width]
        each[:, at] = part[:, 0] if not column.words else part @ np.arange(1.0, column.width + 1)
        if "" in column.words:
            each[part[:, column.words.index("")] == 1.0, at] = np.nan
        start += column.width
    return each


class _Names:
    """How columns are called in notes, and what excludes them. used (n,): their places"""

    def __init__(self, columns: Sequence[Described] | None, used: np.ndarray):
        self.columns, self.used = columns, used

    def __call__(self, at: int) -> str:
        return f"column {self.used[at] + 1}" if self.columns is None else f"column '{self.columns[at].name}'"

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
            return np.full(len(self.used), kind == "numbers")
        return np.array([column.kind == kind for column in self.columns], bool)


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


# ------------------------------------------------------------------ order in time, row numbers, blocks


def _order_notes(
    C: Any, lows: np.ndarray, highs: np.ndarray, named: _Names, label: Iterable[int]
) -> tuple[list[str], list[int]]:
    """Return notes on columns that number rows, are in order or in blocks, and which of them are in order.

    lows, highs (n,): of the columns    label: columns that are the label
    """
    T, _ = C.shape
    skipped, rows, times, ids = set(label), dict[int, str](), dict[int, str](), dict[int, str]()
    dense_enough = np.flatnonzero(
        (_stored(C) >= _MOSTLY * T) if not isinstance(C, np.ndarray) else highs > lows
    )
    for at in (at for at in dense_enough.tolist() if at not in skipped):
        ends = _column_ends(C, at)
        numbers = ends if _is_even(ends) else _column(C, at)
        said = _said_of_order(numbers if len(numbers) == T else _column(C, at), named.kind(at))
        if said == _NUMBERS_ROWS:
            rows[at] = f"{named(at)} {said}; {named.without(at)}"
        elif said.startswith("order"):
            times[at] = f"the rows are in the order of {named(at)}; if it says when, {IN_TIME}"
        elif said:
            ids[at] = f"{named(at)} {said}"
    known = [*rows.values()][:_MOST_NAMED], [*times.values()][:1], _shortened(list(ids.values()))
    return [note for notes in known for note in notes], [*rows, *times]


def _column_ends(C: Any, at: int) -> np.ndarray:
    """Return the first rows of a column, which show most that is in no order and in no blocks."""
    return _column(C[:_FIRST], at)


def _is_even(numbers: np.ndarray) -> bool:
    """Whether numbers are so mixed that their column is in no order, holds no blocks, and numbers no rows."""
    steps = np.sign(np.diff(numbers))
    mixed = bool((steps > 0).any() and (steps < 0).any())
    again = len(np.unique(numbers)) < 1 + np.count_nonzero(steps)
    return mixed and bool(again)


def _said_of_order(numbers: np.ndarray, kind: str) -> str:
    """Return what is said of a column: a row number, in order, or blocks; else an empty text."""
    T = len(numbers)
    if not np.isfinite(numbers).all():
        return ""
    steps = np.diff(numbers)
    whole = bool((numbers == np.round(numbers)).all())
    ascends = bool((steps >= 0).all())
    if kind == "numbers" and whole and (steps == 1).all():
        return "order" if _YEARS[0] <= numbers[0] and numbers[-1] <= _YEARS[1] else _NUMBERS_ROWS
    low, high = numbers.min(), numbers.max()
    blocks = 1 + int(np.count_nonzero(steps))
    if ascends and (kind == "a date" or not whole or (_YEARS[0] <= low and high <= _YEARS[1])):
        return "order" if blocks >= FEWEST else ""
    if not whole or kind == "a date" or 2 * blocks <= FEWEST:
        return ""
    different = len(np.unique(numbers))
    if different == T and kind == "numbers":
        if low in (0, 1) and high == low + T - 1:
            return _NUMBERS_ROWS
        return "order" if ascends else ""
    if different == blocks and FEWEST <= different <= T / 2:
        return (
            f"has one value in each of {different} blocks of rows, of which a permutation learns some rows "
            f"before it predicts others {_IN_BLOCKS}"
        )
    return ""


def _copies(C: Any, ends: tuple[np.ndarray, np.ndarray], y: np.ndarray) -> list[str]:
    """Return a note on rows that are copies of others, where there are too many to be there by chance."""
    T, d = C.shape
    factors = 2 * np.random.default_rng(1).integers(2**62, size=d + 1, dtype=np.uint64) + np.uint64(1)
    sums = (np.asarray(y, float) + 0.0).view(np.uint64) * factors[d]  # of bits, modulo 2^64
    if isinstance(C, np.ndarray):
        for at in range(d):
            sums += np.ascontiguousarray(C[:, at] + 0.0).view(np.uint64) * factors[at]
    else:
        entries = (C.data + 0.0).view(np.uint64) * factors[C.indices]
        sums += np.diff(np.append(np.uint64(0), np.cumsum(entries, dtype=np.uint64))[C.indptr])
    different = len(np.unique(sums))
    if T - different < _SHARE_OF_COPIES * T or not _has_many_values(C, T):
        return []
    return [f"{T - different} of {T} rows are copies of others; {COPIES}"]


def _has_many_values(C: Any, T: int) -> bool:
    """Whether some column has so many different values that equal rows are no chance."""
    columns = range(min(C.shape[1], _MOST_LOOKED_AT))
    return any(len(np.unique(_column(C, at))) ** 2 > T for at in columns)


# ------------------------------------------------------------------ codes of gaps


def _code_notes(
    C: Any, lows: np.ndarray, highs: np.ndarray, named: _Names, label: Iterable[int]
) -> list[str]:
    """Return notes on numbers and dates that are far from all others and repeat exactly, such as -999.

    lows, highs (n,): of the columns    label: columns that are the label, or in order
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
        said = _codes(_column(C, at), named(at), column)
        notes += [said] if said else []
    return _shortened(notes)


def note_on_codes(column: Described, numbers: np.ndarray) -> list[str]:
    """Return a note on numbers (T,) of a column that are far from all others and repeat exactly."""
    said = _codes(numbers, f"column '{column.name}'", column)
    return [said] if said else []


@np.errstate(over="ignore", invalid="ignore")
def _codes(numbers: np.ndarray, name: str, column: Described | None) -> str:
    """Return the note on a column's codes, empty where it has none. column: of a table"""
    first = column.first if column and column.kind == "a date" else None
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
    helps = "fill them in, or leave the rows out"
    if column:
        frame, found = f"frame[{column.key!r}]", ", ".join(code for code, _ in codes)
        which = f"{frame}.isin([{found}])"
        if first is not None:
            which = f"{frame}.astype(str).str.startswith(({', '.join(repr(code) for code, _ in codes)},))"
        helps = f"in pandas {frame} = {frame}.mask({which}) makes them gaps, which missing= fills"
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

"""Notes on what in a user's data may make every number wrong, the same for all sources.

There are five kinds, all from what columns are, not from what they are called: the label or a threshold of it
among the features; row numbers and blocks of rows; codes of gaps; order in time; and scale, of which
`omkl.config.unscaled.unlike_features` tells. Beside them stand words that differ in spelling alone, classes
of one row, and copies of rows. The columns in use are looked at one by one.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.data.preparing.columns import DATE, NUMBERS, WORDS
from omkl.data.reading.numbered import MANY, Examples
from omkl.errors import counted
from omkl.typed import column_word

FEWEST = 10  # rows: of fewer, a column may look like that by chance
WRITE_ALIKE = "write them alike if they are the same"  # how notes end that are warnings
IS_CLASS = "correct or remove the row if this is no class"
COPIES = "a permutation learns one of them before it predicts another"
IN_TIME = "order=file keeps it; a permutation has seen tomorrow"  # of no use to those who keep it
_IN_BLOCKS = "(test=FILE with other blocks measures new ones)"
_IS_LABEL = "is the label in other words"
_NUMBERS_ROWS = "is a row number"
_MOST_NAMED = 5  # columns of one kind that have a note each
_MOST_LOOKED_AT = 1000  # columns of a sparse matrix, those with the most values
_FIRST = 64  # rows that are looked at first
_FEWEST_EQUAL = 3  # cells that hold a code
_FEWEST_OTHERS = 5  # different values beside a code: a flag has fewer
_MOST_CODES = 3  # of one column
_FAR = 10.0  # times the spread of the others: a number so far away may mean a gap, however it is written
_CHANCE_COPY = 20  # arrangements of the labels for each column; of fewer it is chance
_CHANCE_THRESHOLD = 1000
_NINES = re.compile(r"-?(9{2,}|8{2,}|7{2,})(\.[987]*)?")
_YEARS = 1500, 2200  # whole numbers that do not descend and may be years
_SHARE_OF_COPIES = 0.1  # of the rows, from which on a note tells of them
_BLOCK, _WEIGHTS = 2**16, 2**20  # rows, and columns, in the sums that tell rows apart


class Noted(NamedTuple):
    """A column of features, as notes need it.

    numbers (T,): its values, of words their places, of a date the days since 1970; nan in gaps
    name: None of a column that has a number alone    words: of words    key: what the frame calls it
    """

    numbers: np.ndarray
    place: int
    name: str | None = None
    kind: str = NUMBERS
    words: Sequence[str] = ()
    key: Any = None

    def __str__(self) -> str:
        return f"column {self.place + 1}" if self.name is None else f"column '{self.name}'"

    @property
    def without(self) -> str:
        """How it is excluded."""
        return "leave it out" if self.name is None else f"exclude it with {column_word('drop', self.name)}"


class ColumnsOf(Sequence[Noted]):
    """The columns of `Examples`, made one by one: of many, those with the most values."""

    def __init__(self, examples: Examples) -> None:
        import scipy.sparse as sp

        T, indices = len(examples.labels), examples.indices
        if examples.d < MANY:
            used, counts = np.arange(examples.d), np.bincount(indices, minlength=examples.d)
        else:
            used, indices, counts = np.unique(indices, return_inverse=True, return_counts=True)
        most = np.argsort(-counts, kind="stable")[:_MOST_LOOKED_AT]
        most = np.sort(most[counts[most] > 0])
        place = np.full(len(used), -1)
        place[most] = np.arange(len(most))
        at, rows = place[indices], np.repeat(np.arange(T), np.diff(examples.indptr))
        entries = examples.values[at >= 0], (rows[at >= 0], at[at >= 0])
        self.by_column, self.places = sp.csc_array(entries, (T, len(most))), used[most]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, at: Any) -> Any:
        if at >= len(self):
            raise IndexError(at)
        part = slice(*self.by_column.indptr[at : at + 2])
        numbers = np.zeros(self.by_column.shape[0])
        numbers[self.by_column.indices[part]] = self.by_column.data[part]
        return Noted(numbers, int(self.places[at]))


def is_warning(note: str) -> bool:
    """Whether a note is a warning: what is probably a mistake in the data."""
    return note.endswith((WRITE_ALIKE, IS_CLASS, COPIES))


def is_of_order(note: str) -> bool:
    """Whether a note says nothing to those who keep the order of the file."""
    return note.endswith((IN_TIME, COPIES, _IN_BLOCKS))


@np.errstate(over="ignore", invalid="ignore")  # of numbers near the largest double
def notes_on(columns: Sequence[Noted], examples: Examples, y: np.ndarray, *, classes: bool) -> list[str]:
    """Return notes on the columns of features, and on copies among the rows, with labels or targets y (T,).

    columns: as they are before they are scaled    classes: whether y holds classes
    """
    alike = [note for column in columns if column.words for note in note_on_alike(column.words, str(column))]
    if len(y) < FEWEST:
        return alike
    label, rows, times, blocks, codes = (list[str]() for _ in range(5))
    classes_of = _Classes(y, len(columns)) if classes else None
    for column in columns:
        if said := classes_of.said(column) if classes_of else _said_of_targets(column, y):
            label.append(f"{column} {said}; {column.without}")
        elif said := _said_of_order(column):
            if said == _NUMBERS_ROWS:
                rows.append(f"{column} {said}; {column.without}")
            elif said == IN_TIME:
                times.append(f"the rows are in the order of {column}; if it says when, {IN_TIME}")
            else:
                blocks.append(f"{column} {said}")
        if not said or said not in (_IS_LABEL, _NUMBERS_ROWS, IN_TIME):
            codes += note_on_codes(column)
    notes = [
        *alike,
        *_shortened(label),
        *_shortened(rows),
        *times[:1],
        *_shortened(blocks),
        *_shortened(codes),
    ]
    return notes + _copies(columns, examples, y)


def _shortened(notes: list[str]) -> list[str]:
    """Return the first of notes of one kind, and how many columns more there are."""
    more = len(notes) - _MOST_NAMED
    return notes[:_MOST_NAMED] + ([f"and so for {counted(more, 'more column')}"] if more > 0 else [])


# ------------------------------------------------------------------ the label as a feature


class _Classes:
    """The rows by class, to find columns that are like the classes."""

    def __init__(self, y: np.ndarray, d: int) -> None:
        _, place, sizes = np.unique(y, return_inverse=True, return_counts=True)
        T, self.n = len(y), len(sizes)
        self.rows, self.starts = np.argsort(place.ravel(), kind="stable"), np.cumsum(sizes) - sizes
        arrangements = math.lgamma(T + 1) - sum(math.lgamma(n + 1) for n in sizes)
        self.chance = arrangements / math.log(10) - math.log10(max(d, 1))
        self.is_too_few = self.n < 2 or 3 * self.n > T

    def said(self, column: Noted) -> str:
        """Return what is said of a column that has one value in each class, or a threshold between two."""
        if self.is_too_few:
            return ""
        numbers = column.numbers[self.rows]
        lows, highs = (end.reduceat(numbers, self.starts) for end in (np.fmin, np.fmax))  # nan: all gaps
        gaps = np.add.reduceat(np.isnan(numbers).astype(int), self.starts)
        below, above = np.argsort(lows)[[0, -1]]
        said, fewest = "", _CHANCE_THRESHOLD
        if ((gaps == 0) | np.isnan(lows)).all():
            if ((lows == highs) | np.isnan(lows)).all() and len(np.unique(lows)) == self.n:
                said, fewest = _IS_LABEL, _CHANCE_COPY
            elif gaps.any() and not np.isnan(lows).all():
                said = "has its gaps in all rows of some classes, and in no others"
            elif self.n == 2 and column.kind == NUMBERS and highs[below] < lows[above]:
                said = f"alone divides the classes, between {highs[below]:.6g} and {lows[above]:.6g}"
        return said if self.chance >= math.log10(fewest) else ""


def _said_of_targets(column: Noted, y: np.ndarray) -> str:
    """Return what is said of a column that holds the targets."""
    for part in (slice(_FIRST), slice(None)):
        if not np.allclose(column.numbers[part], y[part], rtol=1e-12, atol=0.0):
            return ""
    return _IS_LABEL if len(np.unique(y)) > 1 else ""


# ------------------------------------------------------------------ order in time, row numbers, blocks


def _said_of_order(column: Noted) -> str:
    """Return what is said of a column: a row number, in order, or blocks; else an empty text."""
    numbers, T, is_number = column.numbers, len(column.numbers), column.kind == NUMBERS
    if _is_mixed(numbers[:_FIRST]) or not np.isfinite(numbers).all():
        return ""
    steps = np.diff(numbers)
    low, high, blocks = numbers.min(), numbers.max(), 1 + int(np.count_nonzero(steps))
    is_whole, ascends = bool((numbers == np.round(numbers)).all()), bool((steps >= 0).all())
    are_years = _YEARS[0] <= low and high <= _YEARS[1]
    if is_number and is_whole and (steps == 1).all():
        return IN_TIME if are_years else _NUMBERS_ROWS
    if ascends and (column.kind == DATE or not is_whole or are_years):
        return IN_TIME if blocks >= FEWEST else ""
    if not is_whole or column.kind == DATE or 2 * blocks <= FEWEST:
        return ""
    different = len(np.unique(numbers))
    if different == T and is_number:
        if low in (0, 1) and high == low + T - 1:
            return _NUMBERS_ROWS
        return IN_TIME if ascends else ""
    if different == blocks and FEWEST <= different <= T / 2:
        learns = "of which a permutation learns some rows before it predicts others"
        return f"has one value in each of {different} blocks of rows, {learns} {_IN_BLOCKS}"
    return ""


def _is_mixed(numbers: np.ndarray) -> bool:
    """Whether numbers are so mixed that their column is in no order, holds no blocks, and numbers no rows."""
    steps = np.sign(np.diff(numbers))
    again = len(np.unique(numbers)) < 1 + np.count_nonzero(steps)
    return bool(again and (steps > 0).any() and (steps < 0).any())


def _copies(columns: Sequence[Noted], examples: Examples, y: np.ndarray) -> list[str]:
    """Return a note on rows that are copies of others, where there are too many to be there by chance."""
    T, weights = len(y), np.random.default_rng(1).integers(2**63, size=_WEIGHTS, dtype=np.uint64) * 2 + 1

    def hashed(numbers: np.ndarray) -> np.ndarray:
        mixed: np.ndarray = numbers.view(np.uint64) * weights[0]
        return (mixed ^ mixed >> np.uint64(29)) * weights[1]

    sums = hashed(np.asarray(y, float))
    for start in range(0, T, _BLOCK):
        ends = examples.indptr[start : start + _BLOCK + 1]
        part = slice(int(ends[0]), int(ends[-1]))
        mixed = hashed(examples.values[part]) * weights[examples.indices[part] & (_WEIGHTS - 1)]
        summed = np.append(np.uint64(0), np.cumsum(mixed, dtype=np.uint64))  # modulo 2^64
        sums[start : start + _BLOCK] += np.diff(summed[ends - ends[0]])
    sums.sort()
    different = 1 + int(np.count_nonzero(np.diff(sums)))
    if T - different < _SHARE_OF_COPIES * T or all(len(np.unique(one.numbers)) ** 2 <= T for one in columns):
        return []
    return [f"{T - different} of {T} rows are copies of others; {COPIES}"]


# ------------------------------------------------------------------ codes of gaps


@np.errstate(over="ignore", invalid="ignore")
def note_on_codes(column: Noted) -> list[str]:
    """Return a note on numbers or dates that are far from all others and repeat exactly, such as -999."""
    numbers = column.numbers[np.isfinite(column.numbers)]
    T, codes = len(numbers), list[tuple[str, int]]()
    while (
        column.kind != WORDS and len(codes) < _MOST_CODES and (found := _far_end(numbers, column)) is not None
    ):
        codes.append((_shown(found, column), int(np.count_nonzero(numbers == found))))
        numbers = numbers[numbers != found]
    if not codes:
        return []
    said = " and ".join(f"{count} of {T} rows are {code}" for code, count in codes)
    helps = "fill them in, or leave the rows out"
    if column.key is not None:
        frame, which = f"frame[{column.key!r}]", f".isin([{', '.join(code for code, _ in codes)}])"
        if column.kind == DATE:
            which = f".astype(str).str.startswith(({', '.join(repr(code) for code, _ in codes)},))"
        helps = f"in pandas {frame} = {frame}.mask({frame}{which}) makes them gaps, which missing= fills"
    of_others = f"the others {_shown(numbers.min(), column, 6)} to {_shown(numbers.max(), column, 6)}"
    return [f"{column}: {said}, {of_others}; if that means that there is no value, {helps}"]


def _far_end(numbers: np.ndarray, column: Noted) -> float | None:
    """Return the least or the largest number where it repeats and is far from the others, None else.

    That is so far, or so written, that it is not the end of a scale.
    """
    for end in (numbers.min(), numbers.max()) if len(numbers) else ():
        count = int(np.count_nonzero(numbers == end))
        if count < _FEWEST_EQUAL or count == len(numbers) or (end == 0 and 2 * count >= len(numbers)):
            continue  # once, alone, or what sparse data hold
        others = numbers[numbers != end]
        low, high = others.min(), others.max()
        spread, gap = high - low, max(low - end, end - high)
        is_so_written = end < 0 <= low or bool(_NINES.fullmatch(_shown(end, column)))
        is_far = gap > spread and (column.kind == DATE or is_so_written or gap > _FAR * spread)
        if is_far and len(np.unique(others)) >= _FEWEST_OTHERS:
            return float(end)
    return None


def _shown(value: float, column: Noted, digits: int = 0) -> str:
    """Return a number as one types it, or to so many digits; the date of a day."""
    if column.kind == DATE:
        return str(np.datetime64(math.floor(value), "D"))
    return f"{value:.{digits}g}" if digits else repr(float(value)).removesuffix(".0")


# ------------------------------------------------------------------ words


def note_on_alike(words: Iterable[str], what: str = "labels") -> tuple[str, ...]:
    """Return a note on words that are the same but for case, marks and what is not seen; else none.

    what: the words are
    """
    groups: dict[str, list[str]] = {}
    for word in words:
        letters = _plain(word).casefold().strip("\"'.,;:()[] ")
        groups.setdefault(re.sub(r"[\s_-]+", " ", letters), []).append(word)
    alike = [" and ".join(map(_seen, group)) for group in groups.values() if len(group) > 1]
    if not alike:
        return ()
    shown = ", ".join(alike[:_MOST_NAMED]) + (", ..." if alike[_MOST_NAMED:] else "")
    kind = "classes" if what == "labels" else "words"
    return (f"{what}: {shown} are different {kind}; {WRITE_ALIKE}",)


def _plain(word: str) -> str:
    return "".join(filter(str.isprintable, unicodedata.normalize("NFKC", word))).strip()


def _seen(word: str) -> str:
    """Return a word, with the codes of its letters where these are not seen."""
    return word if word == _plain(word) else ascii(word)

"""What in a user's data may make every number wrong: the label as a feature, row numbers, codes of gaps.

Each doubt is a note; nothing is left out without being asked for.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from omkl.data.preparation import column_word
from omkl.data.tables import Table
from omkl.errors import quoted

FEWEST = 10  # rows: of fewer, a column may look like that by chance
_FEWEST_EQUAL = 3  # cells that hold a code
_FEWEST_OTHERS = 5  # different values beside a code: a flag has fewer
_MOST_CODES = 3  # of one column
_FIRST = 64  # rows that are looked at first
_MOST_COLUMNS = 200_000  # of arrays that are looked at


@np.errstate(over="ignore", invalid="ignore")
def notes_on_columns(table: Table, names: Sequence[str], X: Any, widths: Sequence[int], y: Any) -> list[str]:
    """Return notes on columns of features that are the label, that count the rows, or hold codes of gaps.

    X (T, d): the features; widths: how many of them each column has made; y (T,): labels or targets
    """
    notes = []
    ends = np.cumsum(widths)
    for at in columns_like(X, y, ends - np.asarray(widths, int), ends):
        notes.append(f"column '{names[at]}' is the label in other words; {_drop(names[at])}")
    for name in names:
        numbers = table.numbers(name) if table.is_numeric(name) else None
        if numbers is None or table.sparse:
            continue
        nameless = name == "column 1" and table.named
        if count := counts_rows(numbers, 2 if nameless else FEWEST):
            called = "the first column has no name and" if nameless else f"column '{name}'"
            leaves = "drop=1 leaves it out" if nameless and "1" not in table.names else _drop(name)
            notes.append(f"{table.path}: {called} {count} the rows; {leaves}")
        notes += notes_on_codes(name, numbers)
    return notes


IN_ORDER = "; order=file keeps it"  # a note that says nothing to those who keep it


def note_on_dates(name: str, days: np.ndarray) -> list[str]:
    """Return a note on a column of dates, here days (T,), in whose order the rows are."""
    in_order = len(days) >= FEWEST and (np.diff(days) >= 0).all() and days[0] < days[-1]
    return [f"the rows are in the order of '{name}'{IN_ORDER}"] if in_order else []


def _drop(name: str) -> str:
    return f"{column_word('drop', name)} leaves it out"


@np.errstate(over="ignore", invalid="ignore")
def notes_on_arrays(X: Any, y: Any) -> list[str]:
    """Return notes on columns of an array that are the label or count the rows; they have numbers, from 1."""
    T, d = X.shape
    if d > _MOST_COLUMNS or T < FEWEST or (y == y[0]).all():
        return []
    ends = np.arange(1, d + 1)
    notes = [
        f"column {at + 1} is the label in other words; leave it out"
        for at in columns_like(X, y, ends - 1, ends)
    ]
    if d:
        ones = np.arange(d) if isinstance(X, np.ndarray) else np.flatnonzero(np.diff(X.tocsc().indptr) > 1)
        top = _dense(X, slice(0, _FIRST))[:, ones]
        whole = ones[
            ((top == np.round(top)).all(axis=0)) & (np.diff(np.sort(top, axis=0), axis=0) > 0).all(axis=0)
        ]
        for at in whole.tolist():
            if count := counts_rows(_column(X, at)):
                notes.append(f"column {at + 1} {count} the rows; leave it out")
    return notes


def columns_like(X: Any, y: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> list[int]:
    """Return the columns that have one value for each class, each a different one; or the target itself.

    starts, ends: of the features that each column has made
    """
    T, d = X.shape
    if T < FEWEST or not d or d > _MOST_COLUMNS:
        return []
    different, place = np.unique(y, return_inverse=True)
    place = place.ravel()
    first = place[:_FIRST]
    top = _dense(X, slice(0, _FIRST))
    n = len(different)
    if n < 2 or (2 * n <= T < 3 * n):  # too few rows of each class
        return []
    if 2 * n > T:  # a target: equal numbers are looked for
        same = np.isclose(top, np.asarray(y, float)[:_FIRST, None], rtol=1e-12, atol=0.0).all(axis=0)
        known = [at for at in np.flatnonzero(same).tolist() if np.allclose(_column(X, at), y, rtol=1e-12)]
        return [at for at in range(len(starts)) if ends[at] == starts[at] + 1 and int(starts[at]) in known]
    constant = np.ones(d, bool)
    for number in np.unique(first):
        rows = top[first == number]
        constant &= (rows == rows[0]).all(axis=0)
    sums = np.append(0, np.cumsum(constant))
    likely = np.flatnonzero((sums[ends] - sums[starts] == ends - starts) & (ends > starts))
    found = []
    for at in likely.tolist():
        own = np.column_stack([_column(X, feature) for feature in range(starts[at], ends[at])])
        each = np.zeros((n, own.shape[1]))
        each[place] = own
        if (each[place] == own).all() and len(np.unique(each, axis=0)) == n:
            found.append(at)
    return found


def _dense(X: Any, rows: slice) -> np.ndarray:
    return np.asarray(X[rows] if isinstance(X, np.ndarray) else X[rows].toarray(), float)


def _column(X: Any, at: int) -> np.ndarray:
    return np.asarray(X[:, at] if isinstance(X, np.ndarray) else X[:, [at]].toarray().ravel(), float)


@np.errstate(over="ignore", invalid="ignore")  # of numbers near the largest double
def counts_rows(numbers: np.ndarray, fewest: int = FEWEST) -> str:
    """Return whether numbers (T,) count the rows or number them in another order, as a verb; empty if not.

    fewest: rows, of fewer it may be by chance
    """
    T = len(numbers)
    if fewest > T or not np.isfinite(numbers).all():
        return ""
    if (np.diff(numbers) == 1).all() and (T >= FEWEST or numbers[0] in (0, 1)):
        return "counts"
    low = numbers.min()
    if (
        T >= FEWEST
        and low in (0, 1)
        and numbers.max() == low + T - 1
        and (np.diff(np.sort(numbers)) == 1).all()
    ):
        return "numbers"
    return ""


@np.errstate(over="ignore", invalid="ignore")
def notes_on_codes(name: str, numbers: np.ndarray, then: str = "which missing= fills") -> list[str]:
    """Return notes on numbers that are far from all others and repeat exactly, such as -999.

    then: what happens to a gap
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    T, codes = int(counts.sum()), list[tuple[str, int]]()
    while len(values) > _FEWEST_OTHERS and len(codes) < _MOST_CODES:
        ends = [
            (values[1] - values[0], values[-1] - values[1], 0),
            (values[-1] - values[-2], values[-2] - values[0], -1),
        ]
        far = [at for gap, spread, at in ends if counts[at] >= _FEWEST_EQUAL and gap > spread]
        if not far:
            break
        codes.append((repr(float(values[far[0]])).removesuffix(".0"), int(counts[far[0]])))
        keep = slice(1, None) if far[0] == 0 else slice(0, -1)
        values, counts = values[keep], counts[keep]
    if not codes:
        return []
    said = " and ".join(f"{count} of {T} rows are {code}" for code, count in codes)
    words = ",".join(code for code, _ in codes)
    return [
        f"column '{name}': {said}, the others {values[0]:.6g} to {values[-1]:.6g}; if that means that "
        f"there is no value, na={words} makes them gaps, {then}"
    ]


def note_on_na(table: Table) -> list[str]:
    """Return a note on words of ``na=`` that no cell holds."""
    form = table.form
    if not form.na:
        return []
    there = {word.lower() for word in table.gap_words(table.names)}
    numbers = {form.number(word) for word in there}
    unknown = [
        word
        for word in form.na
        if word
        and word.lower() not in there
        and (form.number(word) is None or form.number(word) not in numbers)
    ]
    return [f"na={','.join(unknown)}: no cell holds {_this(unknown)}"] if unknown else []


def _this(words: Iterable[str]) -> str:
    return " or ".join(quoted(words))

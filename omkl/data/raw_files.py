"""The registered files that are odd: one function each, which the ``format`` of a form names.

A reader takes the files of a form and the most bytes that one may hold, and yields the examples in parts,
with labels as the source writes them. It raises UserError with the line of what does not fit. What reads
tables is imported by the readers that need it: a run on other data does without.
"""

import itertools
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.data.preparation import Preparation
from omkl.data.preparing.labels import targets
from omkl.data.reading.numbered import (
    LARGEST_INDEX,
    LONGEST_INDEX,
    Examples,
    csr,
    dense,
    joined,
    libsvm_parts,
    plain_numbers,
    read_mat,
    read_npz,
    to_number,
    undense,
)
from omkl.data.reading.opening import line_blocks
from omkl.errors import UserError, counted, show

if TYPE_CHECKING:
    from omkl.data.reading.tables import DataTable

Parts = Iterator[Examples]
Reader = Callable[[list[Path], int | None], Parts]
_VOTES = {"y": 1.0, "n": -1.0, "?": 0.0}


def table(paths: list[Path], limit: int | None, **settings: Any) -> Parts:
    """A table of numbers, with the label in the last column if no setting of `Preparation` says otherwise."""
    yield dense(*_columns(paths[0], limit, **{"header": "auto", **settings}))


def breast(paths: list[Path], limit: int | None) -> Parts:
    """Without the ids, and without the 16 rows that have a gap."""
    yield from table(paths, limit, header="no", drop=("1",), missing="drop")


def breast_cancer(paths: list[Path], limit: int | None) -> Parts:
    """With the ids as a feature, as in the LIBSVM file."""
    yield from table(paths, limit, header="no", missing="drop")


def wdbc(paths: list[Path], limit: int | None) -> Parts:
    """An id, the label, the features."""
    yield from table(paths, limit, header="no", label="2", drop=("1",))


def votes84(paths: list[Path], limit: int | None) -> Parts:
    """The party, and votes that are y, n or ?."""
    from omkl.data.reading.delimited import read_delimited

    (read,) = read_delimited(paths[0], Preparation(header="no", label="1", na=()), limit)
    texts = np.column_stack([read.text(name) for name in read.names])
    for row, column in np.argwhere(~np.isin(texts[:, 1:], list(_VOTES))):
        word = show(texts[row, column + 1])
        raise UserError(f"{read.where(row)}: column {column + 2}: {word} is not y, n or ?")
    yield dense(np.vectorize(_VOTES.__getitem__, [float])(texts[:, 1:]), texts[:, 0])


def usps_book(paths: list[Path], limit: int | None) -> Parts:
    """The digit, and the pixels."""
    yield from (dense(rows[:, 1:], rows[:, 0]) for rows in _number_lines(paths[0], limit))


def usps_from_1(paths: list[Path], limit: int | None) -> Parts:
    """LIBSVM text whose digits count from 1."""
    for part in libsvm_parts(paths[0], limit, 1, False):
        yield part._replace(labels=part.labels - 1.0)


def susy_1m(paths: list[Path], limit: int | None) -> Parts:
    """The first million of the rows: the label, and the features."""
    left = 1_000_000
    for rows in _number_lines(paths[0], limit):
        yield dense(rows[:left, 1:], rows[:left, 0])
        left -= len(rows)
        if left <= 0:
            return


def codrna_unit(paths: list[Path], limit: int | None) -> Parts:
    """LIBSVM text whose features are brought to [0, 1] by their own least and largest value."""
    from omkl.data.reading.tables import check_width

    examples = joined(list(libsvm_parts(paths[0], limit, 1, False)))
    check_width(examples.d, str(paths[0]))
    X = undense(examples)
    least, spread = X.min(axis=0), np.ptp(X, axis=0)
    yield dense((X - least) / np.where(spread > 0, spread, 1.0), examples.labels)


def labels_apart(paths: list[Path], limit: int | None) -> Parts:
    """A file of features, and one with a label in each line."""
    yield from _labelled((dense(rows, rows[:, 0]) for rows in _number_lines(paths[0], limit)), paths, limit)


def ones(paths: list[Path], limit: int | None) -> Parts:
    """Lines that list the columns, from 1, which are 1; and a file with a label in each line."""
    counts, columns = array("q"), array("q")
    for number, text in _lines(paths[0], limit):
        fields = text.decode(errors="replace").split()
        bad = next((field for field in fields if not (field.isascii() and field.isdecimal())), None)
        if bad is not None:
            raise UserError(f"{paths[0]}:{number}: {show(bad)} is not a column number")
        row = [int(field) if len(field) <= LONGEST_INDEX else LARGEST_INDEX + 1 for field in fields]
        if max(row) > LARGEST_INDEX:
            raise UserError(f"{paths[0]}:{number}: a column number is above {LARGEST_INDEX}")
        if any(b <= a for a, b in itertools.pairwise([0, *row])):
            raise UserError(f"{paths[0]}:{number}: column numbers must start at 1 and ascend")
        columns.extend(row)
        counts.append(len(row))
    if not counts:
        raise UserError(f"{paths[0]}: no examples in it")
    rows, indices = np.repeat(np.arange(len(counts)), counts), np.frombuffer(columns, np.int64)
    examples = csr(rows, indices - 1, np.ones(len(rows)), np.empty(len(counts)), int(indices.max()))
    yield from _labelled(iter([examples]), paths, limit)


# ------------------------------------------------------------------ regression, scaled as in AdaRaker's files


def air(paths: list[Path], limit: int | None) -> Parts:
    """The first 9000 rows, without the date; the time of day is a fraction of the day, to the minute."""
    found = _table(paths[0], limit, header="yes", label="3", drop=("1", "2"))
    X, labels = _prepared(found)
    X, y = X[:9000], targets(labels, str(paths[0]))[:9000]
    time = np.array([_hours(text) for text in found.text(found.names[1])[:9000]])
    time = np.round(time * (60 if time.max() >= 1 else 1440)) / 1440  # hours; workbooks have days
    X = np.column_stack([time, X])
    kept = (y >= 0) & (y <= 200)
    yield dense((X[kept] + 200) / 2975, (y[kept] - 0.1) / 11.8)


def _hours(text: str) -> float:
    """Return a time of day such as 18:30 as hours; a number as it is."""
    hour, *others = text.split(":")
    return float(hour) + sum(float(part) / 60**place for place, part in enumerate(others, 1))


def airfoil(paths: list[Path], limit: int | None) -> Parts:
    """The sound level is the target."""
    X, y = _numbers(paths[0], limit, header="auto")
    yield dense(X / 20000.12766785867, (y - 103.38) / 37.607)


def concrete(paths: list[Path], limit: int | None) -> Parts:
    """The strength is the target."""
    X, y = _numbers(paths[0], limit, header="yes")
    yield dense(X / 1466.8759320406073, (y - 2.331807832) / 80.267416968)


def energy(paths: list[Path], limit: int | None) -> Parts:
    """The rows of up to 300 Wh, without the date and two columns of random numbers."""
    X, y = _numbers(paths[0], limit, header="yes", label="2", drop=("1", "28", "29"))
    kept = (y >= 0) & (y <= 300)
    yield dense((X[kept] + 6.6) / 778.9, (y[kept] - 10) / 290)


def istanbul(paths: list[Path], limit: int | None) -> Parts:
    """A workbook with two lines of names, the date and the return in lira; or the arrays of .npz and .mat."""
    from omkl.data.reading.formats import is_workbook, sheet_rows

    path = paths[0]
    if is_workbook(path):
        numbers = np.array([fields[2:] for _, fields in sheet_rows(path, limit)[0][2:]]).astype(np.float64)
        X, y = numbers[:, 1:], numbers[:, 0]
    elif path.name.endswith(".mat"):
        examples = read_mat(path, limit)
        X, y = undense(examples), examples.labels
    else:
        X, y = read_npz(path, limit)
    yield dense(X / 0.1219443976671532, (y + 0.084715902) / 0.185336596)


def naval(paths: list[Path], limit: int | None) -> Parts:
    """The decay of the compressor is the target, that of the turbine is left out."""
    X, y = _numbers(paths[0], limit, header="auto", label="17", drop=("18",))
    yield dense(X / 73545.8423272339, (y - 0.95) / 0.05)


READERS: dict[str, Reader] = {
    reader.__name__: reader
    for reader in (
        *(table, breast, breast_cancer, wdbc, votes84, usps_book, usps_from_1, susy_1m, codrna_unit),
        *(labels_apart, ones, air, airfoil, concrete, energy, istanbul, naval),
    )
}
TWO_FILES = ("labels_apart", "ones")


# ------------------------------------------------------------------ what they share


def _table(path: Path, limit: int | None, **settings: Any) -> "DataTable":
    """Return a table, or a workbook's first sheet, without gaps and of numbers alone."""
    from omkl.data.reading.delimited import read_delimited
    from omkl.data.reading.formats import is_workbook, read_workbook

    form = Preparation(**{"categorical": ("error",), "missing": "error", **settings})
    (found,) = (read_workbook if is_workbook(path) else read_delimited)(path, form, limit)
    found.last = True
    return found


def _prepared(found: "DataTable") -> tuple[np.ndarray, np.ndarray]:
    """Return the features (T, d) and the labels (T,), as texts, of a table."""
    from omkl.data.preparing.recipe import recipe_of

    X, labels, _ = recipe_of(found)[0].apply(found, new=True)
    assert labels is not None
    return X, labels


def _columns(path: Path, limit: int | None, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    return _prepared(_table(path, limit, **settings))


def _numbers(path: Path, limit: int | None, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    X, labels = _columns(path, limit, **settings)
    return X, targets(labels, str(path))


def _lines(path: Path, limit: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers."""
    for first, data in line_blocks(path, limit):
        for number, text in enumerate(data.split(b"\n"), first):
            if text.strip():
                yield number, text


def _number_lines(path: Path, limit: int | None) -> Iterator[np.ndarray]:
    """Yield lines of numbers between blanks or commas as arrays (rows, columns), some megabytes at a time."""
    width = 0
    for first, data in line_blocks(path, limit):
        texts = data.replace(b",", b" ").split(b"\n")
        counts = [len(text.split()) for text in texts]
        width = width or next((count for count in counts if count), 0)
        rows = sum(map(bool, counts))
        numbers = plain_numbers(b" ".join(texts), rows * width)
        if set(counts) - {0, width} or numbers is None or not np.isfinite(numbers).all():
            for number, (text, count) in enumerate(zip(texts, counts, strict=True), first):
                where = f"{path}:{number}"
                if count not in (0, width):
                    raise UserError(f"{where}: {counted(count, 'column')}; the lines before have {width}")
                for column, field in enumerate(text.decode(errors="replace").split(), 1):
                    to_number(field, f"{where}: column {column}")
        elif rows:
            yield numbers.reshape(rows, width)
    if not width:
        raise UserError(f"{path}: no examples in it")


def _labelled(blocks: Parts, paths: list[Path], limit: int | None) -> Parts:
    """Yield the parts with the labels that the second file has, one in each line."""
    labels = np.array([to_number(*label) for label in _label_lines(paths[1], limit)])
    begin = 0
    for part in blocks:
        end = begin + len(part.labels)
        if end <= len(labels):
            yield part._replace(labels=labels[begin:end])
        begin = end
    if len(labels) != begin:
        raise UserError(f"{paths[1]}: {counted(len(labels), 'label')} for the {begin} rows of {paths[0]}")


def _label_lines(path: Path, limit: int | None) -> Iterator[tuple[str, str]]:
    for number, text in _lines(path, limit):
        words = text.decode(errors="replace").split()
        if len(words) != 1:
            found = counted(len(words), "word")
            raise UserError(f"{path}:{number}: {found}; a label file has one label per line")
        yield words[0], f"{path}:{number}: label"

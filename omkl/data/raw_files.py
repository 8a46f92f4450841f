"""The registered files that are odd: one function each, which the ``format`` of a form names.

A reader takes the files of a form and the most bytes that one may hold, and yields the examples in parts,
with labels as the source writes them. What is no such file is refused by what pandas says of it; what is one
is known by its content hash.
"""

import contextlib
import importlib.util
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparation import Preparation
from omkl.data.preparing.columns import is_float
from omkl.data.reading.formats import ReadFrame, exact, is_workbook
from omkl.data.reading.numbered import (
    LARGEST_INDEX,
    Examples,
    check_size,
    csr,
    decoding,
    dense,
    joined,
    libsvm_parts,
    read_npz,
    undense,
)
from omkl.data.reading.opening import open_binary
from omkl.errors import UserError, counted
from omkl.paths import extensions

Parts = Iterator[Examples]
Reader = Callable[[list[Path], int | None], Parts]
_OTHER = "not the file that is registered"
_ROWS = 20_000  # of a text, at a time


def _frame(path: Path, limit: int | None, named: bool = True) -> Any:
    """Return the cells of a workbook's first sheet, or of text. named: whether a line of words is left out"""
    import pandas as pd

    with decoding(path, _OTHER):
        if is_workbook(path):
            with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                check_size(path, archive, limit)
            sheet = pd.read_excel(path, header=None, engine="calamine", dtype=object, na_filter=False)
            frame = sheet.map(str)
        else:
            with open_binary(path, limit) as file:
                how = {"header": None, "dtype": str, "keep_default_na": False, "skipinitialspace": True}
                frame = pd.read_csv(file, sep=_mark(file), **how)
    is_named = named and len(frame) > 1 and not any(map(is_float, frame.iloc[0]))
    return frame.iloc[1:] if is_named else frame


def _mark(file: Any) -> str:
    """Return what separates the columns of a text."""
    start = file.peek(2**12)[: 2**12].lstrip().partition(b"\n")[0].decode(errors="replace")
    return next((mark for mark in ";,\t" if mark in start), r"\s+")


def _numbers(frame: Any, path: Path) -> np.ndarray:
    """Return cells as numbers (T, d)."""
    with decoding(path, _OTHER):
        return np.asarray(frame.to_numpy(object).astype(np.float64))


def _number_rows(path: Path, limit: int | None) -> Iterator[np.ndarray]:
    """Yield lines of numbers as arrays (rows, columns)."""
    import pandas as pd

    with decoding(path, _OTHER), open_binary(path, limit) as file:
        how = {"header": None, "dtype": np.float64, "chunksize": _ROWS, **exact()}
        for part in pd.read_csv(file, sep=_mark(file), **how):
            yield part.to_numpy()


def _labelled(blocks: Parts, path: Path, limit: int | None) -> Parts:
    """Yield the parts with the labels that a second file has, one in each line."""
    labels, begin = np.concatenate([rows[:, 0] for rows in _number_rows(path, limit)]), 0
    for part in blocks:
        end = begin + len(part.labels)
        yield part._replace(labels=np.resize(labels[begin:end], len(part.labels)))
        begin = end
    if len(labels) != begin:
        raise UserError(f"{path}: {counted(len(labels), 'label')} for {counted(begin, 'row')} of features")


def table(paths: list[Path], limit: int | None) -> Parts:
    """A table of numbers, with the label in the last column; a first line of words names the columns."""
    frame = _frame(paths[0], limit)
    yield dense(_numbers(frame.iloc[:, :-1], paths[0]), frame.iloc[:, -1].to_numpy(object))


def breast(paths: list[Path], limit: int | None) -> Parts:
    """An id, the features, the label; without the 16 rows that have a gap."""
    frame = _frame(paths[0], limit)
    frame = frame[~(frame == "?").any(axis=1)]
    yield dense(_numbers(frame.iloc[:, 1:-1], paths[0]), frame.iloc[:, -1].to_numpy(object))


def wdbc(paths: list[Path], limit: int | None) -> Parts:
    """An id, the label, the features."""
    frame = _frame(paths[0], limit, named=False)
    yield dense(_numbers(frame.iloc[:, 2:], paths[0]), frame[1].to_numpy(object))


def votes84(paths: list[Path], limit: int | None) -> Parts:
    """The party, and votes that are y, n or ?."""
    frame = _frame(paths[0], limit, named=False)
    votes = frame.iloc[:, 1:].replace({"y": "1", "n": "-1", "?": "0"})
    yield dense(_numbers(votes, paths[0]), frame[0].to_numpy(object))


def mat(paths: list[Path], limit: int | None) -> Parts:
    """MATLAB's arrays X, (T, d) or (d, T), and y."""
    from scipy.io import loadmat
    from scipy.sparse import csr_array

    with decoding(paths[0], _OTHER):
        _check_inflated(paths[0], limit)
        arrays = loadmat(paths[0], variable_names=("X", "y"))
        y = arrays["y"].astype(np.float64).ravel()
        X = csr_array(arrays["X"] if arrays["X"].shape[0] == len(y) else arrays["X"].T, dtype=np.float64)
        X.sum_duplicates()
        X.eliminate_zeros()
        yield dense(X, y)


def _check_inflated(path: Path, limit: int | None) -> None:
    """Raise UserError for a MATLAB file whose compressed arrays hold more than ``limit`` bytes."""
    content = path.read_bytes()
    at, total, order = 128, 0, "<" if content[126:128] == b"IM" else ">"
    while limit is not None and len(content) - at >= 8:
        kind, length = struct.unpack_from(f"{order}II", content, at)
        data, inflate = content[at + 8 : at + 8 + length], zlib.decompressobj()
        while kind == 15 and data and total <= limit:  # a compressed array
            total += len(inflate.decompress(data, 2**20))
            data = inflate.unconsumed_tail
        if total > limit:
            raise UserError(f"{path}: holds more than {limit:,} bytes; set OMKL_MAX_BYTES to read it")
        at += 8 + length


def usps_from_1(paths: list[Path], limit: int | None) -> Parts:
    """LIBSVM text whose digits count from 1."""
    for part in libsvm_parts(paths[0], limit, 1, False):
        yield part._replace(labels=part.labels - 1.0)


def susy_1m(paths: list[Path], limit: int | None) -> Parts:
    """The first million of the rows: the label, and the features."""
    left = 1_000_000
    for rows in _number_rows(paths[0], limit):
        yield dense(rows[:left, 1:], rows[:left, 0])
        left -= len(rows)
        if left <= 0:
            return


def codrna_unit(paths: list[Path], limit: int | None) -> Parts:
    """LIBSVM text whose features are brought to [0, 1] by their own least and largest value."""
    examples = joined(list(libsvm_parts(paths[0], limit, 1, False)))
    if examples.d > 10_000:
        raise UserError(f"{paths[0]}: {examples.d:,} columns, and the registered set has 8")
    X = undense(examples)
    least, spread = X.min(axis=0), np.ptp(X, axis=0)
    yield dense((X - least) / np.where(spread > 0, spread, 1.0), examples.labels)


def labels_apart(paths: list[Path], limit: int | None) -> Parts:
    """A file of features, and one with a label in each line."""
    parts = (dense(rows, rows[:, 0]) for rows in _number_rows(paths[0], limit))
    yield from _labelled(parts, paths[1], limit)


def ones(paths: list[Path], limit: int | None) -> Parts:
    """Lines that list the columns, from 1, which are 1; and a file with a label in each line."""
    with decoding(paths[0], _OTHER), open_binary(paths[0], limit) as file:
        rows = [np.array(line.split(), np.int64) for line in file if line.strip()]
        columns = np.concatenate(rows) - 1
        if not 0 <= columns.min() <= columns.max() < LARGEST_INDEX:
            raise ValueError(f"a column number is not within 1 to {LARGEST_INDEX}")
    at, d = np.repeat(np.arange(len(rows)), list(map(len, rows))), int(columns.max()) + 1
    examples = csr(at, columns, np.ones(len(at)), np.empty(len(rows)), d)
    yield from _labelled(iter([examples]), paths[1], limit)


# ------------------------------------------------------------------ regression, scaled as in AdaRaker's files


def air(paths: list[Path], limit: int | None) -> Parts:
    """The first 9000 rows, without the date; the time of day is a fraction of the day, to the minute."""
    frame = _frame(paths[0], limit).iloc[:9000, :15]
    time = np.array([_hours(cell) for cell in frame[1]])
    time = np.round(time * (60 if time.max() >= 1 else 1440)) / 1440  # hours; workbooks have days
    X = _numbers(frame.iloc[:, 2:].replace(",", ".", regex=True), paths[0])
    X, y = np.column_stack([time, X[:, 1:]]), X[:, 0]
    kept = (y >= 0) & (y <= 200)
    yield dense((X[kept] + 200) / 2975, (y[kept] - 0.1) / 11.8)


def _hours(text: str) -> float:
    """Return a time of day such as 18:30 as hours; a number as it is."""
    hour, *others = text.split(":")
    return float(hour) + sum(float(part) / 60**place for place, part in enumerate(others, 1))


def energy(paths: list[Path], limit: int | None) -> Parts:
    """The rows of up to 300 Wh, without the date and two columns of random numbers."""
    X = _numbers(_frame(paths[0], limit).iloc[:, 1:27], paths[0])
    X, y = X[:, 1:], X[:, 0]
    kept = (y >= 0) & (y <= 300)
    yield dense((X[kept] + 6.6) / 778.9, (y[kept] - 10) / 290)


def istanbul(paths: list[Path], limit: int | None) -> Parts:
    """A workbook with two lines of names, the date and the return in lira; or the arrays of .npz."""
    if is_workbook(paths[0]):
        numbers = _numbers(_frame(paths[0], limit).iloc[1:, 2:], paths[0])
        X, y = numbers[:, 1:], numbers[:, 0]
    else:
        X, y = read_npz(paths[0], limit)
    yield dense(X / 0.1219443976671532, (y + 0.084715902) / 0.185336596)


_TARGETS = {  # place of the target, largest feature, and the target's least value and range
    "airfoil": (5, 20000.12766785867, 103.38, 37.607),
    "concrete": (8, 1466.8759320406073, 2.331807832, 80.267416968),
    "naval": (16, 73545.8423272339, 0.95, 0.05),  # a second one follows
}


def _scaled(paths: list[Path], limit: int | None, place: int, most: float, low: float, spread: float) -> Parts:
    """A table of numbers whose features stand before the target."""
    X = _numbers(_frame(paths[0], limit), paths[0])
    yield dense(X[:, :place] / most, (X[:, place] - low) / spread)


READERS: dict[str, Reader] = {
    reader.__name__: reader
    for reader in (
        *(table, breast, wdbc, votes84, mat, usps_from_1, susy_1m, codrna_unit, labels_apart, ones),
        *(air, energy, istanbul),
    )
}
READERS |= {
    name: partial(_scaled, place=place, most=most, low=low, spread=spread)
    for name, (place, most, low, spread) in _TARGETS.items()
}
TWO_FILES = ("labels_apart", "ones")


# ------------------------------------------------------------------ readers of a folder that extends omkl


def own_reader(name: str) -> Path | None:
    """Return the file ``data/NAME.py`` of a folder that extends omkl, None where none has it."""
    paths = (folder / "data" / f"{name}.py" for folder in extensions())
    return next((path for path in paths if path.is_file()), None)


def own_parts(name: str, paths: list[Path]) -> Parts:
    """Yield what the function of that name in that file makes of a form's files: X and y, or a frame."""
    from omkl.data.preparing.recipe import recipe_of
    from omkl.data.preparing.user_table import as_frame, table_of

    file = own_reader(name)
    spec = importlib.util.spec_from_file_location(f"omkl_data_{name}", str(file))
    if file is None or spec is None or spec.loader is None:
        raise UserError(f"format: {name}: no folder of --with has data/{name}.py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        made = getattr(module, name)(paths)
    except Exception as error:  # of the user's own code
        raise UserError(f"{file}: {name}(...) ended with {type(error).__name__}: {error}") from error
    if isinstance(made, tuple):
        X, y = made
        yield dense(np.asarray(X, np.float64), np.asarray(y))
        return
    table = table_of(ReadFrame(as_frame(made)), f"{file}: {name}", Preparation(label="label"))
    X, labels, _ = recipe_of(table)[0].apply(table)
    yield dense(X, np.asarray(labels))

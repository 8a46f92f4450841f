"""The registered files that are odd: one function each, which the ``format`` of a form names.

A reader takes the files of a form and the most bytes that one may hold, and returns X (T, d), an array or a
sparse matrix, and the labels (T,) as the source writes them. What is no such file is refused by what pandas
says of it; what is one is known by its content hash.
"""

import contextlib
import runpy
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparation import Preparation
from omkl.data.preparing.columns import is_float
from omkl.data.reading.formats import ReadFrame, exact
from omkl.data.reading.numbered import check_size, decoding, read_libsvm, read_npz, undense
from omkl.data.reading.opening import open_binary
from omkl.errors import UserError, counted
from omkl.paths import extensions

Rows = tuple[Any, np.ndarray]  # X and labels
Reader = Callable[[list[Path], int | None], Rows]
_OTHER = "not the file that is registered"
_PART = 2**24  # bytes of a text, at a time
_WORKBOOKS = (".xls", ".xlsx")


def _frame(path: Path, limit: int | None, named: bool = True) -> Any:
    """Return the cells of a workbook's first sheet, or of text. named: whether a line of words is left out"""
    import pandas as pd

    with decoding(path, _OTHER):
        if path.suffix in _WORKBOOKS:
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


def _matrix(path: Path, limit: int | None, most: int | None = None) -> Any:
    """Return lines of numbers as a sparse matrix (T, d). most: lines that are read"""
    import pandas as pd
    from scipy.sparse import csr_array, vstack

    with decoding(path, _OTHER), open_binary(path, limit) as file:
        rows = _PART // (1 + len(file.peek(2**20).partition(b"\n")[0])) or 1
        how = {"header": None, "dtype": np.float64, "nrows": most, "chunksize": rows, **exact()}
        return vstack([csr_array(part.to_numpy()) for part in pd.read_csv(file, sep=_mark(file), **how)])


def _labelled(X: Any, path: Path, limit: int | None) -> Rows:
    """Return rows with the labels that a second file has, one in each line."""
    labels = _matrix(path, limit).toarray()[:, 0]
    if len(labels) != X.shape[0]:
        raise UserError(
            f"{path}: {counted(len(labels), 'label')} for {counted(X.shape[0], 'row')} of features"
        )
    return X, labels


def table(paths: list[Path], limit: int | None) -> Rows:
    """A table of numbers, with the label in the last column; a first line of words names the columns."""
    frame = _frame(paths[0], limit)
    return _numbers(frame.iloc[:, :-1], paths[0]), frame.iloc[:, -1].to_numpy(object)


def breast(paths: list[Path], limit: int | None) -> Rows:
    """An id, the features, the label; without the 16 rows that have a gap."""
    frame = _frame(paths[0], limit)
    frame = frame[~(frame == "?").any(axis=1)]
    return _numbers(frame.iloc[:, 1:-1], paths[0]), frame.iloc[:, -1].to_numpy(object)


def wdbc(paths: list[Path], limit: int | None) -> Rows:
    """An id, the label, the features."""
    frame = _frame(paths[0], limit)
    return _numbers(frame.iloc[:, 2:], paths[0]), frame[1].to_numpy(object)


def votes84(paths: list[Path], limit: int | None) -> Rows:
    """The party, and votes that are y, n or ?."""
    frame = _frame(paths[0], limit, named=False)
    votes = frame.iloc[:, 1:].replace({"y": "1", "n": "-1", "?": "0"})
    return _numbers(votes, paths[0]), frame[0].to_numpy(object)


def mat(paths: list[Path], limit: int | None) -> Rows:
    """MATLAB's arrays X, (T, d) or (d, T), and y."""
    from scipy.io import loadmat
    from scipy.sparse import csr_array

    with decoding(paths[0], _OTHER):
        _check_inflated(paths[0], limit)
        arrays = loadmat(paths[0], variable_names=("X", "y"))
        y = arrays["y"].astype(np.float64).ravel()
        return csr_array(
            arrays["X"] if arrays["X"].shape[0] == len(y) else arrays["X"].T, dtype=np.float64
        ), y


def _check_inflated(path: Path, limit: int | None) -> None:
    """Raise UserError for a MATLAB file whose compressed arrays hold more than ``limit`` bytes."""
    content = path.read_bytes()
    at, total, order = 128, 0, "<" if content[126:128] == b"IM" else ">"
    while limit is not None and len(content) - at >= 8:
        kind, length = struct.unpack_from(f"{order}II", content, at)
        data = content[at + 8 : at + 8 + length]
        total += len(zlib.decompressobj().decompress(data, limit + 1)) if kind == 15 else 0  # compressed
        if total > limit:
            raise UserError(f"{path}: holds more than {limit:,} bytes")
        at += 8 + length


def susy_1m(paths: list[Path], limit: int | None) -> Rows:
    """The first million of the rows: the label, and the features."""
    rows = _matrix(paths[0], limit, 1_000_000)
    return rows[:, 1:], rows[:, [0]].toarray()[:, 0]


def codrna_unit(paths: list[Path], limit: int | None) -> Rows:
    """LIBSVM text whose features are brought to [0, 1] by their own least and largest value."""
    examples = read_libsvm(paths, limit)
    if examples.d > 10_000:
        raise UserError(f"{paths[0]}: {examples.d:,} columns, and the registered set has 8")
    X = undense(examples)
    least, spread = X.min(axis=0), np.ptp(X, axis=0)
    return (X - least) / np.where(spread > 0, spread, 1.0), examples.labels


def labels_apart(paths: list[Path], limit: int | None) -> Rows:
    """A file of features, and one with a label in each line."""
    return _labelled(_matrix(paths[0], limit), paths[1], limit)


def ones(paths: list[Path], limit: int | None) -> Rows:
    """Lines that list the columns, from 1, which are 1; and a file with a label in each line."""
    from scipy.sparse import csr_array

    with decoding(paths[0], _OTHER), open_binary(paths[0], limit) as file:
        rows = [np.array(line.split(), np.int64) for line in file if line.strip()]
        columns, at = np.concatenate(rows) - 1, np.repeat(np.arange(len(rows)), list(map(len, rows)))
        X = csr_array((np.ones(len(at)), (at, columns)))
    return _labelled(X, paths[1], limit)


# ------------------------------------------------------------------ regression, scaled as in AdaRaker's files


def air(paths: list[Path], limit: int | None) -> Rows:
    """The first 9000 rows, without the date; the time of day is a fraction of the day, to the minute."""
    frame = _frame(paths[0], limit).iloc[:9000, :15]
    time = np.array([_hours(cell) for cell in frame[1]])
    time = np.round(time * (60 if time.max() >= 1 else 1440)) / 1440  # hours; workbooks have days
    X = _numbers(frame.iloc[:, 2:].replace(",", ".", regex=True), paths[0])
    X, y = np.column_stack([time, X[:, 1:]]), X[:, 0]
    kept = (y >= 0) & (y <= 200)
    return (X[kept] + 200) / 2975, (y[kept] - 0.1) / 11.8


def _hours(text: str) -> float:
    """Return a time of day such as 18:30 as hours; a number as it is."""
    hour, *others = text.split(":")
    return float(hour) + sum(float(part) / 60**place for place, part in enumerate(others, 1))


def energy(paths: list[Path], limit: int | None) -> Rows:
    """The rows of up to 300 Wh, without the date and two columns of random numbers."""
    X = _numbers(_frame(paths[0], limit).iloc[:, 1:27], paths[0])
    X, y = X[:, 1:], X[:, 0]
    kept = (y >= 0) & (y <= 300)
    return (X[kept] + 6.6) / 778.9, (y[kept] - 10) / 290


def istanbul(paths: list[Path], limit: int | None) -> Rows:
    """A workbook with two lines of names, the date and the return in lira; or the arrays of .npz."""
    if paths[0].suffix in _WORKBOOKS:
        numbers = _numbers(_frame(paths[0], limit).iloc[1:, 2:], paths[0])
        X, y = numbers[:, 1:], numbers[:, 0]
    else:
        X, y = read_npz(paths[0], limit)
    return X / 0.1219443976671532, (y + 0.084715902) / 0.185336596


def _scaled(paths: list[Path], limit: int | None, place: int, most: float, low: float, spread: float) -> Rows:
    """A table of numbers whose target is at this place, after the features.

    most: what they are divided by    low, spread: the target's least value and range
    """
    X = _numbers(_frame(paths[0], limit), paths[0])
    return X[:, :place] / most, (X[:, place] - low) / spread


_OF_ONE_SET = (susy_1m, codrna_unit, breast, wdbc, votes84, air, energy, istanbul)
READERS: dict[str, Reader] = {
    reader.__name__: reader for reader in (table, mat, labels_apart, ones, *_OF_ONE_SET)
}
READERS |= {
    "airfoil": partial(_scaled, place=5, most=20000.12766785867, low=103.38, spread=37.607),
    "concrete": partial(_scaled, place=8, most=1466.8759320406073, low=2.331807832, spread=80.267416968),
    "naval": partial(_scaled, place=16, most=73545.8423272339, low=0.95, spread=0.05),  # a second one follows
}
TWO_FILES = ("labels_apart", "ones")


# ------------------------------------------------------------------ readers of a folder that extends omkl


def own_reader(name: str) -> Path | None:
    """Return the file ``data/NAME.py`` of a folder that extends omkl, None where none has it."""
    paths = (folder / "data" / f"{name}.py" for folder in extensions())
    return next((path for path in paths if path.is_file()), None)


def own_rows(name: str, paths: list[Path]) -> Rows:
    """Return what the function of that name in that file makes of a form's files: X and y, or a frame."""
    from omkl.data.preparing.recipe import recipe_of
    from omkl.data.preparing.user_table import as_frame, table_of

    file = own_reader(name)
    try:
        made = runpy.run_path(str(file))[name](paths)
    except Exception as error:  # of the user's own code
        raise UserError(f"{file}: {name}(...) ended with {type(error).__name__}: {error}") from error
    if isinstance(made, tuple):
        return np.asarray(made[0], np.float64), np.asarray(made[1])
    table = table_of(ReadFrame(as_frame(made)), f"{file}: {name}", Preparation(label="label"))
    X, labels, _ = recipe_of(table)[0].apply(table)
    return X, np.asarray(labels)

"""The formats of users' files: how each is known and read, and which settings of a preparation it takes.

A further format is a function that returns a `Table` of named columns, or `Examples` of numbered ones, and an
entry of FORMATS.
"""

import importlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.arff_files import read_arff
from omkl.data.data_files import COMPRESSION, is_compressed, only_member, open_binary
from omkl.data.delimited import (
    beginning,
    delimited_parts,
    guessed,
    lines_of,
    open_text,
    read_delimited,
    read_workbook,
)
from omkl.data.parse import Examples, dense, libsvm_parts, read_libsvm, read_npz
from omkl.data.recipe import AS_IT_IS, Preparation
from omkl.data.tables import Column, Table, TableFormat, column_of, numeric_column, of_frame
from omkl.data.workbooks import ENDINGS as WORKBOOKS
from omkl.data.workbooks import is_workbook
from omkl.errors import UserError, show

UNCERTAIN = (".txt", ".data")  # endings that say nothing: the first lines do
OF_LIBSVM = ("index_base", "qid")
OF_TABLES = tuple(key.name for key in fields(Preparation) if key.name not in OF_LIBSVM)
_OF_TEXT = ("header", "delimiter", "encoding")  # of these, those that are for delimited text alone
_ENTRY = re.compile(r"(?:[0-9]+|qid):[^\s,;|]*")  # of a row of LIBSVM text


@dataclass(frozen=True)
class Format:
    """A format of users' files: what it is called, its endings, the settings it takes, and how it is read.

    read: takes a path, a preparation, and the most bytes that the file may hold
    parts: takes a number of rows, too, and yields the file in parts of about that many, where it can
    """

    title: str
    endings: tuple[str, ...]
    settings: tuple[str, ...]
    read: Callable[[Path, Preparation, int | None], Table | Examples]
    parts: Callable[[Path, Preparation, int | None, int], Iterator[Table | Examples]] | None = None

    @property
    def is_table(self) -> bool:
        """Whether its columns have names, and one of them holds the labels."""
        return "label" in self.settings


def _read_arrow(path: Path, form: TableFormat, limit: int | None, title: str, module: str) -> Table:
    """Return the columns of a file that a module of pyarrow reads."""
    try:
        reader = importlib.import_module(f"pyarrow.{module}")
    except ImportError:
        raise UserError(f"{path}: {title} files need pyarrow; pip install 'omkl[parquet]'") from None
    try:
        source = io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path
        frame = _as_pandas(reader.read_table(source))
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a {title} file: {str(error).splitlines()[0]}") from None
    return of_frame(frame, path, form)


def _as_pandas(table: Any) -> Any:
    """Return a table or batch of pyarrow as a frame whose whole numbers keep all digits beside gaps."""
    import pandas as pd
    import pyarrow

    names = (f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
    kinds = {getattr(pyarrow, name.lower())(): pd.api.types.pandas_dtype(name) for name in names}
    return table.to_pandas(types_mapper=kinds.get)


def _read_json_lines(path: Path, form: TableFormat, limit: int | None) -> Table:
    """Return the columns of a text with one JSON object in each line; a key that a line lacks is a gap."""
    (table,) = _json_parts(path, form, limit, None)
    return table


def _json_parts(path: Path, form: TableFormat, limit: int | None, count: int | None) -> Iterator[Table]:
    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    is_first = True
    with open_text(path, limit, form.encoding) as file:
        for number, line in enumerate(lines_of(file, path), 1):
            if not line.strip():
                continue
            row = _json_row(line, f"{path}:{number}")
            for name, value in row.items():
                columns.setdefault(name, [None] * len(lines)).append(value)
            lines.append(number)
            for values in columns.values():
                if len(values) < len(lines):
                    values.append(None)
            if len(lines) == count:
                yield _of_lists(path, columns, lines, form)
                columns, lines, is_first = {name: [] for name in columns}, [], False
    if is_first and not lines:
        raise UserError(f"{path}: no examples in it")
    if lines:
        yield _of_lists(path, columns, lines, form)


def _json_row(line: str, where: str) -> dict[str, Any]:
    import orjson

    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from None
    if not isinstance(row, dict):
        raise UserError(f'{where}: not a JSON object such as {{"x": 1, "y": "no"}}')
    for name, value in row.items():
        if isinstance(value, dict | list):
            fault = f"{show(name)} holds {'an object' if isinstance(value, dict) else 'a list'}"
            raise UserError(f"{where}: {fault}; write a number or a text for each key")
    return row


def _of_lists(path: Path, columns: dict[str, list[Any]], lines: list[int], form: TableFormat) -> Table:
    made = [_of_values(name, values, form) for name, values in columns.items()]
    return Table(path, made, np.array(lines), True)


def _of_values(name: str, values: list[Any], form: TableFormat) -> Column:
    """Return the column of values as JSON has them."""
    text = np.array(["" if value is None else str(value) for value in values], object)
    if all(value is None or (type(value) in (int, float)) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], float)
        return numeric_column(name, text, np.isnan(numbers), numbers, form)
    return column_of(name, text, form)


def _parquet_parts(path: Path, form: TableFormat, limit: int | None, count: int) -> Iterator[Table]:
    if is_compressed(path):
        yield _read_arrow(path, form, limit, "Parquet", "parquet")
        return
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise UserError(f"{path}: Parquet files need pyarrow; pip install 'omkl[parquet]'") from None
    before = 0
    try:
        batches = ParquetFile(path).iter_batches(count)
        while (batch := next(batches, None)) is not None:
            table = of_frame(_as_pandas(batch), path, form)
            yield replace(table, before=before)
            before += batch.num_rows
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from None


def _libsvm_parts(path: Path, preparation: Preparation, limit: int | None, count: int) -> Iterator[Examples]:
    assert preparation.index_base != "auto"
    yield from libsvm_parts(path, limit, int(preparation.index_base), preparation.qid == "drop")


def _read_libsvm(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    base = None if preparation.index_base == "auto" else int(preparation.index_base)
    return read_libsvm([path], limit, base, preparation.qid == "drop")


def _read_npz(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    return dense(*read_npz(path, limit))


TABS = "\t,;|"
_COLUMNS = tuple(key for key in OF_TABLES if key not in _OF_TEXT)
CSV = Format("delimited text", (".csv",), OF_TABLES, read_delimited, delimited_parts)
LIBSVM = Format("LIBSVM text", (".libsvm", ".svm"), OF_LIBSVM, _read_libsvm, _libsvm_parts)
FORMATS = (
    CSV,
    Format(
        "delimited text",
        (".tsv",),
        OF_TABLES,
        partial(read_delimited, marks=TABS),
        partial(delimited_parts, marks=TABS),
    ),
    Format("a workbook", WORKBOOKS, (*_COLUMNS, "header"), read_workbook),
    Format("ARFF", (".arff",), (*_COLUMNS, "encoding"), read_arff),
    Format("JSON lines", (".jsonl", ".ndjson"), (*_COLUMNS, "encoding"), _read_json_lines, _json_parts),
    Format(
        "Parquet",
        (".parquet",),
        _COLUMNS,
        partial(_read_arrow, title="Parquet", module="parquet"),
        _parquet_parts,
    ),
    Format("Feather", (".feather",), _COLUMNS, partial(_read_arrow, title="Feather", module="feather")),
    Format(".npz with X and y", (".npz",), (), _read_npz),
    LIBSVM,
)
ENDINGS = {ending: own for own in FORMATS for ending in own.endings}


def data_name(path: str | Path) -> str:
    """Return the name of a file's data set, without the endings of compression and format.

    ``my.libsvm.xz`` -> ``my``. All names of users' files come from here, so that a run and its table agree.
    """
    whole = name = Path(path).name
    for endings in (COMPRESSION, (*ENDINGS, *UNCERTAIN)):
        name = name[: len(name) - len(next((end for end in endings if name.lower().endswith(end)), ""))]
    return name or whole


def _ending(path: Path) -> str:
    """Return the ending of a file that says its format, in lower case, without the ending of compression.

    That of the file in a .zip where the archive's own name has none.
    """
    inner = path.with_suffix("") if is_compressed(path) else path
    is_known = inner.suffix.lower() in (*ENDINGS, *UNCERTAIN)
    if path.suffix.lower() == ".zip" and not is_known and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            inner = Path(only_member(archive, path).filename)
    return inner.suffix.lower()


def format_of(path: Path) -> Format:
    """Return the format of a user's file: by its ending where that says it, else by its first lines."""
    return ENDINGS.get(_ending(path)) or _of_content(path)


def _of_content(path: Path) -> Format:
    """Return the format of a file whose name says nothing, such as standard input."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if all(name.endswith(".npy") for name in archive.namelist()):
                return ENDINGS[".npz"]
    if is_workbook(path):
        return ENDINGS[".xlsx"]
    with open_binary(path) as file:
        start = file.peek(6)[:6]
    for mark, ending in ((b"PAR1", ".parquet"), (b"ARROW1", ".feather")):
        if start.startswith(mark):
            return ENDINGS[ending]
    for line in beginning(path).split("\n"):
        if line.startswith("{"):
            return ENDINGS[".jsonl"]
        if line.lower().startswith("@relation"):
            return ENDINGS[".arff"]
        line = line.partition("#")[0]
        words = line.split()
        if any(map(_ENTRY.fullmatch, words)):
            return LIBSVM
        if guessed(line) or len(words) > 1:
            return CSV
    return LIBSVM


def read_table(path: Path, preparation: Preparation = AS_IT_IS, limit: int | None = None) -> Table:
    """Return the columns of a file that is known to be a table, of delimited text if nothing else is said."""
    own = format_of(path)
    table = (own if own.is_table else CSV).read(path, preparation, limit)
    assert isinstance(table, Table)
    return table


def parts_of(
    path: Path, preparation: Preparation, limit: int | None, count: int, is_table: bool
) -> Iterator[Table | Examples]:
    """Yield a file in parts of about ``count`` rows, or as a whole where its format allows nothing else.

    is_table: whether it is known to be one, as for `read_table`
    """
    own = format_of(path)
    own = CSV if is_table and not own.is_table else own
    if own.parts is not None:
        yield from own.parts(path, preparation, limit, count)
    else:
        yield own.read(path, preparation, limit)


def check_settings(spec: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this format."""
    own = format_of(path)
    for key in (*_OF_TEXT, *OF_TABLES, *OF_LIBSVM):
        if key in own.settings or not preparation.words_of([key]):
            continue
        able = _taking(key)
        words = preparation.words_of(other for other in (*OF_TABLES, *OF_LIBSVM) if _taking(other) == able)
        titles = " or ".join(dict.fromkeys(known.title for known in able))
        endings = ", ".join(ending for known in able for ending in known.endings)
        raise UserError(f"data={spec}: {words} is for {titles} ({endings})")


def _taking(key: str) -> list[Format]:
    return [known for known in FORMATS if key in known.settings]

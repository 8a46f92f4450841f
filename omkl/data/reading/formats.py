"""The formats of users' files: how each is known and read, and which settings of a preparation it takes.

A further format is a function that yields the `DataTable` of a file, or `Examples` of numbered columns, and
an entry of FORMATS.
"""

import contextlib
import datetime
import importlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.reading.arff import read_arff
from omkl.data.reading.delimited import TABS, guessed, read_delimited, table_of_rows
from omkl.data.reading.numbered import Examples, decoding, dense, libsvm_parts, read_libsvm, read_npz
from omkl.data.reading.opening import (
    COMPRESSION,
    FLOOR,
    LIMIT,
    RATIO,
    beginning,
    is_compressed,
    only_member,
    open_binary,
    size_limit,
    text_lines,
)
from omkl.data.reading.tables import DataTable, check_width, kept_as_text, of_arrow, of_frame, table_of
from omkl.errors import UserError, printable, quoted, show

Parts = Iterator[DataTable | Examples]
Reader = Callable[[Path, Preparation, int | None, int | None, Collection[str]], Parts]


@dataclass(frozen=True)
class Format:
    """A format of users' files: what it is called, its endings, the settings it takes, and how it is read.

    read: takes a path, a preparation, the most bytes that the file may hold, a number of rows, and columns
    that stay texts, besides those of the label and ``id``. It yields the file in parts of about that many
    rows where it can, and as a whole where it cannot or the number is None.
    """

    title: str
    endings: tuple[str, ...]
    settings: tuple[str, ...]
    read: Reader

    @property
    def is_table(self) -> bool:
        """Whether its columns have names, and one of them holds the labels."""
        return "label" in self.settings


# ------------------------------------------------------------------ Parquet, Feather, workbooks


def _arrow(title: str, module: str) -> Any:
    """Return a module of pyarrow. Raises UserError where it is not installed."""
    try:
        return importlib.import_module(f"pyarrow.{module}")
    except ImportError:
        raise UserError(f"{title} files need pyarrow; pip install 'omkl[parquet]'") from None


@contextlib.contextmanager
def _arrow_errors(path: Path, title: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a {title} file: {str(error).splitlines()[0]}") from None


def _read_arrow(
    path: Path,
    form: Preparation,
    limit: int | None,
    count: int | None,
    texts: Collection[str],
    title: str,
) -> Iterator[DataTable]:
    module = _arrow(f"{path}: {title}", title.lower())
    with _arrow_errors(path, title):
        if count is None or is_compressed(path) or title == "Feather":
            source = io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path
            yield of_frame(of_arrow(module.read_table(source)), path, form, texts)
            return
        before = 0
        for batch in module.ParquetFile(path).iter_batches(count):
            yield of_frame(of_arrow(batch), path, form, texts, before)
            before += batch.num_rows


_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MEMBERS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")


def is_workbook(path: Path) -> bool:
    """Whether a file is a workbook, by its content."""
    with open(path, "rb") as file:
        if file.read(8) == _OLE2:
            return True
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return bool(set(_MEMBERS) & set(archive.namelist()))


def sheet_rows(path: Path, limit: int | None = None) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Return the rows of the first sheet that are not empty, with their numbers from 1, and notes.

    Numbers are written so that ``float`` gives the stored double, dates and times as ISO 8601. Raises
    UserError for what is no workbook, and for one that holds more than ``limit`` bytes.
    """
    import pandas as pd

    most = min(limit or LIMIT, max(FLOOR, RATIO * path.stat().st_size))
    source: Any = io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path
    with decoding(path, "not a workbook whose first sheet can be read"):
        size = path.stat().st_size
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                size = sum(member.file_size for member in archive.infolist())
        if size > size_limit(most):
            raise UserError(
                f"{path}: holds {size:,} bytes, more than {most:,}; set OMKL_MAX_BYTES to read it"
            )
        with pd.ExcelFile(source, engine="calamine") as book:
            names = list(map(str, book.sheet_names))
            frame = pd.read_excel(book, header=None, dtype=object, na_filter=False)
    rows = [(number, list(map(_text, cells))) for number, cells in enumerate(frame.to_numpy().tolist(), 1)]
    others = f"the first of {len(names)} sheets is read ({quoted(names[:1])[0]}); save another as a file"
    return [(number, cells) for number, cells in rows if any(cells)], [others] if names[1:] else []


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value.replace(tzinfo=None))
    return str(value).strip()


def read_workbook(
    path: Path,
    form: Preparation = AS_IT_IS,
    limit: int | None = None,
    count: int | None = None,
    texts: Collection[str] = (),
) -> Iterator[DataTable]:
    """Yield the table in the first sheet of a workbook."""
    rows, notes = sheet_rows(path, limit)
    table = table_of_rows(path, form, rows, texts)
    yield replace(table, notes=(*table.notes, *notes))


# ------------------------------------------------------------------ JSON


def read_json(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[DataTable]:
    """Yield the table of JSON lines, or of an array of objects; a key that one lacks is a gap."""
    rows = list[tuple[int, dict[str, Any]]]()
    names = dict[str, None]()
    most = max(FLOOR, RATIO * path.stat().st_size) // 8
    unit = ":" if (is_lines := _are_lines(path, form.encoding)) else ": row "
    for number, row in (
        _lines(path, limit, form.encoding) if is_lines else _records(path, limit, form.encoding)
    ):
        where = f"{path}{unit}{number}"
        if not isinstance(row, dict):
            raise UserError(f'{where}: not a JSON object such as {{"x": 1, "y": "no"}}')
        if odd := next((name for name, value in row.items() if isinstance(value, dict | list)), None):
            content = "an object" if isinstance(row[odd], dict) else "a list"
            raise UserError(f"{where}: {show(odd)} holds {content}; write a number or a text for each key")
        if row.keys() - names.keys():
            names |= dict.fromkeys(row)
            check_width(len(names), where)
        rows.append((number, row))
        if len(names) * len(rows) > most:
            raise UserError(
                f"{where}: {len(names):,} different keys in {len(rows):,} rows make "
                f"{len(names) * len(rows):,} cells, more than {most:,}; give all rows the same keys, or "
                "write LIBSVM text"
            )
        if len(rows) == count:
            yield _of_records(path, rows, list(names), form, texts, unit)
            rows = []
    if rows:
        yield _of_records(path, rows, list(names), form, texts, unit)
    elif count is None:
        raise UserError(f"{path}: no examples in it")


def _are_lines(path: Path, encoding: str) -> bool:
    """Whether a JSON text is one object a line, and no array."""
    return not beginning(path, encoding).lstrip().startswith("[")


def _lines(path: Path, limit: int | None, encoding: str) -> Iterator[tuple[int, Any]]:
    import orjson

    for number, line in text_lines(path, limit, encoding):
        if line.strip():
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError as error:
                if "NaN" not in line and "Infinity" not in line:
                    raise UserError(f"{path}:{number}: not a JSON object on one line ({error})") from None
                yield number, _loads(line, f"{path}:{number}")


def _records(path: Path, limit: int | None, encoding: str) -> Iterator[tuple[int, Any]]:
    content = _loads("".join(line for _, line in text_lines(path, limit, encoding)), str(path))
    if not isinstance(content, list):
        raise UserError(f"{path}: not a JSON array of objects")
    yield from enumerate(content, 1)


def _loads(text: str, where: str) -> Any:
    """Return the content of a JSON text as Python's json writes it, NaN and Infinity included."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from None


def _of_records(
    path: Path,
    rows: list[tuple[int, dict[str, Any]]],
    names: list[str],
    form: Preparation,
    texts: Collection[str],
    unit: str,
) -> DataTable:
    texts = {*texts, *kept_as_text(names, False, form, path)}
    columns: dict[str, np.ndarray] = {}
    for name in names:
        values = [row.get(name) for _, row in rows]
        if name in texts or not all(value is None or type(value) in (int, float) for value in values):
            columns[name] = np.array(["" if value is None else str(value) for value in values], object)
        else:
            columns[name] = np.array([np.nan if value is None else float(value) for value in values])
    return table_of(path, columns, [number for number, _ in rows], form, texts, unit=unit)


# ------------------------------------------------------------------ numbered columns


def _read_libsvm(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[Examples]:
    base = None if form.index_base == "auto" else int(form.index_base)
    if count is None or base is None:
        yield read_libsvm([path], limit, base, form.qid == "drop")
    else:
        yield from libsvm_parts(path, limit, base, form.qid == "drop")


def _read_npz(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[Examples]:
    yield dense(*read_npz(path, limit))


UNCERTAIN = (".txt", ".data")  # endings that say nothing: the first lines do
OF_LIBSVM = ("index_base", "qid")
OF_TABLES = tuple(key.name for key in fields(Preparation) if key.name not in OF_LIBSVM)
_OF_TEXT = ("header", "delimiter", "encoding")  # of these, those that are for delimited text alone
_ENTRY = re.compile(r"(?:[0-9]+|qid):[^\s,;|]*")  # of a row of LIBSVM text
_COLUMNS = tuple(key for key in OF_TABLES if key not in _OF_TEXT)
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
CSV = Format("delimited text", (".csv",), OF_TABLES, read_delimited)
LIBSVM = Format("LIBSVM text", (".libsvm", ".svm"), OF_LIBSVM, _read_libsvm)
FORMATS = (
    CSV,
    Format("delimited text", (".tsv",), OF_TABLES, partial(read_delimited, marks=TABS)),
    Format("a workbook", _WORKBOOKS, (*_COLUMNS, "header"), read_workbook),
    Format("ARFF", (".arff",), (*_COLUMNS, "encoding"), read_arff),
    Format("JSON lines", (".jsonl", ".ndjson"), (*_COLUMNS, "encoding"), read_json),
    Format("a JSON array of records", (".json",), (*_COLUMNS, "encoding"), read_json),
    Format("Parquet", (".parquet",), _COLUMNS, partial(_read_arrow, title="Parquet")),
    Format("Feather", (".feather",), _COLUMNS, partial(_read_arrow, title="Feather")),
    Format(".npz with X and y", (".npz",), (), _read_npz),
    LIBSVM,
)
ENDINGS = {ending: own for own in FORMATS for ending in own.endings}


# ------------------------------------------------------------------ which format a file has


def data_name(path: str | Path) -> str:
    """Return the name of a file's data set, without the endings of compression and format.

    ``my.libsvm.xz`` -> ``my``. All names of users' files come from here, so that a run and its table agree.
    """
    whole = name = Path(path).name
    for endings in (COMPRESSION, (*ENDINGS, *UNCERTAIN)):
        name = name[: len(name) - len(next((end for end in endings if name.lower().endswith(end)), ""))]
    return printable(name or whole)


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
        if line.lstrip().startswith(("{", "[{", "[ {", "[[")) or line.strip() == "[":
            return ENDINGS[".jsonl"]
        if line.lower().startswith("@relation"):
            return ENDINGS[".arff"]
        line = line.partition("#")[0]
        words = line.split()
        if any(map(_ENTRY.fullmatch, words)):
            return LIBSVM
        if guessed(line) or len(words) > 1 or (words and AS_IT_IS.number(words[0]) is None):
            return CSV
    return LIBSVM


def read_table(
    path: Path, form: Preparation = AS_IT_IS, limit: int | None = None, texts: Collection[str] = ()
) -> DataTable:
    """Return the table in a file that is known to be one, of delimited text if nothing else is said."""
    (table,) = _table_format(path).read(path, form, limit, None, texts)
    assert isinstance(table, DataTable)
    return table


def _table_format(path: Path) -> Format:
    form = format_of(path)
    return form if form.is_table else CSV


def parts_of(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str] | None
) -> Parts:
    """Yield a file in parts of about ``count`` rows, or as a whole, see `Format`.

    texts: of what is known to be a table, delimited text if nothing else is said; None for other data
    """
    file_format = format_of(path) if texts is None else _table_format(path)
    yield from file_format.read(path, form, limit, count, texts or ())


def check_settings(spec: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this format."""
    file_format = format_of(path)
    for key in (*_OF_TEXT, *OF_TABLES, *OF_LIBSVM):
        if key in file_format.settings or not preparation.words_of([key]):
            continue
        able = _taking(key)
        words = preparation.words_of(other for other in (*OF_TABLES, *OF_LIBSVM) if _taking(other) == able)
        titles = " or ".join(dict.fromkeys(taking.title for taking in able)) if len(able) < 5 else "tables"
        endings = ", ".join(ending for taking in able for ending in taking.endings)
        raise UserError(f"data={spec}: {words} is for {titles} ({endings})")


def _taking(key: str) -> list[Format]:
    return [file_format for file_format in FORMATS if key in file_format.settings]

"""The formats of users' files: how each is known and read, and which settings of a preparation it takes.

A further format is a function that yields the `Table` of a file, or `Examples` of numbered columns, and an
entry of FORMATS.
"""

import contextlib
import datetime
import importlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.data_files import (
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
from omkl.data.delimited import TABS, guessed, of_rows, read_delimited
from omkl.data.near_formats import check_format, fault_of_json
from omkl.data.parse import Examples, decoding, dense, libsvm_parts, read_libsvm, read_npz
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.tables import (
    Table,
    Words,
    check_width,
    kept_as_text,
    number_column,
    of_arrow,
    of_frame,
    table_of,
)
from omkl.errors import UserError, counted, quoted, show

Parts = Iterator[Table | Examples]
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
) -> Iterator[Table]:
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
) -> Iterator[Table]:
    """Yield the table in the first sheet of a workbook."""
    rows, notes = sheet_rows(path, limit)
    table = of_rows(path, form, rows, texts)
    yield replace(table, notes=(*table.notes, *notes))


# ------------------------------------------------------------------ JSON


def read_json(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[Table]:
    """Yield the table of JSON lines, or of an array of objects; a key that one lacks is a gap."""
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    start = next((line for _, line in text_lines(path, limit, form.encoding) if line.strip()), "")
    is_array = start.strip() == "[" or start.lstrip().startswith(("[{", "[ {", "[["))
    unit, rows = (": row ", _of_array) if is_array else (":", _of_lines)
    if not is_array and (not start.rstrip().endswith("}") or _holds_columns(start)):
        _check_content(path, limit, form.encoding)
    most = max(FLOOR, RATIO * path.stat().st_size) // 8
    for number, where, row in rows(path, limit, form.encoding):
        _check(row, where)
        for name, value in row.items():
            if name not in columns:
                columns[name] = [None] * len(numbers)
                check_width(len(columns), where)
                cells = len(columns) * (len(numbers) + 1)
                if cells > most:
                    raise UserError(
                        f"{where}: {len(columns):,} different keys in {len(numbers) + 1:,} rows make "
                        f"{cells:,} cells, more than {most:,}; give all rows the "
                        "same keys, or write LIBSVM text"
                    )
            columns[name].append(value)
        numbers.append(number)
        for values in columns.values():
            if len(values) < len(numbers):
                values.append(None)
        if len(numbers) == count:
            yield _of_lists(path, columns, numbers, form, texts, unit)
            columns, numbers = {name: [] for name in columns}, []
    if numbers:
        yield _of_lists(path, columns, numbers, form, texts, unit)
    elif count is None:
        raise UserError(f"{path}: no examples in it")


_Objects = Iterable[tuple[int, str, Any]]  # its line or number, where it stands, and the object


def _of_lines(path: Path, limit: int | None, encoding: str) -> _Objects:
    import orjson

    for number, line in text_lines(path, limit, encoding):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if "NaN" not in line and "Infinity" not in line:
                raise UserError(f"{where}: not valid JSON ({error})") from None
            row = _loads(line, where)
        yield number, where, row


def _of_array(path: Path, limit: int | None, encoding: str) -> _Objects:
    rows = _loads("".join(line for _, line in text_lines(path, limit, encoding)), str(path))
    if fault := fault_of_json(rows):
        raise UserError(f"{path}: this is JSON of {fault.replace('FILE', repr(path.name))}")
    for number, row in enumerate(rows, 1):
        yield number, f"{path}: row {number}", row


def _holds_columns(line: str) -> bool:
    """Whether a line of JSON is an object that holds arrays or objects alone, as one of columns does."""
    return re.match(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[\[{]', line) is not None


def _check_content(path: Path, limit: int | None, encoding: str) -> None:
    """Raise UserError for a JSON text that is no records, if it is one text."""
    try:
        content = json.loads("".join(line for _, line in text_lines(path, limit, encoding)))
    except ValueError:
        return  # lines, of which the first one's fault is named
    if fault := fault_of_json(content):
        raise UserError(f"{path}: this is JSON of {fault.replace('FILE', repr(path.name))}")


def _loads(text: str, where: str) -> Any:
    """Return the content of a JSON text as Python's json writes it, NaN and Infinity included."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from None


def _check(row: Any, where: str) -> None:
    """Raise UserError for what is no object of numbers and texts."""
    if not isinstance(row, dict):
        raise UserError(f'{where}: not a JSON object such as {{"x": 1, "y": "no"}}')
    for name, value in row.items():
        if isinstance(value, dict | list):
            fault = f"{show(name)} holds {'an object' if isinstance(value, dict) else 'a list'}"
            raise UserError(f"{where}: {fault}; write a number or a text for each key")


def _of_lists(
    path: Path,
    lists: dict[str, list[Any]],
    index: list[int],
    form: Preparation,
    texts: Collection[str],
    unit: str,
) -> Table:
    texts = {*texts, *kept_as_text(list(lists), True, form, path)}
    columns: dict[str, np.ndarray] = {}
    for name, values in lists.items():
        if name in texts or not all(value is None or type(value) in (int, float) for value in values):
            columns[name] = np.array(["" if value is None else str(value) for value in values], object)
        else:
            columns[name] = np.array([np.nan if value is None else float(value) for value in values])
    return table_of(path, columns, index, form, texts, unit=unit)


# ------------------------------------------------------------------ ARFF


_KEYWORD = re.compile(r"\s*(@\w+)\s+", re.ASCII)
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,{}"'%]+)"""
_NAME = rf"@attribute (?:{_VALUE}|[^\s{{}}]+)"
_NOMINAL = re.compile(rf"{_NAME}\s*\{{\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\}}\s*", re.IGNORECASE)
_TYPE = re.compile(
    rf"({_NAME}\s+)(numeric|real|integer|string|date(?:\s+{_VALUE})?)\s*(?:[%\[].*)?", re.IGNORECASE
)


def read_arff(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[Table]:
    """Yield the table of ARFF text, dense or sparse. Raises UserError that names the line."""
    import arff  # liac-arff; scipy.io.arff reads neither sparse rows nor texts
    import pandas as pd

    form = replace(form, na=("?",)) if form.na is None else form  # None may be the name of a class
    sparse, lines = _is_sparse(path, limit, form.encoding), _ArffLines(path, limit, form.encoding)
    index, rows, cells = list[int](), list[list[int]](), list[list[str]]()
    try:
        content = arff.ArffDecoder().decode(lines, return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN)
        names = [name for name, _ in content["attributes"]]
        rows, cells = [[] for _ in names], [[] for _ in names]
        for row, values in enumerate(content["data"]):
            index.append(lines.number)
            for place, value in values.items() if sparse else enumerate(values):
                cells[place].append("?" if value is None else value.strip())
                if sparse:
                    rows[place].append(row)
    except UserError:
        raise
    except Exception as error:  # the decoder's own, and those of broken escapes
        raise UserError(f"{path}:{lines.number}: {_arff_fault(error, len(lines.kinds), sparse)}") from None
    if not index:
        raise UserError(f"{path}: no examples in it")
    check_width(len(names), str(path))
    texts = {*texts, *kept_as_text(names, True, form, path)}
    columns: dict[str, Any] = {}
    words: dict[str, Words] = {}
    for place, (name, kind) in enumerate(content["attributes"]):
        if not sparse:
            columns[name] = np.array(cells[place], object)
            continue
        usual = kind[0] if isinstance(kind, list) else "0" if lines.kinds[place] == "number" else ""
        listed = np.array([usual, *cells[place]], object)  # the first is what rows do not list
        if name in texts or (made := number_column(listed, form)) is None:
            columns[name] = np.full(len(index), usual, object)
            columns[name][rows[place]] = cells[place]
        else:
            column = np.full(len(index), made[0][0])
            column[rows[place]] = made[0][1:]
            columns[name] = pd.arrays.SparseArray(column, fill_value=made[0][0])
            words[name] = {word: rows[place][at - 1] for word, at in made[1].items()}
    yield table_of(path, columns, index, form, texts, words, sparse=sparse)


def _is_sparse(path: Path, limit: int | None, encoding: str) -> bool:
    """Whether the first row of the data lists its entries in braces."""
    is_data = False
    for _, line in text_lines(path, limit, encoding):
        text = line.strip()
        if is_data and text and not text.startswith("%"):
            return text.startswith("{")
        is_data = is_data or text.lower().startswith("@data")
    return False


class _ArffLines:
    """The lines of a file as the decoder takes them; ``number`` is that of the last one.

    Values stay text: the decoder would truncate those of integer attributes, and refuses dates. What its
    expression for lists of classes could take for ever to refuse is refused before it.
    """

    def __init__(self, path: Path, limit: int | None, encoding: str):
        self.path, self.lines, self.kinds, self.number = (
            path,
            text_lines(path, limit, encoding),
            list[str](),
            0,
        )

    def __iter__(self) -> Iterator[str]:
        is_data = False
        for number, line in self.lines:
            self.number = number
            if not is_data and (keyword := _KEYWORD.match(line)):
                line = f"{keyword[1]} {line[keyword.end() :].rstrip()}"
                if keyword[1].lower() == "@attribute":
                    line = self._attribute(line)
            is_data = is_data or line.strip().lower().startswith("@data")
            yield line

    def _attribute(self, line: str) -> str:
        if _NOMINAL.fullmatch(line):
            self.kinds.append("nominal")
            return line
        if match := _TYPE.fullmatch(line):
            kind = match[2].split()[0].lower()
            self.kinds.append("text" if kind in ("string", "date") else "number")
            return f"{match[1]}STRING"
        raise UserError(
            f"{self.path}:{self.number}: the attribute {show(line)} cannot be read; write its name, in "
            "quotes if it holds a blank, and then numeric, string, date or {class,class}"
        )


def _arff_fault(error: Exception, attributes: int, sparse: bool) -> str:
    """Return what is wrong with a line, by the decoder's error."""
    import arff

    text = str(getattr(error, "message", error))
    if isinstance(error, arff.BadNominalValue):
        value = text.removeprefix("Data value ").partition(" not found in")[0]
        return f"{show(value)} is not one of the values that its attribute declares"
    if isinstance(error, arff.BadAttributeName):
        return "two attributes have this name; rename one"
    if isinstance(error, arff.BadDataFormat) and not sparse:
        return f"the row does not have {counted(attributes, 'value')}, as the attributes declare"
    if isinstance(error, arff.BadDataFormat):
        return f"an entry is beyond the last of {counted(attributes, 'attribute')}"
    return (
        "not valid ARFF: @relation, @attribute and @data lines, then rows of values or of {place value, ...}"
    )


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
    check_format(path)
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
            return ENDINGS[".jsonl" if line.startswith("{") else ".json"]
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
) -> Table:
    """Return the table in a file that is known to be one, of delimited text if nothing else is said."""
    (table,) = _table_format(path).read(path, form, limit, None, texts)
    assert isinstance(table, Table)
    return table


def _table_format(path: Path) -> Format:
    own = format_of(path)
    return own if own.is_table else CSV


def parts_of(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str] | None
) -> Parts:
    """Yield a file in parts of about ``count`` rows, or as a whole, see `Format`.

    texts: of what is known to be a table, delimited text if nothing else is said; None for other data
    """
    own = format_of(path) if texts is None else _table_format(path)
    yield from own.read(path, form, limit, count, texts or ())


def check_settings(spec: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this format."""
    own = format_of(path)
    for key in (*_OF_TEXT, *OF_TABLES, *OF_LIBSVM):
        if key in own.settings or not preparation.words_of([key]):
            continue
        able = _taking(key)
        words = preparation.words_of(other for other in (*OF_TABLES, *OF_LIBSVM) if _taking(other) == able)
        titles = " or ".join(dict.fromkeys(known.title for known in able)) if len(able) < 5 else "tables"
        endings = ", ".join(ending for known in able for ending in known.endings)
        raise UserError(f"data={spec}: {words} is for {titles} ({endings})")


def _taking(key: str) -> list[Format]:
    return [known for known in FORMATS if key in known.settings]

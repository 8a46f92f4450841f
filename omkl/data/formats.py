"""The formats of users' files: how each is known and read, and which settings of a preparation it takes.

A further format is a function that returns a `Table` of named columns, or `Examples` of numbered ones, and an
entry of FORMATS.
"""

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.arff_files import read_arff
from omkl.data.data_files import COMPRESSION, is_compressed, only_member, open_binary
from omkl.data.delimited import beginning, guessed, lines_of, open_text, read_delimited
from omkl.data.parse import Examples, dense, read_libsvm, read_npz
from omkl.data.recipe import AS_IT_IS, Preparation
from omkl.data.tables import Column, Table, TableFormat, column_of, numeric_column, of_frame
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
    """

    title: str
    endings: tuple[str, ...]
    settings: tuple[str, ...]
    read: Callable[[Path, Preparation, int | None], Table | Examples]

    @property
    def is_table(self) -> bool:
        """Whether its columns have names, and one of them holds the labels."""
        return "label" in self.settings


def _read_arrow(path: Path, form: TableFormat, limit: int | None, title: str, reader: str) -> Table:
    """Return the columns of a file that pandas reads with pyarrow."""
    try:
        import pandas as pd
        import pyarrow  # noqa: F401 (pandas reads with it)
    except ImportError:
        raise UserError(f"{path}: {title} files need pyarrow; pip install 'omkl[parquet]'") from None
    try:
        source = io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path
        frame = getattr(pd, reader)(source)
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a {title} file: {str(error).splitlines()[0]}") from None
    return of_frame(frame, path, form)


def _read_json_lines(path: Path, form: TableFormat, limit: int | None) -> Table:
    """Return the columns of a text with one JSON object in each line; a key that a line lacks is a gap."""
    import orjson

    columns: dict[str, list[Any]] = {}
    lines: list[int] = []
    with open_text(path, limit, form.encoding) as file:
        for number, line in enumerate(lines_of(file, path), 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not valid JSON ({error})") from None
            if not isinstance(row, dict):
                raise UserError(f'{path}:{number}: not a JSON object such as {{"x": 1, "y": "no"}}')
            for name, value in row.items():
                if isinstance(value, dict | list):
                    fault = f"{show(name)} holds {'an object' if isinstance(value, dict) else 'a list'}"
                    raise UserError(f"{path}:{number}: {fault}; write a number or a text for each key")
                columns.setdefault(name, [None] * len(lines)).append(value)
            lines.append(number)
            for values in columns.values():
                if len(values) < len(lines):
                    values.append(None)
    if not lines:
        raise UserError(f"{path}: no examples in it")
    made = [_of_values(name, values, form) for name, values in columns.items()]
    return Table(path, made, np.array(lines), True)


def _of_values(name: str, values: list[Any], form: TableFormat) -> Column:
    """Return the column of values as JSON has them."""
    text = np.array(["" if value is None else str(value) for value in values], object)
    if all(value is None or (type(value) in (int, float)) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], float)
        return numeric_column(name, text, np.isnan(numbers), numbers, form)
    return column_of(name, text, form)


def _read_libsvm(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    base = None if preparation.index_base == "auto" else int(preparation.index_base)
    return read_libsvm([path], limit, base, preparation.qid == "drop")


def _read_npz(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    return dense(*read_npz(path, limit))


_COLUMNS = tuple(key for key in OF_TABLES if key not in _OF_TEXT)
CSV = Format("delimited text", (".csv",), OF_TABLES, read_delimited)
LIBSVM = Format("LIBSVM text", (".libsvm", ".svm"), OF_LIBSVM, _read_libsvm)
FORMATS = (
    CSV,
    Format("delimited text", (".tsv",), OF_TABLES, partial(read_delimited, marks="\t,;|")),
    Format("ARFF", (".arff",), (*_COLUMNS, "encoding"), read_arff),
    Format("JSON lines", (".jsonl", ".ndjson"), (*_COLUMNS, "encoding"), _read_json_lines),
    Format("Parquet", (".parquet",), _COLUMNS, partial(_read_arrow, title="Parquet", reader="read_parquet")),
    Format("Feather", (".feather",), _COLUMNS, partial(_read_arrow, title="Feather", reader="read_feather")),
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

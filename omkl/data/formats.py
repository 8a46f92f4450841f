"""The formats of users' files: how each is known and read, and which settings of a preparation it takes.

A further format is a function that returns a `Table` of named columns, or `Examples` of numbered ones, and an
entry of FORMATS.
"""

import contextlib
import importlib
import io
import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from omkl.data.arff_files import read_arff
from omkl.data.data_files import COMPRESSION, is_compressed, only_member, open_binary
from omkl.data.delimited import beginning, delimited_parts, guessed, read_delimited, read_workbook
from omkl.data.json_files import json_parts, read_json
from omkl.data.parse import Examples, dense, libsvm_parts, read_libsvm, read_npz
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.tables import Table, of_frame
from omkl.data.workbooks import ENDINGS as WORKBOOKS
from omkl.data.workbooks import is_workbook
from omkl.errors import UserError

UNCERTAIN = (".txt", ".data")  # endings that say nothing: the first lines do
OF_LIBSVM = ("index_base", "qid")
OF_TABLES = tuple(key.name for key in fields(Preparation) if key.name not in OF_LIBSVM)
_OF_TEXT = ("header", "delimiter", "encoding")  # of these, those that are for delimited text alone
_ENTRY = re.compile(r"(?:[0-9]+|qid):[^\s,;|]*")  # of a row of LIBSVM text


@dataclass(frozen=True)
class Format:
    """A format of users' files: what it is called, its endings, the settings it takes, and how it is read.

    read: takes a path, a preparation, the most bytes that the file may hold, and columns that stay texts
    parts: takes a number of rows, too, and yields the file in parts of about that many, where it can
    """

    title: str
    endings: tuple[str, ...]
    settings: tuple[str, ...]
    read: Callable[[Path, Preparation, int | None, Collection[str]], Table | Examples]
    parts: (
        Callable[[Path, Preparation, int | None, int, Collection[str]], Iterator[Table | Examples]] | None
    ) = None

    @property
    def is_table(self) -> bool:
        """Whether its columns have names, and one of them holds the labels."""
        return "label" in self.settings


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
    path: Path, form: Preparation, limit: int | None, texts: Collection[str], title: str, module: str
) -> Table:
    """Return the table in a file that a module of pyarrow reads."""
    reader = _arrow(f"{path}: {title}", module)
    with _arrow_errors(path, title):
        source = io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path
        frame = _as_pandas(reader.read_table(source))
    return of_frame(frame, path, form, texts)


def _as_pandas(table: Any) -> Any:
    """Return a table or batch of pyarrow as a frame whose whole numbers keep all digits beside gaps."""
    import pandas as pd
    import pyarrow

    names = (f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
    kinds = {getattr(pyarrow, name.lower())(): pd.api.types.pandas_dtype(name) for name in names}
    return table.to_pandas(types_mapper=kinds.get)


def _parquet_parts(
    path: Path, form: Preparation, limit: int | None, count: int, texts: Collection[str]
) -> Iterator[Table]:
    if is_compressed(path):
        yield _read_arrow(path, form, limit, texts, "Parquet", "parquet")
        return
    before = 0
    with _arrow_errors(path, "Parquet"):
        for batch in _arrow(f"{path}: Parquet", "parquet").ParquetFile(path).iter_batches(count):
            yield of_frame(_as_pandas(batch), path, form, texts, before)
            before += batch.num_rows


def _libsvm_parts(
    path: Path, preparation: Preparation, limit: int | None, count: int, texts: Collection[str]
) -> Iterator[Examples]:
    assert preparation.index_base != "auto"
    yield from libsvm_parts(path, limit, int(preparation.index_base), preparation.qid == "drop")


def _read_libsvm(path: Path, preparation: Preparation, limit: int | None, texts: Collection[str]) -> Examples:
    base = None if preparation.index_base == "auto" else int(preparation.index_base)
    return read_libsvm([path], limit, base, preparation.qid == "drop")


def _read_npz(path: Path, preparation: Preparation, limit: int | None, texts: Collection[str]) -> Examples:
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
    Format("JSON lines", (".jsonl", ".ndjson"), (*_COLUMNS, "encoding"), read_json, json_parts),
    Format("a JSON array of records", (".json",), (*_COLUMNS, "encoding"), read_json),
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
        if line.lstrip().startswith(("{", "[{")) or line.strip() == "[":
            return ENDINGS[".jsonl" if line.startswith("{") else ".json"]
        if line.lower().startswith("@relation"):
            return ENDINGS[".arff"]
        line = line.partition("#")[0]
        words = line.split()
        if any(map(_ENTRY.fullmatch, words)):
            return LIBSVM
        if guessed(line) or len(words) > 1:
            return CSV
    return LIBSVM


def read_table(
    path: Path, preparation: Preparation = AS_IT_IS, limit: int | None = None, texts: Collection[str] = ()
) -> Table:
    """Return the table in a file that is known to be one, of delimited text if nothing else is said."""
    own = format_of(path)
    table = (own if own.is_table else CSV).read(path, preparation, limit, texts)
    assert isinstance(table, Table)
    return table


def parts_of(
    path: Path, preparation: Preparation, limit: int | None, count: int, texts: Collection[str] | None
) -> Iterator[Table | Examples]:
    """Yield a file in parts of about ``count`` rows, or as a whole where its format allows nothing else.

    texts: columns that stay texts of what is known to be a table, as for `read_table`; None for other data
    """
    own = format_of(path)
    own = CSV if texts is not None and not own.is_table else own
    if own.parts is not None:
        yield from own.parts(path, preparation, limit, count, texts or ())
    else:
        yield own.read(path, preparation, limit, texts or ())


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

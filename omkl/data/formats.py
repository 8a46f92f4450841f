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

from omkl.data.arff_files import read_arff
from omkl.data.data_files import COMPRESSION, is_compressed, only_member, open_binary
from omkl.data.delimited import beginning, guessed, read_delimited
from omkl.data.parse import Examples, dense, read_libsvm, read_npz
from omkl.data.recipe import AS_IT_IS, Preparation
from omkl.data.tables import Table, TableFormat, of_frame
from omkl.errors import UserError

UNCERTAIN = (".txt", ".data")  # endings that say nothing: the first lines do
OF_TABLES = tuple(key.name for key in fields(Preparation) if key.name != "index_base")
_OF_TEXT = ("header", "delimiter")  # of these, those that are for delimited text alone
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


def _read_parquet(path: Path, form: TableFormat, limit: int | None) -> Table:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401 (pandas reads with it)
    except ImportError:
        raise UserError(f"{path}: Parquet files need pyarrow; pip install 'omkl[parquet]'") from None
    try:
        frame = pd.read_parquet(io.BytesIO(open_binary(path, limit).read()) if is_compressed(path) else path)
    except UserError:
        raise
    except Exception as error:  # pyarrow's errors have no common class
        raise UserError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from None
    return of_frame(frame, path, form)


def _read_libsvm(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    base = None if preparation.index_base == "auto" else int(preparation.index_base)
    return read_libsvm([path], limit, base)


def _read_npz(path: Path, preparation: Preparation, limit: int | None) -> Examples:
    return dense(*read_npz(path, limit))


_COLUMNS = tuple(key for key in OF_TABLES if key not in _OF_TEXT)
CSV = Format("delimited text", (".csv",), OF_TABLES, read_delimited)
LIBSVM = Format("LIBSVM text", (".libsvm", ".svm"), ("index_base",), _read_libsvm)
FORMATS = (
    CSV,
    Format("delimited text", (".tsv",), OF_TABLES, partial(read_delimited, marks="\t,;|")),
    Format("ARFF", (".arff",), _COLUMNS, read_arff),
    Format("Parquet", (".parquet",), _COLUMNS, _read_parquet),
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
    return ENDINGS.get(_ending(path)) or _of_lines(path)


def _of_lines(path: Path) -> Format:
    for line in beginning(path).split("\n"):
        line = line.partition("#")[0]
        words = line.split()
        if any(map(_ENTRY.fullmatch, words)):
            return LIBSVM
        if guessed(line) or len(words) > 1:
            return CSV
    return LIBSVM


def read_table(path: Path, preparation: Preparation = AS_IT_IS, limit: int | None = None) -> Table:
    """Return the columns of a file that is known to be a table, of delimited text if nothing else is said."""
    own = ENDINGS.get(_ending(path), CSV)
    table = (own if own.is_table else CSV).read(path, preparation, limit)
    assert isinstance(table, Table)
    return table


def check_settings(spec: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this format."""
    own = format_of(path)
    for key in (*_OF_TEXT, *OF_TABLES, "index_base"):
        if key in own.settings or not preparation.words_of([key]):
            continue
        able = _taking(key)
        words = preparation.words_of(other for other in (*OF_TABLES, "index_base") if _taking(other) == able)
        titles = " or ".join(dict.fromkeys(known.title for known in able))
        endings = ", ".join(ending for known in able for ending in known.endings)
        raise UserError(f"data={spec}: {words} is for {titles} ({endings})")


def _taking(key: str) -> list[Format]:
    return [known for known in FORMATS if key in known.settings]

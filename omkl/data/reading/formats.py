"""Users' files by their endings: tables by pandas' readers, LIBSVM text and .npz by our own.

What pandas reads, omkl reads: ``read.KEY=VALUE`` are keywords of the reader. Of our own are two rules for
text: its separator is the one mark of MARKS that the first line has, else that of the ending; a first line of
numbers alone names no columns.
"""

import contextlib
import inspect
import re
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from omkl.data.preparation import Preparation, clean
from omkl.data.reading.numbered import Examples, dense, libsvm_parts, read_libsvm, read_npz
from omkl.data.reading.opening import COMPRESSION, is_compressed, open_binary
from omkl.errors import UserError, printable, shortlist, show, shown, suggest
from omkl.typed import in_shell

MARKS = ",;\t|"  # between the columns of a text
MOST_CELLS = 10**8  # of a sheet, empty ones too
_OF_OURS = ("chunksize", "iterator", "storage_options", "filesystem")  # keywords that are not taken
_QUOTED = re.compile(r'"[^"]*"')
_LIBSVM_ROW = re.compile(r"[^\s,;|:]+(?:\s+(?:[0-9]+|qid):[^\s,;|]*)+")
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')
_NUMBER = re.compile(  # of a first row; pandas adds .1 to a second one
    r"(?i)[-+]?(nan|inf|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)(\.\d+)?"
)
_LOOKED_AT = 100_000  # rows of a text, whose whole numbers may be codes
_ODD = re.compile(r"[-+]?0\d+(?:\.0*)?|\+\d+|\d+\.?\d*[eE]\d+|[-+]?\d{16,}")  # what a number does not keep
_HELPS = {  # what pandas says: what helps
    "can't decode byte 0xf[ef] in position 0": "the text is not UTF-8: read.encoding=utf-16 may read it",
    "can't decode": "the text is not UTF-8: read.encoding=cp1252 may read it",
    "import.*arrow": "pip install 'omkl[parquet]'",
    "Length of header": "the rows have more fields than the first line: read.index_col=0 takes their first "
    "field as the row's name, read.skiprows=1 leaves out a first line that names no columns",
    "Expected .*fields": "read.skiprows=N leaves out lines before the table, 'read.sep=;' names a separator",
}
_HIDDEN = ("float_precision", "low_memory")  # of `exact`
_OF_TEXT: Mapping[str, Any] = {"skipinitialspace": True, "index_col": False}
_OF_TABLES = ("label", "id", "drop", "missing", "positive")
_OF_LIBSVM = ("index_base", "qid")


class ReadFrame(NamedTuple):
    """A frame of pandas, and how it was read.

    named: whether its columns have names of their own    before: rows of the file before the first one
    notes: on what was decided    script: the lines of pandas that read it
    texts: columns that the user has declared to be texts
    """

    frame: Any
    named: bool = True
    before: int = 0
    notes: Sequence[str] = ()
    script: Sequence[str] = ()
    texts: Collection[Any] = ()

    def name_of(self, key: Any, at: int) -> str:
        """Return what a column of pandas is called: its name on one line, or its number from 1."""
        return (clean(str(key)) or f"column {at + 1}") if self.named else str(at + 1)


@dataclass(frozen=True)
class Format:
    """A format of users' files: what it is called, and what reads it.

    reader: the name of pandas' function, empty for our own    usual: its keywords where none are given
    mark: of text, what separates its columns where the first line does not say
    is_table: whether its columns have names    settings: of a preparation, those that it takes
    """

    title: str
    reader: str = ""
    usual: Mapping[str, Any] = field(default_factory=dict)
    mark: str = ""
    is_table: bool = True
    settings: tuple[str, ...] = _OF_TABLES


_SHEETS = Format("a workbook", "read_excel", {"engine": "calamine"})
_JSON = {"lines": True, "dtype": False, "precise_float": True, "convert_dates": False}
TEXT = Format("text", "read_csv")
LIBSVM = Format("LIBSVM text", is_table=False, settings=_OF_LIBSVM)
NPZ = Format(".npz with X and y", is_table=False, settings=())
ARFF = Format("ARFF")
FORMATS = {
    ".csv": Format("text", "read_csv", mark=","),
    ".tsv": Format("text", "read_csv", mark="\t"),
    ".xlsx": _SHEETS,
    ".xls": _SHEETS,
    ".ods": _SHEETS,
    ".jsonl": Format("JSON lines", "read_json", _JSON),
    ".ndjson": Format("JSON lines", "read_json", _JSON),
    ".json": Format("JSON", "read_json", {**_JSON, "lines": False, "convert_axes": False}),
    ".parquet": Format("Parquet", "read_parquet"),
    ".feather": Format("Feather", "read_feather"),
    ".arff": ARFF,
    ".npz": NPZ,
    ".libsvm": LIBSVM,
    ".svm": LIBSVM,
}


def data_name(path: str | Path) -> str:
    """Return the name of a file's data set, without the endings of compression and format.

    ``my.libsvm.xz`` -> ``my``. All names of users' files come from here, so that a run and its table agree.
    """
    whole = name = Path(path).name
    for endings in (COMPRESSION, (*FORMATS, ".txt", ".data")):
        name = name[: len(name) - len(next((end for end in endings if name.lower().endswith(end)), ""))]
    return printable(name or whole)


def format_of(path: Path) -> Format:
    """Return the format of a user's file: by its ending, else LIBSVM text if its first row is that."""
    inner = path.with_suffix("") if is_compressed(path) else path
    if found := FORMATS.get(inner.suffix.lower()):
        return found
    for line in _first_lines(path):
        row = line.partition("#")[0].split()
        if len(row) > 1 or (row and not re.fullmatch(r"[-+]?[\d.]+", row[0])):
            return LIBSVM if _LIBSVM_ROW.fullmatch(" ".join(row)) else TEXT
    return LIBSVM  # rows without an entry


def _first_lines(path: Path, encoding: str = "utf-8", skipped: int = 0) -> list[str]:
    """Return the first lines of a text that are not empty, after those that are skipped."""
    with open_binary(path) as file:
        text = file.read(2**16).decode(encoding, "replace").removeprefix("\ufeff")
    return [line for line in text.splitlines()[skipped:] if line.strip()]


def check_settings(word: str, path: Path, preparation: Preparation) -> None:
    """Raise UserError for settings that have no effect on a file of this format."""
    of_file = format_of(path)
    for key in (*_OF_TABLES, *_OF_LIBSVM):
        if key not in of_file.settings and (typed := preparation.words_of([key])):
            kind = "LIBSVM text" if key in _OF_LIBSVM else "tables"
            raise UserError(f"data={word}: {typed} is for {kind}, and this is {of_file.title}")
    for key in preparation.read:
        names = _keywords_of(of_file.reader) if of_file.reader else []
        if key not in names:
            called = f"pandas.{of_file.reader}" if names else of_file.title
            raise UserError(f"data={word}: read.{key}: {called} has no such keyword{suggest(key, names)}")


@cache
def _keywords_of(reader: str) -> list[str]:
    import pandas as pd

    names = list(inspect.signature(getattr(pd, reader)).parameters)[1:]
    return [name for name in names if name not in _OF_OURS and name != "kwargs"]


def parts_of(
    path: Path, form: Preparation, count: int | None, texts: Collection[str] | None
) -> Iterator[ReadFrame | Examples]:
    """Yield a file in parts of about ``count`` rows where it can be read so, else as a whole.

    texts: of what is known to be a table, the columns that stay texts; None for other data
    """
    of_file = format_of(path)
    if texts is not None and not of_file.is_table:
        of_file = TEXT
    if of_file is LIBSVM:
        base = None if form.index_base == "auto" else int(form.index_base)
        if count is None or base is None:
            yield read_libsvm([path], None, base, form.qid == "drop")
        else:
            yield from libsvm_parts(path, None, base, form.qid == "drop")
    elif of_file is NPZ:
        yield dense(*read_npz(path))
    else:
        yield from _tables(path, of_file, form, count, texts or ())


def _tables(
    path: Path, of_file: Format, form: Preparation, count: int | None, texts: Collection[str]
) -> Iterator[ReadFrame]:
    if of_file is ARFF:
        yield ReadFrame(_read_arff(path))
        return
    if of_file.reader == "read_excel":
        _check_range(path)
    call = _Call.of(path, of_file, form)
    if count is None or not (of_file.reader == "read_csv" or call.keywords.get("lines")):
        frame = call.whole()
        given = call.keywords.get("dtype")
        declared = given if isinstance(given, dict) else dict.fromkeys(frame.columns, given)
        are_texts = [name for name, kind in declared.items() if kind in (str, "str", "string", "object")]
        notes = call.notes_on_codes(frame) if of_file.reader == "read_csv" else ()
        yield ReadFrame(frame, call.named, 0, notes, call.script, are_texts)
        return
    if of_file.reader == "read_csv" and texts:  # words stay text, even where a part of them are numbers
        first = ReadFrame(call(nrows=0), call.named)
        kept = {key: str for at, key in enumerate(first.frame.columns) if first.name_of(key, at) in texts}
        given = call.keywords.get("dtype", {})
        call.keywords["dtype"] = {**kept, **given} if isinstance(given, dict) else given
    parts, before = call(chunksize=count), 0
    while (frame := call.guarded(lambda: next(parts, None))) is not None:
        yield ReadFrame(frame.reset_index(drop=True), call.named, before)
        before += len(frame)


@dataclass
class _Call:
    """A call of a reader of pandas. named: whether the first row names the columns"""

    path: Path
    reader: str
    keywords: dict[str, Any]
    named: bool = True

    @classmethod
    def of(cls, path: Path, of_file: Format, form: Preparation) -> "_Call":
        """Return the call that reads a file. Raises UserError for a text whose separator nothing says."""
        call = cls(path, of_file.reader, {**of_file.usual, **form.read})
        if call.reader == "read_csv":
            mark = str(form.read.get("sep") or form.read.get("delimiter") or ",")
            of_c = "engine" not in form.read and (len(mark) == 1 or mark == r"\s+")
            call.keywords = {**_OF_TEXT, **(exact() if of_c else {}), **call.keywords}
            if not {"sep", "delimiter"} & form.read.keys():
                call.keywords["sep"] = call.guarded(lambda: _separator(path, of_file, form))
        if {"header", "names"} & form.read.keys():
            call.named = form.read.get("header", 0) is not None or "names" in form.read
        elif call.reader in ("read_csv", "read_excel"):
            call.named = call._first_row_names_columns()
            call.keywords |= {} if call.named else {"header": None}
        return call

    def __call__(self, **others: Any) -> Any:
        """Return what pandas reads. Raises UserError with what it says, in one line, and what was called."""
        import pandas as pd

        opened = is_compressed(self.path) and self.reader in ("read_csv", "read_json")
        source = open_binary(self.path) if opened else self.path
        return self.guarded(lambda: getattr(pd, self.reader)(source, **{**self.keywords, **others}))

    def __str__(self) -> str:
        return f"pandas.{self.reader}({', '.join(self._typed())})"

    def _typed(self) -> list[str]:
        shown = {key: value for key, value in self.keywords.items() if key not in _HIDDEN}
        return [f"{key}={getattr(value, '__name__', repr(value))}" for key, value in shown.items()]

    @property
    def script(self) -> list[str]:
        """The lines of pandas that read the file."""
        words = [repr(str(self.path)), *self._typed()]
        number = "frame.columns = [str(n + 1) for n in range(frame.shape[1])]"
        return [f"frame = pandas.{self.reader}({', '.join(words)})", *([] if self.named else [number])]

    def guarded(self, read: Callable[[], Any]) -> Any:
        """Return what a call of pandas reads. Raises UserError with what it says, and what helps."""
        import pandas as pd

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of keywords that later versions change
                warnings.simplefilter("error", pd.errors.ParserWarning)  # fields would be lost
                return read()
        except (UserError, MemoryError):
            raise
        except Exception as error:  # pandas and its libraries have dozens of kinds
            said = " ".join(str(error).split())[:200] or type(error).__name__
            helps = next((helps for pattern, helps in _HELPS.items() if re.search(pattern, said)), "")
            raise UserError(f"{self.path}: {self}: {said}{'; ' if helps else ''}{helps}") from None

    def whole(self) -> Any:
        """Return a whole file as a frame."""
        frame = self()
        if self.reader == "read_parquet":  # which keeps categories that are numbers in its metadata alone
            from pyarrow.parquet import read_schema

            told = (read_schema(self.path).pandas_metadata or {}).get("columns", [])
            names = {column["name"] for column in told if column["pandas_type"] == "categorical"}
            frame = frame.astype({name: "category" for name in frame.columns if name in names})
        return frame.reset_index(drop=True) if self.reader == "read_csv" else frame

    def _first_row_names_columns(self) -> bool:
        """Return whether a first row names the columns: it does if it is not numbers alone.

        Raises UserError for numbers that count.
        """
        given = {key: value for key, value in self.keywords.items() if key != "skipfooter"}
        names = list(map(str, _Call(self.path, self.reader, given)(nrows=0).columns))
        if not all(map(_NUMBER.fullmatch, names)):
            return True
        if len(names) > 1 and names in [[str(n + first) for n in range(len(names))] for first in (0, 1)]:
            raise UserError(
                f"{self.path}: the first line ({shortlist(names)}) counts: it may name "
                "the columns or be a row; read.header=0 if it names them, read.header=null if it is a row"
            )
        return False

    def notes_on_codes(self, frame: Any) -> list[str]:
        """Return notes on columns of numbers some of which lose what is written: 01001, 5E3, over 2^53.

        They are looked for in the first rows.
        """
        first, notes = frame.head(1000), list[str]()
        kinds = [kind.kind for kind in frame.dtypes]
        whole = [
            at for at, kind in enumerate(kinds) if kind in "iuf" and not (first.iloc[:, at] % 1 > 0).any()
        ]
        if not whole or {"dtype", "usecols", "converters", "parse_dates"} & self.keywords.keys():
            return []
        texts = self(usecols=whole, dtype=str, nrows=_LOOKED_AT, index_col=None)
        for at, name in zip(whole, texts.columns, strict=True):
            cells = texts[name].dropna()
            odd = cells[cells.str.fullmatch(_ODD)]
            if len(odd):
                key = name if isinstance(name, str) else at
                reads = in_shell(Preparation(read={"dtype": {key: "str"}}).words.strip("'"))
                called = ReadFrame(frame, self.named).name_of(frame.columns[at], at)
                notes.append(
                    f"column '{called}': {odd.iloc[0]} in row {odd.index[0] + 1} is read as the number "
                    f"{float(odd.iloc[0]):.16g} ({len(odd)} such cells); {reads} reads codes as words"
                )
        return notes


@cache
def exact() -> dict[str, Any]:
    """Return keywords of pandas' C engine: columns as a whole, numbers as ``float`` reads them (3.1 does)."""
    import pandas as pd

    is_new = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
    return {"low_memory": False, **({} if is_new else {"float_precision": "round_trip"})}


def _separator(path: Path, of_file: Format, form: Preparation) -> str:
    """Return the one mark of MARKS that the first line has, else that of the ending."""
    skipped, encoding = form.read.get("skiprows", 0), str(form.read.get("encoding") or "utf-8")
    line = next(iter(_first_lines(path, encoding, skipped if isinstance(skipped, int) else 0)), "")
    if not line.strip():
        raise UserError(f"{path}: no examples in it")
    of_numbers = {form.read.get("decimal"), form.read.get("thousands")}
    marks = [mark for mark in MARKS if mark in _QUOTED.sub("", line) and mark not in of_numbers]
    if len(marks) == 1 or of_file.mark:
        return marks[0] if len(marks) == 1 else of_file.mark
    has = f"has {' and '.join(map(show, marks))}" if marks else "has none of , ; | and tab"
    ways = r"'read.sep=\s+' is white space, 'read.sep=;' a semicolon"
    raise UserError(
        f"{path}: what separates the columns? the first line ({shown(line.strip())}) {has}; {ways}"
    )


# ------------------------------------------------------------------ workbooks


def _check_range(path: Path) -> None:
    """Raise UserError for a sheet of more than MOST_CELLS up to its last cell: all would be made."""
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        for name in (name for name in archive.namelist() if re.match(r"xl/worksheets/.*\.xml", name)):
            rows, columns, rest = 0, 0, b""
            with archive.open(name) as stream:
                while block := stream.read(2**22):
                    cells, rest = _CELL.findall(rest + block), block[-30:]
                    rows = max([rows, *(int(row) for _, row in cells)])
                    columns = max([columns, *map(_place_of, {letters for letters, _ in cells})])
            if rows * columns > MOST_CELLS:
                size = f"{rows:,} rows and {columns:,} columns up to its last cell, over {MOST_CELLS:,} cells"
                helps = "clear the cells that are far away, or save it as .csv"
                raise UserError(f"{path}: {name} has {size}; {helps}")


def _place_of(letters: bytes) -> int:
    """Return the place, from 1, of a column called A, ..., Z, AA, ..."""
    return sum((letter - 64) * 26**at for at, letter in enumerate(letters[::-1]))


# ------------------------------------------------------------------ ARFF


def _read_arff(path: Path) -> Any:
    """Return the frame of ARFF text, dense or sparse, by liac-arff; nominal attributes are categories."""
    import arff  # scipy.io.arff reads neither sparse rows nor texts
    import pandas as pd

    with open_binary(path) as file:
        lines = [_attribute(line) for line in file.read().decode("utf-8-sig", "replace").splitlines()]
    begin = next((at for at, line in enumerate(lines) if line.strip().lower() == "@data"), len(lines))
    rows = (line.strip() for line in lines[begin + 1 :])
    is_sparse = next((row for row in rows if row and row[0] != "%"), "").startswith("{")
    try:
        content = arff.ArffDecoder().decode(lines, return_type=arff.LOD if is_sparse else arff.DENSE)
    except Exception as error:  # the decoder's own, and those of broken escapes
        raise UserError(f"{path}: not valid ARFF: {error}") from None
    columns = {}
    for place, (name, kind) in enumerate(content["attributes"]):
        is_nominal = isinstance(kind, list)
        usual = kind[0] if is_nominal else 0.0
        cells = [row.get(place, usual) if is_sparse else row[place] for row in content["data"]]
        dtype = pd.CategoricalDtype(kind) if is_nominal else object if kind == "STRING" else float
        columns[name] = pd.Series(cells, dtype=dtype)
    return pd.DataFrame(columns)


def _attribute(line: str) -> str:
    """Return a line as the decoder takes it, which cuts whole numbers and refuses dates and comments."""
    if not line.lstrip().lower().startswith("@attribute"):
        return line
    line = re.sub(r"\}\s*%.*", "}", line)
    line = re.sub(r"\s(?:integer|numeric|real)\s*(?:[%\[].*)?$", " REAL", line, flags=re.IGNORECASE)
    return re.sub(r"\sdate(?:\s+(?:\"[^\"]*\"|'[^']*'|\S+))?\s*$", " STRING", line, flags=re.IGNORECASE)

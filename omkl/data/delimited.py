"""Delimited text: users' tables; and tables, lists of columns and of labels as a form describes them."""

import csv
import io
import itertools
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np

from omkl.data import data_files
from omkl.data.data_files import open_binary
from omkl.data.labels import TRUTH, shortlist
from omkl.data.parse import LARGEST_INDEX, LONGEST_INDEX, Examples, csr, dense, to_number
from omkl.data.registry import Form
from omkl.data.tables import AS_MOST, Column, Table, TableFormat, column_of
from omkl.data.workbooks import sheet_rows
from omkl.errors import UserError, counted, quoted, show

LONGEST_TEXT = 100  # of a label or category: numpy reserves the length of the longest in every row
MARKS = ",;\t|"  # between columns, the likeliest first
ENOUGH = 10  # rows that show how the numbers of a column usually are
SAMPLE = 20  # lines that show the delimiter
PART_OF_TABLE = 2**18  # values of a registered table that are in memory at once
_SEP = re.compile(r'\s*"?sep=(.)"?[ \t]*(?:\n|\Z)', re.IGNORECASE)
_QUOTED = re.compile(r'(^|[,;\t|])[ ]*"(?:[^"]|"")*"', re.MULTILINE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5]?[0-9])(:[0-9.]+)?")
_FRACTION = re.compile(r"0|0?\.[0-9]+|[1-9](?:\.[0-9]+)?[eE]-[0-9]{1,2}")
Rows = Iterable[tuple[int, list[str]]]  # of a table: the line number and the fields of each row


def delimiter_of(path: Path, form: TableFormat = AS_MOST, marks: str = MARKS) -> tuple[str, int]:
    """Return the delimiter of a user's table, and how many lines come before the table (Excel's ``sep=;``).

    auto: that of the ``sep=`` line; else the first of the marks that divides all of the first lines in the
    same way, quoted text left out; else that of the first line, or white space. Commas between digits are
    decimal ones where there are other marks; in a form whose numbers hold commas, white space between such
    numbers is enough.
    """
    text = beginning(path, form.encoding)
    given = _SEP.match(text)
    text = text[given.end() :] if given else text
    delimiter = form.delimiter
    if delimiter == "auto":
        delimiter = given[1] if given else guessed(text, marks, form) or "whitespace"
    return "whitespace" if delimiter == " " else delimiter, int(bool(given))


def beginning(path: Path, encoding: str = "auto") -> str:
    """Return whole lines from the beginning of a text, with line ends as \\n, at least one."""
    if encoding != "auto":
        with open_text(path, None, encoding) as lines:
            return re.sub(r"\r\n?", "\n", "".join(itertools.islice(lines_of(lines, path), 4 * SAMPLE)))
    with open_binary(path) as file:
        data = file.read(2**16)
        data = data[: data.rfind(b"\n") + 1] if len(data) == 2**16 and b"\n" in data else data
    text = data.decode("latin-1")  # the marks are ASCII; `lines_of` checks the rest
    return re.sub(r"\r\n?", "\n", text.removeprefix("\xef\xbb\xbf"))


def guessed(text: str, marks: str = MARKS, form: TableFormat = AS_MOST) -> str | None:
    """Return the mark that divides the first lines of a text into columns, None where there is none."""
    lines = [line for line in _QUOTED.sub(r"\1", text).split("\n") if line.strip()][:SAMPLE]
    counts: dict[str, list[int]] = {}
    for mark in marks:
        plain = [_without_numbers(line, marks, form) for line in lines] if mark == "," else lines
        counts[mark] = [line.count(mark) for line in plain]
    same = [mark for mark, count in counts.items() if count and count[0] > 0 and max(count) == min(count)]
    return next(iter(same), None) or next(
        (mark for mark, count in counts.items() if count and count[0]), None
    )


def _without_numbers(line: str, marks: str, form: TableFormat) -> str:
    """Return a line without the commas that are parts of its numbers."""
    if (set(marks) - {","}) & set(line):
        return _DECIMAL_COMMA.sub("", line)
    words = line.split()
    if len(words) < 2 or "," not in (form.decimal, form.thousands):
        return line
    return " ".join(word if form.number(word) is None else _DECIMAL_COMMA.sub("", word) for word in words)


def read_fields(
    path: Path, delimiter: str, limit: int | None = None, skipped: int = 0, encoding: str = "auto"
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped fields) of a delimited text; ``whitespace`` splits at any run of it.

    skipped: lines at the beginning that are left out. Empty lines are skipped. Raises UserError naming
    file:line where the quoting is broken.
    """
    with open_text(path, limit, encoding) as file:
        lines = itertools.islice(lines_of(file, path), skipped, None)
        if delimiter == "whitespace":
            for number, line in enumerate(lines, 1 + skipped):
                if fields := line.split():
                    yield number, fields
            return
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for fields in reader:
                if any(field.strip() for field in fields):
                    yield reader.line_num + skipped, [field.strip() for field in fields]
        except csv.Error as error:
            raise UserError(f"{path}:{reader.line_num + skipped}: {error}") from error


def open_text(path: Path, limit: int | None, encoding: str = "auto") -> io.TextIOWrapper:
    """Open a text for `lines_of`."""
    code = "utf-8" if encoding == "auto" else encoding
    return io.TextIOWrapper(open_binary(path, limit), code, "surrogateescape", newline="")


def lines_of(file: IO[str], path: Path) -> Iterator[str]:
    """Yield the lines of a text, of `open_text`; one that is endless or not UTF-8 is an error.

    A byte order mark at the beginning is left out, in whatever encoding: utf-8 and utf-16-le keep it.
    """
    for number in itertools.count(1):
        try:
            line = file.readline(data_files.LONGEST_LINE + 1)
        except UnicodeError:
            raise UserError(
                f"{path}:{number}: the line is not text in the encoding that is given; correct encoding="
            ) from None
        line = line.removeprefix("\ufeff") if number == 1 else line
        if not line:
            return
        if len(line) > data_files.LONGEST_LINE:
            raise UserError(
                f"{path}:{number}: the line is longer than {data_files.LONGEST_LINE:,} characters"
            )
        if fault := data_files.encoding_fault(line, "encoding={} reads it"):
            raise UserError(f"{path}:{number}: {fault}")
        yield line


def form_table_parts(form: Form, rows: Rows, path: Path) -> Iterator[Examples]:
    """Yield the examples of a table's rows, PART_OF_TABLE values at a time.

    Raises UserError with the line of ``path`` and the column.
    """
    numbers, lines, labels = array("d"), array("q"), []
    words = {word: repr(value) for word, value in (form.values or {}).items()}
    skipped, count, width, label, kept = 0, 0, 0, None, []
    for line, fields in rows:
        where = f"{path}:{line}"
        if skipped < form.header:
            skipped += 1
            continue
        if width == 0:
            width = len(fields)
            label = _label_column(form.label, width, path)
            kept = [i for i in range(width) if i != label and i + 1 not in form.drop]
            if not kept:
                found = counted(width, "column")
                raise UserError(f"{where}: {found}, so no features; is the delimiter {form.delimiter!r}?")
        if count == form.rows:
            break
        if len(fields) != width:
            raise UserError(f"{where}: {counted(len(fields), 'column')}; the lines before have {width}")
        features = [fields[i] for i in kept]
        if form.missing is not None and form.missing in features:
            continue
        if words:
            features = [words.get(field, field) for field in features]
        for column in form.times:
            if column - 1 in kept:
                i = kept.index(column - 1)
                features[i] = _day_fraction(features[i], where)
        try:
            if "_" in "".join(features):
                raise ValueError("float() would read 1_000")
            numbers.extend(map(float, features))
        except ValueError:
            for i, field in zip(kept, features, strict=True):
                to_number(field, f"{where}: column {i + 1}")
            raise
        lines.append(line)
        count += 1
        if label is not None:
            if not fields[label]:
                raise UserError(f"{where}: the label (column {label + 1}) is empty")
            labels.append(_checked_label(fields[label], where))
        if len(numbers) >= PART_OF_TABLE:
            yield _table_part(numbers, lines, labels, kept, path)
            numbers, lines, labels = array("d"), array("q"), []
    if not count:
        raise UserError(f"{path}: no examples in it")
    if lines:
        yield _table_part(numbers, lines, labels, kept, path)


def _table_part(
    numbers: "array[float]", lines: "array[int]", labels: list[str], kept: list[int], path: Path
) -> Examples:
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(lines), len(kept))
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        raise UserError(f"{path}:{lines[bad[0, 0]]}: column {kept[bad[0, 1]] + 1} is not finite")
    return dense(X, np.array(labels) if labels else np.full(len(lines), ""))


def _label_column(label: str | int, width: int, path: Path) -> int | None:
    """Return the label's column from 0, None where the labels have a file of their own."""
    if label == "file":
        return None
    column = {"first": 1, "last": width}.get(str(label), label)
    if not isinstance(column, int) or not 1 <= column <= width:
        found = counted(width, "column")
        raise UserError(f"{path}: the label should be column {label}, but the file has {found}")
    return column - 1


def _day_fraction(text: str, where: str) -> str:
    match = _TIME.fullmatch(text)
    if match:
        minutes = int(match[1]) * 60 + int(match[2]) + round(float((match[3] or ":0")[1:]) / 60)
        return repr(minutes / 1440)
    if _FRACTION.fullmatch(text):  # as workbooks store it, perhaps rounded
        return repr(round(float(text) * 1440) / 1440)
    raise UserError(f"{where}: {show(text)} is not a time of day HH:MM")


def _checked_label(text: str, where: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise UserError(f"{where}: the label has {len(text):,} characters; at most {LONGEST_TEXT} are read")
    return text


def read_labels(path: Path, limit: int | None) -> np.ndarray:
    """Return the labels of a file that has one in each line."""
    labels = []
    for line, fields in read_fields(path, "whitespace", limit):
        if len(fields) != 1:
            raise UserError(
                f"{path}:{line}: {counted(len(fields), 'word')}; a label file has one label per line"
            )
        labels.append(_checked_label(fields[0], f"{path}:{line}"))
    return np.array(labels)


def read_columns(path: Path, limit: int | None) -> Examples:
    """Return the examples of lines that list the columns (from 1, ascending) which are 1; without labels."""
    counts, columns = array("q"), array("q")
    for line, fields in read_fields(path, "whitespace", limit):
        bad = next((field for field in fields if not (field.isascii() and field.isdecimal())), None)
        if bad is not None:
            raise UserError(f"{path}:{line}: {show(bad)} is not a column number")
        row = [int(field) if len(field) <= LONGEST_INDEX else LARGEST_INDEX + 1 for field in fields]
        if max(row) > LARGEST_INDEX:
            raise UserError(f"{path}:{line}: a column number is above {LARGEST_INDEX}")
        if any(b <= a for a, b in itertools.pairwise([0, *row])):
            raise UserError(f"{path}:{line}: column numbers must start at 1 and ascend")
        columns.extend(row)
        counts.append(len(row))
    if not counts:
        raise UserError(f"{path}: no examples in it")
    rows, indices = np.repeat(np.arange(len(counts)), counts), np.frombuffer(columns, np.int64)
    return csr(rows, indices - 1, np.ones(len(rows)), np.empty(len(counts)), int(indices.max()))


# ------------------------------------------------------------------ users' tables


def read_delimited(
    path: Path, form: TableFormat = AS_MOST, limit: int | None = None, marks: str = MARKS
) -> Table:
    """Return a user's table of at most ``limit`` bytes. Raises UserError that names file and line.

    marks: see `delimiter_of`
    """
    delimiter, skipped = delimiter_of(path, form, marks)
    return table_of_rows(read_fields(path, delimiter, limit, skipped, form.encoding), path, form)


def read_workbook(path: Path, form: TableFormat = AS_MOST, limit: int | None = None) -> Table:
    """Return the table in the first sheet of a workbook."""
    rows, notes = sheet_rows(path, limit)
    table = table_of_rows(rows, path, form)
    return replace(table, notes=(*table.notes, *notes))


def table_of_rows(fields: Rows, path: Path, form: TableFormat) -> Table:
    """Return the table of these rows. Raises UserError that names the line."""
    lines, rows, notes = _rows(fields, path)
    names, note = _names(rows, form)
    notes += note
    named = names is not None
    if len(rows) == named:
        raise UserError(f"{path}: no examples in it")
    names = _distinct(names, rows, path, lines, form)
    return Table(path, _columns(names, rows[named:], form), np.array(lines[named:]), named, tuple(notes))


def delimited_parts(
    path: Path, form: TableFormat, limit: int | None, count: int, marks: str = MARKS
) -> Iterator[Table]:
    """Yield a user's table in parts of at most that many rows; ``header=`` of the format is yes or no."""
    delimiter, skipped = delimiter_of(path, form, marks)
    fields = read_fields(path, delimiter, limit, skipped, form.encoding)
    names: list[str] | None = None
    named, wide = form.header == "yes", 0
    while taken := list(itertools.islice(fields, count + (named and names is None))):
        lines, rows = [line for line, _ in taken], [row for _, row in taken]
        first = names is None
        if names is None:
            names = _distinct(_names(rows, form)[0], rows, path, lines, form)
            lines, rows, wide = lines[named:], rows[named:], len(names)
        for line, row in zip(lines, rows, strict=True):
            if (len(row) == wide + 1 and not row[-1]) or (len(row) == wide - 1 and not names[-1]):
                row[wide:] = [""] * (wide - len(row))
            if len(row) != wide:
                raise UserError(f"{path}:{line}: {counted(len(row), 'column')}; the lines before have {wide}")
        if rows or not first:
            yield Table(path, _columns(names, rows, form), np.array(lines), named)


def _distinct(
    names: list[str] | None, rows: list[list[str]], path: Path, lines: list[int], form: TableFormat
) -> list[str]:
    """Return the names of the columns, or their numbers. Raises UserError for two that are equal."""
    if names is None:
        return [str(i + 1) for i in range(len(rows[0]))]
    if len(set(names)) < len(names):
        double = next(name for i, name in enumerate(names) if name in names[:i])
        helps = ", or set header=no if this line is a row" if form.header == "auto" else ""
        raise UserError(f"{path}:{lines[0]}: two columns are named {show(double)}; rename one{helps}")
    return names


def _columns(names: list[str], rows: list[list[str]], form: TableFormat) -> list[Column]:
    return [
        column_of(name, np.array(cells, object), form)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]


def _rows(fields_of: Rows, path: Path) -> tuple[list[int], list[list[str]], list[str]]:
    """Return the lines that the rows end at, the rows, and notes.

    Fields that only a delimiter at the end of the lines makes are left out.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    extra = 0  # fields of each row but the first beyond its own, empty as the lines end with a delimiter
    for line, fields in fields_of:
        if len(rows) == 1:
            if len(fields) == len(rows[0]) + 1 and not fields[-1]:
                extra = 1
            elif len(fields) == len(rows[0]) - 1 and not rows[0][-1]:
                rows[0].pop()
        if rows and (len(fields) != len(rows[0]) + extra or any(fields[len(rows[0]) :])):
            raise UserError(
                f"{path}:{line}: {counted(len(fields), 'column')}; "
                f"the lines before have {len(rows[0]) + extra}"
            )
        lines.append(line)
        rows.append(fields[: len(rows[0])] if rows else fields)
    ends = 0
    while rows and ends < len(rows[0]) and not any(row[-1 - ends] for row in rows):
        ends += 1
    if ends:
        rows = [row[:-ends] for row in rows]
    if not (ends or extra):
        return lines, rows, []
    what = f"the last {ends} columns have" if ends > 1 else "the last column has"
    note = f"{what} no name and no value (the lines end with a delimiter), and left out"
    return lines, rows, [note.replace("and left", "and are left" if ends > 1 else "and is left")]


def _names(rows: list[list[str]], form: TableFormat) -> tuple[list[str] | None, list[str]]:
    """Return the names that the first row gives the columns, None where it is a row of data; and notes."""
    note: list[str] = []
    is_header = form.header == "yes" and bool(rows)
    if form.header == "auto" and rows:
        is_header, note = _is_header(rows, form)
    if not is_header:
        return None, note
    return [re.sub(r"\s*[\r\n]+\s*", " ", name) or f"column {i + 1}" for i, name in enumerate(rows[0])], note


def _is_header(rows: list[list[str]], form: TableFormat) -> tuple[bool, list[str]]:
    """Return whether the first row names the columns, and a note where that is not plain.

    It does if it has a word above numbers, or if no word of it is a value of its column. Numbers may be names
    if they are unlike those below.
    """
    first = rows[0]
    shown = f"the first line ({shortlist(quoted([text or 'no name' for text in first]))})"
    names = [f"{shown} is taken as the columns' names; header=no takes it as a row"]
    row = [f"{shown} is taken as a row; header=yes takes it as the columns' names"]
    numbers = [text for text in first if form.number(text) is not None]
    words = [
        i
        for i, text in enumerate(first)
        if text.lower() not in form.gaps | TRUTH.keys() and form.number(text) is None
    ]
    if not words and not _count_up(numbers, 3):
        return False, []
    if len(rows) == 1:
        return not numbers, []

    @cache
    def below(i: int) -> Column:
        return column_of("", np.array([other[i] for other in rows[1:]], object), form)

    if not words:
        if not first[0] and "" not in below(0).text:  # as pandas writes an index
            return True, names
        unlike = sum(_is_unlike(text, below(i)) for i, text in enumerate(first))
        decided = len(rows) > ENOUGH and not _count_up(rows[1], 3) and 2 * unlike >= len(first)
        return (True, names) if decided else (False, row)
    if any(below(i).numbers is not None and not below(i).missing.all() for i in words):
        return (True, names if numbers else []) if _may_be_names(numbers) else (False, row)
    seen = sum(first[i] in below(i).text for i in words)
    new = not seen and any(len(set(below(i).text)) < len(rows) - 1 for i in words)  # to a list of few words
    if any(text in numbers and below(i).numbers is not None for i, text in enumerate(first)):
        if new and _count_up(numbers, 2):
            return True, names
        return False, row if new else []
    if 2 * seen >= len(words):
        return False, row
    return True, names if seen else []


def _may_be_names(numbers: Sequence[str]) -> bool:
    """Whether numbers among words may name columns: different whole ones, or three or more that ascend."""
    values = [float(text) for text in numbers if text.replace(".", "").isdecimal()]
    whole = all(text.isdecimal() for text in numbers) and len(set(numbers)) == len(numbers)
    ascend = len(values) == len(numbers) >= 3 and all(a < b for a, b in itertools.pairwise(values))
    return whole or ascend


def _count_up(texts: Sequence[str], least: int) -> bool:
    """Whether texts, a blank first one left out, are whole numbers in equal steps: 0, 1, 2 or 2019, 2020."""
    texts = texts[1:] if texts and not texts[0] else texts
    if len(texts) < least or not all(
        text.isascii() and text.isdecimal() and len(text) < 10 for text in texts
    ):
        return False
    steps = np.diff([int(text) for text in texts])
    return bool((steps == steps[0]).all() and steps[0] > 0)


def _is_unlike(text: str, column: Column) -> bool:
    """Whether a whole number is unlike the numbers of a column: all have a point, or it is far from them."""
    if column.numbers is None or column.missing.all() or not text:
        return False
    there = ~column.missing
    if all("." in value for value in column.text[there]):
        return True
    low, high = column.numbers[there].min(), column.numbers[there].max()
    return bool(abs(float(text) - (low + high) / 2) > 1.5 * (high - low))

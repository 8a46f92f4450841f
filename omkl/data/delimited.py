"""Delimited text as users have it: tables, lists of columns, lists of labels, as a form describes them."""

import csv
import io
import itertools
import re
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from omkl.data import data_files
from omkl.data.data_files import open_binary, suffix
from omkl.data.parse import LARGEST_INDEX, LONGEST_INDEX, Examples, csr, dense, to_number
from omkl.data.registry import Form
from omkl.errors import UserError, show

LONGEST_TEXT = 100  # of a label or category: numpy reserves the length of the longest in every row
SAMPLE = 20  # lines that show the delimiter
_SEP = re.compile(r'\s*"?sep=(.)"?[ \t]*(?:\n|\Z)', re.IGNORECASE)
_QUOTED = re.compile(r'(^|[,;\t|])[ ]*"(?:[^"]|"")*"', re.MULTILINE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5]?[0-9])")
Rows = Iterable[tuple[int, list[str]]]  # of a table: the line number and the fields of each row


def layout(path: Path, delimiter: str = "auto") -> tuple[str, int]:
    """Return the delimiter of a user's table, and how many lines come before the table (Excel's ``sep=;``).

    auto: that of the ``sep=`` line; the tab in a .tsv; else the first of , ; tab | that divides all of the
    first lines in the same way, quoted text left out; else that of the first line, or white space. Commas
    between digits are decimal ones where there are other marks.
    """
    text = beginning(path)
    given = _SEP.match(text)
    text = text[given.end() :] if given else text
    if delimiter == "auto":
        marks = "\t,;|" if suffix(path) == ".tsv" else ",;\t|"
        delimiter = given[1] if given else guessed(text, marks) or "whitespace"
    return "whitespace" if delimiter == " " else delimiter, int(bool(given))


def beginning(path: Path) -> str:
    """Return whole lines from the beginning of a text, with line ends as \\n, at least one."""
    with open_binary(path) as file:
        data = file.read(2**16)
        data = data[: data.rfind(b"\n") + 1] if len(data) == 2**16 and b"\n" in data else data
    text = data.decode("latin-1")  # the marks are ASCII; `lines_of` checks the rest
    return re.sub(r"\r\n?", "\n", text.removeprefix("\xef\xbb\xbf"))


def guessed(text: str, marks: str = ",;\t|") -> str | None:
    """Return the mark that divides the first lines of a text into columns, None where there is none."""
    lines = [line for line in _QUOTED.sub(r"\1", text).split("\n") if line.strip()][:SAMPLE]
    counts: dict[str, list[int]] = {}
    for mark in marks:
        others = set(marks) - {mark, ","}
        plain = [
            _DECIMAL_COMMA.sub("", line) if mark == "," and others & set(line) else line for line in lines
        ]
        counts[mark] = [line.count(mark) for line in plain]
    same = [mark for mark, count in counts.items() if count and count[0] > 0 and max(count) == min(count)]
    return next(iter(same), None) or next(
        (mark for mark, count in counts.items() if count and count[0]), None
    )


def read_fields(
    path: Path, delimiter: str, limit: int | None = None, skipped: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped fields) of a delimited text; ``whitespace`` splits at any run of it.

    skipped: lines at the beginning that are left out. Empty lines are skipped. Raises UserError naming
    file:line where the quoting is broken.
    """
    with open_text(path, limit) as file:
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


def open_text(path: Path, limit: int | None) -> io.TextIOWrapper:
    """Open a text for `lines_of`."""
    return io.TextIOWrapper(open_binary(path, limit), "utf-8-sig", "surrogateescape", newline="")


def lines_of(file: IO[str], path: Path) -> Iterator[str]:
    """Yield the lines of a text, of `open_text`; one that is endless or not UTF-8 is an error."""
    for number in itertools.count(1):
        line = file.readline(data_files.LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > data_files.LONGEST_LINE:
            raise UserError(
                f"{path}:{number}: the line is longer than {data_files.LONGEST_LINE:,} characters"
            )
        if fault := data_files.encoding_fault(line):
            raise UserError(f"{path}:{number}: {fault}")
        yield line


def read_table(form: Form, rows: Rows, path: Path) -> Examples:
    """Return the examples of a table's rows. Raises UserError with the line of ``path`` and the column."""
    numbers, lines, labels = array("d"), array("q"), []
    words = {word: repr(value) for word, value in (form.values or {}).items()}
    width, label, kept = 0, None, []
    for line, fields in rows:
        where = f"{path}:{line}"
        if width == 0:
            width = len(fields)
            label = _label_column(form.label, width, path)
            kept = [i for i in range(width) if i != label and i + 1 not in form.drop]
            if not kept:
                raise UserError(
                    f"{where}: {width} column(s), so no features; is the delimiter {form.delimiter!r}?"
                )
            if form.header:
                continue
        if len(lines) == form.rows:
            break
        if len(fields) != width:
            raise UserError(f"{where}: {len(fields)} columns; the lines before have {width}")
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
        if label is not None:
            if not fields[label]:
                raise UserError(f"{where}: the label (column {label + 1}) is empty")
            labels.append(_checked_label(fields[label], where))
    if not lines:
        raise UserError(f"{path}: no examples in it")
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(lines), len(kept))
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        raise UserError(f"{path}:{lines[bad[0, 0]]}: column {kept[bad[0, 1]] + 1} is not finite")
    return dense(X, np.array(labels) if label is not None else np.full(len(lines), ""))


def _label_column(label: str | int, width: int, path: Path) -> int | None:
    """Return the label's column from 0, None where the labels have a file of their own."""
    if label == "file":
        return None
    column = {"first": 1, "last": width}.get(str(label), label)
    if not isinstance(column, int) or not 1 <= column <= width:
        raise UserError(f"{path}: the label should be column {label} but there are {width} columns")
    return column - 1


def _day_fraction(text: str, where: str) -> str:
    match = _TIME.fullmatch(text)
    if not match:
        raise UserError(f"{where}: {show(text)} is not a time of day HH:MM")
    return repr((int(match[1]) * 60 + int(match[2])) / 1440)


def _checked_label(text: str, where: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise UserError(f"{where}: the label has {len(text):,} characters; at most {LONGEST_TEXT} are read")
    return text


def read_labels(path: Path, limit: int | None) -> np.ndarray:
    """Return the labels of a file that has one in each line."""
    labels = []
    for line, fields in read_fields(path, "whitespace", limit):
        if len(fields) != 1:
            raise UserError(f"{path}:{line}: {len(fields)} words; a label file has one label per line")
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

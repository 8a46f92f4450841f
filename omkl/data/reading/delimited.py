"""Delimited text, and rows of texts: what divides the columns, whether they have names, and their cells."""

import csv
import io
import itertools
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omkl.data.preparation import AS_IT_IS, LABELS, TRUTH, Preparation, Stop, is_near_number
from omkl.data.reading.opening import beginning, text_blocks
from omkl.data.reading.tables import (
    DataTable,
    GapWords,
    check_width,
    clean,
    kept_as_text,
    number_column,
    numeric_gaps,
    table_of,
)
from omkl.errors import UserError, counted, quoted, shortlist, show

MARKS, TABS = ",;\t|", "\t,;|"  # between columns, the likeliest first
SAMPLE = 20  # lines that show the delimiter
MANY_LINES = 500  # that pandas reads faster than split and float
FIRST_ROWS = 1000  # that show whether the first line names the columns
MOST_BEFORE = 10  # lines before a table that are offered as skip=
_SEP = re.compile(r'\s*"?sep=(.)"?[ \t]*(?:\n|\Z)', re.IGNORECASE)
_QUOTED = re.compile(r'(^|[,;\t|])[ ]*"(?:[^"]|"")*"', re.MULTILINE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_BLANKS = np.isin(np.arange(256), [ord(letter) for letter in f"{string.whitespace}\x1c\x1d\x1e\x1f"])  # bytes
_IN_GENERAL = AS_IT_IS, Preparation(decimal=","), Preparation(thousands=",")
_OF_R = "the first line has one name fewer than the rows: their first column names them, and is left out"


# ------------------------------------------------------------------ what divides the columns


def delimiter_of(path: Path, form: Preparation = AS_IT_IS, marks: str = MARKS) -> tuple[str, int]:
    """Return the delimiter of a user's table, and how many lines come before it.

    It is that of Excel's ``sep=`` line; else the first of the marks that divides all of the first lines in
    the same way, quoted text left out; else that of the first line, or white space. Commas between digits are
    decimal ones where there are other marks; in a form whose numbers hold commas, white space between such
    numbers is enough.
    """
    text = "\n".join(beginning(path, form.encoding).split("\n")[form.skip :])
    excel = _SEP.match(text)
    wanted = form.delimiter if form.delimiter != "auto" else excel and excel[1]
    delimiter = wanted or guessed(text[excel.end() :] if excel else text, marks, form) or "whitespace"
    return "whitespace" if delimiter == " " else delimiter, form.skip + bool(excel)


def guessed(text: str, marks: str = MARKS, form: Preparation = AS_IT_IS) -> str | None:
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


def _without_numbers(line: str, marks: str, form: Preparation) -> str:
    """Return a line without the commas that are parts of its numbers."""
    if (set(marks) - {","}) & set(line):
        return _DECIMAL_COMMA.sub("", line)
    words = line.split()
    if len(words) < 2 or "," not in (form.decimal, form.thousands):
        return line
    return " ".join(word if form.number(word) is None else _DECIMAL_COMMA.sub("", word) for word in words)


def lines_before(path: Path, form: Preparation, marks: str = MARKS) -> int:
    """Return how many lines seem to come before a table: one mark divides all lines after them alike."""
    lines = beginning(path, form.encoding).split("\n")[form.skip :]
    for before in range(1, MOST_BEFORE + 1):
        sample = [line for line in lines[before:] if line.strip()][:SAMPLE]
        for mark in marks if len(sample) > 2 else "":
            counts = {line.count(mark) for line in sample}
            if len(counts) == 1 and min(counts) > 0 and lines[before - 1].count(mark) not in counts:
                return before
    return 0


# ------------------------------------------------------------------ rows, some at a time


class _Rows(NamedTuple):
    """Some rows: the line that each ends at, and their fields, or their text where no cell is in quotes.

    text: of whole lines, each of the same number of fields ``width``
    """

    lines: np.ndarray
    fields: list[list[str]]
    text: bytes = b""
    width: int = 0


def _blocks(
    path: Path, delimiter: str, limit: int | None, skipped: int, form: Preparation, count: int | None
) -> Iterator[_Rows]:
    """Yield the rows of a text that are not empty, at most ``count`` at a time, the first row as fields.

    skipped: lines before the table. Raises UserError naming file:line where the quoting is broken.
    """
    blocks = text_blocks(path, limit, form.encoding)
    is_first = True
    for start, text in blocks:
        begun = max(0, skipped + 1 - start)
        if begun:
            start, text = start + begun, "\n".join(text.split("\n")[begun:])
        if '"' in text and delimiter != "whitespace":  # from here on by csv, since a quoted text may be cut
            texts = itertools.chain([text], (more for _, more in blocks))
            raw = itertools.chain.from_iterable(io.StringIO(part, newline="\n") for part in texts)
            rows = _quoted_rows(raw, delimiter, path, start - 1)
            while taken := list(itertools.islice(rows, count or 2**17)):
                yield _Rows(np.array([line for line, _ in taken]), [fields for _, fields in taken])
            return
        lines, data, width = _plain_lines(text, start, delimiter)
        if is_first and len(lines):
            end = data.index(b"\n") + 1
            first = data[:end].decode()
            yield _Rows(lines[:1], [_fields(first, delimiter)])
            is_first, lines, data = False, lines[1:], data[end:]
        if not len(lines):
            continue
        if width > 0 and len(lines) >= MANY_LINES and count is None:
            yield _Rows(lines, [], data, width)
            continue
        whole = data.decode().split("\n")
        for at in range(0, len(lines), count or len(lines)):
            span = slice(at, at + (count or len(lines)))
            yield _Rows(lines[span], [_fields(line, delimiter) for line in whole[: len(lines)][span]])


def _plain_lines(text: str, start: int, delimiter: str) -> tuple[np.ndarray, bytes, int]:
    """Return the numbers of the lines that are not empty, these lines, and how many fields each has.

    start: number of the first line. The number of fields is 0 where it differs. A line of delimiters and
    blanks alone is empty, as Excel writes it.
    """
    data = text.encode() if text.endswith("\n") else f"{text}\n".encode()
    if data == b"\n":
        return np.empty(0, np.int64), b"", 0
    mark = delimiter.encode() if len(delimiter) == 1 else b""
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == 10)
    begins = np.append(0, ends[:-1] + 1)
    is_mark = letters == mark[0] if len(mark) == 1 else np.zeros(len(letters), bool)
    is_blank = _BLANKS[letters] | is_mark
    there = np.flatnonzero(~np.logical_and.reduceat(is_blank, begins))
    if len(there) < len(ends):
        data = b"".join(data[begins[at] : ends[at] + 1] for at in there.tolist())
    widths = np.add.reduceat(is_mark, begins, dtype=np.int64)[there] + 1
    is_even = len(mark) == 1 and len(widths) > 0 and (widths == widths[0]).all()
    return there + start, data, int(widths[0]) if is_even else 0


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line without quotes; of white space with them, as R writes texts."""
    if delimiter != "whitespace":
        return [cell.strip() for cell in line.rstrip("\n").split(delimiter)]
    return line.split() if '"' not in line else next(csv.reader([" ".join(line.split())], delimiter=" "))


def _quoted_rows(
    lines: Iterable[str], delimiter: str, path: Path, before: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped fields) of lines; before: lines of the file before the first one."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            if any(cell.strip() for cell in fields):
                yield reader.line_num + before, [cell.strip() for cell in fields]
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num + before}: {error}") from error


# ------------------------------------------------------------------ the table


@dataclass
class _Layout:
    """What the first rows of a table show.

    names: of the columns, which are ``first`` to ``first + len(names)`` of ``width`` fields
    blank: columns at the end without a name and, so far, without a value    texts: columns that stay texts
    over_lines: the lines at which rows end whose cells hold line ends
    """

    names: list[str]
    named: bool
    width: int
    first: int = 0
    blank: int = 0
    texts: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    over_lines: list[int] = field(default_factory=list)


Columns = dict[str, np.ndarray]
_Part = tuple[_Layout, Columns, np.ndarray, dict[str, GapWords]]


def read_delimited(
    path: Path,
    form: Preparation = AS_IT_IS,
    limit: int | None = None,
    count: int | None = None,
    texts: Collection[str] = (),
    marks: str = MARKS,
) -> Iterator[DataTable]:
    """Yield a table of at most ``limit`` bytes, see `Format` of formats.py; marks: see `delimiter_of`.

    In parts, ``header=`` is yes or no.
    """
    delimiter, skipped = delimiter_of(path, form, marks)
    as_text = set(texts)
    while True:
        rows = _blocks(path, delimiter, limit, skipped, form, count)
        table_parts = _parts(rows, path, form, as_text, delimiter)
        if count is not None:
            for layout, columns, lines, gaps in table_parts:
                if len(lines):
                    yield table_of(path, columns, lines, form, layout.texts, gaps, named=layout.named)
            return
        found = list(table_parts)
        kinds: dict[str, set[np.dtype]] = {}
        for _, columns, _, _ in found:
            for name, values in columns.items():
                kinds.setdefault(name, set()).add(values.dtype)
        if not (mixed := {name for name, of_name in kinds.items() if len(of_name) > 1}):
            yield _whole(path, found, form)
            return
        as_text |= mixed  # read again: what seemed to be numbers turned out to be words


def table_of_rows(
    path: Path, form: Preparation, rows: list[tuple[int, list[str]]], texts: Collection[str] = ()
) -> DataTable:
    """Return the table of rows of texts, each with its number."""
    pieces = [_Rows(np.array([number for number, _ in rows]), [fields for _, fields in rows])] if rows else []
    return _whole(path, list(_parts(pieces, path, form, texts, "")), form)


def _parts(
    blocks: Iterable[_Rows], path: Path, form: Preparation, texts: Collection[str], delimiter: str
) -> Iterator[_Part]:
    """Yield layout, columns (of numbers or texts), lines and words of gaps of each block."""
    blocks, first = iter(blocks), list[_Rows]()
    rows = list[list[str]]()
    for block in blocks:  # enough of them to see what the first line is
        first.append(block)
        fields = block.fields or list(itertools.islice(_split(block, delimiter), FIRST_ROWS))
        rows += fields[: FIRST_ROWS + 1 - len(rows)]
        if len(rows) > FIRST_ROWS or not block.fields:
            break
    if not rows:
        return
    layout = _layout(rows, int(first[0].lines[0]), path, form)
    named = layout.names[: len(layout.names) - layout.blank]
    layout.texts = {*texts, *kept_as_text(named, not layout.named, form, path)}
    if layout.named:
        first[0] = _Rows(first[0].lines[1:], first[0].fields[1:])
    for block in itertools.chain(first, blocks):
        yield layout, *_columns(block, layout, path, form, delimiter)


def _split(block: _Rows, delimiter: str) -> Iterator[list[str]]:
    for line in io.BytesIO(block.text):
        yield _fields(line.decode(), delimiter)


def _whole(path: Path, table_parts: list[_Part], form: Preparation) -> DataTable:
    """Return the table of these parts, without columns at the end that have neither a name nor a value."""
    index = np.concatenate([np.empty(0, np.int64), *(lines for _, _, lines, _ in table_parts)])
    if not len(index):
        raise UserError(f"{path}: no examples in it")
    layout, begin, gaps = table_parts[0][0], 0, dict[str, GapWords]()
    for _, _, lines, gaps_of_part in table_parts:
        for name, found in gaps_of_part.items():
            for word, row in found.items():
                gaps.setdefault(name, {}).setdefault(word, row + begin)
        begin += len(lines)
    columns = {name: np.concatenate([part[1].pop(name) for part in table_parts]) for name in layout.names}
    ends = 0
    for name in layout.names[len(layout.names) - layout.blank :][::-1]:
        values = columns[name]
        if name in gaps or (any(values) if values.dtype == object else not np.isnan(values).all()):
            break
        del columns[name]
        ends += 1
    if not columns:
        raise UserError(f"{path}: no examples in it")
    notes = layout.notes
    if ends or layout.width > layout.first + len(layout.names):
        what, are = (f"the last {ends} columns have", "are") if ends > 1 else ("the last column has", "is")
        note = f"{what} no name and no value (the lines end with a delimiter), and {are} left out"
        notes = [note, *notes]
    if layout.over_lines:
        rows = f"the row that ends in line {layout.over_lines[0]} goes"
        if more := len(layout.over_lines) - 1:
            rows = f"{more + 1} rows, the first of which ends in line {layout.over_lines[0]}, go"
        notes = [
            *notes,
            f"{rows} over several lines, since a cell in quotes holds a line end; is a quote missing?",
        ]
    return table_of(path, columns, index, form, layout.texts, gaps, named=layout.named, notes=tuple(notes))


def _layout(rows: list[list[str]], line: int, path: Path, form: Preparation) -> _Layout:
    """Return what the first rows show, of which the first is at this line."""
    check_width(len(rows[0]), f"{path}:{line}")
    first, row_names, extra = _aligned(*rows, form=form)
    others = rows[1:]
    layout = _Layout([""] * len(first), True, len(first) + row_names + extra, row_names)
    same = [row for row in others if len(row) == layout.width]
    cells = [first, *(row[row_names : row_names + len(first)] for row in same)]
    while layout.blank < len(first) and not any(row[-1 - layout.blank] for row in cells):
        layout.blank += 1
    width = len(first) - layout.blank
    layout.named = bool(row_names) or _is_header([row[:width] for row in cells], f"{path}:{line}", form)
    layout.notes = [_OF_R] if row_names else []
    names = [_name(text) or f"column {i}" for i, text in enumerate(first, 1)] if layout.named else []
    layout.names = names or [str(i) for i in range(1, len(first) + 1)]
    if len(set(names)) < len(names):
        double = next(name for i, name in enumerate(names) if name in names[:i])
        raise UserError(f"{path}:{line}: two columns are named {show(double)}; rename one")
    return layout


def _aligned(first: list[str], *others: list[str], form: Preparation) -> tuple[list[str], int, int]:
    """Return the first row, and how many fields the others have before it (names of rows) and after it."""
    if not others or abs(len(others[0]) - len(first)) != 1:
        return first, 0, 0
    if len(others[0]) < len(first):
        return first[:-1] if not first[-1] else first, 0, 0
    if not any(row[-1] for row in others):  # the lines end with a delimiter
        return first, 0, 1
    if form.header != "no" and _are_row_names([row[0] for row in others]):
        return first, 1, 0
    return first, 0, int(not others[0][-1])


def _name(text: str) -> str:
    """Return the name of a column, without line ends and without quotes of one kind around it."""
    text = clean(text)
    return text[1:-1].strip() if len(text) > 1 and text[0] in "'\"`" and text[-1] == text[0] else text


def _are_row_names(texts: list[str]) -> bool:
    """Whether texts are what R or pandas writes before the rows: all different, 1, 2, ... or words."""
    if len(texts) < 2 or len(set(texts)) < len(texts):
        return False
    counting = any(texts == [str(i) for i in range(first, len(texts) + first)] for first in (0, 1))
    return counting or not any(form.number(text) is not None for text in texts for form in _IN_GENERAL)


def _is_header(rows: list[list[str]], where: str, form: Preparation) -> bool:
    """Return whether the first row names the columns: it does if it has words over numbers.

    It is a row of data if it has no word, or if a word of it comes again in its column. Raises Stop where
    neither is so.
    """
    if form.header != "auto":
        return form.header == "yes"
    first, others = rows[0], rows[1:]
    numbers = [text for text in first if form.number(text) is not None]
    cells_below = _below_words(first, others, numbers, form)
    if not cells_below or len(first) == 1:
        return False
    may_name = _may_name(numbers)
    again = any(first[i] in cells for i, cells in cells_below.items())
    told = any(_is_wanted(_name(first[i]), form) for i in cells_below)
    is_over = not others or any(_is_over_numbers(first[i], cells) for i, cells in cells_below.items())
    if may_name and (is_over or (told and not again)):
        return True
    if not is_over and (again or not may_name):
        return False
    raise _names_or_row(first, where)


def _below_words(
    first: list[str], others: list[list[str]], numbers: list[str], form: Preparation
) -> dict[int, list[str]]:
    """Return, by the place of each word of the first row, the cells below it that are no gaps."""
    no_words = {*form.gaps, *TRUTH, *map(str.lower, numbers)}
    words = [i for i, text in enumerate(first) if text.lower() not in no_words]
    return {i: [row[i] for row in others if row[i].lower() not in form.gaps] for i in words}


def _names_or_row(first: list[str], where: str) -> Stop:
    cells = shortlist(quoted([text or "no name" for text in first]))
    ways = "set header=yes to use it as column names, header=no to read it as data"
    return Stop(f"{where}: the first line ({cells}) may hold names or be a row; {ways}", {"header": "yes"})


def _may_name(numbers: Iterable[str]) -> bool:
    """Whether these numbers of a first row can be names, such as years: whole ones that all differ."""
    counts = Counter(numbers)
    return all(text.isdecimal() and count == 1 for text, count in counts.items())


def _is_wanted(name: str, form: Preparation) -> bool:
    """Whether a setting names a column so, or it is called as labels are."""
    wanted = {form.label, *form.id, *form.drop, *form.named_words}
    return name in wanted or name.lower() in LABELS


def _is_over_numbers(word: str, below: Sequence[str]) -> bool:
    """Whether most of the cells below a word are truth values or near numbers, and it is not."""
    near = sum(is_near_number(text) or text.lower() in TRUTH for text in below)
    return not is_near_number(word) and 2 * near > len(below)


def _columns(
    block: _Rows, layout: _Layout, path: Path, form: Preparation, delimiter: str
) -> tuple[Columns, np.ndarray, dict[str, GapWords]]:
    """Return the columns of some rows (numbers or texts), their lines, and the words of gaps of numbers."""
    if block.width == layout.width == len(layout.names):
        columns = _parsed(block.text, layout, form, delimiter)
    else:
        fields = block.fields or list(_split(block, delimiter))
        first, end = layout.first, layout.first + len(layout.names)
        for line, row in zip(block.lines.tolist(), fields, strict=True):
            if len(row) != layout.width or any(row[end:]):
                raise _uneven(path, line, len(row), layout.width, form)
            if any("\n" in cell for cell in row):
                layout.over_lines.append(line)
        cells = zip(*(row[first:end] for row in fields), strict=True) if fields else ((),) * len(layout.names)
        columns = {name: np.array(texts, object) for name, texts in zip(layout.names, cells, strict=True)}
    gaps: dict[str, GapWords] = {}
    for name, values in columns.items():
        if values.dtype == object and name not in layout.texts and (parsed := number_column(values, form)):
            columns[name], gap_words = parsed
            gaps |= {name: gap_words} if gap_words else {}
    return columns, block.lines.astype(np.int64), gaps


def _uneven(path: Path, line: int, count: int, width: int, form: Preparation) -> Stop:
    """Return the error of a row with more or fewer fields than the lines before."""
    before = lines_before(path, form)
    helps = (
        f"; if the table begins later, skip={form.skip + before} leaves out the lines before it"
        if before
        else ""
    )
    text = f"{path}:{line}: {counted(count, 'column')}; the lines before have {width}{helps}"
    return Stop(text, {"skip": form.skip + before} if before else {})


def _parsed(text: bytes, layout: _Layout, form: Preparation, delimiter: str) -> Columns:
    """Return the columns of lines without quotes: numbers where all are plain ones, else texts."""
    import pandas as pd

    names = layout.names
    usual: dict[str, Any] = {"sep": delimiter, "header": None, "names": range(len(names)), "index_col": False}
    usual |= {"quoting": csv.QUOTE_NONE, "skipinitialspace": True, "skip_blank_lines": False, "engine": "c"}
    as_text = [i for i, name in enumerate(names) if name in layout.texts or not form.is_plain]
    more = {"keep_default_na": False, "na_values": {i: [""] for i in range(len(names)) if i not in as_text}}
    frame = pd.read_csv(
        io.BytesIO(text), dtype=dict.fromkeys(as_text, object), low_memory=False, **usual, **more, **_exact()
    )
    columns: Columns = {}
    gaps, odd = numeric_gaps(form), list[int]()
    for i, name in enumerate(names):
        values = frame[i]
        if values.dtype.kind in "iuf":
            numbers = values.to_numpy(np.float64)
            if not np.isinf(numbers).any() and not np.isin(numbers, gaps).any():  # nan is an empty cell
                columns[name] = numbers
                continue
        if values.dtype.kind in "iufb" or i not in as_text:
            odd.append(i)
        else:
            columns[name] = _stripped(values)
    if odd:  # words, truth values and gaps, as they are written
        texts = pd.read_csv(io.BytesIO(text), usecols=odd, dtype=object, na_filter=False, **usual)
        columns |= {names[i]: _stripped(texts[i]) for i in odd}
    return {name: columns[name] for name in names}


def _stripped(texts: Any) -> np.ndarray:
    """Return texts (T,) without blanks around them; each different one is looked at once."""
    codes, different = texts.factorize()
    return np.array([text.strip() for text in different], object)[codes]


@cache
def _exact() -> dict[str, Any]:
    """Return the options with which pandas reads a number as ``float`` does; since 3.1 it does by itself."""
    import pandas as pd

    return (
        {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
    )

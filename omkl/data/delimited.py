"""Delimited text, and rows of texts: what divides the columns, whether they have names, and numbers."""

import csv
import io
import itertools
import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omkl.data.data_files import beginning, text_blocks
from omkl.data.labels import TRUTH, shortlist
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.tables import (
    Table,
    Words,
    check_width,
    kept_as_text,
    number_column,
    numbers_of,
    numeric_gaps,
    table_of,
)
from omkl.errors import UserError, counted, quoted, show

MARKS, TABS = ",;\t|", "\t,;|"  # between columns, the likeliest first
ENOUGH = 10  # rows that show how the numbers of a column usually are
MOST_TITLES = 5  # lines before a table that are no part of it
SAMPLE = 20  # lines that show the delimiter
MANY_LINES = 500  # that pandas reads faster than split and float
_SEP = re.compile(r'\s*"?sep=(.)"?[ \t]*(?:\n|\Z)', re.IGNORECASE)
_QUOTED = re.compile(r'(^|[,;\t|])[ ]*"(?:[^"]|"")*"', re.MULTILINE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_IN_GENERAL = AS_IT_IS, Preparation(decimal=","), Preparation(thousands=",")
_OF_R = "the first line has one name fewer than the rows: their first column names them, and is left out"


def delimiter_of(path: Path, form: Preparation = AS_IT_IS, marks: str = MARKS) -> tuple[str, int, list[str]]:
    """Return the delimiter of a user's table, how many lines come before the table, and a note on them.

    These are Excel's ``sep=;``, lines that begin with #, and a title of lines without any mark.

    auto: that of the ``sep=`` line; else the first of the marks that divides all of the first lines in the
    same way, quoted text left out; else that of the first line, or white space. Commas between digits are
    decimal ones where there are other marks; in a form whose numbers hold commas, white space between such
    numbers is enough.
    """
    text = beginning(path, form.encoding)
    given = _SEP.match(text)
    text = text[given.end() :] if given else text
    lines, wanted = text.split("\n"), form.delimiter if form.delimiter != "auto" else given and given[1]
    begin = _title(lines, wanted or marks)
    delimiter = wanted or guessed("\n".join(lines[begin:]), marks, form) or "whitespace"
    delimiter = "whitespace" if delimiter == " " else delimiter
    comments = 0
    for number, line in enumerate(lines[:begin], 1):
        if line.startswith("#"):
            comments = number
    if comments == begin > 0 and _are_names(lines[begin - 1], lines[begin], delimiter):
        begin -= 1
    skipped, notes = begin + bool(given), list[str]()
    if said := [line for line in lines[:begin] if line.strip()]:
        those = f"the {len(said)} lines before the table are" if said[1:] else "the line before the table is"
        notes.append(f"{those} left out ({show(said[0])}{', ...' if said[1:] else ''})")
    return delimiter, skipped, notes


def _title(lines: Sequence[str], marks: str) -> int:
    """Return how many lines come before the table: those of comments, and those without a mark, as a title.

    marks: that may divide the columns; the lines after a title must all be divided alike.
    """
    begin = 0
    while begin < len(lines) and (lines[begin].startswith("#") or (begin and not lines[begin].strip())):
        begin += 1
    if begin == len(lines) or not any(line.startswith("#") for line in lines[:begin]):
        begin = 0
    titles = begin
    while titles < len(lines) and titles - begin < MOST_TITLES and not set(marks) & set(lines[titles]):
        titles += 1
    table = [line for line in lines[titles:] if line.strip()][:SAMPLE]
    for mark in marks if titles > begin else "":
        counts = {line.count(mark) for line in table}
        if len(table) > 2 and len(counts) == 1 and min(counts) > 0 and '"' not in "".join(lines[:titles]):
            return titles
    return begin


def _are_names(line: str, below: str, delimiter: str) -> bool:
    """Whether a line that begins with # names the columns of the numbers below it."""
    rows = [row.split() if delimiter == "whitespace" else row.split(delimiter) for row in (line, below)]
    numbers = [number is not None for number in map(AS_IT_IS.number, rows[1])]
    return len(rows[0]) == len(rows[1]) and any(numbers)


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


def _csv_rows(
    lines: Iterable[str], delimiter: str, path: Path, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped fields) of lines; before: lines of the file before the first one."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num + before, [field.strip() for field in fields]
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num + before}: {error}") from error


class _Piece(NamedTuple):
    """Some rows: the line that each ends at, and its fields, or (raw) the lines, if none holds a quote."""

    lines: list[int]
    rows: list[list[str]] | None
    raw: list[str] | None = None

    def at(self, places: Iterable[int]) -> "_Piece":
        """Return the rows in these places."""
        places = list(places)
        rows = self.rows and [self.rows[at] for at in places]
        return _Piece([self.lines[at] for at in places], rows, self.raw and [self.raw[at] for at in places])

    def fields(self, delimiter: str) -> list[list[str]]:
        if self.rows is not None:
            return self.rows
        return [[field.strip() for field in line.split(delimiter)] for line in self.raw or ()]


@dataclass
class _Layout:
    """What the first rows of a table show.

    width: fields of a row    names: of its columns, the first ``width`` fields or those from ``first`` on
    blank: columns at the end without a name and, so far, without a value    notes: on the header
    texts: the columns that stay texts
    """

    names: list[str]
    named: bool
    width: int
    first: int = 0
    blank: int = 0
    texts: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def read_delimited(
    path: Path,
    form: Preparation = AS_IT_IS,
    limit: int | None = None,
    count: int | None = None,
    texts: Collection[str] = (),
    marks: str = MARKS,
) -> Iterator[Table]:
    """Yield a table of at most ``limit`` bytes, see `omkl.data.formats.Format`; marks: see `delimiter_of`.

    In parts, ``header=`` is yes or no.
    """
    delimiter, skipped, before = delimiter_of(path, form, marks)
    as_text = set(texts)
    while True:
        parts = _parts(
            _pieces(path, delimiter, limit, skipped, form.encoding, count), path, form, as_text, delimiter
        )
        if count is not None:
            for layout, columns, lines, words in parts:
                if len(lines):
                    yield table_of(path, columns, lines, form, layout.texts, words, named=layout.named)
            return
        found = list(parts)  # read again where what seemed to be numbers turns out to be words
        kinds: dict[str, set[np.dtype]] = {}
        for _, columns, _, _ in found:
            for name, values in columns.items():
                kinds.setdefault(name, set()).add(values.dtype)
        if not (mixed := {name for name, own in kinds.items() if len(own) > 1}):
            table = _whole(path, found, form)
            yield replace(table, notes=(*table.notes, *before))
            return
        as_text |= mixed


def of_rows(
    path: Path, form: Preparation, rows: list[tuple[int, list[str]]], texts: Collection[str] = ()
) -> Table:
    """Return the table of rows of texts, each with its number."""
    pieces = [_Piece([number for number, _ in rows], [fields for _, fields in rows])] if rows else []
    return _whole(path, list(_parts(pieces, path, form, texts, "")), form)


_Part = tuple[_Layout, dict[str, np.ndarray], np.ndarray, dict[str, Words]]


def _parts(
    pieces: Iterable[_Piece], path: Path, form: Preparation, texts: Collection[str], delimiter: str
) -> Iterator[_Part]:
    """Yield layout, columns (of numbers or texts), lines and words of each piece."""
    layout, names = None, list[str]()
    for piece in pieces:
        if layout is None:
            names = [] if form.header == "no" else piece.at([0]).fields(delimiter)[0]
            piece, again = _without_names(piece, names, delimiter, form, True)
            layout, piece = _layout(piece, path, form, delimiter)
            layout.notes += again
            own = layout.names[: len(layout.names) - layout.blank]
            layout.texts = {*texts, *kept_as_text(own, layout.named, form, path)}
        elif layout.named:
            piece, again = _without_names(piece, names, delimiter, form, False)
            layout.notes += again
        yield layout, *_columns(piece, layout, path, form, delimiter)


def _without_names(
    piece: _Piece, names: list[str], delimiter: str, form: Preparation, first: bool
) -> tuple[_Piece, list[str]]:
    """Return rows without those that repeat the names, as in two files put together, and a note on them.

    first: whether the piece begins with the names, or with what may be names
    """
    if not any(names) or len(names) < 2:
        return piece, []
    if piece.raw is None:
        again = [at for at, row in enumerate(piece.rows or ()) if row == names]
    else:
        likely = [at for at, text in enumerate(piece.raw) if all(name in text for name in names)]
        again = [at for at in likely if [part.strip() for part in piece.raw[at].split(delimiter)] == names]
    again = again[1:] if first else again
    if not again:
        return piece, []
    kept = piece.at(sorted({*range(len(piece.lines))} - {*again}))
    if first and form.header == "auto" and not _are_above_numbers(kept.fields(delimiter), form):
        return piece, []
    those = shortlist([str(piece.lines[at]) for at in again])
    repeat = f"line {those} repeats" if len(again) == 1 else f"lines {those} repeat"
    return kept, [f"{repeat} the names and {'is' if len(again) == 1 else 'are'} left out: two files in one?"]


def _are_above_numbers(rows: list[list[str]], form: Preparation) -> bool:
    """Whether the first row has a word above a column that is mostly numbers, and no number."""
    first, others = rows[0], rows[1:]
    if not others or any(form.number(text) is not None for text in first):
        return False
    columns = zip(*(row for row in others if len(row) == len(first)), strict=True)
    found = ([form.number(text) is not None for text in column] for column in columns)
    return any(2 * sum(numbers) > len(numbers) for numbers in found)


def _whole(path: Path, parts: list[_Part], form: Preparation) -> Table:
    """Return the table of these parts, without columns at the end that have neither a name nor a value."""
    index = np.concatenate([np.empty(0, np.int64), *(lines for _, _, lines, _ in parts)])
    if not len(index):
        raise UserError(f"{path}: no examples in it")
    layout, begin, words = parts[0][0], 0, dict[str, Words]()
    for _, _, lines, own in parts:
        for name, found in own.items():
            for word, row in found.items():
                words.setdefault(name, {}).setdefault(word, row + begin)
        begin += len(lines)
    columns = {name: np.concatenate([part[1].pop(name) for part in parts]) for name in layout.names}
    ends = 0
    for name in layout.names[len(layout.names) - layout.blank :][::-1]:
        values = columns[name]
        if name in words or (any(values) if values.dtype == object else not np.isnan(values).all()):
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
    return table_of(path, columns, index, form, layout.texts, words, named=layout.named, notes=tuple(notes))


def _pieces(
    path: Path, delimiter: str, limit: int | None, skipped: int, encoding: str, count: int | None
) -> Iterator[_Piece]:
    """Yield the rows of a delimited text that are not empty, at most ``count`` at a time.

    skipped: lines before the table. Raises UserError naming file:line where the quoting is broken.
    """
    count, blank = (
        count or 2**17,
        f"{string.whitespace}\x1c\x1d\x1e\x1f{delimiter if len(delimiter) == 1 else ''}",
    )
    blocks = text_blocks(path, limit, encoding)
    for first, text in blocks:
        begun = max(0, skipped + 1 - first)
        if '"' in text and delimiter != "whitespace":  # from here on by csv, since a quoted text may be cut
            texts = itertools.chain([text], (more for _, more in blocks))
            lines = itertools.chain.from_iterable(io.StringIO(part, newline="\n") for part in texts)
            rows = _csv_rows(itertools.islice(lines, begun, None), delimiter, path, first - 1 + begun)
            while taken := list(itertools.islice(rows, count)):
                yield _Piece([line for line, _ in taken], [fields for _, fields in taken])
            return
        raw = text.removesuffix("\n").split("\n")
        there = [i for i in range(begun, len(raw)) if raw[i].strip(blank)]
        if not text.isascii():
            there = [i for i in there if any(map(str.strip, raw[i].split(delimiter)))]
        for start in range(0, len(there), count):
            places = there[start : start + count]
            kept, numbers = [raw[i] for i in places], [first + i for i in places]
            if delimiter == "whitespace":
                yield _Piece(numbers, [_words_of(line) for line in kept])
            else:
                yield _Piece(numbers, None, kept)


def _words_of(line: str) -> list[str]:
    """Return what white space separates; R writes texts in quotes."""
    if '"' not in line:
        return line.split()
    return next(csv.reader([" ".join(line.split())], delimiter=" "))


def _layout(piece: _Piece, path: Path, form: Preparation, delimiter: str) -> tuple[_Layout, _Piece]:
    """Return what the first rows show, and those that are no header."""
    first, *others = piece.fields(delimiter)
    check_width(len(first), f"{path}:{piece.lines[0]}")
    row_names = extra = 0
    if others and len(others[0]) == len(first) + 1:
        extra = int(not any(row[-1] for row in others))  # the lines end with a delimiter
        row_names = int(not extra and form.header != "no" and _are_row_names([row[0] for row in others]))
        extra = extra or int(not others[0][-1] and not row_names)
    elif others and len(others[0]) == len(first) - 1 and not first[-1]:
        first = first[:-1]
    layout = _Layout([""] * len(first), True, len(first) + row_names + extra, row_names)
    rows = [first, *_fitted(others, piece.lines[1:], layout, path)]
    while layout.blank < len(first) and not any(row[-1 - layout.blank] for row in rows):
        layout.blank += 1
    trimmed = [row[: len(first) - layout.blank] for row in rows] if layout.blank else rows
    names, layout.notes = (first, [_OF_R]) if row_names else _names(trimmed, form)
    layout.named = names is not None
    if names is None:
        layout.names = [str(i + 1) for i in range(len(first))]
    else:
        layout.names = [*names, *(f"column {i + 1}" for i in range(len(names), len(first)))]
    if len(set(layout.names)) < len(layout.names):
        double = next(name for i, name in enumerate(layout.names) if name in layout.names[:i])
        helps = ", or set header=no if this line is a row" if form.header == "auto" else ""
        raise UserError(f"{path}:{piece.lines[0]}: two columns are named {show(double)}; rename one{helps}")
    if layout.named:
        raw = piece.raw and piece.raw[1:]
        return layout, _Piece(piece.lines[1:], others, raw)
    return layout, piece if not extra else _Piece(piece.lines, [[*first, ""], *others])


def _are_row_names(texts: list[str]) -> bool:
    """Whether texts are what R or pandas writes before the rows: all different, 1, 2, ... or words."""
    if len(texts) < 2 or len(set(texts)) < len(texts):
        return False
    counting = any(texts == [str(i) for i in range(first, len(texts) + first)] for first in (0, 1))
    return counting or not any(form.number(text) is not None for text in texts for form in _IN_GENERAL)


def _fitted(rows: list[list[str]], lines: list[int], layout: _Layout, path: Path) -> list[list[str]]:
    """Return the fields of the columns. Raises UserError for a row with more or fewer of them."""
    first, end = layout.first, layout.first + len(layout.names)
    for line, fields in zip(lines, rows, strict=True):
        if len(fields) != layout.width or any(fields[end:]):
            found = counted(len(fields), "column")
            raise UserError(f"{path}:{line}: {found}; the lines before have {layout.width}")
    return [fields[first:end] for fields in rows] if layout.width > len(layout.names) else rows


def _columns(
    piece: _Piece, layout: _Layout, path: Path, form: Preparation, delimiter: str
) -> tuple[dict[str, np.ndarray], np.ndarray, dict[str, Words]]:
    """Return the columns of some rows, as numbers or as texts, their lines, and the words of the former."""
    plain, raw = layout.width == len(layout.names) and delimiter.isascii(), piece.raw
    if (
        raw
        and plain
        and len(raw) >= MANY_LINES
        and all(line.count(delimiter) == layout.width - 1 for line in raw)
    ):
        columns = _parsed(raw, layout, form, delimiter)
    else:
        rows = _fitted(piece.fields(delimiter), piece.lines, layout, path)
        cells = zip(*rows, strict=True) if rows else ((),) * len(layout.names)
        columns = {name: np.array(own, object) for name, own in zip(layout.names, cells, strict=True)}
    words: dict[str, Words] = {}
    for name, values in columns.items():
        if values.dtype == object and name not in layout.texts and (made := number_column(values, form)):
            columns[name], own = made
            words |= {name: own} if own else {}
    return columns, np.array(piece.lines, np.int64), words


def _parsed(raw: list[str], layout: _Layout, form: Preparation, delimiter: str) -> dict[str, np.ndarray]:
    """Return the columns of lines without quotes: numbers where all are plain ones, else texts."""
    import pandas as pd

    data, names = "\n".join(raw).encode(), layout.names
    usual: dict[str, Any] = {"sep": delimiter, "header": None, "names": range(len(names)), "index_col": False}
    usual |= {"quoting": csv.QUOTE_NONE, "skipinitialspace": True, "skip_blank_lines": False, "engine": "c"}
    columns: dict[str, np.ndarray] = {}
    first = raw[0].split(delimiter)  # a column that begins with a word is none of plain numbers
    tried = [
        i for i, name in enumerate(names) if name not in layout.texts and form.number(first[i]) is not None
    ]
    if tried and form.is_plain:
        more = {"keep_default_na": False, "na_values": [""], "low_memory": False, **_exact()}
        frame = pd.read_csv(io.BytesIO(data), usecols=tried, **usual, **more)
        gaps = numeric_gaps(form)
        for i in tried:
            values = frame[i].to_numpy()
            if values.dtype.kind in "iuf" and np.isfinite(values).all() and not np.isin(values, gaps).any():
                columns[names[i]] = values.astype(np.float64)
    if rest := [i for i, name in enumerate(names) if name not in columns]:
        frame = pd.read_csv(io.BytesIO(data), usecols=rest, dtype=object, na_filter=False, **usual)
        columns |= {names[i]: np.array([text.strip() for text in frame[i]], object) for i in rest}
    return {name: columns[name] for name in names}


@cache
def _exact() -> dict[str, Any]:
    """Return the options with which pandas reads a number as ``float`` does; since 3.1 it does by itself."""
    import pandas as pd

    return (
        {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
    )


def _names(rows: list[list[str]], form: Preparation) -> tuple[list[str] | None, list[str]]:
    """Return the names that the first row gives the columns, None where it is a row of data; and notes."""
    note: list[str] = []
    is_header = form.header == "yes" and bool(rows)
    if form.header == "auto" and rows:
        is_header, note = _is_header(rows, form)
    if not is_header:
        return None, note
    return [re.sub(r"\s*[\r\n]+\s*", " ", name) or f"column {i + 1}" for i, name in enumerate(rows[0])], note


def _is_header(rows: list[list[str]], form: Preparation) -> tuple[bool, list[str]]:
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
    years = _count_up(numbers, 2) and all(len(number) == 4 for number in numbers)
    if not words and not _count_up(numbers, 3):
        return False, row if years and not _count_up(rows[1] if rows[1:] else [], 2) else []
    if len(rows) == 1:
        return not numbers, []

    @cache
    def below(i: int) -> np.ndarray:
        return np.array([other[i] for other in rows[1:]], object)

    @cache
    def values(i: int) -> np.ndarray | None:
        """Return the numbers below, None where they are none or there are only gaps."""
        found = numbers_of(below(i), form)
        return None if found is None or np.isnan(found).all() else found

    if not words:
        if not first[0] and "" not in below(0):  # as pandas writes an index
            return True, names
        unlike = sum(_is_unlike(text, below(i), values(i), form) for i, text in enumerate(first))
        decided = len(rows) > ENOUGH and not _count_up(rows[1], 3) and 2 * unlike >= len(first)
        return (True, names) if decided else (False, row)
    if any(values(i) is not None for i in words):
        return (True, names if numbers else []) if _may_be_names(numbers) else (False, row)
    seen = sum(first[i] in below(i) for i in words)
    new = not seen and any(len(set(below(i))) < len(rows) - 1 for i in words)  # to a list of few words
    if any(text in numbers and numbers_of(below(i), form) is not None for i, text in enumerate(first)):
        if new and _count_up(numbers, 2):
            return True, names
        return False, row if new or (years and not seen) else []
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


def _is_unlike(text: str, texts: np.ndarray, numbers: np.ndarray | None, form: Preparation) -> bool:
    """Whether a whole number is unlike the numbers of a column: all have a point, or it is far from them."""
    if numbers is None or not text:
        return False
    there = ~np.isnan(numbers)
    if all("." in (form.plain(value) or "") for value in texts[there]):
        return True
    low, high = numbers[there].min(), numbers[there].max()
    return bool(abs(float(text) - (low + high) / 2) > 1.5 * (high - low))

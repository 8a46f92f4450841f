"""The first sheet of an Excel workbook as rows of texts: .xlsx (a zip of XML), .xls (BIFF8 in an OLE2 file).

Only what tables of numbers need: numbers, cached results of formulas, texts of .xlsx. Texts of .xls are
shown as their place among the workbook's texts, because the files that are read here have them in the header.
Sources: ECMA-376 part 1 (SpreadsheetML); Microsoft's [MS-XLS] and [MS-CFB].
"""

import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from omkl.data.data_files import LIMIT, size_limit
from omkl.data.parse import decoding
from omkl.errors import UserError

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SHEET = "xl/worksheets/sheet1.xml"
_TEXTS = "xl/sharedStrings.xml"
_CELL = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_END = 0xFFFFFFFE  # of a chain of sectors
_BLOCK = 2**18
_MOST_COLUMNS = 2**14
Row = tuple[int, list[str]]


def is_workbook(path: Path) -> bool:
    """Whether a file is an Excel workbook, by its content."""
    with open(path, "rb") as file:
        start = file.read(8)
    if start == OLE2:
        return True
    if not (start.startswith(b"PK\x03\x04") and zipfile.is_zipfile(path)):
        return False
    with zipfile.ZipFile(path) as archive:
        return "xl/workbook.xml" in archive.namelist()


def workbook_rows(path: Path, limit: int | None = None) -> Iterator[Row]:
    """Yield (number from 1, fields) of each row with a value; all rows are as long as the first one.

    Numbers are written so that ``float`` gives the stored double. Raises UserError for what is no workbook,
    and for one that holds more than ``limit`` bytes.
    """
    limit = size_limit(LIMIT) if limit is None else limit
    with open(path, "rb") as file:
        is_old = file.read(8) == OLE2
    rows = _xls_rows(path, limit) if is_old else _xlsx_rows(path, limit)
    with decoding(path, "not an Excel workbook whose first sheet can be read"):
        width = 0
        for number, cells in rows:
            last = max((column for column, text in cells.items() if text), default=-1)
            if last < 0:
                continue
            width = width or last + 1
            yield number, [cells.get(column, "") for column in range(max(width, last + 1))]


# ------------------------------------------------------------------ .xlsx


def _xlsx_rows(path: Path, limit: int) -> Iterator[tuple[int, dict[int, str]]]:
    with zipfile.ZipFile(path) as archive:
        texts: list[str] = []
        if _TEXTS in archive.namelist():
            for kind, _, text in _elements(archive, _TEXTS, limit, ("si", "t")):
                if kind == "si":
                    texts.append("")
                elif texts:
                    texts[-1] += text or ""
        cells: dict[int, str] = {}
        row, column, of = 0, -1, ""
        for kind, attributes, text in _elements(archive, _SHEET, limit, ("row", "c", "v", "t")):
            if kind == "row":
                if cells:
                    yield row, cells
                row, column, cells = int(attributes.get("r", row + 1)), -1, {}
            elif kind == "c":
                place = _CELL.fullmatch(attributes.get("r", ""))
                column, of = _column(place[1]) if place else column + 1, attributes.get("t", "n")
            elif column < _MOST_COLUMNS:
                cells[column] = texts[int(text)] if of == "s" else cells.get(column, "") + text
        if cells:
            yield row, cells


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _elements(
    archive: zipfile.ZipFile, member: str, limit: int, wanted: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield (tag, attributes, text) of a member's elements in their order, the text where it ends.

    Elements that hold others (row, c, si) come when they begin, those with text (v, t) when they end.
    """
    found: list[tuple[str, dict[str, str], str]] = []
    text: list[str] | None = None

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal text
        tag = name.rpartition(":")[2]
        if tag in wanted and tag in ("v", "t"):
            text = []
        elif tag in wanted:
            found.append((tag, attributes, ""))

    def end(name: str) -> None:
        nonlocal text
        if text is not None and name.rpartition(":")[2] in ("v", "t"):
            found.append((name.rpartition(":")[2], {}, "".join(text)))
            text = None

    def data(part: str) -> None:
        if text is not None:
            text.append(part)

    def refuse(*_: Any) -> None:
        raise ValueError("it defines a document type, which workbooks do not")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = data, refuse
    size = 0
    with archive.open(member) as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise UserError(
                    f"{archive.filename}: {member} holds more than {limit:,} bytes; "
                    "set OMKL_MAX_BYTES to read it"
                )
            parser.Parse(block, False)
            yield from found
            found.clear()
        parser.Parse(b"", True)
        yield from found


# ------------------------------------------------------------------ .xls


def _xls_rows(path: Path, limit: int) -> Iterator[tuple[int, dict[int, str]]]:
    size = path.stat().st_size
    if size > limit:
        raise UserError(f"{path}: holds {size:,} bytes, more than {limit:,}; set OMKL_MAX_BYTES to read it")
    book = _workbook_stream(path.read_bytes())
    starts = [struct.unpack_from("<I", body)[0] for kind, body in _records(book, 0) if kind == 0x85]
    if not starts:
        raise ValueError("it has no sheet")
    rows: dict[int, dict[int, str]] = {}

    def put(row: int, column: int, text: str) -> None:
        rows.setdefault(row, {})[column] = text

    for kind, body in _records(book, starts[0]):
        if kind == 0x0203 or (kind == 0x0006 and body[12:14] != b"\xff\xff"):  # NUMBER, FORMULA
            row, column = struct.unpack_from("<HH", body)
            put(row, column, repr(struct.unpack_from("<d", body, 6)[0]))
        elif kind == 0x027E:  # RK
            row, column, _, packed = struct.unpack_from("<HHHI", body)
            put(row, column, repr(_rk(packed)))
        elif kind == 0x00BD:  # MULRK
            row, column = struct.unpack_from("<HH", body)
            for place in range(4, len(body) - 2, 6):
                put(row, column, repr(_rk(struct.unpack_from("<I", body, place + 2)[0])))
                column += 1
        elif kind == 0x00FD:  # LABELSST
            row, column, _, text = struct.unpack_from("<HHHI", body)
            put(row, column, f"text {text}")
    for row in sorted(rows):
        yield row + 1, rows[row]


def _rk(packed: int) -> float:
    """Return the number of a packed one: 30 bits of a whole number or of a double, perhaps in hundredths."""
    if packed & 2:
        value = float((packed >> 2) - (2**30 if packed & 2**31 else 0))
    else:
        value = struct.unpack("<d", struct.pack("<Q", (packed & ~3) << 32))[0]
    return value / 100 if packed & 1 else value


def _records(book: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield (type, body) of the records of the substream that begins at ``place``."""
    while place + 4 <= len(book):
        kind, length = struct.unpack_from("<HH", book, place)
        if kind == 0x0A:  # EOF
            return
        yield kind, book[place + 4 : place + 4 + length]
        place += 4 + length
    raise ValueError("it ends within a sheet")


def _workbook_stream(data: bytes) -> bytes:
    """Return the stream of records in an OLE2 file."""
    shift, count = struct.unpack_from("<H", data, 30)[0], struct.unpack_from("<I", data, 44)[0]
    first, smallest = struct.unpack_from("<I", data, 48)[0], struct.unpack_from("<I", data, 56)[0]
    if shift not in (9, 12) or count > 109:
        raise ValueError("its sectors are not those of a small workbook")
    per = 1 << shift

    def sector(number: int) -> bytes:
        return data[(number + 1) * per : (number + 2) * per]

    table: list[int] = []
    for number in struct.unpack_from(f"<{count}I", data, 76):
        table += struct.unpack(f"<{per // 4}I", sector(number))

    def chain(number: int) -> bytes:
        parts: list[bytes] = []
        while number < _END:
            if len(parts) > len(table):
                raise ValueError("its sectors form a loop")
            parts.append(sector(number))
            number = table[number]
        return b"".join(parts)

    directory = chain(first)
    for place in range(0, len(directory), 128):
        entry = directory[place : place + 128]
        length = struct.unpack_from("<H", entry, 64)[0]
        if entry[: max(0, length - 2)].decode("utf-16-le") in ("Workbook", "Book"):
            begin, size = struct.unpack_from("<II", entry, 116)
            if size < smallest:
                raise ValueError("it is smaller than the smallest workbook that is read")
            return chain(begin)[:size]
    raise ValueError("it holds no workbook")

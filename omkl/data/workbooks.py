"""The first sheet of a workbook (.xlsx, .xls, .ods) as rows of texts, read by pandas with python-calamine."""

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

from omkl.data.data_files import FLOOR, LIMIT, RATIO, is_compressed, open_binary, size_limit
from omkl.data.parse import decoding
from omkl.errors import UserError, quoted

ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
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

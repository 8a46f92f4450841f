"""The names of a file's columns, for completion: read at once, without the packages that read tables."""

import bz2
import csv
import gzip
import json
import lzma
import re
from pathlib import Path
from typing import Any

OPENED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}  # between columns
MOST_BYTES = 65_536
_ATTRIBUTE = re.compile(r"\s*@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", re.IGNORECASE)  # of ARFF
_PLAIN = re.compile(  # needs no quotes in a setting
    r"(?!(null|true|false|inf|nan)\Z)[^\W\d_]\w*( \w+)*", re.IGNORECASE
)


def columns_of(given: dict[str, str]) -> list[str]:
    """Return the names of the columns of the file of ``data=``, given as one of these settings.

    They are in the first line, of ARFF in the first 64 KiB. None where the file has no names, or is neither
    text nor text compressed with gz, bz2 or xz. A name that a setting would have to quote is left out.
    """
    path = Path(given.get("data", "")).expanduser()
    if given.get("header") == "no" or not path.is_file():
        return []
    with OPENED.get(path.suffix, open)(path, "rb") as opened:
        head = opened.read(MOST_BYTES)
    text = head.decode(given.get("encoding", "auto").replace("auto", "utf-8"), "replace")
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
    names = (name.strip() for name in _names(lines, given.get("delimiter", "auto")))
    return [name for name in names if _PLAIN.fullmatch(name)]


def _names(lines: list[str], delimiter: str) -> list[str]:
    if of_arff := [found[1].strip("'\"") for found in map(_ATTRIBUTE.match, lines) if found]:
        return of_arff
    first = lines[0] if lines else ""
    if first.startswith("{"):  # JSON lines
        return list(json.loads(first))
    mark = MARKS.get(delimiter, delimiter)
    mark = mark if len(mark) == 1 else max(MARKS.values(), key=first.count)
    return next(csv.reader([first], delimiter=mark)) if mark in first else []

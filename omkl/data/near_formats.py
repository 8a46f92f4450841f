"""Files in formats that are not read: what each is, by its first bytes, and what to write in place of it."""

import re
import zipfile
from pathlib import Path
from typing import Any

from omkl.data.data_files import open_binary
from omkl.errors import OmklError, UserError

_SAMPLE = 1000  # bytes
_CSV = "to_csv('rows.csv', index=False)"
_FORMATS = (  # first bytes, title, what helps
    (
        rb"\s*<(?i:!doctype html|html|head|body|table|div)\b",
        "a page of HTML",
        f"if it is a table, pandas.read_html(FILE)[0].{_CSV} writes its rows; else download the file again",
    ),
    (rb"\s*<\?xml", "XML", f"pandas.read_xml(FILE).{_CSV} writes its rows"),
    (rb"version https://git-lfs", "a pointer of Git LFS, not the file itself", "`git lfs pull` fetches that"),
    (rb"%PDF", "a PDF", "write its table as a CSV file"),
    (
        rb"SQLite format 3",
        "a database of SQLite",
        f"pandas.read_sql(QUERY, connection).{_CSV} writes rows of it",
    ),
    (rb"\x93NUMPY", "one array of NumPy", "numpy.savez('rows.npz', X=..., y=...) writes features and labels"),
    (
        rb"MATLAB 5\.0",
        "a file of MATLAB",
        "scipy.io.loadmat reads it, numpy.savez('rows.npz', X=..., y=...) writes",
    ),
    (rb"\x89HDF\r\n", "HDF5", f"pandas.read_hdf(FILE).{_CSV} writes a table in it, if it has one"),
    (
        rb"<stata_dta>|[\x69\x6c-\x75][\x01\x02]\x01\x00",
        "Stata's format",
        f"pandas.read_stata(FILE).{_CSV} writes its rows",
    ),
    (rb"\$FL[23]", "SPSS's format", f"pandas.read_spss(FILE).{_CSV} writes its rows"),
    (
        rb"HEADER RECORD\*{7}|\x00{12}\xc2\xea\x81\x60",
        "SAS's format",
        f"pandas.read_sas(FILE).{_CSV} writes its rows",
    ),
    (
        rb"(?:RD[AX][23]\n)?[XAB]\n(?:\x00\x00\x00|[23]\n)",
        "a file of R",
        'write.csv(frame, "rows.csv", row.names = FALSE) writes a frame in it',
    ),
    (
        rb"\x80[\x02-\x05][\x80-\xff\x00-\x1fc}\](]",
        "a pickle, which is never read, since it may run any code",
        f"frame.{_CSV} writes a frame in it",
    ),
    (
        rb"\|[^\n]*\|[ \t]*\r?\n[ ]*\|[ :|-]+\|",
        "a table of Markdown",
        "write commas for the bars, without line 2",
    ),
    (
        rb"[-+.\d]+(?: [-+.\d]+)? ?\|\w* [^\n|:]*:[-+.\d][^\n|]*\n",
        "Vowpal Wabbit's format",
        "write LIBSVM text (label index:value ...), or a table",
    ),
    (rb"(?:---[ ]*\r?\n)?- \w+:[^\n]*\n  \w+:", "YAML", "write JSON lines: one object for each row"),
)
_KNOWN = tuple((re.compile(start), title, helps) for start, title, helps in _FORMATS)


def check_format(path: Path) -> None:
    """Raise UserError for a file in a format that is not read, with what it is and what to write."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if all(name.endswith(".npy") for name in archive.namelist()):
                return  # .npz
    try:
        with open_binary(path) as file:
            start = file.read(_SAMPLE)
    except (OmklError, OSError):
        return  # who reads it says so
    for pattern, title, helps in _KNOWN:
        if pattern.match(start):
            raise UserError(f"{path}: this is {title}; {helps.replace('FILE', repr(path.name))}")


def fault_of_json(content: Any) -> str | None:
    """Return what a JSON text holds in place of records, and what to write; None for records."""
    records = "frame.to_json(FILE, orient='records') of pandas writes an array of records"
    if isinstance(content, list):
        if content and all(isinstance(row, list) for row in content):
            return f"an array of arrays, without names; {records}"
        return None
    if not isinstance(content, dict):
        return f"one {type(content).__name__}; {records}"
    held = [key for key, value in content.items() if value and _are_objects(value)]
    if len(held) == 1:
        return f"one object, with an array of records as '{held[0]}'; write this array alone"
    if content and all(isinstance(value, list | dict) for value in content.values()):
        return f"one object of columns; {records}"
    return None


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)

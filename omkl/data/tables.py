"""Delimited tables, read as a form describes them."""

import re
from array import array
from pathlib import Path

import numpy as np

from omkl.data.files import open_binary
from omkl.data.forms import Form
from omkl.data.parse import Examples, dense, read_fields, to_number
from omkl.errors import UserError, show

LONGEST_LABEL = 100
_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5]?[0-9])")


def read_table(form: Form, path: Path, limit: int | None) -> Examples:
    """Return the examples of a table of at most ``limit`` bytes. Raises UserError that names file:line."""
    numbers, lines, labels = array("d"), array("q"), []
    words = {word: repr(value) for word, value in (form.values or {}).items()}
    width = 0
    for line, fields in read_fields(path, form.delimiter, limit):
        if width == 0:
            width = len(fields)
            label = _label_column(form.label, width, path)
            kept = [i for i in range(width) if i != label and i + 1 not in form.drop]
            if not kept:
                raise UserError(
                    f"{path}:{line}: {width} column(s), so no features; is the delimiter {form.delimiter!r}?"
                )
            if form.header or (form.header is None and _is_header(fields, kept)):
                continue
        if len(lines) == form.rows:
            break
        if len(fields) != width:
            raise UserError(f"{path}:{line}: {len(fields)} columns; the lines before have {width}")
        features = [fields[i] for i in kept]
        if form.missing is not None and form.missing in features:
            continue
        features = [words.get(field, field) for field in features]
        if form.times:
            features = [
                _time_of_day(field, f"{path}:{line}") if i + 1 in form.times else field
                for i, field in zip(kept, features, strict=True)
            ]
        try:
            if "_" in "".join(features):
                raise ValueError("float() would read 1_000")
            numbers.extend(map(float, features))
        except ValueError:
            for column, field in zip(kept, features, strict=True):
                to_number(field, f"{path}:{line}: column {column + 1}")
            raise
        lines.append(line)
        labels.append(checked_label(fields[label], f"{path}:{line}") if label is not None else "")
    if not lines:
        raise UserError(f"{path}: no examples in it")
    X = np.frombuffer(numbers, dtype=np.float64).reshape(len(lines), len(kept))
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if len(bad):
        column = kept[int(np.argmin(np.isfinite(X[bad[0]])))] + 1
        raise UserError(f"{path}:{lines[bad[0]]}: column {column} is not finite")
    empty = next((lines[i] for i, text in enumerate(labels) if not text), None) if label is not None else None
    if empty is not None:
        raise UserError(f"{path}:{empty}: the label (column {label + 1}) is empty")
    return dense(X, np.array(labels))


def checked_label(text: str, where: str) -> str:
    """Return the label if it is short: numpy reserves the length of the longest one in every row."""
    if len(text) > LONGEST_LABEL:
        raise UserError(f"{where}: the label has {len(text):,} characters; at most {LONGEST_LABEL} are read")
    return text


def _label_column(label: str | int, width: int, path: Path) -> int | None:
    if label == "file":
        return None
    column = {"first": 1, "last": width}.get(label, label)
    if not isinstance(column, int) or not 1 <= column <= width:
        raise UserError(f"{path}: the label should be column {label} but there are {width} columns")
    return column - 1


def _time_of_day(text: str, where: str) -> str:
    """Return the fraction of the day of a time HH:MM, as text."""
    match = _TIME.fullmatch(text)
    if not match:
        raise UserError(f"{where}: {show(text)} is not a time of day HH:MM")
    return repr((int(match[1]) * 60 + int(match[2])) / 1440)


def _is_header(fields: list[str], kept: list[int]) -> bool:
    """Return whether none of the features of the first line is a number."""

    def numeric(field: str) -> bool:
        try:
            float(field)
        except ValueError:
            return False
        return True

    return not any(numeric(fields[i]) for i in kept)


def delimiter(path: Path) -> str:
    """Return the delimiter of a user's table: the first of , ; tab in its first line, else white space."""
    with open_binary(path) as file:
        first = file.readline(2**20).decode("utf-8", "replace")
    return next((mark for mark in (",", ";", "\t") if mark in first), "whitespace")

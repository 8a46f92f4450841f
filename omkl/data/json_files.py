"""JSON as a table: one object in each line, or an array of objects; a key that one lacks is a gap."""

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.data_files import FLOOR, RATIO
from omkl.data.delimited import lines_of, open_text
from omkl.data.preparation import Preparation
from omkl.data.tables import Table, Words, check_width, kept_as_text, numeric_gaps, table_of
from omkl.errors import UserError, show

Rows = Iterable[tuple[int, str, Any]]  # its line or number, where it stands, and the object


def read_json(path: Path, form: Preparation, limit: int | None = None, texts: Collection[str] = ()) -> Table:
    """Return the table of a JSON file. Raises UserError that names the line, or the object's number."""
    tables = list(json_parts(path, form, limit, None, texts))
    if not tables:
        raise UserError(f"{path}: no examples in it")
    return tables[0]


def json_parts(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str] = ()
) -> Iterator[Table]:
    """Yield the table of JSON lines in parts of ``count`` rows."""
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    unit = ":" if _is_lines(path, limit, form.encoding) else ": row "
    rows = _of_lines(path, limit, form.encoding) if unit == ":" else _of_array(path, limit, form.encoding)
    most = max(FLOOR, RATIO * path.stat().st_size) // 8
    for number, where, row in rows:
        _check(row, where)
        for name, value in row.items():
            if name not in columns:
                columns[name] = [None] * len(numbers)
                check_width(len(columns), where)
                cells = len(columns) * (len(numbers) + 1)
                if cells > most:
                    raise UserError(
                        f"{where}: {len(columns):,} different keys in {len(numbers) + 1:,} rows make "
                        f"{cells:,} cells, more than {most:,}; give all rows the "
                        "same keys, or write LIBSVM text"
                    )
            columns[name].append(value)
        numbers.append(number)
        for values in columns.values():
            if len(values) < len(numbers):
                values.append(None)
        if len(numbers) == count:
            yield _table(path, columns, numbers, form, texts, unit)
            columns, numbers = {name: [] for name in columns}, []
    if numbers:
        yield _table(path, columns, numbers, form, texts, unit)


def _is_lines(path: Path, limit: int | None, encoding: str) -> bool:
    with open_text(path, limit, encoding) as file:
        first = next((line for line in lines_of(file, path) if line.strip()), "")
    return not (first.strip() == "[" or first.lstrip().startswith(("[{", "[ {")))


def _of_lines(path: Path, limit: int | None, encoding: str) -> Rows:
    import orjson

    with open_text(path, limit, encoding) as file:
        for number, line in enumerate(lines_of(file, path), 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                if "NaN" not in line and "Infinity" not in line:
                    raise UserError(f"{where}: not valid JSON ({error})") from None
                row = _loads(line, where)
            yield number, where, row


def _of_array(path: Path, limit: int | None, encoding: str) -> Rows:
    with open_text(path, limit, encoding) as file:
        rows = _loads("".join(lines_of(file, path)), str(path))
    for number, row in enumerate(rows, 1):
        yield number, f"{path}: row {number}", row


def _loads(text: str, where: str) -> Any:
    """Return the content of a JSON text as Python's json writes it, NaN and Infinity included."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from None


def _check(row: Any, where: str) -> None:
    """Raise UserError for what is no object of numbers and texts."""
    if not isinstance(row, dict):
        raise UserError(f'{where}: not a JSON object such as {{"x": 1, "y": "no"}}')
    for name, value in row.items():
        if isinstance(value, dict | list):
            fault = f"{show(name)} holds {'an object' if isinstance(value, dict) else 'a list'}"
            raise UserError(f"{where}: {fault}; write a number or a text for each key")


def _table(
    path: Path,
    lists: dict[str, list[Any]],
    index: list[int],
    form: Preparation,
    texts: Collection[str],
    unit: str,
) -> Table:
    label, ids = kept_as_text(list(lists), True, form, path)
    columns: dict[str, np.ndarray] = {}
    words: dict[str, Words] = {}
    for name, values in lists.items():
        is_numeric = all(value is None or type(value) in (int, float) for value in values)
        if is_numeric and name not in {*label, *ids, *texts}:
            numbers = np.array([np.nan if value is None else float(value) for value in values])
            gaps = np.flatnonzero(np.isin(numbers, numeric_gaps(form)))
            words |= {name: {str(values[row]): row for row in gaps[::-1].tolist()}} if len(gaps) else {}
            numbers[gaps] = np.nan
            columns[name] = numbers
        else:
            texts_of = ("" if value is None else str(value) for value in values)
            columns[name] = np.array(list(texts_of), object)
    return table_of(path, columns, index, form, texts, words, named=True, unit=unit)

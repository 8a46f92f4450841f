"""ARFF text, dense and sparse, by liac-arff; values stay texts until the columns are decided."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.data.preparation import Preparation
from omkl.data.reading.opening import text_lines
from omkl.data.reading.tables import DataTable, GapWords, check_width, kept_as_text, number_column, table_of
from omkl.errors import UserError, counted, show

_KEYWORD = re.compile(r"\s*(@\w+)\s+", re.ASCII)
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,{}"'%]+)"""
_NAME = rf"@attribute (?:{_VALUE}|[^\s{{}}]+)"
_NOMINAL = re.compile(rf"{_NAME}\s*\{{\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\}}\s*", re.IGNORECASE)
_TYPE = re.compile(
    rf"({_NAME}\s+)(numeric|real|integer|string|date(?:\s+{_VALUE})?)\s*(?:[%\[].*)?", re.IGNORECASE
)


def read_arff(
    path: Path, form: Preparation, limit: int | None, count: int | None, texts: Collection[str]
) -> Iterator[DataTable]:
    """Yield the table of ARFF text, dense or sparse. Raises UserError that names the line."""
    import arff  # liac-arff; scipy.io.arff reads neither sparse rows nor texts
    import pandas as pd

    form = replace(form, na=("?",)) if form.na is None else form  # None may be the name of a class
    sparse, lines = _is_sparse(path, limit, form.encoding), _ArffLines(path, limit, form.encoding)
    index, rows, cells = list[int](), list[list[int]](), list[list[str]]()
    try:
        content = arff.ArffDecoder().decode(lines, return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN)
        names = [name for name, _ in content["attributes"]]
        rows, cells = [[] for _ in names], [[] for _ in names]
        for row, values in enumerate(content["data"]):
            index.append(lines.number)
            for place, value in values.items() if sparse else enumerate(values):
                cells[place].append("?" if value is None else value.strip())
                if sparse:
                    rows[place].append(row)
    except UserError:
        raise
    except Exception as error:  # the decoder's own, and those of broken escapes
        raise UserError(f"{path}:{lines.number}: {_arff_fault(error, len(lines.kinds), sparse)}") from None
    if not index:
        raise UserError(f"{path}: no examples in it")
    check_width(len(names), str(path))
    texts = {*texts, *kept_as_text(names, True, form, path)}
    columns: dict[str, Any] = {}
    words: dict[str, GapWords] = {}
    for place, (name, kind) in enumerate(content["attributes"]):
        if not sparse:
            columns[name] = np.array(cells[place], object)
            continue
        usual = kind[0] if isinstance(kind, list) else "0" if lines.kinds[place] == "number" else ""
        listed = np.array([usual, *cells[place]], object)  # the first is what rows do not list
        if name in texts or (parsed := number_column(listed, form)) is None:
            columns[name] = np.full(len(index), usual, object)
            columns[name][rows[place]] = cells[place]
        else:
            column = np.full(len(index), parsed[0][0])
            column[rows[place]] = parsed[0][1:]
            columns[name] = pd.arrays.SparseArray(column, fill_value=parsed[0][0])
            words[name] = {word: rows[place][at - 1] for word, at in parsed[1].items()}
    yield table_of(path, columns, index, form, texts, words, sparse=sparse, last=True)


def _is_sparse(path: Path, limit: int | None, encoding: str) -> bool:
    """Whether the first row of the data lists its entries in braces."""
    is_data = False
    for _, line in text_lines(path, limit, encoding):
        text = line.strip()
        if is_data and text and not text.startswith("%"):
            return text.startswith("{")
        is_data = is_data or text.lower().startswith("@data")
    return False


class _ArffLines:
    """The lines of a file as the decoder takes them; ``number`` is that of the last one.

    Values stay text: the decoder would truncate those of integer attributes, and refuses dates. What its
    expression for lists of classes could take for ever to refuse is refused before it.
    """

    def __init__(self, path: Path, limit: int | None, encoding: str):
        self.path, self.lines, self.kinds, self.number = (
            path,
            text_lines(path, limit, encoding),
            list[str](),
            0,
        )

    def __iter__(self) -> Iterator[str]:
        is_data = False
        for number, line in self.lines:
            self.number = number
            if not is_data and (keyword := _KEYWORD.match(line)):
                line = f"{keyword[1]} {line[keyword.end() :].rstrip()}"
                if keyword[1].lower() == "@attribute":
                    line = self._attribute(line)
            is_data = is_data or line.strip().lower().startswith("@data")
            yield line

    def _attribute(self, line: str) -> str:
        if _NOMINAL.fullmatch(line):
            self.kinds.append("nominal")
            return line
        if match := _TYPE.fullmatch(line):
            kind = match[2].split()[0].lower()
            self.kinds.append("text" if kind in ("string", "date") else "number")
            return f"{match[1]}STRING"
        raise UserError(
            f"{self.path}:{self.number}: the attribute {show(line)} cannot be read; write its name, in "
            "quotes if it holds a blank, and then numeric, string, date or {class,class}"
        )


def _arff_fault(error: Exception, attributes: int, sparse: bool) -> str:
    """Return what is wrong with a line, by the decoder's error."""
    import arff

    text = str(getattr(error, "message", error))
    if isinstance(error, arff.BadNominalValue):
        value = text.removeprefix("Data value ").partition(" not found in")[0]
        return f"{show(value)} is not one of the values that its attribute declares"
    if isinstance(error, arff.BadAttributeName):
        return "two attributes have this name; rename one"
    if isinstance(error, arff.BadDataFormat) and not sparse:
        return f"the row does not have {counted(attributes, 'value')}, as the attributes declare"
    if isinstance(error, arff.BadDataFormat):
        return f"an entry is beyond the last of {counted(attributes, 'attribute')}"
    return (
        "not valid ARFF: @relation, @attribute and @data lines, then rows of values or of {place value, ...}"
    )

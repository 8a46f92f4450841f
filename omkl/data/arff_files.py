"""ARFF text, dense and sparse, as a table."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from omkl.data.delimited import lines_of, open_text
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.tables import Table, Words, check_width, kept_as_text, number_column, table_of
from omkl.errors import UserError, counted, show

_KEYWORD = re.compile(r"\s*(@\w+)\s+", re.ASCII)
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,{}"'%]+)"""
_NAME = rf"@attribute (?:{_VALUE}|[^\s{{}}]+)"
_NOMINAL = re.compile(rf"{_NAME}\s*\{{\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\}}\s*", re.IGNORECASE)
_TYPE = re.compile(
    rf"({_NAME}\s+)(numeric|real|integer|string|date(?:\s+{_VALUE})?)\s*(?:[%\[].*)?", re.IGNORECASE
)


def read_arff(
    path: Path, form: Preparation = AS_IT_IS, limit: int | None = None, texts: Collection[str] = ()
) -> Table:
    """Return the table of an ARFF file of at most ``limit`` bytes. Raises UserError that names the line."""
    import pandas as pd

    form = replace(form, na=("?",)) if form.na is None else form  # None may be the name of a class
    content = _content(path, limit, form.encoding)
    T = len(content.lines)
    if not T:
        raise UserError(f"{path}: no examples in it")
    check_width(len(content.names), str(path))
    columns: dict[str, Any] = {}
    words: dict[str, Words] = {}
    label, ids = kept_as_text(content.names, True, form, path)
    for name, default, rows, cells in zip(
        content.names, content.defaults, content.rows, content.texts, strict=True
    ):
        if not content.sparse:
            columns[name] = np.array(cells, object)
            continue
        made = (
            None
            if name in {*label, *ids, *texts}
            else number_column(np.array([default, *cells], object), form)
        )
        if made is None:
            columns[name] = np.full(T, default, object)
            columns[name][rows] = cells
        else:
            column = np.full(T, made[0][0])
            column[rows] = made[0][1:]
            columns[name] = pd.arrays.SparseArray(column, fill_value=made[0][0])
            words[name] = {word: rows[place - 1] for word, place in made[1].items()}
    return table_of(path, columns, content.lines, form, texts, words, named=True, sparse=content.sparse)


class _Arff(NamedTuple):
    """The content of an ARFF file; all values are texts, ``?`` for those that are missing.

    names: of the attributes    lines (T,): that each row stands in    sparse: whether rows list their entries
    defaults: of each attribute, the value of a sparse row that does not list it
    rows, texts: of each attribute, the rows that have an entry (none in a dense file) and their values
    """

    names: list[str]
    lines: list[int]
    sparse: bool
    defaults: list[str]
    rows: list[list[int]]
    texts: list[list[str]]


def _content(path: Path, limit: int | None, encoding: str) -> _Arff:
    """Return the content of an ARFF file of at most ``limit`` bytes. Raises UserError that names the line."""
    import arff  # liac-arff; scipy.io.arff reads neither sparse rows nor texts

    sparse = _is_sparse(path, limit, encoding)
    kinds: list[str] = []
    with open_text(path, limit, encoding) as file:
        lines = _Lines(file, path, kinds)
        try:
            content = arff.ArffDecoder().decode(lines, return_type=arff.LOD_GEN if sparse else arff.DENSE_GEN)
            attributes = content["attributes"]
            names = [re.sub(r"\s*[\r\n]+\s*", " ", name) for name, _ in attributes]
            defaults = [
                kind[0] if isinstance(kind, list) else "0" if own == "number" else ""
                for (_, kind), own in zip(attributes, kinds, strict=True)
            ]
            made = _Arff(names, [], sparse, defaults, [[] for _ in names], [[] for _ in names])
            for row, values in enumerate(content["data"]):
                made.lines.append(lines.number)
                for place, value in values.items() if sparse else enumerate(values):
                    made.texts[place].append("?" if value is None else value.strip())
                    if sparse:
                        made.rows[place].append(row)
        except UserError:
            raise
        except Exception as error:  # the decoder's own, and those of broken escapes
            raise UserError(f"{path}:{lines.number}: {_fault(error, len(kinds), sparse)}") from None
    return made


def _is_sparse(path: Path, limit: int | None, encoding: str) -> bool:
    """Whether the first row of the data lists its entries in braces."""
    with open_text(path, limit, encoding) as file:
        is_data = False
        for line in lines_of(file, path):
            text = line.strip()
            if is_data and text and not text.startswith("%"):
                return text.startswith("{")
            is_data = is_data or text.lower().startswith("@data")
    return False


class _Lines:
    """The lines of a file as the decoder takes them; ``number`` is that of the last one.

    Values stay text: the decoder would truncate those of integer attributes, and refuses dates. What its
    expression for lists of classes could take for ever to refuse is refused before it.
    """

    def __init__(self, file: IO[str], path: Path, kinds: list[str]):
        self.file, self.path, self.kinds, self.number = file, path, kinds, 0

    def __iter__(self) -> Iterator[str]:
        is_data = False
        for line in lines_of(self.file, self.path):
            self.number += 1
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


def _fault(error: Exception, attributes: int, sparse: bool) -> str:
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

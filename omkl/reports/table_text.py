"""Tables as text: terminal, Markdown, LaTeX (booktabs), JSON, CSV."""

import json
import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from warnings import warn

from omkl.reports.display import MISSING, Column, Display, Line, Spread
from omkl.reports.fitting import WIDTH, lay_out
from omkl.reports.narrow import explain, fitting_columns, texts_of

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 100
LONG = 40  # lines that fit on a page
TOGETHER = 20  # lines up to which a data set stays on one page
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "–": "--",
    "·": r"$\cdot$",
    "*": r"$\ast$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def write(
    tables: list[tuple[str | None, Display]],
    terms: list[tuple[str, str]],
    warnings: list[str],
    shared: str,
    command: str,
    fmt: str,
) -> str:
    """Return tables as text: fmt "table" for the terminal, "markdown" or "latex".

    tables: (title or None, Display)    terms: (term, meaning), explained below the tables
    warnings: sentences below the tables    shared: a line about all rows    command: that made the tables
    """
    form = {"table": _terminal, "markdown": _markdown, "latex": _latex}[fmt]
    return form(tables, terms, warnings, shared, command)


# -------------------------------------------------------------------- terminal


def _terminal(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    width = WIDTH.get()
    if width is not None:
        tables = [(title, fitting_columns(table, width)) for title, table in tables]
        terms, shared = explain(tables, terms, shared)
        shared = textwrap.fill(shared, width)
        tables = [(title and textwrap.fill(title, width), table) for title, table in tables]
    blocks = [shared] if shared else []
    blocks += [(f"{title}\n" if title else "") + _plain_table(table, width) for title, table in tables]
    wide = max((len(term) for term, _ in terms), default=0)
    lines = []
    for start, text in [
        *((f"{term:<{wide}}  ", text) for term, text in terms),
        *(("! ", w) for w in warnings),
    ]:
        wrap = textwrap.TextWrapper(min(width or _WIDTH, _WIDTH), start, " " * len(start))
        wrap.break_long_words = wrap.break_on_hyphens = False  # a command in it can be copied
        lines.append(wrap.fill(text))
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _plain_table(table: Display, width: int | None = None) -> str:
    columns = texts_of(table)
    head, rule, *body = _tabulated(
        table, list(zip(*(c.cells for c in columns), strict=True)), "simple"
    ).split("\n")
    if width is not None and max(map(len, (head, rule))) > width:
        head, rule, body = lay_out(columns, width)
    first = len(rule.split(" ")[0])
    above = {"data": [rule], "yardsticks": [" " * first + rule[first:]], None: []}
    lines = [head.rstrip(), rule]
    for text, line in zip(body, table.lines, strict=True):
        lines += [*above[line.rule], text.rstrip()]
    return "\n".join(lines)


def _tabulated(table: Display, contents: Sequence[Sequence[str]], style: str) -> str:
    from tabulate import tabulate

    looks = {"headers": [c.header for c in table.columns], "colalign": [c.align for c in table.columns]}
    return tabulate(contents, tablefmt=style, disable_numparse=True, **looks)


# -------------------------------------------------------------------- Markdown


def _markdown(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    blocks = [f"`{command}`" if command else "", shared]
    for title, table in tables:
        cells = [
            [_markdown_cell(*pair, line) for pair in zip(line.cells, table.columns, strict=True)]
            for line in table.lines
        ]
        blocks += [f"**{title}**" if title else "", _tabulated(table, cells, "pipe")]
    terms = [("**bold**" if term == "*" else term, text) for term, text in terms if term != "yardsticks"]
    blocks.append("\n".join(f"* {term}: {_safe(meaning)}" for term, meaning in terms))
    blocks.append("\n".join(f"* **{_safe(warning)}**" for warning in warnings))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_cell(cell: str | Spread, column: Column, line: Line) -> str:
    if isinstance(cell, Spread):
        return f"**{cell}**" if column.marks and line.marked else str(cell)
    if column.name == "reps" and not line.complete:
        return f"**{cell}**"
    return _safe(cell) + (" (yardstick)" if column.name == "learner" and line.is_yardstick else "")


def _safe(text: str) -> str:
    """Escape what Markdown would take for markup in names and messages."""
    return re.sub(r"([\\|*_`<\[])", r"\\\1", text)


# -------------------------------------------------------------------- LaTeX


def escape(text: str) -> str:
    """Return text as LaTeX prints it literally."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def _latex(tables: list, terms: list, warnings: list[str], shared: str, command: str) -> str:
    """Return table environments, a longtable for more than LONG lines; needs UTF-8 input for accents."""
    named = {"*": r"\textbf{bold}"}
    about = [f"{named.get(term, escape(term))}: {escape(meaning)}." for term, meaning in terms]
    about += [escape(warning) + "." for warning in warnings]
    about += [rf"Made by \texttt{{{escape(command)}}}."] if command else []
    long = any(len(table.lines) > LONG for _, table in tables)
    parts = [rf"% needs \usepackage{{booktabs{',longtable' if long else ''}}}"]
    for title, table in tables:
        first = [escape(part[0].upper() + part[1:]) + "." for part in (title, shared) if part]
        parts.append("\n".join(_table(table, " ".join([*first, *about]))))
    return "\n\n".join(parts) + "\n"


def _table(table: Display, caption: str) -> list[str]:
    """Return the lines of a table; of a longtable, which has its header on each page, with page breaks."""
    pairs = _pairs(table)
    columns = list(zip(table.columns, pairs, strict=True))
    forms = [r"r@{\,$\pm$\,}l" if pair else c.align[0] for c, pair in columns]
    headers = [
        rf"\multicolumn{{2}}{{c}}{{{escape(c.header)}}}" if pair else escape(c.header) for c, pair in columns
    ]
    head = [r"\toprule", " & ".join(headers) + r" \\", r"\midrule"]
    if len(table.lines) <= LONG:
        return [
            *(r"\begin{table}", r"\centering", r"\small", rf"\caption{{{caption}}}"),
            rf"\begin{{tabular}}{{{''.join(forms)}}}",
            *(*head, *_body(table, pairs, [r" \\"] * len(table.lines))),
            *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
        ]
    starts = [number for number, line in enumerate(table.lines) if number == 0 or line.rule == "data"]
    ends: list[str] = []  # with a star where no page may end: inside a short data set
    for start, stop in pairwise([*starts, len(table.lines)]):
        ends += [r" \\*" if stop - start <= TOGETHER else r" \\"] * (stop - start - 1) + [r" \\"]
    return [
        *(r"\begingroup", r"\small", r"\setlength{\LTcapwidth}{\linewidth}"),
        rf"\begin{{longtable}}{{{''.join(forms)}}}",
        rf"\caption{{{caption}}} \\",
        *(*head, r"\endfirsthead", *head, r"\endhead"),
        rf"\midrule \multicolumn{{{len(pairs) + sum(pairs)}}}{{r}}{{continued on the next page}} \\",
        *(r"\endfoot", r"\bottomrule", r"\endlastfoot"),
        *_body(table, pairs, ends),
        *(r"\end{longtable}", r"\endgroup"),
    ]


def _body(table: Display, pairs: list[bool], ends: list[str]) -> list[str]:
    wide = len(pairs) + sum(pairs)
    rules = {"data": [r"\midrule"], "yardsticks": [rf"\cmidrule(l){{2-{wide}}}"], None: []}
    lines = []
    for line, end in zip(table.lines, ends, strict=True):
        cells = zip(line.cells, table.columns, pairs, strict=True)
        lines += [*rules[line.rule], " & ".join(_cell(*cell, line) for cell in cells) + end]
    return lines


def _pairs(table: Display) -> list[bool]:
    """Return which columns take two of LaTeX's, for means and standard deviations."""
    columns = [[line.cells[at] for line in table.lines] for at in range(len(table.columns))]
    return [any(isinstance(cell, Spread) and cell.varies for cell in cells) for cells in columns]


def _cell(cell: str | Spread, column: Column, pair: bool, line: Line) -> str:
    if pair and isinstance(cell, Spread) and cell.mean == MISSING:
        return r"\multicolumn{2}{c}{--}"
    texts = [cell.mean] + [cell.std] * cell.varies if isinstance(cell, Spread) else [cell]
    bold = line.marked if column.marks else column.name == "reps" and not line.complete
    texts = [rf"\textbf{{{escape(text)}}}" if bold else escape(text) for text in texts]
    return rf"\multicolumn{{2}}{{r}}{{{texts[0]}}}" if pair and len(texts) == 1 else " & ".join(texts)


# -------------------------------------------------------------------- JSON, CSV


def to_json(tables: dict[str, "pd.DataFrame"], warnings: list[str]) -> str:
    """Return DataFrames by name as strict JSON: lists of records; NaN and infinity become null.

    The warnings are in "notes".
    """
    parts = []
    for name, table in tables.items():
        records = [_strict(record) for record in table.to_dict("records")]
        lines = [json.dumps(record, allow_nan=False, ensure_ascii=False) for record in records]
        parts.append(f"{json.dumps(name)}: [" + "".join(f"\n  {line}," for line in lines)[:-1] + "\n]")
    parts.append(f'"notes": {json.dumps(warnings, ensure_ascii=False)}')
    return "{" + ",\n".join(parts) + "}\n"


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _strict(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _strict(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def to_csv(table: "pd.DataFrame", warnings: list[str]) -> str:
    """Return a DataFrame as CSV, which has no place for the warnings: they are given to Python's."""
    for warning in warnings:
        warn(warning, stacklevel=2)
    return table.to_csv(index=False, lineterminator="\n")

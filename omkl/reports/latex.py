"""Tables for LaTeX: booktabs, the ± of a column below one another, the command in the caption."""

from itertools import pairwise

from omkl.reports.display import MISSING, Column, Display, Line, Spread

LONG = 40  # lines that fit on a page
TOGETHER = 20  # lines of a data set that a page break does not part
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


def escape(text: str) -> str:
    """Return text as LaTeX prints it literally."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def latex(
    tables: list[tuple[str | None, Display]],
    terms: list[tuple[str, str]],
    warnings: list[str],
    shared: str,
    command: str,
) -> str:
    """Return table environments, a longtable for more than LONG lines; needs UTF-8 input for accents.

    tables: (title or None, Display)    terms: (term, meaning) for the caption    shared: what all rows share
    """
    long = any(len(table.lines) > LONG for _, table in tables)
    parts = [rf"% needs \usepackage{{booktabs{',longtable' if long else ''}}}"]
    for title, table in tables:
        caption = _caption(title, terms, warnings, shared, command)
        parts.append(_long(table, caption) if len(table.lines) > LONG else _short(table, caption))
    return "\n\n".join(parts) + "\n"


def _caption(title: str | None, terms: list, warnings: list[str], shared: str, command: str) -> str:
    named = {"*": r"\textbf{bold}"}
    sentences = [escape(part[0].upper() + part[1:]) + "." for part in (title, shared) if part]
    sentences += [f"{named.get(term, escape(term))}: {escape(meaning)}." for term, meaning in terms]
    sentences += [escape(warning) + "." for warning in warnings]
    if command:
        sentences.append(rf"Made by \texttt{{{escape(command)}}}.")
    return " ".join(sentences)


def _short(table: Display, caption: str) -> str:
    lines = [
        *(r"\begin{table}", r"\centering", r"\small", rf"\caption{{{caption}}}"),
        rf"\begin{{tabular}}{{{_forms(table)}}}",
        *_head(table),
        *_body(table, [r" \\"] * len(table.lines)),
        *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
    ]
    return "\n".join(lines)


def _long(table: Display, caption: str) -> str:
    """Return a table that goes over pages, its header on each; a short data set's lines stay together."""
    head, more = _head(table), "continued on the next page"
    lines = [
        *(r"\begingroup", r"\small", r"\setlength{\LTcapwidth}{\linewidth}"),
        rf"\begin{{longtable}}{{{_forms(table)}}}",
        rf"\caption{{{caption}}} \\",
        *(*head, r"\endfirsthead", *head, r"\endhead"),
        rf"\midrule \multicolumn{{{_width(table)}}}{{r}}{{{more}}} \\",
        *(r"\endfoot", r"\bottomrule", r"\endlastfoot"),
        *_body(table, _ends(table)),
        *(r"\end{longtable}", r"\endgroup"),
    ]
    return "\n".join(lines)


def _ends(table: Display) -> list[str]:
    """Return how each line ends: with a star where no page may end, inside a short data set."""
    starts = [number for number, line in enumerate(table.lines) if number == 0 or line.rule == "data"]
    ends: list[str] = []
    for start, stop in pairwise([*starts, len(table.lines)]):
        ends += [r" \\*" if stop - start <= TOGETHER else r" \\"] * (stop - start - 1) + [r" \\"]
    return ends


def _head(table: Display) -> list[str]:
    return [r"\toprule", " & ".join(_header(column) for column in table.columns) + r" \\", r"\midrule"]


def _body(table: Display, ends: list[str]) -> list[str]:
    lines = []
    for line, end in zip(table.lines, ends, strict=True):
        if line.rule == "data":
            lines.append(r"\midrule")
        elif line.rule == "yardsticks":
            lines.append(rf"\cmidrule(l){{2-{_width(table)}}}")
        cells = zip(line.cells, table.columns, strict=True)
        lines.append(" & ".join(_cell(cell, column, line) for cell, column in cells) + end)
    return lines


def _width(table: Display) -> int:
    return sum(2 if column.spread else 1 for column in table.columns)


def _forms(table: Display) -> str:
    plain = {"left": "l", "right": "r"}
    return "".join(r"r@{\,$\pm$\,}l" if column.spread else plain[column.align] for column in table.columns)


def _header(column: Column) -> str:
    return rf"\multicolumn{{2}}{{c}}{{{escape(column.header)}}}" if column.spread else escape(column.header)


def _cell(cell: str | Spread, column: Column, line: Line) -> str:
    bold = column.marks and line.marked
    if isinstance(cell, Spread) and cell.mean == MISSING:
        return r"\multicolumn{2}{c}{--}"
    if isinstance(cell, Spread):
        return " & ".join(rf"\textbf{{{escape(t)}}}" if bold else escape(t) for t in (cell.mean, cell.std))
    return rf"\textbf{{{escape(cell)}}}" if column.name == "reps" and not line.complete else escape(cell)

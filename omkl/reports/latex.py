"""Tables for LaTeX: booktabs, the ± of a column below one another, the command in the caption."""

from omkl.reports.display import MISSING, Column, Display, Line, Spread

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
    """Return table environments; needs ``\\usepackage{booktabs}`` and UTF-8 input for names with accents.

    tables: (title or None, Display)    terms: (term, meaning) for the caption    shared: what all rows share
    """
    parts = ["% needs \\usepackage{booktabs}"]
    for title, table in tables:
        parts.append(_environment(table, _caption(title, terms, warnings, shared, command)))
    return "\n\n".join(parts) + "\n"


def _caption(title: str | None, terms: list, warnings: list[str], shared: str, command: str) -> str:
    named = {"*": r"\textbf{bold}"}
    sentences = [escape(part[0].upper() + part[1:]) + "." for part in (title, shared) if part]
    sentences += [f"{named.get(term, escape(term))}: {escape(meaning)}." for term, meaning in terms]
    sentences += [escape(warning) + "." for warning in warnings]
    if command:
        sentences.append(rf"Made by \texttt{{{escape(command)}}}.")
    return " ".join(sentences)


def _environment(table: Display, caption: str) -> str:
    width = sum(2 if column.spread else 1 for column in table.columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\small",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{{''.join(_form(column) for column in table.columns)}}}",
        r"\toprule",
        " & ".join(_header(column) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for line in table.lines:
        if line.rule == "data":
            lines.append(r"\midrule")
        elif line.rule == "yardsticks":
            lines.append(rf"\cmidrule(l){{2-{width}}}")
        cells = zip(line.cells, table.columns, strict=True)
        lines.append(" & ".join(_cell(cell, column, line) for cell, column in cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _form(column: Column) -> str:
    if column.spread:
        return r"r@{\,$\pm$\,}l"
    return "l" if column.align == "left" else "r"


def _header(column: Column) -> str:
    return rf"\multicolumn{{2}}{{c}}{{{escape(column.header)}}}" if column.spread else escape(column.header)


def _cell(cell: str | Spread, column: Column, line: Line) -> str:
    bold = column.marks and line.marked
    if isinstance(cell, Spread) and cell.mean == MISSING:
        return r"\multicolumn{2}{c}{--}"
    if isinstance(cell, Spread):
        return " & ".join(rf"\textbf{{{escape(t)}}}" if bold else escape(t) for t in (cell.mean, cell.std))
    return rf"\textbf{{{escape(cell)}}}" if column.name == "reps" and not line.complete else escape(cell)

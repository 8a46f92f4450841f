"""A table: its columns and rows, and its text for the terminal, in Markdown, LaTeX, JSON, CSV and HTML."""

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from warnings import warn

from omkl.errors import UserError, suggest, without_controls
from omkl.reports.markdown import html_of_table, markdown_of
from omkl.reports.symbols import IN_TEX, SYMBOLS, in_symbols
from omkl.reports.table_cells import (
    GAP,
    INFLATED,
    MARK_NAMES,
    MARKS,
    MISSING,
    WIDTH,
    Column,
    Spread,
    TableRow,
    as_data,
    filled,
    fit_to_width,
    least_width,
    line_of,
    width_of,
    widths_of,
)

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "json", "csv", "markdown", "latex", "html")
Records = Sequence[Mapping[str, Any]]
COMMAND = "command"  # the name of what opens below a row, where it is a command
_TERMS = 100  # characters of a line of the terms
LONG = 40  # lines that fit on a page
TOGETHER = 20  # lines up to which a data set stays on one page
FEW = 4  # data sets that a caption names
VERDICTS = "verdict"  # the term of a paper's verdicts
NOTED = ("best", "near", VERDICTS, "diff")  # terms that readers of a paper need
_COMMENTED = {"best": "bold", "near": "italics"}  # how the comment calls the marks
_SELDOM = ("reps", "seconds", "seconds_published", "seconds_ratio")  # columns that LaTeX leaves out
_IN_NOTEBOOK = 6  # columns of a table that a notebook shows
_ABSENT = ("INCOMPLETE", "FAILED")  # warnings of what the numbers lack, which readers of a paper must see
_GAP = 4.0  # points at either side of a column
_LINE = 345.0  # points of a line of LaTeX's article
_SIZES = {r"\small": 4.8, r"\footnotesize": 4.4, r"\scriptsize": 4.1, r"\tiny": 3.5}  # points of a character
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    MISSING: "--",
    "·": r"$\cdot$",
    "*": r"$\ast$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "−": r"$-$",
    "²": r"$^2$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    **IN_TEX,
}


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table, with all that is printed around it.

    title, shared: above it; ``shared`` is a line about all rows    terms: (term, meaning) of its columns, and
    of the marks "best" and "near"
    about: what is to be known of the data    warnings: sentences below it, of what may be wrong
    findings: paragraphs below these, then its notes, numbered from 1, and further ones (``below``)
    command: that makes it    name: of its file on a page
    chosen: names of the columns that the reader wants    left_out: those for which there is no room
    least: the columns that a narrow terminal leaves out, the first of them first
    in_print: the tables that LaTeX has in its place    across: what the columns of a grid are, after the
    first, whose header says what its rows are
    also: tables below it, of the same terms    reps: how many repetitions rows have finished, ascending
    records: what JSON holds, a list, or DataFrames and mappings by name    flat: returns what CSV holds, else
    the records
    """

    columns: Sequence[Column]
    rows: Sequence[TableRow]
    title: str = ""
    name: str = ""
    shared: str = ""
    terms: Sequence[tuple[str, str]] = ()
    about: Sequence[str] = ()
    warnings: Sequence[str] = ()
    findings: Sequence[str] = ()
    notes: Sequence[str] = ()
    below: Sequence[str] = ()
    command: str = ""
    chosen: Sequence[str] = ()
    left_out: Sequence[Column] = ()
    least: Sequence[str] = ()
    in_print: "Sequence[Table]" = ()
    across: str = ""
    also: "Sequence[Table]" = ()
    reps: Sequence[int] = ()
    records: "Records | Mapping[str, pd.DataFrame | Mapping[str, Any]]" = field(default=(), repr=False)
    flat: "Callable[[], Records | pd.DataFrame] | None" = field(default=None, repr=False)

    @classmethod
    def of(cls, records: Records, shown: Records | None = None, **more: Any) -> "Table":
        """Return rows of plain values as a table; whole numbers are at the right, text wraps.

        shown: what is shown of the records    more: of Table
        """
        rows = records if shown is None else shown
        first = rows[0] if rows else {}
        sides = {name: "right" if isinstance(value, int) else "left" for name, value in first.items()}
        columns = [Column(name, name, side, wraps=side == "left") for name, side in sides.items()]  # type: ignore[arg-type]
        texts = [["" if row[name] is None else str(row[name]) for name in first] for row in rows]
        return cls(columns, [TableRow(row) for row in texts], records=records, **more)

    @property
    def is_plain(self) -> bool:
        """Whether it is a list of plain values, not of results."""
        return not isinstance(self.records, Mapping)

    @property
    def paragraphs(self) -> list[str]:
        """What is below the table, its notes numbered."""
        notes = [f"[{number}] {note}" for number, note in enumerate(self.notes, 1)]
        return [*self.findings, *notes, *self.below]

    def only(self, places: Sequence[int]) -> "Table":
        """Return the table with the columns at these places."""
        rows = [replace(row, cells=[row.cells[at] for at in places]) for row in self.rows]
        return replace(self, columns=[self.columns[at] for at in places], rows=rows)

    def cell_texts(self) -> list[list[str | Spread]]:
        """Return the cells as text shows them: a data set named once, the numbers of notes at the verdict."""
        shown, group = [], ""
        for row in self.rows:
            cells = list(row.cells)
            for at, column in enumerate(self.columns):
                if column.name == "data" and group and row.group == group:
                    cells[at] = ""
                if column.name == "verdict":
                    cells[at] = " ".join([*[str(cells[at])] * bool(cells[at]), *(f"[{n}]" for n in row.refs)])
            shown.append(cells)
            group = row.group
        return shown

    def render(self, fmt: str = "table") -> str:
        """Return the table as text that ends with a newline.

        fmt: "table" for the terminal, "json" (strict: no NaN), "csv" (full precision), "markdown", "latex"
        (booktabs), "html". Raises UserError for an unknown format.
        """
        check_format(fmt)
        return without_controls(_WRITERS[fmt](self))

    def text(self) -> str:
        """Return the text for the terminal, fitted to its width."""
        return without_controls(_terminal(self))

    def html(self) -> str:
        """Return HTML without scripts, readable on a dark and on a light page."""
        return without_controls(html_of_table(self))

    _repr_html_ = html

    def narrowed(self) -> "Table":
        """Return the table for a notebook: with few columns, those first to go that fewest readers need."""
        tables = [_narrowed(one, self.shared) for one in (self, *self.also)]
        return replace(tables[0], also=tables[1:], terms=_explained(tables, "to_html() shows all columns"))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        with fit_to_width():
            return self.text()


def check_format(fmt: str) -> None:
    """Raise UserError for an unknown format."""
    if fmt not in FORMATS:
        raise UserError(f"unknown format '{fmt}'{suggest(fmt, FORMATS)}: choose one of {', '.join(FORMATS)}")


# -------------------------------------------------------------------- terminal


def _terminal(table: Table) -> str:
    width = WIDTH.get()
    tables = [_fitted(one, width) for one in (table, *table.also)]
    terms = _named(_explained(tables, "hidden to fit the terminal; --wide shows them"), "text")
    blocks = [filled(table.shared)] if table.shared else []
    blocks += ["\n".join(filter(None, (filled(one.title), _body(one, width)))) for one in tables]
    wide = max((len(term) for term in (*dict(terms), *["note"] * bool(table.about))), default=0)
    lines = []
    for start, text in [
        *((f"{term:<{wide}}  ", text) for term, text in terms),
        *((f"{'note':<{wide}}  ", text) for text in table.about),
        *(("! ", warning) for warning in table.warnings),
    ]:
        wrap = textwrap.TextWrapper(min(width or _TERMS, _TERMS), start, " " * len(start))
        wrap.break_long_words = wrap.break_on_hyphens = False  # a command in it can be copied
        lines.append(wrap.fill(text))
    text = "\n\n".join(filter(None, [*blocks, "\n".join(lines)])) + "\n"
    below = table.paragraphs
    return text + ("\n" + "\n".join(map(filled, below)) + "\n" if below else "")


def _named(terms: Sequence[tuple[str, str]], fmt: str) -> list[tuple[str, str]]:
    """Return terms with the marks as a format shows them."""
    return [(MARK_NAMES[fmt].get(term, term), text) for term, text in terms]


def _body(table: Table, width: int | None) -> str:
    """Return header, rules and rows."""
    if not table.columns:
        return ""
    texts = _aligned(table)
    widths = [
        max(len(column.header) + 2, *map(width_of, column_texts), 0)
        for column, column_texts in zip(table.columns, texts, strict=True)
    ]
    if width is not None and sum(widths) + GAP * (len(widths) - 1) > width:
        widths = widths_of(table.columns, texts, width)
    rule = (" " * GAP).join("-" * width for width in widths)
    first = len(rule.split(" ")[0])
    above = {"data": [rule], "yardsticks": [" " * first + rule[first:]], None: []}
    lines = [line_of([column.header for column in table.columns], table.columns, widths), rule]
    for cells, row in zip(zip(*texts, strict=True), table.rows, strict=True):
        lines += [*above[row.rule], line_of(cells, table.columns, widths)]
    return "\n".join(lines).replace("\u00a0", " ")


def _aligned(table: Table) -> list[list[str]]:
    """Return the texts of each column, with the ± aligned and the mark at the left."""
    shown, columns, marked = table.cell_texts(), [], any(row.marked for row in table.rows)
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in shown]
        spreads = [cell for cell in cells if isinstance(cell, Spread)]
        left, right = (max((len(getattr(s, part)) for s in spreads), default=0) for part in ("mean", "std"))
        texts = []
        for cell in cells:
            text = str(cell)
            if isinstance(cell, Spread) and cell.mean != MISSING:
                text = f"{cell.mean:>{left}} ± {cell.std:>{right}}" if cell.varies else text
                text = MARKS["text"][cell.mark].format(text) if column.marks and marked else text
            texts.append(text.replace(" ± ", "\u00a0±\u00a0") if column.wraps else text)
        columns.append(texts)
    return columns


def _fitted(table: Table, width: int | None) -> Table:
    """Return a table without the columns for which there is no room; those that the reader chose stay."""
    texts = _aligned(table)
    if width is None or not table.rows:
        return table
    natural = (
        max(len(column.header) + 2, *map(width_of, cells))
        for column, cells in zip(table.columns, texts, strict=True)
    )
    if sum(natural) + GAP * (len(table.columns) - 1) <= width:
        return table
    if table.is_plain:
        table = table.only([at for at, cells in enumerate(texts) if any(cells)])
    for name in [name for name in table.least if name not in table.chosen]:
        aligned = zip(table.columns, _aligned(table), strict=True)
        if sum(least_width(column, cells) + GAP for column, cells in aligned) - GAP <= width:
            break
        table = _without(table, name)
    return table


def _without(table: Table, name: str) -> Table:
    kept = [at for at, column in enumerate(table.columns) if column.name != name]
    gone = [column for column in table.columns if column.name == name]
    return replace(table.only(kept), left_out=[*table.left_out, *gone])


def _narrowed(table: Table, shared: str) -> Table:
    """Return a table for a notebook; shared: the line above it, which may name the data set."""
    sets = {row.group for row in table.rows}
    if len(sets) == 1 and len(table.columns) > _IN_NOTEBOOK and f"{sets.pop()}: " in shared:
        table = replace(_without(table, "data"), left_out=table.left_out)
    others = [column.name for column in table.columns[::-1] if column.meaning and not column.marks]
    for name in [name for name in (*table.least, "reps", *others) if name not in table.chosen]:
        if len(table.columns) > _IN_NOTEBOOK:
            table = _without(table, name)
    return table


def _explained(tables: Sequence[Table], hint: str) -> list[tuple[str, str]]:
    """Return the terms of the columns that are shown, and which are left out; hint: what shows these."""
    shown = {column.header for table in tables for column in table.columns}
    headers = {column.name: column.header for table in tables for column in (*table.columns, *table.left_out)}
    gone = {column.name: column.header for table in tables for column in table.left_out}
    terms = [term for term in tables[0].terms if term[0] in shown or term[0] not in gone.values()]
    # of a paper's columns: "#SV published"
    names = [
        " ".join(filter(None, (headers.get(name.rpartition("_")[0]), header)))
        for name, header in gone.items()
    ]
    return terms + ([("not shown", f"{', '.join(names)}: {hint}")] if names else [])


# -------------------------------------------------------------------- LaTeX


def escape(text: str) -> str:
    """Return text as LaTeX prints it literally."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def _latex(table: Table) -> str:
    """Return table environments, a longtable for more than LONG lines; needs UTF-8 input for accents.

    It is for submission: what the marks mean is a note below the table, and what its readers must know of
    missing numbers. The comment above has the command, what made the cells, what columns and marks mean.
    Repetitions and seconds are columns only where the reader asked for them. A list is a bare tabular.
    """
    others = {name: [_printed(one) for one in getattr(table, name)] for name in ("in_print", "also")}
    table = replace(_printed(table), **others)  # type: ignore[arg-type]
    below = _comments(table.paragraphs)
    if table.is_plain:
        about = _comments((table.command, table.shared, *table.about, *table.warnings))
        return about + "\n".join(_tabular(table)) + "\n" + below
    tables = (*(table.in_print or (table,)), *table.also)
    long = any(len(one.rows) > LONG for one in tables)
    remarks = [f"{_COMMENTED.get(term, term)}: {text}" for term, text in table.terms]
    seen = [warning for warning in table.warnings if warning.startswith(_ABSENT)]
    unseen = [f"! {warning}" for warning in table.warnings if warning not in seen]
    texts = [
        rf"% needs \usepackage{{booktabs,graphicx{',longtable' if long else ''}}}",
        _comments([table.command, table.shared, *remarks, *table.about, *unseen]).rstrip("\n"),
    ]
    texts = ["\n".join(filter(None, texts))]
    first = _label(tables[0], 0)
    for place, one in enumerate(tables):
        note = rf"Marks as in Table~\ref{{{first}}}." if place else _note(table, seen)
        texts.append("\n".join(_environment(one, _caption(one), _label(one, place), note)))
    return "\n\n".join(texts) + "\n" + below


def _printed(table: Table) -> Table:
    """Return a table as a paper prints it: without repetitions and seconds, unless they were asked for."""
    dropped = {name for name in _SELDOM if name.partition("_")[0] not in table.chosen}
    kept = [at for at, column in enumerate(table.columns) if column.name not in dropped]
    printed = table.only(kept)
    letters = {"algo." + name: letter for name, letter in SYMBOLS.items()}
    columns = [replace(one, header=letters.get(one.name, one.header)) for one in printed.columns]
    printed = replace(printed, columns=columns)
    if len(kept) == len(table.columns) or "seconds" not in dropped:
        return printed
    terms = [(term, text) for term, text in table.terms if term != "seconds"]
    warnings = [text for text in table.warnings if not text.startswith(INFLATED)]
    return replace(printed, terms=terms, warnings=warnings)


def _comments(texts: Sequence[str]) -> str:
    return "".join(f"% {line}\n" for text in texts if text for line in text.splitlines())


def _caption(table: Table) -> str:
    """Return one sentence: the title, or what the rows are."""
    title = re.sub(r"^(?:Table|Figure) [\w.]+: ", "", table.title).rstrip(".")
    names = list(dict.fromkeys(row.group for row in table.rows if row.group))
    where = " and ".join([", ".join(names[:-1]), *names[-1:]] if names[1:] else names)
    where = where if len(names) <= FEW else f"{len(names)} data sets"
    title = title or f"online learners{f' on {where}' if where else ''}"
    varies = any(isinstance(cell, Spread) and cell.varies for row in table.rows for cell in row.cells)
    what = "means and standard deviations" if varies else "means"
    if list(table.reps) == [1]:
        what = "one repetition"
    elif table.reps:
        ends = dict.fromkeys((table.reps[0], table.reps[-1]))
        what += f" over {' to '.join(map(str, ends))} repetitions"
    return escape(f"{title[0].upper()}{title[1:]}: {what}.")


def _label(table: Table, place: int) -> str:
    names = dict.fromkeys(row.group for row in table.rows if row.group)
    text = table.name or table.title or "-".join([*names][:FEW]) or "results"
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return f"tab:{slug or 'results'}{f'-{place + 1}' if place else ''}"


def _note(table: Table, warnings: Sequence[str]) -> str:
    """Return what a reader must know of the marks, and of what is missing."""
    names = MARK_NAMES["latex"]
    sentences = [
        f"{names.get(term, escape(term))}: {escape(meaning)}."
        for term, meaning in table.terms
        if term in NOTED
    ]
    return " ".join([*sentences, *(f"{escape(warning)}." for warning in warnings)])


def _environment(table: Table, caption: str, label: str, note: str) -> list[str]:
    """Return the lines of a table; of a longtable, which has its header on each page, with page breaks."""
    text = rf"\par\smallskip\noindent\parbox{{\columnwidth}}{{\footnotesize\raggedright {note}}}"
    below = [text] if note else []
    gap = rf"\setlength{{\tabcolsep}}{{{_GAP:g}pt}}"
    if len(table.rows) <= LONG:
        head = [r"\begin{table}", r"\centering", _size(table) if table.across else r"\small"]
        head += [rf"\caption{{{caption}}}", rf"\label{{{label}}}", gap]
        top, *rows = _tabular(table)
        if not table.across:  # a grid is narrow; other tables shrink to the column
            top = rf"\resizebox{{\ifdim\width>\columnwidth\columnwidth\else\width\fi}}{{!}}{{{top}"
            rows[-1] += "}"
        return [*head, top, *rows, *below, r"\end{table}"]
    pairs = _pairs(table)
    form, head = _head(table, pairs)
    starts = [number for number, row in enumerate(table.rows) if number == 0 or row.rule == "data"]
    ends: list[str] = []  # with a star where no page may end: inside a short data set
    for first, stop in pairwise([*starts, len(table.rows)]):
        ends += [r" \\*" if stop - first <= TOGETHER else r" \\"] * (stop - first - 1) + [r" \\"]
    return [
        *(r"\begingroup", _size(table), gap, r"\setlength{\LTcapwidth}{\linewidth}"),
        rf"\begin{{longtable}}{{{form}}}",
        rf"\caption{{{caption}}}\label{{{label}}} \\",
        *(*head, r"\endfirsthead", *head, r"\endhead"),
        rf"\midrule \multicolumn{{{len(pairs) + sum(pairs)}}}{{r}}{{continued on the next page}} \\",
        *(r"\endfoot", r"\bottomrule", r"\endlastfoot"),
        *_latex_rows(table, pairs, ends),
        *(r"\end{longtable}", *below, r"\endgroup"),
    ]


def _size(table: Table) -> str:
    """Return the largest size of type in which a table fits a line of LaTeX's article."""
    texts = [[str(row.cells[at]) for row in table.rows] for at in range(len(table.columns))]
    widths = [
        max(len(column.header), *map(len, column_texts), 0)
        for column, column_texts in zip(table.columns, texts, strict=True)
    ]
    room = _LINE - 2 * _GAP * len(widths)
    return next((size for size, point in _SIZES.items() if point * sum(widths) <= room), r"\tiny")


def _tabular(table: Table) -> list[str]:
    pairs = _pairs(table)
    form, head = _head(table, pairs)
    rows = _latex_rows(table, pairs, [r" \\"] * len(table.rows))
    return [rf"\begin{{tabular}}{{{form}}}", *head, *rows, r"\bottomrule", r"\end{tabular}"]


def _pairs(table: Table) -> list[bool]:
    """Return which columns take two of LaTeX's, for means and standard deviations."""
    columns = [[row.cells[at] for row in table.rows] for at in range(len(table.columns))]
    return [any(isinstance(cell, Spread) and cell.varies for cell in cells) for cells in columns]


def _head(table: Table, pairs: Sequence[bool]) -> tuple[str, list[str]]:
    """Return the form of the columns, and the lines above the rows."""
    columns = list(zip(table.columns, pairs, strict=True))
    form = "".join(r"r@{\,$\pm$\,}r" if pair else c.align[0] for c, pair in columns)
    headers = [
        rf"\multicolumn{{2}}{{c}}{{{escape(c.header)}}}" if pair else escape(c.header) for c, pair in columns
    ]
    lines = [r"\toprule", " & ".join(headers) + r" \\", r"\midrule"]
    if table.across:
        wide = len(columns) + sum(pairs)
        lines[1:1] = [
            rf"& \multicolumn{{{wide - 1}}}{{c}}{{{escape(table.across)}}} \\",
            rf"\cmidrule(l){{2-{wide}}}",
        ]
    return form, lines


def _latex_rows(table: Table, pairs: Sequence[bool], ends: Sequence[str]) -> list[str]:
    wide = len(pairs) + sum(pairs)
    rules = {"data": [r"\midrule"], "yardsticks": [rf"\cmidrule(l){{2-{wide}}}"], None: []}
    lines = []
    for cells, row, end in zip(table.cell_texts(), table.rows, ends, strict=True):
        described = zip(cells, table.columns, pairs, strict=True)
        lines += [*rules[row.rule], " & ".join(_latex_cell(*cell, row) for cell in described) + end]
    return lines


def _latex_cell(cell: str | Spread, column: Column, pair: bool, row: TableRow) -> str:
    if pair and isinstance(cell, Spread) and cell.mean == MISSING:
        return r"\multicolumn{2}{c}{--}"
    texts = [cell.mean] + [cell.std] * cell.varies if isinstance(cell, Spread) else [cell]
    mark = cell.mark if isinstance(cell, Spread) else ""
    texts = [escape(in_symbols(text) if column.name == "settings" else text) for text in texts]
    texts[0] = MARKS["latex"][mark].format(texts[0])
    return rf"\multicolumn{{2}}{{r}}{{{texts[0]}}}" if pair and len(texts) == 1 else " & ".join(texts)


# -------------------------------------------------------------------- JSON, CSV


def _json(table: Table) -> str:
    """Return strict JSON: a list, or parts by name and the warnings in "notes"; NaN becomes null."""
    if not isinstance(table.records, Mapping):
        return json.dumps(list(table.records), ensure_ascii=False, indent=1) + "\n"
    entries = []
    for name, frame in table.records.items():
        if isinstance(frame, Mapping):
            entries.append(f"{json.dumps(name)}: {json.dumps(_strict(frame), allow_nan=False)}")
            continue
        records = [_strict(record) for record in frame.to_dict("records")]
        lines = [json.dumps(record, allow_nan=False, ensure_ascii=False) for record in records]
        entries.append(f"{json.dumps(name)}: [" + "".join(f"\n  {line}," for line in lines)[:-1] + "\n]")
    entries.append(f'"notes": {json.dumps([*table.about, *table.warnings], ensure_ascii=False)}')
    return "{" + ",\n".join(entries) + "}\n"


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


def _csv(table: Table) -> str:
    """Return CSV, which has no place for the warnings of results: they are given to Python's."""
    flat: Any = table.flat() if table.flat else table.records
    if not table.is_plain:
        for warning in table.warnings:
            warn(warning, stacklevel=2)
    return csv_of(flat)


def csv_of(flat: "Records | pd.DataFrame") -> str:
    """Return records or a DataFrame as CSV."""
    frame: Any = flat
    if hasattr(flat, "to_csv"):
        texts = {name: frame[name].map(as_data) for name in frame if frame[name].dtype.kind not in "biuf"}
        return frame.assign(**texts).rename(columns=as_data).to_csv(index=False, lineterminator="\n")
    text = io.StringIO()
    writer = csv.DictWriter(text, frame[0].keys() if frame else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_data(value) for name, value in record.items()} for record in frame)
    return text.getvalue()


_WRITERS: dict[str, Callable[[Table], str]] = {
    "table": _terminal,
    "json": _json,
    "csv": _csv,
    "markdown": markdown_of,
    "latex": _latex,
    "html": lambda table: table.html() + "\n",
}

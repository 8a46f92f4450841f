"""Tables and sentences as Markdown, and Markdown as HTML: nothing else of omkl writes HTML.

HTML inside the Markdown is text, so that no name becomes markup.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omkl.errors import printable
from omkl.reports.table_cells import MARK_NAMES, MARKS, Column, Spread, TableRow, padded

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKUP = re.compile(r"(`[^`\n]+`)|([\\|*_`<\[])")
LONG = 40  # characters of a cell from which on it takes several lines
_NAMES = ("learner", "algo")  # headers of the column that stays in view while a table scrolls


def prose(text: str) -> str:
    """Escape what Markdown would take for markup in names and messages; what is in backticks stays."""
    return _MARKUP.sub(lambda match: match[1] or f"\\{match[2]}", text)


def listed(texts: Iterable[str], sign: str = "*") -> str:
    """Return a list of the texts that are not empty; without a sign, lines of a paragraph."""
    return "\n".join(f"{sign} {text}".strip() for text in texts if text)


def markdown_of(table: Any) -> str:
    """Return a table.Table with all that is said around it."""
    blocks = [f"`{table.command}`" if table.command else "", prose(printable(table.shared))]
    for one in (table, *table.also):
        blocks += [f"**{prose(printable(one.title))}**" if one.title else "", _pipes(one)]
    terms = [(MARK_NAMES["markdown"].get(term, prose(term)), prose(text)) for term, text in table.terms]
    blocks.append(listed(f"{term}: {text}" for term, text in terms))
    blocks.append(listed(map(prose, table.about)))
    blocks.append(listed(f"**{prose(warning)}**" for warning in table.warnings))
    blocks += map(prose, table.paragraphs)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _pipes(table: Any) -> str:
    columns = table.columns
    body = [
        [_cell(*cell, row) for cell in zip(cells, columns, strict=True)]
        for cells, row in zip(table.cell_texts(), table.rows, strict=True)
    ]
    headers = [_in_cell(column.header) for column in columns]
    widths = [max(len(header) + 2, *(len(row[at]) for row in body), 0) for at, header in enumerate(headers)]
    rules = [
        f":{'-' * (width + 1)}" if column.align == "left" else f"{'-' * (width + 1)}:"
        for column, width in zip(columns, widths, strict=True)
    ]
    lines = [f"|{'|'.join(rules)}|"]
    for texts in (headers, *body):
        cells = (f" {padded(*cell)} " for cell in zip(texts, columns, widths, strict=True))
        lines.append(f"|{'|'.join(cells)}|")
    return "\n".join([lines[1], lines[0], *lines[2:]])


def _cell(cell: str | Spread, column: Column, row: TableRow) -> str:
    if isinstance(cell, Spread):
        return MARKS["markdown"][cell.mark].format(cell)
    if column.name == "reps" and not row.complete:
        return f"**{cell}**"
    return _in_cell(cell) + (" (yardstick)" if column.name == "learner" and row.is_yardstick else "")


def _in_cell(text: str) -> str:
    return prose(text.replace("`", "'"))  # a | inside of backticks would end the cell


# -------------------------------------------------------------------- HTML


def html_of(text: str, files: Mapping[str, str] | None = None) -> str:
    """Return Markdown as HTML.

    files: by name what a picture's name or a link's address stands for: the element of a figure (SVG), or an
    address with the content (data:). Other pictures and links are their texts.
    """
    parser = _parser()
    tokens = parser.parse(text)
    _name_cells(tokens)
    return parser.renderer.render(tokens, parser.options, {"files": files or {}})


def html_of_table(table: Any) -> str:
    """Return a table.Table with its own style, readable on a dark and on a light page."""
    return f'<div class="omkl"><style>\n{own_file("table.css")}</style>\n{html_of(markdown_of(table))}</div>'


@cache
def own_file(name: str) -> str:
    """Return a file of omkl/web."""
    return resources.files("omkl").joinpath("web", name).read_text(encoding="utf-8")


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for rule in (_image, _link_open, _table_open, _table_close):
        parser.add_render_rule(rule.__name__[1:], rule)
    return parser


def _image(self: Any, tokens: "Sequence[Token]", place: int, options: Any, env: Any) -> str:
    token = tokens[place]
    return env["files"].get(token.attrGet("src"), escape(token.content))


def _link_open(self: Any, tokens: "Sequence[Token]", place: int, options: Any, env: Any) -> str:
    name = str(tokens[place].attrGet("href"))
    if name not in env["files"]:
        return "<a>"
    return f'<a href="{escape(env["files"][name])}" download="{escape(name.rpartition("/")[2])}">'


def _table_open(self: Any, tokens: "Sequence[Token]", place: int, options: Any, env: Any) -> str:
    return '<div class="scroll" tabindex="0"><table>\n'


def _table_close(self: Any, tokens: "Sequence[Token]", place: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _name_cells(tokens: "Sequence[Token]") -> None:
    """Give the cells of tables classes in place of styles: numbers, and the names of rows."""
    column, name = 0, None
    for token, inner in pairwise(tokens):
        if token.type == "table_open":
            name = None
        elif token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            if token.type == "th_open" and inner.content in _NAMES:
                name = column
            kinds = ["number"] if "right" in str(token.attrs.pop("style", "")) else []
            kinds += ["name"] * (column == name) + ["long"] * (len(inner.content) > LONG)
            if kinds:
                token.attrSet("class", " ".join(kinds))
            column += 1

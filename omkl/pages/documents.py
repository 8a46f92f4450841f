"""What a page holds: sections with texts, tables and figures. It is Markdown; a browser gets it as HTML."""

import base64
import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Template
from typing import Protocol

from omkl import __version__
from omkl.figures.figure import Figure
from omkl.figures.style import FigureStyle, in_style
from omkl.files import write_text
from omkl.reports.markdown import html_of, listed, own_file, prose
from omkl.reports.results_table import MADE_WITH, URGENT
from omkl.reports.table import Table

ORIGIN = "where the numbers come from: commands, code, machines"


@dataclass(frozen=True)
class Filed:
    """A table or figure with files of its own; stem: their name without the ending."""

    stem: str
    content: Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures.

    numbered: the paragraphs are a numbered list    origin: it says where numbers come from, which opens at
    the end of the page    rest: the page has only links to its files
    """

    title: str
    parts: Sequence[Filed | Table] = ()
    texts: Sequence[str] = ()
    numbered: bool = False
    origin: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Page:
    """A page.

    name: for file names    about: lines under the title    answer: what a reader takes home: a line, and
    further points    command: that makes it    cells: the commands that made its cells
    warnings: those of what is missing are shown on top, others at the end
    """

    name: str
    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    warnings: Sequence[str] = ()
    answer: Sequence[str] = ()
    cells: Sequence[str] = ()


class _Place(Protocol):
    """Where the files of tables and figures go; folds: long tables open on a click."""

    folds: bool

    def table(self, stem: str, table: Table) -> str:
        """Return links to a table's files, as Markdown."""

    def figure(self, stem: str, figure: Figure) -> tuple[str, str]:
        """Return the address of a figure's picture, and links to its files."""


# ------------------------------------------------------------------ what both have

LONG = 60  # lines of a table from which on it opens on a click


def _answer(page: Page) -> str:
    sign = "*" if len(page.answer) > 2 else ""
    return _joined([*page.answer[:1], listed(page.answer[1:], sign)])


def _urgent(page: Page, urgent: bool) -> str:
    """Return the warnings of what is missing, or the others."""
    texts = [text for text in dict.fromkeys(page.warnings) if bool(URGENT.search(text)) == urgent]
    return listed(f"**{prose(text)}**" for text in texts)


def _contents(page: Page, place: _Place, made_by: str) -> tuple[list[tuple[str, str]], str]:
    """Return the titles and texts of the sections, and the text on where the numbers come from."""
    sections, rest, commands = [], [], []
    for section in page.sections:
        if section.origin:
            continue
        content = _texts(section)
        for part in section.parts:
            if isinstance(part, Table):
                content.append(_text_of(part))
                continue
            text, links = _written(part, place)
            content += [links, text] if isinstance(part.content, Table) else [text, links]
            rest += [f"{section.title}: {links}"] * section.rest
            commands.append(f"`{part.content.command}`" if part.content.command else "")
        sections += [] if section.rest else [(section.title, _joined(content))]
    sections += [("All tables", listed(rest))] if rest else []
    origin = [f"Made by {made_by}." if made_by else "", _urgent(page, False)]
    for title, texts in (("Tables, figures and claims", commands), ("Their cells", map(_code, page.cells))):
        if items := listed(dict.fromkeys(texts)):
            origin += [f"{title}:", items]
    for section in page.sections:
        if section.origin:
            origin += [f"**{section.title}**", *_texts(section)]
            origin += [part.render("markdown") for part in section.parts if isinstance(part, Table)]
    return sections, _joined(origin)


def _joined(blocks: Sequence[str]) -> str:
    return "\n\n".join(block.rstrip("\n") for block in blocks if block)


def _code(text: str) -> str:
    return f"`{text}`"


def _texts(section: Section) -> list[str]:
    if not section.numbered:
        return [_sentence(text) for text in section.texts]
    return ["\n".join(f"{place}. {text}" for place, text in enumerate(section.texts, 1))]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def _written(part: Filed, place: _Place) -> tuple[str, str]:
    """Put the files of a table or figure where they belong; return it as Markdown, and links to them."""
    content = part.content
    if isinstance(content, Figure):
        address, links = place.figure(part.stem, content)
        picture = f"![{prose(content.title or part.stem)}]({address})"
        notes = listed(f"**{prose(warning)}**" for warning in content.warnings)
        return _joined([picture, prose(_sentence(content.note)), notes]), links
    text = _text_of(replace(content, title=""))
    if place.folds and text.count("\n|") > LONG:
        text = f"<details><summary>the table</summary>\n\n{text}\n</details>"
    return text, place.table(part.stem, content)


def _text_of(table: Table) -> str:
    """Return a table without its command and origin, which are said at the end of the page."""
    terms = [term for term in table.terms if term[0] != MADE_WITH]
    return replace(table, command="", terms=terms).render("markdown")


def _links(files: dict[str, str]) -> str:
    return " · ".join(f"[{name.rpartition('.')[2]}]({address})" for name, address in files.items())


# ------------------------------------------------------------------ Markdown beside its files

SUFFIXES = {"csv": "csv", "tex": "latex"}


class _Beside:
    """Files in a folder beside the page; report: gets each file's stem once it is written."""

    folds = True

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        self.folder, self.report = folder, report
        folder.mkdir(parents=True, exist_ok=True)

    def table(self, stem: str, table: Table) -> str:
        for suffix, fmt in SUFFIXES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a CSV: the page has them
                write_text(self.folder / f"{stem}.{suffix}", table.render(fmt))
        return self._linked(stem, [f"{stem}.{suffix}" for suffix in SUFFIXES])

    def figure(self, stem: str, figure: Figure) -> tuple[str, str]:
        printed = FigureStyle(width=figure.print_width, title=False)
        with in_style(printed):
            files = replace(figure, command=figure.command + printed.words()).write(self.folder / stem)
        return f"{self.folder.name}/{stem}.png", self._linked(stem, [file.name for file in files])

    def _linked(self, stem: str, names: list[str]) -> str:
        self.report(str(self.folder / stem))
        return _links({name: f"{self.folder.name}/{name}" for name in names})


def write_markdown(
    page: Page, folder: Path, made_by: str = "", report: Callable[[str], None] = print
) -> Path:
    """Write folder/NAME.md and, in folder/NAME/, each table as .csv and .tex, each figure as .png and .pdf.

    The page begins with its answer. Commands, code and machines are folded at its end.
    made_by: what made the page    report: gets each file's stem once it is written
    """
    sections, origin = _contents(page, _Beside(folder / page.name, report), made_by)
    blocks = [f"# {prose(page.title)}", *map(prose, page.about), _answer(page), _urgent(page, True)]
    for title, text in sections:
        blocks += [f"## {prose(title)}", text]
    blocks += [f"<details><summary>{ORIGIN}</summary>", origin, "</details>"]
    path = folder / f"{page.name}.md"
    write_text(path, _joined(blocks) + "\n")
    report(str(path))
    return path


# ------------------------------------------------------------------ one file for a browser

WIDE = 5.5  # inches of a figure from which on a narrow screen scrolls it
# No script runs and nothing is fetched; the style sheet is allowed by its hash.
_POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; style-src-attr 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


class _Inside:
    """Files inside the page: figures as elements, tables as addresses with their CSV."""

    folds = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.files: dict[str, str] = {}

    def table(self, stem: str, table: Table) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = base64.b64encode(table.render("csv").encode()).decode()
        self.files[f"{stem}.csv"] = f"data:text/csv;charset=utf-8;base64,{content}"
        return _links({f"{stem}.csv": f"{stem}.csv"})

    def figure(self, stem: str, figure: Figure) -> tuple[str, str]:
        text = figure.svg(f"{self.name}-{stem}")
        points = float(text.partition('width="')[2].partition("pt")[0])
        kind = ' class="wide"' if points > 72 * WIDE else ""
        label = escape(figure.title or stem)
        self.files[stem] = f'<figure{kind} tabindex="0" role="img" aria-label="{label}">{text}</figure>'
        return stem, ""


def document(page: Page) -> str:
    """Return the page as HTML."""
    place = _Inside(page.name)
    sections, origin = _contents(page, place, _code(page.command) if page.command else "")
    body, contents = [f"<h1>{escape(page.title)}</h1>"], []
    for kind, text in (
        ("about", _joined([*map(prose, page.about)])),
        ("answer", _answer(page)),
        ("warnings", _urgent(page, True)),
    ):
        body += [f'<div class="{kind}">{html_of(text)}</div>'] if text else []
    for number, (title, text) in enumerate(sections, 1):
        html = html_of(text, place.files)
        contents.append(f'<a href="#s{number}">{escape(title)}</a>')
        body.append(f'<section id="s{number}"><h2>{escape(title)}</h2>\n{html}</section>')
    if origin:
        body.append(f"<details><summary>{ORIGIN}</summary>\n{html_of(origin)}</details>")
    style = own_file("table.css") + own_file("page.css")
    return Template(own_file("page.html")).substitute(
        policy=_POLICY.format(style=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()),
        version=__version__,
        title=escape(page.title),
        style=style,
        contents="".join(contents),
        body="\n".join(body),
    )


def write_html(page: Page, path: Path) -> int:
    """Write the page to a file as a whole, and return its bytes. Raises OmklError where that fails."""
    return write_text(path, document(page))

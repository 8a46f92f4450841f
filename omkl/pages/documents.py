"""What a page holds: sections with texts, tables and figures, written twice: as Markdown and as HTML."""

import base64
import gzip
import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from omkl import __version__
from omkl.figures.style import Figure, FigureStyle, in_style
from omkl.files import write_text
from omkl.reports.results_table import MADE_WITH, URGENT
from omkl.reports.table import Table, csv_of
from omkl.reports.table_cells import template


@dataclass(frozen=True)
class Filed:
    """A table or figure of a paper, which has files of its own beside a Markdown page.

    stem: of these files    made: what they hold, and Markdown shows    shown: the same for the browser, with
    what opens below each row
    """

    stem: str
    made: Table | Figure
    shown: Table | Figure


Block = Filed | Table | Figure  # one without files: Markdown shows the table, and leaves out the figure


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures.

    numbered: the paragraphs are a numbered list    origin: it says where numbers come from, which Markdown
    folds at the end of the page    rest: Markdown has only links to its files
    """

    title: str
    parts: Sequence[Block] = ()
    texts: Sequence[str] = ()
    numbered: bool = False
    origin: bool = False
    rest: bool = False


@dataclass(frozen=True)
class Page:
    """A page.

    name: for file names    about: lines under the title    answer: what a reader takes home: a line, and
    further points    command: that makes it    cells: the commands that made its cells
    warnings: shown on top
    """

    name: str
    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    warnings: Sequence[str] = ()
    answer: Sequence[str] = ()
    cells: Sequence[str] = ()


# ------------------------------------------------------------------ HTML: one file that needs nothing else
# A table's CSV and the details of its rows are compressed JSON, which the script unpacks. The policy in the
# head allows the script and the style sheet by their hashes, and no network.

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{css}'; "
    "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
WIDE = 5.5  # inches of a figure from which on a narrow screen scrolls it


def document(page: Page) -> str:
    """Return the page as HTML."""
    from jinja2.utils import markupsafe

    Markup = markupsafe.Markup

    tables: dict[str, Any] = {}
    sections = [replace(section, parts=list(map(_shown, section.parts))) for section in page.sections]
    page = replace(page, sections=sections)
    for place, section in enumerate(sections, 1):
        for number, part in enumerate(section.parts, 1):
            if isinstance(part, Table):
                flat = part.flat() if part.flat else part.records
                about = [list(row.about) for row in part.rows]
                content = {"file": f"{part.name}.csv", "csv": csv_of(flat), "about": about}  # type: ignore[arg-type]
                tables[f"s{place}-{number}"] = content
    boxes: dict[str, list[str]] = {"Warnings": [], "Notes": []}
    for text in dict.fromkeys(page.warnings):
        boxes["Warnings" if URGENT.search(text) else "Notes"].append(text)
    script, css = _own("page.js"), _own("page.css")
    text = json.dumps(tables, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return template("page.html").render(
        page=page,
        warnings=boxes.items(),
        script=Markup(script),
        css=Markup(css),
        data=base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode(),
        policy=Markup(_POLICY.format(script=_hash(script), css=_hash(css))),
        svg=lambda figure, which: Markup(_svg(figure, f"{page.name}-{which}")),
        version=__version__,
    )


def _shown(part: Block) -> Table | Figure:
    return part.shown if isinstance(part, Filed) else part


def write_html(page: Page, path: Path) -> int:
    """Write the page to a file as a whole, and return its bytes. Raises OmklError where that fails."""
    return write_text(path, document(page))


def _svg(figure: Figure, which: str) -> str:
    """Return a figure's element; what is wider than a phone is marked."""
    text = figure.svg(which)
    points = float(text.partition('width="')[2].partition("pt")[0])
    return text.replace("<svg ", '<svg data-wide="" ', 1) if points > 72 * WIDE else text


@cache
def _own(name: str) -> str:
    return resources.files("omkl").joinpath("web", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# ------------------------------------------------------------------ Markdown

LONG = 60  # lines of a table from which on it opens on a click
SUFFIXES = {"csv": "csv", "tex": "latex"}


def write_markdown(
    page: Page, folder: Path, made_by: str = "", report: Callable[[str], None] = print
) -> Path:
    """Write folder/NAME.md and, in folder/NAME/, each table as .csv and .tex, each figure as .png and .pdf.

    The page begins with its answer. Commands, code and machines are folded at its end.
    made: what made the page    report: gets each file's stem once it is written
    """
    inner = folder / page.name
    inner.mkdir(parents=True, exist_ok=True)
    blocks = [f"# {page.title}", *page.about, *page.answer[:1]]
    blocks.append(_listed("*" if len(page.answer) > 2 else "", page.answer[1:]))
    commands = []
    rest = []
    for section in page.sections:
        if section.origin:
            continue
        content = [f"## {section.title}", *_texts(section)]
        for part in section.parts:
            if isinstance(part, Filed):
                text, links = _written(part, inner)
                content += [links, text] if isinstance(part.made, Table) else [text, links]
                rest += [f"{section.title}: {links}"] * section.rest
                commands.append(f"`{part.made.command}`" if part.made.command else "")
                report(str(inner / part.stem))
            elif isinstance(part, Table):
                content.append(part.render("markdown"))
        blocks += [] if section.rest else content
    blocks += ["## All tables", _listed("*", rest)] if rest else []
    origin = ["<details><summary>where the numbers come from: commands, code, machines</summary>"]
    origin += [
        f"Made by {made_by}." if made_by else "",
        "Tables, figures and claims:",
        _listed("*", commands),
    ]
    origin += ["Their cells:", _listed("*", [f"`{command}`" for command in page.cells])]
    for section in page.sections:
        if section.origin:
            origin += [f"**{section.title}**", *_texts(section)]
            origin += [part.render("markdown") for part in section.parts if isinstance(part, Table)]
    text = "\n\n".join(block.rstrip("\n") for block in (*blocks, *origin, "</details>") if block)
    path = folder / f"{page.name}.md"
    write_text(path, text + "\n")
    report(str(path))
    return path


def _listed(sign: str, texts: Sequence[str]) -> str:
    return "\n".join(f"{sign} {text}".strip() for text in texts if text)


def _texts(section: Section) -> list[str]:
    if not section.numbered:
        return [_sentence(text) for text in section.texts]
    return ["\n".join(f"{place}. {text}" for place, text in enumerate(section.texts, 1))]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def _written(part: Filed, inner: Path) -> tuple[str, str]:
    """Write the files of a table or figure, and return it as Markdown, and links to them."""
    content, files = part.made, []
    if isinstance(content, Figure):
        printed = FigureStyle(width=content.print_width, title=False)
        with in_style(printed):
            files = replace(content, command=content.command + printed.words()).write(inner / part.stem)
        picture = f"![{content.title}]({inner.name}/{part.stem}.png)"
        notes = _listed("*", [f"**{warning}**" for warning in content.warnings])
        return "\n\n".join(filter(None, (picture, _sentence(content.note), notes))), _links(inner.name, files)
    for suffix, fmt in SUFFIXES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a CSV: the page has them
            files.append(inner / f"{part.stem}.{suffix}")
            write_text(files[-1], content.render(fmt))
    terms = [term for term in content.terms if term[0] != MADE_WITH]
    text = replace(content, title="", command="", terms=terms).render("markdown")
    if text.count("\n|") > LONG:
        text = f"<details><summary>the table</summary>\n\n{text}\n</details>"
    return text, _links(inner.name, files)


def _links(folder: str, files: list[Path]) -> str:
    return " · ".join(f"[{file.suffix[1:]}]({folder}/{file.name})" for file in files)

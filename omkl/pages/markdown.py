"""A paper's page as Markdown: results/NAME.md, and in results/NAME the files of its tables and figures."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from omkl.figures.style import Figure, FigureStyle, in_style
from omkl.files import write_text
from omkl.pages.sections import Filed, Page, Section
from omkl.reports.results_table import MADE_WITH
from omkl.reports.table import Table

LONG = 60  # lines of a table from which on it opens on a click
SUFFIXES = {"csv": "csv", "tex": "latex"}


def write_markdown(page: Page, folder: Path, made: str = "", report: Callable[[str], None] = print) -> Path:
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
        own = [f"## {section.title}", *_texts(section)]
        for part in section.parts:
            if isinstance(part, Filed):
                text, links = _written(part, inner)
                own += [links, text] if isinstance(part.made, Table) else [text, links]
                rest += [f"{section.title}: {links}"] * section.rest
                commands.append(f"`{part.made.command}`" if part.made.command else "")
                report(str(inner / part.stem))
            elif isinstance(part, Table):
                own.append(part.render("markdown"))
        blocks += [] if section.rest else own
    blocks += ["## All tables", _listed("*", rest)] if rest else []
    origin = ["<details><summary>where the numbers come from: commands, code, machines</summary>"]
    origin += [f"Made by {made}." if made else "", "Tables, figures and claims:", _listed("*", commands)]
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
    made, files = part.made, []
    if isinstance(made, Figure):
        printed = FigureStyle(width=made.print_width, title=False)
        with in_style(printed):
            files = replace(made, command=made.command + printed.words()).write(inner / part.stem)
        picture = f"![{made.title}]({inner.name}/{part.stem}.png)"
        notes = _listed("*", [f"**{warning}**" for warning in made.warnings])
        return "\n\n".join(filter(None, (picture, _sentence(made.note), notes))), _links(inner.name, files)
    for suffix, fmt in SUFFIXES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a CSV: the page has them
            files.append(inner / f"{part.stem}.{suffix}")
            write_text(files[-1], made.render(fmt))
    terms = [term for term in made.terms if term[0] != MADE_WITH]
    text = replace(made, title="", command="", terms=terms).render("markdown")
    if text.count("\n|") > LONG:
        text = f"<details><summary>the table</summary>\n\n{text}\n</details>"
    return text, _links(inner.name, files)


def _links(folder: str, files: list[Path]) -> str:
    return " · ".join(f"[{file.suffix[1:]}]({folder}/{file.name})" for file in files)

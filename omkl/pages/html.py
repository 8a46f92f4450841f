"""A page as one HTML file that needs nothing else: style sheet, script, tables and figures inside.

A table's CSV and the details of its rows are compressed JSON, which the script unpacks. The policy in the
head allows the script and the style sheet by their hashes, and no network.
"""

import base64
import gzip
import hashlib
import json
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from omkl import __version__
from omkl.figures.style import Figure
from omkl.files import write_text
from omkl.pages.sections import Filed, Page, Part
from omkl.reports.results_table import URGENT
from omkl.reports.table import Table, csv_of
from omkl.reports.table_html import template

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
                own = {"file": f"{part.name}.csv", "csv": csv_of(flat), "about": about}  # type: ignore[arg-type]
                tables[f"s{place}-{number}"] = own
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


def _shown(part: Part) -> Table | Figure:
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

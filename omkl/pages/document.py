"""A page as one HTML file that needs nothing else: style sheet, scripts, data and plotting library inside.

The tree is made of elements whose texts the standard library escapes, so no name becomes markup. The data are
compressed JSON. The policy in the head allows the two scripts by their hashes and no network.
"""

import base64
import gzip
import hashlib
import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from omkl import __version__
from omkl.errors import UserError
from omkl.files import write_text
from omkl.pages.content import Page, Progress, Section, Table
from omkl.pages.page_figures import as_json
from omkl.reports.display import MISSING, Column, Spread
from omkl.reports.figures import Figure

Element = ElementTree.Element
SCRIPTS = ("tables.js", "views.js", "figures.js", "page.js")
LONG = 50  # characters of a text that is wrapped
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src {connect}; base-uri 'none'; form-action 'none'"
)


def document(page: Page, *, live: str = "", library: bool = True) -> str:
    """Return the page as HTML.

    live: its version, for a page that asks its server for newer ones
    library: False leaves the plotting library out, for a page that only brings news
    Raises UserError where the library is not installed.
    """
    tables: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    main = _main(page, tables, figures)
    data = {"name": page.name, "live": live, "tables": tables, "figures": figures}
    script = "".join(_own(name) for name in SCRIPTS)
    plotly = _library()
    scripts = " ".join(f"'sha256-{_hash(text)}'" for text in (script, plotly))
    policy = _POLICY.format(scripts=scripts, connect="'self'" if live else "'none'")
    packed = _packed(json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")))
    head = _el(
        "head",
        {},
        _el("meta", {"charset": "utf-8"}),
        _el("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        _el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        _el("meta", {"name": "color-scheme", "content": "light dark"}),
        _el("meta", {"name": "generator", "content": f"omkl {__version__}"}),
        _el("meta", {"name": "referrer", "content": "no-referrer"}),
        _el("link", {"rel": "icon", "href": "data:,"}),
        _el("title", {}, page.title),
        _el("style", {}, _own("page.css")),
    )
    body = _el(
        "body",
        {},
        _el("a", {"href": "#main", "class": "skip"}, "to the results"),
        main,
        _el("script", {"type": "text/plain", "id": "data"}, packed),
        _el("script", {"type": "text/plain", "id": "library"}, _packed_library() if library else ""),
        _el("script", {}, script),
    )
    html = _el("html", {"lang": "en"}, head, body)
    return "<!doctype html>\n" + ElementTree.tostring(html, encoding="unicode", method="html") + "\n"


def write(page: Page, path: Path) -> int:
    """Write the page to a file as a whole, and return its bytes. Raises OmklError where that fails."""
    return write_text(path, document(page))


@cache
def _own(name: str) -> str:
    return resources.files("omkl.pages").joinpath("web", name).read_text(encoding="utf-8")


@cache
def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise UserError("omkl report needs plotly for its figures: pip install 'omkl[report]'") from None
    return get_plotlyjs().replace("\r\n", "\n")  # as a browser would before it compares the hash


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _packed_library() -> str:
    return _packed(_library())


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _el(tag: str, attributes: dict[str, str], *parts: "Element | str | None") -> Element:
    """Return an element with texts and other elements in it; None is left out."""
    made = Element(tag, attributes)
    for part in parts:
        if isinstance(part, Element):
            made.append(part)
        elif part and len(made):
            made[-1].tail = (made[-1].tail or "") + part
        elif part:
            made.text = (made.text or "") + part
    return made


def _button(kind: str, text: str, **attributes: str) -> Element:
    own = {name.replace("_", "-"): value for name, value in attributes.items()}
    return _el("button", {"type": "button", "class": kind, **own}, text)


# -------------------------------------------------------------------- the page


def _main(page: Page, tables: dict[str, Any], figures: dict[str, Any]) -> Element:
    links = [
        _el("li", {}, _el("a", {"href": f"#s{place}"}, section.title))
        for place, section in enumerate(page.sections, 1)
    ]
    theme = _button("theme", "light / dark", aria_label="change between light and dark")
    head = [_el("h1", {}, page.title), *(_el("p", {"class": "about"}, text) for text in page.about if text)]
    if page.command:
        head.append(_command(page.command))
    warnings = [_el("li", {}, text) for text in dict.fromkeys(page.warnings)]
    if warnings:
        head.append(
            _el(
                "div",
                {"class": "warnings", "role": "note"},
                _el("strong", {}, "Notes and warnings"),
                _el("ul", {}, *warnings),
            )
        )
    if page.progress:
        head.append(_progress(page.progress))
    sections = [_section(place, own, tables, figures) for place, own in enumerate(page.sections, 1)]
    content = (_el("summary", {}, "sections"), _el("ol", {}, *links))
    nav = _el("nav", {"aria-label": "sections"}, _el("details", {"open": ""}, *content), theme)
    return _el("div", {"id": "page"}, nav, _el("main", {"id": "main"}, _el("header", {}, *head), *sections))


def _command(text: str) -> Element:
    return _el("p", {"class": "command"}, _el("code", {}, text), _button("copy", "copy"))


def _progress(progress: Progress) -> Element:
    text = f"{progress.done} of {progress.total} cells done, {progress.failed} failed"
    bar = _el(
        "progress", {"max": str(progress.total), "value": str(progress.done), "aria-label": "cells done"}
    )
    state = _el("p", {"id": "state", "aria-live": "polite"}, text)
    columns = list(progress.rows[0]) if progress.rows else []
    head = _el("tr", {}, *(_el("th", {"scope": "col"}, name) for name in columns))
    rows = [_el("tr", {}, *(_el("td", {}, str(value)) for value in row.values())) for row in progress.rows]
    table = _el("table", {}, _el("thead", {}, head), _el("tbody", {}, *rows))
    detail = _el("details", {}, _el("summary", {}, "per learner and data set"), table)
    return _el("section", {"id": "progress"}, state, bar, detail)


def _section(place: int, section: Section, tables: dict[str, Any], figures: dict[str, Any]) -> Element:
    parts: list[Element] = []
    if section.numbered:
        parts.append(_el("ol", {"class": "text"}, *(_el("li", {}, text) for text in section.texts)))
    else:
        parts += [_el("p", {"class": "text"}, text) for text in section.texts]
    for number, part in enumerate(section.parts, 1):
        which = f"s{place}-{number}"
        if isinstance(part, Table):
            tables[which] = {"file": f"{part.name}.csv", "csv": part.csv}
            tables[which]["about"] = [list(line.about) for line in part.lines]
            parts.append(_table(which, part))
        else:
            figures[which] = as_json(part) | {"title": section.title}
            parts.append(_figure(which, part, figures[which]))
    return _el("section", {"id": f"s{place}"}, _el("h2", {}, section.title), *parts)


def _figure(which: str, figure: Figure, data: dict[str, Any]) -> Element:
    plot = _el("div", {"class": "plot", "tabindex": "0", "role": "img", "aria-label": data["title"]})
    caption = _el("figcaption", {}, data["caption"])
    hint = _el("noscript", {}, "The figures need JavaScript.")
    tools = _el("div", {"class": "tools"})
    legend, spoken = _el("div", {"class": "legend"}), _el("p", {"class": "spoken", "aria-live": "polite"})
    below = [_command(figure.command)] if figure.command else []
    return _el("figure", {"id": which}, tools, plot, hint, legend, spoken, caption, *below)


# -------------------------------------------------------------------- tables


def _table(which: str, table: Table) -> Element:
    opens = any(line.about for line in table.lines)
    head = [_el("th", {"class": "more"}, _el("span", {"class": "hidden"}, "details"))] if opens else []
    meanings = dict(table.terms)
    head += [_header(column, meanings) for column in table.columns]
    rows = [_row(which, place, table, opens) for place in range(len(table.lines))]
    own = _el("table", {}, _el("thead", {}, _el("tr", {}, *head)), _el("tbody", {}, *rows))
    filters = _el("input", {"type": "search", "placeholder": "filter rows", "aria-label": "filter the rows"})
    counted = _el("span", {"class": "count", "aria-live": "polite"})
    tools = _el("div", {"class": "tools"}, filters, counted, _button("csv", "CSV", title="save as CSV"))
    below: list[Element] = [_el("p", {"class": "text"}, text) for text in table.below]
    if table.notes:
        notes = enumerate(table.notes, 1)
        items = [_el("li", {"id": f"{which}-note-{number}"}, text) for number, text in notes]
        below.append(_el("ol", {"class": "notes"}, *items))
    if table.terms:
        terms = [part for pair in table.terms for part in (_el("dt", {}, pair[0]), _el("dd", {}, pair[1]))]
        below.append(_el("details", {}, _el("summary", {}, "what the columns mean"), _el("dl", {}, *terms)))
    if table.command:
        below.append(_command(table.command))
    scroll = _el("div", {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": table.name}, own)
    return _el("div", {"class": "table", "id": which}, tools, scroll, *below)


def _header(column: Column, meanings: dict[str, str]) -> Element:
    measure, _, part = column.name.rpartition("_")
    of = {"mistake_pct": "mistake %", "n_sv_sum": "#SV", "seconds": "seconds"}.get(measure, "")
    is_part = part in ("published", "diff", "ratio") and of
    sort = _button("sort", column.header, title=meanings.get(column.header, ""))
    note = _el("small", {}, of) if is_part else None
    return _el("th", {"scope": "col", "class": _kind(column), "data-column": column.name}, sort, note)


def _kind(column: Column) -> str:
    """Return the classes of a column's cells; a row's name stays in view when a narrow screen scrolls."""
    side = "text" if column.align == "left" else "number"
    return f"{side} stick" if column.name in ("learner", "algo") else side


def _row(which: str, place: int, table: Table, opens: bool) -> Element:
    line = table.lines[place]
    kinds = [name for name in ("marked", "is_yardstick") if getattr(line, name)]
    kinds += [] if line.complete else ["incomplete"]
    if place and line.group != table.lines[place - 1].group:
        kinds.append("begins")
    elif place and line.is_yardstick > table.lines[place - 1].is_yardstick:
        kinds.append("yardsticks")
    cells = []
    if opens:
        label = f"details of row {place + 1}"
        more = _button("more", "▸", aria_expanded="false", aria_label=label) if line.about else None
        cells.append(_el("td", {"class": "more"}, more))
    repeated = bool(place) and bool(line.group) and line.group == table.lines[place - 1].group
    for column, cell in zip(table.columns, line.cells, strict=True):
        kind = _kind(column)
        if column.name == "data" and repeated:
            kind += " again"
        kind += " long" if len(str(cell)) > LONG and column.align == "left" else ""
        refs = line.refs if column.name == "verdict" else ()
        cells.append(
            _el("td", {"class": kind}, *_cell(cell, column, line.marked), *_refs(which, refs, table))
        )
    return _el("tr", {"class": " ".join(kinds), "data-group": line.group, "data-row": str(place)}, *cells)


def _cell(cell: str | Spread, column: Column, marked: bool) -> list[Element | str]:
    if not isinstance(cell, Spread):
        return [cell]
    if cell.mean == MISSING:
        return [MISSING]
    mark = "* " if column.marks and marked else ""
    std = _el("small", {}, f" ± {cell.std}") if cell.std != MISSING else ""
    return [_el("b" if mark else "span", {}, f"{mark}{cell.mean}"), std]


def _refs(which: str, refs: Any, table: Table) -> list[Element | str]:
    links: list[Element | str] = []
    for number in refs:
        about = {"href": f"#{which}-note-{number}", "title": table.notes[number - 1], "class": "ref"}
        links += [" ", _el("a", about, f"[{number}]")]
    return links

"""A page as one HTML file that needs nothing else: style sheet, scripts, data and plotting library inside.

The tree is made of elements whose texts the standard library escapes, so no name becomes markup. The data are
compressed JSON. The policy in the head allows the two scripts by their hashes and no network.

A view of a figure is a dict with ``type``, ``name``, ``label`` and, by type:
lines  digits, kind, x (label), log, points, best, lines: name, x (None: a level), mean, std of each
dots   digits, rows: name, line, mean, std, marked of each
heat   digits, x, y, columns, rows, mean, std (lists of rows), best (row, column)
confusion  classes, shares, counts (lists of rows: of each true class, over the classes predicted)
ranks  rows: name, rank and each (rank by data set); cd, groups: first and last row of each

Numbers are rounded to one decimal more than are shown; None takes the place of NaN.
"""

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, singledispatch
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from omkl import __version__
from omkl.errors import UserError
from omkl.files import write_text
from omkl.reports.drawing import draw
from omkl.reports.figure_style import as_png
from omkl.reports.figures import Confusion, Curve, Dots, Figure, HeatMap, Lines, LineStyle, robust_range
from omkl.reports.ranks import Ranks
from omkl.reports.results_table import URGENT
from omkl.reports.table import Records, Table, csv_of
from omkl.reports.table_html import Element, below, button, element, grid

SIGNIFICANT = 6
_COUNTS = "numbers: examples of one pass; "
_SYMBOLS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
_SYMBOLS |= {"P": "cross", "X": "x", "*": "star"}
SCRIPTS = ("tables.js", "views.js", "figures.js", "page.js")
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src {connect}; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, tables and figures; numbered: the paragraphs are a numbered list."""

    title: str
    parts: Sequence[Table | Figure] = ()
    texts: Sequence[str] = ()
    numbered: bool = False


@dataclass(frozen=True)
class Page:
    """A page.

    name: for file names    about: lines under the title    command: that makes it    warnings: shown on top
    progress: the rows of ``omkl status``, None where the page is not of a running plan
    """

    name: str
    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    warnings: Sequence[str] = ()
    progress: Records | None = None


def document(page: Page, *, live: str = "", library: bool = True, pictures: bool = False) -> str:
    """Return the page as HTML.

    live: its version, for a page that asks its server for newer ones
    library: False leaves the plotting library out, for a page that only brings news
    pictures: of the figures, for a browser that runs no scripts
    Raises UserError where the library is not installed.
    """
    tables: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    main = _main(page, tables, figures, pictures)
    data = {"name": page.name, "live": live, "tables": tables, "figures": figures}
    script = "".join(_own(name) for name in SCRIPTS)
    plotly = _library()
    scripts = " ".join(f"'sha256-{_hash(text)}'" for text in (script, plotly))
    policy = _POLICY.format(scripts=scripts, connect="'self'" if live else "'none'")
    packed = _packed(json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")))
    head = element(
        "head",
        {},
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("meta", {"name": "generator", "content": f"omkl {__version__}"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("link", {"rel": "icon", "href": "data:,"}),
        element("title", {}, page.title),
        element("style", {}, _own("page.css")),
    )
    body = element(
        "body",
        {},
        element("a", {"href": "#main", "class": "skip"}, "to the results"),
        main,
        element("script", {"type": "text/plain", "id": "data"}, packed),
        element("script", {"type": "text/plain", "id": "library"}, _packed_library() if library else ""),
        element("script", {}, script),
    )
    html = element("html", {"lang": "en"}, head, body)
    return "<!doctype html>\n" + ElementTree.tostring(html, encoding="unicode", method="html") + "\n"


def write_html(page: Page, path: Path) -> int:
    """Write the page to a file as a whole, and return its bytes. Raises OmklError where that fails."""
    return write_text(path, document(page, pictures=True))


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


# -------------------------------------------------------------------- the page


def _main(page: Page, tables: dict[str, Any], figures: dict[str, Any], pictures: bool) -> Element:
    links = [
        element("li", {}, element("a", {"href": f"#s{place}"}, section.title))
        for place, section in enumerate(page.sections, 1)
    ]
    theme = button("theme", "light / dark", aria_label="change between light and dark")
    head = [
        element("h1", {}, page.title),
        *(element("p", {"class": "about"}, text) for text in page.about if text),
    ]
    if page.command:
        head.append(_command(page.command))
    boxes: dict[bool, list[Element]] = {True: [], False: []}
    for text in dict.fromkeys(page.warnings):
        boxes[URGENT.search(text) is not None].append(element("li", {}, text))
    for is_urgent, texts in boxes.items():
        if texts:
            about = {"class": "warnings" if is_urgent else "warnings mild", "role": "note"}
            title = element("strong", {}, "Warnings" if is_urgent else "Notes")
            head.append(element("div", about, title, element("ul", {}, *texts)))
    if page.progress is not None:
        head.append(_progress(page.progress))
    sections = [_section(place, own, tables, figures, pictures) for place, own in enumerate(page.sections, 1)]
    content = (element("summary", {}, "sections"), element("ol", {}, *links))
    nav = element("nav", {"aria-label": "sections"}, element("details", {"open": ""}, *content), theme)
    return element(
        "div", {"id": "page"}, nav, element("main", {"id": "main"}, element("header", {}, *head), *sections)
    )


def _command(text: str) -> Element:
    return element("p", {"class": "command"}, element("code", {}, text), button("copy", "copy"))


def _progress(rows: Records) -> Element:
    done, failed, total = (sum(row[name] for row in rows) for name in ("done", "failed", "cells"))
    text = f"{done} of {total} cells done, {failed} failed"
    bar = element("progress", {"max": str(total), "value": str(done), "aria-label": "cells done"})
    state = element("p", {"id": "state", "aria-live": "polite"}, text)
    cells = Table.of(rows)
    table = grid(cells.columns, cells.rows)
    detail = element("details", {}, element("summary", {}, "per learner and data set"), table)
    return element("section", {"id": "progress"}, state, bar, detail)


def _section(
    place: int, section: Section, tables: dict[str, Any], figures: dict[str, Any], pictures: bool
) -> Element:
    parts: list[Element] = []
    if section.numbered:
        parts.append(element("ol", {"class": "text"}, *(element("li", {}, text) for text in section.texts)))
    else:
        parts += [element("p", {"class": "text"}, text) for text in section.texts]
    for number, part in enumerate(section.parts, 1):
        which = f"s{place}-{number}"
        if isinstance(part, Table):
            flat = part.flat() if part.flat else part.records
            tables[which] = {"file": f"{part.name}.csv", "csv": csv_of(flat)}  # type: ignore[arg-type]
            tables[which]["about"] = [list(row.about) for row in part.rows]
            parts.append(_table(which, part))
        else:
            figures[which] = as_json(part) | {"title": section.title}
            picture = _picture(part, section.title) if pictures else None
            parts.append(_figure(which, part, figures[which], picture))
    return element("section", {"id": f"s{place}"}, element("h2", {}, section.title), *parts)


def _picture(figure: Figure, title: str) -> Element:
    """Return the first measure of a figure, as it is drawn for print."""
    panels = [replace(panel, views=panel.views[:1]) for panel in figure.panels]
    image = as_png(draw(replace(figure, panels=panels, title="", caption="", more=(), deviations=False)))
    return element("img", {"src": f"data:image/png;base64,{base64.b64encode(image).decode()}", "alt": title})


def _figure(which: str, figure: Figure, data: dict[str, Any], picture: Element | None) -> Element:
    plot = element("div", {"class": "plot", "tabindex": "0", "role": "img", "aria-label": data["title"]})
    caption = element("figcaption", {}, data["caption"])
    hint = element("noscript", {}, "The figures need JavaScript." if picture is None else picture)
    tools = element("div", {"class": "tools"})
    legend, spoken = (
        element("div", {"class": "legend"}),
        element("p", {"class": "spoken", "aria-live": "polite"}),
    )
    below = [_command(figure.command)] if figure.command else []
    return element("figure", {"id": which}, tools, plot, hint, legend, spoken, caption, *below)


def _table(which: str, table: Table) -> Element:
    """Return a table that can be sorted and filtered, and saved as CSV."""
    about = {"type": "search", "placeholder": "filter rows", "aria-label": "filter the rows"}
    filters = element("input", about)
    counted = element("span", {"class": "count", "aria-live": "polite"})
    tools = element("div", {"class": "tools"}, filters, counted, button("csv", "CSV", title="save as CSV"))
    about = {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": table.name}
    scroll = element("div", about, grid(table.columns, table.rows, table.terms, table.notes, which))
    texts = below([*table.findings, *table.below], table.notes, table.terms, which)
    more = [_command(table.command)] if table.command else []
    return element("div", {"class": "table", "id": which}, tools, scroll, *texts, *more)


# -------------------------------------------------------------------- figures


def as_json(figure: Figure) -> dict[str, Any]:
    """Return a figure as its scripts take it."""
    matrices, dots = (any(isinstance(v, kind) for v in figure.views()) for kind in (Confusion, Dots))
    notes = [f"{group}: {text}" for group, text in figure.notes.items() if text]
    return {
        "name": figure.name,
        "command": figure.command,
        "panels": [{"name": panel.name, "views": list(map(_view, panel.views))} for panel in figure.panels],
        "lines": {name: _style(style) for name, style in figure.styles.items()},
        "caption": ". ".join([f"{_COUNTS * matrices}{figure.text('bars' if dots else 'bands')}", *notes]),
    }


def _style(style: LineStyle) -> dict[str, Any]:
    """Return colour, dash (in CSS), symbol and kind of a line: those of the printed figures."""
    dash = ",".join(f"{1.5 * part:g}px" for part in style.dashes) or "solid"
    symbol = _SYMBOLS.get(style.marker, "")
    return {"colour": style.colour, "dash": dash, "symbol": symbol, "yardstick": style.is_yardstick}


def numbers(values: Iterable[Any], places: int | None = None) -> list[float | None]:
    """Return numbers as JSON holds them, with these decimals, else SIGNIFICANT digits."""
    array = np.asarray(list(values), dtype=float).tolist()
    if places is None:
        return [float(f"{v:.{SIGNIFICANT}g}") if math.isfinite(v) else None for v in array]
    return [round(v, places) if math.isfinite(v) else None for v in array]


@singledispatch
def _view(view: Any) -> dict[str, Any]:
    raise TypeError(f"the page has no {type(view).__name__}")


@_view.register
def _(view: Lines) -> dict[str, Any]:
    places = None if view.points else view.digits + 1
    about = {
        "type": "lines",
        "name": view.name,
        "label": view.label,
        "digits": view.digits,
        "x": view.x_label,
    }
    about |= {
        "kind": "rate" if view.points else view.kind,
        "log": view.log_x,
        "best": view.sign if view.ring else 0,
    }
    return about | {"points": view.points, "lines": [_line(line, places) for line in view.lines]}


def _line(line: Curve, places: int | None) -> dict[str, Any]:
    std = numbers(line.std, places)
    x = None if line.is_level else numbers(line.x)
    return {"name": line.name, "x": x, "mean": numbers(line.mean, places), "std": std if any(std) else None}


@_view.register
def _(view: Dots) -> dict[str, Any]:
    columns = (view.names, view.lines, numbers(view.mean), numbers(view.std), map(bool, view.marked))
    keys = ("name", "line", "mean", "std", "marked")
    rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    return {"type": "dots", "name": view.name, "label": view.label, "digits": view.digits, "rows": rows}


@_view.register
def _(view: HeatMap) -> dict[str, Any]:
    about = {"type": "heat", "name": view.name, "label": view.label, "digits": view.digits}
    about |= {"x": view.x_label, "y": view.y_label, "columns": view.columns, "rows": view.rows}
    grids = {name: list(map(numbers, getattr(view, name))) for name in ("mean", "std")}
    return about | grids | {"best": list(view.best), "range": numbers(robust_range(view.mean, view.sign))}


@_view.register
def _(view: Confusion) -> dict[str, Any]:
    about: dict[str, Any] = {
        "type": "confusion",
        "name": view.name,
        "label": view.label,
        "classes": list(view.classes),
    }
    about |= {"shares": [numbers(row, 2) for row in view.shares]}
    return about | {"counts": list(map(numbers, view.counts))}


@_view.register
def _(view: Ranks) -> dict[str, Any]:
    order = list(view.drawn)
    rows = [
        {
            "name": line,
            "rank": numbers([view.average[line]])[0],
            "each": dict(zip(map(str, view.each.index), numbers(view.each[line]), strict=True)),
        }
        for line in order
    ]
    groups = [[order.index(group[0]), order.index(group[-1])] for group in view.drawn_groups]
    about = {"type": "ranks", "name": view.name, "label": "average rank", "digits": 2, "rows": rows}
    return about | {"cd": numbers([view.cd])[0], "groups": groups}

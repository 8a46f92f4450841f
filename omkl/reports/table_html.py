"""A table in HTML: for a page, whose script sorts and filters it, or alone, without scripts.

The tree is made of elements whose texts the standard library escapes, so no name becomes markup.
"""

from collections.abc import Sequence
from xml.etree import ElementTree

from omkl.reports.table_cells import MARK_NAMES, MISSING, Column, Spread, TableRow

Element = ElementTree.Element
Terms = Sequence[tuple[str, str]]
LONG = 50  # characters of a text that is wrapped
# Colours are those of the page around it, so that it is readable on a dark and on a light one.
STYLE = """
.omkl-table { overflow-x: auto; font-variant-numeric: tabular-nums; }
.omkl-table table { border-collapse: collapse; }
.omkl-table th, .omkl-table td { padding: 0.15em 0.7em; text-align: right; white-space: nowrap; }
.omkl-table th { border-bottom: 1px solid; font-weight: 600; }
.omkl-table .text { text-align: left; }
.omkl-table .long { white-space: normal; }
.omkl-table .begins td { border-top: 1px solid; }
.omkl-table .yardsticks td:not(:first-child) { border-top: 1px dotted; }
.omkl-table .is_yardstick { opacity: 0.75; }
.omkl-table dl, .omkl-table ol, .omkl-table p { font-size: smaller; }
"""


def element(tag: str, attributes: dict[str, str], *parts: "Element | str | None") -> Element:
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


def button(kind: str, text: str, **attributes: str) -> Element:
    """Return a button that a script of the page knows by its kind."""
    own = {name.replace("_", "-"): value for name, value in attributes.items()}
    return element("button", {"type": "button", "class": kind, **own}, text)


def written(made: Element) -> str:
    """Return an element as HTML."""
    return ElementTree.tostring(made, encoding="unicode", method="html")


def grid(
    columns: Sequence[Column],
    rows: Sequence[TableRow],
    terms: Terms = (),
    notes: Sequence[str] = (),
    which: str = "",
) -> Element:
    """Return the table itself; which: its id on a page, whose script sorts it and opens its rows."""
    opens = bool(which) and any(row.about for row in rows)
    head = (
        [element("th", {"class": "more"}, element("span", {"class": "hidden"}, "details"))] if opens else []
    )
    meanings = dict(terms)
    head += [_header(column, meanings.get(column.header, ""), bool(which)) for column in columns]
    widths = [] if which else _widths(columns, rows)
    lines = [_row(columns, rows, place, notes, which, opens, widths) for place in range(len(rows))]
    return element("table", {}, element("thead", {}, element("tr", {}, *head)), element("tbody", {}, *lines))


def below(paragraphs: Sequence[str], notes: Sequence[str], terms: Terms, which: str = "") -> list[Element]:
    """Return what is below a table: paragraphs, notes, and the meaning of its columns."""
    made = [element("p", {"class": "text"}, text) for part in paragraphs for text in part.split("\n")]
    if notes:
        numbered = enumerate(notes, 1)
        items = [element("li", {"id": f"{which}-note-{number}"}, text) for number, text in numbered]
        made.append(element("ol", {"class": "notes"}, *items))
    if terms:
        terms = [(MARK_NAMES["text"].get(name, name), text) for name, text in terms]
        pairs = [part for name, text in terms for part in (element("dt", {}, name), element("dd", {}, text))]
        summary = element("summary", {}, "what the columns mean")
        made.append(element("details", {}, summary, element("dl", {}, *pairs)))
    return made


def _header(column: Column, meaning: str, sorts: bool) -> Element:
    measure, _, part = column.name.rpartition("_")
    of = {"mistake_pct": "mistake %", "n_sv_sum": "#SV", "seconds": "seconds"}.get(measure, "")
    is_part = part in ("published", "diff", "ratio") and of
    note = element("small", {}, f"{'' if sorts else ' '}{of}") if is_part else None
    if not sorts:
        return element("th", {"class": _kind(column), "title": meaning}, column.header, note)
    sort = button("sort", column.header, title=meaning)
    return element("th", {"scope": "col", "class": _kind(column), "data-column": column.name}, sort, note)


def _kind(column: Column) -> str:
    """Return the classes of a column's cells; a row's name stays in view when a narrow screen scrolls."""
    side = "text" if column.align == "left" else "number"
    return f"{side} stick" if column.name in ("learner", "algo") else side


def _row(
    columns: Sequence[Column],
    rows: Sequence[TableRow],
    place: int,
    notes: Sequence[str],
    which: str,
    opens: bool,
    widths: list[tuple[int, int]],
) -> Element:
    row, above = rows[place], rows[place - 1] if place else None
    kinds = [name for name in ("marked", "is_yardstick") if getattr(row, name)]
    kinds += [] if row.complete else ["incomplete"]
    if above and row.group != above.group:
        kinds.append("begins")
    elif above and row.is_yardstick > above.is_yardstick:
        kinds.append("yardsticks")
    cells = []
    if opens:
        label = f"details of row {place + 1}"
        more = button("more", "▸", aria_expanded="false", aria_label=label) if row.about else None
        cells.append(element("td", {"class": "more"}, more))
    repeated = bool(above and row.group and row.group == above.group)
    for at, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
        kind = _kind(column)
        if column.name == "data" and repeated:
            kind, cell = f"{kind} again", cell if which else ""
        kind += " long" if len(str(cell)) > LONG and column.align == "left" else ""
        refs = _refs(row, notes, which) if column.name == "verdict" else []
        own = _cell(cell, widths[at] if widths else (0, 0))
        cells.append(element("td", {"class": kind}, *own, *refs))
    about = {"class": " ".join(kinds)}
    about |= {"data-group": row.group, "data-row": str(place)} if which else {}
    return element("tr", about, *cells)


def _widths(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[tuple[int, int]]:
    """Return the characters of the longest mean and deviation of each column."""
    contents = [[row.cells[at] for row in rows] for at in range(len(columns))]
    spreads = [[cell for cell in cells if isinstance(cell, Spread) and cell.varies] for cells in contents]
    return [
        (max((len(s.mean) for s in own), default=0), max((len(s.std) for s in own), default=0))
        for own in spreads
    ]


def _cell(cell: str | Spread, widths: tuple[int, int]) -> list[Element | str]:
    """Return the parts of a cell; widths: of the column's means and deviations, filled with blanks."""
    if not isinstance(cell, Spread):
        return [cell]
    if cell.mean == MISSING:
        return [MISSING]
    mark = {"best": "* ", "near": "~ "}.get(cell.mark, "")
    mean, std = cell.mean.rjust(widths[0], "\u2007"), cell.std.rjust(widths[1], "\u2007")
    parts: list[Element | str] = [element("b" if cell.mark == "best" else "span", {}, f"{mark}{mean}")]
    return [*parts, element("small", {}, f" ± {std}") if cell.varies else ""]


def _refs(row: TableRow, notes: Sequence[str], which: str) -> list[Element | str]:
    links: list[Element | str] = []
    for number in row.refs:
        about = {"href": f"#{which}-note-{number}", "title": notes[number - 1], "class": "ref"}
        links += [" ", element("a", about, f"[{number}]") if which else f"[{number}]"]
    return links

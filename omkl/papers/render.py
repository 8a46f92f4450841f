"""A paper's table as text: ours, published, and the difference, in the formats of every other table."""

from typing import TYPE_CHECKING

from omkl.papers.compare import METRICS, Compared
from omkl.reports.display import MISSING, Column, Display, Line, Spread, display, number
from omkl.reports.expected import Expected
from omkl.reports.measures import least_of
from omkl.reports.notes import legend
from omkl.reports.notes import notes as warnings_of
from omkl.reports.tables import check_format, to_csv, to_json, write

if TYPE_CHECKING:
    import pandas as pd

_PLACES = {"mistake_pct": 2, "n_sv_sum": 1, "seconds": 2}
_TERMS = [
    ("published", "the paper's value"),
    ("diff", "ours minus published, in published standard deviations; of seconds the ratio published / ours"),
    ("verdict", "agrees: mistakes and #SV within two published standard deviations"),
]
_WITHOUT = "no sd"
_WITHOUT_TERM = (
    _WITHOUT,
    "the published standard deviation is 0, so the difference cannot be counted in it: diff is ours minus "
    "published as it is, and the verdict asks for the same value within one of the last printed digit",
)


def render(
    found: Compared,
    cells: "pd.DataFrame",
    expected: Expected,
    fmt: str,
    title: str = "",
    more: str = "",
    whole: "pd.DataFrame | None" = None,
) -> str:
    """Return the table as text; fmt as in reports.tables.render. more: lines under it.

    whole: the summary that warnings are made of, where the table shows but a part of it.
    """
    check_format(fmt)
    warnings = warnings_for(found.summary if whole is None else whole, cells, expected)
    if fmt == "json":
        return to_json({"summary": found.summary, "cells": cells}, warnings)
    if fmt == "csv":
        return to_csv(found.summary.drop(columns=["shown", "per_data"]), warnings)
    table, terms = layout(found)
    text = write([(title or None, table)], terms, warnings, "", expected.command, fmt)
    below = [f"[{place}] {note}" for place, note in enumerate(found.notes, 1)]
    if found.counted:
        below.insert(
            0,
            f"{found.agreeing} of {found.counted} published values (mistakes and #SV of the paper's rows) "
            + "lie within two published standard deviations.",
        )
    below += [more] if more else []
    if fmt == "latex":
        return text + "".join(f"% {line}\n" for part in below for line in part.splitlines())
    gap = "\n\n" if fmt == "markdown" else "\n"
    return text + ("\n" + gap.join(below) + "\n" if below else "")


def warnings_for(summary: "pd.DataFrame", cells: "pd.DataFrame", expected: Expected) -> list[str]:
    """Return the warnings of a paper's table; rows whose data are not available are not incomplete."""
    return warnings_of(summary[summary["missing"] == ""], cells, expected)


def layout(found: Compared) -> tuple[Display, list[tuple[str, str]]]:
    """Return the table's columns and lines, and the terms under it."""
    plain = display(found.summary)
    terms = legend(plain, least_of(found.summary), found.cells)
    summary = found.summary
    if not any(summary[f"{name}_published"].notna().any() for name, _ in METRICS):
        return _with_missing(plain, summary), terms
    compared = [name for name, _ in METRICS]
    columns: list[Column] = []
    cells: list[list] = [[] for _ in plain.lines]
    for at, column in enumerate(plain.columns):
        if column.name in ("n_sv_union", "n_sv_combined", "settings"):
            continue
        columns.append(column)
        for line, own in zip(plain.lines, cells, strict=True):
            own.append(line.cells[at])
        if column.name in compared:
            for header, values in _published(summary, column.name):
                columns.append(header)
                for own, value in zip(cells, values, strict=True):
                    own.append(value)
    columns.append(Column("verdict", "verdict", "left"))
    for own, row in zip(cells, summary.to_dict("records"), strict=True):
        own.append(
            row["verdict"] + (f" [{row['note']:.0f}]" if row["note"] == row["note"] and row["note"] else "")
        )
    lines = [
        Line(tuple(own), line.rule, line.marked, line.complete, line.is_yardstick)
        for own, line in zip(cells, plain.lines, strict=True)
    ]
    dropped = ("union", "combined")
    without = any(str(cell).endswith(_WITHOUT) for line in lines for cell in line.cells)
    terms = [t for t in terms if t[0] not in dropped] + _TERMS + [_WITHOUT_TERM] * without
    return Display(tuple(columns), tuple(lines)), terms


def _published(summary: "pd.DataFrame", name: str) -> list[tuple[Column, list]]:
    rows = summary.to_dict("records")
    means = [_float(row[f"{name}_published"]) for row in rows]
    stds = [_float(row[f"{name}_published_std"]) for row in rows]
    if name == "seconds":
        ratio = [mean / row["seconds_mean"] for mean, row in zip(means, rows, strict=True)]
        return [
            (Column("seconds_published", "published"), [number(mean, 2) for mean in means]),
            (Column("seconds_ratio", "diff"), [f"{r:.0f} x" if r == r else MISSING for r in ratio]),
        ]
    places = _PLACES[name]
    differences = [_difference(row, name, places) for row in rows]
    return [
        (
            Column(f"{name}_published", "published", spread=True),
            [Spread(number(m, places), number(s, places)) for m, s in zip(means, stds, strict=True)],
        ),
        (Column(f"{name}_diff", "diff"), differences),
    ]


def _difference(row: dict, name: str, places: int) -> str:
    """Return ours minus published as text: in published standard deviations, as it is where these are 0."""
    difference, gap = _float(row[f"{name}_difference"]), _float(row[f"{name}_gap"])
    if difference == difference:
        return f"{difference:+.1f}"
    return f"{gap:+.{places}f} {_WITHOUT}" if row[f"{name}_published_std"] == 0 and gap == gap else MISSING


def _float(value: object) -> float:
    return float("nan") if value is None else float(value)


def _with_missing(plain: Display, summary: "pd.DataFrame") -> Display:
    """Say in the last column which rows have no data, if any."""
    if not (summary["note"].notna() & (summary["note"] != "")).any():
        return plain
    rows = summary.to_dict("records")
    texts = [
        f"{row['verdict']} [{row['note']:.0f}]" if row["note"] and row["note"] == row["note"] else ""
        for row in rows
    ]
    lines = tuple(
        Line((*line.cells, text.strip()), line.rule, line.marked, line.complete, line.is_yardstick)
        for line, text in zip(plain.lines, texts, strict=True)
    )
    return Display((*plain.columns, Column("verdict", "note", "left")), lines)

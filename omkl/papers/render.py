"""A paper's table as text: ours, published, and the difference, in the formats of every other table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.papers.compare import METRICS, Compared
from omkl.reports.captions import some
from omkl.reports.display import MISSING, Column, Display, Spread, display, number
from omkl.reports.fitting import filled
from omkl.reports.measures import measure_of
from omkl.reports.notes import AGAIN, legend, notes
from omkl.reports.plain_table import check_format
from omkl.reports.table_text import to_csv, to_json, write

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
Layout = tuple[Display, list[tuple[str, str]]]  # columns and lines, and the terms under them
_LEFT_OUT = ("n_sv_union", "n_sv_combined", "settings")  # columns that make room for the published ones


def render(compared: Compared, fmt: str) -> str:
    """Return the table as text, ours next to the published; fmt as in reports.tables.render."""
    check_format(fmt)
    warnings = warnings_of(compared)
    if fmt == "json":
        return to_json({"summary": compared.summary, "cells": compared.cells}, warnings)
    if fmt == "csv":
        return to_csv(csv_table(compared), warnings)
    below = [f"[{place}] {note}" for place, note in enumerate(compared.notes, 1)]
    below = [*agreement(compared), *below, *ranks_texts(compared)]
    return written(compared, layout(compared), warnings, below, fmt)


def written(compared: Compared, layout: Layout, warnings: list[str], below: list[str], fmt: str) -> str:
    """Return a table as text, with its terms and warnings, and further paragraphs below."""
    table, terms = layout
    text = write([(compared.title, table)], terms, warnings, "", compared.expected.command, fmt)
    if fmt == "latex":
        return text + "".join(f"% {line}\n" for part in below for line in part.splitlines())
    below = [filled(part) for part in below] if fmt == "table" else below
    gap = "\n\n" if fmt == "markdown" else "\n"
    return text + ("\n" + gap.join(below) + "\n" if below else "")


def csv_table(compared: Compared) -> "pd.DataFrame":
    """Return the rows as their CSV holds them."""
    return compared.summary.drop(columns=["shown", "per_data"])


def agreement(compared: Compared) -> list[str]:
    """Return a sentence on how many published values agree, none where there are none."""
    if not compared.counted:
        return []
    count = f"{compared.agreeing} of {compared.counted} published values (mistakes and #SV of the paper's"
    return [f"{count} rows) lie within two published standard deviations."]


def ranks_texts(compared: Compared) -> list[str]:
    """Return a paragraph on the average ranks, none where the table has none."""
    return [_ranks_text(compared.summary)] if compared.item.options.get("ranks") else []


def warnings_of(compared: Compared, again: str = AGAIN) -> list[str]:
    """Return the warnings of a paper's table; rows whose data are not available are not incomplete.

    again: as of notes
    """
    available = compared.whole["missing"] == ""
    return notes(compared.whole[available], compared.cells, compared.expected, again)


def layout(compared: Compared) -> Layout:
    """Return the table's columns and lines, and the terms under it."""
    summary = compared.summary
    rows, plain = summary.to_dict("records"), display(summary)
    terms = legend(plain, summary, compared.cells)
    published = any(summary[f"{name}_published"].notna().any() for name, _ in METRICS)
    parts: list[tuple[Column, Sequence[str | Spread]]] = []
    for at, column in enumerate(plain.columns):
        if not published or column.name not in _LEFT_OUT:
            parts.append((column, [line.cells[at] for line in plain.lines]))
        if published and column.name in _PLACES:
            parts += _published(rows, column.name)
    verdicts = [f"{row['verdict']}{_mark(row)}" if published or _mark(row) else "" for row in rows]
    if published or any(verdicts):
        parts.append((Column("verdict", "verdict" if published else "note", "left"), verdicts))
    columns, contents = zip(*parts, strict=True)
    lines = [replace(line, cells=tuple(cells)) for line, *cells in zip(plain.lines, *contents, strict=True)]
    if published:
        without = any(str(cell).endswith(_WITHOUT) for line in lines for cell in line.cells)
        terms = [term for term in terms if term[0] not in ("union", "combined")]
        terms += _TERMS + [_WITHOUT_TERM] * without
    return Display(columns, tuple(lines)), terms


def _mark(row: dict[str, Any]) -> str:
    """Return the number of a row's note, as it is printed behind the verdict."""
    return f" [{row['note']:.0f}]" if row["note"] and row["note"] == row["note"] else ""


def _published(rows: list[dict[str, Any]], name: str) -> list[tuple[Column, Sequence[str | Spread]]]:
    """Return the columns of a metric's published values, and of the differences."""
    means, stds = ([row[f"{name}_{part}"] for row in rows] for part in ("published", "published_std"))
    places = _PLACES[name]
    if name == "seconds":
        ratios = [mean / row["seconds_mean"] for mean, row in zip(means, rows, strict=True)]
        return [
            (Column("seconds_published", "published"), [number(mean, places) for mean in means]),
            (Column("seconds_ratio", "diff"), [f"{r:.0f} x" if r == r else MISSING for r in ratios]),
        ]
    values = [Spread(number(m, places), number(s, places)) for m, s in zip(means, stds, strict=True)]
    return [
        (Column(f"{name}_published", "published"), values),
        (Column(f"{name}_diff", "diff"), [_difference(row, name, places) for row in rows]),
    ]


def _difference(row: dict[str, Any], name: str, places: int) -> str:
    """Return ours minus published as text: in published standard deviations, as it is where these are 0."""
    difference, gap = row[f"{name}_difference"], row[f"{name}_gap"]
    if difference == difference:
        return f"{difference:+.1f}"
    return f"{gap:+.{places}f} {_WITHOUT}" if row[f"{name}_published_std"] == 0 and gap == gap else MISSING


def _ranks_text(summary: "pd.DataFrame") -> str:
    """Return one paragraph: average ranks, critical difference, Friedman's test; or why there are none."""
    from omkl.reports.ranks import MOST_REASONS, average_ranks

    try:
        ranks = average_ranks(summary, measure=measure_of(summary).name)
    except UserError as error:
        return f"No ranks: {error}."
    averages = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.average.items())
    groups = "; ".join(_group(group, len(ranks.average)) for group in ranks.groups)
    left = f" Left out: {some(ranks.left_out, '; ', MOST_REASONS)}." if ranks.left_out else ""
    return f"Ranks: {averages} ({ranks.caption()}). Not significantly different: {groups or 'none'}.{left}"


def _group(names: tuple[str, ...], of: int) -> str:
    """Return learners that follow one another in rank, in few words."""
    if len(names) == of:
        return "all of them"
    return " = ".join(names) if len(names) <= 3 else f"{names[0]} to {names[-1]} ({len(names)})"

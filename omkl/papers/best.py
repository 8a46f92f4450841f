"""A table of tuned learners: the error, and what it costs in vectors or features, time and memory."""

from typing import TYPE_CHECKING, Any

from omkl.config import LearnerSpec, learner_specs
from omkl.config.settings_text import params_text
from omkl.papers.compare import Compared
from omkl.papers.paper import listed
from omkl.papers.render import Layout, csv_table, ranks_texts, warnings_of, written
from omkl.papers.selection import Work
from omkl.reports import plain_table
from omkl.reports.captions import some
from omkl.reports.display import MISSING, Column, Display, Line, Spread, everything, number
from omkl.reports.notes import legend
from omkl.reports.table_text import to_csv, to_json

if TYPE_CHECKING:
    import pandas as pd

_KEPT = ("data", "learner", "mistake_pct", "mse_e3", "nlpd", "n_sv_sum")
_TERMS = [
    ("features", "random features in place of vectors, of all kernels together"),
    ("s/1000", "seconds of the learner for 1000 examples, the mean over the pass"),
    ("MiB", "memory of one pass: the arrays of state, stream and trace, as reserved"),
    ("best setting", "what the race chose, where it is not the default"),
    ("reps", "finished passes of those that are to be reported"),
]


def with_costs(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return a summary with further columns: features, per_1000 (seconds), chosen (the setting as text)."""
    specs = learner_specs(dict.fromkeys(summary["algo"]))
    rows = summary.to_dict("records")
    return summary.assign(
        features=[_features(specs[row["algo"]], row) for row in rows],
        per_1000=[1000.0 * row["seconds_mean"] / row["T"] if row["reps"] else float("nan") for row in rows],
        chosen=[_chosen(specs[row["algo"]], row) for row in rows],
    )


def _features(spec: LearnerSpec, row: dict[str, Any]) -> float:
    """Return the number of features of a learner that draws some, NaN of others."""
    names = [resource.frequencies for resource in spec.state.values() if resource.frequencies]
    if not names or not row["reps"]:
        return float("nan")
    return 2.0 * row["params"][names[0]] * row["m"]


def _chosen(spec: LearnerSpec, row: dict[str, Any]) -> str:
    return params_text(spec.unusual(row["params"], row["task"])) if row["reps"] else ""


def best(compared: Compared, fmt: str) -> str:
    """Return the table as text, in the formats of reports.tables.render."""
    plain_table.check_format(fmt)
    flat, warnings = with_costs(csv_table(compared)), all_warnings(compared)
    if fmt == "json":
        return to_json({"best": flat}, warnings)
    if fmt == "csv":
        return to_csv(flat, warnings)
    return written(compared, best_layout(compared), warnings, ranks_texts(compared), fmt)


def all_warnings(compared: Compared) -> list[str]:
    """Return the warnings of the table, and what is not tuned yet."""
    command = f"`omkl tune {compared.item.paper}`"
    return [*not_tuned(compared.work, command), *warnings_of(compared, command)]


def not_tuned(work: Work, command: str) -> list[str]:
    """Return a warning about what is not tuned yet and so has no row; command: tunes it."""
    waiting: dict[str, list[str]] = {}
    for _, data, learner in work.pending:
        waiting.setdefault(data, []).append(learner)
    begun = {ref.name for part in work.parts for ref in part.plan.data}
    whole = [data for data in waiting if data not in begun]
    lines = [f"{some(whole, at_most=20)} (all learners)"] if whole else []
    lines += [f"{data} ({some(names)})" for data, names in waiting.items() if data in begun]
    return [f"NOT TUNED YET, so without rows: {'; '.join(lines)}; {command} tunes them"] if lines else []


def unfinished(compared: Compared) -> set[str]:
    """Return the data sets where a tuned learner that a claim names has not finished, or is not tuned yet."""
    options, work = compared.item.options, compared.work
    named = {name for key in ("left", "right", "label", "order") for name in listed(options.get(key, []))}
    rows = zip(compared.summary["data"], compared.summary["label"], compared.summary["complete"], strict=True)
    tuned = any(run.tune is not None for run in compared.item.runs)
    lacking = {data for data, label, complete in rows if tuned and label in named and not complete}
    for run, data, learner in work.pending:
        if run.labels.get(learner, learner_specs([learner])[learner].label) in named:
            lacking.add(data)
    return lacking


def best_layout(compared: Compared) -> Layout:
    """Return the table's columns and lines, and the terms under it."""
    summary = with_costs(compared.summary)
    plain = everything(compared.summary)
    kept = [at for at, column in enumerate(plain.columns) if column.name in _KEPT]
    rows = summary.to_dict("records")
    more: list[tuple[Column, list[str | Spread]]] = [
        (Column("features", "features"), [number(row["features"], 0) for row in rows]),
        (Column("per_1000", "s/1000"), [_short(row["per_1000"]) for row in rows]),
        (Column("memory", "MiB"), [number(row["memory_mib_mean"], 1) for row in rows]),
        (Column("reps", "reps"), [_done(row) for row in rows]),
        (Column("chosen", "best setting", "left"), [row["chosen"] for row in rows]),
    ]
    if not summary["features"].notna().any():
        more = more[1:]
    lines = []
    for at, line in enumerate(plain.lines):
        cells = (*(line.cells[place] for place in kept), *(own[at] for _, own in more))
        lines.append(Line(cells, line.rule, line.marked, line.complete, line.is_yardstick))
    columns = (*(plain.columns[place] for place in kept), *(column for column, _ in more))
    display = Display(columns, tuple(lines))
    terms = legend(display, compared.summary, compared.cells)
    own = [term for term in _TERMS if any(term[0] == column.header for column in columns)]
    named = {name for name, _ in own}
    return display, [*(term for term in terms if term[0] not in named), *own]


def _done(row: dict[str, Any]) -> str:
    return f"{'' if row['complete'] else '! '}{row['reps']}/{row['asked']}"


def _short(seconds: float) -> str:
    """Return seconds with two digits, however small: 0.00021 as ``0.00021``."""
    if seconds != seconds:
        return MISSING
    return f"{seconds:.2g}" if seconds >= 1e-4 else f"{seconds:.1e}"

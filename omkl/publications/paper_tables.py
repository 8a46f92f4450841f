"""A paper's tables: one function per kind, found by its name in conf/paper."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

from omkl.config import LearnerSpec, learner_specs
from omkl.config.parameters import params_text
from omkl.config.plan_notes import notes_on_learners
from omkl.config.request import ONLINE
from omkl.errors import UserError, counted
from omkl.publications.compare import AGREES, DIFFERS, METRICS, SIGNS, Compared, compare_rows
from omkl.publications.data_sizes import sizes
from omkl.publications.digest import digest
from omkl.publications.paper import Item, Paper, as_list
from omkl.publications.selection import Selection, plans_of
from omkl.publications.table_result import TableResult
from omkl.publications.tuned_ranks import not_tuned, ranks_of_grid
from omkl.reports import results_table
from omkl.reports.captions import basis, some
from omkl.reports.grid import grid_table
from omkl.reports.measures import learners_of
from omkl.reports.results_table import AGAIN, LEAST, TableOptions, full_table, number, terms_of, word_of
from omkl.reports.summary import INNER
from omkl.reports.table import VERDICTS, Table
from omkl.reports.table_cells import MISSING, Column, Spread, TableRow
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd


ColumnCells = tuple[Column, Sequence[str | Spread]]
_PLACES = {"mistake_pct": 2, "n_sv_sum": 1, "seconds": 2}
_PUBLISHED = [
    ("published", "the paper's value"),
    ("diff", "ours minus published, in published standard deviations; of seconds the ratio published / ours"),
    (
        VERDICTS,
        "=: mistakes and #SV lie within two published standard deviations, and Welch's t-test (5 %) does not "
        "reject them; ≈: it does; ≠: they lie further away",
    ),
]
SHOWN = 10  # learners of a matrix
_WITHOUT = "no sd"
_SCALED = {ONLINE: ("s", "features scaled online"), "ranks": ("r", "features as ranks")}
_WITHOUT_TERM = (
    _WITHOUT,
    "the published standard deviation is 0: diff is ours minus published, and one of the last printed digit "
    "is allowed",
)
_SHARE = ("%", "of the first learner's time on the same data set and pool")
_KEPT = ("data", "learner", "n_sv_sum")  # columns of a table of tuned learners, beside the measures
_COSTS = [
    ("features", "random features in place of vectors, of all kernels together"),
    ("MiB", "memory of one pass: the arrays of state, stream and trace, as reserved"),
    ("best setting", "what the race chose, where it is not the default"),
    ("reps", "finished passes of those that are to be reported"),
]


def make_table(paper: Paper, item: Item, selection: Selection, **how: Any) -> TableResult:
    """Run the missing cells of a table and return it.

    how: of ``PaperPlans.run``. Raises UserError for a selection without data, OmklError when the store
    cannot be read or written.
    """
    if item.kind == "sizes":
        return sizes(paper, item, selection)
    if item.kind == "digest":
        return digest(paper, item, selection, **how)
    work = plans_of(paper, [item], selection)
    outcome = work.run(**how)
    compared = compare_rows(paper, item, work, outcome, selection.command("table", item.name, item))
    table = KINDS[item.kind](compared)
    if paper.instead and not compared.verdicts:
        table = replace(table, findings=[paper.instead, *table.findings])
    return TableResult(table, outcome, compared.title)


def _table(compared: Compared, table: Table, name: str, flat: "pd.DataFrame", **more: Any) -> Table:
    """Return a table with the paper's title and notes; name: of its records in JSON."""
    about: dict[str, Any] = {"title": compared.title, "notes": compared.notes}
    about |= {"command": compared.expected.command}
    done = sorted({*compared.summary["reps"]} - {0})
    about |= {"about": notes_on_learners(compared.work.plans), "reps": done}
    about |= {"shared": counted(done[0], "repetition") if len(done) == 1 else ""}
    about |= {"warnings": comparison_warnings(compared), "records": {name: flat}, "flat": lambda: flat}
    return replace(table, **about | more)


def comparison_warnings(compared: Compared, again: str = AGAIN) -> list[str]:
    """Return the warnings of a paper's table; rows whose data are not available are not incomplete.

    again: as of `results_table.warnings_of`
    """
    available = compared.whole["missing"] == ""
    places = sorted({at for row in compared.rows for at in row.cells})  # the outcome may be of several tables
    return results_table.warnings_of(
        compared.whole[available],
        compared.cells.iloc[places],
        compared.expected,
        again,
        timed=compared.item.kind not in ("digest", "matrix", "best"),
    )


def _flat(compared: Compared) -> "pd.DataFrame":
    """Return the rows as their CSV holds them."""
    return compared.summary.drop(columns=[*INNER, "per_data"])


def _with_refs(summary: "pd.DataFrame", rows: Sequence[TableRow]) -> list[TableRow]:
    """Return rows with the number of their note."""
    refs = [[int(number)] if number and number == number else [] for number in summary["note"]]
    return [replace(row, refs=row_refs) for row, row_refs in zip(rows, refs, strict=True)]


def _joined(columns_and_cells: Sequence[ColumnCells], rows: Sequence[TableRow]) -> Table:
    """Return a table of these columns, with the marks and rules of the rows."""
    columns, contents = zip(*columns_and_cells, strict=True)
    cells = zip(*contents, strict=True)
    joined = [replace(row, cells=row_cells) for row, row_cells in zip(rows, cells, strict=True)]
    return Table(columns, joined, least=LEAST, records={})


def _results(compared: Compared) -> Table:
    """Return ours next to the published values; ``columns``: words of further measures."""
    summary = compared.summary
    wanted = TableOptions(columns=tuple(f"+{word}" for word in compared.item.options.get("columns", ())))
    records, plain = summary.to_dict("records"), wanted.chosen(full_table(summary))
    rows = _with_refs(summary, plain.rows)
    terms = terms_of(plain, summary, compared.cells)
    published = any(summary[f"{name}_published"].notna().any() for name, _ in METRICS)
    verdicts = [SIGNS.get(record["verdict"], "≠") for record in records]
    shown: list[ColumnCells] = []
    for at, column in enumerate(plain.columns):
        if not published or column.name != "settings":
            shown.append((column, [row.cells[at] for row in plain.rows]))
        if column.name == "learner" and (published or any(row.refs for row in rows)):
            shown.append((Column("verdict", "" if published else "note", "left"), verdicts))
        if published and column.name in _PLACES:
            shown += _published(records, column.name)
    if published:
        without = any(str(cell).endswith(_WITHOUT) for _, cells in shown for cell in cells)
        terms += _PUBLISHED + [_WITHOUT_TERM] * without
    return _table(
        compared,
        _joined(shown, rows),
        "summary",
        _flat(compared),
        terms=terms,
        findings=_agreement(compared),
        below=_ranks_texts(compared),
        records={"summary": summary.drop(columns="ranked"), "cells": compared.cells},
    )


def _tuning(compared: Compared) -> Table:
    """Return the best setting of each learner of a sweep next to the published values."""
    keep_best(compared)
    return _results(compared)


def keep_best(compared: Compared) -> None:
    """Keep of a sweep the best setting of each learner, with its hyperparameters as text."""
    from omkl.reports.sweep_table import best_settings

    swept = [key.removeprefix("algo.") for key in compared.expected.swept]
    every = compared.summary["params"]
    texts = [params_text({k: params[k] for k in swept if k in params}) for params in every]
    compared.whole = compared.summary.assign(settings=texts)
    best = best_settings(compared.whole.assign(place=range(len(every))))
    compared.rows = [compared.rows[place] for place in best.pop("place")]
    compared.summary = best


def _published(records: list[dict[str, Any]], name: str) -> list[ColumnCells]:
    """Return the columns of a metric's published values, and of the differences."""
    means, stds = ([row[f"{name}_{part}"] for row in records] for part in ("published", "published_std"))
    places = _PLACES[name]
    if name == "seconds":
        ratios = [mean / row["seconds_mean"] for mean, row in zip(means, records, strict=True)]
        return [
            (Column("seconds_published", "published"), [number(mean, places) for mean in means]),
            (Column("seconds_ratio", "diff"), [f"{r:.0f} x" if r == r else MISSING for r in ratios]),
        ]
    values = [Spread(number(m, places), number(s, places)) for m, s in zip(means, stds, strict=True)]
    return [
        (Column(f"{name}_published", "published"), values),
        (Column(f"{name}_diff", "diff"), [_difference(row, name, places) for row in records]),
    ]


def _difference(row: dict[str, Any], name: str, places: int) -> str:
    """Return ours minus published as text: in published standard deviations, as it is where these are 0."""
    difference, gap = row[f"{name}_difference"], row[f"{name}_gap"]
    if difference == difference:
        return f"{difference:+.1f}"
    return f"{gap:+.{places}f} {_WITHOUT}" if row[f"{name}_published_std"] == 0 and gap == gap else MISSING


def _agreement(compared: Compared) -> list[str]:
    """Return a sentence on how many published values agree, none where there are none."""
    whole = len(compared.verdicts)
    if not whole:
        return []
    near, agreeing = whole - compared.verdicts.count(DIFFERS), compared.verdicts.count(AGREES)
    return [
        f"{near} of {whole} published values (mistakes and #SV of the paper's rows) lie within two published "
        f"standard deviations. By Welch's t-test (5 %, not corrected) {agreeing} of these agree."
    ]


def _ranks_texts(compared: Compared) -> list[str]:
    """Return a paragraph: average ranks, who does not differ; none where it has no ranks."""
    from omkl.reports.ranks import MOST_REASONS, average_ranks

    if not compared.item.options.get("ranks"):
        return []
    try:
        ranks = average_ranks(compared.summary)
    except UserError as error:
        return [f"No ranks: {error}."]
    left = f" Left out: {some(ranks.left_out, '; ', MOST_REASONS)}." if ranks.left_out else ""
    return [ranks.sentence() + left]


def _times(compared: Compared) -> Table:
    """Return seconds, and their share of those of the learner ``base``."""
    summary, base = compared.summary, compared.item.options["base"]
    learners = learners_of(summary)
    learners = learners.assign(pool=learners["pool"].fillna(MISSING))
    seconds = learners.pivot_table(index=["data", "pool"], columns="label", values="seconds_mean", sort=False)
    if base not in seconds:
        raise UserError(
            f"no cell of {base} has finished; the table compares the other learners with its time"
        )
    seconds = seconds[[base, *(name for name in seconds if name != base)]]
    shares = seconds.drop(columns=base).div(seconds[base], axis=0)
    flat = seconds.join(shares.add_suffix(" ratio")).reset_index()
    columns = [Column("data", "data", "left"), Column("pool", "pool", "left", wraps=True)]
    columns += [Column(name, f"{name} s") for name in seconds]
    columns += [Column(f"{name}%", f"{name} %") for name in shares]
    rows: list[TableRow] = []
    for (data, pool), row in seconds.iterrows():
        percents = [number(100 * share, 0) for share in shares.loc[(data, pool)]]
        cells = (data, pool, *(number(value, 4) for value in row), *percents)
        rows.append(TableRow(cells, data, "data" if rows and rows[-1].group != data else None))
    medians = [number(100 * shares[name].median(), 0) for name in shares]
    rows.append(TableRow(("median", "", *[""] * len(seconds.columns), *medians), "median", "data"))
    done = summary[summary["reps"] > 0]
    terms = [("s", f"learner time of one pass, {basis(int(done['reps'].max()), done['order'])}"), _SHARE]
    return _table(compared, Table(columns, rows), "times", flat, terms=terms, notes=())


def _best(compared: Compared) -> Table:
    """Return the errors of tuned learners, and what they cost in vectors or features, and in memory.

    ``columns``: words of further measures.
    """
    summary = with_costs(compared.summary)
    plain, more = full_table(compared.summary), compared.item.options.get("columns", ())
    columns = [(column, [row.cells[at] for row in plain.rows]) for at, column in enumerate(plain.columns)]
    shown: list[ColumnCells] = [(column, cells) for column, cells in columns if _is_of_best(column, more)]
    records = summary.to_dict("records")
    if summary["features"].notna().any():
        shown.append((Column("features", "features"), [number(row["features"], 0) for row in records]))
    shown.append((Column("memory", "MiB"), [number(row["memory_mib_mean"], 1) for row in records]))
    shown += [(column, cells) for column, cells in columns if column.name == "reps" and column.usual]
    shown.append((Column("chosen", "best setting", "left"), [row["chosen"] for row in records]))
    table = _joined(shown, plain.rows)
    headers = {column.header for column in table.columns}
    costs = {header: meaning for header, meaning in _COSTS if header in headers}
    terms = [term for term in terms_of(table, compared.summary, compared.cells) if term[0] not in costs]
    about: dict[str, Any] = {"terms": [*terms, *costs.items()], "warnings": best_warnings(compared)}
    about["below"] = _ranks_texts(compared)
    return _table(compared, table, "best", with_costs(_flat(compared)), notes=(), **about)


def _is_of_best(column: Column, more: Sequence[str]) -> bool:
    """Whether a table of tuned learners has a column of the whole table; more: words of further ones."""
    is_error = column.name in MEASURES and column.usual and bool(column.meaning)
    return is_error or column.name in _KEPT or word_of(column.name) in more


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


def best_warnings(compared: Compared) -> list[str]:
    """Return the warnings of a table of tuned learners, and what is not tuned yet."""
    command = f"`omkl tune {compared.item.paper}`"
    return [*not_tuned(compared.work, command), *comparison_warnings(compared, command)]


def unfinished(compared: Compared) -> set[str]:
    """Return the data sets where a tuned learner that a claim names has not finished, or is not tuned yet."""
    options, work = compared.item.options, compared.work
    named = {name for key in ("left", "right", "label", "order") for name in as_list(options.get(key, []))}
    rows = zip(compared.summary["data"], compared.summary["label"], compared.summary["complete"], strict=True)
    tuned = any(run.tune is not None for run in compared.item.runs)
    lacking = {data for data, label, complete in rows if tuned and label in named and not complete}
    for run, data, learner in work.pending:
        if run.labels.get(learner, learner_specs([learner])[learner].label) in named:
            lacking.add(data)
    return lacking


def _matrix(compared: Compared) -> Table:
    """Return tuned learners (rows) on all data sets (columns), by the measure that compares them.

    The best by their average rank over the data sets, then the yardsticks, then the learners of a folder:
    rivals, which have not run on all.
    """
    plain, grid = full_table(compared.summary), grid_table(compared.summary)
    at = next(place for place, column in enumerate(plain.columns) if column.marks)
    grid["cell"] = [row.cells[at] for row in plain.rows]
    records = grid[grid["reps"] > 0].to_dict("records")
    cells = {(row["line"], row["data"]): _with_scale(row) for row in records}
    sets = list(dict.fromkeys(row["data"] for row in records))
    try:
        ranks = ranks_of_grid(grid, sets).average
    except UserError:  # too few have finished
        ranks = dict.fromkeys((row["line"] for row in records), nan)
    rows = [
        TableRow(
            (line, number(ranks.get(line, nan), 1), *(cells.get((line, name), MISSING) for name in sets)),
            rule="yardsticks" if above and not place else None,
        )
        for above, lines in enumerate(_groups_of_lines(compared, records, ranks))
        for place, line in enumerate(lines)
    ]
    columns = [Column("learner", "learner", "left"), Column("rank", "rank")]
    columns += [Column(name, name, marks=True) for name in sets]
    means = [
        replace(row, cells=(replace(cell, std=MISSING),))
        for row in plain.rows
        if isinstance(cell := row.cells[at], Spread)
    ]
    terms = [
        *terms_of(replace(plain, columns=[plain.columns[at]], rows=means), compared.summary, compared.cells),
        *(
            (mark, f"{what} (scale={word}), which the race chose")
            for word, (mark, what) in _SCALED.items()
            if any(cell.mean.endswith(f" {mark}") for cell in cells.values())
        ),
        ("rank", "average over all data sets"),
    ]
    warnings = best_warnings(compared)
    flat = _ranks_and_means(records, ranks, sets)
    return _table(compared, Table(columns, rows), "matrix", flat, terms=terms, warnings=warnings, notes=())


def _groups_of_lines(
    compared: Compared, records: Sequence[Mapping[str, Any]], ranks: Iterable[str]
) -> tuple[Sequence[str], Iterable[str], Iterable[str]]:
    """Return the names of the best learners, of the yardsticks, and of the learners of a folder.

    Where all runs are of a folder, so are the data, and there are no rivals apart.
    """
    specs = learner_specs(dict.fromkeys(row["algo"] for row in records))
    of_folders = [run.name for run in compared.item.runs if run.folder]
    of_folders = [] if len(of_folders) == len(compared.item.runs) else of_folders
    yardsticks = dict.fromkeys(row["line"] for row in records if _is_yardstick(specs[row["algo"]], row))
    others = dict.fromkeys(row["line"] for row in records if row["run"] in of_folders)
    return [line for line in ranks if line not in {*yardsticks, *others}][:SHOWN], yardsticks, others


def _ranks_and_means(
    records: Sequence[Mapping[str, Any]], ranks: Mapping[str, float], sets: Sequence[str]
) -> "pd.DataFrame":
    """Return all learners with their rank over the data sets, and their means; the best first."""
    import pandas as pd

    lines: dict[str, dict[str, Any]] = {}
    for row in records:
        line = row["line"]
        first = {"learner": line, "algo": row["algo"], "rank": ranks.get(line, nan), "sets": len(sets)}
        lines.setdefault(line, first)[row["data"]] = row[f"{row['measure']}_mean"]
    columns = ["learner", "algo", "rank", "sets", *sets]
    return pd.DataFrame([*lines.values()], columns=columns).sort_values("rank")


def _is_yardstick(spec: LearnerSpec, row: Mapping[str, Any]) -> bool:
    """Whether a row is a yardstick as it is; the perceptron with a kernel of its choice has another label."""
    return spec.yardstick and row["label"] == spec.label


def _with_scale(row: Mapping[str, Any]) -> Spread:
    """Return the mean of a row's measure, with a mark where the race chose to scale its features."""
    cell: Spread = row["cell"]
    word = row["params"].get("scale")
    is_given = f"scale={word}" in row["line"]  # by the run, not by the race
    mark, _ = _SCALED.get("" if is_given else word, ("", ""))
    return replace(cell, mean=f"{cell.mean} {mark}".rstrip(), std=MISSING)


KINDS: dict[str, Callable[[Compared], Table]] = {
    "results": _results,
    "tuning": _tuning,
    "times": _times,
    "best": _best,
    "matrix": _matrix,
}

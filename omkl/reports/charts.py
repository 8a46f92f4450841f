"""From tables to figures: one function for each kind, whoever draws the figure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.settings_text import value_text
from omkl.data import confusion as confusion_counts
from omkl.errors import UserError
from omkl.reports import captions
from omkl.reports.class_values import class_names
from omkl.reports.figures import (
    Confusion,
    Curve,
    Dots,
    Figure,
    HeatMap,
    Lines,
    LineStyle,
    Panel,
    Pictures,
    file_stem,
    line_styles,
    symbol,
)
from omkl.reports.measures import (
    ERROR,
    PAIR,
    best_of,
    costs_in,
    errors_of,
    learners_of,
    mean_curves,
    measure_in,
    measure_named,
    measure_of,
    yardsticks_of,
)
from omkl.reports.ranks import MOST_REASONS, Ranks, average_ranks
from omkl.reports.rows import ReportPlan, Row, line_names, rows_of
from omkl.reports.summary import axes_of, grid_table, summary_of_rows
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd

    Tables = Mapping[str, "pd.DataFrame"]

DIGITS = {"rate": 2, "count": 1, "size": 1, "share": 3}
WIDE = 30.0  # ratio of values from which on an axis is logarithmic
SECONDS = "seconds of one pass"
FRONT = "best for its cost"
COSTS = {  # option of conf/paper: column of the table, label of the axis
    "time": ("per_1000", "seconds for 1000 examples"),
    "size": ("size", "vectors (#SV) or random features"),
    "memory": ("memory_mib_mean", "memory of one pass (MiB)"),
}
_POINTS = ("panel", "x", "line", "y_mean", "y_std", "is_yardstick", "reps", "order")  # columns


def figure_named(
    kind: str,
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    measures: Sequence[str] = PAIR,
    rows: list[Row] | None = None,
) -> Figure:
    """Return a figure of a run's or a sweep's cells: curve, confusion, sweep, times or ranks.

    curves: as of mean_curves; it and the measures are for learning curves. rows: as of rows_of, made here
    where None. Raises UserError where the cells have nothing to draw.
    """
    if kind == "curve":
        return learning_curves(cells, curves, expected, rows, measures)
    if kind == "confusion":
        return confusion(cells, expected, rows)
    rows = rows_of(cells, expected) if rows is None else rows
    summary = summary_of_rows(rows, cells, expected).assign(per_data=[row.per_data for row in rows])
    if kind == "ranks":
        return ranks(average_ranks(summary), command=expected.command)
    if kind == "times":
        return times(grid_table(summary[summary["reps"] > 0]), command=expected.command)
    if figure := sweep(summary, command=expected.command):
        return figure
    raise UserError("no learner has finished a cell: nothing to draw")


def _names(table: "pd.DataFrame") -> tuple[list[str], list[str]]:
    """Return the names of the learners and those of the yardsticks, in order; a learner is no yardstick."""
    learners = list(dict.fromkeys(learners_of(table)["line"]))
    return learners, [name for name in dict.fromkeys(table["line"]) if name not in learners]


def _styles(table: "pd.DataFrame") -> dict[str, LineStyle]:
    return line_styles(*_names(table))


def _about(table: "pd.DataFrame", stds: Iterable[str] = ()) -> dict[str, Any]:
    """Return the caption of a table with the columns reps and order.

    stds: columns of standard deviations that are drawn; they are not named where all are 0
    """
    text = captions.basis(int(table["reps"].max()), table["order"])
    own = learners_of(table)
    return {"caption": text, "deviations": any((own[name].astype(float) > 0).any() for name in stds)}


# -------------------------------------------------------------------- over the examples


def learning_curves(
    cells: "pd.DataFrame",
    stored: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    rows: list[Row] | None = None,
    names: Sequence[str] = PAIR,
    **more: Any,
) -> Figure:
    """Return the learning curves of rows, in those of the measures that the cells hold.

    The arguments are those of mean_curves and curves (``more``). A learner has the same colour in the figure
    of each measure. Raises UserError where the cells hold none of the measures.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    named = list(zip(rows, line_names(rows, expected), strict=True))
    tables: dict[str, pd.DataFrame] = {}
    lacking: UserError | None = None
    for name in dict.fromkeys(names):
        try:
            tables[name] = mean_curves(cells, stored, expected, (name,), rows)
        except UserError as error:
            lacking = lacking or error
    if not tables and lacking:
        raise lacking
    palette = [line for row, line in named if row.cells and not row.is_yardstick]
    missing = captions.shortfall(
        (line, row.data, row.order, len(row.cells), row.planned) for row, line in named
    )
    if "name" not in more:
        table = next(iter(tables.values()))
        drawn = learners_of(table)["algo"].tolist() or table["algo"].tolist()
        kind = "curve" if len(names) > 1 else names[0]
        more["name"] = file_stem(kind, drawn, table["data"].tolist())
    return curves(tables, palette=palette, warnings=missing, **{"command": expected.command, **more})


def curves(
    tables: "Tables",
    *,
    name: str = "curves",
    title: str = "",
    log: bool | None = None,
    palette: Iterable[str] = (),
    warnings: Sequence[str] | None = None,
    seconds: "pd.DataFrame | None" = None,
    command: str = "",
) -> Figure:
    """Return measures over the examples, a panel per data set with a view per measure.

    tables: of ``mean_curves``, by measure    log: a log axis; None chooses it for sizes that differ by a
    factor above WIDE    palette: as in line_styles    warnings: None makes them from the first table
    seconds: a summary with a column ``line``, whose seconds are a further view

    Support vectors that no learner stores are left out. Raises UserError where nothing is left to draw.
    """
    first = next(iter(tables.values()))
    shown = {}
    for measure, table in tables.items():
        if _kind(measure) == "size":  # a learner without support vectors has no line
            table = table[table.groupby("line")[f"{measure}_mean"].transform("max") > 0]
        if len(table):
            shown[measure] = table
    if not shown:
        raise UserError(f"no {MEASURES[next(iter(tables))].label} to draw: these learners store none")
    wide = {own: _is_wide(table, own) if log is None else log for own, table in shown.items()}
    panels = []
    for data in dict.fromkeys(name for table in shown.values() for name in table["data"]):
        views: list[Any] = [
            _curve_view(part, own, wide[own])
            for own, table in shown.items()
            if len(part := table[table["data"] == data])
        ]
        if seconds is not None:
            views.append(_seconds(seconds[seconds["data"] == data]))
        panels.append(Panel(str(data), views))
    own, table = next(iter(shown.items()))
    about = _about(table)
    about["deviations"] = any(_about(each, [f"{own}_std"])["deviations"] for own, each in shown.items())
    best = "best: the kernel that ends with the largest weight" if _kind(own) == "share" else ""
    return Figure(
        name,
        panels,
        # of all lines: styles do not depend on the measure
        line_styles(*_names(first if seconds is None else seconds), palette),
        title=title,
        more=[best] if best else [],
        warnings=captions.shortfall_of(first) if warnings is None else warnings,
        command=command,
        **about,
    )


def _kind(name: str) -> str:
    return "rate" if name == ERROR else measure_named(name).kind


def _is_wide(table: "pd.DataFrame", name: str) -> bool:
    """Return whether the learners' largest sizes on some data set differ by a factor above WIDE."""
    own = learners_of(table)
    own = own[own[f"{name}_mean"] > 0]
    if _kind(name) != "size" or own.empty:
        return False
    largest = own.groupby(["data", "line"])[f"{name}_mean"].max().groupby(level="data")
    return bool((largest.max() / largest.min() > WIDE).any())


def _curve_view(table: "pd.DataFrame", name: str, log: bool) -> Lines:
    measure = measure_in(table) if name == ERROR else measure_named(name)
    lines = [
        Curve(str(line), *part[["t", f"{name}_mean", f"{name}_std"]].to_numpy(dtype=float).T)
        for line, part in table.groupby("line", sort=False)
    ]
    about: dict[str, Any] = {
        "kind": measure.kind,
        "digits": max(DIGITS[measure.kind], digits_of(table[f"{name}_mean"]))
        if measure.kind == "rate"
        else DIGITS[measure.kind],
        "log": log,
        "signed": measure.signed,
    }
    return Lines(name, measure.label, "examples", lines, **about)


def _seconds(part: "pd.DataFrame", as_shares: bool = False) -> Dots:
    names = part["line"].tolist()
    values = (part[f"seconds_{which}"].to_numpy(dtype=float) for which in ("mean", "std"))
    about: dict[str, Any] = {"digits": 3, "as_shares": as_shares, "marked": [False] * len(part)}
    return Dots("seconds", SECONDS, names, names, *values, **about)


# -------------------------------------------------------------------- over hyperparameters


def sensitivity_table(summary: "pd.DataFrame", name: str, measure: str = "mistake_pct") -> "pd.DataFrame":
    """Return the table that ``sensitivity`` takes from the summary of a sweep over one hyperparameter.

    name: as in params, "beta"; measure: of store.fields.AVERAGED. A panel per data set; a learner without
    the hyperparameter, or one not swept, has a level line (x is NaN). Raises UserError if nothing was swept.
    """
    axes = axes_of(summary)
    if name not in axes:
        raise UserError(f"'{name}' was not swept; swept: {', '.join(axes) or 'nothing'}")
    table = grid_table(summary[summary["reps"] > 0], axes)
    # One value of a learner is a level: it shows no effect of the hyperparameter.
    several = table.groupby("line")[f"at.{name}"].transform("nunique") > 1
    table = table.assign(panel=table["data"], x=table[f"at.{name}"].where(several))
    table = table.assign(y_mean=table[f"{measure}_mean"], y_std=table[f"{measure}_std"])
    return table[[*_POINTS]].reset_index(drop=True)


def sensitivity(
    table: "pd.DataFrame",
    *,
    x_label: str = "",
    y_label: str = MEASURES["mistake_pct"].label,
    ring: str = "",
    values: list[float] | None = None,
    **more: Any,
) -> Figure:
    """Return y against x: a panel per value of ``panel``, in order, a line per learner.

    table: a row per point, with the columns panel (its title), x (a number; NaN: a level line), line,
    y_mean, y_std (NaN: no band), is_yardstick (a dashed grey level), reps and order (for the caption).
    A panel may have its own labels in the columns ``x_label``, ``y_label``.
    ring: the meaning of the ring around each line's best point, the lowest, or the largest where a column
    ``sign`` is -1; without it there is none, and the y axis is
    logarithmic in a panel whose means, all positive, differ by a factor above WIDE. The x axis is where the
    values are spaced evenly on it. values: its ticks; None takes those of the panel. more: of Figure. Raises
    UserError when a column is missing.
    """
    if missing := [name for name in _POINTS if name not in table]:
        raise UserError(f"the table of a sensitivity figure lacks the column {', '.join(missing)}")
    for name, default in (("x_label", x_label), ("y_label", y_label)):
        if name not in table:
            table = table.assign(**{name: default})
    parts = table.groupby("panel", sort=False)
    panels = [Panel(str(panel), [_over_values(part, ring, values)]) for panel, part in parts]
    more = {"name": "sensitivity", "more": [f"ring: {ring}"] if ring else [], **more}
    return Figure(panels=panels, styles=_styles(table), **_about(table, ["y_std"]), **more)


def _over_values(part: "pd.DataFrame", ring: str = "", values: list[float] | None = None) -> Lines:
    lines = []
    for line, rows in part.sort_values("x", kind="stable").groupby("line", sort=False):
        lines.append(Curve(str(line), *rows[["x", "y_mean", "y_std"]].to_numpy(dtype=float).T))
    order = {name: place for place, name in enumerate(dict.fromkeys(part["line"]))}
    lines.sort(key=lambda line: order[line.name])
    means = part["y_mean"].dropna()
    log = not ring and len(means) > 0 and means.min() > 0 and means.max() / means.min() > WIDE
    ticks = values or sorted(part["x"].dropna().unique().tolist())
    x, y = (str(part[f"{axis}_label"].iloc[0]) for axis in "xy")
    about: dict[str, Any] = {
        "log": bool(log),
        "log_x": is_log_spaced(ticks),
        "points": True,
        "ring": ring,
        "sign": float(part["sign"].iloc[0]) if "sign" in part else 1.0,
        "digits": digits_of(means),
        "ticks": ticks,
    }
    return Lines(y, y, x, lines, **about)


def digits_of(values: Iterable[float]) -> int:
    """Return the decimals with which values are shown: at least two, and three digits of the median one."""
    sizes = np.abs(np.asarray(values, dtype=float))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    return max(2, 2 - int(np.floor(np.log10(np.median(sizes))))) if sizes.size else 2


def is_log_spaced(values: Iterable[float]) -> bool:
    """Return whether positive values are spread more evenly on a log axis, over a factor of 8 at least."""
    ordered = sorted(set(values))
    if len(ordered) < 2 or ordered[0] <= 0 or ordered[-1] / ordered[0] < 8:
        return False
    log, linear = (steps.std() / steps.mean() for steps in (np.diff(np.log(ordered)), np.diff(ordered)))
    # Two values over such a factor say nothing about their spacing; 0.01 and 0.1 are meant as decades.
    return len(ordered) == 2 or bool(log < linear)


def sweep(summary: "pd.DataFrame", *, name: str = "", command: str = "") -> Figure | None:
    """Return a summary's grid: the error over what was swept, one panel per data set (and learner).

    One swept number gives curves, two give heat maps; none (only words or pools were swept), or three and
    more, give one dot per setting, the best first. None where no learner has finished.
    """
    axes = axes_of(summary)
    table = grid_table(summary, axes)
    names = table["line"].where(table["settings"] == "", table["label"] + ", " + table["settings"])
    about: dict[str, Any] = {"command": command}
    about["warnings"] = captions.shortfall_of(table.assign(line=names))
    table = table[table["reps"] > 0]
    if (own := learners_of(table)).empty:
        return None
    about["name"] = name or file_stem("sweep", own["algo"], own["data"])
    if len(axes) == 1:
        ((axis, values),) = axes.items()
        labelled = _points(table, axis)
        return sensitivity(labelled, ring=best_of(table), values=values, **about)
    return _maps(table, axes, about) if len(axes) == 2 else _settings(table, about)


def _points(table: "pd.DataFrame", axis: str) -> "pd.DataFrame":
    """Return a ``grid_table`` as points along one axis, for sensitivity: the errors of the tasks."""
    errors: dict[str, Any] = {f"y_{part}": errors_of(table, part) for part in ("mean", "std")}
    rows = [measure_of(row) for row in table.to_dict("records")]
    errors |= {"y_label": [own.title for own in rows], "sign": [own.sign for own in rows]}
    return table.assign(panel=table["data"], x=table[f"at.{axis}"], x_label=symbol(axis), **errors)


def _settings(table: "pd.DataFrame", about: dict[str, Any]) -> Figure:
    """Return a dot per setting, the best first, and the yardsticks as levels."""
    # Settings of a learner share its colour; a yardstick may have the name of a learner.
    table = table.assign(line=table["label"].where(~table["is_yardstick"], table["line"]))
    several = table["pool"].dropna().nunique() > 1
    panels, stds = [], []
    for data, part in table.groupby("data", sort=False):
        measure = measure_in(part)
        mean, std = (f"{measure.name}_{which}" for which in ("mean", "std"))
        own, levels = learners_of(part), yardsticks_of(part)
        own = own.sort_values(mean, kind="stable", ascending=measure.better != "more")
        rows = zip(own["label"], own["settings"], own["pool"] if several else [""] * len(own), strict=True)
        names = [", ".join(filter(None, row)) for row in rows]
        values = (own[column].to_numpy(dtype=float) for column in (mean, std))
        marks: dict[str, Any] = {"marked": own["marked"].tolist(), "digits": digits_of(own[mean])}
        marks["levels"] = dict(zip(levels["line"], levels[mean].astype(float), strict=True))
        dots = Dots(measure.name, measure.title, names, own["label"].tolist(), *values, **marks)
        panels.append(Panel(str(data), [dots]))
        stds.append(std)
    more = ["filled: not worse than the best"] if table["marked"].any() else []
    return Figure(
        panels=panels, styles=_styles(table), more=more, **_about(table, dict.fromkeys(stds)), **about
    )


def _maps(table: "pd.DataFrame", axes: Mapping[str, list[float]], about: dict[str, Any]) -> Figure:
    """Return a heat map per data set and learner.

    A learner with several values of only one of the numbers has a curve over these; one with a single
    setting is named in the notes of the data set.
    """
    own = learners_of(table)
    varied = own.groupby("line", sort=False)[[f"at.{name}" for name in axes]].nunique() > 1
    several = {line: [name for name in axes if row[f"at.{name}"]] for line, row in varied.iterrows()}
    drawn = sorted((line for line in several if several[line]), key=lambda line: -len(several[line]))
    drawn = drawn or list(several)
    panels, notes = [], {}
    for data in dict.fromkeys(own["data"]):
        here = own[own["data"] == data]
        for line in drawn:
            if len(part := here[here["line"] == line]):
                (one, *others) = several[line] or axes
                made = _heat_map(part, axes) if others else _over_values(_points(part, one), best_of(part))
                panels.append(Panel(f"{data} · {line}", [made], str(data)))
        notes[str(data)] = _levels(table[table["data"] == data], drawn)
    curved = any(isinstance(panel.views[0], Lines) for panel in panels)
    stds = dict.fromkeys(f"{name}_std" for name in own["measure"] if curved)
    return Figure(panels=panels, styles=line_styles(drawn), notes=notes, **_about(own, stds), **about)


def _heat_map(part: "pd.DataFrame", axes: Mapping[str, list[float]]) -> HeatMap:
    measure = measure_in(part)
    (mean, rows, columns), (std, _, _) = (
        matrix(part, axes, f"{measure.name}_{which}") for which in ("mean", "std")
    )
    across, down = (symbol(axis) for axis in axes)
    about: dict[str, Any] = {"digits": digits_of(mean), "sign": measure.sign}
    return HeatMap(measure.name, measure.title, across, down, columns, rows, mean, std, **about)


def matrix(
    part: "pd.DataFrame", axes: Mapping[str, list[float]], column: str
) -> tuple[np.ndarray, list[str], list[str]]:
    """Return a column's values (rows, columns) in one panel and the ticks of its rows and columns.

    The first axis runs over the columns. Values that the learner did not take are left out; a learner without
    one of the axes has a single row or column, without a tick. NaN where no cell has finished.
    """
    across, down = (part[f"at.{name}"] for name in axes)
    columns, rows = (sorted(taken.dropna().unique()) or [np.nan] for taken in (across, down))
    grid = np.full((len(rows), len(columns)), np.nan)
    for x, y, value in zip(across, down, part[column], strict=True):
        grid[0 if np.isnan(y) else rows.index(y), 0 if np.isnan(x) else columns.index(x)] = value
    below, left = (
        ["" if np.isnan(v) else value_text(float(v)) for v in values] for values in (columns, rows)
    )
    return grid, left, below


def _levels(part: "pd.DataFrame", drawn: Iterable[str]) -> str:
    """Return the errors on a data set of those that have no panel: learners of one setting, yardsticks."""
    single = learners_of(part[~part["line"].isin(drawn)])
    texts = []
    for name, rows in (("one setting", single), ("yardsticks", yardsticks_of(part))):
        if len(rows):
            errors = zip(rows["line"], errors_of(rows), strict=True)
            texts.append(f"{name}: {', '.join(f'{line} {error:.1f}' for line, error in errors)}")
    return "; ".join(texts)


# -------------------------------------------------------------------- costs


def times(table: "pd.DataFrame", *, name: str = "times", **more: Any) -> Figure:
    """Return the seconds of each learner, a panel per data set.

    table: as of ``grid_table``, one row for each data set and line. Raises UserError for an empty table or a
    pair given twice.
    """
    if table.empty or table.duplicated(["data", "line"]).any():
        raise UserError("a figure of times needs one time for each data set and learner")
    parts = table.groupby("data", sort=False)
    panels = [Panel(str(data), [_seconds(part, as_shares=True)]) for data, part in parts]
    return Figure(name, panels, _styles(table), **_about(table, ["seconds_std"]), **more)


def front(cost: Iterable[float], error: Iterable[float]) -> list[int]:
    """Return the places of the points that no other beats in both, cheapest first; NaN is beaten.

    Of points that are equal in both the first is on the front.
    """
    both = enumerate(zip(cost, error, strict=True))
    pairs = sorted((c, e, place) for place, (c, e) in both if c + e == c + e)
    kept: list[int] = []
    least = np.inf
    for _, own, place in pairs:
        if own < least:
            kept.append(place)
            least = own
    return kept


def costs_of(table: "pd.DataFrame", cost: str) -> "pd.DataFrame":
    """Return the rows that have a cost and an error, with columns ``cost``, ``error`` and ``error_std``.

    table: a summary with the columns of ``papers.paper_tables.with_costs``    cost: one of COSTS
    """
    if cost not in COSTS:
        raise UserError(f"cost: {cost!r} is unknown; known: {', '.join(COSTS)}")
    vectors = table["n_sv_sum_mean"].astype(float)
    table = table.assign(size=table["features"].where(table["features"].notna(), vectors.where(vectors > 0)))
    errors, stds = (np.array(errors_of(table, part), dtype=float) for part in ("mean", "std"))
    table = table.assign(cost=table[COSTS[cost][0]].astype(float), error=errors, error_std=stds)
    return table[(table["cost"] > 0) & table["error"].notna()]


def pareto(table: "pd.DataFrame", cost: str, *, name: str = "costs", **more: Any) -> Figure:
    """Return error against cost, a panel per data set: a point per learner, and the front that none beats.

    table: as of ``costs_of``, with ``line``, the learners' names
    """
    if table.empty:
        raise UserError("no learner has both an error and a cost")
    panels = []
    for data, part in table.groupby("data", sort=False):
        values = part[["cost", "error", "error_std"]].to_numpy(dtype=float)
        best = values[front(part["cost"], costs_in(part))].T
        lines = [Curve(FRONT, best[0], best[1], np.full(len(best[0]), np.nan))]
        lines += [Curve(str(line), *own[:, None]) for line, own in zip(part["line"], values, strict=True)]
        measure = measure_in(part)
        about: dict[str, Any] = {"kind": "front", "log_x": True, "points": True, "sign": measure.sign}
        about["digits"] = digits_of(values[:, 1])
        panels.append(Panel(str(data), [Lines(cost, measure.title, COSTS[cost][1], lines, **about)]))
    styles = line_styles(dict.fromkeys(table["line"]), [FRONT])
    text = "joined: no other learner is better at no more cost"
    return Figure(name, panels, styles, caption=text, **more)


# -------------------------------------------------------------------- classes, ranks, pictures


def confusion(
    cells: "pd.DataFrame",
    expected: ReportPlan,
    rows: list[Row] | None = None,
    *,
    name: str = "",
    classes: Sequence[int] | None = None,
) -> Figure:
    """Return confusion matrices of the learners' rows; of the yardsticks' only where there are no others.

    Cells of regressions, novelty detections and older versions have no counts. classes: the numbers of
    classes of which matrices are made, None for any. Raises UserError where there is none.
    """
    rows = rows_of(cells, expected) if rows is None else rows
    made: list[tuple[Row, str, Confusion]] = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        stored = [one for one in cells["confusion"].iloc[row.cells] if isinstance(one, list | dict)]
        counts = confusion_counts.matrices(stored) if stored else np.zeros((0, 0, 1))
        if stored and (classes is None or counts.shape[1] in classes):
            data, content = (str(cells[column].iat[row.cells[0]]) for column in ("data", "data_hash"))
            names = class_names(data, content, counts.shape[1], expected)
            mean = counts.mean(axis=0)
            mistakes = 100.0 * float(cells["mistake_rate"].to_numpy()[row.cells].astype(float).mean())
            made.append((row, line, Confusion(names, mean[:, :-1], mean[:, -1], mistakes)))
    made = [one for one in made if not one[0].is_yardstick] or made
    if not made:
        raise UserError(
            "no stored cell has a confusion matrix: only classifications have one, and older versions did "
            "not store it; `omkl run --fresh` with the same words runs them again"
        )
    panels = [Panel(f"{row.data} · {line}", [view], row.data) for row, line, view in made]
    sets = list(dict.fromkeys(row.data for row, _, _ in made))
    text = captions.basis(max(len(row.cells) for row, _, _ in made), [row.order for row, _, _ in made])
    cut = any(view.cut.any() for _, _, view in made)
    done = [(line, row.data, row.order, len(row.cells), row.planned) for row, line, _ in made]
    return Figure(
        name or file_stem("confusion", [row.learner for row, _, _ in made], sets),
        panels,
        title=sets[0] if len(sets) == 1 else "",
        caption=text,
        more=["the rarest of the confusions are not drawn"] if cut else [],
        warnings=captions.shortfall(done),
        command=expected.command,
    )


def ranks(made: Ranks, *, name: str = "ranks", **more: Any) -> Figure:
    """Return the diagram of average ranks, of the best of many learners."""
    # In the order of the table, so that colours are those of the learners' curves.
    learners = [line for line in made.each if line in made.drawn and line not in made.yardsticks]
    left_out = captions.some(made.left_out, "; ", MOST_REASONS)
    lines = [f"left out: {left_out}"] if left_out else []
    if len(made.drawn) < len(made.average):
        lines.append(f"drawn: the {len(made.drawn)} best; the table next to it compares all")
    about: dict[str, Any] = {"caption": made.caption(), "more": lines}
    styles = line_styles(learners, [line for line in made.yardsticks if line in made.drawn])
    return Figure(name, [Panel("all data sets", [made])], styles, **about, **more)


def pictures(panels: Mapping[str, Pictures], *, name: str = "pictures", **more: Any) -> Figure:
    """Return panels of square pictures, such as the digits that a novelty detector finds unusual.

    more: of Figure. Raises UserError for no pictures, pictures that are not square, or another number of
    scores.
    """
    for title, own in panels.items():
        side = round(np.sqrt(own.values.shape[1])) if own.values.ndim == 2 else 0
        if side * side != own.values.shape[-1] or len(own.scores) != len(own.values):
            raise UserError(
                f"'{title}': pictures need values (n, side * side) and n scores, "
                f"not {own.values.shape} and {len(own.scores)}"
            )
    if not any(own.values.size for own in panels.values()):
        raise UserError("no pictures to draw")
    return Figure(name, [Panel(title, [own]) for title, own in panels.items()], **more)

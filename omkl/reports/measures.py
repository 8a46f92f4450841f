"""The measures of omkl.tasks in a summary, and drawn against the examples seen, and of each class."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.data import registry
from omkl.errors import UserError, suggest
from omkl.reports.rows import Parts, ReportPlan, Row, line_names, rows_of
from omkl.store.fields import mean_there
from omkl.tasks import MEASURES, OF_PAPERS, TASK_ERROR, Measure, judging

if TYPE_CHECKING:
    import pandas as pd


ERROR = "error"  # the measure of the row's task
PAIR = (ERROR, "n_sv_sum")  # what is usually drawn over the examples
WINDOWS = 25  # of a stream, for rates that follow its drift


def learners_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are no yardsticks."""
    return table[~table["is_yardstick"].astype(bool)]


def yardsticks_of(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a summary or of curves that are yardsticks."""
    return table[table["is_yardstick"].astype(bool)]


def deciding_measure(row: Row, cells: "pd.DataFrame", expected: ReportPlan) -> Measure:
    """Return the measure by which the rows of a data set are compared: the plan's, else the task's error.

    That of a regression is the papers' MSE on a registered data set, whose target they have scaled.
    """
    if expected.by and row.task in (measure := judging(expected.by)).tasks:
        return measure
    if row.task not in OF_PAPERS:
        return TASK_ERROR[row.task]
    name = row.data.partition(" (")[0]  # what tells two sets of one name apart follows
    content = cells["data_hash"].iat[row.cells[0]] if row.cells else None
    of_paper = registry.entry_of(name, content) if content else registry.is_name(name)
    return OF_PAPERS[row.task] if of_paper else TASK_ERROR[row.task]


def measure_of(row: Mapping[str, Any]) -> Measure:
    """Return the measure by which a row of a summary is compared with the others of its data set."""
    return TASK_ERROR["novelty"] if row["task"] == "novelty" else MEASURES[row["measure"]]


def measure_in(table: "pd.DataFrame") -> Measure:
    """Return the measure of a part of a summary that holds one data set only."""
    return measure_of(table.iloc[0])


def errors_of(table: "pd.DataFrame", part: str = "mean") -> list[float]:
    """Return the measure of each row of a summary; part: "std" for the standard deviations."""
    return [row[f"{row['measure']}_{part}"] for row in table.to_dict("records")]


def signed_measure(row: Mapping[str, Any]) -> float:
    """Return the measure of a row of a summary, with a sign by which less is better."""
    return measure_of(row).sign * row[f"{row['measure']}_mean"]


def signed_measures(table: "pd.DataFrame") -> list[float]:
    """Return the measure of each row of a summary, with a sign by which less is better."""
    return [signed_measure(row) for row in table.to_dict("records")]


def best_first(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows of a summary, the best first: ties go to fewer support vectors, then to the earlier row."""
    costs = table.assign(cost=signed_measures(table)).sort_values(["cost", "n_sv_sum_mean"], kind="stable")
    return table.loc[costs.index]


def best_of(table: "pd.DataFrame") -> str:
    """Return what the best rows of the table have: ``fewest mistakes``, ``largest AUC``, or several."""
    both = table[["task", "measure"]].drop_duplicates().to_dict("records")
    return " or ".join(dict.fromkeys(filter(None, (measure_of(row).best for row in both))))


# -------------------------------------------------------------------- over time


_DRAWN = {name: own for name, own in MEASURES.items() if own.label}


def measure_named(name: str) -> Measure:
    """Return a measure that is drawn over the examples. Raises UserError for another name."""
    measures = {measure.word: measure for measure in _DRAWN.values()} | _DRAWN
    if name not in measures:
        choices = f"choose one of {', '.join(_DRAWN)}"
        if name in MEASURES:
            raise UserError(f"{name} is a measure of a whole pass and has no curve: {choices}")
        raise UserError(f"no measure '{name}'{suggest(name, measures)}: {choices}")
    return measures[name]


def points_of(measure: Measure) -> str:
    """Return the list of the curve that holds the examples seen."""
    return "weights_t" if measure.needs == "weights" else "t"


def over_time(measure: Measure, curve: Mapping[str, Any], points: np.ndarray) -> np.ndarray:
    """Return the values at the points (n,): of a window up to each, of weights the largest at the end."""
    if measure.needs == "weights":
        weights = np.abs(np.asarray(curve["weights"], dtype=float))
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        top = weights[:, weights[-1].argmax()]
        return np.interp(points, [0, *curve["weights_t"]], [1.0 / weights.shape[1], *top])
    # Nothing is counted before the first example.
    counts = np.interp(points, [0, *curve["t"]], [0, *curve[measure.needs]])
    if measure.windowed:
        values = measure.scale * np.diff(counts, prepend=0.0) / np.diff(points, prepend=0.0)
    else:
        values = measure.scale * counts / points if measure.kind == "rate" else counts
    return np.sqrt(values) if measure.root else values


def average(curves: Sequence[Mapping[str, Any]], measures: Sequence[Measure]) -> dict[str, np.ndarray]:
    """Return ``t`` and, for each measure, mean and sample standard deviation (NaN for one) of the curves.

    Where the repetitions' points differ, all are taken at those of the longest list. The measures must have
    the same points.
    """
    points = points_of(measures[0])
    end = min(curve[points][-1] for curve in curves)
    grid = np.asarray(max((curve[points] for curve in curves), key=len), dtype=float)
    grid = np.unique(np.append(grid[grid < end], end))
    if any(measure.windowed for measure in measures):
        grid = grid[:: -max(1, grid.size // WINDOWS)][::-1]  # the last window ends with the stream
    if points == "weights_t":
        grid = np.append(0.0, grid)  # where all kernels weigh the same
    result = {"t": grid}
    for measure in measures:
        values = np.array([over_time(measure, curve, grid) for curve in curves])
        result[f"{measure.name}_mean"] = values.mean(axis=0)
        several = len(values) > 1
        result[f"{measure.name}_std"] = values.std(axis=0, ddof=1) if several else np.full(grid.size, np.nan)
    return result


def mean_curves(
    cells: "pd.DataFrame",
    curves: Mapping[str, Mapping[str, Any]],
    expected: ReportPlan,
    names: Sequence[str] = PAIR,
    rows: list[Row] | None = None,
) -> "pd.DataFrame":
    """Average the curves of the cells' repetitions.

    curves: by cell key, with lists of one length: ``t`` and ``mistakes``, ``n_sv_sum`` or what else the
    measures need. names: of measures (MEASURES) that have the same points, or ERROR. rows: those to
    draw; all when None. Curves whose points differ are interpolated, see `average`.

    Returns a long table: data, task, order, measure, algo, line (legend text), is_yardstick, reps, asked
    (repetitions expected), t, and of each measure the mean ``NAME_mean`` and the sample standard
    deviation ``NAME_std`` (NaN for one repetition). Rows without such a curve are left out; UserError when
    that leaves none.
    """
    import pandas as pd

    rows = rows_of(cells, expected) if rows is None else rows
    keys = cells["key"].tolist() if len(cells) else []
    tables = []
    for row, line in zip(rows, line_names(rows, expected), strict=True):
        error = deciding_measure(row, cells, expected)
        error = error if error.label else deciding_measure(row, cells, replace(expected, by=""))
        drawn = [error if name == ERROR else measure_named(name) for name in names]
        stored = [curves[keys[cell]] for cell in row.cells if keys[cell] in curves]
        if complete := [curve for curve in stored if all(curve.get(one.needs) for one in drawn)]:
            points, *values = average(complete, drawn).values()
            shown = [f"{name}_{part}" for name in names for part in ("mean", "std")]
            about: dict[str, Any] = {"data": row.data, "task": row.task, "order": row.order}
            about |= {
                "measure": error.name,
                "algo": row.learner,
                "line": line,
                "is_yardstick": row.is_yardstick,
            }
            about |= {"reps": len(complete), "asked": row.planned}
            tables.append(pd.DataFrame({"t": points, **dict(zip(shown, values, strict=True)), **about}))
    if not tables and any(key in curves for key in keys):
        raise UserError(f"the curves of these cells lack {' and '.join(names)}: nothing to draw")
    if not tables:
        raise UserError(
            "the store has no learning curve of these cells; run them, with --fresh if they are in the store"
        )
    return pd.concat(tables, ignore_index=True)


# ------------------------------------------------------------------ each class of a data set

MOST_NAMED = 10  # classes of which a table shows all values, of more the WORST
WORST = 5


def class_names(data: str, content: str, count: int, expected: ReportPlan) -> list[str]:
    """Return the names of a data set's classes, as its source writes them where that is known, else numbers.

    data, content: name and hash of the cells    count: of the classes
    """
    names = expected.classes.get((data, content), expected.classes.get((data, None)))
    if names is None and count > 2:
        entry = registry.entry_of(data, content)
        names = entry.classes if entry else None
    if names is not None and len(names) == count:
        return list(names)
    return ["-1", "+1"] if count == 2 else list(map(str, range(count)))


def class_columns(
    row_groups: Parts, count: int, cells: "pd.DataFrame", expected: ReportPlan
) -> dict[str, list]:
    """Return columns of each of ``count`` rows: the names of its ``classes``, and what each has on average.

    class_errors: the share of its examples taken for another one in percent    class_f1: its F1
    None where no cell has counts. parts: as of `by_count`
    """
    columns: dict[str, list] = {name: [None] * count for name in ("classes", "class_errors", "class_f1")}
    stored, data, content = (cells[name].to_numpy() for name in ("hits", "data", "data_hash"))
    for rows, places in row_groups:
        for at, row in zip(rows.tolist(), places.tolist(), strict=True):
            hits = [np.frombuffer(one, "<i8").reshape(3, -1) for one in stored[row] if isinstance(one, bytes)]
            if not hits:
                continue
            which = str(data[row[0]]), str(content[row[0]]), hits[0].shape[1]
            errors, f1 = _of_each(*np.array(hits, float).transpose(1, 0, 2)[:, None])
            columns["classes"][at] = class_names(*which, expected)
            columns["class_errors"][at], columns["class_f1"][at] = errors[0], f1[0]
    return columns


def _of_each(right: np.ndarray, whole: np.ndarray, taken: np.ndarray) -> tuple[list, list]:
    """Return means over n repetitions (R, n, C) of each class's error in percent, and of its F1.

    Repetitions without examples of the class do not count for its error, NaN where there are no others.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = 1.0 - right / whole
        f1 = 2.0 * right / (whole + np.where(taken[..., :1] < 0, np.nan, taken))
        means = [mean_there(np.moveaxis(values, 1, -1)).tolist() for values in (errors, f1)]
    return [[100.0 * error for error in curve] for curve in means[0]], means[1]


def classes_text(
    names: Sequence[str] | None, values: Sequence[float] | None, digits: int = 1, largest: bool = True
) -> str:
    """Return a value of each class for a table, of many classes the worst; empty without any.

    largest: whether these are the worst
    """
    if names is None or values is None:
        return ""
    pairs = [(name, value) for name, value in zip(names, values, strict=True) if value == value]
    more = ""
    if len(pairs) > MOST_NAMED:
        pairs = sorted(pairs, key=lambda pair: -pair[1] if largest else pair[1])[:WORST]
        more = ", ..."
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in pairs) + more

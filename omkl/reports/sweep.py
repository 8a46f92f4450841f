"""A grid of settings: its axes, the best setting of each learner on each data set, its report."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.reports.asked import Asked
from omkl.reports.rows import params_text, value_text
from omkl.reports.summary import summary_of
from omkl.reports.tables import check_format, render
from omkl.reports.tasks import BY_TASK

if TYPE_CHECKING:
    import pandas as pd

BEST_TITLE = "best setting per data set and learner (chosen on these permutations, hence optimistic)"


def flat(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield hyperparameters with those of a kernel as ``kernel.sigma``."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def axes_of(summary: "pd.DataFrame") -> dict[str, list[float]]:
    """Return the swept numbers: hyperparameters of which some learner has several values, all numbers.

    By name, with all values of all learners in ascending order; the longest axis first.
    """
    learners = summary[~summary["is_yardstick"].astype(bool)]
    values: dict[tuple[str, str], set] = {}
    for algo, params in zip(learners["algo"], learners["params"], strict=True):
        for name, value in flat(params):
            values.setdefault((algo, name), set()).add(value_text(value) if _is_text(value) else value)
    axes: dict[str, set] = {}
    for (_, name), found in values.items():
        if len(found) > 1 and all(_is_number(value) for value in found):
            axes.setdefault(name, set()).update(found)
    for (_, name), found in values.items():
        if name in axes and all(_is_number(value) for value in found):
            axes[name].update(found)
    return {name: sorted(found) for name, found in sorted(axes.items(), key=lambda axis: -len(axis[1]))}


def _is_text(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def grid_table(summary: "pd.DataFrame", axes: Mapping[str, list[float]]) -> "pd.DataFrame":
    """Return the summary with its place on the axes, for figures.

    Adds ``line``, what the legend says: the learner, its shown hyperparameters that are no axis and not
    chosen per data set (a column ``per_data`` of their names), the pool if there are several; and a column
    ``at.NAME`` per axis, NaN for a learner without that hyperparameter.
    """
    several = summary["pool"].dropna().nunique() > 1
    table = summary.copy()
    lines = []
    for row in summary.to_dict("records"):
        shown = {name: row["params"][name] for name in row["shown"] if name not in row.get("per_data", ())}
        level = row["is_yardstick"]  # has no place on the axes, so that its settings must be told
        rest = {name: value for name, value in shown.items() if level or not _covered(name, value, axes)}
        pool = row["pool"] if several and row["pool"] else ""
        lines.append(", ".join(part for part in (row["label"], params_text(rest), pool) if part))
    table["line"] = lines
    for name in axes:
        places = [dict(flat(params)).get(name) for params in summary["params"]]
        table[f"at.{name}"] = [float(place) if _is_number(place) else float("nan") for place in places]
    return table


def _covered(name: str, value: Any, axes: Mapping[str, Any]) -> bool:
    """Whether the axes say all about a hyperparameter; a kernel's kind is never on an axis."""
    return name in axes or (
        isinstance(value, Mapping)
        and all(part == f"{name}.kind" or part in axes for part, _ in flat({name: value}))
    )


def best_settings(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return of each data set and learner the row with the lowest mean error, yardsticks included.

    The error is the mistake rate, of a regression the mean squared error.

    Over all hyperparameters and pools; ties go to fewer support vectors, then to the earlier row. Marks are
    those of the whole grid. Learners of which nothing has finished are left out.
    """
    done = summary[summary["reps"] > 0]
    errors = [row[f"{BY_TASK[row['task']].name}_mean"] for row in done.to_dict("records")]
    order = done.assign(error=errors).sort_values(["error", "n_sv_sum_mean"], kind="stable")
    chosen = order.drop_duplicates(["data", "algo", "label", "is_yardstick"]).index
    return summary.loc[sorted(chosen)].reset_index(drop=True)


def swept_names(summary: "pd.DataFrame", asked: Asked) -> list[str]:
    """Return the hyperparameters that get columns of their own: the swept ones, as told or as found."""
    told = [key.split(".")[1] for key in asked.swept if key.startswith("algo.")]
    names = dict.fromkeys(told or [name.split(".")[0] for name in axes_of(summary)])
    return [name for name in names if any(name in params for params in summary["params"])]


def sweep_report(
    cells: "pd.DataFrame", asked: Asked, fmt: str = "table", out: str | Path | None = None
) -> tuple[str, list[Path]]:
    """Return the text of a sweep and the figure files written.

    Text: the long table (a row per setting, a column per swept hyperparameter), then the best settings; in
    JSON under "summary", "best", "cells"; CSV holds the long table. out: as of curves.curve_figure, None for
    no figure; there is none either when no learner has finished a cell.

    Raises UserError for an unknown format, OmklError when the figure cannot be written.
    """
    check_format(fmt)
    summary = summary_of(cells, asked)
    name = "best" if fmt == "json" else BEST_TITLE
    text = render(
        summary,
        cells,
        asked,
        fmt,
        swept=swept_names(summary, asked),
        more={name: best_settings(summary)},
    )
    done = summary[summary["reps"] > 0]
    if out is None or done["is_yardstick"].all():
        return text, []
    from omkl.reports import style
    from omkl.reports.sweep_figure import draw_sweep

    learners = done[~done["is_yardstick"].astype(bool)]
    target = style.target(out, "sweep", learners["algo"].tolist(), learners["data"].tolist())
    return text, style.save(draw_sweep(summary), target, "Sweep", asked.command)

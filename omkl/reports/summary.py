"""The summary: one row per data set, learner, pool and hyperparameters, averaged over the repetitions.

And its rows placed on the grid of a sweep.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_pools import kernel_pool
from omkl.config.settings_text import params_text, value_text
from omkl.reports import origin
from omkl.reports.class_values import of_classes
from omkl.reports.measures import cost_of, deciding, learners_of, measure_of
from omkl.reports.origin import Origins
from omkl.reports.rows import Parts, ReportPlan, Row, by_count, divided, rows_of, shown_params
from omkl.reports.table_cells import MISSING
from omkl.store.cell_measures import CellMeasures, no_collection, with_extra
from omkl.store.fields import AVERAGED
from omkl.tasks import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
LEAST_COMMON = 5  # permutations that a test takes: of fewer, it says little and misleads
FEW = 3  # values of a grid: of fewer, each is at its boundary
_TOGETHER = 2**22  # counts of rows and kernels that are in memory at once
READ = (  # the columns of cells that a table needs, and of its notes
    *("data", "data_hash", "order", "algo", "params", "pool", "pool_spec", "task", "seed"),
    *(
        "permutation_seed",
        "T",
        "m",
        "rounds",
        "test",
        "held_out",
        "hits",
        "origin",
        "load",
        "n_weights",
        "heaviest",
    ),
    *AVERAGED,
)
_OBJECTS = ("T", "m", "pool", "classes", "class_errors", "class_f1")
_FOLLOWING = tuple(own.name for own in MEASURES.values() if own.of == "counts" or own.name == "rmse")
_FLAGS = ("is_yardstick", "complete", "marked", "best")
COLUMNS = (
    *("data", "task", "measure", "order", "T", "m", "pool", "kernel", "algo", "label", "is_yardstick"),
    "settings",
    "shown",
    *("params", "reps", "asked", "complete", "marked", "best", "p_value", "common"),
    *("classes", "class_errors", "class_f1"),
    *(
        f"{name}_{part}"
        for name in (*(name for name, _ in AVERAGED.values()), *_FOLLOWING)
        for part in ("mean", "std")
    ),
    *origin.COLUMNS,
)


@no_collection()
def summary_of(cells: "pd.DataFrame", expected: ReportPlan) -> "pd.DataFrame":
    """Average the cells over their repetitions.

    Columns (COLUMNS): ``mistake_pct_mean`` and so on are means over the repetitions, ``..._std`` sample
    standard deviations (ddof 1, NaN for one repetition); rates in percent, ``mse_e3`` the mean squared error
    of a regression times 1000, ``nlpd`` NaN for a learner that does not report it, seconds of the learner.
    ``m`` is the number of kernels, 0 for a kernel-free learner, ``kernel`` the top one (`top_kernels`).
    ``settings`` is the text of the hyperparameters to show (``shown``), ``params`` all of them. ``reps``
    repetitions have finished, ``asked`` are expected; ``complete`` when these agree. ``class_errors`` are the
    mean errors of the ``classes`` in percent, None of cells without them. The last columns are those of
    origin.Origins.columns.

    ``measure``: the one by which the rows of a data set are compared (`deciding`). ``best``: the best mean of
    it, of a novelty detection none. ``marked``: the best, and every row not worse than it by a paired
    two-sided t-test at 0.05 over the permutations that both have run (``common``, ``p_value``); fewer than
    LEAST_COMMON in common is no test and no mark. Learners and yardsticks compete, so that a reader sees
    where a yardstick wins. Rows compete within one data set and order, over all pools and hyperparameters.
    """
    return summary_of_rows(rows_of(cells, expected), cells, expected)


@no_collection()
def summary_of_rows(rows: list[Row], cells: "pd.DataFrame", expected: ReportPlan) -> "pd.DataFrame":
    """As ``summary_of``, of rows that are chosen already."""
    import pandas as pd

    cells, parts = with_extra(cells), by_count(rows)
    measures = [deciding(row, cells, expected) for row in rows]
    reps, asked = ([len(row.cells) for row in rows], [row.planned for row in rows])
    made: dict[str, Any] = {
        name: [getattr(row, name) for row in rows]
        for name in ("data", "task", "order", "pool", "params", "is_yardstick")
    }
    made |= {"algo": [row.learner for row in rows], "reps": reps, "asked": asked}
    made |= {"measure": [measure.name for measure in measures]}
    made |= {"complete": [done >= planned for done, planned in zip(reps, asked, strict=True)]}
    made |= _names(rows, expected) | {"kernel": top_kernels(parts, len(rows), cells)}
    made |= of_classes(parts, len(rows), cells, expected)
    of_cells = CellMeasures(cells)
    made |= _sizes(parts, len(rows), cells) | _means(parts, len(rows), cells, of_cells)
    made |= _marks(made, rows, Tested(cells, of_cells))
    made |= Origins(cells).columns(parts, len(rows))
    objects = {name: pd.Series(made[name], dtype=object) for name in _OBJECTS}  # where None is to stay None
    return pd.DataFrame(made | objects, columns=list(COLUMNS)).astype(dict.fromkeys(_FLAGS, bool))


def _names(rows: list[Row], expected: ReportPlan) -> dict[str, Any]:
    """Return what the rows are called: their labels, and the hyperparameters that are shown."""
    shown = [{} if row.label else own for row, own in zip(rows, shown_params(rows, expected), strict=True)]
    texts = {id(own): params_text(own) for own in {id(own): own for own in shown}.values()}
    return {
        "label": [row.label or expected.label(row.learner) for row in rows],  # a label of its own says all
        "shown": [list(own) for own in shown],
        "settings": [texts[id(own)] for own in shown],
    }


def _sizes(parts: Parts, count: int, cells: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Return the examples and kernels of each row, None without cells."""
    T, m = (cells[name].to_numpy() for name in ("T", "m"))
    sizes = {name: np.full(count, None) for name in ("T", "m")}
    for own, places in parts:
        sizes["T"][own] = T[places[:, 0]].astype(int)
        sizes["m"][own] = m[places].max(axis=1).astype(int)
    return sizes


def _means(parts: Parts, count: int, cells: "pd.DataFrame", of_cells: CellMeasures) -> dict[str, np.ndarray]:
    """Return the means and standard deviations of the rows, by the names of their columns.

    The mean of a rate is that of the counts, whose sums are exact: rows with as many mistakes are equal.
    """
    means: dict[str, np.ndarray] = {}
    T = cells["T"].to_numpy().astype(float)
    averaged = {name: (column, factor) for column, (name, factor) in AVERAGED.items()}
    for name in (*averaged, *_FOLLOWING):
        mean, std = (np.full(count, np.nan) for _ in range(2))
        means |= {f"{name}_mean": mean, f"{name}_std": std}
        column, factor = averaged.get(name, ("", 1.0))
        if column and not cells[column].notna().any():
            continue
        values = cells[column].to_numpy().astype(float) * factor if column else of_cells.of(name)
        for own, places in parts:
            each = values[places]
            mean[own] = each.mean(axis=1)
            if name == "mistake_pct":
                mean[own] = factor * means["mistakes_mean"][own] / T[places[:, 0]]
            if places.shape[1] > 1:
                std[own] = each.std(axis=1, ddof=1)
    return means


def _marks(made: Mapping[str, Any], rows: list[Row], tested: "Tested") -> dict[str, np.ndarray]:
    """Return which rows are the best of their data set, and which are not worse, with the tests."""
    flags = {"best": np.zeros(len(rows), bool), "marked": np.zeros(len(rows), bool)}
    flags |= {"p_value": np.full(len(rows), np.nan), "common": np.zeros(len(rows), int)}
    for lowest, _, parts in against_best(rows, made, tested):
        for own, differences in parts:
            p = paired_ps(differences)
            flags["p_value"][own], flags["common"][own] = p, differences.shape[1]
            flags["marked"][own] = not_worse(differences, p)
        flags["best"][lowest] = True
        flags["marked"][lowest] = flags["common"][lowest] >= LEAST_COMMON
    return flags


Differences = Iterator[tuple[np.ndarray, np.ndarray]]


def against_best(
    rows: list[Row], summary: Mapping[str, Any], tested: "Tested"
) -> Iterator[tuple[np.ndarray, np.ndarray, Differences]]:
    """Yield of each data set the numbers of its best rows and of all rows, and the differences of all.

    These are as of `Tested.differences`. The best have the best mean; of several, the differences are from
    the one with most repetitions. summary: of these rows, or its columns
    """
    by_data: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        if row.cells:
            by_data.setdefault(row.data, []).append(at)
    for competing in map(np.array, by_data.values()):
        task, name = (summary[key][competing[0]] for key in ("task", "measure"))
        measure = measure_of({"task": task, "measure": name})
        errors = measure.sign * np.asarray(summary[f"{measure.name}_mean"])[competing]
        if not measure.better or np.isnan(errors).all():
            continue
        lowest = competing[errors == np.nanmin(errors)]
        best = max((rows[at] for at in lowest.tolist()), key=lambda row: len(row.cells))
        differences = tested.differences([rows[at] for at in competing.tolist()], best, measure)
        yield lowest, competing, ((competing[own], less) for own, less in differences)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values (n,) with Holm's correction for all of them; those that are NaN stay, and do not count.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).
    """
    made = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: int(np.count_nonzero(~np.isnan(p_values)))]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    made[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return made


class Tested:
    """The errors of cells by permutation, by whatever measure: less is better."""

    def __init__(self, cells: "pd.DataFrame", of_cells: CellMeasures | None = None) -> None:
        import pandas as pd

        self._cells, self._of_cells = cells, of_cells or CellMeasures(cells)
        known, texts = pd.factorize(cells["permutation_seed"].to_numpy())
        names = [str(text) for text in texts]
        # by name; a cell without a seed has that of number -1, the last
        ranks = np.array([*np.argsort(np.argsort(np.array(names, str))), len(names)], int)
        self._count, self._seeds = len(ranks), ranks[known]
        self._errors: dict[str, np.ndarray] = {}

    def _of(self, cells: np.ndarray, on: np.ndarray, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
        """Return the errors of cells (R, n) by permutation, ascending in each row, and the permutations.

        on: the cells whose permutations they are
        """
        column = measure.tested  # counts, not rates: their differences are exact, equal is equal
        if measure.name not in self._errors:
            own = self._cells[column].to_numpy().astype(float) if column else self._of_cells.of(measure.name)
            self._errors[measure.name] = measure.sign * own
        seeds, errors = self._seeds[on], self._errors[measure.name][cells]
        if (np.diff(seeds, axis=1) >= 0).all():
            return errors, seeds
        order = np.argsort(seeds, axis=1, kind="stable")
        return np.take_along_axis(errors, order, 1), np.take_along_axis(seeds, order, 1)

    def differences(self, rows: Sequence[Row], other: Row, measure: Measure) -> Differences:
        """Yield numbers (R,) of rows, and their errors minus those of another row (R, n).

        Over the n permutations that both have run, of a permutation the first cell; n may be 0. A row of
        which one repetition stands for all has its error on each permutation that any of these has run.
        """
        longest = max((row.cells for row in (*rows, other)), key=len)

        def cells_of(row: Row) -> tuple[list[int], list[int]]:
            return (row.cells * len(longest), longest) if row.stands_for_all else (row.cells, row.cells)

        cells, on = np.array([cells_of(other)]).transpose(1, 0, 2)
        (theirs,), (seeds,) = self._of(cells, on, measure)
        known, first = np.unique(seeds, return_index=True)
        at = np.full(self._count, -1)
        at[known] = first
        every = [cells_of(row) for row in rows]
        sizes, of = np.unique([len(cells) for cells, _ in every], return_inverse=True)
        for own in divided(of, len(sizes)):
            pairs = np.array([every[row] for row in own.tolist()], int)
            errors, seeds = self._of(pairs[:, 0], pairs[:, 1], measure)
            common = (at[seeds] >= 0) & (np.diff(seeds, axis=1, prepend=-1) > 0)
            less, counts = errors - theirs[at[seeds]], common.sum(axis=1)
            for count in np.unique(counts).tolist():
                some = counts == count
                yield own[some], less[some][common[some]].reshape(int(some.sum()), count)


def paired_ps(differences: np.ndarray) -> np.ndarray:
    """Return the two-sided p-values (R,) of the paired t-tests of differences (R, n).

    NaN where n is below LEAST_COMMON. Differences that are all equal leave the test without variance: p is 1
    where they are 0, else 0.
    """
    size = differences.shape[1]
    if size < LEAST_COMMON:
        return np.full(len(differences), np.nan)
    p_values = (differences[:, 0] == 0).astype(float)
    varied = np.ptp(differences, axis=1) != 0
    if varied.any():
        from scipy.special import stdtr  # scipy.stats would do all of this, but takes a second to import

        d = differences[varied]
        t = d.mean(axis=1) / np.sqrt(d.var(axis=1, ddof=1) / size)
        p_values[varied] = 2.0 * stdtr(size - 1, -abs(t))
    return p_values


def not_worse(differences: np.ndarray, p_values: np.ndarray) -> np.ndarray:
    """Return which errors minus the best's (R, n), of p-values (R,), show no significantly higher mean.

    None where there is no test.
    """
    if differences.shape[1] < LEAST_COMMON:
        return np.zeros(len(differences), bool)
    return (p_values >= ALPHA) | (differences.mean(axis=1) <= 0)


# -------------------------------------------------------------------- the top kernel


def top_kernels(parts: Parts, count: int, cells: "pd.DataFrame") -> list[str]:
    """Return of each of ``count`` rows the kernel that wins most of its cells, and how many where not all.

    parts: as of `by_count`. Of kernels with equal counts it is the one of the first cell. A learner with one
    kernel has that. MISSING where there are no kernels or no weights, or the learner chose some of the pool's
    kernels itself.
    """
    names = [MISSING] * count
    counts, best = (cells[name].to_numpy().astype(float) for name in ("n_weights", "heaviest"))
    alone = np.isnan(counts)
    counts = np.where(alone, 1, counts)
    best = np.where(alone | np.isnan(best), 0, best).astype(int)
    kinds, of = _kernels(parts, count, cells)
    sizes, most = np.array([*map(len, kinds)]), max(1, *map(len, kinds))
    same = np.array([[*map(texts.index, texts), *[0] * (most - len(texts))] for texts in kinds])
    for own, places in parts:
        for some in np.array_split(np.arange(len(own)), len(own) * most // _TOGETHER + 1):
            kind, line = of[own[some], None], np.arange(len(some))[:, None]
            good = (counts[places[some]] == sizes[kind]) & (sizes[kind] > 0)
            won = same[kind, np.where(good, best[places[some]], 0)]
            tally = np.bincount((line * most + won)[good], minlength=len(some) * most).reshape(-1, most)
            wins = np.where(good, np.take_along_axis(tally, won, 1), 0)
            first = won[line[:, 0], wins.argmax(axis=1)]
            made = (own[some], kind[:, 0], first, wins.max(axis=1), good.sum(axis=1))
            for at, texts, kernel, wins_of, whole in zip(*(one.tolist() for one in made), strict=True):
                if wins_of:
                    names[at] = kinds[texts][kernel] + (f" {wins_of}/{whole}" if wins_of < whole else "")
    return names


def _kernels(parts: Parts, count: int, cells: "pd.DataFrame") -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the texts of the kernels of each kind of row, and each row's kind (R,)."""
    params, pools = cells["params"].to_numpy(), cells["pool_spec"].to_numpy()
    kinds: dict[tuple[str, ...], int] = {(): 0}
    known: dict[int, tuple[int, Any]] = {}  # with the kernels, whose id then stays theirs
    of = np.zeros(count, int)
    for own, places in parts:
        first = places[:, 0]
        for at, settings, spec in zip(
            own.tolist(), params[first].tolist(), pools[first].tolist(), strict=True
        ):
            pool = kernel_pool(settings, spec if isinstance(spec, dict) else None)
            kernels = pool["kernels"] if pool else None
            if id(kernels) not in known:
                kind = kinds.setdefault(tuple(map(_kernel_text, kernels or ())), len(kinds))
                known[id(kernels)] = kind, kernels
            of[at] = known[id(kernels)][0]
    return list(kinds), of


def _kernel_text(kernel: Mapping[str, Any]) -> str:
    usual = (("scale", 1.0), ("coef0", 0.0))
    return value_text({name: value for name, value in kernel.items() if (name, value) not in usual})


# -------------------------------------------------------------------- the grid of a sweep


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
    learners = learners_of(summary)
    values: dict[tuple[str, str], set] = {}
    for learner, params in zip(learners["algo"], learners["params"], strict=True):
        for name, value in flat(params):
            value = value_text(value) if isinstance(value, (list, tuple)) else value
            values.setdefault((learner, name), set()).add(value)
    numbers = [(name, taken) for (_, name), taken in values.items() if all(map(_is_number, taken))]
    axes: dict[str, set] = {name: set() for name, taken in numbers if len(taken) > 1}
    for name, taken in numbers:
        if name in axes:
            axes[name] |= taken
    return {name: sorted(taken) for name, taken in sorted(axes.items(), key=lambda axis: -len(axis[1]))}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def grid_table(summary: "pd.DataFrame", axes: Iterable[str] = ()) -> "pd.DataFrame":
    """Return the summary with its place on the axes, for figures.

    Adds ``line``, the name in the legend: the learner, its shown hyperparameters that are no axis and not
    chosen per data set (a column ``per_data`` of their names), the pool if there are several; and a column
    ``at.NAME`` per axis, NaN for a learner without that hyperparameter.
    """
    several = summary["pool"].dropna().nunique() > 1
    table = summary.copy()
    lines = []
    for row in summary.to_dict("records"):
        shown = {name: row["params"][name] for name in row["shown"] if name not in row.get("per_data", ())}
        if not row["is_yardstick"]:  # which has no place on the axes, so the legend has its settings
            shown = {name: value for name, value in shown.items() if not _covered(name, value, axes)}
        pool = row["pool"] if several else ""
        lines.append(", ".join(filter(None, (row["label"], params_text(shown), pool))))
    table["line"] = lines
    for name in axes:
        places = [dict(flat(params)).get(name, float("nan")) for params in summary["params"]]
        table[f"at.{name}"] = [float(place) if _is_number(place) else float("nan") for place in places]
    return table


def _covered(name: str, value: Any, axes: Iterable[str]) -> bool:
    """Whether the axes show all of a hyperparameter; a kernel's kind is never on an axis."""
    return name in axes or (
        isinstance(value, Mapping)
        and all(part == f"{name}.kind" or part in axes for part, _ in flat({name: value}))
    )


def at_boundaries(summary: "pd.DataFrame", best: "pd.DataFrame", expected: ReportPlan) -> list[str]:
    """Return a remark for each swept number whose best value is the least or the largest of its grid.

    best: the rows of the summary that are best (report.best_settings). There is none where the domain ends
    there, or where a value inside the grid is as good.
    """
    remarks = []
    rows = learners_of(summary[summary["reps"] > 0]).to_dict("records")
    for row in learners_of(best).to_dict("records"):
        if not measure_of(row).better:
            continue
        same = [other for other in rows if (other["data"], other["algo"]) == (row["data"], row["algo"])]
        for axis in axes_of(summary):
            value = dict(flat(row["params"])).get(axis)
            errors: dict[float, float] = {}
            for other in same:
                if (at := dict(flat(other["params"])).get(axis)) is not None:
                    errors[at] = min(cost_of(other), errors.get(at, float("inf")))
            if value is None or len(errors) < FEW or value not in (min(errors), max(errors)):
                continue
            inside = [own for at, own in errors.items() if min(errors) < at < max(errors)]
            larger = value == max(errors)
            if min(inside) > cost_of(row) and _continues(expected, row["algo"], axis, value, larger):
                end, others = ("largest", "larger") if larger else ("smallest", "smaller")
                remarks.append(
                    f"{row['label']} on {row['data']}: the best {axis}, {value_text(value)}, is the {end} of "
                    f"its grid; try {others} values too"
                )
    return remarks


def _continues(expected: ReportPlan, learner: str, axis: str, value: Any, larger: bool) -> bool:
    """Whether the domain of a hyperparameter has values beyond this one."""
    known = getattr(expected.specs.get(learner), "hyperparameters", {})
    if axis not in known:  # a part of a kernel
        return True
    step = 1 if isinstance(value, int) else 1e-6 * max(1.0, abs(value))
    try:
        known[axis].check(value + step if larger else value - step)
    except ValueError:
        return False
    return True

"""The summary: one row per data set, learner, pool and hyperparameters, averaged over the repetitions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_kinds import kernel_pool
from omkl.config.parameters import params_text, shown_text
from omkl.data.orders import is_one_order
from omkl.reports import origins
from omkl.reports.measures import class_columns, deciding_measure, measure_of
from omkl.reports.origins import Origins
from omkl.reports.rows import Parts, ReportPlan, Row, by_count, own_labels, row_names, rows_of, shown_params
from omkl.reports.statistics import LEAST_COMMON, not_worse, paired_t
from omkl.reports.table_cells import MISSING
from omkl.store.fields import AVERAGED, CellMeasures, no_collection, with_extra
from omkl.tasks import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd

FEW = 3  # values of a grid: of fewer, each is at its boundary
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
        "worst_round",
        "few_rounds",
    ),
    *AVERAGED,
)
_OBJECTS = ("T", "m", "pool", "classes", "class_errors", "class_f1")
_FOLLOWING = tuple(
    own.name for own in MEASURES.values() if not own.field and (own.of == "counts" or own.name == "rmse")
)
_FLAGS = ("is_yardstick", "complete", "marked", "best")
INNER = ("shown", "ranked")  # columns that no file has
COLUMNS = (
    *("data", "task", "measure", "order", "T", "m", "pool", "kernel", "algo", "label", "is_yardstick"),
    "settings",
    *("shown", "ranked"),
    *("params", "reps", "asked", "complete", "marked", "best", "p_value", "common"),
    *("classes", "class_errors", "class_f1"),
    *(
        f"{name}_{part}"
        for name in (*(name for name, _ in AVERAGED.values()), *_FOLLOWING)
        for part in ("mean", "std")
    ),
    *origins.COLUMNS,
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
    Origins.columns.

    ``measure``: the one by which the rows of a data set are compared (`deciding_measure`). ``best``: the best
    mean of it, of a novelty detection none. ``marked``: the best, and every row not worse than it by a paired
    two-sided t-test at 0.05 over the permutations that both have run (``common``, ``p_value``). With fewer
    than LEAST_COMMON of them there is no test and no mark, nor where they differ by the same amount in each.
    Passes in file order are of one permutation, but of a generated stream each is another realisation.
    Learners and yardsticks compete, so that a reader sees where a yardstick wins. Rows compete within one
    data set and order, over all pools and hyperparameters. ``ranked``: the measure, less is better, over the
    permutations that all complete rows of the data set have run.
    """
    return summary_of_rows(rows_of(cells, expected), cells, expected)


@no_collection()
def summary_of_rows(rows: list[Row], cells: "pd.DataFrame", expected: ReportPlan) -> "pd.DataFrame":
    """As ``summary_of``, of rows that are chosen already."""
    import pandas as pd

    cells, row_groups = with_extra(cells), by_count(rows)
    measures = [deciding_measure(row, cells, expected) for row in rows]
    reps, asked = ([len(row.cells) for row in rows], [row.planned for row in rows])
    columns: dict[str, Any] = {
        name: [getattr(row, name) for row in rows]
        for name in ("data", "task", "order", "pool", "params", "is_yardstick")
    }
    columns |= {"algo": [row.learner for row in rows], "reps": reps, "asked": asked}
    columns |= {"measure": [measure.name for measure in measures]}
    columns |= {"complete": [done >= planned for done, planned in zip(reps, asked, strict=True)]}
    columns |= _names(rows, expected) | {"kernel": top_kernels(row_groups, len(rows), cells)}
    columns |= class_columns(row_groups, len(rows), cells, expected)
    of_cells = CellMeasures(cells)
    columns |= _sizes(row_groups, len(rows), cells) | _means(row_groups, len(rows), cells, of_cells)
    tested = Tested(cells, of_cells)
    columns |= _marks(columns, rows, tested) | {"ranked": _ranked(columns, rows, measures, tested)}
    columns |= Origins(cells).columns(row_groups, len(rows))
    columns |= {name: pd.Series(columns[name], dtype=object) for name in _OBJECTS}  # None is to stay None
    summary = pd.DataFrame(columns, columns=list(COLUMNS))
    return summary.astype(dict.fromkeys(_FLAGS, bool)).copy()  # in few blocks


def _names(rows: list[Row], expected: ReportPlan) -> dict[str, Any]:
    """Return what the rows are called: their labels, and the hyperparameters that are shown."""
    params = zip(own_labels(rows), shown_params(rows, expected), strict=True)
    shown = [{} if label else settings for label, settings in params]  # a label of its own says all
    texts = {
        id(settings): params_text(settings)
        for settings in {id(settings): settings for settings in shown}.values()
    }
    return {
        "label": row_names(rows, expected),
        "shown": [list(settings) for settings in shown],
        "settings": [texts[id(settings)] for settings in shown],
    }


def _sizes(row_groups: Parts, count: int, cells: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Return the examples and kernels of each row, None without cells."""
    T, m = (cells[name].to_numpy() for name in ("T", "m"))
    sizes = {name: np.full(count, None) for name in ("T", "m")}
    for rows_at, places in row_groups:
        sizes["T"][rows_at] = T[places[:, 0]].astype(int)
        sizes["m"][rows_at] = m[places].max(axis=1).astype(int)
    return sizes


def _means(
    row_groups: Parts, count: int, cells: "pd.DataFrame", of_cells: CellMeasures
) -> dict[str, np.ndarray]:
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
        for rows_at, places in row_groups:
            of_rows = values[places]
            mean[rows_at] = of_rows.mean(axis=1)
            if name == "mistake_pct":
                mean[rows_at] = factor * means["mistakes_mean"][rows_at] / T[places[:, 0]]
            if places.shape[1] > 1:
                std[rows_at] = of_rows.std(axis=1, ddof=1)
    return means


def _marks(columns: Mapping[str, Any], rows: list[Row], tested: "Tested") -> dict[str, np.ndarray]:
    """Return which rows are the best of their data set, and which are not worse, with the tests."""
    flags = {"best": np.zeros(len(rows), bool), "marked": np.zeros(len(rows), bool)}
    flags |= {"p_value": np.full(len(rows), np.nan), "common": np.zeros(len(rows), int)}
    for lowest, groups in against_best(rows, columns, tested):
        for rows_at, differences in groups:
            p = paired_t(differences)
            flags["p_value"][rows_at], flags["common"][rows_at] = p, differences.shape[1]
            flags["marked"][rows_at] = not_worse(differences, p)
        flags["best"][lowest] = True
        flags["marked"][lowest] = flags["common"][lowest] >= LEAST_COMMON
    return flags


def _ranked(
    columns: Mapping[str, Any], rows: list[Row], measures: list[Measure], tested: "Tested"
) -> np.ndarray:
    """Return each row's measure over the permutations that all complete rows of its data set have run."""
    values = np.full(len(rows), np.nan)
    groups: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        if columns["complete"][at] and row.cells:
            groups.setdefault(row.data, []).append(at)
    for rows_at in groups.values():
        scale = 100.0 / columns["T"][rows_at[0]] if measures[rows_at[0]].tested == "mistakes" else 1.0
        values[rows_at] = scale * tested.shared_means([rows[at] for at in rows_at], measures[rows_at[0]])
    return values


Differences = Iterator[tuple[np.ndarray, np.ndarray]]


def against_best(
    rows: list[Row], summary: Mapping[str, Any], tested: "Tested"
) -> Iterator[tuple[np.ndarray, Differences]]:
    """Yield of each data set the numbers of its best rows, and `Tested.differences` of all.

    The best have the best mean; of several, the differences are from the one with most repetitions. summary:
    of these rows, or its columns
    """
    row_groups = by_count(rows)
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
        own_parts = [
            (row_numbers[is_competing], places[is_competing])
            for row_numbers, places in row_groups
            if (is_competing := np.isin(row_numbers, competing)).any()
        ]
        yield lowest, tested.differences(own_parts, best, measure)


class Tested:
    """The errors of cells by permutation, by whatever measure: less is better."""

    def __init__(self, cells: "pd.DataFrame", of_cells: CellMeasures | None = None) -> None:
        import pandas as pd

        self._cells, self._of_cells = cells, of_cells or CellMeasures(cells)
        seeds, in_file = cells["permutation_seed"], (cells["order"] == "file").to_numpy(copy=True)
        if in_file.any():  # a stream as it came and permuted has one seed, and two orders
            seeds = seeds.mask(in_file, "file " + seeds.astype(str))
            pairs = list(zip(cells["data"][in_file], cells["data_hash"][in_file], strict=True))
            one = {pair: is_one_order("file", *pair) for pair in set(pairs)}
            in_file[in_file] = [one[pair] for pair in pairs]
        place, texts = pd.factorize(seeds.mask(in_file, "").to_numpy())
        names = [str(text) for text in texts]
        # by name; a cell without a seed has that of number -1, the last
        ranks = np.array([*np.argsort(np.argsort(np.array(names, str))), len(names)], int)
        self._count, self._seeds = len(ranks), ranks[place]
        self._errors: dict[str, np.ndarray] = {}

    def shared_means(self, rows: Sequence[Row], measure: Measure) -> np.ndarray:
        """Return each row's mean error (R,) over the permutations that all of them have run, NaN of none."""
        seeds_of_rows = [self._seeds[row.cells] for row in rows]
        shared = set.intersection(*(set(seeds.tolist()) for seeds in seeds_of_rows))
        errors = self._values(measure)
        means = []
        for row, seeds in zip(rows, seeds_of_rows, strict=True):
            values = errors[row.cells][np.isin(seeds, list(shared))]
            means.append(values.mean() if len(values) else np.nan)
        return np.array(means)

    def _values(self, measure: Measure) -> np.ndarray:
        column = measure.tested  # counts, not rates: their differences are exact, equal is equal
        if measure.name not in self._errors:
            values = (
                self._cells[column].to_numpy().astype(float) if column else self._of_cells.of(measure.name)
            )
            self._errors[measure.name] = measure.sign * values
        return self._errors[measure.name]

    def _of(self, places: np.ndarray, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
        """Return the permutations of cells (R, n), each row's ascending, and the errors in them."""
        seeds, errors = self._seeds[places], self._values(measure)[places]
        if (np.diff(seeds, axis=1) >= 0).all():
            return seeds, errors
        order = np.argsort(seeds, axis=1, kind="stable")
        return np.take_along_axis(seeds, order, 1), np.take_along_axis(errors, order, 1)

    def differences(
        self, row_groups: Parts, other: Row, measure: Measure
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield numbers (R,) of rows, and their errors minus those of another row (R, n).

        Over the n permutations that both have run, of a permutation the first cell; n may be 0.
        """
        (seeds,), (theirs,) = self._of(np.array([other.cells]), measure)
        distinct, first = np.unique(seeds, return_index=True)
        at = np.full(self._count, -1)
        at[distinct] = first
        for rows_at, places in row_groups:
            seeds, errors = self._of(places, measure)
            common = (at[seeds] >= 0) & (np.diff(seeds, axis=1, prepend=-1) > 0)
            less, counts = errors - theirs[at[seeds]], common.sum(axis=1)
            for count in np.unique(counts).tolist():
                with_count = counts == count
                yield (
                    rows_at[with_count],
                    less[with_count][common[with_count]].reshape(int(with_count.sum()), count),
                )


# -------------------------------------------------------------------- the top kernel


def top_kernels(row_groups: Parts, count: int, cells: "pd.DataFrame") -> list[str]:
    """Return of each of ``count`` rows the kernel that wins most of its cells, and how many where not all.

    row_groups: as of `by_count`. Of kernels with equal counts it is the one of the first cell. A learner
    with one kernel has that. MISSING where there are no kernels or no weights, or the learner chose some of
    the pool's kernels itself.
    """
    names = [MISSING] * count
    n_weights, heaviest = (cells[name].to_numpy().astype(float) for name in ("n_weights", "heaviest"))
    params, pools = cells["params"].to_numpy(), cells["pool_spec"].to_numpy()
    texts: dict[tuple[int, int], list[str]] = {}  # cells share these objects
    for rows_at, places in row_groups:
        for at, row in zip(rows_at.tolist(), places.tolist(), strict=True):
            settings, spec = params[row[0]], pools[row[0]]
            which = id(settings), id(spec)
            if which not in texts:
                pool = kernel_pool(settings, spec if isinstance(spec, dict) else None)
                texts[which] = [*map(_kernel_text, pool["kernels"])] if pool else []
            # a learner with one kernel has no weights
            sizes = np.where(np.isnan(n_weights[row]), 1, n_weights[row])
            best = np.nan_to_num(heaviest[row])[sizes == len(texts[which])].astype(int)
            if best.size:
                name, wins = Counter(texts[which][kernel] for kernel in best.tolist()).most_common(1)[0]
                names[at] = name + (f" {wins}/{best.size}" if wins < best.size else "")
    return names


def _kernel_text(kernel: Mapping[str, Any]) -> str:
    usual = (("scale", 1.0), ("coef0", 0.0))
    return shown_text({name: value for name, value in kernel.items() if (name, value) not in usual})

"""The finished rows of a claim's runs on one data set, and the comparison of two of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.data.orders import is_one_order
from omkl.errors import UserError, counted, suggest
from omkl.publications.compare import Compared
from omkl.publications.paper import as_list
from omkl.reports.measures import ERROR
from omkl.reports.rows import Row
from omkl.reports.statistics import ALPHA, LEAST_COMMON, constant, paired_t
from omkl.store.fields import CellMeasures
from omkl.store.store import Store
from omkl.tasks import MEASURES

if TYPE_CHECKING:
    import pandas as pd

SHORT = 0.01  # seconds below which a time decides nothing
YES, NO, SAME, UNKNOWN = "holds", "does not hold", "no difference", "undecided"
WORDS = {own.word: own.name for own in MEASURES.values() if own.tasks}
Options = Mapping[str, Any]


class Pair(NamedTuple):
    """Two rows compared.

    sign: -1 left is better, 1 worse, 0 no difference, None unknown    left, right: labels    a, b: means
    p: of the paired t-test, NaN without one
    """

    sign: int | None
    left: str
    right: str
    a: float
    b: float
    p: float

    @property
    def answer(self) -> str:
        """Whether the left is better."""
        return UNKNOWN if self.sign is None else {-1: YES, 0: SAME, 1: NO}[self.sign]


@dataclass(frozen=True)
class ClaimRows:
    """The finished rows of a claim's runs on one data set.

    records: those of the summary, by label, with the reports' Row as ``row``    cells, measures: of all data
    sets, for paired tests
    curves: by the cells' keys, of a claim that counts kernel values
    """

    data: str
    task: str
    records: dict[str, list[dict[str, Any]]]
    cells: "pd.DataFrame"
    measures: CellMeasures
    curves: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def mean(self, label: str, measure: str) -> float:
        """Return a row's mean of a measure; NaN where it has not finished."""
        records = self.records.get(label)
        if records and measure == "top_weight":
            return float(self.values(measure)[self.row(label).cells].mean())
        return _mean(records[0], self.measure(measure)) if records else float("nan")

    def measure(self, name: str) -> str:
        """Return a measure's name, for ERROR that of the task."""
        rows = (record for records in self.records.values() for record in records)
        return next(rows)["measure"] if name == ERROR else WORDS.get(name, name)

    def row(self, label: str) -> Row:
        """Return the row called so; of several the first."""
        return self.records[label][0]["row"]

    def best(self, labels: str | list[str], measure: str) -> str:
        """Return the label with the best mean: the lowest, but of a measure of which more is better.

        Of equal ones that with the most repetitions, which a test can use.
        """
        sign = sign_of(measure)
        means = {
            label: np.nan_to_num(sign * self.mean(label, measure), nan=np.inf) for label in as_list(labels)
        }
        count = {label: len(self.row(label).cells) if self.records.get(label) else 0 for label in means}
        return min(means, key=lambda label: (means[label], -count[label], label))

    def values(self, measure: str) -> np.ndarray:
        """Return a measure, or such a field as seconds, of each cell (N,)."""
        if measure == "top_weight":
            return np.array([max(w) if isinstance(w, list) else np.nan for w in self.cells["weights"]])
        if measure in MEASURES and MEASURES[measure].tasks:
            return self.measures.of(measure)
        if measure not in self.cells:
            raise UserError(f"measure: '{measure}' is not known of each cell, so it cannot be tested")
        return self.cells[measure].to_numpy(float)

    def common(self, left: Row, right: Row) -> tuple[list[int], list[int]]:
        """Return the places of both rows' cells of the permutations that both have run, in one order.

        Of a permutation that a row has twice, the first cell counts. None of passes in file order, but of a
        generated stream, of which each is another realisation.
        """
        if any(is_one_order(row.order, row.data) for row in (left, right)):
            return [], []
        seeds = self.cells["permutation_seed"].tolist()
        ours, theirs = ({seeds[at]: at for at in reversed(row.cells)} for row in (left, right))
        shared = [seed for seed in ours if seed in theirs]
        return [ours[seed] for seed in shared], [theirs[seed] for seed in shared]

    def differences(self, left: Row, right: Row, measure: str) -> np.ndarray:
        """Return left's values minus right's (n,) over their common permutations; less is better."""
        ours, theirs = self.common(left, right)
        values = sign_of(measure) * self.values(measure)
        return values[ours] - values[theirs]

    def pair(self, left: str, right: str, measure: str) -> Pair:
        """Compare two rows by a measure, over the permutations that both have run."""
        a, b = self.mean(left, measure), self.mean(right, measure)
        if np.isnan(a) or np.isnan(b):
            return Pair(None, left, right, a, b, np.nan)
        return self.pair_of(self.row(left), self.row(right), measure)._replace(left=left, right=right)

    def pair_of(self, left: Row, right: Row, measure: str) -> Pair:
        """As `pair`, of two rows that have finished cells."""
        values, places = self.values(measure), self.common(left, right)
        if not places[0]:
            places = left.cells, right.cells
        a, b = (float(values[at].mean()) for at in places)
        differences = self.differences(left, right, measure)
        sign: int | None
        p = float(paired_t(differences[None])[0])
        if is_short(measure, a, b):
            return Pair(None, "", "", a, b, np.nan)
        if differences.size >= LEAST_COMMON:
            p = float(not differences.any()) if constant(differences) else p
            sign = int(np.sign(differences.mean())) if p < ALPHA else 0
        else:
            of_measure = MEASURES.get(measure)
            near = of_measure.practically_equal(b) if of_measure and of_measure.tasks else 0.0
            sign = int(np.sign(sign_of(measure) * (a - b))) if abs(a - b) > near else 0
        return Pair(sign, "", "", a, b, p)

    def kernel_values(self, label: str, size: str) -> float:
        """Return how many kernel values a pass of this row needs, in the mean; NaN without curves.

        That is the sum over the rounds of ``size``: n_sv_sum, the vectors of all kernels, or n_sv_combined,
        those of the kernels that the round draws. Between the points of a curve it is taken for linear.
        """
        if label not in self.records:
            return float("nan")
        keys = self.cells["key"].iloc[self.row(label).cells]
        curves = [of_cell for key in keys if size in (of_cell := self.curves.get(key, {}))]
        sums = [np.trapezoid(curve[size], curve["t"]) for curve in curves]
        return float(np.mean(sums)) if sums else float("nan")

    def grid(self, options: Options) -> list[tuple[float, float]]:
        """Return (value of the hyperparameter, mean of the measure) of each row called ``label``."""
        label, key, records = options["label"], options["key"], self.records.get(options["label"], [])
        if len(records) < 2:
            raise UserError(
                f"{label} has {counted(len(records), 'row')} on {self.data}; the claim needs a sweep"
            )
        for record in records:
            if not isinstance(record["params"].get(key), (int, float)):
                raise UserError(f"key: {label} has no number '{key}'{suggest(key, record['params'])}")
        measure = self.measure(options.get("measure", "mistake_pct"))
        return [(float(record["params"][key]), _mean(record, measure)) for record in records]


def on_each(
    compared: Compared, options: Options, measures: CellMeasures, curves: dict[str, Any]
) -> list[ClaimRows]:
    """Return the finished rows per data set; of the claim's ``data`` and ``pool`` where it names them.

    measures: of the cells    curves: those read before, by the cells' keys; where the claim counts kernel
    values, the others are added
    """
    by_data: dict[str, ClaimRows] = {}
    pool, data = options.get("pool"), as_list(options.get("data", []))
    lacking: set[str] = set()
    for row, record in zip(compared.rows, compared.summary.to_dict("records"), strict=True):
        if data and record["data"] not in data:
            continue
        if record["reps"] and (pool is None or record["pool"] in (None, pool)):
            new = ClaimRows(record["data"], record["task"], {}, compared.cells, measures, curves)
            records = by_data.setdefault(record["data"], new).records
            records.setdefault(record["label"], []).append(record | {"row": row})
            if record["label"] in options.get("counts", ()):
                lacking |= set(compared.cells["key"].iloc[row.cells]) - curves.keys()
    if lacking:
        curves |= Store(compared.work.plans[0].store).curves(lacking)
    return list(by_data.values())


def sign_of(measure: str) -> float:
    return MEASURES[measure].sign if measure in MEASURES else 1.0


def is_short(measure: str, *values: float) -> bool:
    """Whether one of these is a time that is too short to decide anything."""
    return measure == "seconds" and min(values) < SHORT


def _mean(record: Mapping[str, Any], measure: str) -> float:
    if f"{measure}_mean" not in record:
        measures = [name.removesuffix("_mean") for name in record if name.endswith("_mean")]
        near = suggest(measure, measures)
        raise UserError(f"measure: unknown measure '{measure}'{near}; known: {', '.join(measures)}")
    return float(record[f"{measure}_mean"])

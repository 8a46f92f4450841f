"""A stream filled and scaled while it runs: by what a learner has seen of its features and targets.

A gap, which is NaN among the stored values, is filled with the mean of its feature's values in the rows
before; where there are none it is 0. Then row t is scaled with the rows up to and with row t, since half of
the rounds; or it becomes ranks among the rows before, where a gap is 0. So it depends on no later one.
Predictions are given in the targets' units, and so are their variances and densities: those of targets scaled
online in the units before the round, which do not know its target. A round whose targets before it do not
vary (the first two, at least) has no width, and so no density: it is left out of the NLPD.
"""

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from omkl.data.dataset import Dataset
from omkl.engine.running_scale import fill_gaps, has_gaps, scale_targets, see_values
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.errors import UserError
from omkl.rounds.feature_scales import Deviations, NewRows, Ranks, Span, csr_arrays, row_lengths
from omkl.rounds.steps import Rounds, Step, Stepping
from omkl.rounds.units import Units, in_units
from omkl.state.array import padded
from omkl.state.resource import LARGEST_COUNT, Arrays

WHOLE = ("standard", "minmax")  # of targets, over all of them
SPARSE = 8  # rows with fewer than one value in so many other than 0 are sparse: what is 0 stays 0
DECIDED = 256  # rows by which that is decided
FEATURES: dict[str, type[Deviations] | type[Ranks]] = {"online": Deviations, "ranks": Ranks}


class Scaling(Step):
    """How a learner's rows are filled and scaled, and its targets scaled, and what has been seen of them.

    d: number of features    scale: of features, ``online``, ``ranks`` or None    target: ``online``, one of
    WHOLE, or None    whole (T,): all targets, for these
    gaps: whether the rows have gaps (then all of them are made anew); False: some may come later; None: never

    Whether rows are sparse is decided by the rows before, after 1, 2, 4, ..., DECIDED of them.
    """

    def __init__(
        self,
        d: int,
        scale: str | None = None,
        target: str | None = None,
        whole: np.ndarray | None = None,
        gaps: bool | None = None,
    ) -> None:
        _load_compiled(scale)
        self.d, self.scale, self.target, self.gaps = d, scale, target, gaps
        self.features: Deviations | Ranks | None = FEATURES[scale](d) if scale else None
        self.fills = gaps is not None and scale != "ranks"  # which have a rank for a gap
        self.means = np.zeros((3, d if self.fills else 0))
        self.seen = np.zeros(1, np.int64)
        self.density = np.zeros(2, np.int64)  # values of the first rows, and whether rows are dense
        self.targets = np.zeros(3)  # place and width are the last two where they are fixed
        if target in WHOLE and whole is not None and whole.size:
            low, high = (whole.min(), whole.max()) if target == "minmax" else (whole.mean(), 0.0)
            self.targets[:] = 1.0, low, high - low if target == "minmax" else whole.std()
        self._targets_finite()

    @classmethod
    def of(
        cls,
        scaling: Mapping[str, str],
        dataset: Dataset,
        later: bool | None = None,
        also: Dataset | None = None,
    ) -> "Scaling | None":
        """Return the scaling of a data set that ``scale``, ``target`` and its gaps ask for, else None.

        later: False where rows with gaps may come after those of the data    also: other data of the learner
        """
        gaps = True if any_gaps(dataset) or (also is not None and any_gaps(also)) else later
        if not scaling.keys() & {"scale", "target"} and gaps is None:
            return None
        return cls(dataset.d, scaling.get("scale"), scaling.get("target"), dataset.y, gaps)

    @property
    def renews(self) -> bool:  # type: ignore[override]
        """Whether all rows of a stream are made anew, and so are numbered by their rounds."""
        return bool(self.scale or self.gaps)

    @property
    def words(self) -> dict[str, str]:
        """What was asked for."""
        return {name: word for name, word in (("scale", self.scale), ("target", self.target)) if word}

    def before(self, learner: Stepping, rounds: Rounds) -> Rounds:
        """Return rounds with their stream `scaled`; rows that are made anew are numbered by their rounds."""
        rows, _ = self.scaled(rounds.stream, rounds.learn)
        is_new = rows.values is not rounds.stream.values
        return rounds._replace(stream=rows, first=int(self.seen[0]) if is_new else rounds.first)

    def after(self, learner: Stepping, rounds: Rounds, trace: Trace) -> None:
        """Give predictions in the targets' units, and count the rows as seen."""
        if self.target:
            y = rounds.stream.y
            in_units(trace, self._units(y, rounds.learn)[1], y, learner.spec)
        if rounds.learn:
            self.see(rounds.stream)

    def scaled(self, stream: Stream, learn: bool) -> tuple[Stream, Units | None]:
        """Return a stream as the learner reads it, and what its predictions are worth; the state stays.

        learn: whether each row counts as seen for the next one. Raises UserError for numbers whose squares
        overflow.
        """
        rows, units = self._filled(stream, learn), None
        if self.features is not None:
            rows = self.features.scaled(rows, self._spans(rows, learn)[0], int(self.seen[0]), learn)
        if self.target:
            y, units = self._units(stream.y, learn)
            rows = rows._replace(y=y)
        return rows, units

    def _filled(self, stream: Stream, learn: bool) -> Stream:
        """Return a stream without gaps, or with those that have a rank."""
        if not self.fills:
            return stream
        if not self.gaps and not has_gaps(stream.order, stream.indptr, stream.values):
            return stream
        new = NewRows(stream, int(row_lengths(stream).sum()))
        new.used = fill_gaps(*csr_arrays(stream), learn, self.means.copy(), int(self.seen[0]), new.target)
        return new.made()

    def _spans(self, stream: Stream, learn: bool) -> tuple[list[Span], tuple[int, bool]]:
        """Return the rounds cut where it is decided anew whether rows are dense.

        And the values of the first rows, and what holds, after them.
        """
        (values, is_dense), n = self.density.tolist(), int(self.seen[0])
        if not learn or n >= DECIDED:
            return [Span(0, stream.T, bool(is_dense))], (values, bool(is_dense))
        lengths = np.diff(stream.indptr)[stream.order[: DECIDED - n]]
        spans, start = [], 0
        while start < stream.T:
            left = max(1, 2 ** n.bit_length()) - n if n < DECIDED else stream.T
            stop = min(stream.T, start + left)
            if n == 0:  # a first row is 0, dense or not
                is_dense = SPARSE * int(lengths[0]) >= self.d
            spans.append(Span(start, stop, bool(is_dense)))
            if n < DECIDED:
                n, values = n + stop - start, values + int(lengths[start:stop].sum())
                if n & (n - 1) == 0:
                    is_dense = SPARSE * values >= n * self.d
            start = stop
        return spans, (values, bool(is_dense))

    def _units(self, y: np.ndarray, learn: bool) -> tuple[np.ndarray, Units]:
        new, place, width, unit = (np.empty(y.size) for _ in range(4))
        if self.target == "online":
            scale_targets(y, learn, self.targets.copy(), new, place, width, unit)
        else:
            place[:], width[:] = self.targets[1], self.targets[2]
            new[:] = (y - place) / width if self.targets[2] > 0 else 0.0
        new.flags.writeable = False
        return new, Units(place, width, self.target != "online")

    def see(self, stream: Stream) -> None:
        """Count the rows of a stream, which have been learnt, as seen."""
        if self.features is not None:
            rows = self._filled(stream, True)
            spans, self.density[:] = self._spans(rows, True)
            self.features.see(rows, spans, int(self.seen[0]))
        if self.fills:
            see_values(*csr_arrays(stream), self.means)
        self.seen += stream.T
        if self.target == "online":
            y = np.empty((4, stream.T))
            scale_targets(stream.y, True, self.targets, *y)
            self._targets_finite()

    def _targets_finite(self) -> None:
        if not np.isfinite(self.targets).all():
            raise UserError("the targets are too large to be scaled: the deviation overflows")

    def without_gaps(self) -> "Scaling | None":
        """Return what scales rows whose gaps others fill; None where that is nothing."""
        if not self.words:
            return None
        other = copy.copy(self)
        other.gaps, other.fills, other.means = None, False, np.zeros((3, 0))
        return other

    def add_features(self, d: int) -> None:
        """Go on with d features; the new ones were 0 so far."""
        self.d = d
        if self.features is not None:
            self.features.add_features(d)
        if self.fills:
            self.means = padded(self.means, (3, d))

    def header(self) -> dict[str, Any]:
        """Return what a saved model says of it beside its arrays."""
        return {name: getattr(self, name) for name in _HEADER}

    def arrays(self) -> Arrays:
        """Return its arrays by name."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.features is not None:
            arrays |= self.features.arrays()
        return {f".{name}": array for name, array in arrays.items()}

    @classmethod
    def load(cls, header: Any, arrays: Arrays, d: int) -> "Scaling":
        """Return the scaling of `header` and `arrays`. Raises ValueError for anything else."""
        scale, target, gaps = _checked_header(header)
        scaling = cls(d, scale, target, gaps=gaps)
        expected = scaling.arrays()
        if arrays.keys() != expected.keys():
            raise ValueError("its scaling has other arrays")
        for name, array in expected.items():
            given, any_length = arrays[name], scale == "ranks" and name[1:] not in _ARRAYS
            if given.dtype != array.dtype or (given.ndim != 1 if any_length else given.shape != array.shape):
                raise ValueError(f"its scaling has another array '{name}'")
            if not np.isfinite(given).all():
                raise ValueError(f"its scaling is not finite ('{name}')")
        for name in _ARRAYS:
            getattr(scaling, name)[...] = arrays[f".{name}"]
        scaling._check_counts()
        if scaling.features is not None:
            own = {name: arrays[f".{name}"] for name in scaling.features.arrays()}
            scaling.features.load(own, int(scaling.seen[0]), bool(scaling.density[1]))
        return scaling

    def _check_counts(self) -> None:
        """Raise ValueError for counts of rows, and for spreads, that no stream leaves."""
        seen, filled, (values, is_dense) = int(self.seen[0]), self.means[[0, 2]], self.density.tolist()
        if (
            not 0 <= seen <= LARGEST_COUNT
            or (filled < 0).any()
            or (filled.sum(0) > seen).any()
            or not 0 <= values <= min(seen, DECIDED) * self.d
            or is_dense not in (0, 1)
        ):
            raise ValueError("its scaling counts rows that cannot be")
        if (self.targets[[0, 2]] < 0).any():
            raise ValueError("its scaling has a negative spread")


_ARRAYS = ("means", "seen", "density", "targets")


@cache
def _load_compiled(scale: str | None) -> None:
    """Load what is compiled, or compile it, before a clock starts."""
    row = make_stream(np.array([0, 1]), np.zeros(1), np.ones(1), np.ones(1), np.zeros(1))
    has_gaps(row.order, row.indptr, row.values)
    fill_gaps(*csr_arrays(row), False, np.zeros((3, 1)), 0, NewRows(row, 1).target)
    see_values(*csr_arrays(row), np.zeros((3, 1)))
    scale_targets(row.y, False, np.zeros(3), *np.zeros((4, 1)))
    if scale is not None:
        features, spans = FEATURES[scale](1), [Span(0, 1, True), Span(0, 1, False)]
        features.scaled(row, spans, 0, False)
        features.see(row, spans, 0)


_HEADER = ("scale", "target", "gaps")


def _checked_header(header: Any) -> tuple[str | None, str | None, bool | None]:
    """Return what a saved model says of its scaling. Raises ValueError for what no model says."""
    if not isinstance(header, dict) or header.keys() != set(_HEADER):
        raise ValueError("its scaling is broken")
    scale, target, gaps = (header[name] for name in _HEADER)
    is_known = scale in (*FEATURES, None) and target in ("online", *WHOLE, None)
    if not is_known or (gaps is not None and type(gaps) is not bool):
        raise ValueError("its scaling is unknown")
    return scale, target, gaps


def any_gaps(dataset: Dataset) -> bool:
    """Whether a data set has gaps."""
    return bool(dataset.values.size and np.isnan(dataset.values.min()))  # a minimum passes a NaN on


def are_dense(dataset: Dataset) -> bool:
    """Whether the rows of a data set as a whole are dense."""
    return bool(SPARSE * len(dataset.values) >= len(dataset.y) * dataset.d)

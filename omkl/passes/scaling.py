"""A stream filled and scaled while it runs: by what a learner has seen of its features and targets.

A gap, which is NaN among the stored values, is filled with the mean of its feature's values in the rows
before; where there are none it is 0. Then row t is scaled with the rows up to and with row t, since half of
the rounds. So it depends on no later one. Predictions are given in
the targets' units, and so are their variances and densities: those of targets scaled online in the units
before the round, which do not know its target. A round whose targets before it do not vary (the first two,
at least) has no width, and so no density: it is left out of the NLPD.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from omkl.engine.running_scale import fill_gaps, has_gaps, scale_rows, scale_targets, see_rows, see_values
from omkl.engine.stream import UNRECORDED, Stream, Trace, make_stream, unrecorded
from omkl.errors import UserError
from omkl.state.resource import LARGEST_COUNT, Arrays
from omkl.tasks import WITHIN_95

WHOLE = ("standard", "minmax")  # of targets, over all of them
SPARSE = 8  # of fewer than one value in so many other than 0, features are not centred


@dataclass(frozen=True)
class Units:
    """What the predictions of rounds are worth in the targets' units: place + width f.

    place, width (T,): as before the round    fixed: whether targets are scaled with the same ones
    """

    place: np.ndarray
    width: np.ndarray
    fixed: bool

    def part(self, start: int, stop: int) -> "Units":
        """Return those of rounds start .. stop - 1."""
        return Units(self.place[start:stop], self.width[start:stop], self.fixed)


class Scaling:
    """How a learner's rows are filled and scaled, and its targets scaled, and what has been seen of them.

    d: number of features    scale: of features, online or None    centred: whether their means are taken
    off    target: ``online``, one of WHOLE, or None    whole (T,): all targets, for these
    gaps: whether the rows have gaps (then all of them are made anew); False: some may come later; None: never
    """

    def __init__(
        self,
        d: int,
        scale: str | None = None,
        centred: bool = True,
        target: str | None = None,
        whole: np.ndarray | None = None,
        gaps: bool | None = None,
    ) -> None:
        _load_compiled()
        self.scale, self.centred, self.target, self.gaps = scale, centred, target, gaps
        self.rows, self.begun = np.zeros((2, 4, d if scale else 0)), np.zeros(2, np.int64)
        self.means = np.zeros((3, 0 if gaps is None else d))
        self.seen = np.zeros(1, np.int64)
        self.targets = np.zeros(3)  # place and width are the last two where they are fixed
        if target in WHOLE and whole is not None and whole.size:
            low, high = (whole.min(), whole.max()) if target == "minmax" else (whole.mean(), 0.0)
            self.targets[:] = 1.0, low, high - low if target == "minmax" else whole.std()
        self._targets_finite()

    @classmethod
    def of(
        cls, scaling: Mapping[str, str], dataset: Any, later: bool | None = None, also: Any = None
    ) -> "Scaling | None":
        """Return the scaling of a data set that ``scale``, ``target`` and its gaps ask for, else None.

        later: False where rows with gaps may come after those of the data    also: other data of the learner
        """
        gaps = True if any_gaps(dataset) or (also is not None and any_gaps(also)) else later
        if not scaling.keys() & {"scale", "target"} and gaps is None:
            return None
        return cls(dataset.d, scaling.get("scale"), centred(dataset), scaling.get("target"), dataset.y, gaps)

    @property
    def renews(self) -> bool:
        """Whether all rows of a stream are made anew, and so are numbered by their rounds."""
        return bool(self.scale or self.gaps)

    @property
    def words(self) -> dict[str, str]:
        """What was asked for."""
        return {name: word for name, word in (("scale", self.scale), ("target", self.target)) if word}

    # ------------------------------------------------------------------ a stream

    def scaled(self, stream: Stream, learn: bool) -> tuple[Stream, Units | None]:
        """Return a stream as the learner reads it, and what its predictions are worth; the state stays.

        learn: whether each row counts as seen for the next one. Raises UserError for numbers whose squares
        overflow.
        """
        rows, units = self._filled(stream, learn), None
        if self.scale:
            rows = self._rows(rows, learn)
        if self.target:
            y, units = self._units(stream.y, learn)
            rows = rows._replace(y=y)
        return rows, units

    def _filled(self, stream: Stream, learn: bool) -> Stream:
        """Return a stream without gaps."""
        if not self.gaps and (self.gaps is None or not has_gaps(stream.order, stream.indptr, stream.values)):
            return stream
        new = _room(stream, int(np.diff(stream.indptr)[stream.order].sum()))
        rows = stream.order, stream.indptr, stream.indices, stream.values
        return _renewed(stream, new, fill_gaps(*rows, learn, self.means.copy(), int(self.seen[0]), new))

    def _rows(self, stream: Stream, learn: bool) -> Stream:
        d, lengths = self.rows.shape[2], np.diff(stream.indptr)[stream.order]
        new = _room(stream, stream.T * d if self.centred else int(lengths.sum()))
        rows = stream.order, stream.indptr, stream.indices, stream.values
        stats, begun = self.rows.copy(), self.begun.copy()
        used = scale_rows(*rows, self.centred, learn, stats, begun, int(self.seen[0]), new)
        if not np.isfinite(stats).all():
            largest = np.abs(stream.values).max(initial=0.0)
            raise UserError(f"a feature of size {largest:.3g} is too large to be scaled; correct the value")
        return _renewed(stream, new, used)

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
        rows = stream.order, stream.indptr, stream.indices, stream.values
        if self.scale:
            filled = self._filled(stream, True)
            arrays = filled.order, filled.indptr, filled.indices, filled.values
            see_rows(*arrays, self.centred, self.rows, self.begun, int(self.seen[0]))
        if self.gaps is not None:
            see_values(*rows, self.means)
        self.seen += stream.T
        if self.target == "online":
            y = np.empty((4, stream.T))
            scale_targets(stream.y, True, self.targets, *y)
            self._targets_finite()

    def _targets_finite(self) -> None:
        if not np.isfinite(self.targets).all():
            raise UserError("the targets are too large to be scaled: the deviation overflows")

    def add_features(self, d: int) -> None:
        """Go on with d features; the new ones were 0 so far."""
        if self.scale:
            self.rows = _wider(self.rows, d)
        if self.gaps is not None:
            self.means = _wider(self.means, d)

    # ------------------------------------------------------------------ saved

    def header(self) -> dict[str, Any]:
        """Return what a saved model says of it beside its arrays."""
        return {name: getattr(self, name) for name in _HEADER}

    def arrays(self) -> Arrays:
        """Return its arrays by name."""
        names = ("rows", "begun", "means", "seen", "targets")
        return {f".{name}": getattr(self, name) for name in names}

    @classmethod
    def load(cls, header: Any, arrays: Arrays, d: int) -> "Scaling":
        """Return the scaling of `header` and `arrays`. Raises ValueError for anything else."""
        scale, centred, target, gaps = _checked_header(header)
        scaling = cls(d, scale, centred, target, gaps=gaps)
        if arrays.keys() != scaling.arrays().keys():
            raise ValueError("its scaling has other arrays")
        for name, array in scaling.arrays().items():
            given = arrays[name]
            if given.shape != array.shape or given.dtype != array.dtype:
                raise ValueError(f"its scaling has another array '{name}'")
            if not np.isfinite(given).all():
                raise ValueError(f"its scaling is not finite ('{name}')")
            array[...] = given
        scaling._check_counts()
        return scaling

    def _check_counts(self) -> None:
        """Raise ValueError for counts of rows, and for spreads, that no stream leaves."""
        seen, counts, filled = int(self.seen[0]), self.rows[:, [0, 3]], self.means[[0, 2]]
        most = [(self.begun, seen), (filled.sum(0), seen), (counts, (seen - self.begun)[:, None, None])]
        if (
            not 0 <= seen <= LARGEST_COUNT
            or any((count < 0).any() for count in (self.begun, counts, filled))
            or any((count > limit).any() for count, limit in most)
        ):
            raise ValueError("its scaling counts rows that cannot be")
        if (self.rows[:, 2] < 0.0).any() or (self.targets[[0, 2]] < 0).any():
            raise ValueError("its scaling has a negative spread")


@cache
def _load_compiled() -> None:
    """Load what is compiled, or compile it, before a clock starts."""
    row = make_stream(np.array([0, 1]), np.zeros(1), np.ones(1), np.ones(1), np.zeros(1))
    rows = row.order, row.indptr, row.indices, row.values
    stats, begun, new = np.zeros((2, 4, 1)), np.zeros(2, np.int64), np.zeros((4, 1))
    has_gaps(row.order, row.indptr, row.values)
    fill_gaps(*rows, False, stats[0], 0, _room(row, 1))
    scale_rows(*rows, True, False, stats, begun, 0, _room(row, 1))
    see_values(*rows, stats[0])
    see_rows(*rows, True, stats, begun, 0)
    scale_targets(row.y, False, np.zeros(3), *new)


_HEADER = ("scale", "centred", "target", "gaps")


def _checked_header(header: Any) -> tuple[str | None, bool, str | None, bool | None]:
    """Return what a saved model says of its scaling. Raises ValueError for what no model says."""
    if not isinstance(header, dict) or header.keys() != set(_HEADER) or type(header["centred"]) is not bool:
        raise ValueError("its scaling is broken")
    scale, centred, target, gaps = (header[name] for name in _HEADER)
    is_known = scale in ("online", None) and target in ("online", *WHOLE, None)
    if not is_known or (gaps is not None and type(gaps) is not bool):
        raise ValueError("its scaling is unknown")
    return scale, centred, target, gaps


_New = tuple[np.ndarray, np.ndarray, np.ndarray]  # the arrays of a CSR matrix that is to be filled


def _room(stream: Stream, values: int) -> _New:
    return np.zeros(stream.T + 1, np.int64), np.empty(values, np.int32), np.empty(values)


def _renewed(stream: Stream, new: _New, used: int) -> Stream:
    """Return a stream of new rows, in the order of arrival, in place of its own."""
    scaled = make_stream(new[0], new[1][:used], new[2][:used], np.zeros(stream.T), np.arange(stream.T))
    return scaled._replace(y=stream.y, label=stream.label)


def _wider(stats: np.ndarray, d: int) -> np.ndarray:
    more = [(0, 0)] * (stats.ndim - 1)
    return np.pad(stats, [*more, (0, max(d - stats.shape[-1], 0))])


def any_gaps(dataset: Any) -> bool:
    """Whether a data set has gaps."""
    return bool(dataset.values.size and np.isnan(dataset.values.min()))  # a minimum passes a NaN on


def centred(dataset: Any) -> bool:
    """Whether a data set is dense enough for its features to be centred."""
    return bool(SPARSE * len(dataset.values) >= len(dataset.y) * dataset.d)


def in_units(trace: Trace, units: Units, y: np.ndarray, spec: Any) -> None:
    """Change the scores of a regression's trace, and what it reports of densities, to the targets' units.

    y (T,): the targets, in these units    spec: the learner's, which says what it reports

    The NLPD under target=online is -log p(y_t), p the density with the prediction's mean and variance in the
    units before round t; what the learner reports is of a target scaled with itself. Rounds without a width
    have none (UNRECORDED).
    """
    trace.score[:] = units.place + units.width * trace.score
    told = dict(zip(spec.measures, trace.further.T, strict=True))
    variance, nlpd, has_width = told.get("variance"), told.get("nlpd"), units.width > 0.0
    if variance is not None:
        told_of = ~unrecorded(variance)
        variance[told_of] *= np.square(units.width[told_of])
        has_width &= told_of
    if nlpd is None:
        return
    if units.fixed:
        nlpd[has_width] += np.log(units.width[has_width])
    elif variance is None:
        has_width[:] = False
    else:
        has_width &= ~(variance <= 0.0)
        density = [variance] if (degrees := told.get("degrees")) is None else [variance, degrees]
        nlpd[has_width] = surprise((y - trace.score)[has_width], *(each[has_width] for each in density))
    nlpd[~has_width] = UNRECORDED


def surprise(error: np.ndarray, variance: np.ndarray, degrees: np.ndarray | None = None) -> np.ndarray:
    """Return -log p of errors (n,) under a density of mean 0 and these variances (n,).

    degrees (n,): of freedom of Student's t with the same 95 % interval; None for the normal density
    """
    with np.errstate(over="ignore"):
        if degrees is None:
            return 0.5 * (np.log(2.0 * np.pi * variance) + np.square(error) / variance)
        from scipy import special  # takes a tenth of a second to import

        scale = np.sqrt(variance) * WITHIN_95 / special.stdtrit(degrees, 0.975)
        half = 0.5 * (degrees + 1.0)
        constant = special.gammaln(half) - special.gammaln(0.5 * degrees) - 0.5 * np.log(degrees * np.pi)
        return np.log(scale) + half * np.log1p(np.square(error / scale) / degrees) - constant

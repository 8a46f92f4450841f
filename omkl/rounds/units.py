"""Predictions of scaled targets, their variances and densities, in the targets' own units."""

from dataclasses import dataclass

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import UNRECORDED, Trace, unrecorded
from omkl.tasks import WITHIN_95


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


def in_units(trace: Trace, units: Units, y: np.ndarray, spec: LearnerSpec) -> None:
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
        nlpd[has_width] = nlpd_of((y - trace.score)[has_width], *(each[has_width] for each in density))
    nlpd[~has_width] = UNRECORDED


def nlpd_of(error: np.ndarray, variance: np.ndarray, degrees: np.ndarray | None = None) -> np.ndarray:
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

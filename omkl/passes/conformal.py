"""Adaptive conformal inference: intervals around the predictions of any learner for numbers.

Gibbs, Candès ("Adaptive conformal inference under distribution shift", 2021), equation 2: the interval of
round t is every y whose score |y - f_t| / s_t is at most the (1 - alpha_t)-quantile of past scores, and

    alpha_{t+1} = alpha_t + GAMMA (alpha - err_t),    err_t = 1 where y_t lies outside, else 0.

s_t is the standard deviation of the target that the learner tells before round t, and 1 of one that tells
none. Whatever the stream does, the share of rounds outside is near alpha after many rounds: within
(max(alpha, 1 - alpha) + GAMMA) / (GAMMA T) while alpha_t stays in [-GAMMA, 1 + GAMMA] (their proposition
4.1), which is 0.92 % for 90 % and 5,000 rounds. Targets that are predicted exactly are all inside.

Deviations:
1. The scores are the last WINDOW ones, so that those before a drift are forgotten.
2. Until 1 / alpha - 1 scores are known (9 for 90 %), and in a round without a positive standard deviation of
   a learner that has told one, the interval is the whole line; such rounds change nothing but the scores.
3. Where the quantile is beyond the largest score the paper's interval is the line. Here it is that score,
   doubled for each GAMMA by which alpha_t is below 0, so that every interval is finite.
4. An interval of no width cannot be narrower: a target that it holds raises alpha_t no further than alpha.
5. The first standard deviation that is told makes scores of before, with s = 1, useless: all begins anew.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Any

import numpy as np

from omkl.passes.late_labels import batches
from omkl.passes.said import Said
from omkl.tasks import as_decimals, least_scores

GAMMA = 0.02
WINDOW = 200
MOST_DOUBLINGS = 1000.0  # beyond them a float overflows
LARGEST = float(np.finfo(np.float64).max)


class Conformal:
    """The state: alpha_t and the last scores; is_told: whether s has been a standard deviation.

    level: 1 - alpha, the share of the targets that intervals are to hold
    """

    word, task = "interval", "regression"

    def __init__(self, level: float) -> None:
        self.level, self.is_told = level, False
        self._begin()

    def _begin(self) -> None:
        self.alpha_t = 1.0 - self.level
        self._scores: deque[float] = deque()
        self._sorted: list[float] = []

    @property
    def quantile(self) -> float:
        """The largest score that the next interval holds, infinite while there are too few."""
        n = len(self._sorted)
        if n < least_scores(self.level):
            return math.inf
        k = math.ceil(as_decimals((n + 1) * (1.0 - self.alpha_t)))
        if k <= 0:
            return 0.0
        if k <= n:
            return self._sorted[k - 1]
        return self._sorted[-1] * 2.0 ** min(max(0.0, -self.alpha_t / GAMMA), MOST_DOUBLINGS)

    def told(self, said: Said) -> np.ndarray:
        """Return half of the widths (n,) of the intervals of rows; the line's is infinite."""
        quantile = self.quantile
        deviations = _deviations(len(said.scores), said.variance)
        return np.array([self._half_width(quantile, s) for s in deviations])

    def learn(self, said: Said) -> None:
        """Learn rounds one after another."""
        self.in_turn(said)

    def in_turn(self, said: Said, delay: int = 1) -> np.ndarray:
        """Return half of the widths (T,) of each round's interval before it is learnt, and learn all rounds.

        delay: targets come in batches of so many rounds. The interval of a round without a prediction is the
        line, and it is not learnt.
        """
        assert said.true is not None
        T = len(said.true)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = np.nan_to_num(np.abs(said.true - said.scores), nan=LARGEST, posinf=LARGEST).tolist()
        deviations, halves = _deviations(T, said.variance), np.full(T, np.inf)
        there = [True] * T if said.missing is None else (~said.missing).tolist()
        for start, stop in batches(T, delay):
            batch = [t for t in range(start, stop) if there[t]]
            quantile = self.quantile
            for t in batch:
                halves[t] = self._half_width(quantile, deviations[t])
            for t in batch:
                self._learn_one(errors[t], deviations[t], float(halves[t]))
        return halves

    def _half_width(self, quantile: float, deviation: float | None) -> float:
        if deviation is None:
            return math.inf if self.is_told else quantile
        return quantile * deviation if self.is_told else math.inf

    def _learn_one(self, error: float, deviation: float | None, half: float) -> None:
        """Learn a round, whose interval had this half width; deviation: None where it is not told."""
        if deviation is not None and not self.is_told:
            self.is_told = True
            self._begin()
        if deviation is None and self.is_told:
            return
        if half < math.inf:
            alpha, before = 1.0 - self.level, self.alpha_t
            self.alpha_t += GAMMA * (alpha - (error > half))
            if half == 0.0:
                self.alpha_t = min(self.alpha_t, max(before, alpha))
        self._add(min(error / (1.0 if deviation is None else deviation), LARGEST))

    def _add(self, score: float) -> None:
        self._scores.append(score)
        insort(self._sorted, score)
        if len(self._scores) > WINDOW:
            del self._sorted[bisect_left(self._sorted, self._scores.popleft())]

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON holds it."""
        named = {"level": self.level, "told": self.is_told, "alpha_t": self.alpha_t}
        return {**named, "scores": list(self._scores)}

    @classmethod
    def from_json(cls, state: Any, classes: int = 2) -> "Conformal":
        """Return the state of `to_json`. Raises ValueError for anything else."""
        try:
            numbers = [state["level"], state["alpha_t"], *state["scores"]]
            good = all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
            good = good and 0.0 < state["level"] < 1.0 and type(state["told"]) is bool
            good = good and len(state["scores"]) <= WINDOW and all(score >= 0 for score in state["scores"])
        except (TypeError, KeyError, OverflowError):
            good = False
        if not good:
            raise ValueError("its intervals are not a level, its correction and past scores")
        conformal = cls(float(state["level"]))
        conformal.is_told, conformal.alpha_t = state["told"], float(state["alpha_t"])
        for score in state["scores"]:
            conformal._add(float(score))
        return conformal


def interval_score(error: np.ndarray, half: np.ndarray, level: float) -> np.ndarray:
    """Return the interval scores (T,) of intervals that end ``half`` on each side of their predictions.

    Gneiting, Raftery (2007): the width, and 2 / alpha times how far the target lies outside.
    """
    return 2.0 * half + 2.0 / (1.0 - level) * np.maximum(error - half, 0.0)


def _deviations(n: int, variance: np.ndarray | None) -> list[float | None]:
    """Return the standard deviations of n rows, None of each whose variance is not told or not positive."""
    if variance is None:
        return [None] * n
    with np.errstate(invalid="ignore"):
        told = np.isfinite(variance) & (variance > 0.0)
        return [
            s if good else None for s, good in zip(np.sqrt(variance).tolist(), told.tolist(), strict=True)
        ]

"""Online Platt scaling: probabilities from scores, for learners whose scores are none.

Platt ("Probabilistic outputs for support vector machines", 1999) fits P(+1 | s) = 1 / (1 + exp(-(a s + b)))
to scores that were held out. Here they are those of each round before its update, and a and b take one Newton
step of the log loss in each round: the posterior of a logistic regression, linearised (an extended Kalman
filter), with the prior a ~ N(1, PRIOR), b ~ N(0, PRIOR). Scores are divided by their root mean square so far,
the row's own included, so that learners of any scale share the prior. Of more than two classes each has a and
b of its own, against all others; its score is that less its strongest rival's, and the probabilities are
divided by their sum.
"""

import math
from typing import Any

import numpy as np

from omkl.passes.late_labels import batches
from omkl.passes.said import Said

PRIOR = 10.0  # variance of a and of b
LEAST = -700.0  # of a logarithm of odds
_STATE = ("a", "b", "aa", "ab", "bb")


class Platt:
    """The state: a, b and their covariance, for each class of more than two; squares: sum of squared scores.

    classes: their number    rounds: how many have been learnt
    """

    word, task, level = "platt", "classification", 1.0

    def __init__(self, classes: int = 2) -> None:
        self.rounds, self.squares = 0, 0.0
        self.each = [_prior() for _ in range(1 if classes == 2 else classes)]

    def add_class(self) -> None:
        """Go on with one class more; of two classes that is not possible."""
        self.each.append(_prior())

    def learn(self, said: Said) -> None:
        """Learn rounds one after another."""
        assert said.true is not None
        for row, true in zip(said.scores.tolist(), said.true.tolist(), strict=True):
            margins, self.squares = self._scaled(row)
            self.rounds += 1
            for c, (state, s) in enumerate(zip(self.each, margins, strict=True)):
                _step(state, s, float(true == (c if len(self.each) > 1 else 1)))

    def told(self, said: Said) -> np.ndarray:
        """Return the probabilities (n, C) of all classes of rows."""
        return self.probabilities(said.scores)

    def in_turn(self, said: Said, delay: int = 1) -> np.ndarray:
        """Return the probabilities (T, C) of each round before it is learnt, and learn all rounds.

        delay: labels come in batches of so many rounds
        """
        scores, label, rows = said.scores, said.true, []
        assert label is not None
        for start, stop in batches(len(scores), delay):
            rows.append(self.probabilities(scores[start:stop]))
            self.learn(Said(scores[start:stop], label[start:stop]))
        return np.concatenate(rows)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities (n, C) of all classes; scores: as `Said` has them."""
        rows = []
        for row in scores.tolist():
            P = [
                _sigmoid(state[0] * s + state[1])
                for state, s in zip(self.each, self._scaled(row)[0], strict=True)
            ]
            rows.append([1.0 - P[0], P[0]] if len(P) == 1 else [one / sum(P) for one in P])
        return np.array(rows).reshape(len(scores), max(2, len(self.each)))

    def _scaled(self, row: list[float]) -> tuple[list[float], float]:
        """Return a round's scores over the root mean square with them, and the sum of squares with them."""
        margins = _margins(row)
        squares = self.squares + sum(s * s for s in margins) / len(margins)
        scale = math.sqrt(squares / (self.rounds + 1)) or 1.0
        return [s / scale for s in margins], squares

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON holds it."""
        return {"rounds": self.rounds, "squares": self.squares, "each": self.each}

    @classmethod
    def from_json(cls, state: Any, classes: int) -> "Platt":
        """Return the state of `to_json`. Raises ValueError for anything else."""
        platt = cls(classes)
        try:
            rounds, squares, each = state["rounds"], float(state["squares"]), state["each"]
            good = type(rounds) is int and rounds >= 0 and len(each) == len(platt.each)
            platt.each = [[float(value) for value in coefficients] for coefficients in each]
            good &= all(
                len(coefficients) == len(_STATE) and all(map(math.isfinite, coefficients))
                for coefficients in platt.each
            )
        except (TypeError, KeyError, ValueError, OverflowError):
            good = False
        if not good or not 0 <= squares < math.inf:
            raise ValueError("its calibration is not a list of numbers for each class")
        platt.rounds, platt.squares = rounds, squares
        return platt


def _prior() -> list[float]:
    return [1.0, 0.0, PRIOR, 0.0, PRIOR]


def _sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), never 0."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(max(x, LEAST)) / (1.0 + math.exp(x))


def _margins(row: list[float]) -> list[float]:
    """Return each class's score less that of its strongest rival; of two classes the score itself."""
    if len(row) == 1:
        return row
    high = max(row)
    second = high if row.count(high) > 1 else max(s for s in row if s != high)
    return [s - (second if s == high else high) for s in row]


def _step(state: list[float], s: float, y: float) -> None:
    """Learn label y (0 or 1) of a score s: own <- a, b and their covariance.

    p = sigmoid(a s + b), r = p (1 - p), z = (s, 1): Sigma <- Sigma - r Sigma z z' Sigma / (1 + r z' Sigma z),
    then (a, b) += Sigma z (y - p)
    """
    a, b, aa, ab, bb = state
    p = _sigmoid(a * s + b)
    r = p * (1.0 - p)
    g, h = aa * s + ab, ab * s + bb
    divisor = 1.0 + r * (g * s + h)
    step = (y - p) / divisor
    state[:] = (
        a + g * step,
        b + h * step,
        aa - r * g * g / divisor,
        ab - r * g * h / divisor,
        bb - r * h * h / divisor,
    )

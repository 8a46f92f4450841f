"""More than two classes by definition: for each kernel a list of each class."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from omkl.testing.definitions.expansion import Result
from omkl.testing.definitions.kernels import cosine, inner, kernel, squared_norms


def classes_of(y: Any) -> int | None:
    """The number of classes where y (T,) has whole numbers, None where +1 and -1, or targets."""
    y = np.asarray(y)
    return int(y.max()) + 1 if y.dtype.kind == "i" else None


def best(scores: Sequence[float], without: int | None = None) -> int:
    """The class with the largest score, the lowest of several; `without` one of them."""
    classes = [c for c in range(len(scores)) if c != without]
    return max(classes, key=lambda c: (scores[c], -c))


def margin(scores: Sequence[float], y: int) -> float:
    """The score of class y less its strongest rival's."""
    return scores[y] - scores[best(scores, without=y)]


@lru_cache(4)
def _gram(X: bytes, shape: tuple[int, int], kernels: str, normalise: str) -> np.ndarray:
    """K (m, T, T) by the kernels' definitions."""
    from ast import literal_eval

    rows = np.asfortranarray(np.frombuffer(X).reshape(shape))
    norms, one = squared_norms(rows), cosine if normalise == "cosine" else kernel
    pairs = [(inner(rows, x), norms, norm, rows, x) for x, norm in zip(rows, norms, strict=True)]
    return np.array([[one(k, *pair) for pair in pairs] for k in literal_eval(kernels)])


def gram(X: np.ndarray, kernels: list[dict], normalise: str) -> np.ndarray:
    """K (m, T, T): kernel i of every two examples of X (T, d)."""
    X = np.ascontiguousarray(X, float)
    return _gram(X.tobytes(), X.shape, repr(kernels), normalise)


def noted(notes: Any, n_sv: Any, stored: Any, coefficients: np.ndarray, weights: Any = None) -> Result:
    """The Result of notes (mistake, class predicted, margin, scores of all classes) of every round.

    The last may be missing in some rounds.
    """
    mistakes, predicted, scores = (np.array([note[at] for note in notes]) for at in range(3))
    whole = np.array([note[3] for note in notes]) if all(len(note) > 3 for note in notes) else None
    stored = np.array(stored, int)
    return Result(
        mistakes, scores, n_sv, stored, None, weights, coefficients, predicted=predicted, class_scores=whole
    )


class Notes:
    """What a twin of C classes without stored vectors reports."""

    def __init__(self) -> None:
        self.notes: list[tuple[bool, int, float, list[float]]] = []

    def record(self, totals: Sequence[float], y: int) -> None:
        """Note one prediction from the combined scores of the classes (C,)."""
        r = best(totals, without=y)
        mistake, lead = totals[y] <= totals[r], totals[y] - totals[r]
        self.notes.append((mistake, best(totals), lead, list(totals)))

    def result(self, weights: Any = None) -> Result:
        return noted(self.notes, np.zeros(0, int), [], np.zeros((0, 0, 0)), weights)


class Classes(Notes):
    """f_ic(x) = sum of a kappa_i(x_j, x) over the list of class c of kernel i."""

    def __init__(self, X: Any, C: int, kernels: list[dict], normalise: str = "none") -> None:
        super().__init__()
        self.K, self.m, self.C = gram(X, kernels, normalise), len(kernels), C
        self.lists: list[dict[int, list]] = [{c: [] for c in range(C)} for _ in kernels]
        self.vectors: list[set[int]] = [set() for _ in kernels]

    def scores(self, t: int) -> list[list[float]]:
        """(m, C): f_ic(x_t), each one sum from left to right."""
        scores = []
        for i, lists in enumerate(self.lists):
            scores.append([0.0] * self.C)
            for c, terms in lists.items():
                for j, a in terms:
                    scores[i][c] += a * float(self.K[i, j, t])
        return scores

    def everywhere(self) -> np.ndarray:
        """(m, C, T): f_ic of every example."""
        scores = np.zeros((self.m, self.C, self.K.shape[-1]))
        for i, lists in enumerate(self.lists):
            for c, terms in lists.items():
                for j, a in terms:
                    scores[i, c] += a * self.K[i, j]
        return scores

    def step(self, t: int, i: int, a: float, y: int, r: int) -> None:
        """Add a kappa_i(x_t, .) to class y of kernel i and take it from class r."""
        if a != 0:
            self.lists[i][y].append((t, a))
            self.lists[i][r].append((t, -a))
            self.vectors[i].add(t)

    def result(self, weights: Any = None) -> Result:
        stored = sorted(set().union(*self.vectors))
        coefficients = np.zeros((self.m, self.C, len(stored)))
        for i, lists in enumerate(self.lists):
            for c, terms in lists.items():
                for j, a in terms:
                    coefficients[i, c, stored.index(j)] += a
        n_sv = np.array([len(indices) for indices in self.vectors])
        return noted(self.notes, n_sv, stored, coefficients, weights)


def class_votes(W: Any, votes: Sequence[int], C: int, used: Sequence[bool] | None = None) -> list[float]:
    """Combined scores (C,) of votes weighed by W (weights.py), whose order is that of exact arithmetic.

    Only their order and the lead of each over the others is exact; a lead that is lost to rounding is the
    smallest number.
    """
    used = [True] * len(votes) if used is None else used
    cast = {c: Counter(e for e, v, u in zip(W.e, votes, used, strict=True) if u and v == c) for c in range(C)}
    scores = [W.quotient(cast[c], Counter(W.e))[0] for c in range(C)]
    for c in range(C):
        for other in range(c):
            difference = cast[c].copy()
            difference.subtract(cast[other])
            _, sign = W.quotient(difference, Counter(W.e))
            if sign == 0:
                scores[c] = scores[other]
            elif (scores[c] > scores[other]) - (scores[c] < scores[other]) != sign:
                raise ArithmeticError("votes that differ by less than rounding: choose another stream")
    return scores

"""The kernel expansions f_1 .. f_m of a twin, and what it reports."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Result:
    """What one pass of a twin gives; m classifiers (1 for a perceptron, 0 without kernels)."""

    mistakes: np.ndarray  # (T,) bool: y * score <= 0, or the true class's score is not above every other's
    scores: np.ndarray  # (T,) ensemble score before the update; of C classes the true one's less its rival's
    n_sv_per_kernel: np.ndarray  # (m,) vectors in each classifier's own list after the last update
    stored: np.ndarray  # (n,) stream positions of the stored examples, in storage order
    combined: np.ndarray | None  # (T,) vectors in the classifiers that round t's prediction combined
    weights: np.ndarray | None  # (m,) after the last update
    coefficients: np.ndarray  # (m, n) of each stored example in each classifier; of C classes (m, C, n)
    chosen: int | None = None  # perceptron_star only: index of the selected kernel
    further: np.ndarray | None = None  # (T, q) the learner's q measures (about.measures) in each round
    predicted: np.ndarray | None = None  # (T,) of more than two classes the one with the largest score
    class_scores: np.ndarray | None = None  # (T, C) the scores of all, where the twin notes them


class Expansions:
    """f_i = sum_j a_ij kappa_i(x_j, .), held as its values F (m, T) at every example of the stream.

    Adding the vector x_t changes F by a_i kappa_i(x_t, .), so F[i, s] is the sum over the stored vectors in
    storage order, left to right.
    """

    def __init__(self, rows, m, T):
        self.rows, self.m = rows, m
        self.F = np.zeros((m, T))
        self.n_sv = np.zeros(m, dtype=int)
        self.stored, self.columns = [], []
        self.scores, self.mistakes, self.combined, self.further = [], [], [], []

    def record(self, score, y, used, further=()):
        """Note one prediction made by the classifiers with used (m,) true, before the update.

        further: the learner's measures of it besides the error
        """
        self.scores.append(score)
        self.further.append(further)
        self.mistakes.append(y * score <= 0)
        self.combined.append(sum(int(n) for n, u in zip(self.n_sv, used, strict=True) if u))

    def add(self, t, a, vectors=None):
        """Add a_i kappa_i(x_t, .) to every f_i; vectors (m,) counts them, one where a_i != 0."""
        vectors = a != 0 if vectors is None else vectors
        if not np.any(vectors):
            return
        self.F = self.F + a[:, None] * self.rows(t)
        self.n_sv = self.n_sv + vectors
        self.stored.append(t)
        self.columns.append(a)

    def result(self, weights=None, chosen=None):
        coefficients = np.array(self.columns).T if self.columns else np.zeros((self.m, 0))
        return Result(
            mistakes=np.array(self.mistakes, dtype=bool),
            scores=np.array(self.scores, dtype=float),
            n_sv_per_kernel=self.n_sv,
            stored=np.array(self.stored, dtype=int),
            combined=np.array(self.combined, dtype=int),
            weights=weights,
            coefficients=coefficients,
            chosen=chosen,
            further=np.array(self.further, dtype=float),
        )

"""More than two classes: KRLS-T, one mean for each class and one covariance for all."""

import numpy as np

from .classes import ClassResult, best
from .krls_t import tracked
from .slots import Slots


class Rows(Slots):
    """Kernel values, and notes of rounds with scores of C classes."""

    def __init__(self, X, label, kernels, normalise, budget):
        super().__init__(X, label, kernels, normalise, budget)
        self.notes = []

    def note(self, totals, y):
        r = best(totals, without=y)
        self.notes.append((totals[y] <= totals[r], best(totals), totals[y] - totals[r]))


def many(X, label, C, kernels, normalise, weighted, **how):
    """One tracker for each kernel, whose C means have targets +1 and -1."""
    E = Rows(X, label, kernels, normalise, how["budget"])
    targets = np.where(np.arange(C) == np.asarray(label)[:, None], 1.0, -1.0)
    trackers, w = tracked(E, C, targets, lambda t, mean, *_: E.note(mean.tolist(), label[t]), **how)
    stored = sorted({t for own in trackers for t in own.held})
    a = np.zeros((E.m, C, len(stored)))
    for i, own in enumerate(trackers):
        a[i][:, [stored.index(t) for t in own.held]] = own.coefficients().T
    made = [np.array(part) for part in zip(*E.notes, strict=True)]
    return ClassResult(*made, E.n_sv, np.array(stored, int), a, np.array(w) if weighted else None)


def krls_t_pool(X, label, n_classes, kernels, *, budget, noise, lam, share, normalise="none", rng=None):
    """Every kernel's trackers, weighted by the densities of all classes' targets."""
    how = {"budget": budget, "noise": noise, "lam": lam, "share": share}
    return many(X, label, n_classes, kernels, normalise, True, **how)


def krls_t(X, label, n_classes, kernels, *, budget, noise, lam, normalise="none", rng=None):
    """One kernel."""
    how = {"budget": budget, "noise": noise, "lam": lam, "share": 0.0}
    return many(X, label, n_classes, kernels, normalise, False, **how)


krls_t.near = krls_t_pool.near = 1e-5
krls_t_pool.apart = "the weights are by the densities of both classes' targets, each of which has the same"

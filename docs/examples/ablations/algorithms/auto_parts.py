"""`auto` with some of its members alone, or without its stack, to see what each kind adds."""

import numpy as np

from omkl.algorithms.auto import MEMBERS, rounds_of_classes
from omkl.engine.api import compiled


@compiled
def auto_parts(
    stream, F, mean, m2, seen, known, theta, P, last, beta, R, late, sigma, gamma, tau, nu, S, slate, ssigma,
    begun, X, ages, Q, V, a, rows, born, worth, b,
    squares, eta, B, blast, own, O, olast, omega, W, trace, learn,
    gaussians, linear, drifts, trackers, passive, scaled, stacked,
):  # fmt: skip
    """As `auto` (omkl/algorithms/auto.py); the stack does not see the members left out."""
    keep = np.ones(MEMBERS, np.bool_)
    if not gaussians:
        keep[:6] = False
    if not drifts:
        keep[4:8] = False
    if not linear:
        keep[6:11] = False
    if not trackers:
        keep[11:15] = False
    if not passive:
        keep[15:] = False
    if not scaled:
        for i in (2, 3, 5, 7, 8, 10, 13, 14, 16):
            keep[i] = False
    rows_seen, probits = (mean, m2, seen, known), (theta, P, last, beta, R, late, sigma, gamma, tau)
    arow, tracked = (nu, S, slate, ssigma), (begun, X, ages, Q, V, a)
    stored, stack = (rows, born, worth, b), (squares, eta, B, blast, own, O, olast, omega, W)
    rounds_of_classes(
        stream, F, rows_seen, probits, arow, tracked, stored, stack, trace, learn, keep, stacked
    )

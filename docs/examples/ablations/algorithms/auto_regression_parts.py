"""`auto_regression` with some of its members alone, or without corrections, to see what each kind adds."""

import numpy as np

from omkl.algorithms.auto_regression import rounds_of_numbers
from omkl.engine.api import compiled


@compiled
def auto_regression_parts(
    stream, F, mean, m2, seen, known, target, errors, theta, P, last, beta, R, late, sigma,
    Q, V, A, X, kept, ages, width, columns, W, eta, S, left, faded,
    levels, rho, G, behind, quantiles, trace, learn,
    gaussians, linear, drifts, trackers, scaled, corrected,
):  # fmt: skip
    """As `auto_regression` (omkl/algorithms); the members left out predict the mean of the targets."""
    keep = np.ones(W.shape[1], np.bool_)
    for i in range(keep.size):
        gaussian, line = i < 24, 24 <= i < 36
        drift = i // 8 if gaussian else (i - 24) // 4 if line else 0
        on_scaled = i % 4 > 1 if gaussian else i % 2 == 1 if line else i > 37
        left_out = (gaussian and not gaussians) or (line and not linear) or (i >= 36 and not trackers)
        keep[i] = not (left_out or (drift > 0 and not drifts) or (on_scaled and not scaled))
    rows_seen, regressions = (mean, m2, seen, known), (theta, P, last, beta, R, late, sigma)
    stored, means = (Q, V, A, X, kept, ages, width, columns), (target, errors, W, faded)
    corrections, scale = (eta, S, left), (levels, rho, G, behind, quantiles)
    rounds_of_numbers(
        stream, F, rows_seen, regressions, stored, means, corrections, scale, trace, learn, keep, corrected
    )

"""`auto_regression` with some of its members alone, or without corrections, to see what each kind adds."""

import numpy as np

from omkl.algorithms.auto_regression import Corrections, Means, rounds_of_numbers
from omkl.algorithms.error_scale import ErrorScale
from omkl.algorithms.regression_members import Regressions, Rows, Trackers
from omkl.engine.api import compiled


@compiled
def auto_regression_parts(
    stream, F, rows: Rows, regressions: Regressions, stored: Trackers, means: Means, corrections: Corrections,
    scale: ErrorScale, trace, learn, gaussians, linear, drifts, trackers, scaled, corrected,
):  # fmt: skip
    """As `auto_regression` (omkl/algorithms); the members left out predict the mean of the targets."""
    keep = np.ones(means.W.shape[1], np.bool_)
    for i in range(keep.size):
        gaussian, line = i < 24, 24 <= i < 36
        drift = i // 8 if gaussian else (i - 24) // 4 if line else 0
        on_scaled = i % 4 > 1 if gaussian else i % 2 == 1 if line else i > 37
        left_out = (gaussian and not gaussians) or (line and not linear) or (i >= 36 and not trackers)
        keep[i] = not (left_out or (drift > 0 and not drifts) or (on_scaled and not scaled))
    rounds_of_numbers(
        stream, F, rows, regressions, stored, means, corrections, scale, trace, learn, keep, corrected
    )

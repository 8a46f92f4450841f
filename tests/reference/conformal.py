"""Adaptive conformal inference of Gibbs and Candès (2021), with every round computed from all before it.

alpha_{t+1} = alpha_t + 0.02 (alpha - err_t), quantiles over the last 200 scores |y - f| / s. The interval is
the line until (n + 1) level <= n. Beyond the largest score it ends at that score, doubled for each 0.02 by
which alpha_t is below 0. A round without a deviation, of a learner that has told one, has no interval and no
score; one without a prediction, too. The first deviation begins all anew.
"""

import math

EDGE = 1e-9 / 2  # of sums of decimals such as 0.1


def half_widths(prediction, target, deviation, level, missing=(), delay=1):
    """Half of the widths of the intervals before each round; deviation: None where it is not told.

    delay: targets come in batches of so many rounds, all of whose intervals are of before the batch
    """
    alpha = 1 - level
    halves, alpha_t, scores, told = [], alpha, [], False
    for t, (f, y, s) in enumerate(zip(prediction, target, deviation, strict=True)):
        if t % delay == 0:
            before, told_before = quantile(scores[-200:], level, alpha_t), told
        unknown = t in missing or (s is None) == told_before  # such as errors over deviations
        half = math.inf if unknown else before * (1 if s is None else s)
        halves.append(half)
        if t in missing or (s is None and told):
            continue
        if s is not None and not told:
            told, alpha_t, scores = True, alpha, []
        scores.append(abs(y - f) / (1 if s is None else s))
        if half == math.inf:
            continue
        outside = abs(y - f) > half
        after = alpha_t + 0.02 * (alpha - outside)
        alpha_t = min(after, max(alpha_t, alpha)) if half == 0 else after
    return halves


def quantile(scores, level, alpha_t):
    """The least q so that scores up to q are a share of at least 1 - alpha_t of all and one more."""
    n = len(scores)
    if n < 1 or (n + 1) * level > n + EDGE:
        return math.inf
    enough = (n + 1) * (1 - alpha_t) - EDGE
    if enough <= 0:
        return 0.0
    for q in sorted(scores):
        if sum(score <= q for score in scores) >= enough:
            return q
    return max(scores) * 2 ** max(0.0, -alpha_t / 0.02)

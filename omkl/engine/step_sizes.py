"""The step size of a round, as the choice `step` of a learner's YAML says."""

import math

from numba import njit

# The choices of `step`.
CONSTANT, SQRT = 0, 1


@njit(cache=True)
def rate(done, eta, step):
    """eta_t = eta, or eta / sqrt(t), of the round t after the done (1,) rounds that have been learnt."""
    return eta / math.sqrt(done[0] + 1.0) if step == SQRT else eta


@njit(cache=True)
def rate_of_pass(done, eta, step, T):
    """As `rate`; where eta is not a number, 1 / sqrt(T) in a pass of T (1,) rounds, or 1 / sqrt(t)."""
    if not math.isnan(eta):
        return rate(done, eta, step)
    return 1.0 / math.sqrt(done[0] + 1.0 if step == SQRT else T[0])

"""The search for the slot of the least cost, of several the oldest, against a plain one."""

import itertools

import numpy as np
import pytest

from omkl.engine.slot_values import least_slots


@pytest.mark.parametrize("m", [1, 7, 8, 12, 16, 17, 29])
@pytest.mark.parametrize("cuts", [[0, 90], [0, 1, 33, 64, 90]])
def test_it_finds_the_oldest_of_the_cheapest(m, cuts):
    rng = np.random.default_rng(m)
    cost = rng.integers(0, 9, (90, m)).astype(float)  # with many ties
    cost[rng.random(cost.shape) < 0.1] = np.inf
    cost[rng.random(cost.shape) < 0.1] = np.nan
    cost[:, 0] = np.inf
    cost[:, -1] = np.nan  # no slot is found for this kernel
    born = rng.permutation(cost.size).reshape(cost.shape)
    later = np.iinfo(np.int64).max
    r, least, oldest = np.full(m, -1), np.full(m, np.inf), np.full(m, later)
    for first, stop in itertools.pairwise(cuts):
        least_slots(cost[first:stop].copy(), born, first, stop, r, least, oldest)
    for i in range(m):
        slots = [s for s in range(90) if not np.isnan(cost[s, i])]
        best = min(slots, key=lambda s: (cost[s, i], born[s, i]), default=-1)
        expected = (-1, np.inf, later) if best < 0 else (best, cost[best, i], born[best, i])
        assert (r[i], least[i], oldest[i]) == expected

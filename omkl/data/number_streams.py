"""Regression streams made from a seed, whose target is known in every round.

The target f*_t(x) is the mean of the heights of some bumps, by their distances from x. ``drift_numbers``
moves centres and heights a little every 10 rounds, ``switch_numbers`` draws new ones every 1000, as the
streams of streams.py do with their means. Features are in a square in the unit ball, targets in [0, 1].
"""

import math
from functools import lru_cache

import numpy as np

from omkl.data.parse import Examples, dense
from omkl.data.streams import DECIMALS, ROUNDS, generate

EVERY = {"drift_numbers": 10, "switch_numbers": 1000}  # rounds between two changes
BUMPS = 4
SIDE = math.sqrt(0.5)  # features are in [0, SIDE]^2
WIDTH = 0.15  # of a bump
LOW, HIGH = 0.1, 0.9  # heights
STEP = 0.02  # standard deviation of a movement of ``drift_numbers``, of SIDE or of HIGH - LOW
NOISE, MOST_NOISE = 0.05, 0.1  # standard deviation of the noise, and the largest


def realised(name: str, seed: int) -> Examples:
    """Return the examples of any stream that is made from a seed."""
    return generate_numbers(name, seed)[0] if name in EVERY else generate(name, seed)


@lru_cache(maxsize=64)
def generate_numbers(name: str, seed: int) -> tuple[Examples, np.ndarray]:
    """Return ROUNDS examples of two features with their targets, and the targets without noise (ROUNDS,)."""
    rng = np.random.default_rng(seed)
    bumps = rng.random((BUMPS, 3))  # two coordinates and a height, each in [0, 1]
    X, path = [], []
    for start in range(0, ROUNDS, EVERY[name]):
        if start > 0:
            moved = bumps + STEP * rng.standard_normal(bumps.shape)
            moved = np.where(moved > 1.0, 2.0 - moved, np.abs(moved))  # reflected
            bumps = moved if name == "drift_numbers" else rng.random(bumps.shape)
        X.append(np.round(SIDE * rng.random((EVERY[name], 2)), DECIMALS))
        path.append(_target(bumps, X[-1]))
    known = np.concatenate(path)
    noise = np.clip(NOISE * rng.standard_normal(ROUNDS), -MOST_NOISE, MOST_NOISE)
    examples = dense(np.concatenate(X), np.round(known + noise, DECIMALS))
    for array in (examples.indptr, examples.indices, examples.values, examples.labels, known):
        array.flags.writeable = False
    return examples, known


def _target(bumps: np.ndarray, X: np.ndarray) -> np.ndarray:
    square = ((X[:, None] - SIDE * bumps[:, :2]) ** 2).sum(-1)
    near = np.exp(-square / (2.0 * WIDTH**2))
    heights = LOW + (HIGH - LOW) * bumps[:, 2]
    return np.asarray((near * heights).sum(-1) / near.sum(-1))

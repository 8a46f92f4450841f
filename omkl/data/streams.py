"""Streams made from a seed, whose drift or switches are known: two classes, and the targets of a regression.

``drift`` and ``switch`` are those of NORMA's experiments, Kivinen, Smola, Williamson (2004), section VI-A:
two classes, each a mixture of Gaussians in the plane. An example that the Bayes rule misclassifies, or is not
sure of, is replaced by another one. ``drift`` moves the means a little every 10 trials, ``switch`` draws new
means every 1000. The paper gives no numbers; these are ours.

``drift_numbers`` and ``switch_numbers`` do the same with bumps: the target f*_t(x) is the mean of the heights
of some bumps, by their distances from x. Features are in a square in the unit ball, targets in [0, 1].
"""

import math
from functools import lru_cache

import numpy as np

from omkl.data.reading.numbered import Examples, dense

EVERY = {"drift": 10, "switch": 1000, "drift_numbers": 10, "switch_numbers": 1000}  # trials between changes
NUMBERS = ("drift_numbers", "switch_numbers")
ROUNDS = 10_000
DECIMALS = 6  # beyond rounding errors, so that the stream is the same on every machine

COMPONENTS = 3  # of each class, equally likely
SIDE = 2.0  # the means stay in [-SIDE, SIDE]^2
SPREAD = 0.5  # standard deviation of a component
STEP = 0.1  # of a mean's every coordinate in a movement of ``drift``
LEAST_LOG_ODDS = 2.0  # for the example's own class
_DRAWN = 64  # examples at a time, of which the first good ones are kept

BUMPS = 4
UNIT = math.sqrt(0.5)  # features are in [0, UNIT]^2
WIDTH = 0.15  # of a bump
LOW, HIGH = 0.1, 0.9  # heights
SHIFT = 0.02  # standard deviation of a movement of ``drift_numbers``, of UNIT or of HIGH - LOW
NOISE, MOST_NOISE = 0.05, 0.1  # standard deviation of the noise, and the largest


@lru_cache(maxsize=64)  # all settings of a table run on the same ones, and each takes 60 ms
def realised(name: str, seed: int) -> tuple[Examples, np.ndarray]:
    """Return ROUNDS examples of two features, and what is known of a stream.

    That is, of classes (-1 and 1), the means (change, class, component, feature) of every EVERY[name] trials;
    of numbers, the targets without noise (ROUNDS,).
    """
    X, y, centres = (_numbers if name in NUMBERS else _classes)(name, np.random.default_rng(seed))
    examples = dense(X, y)
    for array in (examples.indptr, examples.indices, examples.values, examples.labels, centres):
        array.flags.writeable = False
    return examples, centres


def _classes(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    means = _means(rng)
    X, y, path = [], [], []
    for start in range(0, ROUNDS, EVERY[name]):
        if start > 0:
            moved = means + STEP * rng.standard_normal(means.shape) if name == "drift" else _means(rng)
            means = np.where(np.abs(moved) > SIDE, np.sign(moved) * 2 * SIDE - moved, moved)  # reflected
        path.append(means)
        kept = 0
        while kept < EVERY[name]:
            x, labels = _examples(rng, means)
            X.append(x[: EVERY[name] - kept])
            y.append(labels[: EVERY[name] - kept])
            kept += len(y[-1])
    return np.concatenate(X), np.concatenate(y), np.array(path)


def _means(rng: np.random.Generator) -> np.ndarray:
    """Means (class, component, feature)."""
    return rng.uniform(-SIDE, SIDE, (2, COMPONENTS, 2))


def _examples(rng: np.random.Generator, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw examples; return those of which the Bayes rule is sure, and their labels."""
    which, component = rng.integers(2, size=_DRAWN), rng.integers(COMPONENTS, size=_DRAWN)
    x = np.round(means[which, component] + SPREAD * rng.standard_normal((_DRAWN, 2)), DECIMALS)
    square = ((x[:, None, None] - means) ** 2).sum(-1)
    density = np.exp(-square / (2 * SPREAD**2)).sum(-1)
    labels = 2.0 * which - 1.0
    good = labels * np.log(density[:, 1] / density[:, 0]) >= LEAST_LOG_ODDS
    return x[good], labels[good]


def _numbers(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bumps = rng.random((BUMPS, 3))  # two coordinates and a height, each in [0, 1]
    X, path = [], []
    for start in range(0, ROUNDS, EVERY[name]):
        if start > 0:
            moved = bumps + SHIFT * rng.standard_normal(bumps.shape)
            moved = np.where(moved > 1.0, 2.0 - moved, np.abs(moved))  # reflected
            bumps = moved if name == "drift_numbers" else rng.random(bumps.shape)
        X.append(np.round(UNIT * rng.random((EVERY[name], 2)), DECIMALS))
        path.append(_target(bumps, X[-1]))
    true_values = np.concatenate(path)
    noise = np.clip(NOISE * rng.standard_normal(ROUNDS), -MOST_NOISE, MOST_NOISE)
    return np.concatenate(X), np.round(true_values + noise, DECIMALS), true_values


def _target(bumps: np.ndarray, X: np.ndarray) -> np.ndarray:
    square = ((X[:, None] - UNIT * bumps[:, :2]) ** 2).sum(-1)
    near = np.exp(-square / (2.0 * WIDTH**2))
    heights = LOW + (HIGH - LOW) * bumps[:, 2]
    return np.asarray((near * heights).sum(-1) / near.sum(-1))

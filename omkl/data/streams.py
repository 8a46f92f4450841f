"""The streams of NORMA's experiments, made from a seed: Kivinen, Smola, Williamson (2004), section VI-A.

Two classes, each a mixture of Gaussians in the plane. An example that the Bayes rule misclassifies, or is not
sure of, is replaced by another one. ``drift`` moves the means a little every 10 trials, ``switch`` draws new
means every 1000. The paper gives no numbers; these are ours.
"""

from functools import lru_cache

import numpy as np

from omkl.data.parse import Examples, dense

ROUNDS = 10_000
COMPONENTS = 3  # of each class, equally likely
SIDE = 2.0  # the means stay in [-SIDE, SIDE]^2
SPREAD = 0.5  # standard deviation of a component
STEP = 0.1  # of a mean's every coordinate in a movement of ``drift``
LEAST_LOG_ODDS = 2.0  # for the example's own class
DECIMALS = 6  # beyond rounding errors, so that the stream is the same on every machine
EVERY = {"drift": 10, "switch": 1000}  # trials between two changes
_DRAWN = 64  # examples at a time, of which the first good ones are kept


def generate(name: str, seed: int) -> Examples:
    """Return ROUNDS examples of two features with labels -1 and 1, of the stream ``drift`` or ``switch``."""
    return _generated(name, seed)[0]


def centres(name: str, seed: int) -> np.ndarray:
    """Return the means (change, class, component, feature) of every EVERY[name] trials; classes -1 and 1."""
    return _generated(name, seed)[1]


@lru_cache(maxsize=64)  # all settings of a table run on the same ones, and each takes 60 ms
def _generated(name: str, seed: int) -> tuple[Examples, np.ndarray]:
    rng = np.random.default_rng(seed)
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
    examples = dense(np.concatenate(X), np.concatenate(y))
    for array in (examples.indptr, examples.indices, examples.values, examples.labels):
        array.flags.writeable = False
    return examples, np.array(path)


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

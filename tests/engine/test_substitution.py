"""Forward and back substitution in vector code: the same bits as the loops of the textbook."""

import numpy as np
import pytest

from omkl.engine.gram_matrix import eliminate, substitute


def forward(G, x):
    n, norm2 = len(x), 0.0
    for s in range(n):
        for j in range(s + 1, n):
            x[j] -= x[s] * G[s, j]
    for s in range(n):
        norm2 += x[s] * (x[s] / G[s, s])
        x[s] /= G[s, s]
    return norm2


def back(G, x):
    for s in reversed(range(len(x))):
        for j in range(s):
            x[j] -= x[s] * G[s, j]


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 40, 61])
@pytest.mark.parametrize("zeros", [0.0, 0.5, 0.95])
def test_both_substitutions_are_the_plain_loops_to_the_bit(n, zeros):
    rng = np.random.default_rng(n)
    slots = n + 3  # more than are in use: neither is what lies beyond them read, nor changed
    G = np.full((slots, slots), np.nan)
    lower = np.tril(rng.normal(size=(n, n)), -1) * (rng.random((n, n)) < 0.7)
    G[:n, :n] = lower + lower.T + np.diag(rng.uniform(0.1, 2, n))
    if n > 4:
        G[4, 4] = np.inf  # the vector is in the span of those before it
    x = rng.normal(size=n) * (rng.random(n) >= zeros)
    padded = np.concatenate([x, [np.pi] * 9])
    for own, plain in ((eliminate, forward), (substitute, back)):
        mine, theirs = padded.copy(), x.copy()
        assert own(G, mine[:n]) == plain(G, theirs)
        np.testing.assert_array_equal(mine[:n], theirs)
        np.testing.assert_array_equal(mine[n:], np.pi)

"""Rank-one updates that wait for the next product, and solutions of factored Gram matrices, against numpy."""

import numpy as np
import pytest

from omkl.engine.gram_matrix import factored, solution
from omkl.engine.rank_one import gains, leave


@pytest.mark.parametrize("n", [1, 3, 4, 10, 33])
def test_gains_are_those_of_matrices_updated_at_once(n):
    rng = np.random.default_rng(n)
    P, last, drift = np.stack([0.5 * np.eye(n)] * 3), np.zeros((3, n)), 1e-3
    plain = P.copy()
    for z in rng.normal(size=(20, 3, n)):
        plain += drift * np.eye(n)
        before = P.copy(), last.copy()
        seen = gains(P, last, z, drift, False)
        np.testing.assert_array_equal(P, before[0])
        g = gains(P, last, z, drift, True)
        np.testing.assert_array_equal(seen, g)
        np.testing.assert_array_equal(last, before[1])
        np.testing.assert_allclose(g, np.einsum("ijk,ik->ij", plain, z), atol=1e-12)
        v = (g * z).sum(1) + 0.1
        leave(last, g, v)
        plain -= g[:, :, None] * g[:, None, :] / v[:, None, None]


def test_a_factored_matrix_solves_and_a_vector_in_the_span_gets_no_coefficient():
    X = np.random.default_rng(0).normal(size=(12, 3))
    K = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
    b = np.arange(12.0)
    np.testing.assert_allclose(solution(factored(K), b), np.linalg.solve(K, b), rtol=1e-9)
    twice = np.ones((2, 2))
    np.testing.assert_array_equal(solution(factored(twice), np.array([3.0, 3.0])), [3.0, 0.0])

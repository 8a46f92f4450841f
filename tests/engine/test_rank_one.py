"""Rank-one updates that wait for the next product, and solutions of factored Gram matrices, against numpy."""

import numpy as np
import pytest

from omkl.engine.gram_matrix import factored, solution
from omkl.engine.rank_one import gains, hold, leave
from omkl.engine.rank_three import product_after_change


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


@pytest.mark.parametrize("most", [1, 3, 4, 10, 33])
def test_a_change_that_waits_is_made_with_the_next_product(most):
    """Vectors come one by one; row and column of one that takes another's place begin as 0."""
    rng, K, change = np.random.default_rng(most), np.zeros((most, most)), np.zeros((4, most))
    plain = K.copy()
    for t in range(3 * most):
        n, r = min(t + 1, most), t % most
        z, out = rng.normal(size=n), np.full(n, np.nan)
        before = K.copy(), change.copy()
        product_after_change(K, change, z, out, False)
        np.testing.assert_array_equal(K, before[0])
        np.testing.assert_array_equal(change, before[1])
        seen = out.copy()
        product_after_change(K, change, z, out, True)
        np.testing.assert_array_equal(out, seen)
        np.testing.assert_allclose(out, plain[:n, :n] @ z, atol=1e-10)
        np.testing.assert_allclose(np.tril(K), np.tril(plain), atol=1e-10)
        K[r], K[:, r], plain[r], plain[:, r] = 0.0, 0.0, 0.0, 0.0
        s, g, h = change[:3, :n] = rng.normal(size=(3, n))
        change[3, 0] = 0.9
        whole = slice(0, n)
        plain[whole, whole] += np.outer(s, s) - np.outer(g, h) - np.outer(h, g)
        plain *= 0.9


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_features_that_come_later_count_as_0_before(n):
    rng, most = np.random.default_rng(n), 9
    z = rng.normal(size=(20, 1, most))
    z[:10, :, n:] = 0.0

    def begin(n):
        return np.eye(n)[None].copy(), np.zeros((1, n))

    at_once, (P, last) = begin(most), begin(n)
    for t in range(20):
        if t == 10:
            larger = begin(most)
            larger[0][:, :n, :n], larger[1][:, :n] = P, last
            P, last = larger
        g, same = gains(P, last, z[t, :, : P.shape[1]], 0.0, True), gains(*at_once, z[t], 0.0, True)
        np.testing.assert_allclose(g, same[:, : g.shape[1]], atol=1e-15)
        leave(last, g, np.array([1.0]))
        leave(at_once[1], same, np.array([1.0]))


@pytest.mark.parametrize("keep", [True, False])
def test_more_than_a_matrix_has_is_held(keep):
    """P z is rounding alone: z . g is raised to g_0^2 / p_00, and of a negative product nothing is left."""
    P, last = np.stack([np.eye(2)] * 2), np.array([[0.5, 0.0]] * 2)
    g, drift = np.array([[3.0, 1.0], [1.0, 1.0]]), 0.25
    if keep:
        gains(P, last, np.zeros((2, 2)), drift, True)
    v = np.array([2.0, -1e-9])
    hold(v, P, last, g, drift, keep)
    assert v.tolist() == [9.0, 0.0]
    assert g.tolist() == [[3.0, 1.0], [0.0, 0.0]]


def test_a_factored_matrix_solves_and_a_vector_in_the_span_gets_no_coefficient():
    X = np.random.default_rng(0).normal(size=(12, 3))
    K = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
    b = np.arange(12.0)
    np.testing.assert_allclose(solution(factored(K), b), np.linalg.solve(K, b), rtol=1e-9)
    twice = np.ones((2, 2))
    np.testing.assert_array_equal(solution(factored(twice), np.array([3.0, 3.0])), [3.0, 0.0])

"""Kernels, streams and comparisons for the tests of the naive twins."""

import numpy as np

LINEAR = {"kind": "linear"}
QUADRATIC = {"kind": "polynomial", "degree": 2, "scale": 1.0, "coef0": 0.0}
POOL = [
    *({"kind": "gaussian", "sigma": s} for s in (0.25, 0.5, 1.0, 2.0)),
    *({"kind": "polynomial", "degree": p, "scale": 1.0, "coef0": 0.0} for p in (1, 2, 3)),
    {"kind": "laplacian", "sigma": 1.5},
]
SS = {"beta": 0.5, "delta": 0.2, "sampling": "max", "floor": "delta/m"}
ALL_DRAWN = {"delta": 1.0, "sampling": "max", "floor": "delta"}  # p_i = 1

X4, Y4 = np.array([[1.0], [-1.0], [2.0], [-1.0]]), np.array([1.0, -1, 1, 1])


class Script:
    """Uniform numbers given one by one; `left` must be empty in the end."""

    def __init__(self, *numbers):
        self.left = list(numbers)

    def random(self):
        return self.left.pop(0)


def stream(T=150, d=4, seed=0):
    """Two noisy classes with ten duplicated examples, every second one under the opposite label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=T) > 0, 1.0, -1.0)
    X[-10:] = X[:10]
    y[-10:] = y[:10] * np.tile([1.0, -1.0], 5)
    return X, y


def same(a, b):
    """Same classifiers, round by round."""
    np.testing.assert_array_equal(a.mistakes, b.mistakes)
    np.testing.assert_array_equal(a.stored, b.stored)
    np.testing.assert_array_equal(a.coefficients, b.coefficients)
    np.testing.assert_array_equal(a.combined, b.combined)
    np.testing.assert_allclose(a.scores, b.scores, rtol=0, atol=1e-12)


def expect(result, mistakes, scores, combined, stored, coefficients, n_sv):
    assert result.mistakes.dtype == bool
    assert result.mistakes.astype(int).tolist() == mistakes
    np.testing.assert_allclose(result.scores, scores, rtol=0, atol=1e-15)
    assert result.combined.tolist() == combined
    assert result.stored.tolist() == stored
    assert result.coefficients.tolist() == coefficients
    assert result.n_sv_per_kernel.tolist() == n_sv

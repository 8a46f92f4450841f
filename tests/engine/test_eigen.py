"""Eigenvectors and orthonormal vectors of our own against their definitions and numpy's eigenvalues."""

import numpy as np
import pytest

from omkl.engine.eigen import eigh, orthonormal


def gram(seed: int) -> np.ndarray:
    """The Gram matrix of a Gaussian on random rows; the widest have all but one eigenvalue near rounding."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 160)), int(rng.integers(1, 23))
    X = rng.random((n, d)) * (rng.random((n, d)) < rng.choice([0.2, 0.6, 1.0]))
    if rng.random() < 0.5:
        X = np.round(X, 1)  # equal rows
    sigma = 2.0 ** rng.integers(-6, 7)
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2.0 * sigma**2))


def holds(K: np.ndarray) -> None:
    """K v = lambda v for orthonormal v, eigenvalues in order and as numpy finds them."""
    values, V = eigh(K.copy())
    size = np.abs(K).max() * len(K)
    assert np.abs(V @ K - values[:, None] * V).max() <= 1e-13 * size
    assert np.abs(V @ V.T - np.eye(len(K))).max() < 1e-12
    assert np.all(np.diff(values) >= 0)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K), atol=1e-13 * size, rtol=0)


# The last six did not converge while elements were compared with their neighbours alone.
@pytest.mark.parametrize("seed", [*range(20), 32, 85, 156, 162, 173, 182])
def test_eigh_of_gram_matrices(seed):
    holds(gram(seed))


@pytest.mark.parametrize(
    "K",
    [
        np.array([[2.5]]),
        np.zeros((4, 4)),
        np.eye(5),
        np.ones((6, 6)),
        np.diag([1e-300, 1.0, 1e-20, 3.0]),
        1e200 * np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]),
        1e-200 * np.array([[2.0, -1.0], [-1.0, 2.0]]),
    ],
    ids=["one", "zeros", "unit", "rank one", "graded", "large", "small"],
)
def test_eigh_of_special_matrices(K):
    holds(K)


def test_orthonormal_rows_span_the_rows_they_came_from():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((7, 11))
    rows[3] = rows[2] + 1e-9 * rows[3]  # nearly dependent: one pass of Gram and Schmidt would not do
    made = rows.copy()
    orthonormal(made)
    assert np.abs(made @ made.T - np.eye(7)).max() < 1e-14
    assert np.abs(rows - rows @ made.T @ made).max() < 1e-12

"""scripts/novelty.py: the numbers of its figure, against sums over the digits written out."""

import numpy as np
import pytest
from support import script

from omkl import data

novelty = script("novelty")


def dense(dataset):
    X = np.zeros((dataset.T, dataset.d))
    X[np.repeat(np.arange(dataset.T), np.diff(dataset.indptr)), dataset.indices] = dataset.values
    return X


def kernel(X, Z):
    square = (X**2).sum(1)[:, None] + (Z**2).sum(1) - 2 * X @ Z.T
    return np.exp(-np.maximum(square, 0) / 128)


@pytest.fixture(scope="module")
def drawn(shared_data):
    return novelty.novelties()


def test_usps_novelties(drawn):
    train, test = data.find("usps_train").load(), data.find("usps_test").load()
    X, Z = dense(train), dense(test)
    assert abs(drawn.fraction - 0.01) < 0.003
    assert drawn.fraction == drawn.novelties.size / train.T
    np.testing.assert_array_equal(drawn.first.rows, drawn.novelties[: novelty.SHOWN])
    np.testing.assert_array_equal(drawn.first.images, X[drawn.first.rows])
    assert (drawn.first.scores < 0).all()
    # f at the end: eta_t = 1 / sqrt(t) of each novelty, times (1 - 0.01 eta) of every later round
    eta = 1 / np.sqrt(np.arange(train.T) + 1)
    shrunk = np.cumprod((1 - 0.01 * eta)[::-1])[::-1]
    a = eta[drawn.novelties] * np.append(shrunk, 1.0)[drawn.novelties + 1]
    rho = 1 + 0.01 * eta.sum() - eta[drawn.novelties].sum()
    for panel, Y in ((drawn.train, X), (drawn.test, Z)):
        score = kernel(Y, X[drawn.novelties]) @ a - rho
        np.testing.assert_allclose(panel.scores, np.sort(score)[: novelty.SHOWN], atol=1e-9)
        np.testing.assert_allclose(score[panel.rows], panel.scores, atol=1e-9)
        np.testing.assert_array_equal(panel.images, Y[panel.rows])


def test_late_novelties_are_rarer_digits_than_early_ones(drawn):
    """As the paper says of its panel: at first even well-formed digits are novel, later unusual ones."""
    X = dense(data.find("usps_train").load())
    density = kernel(X[drawn.novelties], X).mean(1)
    rank = np.searchsorted(np.sort(kernel(X[::10], X).mean(1)), density) / len(X[::10])
    assert np.median(rank[30:]) < 0.07 < np.median(rank[:10])

"""Vectors that belong to few kernels are summed one by one: the same bits as the sums of whole tiles."""

import numpy as np
import pytest
from support.engine_cases import COSINE, MIXED, csr_of

from omkl.config import pool
from omkl.engine.expansion import _add_contributions, begin_block, make_expansion, reserve
from omkl.engine.kernel_sums import belong_to_few
from omkl.engine.kernels import make_pool
from omkl.engine.open_block import n_rows
from omkl.engine.stream import make_stream

pytestmark = pytest.mark.slow

N, ROWS, D = 100, 75, 6
NARROW = {"kernels": [{"kind": "gaussian", "sigma": 4.0 / 2**k} for k in range(12)]}  # some vanish
MANY = {"kernels": [{"kind": "gaussian", "gamma": 0.1 * k} for k in range(1, 71)]}  # more than bits


def filled(given, classes, share):
    """An expansion of N vectors that a share of the kernels has stored, with an open block of ROWS rows."""
    rng, m = np.random.default_rng(1), len(given["kernels"])
    X = rng.normal(size=(N + ROWS, D))
    E = make_expansion(make_pool(given["kernels"], given.get("normalise", "none")), D, ROWS, classes)
    E = reserve(E, N, N * D, D)
    stored = rng.random((m, N)) < share
    E.A[:] = rng.normal(size=(m, N)) * stored
    for j in range(N):
        E.kernel_mask[j] = sum({1 << int(i) % 64 for i in np.flatnonzero(stored[:, j])})
    E.indptr[:] = np.arange(N + 1) * D
    E.indices[:], E.values[:] = np.tile(np.arange(D), N), X[:N].ravel()
    E.norm2[:] = (X[:N] ** 2).sum(1)
    E.n_sv_union[:], E.n_sv_sum[:], E.n_sv[:] = N, stored.sum(), stored.sum(1)
    if classes is not None:
        E.class_of[:] = rng.integers(0, classes - 1, (m + 1, N))
        E.class_of[-1] = classes - 1
    stream = make_stream(*csr_of(X[N:]), np.ones(ROWS), np.arange(ROWS), classes or 2)
    begin_block(E, stream, 0)
    E.tracked[::2] = True
    return E


def sums(E, few):
    """F and G of the block's rows, 16 stored vectors at a time."""
    used = E.n_sv.copy()
    E.n_sv[:] = 1 if few else E.n_sv_union[0]  # all that the choice depends on
    assert belong_to_few(E) == few
    E.scores[:] = E.abs_scores[:] = 0.0
    for start in range(0, N, 30):
        _add_contributions(E, E.tile, start, min(N, start + 30), 8 * (start > 50), n_rows(E.open))
    E.n_sv[:] = used
    return E.scores[:, :ROWS].copy(), E.abs_scores[:, :ROWS].copy()


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("classes", [None, 3])
@pytest.mark.parametrize("given", [pool("paper16"), MIXED, COSINE, NARROW, MANY])
def test_the_bits_are_those_of_the_tiles(given, classes, share):
    E = filled(given, classes, share)
    few, whole = sums(E, True), sums(E, False)
    assert few[0].any()
    assert few[1].any()
    np.testing.assert_array_equal(few[0], whole[0])
    np.testing.assert_array_equal(few[1], whole[1])

"""Kernel values from tables, on data of whole numbers: the same bits as computed ones."""

import numpy as np
import pytest
from support.engine_cases import case_stream, dataset
from support.whole_numbers import KERNELS, NEVER, component_outputs, engine_outputs

from omkl.engine.expansion import forget_all
from omkl.engine.lookup import BINARY, LIMIT, NO, WHOLE
from omkl.engine.open_block import close

MORE = [
    *KERNELS,
    {"kind": "matern32", "sigma": 1.5},
    {"kind": "rational_quadratic", "sigma": 1.0, "alpha": 0.5},
    {"kind": "polynomial", "degree": 2, "coef0": 1.0, "scale": 0.1},
    {"kind": "polynomial", "degree": 4, "coef0": 1.0, "scale": 0.1},
]


def rows(T, d, values=(0, 1), share=0.3, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.choice(values, (T, d)) * (rng.random((T, d)) < share)
    return X.astype(float), rng.choice([-1.0, 1.0], T)


def both(X, y, kernels=MORE, block=32):
    """The expansion that looked values up; its outputs are those of one that computed them, bit for bit."""
    steps = np.random.default_rng(1).choice([1.0, 0.1], len(y))
    F, E = engine_outputs(X, y, steps, kernels, block)
    computed, other = engine_outputs(X, y, steps, kernels, block, NEVER)
    np.testing.assert_array_equal(F, computed)
    np.testing.assert_array_equal(E.A[:, : E.n_sv_union[0]], other.A[:, : other.n_sv_union[0]])
    assert other.tables.block[0] == NO
    return E


@pytest.mark.parametrize("d", [5, 63, 64, 65, 300])
def test_rows_of_0_and_1_are_counted(d):
    E = both(*rows(150, d))
    assert E.tables.block[0] == BINARY
    assert E.bits.shape[1] == -(-d // 64)


@pytest.mark.parametrize(("values", "d"), [((0, 1, 2, 5), 9), ((0, 1), 600), ((0, 1, 3), 600)])
def test_other_whole_numbers_and_many_columns_have_tables_as_well(values, d):
    E = both(*rows(150, d, values, 12 / d if d > 100 else 0.7))
    assert E.tables.block[0] == (BINARY if values == (0, 1) else WHOLE)


def test_a_sparse_row_of_many_columns_is_not_counted():
    """Counting 8 words for each pair would take longer than the products of 3 columns."""
    E = both(*rows(150, 500, share=0.006))
    assert 2 * E.bits.shape[1] * E.n_sv_union[0] > E.indptr[E.n_sv_union[0]]


@pytest.mark.parametrize("other", [0.5, -1.0, 40.0, np.nextafter(1.0, 2.0)])
def test_one_other_value_ends_it(other):
    """Not a whole number, a negative one, one too far away, and one next to 1, in the middle of a block."""
    X, y = rows(200, 20)
    X[101, 7] = other
    E = both(X, y)
    assert E.tables.block[0] == NO
    E = both(X[:96], y[:96])
    assert E.tables.block[0] == BINARY


def test_and_so_does_a_polynomial_that_overflows():
    """0 times infinity is not 0: the values of vectors that a kernel has not stored must not be added."""
    X, y = rows(96, 20, (0, 1, 5))
    with np.errstate(all="ignore"):
        steps = np.ones(len(y))
        kernels = [{"kind": "gaussian", "sigma": 1.0}, {"kind": "polynomial", "degree": 1000}]
        F, E = engine_outputs(X, y, steps, kernels, 32)
        computed, _ = engine_outputs(X, y, steps, kernels, 32, NEVER)
    assert E.tables.block[0] == NO
    np.testing.assert_array_equal(F, computed)


def test_lines_are_computed_as_larger_distances_come():
    X, y = rows(160, 12)
    X[100:] *= 5.0
    E = both(X, y)
    assert E.tables.block[0] == WHOLE
    assert 12 * 25 < E.tables.lines[0] <= LIMIT + 1


def test_there_are_lines_for_rows_that_are_stored_in_the_block_itself():
    """They can be twice as far apart as a row of the block and one stored before."""
    X = np.zeros((128, 80))
    X[:96, :6] = rows(96, 6)[0]
    X[96:, :11] = 1.0
    E = both(X, rows(128, 1)[1])
    assert E.tables.lines[0] > 2 * 11


def test_what_was_stored_is_forgotten_with_the_vectors():
    X, y = rows(192, 40)
    data = dataset(X[96:], y[96:])
    E = engine_outputs(X[:96], y[:96], np.ones(96), MORE, 32)[1]
    close(E.open)
    forget_all(E)
    F = np.zeros((96, len(MORE)))
    component_outputs(case_stream(data), E, np.ones(96), F)
    np.testing.assert_array_equal(F, engine_outputs(X[96:], y[96:], np.ones(96), MORE, 32, NEVER)[0])
    assert E.tables.block[0] == BINARY


def test_a_pool_of_many_kernels_or_of_one():
    X, y = rows(120, 40)
    many = [{"kind": "gaussian", "sigma": 0.3 * 1.1**i} for i in range(30)]
    for kernels in (many, many[:1], [{"kind": "linear"}]):
        assert both(X, y, kernels).tables.block[0] == BINARY

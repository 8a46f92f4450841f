"""Blocks of sparse rows with many columns: in lists, every dot product has the bits of rows side by side."""

import dataclasses

import numpy as np
import pytest
from support.engine_cases import COSINE, MIXED, assert_same, dataset, fresh_learner, sparse, state, traced

from omkl.data import Dataset
from omkl.engine.expansion import make_expansion, reserve
from omkl.engine.kernels import make_pool
from omkl.engine.open_block import dot_products, fill_block, in_lists
from omkl.engine.stream import make_stream

LEARNERS = ("omkc_dd", "omkc_ss", "om2", "perceptron_u", "bomkc_spa", "bomkc_rbp", "bomkc_bpas", "lasvm")


def wide(values: str, T: int = 400, classes: int = 2) -> Dataset:
    """Rows of 20 among 20,000 columns, each twice or more, so that outputs cancel."""
    data = sparse(T, 20_000, 20)
    rng = np.random.default_rng(1)
    kept = rng.integers(0, T // 3, T)  # of which rows these are copies
    indices = data.indices.reshape(T, 20)[kept].ravel()
    numbers = data.values.reshape(T, 20)[kept].ravel()
    numbers = {"real": numbers, "binary": np.ones(T * 20), "whole": np.ceil(np.abs(numbers))}[values]
    y = rng.choice([-1.0, 1.0], T) if classes == 2 else rng.integers(0, classes, T).astype(float)
    return dataclasses.replace(data, indices=indices, values=numbers, y=y)


def one_pass(name, data, block, classes=2, pool=MIXED):
    """A learner after one pass, with its trace, and whether its last block was laid out in lists."""
    learner = fresh_learner(name, pool, data.d, block=block, rounds=data.T, classes=classes)
    stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T), classes)
    trace, _ = learner.run(stream)
    return traced(trace), state(learner), bool(in_lists(learner.classifiers.open))


@pytest.mark.parametrize("values", ["real", "binary", "whole"])
@pytest.mark.parametrize("name", LEARNERS)
def test_lists_change_no_bit(name, values):
    data = wide(values)
    *one, listed = one_pass(name, data, 128)
    *other, listed_too = one_pass(name, data, 1)
    assert (listed, listed_too) == (True, False)
    for mine, theirs in zip(one, other, strict=True):
        assert_same(mine, theirs, "in lists, and side by side")


@pytest.mark.parametrize(("name", "pool"), [("omkc_dd", COSINE), ("bomkc_rbp", MIXED)])
def test_lists_change_no_bit_of_three_classes(name, pool):
    data = wide("real", classes=3)
    *one, listed = one_pass(name, data, 128, 3, pool)
    *other, listed_too = one_pass(name, data, 1, 3, pool)
    assert (listed, listed_too) == (True, False)
    for mine, theirs in zip(one, other, strict=True):
        assert_same(mine, theirs, "in lists, and side by side")


@pytest.mark.parametrize(("low", "high"), [(0, 128), (0, 8), (40, 48), (64, 128)])
def test_each_product_is_the_sum_over_the_vector_s_non_zeros(low, high):
    data = wide("real", T=200)
    E = reserve(make_expansion(make_pool([{"kind": "linear"}]), data.d), data.T, data.nnz, 20)
    E.indptr[: data.T + 1], E.indices[: data.nnz], E.values[: data.nnz] = (
        data.indptr,
        data.indices,
        data.values,
    )
    fill_block(E.open, make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T)), 72)
    assert in_lists(E.open)
    dots = np.full((8, 128), np.nan)
    dot_products(E, E.open.rows, low, high, 90, 8, dots)
    rows = [dict(zip(*part, strict=True)) for part in parts_of(data)]
    for j in range(8):
        for r in range(low, high):
            theirs = rows[72 + r] if 72 + r < data.T else {}
            expected = 0.0
            for column, value in rows[90 + j].items():
                expected += value * theirs.get(column, 0.0)
            assert dots[j, r - low] == expected


def parts_of(data: Dataset) -> list[tuple[list[int], list[float]]]:
    bounds = [slice(*data.indptr[t : t + 2]) for t in range(data.T)]
    return [(data.indices[at].tolist(), data.values[at].tolist()) for at in bounds]


def test_rows_that_share_their_columns_are_laid_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 600)) * (rng.random((200, 600)) < 0.3)
    assert not one_pass("omkc_dd", dataset(X, rng.choice([-1.0, 1.0], 200)), 128)[2]


def test_room_for_lists_grows_with_the_rows():
    """First short rows in many columns, then long ones, and columns beyond the first ones' number."""
    learner = fresh_learner("omkc_dd", MIXED, 2_000, block=128)
    whole = fresh_learner("omkc_dd", MIXED, 2_000, block=1)
    for seed, per_row in ((0, 3), (1, 40), (2, 5)):
        data = sparse(150, 2_000, per_row, seed)
        stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T))
        mine, theirs = (one.run(stream)[0] for one in (learner, whole))
        assert_same(traced(mine), traced(theirs))
    assert in_lists(learner.classifiers.open)

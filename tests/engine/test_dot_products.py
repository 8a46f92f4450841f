"""Dot products of dense and sparse rows have the bits of one plain sum over the non-zeros, in their order."""

from collections import namedtuple

import numpy as np
import pytest

from omkl.engine.lanes import LANES
from omkl.engine.open_block import dot_products, make_block
from omkl.engine.records import Record

ROWS = 64 + 32 + LANES  # lanes are summed 64, 32 and LANES at once


class Stored(Record, namedtuple("Stored", "indptr indices values open")):
    """What they take of an Expansion."""


@pytest.mark.parametrize(("d", "share"), [(60, 1.0), (60, 0.8), (60, 0.1), (20, 1.0)])
def test_bits_are_those_of_the_plain_sum(d: int, share: float) -> None:
    rng = np.random.default_rng(0)
    stored = rng.normal(size=(LANES * 2 + 3, d)) * (rng.random((LANES * 2 + 3, d)) < share)
    examples = rng.normal(size=(LANES + ROWS, d)) * (rng.random((LANES + ROWS, d)) < share)
    columns = [np.flatnonzero(x).astype(np.int32) for x in stored]
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate(columns)
    values = np.concatenate([x[used] for x, used in zip(stored, columns, strict=True)])
    order = rng.permutation(d)  # where a column lies in the block; the last is absent from it
    slot = np.zeros(d, np.int32)
    slot[order[:-1]] = np.arange(1, d)
    rows = np.zeros((d, LANES + ROWS))
    rows[slot] = examples.T
    rows[0] = 0.0

    dots = np.full((len(stored) + 1, ROWS), np.nan)
    E = Stored(indptr, indices, values, make_block(d, ROWS, ROWS)._replace(slot=slot))
    dot_products(E, rows, LANES, LANES + ROWS, 1, len(stored) - 1, dots)

    for j, x in enumerate(stored[1:]):
        for r in range(ROWS):
            total = 0.0
            for k in np.flatnonzero(x):
                total += x[k] * rows[slot[k], LANES + r]
            assert dots[j, r] == total
    assert np.isnan(dots[len(stored) - 1 :]).all()

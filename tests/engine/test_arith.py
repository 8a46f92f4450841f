"""The engine's exp against the C library's, and its fused multiply-add."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from omkl.engine.lanes import EXP_ZERO, exp_neg, exp_neg_normal, exponentials, fma

SMALLEST_NORMAL = np.finfo(float).tiny
SUBNORMAL = 5e-324


@njit
def _exps(x, out):
    for i in range(x.size):
        out[i] = exp_neg(x[i])


@njit
def _normal_exps(x, out):
    for i in range(x.size):
        out[i] = exp_neg_normal(x[i])


@njit
def _fmas(a, b, c, out):
    for i in range(a.size):
        out[i] = fma(a[i], b[i], c[i])


def over(loop, *arrays):
    """A compiled loop's results: vector code, as in the engine."""
    arrays = [np.ascontiguousarray(a, dtype=float) for a in arrays]
    out = np.empty(arrays[0].size)
    loop(*arrays, out)
    return out


def assert_close_to_libm(x):
    ours, theirs = over(_exps, x), np.array([math.exp(v) for v in x])
    normal = theirs >= SMALLEST_NORMAL
    assert (np.abs(ours - theirs)[normal] <= np.spacing(theirs[normal])).all()
    # below the normal range: gradual, one unit of 2**-1074 at most, and 0 where the C library gives 0
    assert (np.abs(ours - theirs)[~normal] <= SUBNORMAL).all()
    assert (ours[theirs == 0] == 0).all()
    assert (ours >= 0).all()


def test_dense_grid_from_0_to_far_below_underflow():
    assert_close_to_libm(-np.linspace(0, 800, 400_001))
    assert_close_to_libm(-np.logspace(-320, 2.9, 100_000))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.floats(-800, 0), min_size=1, max_size=40))
def test_any_negative_number(x):
    assert_close_to_libm(np.array(x))


def test_special_values():
    x = [0.0, -0.0, -math.inf, -1e300, -800.0, -1e6, -(2.0**-1074)]
    np.testing.assert_array_equal(over(_exps, x), [1, 1, 0, 0, 0, 0, 1])


def test_the_border_of_zero_is_the_c_librarys():
    border = np.array([EXP_ZERO])
    for _ in range(50):
        border = np.append(np.nextafter(border[0], -np.inf), border)
        border = np.append(border, np.nextafter(border[-1], 0))
    theirs = np.array([math.exp(v) for v in border])
    assert (theirs == 0).any()
    assert (theirs == SUBNORMAL).any()
    np.testing.assert_array_equal(over(_exps, border)[theirs == 0], 0)
    assert_close_to_libm(np.linspace(-746, -708, 100_001))
    ours = over(_exps, np.linspace(-745.1, -708.4, 10_001))
    assert (ours > 0).all()
    assert (np.diff(ours) >= 0).all()


def test_the_short_form_gives_the_same_bits_above_minus_700():
    x = np.concatenate([-np.random.default_rng(0).random(200_000) * 700, [-0.0, 0.0, -699.999999, -1e-300]])
    np.testing.assert_array_equal(over(_exps, x), over(_normal_exps, x))


def test_a_value_does_not_depend_on_its_neighbours():
    """Vector loop, its remainder, and a single value: the same bits."""
    x = -np.random.default_rng(1).random(37) * 740
    together = over(_exps, x)
    for n in range(1, 38):
        np.testing.assert_array_equal(over(_exps, x[:n]), together[:n])
    assert [over(_exps, [v])[0] for v in x] == together.tolist()


@pytest.mark.parametrize("normal", [False, True])
def test_many_at_once_have_the_bits_of_each_alone(normal):
    given = np.random.default_rng(2).random(37) * (460 if normal else 600)
    given[5] = given[20] = 0.0
    alone = over(_exps, -1.5 * given)
    assert (alone == 0).any() != normal
    for n in range(38):
        out = np.full(37, np.nan)
        exponentials(-1.5, given, n, normal, out)
        np.testing.assert_array_equal(out[:n], alone[:n])
        assert np.isnan(out[n:]).all()
        place = given.copy()
        exponentials(-1.5, place, n, normal, place)
        np.testing.assert_array_equal(place, np.append(alone[:n], given[n:]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(*[st.floats(-1e100, 1e100).filter(lambda v: v == 0 or abs(v) > 1e-100)] * 3)
def test_fused_multiply_add_rounds_once(a, b, c):
    assert over(_fmas, [a], [b], [c])[0] == float(Fraction(a) * Fraction(b) + Fraction(c))


def test_fused_multiply_add_is_not_two_roundings():
    a = 1 + 2.0**-30
    assert over(_fmas, [a], [a], [-a * a])[0] == pytest.approx(2.0**-60)

"""Lanes: each operation is the plain loop over them to the bit, at all widths; registers of processors."""

import os
import subprocess
import sys
from fractions import Fraction

import numba
import numpy as np
import pytest
from support import ROOT

from omkl.engine.lanes import (
    LANES,
    absolute,
    bits_of,
    count_ones,
    exchanged,
    fma,
    item,
    load,
    number_of,
    numbers_in_registers,
    store,
    sum_onto,
    where,
    zeros,
)


@numba.njit
def _every_operation(zero, A, N, number, out, whole):
    """One line of `out` (numbers) or `whole` for each operation on the lanes A[1:4, 2:] and N[:2, 1:]."""
    a, b, c = load(zero, A, (1, 2)), load(zero, A, (np.int32(2), np.uint64(2))), load(zero, A, (3, 2))
    n, k = load(zero, N, (0, 1)), load(zero, N, (1, 1))
    store(a + b, out, (0, 0))
    store(a - number, out, (1, 0))
    store(number * a * 2, out, (2, 0))
    store(fma(a, b, c), out, (3, 0))
    store(fma(number, b, 1), out, (4, 0))
    store(absolute(a), out, (5, 0))
    store(where(a > b, a, 0.0), out, (6, 0))
    store(where((a < b) | ((c == 0.0) & (b > 0)), number, c), out, (7, 0))
    store(number_of(bits_of(a)), out, (8, 0))
    a += b
    a -= c
    a *= number
    store(zero + a, out, (9, 0))
    store(n + k, whole, (0, 0))
    store((n - 3) * k, whole, (1, 0))
    store((n << 2) + (k >> 1), whole, (2, 0))
    store(where(n < k, n, number), whole, (3, 0))
    store(bits_of(b), whole, (4, 0))
    store(item(N, (1, 1)), whole, (5, 0))
    store(item(N, (0, 1)), out, (10, 0))  # a number, and as the array has it
    return sum_onto(number, c)


@numba.njit
def _at_1(*given):
    return _every_operation(zeros(1), *given)


@numba.njit
def _at_2(*given):
    return _every_operation(zeros(2), *given)


@numba.njit
def _at_4(*given):
    return _every_operation(zeros(4), *given)


@numba.njit
def _at_8(*given):
    return _every_operation(zeros(8), *given)


@pytest.mark.parametrize(("width", "at"), [(1, _at_1), (2, _at_2), (4, _at_4), (8, _at_8)])
def test_every_operation_is_the_plain_loop_to_the_bit(width, at):
    rng = np.random.default_rng(width)
    A = rng.normal(size=(4, 2 + width)) * 10.0 ** rng.integers(-9, 9, (4, 2 + width))
    A[1, 2], A[2, 2], A[3, -1] = -0.0, np.nan, 0.0
    N, number = rng.integers(-99, 99, (2, 1 + width)), 0.1
    out, whole = np.zeros((11, width)), np.zeros((6, width), np.int64)
    total = at(A, N, number, out, whole)
    a, b, c = A[1:, 2:]
    n, k = N[:, 1:]
    fused = np.array([fused_by_number(*lane) for lane in zip(a, b, c, strict=True)])
    onto_1 = np.array([fused_by_number(number, lane, 1.0) for lane in b])
    pairs = (a < b) | ((c == 0) & (b > 0))
    expected = [a + b, a - number, number * a * 2, fused, onto_1, np.abs(a), np.where(a > b, a, 0.0)]
    expected += [np.where(pairs, number, c), a, 0.0 + (a + b - c) * number]
    np.testing.assert_array_equal(out[:10].view(np.int64), np.array(expected).view(np.int64))
    assert out[10, 0] == n[0]
    expected = [n + k, (n - 3) * k, (n << 2) + (k >> 1), np.where(n < k, n, 0), b.view(np.int64)]
    np.testing.assert_array_equal(whole[:5], np.array(expected))
    assert whole[5, 0] == k[0]
    plain = number
    for lane in c:
        plain += lane
    assert total == plain


def fused_by_number(a, b, c):
    """a * b + c of numbers with one rounding, in exact fractions."""
    if not np.isfinite([a, b, c]).all():
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


@numba.njit
def _exchange_and_count(A, out):
    a, b = load(zeros(8), A, (0, 0)), load(zeros(8), A, (1, 0))
    a, b = exchanged(a, b, 2)
    store(a, out, (0, 0))
    store(b, out, (1, 0))
    return count_ones(np.uint64(0b1011))


def test_exchanged_blocks_and_counted_bits():
    A, out = np.arange(16.0).reshape(2, 8), np.zeros((2, 8))
    assert _exchange_and_count(A, out) == 3
    np.testing.assert_array_equal(out, [[0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]])


@numba.njit
def _other_than_allowed(A):
    return load(zeros(4), A[:, 1], 0)


def test_an_array_that_is_not_contiguous_is_refused():
    with pytest.raises(numba.TypingError, match="load"):
        _other_than_allowed(np.zeros((4, 4)))


@numba.njit(boundscheck=True)
def _checked(A, at):
    return sum_onto(0.0, load(zeros(4), A, at))


def test_indices_are_checked_where_numba_checks_them():
    assert _checked(np.ones(6), 2) == 4
    with pytest.raises(IndexError):
        _checked(np.ones(6), 3)


@pytest.mark.parametrize(
    ("features", "numbers"),
    [
        ("+avx,+avx2,+avx512f,+fma", 256),
        ("+avx,+avx2,-avx512f,+fma", 64),
        ("+fp-armv8,+neon", 64),
        ("+sse2,-avx", 32),
        ("", 32),
    ],
)
def test_registers_of_processors(features, numbers):
    assert numbers_in_registers(features) == numbers
    assert numbers % LANES == 0


@pytest.mark.skipif(os.environ.get("OMKL_SLOW") != "1", reason="compiles the sums again: set OMKL_SLOW=1")
def test_the_sums_of_a_processor_with_fewer_registers_equal_the_formulas_too(tmp_path):
    tests = [f"tests/engine/test_{name}.py" for name in ("dot_products", "kernel_sums", "lookup", "pool")]
    environment = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse4.2,+avx,+avx2,+fma,+popcnt"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests],
        env={**os.environ, **environment, "OMKL_CACHE": str(tmp_path), "OMKL_SLOW": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]

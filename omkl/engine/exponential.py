"""exp of numbers that are not positive: most of what a kernel value costs.

One function serves numbers and lanes, and so gives the same bits. Nothing in it branches: LLVM makes vectors
of a loop over it.
"""

from functools import partial

from omkl.engine.arith import MAGIC, MAGIC_BITS
from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.lanes import bits_of, fma, number_of, where

# exp(x) is exactly 0 below this, as in the C library (round to nearest: half of the smallest subnormal).
EXP_ZERO = -745.1332191019412
# From here on every argument gives 0 without being computed: a product that underflows costs several others,
# and a larger negative argument would overflow the integer part.
FLOOR = -746.0
NORMAL = -700.0  # above it no result is subnormal

_LOG2E = 1.4426950408889634
_LN2_HI = 6.93147180369123816490e-01  # fdlibm's split: 32 bits, so that n * _LN2_HI is exact
_LN2_LO = 1.90821492927058770002e-10


# exp(r) = 1 + r + r**2 q(r), |r| <= ln 2 / 2, q interpolating at ten Chebyshev nodes: relative error 1.6e-17.
_inlined = partial(compiled_without_refcounts, inline="always")


@_inlined
def _parts(x):
    """(exp(r), n) of x = n ln 2 + r, n a whole number."""
    shifted = fma(x, _LOG2E, MAGIC)
    integer = shifted - MAGIC
    r = fma(integer, -_LN2_LO, fma(integer, -_LN2_HI, x))
    p = fma(2.510038549551032e-08, r, 2.7620088445409746e-07)
    p = fma(p, r, 2.7557268459997064e-06)
    p = fma(p, r, 2.4801521295954376e-05)
    p = fma(p, r, 0.00019841269863053618)
    p = fma(p, r, 0.0013888888917213717)
    p = fma(p, r, 0.008333333333330062)
    p = fma(p, r, 0.04166666666662413)
    p = fma(p, r, 0.16666666666666669)
    p = fma(p, r, 0.5000000000000001)
    p = fma(p, r, 1.0)
    return fma(p, r, 1.0), bits_of(shifted) - MAGIC_BITS


@_inlined
def _power_of_two(n):
    return number_of((n + 1023) << 52)


@compiled_without_refcounts
def exp_neg_normal(x):
    """exp_neg(x), the same bits, for NORMAL < x <= 0: there one exact factor serves."""
    p, n = _parts(x)
    return p * _power_of_two(n)


@compiled_without_refcounts
def exp_neg(x):
    """exp(x) of a number or lanes <= 0, within 1 ulp where it is normal, with gradual underflow to exactly 0.

    The power of two comes in two factors: the first product is exact and the second rounds once, also into
    the subnormals.
    """
    inside = x > FLOOR
    p, n = _parts(where(inside, x, 0.0))
    half = n >> 1
    return where(inside, p * _power_of_two(half) * _power_of_two(n - half), 0.0)


@compiled_without_refcounts
def exponentials(factor, given, count, normal, out):
    """out[q] = exp(factor given[q]), q < count, of numbers <= 0; normal: above NORMAL. out may be given."""
    if normal:
        for q in range(count):
            out[q] = exp_neg_normal(factor * given[q])
    else:
        for q in range(count):
            out[q] = exp_neg(factor * given[q])

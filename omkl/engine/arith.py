"""Arithmetic that numba does not offer: a sin and cos that vectorise.

Also what stands in loops of nearly every learner for numpy's `any` and `max`: a process that loads compiled
code with these imports much of scipy first, which takes a quarter of a second.

Nothing in the engine is compiled with fastmath. Where a fused multiply-add pays it is written as one, so
that every value is the same whatever loop, block or vector width it is computed in.
"""

import numpy as np
from numba import njit

from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.lanes import fma

MAGIC = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, held in the low bits
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))


@compiled_without_refcounts
def any_of(values):
    """Whether any of these values (n,) is not 0."""
    count = 0
    for i in range(values.size):
        count += values[i] != 0.0
    return count > 0


@compiled_without_refcounts
def largest_of(values):
    """The largest of at least one value (n,)."""
    largest = values[0]
    for i in range(1, values.size):
        largest = max(largest, values[i])
    return largest


_TWO_OVER_PI = 0.6366197723675814
_PIO2_HI = 1.5707963267948966
_PIO2_LO = 6.123233995736766e-17
_PIO2_REST = -1.4973849048591833e-33  # matters where x is next to a multiple of pi / 2


@njit(cache=True, inline="always")
def sincos(x):
    """sin(x) and cos(x) for |x| <= 1e5, within 1 ulp: fdlibm's polynomials on [-pi/4, pi/4].

    Branch-free, so that a loop over it becomes vector code.
    """
    shifted = fma(x, _TWO_OVER_PI, MAGIC)
    n = np.float64(shifted).view(np.int64) - MAGIC_BITS
    whole = shifted - MAGIC
    r = fma(whole, -_PIO2_LO, fma(whole, -_PIO2_HI, x))
    r = fma(whole, -_PIO2_REST, r)
    q = r * r
    s = 1.58969099521155010221e-10
    s = fma(s, q, -2.50507602534068634195e-08)
    s = fma(s, q, 2.75573137070700676789e-06)
    s = fma(s, q, -1.98412698298579493134e-04)
    s = fma(s, q, 8.33333333332248946124e-03)
    s = fma(s, q, -1.66666666666666324348e-01)
    s = fma(s * q, r, r)
    c = -1.13596475577881948265e-11
    c = fma(c, q, 2.08757232129817482790e-09)
    c = fma(c, q, -2.75573143513906633035e-07)
    c = fma(c, q, 2.48015872894767294178e-05)
    c = fma(c, q, -1.38888888888741095749e-03)
    c = fma(c, q, 4.16666666666666019037e-02)
    c = fma(c * q, q, fma(-0.5, q, 1.0))
    odd = (n & 1) != 0
    sine, cosine = (c if odd else s), (s if odd else c)
    return (-sine if (n & 2) != 0 else sine), (-cosine if ((n + 1) & 2) != 0 else cosine)

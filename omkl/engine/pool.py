"""Kernels as functions of (dot product, squared distance), and the plan by which a pool evaluates them.

A pool of m kernels becomes a *plan*: the order in which the kernels are evaluated and how each follows
from the one before it. Gaussians are ordered from wide to narrow; where one width is half of another,
kappa_{sigma/2} = kappa_sigma ** 4 costs two squarings instead of an exp. Such a ladder restarts after
``MAX_SQUARINGS`` squarings, so that its relative error stays below 1e-12.
"""

import math
from collections import namedtuple

import numpy as np
from numba import njit

from omkl.engine.arith import EXP_ZERO

LADDER_ERROR = 2e-12
MAX_SQUARINGS = 12  # each squaring doubles the relative error: 2**12 (exp 2**-53, rounding 2**-53) = 9e-13

GAUSSIAN, LAPLACIAN, POLYNOMIAL = 0, 1, 2

# kind (m,) int8      which of the three constants above
# rate (m,) float64   gamma of a Gaussian, 1/sigma of a Laplacian, scale of a polynomial
# coef0 (m,) float64  the polynomial's additive constant
# degree (m,) int64   the polynomial's degree
# order (m,) int64    the kernels in order of evaluation
# chain (m,) int64    per place in that order: -1 starts afresh, s >= 0 continues from the value before it:
#                     s squarings for a Gaussian, s further factors for a polynomial
# group_end (m,) int64   per place: first place after the chain it belongs to
# cosine (1,) bool    divide by sqrt(kappa(x, x) kappa(x', x'))
Pool = namedtuple("Pool", "kind rate coef0 degree order chain group_end cosine")


def make_pool(kernels: list[dict], normalise: str = "none") -> Pool:
    """Return the evaluation plan of a list of kernels.

    kernels: mappings as in conf/pool: ``{kind: gaussian, sigma|gamma}``, ``{kind: laplacian, sigma}``,
    ``{kind: linear}``, ``{kind: polynomial, degree, scale, coef0}``. normalise: ``none`` or ``cosine``.
    """
    m = len(kernels)
    kind = np.zeros(m, np.int8)
    rate = np.ones(m)
    coef0 = np.zeros(m)
    degree = np.ones(m, np.int64)
    for i, kernel in enumerate(kernels):
        match kernel["kind"]:
            case "gaussian":
                kind[i] = GAUSSIAN
                rate[i] = kernel["gamma"] if "gamma" in kernel else 1.0 / (2.0 * kernel["sigma"] ** 2)
            case "laplacian":
                kind[i] = LAPLACIAN
                rate[i] = 1.0 / kernel["sigma"]
            case "linear" | "polynomial":
                kind[i] = POLYNOMIAL
                rate[i] = kernel.get("scale", 1.0)
                coef0[i] = kernel.get("coef0", 0.0)
                degree[i] = kernel.get("degree", 1)
            case other:
                raise ValueError(f"unknown kernel kind {other!r}")
    families = (kind, rate, coef0, degree)
    order = sorted(range(m), key=lambda i: _place(families, i))
    chain = np.full(m, -1, np.int64)
    squarings = 0
    for place in range(1, m):
        step = _step(families, order[place - 1], order[place])
        if step >= 0 and kind[order[place]] == GAUSSIAN:
            step = step if squarings + step <= MAX_SQUARINGS else -1
            squarings = squarings + step if step >= 0 else 0
        else:
            squarings = 0
        chain[place] = step
    ends = [next((q for q in range(p + 1, m) if chain[q] < 0), m) for p in range(m)]
    cosine = np.array([normalise == "cosine"])
    return Pool(kind, rate, coef0, degree, np.array(order), chain, np.array(ends), cosine)


def _place(families: tuple, i: int) -> tuple:
    """Sort key: Gaussians from wide to narrow, Laplacians, then polynomials by base and degree."""
    kind, rate, coef0, degree = (values[i] for values in families)
    if kind == POLYNOMIAL:
        return (kind, float(rate), float(coef0), int(degree))
    return (kind, float(rate), 0.0, 0)


def _step(families: tuple, before: int, after: int) -> int:
    """How kernel ``after`` continues from kernel ``before``: squarings or factors, -1 where it cannot."""
    kind, rate, coef0, degree = families
    if kind[before] != kind[after]:
        return -1
    if kind[after] == GAUSSIAN:
        mantissa, exponent = np.frexp(rate[after] / rate[before])
        power = int(exponent) - 1
        exact = mantissa == 0.5 and rate[before] * 2.0**power == rate[after]
        return power if exact and 0 <= power <= 4 else -1
    if kind[after] == POLYNOMIAL and rate[before] == rate[after] and coef0[before] == coef0[after]:
        return int(degree[after] - degree[before])
    return -1


@njit(cache=True)
def plain(gaussian, rate, square):
    """A Gaussian, or else a Laplacian, by its definition, with the C library's exp."""
    exponent = -rate * (square if gaussian else math.sqrt(square))
    return math.exp(exponent) if exponent > EXP_ZERO - 1e-9 else 0.0


@njit(cache=True)
def plain_cosine(scale, coef0, degree, dot, self_j, self_r):
    """kappa(x, x') / sqrt(kappa(x, x) kappa(x', x')) of a polynomial kappa; 0 where a self-kernel is 0."""
    across, own_j, own_r = scale * dot + coef0, scale * self_j + coef0, scale * self_r + coef0
    power, power_j, power_r = across, own_j, own_r
    for _ in range(degree - 1):
        power, power_j, power_r = power * across, power_j * own_j, power_r * own_r
    product = power_j * power_r
    return power / math.sqrt(product) if product > 0.0 else 0.0


@njit(cache=True)
def own_values(pool, norm2):
    """kappa_i(x, x) (m,) of an example with this squared norm."""
    own = np.ones(pool.kind.size)
    for i in range(own.size):
        if pool.kind[i] == POLYNOMIAL:
            base = pool.rate[i] * norm2 + pool.coef0[i]
            if pool.cosine[0]:
                own[i] = 1.0 if base > 0.0 else 0.0
            else:
                for _ in range(pool.degree[i]):
                    own[i] *= base
    return own

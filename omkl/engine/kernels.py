"""The kinds of kernels that the engine knows itself, what it may assume of each kind, and pools of kernels.

gaussian             exp(-rate s), rate = 1 / (2 sigma^2) = gamma
laplacian            exp(-rate sqrt(s)), rate = 1 / sigma
matern32             (1 + u) exp(-u), u = rate sqrt(s), rate = sqrt(3) / sigma
rational_quadratic   (1 + rate s)^-shape, rate = 1 / (2 alpha sigma^2), shape = alpha
periodic             exp(-shape sin(rate sqrt(s))^2), rate = pi / period, shape = 2 / length^2
polynomial           (rate x.x' + shape)^degree, rate = scale, shape = coef0; linear is x.x'

s = ||x - x'||^2. Throughout: form = (kind, rate, shape, degree, whether it is divided for cosine), the
constants of one kernel. Every other kernel is called by address: called_kernels.py.

A shortcut is taken only where what it rests on is said of the kind, by one of these functions:

of_distance   the value is a function of s alone, positive, at most 1, and 1 at s = 0: |f| is then at most the
              sum of the coefficients, or that of the terms (ties.py); values are looked up by s (lookup.py).
              The fast value `values_of_squares` is within VALUE_ERROR of the definition `plain`; where this
              error could decide a sign, the definitions are summed
falls         it never rises with s: what vanishes at the nearest vector vanishes at all of them, and no term
              beyond `reach` can change a sum
is_exact      the value computed is the definition, and a sum the plain one. Of a kernel that is called
              nothing more is said; a polynomial is a function of the dot product, by which it is looked up

To add a kind here: its parameters in KINDS, its number below, its constants in `constants`, what may be
assumed, and its line in `plain`, `values_of_squares`, `decay`, and, if it falls, `reach`. The contract of
tests/engine/test_pool.py then compares it with its plain formula.
"""

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from omkl.engine.called_kernels import CALLED, called_kernel
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.lanes import EXP_ZERO, FLOOR, NORMAL, exp_neg, exponentials, sincos
from omkl.engine.records import Record

# The parameters of each kind: (domain, default), None where it must be given; of those in EITHER exactly one.
# Plain literals: omkl/config/domains.py reads them without importing this module, since numba takes 0.3 s.
KINDS = {
    "gaussian": {"sigma": ("[1e-150, 1e150]", None), "gamma": ("(0, inf)", None)},
    "polynomial": {
        "degree": ("int [1, 1000]", None),  # computed by that many products
        "scale": ("(0, inf)", 1.0),
        "coef0": ("[0, inf)", 0.0),
    },
    "linear": {},
    "laplacian": {"sigma": ("[1e-150, 1e150]", None)},
    "matern32": {"sigma": ("[1e-150, 1e150]", None)},
    "rational_quadratic": {"sigma": ("[1e-100, 1e100]", None), "alpha": ("[1e-3, 1e6]", 1.0)},
    "periodic": {"period": ("[1e-100, 1e100]", None), "length": ("[1e-100, 1e100]", 1.0)},
}
EITHER = {"gaussian": ["sigma", "gamma"]}

GAUSSIAN, LAPLACIAN, POLYNOMIAL, MATERN32, RATIONAL_QUADRATIC, PERIODIC = range(CALLED)

VALUE_ERROR = 2e-12  # relative error of a fast value of any kind against the plain one; a ladder's is 9e-13
MAX_SQUARINGS = 12  # each squaring doubles the relative error: 2**12 (exp 2**-53, rounding 2**-53) = 9e-13
_SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy
_ZERO = EXP_ZERO - 1e-9  # below this exponent exp is 0 in the fast and in the plain definition


def constants(kernel: dict) -> tuple[int, float, float, int]:
    """Return (number of the kind, rate, shape, degree) of a kernel as conf/pool writes it.

    Any other kind is called by address.
    """
    match kernel["kind"]:
        case "gaussian":
            rate = kernel["gamma"] if "gamma" in kernel else 1.0 / (2.0 * kernel["sigma"] ** 2)
            return GAUSSIAN, rate, 0.0, 1
        case "laplacian":
            return LAPLACIAN, 1.0 / kernel["sigma"], 0.0, 1
        case "matern32":
            return MATERN32, math.sqrt(3.0) / kernel["sigma"], 0.0, 1
        case "rational_quadratic":
            alpha = kernel["alpha"]
            return RATIONAL_QUADRATIC, 1.0 / (2.0 * alpha * kernel["sigma"] ** 2), alpha, 1
        case "periodic":
            return PERIODIC, math.pi / kernel["period"], 2.0 / kernel["length"] ** 2, 1
        case "linear" | "polynomial":
            return POLYNOMIAL, kernel.get("scale", 1.0), kernel.get("coef0", 0.0), kernel.get("degree", 1)
    return CALLED, 0.0, 0.0, 1


# ------------------------------------------------------------------ a ladder: kernels that follow from others


def sort_key(kind: int, rate: float, shape: float, degree: int) -> tuple:
    """Sort key of a kernel: kinds apart, Gaussians from wide to narrow, polynomials by base and degree.

    Polynomials come last, since they are computed in the room of the squared distances.
    """
    return (kind == POLYNOMIAL, kind, float(rate), float(shape), int(degree))


def chain_step(before: tuple, after: tuple) -> int:
    """Return how a kernel follows from the one before it, both as ``constants`` says; -1 where it does not.

    A Gaussian of half the width is the fourth power of the wider: the number of squarings. A polynomial of
    the same base has further factors: their number.
    """
    (kind, rate, shape, degree), (other, wider, base, lower) = after, before
    if kind != other:
        return -1
    if kind == GAUSSIAN:
        mantissa, exponent = np.frexp(rate / wider)
        power = int(exponent) - 1
        exact = mantissa == 0.5 and wider * 2.0**power == rate
        return power if exact and 0 <= power <= 4 else -1
    if kind == POLYNOMIAL and (rate, shape) == (wider, base):
        return int(degree - lower)
    return -1


# ------------------------------------------------------------------ what may be assumed


@compiled
def of_distance(kind):
    """Whether a kernel is a positive function of the squared distance, 1 at x = x' and nowhere above."""
    return kind != POLYNOMIAL and kind != CALLED


@compiled
def is_exact(kind, cosine):
    """Whether the values computed are the definition's, so that a sum of them is the plain one."""
    return kind == CALLED or (kind == POLYNOMIAL and not cosine)


@compiled
def falls(kind):
    """Whether such a kernel never rises with the distance."""
    return kind != PERIODIC


# ------------------------------------------------------------------ functions of a squared distance


@compiled
def plain(form, square):
    """The kernel by its definition, with the C library's functions: what decides where signs are in doubt."""
    kind, rate, shape = form[:3]
    if kind == RATIONAL_QUADRATIC:
        return math.pow(1.0 + rate * square, -shape)
    if kind == PERIODIC:
        sine = math.sin(rate * math.sqrt(square))
        exponent = -shape * (sine * sine)
    else:
        exponent = -rate * (square if kind == GAUSSIAN else math.sqrt(square))
    if not exponent > _ZERO:
        return 0.0
    return (1.0 - exponent) * math.exp(exponent) if kind == MATERN32 else math.exp(exponent)


@compiled
def decay(form, square):
    """-log of the kernel's value."""
    kind, rate, shape = form[:3]
    if kind == RATIONAL_QUADRATIC:
        return shape * math.log1p(rate * square)
    if kind == PERIODIC:
        return shape * math.sin(rate * math.sqrt(square)) ** 2
    exponent = rate * (square if kind == GAUSSIAN else math.sqrt(square))
    return exponent - math.log1p(min(exponent, 1e300)) if kind == MATERN32 else exponent


@compiled
def vanishes(form, square):
    """Whether the kernel's value is exactly 0 from this squared distance on."""
    return falls(form[0]) and -decay(form, square) < _ZERO


@compiled
def reach(form, level):
    """A squared distance from which on `decay` is at least this level; infinite where there is none."""
    kind, rate, shape = form[:3]
    if not falls(kind):
        return np.inf
    if kind == RATIONAL_QUADRATIC:
        return math.expm1(min(level / shape, 700.0)) / rate if level < 700.0 * shape else np.inf
    if kind == MATERN32:  # u - log(1 + u) is at least the level at u = level + 2 log(2 + level)
        level = level + 2.0 * math.log(2.0 + max(level, 0.0))
    distance = level / rate
    return distance if kind == GAUSSIAN else distance * distance


@compiled
def all_vanish(form, largest, square, rows):
    """Whether the kernel is 0 at every squared distance square[r], r < rows; none is above `largest`."""
    if not vanishes(form, largest):
        return False
    near, bound = 0, reach(form, -FLOOR)
    for r in range(rows):
        near += not square[r] >= bound
    return near == 0


@compiled
def values_of_squares(form, largest, square, rows, out):
    """out[r] <- the kernel at squared distance square[r], r < rows; none is above `largest`.

    One plain loop for each kind, which LLVM turns into vector code, before exp of all.
    """
    kind, rate, shape = form[:3]
    if kind == GAUSSIAN:
        exponentials(-rate, square, rows, rate * largest < -10.0 - NORMAL, out)
        return
    if kind == RATIONAL_QUADRATIC:
        for r in range(rows):
            out[r] = -shape * math.log1p(rate * square[r])
    elif kind == PERIODIC:
        _sines(rate, square, rows, out)
        for r in range(rows):
            out[r] = -shape * (out[r] * out[r])
    else:
        for r in range(rows):
            out[r] = -rate * np.sqrt(square[r])
    if kind != MATERN32:
        exponentials(1.0, out, rows, False, out)
        return
    for r in range(rows):
        u = min(-out[r], 800.0)  # exp(-800) is 0
        out[r] = (1.0 + u) * exp_neg(-u)


@compiled
def _sines(rate, square, rows, out):
    """out[r] <- sin(rate sqrt(square[r])), within an ulp of the C library's."""
    for r in range(rows):
        out[r], _ = sincos(rate * np.sqrt(square[r]))
    for r in range(rows):
        if not rate * np.sqrt(square[r]) <= _SINCOS_LIMIT:
            out[r] = math.sin(rate * math.sqrt(square[r]))


# ------------------------------------------------------------------ functions of the dot product


@compiled
def polynomial(form, dot):
    """(scale dot + coef0)^degree, by products from left to right."""
    _, scale, coef0, degree = form[:4]
    base = scale * dot + coef0
    power = base
    for _ in range(degree - 1):
        power *= base
    return power


@compiled
def plain_cosine(form, dot, self_j, self_r):
    """kappa(x, x') / sqrt(kappa(x, x) kappa(x', x')) of a polynomial kappa; 0 where a self-kernel is 0."""
    power, product = polynomial(form, dot), polynomial(form, self_j) * polynomial(form, self_r)
    return power / math.sqrt(product) if product > 0.0 else 0.0


# ------------------------------------------------------------------ of either


@compiled
def value(form, dot, norm2, other_norm2):
    """kappa of two vectors from their dot product and squared norms, by its definition."""
    if of_distance(form[0]):
        distance = norm2 + other_norm2 - 2.0 * dot
        return plain(form, distance if distance > 0.0 else 0.0)
    return plain_cosine(form, dot, norm2, other_norm2) if form[4] else polynomial(form, dot)


@compiled
def own_value(form, norm2):
    """kappa(x, x) of an example with this squared norm; with cosine 1, or 0 where kappa(x, x) is 0."""
    if of_distance(form[0]):
        return 1.0
    if form[4]:
        return 1.0 if form[1] * norm2 + form[2] > 0.0 else 0.0
    return polynomial(form, norm2)


# ------------------------------------------------------------------ a pool of m kernels
# A pool is a plan: the order of evaluation, and how each kernel follows from the one before it. Gaussians are
# ordered from wide to narrow; where one width is half of another, kappa_{sigma/2} = kappa_sigma^4 costs two
# squarings instead of an exp. Such a ladder restarts after ``MAX_SQUARINGS`` squarings, so that its relative
# error stays below 1e-12.


class Pool(
    Record, namedtuple("Pool", "kind rate shape degree order chain group_end cosine called pointer numbers")
):
    """The plan of a pool's evaluation.

    kind (m,) int8, rate, shape (m,) float64, degree (m,) int64   the kernels' constants
    order (m,) int64    the kernels in order of evaluation
    chain (m,) int64    per place in that order: -1 starts afresh, s >= 0 continues from the value before it:
                        s squarings for a Gaussian, s further factors for a polynomial
    group_end (m,) int64   per place: first place after the chain it belongs to
    cosine (1,) bool    divide by sqrt(kappa(x, x) kappa(x', x'))
    called (1,) bool    whether some kernel is called by address: called_kernels.py
    pointer (m, 2) int64    to the loop over rows of such a kernel
    numbers (m, 2) int64    address and count of its numbers

    The numbers live as long as the Pool, in its attribute ``kept``. A Pool holds in its own process alone.
    """


def make_pool(kernels: list[dict], normalise: str = "none") -> Pool:
    """Return the evaluation plan of a list of kernels.

    kernels: mappings as in conf/pool, such as ``{kind: gaussian, sigma: 2.0}``. normalise: ``none`` or
    ``cosine``, which divides polynomials by the root of their values at both vectors.
    """
    m = len(kernels)
    of = [constants(kernel) for kernel in kernels]
    order = sorted(range(m), key=lambda i: sort_key(*of[i]))
    chain = np.full(m, -1, np.int64)
    squarings = 0
    for at in range(1, m):
        further = chain_step(of[order[at - 1]], of[order[at]])
        ladder = further >= 0 and of_distance(of[order[at]][0])
        if ladder and squarings + further > MAX_SQUARINGS:
            ladder, further = False, -1
        squarings = squarings + further if ladder else 0
        chain[at] = further
    ends = [next((q for q in range(p + 1, m) if chain[q] < 0), m) for p in range(m)]
    kind, rate, shape, degree = (np.array(values) for values in zip(*of, strict=True))
    pointer, numbers = np.zeros((m, 2), np.int64), np.zeros((m, 2), np.int64)
    kept: dict[str, np.ndarray] = {}
    for i in np.flatnonzero(kind == CALLED):
        pointer[i], values = called_kernel(kernels[i], normalise == "cosine")
        values = kept.setdefault(f"{kernels[i]}", values)  # copies of a kernel share them
        numbers[i] = values.ctypes.data, values.size
    made = Pool(
        kind.astype(np.int8),
        rate.astype(np.float64),
        shape.astype(np.float64),
        degree.astype(np.int64),
        np.array(order),
        chain,
        np.array(ends),
        np.array([normalise == "cosine"]),
        np.array([bool((kind == CALLED).any())]),
        pointer,
        numbers,
    )
    vars(made)["kept"] = kept
    return made


def prepare_kernels(kernels: Sequence[Mapping[str, Any]], normalise: str) -> None:
    """Compile those of these kernels that are called, or load them. Raises UserError as `called_kernel`."""
    for kernel in kernels:
        if constants(dict(kernel))[0] == CALLED:
            called_kernel(kernel, normalise == "cosine")


@compiled_without_refcounts
def form_of(pool, i):
    """The constants of kernel i, as the functions above take them."""
    return pool.kind[i], pool.rate[i], pool.shape[i], pool.degree[i], pool.cosine[0]


@compiled_without_refcounts
def pool_value(pool, i, dot, norm2, other_norm2):
    """kappa_i of two vectors from their dot product and squared norms, by its definition; none is called."""
    return value(form_of(pool, i), dot, norm2, other_norm2)


@compiled
def own_values(pool, norm2):
    """kappa_i(x, x) (m,) of an example with this squared norm; 0 of kernels that are called."""
    values = np.empty(pool.kind.size)
    for i in range(values.size):
        values[i] = own_value(form_of(pool, i), norm2) if pool.kind[i] != CALLED else 0.0
    return values

"""A linear kernel alone, x . x' or x . x' + 1: f(x) = v . x + b costs as much as one stored vector.

For learners that use the sign of f alone. Its last digits differ from those of the sum over the stored
vectors, which decides wherever rounding could change the sign: the same mistakes, and the same vectors.
"""

import math
from collections import namedtuple

import numpy as np

from omkl.engine.expansion import add, append, outputs
from omkl.engine.jit import compiled
from omkl.engine.kernels import POLYNOMIAL, polynomial
from omkl.engine.pool import form_of
from omkl.engine.stream import row

_ROUNDING = 4.5e-16  # of each addition in v, in v . x and in the sum over the stored vectors
_TINY = 1e-290  # near the subnormals relative errors mean nothing

Primal = namedtuple("Primal", "v x b absolute")
Primal.__doc__ = """The weight vector of an Expansion whose only kernel is linear.

v (d,)         sum_j a_j x_j; without elements where the Expansion has other kernels, or more than two classes
x (d,)         scratch; 0
b (2,)         the constant c of the kernel x . x' + c, and c sum_j a_j
absolute (1,)  sum_j |a_j| ||[x_j; sqrt(c)]||
"""


@compiled
def is_linear(E):
    """Whether the only kernel of an Expansion is x . x' + c, c >= 0, for two classes."""
    return E.classes is None and is_linear_pool(E.pool)


@compiled
def is_linear_pool(pool):
    """Whether that is the only kernel of a pool."""
    if pool.kind.size > 1 or pool.cosine[0]:
        return False
    return pool.kind[0] == POLYNOMIAL and pool.rate[0] == 1.0 and pool.degree[0] == 1


@compiled
def primal(E):
    """Return the Primal of an Expansion as it is."""
    d = E.open.slot.size if is_linear(E) else 0
    P = Primal(np.zeros(d), np.zeros(d), np.zeros(2), np.zeros(1))
    P.b[0] = E.pool.shape[0]
    for j in range(E.size[0] if d > 0 else 0):
        _add_vector(P, E, j)
    return P


@compiled
def _add_vector(P, E, j):
    """v <- v + a_j x_j."""
    a = E.A[0, j]
    for k in range(E.indptr[j], E.indptr[j + 1]):
        P.v[E.indices[k]] += a * E.values[k]
    P.b[1] += a * P.b[0]
    P.absolute[0] += abs(a) * math.sqrt(E.norm2[j] + P.b[0])


@compiled
def signed_outputs(E, P, stream, t):
    """f (m,) as `outputs` returns it; by P's weights, if it has some, up to rounding that changes no sign."""
    if P.v.size == 0:
        return outputs(E, stream, t)
    start, stop = row(stream, t)
    f = P.b[1]
    for k in range(start, stop):
        f += P.v[stream.indices[k]] * stream.values[k]
    terms = E.size[0] + stop - start + 1
    error = _ROUNDING * terms * P.absolute[0] * math.sqrt(_norm2(stream, t) + P.b[0])
    if E.size[0] > 0 and not abs(f) > max(error, _TINY):
        f = _plain_sum(E, P.x, stream, t)
    E.f[0] = f
    return E.f


@compiled
def _norm2(stream, t):
    """The squared norm of example t."""
    start, stop = row(stream, t)
    norm2 = 0.0
    for k in range(start, stop):
        norm2 += stream.values[k] * stream.values[k]
    return norm2


@compiled
def _plain_sum(E, x, stream, t):
    """f(x_t) as the sum over the stored vectors, in the order in which they were stored."""
    start, stop = row(stream, t)
    for k in range(start, stop):
        x[stream.indices[k]] = stream.values[k]
    f = 0.0
    for j in range(E.size[0]):
        dot = 0.0
        for k in range(E.indptr[j], E.indptr[j + 1]):
            dot += E.values[k] * x[E.indices[k]]
        f += E.A[0, j] * polynomial(form_of(E.pool, 0), dot)
    for k in range(start, stop):
        x[stream.indices[k]] = 0.0
    return f


@compiled
def add_to_both(E, P, stream, t, a):
    """Store example t with coefficients a (m,), as `add` does, and keep P's weights up to date."""
    if P.v.size == 0:
        add(E, stream, t, a)
    else:
        append(E, stream, t, _norm2(stream, t), a)
        _add_vector(P, E, E.size[0] - 1)

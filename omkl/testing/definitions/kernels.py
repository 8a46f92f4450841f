"""Kernel functions of one example against a whole stream, summed feature by feature from left to right.

Conventions: ||x - x'||^2 = n_x + n_x' - 2 x.x', clipped at 0; the three inner products are summed in the same
order, so equal vectors are at distance exactly 0. exp underflows to exactly 0; it and powers are the C
library's, since numpy's differ in the last place, and between machines.
"""

import math
from collections import Counter
from functools import cache

import numpy as np


@cache
def libm():
    """(exp, power, sin) of the C library, number by number."""
    from numba import vectorize

    exp, sin = (
        vectorize(["float64(float64)"])(one) for one in (lambda x: math.exp(x), lambda x: math.sin(x))
    )
    return exp, vectorize(["float64(float64, float64)"])(lambda x, a: math.pow(x, a)), sin


def inner(X, z):
    """Inner products (T,) of the rows of X (T, d) with z (d,), left to right (a zero adds nothing)."""
    total = np.zeros(len(X))
    for j in np.flatnonzero(z):
        total = total + X[:, j] * z[j]
    return total


def squared_norms(X):
    """Inner product (T,) of each row of X (T, d) with itself, in the order of `inner`."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        total = total + X[:, j] * X[:, j]
    return total


def kernel(k, xz, nx, nz, X=None, z=None):
    """One kernel k from the inner product x.z and the squared norms of x and z.

    X (T, d), z (d,): the vectors, for kernels of features one by one.
    """
    exp, power, sin = libm()
    squared_distance = np.maximum(nx + nz - 2 * xz, 0.0)
    if k["kind"] == "gaussian" and "gamma" in k:
        return exp(-k["gamma"] * squared_distance)
    if k["kind"] == "gaussian":
        return exp(-(1 / (2 * k["sigma"] ** 2)) * squared_distance)
    if k["kind"] == "laplacian":
        return exp(-(1 / k["sigma"]) * np.sqrt(squared_distance))
    if k["kind"] == "matern32":
        u = np.sqrt(3.0) / k["sigma"] * np.sqrt(squared_distance)
        return (1.0 + u) * exp(-u)
    if k["kind"] == "rational_quadratic":
        return power(1.0 + 1 / (2 * k["alpha"] * k["sigma"] ** 2) * squared_distance, -k["alpha"])
    if k["kind"] == "periodic":
        sine = sin(np.pi / k["period"] * np.sqrt(squared_distance))
        return exp(-(2 / k["length"] ** 2) * (sine * sine))
    if k["kind"] == "linear":
        return xz + np.zeros_like(nx)
    if k["kind"] == "polynomial":
        base = k.get("scale", 1.0) * xz + k.get("coef0", 0.0)
        product = base
        for _ in range(int(k["degree"]) - 1):
            product = product * base
        return product
    if k["kind"] == "sigmoid":
        return np.array([math.tanh(k["scale"] * v + k["coef0"]) for v in np.ravel(xz)]).reshape(np.shape(xz))
    if k["kind"] == "cosine":
        square = nx * nz
        return np.where(square > 0, xz / np.sqrt(np.where(square > 0, square, 1.0)), 0.0)
    if k["kind"] == "tanimoto":
        union = nx + nz - xz
        return np.where(union > 0, xz / np.where(union > 0, union, 1.0), 1.0)
    if k["kind"] == "locally_periodic":
        sine = sin(np.pi / k["period"] * np.sqrt(squared_distance))
        return exp(-2 / k["length"] ** 2 * (sine * sine) - squared_distance / (2 * k["sigma"] ** 2))
    return of_rows(k, X, z)


OF_PRODUCTS = {
    *("gaussian", "laplacian", "matern32", "rational_quadratic", "periodic", "linear", "polynomial"),
    *("sigmoid", "cosine", "tanimoto", "locally_periodic"),
}


def of_products(k):
    """Whether a kernel is a function of the inner product and the squared norms."""
    return all(map(of_products, k["kernels"])) if "kernels" in k else k["kind"] in OF_PRODUCTS


def of_rows(k, X, z):
    """A kernel of features one by one, (T,) of the rows of X (T, d) with z (d,), from left to right."""
    exp, _, sin = libm()

    def summed(terms):
        return np.cumsum(np.column_stack([np.zeros(len(X)), terms]), axis=1)[:, -1]  # one by one

    if k["kind"] == "intersection":
        return summed(np.minimum(X, z))
    if k["kind"] == "jaccard":
        shared, whole = summed(np.minimum(X, z)), summed(np.maximum(X, z))
        return np.where(whole > 0, shared / np.where(whole > 0, whole, 1.0), 1.0)
    if k["kind"] == "chi2":
        both = np.where(X + z > 0, X + z, 1.0)
        return exp(-k["gamma"] * summed(np.where(X + z > 0, (X - z) ** 2 / both, 0.0)))
    if k["kind"] == "ard":
        return exp(-summed(((X - z) / k["scales"]) ** 2) / (2 * k["sigma"] ** 2))
    if k["kind"] == "periodic_each":
        return exp(-2 * summed(sin(np.pi * (X - z) / k["period"]) ** 2) / k["length"] ** 2)
    if k["kind"] == "bounded":
        with np.errstate(divide="ignore", over="ignore"):
            counted = 1.0 / (1.0 / ((X - z) * (X - z)) + 0.5 / k["length"] ** 2)
        return exp(-summed(counted) / (2 * k["sigma"] ** 2))
    if k["kind"] == "spectrum":
        return np.array([float(shared_runs(letters(x), letters(z), k["k"])) for x in X])
    return called(k, X, z)


def letters(x):
    """The letters of a text: the values of a row that are not 0."""
    return x[x != 0].tolist()


def shared_runs(text, other, k):
    """How many pairs of places of two texts begin the same k letters."""
    runs = Counter(tuple(text[i : i + k]) for i in range(len(text) - k + 1))
    others = Counter(tuple(other[i : i + k]) for i in range(len(other) - k + 1))
    return sum(count * others[run] for run, count in runs.items())


@cache
def _compiled(function):
    from numba import njit

    return njit(function)


def called(k, X, z):
    """A kernel of a user's folder, by its own function, pair by pair."""
    from omkl.engine.called_kernels import PRODUCTS, arguments_of, function_of

    function = function_of(k["kind"])
    form, names = arguments_of(function, "")
    given = [np.array(k[name]) if isinstance(k[name], list) else k[name] for name in names]
    one, rows = _compiled(function), [(np.flatnonzero(x).astype(np.int32), x[x != 0]) for x in [*X, z]]
    if form == PRODUCTS:
        norms = squared_norms(np.asarray([*X, z]))
        return np.array([one(xz, n, norms[-1], *given) for xz, n in zip(inner(X, z), norms, strict=False)])
    return np.array([one(*rows[-1], *row, *given) for row in rows[:-1]], dtype=float)


_SELF: dict = {}  # of the last vectors


def self_values(k, n, X):
    """kappa(x, x) (T,) of the rows of X (T, d), whose squared norms are n (T,)."""
    if _SELF.get("X") is not X:
        _SELF.clear()
        _SELF["X"] = X
    if repr(k) not in _SELF:
        pairs = zip(n[:, None], X[:, None], strict=True)
        _SELF[repr(k)] = np.array([kernel(k, norm, norm, norm[0], x, x[0])[0] for norm, x in pairs])
    return _SELF[repr(k)]


def cosine(k, xz, nx, nz, X=None, z=None):
    """kappa(x, z) / sqrt(kappa(x, x) kappa(z, z)), and 0 where a self-kernel is 0."""
    if of_products(k):
        product = kernel(k, nx, nx, nx) * kernel(k, nz, nz, nz)
    else:
        norm = np.array([nz])
        product = self_values(k, nx, X) * kernel(k, norm, norm, nz, z[None], z)[0]
    value = kernel(k, xz, nx, nz, X, z)
    return np.where(product > 0, value / np.sqrt(np.where(product > 0, product, 1.0)), 0.0)


def pool_rows(X, kernels, normalise="none"):
    """Function t -> (m, T): kernel i of example t with every example of X (T, d)."""
    X = np.asfortranarray(X, dtype=np.float64)
    n = squared_norms(X)
    one = {"none": kernel, "cosine": cosine}[normalise]

    def rows(t):
        xz = inner(X, X[t])
        return np.array([one(k, xz, n, n[t], X, X[t]) for k in kernels])

    return rows

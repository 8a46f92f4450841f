"""Kernel functions of one example against a whole stream, summed feature by feature from left to right.

Conventions: ||x - x'||^2 = n_x + n_x' - 2 x.x', clipped at 0; the three inner products are summed in the same
order, so equal vectors are at distance exactly 0. exp underflows to exactly 0; it and powers are the C
library's, since numpy's differ in the last place, and between machines.
"""

import math
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


def kernel(k, xz, nx, nz):
    """One kernel k from the inner product x.z and the squared norms of x and z."""
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
    raise ValueError(f"unknown kernel kind {k['kind']!r}")


def cosine(k, xz, nx, nz):
    """kappa(x, z) / sqrt(kappa(x, x) kappa(z, z)), and 0 where a self-kernel is 0."""
    product = kernel(k, nx, nx, nx) * kernel(k, nz, nz, nz)
    return np.where(product == 0, 0.0, kernel(k, xz, nx, nz) / np.sqrt(np.where(product == 0, 1.0, product)))


def pool_rows(X, kernels, normalise="none"):
    """Function t -> (m, T): kernel i of example t with every example of X (T, d)."""
    X = np.asfortranarray(X, dtype=np.float64)
    n = squared_norms(X)
    one = {"none": kernel, "cosine": cosine}[normalise]

    def rows(t):
        xz = inner(X, X[t])
        return np.array([one(k, xz, n, n[t]) for k in kernels])

    return rows


def mean_rows(X, kernels, normalise="none"):
    """Function t -> (1, T): the mean kernel (1/m) sum_i kappa_i, summed in pool order."""
    rows = pool_rows(X, kernels, normalise)

    def mean(t):
        total = 0.0
        for row in rows(t):
            total = total + row
        return np.array([total / len(kernels)])

    return mean

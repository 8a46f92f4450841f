"""Kernel functions of one example against a whole stream, summed feature by feature from left to right.

Conventions: ||x - x'||^2 = n_x + n_x' - 2 x.x', clipped at 0; the three inner products are summed in the same
order, so equal vectors are at distance exactly 0. exp underflows to exactly 0.
"""

import math

import numpy as np


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
    squared_distance = np.maximum(nx + nz - 2 * xz, 0.0)
    if k["kind"] == "gaussian" and "gamma" in k:
        return np.exp(-k["gamma"] * squared_distance)
    if k["kind"] == "gaussian":
        return np.exp(-squared_distance / (2 * k["sigma"] ** 2))
    if k["kind"] == "laplacian":
        return np.exp(-np.sqrt(squared_distance) / k["sigma"])
    if k["kind"] == "matern32":
        u = np.sqrt(3.0) / k["sigma"] * np.sqrt(squared_distance)
        return (1.0 + u) * np.exp(-u)
    if k["kind"] == "rational_quadratic":
        return np.power(1.0 + 1 / (2 * k["alpha"] * k["sigma"] ** 2) * squared_distance, -k["alpha"])
    if k["kind"] == "linear":
        return xz + np.zeros_like(nx)
    if k["kind"] == "polynomial":
        base = k.get("scale", 1.0) * xz + k.get("coef0", 0.0)
        power = base
        for _ in range(int(k["degree"]) - 1):
            power = power * base
        return power
    raise ValueError(f"unknown kernel kind {k['kind']!r}")


def cosine(k, xz, nx, nz):
    """kappa(x, z) / sqrt(kappa(x, x) kappa(z, z)), and 0 where a self-kernel is 0."""
    product = kernel(k, nx, nx, nx) * kernel(k, nz, nz, nz)
    return np.where(product == 0, 0.0, kernel(k, xz, nx, nz) / np.sqrt(np.where(product == 0, 1.0, product)))


def one_value(k, dot, n, nt):
    """`kernel` of one pair, in Python's arithmetic."""
    if k["kind"] in ("linear", "polynomial"):
        base = k.get("scale", 1.0) * dot + k.get("coef0", 0.0)
        power = base
        for _ in range(k.get("degree", 1) - 1):
            power = power * base
        return power
    square = max(n + nt - 2 * dot, 0.0)
    if k["kind"] == "gaussian":
        return math.exp(-(k["gamma"] if "gamma" in k else 1 / (2 * k["sigma"] ** 2)) * square)
    if k["kind"] == "laplacian":
        return math.exp(-(1 / k["sigma"]) * math.sqrt(square))
    if k["kind"] == "matern32":
        u = math.sqrt(3.0) / k["sigma"] * math.sqrt(square)
        return (1.0 + u) * math.exp(-u)
    if k["kind"] == "rational_quadratic":
        return math.pow(1.0 + 1 / (2 * k["alpha"] * k["sigma"] ** 2) * square, -k["alpha"])
    raise ValueError(f"unknown kernel kind {k['kind']!r}")


def one_cosine(k, dot, n, nt):
    """`cosine` of one pair, in Python's arithmetic; a kernel of the distance is 1 at x = x'."""
    if k["kind"] not in ("linear", "polynomial"):
        return one_value(k, dot, n, nt)
    both = one_value(k, n, n, n) * one_value(k, nt, nt, nt)
    return one_value(k, dot, n, nt) / math.sqrt(both) if both > 0 else 0.0


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

"""Kernel perceptrons on an Expansion, for data of whole numbers, with and without tables of kernel values."""

import numpy as np
from numba import njit

from omkl.engine.conventions import is_mistake
from omkl.engine.expansion import add, make_expansion, outputs, reserve
from omkl.engine.kernels import make_pool
from omkl.testing.cases import case_stream, dataset

KERNELS = [
    {"kind": "gaussian", "sigma": 4.0},
    {"kind": "gaussian", "sigma": 2.0},
    {"kind": "gaussian", "sigma": 1.0},
    {"kind": "gaussian", "sigma": 0.25},
    {"kind": "gaussian", "gamma": 0.3},
    {"kind": "laplacian", "sigma": 0.5},
    {"kind": "laplacian", "sigma": 8.0},
    {"kind": "linear"},
    {"kind": "polynomial", "degree": 3},
]


NEVER = 10**9


@njit
def component_outputs(stream, E, steps, F):
    """Kernel perceptrons with steps[t] instead of 1; F (T, m) what each put out in each round."""
    for t in range(stream.T):
        y = stream.y[t]
        f = outputs(E, stream, t)
        a = np.zeros(f.size)
        for i in range(f.size):
            F[t, i] = f[i]
            if is_mistake(y, f[i]):
                a[i] = steps[t] * y
        if a.any():
            add(E, stream, t, a)


def engine_outputs(X, y, steps, kernels, block, worth=1):
    """Also the expansion; worth: stored vectors from which on kernel values are looked up in tables."""
    data = dataset(X, y)
    E = make_expansion(make_pool(kernels), X.shape[1], block)
    E = reserve(E, data.T, data.nnz, X.shape[1])
    E.tables.worth[0] = worth
    F = np.zeros((data.T, len(kernels)))
    component_outputs(case_stream(data), E, steps, F)
    return F, E

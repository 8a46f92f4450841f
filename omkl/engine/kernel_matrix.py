"""Kernel values of the rows of a data set with each other, outside of any learner."""

from typing import Any

import numpy as np

from omkl.engine.called_kernels import called_values
from omkl.engine.jit import compiled
from omkl.engine.kernels import CALLED
from omkl.engine.pool import Pool, form_of, own_values
from omkl.engine.slot_values import slot_values


def kernel_matrix(pool: Pool, i: int, X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return kappa_i (r, c) of these rows of a scipy CSR matrix with those others, as the engine computes it.

    Kernels of row numbers take those of X.
    """
    norm2 = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    dots = np.ascontiguousarray((X[rows] @ X[columns].T).toarray(), np.float64)
    own, others = X[rows], X[columns]
    K = np.empty_like(dots)
    _fill(pool, i, *_parts(own), rows, norm2[rows], *_parts(others), columns, norm2[columns], dots, K)
    return K


def self_values(pool: Pool, X: Any) -> np.ndarray:
    """Return kappa_i(x, x) (m, T) of all rows of a scipy CSR matrix."""
    norm2 = np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel()
    own = np.array([own_values(pool, n) for n in norm2]).reshape(len(norm2), pool.kind.size).T
    for i in np.flatnonzero(pool.kind == CALLED):
        for t in range(X.shape[0]):
            one = np.array([t])
            own[i, t] = kernel_matrix(pool, int(i), X, one, one)[0, 0]
    return own


def _parts(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float64)


@compiled
def _fill(pool, i, starts, indices, values, rows, norm2, others, columns, theirs, numbers, norms, dots, K):
    form, squares = form_of(pool, i), np.empty(norms.size)
    for r in range(rows.size):
        if pool.kind[i] == CALLED:
            own = (indices[starts[r] : starts[r + 1]], values[starts[r] : starts[r + 1]])
            vector = (dots[r], norm2[r], norms, rows[r], *own)
            called_values(pool, i, *vector, numbers, others, columns, theirs, K[r])
        else:
            slot_values(form, norm2[r], norms, dots[r], norms.size, squares, K[r])

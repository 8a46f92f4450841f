"""Rows as CSR arrays: columns ascending, no zeros, as a data set of omkl holds them."""

from typing import Any

import numpy as np


def dense_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return CSR arrays of a dense matrix, without its zeros."""
    used = X != 0
    rows, columns = np.nonzero(used)
    indptr = np.zeros(len(X) + 1, np.int64)
    np.cumsum(used.sum(axis=1), out=indptr[1:])
    return indptr, columns.astype(np.int32), X[rows, columns]


def sparse_rows(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return CSR arrays of a sparse matrix: columns ascending, no zeros, no doubles; X stays as it is."""
    X = X.tocsr()
    if not X.has_canonical_format or (X.data == 0).any():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data

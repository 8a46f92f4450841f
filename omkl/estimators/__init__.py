"""What all estimators that users import have: modules that load late, copies, and rows as CSR arrays."""

import copy
import importlib
from typing import Any

import numpy as np


class Later:
    """A module that is imported when it is first used, and with it numba: when the first rows come."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


# ------------------------------------------------------------------ copies
# The learner of an estimator may go on learning in another thread: pickles, deep copies.

model_file = Later("omkl.passes.packing")

_GROWING = ("_progress", "_columns", "_kept", "_calibration")  # attributes that learning changes in place


class _Snapshot:
    """What a learner was, for a pickle: it comes back as a learner."""

    def __init__(self, learner: Any) -> None:
        self.parts = model_file.snapshot(learner)

    def __reduce__(self) -> tuple[Any, ...]:
        return model_file.unpack, self.parts


class Copied:
    """An estimator with the attributes ``_model``, a Learner, and ``_progress``, once it has learnt."""

    def __getstate__(self) -> Any:
        """Return the attributes as they are between two calls that learn."""
        model = self.__dict__.get("_model")
        if model is None:
            return super().__getstate__()
        with model.lock:
            state: Any = super().__getstate__()
            state = {**state, "_model": _Snapshot(model)}
            return state | {name: copy.deepcopy(state[name]) for name in _GROWING if name in state}

    def __setstate__(self, state: Any) -> None:
        """Take the attributes; a shallow copy comes here, too."""
        if isinstance(model := state.get("_model"), _Snapshot):
            state = {**state, "_model": model_file.unpack(*model.parts)}
        parent: Any = super()
        if hasattr(parent, "__setstate__"):
            parent.__setstate__(state)
        else:
            self.__dict__.update(state)


# ------------------------------------------------------------------ rows
# Columns ascending, no zeros, as a data set of omkl holds them.


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

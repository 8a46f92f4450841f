"""The vectors that a learner stores, and their coefficients."""

import numpy as np
import scipy.sparse as sp

from omkl.rounds.learner import Learner


def stored_vectors(learner: Learner) -> tuple[np.ndarray, sp.csr_array] | None:
    """Return row numbers (n,) and rows (n, d) of what a learner stores, None for one that stores nothing."""
    with learner.lock:
        name = learner.stores
        return None if name is None else learner.storing[name].vectors(learner.state[name], learner.d)


def expansion_coefficients(learner: Learner) -> np.ndarray | None:
    """Return the coefficients (m, n) of the stored vectors in each kernel's classifier, None without any.

    With more than two classes they are (m, n, C), one for each class.
    """
    with learner.lock:
        return _coefficients(learner)


def vectors_of_kernels(learner: Learner) -> np.ndarray | None:
    """Return how many of the stored vectors each kernel uses (m,), None for one that stores nothing."""
    with learner.lock:
        E = learner.classifiers
        return None if E is None else E.n_sv.copy()


def _coefficients(learner: Learner) -> np.ndarray | None:
    name = learner.stores
    if name is None:
        return None
    A, scale = learner.storing[name].coefficients(learner.state[name]), learner.state.get("scale")
    return A if scale is None else A * np.resize(scale, len(A)).reshape(-1, *[1] * (A.ndim - 1))

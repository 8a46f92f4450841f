"""Kernel perceptrons, which are NORMA with rho = lam = 0."""

from omkl.theorems.batch import MEAN
from omkl.theorems.case import Bound, Case
from omkl.theorems.norma import tuned

_THEOREM = "Kivinen et al. (2004), Theorem 3"


def perceptron(case: Case) -> list[Bound]:
    """Theorem 3 with rho = lam = 0."""
    return [Bound(_THEOREM, tuned(case, 0), kernel=0, notes=("rho = lam = 0",))]


def perceptron_u(case: Case) -> list[Bound]:
    """Theorem 3 with rho = lam = 0 and the mean kernel."""
    return [Bound(_THEOREM, tuned(case, MEAN), kernel=MEAN, notes=("rho = lam = 0",))]

"""Raker: theorems of Shen, Chen, Giannakis (2018), section 2.3, on its static regret.

In omkl the loss is (y - f)^2 and the regularisation moves theta too, by - eta lam theta. Gradient descent on
loss + lam / 2 ||theta||^2, g its gradient, gives for every theta of kernel p
    sum_t loss(f_p,t) - loss(theta) <= (1 / eta + lam T) / 2 ||theta||^2 + eta / 2 sum_t ||g_t||^2,
the paper's for lam = 0. Hedge adds ln P / eta + eta T where no kernel's loss is above 1 (Assumption 2).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from omkl.theorems.batch import Batch
from omkl.theorems.case import REGRET, Bound, Case, refused
from omkl.theorems.rerun import Functions, of_kernel, same_in_time

if TYPE_CHECKING:
    from omkl.theorems.rerun import Repetition

PAPER = "Shen et al. (2018)"
SURE = 0.95  # probability for which Theorem 2 is printed


def raker(case: Case, eta: float, step: str, lam: float, loss: str, D: int) -> list[Bound]:
    """Lemma 1, against the best fixed function of the features, and Theorem 2, of the kernels' spaces."""
    theorems = f"{PAPER}, Lemma 1", f"{PAPER}, Theorem 2"
    wrong = conditions(case, loss)
    wrong += [f"step={step}: it needs the same eta in every round"] if step != "constant" else []
    if wrong or not case.runs:
        return all_refused(theorems, wrong, case, loss)
    return [_features(theorems[0], case, eta, lam), _spaces(theorems[1], case, eta, lam, D)]


def conditions(case: Case, loss: str) -> list[str]:
    """Return the conditions of all theorems of the paper that fail."""
    if loss != "squared":
        return [f"loss={loss}: the best fixed function is that of least squares, so it needs loss=squared"]
    words = {name: word for run in case.runs for name, word in run.cell.scaling.items()}
    if not same_in_time(words):
        text = " ".join(f"{name}={word}" for name, word in words.items())
        return [f"{text}: what a function is worth changes in mid-stream (scale=none target=minmax does not)"]
    largest = max((run.rounds.largest_loss for run in case.runs), default=0.0)
    if largest > 1.0 + 1e-9:
        return [f"a loss is {largest:.4g} and must be at most 1 (Assumption 2); target=minmax may help"]
    return []


def all_refused(theorems: Sequence[str], wrong: list[str], case: Case, loss: str) -> list[Bound]:
    """Return the bounds of theorems that do not apply, the first one with the static regret."""
    bounds = [refused(theorem, *wrong, counts=REGRET) for theorem in theorems]
    if loss == "squared" and all(same_in_time(run.cell.scaling) for run in case.runs):
        rounds = [run.rounds for run in case.runs]
        regret = tuple(float(own.losses.sum() - own.seen.best().losses.sum()) for own in rounds)
        bounds[0] = replace(bounds[0], observed=regret)
    return bounds


def gathered(
    theorem: str,
    values: list[float],
    observed: list[float],
    printed: list[float],
    notes: tuple[str, ...],
    kernels: list[int],
    objective: list[float],
) -> Bound:
    """Return the bound of several repetitions, each with its own right-hand side; lists may be empty."""
    return Bound(
        theorem,
        fmean(values),
        REGRET,
        kernel=kernels[0] if len(set(kernels)) == 1 else None,
        printed=fmean(printed) if printed else None,
        notes=notes,
        objective=fmean(objective) if objective else None,
        observed=tuple(observed),
        values=tuple(values),
    )


_REGULARISED = "with lam T / 2 ||theta||^2 for the regularisation, which the paper's proof leaves out"


def _features(theorem: str, case: Case, eta: float, lam: float) -> Bound:
    values, observed, printed, kernels, objective = [], [], [], [], []
    for run in case.runs:
        rounds, T = run.rounds, case.T
        best = rounds.seen.best()
        hedge = math.log(case.m) / eta + eta * T
        theta = best.norm2 / (2.0 * eta)
        L2, moved2 = (_largest2(own[:, 0, best.kernel]) for own in (rounds.slope, rounds.step))
        values.append(hedge + theta + lam * T / 2.0 * best.norm2 + eta * moved2 * T / 2.0)
        printed.append(hedge + theta + eta * L2 * T / 2.0)
        observed.append(float(rounds.losses.sum() - best.losses.sum()))
        kernels.append(best.kernel)
        objective.append(best.objective)
    notes = (_REGULARISED,) if lam else ()
    return gathered(theorem, values, observed, printed if lam else [], notes, kernels, objective)


def _largest2(norms: np.ndarray) -> float:
    """L^2, L the largest of these norms."""
    return float(np.nanmax(norms)) ** 2


def _spaces(theorem: str, case: Case, eta: float, lam: float, D: int) -> Bound:
    """Theorem 2, for the f = sum_t alpha_t kappa(x_t, .) of least loss + lam / 2 ||f||^2.

    The features make of f the function theta . z, theta = sum_t alpha_t z(x_t), |theta . z - f| <= epsilon
    ||f||_1, ||f||_1 = sum |alpha_t|. The value has the epsilon of the run's own features and examples, in
    place of one that most features keep.
    """
    values, observed, printed, kernels, objective = [], [], [], [], []
    long = math.sqrt(float(case.batch.norm2.max()))
    for run in case.runs:
        i, f = _best_function(run, case)
        rounds, T = run.rounds, case.T
        hedge = math.log(case.m) / eta + eta * T
        L2, moved2 = (_largest2(own[:, 0, i]) for own in (rounds.slope, rounds.step))
        L = max(math.sqrt(L2), f.slope)
        theta2 = (1.0 + f.error) * f.norm1**2
        away = f.error * L * T * f.norm1
        values.append(hedge + theta2 * (1.0 / eta + lam * T) / 2.0 + eta * moved2 * T / 2.0 + away)
        if long <= 1.0 + 1e-9:
            sure = likely_error(D, run.stream[0].d, _sigma2(case.batch.kernels[i]))
            theta2 = (1.0 + sure) * f.norm1**2
            printed.append(hedge + theta2 / (2.0 * eta) + eta * L**2 * T / 2.0 + sure * L * T * f.norm1)
        observed.append(float(rounds.losses.sum() - f.losses.sum()))
        kernels.append(i)
        objective.append(f.objective)
    notes = ["with the features' own epsilon", *([_REGULARISED] if lam else []), *case.of_part()]
    if printed:
        notes.append(f"printed for the epsilon of probability {SURE}")
    else:
        notes.append(f"not printed: a row has the length {long:.3g}, Assumption 3 has at most 1")
    return gathered(theorem, values, observed, printed, tuple(notes), kernels, objective)


def _best_function(run: "Repetition", case: Case) -> tuple[int, Functions]:
    """Return the number of the kernel with the least objective, and its function."""
    dataset, order = run.stream
    batch = case.batch
    if dataset.content_hash != batch.content:  # another realisation of a stream
        batch = Batch(dataset, batch.spec, len(batch.picked))
    made = ((i, of_kernel(run.rounds.seen, batch, order, i)) for i in range(batch.m))
    return min(made, key=lambda one: one[1].objective)


def _sigma2(kernel: dict) -> float:
    return kernel["sigma"] ** 2 if "sigma" in kernel else 1.0 / (2.0 * kernel["gamma"])


def likely_error(D: int, d: int, sigma2: float) -> float:
    """Return the least epsilon with 2^8 (sigma_p / epsilon)^2 exp(-D epsilon^2 / (4 d + 8)) <= 1 - SURE.

    sigma_p^2 = d / sigma2, the second moment of a frequency.
    """

    def fails(epsilon: float) -> bool:
        exponent = -D * epsilon**2 / (4.0 * d + 8.0)
        return 256.0 * d / sigma2 / epsilon**2 * math.exp(exponent) > 1.0 - SURE

    high = 1.0
    while fails(high):
        high *= 2.0
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if middle > 0.0 and fails(middle) else (low, middle)
    return high

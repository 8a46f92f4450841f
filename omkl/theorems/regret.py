"""Bounds of regret: Raker and AdaRaker, theorems of Shen, Chen, Giannakis (2018).

Section 2.3, static regret. In omkl the loss is (y - f)^2 and the regularisation moves theta too, by - eta lam
theta. Gradient descent on loss + lam / 2 ||theta||^2, g its gradient, gives for every theta of kernel p
    sum_t loss(f_p,t) - loss(theta) <= (1 / eta + lam T) / 2 ||theta||^2 + eta / 2 sum_t ||g_t||^2,
the paper's for lam = 0. Hedge adds ln P / eta + eta T where no kernel's loss is above 1 (Assumption 2).

Section 3.2, with the constants that a proof gives. The paper prints neither C_0 and C_1 nor a proof. This is
one for (y - f)^2, no loss above 1. (y - f)^2 is then exp-concave, (y - f)^2 <= 1: exp(eta r) - 1 <= 2 eta
(exp(r / 2) - 1) for eta <= 1/2, r = loss(f_t) - loss(f^(J)), and the mean of exp(r / 2) by the votes h is at
most 1. So sum_J h^(J) / eta^(J) only rises where an interval begins, by 1, and is at most N, the intervals
begun so far. Hence for an interval J of the algorithm, whose first round has no vote,
    sum_J loss(f_t) - loss(f^(J)) <= 1 + ln(N) / eta^(J).
Raker's regret on J is that of Lemma 1. Any other interval is the union of such intervals, each the largest
that begins where the last one ended: lengths rise, then fall, by powers of two.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from omkl.theorems.batch import Batch
from omkl.theorems.case import REGRET, Bound, Case, refused
from omkl.theorems.rerun import Functions, Replay, of_kernel, same_in_time

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
        regret = tuple(
            float(run_rounds.losses.sum() - run_rounds.seen.best().losses.sum()) for run_rounds in rounds
        )
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
        L2, moved2 = (_largest2(array[:, 0, best.kernel]) for array in (rounds.slope, rounds.step))
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
        L2, moved2 = (_largest2(array[:, 0, i]) for array in (rounds.slope, rounds.step))
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
    functions = ((i, of_kernel(run.rounds.seen, batch, order, i)) for i in range(batch.m))
    return min(functions, key=lambda one: one[1].objective)


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


# ------------------------------------------------------------------ AdaRaker

SHARES = (1, 4, 16)  # intervals of T / these are in Lemma 3's rows
SHORTEST = 32  # rounds of a part in Theorem 4
_NOTE = "C_0 and C_1 are not printed; this is what a proof gives for the run's intervals"


def adaraker(case: Case, eta0: float, lam: float, loss: str, kept: bool) -> list[Bound]:
    """Lemma 3, for the whole stream and for the worst of shorter intervals, and Theorem 4."""
    shares = [share for share in SHARES if share <= case.T]
    theorems = [f"{PAPER}, Lemma 3, T{f' / {share}' if share > 1 else ''} rounds" for share in shares]
    last = f"{PAPER}, Theorem 4"
    wrong = ["instances must begin again with their interval (kept=false)"] if kept else []
    if (wrong := [*wrong, *conditions(case, loss)]) or not case.runs:
        return all_refused([*theorems, last], wrong, case, loss)
    limits = [Limits(run.rounds, case.m, eta0, lam) for run in case.runs]
    bounds = [_interval(theorem, limits, share) for theorem, share in zip(theorems, shares, strict=True)]
    return [*bounds, _path(last, case, limits)]


class Limits:
    """The right-hand sides of one run for intervals start .. stop - 1 of rounds from 0."""

    def __init__(self, rounds: Replay, m: int, eta0: float, lam: float) -> None:
        self.rounds, self.m, self.eta0, self.lam = rounds, m, eta0, lam
        self.moved2 = np.square(rounds.step)

    def regret(self, start: int, stop: int) -> tuple[float, float, int, float]:
        """Return the limit of the regret, the regret, the kernel of the best function and its objective."""
        best = self.rounds.seen.best(start, stop)
        limit = sum(self._of_one(best.kernel, best.norm2, *J) for J in covering(start + 1, stop))
        regret = float(self.rounds.losses[start:stop].sum() - best.losses.sum())
        return limit, regret, best.kernel, best.objective

    def _of_one(self, kernel: int, norm2: float, first: int, level: int) -> float:
        """Of an interval of the algorithm, by its first round from 1 and its level."""
        n = 1 << level
        eta, last = min(0.5, self.eta0 / math.sqrt(n)), first + n - 1
        begun = sum(last >> j for j in range(last.bit_length()))
        vote = 1.0 + (math.log(begun) / eta if n > 1 else 0.0)
        L2 = float(self.moved2[first - 1 : last, level, kernel].max())
        theta = norm2 * (1.0 / (2.0 * eta) + self.lam * n / 2.0)
        return vote + math.log(self.m) / eta + theta + eta * n * (L2 / 2.0 + 1.0)


def covering(first: int, last: int) -> list[tuple[int, int]]:
    """Return the algorithm's intervals, as first round and level, whose union is rounds first .. last."""
    intervals = []
    while first <= last:
        level = (first & -first).bit_length() - 1
        while first + (1 << level) - 1 > last:
            level -= 1
        intervals.append((first, level))
        first += 1 << level
    return intervals


def equal_parts(T: int, count: int) -> list[tuple[int, int]]:
    """Return ``count`` parts of T rounds, as long as each other up to one round."""
    edges = [T * k // count for k in range(count + 1)]
    return list(pairwise(edges))


def _interval(theorem: str, limits: list[Limits], share: int) -> Bound:
    """Lemma 3 for the part of T / share rounds whose regret comes nearest to its limit."""
    found = []
    for limit in limits:
        all_parts = [limit.regret(*part) for part in equal_parts(len(limit.rounds.score), share)]
        found.append(min(all_parts, key=lambda one: one[0] - one[1]))
    values, observed, kernels, objective = (list(column) for column in zip(*found, strict=True))
    notes = (_NOTE, *(("of the parts the one with the least difference",) if share > 1 else ()))
    return gathered(theorem, values, observed, [], notes, kernels, objective)


def _path(theorem: str, case: Case, limits: list[Limits]) -> Bound:
    """Theorem 4: the regret against the path f*_t of a stream's target, in parts with one function each.

    sum_t loss(f_t) - loss(f*_t) <= sum over parts (limit + sum loss(best fixed function) - loss(f*_t)), for
    any number of parts; the value is the least over powers of two. The paper bounds the second term by the
    variation V of the losses over all functions, (30), which is infinite where these are not bounded.
    """
    paths = [run.rounds.seen.path for run in case.runs]
    if any(path is None for path in paths):
        reason = "the path of the target is not known; the streams drift_numbers and switch_numbers have it"
        return refused(theorem, reason, counts=REGRET)
    values, observed = [], []
    for kernel_limit, path in zip(limits, paths, strict=True):
        rounds = kernel_limit.rounds
        ahead = np.square(rounds.seen.y - path)
        total = float(rounds.losses.sum() - ahead.sum())
        T, found = len(ahead), []
        for count in (1 << k for k in range(T.bit_length()) if SHORTEST << k <= max(T, SHORTEST)):
            regrets = [kernel_limit.regret(*part) for part in equal_parts(T, count)]
            found.append(total + sum(limit - regret for limit, regret, *_ in regrets))
        values.append(min(found))
        observed.append(total)
    notes = ("V of (30) is infinite; in its place the path's distance from fixed functions of parts",)
    return gathered(theorem, values, observed, [], notes, [], [])

"""AdaRaker: theorems of Shen, Chen, Giannakis (2018), section 3.2, with the constants that a proof gives.

The paper prints neither C_0 and C_1 nor a proof. This is one for (y - f)^2, no loss above 1. (y - f)^2 is
then exp-concave, (y - f)^2 <= 1: exp(eta r) - 1 <= 2 eta (exp(r / 2) - 1) for eta <= 1/2, r = loss(f_t) -
loss(f^(J)), and the mean of exp(r / 2) by the votes h is at most 1. So sum_J h^(J) / eta^(J) only rises where
an interval begins, by 1, and is at most N, the intervals begun so far. Hence for an interval J of the
algorithm, whose first round has no vote,
    sum_J loss(f_t) - loss(f^(J)) <= 1 + ln(N) / eta^(J).
Raker's regret on J is that of Lemma 1. Any other interval is the union of such intervals, each the largest
that begins where the last one ended: lengths rise, then fall, by powers of two.
"""

import math
from itertools import pairwise

import numpy as np

from omkl.theorems.case import REGRET, Bound, Case, refused
from omkl.theorems.raker import PAPER, all_refused, conditions, gathered
from omkl.theorems.rerun import Replay

SHARES = (1, 4, 16)  # intervals of T / these are in Lemma 3's rows
SHORTEST = 32  # rounds of a part in Theorem 4
_NOTE = "C_0 and C_1 are not printed; this is what a proof gives for the run's intervals"


def adaraker(case: Case, eta0: float, lam: float, loss: str) -> list[Bound]:
    """Lemma 3, for the whole stream and for the worst of shorter intervals, and Theorem 4."""
    shares = [share for share in SHARES if share <= case.T]
    theorems = [f"{PAPER}, Lemma 3, T{f' / {share}' if share > 1 else ''} rounds" for share in shares]
    last = f"{PAPER}, Theorem 4"
    if (wrong := conditions(case, loss)) or not case.runs:
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
    made = []
    while first <= last:
        level = (first & -first).bit_length() - 1
        while first + (1 << level) - 1 > last:
            level -= 1
        made.append((first, level))
        first += 1 << level
    return made


def equal_parts(T: int, count: int) -> list[tuple[int, int]]:
    """Return ``count`` parts of T rounds, as long as each other up to one round."""
    edges = [T * k // count for k in range(count + 1)]
    return list(pairwise(edges))


def _interval(theorem: str, limits: list[Limits], share: int) -> Bound:
    """Lemma 3 for the part of T / share rounds whose regret comes nearest to its limit."""
    found = []
    for own in limits:
        all_parts = [own.regret(*part) for part in equal_parts(len(own.rounds.score), share)]
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
    for own, path in zip(limits, paths, strict=True):
        rounds = own.rounds
        ahead = np.square(rounds.seen.y - path)
        total = float(rounds.losses.sum() - ahead.sum())
        T, found = len(ahead), []
        for count in (1 << k for k in range(T.bit_length()) if SHORTEST << k <= max(T, SHORTEST)):
            each = [own.regret(*part) for part in equal_parts(T, count)]
            found.append(total + sum(limit - regret for limit, regret, *_ in each))
        values.append(min(found))
        observed.append(total)
    notes = ("V of (30) is infinite; in its place the path's distance from fixed functions of parts",)
    return gathered(theorem, values, observed, [], notes, [], [])

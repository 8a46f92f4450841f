"""What Raker and AdaRaker did in every round of a pass, and the best fixed functions in hindsight.

Losses are (y - f)^2. A fixed function of kernel i is theta . z_i(x) of the learner's own random features;
the best one on rounds I minimises sum_I (y_t - theta . z_t)^2 + lam |I| / 2 ||theta||^2, the paper's (2).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.theorems.case import Batch

if TYPE_CHECKING:
    from omkl.theorems.rerun import Run


class Fixed(NamedTuple):
    """The best fixed function of one kernel on some rounds.

    kernel: its number    norm2: ||theta||^2    losses (n,): of each of the rounds    objective: what it
    minimises
    """

    kernel: int
    norm2: float
    losses: np.ndarray
    objective: float


@dataclass(frozen=True)
class Rounds:
    """One pass, round by round: T rounds, L levels (of Raker one), m kernels; NaN before a level begins.

    y, score (T,): targets and predictions    f (T, L): predictions of the levels' instances
    out (T, L, m): of their kernels    slope, step (T, L, m): norms of the loss's gradient at theta, and of
    what theta is moved along, that gradient + lam theta    z (m, T, 2D): features
    path (T,): the targets without noise, where they are known
    With target=minmax or standard, y and all predictions are in the units that the learner reads.
    """

    y: np.ndarray
    score: np.ndarray
    f: np.ndarray
    out: np.ndarray
    slope: np.ndarray
    step: np.ndarray
    z: np.ndarray
    lam: float
    path: np.ndarray | None

    @property
    def losses(self) -> np.ndarray:
        """Of the predictions (T,)."""
        return np.square(self.y - self.score)

    @property
    def largest_loss(self) -> float:
        """Of any prediction: the learner's, of an instance or a kernel."""
        return float(max(np.nanmax(np.abs(self.y - own.T)) for own in (self.score, self.f, self.out)) ** 2)

    def best(self, start: int = 0, stop: int | None = None) -> Fixed:
        """Return the best fixed function of all kernels on rounds start .. stop - 1, from 0."""
        rounds = slice(start, len(self.y) if stop is None else stop)
        return min(
            (self._fixed(i, rounds) for i in range(len(self.z))), key=lambda fixed: fixed.objective
        )

    def _fixed(self, i: int, rounds: slice) -> Fixed:
        z, y = self.z[i, rounds], self.y[rounds]
        ridge = self.lam * len(y) / 2.0
        rows = np.vstack([z, np.sqrt(ridge) * np.eye(z.shape[1])]) if ridge else z
        theta = np.linalg.lstsq(rows, np.append(y, np.zeros(len(rows) - len(y))), rcond=None)[0]
        losses, norm2 = np.square(y - z @ theta), float(theta @ theta)
        return Fixed(i, norm2, losses, float(losses.sum()) + ridge * norm2)


def rounds_of(run: "Run") -> Rounds:
    """Run a repetition of Raker or AdaRaker again, one round at a time."""
    from omkl import seeds
    from omkl.data.orders import known_targets
    from omkl.engine.stream import make_stream, part
    from omkl.learning.learner import Learner
    from omkl.learning.scaling import Scaling

    cell, (dataset, order) = run.cell, run.stream
    seed = seeds.learner_seed(cell.permutation_seed, cell.spec.draws_as or cell.spec.name)
    scaling = Scaling.of(cell.scaling, dataset)
    place, width = scaling.targets[1:] if scaling else (0.0, 1.0)
    y = (np.asarray(dataset.y, dtype=float) - place) / width
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, y, order)
    learner = Learner(cell.spec, cell.params, cell.kernel_pool, dataset.d, seed, 1, stream.T)
    state, T, lam = learner.state, stream.T, float(cell.params["lam"])
    theta = state["theta"] if state["theta"].ndim == 3 else state["theta"][None]
    weights = state["W"] if "W" in state else state["w"][None]
    L = min(len(theta), T.bit_length())
    score, f = np.empty(T), np.full((T, L), np.nan)
    out, slope, step = (np.full((T, L, learner.m), np.nan) for _ in range(3))
    z = np.empty((learner.m, T, theta.shape[2]))
    for t in range(T):
        n = min((t + 1).bit_length(), L)
        before, w = theta[:n].copy(), weights[:n].copy()
        if len(theta) > 1:
            before[[(t + 1) % (1 << j) == 0 for j in range(n)]] = 0.0  # which begin with this round
        trace, _ = learner.run(part(stream, t, t + 1))
        own = state["F"].z
        score[t], z[:, t] = trace.score[0], own
        out[t, :n] = np.einsum("jik,ik->ji", before, own)
        f[t, :n] = (w * out[t, :n]).sum(axis=1) / w.sum(axis=1)
        gradient = 2.0 * (out[t, :n] - stream.y[t])[..., None] * own
        slope[t, :n] = np.linalg.norm(gradient, axis=2)
        step[t, :n] = np.linalg.norm(gradient + lam * before, axis=2)
    known = known_targets(cell.data, cell.order, cell.rep)
    path = None if known is None else (known[order] - place) / width
    return Rounds(stream.y, score, f, out, slope, step, z, lam, path)


class Functions(NamedTuple):
    """The best fixed function of a kernel's own space, and what the random features make of it.

    losses (T,): of f    slope: the most that a loss rises between f and its approximation, over their
    difference    norm1: sum of |coefficients|    error: the most that z . z' and kappa differ    objective:
    sum loss + lam T / 2 ||f||^2
    """

    losses: np.ndarray
    slope: float
    norm1: float
    error: float
    objective: float


def of_kernel(rounds: Rounds, batch: Batch, order: np.ndarray, i: int) -> Functions:
    """Solve kernel ridge regression with kernel i, by rows of the batch where there are more."""
    K = batch.kernel(i, np.arange(batch.T))  # (T, n)
    own, n = K[batch.picked], len(batch.picked)
    place = np.empty(batch.T, dtype=int)  # of a row of the file in the order of arrival
    place[order] = np.arange(batch.T)
    y = rounds.y[place]
    ridge = rounds.lam * n / 2.0
    alpha = np.linalg.lstsq(own + ridge * np.eye(n), y[batch.picked], rcond=None)[0]
    z = rounds.z[i][place]
    features = z @ z[batch.picked].T
    f, approximate = K @ alpha, features @ alpha
    losses = np.square(y - f)
    objective = float(losses.sum() + rounds.lam * batch.T / 2.0 * max(alpha @ own @ alpha, 0.0))
    slope = float(np.abs(2.0 * y - f - approximate).max())
    return Functions(losses, slope, float(np.abs(alpha).sum()), float(np.abs(features - K).max()), objective)

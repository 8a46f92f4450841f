"""A repetition of the store run again, and the best fixed functions that the bounds compare it with.

A repetition run again has its scores, and of Raker and AdaRaker every round and the regret. Losses are (y -
f)^2. A fixed function of kernel i is theta . z_i(x) of the learner's own random features; the best one on
rounds I minimises sum_I (y_t - theta . z_t)^2 + lam |I| / 2 ||theta||^2, the paper's (2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from omkl.data import Dataset
    from omkl.passes.cell import Cell
from omkl.theorems.batch import Batch, matrix_of_rows


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
class Hindsight:
    """The stream of a pass as its learner's random features see it: all that a fixed function needs.

    y (T,): targets    z (m, T, 2D): features    lam: regularisation    path (T,): the targets without noise,
    where they are known    width: of one of these units, in the targets' own
    With target=minmax or standard, y and all predictions are in the units that the learner reads.
    """

    y: np.ndarray
    z: np.ndarray
    lam: float
    path: np.ndarray | None
    width: float

    def best(self, start: int = 0, stop: int | None = None) -> Fixed:
        """Return the best fixed function of all kernels on rounds start .. stop - 1, from 0."""
        rounds = slice(start, len(self.y) if stop is None else stop)
        return min((self._fixed(i, rounds) for i in range(len(self.z))), key=lambda fixed: fixed.objective)

    def _fixed(self, i: int, rounds: slice) -> Fixed:
        z, y = self.z[i, rounds], self.y[rounds]
        ridge = self.lam * len(y) / 2.0
        normal = z.T @ z + ridge * np.eye(z.shape[1])
        theta = _solved(normal, z.T @ y, ridge)
        losses, norm2 = np.square(y - z @ theta), float(theta @ theta)
        return Fixed(i, norm2, losses, float(losses.sum()) + ridge * norm2)


@dataclass(frozen=True)
class Replay:
    """One pass, round by round: T rounds, L levels (of Raker one), m kernels; NaN before a level begins.

    score (T,): predictions    f (T, L): those of the levels' instances    out (T, L, m): of their kernels
    slope, step (T, L, m): norms of the loss's gradient at theta, and of what theta is moved along, that
    gradient + lam theta
    """

    seen: Hindsight
    score: np.ndarray
    f: np.ndarray
    out: np.ndarray
    slope: np.ndarray
    step: np.ndarray

    @property
    def losses(self) -> np.ndarray:
        """Of the predictions (T,)."""
        return np.square(self.seen.y - self.score)

    @property
    def largest_loss(self) -> float:
        """Of any prediction: the learner's, of an instance or a kernel."""
        every = (self.score, self.f, self.out)
        return float(max(np.nanmax(np.abs(self.seen.y - run.T)) for run in every) ** 2)


@dataclass(frozen=True)
class Repetition:
    """A cell of the store, and what another pass of it shows."""

    cell: "Cell"

    @cached_property
    def stream(self) -> "tuple[Dataset, np.ndarray]":
        """Its data, and the rows in order of arrival."""
        from omkl.data import compact
        from omkl.passes.cell import data_and_order

        dataset, order = data_and_order(self.cell)
        return compact(dataset), order

    @cached_property
    def y(self) -> np.ndarray:
        """Labels or targets (T,) in order of arrival."""
        dataset, order = self.stream
        return np.asarray(dataset.y, dtype=float)[order]

    @cached_property
    def scores(self) -> np.ndarray:
        """The predictions' scores (T,), each before its update."""
        from omkl.passes.one_pass import whole_pass

        cell, learner = self.cell, (self.cell.spec, self.cell.params, self.cell.pool)
        how: Any = {"scaling": cell.scaling, "block": cell.block}
        return whole_pass(*learner, *self.stream, cell.permutation_seed, **how).trace.score

    @cached_property
    def rounds(self) -> Replay:
        """Its rounds one by one, of Raker and AdaRaker."""
        return replayed(self)

    @property
    def hinge_loss(self) -> float:
        """The sum of the hinge losses of its predictions."""
        return float(np.maximum(0.0, 1.0 - self.y * self.scores).sum())


def same_in_time(scaling: Mapping[str, str]) -> bool:
    """Whether a function is worth the same in all rounds of a pass that is scaled in this way."""
    return "scale" not in scaling and scaling.get("target") != "online"


def hindsight_of(run: "Repetition") -> "tuple[Hindsight, Any, Any]":
    """Return what fixed functions need of a repetition, its learner before the pass, and its stream."""
    from omkl import seeds
    from omkl.engine.stream import make_stream
    from omkl.rounds.learner import Learner
    from omkl.rounds.scaling import Scaling
    from omkl.theorems.known_streams import known_targets

    cell, (dataset, order) = run.cell, run.stream
    seed = seeds.learner_seed(cell.permutation_seed, cell.spec.draws_as or cell.spec.name)
    scaling = Scaling.of(cell.scaling, dataset)
    place, width = scaling.targets[1:] if scaling else (0.0, 1.0)
    y = (np.asarray(dataset.y, dtype=float) - place) / width
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, y, order)
    learner = Learner(cell.spec, cell.params, cell.kernel_pool, dataset.d, seed, 1, stream.T)
    targets = known_targets(cell.data, cell.order, cell.rep)
    path = None if targets is None else (targets[order] - place) / width
    rows = matrix_of_rows(dataset)
    F = learner.state["F"]
    angles = np.asarray(rows[order] @ F.V).reshape(stream.T, learner.m, -1).swapaxes(0, 1)
    z = F.scale * np.concatenate([np.sin(angles), np.cos(angles)], axis=2)
    seen = Hindsight(stream.y, z, float(cell.params["lam"]), path, float(width))
    return seen, learner, stream


def replayed(run: "Repetition") -> Replay:
    """Run a repetition of Raker or AdaRaker again, one round at a time."""
    from omkl.engine.stream import part

    seen, learner, stream = hindsight_of(run)
    state, T = learner.state, stream.T
    theta = state["theta"]
    weights = state["W"] if "W" in state else state["w"][None]
    L = min(len(theta), T.bit_length())
    score, f = np.empty(T), np.full((T, L), np.nan)
    out, slope, step = (np.full((T, L, learner.m), np.nan) for _ in range(3))
    for t in range(T):
        n = min((t + 1).bit_length(), L)
        before, w = theta[:n].copy(), weights[:n].copy()
        if len(theta) > 1:
            before[[(t + 1) % (1 << j) == 0 for j in range(n)]] = 0.0  # which begin with this round
        trace, _ = learner.run(part(stream, t, t + 1))
        z, score[t] = seen.z[:, t], trace.score[0]
        out[t, :n] = np.einsum("jik,ik->ji", before, z)
        f[t, :n] = (w * out[t, :n]).sum(axis=1) / w.sum(axis=1)
        gradient = 2.0 * (out[t, :n] - seen.y[t])[..., None] * z
        slope[t, :n] = np.linalg.norm(gradient, axis=2)
        step[t, :n] = np.linalg.norm(gradient + seen.lam * before, axis=2)
    return Replay(seen, score, f, out, slope, step)


def regret_curve(cell: "Cell", curve: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored curve with its regret against the best fixed function of the whole stream.

    For learners that descend on their kernels' random features with lam, in the target's units; others keep
    theirs, and so does recursive ridge regression (P), whose lam is another.
    """
    from omkl.passes import scores
    from omkl.state.vectors import Lifting

    state = cell.spec.state
    features = isinstance(lifting := state.get("F"), Lifting) and not lifting.scaled
    if (
        not features
        or "P" in state
        or "lam" not in cell.params
        or "loss" not in curve
        or not same_in_time(cell.scaling)
    ):
        return dict(curve)
    seen, *_ = hindsight_of(Repetition(cell))
    losses = seen.best().losses
    if cell.own:
        losses = scores.without(losses, scores.before_variation(seen.y))
    sums = scores.sums_of(losses)
    assert sums is not None  # some rounds always count
    fixed = sums * seen.width**2
    regret = [loss - float(fixed[t - 1]) for t, loss in zip(curve["t"], curve["loss"], strict=True)]
    return {**curve, "regret": regret}


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


def of_kernel(seen: Hindsight, batch: Batch, order: np.ndarray, i: int) -> Functions:
    """Solve kernel ridge regression with kernel i, by rows of the batch where there are more."""
    K = batch.kernel(i, np.arange(batch.T))  # (T, n)
    K_of_picked, n = K[batch.picked], len(batch.picked)
    place = np.empty(batch.T, dtype=int)  # of a row of the file in the order of arrival
    place[order] = np.arange(batch.T)
    y = seen.y[place]
    ridge = seen.lam * n / 2.0
    alpha = _solved(K_of_picked + ridge * np.eye(n), y[batch.picked], ridge)
    z = seen.z[i][place]
    features = z @ z[batch.picked].T
    f, approximate = K @ alpha, features @ alpha
    losses = np.square(y - f)[order]
    objective = float(losses.sum() + seen.lam * batch.T / 2.0 * max(alpha @ K_of_picked @ alpha, 0.0))
    slope = float(np.abs(2.0 * y - f - approximate).max())
    return Functions(losses, slope, float(np.abs(alpha).sum()), float(np.abs(features - K).max()), objective)


def _solved(A: np.ndarray, b: np.ndarray, ridge: float) -> np.ndarray:
    """Return A^-1 b, the shortest solution where no ridge makes A regular."""
    solution: np.ndarray = np.linalg.solve(A, b) if ridge else np.linalg.lstsq(A, b, rcond=None)[0]
    return solution

"""What the bounds compare a pass with: batch solutions, and a repetition of the store run again.

The support vector machine in the theorems, and batch multiple kernel learning, minimise lam ||f||^2 + 2
sum_t c loss(y_t f(x_t)), c the weight of an example, and hold a_t, f the sum of a_t y_t kappa(x_t, .) / lam.
The theorems' f has no constant term, scikit-learn's always has one. So it is given every example twice, as
(phi(x), y) and (-phi(x), -y) with half the weight: on this stream the best constant is 0, since the mean of
the hinge losses at y f + b and y f - b is at least the loss at y f, and this leaves the problem above.

A repetition run again has its scores, and of Raker and AdaRaker every round and the regret. Losses are (y -
f)^2. A fixed function of kernel i is theta . z_i(x) of the learner's own random features; the best one on
rounds I minimises sum_I (y_t - theta . z_t)^2 + lam |I| / 2 ||theta||^2, the paper's (2).
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from omkl.data import Dataset
    from omkl.passes.cell import Cell

_MOST_STEPS = 1_000_000
_MOST_MACHINES = 60  # support vector machines of one multiple kernel learning
_LEAST = 0.01  # weight of a kernel
_GAP = 1e-3  # between its objective and the lower bound, relative


def machine(K: np.ndarray, y: np.ndarray, c: float) -> np.ndarray:
    """Return a (n,) in [0, c] for the kernel values K (n, n), divided by lam, and labels y (n,)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    n = len(y)
    solver = SVC(C=0.5 * c, kernel="precomputed", tol=1e-6, max_iter=_MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap shows how far it came
        solver.fit(np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]))
    twice = np.zeros(2 * n)
    twice[solver.support_] = np.abs(solver.dual_coef_[0])
    return twice[:n] + twice[n:]


class Mixture(NamedTuple):
    """A solution of batch multiple kernel learning: f = sum_i u_i f_i, f_i = sum_t a_t y_t kappa_i(x_t, .).

    u (m,): weights of the kernels    a (n,)    norms2 (m,): ||f_i||^2    low: at most the minimum
    """

    u: np.ndarray
    a: np.ndarray
    norms2: np.ndarray
    low: float


def mixture(K: np.ndarray, y: np.ndarray, c: float, lam: float, start: np.ndarray | None = None) -> Mixture:
    """Minimise over u in the simplex and f in the space of kappa_u = sum_i u_i kappa_i.

    K (m, n, n)    start (m,): the first u, None for the same weight of all. For a fixed u the machine's a
    gives the objective 2 sum a - sum_i u_i q_i(a), which bounds the minimum over f, as a function of any u,
    from below. A linear programme minimises the largest of these cuts; the next u is half way to its
    solution. It ends where the two are close.
    """
    from scipy.optimize import linprog

    m = len(K)
    u = np.full(m, 1.0 / m) if start is None else start
    cuts: list[np.ndarray] = []
    best, least, low = None, np.inf, -np.inf
    for _ in range(_MOST_MACHINES):
        Ku = np.tensordot(u, K, 1) / lam
        a = machine(Ku, y, c)
        signed = a * y
        q = np.array([signed @ (gram @ signed) for gram in K]) / lam
        primal = float(u @ q) + 2.0 * c * float(np.maximum(0.0, 1.0 - y * (Ku @ signed)).sum())
        cuts.append(np.append(2.0 * a.sum(), q))
        if primal < least:
            best, least = (u, a, q), primal
        A = np.array([np.append(-cut[1:], -1.0) for cut in cuts])
        sums = {"A_eq": [np.append(np.ones(m), 0.0)], "b_eq": [1.0]}
        limits = [(0.0, None)] * m + [(None, None)]
        found = linprog(np.append(np.zeros(m), 1.0), A, [-cut[0] for cut in cuts], **sums, bounds=limits)
        low = float(found.fun)
        if least - low <= _GAP * abs(low):
            break
        u = 0.5 * u + 0.5 * np.maximum(found.x[:-1], 0.0) / np.maximum(found.x[:-1], 0.0).sum()
    assert best is not None
    u, a, q = best
    kept = np.where(u >= _LEAST, u, 0.0)  # the norm of a kernel that u has nearly left would count in full
    kept /= kept.sum()
    f = np.tensordot(kept, K, 1) @ (a * y) / lam
    if float(kept @ q) + 2.0 * c * float(np.maximum(0.0, 1.0 - y * f).sum()) <= least * (1.0 + _GAP):
        u = kept
    return Mixture(u, a / lam, q / lam, low)


# ------------------------------------------------------------------ of a data set

ROWS = 2000  # examples that a batch solution is made of: kernel values of 4 ROWS^2 pairs, 128 MB
MEAN = -1  # in place of a kernel's number: the mean of the pool's kernels


@dataclass(frozen=True, eq=False)
class Fit:
    """One f and its quality: any f gives an upper bound of the minimum.

    norm2: ||f||^2 in the kernel's own space    margins (T,): y_t f(x_t), in the order of the file
    gap: (primal - dual) / dual of the batch problem, None where f comes from a part of the examples
    """

    norm2: float
    margins: np.ndarray
    gap: float | None

    @cached_property
    def loss(self) -> float:
        """The sum of the hinge losses of f."""
        return self.scaled_loss(1.0)

    def scaled_loss(self, s: float) -> float:
        """The sum of the hinge losses of s f."""
        return float(np.maximum(0.0, 1.0 - s * self.margins).sum())


def matrix_of_rows(dataset: "Dataset") -> "csr_matrix":
    """Return the rows of a data set as a matrix (T, d)."""
    from scipy.sparse import csr_matrix

    return csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=(dataset.T, dataset.d))


class Batch:
    """A data set and a pool of kernels, with the batch solutions computed so far.

    rows: at most this many examples make f, evenly spaced over the file; all examples are in its loss.
    """

    def __init__(self, dataset: "Dataset", pool: dict[str, Any], rows: int = ROWS) -> None:
        from omkl.data import compact
        from omkl.engine.kernels import make_pool
        from omkl.engine.slot_values import self_values

        dataset = compact(dataset)
        self.content, self.spec, self.kernels = dataset.content_hash, pool, pool["kernels"]
        self.T, self.y = dataset.T, np.asarray(dataset.y)
        self.pool, self.m = make_pool(pool["kernels"], pool["normalise"]), len(pool["kernels"])
        self.X = matrix_of_rows(dataset)
        self.own = self_values(self.pool, self.X)
        self.picked = np.unique(np.linspace(0, self.T - 1, min(rows, self.T)).round().astype(int))
        self._fits: dict[tuple[int, float], Fit] = {}
        self._mixtures: dict[float, tuple[Fit, Mixture]] = {}
        self._last: tuple[int, np.ndarray] = (self.m, np.empty(0))
        self._all: np.ndarray | None = None

    @cached_property
    def norm2(self) -> np.ndarray:
        """||x_t||^2 (T,)."""
        return np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()

    def own_values(self, i: int) -> np.ndarray:
        """kappa_i(x_t, x_t) (T,)."""
        return self.own.mean(axis=0) if i == MEAN else self.own[i]

    def fit(self, i: int, lam: float) -> Fit:
        """Return the f of kernel i (or MEAN) that a batch solver finds for this lam > 0."""
        if (i, lam) not in self._fits:
            self._fits[i, lam] = self._solve(i, lam)
        return self._fits[i, lam]

    def _solve(self, i: int, lam: float) -> Fit:
        if self._last[0] != i:
            self._last = (i, self.kernel(i, self.picked))
        K, y, n = self._last[1] / lam, self.y[self.picked], len(self.picked)
        alpha = machine(K, y, self.T / n)
        f = K @ (alpha * y)
        penalty = max(float((alpha * y) @ f), 0.0)  # lam ||f||^2
        if n == self.T:
            dual = 2.0 * alpha.sum() - penalty
            primal = penalty + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(penalty / lam, y * f, float((primal - dual) / dual))
        f = np.concatenate([self.kernel(i, part) @ (alpha * y) / lam for part in self._parts()])
        return Fit(penalty / lam, self.y * f, None)

    def mixed(self, lam: float) -> tuple[Fit, Mixture]:
        """Return the f of batch multiple kernel learning, and the weights of its kernels."""
        if lam not in self._mixtures:
            self._mixtures[lam] = self._mix(lam)
        return self._mixtures[lam]

    def _mix(self, lam: float) -> tuple[Fit, Mixture]:
        if self._all is None:
            self._all = np.stack([self.kernel(i, self.picked) for i in range(self.m)])
        y, n = self.y[self.picked], len(self.picked)
        last = next(reversed(self._mixtures.values()), None)
        found = mixture(self._all, y, self.T / n, lam, last and last[1].u)
        signed, norm2 = found.a * y, float(found.u @ found.norms2)
        if n == self.T:
            f = np.tensordot(found.u, self._all, 1) @ signed
            primal = lam * norm2 + 2.0 * np.maximum(0.0, 1.0 - y * f).sum()
            return Fit(norm2, y * f, float((primal - found.low) / abs(found.low))), found
        used = np.flatnonzero(found.u)
        f = [sum(found.u[i] * (self.kernel(int(i), part) @ signed) for i in used) for part in self._parts()]
        return Fit(norm2, self.y * np.concatenate(f), None), found

    def _parts(self) -> list[np.ndarray]:
        """The rows, as many at a time as f is made of."""
        n = len(self.picked)
        return [np.arange(start, min(start + n, self.T)) for start in range(0, self.T, n)]

    def kernel(self, i: int, rows: np.ndarray) -> np.ndarray:
        """kappa_i of these rows (r,) with the picked ones (n,), shape (r, n), by the engine's definition."""
        from omkl.engine.slot_values import kernel_matrix

        kernels = range(self.m) if i == MEAN else [i]
        K: Any = sum(kernel_matrix(self.pool, k, self.X, rows, self.picked) for k in kernels)
        return K / self.m if i == MEAN else K


# ------------------------------------------------------------------ a repetition again


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

"""Streams of more than two classes, and a learner beside its naive twin on them."""

from typing import Any

import numpy as np

from omkl import seeds
from omkl.config import learner_spec
from omkl.engine.budgeted import Budget
from omkl.engine.expansion import Expansion
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.passes.learner import Learner
from omkl.testing.cases import csr_of, new_learner, pool_for
from omkl.testing.definitions import Result
from omkl.testing.twins import SEED, Twin

Rows = tuple[np.ndarray, np.ndarray]  # X (T, d), label (T,)


def clouds(T: int, C: int, d: int = 4, seed: int = 0) -> Rows:
    """Overlapping clouds of real numbers, one of each class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(C, size=T)
    return rng.normal(size=(T, d)) + 1.2 * rng.normal(size=(C, d))[label], label


def ties(T: int, C: int, d: int = 3, seed: int = 0) -> Rows:
    """Whole numbers from a small grid: equal distances, duplicates of several classes, zero rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 3, (T, d)) * (rng.random((T, d)) < 0.6)
    return X.astype(float), rng.integers(C, size=T)


def class_stream(X: np.ndarray, label: np.ndarray, n_classes: int) -> Stream:
    """The engine's stream of these rows; two classes are told apart as many are, too."""
    return make_stream(*csr_of(X), label, np.arange(len(X)), max(n_classes, 3))


def seed_of(name: str) -> int:
    """The seed of a learner's draws, and its twin's."""
    return seeds.learner_seed(SEED, learner_spec(name).draws_as or name)


def class_learner(
    name: str, X: np.ndarray, n_classes: int, given: Any, block: int | None = None, **over: Any
) -> Learner:
    """A fresh learner for rows like these."""
    how: dict[str, Any] = {"seed": seed_of(name), "block": block, "rounds": len(X), "classes": n_classes}
    return new_learner(name, given, X.shape[1], **how, **over)


def class_pass(
    name: str,
    X: np.ndarray,
    label: np.ndarray,
    n_classes: int,
    given: Any,
    block: int | None = None,
    **over: Any,
) -> tuple[Learner, Trace]:
    """A learner after one pass over these rows, and its trace."""
    learner = class_learner(name, X, n_classes, given, block, **over)
    return learner, learner.run(class_stream(X, label, n_classes))[0]


def twin_pass(twin: Twin, name: str, X: np.ndarray, label: np.ndarray, given: Any, **over: Any) -> Result:
    """The result of a learner's twin on the same rows with the same draws."""
    spec = learner_spec(name)
    params = {**spec.usual("classification"), **over}
    own = pool_for(spec, params, given) or {"normalise": "none", "kernels": []}
    rng = np.random.default_rng(seed_of(name))
    hyper = {k: v for k, v in params.items() if k not in ("kernel", "prefix", "select")}
    normal = "pool_normalise" if "normalise" in hyper else "normalise"
    return twin(X, label, own["kernels"], **{normal: own["normalise"]}, rng=rng, **hyper)


def class_coefficients(learner: Learner) -> Rows:
    """Stored rows (n,) and the coefficients (m, C, n) of each kernel and class."""
    E, C = learner.classifiers, learner.classes
    if isinstance(E, Expansion):
        n, m = E.size[0], E.n_sv.size
        made = np.zeros((m, C, n))
        i, j = np.mgrid[:m, :n]
        np.add.at(made, (i, E.class_of[m, :n], j), E.A[:, :n])
        np.subtract.at(made, (i, E.class_of[:m, :n], j), E.A[:, :n])
        return E.origin[:n], made
    assert isinstance(E, Budget)
    kept = np.flatnonzero(E.users > 0)
    kept = kept[np.argsort(E.origin[kept])]
    place = np.zeros(E.norm2.size, int)
    place[kept] = np.arange(kept.size)
    made = np.zeros((E.n_sv.size, C, kept.size))
    for i, n in enumerate(E.n_sv):
        np.add.at(made[i].T, place[E.holds[:n, i]], E.A[:n, i])
    return E.origin[kept], made


def assert_as_the_twin(learner: Learner, trace: Trace, result: Result, near: float = 1e-9) -> None:
    """Same mistakes, predictions and vectors in every round; scores, weights and coefficients to 1e-9.

    near: the twin's, where it has one; then the scores alone say whether coefficients are the same
    """
    np.testing.assert_array_equal(trace.mistake, result.mistakes)
    np.testing.assert_array_equal(trace.predicted, result.predicted)
    far, rtol = np.abs(result.scores).max(), near if near < 1e-8 else 100 * near
    np.testing.assert_allclose(trace.score, result.scores, rtol=near, atol=near * far)
    if learner.weights is not None:
        assert result.weights is not None, "the twin gives no weights"
        np.testing.assert_allclose(learner.weights, result.weights, rtol=rtol, atol=1e-300)
    if learner.classifiers is not None:
        np.testing.assert_array_equal(learner.classifiers.n_sv, result.n_sv_per_kernel)
        rows, coefficients = class_coefficients(learner)
        coefficients = (
            coefficients * np.resize(learner.state.get("scale", 1.0), len(coefficients))[:, None, None]
        )
        np.testing.assert_array_equal(rows, result.stored)
        if near == 1e-9:
            np.testing.assert_allclose(coefficients, result.coefficients, rtol=1e-6, atol=1e-9)

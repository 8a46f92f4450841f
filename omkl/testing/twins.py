"""A learner and its naive twin on one stream: both passes, and their comparison round by round."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from omkl import seeds
from omkl.config import learner_spec, pool
from omkl.config.kernel_kinds import with_median
from omkl.data.dataset import Dataset
from omkl.engine.budgeted import Budget
from omkl.engine.expansion import Expansion
from omkl.engine.stream import Trace
from omkl.errors import counted
from omkl.passes.one_pass import whole_pass
from omkl.rounds.learner import Learner
from omkl.testing.cases import dataset, fitting, matrix_of, slots_of, stored
from omkl.testing.definitions import Result, kernels

SEED = 20
SOLVED = {"ahpatron", "bomkc_ahpatron"}  # beside those that keep matrices over stored vectors: `solves`
POOLS = ("paper16", "paper16_cosine", "laplace13")
KERNELS = [
    {"kind": "gaussian", "gamma": 0.01},
    {"kind": "laplacian", "sigma": 4.0},
    {"kind": "polynomial", "degree": 4, "scale": 0.5, "coef0": 1.0},
    {"kind": "matern32", "sigma": 4.0},
    {"kind": "rational_quadratic", "sigma": 8.0, "alpha": 0.5},
]
X0 = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]])
EDGES = {
    "one round": (X0[:1], [-1.0]),
    "one class": (np.tile(X0, (20, 1)) + np.arange(40)[:, None], np.ones(40)),
    "zero rows": (np.zeros((30, 3)), np.where(np.arange(30) % 3, 1.0, -1.0)),
    "the same row with both labels": (np.tile(X0[:1], (40, 1)), np.where(np.arange(40) % 2, -1.0, 1.0)),
    "the same row, labels in disorder": (
        np.tile([[0.3, -1.7, 2.2]], (9, 1)),
        np.array([1.0, -1, -1, 1, 1, -1, 1, -1, -1]),
    ),
    "pairs with both labels": (np.repeat(np.tile(X0, (10, 1)), 2, axis=0), np.tile([1.0, -1.0], 20)),
    "one feature, whole numbers": (np.arange(60)[:, None] % 7, np.where(np.arange(60) % 4, 1.0, -1.0)),
}
Twin = Callable[..., Result]


class Passes(NamedTuple):
    """A learner's pass and its twin's: figures, the learner after it, its trace, the twin's Result.

    near: relative difference up to which scores are the same: the twin's attribute ``near``, usually 1e-9
    """

    figures: dict[str, Any]
    learner: Learner
    trace: Trace
    result: Result
    near: float = 1e-9


class PoolRows:
    """pool_rows of the twins, computed once for a stream and pool instead of once for each learner."""

    def __init__(self) -> None:
        self.key: Any = None
        self.values: list[np.ndarray] = []
        self.plain = kernels.pool_rows

    def __call__(self, X: np.ndarray, given: list[dict], normalise: str = "none") -> Callable:
        key = (X.tobytes(), str(given), normalise)
        if len(given) == 1:
            return self.plain(X, given, normalise)
        if key != self.key:
            one = self.plain(X, given, normalise)
            self.key, self.values = key, [one(t) for t in range(len(X))]
        return self.values.__getitem__


ROWS_ONCE = PoolRows()


@contextmanager
def sharing_rows(twins: list[ModuleType]) -> Iterator[None]:
    """Let the twins of these modules share kernel rows."""
    with ExitStack() as stack:
        for module in twins:
            if hasattr(module, "pool_rows"):
                stack.enter_context(mock.patch.object(module, "pool_rows", ROWS_ONCE))
        yield


def both(
    name: str,
    twin: Twin,
    data: Dataset,
    order: np.ndarray,
    pool_name: str | dict | None,
    block: int | None = None,
    **over: Any,
) -> Passes:
    """Run a learner and its twin on one stream with one seed; over: hyperparameters besides the defaults.

    pool_name: a pool of conf/pool, or a pool itself; of a width in medians the median is 1
    block: rows that the learner computes at once
    """
    spec = learner_spec(name)
    params = {**spec.usual(data.task), **over}
    given = None
    if spec.kernels == "pool":
        given = fitting(spec, pool_name if isinstance(pool_name, dict) else pool(str(pool_name)))
        given = with_median(given, 1.0)
    if spec.kernels == "own":
        params["kernel"] = with_median({"kernels": [params["kernel"]]}, 1.0)["kernels"][0]
    figures, learner, trace, *_ = whole_pass(spec, params, given, data, order, SEED, block=block)
    assert isinstance(learner, Learner), "a twin is of a learner of omkl"
    hyper = {k: v for k, v in params.items() if k not in ("kernel", "prefix")}
    if hyper.get("select") == "hindsight":  # drawn as choose_kernels does; the twin counts in arrivals
        apart = np.random.default_rng(seeds.derive("apart", data.content_hash)).permutation(data.T)
        hyper["separate"] = np.argsort(order)[apart]
    normal = "pool_normalise" if "normalise" in hyper else "normalise"
    _check_arguments(twin, {*hyper, normal})
    result = twin(
        matrix_of(data)[order],
        data.y[order].astype(np.int64) if data.n_classes > 2 else data.y[order],
        [params["kernel"]] if spec.kernels == "own" else given["kernels"] if given else [],
        **{normal: given["normalise"] if given else "none"},
        rng=np.random.default_rng(seeds.learner_seed(SEED, spec.draws_as or name)),
        **hyper,
    )
    assert result is not None, "the twin returns nothing: it must return a Result, such as E.result()"
    return Passes(figures, learner, trace, result, getattr(twin, "near", 1e-9))


def _check_arguments(twin: Twin, given: set[str]) -> None:
    """Raise AssertionError, with the twin's place, where it does not take the learner's hyperparameters."""
    try:
        inspect.signature(twin).bind(None, None, None, rng=None, **dict.fromkeys(given))
    except TypeError as error:
        code = inspect.unwrap(twin).__code__
        place = f"{code.co_filename}:{code.co_firstlineno}"
        what = f"the twin {code.co_name} does not take the learner's hyperparameters"
        raise AssertionError(f"{place}: {what}: {error}") from None


def solves(name: str) -> bool:
    """Whether a learner's coefficients solve linear systems, as exact as these are well conditioned."""
    spec = learner_spec(name)
    sides: list[tuple] = [getattr(resource, "shape", ())[-2:] for resource in spec.state.values()]
    slots = [side for side in sides if len(side) == 2 and side[0] == side[1]]
    return name in SOLVED or any(side[0] in (spec.budget, *spec.state) for side in slots)


def small(name: str) -> dict[str, Any]:
    """Return hyperparameters with which a learner that is slow in plain steps has less to compute."""
    spec = learner_spec(name)
    budget = {spec.budget: 20} if solves(name) and spec.budget else {}
    squares = any(getattr(resource, "shape", ())[-2:] == ("2D", "2D") for resource in spec.state.values())
    many = "D" in spec.hyperparameters and spec.hyperparameters["D"].value > 200
    return budget | ({"D": 6} if squares or many or name == "omkl_gf" else {})


def pools_of(name: str) -> tuple[str, ...]:
    """Return the pools that a learner is compared on."""
    spec = learner_spec(name)
    return (spec.usual_pool,) if spec.usual_pool else POOLS if spec.kernels == "pool" else POOLS[:1]


def kernels_for(name: str) -> list[dict[str, Any]]:
    """Return what a learner with a kernel of its own is compared with beside its default, as ``over``."""
    spec = learner_spec(name)
    kernels_of = KERNELS if spec.kernels == "own" else []
    # squared losses of polynomials of unscaled data leave double precision; twins that solve are slow
    if "regression" in spec.tasks or solves(name):
        kernels_of = kernels_of[:2]
    if spec.pool != "any":
        kernels_of = kernels_of[:1]
    return [small(name) | over for over in ({}, *({"kernel": kernel} for kernel in kernels_of))]


def edge(name: str) -> Dataset:
    """Return a degenerate stream of EDGES."""
    return dataset(*EDGES[name], name)


def _same_rounds(what: str, learner_has: np.ndarray, twin_has: np.ndarray, differ: np.ndarray) -> None:
    if differ.any():
        t = int(np.argmax(differ))
        count = f"{differ.sum()} of {differ.size} rounds differ"
        raise AssertionError(f"round {t + 1}: {what} {learner_has[t]}, the twin's {twin_has[t]} ({count})")


def assert_equal(name: str, data: Dataset, order: np.ndarray, passes: Passes) -> None:
    """Same mistakes, counts and stored vectors in every round; weights and scores to 1e-9.

    The AssertionError names the first round that differs.
    """
    figures, learner, trace, result, near = passes
    T = len(result.scores)
    assert T == data.T, f"the twin has {counted(T, 'round')}, the stream {data.T}"
    differ = trace.mistake != result.mistakes
    if (
        "regression" in learner_spec(name).tasks and data.n_classes == 2
    ):  # a score of 0 is one of rounding: no ties are counted here
        differ &= np.abs(result.scores) > near * np.abs(result.scores).max()
    _same_rounds("mistake", trace.mistake, result.mistakes, differ)
    assert figures["mistakes"] == (None if data.task == "regression" else trace.mistake.sum())
    far = np.abs(result.scores).max()
    close = np.isclose(trace.score, result.scores, rtol=near, atol=near * far, equal_nan=True)
    _same_rounds("score", trace.score, result.scores, ~close)
    _same_measures(name, figures, trace, result, near)
    if data.n_classes > 2:
        assert_same_classes(learner, trace, order, result, near)
    if result.weights is not None and figures["weights"] is not None:
        rtol = 100 * near if near > 1e-9 else near
        # smaller weights change no prediction, and are powers of e of losses in the hundreds
        np.testing.assert_allclose(figures["weights"], result.weights, rtol=rtol, atol=1e-100)
    else:
        assert figures["weights"] is None
    if learner.classifiers is None or data.n_classes > 2:
        return
    union, twins = figures["n_sv_union"], len(result.stored)
    assert union == twins, f"the learner stores {counted(union, 'vector')} at the end, the twin {twins}"
    stores_all = "regression" in learner_spec(name).tasks  # and rounding decides which coefficients are 0
    if not stores_all:
        assert figures["n_sv_per_kernel"] == result.n_sv_per_kernel.tolist()
        assert figures["n_sv_sum"] == result.n_sv_per_kernel.sum()
        combined = trace.n_sv_combined
        assert result.combined is not None, "the twin of two classes counts the vectors combined"
        _same_rounds("vectors combined", combined, result.combined, combined != result.combined)
    if "B" in learner.state:
        B, scale = learner.state["B"], learner.state.get("scale", np.ones(1))
        if solves(name):
            assert_same_functions(data, order, B, result, learner.pool, near)
        else:
            assert_same_slots(data, order, B, scale, result)
        return
    kept, rows = stored(learner), order[result.stored]
    np.testing.assert_array_equal(kept["indptr"], np.append(0, np.cumsum(np.diff(data.indptr)[rows])))
    at = np.concatenate([[], *(np.arange(data.indptr[r], data.indptr[r + 1]) for r in rows)]).astype(int)
    np.testing.assert_array_equal(kept["indices"], data.indices[at])
    np.testing.assert_array_equal(kept["values"], data.values[at])
    shared = len(result.coefficients) == 1  # the mean kernel's perceptron: one list for all kernels
    coefficients = np.broadcast_to(result.coefficients, kept["A"].shape) if shared else result.coefficients
    # a step 1 - y f of a cubic kernel has the rounding error of f, a sum of terms up to 1e7
    scale = learner.state.get("scale", np.ones(len(kept["A"])))[:, None]
    np.testing.assert_allclose(kept["A"] * scale, coefficients, rtol=1e-5, atol=1e-9)
    if not stores_all:
        np.testing.assert_array_equal(kept["A"] * scale != 0, coefficients != 0)


def _same_measures(name: str, figures: dict[str, Any], trace: Trace, result: Result, near: float) -> None:
    """Compare what a learner reports beside its scores (about.measures)."""
    assert trace.further is not None
    reported = np.zeros((0, 0)) if result.further is None else np.asarray(result.further)
    for at, measure in enumerate(learner_spec(name).measures if "mse" in figures else ()):
        said = f"trace.further[t, {at}] and Result.further[t, {at}] must have the {measure} of each round"
        assert reported.shape == trace.further.shape, said
        compiled, twins = trace.further[:, at], reported[:, at]
        _same_rounds(
            measure, compiled, twins, ~np.isclose(compiled, twins, rtol=near, atol=near, equal_nan=True)
        )
        assert measure not in figures or np.isclose(figures[measure], twins.mean(), rtol=near, atol=near)


def assert_same_slots(data: Dataset, order: np.ndarray, B: Any, scale: np.ndarray, result: Result) -> None:
    """Every kernel of a Budget holds the twin's vectors with the twin's coefficients, in whatever slots."""
    for i, coefficients in enumerate(result.coefficients):
        its = []
        for j in np.flatnonzero(coefficients):
            part = slice(*data.indptr[order[result.stored[j]] :][:2])
            its.append((data.indices[part].tolist(), data.values[part].tolist(), coefficients[j]))
        mine = [kept for kept in slots_of(B, i) if kept[2]]
        same = [kept[:2] for kept in mine] == [kept[:2] for kept in sorted(its)]
        assert same, f"kernel {i} stores other vectors than the twin at the end"
        np.testing.assert_allclose(
            [kept[2] * scale[0] for kept in mine], [kept[2] for kept in sorted(its)], rtol=1e-5, atol=1e-9
        )


def assert_same_functions(
    data: Dataset, order: np.ndarray, B: Any, result: Result, given: Any, near: float
) -> None:
    """Every kernel of a Budget holds the twin's vectors, and is the same function of every example.

    Coefficients that solve a linear system are as exact as it is well conditioned, and nearly dependent
    vectors share one value in many ways; outputs are exact. Theirs are 0 up to 1e-10 of their terms, or of
    the largest coefficient.
    """
    rows = kernels.pool_rows(matrix_of(data)[order], given["kernels"], given["normalise"])
    K = np.array([rows(t) for t in result.stored]).reshape(*result.coefficients.T.shape, data.T)  # (n, m, T)
    place: dict[Any, int] = {}
    for j, t in enumerate(result.stored):
        part = slice(*data.indptr[order[t] :][:2])
        place.setdefault((tuple(data.indices[part]), tuple(data.values[part])), j)
    for i, coefficients in enumerate(result.coefficients):
        mine = np.zeros(len(coefficients))
        for indices, values, a in slots_of(B, i):
            mine[place[tuple(indices), tuple(values)]] += a
        terms = (np.abs(mine) + np.abs(coefficients)) @ np.abs(K[:, i])
        largest = np.abs(coefficients).max(initial=0)
        apart = np.abs((mine - coefficients) @ K[:, i])
        assert (apart <= near * terms + 0.1 * near * largest).all(), (
            f"the function of kernel {i} differs from the twin's at the end"
        )


def assert_same_classes(
    learner: Learner, trace: Trace, order: np.ndarray, result: Result, near: float
) -> None:
    """Of more than two classes: the same predictions, and each kernel and class has the twin's coefficients.

    near: the twin's; where it is not 1e-9 the scores alone say whether coefficients are the same
    """
    assert result.predicted is not None, (
        "with more than two classes the twin must return the class predicted: see docs/extend.md"
    )
    _same_rounds("prediction", trace.predicted, result.predicted, trace.predicted != result.predicted)
    if learner.classifiers is None:
        return
    np.testing.assert_array_equal(learner.classifiers.n_sv, result.n_sv_per_kernel)
    rows, coefficients = _of_classes(learner)
    np.testing.assert_array_equal(rows, order[result.stored])
    if near == 1e-9:
        scale = np.resize(learner.state.get("scale", 1.0), len(coefficients))[:, None, None]
        np.testing.assert_allclose(coefficients * scale, result.coefficients, rtol=1e-6, atol=1e-9)


def _of_classes(learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """Stored rows (n,) and the coefficients (m, C, n) of each kernel and class."""
    E, C = learner.classifiers, learner.classes
    if isinstance(E, Expansion):
        n, m = E.n_sv_union[0], E.n_sv.size
        A = np.zeros((m, C, n))
        i, j = np.mgrid[:m, :n]
        np.add.at(A, (i, E.class_of[m, :n], j), E.A[:, :n])
        np.subtract.at(A, (i, E.class_of[:m, :n], j), E.A[:, :n])
        return E.origin[:n], A
    assert isinstance(E, Budget)
    kept = np.flatnonzero(E.users > 0)
    kept = kept[np.argsort(E.origin[kept])]
    place = np.zeros(E.norm2.size, int)
    place[kept] = np.arange(kept.size)
    A = np.zeros((E.n_sv.size, C, kept.size))
    for i, n in enumerate(E.n_sv):
        np.add.at(A[i].T, place[E.holds[:n, i]], E.A[:n, i])
    return E.origin[kept], A

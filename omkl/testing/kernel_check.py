"""What `omkl check` asks of a kernel of a folder, and of every kind of omkl's: values, and sums of them.

The engine's sums are those of the plain formula, whatever the kernel is like. The vectors are random, near,
far, whole numbers, equal or 0, and the parameters extreme, so that shortcuts are taken wherever the engine
has one: values that vanish, tables, sums that rounding could decide.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse as sp

from omkl import conf
from omkl.config import learner_names, learner_spec
from omkl.config.kernel_kinds import KernelKind, check_kernel, kernel_kind
from omkl.data.dataset import Dataset
from omkl.engine import budgeted, expansion
from omkl.engine.called_kernels import PRODUCTS, arguments_of, function_of
from omkl.engine.kernels import POLYNOMIAL, VALUE_ERROR, Pool, make_pool, of_distance, prepare_kernels
from omkl.engine.lookup import WORTH
from omkl.engine.open_block import close
from omkl.engine.slot_values import kernel_matrix
from omkl.engine.stream import make_stream
from omkl.errors import UserError
from omkl.rounds.needs import fitted
from omkl.testing import twins
from omkl.testing.cases import clouds, csr_of, dataset, matrix_of
from omkl.testing.definitions.kernels import pool_rows

FACTORS = (1.0, 1e-3, 0.02, 0.3, 3.0, 40.0, 1e4)  # of a parameter's usual value
STORED, ROWS = 40, 45
_ROUNDING = 5e-16  # of a term in a sum, beside the error of its value


class Counts(NamedTuple):
    """What a contract compared: outputs, of these equal to the plain sum to the bit, and exactly 0."""

    outputs: int
    equal: int
    zero: int


def extreme_settings(usual: Mapping[str, Any], check: Any) -> Iterator[dict[str, Any]]:
    """Yield a kernel with each of its numbers far smaller and larger, as its domain allows.

    usual: the kernel; check: returns it in canonical form, or raises ValueError
    """
    seen: list[dict[str, Any]] = []
    numbers = [name for name, value in usual.items() if type(value) in (int, float)]
    for name in numbers or [""]:
        for factor in FACTORS:
            changed = {} if not name else {name: type(usual[name])(round(usual[name] * factor, 12))}
            try:
                kernel = check({**usual, **changed})
            except ValueError:
                continue  # outside its domain
            if kernel not in seen:
                seen.append(kernel)
                yield kernel


def streams(seed: int = 0, negative: bool = True) -> dict[str, np.ndarray]:
    """Return rows (STORED + ROWS, d) by what they are like; negative: whether some numbers are below 0."""
    rng = np.random.default_rng(seed)
    T = STORED + ROWS
    normal = rng.normal(size=(T, 4)) * (rng.random((T, 4)) < 0.8)
    whole = rng.integers(0, 4, (T, 6)) * (rng.random((T, 6)) < 0.6)
    sets = {
        "random": normal,
        "near": 1e-4 * normal,
        "far": 1e4 * normal,
        "whole numbers": whole.astype(float),
        "0 and 1": (rng.random((T, 70)) < 0.2).astype(float),
        "equal": normal[rng.integers(0, 3, T)],
        "zero": np.zeros((T, 3)),
        "sparse": rng.normal(size=(T, 520)) * (rng.random((T, 520)) < 0.01),
    }
    return sets if negative else {name: np.abs(X) for name, X in sets.items()}


def engine_sums(
    X: np.ndarray, A: np.ndarray, kernels: Sequence[dict], normalise: str, worth: int = WORTH, block: int = 24
) -> np.ndarray:
    """f (m, ROWS) of an Expansion that has stored the first vectors of X with coefficients A (m, STORED).

    worth: stored vectors from which on values are looked up
    """
    stream = make_stream(*csr_of(X), np.ones(len(X)), np.arange(len(X)))
    E = expansion.make_expansion(make_pool(list(kernels), normalise), X.shape[1], block)
    E = expansion.reserve(E, STORED, int(np.count_nonzero(X)), X.shape[1])
    E.tables.worth[0] = worth
    for t in range(STORED):
        expansion.outputs(E, stream, t)
        expansion.add(E, stream, t, np.ascontiguousarray(A[:, t]))
    close(E.open)
    return np.array([expansion.outputs(E, stream, t).copy() for t in range(STORED, len(X))]).T


def slot_sums(X: np.ndarray, A: np.ndarray, kernels: Sequence[dict], normalise: str) -> np.ndarray:
    """The same of a Budget."""
    stream = make_stream(*csr_of(X), np.ones(len(X)), np.arange(len(X)))
    B = budgeted.make_budget(make_pool(list(kernels), normalise), STORED, X.shape[1], 24)
    B = budgeted.reserve_slots(B, STORED, X.shape[1])
    for t in range(STORED):
        budgeted.outputs(B, stream, t)
        for i in range(len(kernels)):
            budgeted.add(B, stream, t, i, t, A[i, t])
    return np.array([budgeted.outputs(B, stream, t).copy() for t in range(STORED, len(X))]).T


def check_sums(
    given: Sequence[dict] | Callable[[int], list[dict]], normalise: str = "none", negative: bool = True
) -> Counts:
    """Compare the engine's sums with the plain ones on every stream.

    given: kernels, or what returns them for a number of features

    Signs are the same in all of them, values up to the error that the engine states of a kind, and equal
    where it states none. Raises AssertionError that names the kernel and the stream.
    """
    outputs = equal = zero = 0
    for name, X in streams(negative=negative).items():
        kernels = given(X.shape[1]) if callable(given) else given
        exact = are_exact(make_pool(list(kernels), normalise))[:, None]
        rng = np.random.default_rng(1)
        A = rng.choice([-1.0, 0.0, 1.0], (len(kernels), STORED))
        A[1::2] *= rng.random(STORED)
        rows = pool_rows(X, list(kernels), normalise)
        plain, absolute = np.zeros((2, len(kernels), len(X)))
        for t in range(STORED):
            terms = A[:, t, None] * rows(t)
            plain, absolute = plain + terms, absolute + np.abs(terms)
        plain, absolute = plain[:, STORED:], absolute[:, STORED:]
        found = {
            "": engine_sums(X, A, kernels, normalise, worth=10**9),
            " in larger blocks": engine_sums(X, A, kernels, normalise, worth=10**9, block=128),
            " looked up": engine_sums(X, A, kernels, normalise, worth=1),
            " in slots": slot_sums(X, A, kernels, normalise),
        }
        error = (VALUE_ERROR + STORED * _ROUNDING) * absolute + 1e-290  # subnormals have no relative error
        error[np.broadcast_to(exact, error.shape)] = 0.0
        for how, f in found.items():
            wrong = ~(np.abs(f - plain) <= error) | (np.sign(f) != np.sign(plain))
            if wrong.any():
                i, r = map(int, np.argwhere(wrong)[0])
                raise AssertionError(
                    f"{kernels[i]}: on vectors that are {name}{how}, a sum is {f[i, r]!r}, "
                    f"and {plain[i, r]!r} by the formula ({wrong.sum()} of {wrong.size} differ)"
                )
            outputs, zero = outputs + f.size, zero + int((f == 0).sum())
            equal += int((f == plain).sum())
    return Counts(outputs, equal, zero)


def are_exact(pool: Pool) -> np.ndarray:
    """Whether the values that the engine computes of each kernel are the definition's (m,)."""
    fast = np.array([of_distance.py_func(kind) for kind in pool.kind])
    return ~fast & ~((pool.kind == POLYNOMIAL) & pool.cosine[0])


MOST_ROWS = 300  # of a data set of the user's
FEW_ROWS = 40  # where each pair is a call
# Learners that sum kernel values in each of the engine's ways: all stored vectors; budgets, Gram matrices.
LEARNERS = ("omkc_dd", "bomkc_projectron", "perceptron")
_NEGATIVE = 1e-10  # share of the largest eigenvalue below which a negative one is rounding, for each row
Check = Callable[[], Any]


def kernels_of(folder: Path) -> list[str]:
    """Return the kinds of kernels of a folder of OMKL_PATH."""
    conf_folder = folder / "conf" / "kernel"
    return [name for name in conf.options("kernel") if conf.file("kernel", name).parent == conf_folder]


def checks_of(
    name: str, data: Mapping[str, Dataset], twins_by_name: Mapping[str, twins.Twin]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of a kind by what they check: an AssertionError says what is wrong.

    data: sets of the user's by name    twins_by_name: naive twins by learner
    """
    kind = kernel_kind(name)
    yield "compiles", partial(prepare_kernels, [_usual(kind, 1)], "none")
    sets = {f"random vectors, {what}": X for what, X in streams(negative=kind.negative).items()}
    sets |= {f"data={word}": matrix_of(ref)[:MOST_ROWS] for word, ref in data.items()}
    yield "indices within bounds", partial(_within_bounds, kind, list(sets.values()))
    yield "compiled as written", partial(_as_written, kind)
    for what, X in sets.items():
        yield f"finite, symmetric: {what}", partial(_symmetric, kind, X)
    for what, X in sets.items():
        yield f"positive semidefinite: {what}", partial(_semidefinite, kind, X)
    for normalise in ("none", "cosine"):
        yield f"sums, {normalise}", partial(_sums, kind, normalise)
    for learner in [
        learner for learner in LEARNERS if learner in twins_by_name and learner in learner_names()
    ]:
        yield f"twin of {learner}", partial(_twin, kind, learner, twins_by_name[learner])


def reference() -> Path | None:
    """Return the folder that holds the naive twins of omkl's own learners, None without a checkout."""
    root = Path(importlib.import_module("omkl").__file__ or "").resolve().parents[1]
    return root if (root / "tests" / "reference").is_dir() else None


def _usual(kind: KernelKind, d: int) -> dict[str, Any]:
    """Return a kernel of this kind with its defaults, for d features."""
    ones = {name: [1.0] * d for name in kind.lists}
    return check_kernel({"kind": kind.name, **ones})


def _of(kind: KernelKind, X: np.ndarray) -> dict[str, Any]:
    """Return a kernel of this kind with its defaults, set from the data where these say so."""
    row, column = np.nonzero(X)
    given = {"normalise": "none", "kernels": [check_kernel({"kind": kind.name})]}
    return fitted(given, X.shape[1], column, X[row, column], len(X))["kernels"][0]


def _matrix(kind: KernelKind, X: np.ndarray) -> np.ndarray:
    every = np.arange(len(X))
    return kernel_matrix(make_pool([_of(kind, X)]), 0, sp.csr_matrix(X), every, every)


def _values(
    kind: KernelKind, X: np.ndarray, compiled: Callable = lambda function_as_written: function_as_written
) -> np.ndarray:
    """Return the values (n, n) of the kind's own function of rows (n, d), one by one."""
    function_as_written = function_of(kind.name)
    form, names = arguments_of(function_as_written, "")
    kernel, function = _usual(kind, X.shape[1]), compiled(function_as_written)
    given = [np.array(kernel[name]) if isinstance(kernel[name], list) else kernel[name] for name in names]
    K = np.zeros((len(X), len(X)))
    for s, x in enumerate(X):
        for t, z in enumerate(X):
            rows = [part for v in (x, z) for part in (np.flatnonzero(v).astype(np.int32), v[v != 0])]
            K[s, t] = function(*((x @ z, x @ x, z @ z) if form == PRODUCTS else rows), *given)
    return K


def _within_bounds(kind: KernelKind, sets: list[np.ndarray]) -> None:
    """No index of an array is out of its bounds, where compiled code would read other memory, or crash."""
    for X in sets:
        _values(kind, X[:FEW_ROWS], numba.njit(boundscheck=True))


def _as_written(kind: KernelKind) -> None:
    """The compiled function gives what Python does with the same text."""
    X = streams(negative=kind.negative)["random"][:12]
    values, every = _values(kind, X), np.arange(len(X))
    K = kernel_matrix(make_pool([_usual(kind, X.shape[1])]), 0, sp.csr_matrix(X), every, every)
    for s in every:
        for t in every:
            value = float(values[s, t])
            assert np.isclose(K[s, t], value, rtol=1e-9, atol=1e-12), (
                f"compiled, the kernel of two vectors is {K[s, t]!r}, and {value!r} in Python"
            )


def _symmetric(kind: KernelKind, X: np.ndarray) -> None:
    K = _matrix(kind, X)
    if not np.isfinite(K).all():
        s, t = map(int, np.argwhere(~np.isfinite(K))[0])
        raise AssertionError(f"the kernel of rows {s + 1} and {t + 1} is {K[s, t]}: it must be finite")
    far = np.abs(K - K.T) > 1e-9 * np.abs(K).max() + 1e-300
    if far.any():
        s, t = map(int, np.argwhere(far)[0])
        raise AssertionError(
            f"the kernel of rows {s + 1} and {t + 1} is {K[s, t]!r}, that of {t + 1} and {s + 1} {K[t, s]!r}"
        )


def smallest_eigenvalue(K: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a Gram matrix (n, n)."""
    values = np.linalg.eigvalsh((K + K.T) / 2.0)
    return float(values[0]), float(values[-1])


def _semidefinite(kind: KernelKind, X: np.ndarray) -> None:
    low, high = smallest_eigenvalue(_matrix(kind, X))
    if low >= -_NEGATIVE * len(X) * max(high, 0.0) - 1e-300 or kind.semidefinite != "yes":
        return
    raise AssertionError(
        f"the smallest eigenvalue of its Gram matrix is {low:.3g} (the largest {high:.3g}): the kernel is "
        "not positive semidefinite, so bounds do not hold and squared norms may be negative; a perceptron "
        'runs with it nevertheless: write `semidefinite: "no"` under about, if that is intended'
    )


def _sums(kind: KernelKind, normalise: str) -> None:
    check_sums(lambda d: list(extreme_settings(_usual(kind, d), check_kernel)), normalise, kind.negative)


def _twin(kind: KernelKind, learner: str, twin: twins.Twin) -> None:
    """A learner and its naive twin on rows that suit the kernel, with a Gaussian beside it."""
    data = clouds()
    X = matrix_of(data)[:120]
    data = dataset(X if kind.negative else np.abs(X), data.y[:120], "clouds")
    kernel, over = _usual(kind, data.d), dict[str, Any]()
    pool: Any = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}, kernel]}
    if learner_spec(learner).kernels == "own":
        over, pool = {"kernel": kernel}, None
    order = np.arange(data.T)
    try:
        passes = twins.both(learner, twin, data, order, pool, **twins.small(learner), **over)
    except UserError as error:
        raise AssertionError(str(error)) from None
    twins.assert_equal(learner, data, order, passes)

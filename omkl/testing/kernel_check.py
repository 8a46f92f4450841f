"""What `omkl check` asks of a kernel of a folder, and of every kind of omkl's: values, and sums of them."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from omkl import conf
from omkl.config import learner_names, learner_spec
from omkl.config.kernel_kinds import KernelKind, check_kernel, kernel_kind
from omkl.data.dataset import Dataset
from omkl.engine.called_kernels import PRODUCTS, arguments_of, function_of, prepare_kernels
from omkl.engine.kernel_matrix import kernel_matrix
from omkl.engine.pool import make_pool
from omkl.errors import UserError
from omkl.passes.kernel_data import fitted
from omkl.testing import twins
from omkl.testing.cases import clouds, dataset, matrix_of
from omkl.testing.kernel_contract import check_sums, settings, streams

MOST_ROWS = 300  # of a data set of the user's
FEW_ROWS = 40  # where each pair is a call
# Learners that sum kernel values in each of the engine's ways: all stored vectors; budgets, Gram matrices.
LEARNERS = ("omkc_dd", "bomkc_projectron", "perceptron")
_NEGATIVE = 1e-10  # share of the largest eigenvalue below which a negative one is rounding, for each row
Check = Callable[[], Any]


def kernels_of(folder: Path) -> list[str]:
    """Return the kinds of kernels of a folder of OMKL_PATH."""
    own = folder / "conf" / "kernel"
    return [name for name in conf.options("kernel") if conf.file("kernel", name).parent == own]


def checks_of(
    name: str, data: Mapping[str, Dataset], known: Mapping[str, twins.Twin]
) -> Iterator[tuple[str, Check]]:
    """Yield the checks of a kind by what they check: an AssertionError says what is wrong.

    data: sets of the user's by name    known: naive twins by learner
    """
    kind = kernel_kind(name)
    yield "compiles", partial(prepare_kernels, [_usual(kind, 1)], "none")
    sets = {f"random vectors, {what}": X for what, X in streams(negative=kind.negative).items()}
    sets |= {f"data={word}": matrix_of(own)[:MOST_ROWS] for word, own in data.items()}
    yield "indices within bounds", partial(_within_bounds, kind, list(sets.values()))
    yield "compiled as written", partial(_as_written, kind)
    for what, X in sets.items():
        yield f"finite, symmetric: {what}", partial(_symmetric, kind, X)
    for what, X in sets.items():
        yield f"positive semidefinite: {what}", partial(_semidefinite, kind, X)
    for normalise in ("none", "cosine"):
        yield f"sums, {normalise}", partial(_sums, kind, normalise)
    for learner in [learner for learner in LEARNERS if learner in known and learner in learner_names()]:
        yield f"twin of {learner}", partial(_twin, kind, learner, known[learner])


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


def _values(kind: KernelKind, X: np.ndarray, compiled: Callable = lambda own: own) -> np.ndarray:
    """Return the values (n, n) of the kind's own function of rows (n, d), one by one."""
    own = function_of(kind.name)
    form, names = arguments_of(own, "")
    kernel, function = _usual(kind, X.shape[1]), compiled(own)
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
    check_sums(lambda d: list(settings(_usual(kind, d), check_kernel)), normalise, kind.negative)


def _twin(kind: KernelKind, learner: str, twin: twins.Twin) -> None:
    """A learner and its naive twin on rows that suit the kernel, with a Gaussian beside it."""
    data = clouds()
    X = matrix_of(data)[:120]
    data = dataset(X if kind.negative else np.abs(X), data.y[:120], "clouds")
    kernel, over = _usual(kind, data.d), {}
    pool: Any = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}, kernel]}
    if learner_spec(learner).kernels == "own":
        over, pool = {"kernel": kernel}, None
    order = np.arange(data.T)
    try:
        passes = twins.both(learner, twin, data, order, pool, **twins.small(learner), **over)
    except UserError as error:
        raise AssertionError(str(error)) from None
    twins.assert_equal(learner, data, order, passes)

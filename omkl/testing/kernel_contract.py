"""What every kind of kernel keeps to: the engine's sums are those of its plain formula, whatever it is like.

The vectors are random, near, far, whole numbers, equal or 0, and the parameters extreme, so that shortcuts
are taken wherever the engine has one: values that vanish, tables, sums that rounding could decide.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.engine import budgeted, expansion
from omkl.engine.kernels import POLYNOMIAL, VALUE_ERROR, of_distance
from omkl.engine.lookup import WORTH
from omkl.engine.open_block import close
from omkl.engine.pool import Pool, make_pool
from omkl.engine.stream import make_stream
from omkl.testing.cases import csr_of
from omkl.testing.definitions.kernels import pool_rows

FACTORS = (1.0, 1e-3, 0.02, 0.3, 3.0, 40.0, 1e4)  # of a parameter's usual value
STORED, ROWS = 40, 45
_ROUNDING = 5e-16  # of a term in a sum, beside the error of its value


class Counts(NamedTuple):
    """What a contract compared: outputs, of these equal to the plain sum to the bit, and exactly 0."""

    outputs: int
    equal: int
    zero: int


def settings(usual: Mapping[str, Any], check: Any) -> Iterator[dict[str, Any]]:
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
    made = {
        "random": normal,
        "near": 1e-4 * normal,
        "far": 1e4 * normal,
        "whole numbers": whole.astype(float),
        "0 and 1": (rng.random((T, 70)) < 0.2).astype(float),
        "equal": normal[rng.integers(0, 3, T)],
        "zero": np.zeros((T, 3)),
        "sparse": rng.normal(size=(T, 520)) * (rng.random((T, 520)) < 0.01),
    }
    return made if negative else {name: np.abs(X) for name, X in made.items()}


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

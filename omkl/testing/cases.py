"""Streams, pools and learners, small enough to be run hundreds of times, and the state of a learner."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from omkl.config import LearnerSpec, learner_spec, pool
from omkl.data.dataset import Dataset, content_hash
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.rounds.learner import Learner
from omkl.stacks.new_learner import new_learner
from omkl.state.array import Array

Arrays = dict[str, np.ndarray]

# Every kind of kernel and of step between kernels: ladders of ratio 4 and 16, an irregular width, polynomials
# whose degrees lie 1 and 2 apart, a duplicate.
MIXED: dict[str, Any] = {
    "normalise": "none",
    "kernels": [
        {"kind": "gaussian", "sigma": 2.0},
        {"kind": "laplacian", "sigma": 1.5},
        {"kind": "polynomial", "degree": 2, "scale": 0.5, "coef0": 1.0},
        {"kind": "gaussian", "sigma": 0.5},
        {"kind": "gaussian", "gamma": 0.3},
        {"kind": "linear"},
        {"kind": "polynomial", "degree": 3, "scale": 0.5, "coef0": 1.0},
        {"kind": "gaussian", "sigma": 0.25},
        {"kind": "gaussian", "sigma": 2.0},
        {"kind": "polynomial", "degree": 5, "scale": 0.5, "coef0": 1.0},
        {"kind": "matern32", "sigma": 1.5},
        {"kind": "rational_quadratic", "sigma": 0.5, "alpha": 2.0},
    ],
}
COSINE: dict[str, Any] = {**MIXED, "normalise": "cosine"}


def csr_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices, values of a dense matrix X (T, d), zeros left out."""
    row, column = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(X)))])
    return indptr.astype(np.int64), column.astype(np.int32), X[row, column].astype(np.float64)


def dataset(X: Any, y: Any, name: str = "made", classes: int = 2) -> Dataset:
    """A Dataset of a dense matrix X (T, d) and labels y (T,), of more than two classes 0 .. classes - 1."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    arrays = (*csr_of(X), y)
    names = tuple(map(str, range(classes))) if classes > 2 else None
    return Dataset(name, *arrays, X.shape[1], "classification", content_hash(*arrays), classes=names)


def matrix_of(data: Dataset) -> np.ndarray:
    """The matrix (T, d) of a Dataset."""
    X = np.zeros((data.T, data.d))
    X[np.repeat(np.arange(data.T), np.diff(data.indptr)), data.indices] = data.values
    return X


def wdbc() -> Dataset:
    """The real data set that scikit-learn carries: 569 rows, 30 features, unscaled; +1 is malignant."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return dataset(data.data, np.where(data.target == 0, 1.0, -1.0), "wdbc")


def ties(T: int = 300, d: int = 4, seed: int = 0) -> Dataset:
    """Whole numbers from a small grid: equal distances, duplicates with both labels, zero rows, exact 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 3, (T, d)) * (rng.random((T, d)) < 0.6)
    return dataset(X, rng.choice([-1.0, 1.0], T), "ties")


def clouds(T: int = 300, d: int = 5, seed: int = 0) -> Dataset:
    """Two overlapping clouds of real numbers."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], T)
    return dataset(rng.normal(size=(T, d)) + 0.7 * y[:, None], y, "clouds")


def numbers(data: Dataset, offset: float, scale: float, seed: int = 0) -> Dataset:
    """The rows of a set with targets that are numbers, a function of the row and noise."""
    X = matrix_of(data)
    noise = np.random.default_rng(seed).normal(0.0, 0.2, data.T)
    y = offset + scale * (np.sin(2.0 * X[:, 0]) + 0.4 * X[:, 1] + noise)
    hash_of_content = content_hash(data.indptr, data.indices, data.values, y)
    return replace(data, y=y, task="regression", content_hash=hash_of_content)


def class_clouds(T: int, C: int, d: int = 4, seed: int = 0) -> Dataset:
    """Overlapping clouds of real numbers, one of each class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(C, size=T)
    return dataset(rng.normal(size=(T, d)) + 1.2 * rng.normal(size=(C, d))[label], label, "clouds", C)


def class_ties(T: int, C: int, d: int = 3, seed: int = 0) -> Dataset:
    """Whole numbers from a small grid: equal distances, duplicates of several classes, zero rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 3, (T, d)) * (rng.random((T, d)) < 0.6)
    return dataset(X, rng.integers(C, size=T), "ties", C)


def sparse(T: int, d: int, per_row: int, seed: int = 0) -> Dataset:
    """Rows of per_row non-zeros among d columns, without a dense matrix."""
    rng = np.random.default_rng(seed)
    indices = np.sort([rng.choice(d, per_row, replace=False) for _ in range(T)], axis=1).astype(np.int32)
    values = rng.normal(size=indices.size)
    y = rng.choice([-1.0, 1.0], T)
    arrays = (np.arange(T + 1, dtype=np.int64) * per_row, indices.ravel(), values, y)
    return Dataset("sparse", *arrays, d, "classification", content_hash(*arrays))


def case_stream(data: Dataset, order: np.ndarray | None = None) -> Stream:
    """The engine's stream of a Dataset in this order (as stored when None)."""
    order = np.arange(data.T) if order is None else order
    return make_stream(data.indptr, data.indices, data.values, data.y, order, data.n_classes)


def fitting(spec: LearnerSpec, given: dict) -> dict:
    """The given pool, of which a learner with a pool of Gaussians of its own gets the Gaussians, plain."""
    if spec.usual_pool is None:
        return given
    kernels = [k for k in given["kernels"] if k["kind"] == "gaussian"] or pool("gauss3")["kernels"]
    return {**given, "normalise": "none", "kernels": kernels}


def pool_for(spec: LearnerSpec, params: dict, given: Any) -> dict | None:
    """The pool that a learner runs on: the one given as far as it fits, its own kernel, or none."""
    if spec.kernels == "own":
        return {"normalise": "none", "kernels": [params["kernel"]]}
    if spec.kernels == "none":
        return None
    given = fitting(spec, pool(given) if isinstance(given, str) else given)
    # a learner that chooses one kernel of the pool runs on that one: here on the pool's first
    return {**given, "kernels": given["kernels"][:1]} if spec.setup else given


def kernel_of(name: str) -> dict[str, Any]:
    """Hyperparameters under which a learner with a kernel of its own uses a narrow Gaussian."""
    return {"kernel": {"kind": "gaussian", "sigma": 0.5}} if learner_spec(name).kernels == "own" else {}


def fresh_learner(
    name: str,
    given: Any,
    d: int,
    *,
    seed: int = 1,
    block: int | None = None,
    rounds: int | None = None,
    classes: int = 2,
    **over: Any,
) -> Learner:
    """A fresh Learner by its name in conf/algo; over: hyperparameters other than the defaults."""
    spec = learner_spec(name)
    params = {**spec.usual("classification"), **over}
    own = pool_for(spec, params, given)
    return new_learner(spec, params, own, d, seed, block=block, rounds=rounds, classes=classes)


def one_pass(
    name: str, data: Dataset, given: Any = None, order: np.ndarray | None = None, **how: Any
) -> tuple[Learner, Trace]:
    """A fresh learner after one pass over the data, and the trace of its rounds."""
    how = {"classes": data.n_classes, **how}
    learner = fresh_learner(name, MIXED if given is None else given, data.d, **how)
    trace, _ = learner.run(case_stream(data, order))
    return learner, trace


def stored(learner: Learner) -> Arrays:
    """The arrays of an expansion or budget by name, cut to the part in use."""
    if "B" in learner.state:
        return stored_in_slots(learner.state["B"])
    E = learner.state["E"]
    n = E.n_sv_union[0]
    nnz = E.indptr[n]
    return {
        **({} if E.class_of is None else {"class_of": E.class_of[:, :n]}),
        "A": E.A[:, :n],
        "kernel_mask": E.kernel_mask[:n],
        "indptr": E.indptr[: n + 1],
        "indices": E.indices[:nnz],
        "values": E.values[:nnz],
        "norm2": E.norm2[:n],
        "counts": np.append(E.n_sv_union, E.n_sv_sum),
        "n_sv": E.n_sv,
    }


def stored_in_slots(B: Any) -> Arrays:
    """The same for a Budget: its slots in their order, whatever numbers their examples have in its store."""
    n = B.n_sv.max()
    used = np.arange(n)[:, None] < B.n_sv
    examples = B.holds[:n][used]
    ends = B.ends.reshape(-1, 2)[examples]
    at = np.concatenate([np.empty(0, int), *(np.arange(*pair) for pair in ends)])
    return {
        "A": B.A[:n, :, 0].T if B.classes is None else B.A[:n].T,
        "self_kernel": B.self_kernel[:n],
        "indptr": np.append(0, np.cumsum(ends[:, 1] - ends[:, 0])),
        "indices": B.indices[at],
        "values": B.values[at],
        "norm2": B.norm2[examples],
        "counts": np.append(B.n_sv_union, B.n_sv_sum),
        "n_sv": B.n_sv,
        "oldest": B.oldest,
    }


def slots_of(B: Any, i: int) -> list[tuple[list, list, float]]:
    """Kernel i's coefficients and stored vectors, as sorted (indices, values, coefficient)."""
    vectors = []
    for s in range(B.n_sv[i]):
        part = slice(*B.ends.reshape(-1, 2)[B.holds[s, i]])
        vectors.append((B.indices[part].tolist(), B.values[part].tolist(), B.A[s, i, 0]))
    return sorted(vectors)


def state(learner: Learner) -> Arrays:
    """Copies of all arrays that make up a learner's state, but for its random generator."""
    arrays = stored(learner) if learner.classifiers is not None else {}
    for k, v in learner.state.items():
        if isinstance(v, np.ndarray):
            arrays[k] = in_use(learner, k)
        elif k == "F":
            arrays["F.V"] = v.V
        elif k not in ("E", "B", "rng"):
            arrays |= {f"{k}.A": v.A[:, : v.n_sv_union[0]], f"{k}.n_sv_sum": v.n_sv_sum}
    return {name: array.copy() for name, array in arrays.items()}


def in_use(learner: Learner, name: str) -> np.ndarray:
    """An array of the state without the room for what a dictionary does not hold yet."""
    array, resource = learner.state[name], learner.resources[name]
    if not isinstance(resource, Array):
        return array
    used = {other: learner.state[other].n_sv.max() for other in resource.along}
    return array[tuple(slice(used.get(str(side))) for side in resource.shape)] if used else array


def traced(trace: Trace) -> Arrays:
    """A trace's arrays by name."""
    return {name: array for name, array in trace._asdict().items() if array is not None}


def hash_of_arrays(arrays: Arrays) -> str:
    """Hash of the bits of arrays by name."""
    h = hashlib.sha256()
    for name in sorted(arrays):
        h.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return h.hexdigest()


def assert_same(arrays: Mapping[str, Any], others: Mapping[str, Any], what: str = "") -> None:
    """Both mappings of arrays agree to the last bit (-0.0 and 0.0 count as equal, NaN with NaN).

    The AssertionError names the first round, or place, that differs.
    """
    assert arrays.keys() == others.keys()
    for name in arrays:
        one, other = np.asarray(arrays[name]), np.asarray(others[name])
        assert one.shape == other.shape, f"{name}: shape {one.shape}, then {other.shape} {what}"
        same = (one == other) | ((one != one) & (other != other))
        if not same.all():
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            where = f"round {place[0] + 1}: {name}" if name in Trace._fields else f"{name}{list(place)}"
            differ = f"{(~same).sum()} of {same.size} differ"
            raise AssertionError(f"{where} is {one[place]}, then {other[place]} ({differ}) {what}".rstrip())

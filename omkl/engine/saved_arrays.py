"""A resource of a learner as plain arrays, and the resource made of them again: for saved models and pickles.

Kept is what later rounds depend on; open blocks and scratch are made afresh. Arrays may come from a file that
somebody else wrote: compiled code indexes with what they hold, so that every index is checked here.
"""

from typing import Any

import numpy as np

from omkl.engine.budget_record import Budget, kernel_room
from omkl.engine.expansion import reserve
from omkl.engine.expansion_record import Expansion
from omkl.engine.features import Features

Arrays = dict[str, np.ndarray]

_LARGEST = 2**40  # of a counter: more rounds than anyone will stream, and no overflow when they are added


def to_arrays(resource: Any) -> Arrays:
    """Return the arrays of an Expansion, a Budget, Features or an array; the last has the name ``""``."""
    if isinstance(resource, Expansion):
        n = int(resource.size[0])
        nnz = int(resource.indptr[n])
        sides = resource.sides
        return {
            **({} if sides is None else {"sides": sides[:, :n]}),
            "A": resource.A[:, :n],
            "stored_by": resource.stored_by[:n],
            "indptr": resource.indptr[: n + 1],
            "indices": resource.indices[:nnz],
            "values": resource.values[:nnz],
            "norm2": resource.norm2[:n],
            "origin": resource.origin[:n],
            "size": resource.size,
            "n_sv": resource.n_sv,
            "largest": resource.largest,
        }
    if isinstance(resource, Budget):
        kept = {name: getattr(resource, name) for name in _BUDGET}
        for name in ("indices", "values"):  # what lies between the examples was never written
            kept[name] = np.where(_in_use(resource.ends, resource.values.size), kept[name], 0)
        return kept
    return {"V": resource.V} if isinstance(resource, Features) else {"": resource}


def from_arrays(fresh: Any, arrays: Arrays, name: str) -> Any:
    """Return the resource that these arrays are of; fresh: the same resource as it begins.

    Raises ValueError, with the resource's name, where arrays are missing or do not fit it.
    """
    try:
        if isinstance(fresh, Expansion):
            return _expansion(fresh, arrays)
        if isinstance(fresh, Budget):
            return _budget(fresh, arrays)
        if isinstance(fresh, Features):
            return fresh._replace(V=_checked(arrays, "V", fresh.V.shape, fresh.V.dtype))
        array = _checked(arrays, "", fresh.shape, fresh.dtype)
        if array.dtype.kind == "i":
            _between(array, 0, _LARGEST, "a counter")
        return array
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _checked(arrays: Arrays, name: str, shape: tuple[int | None, ...], dtype: Any) -> np.ndarray:
    """Return a copy of an array of this type and shape, where None is any length."""
    if name not in arrays:
        raise ValueError(f"the array '{name}' is missing")
    array = arrays[name]
    fits = len(shape) == array.ndim and all(a in (None, b) for a, b in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not fits:
        wanted = ", ".join("any" if side is None else str(side) for side in shape)
        raise ValueError(
            f"the array '{name}' is {array.dtype} {array.shape}, not {np.dtype(dtype)} ({wanted})"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():  # a score would be NaN
        raise ValueError(f"the array '{name}' holds NaN or infinity")
    return np.array(array, order="C")


def _between(array: np.ndarray, low: int, high: int, what: str) -> None:
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{what} is outside [{low}, {high}]")


def _check_vectors(
    norm2: np.ndarray, values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, d: int
) -> None:
    """Raise ValueError where a vector has a column twice, or its squared norm (n,) is another one.

    Kernel values are looked up at distances and dot products, which the norms bound: lookup_tables.py.
    """
    vector = np.repeat(np.arange(norm2.size), np.diff(indptr))
    places = vector * d + indices
    if (np.diff(places) <= 0).any() and np.unique(places).size < places.size:
        raise ValueError("a vector has a column twice")
    with np.errstate(over="ignore"):
        squares = np.bincount(vector, values * values, minlength=norm2.size)
    whole = np.bincount(vector, values != np.floor(values), minlength=norm2.size) == 0
    if not np.allclose(norm2, squares, rtol=1e-9, atol=0.0) or (norm2 != squares)[whole].any():
        raise ValueError("a squared norm is not that of its vector")


# ------------------------------------------------------------------ an Expansion


def _expansion(fresh: Expansion, arrays: Arrays) -> Expansion:
    m, d = len(fresh.n_sv), fresh.open.slot.size
    A = _checked(arrays, "A", (m, None), np.float64)
    n = A.shape[1]
    indptr = _checked(arrays, "indptr", (n + 1,), np.int64)
    indices = _checked(arrays, "indices", (None,), np.int32)
    values = _checked(arrays, "values", (indices.size,), np.float64)
    if indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
        raise ValueError("the rows' bounds do not fit the stored values")
    _between(indices, 0, d - 1, "a column")
    E = reserve(fresh, n, indices.size, 0)
    E.A[:, :n], E.indptr[: n + 1], E.indices[: indices.size], E.values[: indices.size] = (
        A,
        indptr,
        indices,
        values,
    )
    E.stored_by[:n] = _checked(arrays, "stored_by", (n,), np.uint64)
    E.norm2[:n] = _checked(arrays, "norm2", (n,), np.float64)
    _check_vectors(E.norm2[:n], values, indices, indptr, d)
    E.origin[:n] = _checked(arrays, "origin", (n,), np.int64)
    E.size[:] = _checked(arrays, "size", (2,), np.int64)
    E.n_sv[:] = _checked(arrays, "n_sv", (m,), np.int64)
    E.largest[:] = _checked(arrays, "largest", (m,), np.float64)
    if (np.abs(A).max(axis=1, initial=0.0) > E.largest).any():
        raise ValueError("a coefficient is above the largest of its kernel")
    if E.classes is not None:
        _note_sides(E, _checked(arrays, "sides", (m + 1, n), np.int32), A != 0)
    if E.size[0] != n:
        raise ValueError("the number of stored vectors is not that of the arrays")
    _between(E.n_sv, 0, 2 * n, "a count of vectors")
    _between(E.size, 0, 2 * n * m, "a count of vectors")
    return E


def _note_sides(E: Expansion, sides: np.ndarray, stored: np.ndarray) -> None:
    """Fill in the classes that each vector adds to and takes from, and their counts; stored (m, n)."""
    C = E.touched.shape[1]
    _between(sides, 0, C - 1, "a class")
    if (sides[:-1] == sides[-1]).any():
        raise ValueError("a vector's class is its own rival")
    E.sides[:, : sides.shape[1]] = sides
    for c in range(C):
        E.touched[:, c] = (stored & ((sides[:-1] == c) | (sides[-1] == c))).sum(1)


# ------------------------------------------------------------------ a Budget

_BUDGET = (
    *("A", "own", "holds", "born", "n_put", "n_sv", "oldest", "size"),
    *("ends", "indices", "values", "norm2", "origin", "users", "free", "n_free"),
)


def _in_use(ends: np.ndarray, size: int) -> np.ndarray:
    """Whether each place of the store belongs to an example (size,)."""
    steps = np.zeros(size + 1, np.int64)
    np.add.at(steps, ends[::2], 1)
    np.add.at(steps, ends[1::2], -1)
    return np.cumsum(steps[:size]) > 0


def _budget(fresh: Budget, arrays: Arrays) -> Budget:
    m, d, limit, R = len(fresh.n_sv), fresh.open.slot.size, int(fresh.limit[0]), fresh.dots.shape[1]
    given = {name: _checked(arrays, name, *_form(name, m, fresh.A.shape[2:])) for name in _BUDGET}
    S, N = len(given["A"]), given["norm2"].size
    for name in ("own", "holds", "born"):
        _checked(arrays, name, (S, m), given[name].dtype)
    for name in ("origin", "users", "free"):
        _checked(arrays, name, (N,), np.int64)
    _checked(arrays, "ends", (2 * N,), np.int64)
    size = given["values"].size
    _checked(arrays, "indices", (size,), np.int32)
    _between(given["n_sv"], 0, S, "a count of vectors")
    _between(given["holds"], 0, max(N - 1, 0), "the number of an example")
    _between(given["oldest"], 0, max(limit - 1, 0), "a slot")
    _between(given["born"], 0, _LARGEST, "a counter")
    _between(given["n_put"], 0, _LARGEST, "a counter")
    _between(given["indices"], 0, max(d - 1, 0), "a column")
    _between(given["free"], 0, max(N - 1, 0), "the number of an example")
    _between(given["n_free"], 0, N, "a count of examples")
    stride = size // N if N else 0
    first, last = given["ends"][::2], given["ends"][1::2]
    if limit < S or size != N * stride or (first != np.arange(N) * stride).any():
        raise ValueError("the slots or the store's rows do not fit the budget")
    if (last < first).any() or (last > first + stride).any():
        raise ValueError("the rows' bounds do not fit the stored values")
    places, bounds = _in_use(given["ends"], size), np.cumsum(np.append(0, last - first))
    _check_vectors(given["norm2"], given["values"][places], given["indices"][places], bounds, d)
    used = np.arange(S)[:, None] < given["n_sv"]
    users = np.bincount(given["holds"][used], minlength=N)
    free = given["free"][: given["n_free"][0]]
    if (
        not np.array_equal(users, given["users"])
        or sorted(free.tolist()) != np.flatnonzero(users == 0).tolist()
    ):
        raise ValueError("the examples in use are not those that the slots hold")
    if given["size"].tolist() != [N - free.size, int(given["n_sv"].sum())]:
        raise ValueError("the number of stored vectors is not that of the arrays")
    scratch = {"K": kernel_room(R, S, m), "dots": np.zeros((N, R))}
    return fresh._replace(**given, **scratch)


def _form(name: str, m: int, classes: tuple[int, ...]) -> tuple[tuple[int | None, ...], Any]:
    """Return shape and type of an array of a Budget; classes (C,) of more than two, else ()."""
    if name == "A":
        return (None, m, *classes), np.float64
    if name in ("own", "holds", "born"):
        return (None, m), np.int64 if name in ("holds", "born") else np.float64
    if name in ("n_sv", "oldest"):
        return (m,), np.int64
    if name in ("n_put", "n_free", "size"):
        return (2 if name == "size" else 1,), np.int64
    return (None,), {"values": np.float64, "norm2": np.float64, "indices": np.int32}.get(name, np.int64)

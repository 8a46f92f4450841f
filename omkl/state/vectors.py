"""Resources that store vectors, in an Expansion or a Budget of the engine, and random features."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omkl.state.array import padded
from omkl.state.resource import LARGEST_COUNT, Arrays, Declared, Resource, Setup, between, saved_array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from omkl.engine.stream import Stream

ALL = "all"  # slots of a dictionary
DRAWN = ("orthogonal", "iid", "authors", "squared")  # how frequencies are drawn: omkl/engine/features.py


@dataclass(frozen=True)
class Stores(Resource):
    """What is the same for all resources that store vectors."""

    def renumber(self, value: Any, shift: int) -> None:
        """Shift the row numbers of the stored vectors."""
        raise NotImplementedError

    def vectors(self, value: Any, d: int) -> "tuple[np.ndarray, csr_array]":
        """Return row numbers (n,) and rows (n, d) of the stored vectors, in the order of their numbers."""
        raise NotImplementedError

    def coefficients(self, value: Any) -> np.ndarray:
        """Return the coefficients (m, n) of these vectors; with C > 2 classes (m, n, C)."""
        raise NotImplementedError

    def close(self, value: Any) -> None:
        """Forget the open block: the next round belongs to another stream, or to another part of it."""
        from omkl.engine.open_block import close

        close(value.open)

    def _with_features(self, value: Any, d: int, **changed: Any) -> Any:
        from omkl.engine.open_block import add_columns

        self.close(value)
        return value._replace(open=add_columns(value.open, d), **changed)


@dataclass(frozen=True)
class Expanding(Stores):
    """An Expansion: all vectors that come.

    copies: how often it holds every kernel    unless: it is left out where this is not null
    """

    expansion: bool
    copies: str | None = None
    unless: str | None = None

    form = "ExpansionForm"
    record = "Expansion"
    threaded = True

    @classmethod
    def parse(cls, written: Mapping[str, Any], declared: Declared) -> "Expanding":
        keys = cls.keys(written)
        for key in keys.keys() & {"copies", "unless"}:
            declared.check(keys[key])
        return cls(**keys)

    def described(self) -> tuple[str, str]:
        copies = f" · {self.copies}" if self.copies else ""
        return "stored vectors, with a coefficient for each kernel", f"n · (d + m{copies})"

    def sizes(self) -> list[str]:
        return [self.copies] if self.copies else []

    def unlimited(self, params: Mapping[str, Any]) -> bool:
        return not self.absent(params)

    def deciding(self, params: Mapping[str, Any]) -> set[str]:
        return {*self.sizes(), *([self.unless] if self.unless else [])} & params.keys()

    def absent(self, params: Mapping[str, Any]) -> bool:
        return self.unless is not None and params.get(self.unless) is not None

    def block_bytes(self, setup: Setup) -> int:
        from omkl.engine.lanes import LANES
        from omkl.engine.lookup import LIMIT

        m, R = setup.m * (setup.length(self.copies) if self.copies else 1), _rows(setup)
        outputs = 3 * 8 * m * (setup.many or 1) * R + 2 * m * R
        tables = 0 if setup.many else 2 * 8 * (LIMIT + 1) * (m + LANES)
        opened = _open_bytes(setup, m) + outputs + tables
        return opened + 3 * 8 * max(LANES * R, 2048) + 16 * m * (setup.many or 0)

    def make(self, setup: Setup) -> Any:
        from omkl.engine.expansion import make_expansion
        from omkl.engine.kernels import make_pool

        copies = setup.length(self.copies) if self.copies else 1
        pool = make_pool(setup.kernels * copies, setup.pool["normalise"])  # type: ignore[index]
        return make_expansion(pool, setup.d, setup.block, setup.many)

    def grow(self, value: Any, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool) -> Any:
        from omkl.engine.expansion import reserve

        lengths = stream.indptr[stream.order + 1] - stream.indptr[stream.order]
        return reserve(value, stream.T, int(lengths.sum()), int(lengths.max(initial=0)))

    def add_features(self, value: Any, setup: Setup) -> Any:
        return self._with_features(value, setup.d)

    def renumber(self, value: Any, shift: int) -> None:
        value.origin[: value.n_sv_union[0]] += shift

    def vectors(self, value: Any, d: int) -> "tuple[np.ndarray, csr_array]":
        from scipy.sparse import csr_array  # 0.1 s

        n = value.n_sv_union[0]
        indptr, stop = value.indptr[: n + 1], value.indptr[n]
        csr = (value.values[:stop].copy(), value.indices[:stop].copy(), indptr.copy())
        return value.origin[:n].copy(), csr_array(csr, shape=(n, d))

    def coefficients(self, value: Any) -> np.ndarray:
        n = value.n_sv_union[0]
        A = value.A[:, :n].copy()
        if value.class_of is None:
            return A
        sides, per_class = value.class_of[:, :n], np.zeros((*A.shape, value.n_sv_per_class.shape[1]))
        kernel, vector = np.nonzero(A)
        per_class[kernel, vector, sides[-1, vector]] = A[kernel, vector]
        per_class[kernel, vector, sides[kernel, vector]] = -A[kernel, vector]
        return per_class

    def save(self, value: Any) -> Arrays:
        n = int(value.n_sv_union[0])
        nnz = int(value.indptr[n])
        of_classes = {} if value.class_of is None else {"class_of": value.class_of[:, :n]}
        return of_classes | {
            "A": value.A[:, :n],
            "kernel_mask": value.kernel_mask[:n],
            "indptr": value.indptr[: n + 1],
            "indices": value.indices[:nnz],
            "values": value.values[:nnz],
            "origin": value.origin[:n],
            "n_sv_union": value.n_sv_union,
            "n_sv_sum": value.n_sv_sum,
            "n_sv": value.n_sv,
            "max_abs_coefficient": value.max_abs_coefficient,
        }

    def load(self, arrays: Arrays, setup: Setup) -> Any:
        from omkl.engine.expansion import reserve

        m, d = setup.m * (setup.length(self.copies) if self.copies else 1), setup.d
        A = saved_array(arrays, "A", (m, None), np.float64)
        n = A.shape[1]
        indptr = saved_array(arrays, "indptr", (n + 1,), np.int64)
        indices = saved_array(arrays, "indices", (None,), np.int32)
        values = saved_array(arrays, "values", (indices.size,), np.float64)
        if indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
            raise ValueError("the rows' bounds do not fit the stored values")
        between(indices, 0, d - 1, "a column")
        n_sv = saved_array(arrays, "n_sv", (m,), np.int64)
        largest = saved_array(arrays, "max_abs_coefficient", (m,), np.float64)
        if (np.abs(A).max(axis=1, initial=0.0) > largest).any():
            raise ValueError("a coefficient is above the largest of its kernel")
        E = reserve(self.make(setup), n, indices.size, 0)
        E.A[:, :n], E.indptr[: n + 1], E.norm2[:n] = A, indptr, _norms2(values, indices, indptr, d)
        E.indices[: indices.size], E.values[: indices.size] = indices, values
        E.kernel_mask[:n] = saved_array(arrays, "kernel_mask", (n,), np.uint64)
        E.origin[:n] = saved_array(arrays, "origin", (n,), np.int64)
        E.n_sv_union[:] = saved_array(arrays, "n_sv_union", (1,), np.int64)
        E.n_sv_sum[:] = saved_array(arrays, "n_sv_sum", (1,), np.int64)
        E.n_sv[:], E.max_abs_coefficient[:] = n_sv, largest
        if E.classes is not None:
            _note_classes(E, saved_array(arrays, "class_of", (m + 1, n), np.int32), A != 0)
        if E.n_sv_union[0] != n:
            raise ValueError("the number of stored vectors is not that of the arrays")
        between(E.n_sv, 0, 2 * n, "a count of vectors")
        between(E.n_sv_sum, 0, 2 * n * m, "a count of vectors")
        return E


def _rows(setup: Setup) -> int:
    """Return the rows of an open block, with padding."""
    from omkl.engine.expansion import BLOCK
    from omkl.engine.lanes import LANES

    return -(-(setup.block or BLOCK) // LANES) * LANES


def _open_bytes(setup: Setup, m: int) -> int:
    """Return the bytes of an open block: its columns, one row, norms and numbers of rows, kernels' counts."""
    return 4 * setup.d + 32 * _rows(setup) + 288 * m + 2048


def _norms2(values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, d: int) -> np.ndarray:
    """Return the squared norms (n,) of vectors, summed from left to right as the engine does.

    Raises ValueError where a vector has a column twice.
    """
    vector = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    places = vector * d + indices
    if (np.diff(places) <= 0).any() and np.unique(places).size < places.size:
        raise ValueError("a vector has a column twice")
    with np.errstate(over="ignore"):
        return np.bincount(vector, values * values, minlength=indptr.size - 1).astype(np.float64)


def _note_classes(E: Any, class_of: np.ndarray, stored: np.ndarray) -> None:
    """Fill in the classes that each vector adds to and takes from, and their counts; stored (m, n)."""
    C = E.n_sv_per_class.shape[1]
    between(class_of, 0, C - 1, "a class")
    if (class_of[:-1] == class_of[-1]).any():
        raise ValueError("a vector's class is its own rival")
    E.class_of[:, : class_of.shape[1]] = class_of
    for c in range(C):
        E.n_sv_per_class[:, c] = (stored & ((class_of[:-1] == c) | (class_of[-1] == c))).sum(1)


# ------------------------------------------------------------------ slots


_SAVED = (
    "A",
    "self_kernel",
    "holds",
    "born",
    "n_put",
    "n_sv",
    "oldest",
    "ends",
    "indices",
    "values",
    "origin",
    "free",
)


@dataclass(frozen=True)
class Slots(Stores):
    """A Budget of this many slots for each kernel, left out where that is null."""

    slots: str

    form = "SlotsForm"
    record = "Budget"

    @classmethod
    def parse(cls, written: Mapping[str, Any], declared: Declared) -> "Slots":
        keys = cls.keys(written)
        declared.check(keys["slots"], ALL)
        return (Dictionary if keys["slots"] == ALL else Slots)(**keys)

    def described(self) -> tuple[str, str]:
        vectors = f"at most {self.slots} stored vectors for each kernel"
        return vectors, f"m · {self.slots} · (d + 1), or less"

    def sizes(self) -> list[str]:
        return [self.slots]

    @property
    def limit(self) -> str | None:
        return self.slots

    def absent(self, params: Mapping[str, Any]) -> bool:
        return params.get(self.slots) is None

    def block_bytes(self, setup: Setup) -> int:
        from omkl.engine.slot_values import TILE

        m = setup.m
        return _open_bytes(setup, m) + 8 * ((m + 1) * TILE + setup.d + 2 * m * (1 + (setup.many or 0)))

    def most(self, setup: Setup) -> int:
        """Return how many vectors each kernel may store."""
        return setup.params[self.slots]

    def make(self, setup: Setup) -> Any:
        from omkl.engine.budgeted import make_budget
        from omkl.engine.kernels import make_pool

        pool = make_pool(setup.kernels, setup.pool["normalise"])  # type: ignore[index]
        return make_budget(pool, self.most(setup), setup.d, setup.block, setup.many)

    def grow(self, value: Any, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool) -> Any:
        from omkl.engine.budgeted import reserve_slots

        return reserve_slots(value, stream.T, _longest(stream))

    def add_features(self, value: Any, setup: Setup) -> Any:
        return self._with_features(value, setup.d, dense=np.zeros(setup.d))

    def renumber(self, value: Any, shift: int) -> None:
        value.origin[:] += shift

    def vectors(self, value: Any, d: int) -> "tuple[np.ndarray, csr_array]":
        from scipy.sparse import csr_array

        kept = _in_order(value)
        bounds = [(value.ends[2 * e], value.ends[2 * e + 1]) for e in kept]
        values = np.concatenate([np.empty(0), *(value.values[a:b] for a, b in bounds)])
        indices = np.concatenate([np.empty(0), *(value.indices[a:b] for a, b in bounds)]).astype(np.int32)
        indptr = np.cumsum([0, *(b - a for a, b in bounds)])
        return value.origin[kept], csr_array((values, indices, indptr), shape=(len(kept), d))

    def coefficients(self, value: Any) -> np.ndarray:
        kept = _in_order(value)
        place = np.zeros(value.norm2.size, np.int64)
        place[kept] = np.arange(len(kept))
        A_of_classes = np.zeros((len(value.n_sv), len(kept), value.A.shape[2]))
        for i, count in enumerate(value.n_sv):
            np.add.at(A_of_classes[i], place[value.holds[:count, i]], value.A[:count, i])
        return A_of_classes[:, :, 0] if value.classes is None else A_of_classes

    def save(self, value: Any) -> Arrays:
        kept = {name: getattr(value, name) for name in _SAVED}
        kept["free"] = value.free[: value.n_free[0]]
        for name in ("indices", "values"):  # what lies between the examples was never written
            kept[name] = np.where(_in_use(value.ends, value.values.size), kept[name], 0)
        return kept

    def load(self, arrays: Arrays, setup: Setup) -> Any:
        from omkl.engine.budgeted import kernel_room

        m, d, limit = setup.m, setup.d, self.most(setup)
        given = {name: saved_array(arrays, name, *_shape(name, m, setup.many)) for name in _SAVED}
        S, N = len(given["A"]), given["origin"].size
        for name in ("self_kernel", "holds", "born"):
            saved_array(arrays, name, (S, m), given[name].dtype)
        saved_array(arrays, "ends", (2 * N,), np.int64)
        size = given["values"].size
        saved_array(arrays, "indices", (size,), np.int32)
        between(given["n_sv"], 0, S, "a count of vectors")
        between(given["holds"], 0, max(N - 1, 0), "the number of an example")
        between(given["oldest"], 0, max(limit - 1, 0), "a slot")
        between(given["born"], 0, LARGEST_COUNT, "a counter")
        between(given["n_put"], 0, LARGEST_COUNT, "a counter")
        between(given["indices"], 0, max(d - 1, 0), "a column")
        stride = size // N if N else 0
        first, last = given["ends"][::2], given["ends"][1::2]
        if limit < S or size != N * stride or (first != np.arange(N) * stride).any():
            raise ValueError("the slots or the store's rows do not fit the budget")
        if (last < first).any() or (last > first + stride).any():
            raise ValueError("the rows' bounds do not fit the stored values")
        places, bounds = _in_use(given["ends"], size), np.cumsum(np.append(0, last - first))
        norm2 = _norms2(given["values"][places], given["indices"][places], bounds, d)
        users = np.bincount(given["holds"][np.arange(S)[:, None] < given["n_sv"]], minlength=N)
        unused = np.flatnonzero(users == 0)
        if sorted(given["free"].tolist()) != unused.tolist():
            raise ValueError("the examples in use are not those that the slots hold")
        free = np.concatenate([given["free"], np.zeros(N - unused.size, np.int64)])
        given |= {
            "norm2": norm2,
            "users": users,
            "free": free,
            "n_free": np.array([unused.size]),
            "n_sv_union": np.array([N - unused.size]),
            "n_sv_sum": given["n_sv"].sum(keepdims=True),
        }
        B = self.make(setup)
        R = B.dots.shape[1]
        return B._replace(**given, K=kernel_room(R, S, m), dots=np.zeros((N, R)))

    def add_classes(self, arrays: Arrays, setup: Setup) -> Arrays:
        A = arrays["A"]
        return {**arrays, "A": padded(A, (*A.shape[:-1], setup.classes))}


@dataclass(frozen=True)
class Dictionary(Slots):
    """A Budget without a limit. Its slots grow part by part of a stream, with the arrays along them, since a
    matrix with room for every example of a long stream would fill any memory.
    """

    elastic: ClassVar[bool] = True

    def described(self) -> tuple[str, str]:
        return "a dictionary of stored vectors", "n · (d + m), or less"

    def sizes(self) -> list[str]:
        return []

    @property
    def limit(self) -> str | None:
        return None

    def unlimited(self, params: Mapping[str, Any]) -> bool:
        return True

    def absent(self, params: Mapping[str, Any]) -> bool:
        return False

    def most(self, setup: Setup) -> int:
        from omkl.engine.budgeted import UNLIMITED

        return UNLIMITED

    def grow(self, value: Any, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool) -> Any:
        return value

    def grow_part(self, value: Any, stream: "Stream", learn: bool) -> Any:
        from omkl.engine.budgeted import reserve_slots

        return reserve_slots(value, stream.T if learn else 0, _longest(stream))


def _longest(stream: "Stream") -> int:
    """Return the length of the longest row of these rounds."""
    return int((stream.indptr[stream.order + 1] - stream.indptr[stream.order]).max(initial=0))


def _in_order(B: Any) -> np.ndarray:
    """Return the numbers of the examples that a Budget holds, the first that came first."""
    kept = np.flatnonzero(B.users > 0)
    return kept[np.argsort(B.origin[kept], kind="stable")]


def _in_use(ends: np.ndarray, size: int) -> np.ndarray:
    """Whether each place of the store belongs to an example (size,)."""
    steps = np.zeros(size + 1, np.int64)
    np.add.at(steps, ends[::2], 1)
    np.add.at(steps, ends[1::2], -1)
    return np.cumsum(steps[:size]) > 0


def _shape(name: str, m: int, classes: int | None) -> tuple[tuple[int | None, ...], Any]:
    """Return shape and type of an array of a Budget; classes: how many, of more than two."""
    if name == "A":
        return (None, m, classes or 1), np.float64
    if name in ("self_kernel", "holds", "born"):
        return (None, m), np.int64 if name in ("holds", "born") else np.float64
    if name in ("n_sv", "oldest"):
        return (m,), np.int64
    if name == "n_put":
        return (1,), np.int64
    return (None,), {"values": np.float64, "indices": np.int32}.get(name, np.int64)


# ------------------------------------------------------------------ random features


@dataclass(frozen=True)
class Lifting(Resource):
    """Random features: how many, a hyperparameter or a number, and how they are drawn: a hyperparameter, or
    the kind itself, or ``{hyperparameter: {value: kind}}``. scaled: of a Gaussian that is as wide as two rows
    of features of variance 1 are apart, in place of the learner's.
    """

    features: str | int
    kind: str | dict[str, dict[str, str]]
    scaled: bool = False

    form = "FeaturesForm"

    @classmethod
    def parse(cls, written: Mapping[str, Any], declared: Declared) -> "Lifting":
        keys = cls.keys(written)
        if "kind" not in keys:
            raise ValueError("kind is missing: a hyperparameter, or how the frequencies are drawn")
        if not isinstance(keys["features"], int):
            declared.check(keys["features"])
        if not isinstance(keys["kind"], Mapping):
            declared.check(keys["kind"], *DRAWN)
            return cls(**keys)
        if len(keys["kind"]) != 1 or not all(isinstance(named, Mapping) for named in keys["kind"].values()):
            raise ValueError("kind must be a word or {hyperparameter: {value: kind}}")
        for name, named in keys["kind"].items():
            declared.check(name)
            for kind in named.values():
                declared.check(kind, *DRAWN)
        return cls(**keys)

    def written(self) -> list[Any]:
        form, keys = super().written()
        return [form, {key: value for key, value in keys.items() if key != "scaled" or value}]

    def described(self) -> tuple[str, str]:
        if self.scaled:
            return f"{self.features} random directions", f"{self.features} · d"
        return f"{self.features} random frequencies for each kernel", f"m · {self.features} · d"

    def kernels(self, setup: Setup) -> list[dict]:
        """Return the Gaussians that the features are of."""
        if self.scaled:
            return [{"kind": "gaussian", "sigma": math.sqrt(2.0 * max(setup.d, 1))}]
        return setup.kernels

    def sizes(self) -> list[str]:
        return [self.features] if isinstance(self.features, str) else []

    @property
    def frequencies(self) -> str | None:
        return self.features if isinstance(self.features, str) else None

    def deciding(self, params: Mapping[str, Any]) -> set[str]:
        kinds = {self.kind} if isinstance(self.kind, str) else set(self.kind)
        return ({*self.sizes()} | kinds) & params.keys()

    def drawn(self, params: Mapping[str, Any]) -> str:
        """Return how these hyperparameters draw the frequencies, one of DRAWN."""
        if isinstance(self.kind, str):
            return params.get(self.kind, self.kind)
        ((name, kinds),) = self.kind.items()
        return kinds[params[name]]

    def numbers(self, setup: Setup) -> int:
        return 3 * setup.m * setup.length(self.features) * setup.d

    def make(self, setup: Setup) -> Any:
        from omkl.engine.features import make_features

        D, kind = setup.length(self.features), self.drawn(setup.params)
        return make_features(self.kernels(setup), setup.d, D, kind, setup.rng, setup.frequencies, setup.many)

    def add_features(self, value: Any, setup: Setup) -> Any:
        from omkl.engine.features import further_frequencies

        kind = self.drawn(setup.params)
        more = further_frequencies(self.kernels(setup), value, setup.d, kind, setup.rng)
        return value._replace(V=np.concatenate([value.V, more]))

    def save(self, value: Any) -> Arrays:
        return {"V": value.V}

    def load(self, arrays: Arrays, setup: Setup) -> Any:
        from omkl.engine.features import features_of

        m = setup.m  # of a stack 1
        V = saved_array(arrays, "V", (setup.d, m * setup.length(self.features)), np.float64)
        return features_of(V, m, self.drawn(setup.params), setup.many)

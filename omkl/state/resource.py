"""A resource of a learner: what every kind can do, what one is made from, and the plain arrays among them."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from omkl.errors import suggest

if TYPE_CHECKING:
    from omkl.engine.stream import Stream

Arrays = dict[str, np.ndarray]
LARGEST_COUNT = 2**40  # more rounds than anyone will stream, and no overflow when they are added
FEW = 500  # features of which a matrix is worth its memory
_NOT_WRITTEN = ("dictionaries", "domain", "gram", "made_with")
_FACTOR = re.compile(r"(\d*)([A-Za-z_]\w*)?")


@dataclass
class Setup:
    """What resources are made from.

    params: hyperparameters    pool: ``{"normalise", "kernels"}`` or None    d: features    rng: its own
    block: rows computed at once    rounds: of the pass    frequencies (m, D, d): in place of drawn ones
    slots: how many each dictionary has room for    classes: of the data, where learners tell them apart
    members: of a stack
    """

    params: Mapping[str, Any]
    pool: Mapping[str, Any] | None = None
    d: int = 0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    block: int = 0
    rounds: int = 0
    frequencies: np.ndarray | None = None
    slots: Mapping[str, int] = field(default_factory=dict)
    classes: int = 2
    members: int = 0

    @property
    def many(self) -> int | None:
        """Number of classes where there are more than two; two need one function alone: None."""
        return self.classes if self.classes > 2 else None

    @property
    def m(self) -> int:
        """Number of kernels, 1 for a learner without."""
        return len(self.pool["kernels"]) if self.pool else 1

    @property
    def kernels(self) -> list[dict]:
        """The kernels of a learner that has some."""
        assert self.pool is not None, "a learner that stores vectors or draws features has kernels"
        return self.pool["kernels"]

    def length(self, side: int | str) -> int:
        """The length of a side such as 3, ``m``, ``2D``, ``levels m`` or ``2D m + 1``; null counts as 0."""
        if isinstance(side, int):
            return side
        return sum(
            c * math.prod(int(self._value(name) or 0) for name in names) for c, names in side_products(side)
        )

    def number(self, value: float | str) -> float:
        """A fill: a number, a hyperparameter, or 1 over one or over a length, as in ``1/m + linear``."""
        if not isinstance(value, str):
            return value
        if not value.startswith("1/"):
            return self._value(value)
        over = value.removeprefix("1/")
        return 1.0 / (self._value(over) if over in self.params else self.length(over))

    def _value(self, name: str) -> Any:
        if name == "members":
            return self.members
        for values in (self.params, self.slots):
            if name in values:
                return values[name]
        return {"m": self.m, "d": self.d, "few": self.d if self.d <= FEW else 0}[name]


@dataclass(frozen=True)
class Declared:
    """The names that a declaration may use: hyperparameters, all resources, and of these those with slots and
    the dictionaries.
    """

    hyperparameters: tuple[str, ...]
    resources: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    dictionaries: tuple[str, ...] = ()

    def check(self, name: Any, *more: str) -> None:
        """Raise ValueError for a name that is neither a hyperparameter nor one of ``more``."""
        names = [*self.hyperparameters, *more]
        if name not in names:
            raise ValueError(f"{name!r} is not a hyperparameter{suggest(str(name), names)}")


@cache
def side_products(side: str) -> list[tuple[int, list[str]]]:
    """Return the products that a side is the sum of, each its number and its names.

    ``levels m`` is [(1, ["levels", "m"])], ``2D m + 1`` is [(2, ["D", "m"]), (1, [])]. Raises ValueError
    where it is not a sum of products.
    """
    terms = []
    for term in side.split(" + "):
        matches = [_FACTOR.fullmatch(word) for word in term.split()]
        alone = len(matches) == 1  # a number stands alone, or before a name without a space
        if not matches or not all(match and (match[2] or (alone and match[1])) for match in matches):
            raise ValueError(f"{side!r} is not a length such as m, 2D, 'levels m' or '2D m + 1'")
        found = [match for match in matches if match]
        terms.append((math.prod(int(m[1] or 1) for m in found), [m[2] for m in found if m[2]]))
    return terms


def names_in(side: int | str) -> list[str]:
    """Return the names that a side is made of."""
    return [] if isinstance(side, int) else [name for _, names in side_products(side) for name in names]


@dataclass(frozen=True)
class Resource:
    """A resource as a learner's YAML declares it: a subclass for each kind, whose fields are the keys there.

    What a learner's compiled function gets is the resource's *value*, an array or a record of the engine. It
    is changed in place there; the methods below that return a value return another one where it was too
    small. The attributes say what others ask of a kind:

    form: its name in the keys of cells    record: the engine's record of stored vectors that it is, or ""
    threaded: whether several threads can share a block of it
    elastic: whether it is a dictionary
    counts_rounds: whether it depends on how many rounds a pass has
    """

    form: ClassVar[str]
    record: ClassVar[str] = ""
    counts_rounds: ClassVar[bool] = False
    threaded: ClassVar[bool] = False
    elastic: ClassVar[bool] = False

    @classmethod
    def parse(cls, written: Any, declared: Declared) -> "Resource":
        """Return the resource of these keys. Raises ValueError that says what is wrong."""
        raise NotImplementedError

    @classmethod
    def keys(cls, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a declaration. Raises ValueError for one that this kind does not have."""
        keys = [part.name for part in fields(cls) if part.init and not part.name.startswith("_")]
        for key in written.keys() - set(keys):
            raise ValueError(f"unknown key {key!r}{suggest(str(key), keys)}")
        if not isinstance(written.get("classes", False), bool):
            raise ValueError(f"classes must be true or false, got {written['classes']!r}")
        return dict(written)

    def written(self) -> list[Any]:
        """Return what a folder's learner puts into the keys of its cells: the form's name, and its keys.

        They are those that decide results: not what saved models are held to, nor what may not change later.
        """
        keys = {part.name: getattr(self, part.name) for part in fields(self)}
        return [self.form, {key: value for key, value in keys.items() if key not in _NOT_WRITTEN}]

    # ------------------------------------------------------------------ what the declaration says

    def described(self) -> tuple[str, str]:
        """Return what it is and how many numbers it holds, for the learner's page: "" for next to nothing."""
        return "", ""

    def sizes(self) -> list[str]:
        """Return the names of all hyperparameters and lengths that decide how large it is."""
        return []

    def deciding(self, params: Mapping[str, Any]) -> set[str]:
        """Return the hyperparameters without whose values it would not be what it is in mid-stream."""
        return set(self.sizes()) & params.keys()

    @property
    def limit(self) -> str | None:
        """The hyperparameter that bounds the vectors stored for each kernel, None without."""
        return None

    @property
    def frequencies(self) -> str | None:
        """The hyperparameter that says how many random frequencies are drawn, None without."""
        return None

    @property
    def along(self) -> tuple[str, ...]:
        """The dictionaries with which it grows."""
        return ()

    def unlimited(self, params: Mapping[str, Any]) -> bool:
        """Whether it stores as many vectors as come."""
        return False

    def absent(self, params: Mapping[str, Any]) -> bool:
        """Whether these hyperparameters leave it out."""
        return False

    # ------------------------------------------------------------------ its value

    def make(self, setup: Setup) -> Any:
        """Return the value that a learner begins with."""
        raise NotImplementedError

    def numbers(self, setup: Setup) -> int:
        """Return how many numbers it holds whatever the stream, and its copies while it is made."""
        return 0

    def block_bytes(self, setup: Setup) -> int:
        """Return the bytes of an empty record of stored vectors: of its open block, scratch and tables."""
        return 0

    def grow(self, value: Any, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool) -> Any:
        """Return the value with room for a whole stream; state: all values; learn: whether it is learnt."""
        return value

    def grow_part(self, value: Any, stream: "Stream", learn: bool) -> Any:
        """Return a dictionary with room for the next part of a stream."""
        return value

    def follow(self, value: Any, slots: Mapping[str, int]) -> Any:
        """Return the value with room for as many slots as the dictionaries have."""
        return value

    def add_features(self, value: Any, setup: Setup) -> Any:
        """Return the value for ``setup.d`` features, more than before; rows had 0 in the new ones so far."""
        return value

    def save(self, value: Any) -> Arrays:
        """Return the arrays that later rounds depend on, by name; they may be views."""
        raise NotImplementedError

    def load(self, arrays: Arrays, setup: Setup) -> Any:
        """Return the value of these arrays, which may come from a file that somebody else wrote.

        Compiled code indexes with what they hold, so that every index is checked. Raises ValueError.
        """
        raise NotImplementedError

    def check(self, value: Any, values: Mapping[str, Any], state: "Mapping[str, Resource]") -> None:
        """Raise ValueError where a loaded value does not fit those of the other resources."""

    def add_classes(self, arrays: Arrays, setup: Setup) -> Arrays:
        """Return saved arrays with room for ``setup.classes``, which begin where all began."""
        return arrays


def saved_array(arrays: Arrays, name: str, shape: tuple[int | None, ...], dtype: Any) -> np.ndarray:
    """Return a copy of a saved array of this type and shape, where None is any length. Raises ValueError."""
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


def between(array: np.ndarray, low: int, high: int, what: str) -> None:
    """Raise ValueError where a saved array has a number outside [low, high]."""
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{what} is outside [{low}, {high}]")

"""Resources that are plain arrays: weights, matrices, counters, and the number of rounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.schema import interval
from omkl.state.resource import (
    LARGEST_COUNT,
    Arrays,
    Declared,
    Resource,
    Setup,
    between,
    names_in,
    saved_array,
)

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


@dataclass(frozen=True)
class RoundCounter(Resource):
    """The number of rounds of the pass, in an array (1,)."""

    form = "RoundsForm"
    counts_rounds = True

    def make(self, setup: Setup) -> np.ndarray:
        return np.array([setup.rounds])

    def grow(
        self, value: np.ndarray, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool
    ) -> np.ndarray:
        return value if value[0] else np.array([stream.T])  # the length of the pass was not given

    def save(self, value: np.ndarray) -> Arrays:
        return {"": value}

    def load(self, arrays: Arrays, setup: Setup) -> np.ndarray:
        value = saved_array(arrays, "", (1,), np.int64)
        between(value, 0, LARGEST_COUNT, "a counter")
        return value


@dataclass(frozen=True)
class Array(Resource):
    """An array of this shape: full of ``fill``, with ``diagonal`` on its diagonal (of the last two sides).

    classes: there is one for each class, side by side: (C, *shape), C = 1 for two of them and for numbers
    grows: the array that counts the rounds, as which its last side grows: a window
    domain: of its numbers, an interval    gram: the Budget whose factored Gram matrices it holds
    made_with: hyperparameters whose values it holds once something has been learnt
    dictionaries: of the sides, those that are as long as a dictionary has slots
    """

    shape: tuple[int | str, ...]
    fill: float | str = 0
    dtype: str = "float"
    diagonal: float | str | None = None
    grows: str | None = None
    classes: bool = False
    domain: str | None = None
    gram: str | None = None
    made_with: tuple[str, ...] = ()
    dictionaries: tuple[str, ...] = ()

    form = "ArrayForm"

    @classmethod
    def parse(cls, written: Mapping[str, Any], declared: Declared) -> "Array":
        keys = cls.keys(written)
        lengths = ("m", "d", "few", "members", *declared.dictionaries)
        shape, made_with = keys["shape"], keys.get("made_with", [])
        _check_shape(shape, declared, lengths)
        for key in ("fill", "diagonal"):
            _check_fill(key, keys.get(key, 0), declared, lengths)
        if (dtype := keys.get("dtype", "float")) not in ("float", "int"):
            raise ValueError(f"dtype must be float or int, got {dtype!r}")
        if not isinstance(made_with, list):
            raise ValueError("made_with must be a list of hyperparameters")
        for name in made_with:
            declared.check(name)
        if (grows := keys.get("grows")) is not None and grows not in declared.resources:
            raise ValueError(f"grows: there is no array {grows!r} that counts the rounds")
        if (domain := keys.get("domain")) is not None:
            interval(domain)
        if (slots := keys.get("gram")) is not None and slots not in declared.slots:
            raise ValueError(f"gram: there are no slots {slots!r}")
        elastic = tuple(side for side in shape if side in declared.dictionaries)
        lists = {"shape": tuple(shape), "made_with": tuple(made_with)}
        return cls(**{**keys, **lists}, dictionaries=elastic)

    @property
    def along(self) -> tuple[str, ...]:
        return self.dictionaries

    def described(self) -> tuple[str, str]:
        return "array" + " of whole numbers" * (self.dtype == "int"), " · ".join(map(str, self.shape))

    def sizes(self) -> list[str]:
        return [name for side in self.shape for name in names_in(side)]

    def deciding(self, params: Mapping[str, Any]) -> set[str]:
        fills = [value for value in (self.fill, self.diagonal) if isinstance(value, str)]
        decide = {*self.sizes(), *(name for value in fills for name in names_in(value.removeprefix("1/")))}
        if all(params.get(name, 1) is not None for name in self.sizes()):  # else it has no room
            decide |= set(self.made_with)
        return decide & params.keys()

    def sides(self, setup: Setup) -> tuple[int, ...]:
        """Return the lengths of its sides; one that grows has no room at first."""
        room = {**dict.fromkeys(self.along, 0), **setup.slots}
        sides = tuple(room[side] if side in self.along else setup.length(side) for side in self.shape)
        if self.classes:
            sides = (setup.many or 1, *sides)
        return (*sides[:-1], 0) if self.grows else sides

    def numbers(self, setup: Setup) -> int:
        return math.prod(self.sides(setup))

    def make(self, setup: Setup) -> np.ndarray:
        array = np.zeros(self.sides(setup), np.int64 if self.dtype == "int" else np.float64)
        if value := setup.number(self.fill):  # zeros cost memory only where they are written
            array[:] = value
        if self.diagonal is not None:
            np.einsum("...ii->...i", array)[...] = setup.number(self.diagonal)
        return array

    def grow(
        self, value: np.ndarray, state: Mapping[str, Any], setup: Setup, stream: "Stream", learn: bool
    ) -> np.ndarray:
        if not self.grows:
            return value
        room = int(state[self.grows][0]) + (stream.T if learn else 0) + 1
        length = min(setup.length(self.shape[-1]), room)
        return padded(value, (*value.shape[:-1], max(length, value.shape[-1])))

    def follow(self, value: np.ndarray, slots: Mapping[str, int]) -> np.ndarray:
        sides = zip(self.shape, value.shape, strict=True)
        return padded(value, [slots.get(str(side), had) for side, had in sides]) if self.along else value

    def add_features(self, value: np.ndarray, setup: Setup) -> np.ndarray:
        if not any({"d", "few"} & set(names_in(side)) for side in self.shape):  # a sum of lengths has d last
            return value
        larger = self.make(setup)
        kept = tuple(map(slice, map(min, value.shape, larger.shape)))
        larger[kept] = value[kept]
        return larger

    def save(self, value: np.ndarray) -> Arrays:
        return {"": value}

    def load(self, arrays: Arrays, setup: Setup) -> np.ndarray:
        sides = self.sides(setup)
        if self.grows:  # it has the room of the array given
            given = arrays[""].shape[-1] if "" in arrays and arrays[""].ndim else 0
            sides = (*sides[:-1], min(setup.length(self.shape[-1]), given))
        value = saved_array(arrays, "", sides, np.int64 if self.dtype == "int" else np.float64)
        if self.dtype == "int":
            between(value, 0, LARGEST_COUNT, "a counter")
        return value

    def check(self, value: np.ndarray, values: Mapping[str, Any], state: Mapping[str, Resource]) -> None:
        if self.domain is not None and value.size:
            check = interval(self.domain)
            check(value.min().item())
            check(value.max().item())
        if self.gram is not None:
            matrices, counts = value.reshape(-1, *value.shape[-2:]), values[self.gram].n_sv
            if any((np.diag(G)[:n] <= 0.0).any() for G, n in zip(matrices, counts, strict=True)):
                raise ValueError("a factored Gram matrix has a diagonal that is not positive")
        terms = [
            values[name] for name, resource in state.items() if resource.record == "Budget" and name in values
        ]
        if self.grows is not None and terms:
            _check_window(value, values[self.grows], int(terms[0].n_sv.max()), int(terms[0].limit[0]))

    def add_classes(self, arrays: Arrays, setup: Setup) -> Arrays:
        if not self.classes:
            return arrays
        before = arrays[""]
        return {"": np.concatenate([before, self.make(setup)[len(before) :]])}


def _check_window(window: np.ndarray, now: np.ndarray, used: int, tau: int) -> None:
    """Check the rounds in which the terms of a window were born: NORMA looks up powers by their age."""
    born, width = window[0, :used], window.shape[-1]
    whole = (born == np.floor(born)) & (now[0] - width <= born) & (born >= 0) & (born < now[0])
    fits = used <= width and width >= min(tau, now[0]) and now[1] <= now[0]
    if not fits or not whole.all() or np.unique(born).size < born.size:
        raise ValueError("the rounds of the window's terms do not fit the rounds learnt")


def padded(array: np.ndarray, shape: Sequence[int], fill: float = 0) -> np.ndarray:
    """Return an array of this shape that begins with this one, and has the fill elsewhere."""
    if array.shape == tuple(shape):
        return array
    larger = np.full(shape, fill, array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


# ------------------------------------------------------------------ what is refused


def _check_shape(shape: Any, declared: Declared, lengths: tuple[str, ...]) -> None:
    if not isinstance(shape, list) or not shape:
        raise ValueError("shape must be a list of lengths such as [m, 2D]")
    for side in shape:
        if isinstance(side, str):
            for name in names_in(side):
                declared.check(name, *lengths)
        elif not isinstance(side, int) or side < 0:
            raise ValueError(f"shape: {side!r} is not a length")


def _check_fill(key: str, value: Any, declared: Declared, lengths: tuple[str, ...]) -> None:
    if isinstance(value, str):
        for name in names_in(value.removeprefix("1/")):
            declared.check(name, *lengths)
    elif not isinstance(value, int | float):
        raise ValueError(f"{key} must be a number, a hyperparameter, or 1 over one of these")

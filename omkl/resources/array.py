"""Resources that are plain arrays: weights, matrices, counters, and the number of rounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.resources.resource import LARGEST_COUNT, Arrays, Known, Resource, Setup, between, checked, factors

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


@dataclass(frozen=True)
class Rounds(Resource):
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
        value = checked(arrays, "", (1,), np.int64)
        between(value, 0, LARGEST_COUNT, "a counter")
        return value


@dataclass(frozen=True)
class Array(Resource):
    """An array of this shape: full of ``fill``, with ``diagonal`` on its diagonal (of the last two sides).

    classes: with more than two classes there is one for each, side by side: (C, *shape)
    grows: the array that counts the rounds, as which its last side grows: a window
    dictionaries: of the sides, those that are as long as a dictionary has slots
    """

    shape: tuple[int | str, ...]
    fill: float | str = 0
    dtype: str = "float"
    diagonal: float | str | None = None
    grows: str | None = None
    classes: bool = False
    dictionaries: tuple[str, ...] = ()

    form = "ArrayForm"

    @classmethod
    def parse(cls, written: Mapping[str, Any], known: Known) -> "Array":
        keys = cls.keys(written)
        shape, dtype, grows = keys["shape"], keys.get("dtype", "float"), keys.get("grows")
        lengths = ("m", "d", *known.dictionaries)
        if not isinstance(shape, list) or not shape:
            raise ValueError("shape must be a list of lengths such as [m, 2D]")
        for side in shape:
            if isinstance(side, str):
                for _, name in factors(side):
                    known.check(name, *lengths)
            elif not isinstance(side, int) or side < 0:
                raise ValueError(f"shape: {side!r} is not a length")
        for key in ("fill", "diagonal"):
            value = keys.get(key, 0)
            if isinstance(value, str):
                known.check(value.removeprefix("1/"), *lengths)
            elif not isinstance(value, int | float):
                raise ValueError(f"{key} must be a number, a hyperparameter, or 1 over one of these")
        if dtype not in ("float", "int"):
            raise ValueError(f"dtype must be float or int, got {dtype!r}")
        if grows is not None and grows not in known.resources:
            raise ValueError(f"grows: there is no array {grows!r} that counts the rounds")
        elastic = tuple(side for side in shape if side in known.dictionaries)
        return cls(**{**keys, "shape": tuple(shape)}, dictionaries=elastic)

    @property
    def along(self) -> tuple[str, ...]:
        return self.dictionaries

    def described(self) -> tuple[str, str]:
        return "array" + " of whole numbers" * (self.dtype == "int"), " · ".join(map(str, self.shape))

    def sizes(self) -> list[str]:
        return [name for side in self.shape if isinstance(side, str) for _, name in factors(side)]

    def sides(self, setup: Setup) -> tuple[int, ...]:
        """Return the lengths of its sides; one that grows has no room at first."""
        room = {**dict.fromkeys(self.along, 0), **setup.slots}
        sides = tuple(room[side] if side in self.along else setup.length(side) for side in self.shape)
        if self.classes and setup.many:
            sides = (setup.many, *sides)
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
        return _padded(value, (*value.shape[:-1], max(length, value.shape[-1])))

    def follow(self, value: np.ndarray, slots: Mapping[str, int]) -> np.ndarray:
        sides = zip(self.shape, value.shape, strict=True)
        return _padded(value, [slots.get(str(side), had) for side, had in sides]) if self.along else value

    def widen(self, value: np.ndarray, setup: Setup) -> np.ndarray:
        if "d" not in self.shape:
            return value
        wider = self.make(setup)
        wider[tuple(map(slice, value.shape))] = value
        return wider

    def save(self, value: np.ndarray) -> Arrays:
        return {"": value}

    def load(self, arrays: Arrays, setup: Setup) -> np.ndarray:
        sides = self.sides(setup)
        if self.grows:
            most = setup.length(self.shape[-1])
            sides = (*sides[:-1], min(most, arrays[""].shape[-1] if "" in arrays else 0))
        value = checked(arrays, "", sides, np.int64 if self.dtype == "int" else np.float64)
        if self.dtype == "int":
            between(value, 0, LARGEST_COUNT, "a counter")
        return value

    def check(self, value: np.ndarray, values: Mapping[str, Any], state: Mapping[str, Resource]) -> None:
        """Check the rounds in which a window's terms were born: NORMA looks up powers by their age."""
        terms = [values[name] for name, resource in state.items() if resource.limit and name in values]
        if not (self.grows and terms):
            return
        now, used = values[self.grows], int(terms[0].n_sv.max())
        born, width = value[0, :used], value.shape[-1]
        whole = (born == np.floor(born)) & (now[0] - width <= born) & (born >= 0) & (born < now[0])
        if used > width or not 0 <= now[1] <= now[0] or not whole.all():
            raise ValueError("the rounds of the window's terms do not fit the rounds learnt")

    def add_classes(self, arrays: Arrays, setup: Setup) -> Arrays:
        if not self.classes:
            return arrays
        known = arrays[""]
        return {"": np.concatenate([known, self.make(setup)[len(known) :]])}


def _padded(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return an array of this shape that begins with this one and is 0 elsewhere; the same where it fits."""
    if array.shape == tuple(shape):
        return array
    larger = np.zeros(shape, array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger

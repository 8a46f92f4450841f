"""A learner's resources: what its YAML declares as state, made, grown and measured.

For each form (omkl/config/state.py) `make` says how it is made, `grow` how it gets room for a stream
(`grow_dictionaries` for the next part of one), `bytes_needed` the bytes that it takes whatever the stream.
"""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.state import (
    ALL,
    ArrayForm,
    ExpansionForm,
    FeaturesForm,
    Form,
    RoundsForm,
    SlotsForm,
    dictionaries,
    factors,
    follows,
    names,
)

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


@dataclass
class Setup:
    """What resources are made from.

    params: hyperparameters    pool: ``{"normalise", "kernels"}`` or None    d: features    rng: its own
    block: rows computed at once    rounds: of the pass    frequencies (m, D, d): in place of drawn ones
    slots: how many each dictionary has room for    classes: of the data, where learners tell them apart
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

    @property
    def many(self) -> int | None:
        """Number of classes where there are more than two; two need one function alone: None."""
        return self.classes if self.classes > 2 else None

    @property
    def m(self) -> int:
        """Number of kernels, 1 for a learner without."""
        return len(self.pool["kernels"]) if self.pool else 1

    def length(self, side: int | str) -> int:
        """The length of a side such as 3, ``m``, ``2D`` or ``levels m``; null counts as 0."""
        if isinstance(side, int):
            return side
        return math.prod(c * int(self._value(name) or 0) for c, name in factors(side))

    def shape(self, form: ArrayForm) -> tuple[int, ...]:
        """The shape of an array; one that grows has no room at first."""
        sides = tuple(map(self.length, form.shape))
        if form.classes and self.many:
            sides = (self.many, *sides)
        return (*sides[:-1], 0) if form.grows else sides

    def number(self, value: float | str) -> float:
        """A fill: a number, a hyperparameter, or 1 over a hyperparameter or a length."""
        if not isinstance(value, str):
            return value
        name = value.removeprefix("1/")
        return self._value(name) if name == value else 1.0 / self._value(name)

    def _value(self, name: str) -> Any:
        return {"m": self.m, "d": self.d, **self.slots, **self.params}[name]


def make(state: Mapping[str, Form], setup: Setup) -> dict[str, Any]:
    """Return a learner's resources by name, without those that these hyperparameters leave out."""
    left_out = absent(state, setup.params)
    setup = replace(setup, slots=dict.fromkeys(dictionaries(state), 0))
    return {name: make_one(form, setup) for name, form in state.items() if name not in left_out}


def make_one(form: Form, setup: Setup) -> Any:
    """Return one resource as it begins."""
    from omkl.engine.budget_record import UNLIMITED, make_budget
    from omkl.engine.expansion_record import make_expansion
    from omkl.engine.features import make_features
    from omkl.engine.pool import make_pool

    match form:
        case ArrayForm():
            array = np.zeros(setup.shape(form), np.int64 if form.dtype == "int" else np.float64)
            if value := setup.number(form.fill):  # zeros cost memory only where they are written
                array[:] = value
            if form.diagonal is not None:
                np.einsum("...ii->...i", array)[...] = setup.number(form.diagonal)
            return array
        case RoundsForm():
            return np.array([setup.rounds])
    assert setup.pool is not None, "a learner that stores vectors or draws features has kernels"
    kernels, normalise = setup.pool["kernels"], setup.pool["normalise"]
    match form:
        case ExpansionForm():
            copies = setup.length(form.copies) if form.copies else 1
            return make_expansion(make_pool(kernels * copies, normalise), setup.d, setup.block, setup.many)
        case SlotsForm():
            limit = UNLIMITED if form.slots == ALL else setup.params[form.slots]
            return make_budget(make_pool(kernels, normalise), limit, setup.d, setup.block, setup.many)
        case FeaturesForm():
            D, kind = setup.length(form.features), form.drawn(setup.params)
            return make_features(kernels, setup.d, D, kind, setup.rng, setup.frequencies, setup.many)


def grow(
    state: Mapping[str, Form], made: dict[str, Any], params: Mapping[str, Any], stream: "Stream", learn: bool
) -> None:
    """Give the resources room for the rounds of a stream, in place; learn: whether the stream is learnt."""
    from omkl.engine.budget_record import reserve_slots
    from omkl.engine.expansion import reserve

    lengths = np.diff(stream.indptr)[stream.order]
    nnz, longest = int(lengths.sum()), int(lengths.max(initial=0))
    for name in [name for name in state if name in made]:
        match form := state[name]:
            case ArrayForm() if form.grows:
                room = int(made[form.grows][0]) + (stream.T if learn else 0) + 1
                made[name] = lengthened(made[name], min(Setup(params).length(form.shape[-1]), room))
            case ExpansionForm():
                made[name] = reserve(made[name], stream.T, nnz, longest)
            case SlotsForm() if form.slots != ALL:
                made[name] = reserve_slots(made[name], stream.T, longest)
            case RoundsForm() if not made[name][0]:  # the length of the pass was not given
                made[name] = np.array([stream.T])


def grow_dictionaries(state: Mapping[str, Form], made: dict[str, Any], stream: "Stream", learn: bool) -> None:
    """Give dictionaries, and the arrays that grow with them, room for the next part of a stream, in place.

    Part by part, since a matrix with room for every example of a long stream would fill any memory.
    """
    from omkl.engine.budget_record import reserve_slots

    if not (growing := dictionaries(state)):
        return
    starts = stream.indptr[stream.order]
    longest = int((stream.indptr[stream.order + 1] - starts).max(initial=0))
    for name in growing:
        made[name] = reserve_slots(made[name], stream.T if learn else 0, longest)
    slots = {name: len(made[name].A) for name in growing}
    for name, form in state.items():
        if isinstance(form, ArrayForm) and follows(form, state):
            shape = [
                slots.get(str(side), had) for side, had in zip(form.shape, made[name].shape, strict=True)
            ]
            made[name] = padded(made[name], shape)


def padded(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return an array of this shape that begins with this one and is 0 elsewhere; the same where it fits."""
    if array.shape == tuple(shape):
        return array
    larger = np.zeros(shape, array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


def lengthened(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array whose last side has at least this length, filled with 0."""
    if length <= array.shape[-1]:
        return array
    longer = np.zeros((*array.shape[:-1], length), array.dtype)
    longer[..., : array.shape[-1]] = array
    return longer


def absent(state: Mapping[str, Form], params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the resources that these hyperparameters leave out."""
    return tuple(
        name
        for name, form in state.items()
        if (isinstance(form, SlotsForm) and form.slots != ALL and params.get(form.slots) is None)
        or (isinstance(form, ExpansionForm) and form.unless and params.get(form.unless) is not None)
    )


def limits(state: Mapping[str, Form]) -> list[str]:
    """Return the hyperparameters that bound how many vectors are stored."""
    return [form.slots for form in state.values() if isinstance(form, SlotsForm) and form.slots != ALL]


def bytes_needed(state: Mapping[str, Form], setup: Setup) -> dict[str, int]:
    """Return the bytes that each resource takes whatever the stream: its arrays, an open block's outputs, and
    looked-up values. Stored examples are not counted, nor a block's rows.
    """
    bounds, needed = set(limits(state)), {}
    setup = replace(setup, slots=dict.fromkeys(dictionaries(state), 0))
    left_out = absent(state, setup.params)
    for name, form in state.items():
        numbers = 0
        if isinstance(form, ArrayForm):
            numbers = math.prod(setup.shape(form))
        elif isinstance(form, FeaturesForm):  # the frequencies, and their copies while they are made
            numbers = 3 * setup.m * setup.length(form.features) * setup.d
        elif isinstance(form, ExpansionForm | SlotsForm):
            needed[name] = _block_bytes(form, setup) if name not in left_out else 0
            continue
        if not bounds & set(names(form)):  # room for slots is touched as they fill
            needed[name] = 8 * numbers
    return needed


def _block_bytes(form: ExpansionForm | SlotsForm, setup: Setup) -> int:
    """Return the bytes of an empty Expansion or Budget: of its open block, scratch and tables."""
    from omkl.engine.expansion_record import BLOCK
    from omkl.engine.lookup_tables import LIMIT
    from omkl.engine.slot_values import TILE
    from omkl.engine.vector_code import LANES

    copies = setup.length(form.copies) if isinstance(form, ExpansionForm) and form.copies else 1
    m, R = setup.m * copies, -(-(setup.block or BLOCK) // LANES) * LANES
    # the slots of its columns, one row and the rows' norms; the kernels' constants and counts
    own = 4 * setup.d + 16 * R + 256 * m + 2048
    if isinstance(form, SlotsForm):
        return own + 8 * ((m + 1) * TILE + setup.d + 2 * m * (1 + (setup.many or 0)))
    outputs = 3 * 8 * m * (setup.many or 1) * R + 2 * m * R
    tables = 0 if setup.many else 2 * 8 * (LIMIT + 1) * (m + LANES)
    return own + outputs + tables + 3 * 8 * max(LANES * R, 2048) + 16 * m * (setup.many or 0)


def held_bytes(*parts: Any) -> int:
    """Return the bytes of all distinct arrays in these parts: a learner's state, its stream, its trace.

    Room for stored vectors counts as it was reserved; a state only grows, so its last size is its largest.
    """
    held: dict[tuple[int, int], int] = {}
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, np.ndarray):
            held[part.__array_interface__["data"][0], part.nbytes] = part.nbytes
        elif isinstance(part, dict | tuple | list):
            waiting += part.values() if isinstance(part, dict) else part
    return sum(held.values())


def pass_seconds(state: Mapping[str, Form], setup: Setup, T: int, nnz: int) -> float:
    """Estimate the time of a pass as if every example were stored (times per step as on a9a and tom)."""
    forms = list(state.values())
    drawn = next((form for form in forms if isinstance(form, FeaturesForm)), None)
    if drawn:  # no stored examples to compare with
        return 1e-3 + 3e-8 * T * setup.m * setup.length(drawn.features)
    stored, rounds = _most_stored(state, setup, T), 0.0
    if any(isinstance(form, SlotsForm) and setup.params.get(form.slots) is not None for form in forms):
        rounds = 1e-6 * T * setup.m  # of keeping a budget
    pairs = 0.0 if _by_weights(forms, setup) else T * stored - stored**2 / 2
    return 1e-3 + rounds + 2e-8 * nnz + 3e-10 * pairs * (setup.m + nnz / max(T, 1) / 2)


def _by_weights(forms: Sequence[Form], setup: Setup) -> bool:
    """Whether outputs are products with a weight vector: omkl/engine/primal.py."""
    linear = setup.pool is not None and [kernel["kind"] for kernel in setup.pool["kernels"]] == ["linear"]
    return linear and not setup.many and any(isinstance(f, ExpansionForm) and f.signs for f in forms)


def _most_stored(state: Mapping[str, Form], setup: Setup, T: int) -> int:
    """Return how many examples a learner can store in T rounds."""
    left_out = absent(state, setup.params)
    kept = [form for name, form in state.items() if name not in left_out]
    if any(
        isinstance(form, ExpansionForm) or (isinstance(form, SlotsForm) and form.slots == ALL)
        for form in kept
    ):
        return T
    slots = [setup.params[form.slots] for form in kept if isinstance(form, SlotsForm)]
    limits = [limit * setup.m if isinstance(limit, int) else T for limit in slots]  # or a size to be matched
    return min(T, max(limits, default=0))


def bytes_stored(state: Mapping[str, Form], setup: Setup, T: int, nnz: int) -> tuple[int, int]:
    """Return the bytes of a state whatever the stream, and those of what T rounds can store at most."""
    each = 8 * setup.m + 32 + 12 * nnz // max(T, 1) + (4 * setup.m + 4 if setup.many else 0)
    own = [form.slots for form in state.values() if isinstance(form, SlotsForm)]
    slots = sum(
        8 * math.prod(setup.shape(form))
        for form in state.values()
        if isinstance(form, ArrayForm)
        and set(own) & set(names(form))
        and all(isinstance(setup.params[name], int) for name in set(own) & set(names(form)))
    )
    return sum(bytes_needed(state, setup).values()), _most_stored(state, setup, T) * each + slots


@cache
def memory() -> float:
    """Return the bytes of memory of this machine, or of the container it is; infinity where unknown."""
    sizes = [math.inf]
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):  # "max" is no limit
            sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(sizes)

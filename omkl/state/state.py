"""A learner's state as a whole: declared, made, given room for a stream, its costs, saved and loaded."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omkl.state.array import Array, RoundCounter
from omkl.state.resource import Declared, Resource, Setup
from omkl.state.vectors import ALL, Expanding, Lifting, Slots

if TYPE_CHECKING:
    from omkl.engine.stream import Stream
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from omkl.state.resource import Arrays

State = Mapping[str, Resource]  # as declared
_KINDS: dict[str, type[Resource]] = {
    "shape": Array,
    "expansion": Expanding,
    "slots": Slots,
    "features": Lifting,
}


def parse(declared: Any, hyperparameters: Mapping[str, Any]) -> dict[str, Resource]:
    """Return the resources of ``about.state`` by name, see `omkl.state`.

    Raises ValueError that names the resource and says what is wrong.
    """
    if not isinstance(declared, Mapping):
        raise ValueError("must be a mapping of names to forms such as {shape: [m], fill: 1/m}")
    elastic = [
        name for name, form in declared.items() if isinstance(form, Mapping) and form.get("slots") == ALL
    ]
    slots = [name for name, form in declared.items() if isinstance(form, Mapping) and "slots" in form]
    names = Declared(tuple(hyperparameters), tuple(declared), tuple(slots), tuple(elastic))
    state = {}
    for name, written in declared.items():
        try:
            state[name] = _parsed(written, names)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return state


def _parsed(written: Any, names: Declared) -> Resource:
    if written == "rounds":
        return RoundCounter()
    kinds = [kind for kind in _KINDS if isinstance(written, Mapping) and kind in written]
    if len(kinds) != 1:
        raise ValueError(f"must be 'rounds' or have exactly one of the keys {', '.join(_KINDS)}")
    return _KINDS[kinds[0]].parse(written, names)


def absent(state: State, params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the resources that these hyperparameters leave out."""
    return tuple(name for name, resource in state.items() if resource.absent(params))


def limits(state: State) -> list[str]:
    """Return the hyperparameters that bound how many vectors are stored."""
    return [resource.limit for resource in state.values() if resource.limit]


def may_share(state: State) -> bool:
    """Whether several threads can share a pass."""
    return any(resource.threaded for resource in state.values())


def make(state: State, setup: Setup) -> dict[str, Any]:
    """Return the values that a learner begins with, without those that its hyperparameters leave out."""
    left_out = absent(state, setup.params)
    return {name: resource.make(setup) for name, resource in state.items() if name not in left_out}


def make_room(state: State, values: dict[str, Any], setup: Setup, stream: "Stream", learn: bool) -> None:
    """Give the values room for the rounds of a stream, in place; learn: whether the stream is learnt."""
    for name, resource in state.items():
        if name in values:
            values[name] = resource.grow(values[name], values, setup, stream, learn)


def grow_part(state: State, values: dict[str, Any], stream: "Stream", learn: bool) -> None:
    """Give dictionaries, and the arrays that grow with them, room for the next part of a stream, in place."""
    elastic = [name for name, resource in state.items() if resource.elastic]
    if not elastic:
        return
    for name in elastic:
        values[name] = state[name].grow_part(values[name], stream, learn)
    slots = {name: len(values[name].A) for name in elastic}
    for name, resource in state.items():
        values[name] = resource.follow(values[name], slots)


def add_features(state: State, values: dict[str, Any], setup: Setup) -> None:
    """Give the values room for ``setup.d`` features, in place."""
    for name, resource in state.items():
        if name in values:
            values[name] = resource.add_features(values[name], setup)


# ------------------------------------------------------------------ what a state and its passes cost


def bytes_needed(state: State, setup: Setup) -> dict[str, int]:
    """Return the bytes that each resource takes whatever the stream: its arrays, an open block's outputs, and
    looked-up values. Stored examples are not counted, nor a block's rows.
    """
    bounds, needed = set(limits(state)), {}
    for name, resource in state.items():
        if resource.record:
            needed[name] = 0 if resource.absent(setup.params) else resource.block_bytes(setup)
        elif not bounds & set(resource.sizes()):  # room for slots is touched as they fill
            needed[name] = 8 * resource.numbers(setup)
    return needed


def held_bytes(*parts: Any) -> int:
    """Return the bytes of all distinct arrays in these parts: a learner's state, its stream, its trace.

    Room for stored vectors counts as it was reserved; a state only grows, so its last size is its largest.
    """
    sizes: dict[tuple[int, int], int] = {}
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, np.ndarray):
            sizes[part.__array_interface__["data"][0], part.nbytes] = part.nbytes
        elif isinstance(part, dict | tuple | list):
            waiting += part.values() if isinstance(part, dict) else part
    return sum(sizes.values())


def pass_seconds(state: State, setup: Setup, T: int, nnz: int) -> float:
    """Estimate the time of a pass as if every example were stored (times per step as on a9a and tom)."""
    there = [resource for resource in state.values() if not resource.absent(setup.params)]
    drawn = next((resource.frequencies for resource in there if resource.frequencies), None)
    if drawn:  # no stored examples to compare with
        numbers = sum(bytes_needed(state, setup).values()) / 8  # of matrices, which each round updates
        return 1e-3 + T * (3e-8 * setup.m * setup.length(drawn) + 2e-9 * numbers)
    stored = _most_stored(state, setup, T)
    rounds = 1e-6 * T * setup.m if any(resource.limit for resource in there) else 0.0  # of keeping a budget
    pairs = T * stored - stored**2 / 2
    return 1e-3 + rounds + 2e-8 * nnz + 3e-10 * pairs * (setup.m + nnz / max(T, 1) / 2)


def _most_stored(state: State, setup: Setup, T: int) -> int:
    """Return how many examples a learner can store in T rounds."""
    there = [resource for resource in state.values() if not resource.absent(setup.params)]
    if any(resource.unlimited(setup.params) for resource in there):
        return T
    slots = [setup.params[resource.limit] for resource in there if resource.limit]
    most = [limit * setup.m if isinstance(limit, int) else T for limit in slots]  # or a size to be matched
    return min(T, max(most, default=0))


@cache
def memory() -> float:
    """Return the bytes of memory of this machine, or of the container it is; infinity where unknown."""
    sizes = [math.inf]
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):  # "max" is no limit
            sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8")))
    return min(sizes)


# ------------------------------------------------------------------ for saved models and pickles


def save(state: State, values: Mapping[str, Any]) -> Arrays:
    """Return the values' arrays, named ``RESOURCE.ARRAY``; they may be views."""
    return {
        f"{name}.{part}": array
        for name, resource in state.items()
        if name in values
        for part, array in resource.save(values[name]).items()
    }


def load_state(state: State, arrays: Arrays, setup: Setup) -> dict[str, Any]:
    """Return the values of saved arrays. Nothing is made that is larger than the arrays are.

    The plain arrays come first, since they have as many numbers as there are kernels, features and slots.
    Raises ValueError for arrays that `save` would not have made.
    """
    arrays_by_resource = split(state, arrays, setup.params)
    setup = replace(
        setup,
        slots={
            name: _rows(arrays_of) for name, arrays_of in arrays_by_resource.items() if state[name].elastic
        },
    )
    with_stores = [name for name in arrays_by_resource if state[name].record or state[name].frequencies]
    values: dict[str, Any] = {}
    for name in sorted(arrays_by_resource, key=with_stores.__contains__):
        if name == next(iter(with_stores), None) and sum(bytes_needed(state, setup).values()) > memory():
            raise ValueError("the learner's state is larger than this machine's memory")
        with _naming(name):
            values[name] = state[name].load(arrays_by_resource[name], setup)
    for name, value in values.items():
        with _naming(name):
            state[name].check(value, values, state)
    return {name: values[name] for name in arrays_by_resource}


def _rows(arrays: Arrays) -> int:
    return len(arrays["A"]) if "A" in arrays and arrays["A"].ndim else 0


@contextmanager
def _naming(resource: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{resource}: {error}") from None


def split(state: State, arrays: Arrays, params: Mapping[str, Any]) -> dict[str, Arrays]:
    """Return the arrays of each resource. Raises ValueError for one of a resource that is not there."""
    left_out = absent(state, params)
    arrays_by_resource: dict[str, Arrays] = {name: {} for name in state if name not in left_out}
    for name, array in arrays.items():
        resource, _, part = name.partition(".")
        if resource not in arrays_by_resource:
            raise ValueError(f"there is no array '{name}'")
        arrays_by_resource[resource][part] = array
    return arrays_by_resource


def add_classes(state: State, arrays: Arrays, setup: Setup) -> Arrays:
    """Return saved arrays with room for ``setup.classes``, which begin where all began."""
    return {
        f"{name}.{part}": array
        for name, arrays_of in split(state, arrays, setup.params).items()
        for part, array in state[name].add_classes(arrays_of, setup).items()
    }

"""A learner's state as arrays, for saved models and pickles."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omkl.state.resource import Setup

if TYPE_CHECKING:
    pass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from omkl.state.cost import bytes_needed, memory
from omkl.state.resource import Arrays
from omkl.state.state import State, absent


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

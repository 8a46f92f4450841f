"""A learner's state as arrays by name, and the state made of them again: for saved models and pickles."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from omkl.state.resource import Arrays, Setup
from omkl.state.size import bytes_needed, memory
from omkl.state.state import State, absent


def save(state: State, values: Mapping[str, Any]) -> Arrays:
    """Return the values' arrays, named ``RESOURCE.ARRAY``; they may be views."""
    return {
        f"{name}.{part}": array
        for name, resource in state.items()
        if name in values
        for part, array in resource.save(values[name]).items()
    }


def load(state: State, arrays: Arrays, setup: Setup) -> dict[str, Any]:
    """Return the values of saved arrays. Nothing is made that is larger than the arrays are.

    The plain arrays come first, since they have as many numbers as there are kernels, features and slots.
    Raises ValueError for arrays that `save` would not have made.
    """
    parts = split(state, arrays, setup.params)
    setup = replace(setup, slots={name: _rows(own) for name, own in parts.items() if state[name].elastic})
    made = [name for name in parts if state[name].record or state[name].frequencies]
    values: dict[str, Any] = {}
    for name in sorted(parts, key=made.__contains__):
        if name == next(iter(made), None) and sum(bytes_needed(state, setup).values()) > memory():
            raise ValueError("the learner's state is larger than this machine's memory")
        with _naming(name):
            values[name] = state[name].load(parts[name], setup)
    for name, value in values.items():
        with _naming(name):
            state[name].check(value, values, state)
    return {name: values[name] for name in parts}


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
    parts: dict[str, Arrays] = {name: {} for name in state if name not in left_out}
    for name, array in arrays.items():
        resource, _, part = name.partition(".")
        if resource not in parts:
            raise ValueError(f"there is no array '{name}'")
        parts[resource][part] = array
    return parts


def add_classes(state: State, arrays: Arrays, setup: Setup) -> Arrays:
    """Return saved arrays with room for ``setup.classes``, which begin where all began."""
    return {
        f"{name}.{part}": array
        for name, own in split(state, arrays, setup.params).items()
        for part, array in state[name].add_classes(own, setup).items()
    }

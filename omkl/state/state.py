"""A learner's state as a whole: declared, made, and given room for a stream."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omkl.state.array import Array, RoundCounter
from omkl.state.resource import Declared, Resource, Setup
from omkl.state.vectors import ALL, Expanding, Lifting, Slots

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


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

"""A learner's resources: what its YAML declares as state, made, grown and measured.

One table, _TABLE, has for each form (omkl/config/state.py) how it is made, how it gets room for a stream, and
the bytes that it takes whatever the stream.
"""

import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.config.state import (
    ArrayForm,
    ExpansionForm,
    FeaturesForm,
    Form,
    RoundsForm,
    SlotsForm,
    factors,
    names,
)

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


@dataclass
class Setup:
    """What resources are made from.

    params: hyperparameters    pool: ``{"normalise", "kernels"}`` or None    d: features    rng: its own
    block: rows computed at once    rounds: of the pass    frequencies (m, D, d): in place of drawn ones
    """

    params: Mapping[str, Any]
    pool: Mapping[str, Any] | None = None
    d: int = 0
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    block: int = 0
    rounds: int = 0
    frequencies: np.ndarray | None = None

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
        return (*sides[:-1], 0) if form.grows else sides

    def number(self, value: float | str) -> float:
        """A fill: a number, a hyperparameter, or 1 over a hyperparameter or a length."""
        if not isinstance(value, str):
            return value
        name = value.removeprefix("1/")
        return self._value(name) if name == value else 1.0 / self._value(name)

    def _value(self, name: str) -> Any:
        return {"m": self.m, "d": self.d, **self.params}[name]


def make(state: Mapping[str, Form], setup: Setup) -> dict[str, Any]:
    """Return a learner's resources by name, without those that these hyperparameters leave out."""
    left_out = absent(state, setup.params)
    return {
        name: _TABLE[type(form)].make(form, setup) for name, form in state.items() if name not in left_out
    }


class Coming(NamedTuple):
    """What a stream brings: rounds, those of them that are learnt, non-zeros, those of the longest row."""

    rounds: int
    learnt: int
    nnz: int
    longest: int


def grow(
    state: Mapping[str, Form], made: dict[str, Any], params: Mapping[str, Any], stream: "Stream", learn: bool
) -> None:
    """Give the resources room for the rounds of a stream, in place; learn: whether they are learnt."""
    lengths = np.diff(stream.indptr)[stream.order]
    coming = Coming(stream.T, stream.T if learn else 0, int(lengths.sum()), int(lengths.max(initial=0)))
    for name, form in state.items():
        if name not in made:
            continue
        if isinstance(form, ArrayForm) and form.grows:
            most = Setup(params).length(form.shape[-1])
            made[name] = lengthened(made[name], min(most, int(made[form.grows][0]) + coming.learnt + 1))
        elif larger := _TABLE[type(form)].grow:
            made[name] = larger(made[name], coming)


def lengthened(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array whose last side has at least this length, what is new filled with 0."""
    if length <= array.shape[-1]:
        return array
    longer = np.zeros((*array.shape[:-1], length), array.dtype)
    longer[..., : array.shape[-1]] = array
    return longer


def absent(state: Mapping[str, Form], params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the resources that these hyperparameters leave out."""
    return tuple(name for name, form in state.items() if _left_out(form, params))


def _left_out(form: Form, params: Mapping[str, Any]) -> bool:
    if isinstance(form, ExpansionForm):
        return form.unless is not None and params.get(form.unless) is not None
    return isinstance(form, SlotsForm) and params.get(form.slots) is None


def limits(state: Mapping[str, Form]) -> list[str]:
    """Return the hyperparameters that bound how many vectors are stored."""
    return [form.slots for form in state.values() if isinstance(form, SlotsForm)]


def bytes_needed(state: Mapping[str, Form], setup: Setup) -> dict[str, int]:
    """Return the bytes that each resource takes whatever the stream: stored examples are not counted."""
    bounds = set(limits(state))
    return {
        name: 8 * _TABLE[type(form)].numbers(form, setup)
        for name, form in state.items()
        if not bounds & set(names(form))  # room for slots is touched as they fill
    }


def pass_seconds(state: Mapping[str, Form], setup: Setup, T: int, nnz: int) -> float:
    """Estimate the time of a pass as if every example were stored (times per step as on a9a and tom)."""
    forms = list(state.values())
    drawn = next((form for form in forms if isinstance(form, FeaturesForm)), None)
    if drawn:  # no stored examples to compare with
        return 1e-3 + 3e-8 * T * setup.m * setup.length(drawn.features)
    pairs = T**2 / 2 if any(isinstance(form, ExpansionForm | SlotsForm) for form in forms) else 0
    return 1e-3 + 2e-8 * nnz + 3e-10 * pairs * (setup.m + nnz / max(T, 1) / 2)


# ------------------------------------------------------------------ the forms


def _array(form: ArrayForm, setup: Setup) -> np.ndarray:
    array = np.zeros(setup.shape(form), np.int64 if form.dtype == "int" else np.float64)
    if value := setup.number(form.fill):  # zeros cost memory only where they are written
        array[:] = value
    if form.diagonal is not None:
        np.fill_diagonal(array, setup.number(form.diagonal))
    return array


def _expansion(form: ExpansionForm, setup: Setup) -> Any:
    from omkl.engine.expansion import make_expansion

    return make_expansion(_plan(setup, form.copies), setup.d, setup.block)


def _larger_expansion(E: Any, coming: Coming) -> Any:
    from omkl.engine.expansion import reserve

    return reserve(E, coming.rounds, coming.nnz, coming.longest)


def _slots(form: SlotsForm, setup: Setup) -> Any:
    from omkl.engine.budget_record import make_budget

    return make_budget(_plan(setup, None), setup.params[form.slots], setup.d, setup.block)


def _more_slots(B: Any, coming: Coming) -> Any:
    from omkl.engine.budget_record import reserve_slots

    return reserve_slots(B, coming.rounds, coming.longest)


def _plan(setup: Setup, copies: str | None) -> Any:
    from omkl.engine.pool import make_pool

    assert setup.pool is not None, "a learner that stores vectors has kernels"
    times = setup.length(copies) if copies else 1
    return make_pool(setup.pool["kernels"] * times, setup.pool["normalise"])


def _features(form: FeaturesForm, setup: Setup) -> Any:
    from omkl.engine.features import make_features

    assert setup.pool is not None, "a learner with random features has kernels"
    kind = setup.params.get(form.kind, form.kind)
    D = setup.length(form.features)
    return make_features(setup.pool["kernels"], setup.d, D, kind, setup.rng, setup.frequencies)


class _Row(NamedTuple):
    make: Callable[[Any, Setup], Any]
    grow: Callable[[Any, Coming], Any] | None
    numbers: Callable[[Any, Setup], int]  # of eight bytes each, whatever the stream


_TABLE: dict[type, _Row] = {
    ArrayForm: _Row(_array, None, lambda form, setup: math.prod(setup.shape(form))),
    ExpansionForm: _Row(_expansion, _larger_expansion, lambda form, setup: 0),
    SlotsForm: _Row(_slots, _more_slots, lambda form, setup: 0),
    FeaturesForm: _Row(  # the frequencies, and their copies while they are made
        _features, None, lambda form, setup: 3 * setup.m * setup.length(form.features) * setup.d
    ),
    RoundsForm: _Row(  # those of the first stream where the pass's are not told
        lambda form, setup: np.array([setup.rounds]),
        lambda T, coming: T if T[0] else np.array([coming.rounds]),
        lambda form, setup: 0,
    ),
}


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

"""What a learner's state and its passes cost: bytes and seconds."""

from typing import TYPE_CHECKING, Any

from omkl.state.resource import Setup

if TYPE_CHECKING:
    pass
import math
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from omkl.state.state import State, limits


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

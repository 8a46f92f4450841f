"""The arrays of a learner's state, as its YAML names them, and how much memory they take."""

import math
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

LIMITS = ("budget", "tau")  # hyperparameters that bound what is stored


def limited(params: dict[str, Any]) -> bool:
    """Whether a hyperparameter bounds what is stored."""
    return any(params.get(name) is not None for name in LIMITS)


class Sides:
    """The lengths that a learner's YAML may name in a shape.

    m kernels, d features, the learner's whole-number hyperparameters, ``2D`` and ``levels m``. A window of
    ``tau`` rounds has no room at first, and gets it as rounds come: ``lengthened``.
    """

    def __init__(self, params: dict[str, Any], m: int, d: int) -> None:
        self.params = params
        whole = {k: v or 0 for k, v in params.items() if v is None or isinstance(v, int)}
        whole["tau"] = 0
        levels = whole.get("levels", 1)
        self.lengths = {"m": m, "d": d, "2D": 2 * whole.get("D", 0), "levels m": levels * m, **whole}

    def shape(self, form: dict[str, Any]) -> tuple[int, ...]:
        """The shape that a form like ``{shape: [m, 2D]}`` describes."""
        return tuple(self.lengths[side] if isinstance(side, str) else side for side in form["shape"])

    def array(self, form: dict[str, Any]) -> np.ndarray:
        """Return the array that ``{shape: [m], fill: 1/m, dtype: float}`` describes, full of ``fill``.

        ``fill`` is a number, 1 over a length, or a hyperparameter.
        """
        fill = form.get("fill", 0)
        fill = self.params.get(fill, fill)
        value = 1.0 / self.lengths[fill[2:]] if isinstance(fill, str) else fill
        array = np.zeros(self.shape(form), np.int64 if form.get("dtype") == "int" else np.float64)
        if value:  # zeros cost memory only where they are written
            array[:] = value
        return array


def lengthened(window: np.ndarray, tau: int | None, rounds: int) -> np.ndarray:
    """Return a window (n, length) with the room of tau rounds, of no more than have been, and one."""
    length = min(tau or 0, rounds + 1)
    if length <= window.shape[1]:
        return window
    longer = np.zeros((window.shape[0], length))
    longer[:, : window.shape[1]] = window
    return longer


def bytes_needed(spec: Any, params: dict[str, Any], m: int, d: int) -> int:
    """Return the bytes that a learner's state takes whatever the stream: stored examples not counted."""
    sides = Sides(params, m, d)
    forms = [form for form in (spec.state or {}).values() if "budget" not in form.get("shape", ["budget"])]
    frequencies = 3 * m * params.get("D", 0) * d  # and their copies while they are made
    return 8 * (frequencies + sum(math.prod(sides.shape(form)) for form in forms))


@cache
def memory() -> float:
    """Return the bytes of memory of this machine, or of the container it is; infinity where unknown."""
    limits = [math.inf]
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if sys.platform == "linux":
        with suppress(ValueError, OSError):  # "max" is no limit
            limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits)

"""What a line of a store must say to be accepted. Every reader and the writer ask here.

The checksum (CRC) of a line tells whether it was torn or edited, but not whether it was written wrong or
sealed again. So a cell's key must be the key of its own fields, and each field must have its type and range.
The values come from JSON without NaN and infinity.
"""

import hashlib
import math
from itertools import pairwise
from typing import Any

from omkl.store.keys import key_text
from omkl.tasks import TASKS

Shared = tuple[dict[str, Any], Any, bytes]  # fields that many cells share, their hash begun, its last bytes

_ROUNDING = 1e-9  # of a mistake rate, relative to 1
_NUMBERS = {int, float}
_WHOLE = {int}
_PROVENANCE = {
    "versions": (dict,),
    "commit": (str, type(None)),
    "dirty": (bool, type(None)),
    "host": (str,),
    "cpu": (str,),
    "cores": (int, float, type(None)),
    "backend": (str,),
    "jobs": (int, type(None)),
    "time": (str,),
    "load": (int, float, type(None)),
}
_FAULTS = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def shared_part(part: Any) -> Shared | None:
    """Return the fields that a cell shares with others, ready for hashing its key; None if unsound."""
    try:
        if not _is_shared(part):
            return None
        names = ("algo", "params", "data_hash", "order", "revision")
        task = part.get("task", "classification")
        before, after = key_text(
            **{name: part[name] for name in names}, pool=part.get("pool_spec"), task=task
        )
    except _FAULTS:
        return None
    return part, hashlib.sha256(before), after


def _is_shared(part: Any) -> bool:
    pool, origin = part.get("pool_spec"), part["provenance"]
    return (
        all(type(part[name]) is str for name in ("algo", "data", "data_hash", "order"))
        and type(part["params"]) is dict
        and type(part["revision"]) is int
        and type(part.get("seed", 0)) is int
        and type(part.get("pool")) in (str, type(None))
        and part.get("task", "classification") in TASKS
        and (pool is None or _is_pool(pool))
        and ("T" not in part or (_is_counts([part["T"]]) and part["T"] > 0))
        and ("m" not in part or _is_counts([part["m"]]))
        and all(type(origin[name]) in kinds for name, kinds in _PROVENANCE.items() if name in origin)
        and all(type(version) is str for version in origin.get("versions", {}).values())
    )


def _is_pool(pool: Any) -> bool:
    kernels = pool["kernels"]
    return (
        type(pool["normalise"]) is str
        and type(kernels) is list
        and all(type(kernel) is dict and type(kernel.get("kind")) is str for kernel in kernels)
    )


def is_cell(own: Any, shared: Shared | None) -> bool:
    """Return whether a cell's own fields and those it shares (`shared_part`) are those of a cell.

    A finished cell has all figures: 0 <= mistakes <= T and mistake_rate = mistakes / T, or mse >= 0 for a
    regression. Counts and times are not negative. The key is the key of the fields.
    """
    if shared is None:
        return False
    part, begun, last = shared
    try:
        status, seed = own["status"], own["permutation_seed"]
        if not (seed.isascii() and seed.isdecimal()) or type(own["rep"]) is not int:
            return False
        digest = begun.copy()
        digest.update(seed.encode() + last)
        load = own.get("load", 0)
        if (
            own["key"] != digest.hexdigest()
            or type(own.get("time", "")) is not str
            or not (load is None or type(load) in _NUMBERS)
        ):
            return False
        if status == "ok":
            return "m" in part and _has_figures(own, part["T"])
        return status == "failed" and type(own["error"]) is str and type(own.get("traceback", "")) is str
    except _FAULTS:
        return False


def _has_figures(own: dict[str, Any], T: int) -> bool:
    mistakes, rate, seconds, weights = own["mistakes"], own["mistake_rate"], own["seconds"], own["weights"]
    sizes = own["n_sv_per_kernel"]
    if type(sizes) is not list:
        return False
    # the oldest lines lack n_sv_combined
    counts = [own["n_sv_sum"], own["n_sv_union"], own["pairs"], own.get("n_sv_combined", 0), *sizes]
    if mistakes is None:
        mse = own["mse"]
        if rate is not None or type(mse) not in _NUMBERS or not 0 <= mse < math.inf:
            return False
    elif (
        type(mistakes) is not int
        or type(rate) not in _NUMBERS
        or not (0 <= mistakes <= T and -_ROUNDING <= rate - mistakes / T <= _ROUNDING)
        or own.get("mse") is not None
    ):
        return False
    return (
        type(seconds) in _NUMBERS
        and 0 <= seconds < math.inf
        and _WHOLE.issuperset(map(type, counts))
        and min(counts) >= 0
        and (weights is None or _is_numbers(weights))
    )


def is_curve(curve: Any) -> bool:
    """Return whether this is a learning curve: lists over the same ascending rounds t, and the weights.

    ``t``, ``mistakes`` (at most t) and ``n_sv_*`` are counts, ``loss`` numbers not below 0, ``weights`` one
    list of numbers per entry of ``weights_t``, or None. Other fields must be lists or None.
    """
    try:
        rounds = curve["t"]
        if not (_is_counts(rounds) and all(a < b for a, b in pairwise(rounds))):
            return False
        for name, values in curve.items():
            if name == "mistakes" or name.startswith("n_sv_"):
                good = _is_counts(values) and len(values) == len(rounds)
                if name == "mistakes":
                    good = good and all(a <= t for a, t in zip(values, rounds, strict=True))
            elif name == "loss":
                good = _is_numbers(values) and len(values) == len(rounds) and min(values, default=0) >= 0
            elif name == "weights":
                good = values is None or all(map(_is_numbers, values))
                good = good and (not values or len(values) == len(curve["weights_t"]))
            elif name == "weights_t":
                good = _is_counts(values)
            else:
                good = values is None or type(values) is list
            if not good:
                return False
    except _FAULTS:
        return False
    return True


def _is_counts(values: Any) -> bool:
    return type(values) is list and _WHOLE.issuperset(map(type, values)) and min(values, default=0) >= 0


def _is_numbers(values: Any) -> bool:
    return type(values) is list and _NUMBERS.issuperset(map(type, values))

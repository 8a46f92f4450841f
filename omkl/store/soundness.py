"""What the lines of a store must say to be believed: every reader and the writer ask here.

A seal (CRC) tells a line that was torn or edited, but not one that was written wrong, or sealed again. So a
cell's key must be the key of its own fields, and every field of its type and in its range. The values come
from JSON without NaN and infinity.
"""

import hashlib
import math
from itertools import pairwise
from typing import Any

from omkl.store.keys import key_text
from omkl.tasks import TASKS

Shared = tuple[
    dict[str, Any], Any, bytes
]  # fields of many cells, and what their keys are made of: `key_text`

_ROUNDING = 1e-9  # of a mistake rate, relative to 1
_NUMBERS = {int, float}
_NUMBERS_OR_NONE = {int, float, type(None)}
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


def shared_part(part: Any) -> Shared | None:
    """Return the fields that a cell shares with others, a hash begun and its last bytes; None if unsound."""
    try:
        if not _is_shared(part):
            return None
        before, after = key_text(
            algo=part["algo"],
            params=part["params"],
            pool=part.get("pool_spec"),
            data_hash=part["data_hash"],
            order=part["order"],
            revision=part["revision"],
            task=part.get("task", "classification"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    return part, hashlib.sha256(before), after


def _is_shared(part: Any) -> bool:
    pool = part.get("pool_spec")
    return (
        all(type(part[name]) is str for name in ("algo", "data", "data_hash", "order"))
        and type(part["params"]) is dict
        and type(part["revision"]) is int
        and type(part.get("seed", 0)) is int
        and type(part.get("pool")) in (str, type(None))
        and part.get("task", "classification") in TASKS
        and (pool is None or _is_pool(pool))
        and ("T" not in part or (_is_count(part["T"]) and part["T"] > 0))
        and ("m" not in part or _is_count(part["m"]))
        and _is_provenance(part["provenance"])
    )


def _is_pool(pool: Any) -> bool:
    kernels = pool["kernels"]
    return (
        type(pool["normalise"]) is str
        and type(kernels) is list
        and all(type(kernel) is dict and type(kernel.get("kind")) is str for kernel in kernels)
    )


def _is_provenance(origin: Any) -> bool:
    return all(type(origin[name]) in kinds for name, kinds in _PROVENANCE.items() if name in origin) and all(
        type(version) is str for version in origin.get("versions", {}).values()
    )


def is_cell(own: Any, shared: Shared | None) -> bool:
    """Return whether a cell's own fields and those it shares (`shared_part`) are those of a cell.

    A finished cell has all figures, with 0 <= mistakes <= T and mistake_rate = mistakes / T (of a regression
    mse >= 0 in their place); counts and times are not negative; the key is the key of the fields.
    """
    if shared is None:
        return False
    part, begun, last = shared
    get = own.get
    try:
        status, seed = own["status"], own["permutation_seed"]
        if not (seed.isascii() and seed.isdecimal()) or type(own["rep"]) is not int:
            return False
        digest = begun.copy()
        digest.update(seed.encode() + last)
        if own["key"] != digest.hexdigest():
            return False
        if type(get("time", "")) is not str or type(get("load", 0)) not in _NUMBERS_OR_NONE:
            return False
        if status == "ok":
            return "m" in part and _has_figures(own, part["T"])
        return status == "failed" and type(own["error"]) is str and type(get("traceback", "")) is str
    except (KeyError, TypeError, AttributeError, UnicodeEncodeError, OverflowError):
        return False


def _has_figures(own: dict[str, Any], T: int) -> bool:
    mistakes, rate, seconds = own["mistakes"], own["mistake_rate"], own["seconds"]
    if mistakes is None:
        mse = own["mse"]
        if rate is not None or type(mse) not in _NUMBERS or not 0 <= mse < math.inf:
            return False
    else:
        if type(mistakes) is not int or type(rate) not in _NUMBERS or own.get("mse") is not None:
            return False
        if not (0 <= mistakes <= T and abs(rate - mistakes / T) <= _ROUNDING):
            return False
    if type(seconds) not in _NUMBERS or not 0 <= seconds < math.inf:
        return False
    # the oldest lines lack n_sv_combined
    counts = [own["n_sv_sum"], own["n_sv_union"], own["pairs"], own.get("n_sv_combined", 0)]
    sizes, weights = own["n_sv_per_kernel"], own["weights"]
    return type(sizes) is list and _is_counts(counts + sizes) and (weights is None or _is_numbers(weights))


def is_curve(curve: Any) -> bool:
    """Return whether this is a learning curve: lists over the same rounds t, ascending, and the weights.

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
    except (KeyError, TypeError, AttributeError, OverflowError):
        return False
    return True


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_counts(values: Any) -> bool:
    return type(values) is list and _WHOLE.issuperset(map(type, values)) and min(values, default=0) >= 0


def _is_numbers(values: Any) -> bool:
    return type(values) is list and _NUMBERS.issuperset(map(type, values))

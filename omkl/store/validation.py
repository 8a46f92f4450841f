"""What a line of a store must say to be accepted. Every reader and the writer ask here.

The checksum (CRC) of a line shows that it was torn or edited, but not that it was written wrong or
forged. So a cell's key must be the key of its own fields, and each field must have its type and range.
The values come from JSON without NaN and infinity.
"""

import hashlib
import math
from itertools import pairwise
from typing import Any

from omkl.store.fields import FIELDS, NUMBER, WHOLE
from omkl.store.keys import key_text
from omkl.tasks import STORED, TASKS

Shared = tuple[dict[str, Any], Any, bytes]  # fields that many cells share, their hash begun, its last bytes
Kinds = dict[str, tuple[type, ...]]

_ROUNDING = 1e-9  # of a mistake rate, relative to 1
_NUMBERS: set[type] = {int, float}
_WHOLE: set[type] = {int}
_NOTHING = type(None)
_SHARED: Kinds = {field.name: field.types for field in FIELDS if field.shared}
_COUNTS = [field for field in FIELDS if field.figure and not field.shared and field.types == WHOLE]
_ALWAYS, _SOME = ([field.name for field in _COUNTS if field.always is always] for always in (True, False))
_MEASURED = [field.name for field in FIELDS if field.figure and field.types == NUMBER and not field.always]
_POOL: Kinds = {"normalise": (str,), "kernels": (list,)}
_PROVENANCE: Kinds = {
    **dict.fromkeys(("host", "cpu", "backend", "time"), (str,)),
    **dict.fromkeys(("cores", "load"), (int, float, _NOTHING)),
    "versions": (dict,),
    "commit": (str, _NOTHING),
    "dirty": (bool, _NOTHING),
    **dict.fromkeys(("jobs", "threads"), (int, _NOTHING)),
}
_FAULTS = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def shared_part(part: dict[str, Any]) -> Shared | None:
    """Return the fields that a cell shares with others, ready for hashing its key; None if unsound."""
    try:
        good = _are_shared(part) and "data" in part and "provenance" in part
        part.setdefault("source", None)  # ours have none: all lines then have the same fields
        part.setdefault("rounds", None)
        part.setdefault("test", None)
        part.setdefault("held_out", None)
        before, after = key_text(part)
    except _FAULTS:
        return None
    return (part, hashlib.sha256(before), after) if good else None


def _are_shared(part: dict[str, Any]) -> bool:
    """Return whether the fields that are there have their types and ranges; may raise one of _FAULTS."""
    held_out = part.get("held_out")
    pool, origin = part.get("pool_spec") or {"normalise": "", "kernels": []}, part.get("provenance", {})
    rounds = part.get("rounds")
    return (
        all(_have_kinds(*pair) for pair in ((part, _SHARED), (pool, _POOL), (origin, _PROVENANCE)))
        and part.get("task", "classification") in TASKS
        and part.get("T", 1) > 0
        and part.get("m", 0) >= 0
        and part.get("pool_spec") != {}
        and all(type(kernel["kind"]) is str for kernel in pool["kernels"])
        and all(type(version) is str for version in origin.get("versions", {}).values())
        and (rounds is None or (len(rounds) == 2 and 0 <= rounds[0] < rounds[1]))
        and (type(held_out) is not list or (len(held_out) == 2 and 0 <= held_out[0] < held_out[1]))
    )


def _have_kinds(part: dict[str, Any], kinds: Kinds) -> bool:
    return all(type(part[name]) in some for name, some in kinds.items() if name in part)


def is_cell(own: dict[str, Any], shared: Shared) -> bool:
    """Return whether a cell's own fields and those it shares (`shared_part`) are those of a cell.

    A finished cell has all figures: 0 <= mistakes <= T and mistake_rate = mistakes / T, or mse >= 0 for a
    regression; a further measure is a number. Counts and times are not negative; those of a confusion matrix
    sum to T. The key is that of the fields.
    """
    part, begun, last = shared
    try:
        status, seed, load = own["status"], own["permutation_seed"], own.get("load")
        digest = begun.copy()
        digest.update(seed.encode() + last)
        if not (
            own["key"] == digest.hexdigest()
            and seed.isascii()
            and seed.isdecimal()
            and type(own["rep"]) is int
            and type(own.get("time", "")) is str
            and (load is None or type(load) in _NUMBERS)
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
    mse: Any = own.get("mse")
    if type(sizes) is not list:
        return False
    counts = [own[name] for name in _ALWAYS] + [own.get(name, 0) for name in _SOME] + sizes
    if mistakes is None:
        good = rate is None and type(mse) in _NUMBERS and 0 <= mse < math.inf
    else:
        good = mse is None and type(mistakes) is int and type(rate) in _NUMBERS and 0 <= mistakes <= T
        good = good and -_ROUNDING <= rate - mistakes / T <= _ROUNDING
    return (
        good
        and type(seconds) in _NUMBERS
        and 0 <= seconds < math.inf
        and _is_list(counts, _WHOLE, 0)
        and (weights is None or _is_list(weights))
        and all(type(own[name]) in _NUMBERS for name in _MEASURED if own.get(name) is not None)
        and _is_confusion(own.get("confusion"), T)
    )


def _is_confusion(value: Any, T: int) -> bool:
    """Return whether this is a confusion matrix of T rounds as `omkl.data.confusion` makes it, or None."""
    if type(value) is dict:
        C, counts = value["classes"], value["counts"]
        sides = [(value["true"], 0), (value["predicted"], -1)]
        good = type(C) is int and _is_list(counts, _WHOLE, 1) and sum(counts) == T
        return good and all(
            _is_list(side, _WHOLE, least) and len(side) == len(counts) and max(side, default=-1) < C
            for side, least in sides
        )
    return value is None or (
        type(value) is list
        and all(_is_list(row, _WHOLE, 0) and len(row) == len(value) for row in value)
        and sum(map(sum, value)) == T
    )


def is_curve(curve: Any) -> bool:
    """Return whether this is a learning curve: lists over the same ascending rounds t, and the weights.

    ``t``, ``mistakes`` (at most t) and ``n_sv_*`` are counts, ``loss`` numbers not below 0, the sums of
    further measures numbers, ``weights`` one list of numbers per entry of ``weights_t``, or None. Other
    fields must be lists or None.
    """
    try:
        rounds = curve["t"]
        good = all(a < b for a, b in pairwise(rounds))
        for name, values in curve.items():
            if name in ("mistakes", "loss") or name.startswith("n_sv_"):
                kinds = _NUMBERS if name == "loss" else _WHOLE
                good &= len(values) == len(rounds) and _is_list(values, kinds, 0)
            elif name in STORED:
                good &= len(values) == len(rounds) and _is_list(values)
            elif name in ("t", "weights_t"):
                good &= _is_list(values, _WHOLE, 0)
            else:
                good &= values is None or type(values) is list
        if weights := curve.get("weights"):
            good &= all(map(_is_list, weights)) and len(weights) == len(curve["weights_t"])
        return good and all(a <= t for a, t in zip(curve.get("mistakes", rounds), rounds, strict=True))
    except _FAULTS:
        return False


def _is_list(values: Any, kinds: set[type] = _NUMBERS, least: int | None = None) -> bool:
    good = type(values) is list and kinds.issuperset(map(type, values))
    return good and (least is None or min(values, default=least) >= least)

"""The key of a cell: a hash of everything that its result depends on."""

import hashlib
import json
from typing import Any

SCHEMA = 1
_SEED = "permutation_seed"


def cell_key(*, permutation_seed: int, **setting: Any) -> str:
    """Return a cell's key: the hex sha256 of canonical JSON. The other arguments are those of `key_text`.

    Canonical: keys sorted, no white space, floats as ``repr`` prints them. A float and an int of the same
    value differ (1.0, 1): the configuration has already given every value its declared type.

    Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold.
    """
    before, after = key_text(**setting)
    return hashlib.sha256(before + str(permutation_seed).encode() + after).hexdigest()


def key_text(
    *,
    algo: str,
    params: dict[str, Any],
    pool: dict[str, Any] | None,
    data_hash: str,
    order: str,
    revision: int,
    task: str = "classification",
    source: str | None = None,
    rounds: list[int] | None = None,
) -> tuple[bytes, bytes]:
    """Return the text that `cell_key` hashes, before and after the digits of the permutation's seed.

    The cells of one setting on one data set differ in that seed only. Of the pool only ``normalise`` and
    ``kernels`` count, not its name or label. The task counts where it is not classification: the same numbers
    may be classes or targets. ``source`` says what a learner of a folder of the user's is made of; ours have
    none, so that the two never have one key. ``rounds`` is a part of the stream, the first round and the one
    after the last; None is all of it. Where a cell ran never counts. Raises as `cell_key` does.
    """
    parts = {
        "schema": SCHEMA,
        "algo": algo,
        "params": params,
        "pool": pool and {"normalise": pool["normalise"], "kernels": pool["kernels"]},
        "data": data_hash,
        "order": order,
        "revision": revision,
    }
    if task != "classification":
        parts["task"] = task
    if source:
        parts["source"] = source
    if rounds:
        parts["rounds"] = rounds
    before = dumps({name: parts[name] for name in parts if name < _SEED}, sort_keys=True)
    after = dumps({name: parts[name] for name in parts if name > _SEED}, sort_keys=True)
    return f'{before[:-1]},"{_SEED}":"'.encode(), f'",{after[1:]}'.encode()


def dumps(value: Any, sort_keys: bool = False) -> str:
    """Return compact JSON, numpy's arrays and scalars as lists and numbers.

    Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold.
    """
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a line of the store cannot hold {type(value).__name__}")

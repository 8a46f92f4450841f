"""The key of a cell: a hash of everything that its result depends on."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from omkl.store.fields import ANY, KEYED

SCHEMA = 1
_SEED = "permutation_seed"


def cell_key(setting: Mapping[str, Any]) -> str:
    """Return a cell's key: the hex sha256 of canonical JSON of the fields that its result depends on.

    setting: those fields, by their names in a line (`omkl.store.fields`). Where a cell ran never counts, nor
    do the names of its pool and its data. Canonical: keys sorted, no white space, floats as ``repr`` prints
    them. A float and an int of the same value differ (1.0, 1): the configuration has already given every
    value its declared type. Raises ValueError for NaN or infinity, TypeError for what JSON cannot hold.
    """
    before, after = key_text(setting)
    return hashlib.sha256(before + str(setting[_SEED]).encode() + after).hexdigest()


def key_text(setting: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return the text that `cell_key` hashes, before and after the digits of the permutation's seed.

    The cells of one setting on one data set differ in that seed only. Raises as `cell_key` does.
    """
    parts: dict[str, Any] = {"schema": SCHEMA}
    for field in KEYED:
        value = setting.get(field.name, None if field.usual is ANY else field.usual)
        if field.name == "pool_spec" and value:  # of a pool only this counts
            value = {"normalise": value["normalise"], "kernels": value["kernels"]}
        if field.name != _SEED and value != field.usual:
            parts[field.key] = value
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

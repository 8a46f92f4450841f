"""Lines of a store as the runner writes them, for tests of what writes and reads them."""

import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from omkl.config import learner_spec
from omkl.store import lines
from omkl.store.fields import cell_key
from omkl.store.store import Store

REVISION = learner_spec("omkc_dd").revision


def line(
    number: int = 0, status: str = "ok", time: str = "2026-01-01T00:00:00.000000+00:00", **changes
) -> dict:
    """A cell's line as the runner writes it, with the key and the mistake rate of its other fields."""
    base = {
        "key": "",
        "status": status,
        "algo": "omkc_dd",
        "params": {"beta": 0.8, "sampling": "max"},
        "pool": "paper16",
        "pool_spec": {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 0.5}]},
        "data": "toy",
        "data_hash": "ab" * 32,
        "task": "classification",
        "order": "permuted",
        "rep": number,
        "seed": 1,
        "permutation_seed": str(2**100 + number),
        "revision": REVISION,
    }
    if status == "ok":
        base |= {"T": 100, "mistakes": 30, "mistake_rate": 0.3, "n_sv_sum": 40, "n_sv_union": 35, "m": 1}
        base |= {
            "n_sv_combined": 40,
            "n_sv_per_kernel": [40],
            "weights": [1.0],
            "pairs": 999,
            "seconds": 0.25,
        }
    else:
        base["error"] = "ValueError: no"
    made = base | {"provenance": {"time": time, "load": 0.5, "host": "here", "jobs": 2}} | changes
    if (
        "mistakes" in changes
        and "mistake_rate" not in changes
        and isinstance(made["mistakes"], (int, np.integer))
    ):
        made["mistake_rate"] = made["mistakes"] / made["T"]
    return made if "key" in changes else made | {"key": key_of(made)}


def key_of(line: dict) -> str:
    """The key of a line's fields; some digits where they are none of a cell."""
    try:
        return cell_key(line)
    except (TypeError, KeyError, ValueError):
        return "0" * 64


def sealed(line: dict) -> bytes:
    """A line as the store's own writer forms it, which checks first, whatever this one says."""
    with mock.patch.object(lines, "wrong_field", return_value=""):
        return lines.encode_cell(line)


def cell_files(store: Store) -> list[Path]:
    return sorted((store.path / "cells").glob("*.jsonl"))


def read_quietly(store: Store) -> pd.DataFrame:
    """All cells, where any warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return store.cells()

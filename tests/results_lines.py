"""Lines of a store as the runner writes them, for tests of what writes and reads them."""

import warnings
from pathlib import Path

import pandas as pd

from omkl.results import Store


def line(
    number: int = 0, status: str = "ok", time: str = "2026-01-01T00:00:00.000000+00:00", **changes
) -> dict:
    """A cell's line as the runner writes it."""
    base = {
        "key": f"{number:064x}",
        "status": status,
        "algo": "omkc_dd",
        "params": {"beta": 0.8, "sampling": "max"},
        "pool": "paper16",
        "pool_spec": {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 0.5}]},
        "data": "toy",
        "data_hash": "ab" * 32,
        "order": "permuted",
        "rep": number,
        "seed": 1,
        "permutation_seed": str(2**100 + number),
        "revision": 1,
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
    return base | {"provenance": {"time": time, "load": 0.5, "host": "here", "jobs": 2}} | changes


def cell_files(store: Store) -> list[Path]:
    return sorted((store.path / "cells").glob("*.jsonl"))


def read_quietly(store: Store) -> pd.DataFrame:
    """All cells, where any warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return store.cells()

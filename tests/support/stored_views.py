"""Stores of cells of many kinds, and what their readers say of them."""

import warnings
from collections import Counter
from pathlib import Path

import pandas as pd

from omkl.store import rewrite
from omkl.store.columns import EXTRA
from omkl.store.fields import NAMES
from omkl.store.store import Store, StoreWarning
from support.results_lines import cell_files, line

DAYS = [f"2026-01-0{day}T00:00:00.000000+00:00" for day in range(1, 6)]
MANY = {"classes": 40, "true": [0, 3, 3], "predicted": [0, 3, -1], "counts": [70, 20, 10]}
LISTS = ("weights", "n_sv_per_kernel", "provenance", "confusion")
SOME = [name for name in (*NAMES, *EXTRA) if name not in LISTS]  # what a copy holds


def fill(path: Path, numbers=range(8), day: int = 0) -> Store:
    """A store with one more file: cells of many kinds, some with a curve, and a torn line."""
    changes = (
        {},
        {"seconds": 1, "rep": 2**60},  # not a float as the others, and not exact as one
        {"weights": None, "skill": [1, 0.5], "nlpd": 0.25, "confusion": [[60, 10], [20, 10]]},
        {"weights": [-3, 0.5], "task": "regression", "mistakes": None, "mistake_rate": None, "mse": 0.1},
        {"params": {"beta": 1.0, "kind": "ä"}, "pool": None, "pool_spec": None, "data": "other"},
        {"algo": "gone", "seed": 2**80, "revision": 1, "confusion": MANY},
    )
    before = set(cell_files(Store(path)))
    with Store(path) as store:
        for number in numbers:
            status = "failed" if (number + day) % 5 == 2 else "ok"
            more = changes[number % len(changes)] if status == "ok" else {"error": "“no”"}
            one = line(number, status, time=DAYS[day], **more)
            curve = {"t": [number + 1, 100], "loss": [0.1, 1], "weights": [[1, 0.5]], "weights_t": [3]}
            store.append(one, curve if number % 3 else None)
    (new,) = set(cell_files(store)) - before
    with new.open("ab") as file:
        file.write(b'{"key":"torn\n')
    return Store(path)


def quietly(function, *args, **more):
    """Call a function without warnings about lines that cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        return function(*args, **more)


def raw(store: Store) -> Counter[bytes]:
    """All lines of a store, as they are in its files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        return Counter(one.raw for folder in rewrite.FOLDERS for one in store.lines(folder))


def view(store: Store) -> list:
    """What the readers say of a store, to be compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        frames = [
            store.cells(),
            store.cells(columns=SOME),
            store.cells(columns=[*SOME, "confusion", "skill"]),
            store.cells(columns=["key", "weights"], where={"data": ["other"], "algo": ["omkc_dd", "x"]}),
        ]
        frames += [store.cells(sorted(frames[0]["key"])[:3], columns) for columns in (None, SOME)]
        done = store.done([*frames[0]["key"], "x", "0" * 64])
        failed = sorted(store.failed(), key=lambda one: one["key"])
        parts = [*frames, failed, store.curves(), done]
    return [
        part.sort_values("key", ignore_index=True).map(repr).join(part.dtypes.rename("dtype").map(str))
        if isinstance(part, pd.DataFrame)
        else part
        for part in parts
    ]


def assert_same(one: list, other: list) -> None:
    for a, b in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(a, b) if isinstance(a, pd.DataFrame) else None
        assert isinstance(a, pd.DataFrame) or a == b

"""Readers, writers and prunes of one store that are killed at random moments: a script, which imports once.

    python kill_readers.py FOLDER KILLS SEED

Every row says of itself which version of its cell it is, so that a wrong one is known. Prints JSON: "kills"
by kind, and "checks": how often the store was compared with what its writers had finished.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from omkl.store import upkeep
from omkl.store.store import Store, StoreWarning
from support.results_lines import line

CELLS = 300
LONGEST = 0.04  # seconds until a process is killed
COLUMNS = ["key", "rep", "mistakes", "seconds", "date", "params", "heaviest"]
RECORD = 8  # bytes: a cell and its version, which a writer has finished


def version_of(number: int, version: int) -> dict:
    """A cell computed again: its mistakes and seconds fit together, and the newer has the later time."""
    day, second = divmod(version, 86400)
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    stamp = f"2026-01-{1 + day:02d}T{clock}.000000+00:00"
    return line(number, time=stamp, mistakes=(number + version) % 100, seconds=float(version))


def check(store: Store, columns: list[str] | None) -> dict[int, int]:
    """The newest version of each cell. Raises AssertionError for a row that nobody wrote."""
    rows = store.cells(columns=columns).to_dict("records")
    found = {row["rep"]: int(row["seconds"]) for row in rows}
    assert len(found) == len(rows)
    for row in rows:
        assert row["key"] == line(row["rep"])["key"]
        assert row["mistakes"] == (row["rep"] + row["seconds"]) % 100
        assert row["params"] == line()["params"]
    return found


def read(path: Path) -> None:
    while True:
        store = Store(path)
        kind = random.randrange(4)
        if kind < 2:
            check(store, COLUMNS if kind else None)
        elif kind == 2:
            keys = [line(number)["key"] for number in range(0, CELLS, 7)]
            assert store.done(keys) <= set(keys)
        else:
            number = random.randrange(CELLS)
            for one in store.lines("cells", [line(number)["key"]]):
                assert one.own["rep"] == number


def write(path: Path, first: int, told: int) -> None:
    with Store(path) as store:
        for version in range(first, first + 100_000):
            number = random.randrange(CELLS)
            store.append(version_of(number, version), {"t": [1, 100]})
            os.write(told, number.to_bytes(RECORD // 2) + version.to_bytes(RECORD // 2))


def prune(path: Path) -> None:
    while True:
        upkeep.prune(Store(path), old=False, torn=random.random() < 0.5, really=True)


def start(work: Callable[..., None], *args: object) -> int:
    """Fork a process that works until it is killed, and return its id."""
    child = os.fork()
    if child:
        return child
    try:
        random.seed(os.getpid())
        work(*args)
    finally:
        sys.stderr.flush()
        os._exit(70)


def main(folder: str, kills: str, seed: str) -> None:
    warnings.simplefilter("ignore", StoreWarning)  # torn lines
    random.seed(int(seed))
    path, done, finished, checks = Path(folder, "s"), Counter[str](), dict[int, int](), 0
    reading, told = os.pipe()
    os.set_blocking(reading, False)
    with Store(path) as store:
        store.append(version_of(0, 0))
    for version in range(1, 10**6):
        children = {start(read, path): "read", start(read, path): "read"}
        children[start(write, path, version * 1000, told)] = "write"
        if version % 3 == 0:
            children[start(prune, path)] = "prune"
        for child in random.sample(list(children), len(children)):
            time.sleep(random.uniform(0, LONGEST))
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            assert os.WIFSIGNALED(status), f"{children[child]} ended by itself: {status}"
            done[children[child]] += 1
        while said := readable(reading):
            for at in range(0, len(said), RECORD):
                number, now = (int.from_bytes(said[at + k : at + k + 4]) for k in (0, 4))
                finished[number] = max(now, finished.get(number, 0))
        if version % 5 == 0 or done.total() >= int(kills):
            checks += 1
            found = check(Store(path), COLUMNS)
            assert all(found[number] >= now for number, now in finished.items())
            assert {line(number)["key"] for number in found if number} <= Store(path).curves().keys()
            assert check(Store(path), None) == found
        if done.total() >= int(kills):
            break
    print(json.dumps({"kills": done, "checks": checks, "cells": len(finished)}))


def readable(file: int) -> bytes:
    try:
        return os.read(file, 2**12 * RECORD)
    except BlockingIOError:
        return b""


if __name__ == "__main__":
    main(*sys.argv[1:])

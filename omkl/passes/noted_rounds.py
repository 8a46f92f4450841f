"""The rounds done: each process keeps a small file, which the command's bar reads."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# Each process keeps a small file, which the command's bar reads.
WIDTH = 64  # bytes of an entry: written at once


@contextmanager
def noting(folder: Path, number: int, T: int) -> "Iterator[Callable[[int], None]]":
    """Give a function that notes how many of the T rounds of job ``number`` are done."""
    with open(folder / str(os.getpid()), "wb", buffering=0) as file:

        def note(t: int) -> None:
            file.seek(0)
            file.write(f"{number} {t} {T}".ljust(WIDTH).encode())

        note(0)
        yield note


def read_progress(folder: Path) -> dict[int, tuple[int, int]]:
    """Return the rounds done and the rounds of each process's newest pass, by the job's number."""
    rounds = {}
    for path in folder.iterdir():
        numbers = path.read_bytes().split()
        if len(numbers) == 3 and all(map(bytes.isdigit, numbers)):  # one that is just begun is empty
            number, t, T = map(int, numbers)
            rounds[number] = t, T
    return rounds

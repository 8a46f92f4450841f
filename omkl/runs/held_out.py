"""What ``test=`` holds out: the last share of each repetition, a data set, or a file like the data."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from omkl.data import DataRef, find, of_dataset, registry
from omkl.data.dataset import MANY, Dataset, content_hash
from omkl.errors import UserError, counted
from omkl.learning.cell import HeldOut

Test = float | str | None  # of a plan


def absolute(test: Test) -> Test:
    """Return the value of ``test=`` as a process finds it that runs in another folder."""
    is_file = isinstance(test, str) and not registry.is_name(test)
    return str(Path(str(test)).expanduser().absolute()) if is_file else test


def held_out(
    test: Test, data: DataRef, rounds: tuple[int, int] | None
) -> tuple[tuple[int, int] | None, HeldOut | None]:
    """Return the rounds of each repetition that are learnt, None for all, and what is held out.

    rounds: those that are run, None for all of them. Raises UserError for what does not fit the data.
    """
    if test is None:
        return rounds, None
    if data.task == "novelty":
        raise UserError(f"test={test}: data={data} has no labels; test= is for data with labels")
    if isinstance(test, str):
        return rounds, HeldOut(test if registry.is_name(test) else Path(test).name, data=_other(test, data))
    start, stop = rounds or (0, data.T)
    first = stop - round(test * (stop - start))
    if not start < first < stop:
        raise UserError(
            f"test={test}: data={data} has {counted(stop - start, 'round')}; choose another share"
        )
    return (start, first), HeldOut(str(test), rows=(first, stop))


@lru_cache(maxsize=8)
def _other(test: str, data: DataRef) -> DataRef:
    """Return the data set of this name or file, with the features and classes of another."""
    from omkl.runs.models import Doubts, described_data, rows_like

    if data.d > MANY:
        most = f"with more than {MANY} features a share can be held out"
        raise UserError(f"test={test}: data={data} has {counted(data.d, 'feature')}; {most}")
    if registry.is_name(test):
        ref = find(test)
        if ref.task != data.task or ref.n_classes != data.n_classes or ref.d > data.d:
            kinds = [f"{one} has {counted(one.d, 'feature')} and {_kind(one)}" for one in (ref, data)]
            raise UserError(
                f"test={test}: {', '.join(kinds)}; choose a set with the same features and classes"
            )
        return ref
    path, doubts = Path(test).expanduser(), Doubts(Path(test))
    parts = list(rows_like(described_data(data), data.d, path, True, doubts))
    if not sum(len(part.numbers) for part in parts):
        raise UserError(f"test={test}: the file has no rows")
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    arrays = (
        np.append(0, np.cumsum(lengths)),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.y for part in parts if part.y is not None]),
    )
    hashed, notes = content_hash(*arrays), tuple(doubts.notes)
    made = Dataset(path.name, *arrays, data.d, data.task, hashed, notes=notes, classes=data.classes)
    return of_dataset(made)


def notes_on(test: Test, data: DataRef) -> list[str]:
    """Return notes on what is held out: what of it is new, and which of its rows the data have."""
    if test is None or data.task == "novelty":
        return []
    if not isinstance(test, str):
        if data.is_registered:
            return []
        counts = Counter(_rows(data.load()))
        count = sum(many for many in counts.values() if many > 1)
        fault = f"{count} of {counted(data.T, 'row')} are equal to another one"
        return [f"{data.name}: {fault}, so test={test} holds out rows that are learnt"] if count else []
    learnt, own = data.load(), _other(test, data).load()
    known, notes = set(_rows(learnt)), [] if registry.is_name(test) else list(own.notes)
    if count := sum(row in known for row in _rows(own)):
        are = "is a row" if count == 1 else "are rows"
        of = f"{count} of {counted(own.T, 'test row')} {are} of the data"
        notes.append(f"{data.name}: {of}, so learnt before the test")
    return notes


def _rows(dataset: Dataset) -> Iterator[bytes]:
    """Yield the features and the label of each row, as bytes."""
    indices, values = np.ascontiguousarray(dataset.indices), np.ascontiguousarray(dataset.values)
    for start, stop, y in zip(
        dataset.indptr[:-1].tolist(), dataset.indptr[1:].tolist(), dataset.y, strict=True
    ):
        yield indices[start:stop].tobytes() + values[start:stop].tobytes() + y.tobytes()


def _kind(data: DataRef) -> str:
    return f"{data.n_classes} classes" if data.task == "classification" else f"is for {data.task}"

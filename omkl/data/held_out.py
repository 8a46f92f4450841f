"""What ``test=`` holds out: the last share of each repetition, a data set, or a file like the data."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from omkl.data import DataRef, find, of_dataset, registry
from omkl.data.dataset import MANY, Dataset, dataset_of
from omkl.data.orders import rounds_of
from omkl.errors import UserError, counted
from omkl.paths import given

Test = float | str | None  # of a plan


@dataclass(frozen=True)
class HeldOut:
    """Rows on which a cell's learner is measured after the pass.

    name: as tables have it    rows: the first round and the one after the last, of the cell's own data, or
    data: another data set, itself where it came with the cell
    """

    name: str
    rows: tuple[int, int] | None = None
    data: DataRef | Dataset | None = None

    @property
    def identity(self) -> list[int] | str:
        """What the results depend on."""
        return list(self.rows) if self.rows else self.data.content_hash  # type: ignore[union-attr]

    def load(self) -> Dataset | None:
        """Return the other data set, None for rows of the cell's own."""
        return self.data if self.data is None or isinstance(self.data, Dataset) else self.data.load()


def absolute_test(test: Test) -> Test:
    """Return the value of ``test=`` as a process finds it that runs in another folder."""
    is_file = isinstance(test, str) and not registry.is_name(test)
    return str(Path(str(test)).expanduser().absolute()) if is_file else test


class RepetitionStream(NamedTuple):
    """What a repetition learns of a data set and on what it is measured then.

    rounds: the first and the one after the last, None for all of them    T: their number
    test: what is held out
    """

    rounds: tuple[int, int] | None
    T: int
    test: HeldOut | None


def held_out_stream(data: DataRef, rounds: str | None, test: Test) -> RepetitionStream:
    """Return the stream of a data set; rounds, test: as of a plan.

    Raises UserError for what does not fit the data, and for a file that cannot be read.
    """
    chosen = rounds_of(rounds, data.T, data.word)
    start, stop = chosen or (0, data.T)
    if test is None:
        return RepetitionStream(chosen, stop - start, None)
    if data.task == "novelty":
        raise UserError(f"test={test}: data={data} has no labels; test= is for data with labels")
    if isinstance(test, str):
        name = test if registry.is_name(test) else Path(test).name
        return RepetitionStream(chosen, stop - start, HeldOut(name, data=other_data(test, data)))
    first = stop - round(test * (stop - start))
    if not start < first < stop:
        raise UserError(f"test={test}: {data} has {counted(stop - start, 'round')}; choose another share")
    return RepetitionStream((start, first), first - start, HeldOut(str(test), rows=(first, stop)))


@lru_cache(maxsize=8)
def other_data(test: str, data: DataRef) -> DataRef:
    """Return the data set of this name or file, with the features and classes of another."""
    if data.d > MANY:
        most = f"with more than {MANY} features a share can be held out"
        raise UserError(f"test={test}: data={data} has {counted(data.d, 'feature')}; {most}")
    if registry.is_name(test):
        ref = find(test)
        if ref.task != data.task or ref.n_classes != data.n_classes or ref.d > data.d:
            raise UserError(
                f"test={test}: {ref} is no data with the features and classes of {data} "
                f"({counted(data.d, 'feature')}, {data.n_classes} classes); choose a set that is"
            )
        return ref
    from omkl.data.preparing.new_rows import Tally, described_data, rows_like
    from omkl.data.reading.numbered import Examples, joined

    path, tally = given(test, "test="), Tally(Path(test))
    parts = [
        Examples(*part[:3], part.y, data.d)
        for part in rows_like(described_data(data), data.d, path, True, tally)
        if part.y is not None
    ]
    if not sum(len(part.labels) for part in parts):
        raise UserError(f"test={test}: the file has no rows")
    rows, notes = joined(parts), tuple(tally.notes)
    return of_dataset(
        dataset_of(path.name, rows, rows.labels, data.d, data.task, notes, data.classes, registered=True)
    )

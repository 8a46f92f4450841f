"""The user's own data: a file, or a data frame in memory, read and prepared when they are needed."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omkl.data import cache
from omkl.data.arrays import dataset_of_numbered
from omkl.data.dataset import Dataset
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.preparing.recipe import Recipe, prepared_table
from omkl.data.preparing.user_table import Table, as_frame, table_of
from omkl.data.reading.formats import NPZ, ReadFrame, check_settings, data_name, format_of, parts_of
from omkl.data.reading.numbered import Examples
from omkl.data.ref import DataRef, from_copy
from omkl.errors import UserError

_READ = {"_dataset", "_read"}  # what is read once


def read_numbered(path: Path, task: str, preparation: Preparation) -> Dataset:
    """Return the data set of a file of numbered columns. Raises UserError that names the line."""
    (found,) = parts_of(path, preparation, None, None)
    assert isinstance(found, Examples)
    if found.d == 0:
        raise UserError(f"{path}: no features in any example")
    made = dataset_of_numbered(found, task, str(path), found.labels if format_of(path) is NPZ else None)
    if preparation.index_base == "auto" and found.base == 0:
        note = "an index is 0, so the columns count from 0 (index_base=0)"
        made = replace(made, notes=(note, *made.notes))
    return replace(made, name=data_name(path))


@dataclass(frozen=True, eq=False, repr=False)
class Own(DataRef):
    """Data of the user's, which are read and prepared.

    source: the path of a file, or what `as_frame` takes: it is prepared as the same table in a file
    """

    source: Any
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()
    is_own = True

    @property
    def is_file(self) -> bool:
        """Whether the data are in a file."""
        return isinstance(self.source, Path)

    @property
    def is_table(self) -> bool:
        return not self.is_file or format_of(self.source).is_table

    def named(self, name: str) -> "Own":
        return replace(self, name=name, word=self.word if self.is_file else name)

    def decided(self) -> "Own":
        if self.task != "auto":
            return self
        decided_ref = replace(self, task=self.load().task)
        decided_ref.__dict__.update({key: self.__dict__[key] for key in _READ & self.__dict__.keys()})
        return decided_ref

    @cached_property
    def _read(self) -> tuple[Dataset, Recipe]:
        table = self.table()
        assert table is not None
        return prepared_table(table, self.task)

    @cached_property
    def _dataset(self) -> Dataset:
        if not self.is_file:
            return replace(self._read[0], name=self.name)
        check_settings(self.word, self.source, self.preparation)
        copy = cache.parsed_path(self.name, self.preparation, [self.source], self.task)
        if (dataset := cache.read_or_none(copy)) is not None:
            return dataset
        dataset = self._read[0] if self.is_table else read_numbered(self.source, self.task, self.preparation)
        return from_copy(replace(dataset, name=self.name), copy)

    def load(self) -> Dataset:
        return self._dataset

    @property
    def recipe(self) -> Recipe | None:
        return self._read[1] if self.is_table else None

    def table(self) -> Table | None:
        if not self.is_file:
            if words := self.preparation.words_of(["read"]):
                raise UserError(f"data={self.name}: {words} is for files; pandas has read the frame")
            return table_of(ReadFrame(as_frame(self.source)), self.name, self.preparation)
        check_settings(self.word, self.source, self.preparation)
        if not self.is_table:
            return None
        (found,) = parts_of(self.source, self.preparation, None, ())
        assert isinstance(found, ReadFrame)
        return table_of(found, str(self.source), self.preparation)

    def to_json(self) -> dict[str, Any]:
        if not self.is_file:
            return super().to_json()
        preparation = asdict(self.preparation)
        return {"data": str(self.source.absolute()), "task": self.task, "preparation": preparation}

"""The user's own data: a file, or a data frame in memory, read and prepared when they are needed."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from omkl.data import cache
from omkl.data.arrays import dataset_of_numbered
from omkl.data.dataset import Dataset
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.preparing.recipe import Recipe, prepared_table
from omkl.data.preparing.user_table import Table, as_frame, table_of
from omkl.data.reading.formats import NPZ, ReadFrame, check_settings, data_name, format_of, parts_of
from omkl.data.reading.numbered import Examples
from omkl.data.ref import DataRef, from_copy, of_dataset
from omkl.errors import UserError


def read_numbered(path: Path, task: str, preparation: Preparation) -> Dataset:
    """Return the data set of a file of numbered columns. Raises UserError that names the line."""
    (found,) = parts_of(path, preparation, None, None)
    assert isinstance(found, Examples)
    if found.d == 0:
        raise UserError(f"{path}: no features in any example")
    notes, is_npz = list[str](), format_of(path) is NPZ
    if preparation.index_base == "auto" and found.base == 0:
        notes = ["an index is 0, so the columns count from 0 (index_base=0)"]
    made = dataset_of_numbered(found, task, str(path), found.labels if is_npz else None)
    return replace(made, name=data_name(path), notes=(*notes, *made.notes))


class Own(DataRef):
    """Data of the user's, which are read and prepared."""

    preparation: Preparation
    is_own = True

    def decided(self) -> Self:
        if self.task != "auto":
            return self
        decided_ref: Self = replace(self, task=self.load().task)
        decided_ref.__dict__.update(
            {key: self.__dict__[key] for key in ("_dataset", "_read") & self.__dict__.keys()}
        )
        return decided_ref

    @cached_property
    def _read(self) -> tuple[Dataset, Recipe]:
        table = self.table()
        assert table is not None
        return prepared_table(table, self.task)

    def load(self, download: bool = True) -> Dataset:
        return self._dataset

    @property
    def _dataset(self) -> Dataset:
        raise NotImplementedError

    @property
    def recipe(self) -> Recipe | None:
        return self._read[1] if self.is_table else None


@dataclass(frozen=True, eq=False, repr=False)
class UserFile(Own):
    """A file of the user's: LIBSVM text, .npz with X and y, or a table, with how it is prepared."""

    path: Path
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()

    def named(self, name: str) -> "UserFile":
        return replace(self, name=name)

    @property
    def is_table(self) -> bool:
        return format_of(self.path).is_table

    @cached_property
    def _dataset(self) -> Dataset:
        check_settings(self.word, self.path, self.preparation)
        copy = cache.parsed_path(self.name, self.preparation, [self.path], self.task)
        if (dataset := cache.read_or_none(copy)) is not None:
            return dataset
        dataset = self._read[0] if self.is_table else read_numbered(self.path, self.task, self.preparation)
        return from_copy(replace(dataset, name=self.name), copy)

    def table(self) -> Table | None:
        check_settings(self.word, self.path, self.preparation)
        if not self.is_table:
            return None
        (found,) = parts_of(self.path, self.preparation, None, ())
        assert isinstance(found, ReadFrame)
        return table_of(found, str(self.path), self.preparation)

    def to_json(self) -> dict[str, Any]:
        preparation = asdict(self.preparation)
        return {"data": str(self.path.absolute()), "task": self.task, "preparation": preparation}


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Own):
    """A data frame, dict of columns or list of records in memory: prepared as the same table in a file."""

    frame: Any
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()

    def named(self, name: str) -> "Frame":
        return replace(self, name=name, word=name)

    @property
    def is_table(self) -> bool:
        return True

    @cached_property
    def _dataset(self) -> Dataset:
        return replace(self._read[0], name=self.name)

    @cached_property
    def copy(self) -> Path | None:
        return of_dataset(self.load()).copy

    def table(self) -> Table:
        if words := self.preparation.words_of(["read"]):
            raise UserError(f"data={self.name}: {words} is for files; pandas has read the frame")
        return table_of(ReadFrame(as_frame(self.frame)), self.name, self.preparation)

"""The user's own data: a file, or a data frame in memory, read and prepared when they are needed."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omkl.data import cache
from omkl.data.arrays import notes_on_array
from omkl.data.dataset import Dataset, dataset_of
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.preparing.labels import notes_on_classes, task_of, y_of
from omkl.data.preparing.recipe import Recipe, prepared_table
from omkl.data.preparing.user_table import Table, as_frame, table_of
from omkl.data.reading.formats import NPZ, ReadFrame, check_settings, data_name, format_of, parts_of
from omkl.data.reading.numbered import Examples, note_on_npz
from omkl.data.ref import DataRef, Parsed, from_copy, of_dataset
from omkl.errors import UserError


def read_numbered(path: Path, task: str, preparation: Preparation) -> Dataset:
    """Return the data set of a file of numbered columns. Raises UserError that names the line."""
    (found,) = parts_of(path, preparation, None, None)
    assert isinstance(found, Examples)
    if found.d == 0:
        raise UserError(f"{path}: no features in any example")
    notes: tuple[str, ...] = ()
    if task == "auto":
        task, said = task_of(found.labels, str(path.name))
        notes = (said,) if said else ()
    y, classes = y_of(found.labels, task, str(path))
    counted = "an index is 0, so the columns count from 0 (index_base=0)"
    notes += (counted,) if preparation.index_base == "auto" and found.base == 0 else ()
    notes += notes_on_classes(classes, y)
    if task != "novelty":
        notes += tuple(notes_on_array(found, y, classes is not None))
    is_npz = format_of(path) is NPZ
    raw, notes = (found.labels, (*notes, *note_on_npz(path))) if is_npz else (None, notes)
    return dataset_of(data_name(path), found, y, found.d, task, notes, classes, raw=raw)


def _read_table(path: Path, preparation: Preparation) -> Table:
    (found,) = parts_of(path, preparation, None, ())
    assert isinstance(found, ReadFrame)
    return table_of(found, str(path), preparation)


@dataclass(frozen=True, eq=False, repr=False)
class UserFile(DataRef):
    """A file of the user's: LIBSVM text, .npz with X and y, or a table, with how it is prepared."""

    path: Path
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()
    is_own = True

    def decided(self) -> "UserFile":
        if self.task != "auto":
            return self
        decided_ref = replace(self, task=self._dataset.task)
        decided_ref.__dict__["_dataset"] = self._dataset
        return decided_ref

    def named(self, name: str) -> "UserFile":
        return replace(self, name=name)

    @property
    def is_table(self) -> bool:
        return format_of(self.path).is_table

    def load(self, download: bool = True) -> Dataset:
        return self._dataset

    @cached_property
    def _dataset(self) -> Dataset:
        check_settings(self.word, self.path, self.preparation)
        copy = cache.parsed_path(self.name, self.preparation, [self.path], self.task)
        if (dataset := cache.read_or_none(copy)) is not None:
            return dataset
        if self.is_table:
            dataset = prepared_table(_read_table(self.path, self.preparation), self.task)[0]
        else:
            dataset = read_numbered(self.path, self.task, self.preparation)
        return from_copy(replace(dataset, name=self.name), copy)

    @property
    def recipe(self) -> Recipe | None:
        check_settings(self.word, self.path, self.preparation)
        return (
            prepared_table(_read_table(self.path, self.preparation), self.task)[1] if self.is_table else None
        )

    def table(self) -> Table | None:
        check_settings(self.word, self.path, self.preparation)
        return _read_table(self.path, self.preparation) if self.is_table else None

    def to_json(self) -> dict[str, Any]:
        preparation = asdict(self.preparation)
        return {"data": str(self.path.absolute()), "task": self.task, "preparation": preparation}


@dataclass(frozen=True, eq=False, repr=False)
class Frame(DataRef):
    """A data frame, dict of columns or list of records in memory: prepared as the same table in a file."""

    frame: Any
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()
    is_own = True

    def decided(self) -> "Frame":
        if self.task != "auto":
            return self
        decided_ref = replace(self, task=self.load().task)
        decided_ref.__dict__["_read"] = self._read
        return decided_ref

    def named(self, name: str) -> "Frame":
        return replace(self, name=name, word=name)

    @property
    def is_table(self) -> bool:
        return True

    @cached_property
    def _read(self) -> tuple[Parsed, Recipe]:
        dataset, recipe = prepared_table(self.table(), self.task)
        return of_dataset(replace(dataset, name=self.name)), recipe

    def load(self, download: bool = True) -> Dataset:
        return self._read[0].load()

    @property
    def copy(self) -> Path | None:
        return self._read[0].copy

    @property
    def recipe(self) -> Recipe | None:
        return self._read[1]

    def table(self) -> Table:
        if words := self.preparation.words_of(["read"]):
            raise UserError(f"data={self.name}: {words} is for files; pandas has read the frame")
        return table_of(ReadFrame(as_frame(self.frame)), self.name, self.preparation)

"""A data set is one object, whether it is registered, a file of the user's, or in memory: a `DataRef`.

What is registered (registered_data.py) answers from its YAML, other data (own_data.py) when they are read.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from omkl.data import cache
from omkl.data.dataset import Dataset
from omkl.data.preparation import AS_IT_IS
from omkl.data.registry import DataEntry
from omkl.errors import OmklError, UserError

if TYPE_CHECKING:
    from omkl.data.preparing.recipe import Recipe
    from omkl.data.preparing.user_table import Table

_OPEN = 16  # data sets that a process keeps open for the cells that others send it


@dataclass(frozen=True, eq=False, repr=False)
class DataRef(ABC):
    """A data set that is loaded when it is needed, at most once.

    name: as keys, cells and tables have it    word: as the user names it, a name or a path
    Elsewhere, in a worker, it is `Parsed`: its numbers are mapped from the parsed copy, or come with it.
    """

    name: str
    task: str
    word: str
    is_registered: ClassVar[bool] = False
    is_own: ClassVar[bool] = False  # a file or a frame of the user's, which is read and prepared

    def __str__(self) -> str:
        return self.word

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.word!r}, {self.task})"

    def __reduce__(self) -> tuple[Any, ...]:
        told = self.load().told
        return Parsed, (self.name, self.task, self.word, self.content_hash, told, self.copy or self.load())

    @property
    def is_table(self) -> bool:
        """Whether it is a table of the user's own, whose features are scaled online unless that is given."""
        return False

    @property
    def known(self) -> DataEntry | Dataset:
        """What says how large the data set is: its entry, or the data themselves."""
        return self.load()

    @abstractmethod
    def load(self) -> Dataset:
        """Return the data, memory-mapped; a registered set that is missing is downloaded if that is allowed.

        Raises UserError for data that are missing or broken, or other than registered.
        """

    @property
    def prepared(self) -> str:
        """How a user's table is prepared, as one types it."""
        return getattr(self, "preparation", AS_IT_IS).words

    @property
    def to_be_downloaded(self) -> bool:
        """Whether a registered set is missing here and `load` may download it."""
        return False

    @cached_property
    def content_hash(self) -> str:
        """The hash of the numbers, see `omkl.data.content_hash`."""
        return self.known.content_hash or self.load().content_hash

    @cached_property
    def T(self) -> int:
        """Number of examples."""
        return self.known.T

    @cached_property
    def d(self) -> int:
        """Number of features."""
        return self.known.d

    @cached_property
    def nnz(self) -> int:
        """Number of values other than 0."""
        registered = self.known.nnz
        return self.load().nnz if registered is None else registered

    @cached_property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes in the order of their numbers, where they have any."""
        return self.known.classes

    @cached_property
    def n_classes(self) -> int:
        """Number of classes; 2 for other tasks, too."""
        return self.known.n_classes

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know of the data, with what was ``said`` when they were asked for."""
        return (*getattr(self, "said", ()), *self.known.notes)

    @cached_property
    def copy(self) -> Path | None:
        """The parsed copy that other processes map, None where the cache cannot be written."""
        return of_dataset(self.load()).copy

    @property
    def recipe(self) -> "Recipe | None":
        """How the table was prepared that the data come from, None where they come from none."""
        return None

    def table(self) -> "Table | None":
        """Return the named columns of a user's table before they are prepared, None for other data."""
        return None

    def decided(self) -> "DataRef":
        """Return the data set with the task that follows from its labels, where it is still open."""
        return self

    def named(self, name: str) -> "DataRef":
        """Return the data set under another name; a registered one keeps its own."""
        return of_dataset(replace(self.load(), name=name), self.is_table)

    def to_json(self) -> dict[str, Any]:
        """Return what a process that is started later needs to find the data set again (`from_json`)."""
        text = "a job that starts later cannot find data in memory; save them to a file first"
        raise UserError(f"data={self.name}: {text}")


@dataclass(frozen=True, eq=False, repr=False)
class Parsed(DataRef):
    """Data in memory, or in a parsed copy: from Python, or as they reach a worker.

    told: see `Dataset`    source: None where the data reach this process by `keep`
    is_table: as of a plan, see `DataRef`
    """

    digest: str
    told: str
    source: Dataset | Path | None
    is_table: bool = False

    @cached_property
    def content_hash(self) -> str:
        return self.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return Parsed, (self.name, self.task, self.word, self.digest, self.told, self.copy or self.source)

    @cached_property
    def copy(self) -> Path | None:
        if not isinstance(self.source, Dataset) or self.source.path:
            return self.source.path if isinstance(self.source, Dataset) else self.source
        copy = cache.path_in_memory(self.name, self.task, self.source)
        return copy if cache.read_or_none(copy) else cache.write_parsed(self.source, copy)

    def load(self) -> Dataset:
        if isinstance(self.source, Dataset):
            return self.source
        dataset = _open.get((self.digest, self.told, self.task))
        if dataset is None:
            if self.source is None:
                raise OmklError(
                    f"{self.name}: its data did not reach this worker; run the same command again"
                )
            try:
                dataset = cache.read_parsed(self.source)
                if dataset.content_hash != self.digest:
                    raise OmklError(f"{self.name} changed during the run")
            except OmklError as error:
                raise OmklError(f"{error}; the same command parses the source again") from error
            keep(dataset)
        return replace(dataset, name=self.name)


def of_dataset(dataset: Dataset, is_table: bool = False) -> Parsed:
    """Return data in memory as a data set that plans and cells take; is_table: as of `DataRef`."""
    word, digest = dataset.name, dataset.content_hash
    return Parsed(dataset.name, dataset.task, word, digest, dataset.told, dataset, is_table)


_open: "OrderedDict[tuple[str, str, str], Dataset]" = OrderedDict()


def keep(dataset: Dataset) -> None:
    """Keep data open in this process, for the cells that name them by their content."""
    key = dataset.content_hash, dataset.told, dataset.task
    _open[key] = dataset
    _open.move_to_end(key)
    while len(_open) > _OPEN:
        _open.popitem(last=False)


def from_copy(dataset: Dataset, copy: Path) -> Dataset:
    """Return the data from the parsed copy that is made here, or as they are where it cannot be written."""
    if cache.write_parsed(dataset, copy) is None:
        return replace(dataset, notes=(*dataset.notes, f"not cached: {copy.parent} cannot be written"))
    return cache.read_parsed(copy)

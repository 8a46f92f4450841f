"""A data set is one object, whether it is registered, a file of the user's, or in memory: a `DataRef`.

`find` makes one of a name or a path. What is registered answers from its YAML, other data when they are read.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from omkl.data import cache, registry
from omkl.data.dataset import Dataset, dataset_of, note_on_gaps
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.preparing.labels import task_of, y_of
from omkl.data.preparing.notes import notes_on
from omkl.data.preparing.recipe import Recipe, prepared_table
from omkl.data.reading import opening
from omkl.data.reading.formats import check_settings, data_name, format_of, read_table
from omkl.data.reading.numbered import note_on_npz
from omkl.data.reading.tables import DataTable, of_frame
from omkl.data.registry import DataEntry, Form, Link, read_registered
from omkl.errors import OmklError, UserError, shown, suggest
from omkl.files import locked
from omkl.paths import cache_folder, given

_OPEN = 16  # data sets that a process keeps open for the cells that others send it
Source = tuple[Form, list[Path]]  # a form, and its files in order; none where it is embedded or made


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

    def __str__(self) -> str:
        return self.word

    def __repr__(self) -> str:
        read = not isinstance(self, UserFile | Frame) or {"_dataset", "_read"} & self.__dict__.keys()
        task = f"{self.n_classes} classes" if read and self.task == "classification" else self.task
        size = f", T={self.T}, d={self.d}" if read else ""  # a file is read when its numbers are needed
        return f"{type(self).__name__}({self.word!r}{size}, {task})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Parsed, (self.name, self.task, self.word, self.content_hash, self.copy or self.load())

    @property
    def is_table(self) -> bool:
        """Whether it is a table of the user's own, whose features are scaled online unless that is given."""
        return False

    @property
    def known(self) -> DataEntry | Dataset:
        """What says how large the data set is: its entry, or the data themselves."""
        return self.load()

    @abstractmethod
    def load(self, download: bool = True) -> Dataset:
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

    @property
    def copy(self) -> Path | None:
        """The parsed copy that other processes map, None where the cache cannot be written."""
        return self.load().path

    @property
    def recipe(self) -> Recipe | None:
        """How the table was prepared that the data come from, None where they come from none."""
        return None

    def table(self) -> DataTable | None:
        """Return the named columns of a user's table before they are prepared, None for other data."""
        return None

    def to_json(self) -> dict[str, Any]:
        """Return what a process that is started later needs to find the data set again (`from_json`)."""
        text = "a job that starts later cannot find data in memory; save them to a file first"
        raise UserError(f"data={self.name}: {text}")


def find(spec: str, *, task: str = "classification", preparation: Preparation = AS_IT_IS) -> DataRef:
    """Return the data set of a registered name or of a path; a file is read when it is first needed.

    spec: ``-`` is standard input    task, preparation: of a file; a registered set has its own
    Raises UserError where there is neither.
    """
    if registry.is_name(spec):
        return registered(spec)
    if spec == "-":
        return UserFile("stdin", task, spec, opening.standard_input(), preparation)
    path = Path(os.path.expanduser(spec))
    if not os.path.isfile(path):
        near = suggest(spec, registry.registered_names()) or "; `omkl list data` shows them"
        raise UserError(f"{shown(f'data={spec}')}: neither a registered data set nor a file{near}")
    return UserFile(data_name(path), task, spec, path, preparation)


def registered(name: str) -> "Registered":
    """Return the data set of a registered name or alias. Raises UserError for an unknown one."""
    entry = registry.entry(name)
    return Registered(entry.name, entry.task, entry.name, entry)


def from_json(content: Mapping[str, Any]) -> DataRef:
    """Return the data set of `DataRef.to_json`."""
    preparation = Preparation.from_json(content.get("preparation", {}))
    ref = find(content["data"], task=content.get("task", "classification"), preparation=preparation)
    return ref.read_from(content["file"]) if isinstance(ref, Registered) and "file" in content else ref


# ------------------------------------------------------------------ a file, and data in memory


def read_file(path: Path, task: str, preparation: Preparation) -> tuple[Dataset, Recipe | None]:
    """Return the data set of a user's file, and of a table the recipe that prepares others like it.

    Raises UserError that names file, line, column and what helps.
    """
    (found,) = format_of(path).read(path, preparation, None, None, ())
    if isinstance(found, DataTable):
        dataset, recipe = prepared_table(found, task)
        return replace(dataset, name=data_name(path)), recipe
    if found.d == 0:
        raise UserError(f"{path}: no features in any example")
    notes: tuple[str, ...] = ()
    if task == "auto":
        task, said = task_of(found.labels, str(path.name))
        notes = (said,) if said else ()
    y, classes = y_of(found.labels, task, str(path))
    counted = "an index is 0, so the columns count from 0 (index_base=0)"
    notes += (counted,) if preparation.index_base == "auto" and found.base == 0 else ()
    if task != "novelty":
        import scipy.sparse as sp

        rows = sp.csr_array((found.values, found.indices, found.indptr), (len(y), found.d))
        notes += (*notes_on(rows, y, classes=classes is not None), *note_on_gaps(found.indices, found.values))
    is_npz = format_of(path).endings == (".npz",)
    raw, notes = (found.labels, (*notes, *note_on_npz(path))) if is_npz else (None, notes)
    return dataset_of(data_name(path), found, y, found.d, task, notes, classes, raw=raw), None


@dataclass(frozen=True, eq=False, repr=False)
class UserFile(DataRef):
    """A file of the user's: LIBSVM text, .npz with X and y, or a table, with how it is prepared."""

    path: Path
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()

    def decided(self) -> "UserFile":
        """Return the file with the task that follows from its labels, where it is still open."""
        if self.task != "auto":
            return self
        decided_ref = replace(self, task=self._dataset.task)
        decided_ref.__dict__["_dataset"] = self._dataset
        return decided_ref

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
        dataset = read_file(self.path, self.task, self.preparation)[0]
        return _kept(replace(dataset, name=self.name), copy)

    @property
    def recipe(self) -> Recipe | None:
        check_settings(self.word, self.path, self.preparation)
        return read_file(self.path, self.task, self.preparation)[1]

    def table(self) -> DataTable | None:
        if not format_of(self.path).is_table:
            return None
        return read_table(self.path, self.preparation)

    def to_json(self) -> dict[str, Any]:
        preparation = asdict(self.preparation)
        return {"data": str(self.path.absolute()), "task": self.task, "preparation": preparation}


@dataclass(frozen=True, eq=False, repr=False)
class Parsed(DataRef):
    """Data in memory, or in a parsed copy: from Python, or as they reach a worker.

    source: None where the data reach this process by `keep`    is_table: as of a plan, see `DataRef`
    """

    digest: str
    source: Dataset | Path | None
    is_table: bool = False  # type: ignore[misc]

    @cached_property
    def content_hash(self) -> str:
        return self.digest

    def __reduce__(self) -> tuple[Any, ...]:
        return Parsed, (self.name, self.task, self.word, self.digest, self.copy or self.source)

    @cached_property
    def copy(self) -> Path | None:  # type: ignore[override]
        if not isinstance(self.source, Dataset) or self.source.path:
            return self.source.path if isinstance(self.source, Dataset) else self.source
        copy = cache.path_in_memory(self.name, self.task, self.digest)
        return copy if cache.read_or_none(copy) else cache.write_parsed(self.source, copy)

    def load(self, download: bool = True) -> Dataset:
        if isinstance(self.source, Dataset):
            return self.source
        dataset = _open.get((self.digest, self.task))
        if dataset is None:
            if self.source is None:
                raise OmklError(
                    f"{self.name}: its data did not reach this worker; run the same command again"
                )
            try:
                dataset = cache.read_parsed(self.source)
            except OmklError as error:
                raise OmklError(f"{error}; the same command parses the source again") from error
            if dataset.content_hash != self.digest:
                raise OmklError(f"{self.name} changed during the run: run the same command again")
            keep(dataset)
        return replace(dataset, name=self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Frame(DataRef):
    """A data frame in memory (pandas, polars), with how it is prepared: as the same table in a file."""

    frame: Any
    preparation: Preparation = AS_IT_IS
    said: tuple[str, ...] = ()

    def decided(self) -> "Frame":
        """Return the frame with the task that follows from its labels, where it is still open."""
        if self.task != "auto":
            return self
        decided_ref = replace(self, task=self.load().task)
        decided_ref.__dict__["_read"] = self._read
        return decided_ref

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

    def table(self) -> DataTable:
        return of_frame(self.frame, Path(self.name), self.preparation)


def load(
    spec: str, *, download: bool = True, task: str = "classification", preparation: Preparation = AS_IT_IS
) -> Dataset:
    """Return the data set of a registered name or of a file (LIBSVM, .npz, .csv, .tsv, .arff, .parquet).

    A named set comes from OMKL_DATA, the downloads or scikit-learn, or is downloaded now (if ``download``).
    Its content must be the registered one. Parsed copies are reused while the source is the same.
    Files may be compressed (.gz, .bz2, .xz, .zst, .zip). task: of a file (classification: the labels are
    classes; regression: numbers); preparation: of a file; a registered set has its own. Raises UserError
    for an unknown name, a missing file, broken content, or other content than registered.
    """
    return find(spec, task=task, preparation=preparation).load(download)


def of_dataset(dataset: Dataset, is_table: bool = False) -> Parsed:
    """Return data in memory as a data set that plans and cells take; is_table: as of `DataRef`."""
    return Parsed(dataset.name, dataset.task, dataset.name, dataset.content_hash, dataset, is_table)


_open: "OrderedDict[tuple[str, str], Dataset]" = OrderedDict()


def keep(dataset: Dataset) -> None:
    """Keep data open in this process, for the cells that name them by their content."""
    key = dataset.content_hash, dataset.task
    _open[key] = dataset
    _open.move_to_end(key)
    while len(_open) > _OPEN:
        _open.popitem(last=False)


def _kept(dataset: Dataset, copy: Path) -> Dataset:
    """Return the data from the parsed copy that is made here, or as they are where it cannot be written."""
    if cache.write_parsed(dataset, copy) is None:
        return replace(dataset, notes=(*dataset.notes, f"not cached: {copy.parent} cannot be written"))
    return cache.read_parsed(copy)


# ------------------------------------------------------------------ a registered set


class _OtherContent(UserError):
    """What was downloaded is not the registered content."""


@dataclass(frozen=True, eq=False, repr=False)
class Registered(DataRef):
    """A data set of conf/data. source: the files that the user gave for it (`read_from`), if any."""

    entry: DataEntry
    source: Source | None = None
    is_registered = True

    @property
    def known(self) -> DataEntry:
        return self.entry

    @property
    def notes(self) -> tuple[str, ...]:
        return self.entry.notes_on_content

    def load(self, download: bool = True) -> Dataset:
        return self._dataset if download else self._read(self._found(False))

    @cached_property
    def _dataset(self) -> Dataset:
        return self._read(self._found(True))

    def _read(self, source: Source) -> Dataset:
        copy = cache.parsed_path(self.name, *source, self.task)
        dataset = cache.read_or_none(copy)
        if dataset is None or self.entry.content_hash not in (None, dataset.content_hash):
            dataset = _kept(read_registered(self.entry, *source), copy)
        return self._checked(dataset)

    def _checked(self, dataset: Dataset) -> Dataset:
        """Return the data. Raises UserError where the entry says how many there are, and that is wrong."""
        for key in ("T", "nnz"):
            told, actual = getattr(self.entry, key), getattr(dataset, key)
            if told not in (None, actual):
                raise UserError(f"conf/data/{self.name}.yaml: {key}: got {told}, but the data have {actual}")
        return dataset

    def to_json(self) -> dict[str, Any]:
        files = self.source[1] if self.source else []
        place = files[0] if len(files) == 1 else files[0].parent if files else None
        return {"data": self.name} | ({"file": str(place.absolute())} if place else {})

    def read_from(self, place: str | Path) -> "Registered":
        """Return the set read from a file of the user's; its content must be the registered one.

        place: the set's file in any of its formats, under any name, or a folder that holds the set's files
        under their usual names. Raises UserError where it is neither, for other content, and for a set that
        is not read from files.
        """
        path = given(place, f"{self.name}=")
        forms = [form for form in self.entry.forms if form.files]
        if not forms:
            raise UserError(f"{self.name}={path}: {self.name} is not read from files; it is always available")
        if path.is_file():
            fault = f"{self.name} is read from {self._file_names()}; name a folder that holds them"
        else:
            fault = f"holds no {self._file_names()}" if path.is_dir() else "is neither a file nor a folder"
        faults = [f"{self.name}={path}: {fault}"]
        for form in forms:
            paths = [opening.find_in(path, file.name) for file in form.files] if path.is_dir() else [path]
            present = [file for file in paths if file and file.is_file()]
            if len(present) == len(form.files):
                read_ref = replace(self, source=(form, present))
                try:
                    read_ref.load()
                    return read_ref
                except UserError as error:
                    faults.append(str(error))
        raise UserError(faults[:2][-1])

    @property
    def state(self) -> str:
        """Where the set is: file, embedded (in scikit-learn), generated or missing."""
        source = self._locate()
        if source is None or source[1]:
            return "file" if source else "missing"
        return "generated" if source[0].format == "stream" else "embedded"

    @property
    def files(self) -> list[Path]:
        """The files of the set that are there."""
        source = self._locate()
        return source[1] if source else []

    @property
    def is_downloadable(self) -> bool:
        """Whether a mirror or an address is known for it."""
        return any(map(_downloadable, self.entry.forms))

    @property
    def to_be_downloaded(self) -> bool:
        mirror = opening.environment("OMKL_MIRROR")  # one that is a folder needs no network
        allowed = bool(mirror and "://" not in mirror) or not opening.offline()
        return allowed and self.is_downloadable and self._locate() is None

    def paths(self) -> list[Path]:
        """Return the set's files, or the parsed copy of one without. Raises UserError where it is missing."""
        return self._found(False)[1] or [copy for copy in [self.copy] if copy]

    def verify(self) -> str:
        """Read the source again, not its parsed copy, and return the content hash.

        Raises UserError with the file, the expected and the actual hash when it is not the registered
        content, and with the numbers where the entry describes that content wrongly.
        """
        dataset = read_registered(self.entry, *self._found(False))
        return self._checked(dataset).content_hash

    def get(self, force: bool = False) -> list[Path]:
        """Download the set if it is not there (``force``: even if it is), verify it, and return its files.

        Only verified files join the search path. Raises UserError for other content, for no known address,
        and when OMKL_OFFLINE forbids it; OmklError when no server gives the file.
        """
        incoming = cache_folder() / "incoming"
        try:
            with locked(incoming / f"{self.name}.lock", f"downloading {self.name}"):
                source = None if force else self._locate()
                return source[1] if source else self._download(incoming)
        except OSError as error:
            place = error.filename or incoming
            raise OmklError(f"{place}: {error.strerror}; name another folder with OMKL_CACHE") from error

    def _download(self, incoming: Path) -> list[Path]:
        """Fetch and verify the files of the first form that a server has, outside the search path.

        Where an address gives other content, the next one is tried.
        """
        from omkl.data.fetch import fetch

        forms = [form for form in self.entry.forms if form.files]
        folder, failures = incoming / self.name, list[str]()
        kind: type[OmklError] = OmklError
        for form in [form for form in forms if _downloadable(form)] or forms[:1]:
            limit, refused = opening.size_limit(self.entry.size_limit(form)), set[Link]()
            while True:
                try:
                    found = [fetch(file, folder, limit, folder / "archives", refused) for file in form.files]
                    return self._kept_files(form, [path for path, _ in found])
                except _OtherContent as error:
                    failures.append(str(error))
                    kind = UserError
                except OmklError as error:
                    if isinstance(error, UserError):
                        raise
                    failures.append(str(error))
                    break
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                refused |= {link for _, link in found if link}
                if any(refused.issuperset(file.urls) for file in form.files) or not refused:
                    break
        raise kind("\n".join([*failures, f"  ways out: {self.ways_out}"]))

    def _kept_files(self, form: Form, paths: list[Path]) -> list[Path]:
        """Return where the files are on the search path, if they hold the set. Raises _OtherContent."""
        try:
            dataset = read_registered(self.entry, form, paths)
        except UserError as error:
            raise _OtherContent(str(error)) from error
        opening.files_folder().mkdir(parents=True, exist_ok=True)
        final = [path.replace(opening.files_folder() / path.name) for path in paths]
        cache.write_parsed(dataset, cache.parsed_path(self.name, form, final, self.task))
        return final

    def _locate(self) -> Source | None:
        """Return the first form whose files are all present: those given, else those on the search path.

        Else the embedded form, else None.
        """
        if self.source:
            return self.source
        for form in sorted(self.entry.forms, key=lambda form: not form.files):
            paths = [path for file in form.files if (path := opening.find_file(file.name))]
            if len(paths) == len(form.files):
                return form, paths
        return None

    def _found(self, download: bool) -> Source:
        """Return where the set is; if it is missing, download it or raise a UserError with the ways out."""
        source = self._locate()
        if source is None and download and self.to_be_downloaded:
            self.get()
            source = self._locate()
        if source is None:
            folders = ", ".join(
                f"{f}{'' if f.is_dir() else ' (no such folder)'}" for f in opening.search_folders()
            )
            raise UserError(
                f"data set {self.name} not found: looked for {self._file_names()} "
                f"(also .libsvm, {', '.join(opening.COMPRESSION)}) in {folders}; {self.ways_out}"
            )
        return source

    @property
    def ways_out(self) -> str:
        """How to obtain the set that is missing here, as one sentence without its full stop."""
        has_address = any(file.urls for form in self.entry.forms for file in form.files)
        forbidden = " (OMKL_OFFLINE forbids that now)" if opening.offline() else ""
        network = (
            f"with a network, `omkl data get {self.name}` downloads it{forbidden}; or " if has_address else ""
        )
        return (
            f"{network}set OMKL_DATA to a folder that holds {self._file_names()}, "
            "or OMKL_MIRROR to a URL or folder to fetch it from"
        )

    def _file_names(self) -> str:
        forms = [form for form in self.entry.forms if form.files]
        return " or ".join(" + ".join(file.name for file in form.files) for form in forms)


def _downloadable(form: Form) -> bool:
    """Whether there is a mirror, or every file of the form has an address."""
    return bool(form.files) and (
        bool(opening.environment("OMKL_MIRROR")) or all(file.urls for file in form.files)
    )

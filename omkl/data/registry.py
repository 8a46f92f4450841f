"""The registered data sets: one YAML each in conf/data, whose keys are the fields of the classes below.

A set may have several formats: each is a Form, with the steps from its files to rows and labels.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from omkl import conf, schema
from omkl.data import streams
from omkl.data.dataset import Dataset, dataset_of
from omkl.data.preparing.labels import y_of
from omkl.data.raw_files import READERS, TWO_FILES, own_reader, own_rows
from omkl.data.reading.numbered import Examples, dense, joined, libsvm_parts, read_npz
from omkl.data.reading.opening import LIMIT
from omkl.errors import UserError, show, suggest
from omkl.paths import files_in
from omkl.schema import one_of, such
from omkl.tasks import TASKS

# format: how many files it needs at least
FORMATS = {"libsvm": 1, "npz": 1, "sklearn": 0, "stream": 0} | {
    name: 2 if name in TWO_FILES else 1 for name in READERS
}
# format: the data sets it can give
EMBEDDED = {
    "sklearn": ("breast_cancer", "digits", "iris", "wine"),
    "stream": tuple(streams.EVERY),
}
_Address = Annotated[
    str, such("an address with https:// or http://", re.compile(r"https?://[\w.-]+(:\d+)?(/.*)?").fullmatch)
]
_Digest = Annotated[str, such("64 hexadecimal digits", re.compile("[0-9a-f]{64}").fullmatch)]
UNVERIFIED = (
    "not verified: no content hash is registered, because no copy was available; only the numbers of "
    "examples and features are compared"
)


def _format(name: Any) -> str:
    """Return the name of a format: ours, or a function of a folder that extends omkl."""
    if isinstance(name, str) and own_reader(name) is not None:
        return name
    found: str = one_of(FORMATS)(name)
    return found


@dataclass(frozen=True)
class Link:
    """Where a file is downloaded from; ``member`` is its name inside a .zip archive, in whichever folder."""

    url: _Address
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of a form: the name under which it is searched for, and its addresses, if any."""

    name: str
    urls: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Form:
    """One format of a set.

    format: libsvm (files one after the other) | npz (arrays X and y) | sklearn (embedded there)
        | stream (made from a seed) | a function of `omkl.data.raw_files`
        or of a user's folder
    labels: source label -> +1 or -1, or 0, 1, ... of more classes; other labels are errors. None: the labels
        are numbers, kept as they are
    dataset: the name of the embedded or made set
    index_base: the index of the first column in LIBSVM text, 0 or 1
    """

    format: Annotated[str, _format]
    files: tuple[DataFile, ...] = ()
    labels: dict[str, int] | None = None
    dataset: str = ""
    index_base: Literal[0, 1] = 1


@dataclass(frozen=True)
class DataEntry:
    """The content of conf/data/NAME.yaml; parsed data must have its content hash.

    content_hash, nnz: None where no copy was at hand when the entry was written; T and d are compared
    positive_share: of two classes, that of +1    classes: the names of three and more, in their order
    file_order: how the rows are stored, where `order` warns of order=file
    """

    name: str
    title: str
    description: str
    task: Annotated[str, one_of(TASKS)]
    T: int
    d: int
    source: str
    licence: str
    forms: tuple[Form, ...]
    nnz: int | None = None
    content_hash: _Digest | None = None
    positive_share: float | None = None
    classes: tuple[str, ...] | None = None
    permutations: str | None = None
    notes: tuple[str, ...] = ()
    file_order: str | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and how the rows are stored."""
        stored = f"{self.file_order}: use order=permuted (the default), not order=file"
        return (*self.notes_on_content, stored) if self.file_order else self.notes_on_content

    @property
    def notes_on_content(self) -> tuple[str, ...]:
        """The notes, and whether the content cannot be verified."""
        return self.notes if self.content_hash else (*self.notes, UNVERIFIED)

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 for other tasks, too."""
        return len(self.classes) if self.classes else 2

    def describes(self, dataset: Dataset) -> bool:
        """Whether the data have the registered content, and are as large as the entry says."""
        columns = int(dataset.indices.max(initial=-1)) + 1  # the last ones may be empty
        if self.content_hash is None:
            return (dataset.T, columns) == (self.T, self.d)
        same = (dataset.content_hash, dataset.T, dataset.nnz) == (self.content_hash, self.T, self.nnz)
        return same and columns <= self.d

    def size_limit(self, form: Form) -> int:
        """Return how many bytes a file of this form may hold: generous for the declared size."""
        sparse = form.format in ("libsvm", "ones", "mat") and self.nnz is not None
        numbers = (self.nnz or 0) + self.T if sparse else 2 * self.T * (self.d + 8)  # some rows are left out
        return min(2**20 + 64 * numbers, LIMIT)


def registered_names() -> list[str]:
    """Return the names of all registered data sets, sorted."""
    return conf.options("data")


def _files() -> dict[str, Path]:
    """Return the entries' files by name, ours and those of the folders that extend omkl."""
    files = (path for folder in conf.folders("data") for path in files_in(folder, "*.yaml"))
    return {path.stem: path for path in files if path.name[0] not in "._"}


def is_name(spec: str) -> bool:
    """Whether ``spec`` is a registered name; no file is needed for the answer."""
    return spec in registered_names()


def entry(name: str) -> DataEntry:
    """Return the entry of a name. Raises UserError with a suggestion for an unknown one."""
    if (path := _files().get(name)) is None:
        raise UserError(f"unknown data set {name!r}{suggest(name, _files())}; see `omkl list data`")
    return _entry(path)


def entry_of(name: str, content_hash: str | None = None) -> DataEntry | None:
    """Return the entry of a registered set with this name and, where it is given, this content; else None."""
    item = entry(name) if is_name(name) else None
    return item if item and content_hash in (None, item.content_hash) else None


@cache
def _entry(path: Path) -> DataEntry:
    item: DataEntry = schema.as_dataclass(DataEntry, conf.read("data", path.stem), path, name=path.stem)
    if fault := next(_faults(item), None):
        raise UserError(f"{path}: {fault}")
    return item


def _faults(item: DataEntry) -> Iterator[str]:
    """Yield the faults of an entry whose values are right one by one."""
    of_classes, is_registered = item.task == "classification", item.content_hash is not None
    if item.classes is not None and not (of_classes and 2 < len(set(item.classes)) == len(item.classes)):
        yield "classes: should name three or more different classes of a classification"
    has_one = (item.positive_share is None) != (item.classes is None)
    if of_classes and not has_one and (is_registered or item.classes):
        yield "missing positive_share (of two classes) or classes (the names of more)"
    if is_registered != (item.nnz is not None):
        yield "nnz and content_hash: give both, or neither where no copy of the data is available"
    if not item.forms:
        yield "forms: at least one is needed"
    numbers = {-1, 1} if item.n_classes == 2 else set(range(item.n_classes))
    for number, form in enumerate(item.forms, 1):
        needed, embedded = FORMATS.get(form.format, 1), EMBEDDED.get(form.format, ("",))
        if len(form.files) < needed:
            yield f"forms[{number}]: files: {needed} needed for format {form.format}"
        if form.format in EMBEDDED and form.dataset not in embedded:
            yield f"forms[{number}]: dataset: {show(form.dataset)}; one of {', '.join(embedded)}"
        if bool(form.labels) != of_classes and item.task != "novelty":
            yield f"forms[{number}]: labels: needed of a classification, whose labels they map"
        elif of_classes and form.labels and set(form.labels.values()) != numbers:
            shown = ", ".join(map(str, sorted(numbers)))
            yield f"forms[{number}]: labels: should map the source's labels to {shown}"


# ------------------------------------------------------------------ reading one


def read_registered(item: DataEntry, form: Form, paths: Sequence[Path]) -> Dataset:
    """Return the registered set in the files of a form. Raises UserError if they have other content.

    The source is read in parts, so that no text and no dense rows are in memory as a whole.
    """
    where = " + ".join(str(path) for path in paths) or f"the {form.format} data of {item.name}"
    limit = item.size_limit(form)
    rows = []
    for part in source_parts(form, list(paths), limit):
        y, _ = y_of(part.labels, item.task, where, mapping=form.labels)
        rows.append(part._replace(labels=y))
    examples, notes = joined(rows), item.notes_on_content
    dataset = dataset_of(item.name, examples, examples.labels, item.d, item.task, notes, registered=True)
    dataset = replace(dataset, classes=item.classes)
    if not item.describes(dataset):
        two = item.task == "classification" and item.classes is None
        share = f", {dataset.positive_share:.6f} positive" if two else ""
        nnz = "" if item.nnz is None else f", nnz={item.nnz}"
        raise UserError(
            f"{where}: not the registered content of {item.name}: "
            f"expected {item.content_hash or 'any hash'} (T={item.T}, d={item.d}{nnz}), "
            f"got {dataset.content_hash} (T={dataset.T}, d={examples.d}, nnz={dataset.nnz}{share})"
        )
    return dataset


def source_parts(form: Form, paths: list[Path], limit: int | None) -> Iterator[Examples]:
    """Yield the examples of a form's files in parts, with labels as in the source.

    Raises UserError for bad content, and for a file that holds more than ``limit`` bytes.
    """
    if form.format == "libsvm":
        for path in paths:
            yield from libsvm_parts(path, limit, form.index_base, False)
    elif form.format == "npz":
        yield dense(*read_npz(paths[0], limit))
    elif form.format == "stream":
        yield streams.realised(form.dataset, 1)[0]
    elif form.format == "sklearn":
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{form.dataset}")(return_X_y=True)
        yield dense(X, y.astype(np.float64))
    else:
        reader = READERS.get(form.format)
        X, y = reader(paths, limit) if reader else own_rows(form.format, paths)
        yield dense(X, y)

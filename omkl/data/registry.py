"""The registered data sets: one YAML each in conf/data, whose keys are the fields of the classes below.

A set may have several formats: each is a Form, with the steps from its files to rows and labels.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from omkl import conf, schema
from omkl.data import number_streams, streams
from omkl.data.data_files import LIMIT
from omkl.errors import UserError, show, suggest
from omkl.paths import listed
from omkl.tasks import TASKS

# format: how many files it needs at least
FORMATS = {"libsvm": 1, "table": 1, "sparse_binary": 2, "npz": 1, "mat": 1, "sklearn": 0, "stream": 0}
# format: the data sets it can give
EMBEDDED = {
    "sklearn": ("breast_cancer", "digits", "iris", "wine"),
    "stream": (*streams.EVERY, *number_streams.EVERY),
}
_SHA256 = re.compile("[0-9a-f]{64}")
UNVERIFIED = (
    "not verified: no content hash is registered, because no copy was available; only the numbers of "
    "examples and features are compared"
)


@dataclass(frozen=True)
class Link:
    """Where a file is downloaded from; ``member`` is its name inside a .zip archive, in whichever folder."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of a form: the name under which it is searched for, and its addresses, if any."""

    name: str
    urls: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Affine:
    """(raw + add) / divide; rows with a raw value outside ``keep`` (both ends included) are left out."""

    add: float = 0.0
    divide: float = 1.0
    keep: tuple[float, float] | None = None

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """Return the changed numbers, of any shape."""
        return (raw + self.add) / self.divide


@dataclass(frozen=True)
class Form:
    """One format of a set, and the steps from there to rows and labels.

    format: libsvm (files one after the other) | table (delimited text, or a workbook's first sheet)
        | sparse_binary (a line lists the columns that are 1) | npz (arrays X and y) | mat (MATLAB's X, y)
        | sklearn (the copy that scikit-learn embeds) | stream (made from a seed)
    labels: source label -> +1 or -1, or 0, 1, ... of more classes; other labels are errors. None: the labels
        are numbers, kept as they are
    label: column of the label: first | last | number from 1 | file (the second file holds one label per line)
    delimiter: one character, or "whitespace"   drop: columns left out, from 1   values: words -> numbers
    missing: rows with this mark in a kept feature are left out   rows: only the first ones of the file
    header: whether the first line is left out, or how many are
    times: columns with a time of day, HH:MM or a fraction of the day, read as that fraction to the minute
    unit: each feature is brought to [0, 1] by its own least and largest value
    target: applied to the labels, as numbers   scale: applied to all features
    dataset: the name of the embedded or made set
    index_base: the index of the first column in LIBSVM text, 0 or 1
    """

    format: str
    files: tuple[DataFile, ...] = ()
    labels: dict[str, int] | None = None
    label: str | int = "last"
    delimiter: str = ","
    drop: tuple[int, ...] = ()
    values: dict[str, float] | None = None
    missing: str | None = None
    header: bool | int = False
    dataset: str = ""
    rows: int | None = None
    times: tuple[int, ...] = ()
    unit: bool = False
    target: Affine | None = None
    scale: Affine | None = None
    index_base: int | None = 1


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
    task: str
    T: int
    d: int
    source: str
    licence: str
    forms: tuple[Form, ...]
    nnz: int | None = None
    content_hash: str | None = None
    positive_share: float | None = None
    classes: tuple[str, ...] | None = None
    permutations: str | None = None
    aliases: tuple[str, ...] = ()
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

    def size_limit(self, form: Form) -> int:
        """Return how many bytes a file of this form may hold: generous for the declared size."""
        sparse = form.format in ("libsvm", "sparse_binary", "mat") and self.nnz is not None
        rows = form.rows or self.T * (2 if form.target else 1)  # a form may leave rows out
        numbers = (self.nnz or 0) + self.T if sparse else rows * (self.d + 8)
        return min(2**20 + 64 * numbers, LIMIT)


def names() -> list[str]:
    """Return the names of all registered data sets, sorted."""
    return conf.options("data")


def _files() -> tuple[Path, ...]:
    """Return the entries' files, ours and those of the folders that extend omkl."""
    files = (path for folder in conf.folders("data") for path in listed(folder, "*.yaml"))
    return tuple(path for path in files if path.name[0] not in "._")


def is_name(spec: str) -> bool:
    """Whether ``spec`` is a registered name or alias; no file is needed for the answer."""
    return spec in names() or spec in _aliases(_files())


def entry(name: str) -> DataEntry:
    """Return the entry of a name or alias. Raises UserError with a suggestion for an unknown one."""
    files = _files()
    paths = {path.stem: path for path in files}
    aliases = {} if name in paths else _aliases(files)
    if name not in paths and name not in aliases:
        raise UserError(f"unknown data set {name!r}{suggest(name, [*paths, *aliases])}; see `omkl list data`")
    return _entry(paths[name] if name in paths else paths[aliases[name]])


def entry_of(name: str, content_hash: str) -> DataEntry | None:
    """Return the entry of a data set with this name and content, None if it is not a registered one."""
    item = entry(name) if is_name(name) else None
    return item if item and item.content_hash == content_hash else None


@cache
def _aliases(paths: tuple[Path, ...]) -> dict[str, str]:
    """Return the name that each alias stands for. Raises UserError for one that stands for two."""
    known: dict[str, Path] = {path.stem: path for path in paths}
    aliases: dict[str, str] = {}
    for path in paths:
        for alias in _entry(path).aliases:
            if known.setdefault(alias, path) != path:
                raise UserError(f"{path}: the alias {show(alias)} is taken by {known[alias]}; rename one")
            aliases[alias] = path.stem
    return aliases


@cache
def _entry(path: Path) -> DataEntry:
    item: DataEntry = schema.as_dataclass(DataEntry, conf.read("data", path.stem), path, name=path.stem)
    if fault := next(_faults(item), None):
        raise UserError(f"{path}: {fault}")
    return item


def _faults(item: DataEntry) -> Iterator[str]:
    """Yield the faults of an entry whose types are right."""
    classes = item.task == "classification"
    if item.task not in TASKS:
        yield f"task: {show(item.task)}{suggest(item.task, TASKS)}; one of {', '.join(TASKS)}"
    if item.classes is not None and not (classes and 2 < len(set(item.classes)) == len(item.classes)):
        yield "classes: should name three or more different classes of a classification"
    known = item.content_hash is not None
    if classes and (item.positive_share is None) == (item.classes is None) and (known or item.classes):
        yield "missing positive_share (of two classes) or classes (the names of more)"
    if known != (item.nnz is not None):
        yield "nnz and content_hash: give both, or neither where no copy of the data is available"
    if item.content_hash is not None and not _SHA256.fullmatch(item.content_hash):
        yield "content_hash: should be 64 hexadecimal digits"
    if not item.forms:
        yield "forms: at least one is needed"
    for number, form in enumerate(item.forms, 1):
        yield from (f"forms[{number}]: {fault}" for fault in _form_faults(form, classes, item.n_classes))


def _form_faults(form: Form, classes: bool, count: int) -> Iterator[str]:
    numbers = {-1, 1} if count == 2 else set(range(count))
    if form.format not in FORMATS:
        yield f"format: {show(form.format)}{suggest(form.format, FORMATS)}; one of {', '.join(FORMATS)}"
        return
    needed = 2 if form.label == "file" else FORMATS[form.format]
    if len(form.files) < needed:
        yield f"files: {needed} needed for format {form.format}"
    if form.format in EMBEDDED and form.dataset not in EMBEDDED[form.format]:
        yield f"dataset: {show(form.dataset)}; one of {', '.join(EMBEDDED[form.format])}"
    if form.index_base not in (0, 1):
        yield f"index_base: {show(form.index_base)} should be 0 or 1"
    if form.rows is not None and form.rows < 1:
        yield f"rows: {form.rows} should be at least 1"
    if form.delimiter != "whitespace" and (len(form.delimiter) != 1 or form.delimiter in '\r\n" '):
        yield f"delimiter: {show(form.delimiter)}; 'whitespace' or one character"
    if form.label not in ("first", "last", "file") and not (isinstance(form.label, int) and form.label > 0):
        yield f"label: {show(form.label)}; first, last, file, or a column number from 1"
    if classes and form.labels is None:
        yield "missing labels"
    elif not classes and form.labels:
        yield "labels: only classification has classes to map"
    elif classes and set((form.labels or {}).values()) != numbers:
        wanted = "-1 and 1" if count == 2 else f"0 to {count - 1}"
        yield f"labels: should map the source's labels to {wanted}"
    if any(change and change.divide == 0 for change in (form.target, form.scale)):
        yield "target, scale: divide must not be 0"
    for file in form.files:
        if not _is_plain(file.name):
            yield f"files: {show(file.name)} should be a plain file name"
        for link in file.urls:
            try:
                scheme = urlsplit(link.url).scheme
            except ValueError:  # such as http://[
                scheme = ""
            if scheme not in ("http", "https"):
                yield f"urls: {show(link.url)} should begin with https:// or http://"
            if link.member is not None and not all(map(_is_plain, link.member.split("/"))):
                yield f"urls: member {show(link.member)} leaves the archive"


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")

"""From a name or a path to a Dataset: find, download, parse, verify, cache."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from omkl.data import cache, data_files, registry
from omkl.data.dataset import Dataset
from omkl.data.prepare import (
    check_settings,
    dataset_of,
    form_of_file,
    is_table,
    parse,
    read_table_file,
)
from omkl.data.recipe import AS_IT_IS, Preparation
from omkl.data.registry import DataEntry, Form
from omkl.data.streams import generate
from omkl.errors import OmklError, UserError, suggest
from omkl.files import locked
from omkl.paths import cache_folder, given

Source = tuple[Form, list[Path]]  # a form, and its files in order; none where it is embedded or made

_described = ContextVar("_described", default=False)
_given: dict[str, Source] = {}  # files that the user named for a set, in this process


@dataclass(frozen=True)
class Status:
    """Where a registered data set is: ``state`` is file, embedded, generated or missing."""

    name: str
    title: str
    T: int
    d: int
    state: str
    paths: tuple[Path, ...]
    cached: Path | None  # its parsed copy
    downloadable: bool


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
    if registry.is_name(spec):
        item = registry.entry(spec)
        if _described.get() and _locate(item) is None and _can_download(item):
            return _stand_in(item)
        return _cached(item.name, *_source(item, download), item.task, item)
    path = given(spec, "data=")
    if not path.is_file():
        guess = suggest(spec, registry.names())
        raise UserError(f"data={spec}: neither a registered data set{guess} nor a file; see `omkl list data`")
    check_settings(spec, path, preparation)
    return _cached(data_files.data_name(path), preparation, [path], task)


@contextlib.contextmanager
def described() -> Iterator[None]:
    """Let `load` return a stand-in of the registered size in place of a download: enough for an estimate."""
    before = _described.set(True)
    try:
        yield
    finally:
        _described.reset(before)


def _stand_in(item: DataEntry) -> Dataset:
    indptr = np.linspace(0, item.nnz, item.T + 1).astype(np.int64)
    indices, values = np.broadcast_to(np.int32(0), item.nnz), np.broadcast_to(1.0, item.nnz)
    about = (item.d, item.task, item.content_hash, None, item.notes, item.classes)
    return Dataset(item.name, indptr, indices, values, np.broadcast_to(1.0, item.T), *about)


def use(name: str, path: str | Path) -> None:
    """Use the user's file for a registered set, in this process; its content must be the registered one.

    path: the set's file in any of its formats, under any name, or a folder that holds the set's files under
    their usual names. Raises UserError where it is neither, for other content, and for a set that is not read
    from files.
    """
    item, path = registry.entry(name), given(path, f"{name}=")
    forms = [form for form in item.forms if form.files]
    if not forms:
        raise UserError(f"{name}={path}: {item.name} is not read from files; it is always available")
    if path.is_file():
        fault = f"{item.name} is read from {_file_names(item)}; name a folder that holds them"
    else:
        fault = f"holds no {_file_names(item)}" if path.is_dir() else "is neither a file nor a folder"
    faults = [f"{name}={path}: {fault}"]
    for form in forms:
        paths = [data_files.find_in(path, file.name) for file in form.files] if path.is_dir() else [path]
        present = [file for file in paths if file and file.is_file()]
        if len(present) == len(form.files):
            try:
                _cached(item.name, form, present, item.task, item)
                _given[item.name] = form, present
                return
            except UserError as error:
                faults.append(str(error))
    raise UserError(faults[:2][-1])


def realisation(dataset: Dataset, rep: int) -> Dataset:
    """Return the data of repetition ``rep`` (from 0) in file order: a stream's realisation of seed rep + 1.

    Data that are not a registered stream are returned as they are. A stream's registered content is seed 1's.
    """
    item = registry.entry_of(dataset.name, dataset.content_hash)
    if rep == 0 or item is None or item.forms[0].format != "stream":
        return dataset
    examples = generate(item.forms[0].dataset, rep + 1)
    return dataset_of(item.name, examples, examples.labels, item.d, item.task, item.notes)


def load_cached(path: str | Path) -> Dataset:
    """Return a data set from its parsed copy, memory-mapped, for workers. Raises OmklError if damaged."""
    try:
        return cache.read(Path(path))
    except OmklError as error:
        raise OmklError(f"{error}; the same command parses the source again") from error


def status(name: str) -> Status:
    """Return where a registered data set is, without reading it."""
    item = registry.entry(name)
    source = _locate(item)
    without_files = "generated" if source and source[0].format == "stream" else "embedded"
    state = "missing" if source is None else "file" if source[1] else without_files
    paths = tuple(source[1]) if source else ()
    copy = cache.parsed_path(item.name, *source, item.task) if source else None
    cached = copy if copy and copy.is_file() else None
    downloadable = any(map(_downloadable, item.forms))
    return Status(item.name, item.title, item.T, item.d, state, paths, cached, downloadable)


def path(name: str) -> list[Path]:
    """Return the files of a data set: its source files, or the parsed copy of an embedded one."""
    return _source(registry.entry(name))[1] or [copy for copy in [load(name).path] if copy]


def verify(name: str) -> str:
    """Read a data set's source again, not its parsed copy, and return its content hash.

    Raises UserError with the file, the expected and the actual hash when it is not the registered content,
    and with the numbers where the entry describes that content wrongly.
    """
    item = registry.entry(name)
    dataset = parse(item.name, *_source(item), item.task, item)
    for key in ("T", "nnz"):
        if getattr(item, key) != (actual := getattr(dataset, key)):
            raise UserError(
                f"conf/data/{item.name}.yaml: {key}: got {getattr(item, key)}, but the data have {actual}"
            )
    return dataset.content_hash


def get(name: str, force: bool = False) -> list[Path]:
    """Download a data set that is not there yet (``force``: even if it is), verify it, and return its files.

    Only verified files join the search path. Raises UserError for other content, for no known address, and
    when OMKL_OFFLINE forbids it; OmklError when no server gives the file.
    """
    item = registry.entry(name)
    incoming = cache_folder() / "incoming"
    try:
        with locked(incoming / f"{item.name}.lock", f"downloading {item.name}"):
            source = None if force else _locate(item)
            return source[1] if source else _download(item, incoming)
    except OSError as error:
        place = error.filename or incoming
        raise OmklError(f"{place}: {error.strerror}; name another folder with OMKL_CACHE") from error


def _download(item: DataEntry, incoming: Path) -> list[Path]:
    """Fetch and verify the files of the first form that a server has, outside the search path till then."""
    from omkl.data.fetch import fetch

    forms = [form for form in item.forms if form.files]
    folder, failures = incoming / item.name, []
    for form in [form for form in forms if _downloadable(form)] or forms[:1]:
        limit = data_files.size_limit(item.size_limit(form))
        try:
            paths = [fetch(file, folder, limit, folder / "archives") for file in form.files]
        except OmklError as error:
            if isinstance(error, UserError):
                raise
            failures.append(str(error))
            continue
        try:
            dataset = parse(item.name, form, paths, item.task, item)
            data_files.files_folder().mkdir(parents=True, exist_ok=True)
            final = [path.replace(data_files.files_folder() / path.name) for path in paths]
            cache.write(dataset, cache.parsed_path(item.name, form, final, item.task))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return final
    raise OmklError("\n".join([*failures, f"  ways out: {ways_out(item.name)}"]))


def _downloadable(form: Form) -> bool:
    """Whether there is a mirror, or every file of the form has an address."""
    return bool(form.files) and (
        bool(data_files.setting("OMKL_MIRROR")) or all(file.urls for file in form.files)
    )


def _can_download(item: DataEntry) -> bool:
    """Whether a set can be downloaded, and OMKL_OFFLINE does not forbid it; a mirror may be a folder."""
    mirror = data_files.setting("OMKL_MIRROR")
    allowed = bool(mirror and "://" not in mirror) or not data_files.offline()
    return allowed and any(map(_downloadable, item.forms))


def _locate(item: DataEntry) -> Source | None:
    """Return the first form whose files are all present: named with `use`, else on the search path.

    Else the embedded form, else None.
    """
    if item.name in _given:
        return _given[item.name]
    for form in sorted(item.forms, key=lambda form: not form.files):
        paths = [path for file in form.files if (path := data_files.find(file.name))]
        if len(paths) == len(form.files):
            return form, paths
    return None


def _source(item: DataEntry, download: bool = False) -> Source:
    """Return where a set is; if it is missing, download it or raise a UserError with the ways out."""
    source = _locate(item)
    if source is None and download and _can_download(item):
        get(item.name)
        source = _locate(item)
    if source is None:
        folders = ", ".join(
            f"{f}{'' if f.is_dir() else ' (no such folder)'}" for f in data_files.search_folders()
        )
        raise UserError(
            f"data set {item.name} not found: looked for {_file_names(item)} "
            f"(also .libsvm, {', '.join(data_files.COMPRESSION)}) in {folders}; {ways_out(item.name)}"
        )
    return source


def _cached(
    name: str,
    form: Form | Preparation,
    paths: Sequence[Path],
    task: str,
    item: DataEntry | None = None,
) -> Dataset:
    """Return the parsed copy, which is made where there is none or where it is not the registered content."""
    copy = cache.parsed_path(name, form, paths, task)
    dataset = cache.read_or_none(copy)
    if dataset is not None and (item is None or dataset.content_hash == item.content_hash):
        return dataset
    if not isinstance(form, Preparation):
        dataset = parse(name, form, paths, task, item)
    elif is_table(paths[0]):
        dataset, _ = read_table_file(paths[0], task, form)
    else:
        dataset = parse(name, form_of_file(paths[0], form), paths, task)
    if cache.write(dataset, copy) is None:
        return replace(dataset, notes=(*dataset.notes, f"not cached: {copy.parent} cannot be written"))
    return cache.read(copy)


def ways_out(name: str) -> str:
    """Return how to obtain a registered set that is missing here, as one sentence without its full stop."""
    item = registry.entry(name)
    known = any(file.urls for form in item.forms for file in form.files)
    forbidden = " (OMKL_OFFLINE forbids that now)" if data_files.offline() else ""
    network = f"with a network, `omkl data get {item.name}` downloads it{forbidden}; or " if known else ""
    return (
        f"{network}let OMKL_DATA name a folder that holds {_file_names(item)}, "
        "or OMKL_MIRROR a URL or folder to fetch it from"
    )


def _file_names(item: DataEntry) -> str:
    return " or ".join(" + ".join(file.name for file in form.files) for form in item.forms if form.files)

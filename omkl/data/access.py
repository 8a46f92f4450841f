"""From a name or a path to a Dataset: find, download, parse, verify, cache."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from omkl.data import cache, files, registry
from omkl.data.dataset import Dataset, content_hash
from omkl.data.forms import Form
from omkl.data.parse import Rows
from omkl.data.prepare import read_form, read_user_file, signs, targets
from omkl.data.registry import DataEntry
from omkl.data.streams import generate
from omkl.errors import OmklError, UserError, suggest
from omkl.files import locked
from omkl.paths import cache_folder, given

_given: dict[str, tuple[Form, list[Path]]] = {}  # files that this process was told to take for a set


@dataclass(frozen=True)
class Status:
    """Where a registered data set is: ``state`` is file, embedded (or made here) or missing."""

    name: str
    title: str
    T: int
    d: int
    state: str
    paths: tuple[Path, ...]
    cached: Path | None  # its parsed copy
    downloadable: bool


def load(spec: str, *, download: bool = True, task: str = "classification") -> Dataset:
    """Return the data set of a registered name or of a file (LIBSVM, .csv, .tsv, .npz; .gz, .bz2, .xz too).

    A name comes from OMKL_DATA, the downloads, scikit-learn, or is downloaded now (unless ``download`` is
    false). Its content must be the registered one. Parsed copies are reused while the source is the same.
    task: what a file is taken for (classification: two labels; regression: the labels are numbers); a
    registered set has its own.
    Raises UserError for an unknown name, a file not found, broken content, or other content than registered.
    """
    if registry.is_name(spec):
        item = registry.entry(spec)
        found = _locate(item)
        if found is None and download and _can_download(item):
            get(item.name)
            found = _locate(item)
        if found is None:
            raise UserError(_missing(item))
        return _load(item.name, found[1], found[0], item, item.task)
    path = given(spec, "data=")
    if not path.is_file():
        guess = suggest(spec, registry.names())
        raise UserError(f"data={spec}: neither a registered data set{guess} nor a file; see `omkl list data`")
    return _load(files.data_name(path), [path], None, None, task)


def use(name: str, path: str | Path) -> None:
    """Take the user's file for a registered set, in this process; its content must be the registered one.

    path: the set's file in any of the formats that the set is found in, however it is called, or a folder
    that holds its files under their usual names. Raises UserError where it is neither, for other content, and
    for a set that is not read from files.
    """
    item, path = registry.entry(name), given(path, f"{name}=")
    forms = [form for form in item.forms if form.needs_files]
    if not forms:
        raise UserError(f"{name}={path}: {item.name} is not read from files, and is always there")
    faults = []
    for form in forms:
        paths = [files.find_in(path, file.name) for file in form.files] if path.is_dir() else [path]
        if len(paths) == len(form.files) and all(found and found.is_file() for found in paths):
            try:
                _load(item.name, paths, form, item, item.task)
            except UserError as error:
                faults.append(str(error))
                continue
            _given[item.name] = form, paths
            return
    if faults:
        raise UserError(faults[0])
    if path.is_file():
        raise UserError(
            f"{name}={path}: {item.name} is read from {_wanted(item)}; name a folder that holds them"
        )
    kind = f"holds no {_wanted(item)}" if path.is_dir() else "is neither a file nor a folder"
    raise UserError(f"{name}={path}: {kind}")


def realisation(dataset: Dataset, rep: int) -> Dataset:
    """Return what repetition ``rep`` (from 0) streams in file order: a stream's realisation of seed rep + 1.

    The data themselves where they are no registered stream. Of a stream the registered content is seed 1's.
    """
    item = registry.entry(dataset.name) if registry.is_name(dataset.name) else None
    if rep == 0 or item is None or item.content_hash != dataset.content_hash:
        return dataset
    form = item.forms[0]
    if form.format != "stream":
        return dataset
    rows = generate(form.dataset, rep + 1)
    return _dataset(item.name, rows, rows.labels, item.d, item.task, item.notes)


def load_cached(path: str | Path) -> Dataset:
    """Return a data set from its parsed copy, memory-mapped, for workers. Raises OmklError if damaged."""
    try:
        return cache.read(Path(path))
    except OmklError as error:
        raise OmklError(f"{error}; the same command parses the source again") from error


def status(name: str) -> Status:
    """Return where a registered data set is, without reading it."""
    item = registry.entry(name)
    found = _locate(item)
    state = "missing" if found is None else "file" if found[1] else "embedded"
    cached = cache.parsed_path(item.name, *found, item.task) if found else None
    return Status(
        name=item.name,
        title=item.title,
        T=item.T,
        d=item.d,
        state=state,
        paths=tuple(found[1]) if found else (),
        cached=cached if cached and cached.is_file() else None,
        downloadable=any(_downloadable(form) for form in item.forms),
    )


def path(name: str) -> list[Path]:
    """Return the files of a data set: its source files, or the parsed copy of an embedded one."""
    item = registry.entry(name)
    found = _locate(item)
    if found is None:
        raise UserError(_missing(item))
    return found[1] or [copy for copy in [load(name).path] if copy]


def verify(name: str) -> str:
    """Read a data set's source anew, past any parsed copy, and return its content hash.

    Raises UserError naming file, expected and found hash when it is not the registered content.
    """
    item = registry.entry(name)
    found = _locate(item)
    if found is None:
        raise UserError(_missing(item))
    return _parse(item.name, found[1], found[0], item, item.task).content_hash


def get(name: str, force: bool = False) -> list[Path]:
    """Download a data set that is not there yet (``force``: even if it is), verify it, and return its files.

    Only verified files join the search path. Raises UserError for other content, for no known address, and
    when OMKL_OFFLINE forbids it; OmklError when no server gives the file.
    """
    item = registry.entry(name)
    incoming = cache_folder() / "incoming"
    try:
        with locked(incoming / f"{item.name}.lock", f"downloading {item.name}"):
            found = None if force else _locate(item)
            return found[1] if found else _get(item)
    except OSError as error:
        raise OmklError(
            f"{error.filename or incoming}: {error.strerror}; OMKL_CACHE names another folder"
        ) from error


def _get(item: DataEntry) -> list[Path]:
    forms = [form for form in item.forms if form.needs_files]
    failures = []
    for form in [form for form in forms if _downloadable(form)] or forms[:1]:
        try:
            return _download(item, form)
        except UserError:
            raise
        except OmklError as error:
            failures.append(str(error))
    raise OmklError("\n".join([*failures, f"  ways out: {ways_out(item.name)}"]))


def _downloadable(form: Form) -> bool:
    """Whether every file of the form can be asked for: it has an address, or there is a mirror to ask."""
    mirror = os.environ.get("OMKL_MIRROR", "").strip()
    return form.needs_files and (bool(mirror) or all(file.links for file in form.files))


def _can_download(item: DataEntry) -> bool:
    mirror = os.environ.get("OMKL_MIRROR", "").strip()
    mirror_folder = mirror and "://" not in mirror
    return any(_downloadable(form) for form in item.forms) and (mirror_folder or not files.offline())


def _download(item: DataEntry, form: Form) -> list[Path]:
    """Fetch the form's files beside the search path, verify them, and only then move them onto it."""
    from omkl.data.fetch import fetch

    incoming = cache_folder() / "incoming" / item.name
    limit = files.size_limit(item.size_limit(form))
    paths = [fetch(file, incoming, limit, incoming / "archives") for file in form.files]
    try:
        dataset = _parse(item.name, paths, form, item, item.task)
    except UserError:
        shutil.rmtree(incoming, ignore_errors=True)
        raise
    files.files_folder().mkdir(parents=True, exist_ok=True)
    final = [path.replace(files.files_folder() / path.name) for path in paths]
    cache.write(dataset, cache.parsed_path(item.name, form, final, item.task))
    shutil.rmtree(incoming, ignore_errors=True)
    return final


def _locate(item: DataEntry) -> tuple[Form, list[Path]] | None:
    """Return the first form all of whose files are there: given with `use`, else on the search path.

    Else the embedded form, else None.
    """
    if item.name in _given:
        return _given[item.name]
    embedded = None
    for form in item.forms:
        if not form.needs_files:
            embedded = form, []
            continue
        paths = [files.find(file.name) for file in form.files]
        if all(paths):
            return form, paths
    return embedded


def _load(name: str, paths: list[Path], form: Form | None, item: DataEntry | None, task: str) -> Dataset:
    copy = cache.parsed_path(name, form, paths, task)
    dataset = cache.read_or_none(copy)
    if dataset is not None and (item is None or dataset.content_hash == item.content_hash):
        return dataset
    dataset = _parse(name, paths, form, item, task)
    if cache.write(dataset, copy) is None:
        return replace(dataset, notes=(*dataset.notes, f"not cached: {copy.parent} cannot be written"))
    return cache.read(copy)


def _parse(name: str, paths: list[Path], form: Form | None, item: DataEntry | None, task: str) -> Dataset:
    """Read the source; for a registered set check that the content is the registered one."""
    where = " + ".join(str(path) for path in paths) or f"what {form.format} gives for {name}"
    if item is None or form is None:
        rows = read_user_file(paths[0])
        if rows.d == 0:
            raise UserError(f"{where}: no features in any example")
        y, notes = (
            signs(rows.labels, None, where) if task == "classification" else targets(rows.labels, where)
        )
        return _dataset(name, rows, y, rows.d, task, notes)
    rows = read_form(form, paths, files.size_limit(item.size_limit(form)))
    y, _ = signs(rows.labels, form.labels, where) if form.labels else targets(rows.labels, where)
    dataset = _dataset(name, rows, y, item.d, item.task, item.notes)
    beyond = int(rows.indices.max(initial=-1)) + 1
    if dataset.content_hash != item.content_hash or beyond > item.d:
        expected = f"expected {item.content_hash} (T={item.T}, d={item.d})"
        share = f", {dataset.positive_share:.6f} positive" if item.task == "classification" else ""
        got = f"found {dataset.content_hash} (T={dataset.T}, d={beyond}{share})"
        raise UserError(f"{where}: not the registered content of {name}: {expected}, {got}")
    return dataset


def _dataset(name: str, rows: Rows, y, d: int, task: str, notes: tuple[str, ...]) -> Dataset:
    digest = content_hash(rows.indptr, rows.indices, rows.values, y)
    return Dataset(name, rows.indptr, rows.indices, rows.values, y, d, task, digest, None, notes)


def ways_out(name: str) -> str:
    """Return how a registered set that is not here can be had, in one sentence without its end."""
    item = registry.entry(name)
    known = any(file.links for form in item.forms for file in form.files)
    forbidden = " (OMKL_OFFLINE forbids that now)" if files.offline() else ""
    network = f"with a network, `omkl data get {item.name}` downloads it{forbidden}; or " if known else ""
    return (
        f"{network}let OMKL_DATA name a folder that holds {_wanted(item)}, "
        "or OMKL_MIRROR a URL or folder to fetch it from"
    )


def _wanted(item: DataEntry) -> str:
    return " or ".join(" + ".join(file.name for file in form.files) for form in item.forms if form.files)


def _missing(item: DataEntry) -> str:
    folders = ", ".join(f"{f}{'' if f.is_dir() else ' (no such folder)'}" for f in files.search_folders())
    looked = f"looked for {_wanted(item)} (also .libsvm, .xz, .gz, .bz2) in {folders}"
    return f"data set {item.name} not found: {looked}; {ways_out(item.name)}"

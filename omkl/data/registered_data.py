"""The data sets of conf/data: where their files are, downloads, what is checked; and a data set by its name.

`find` makes a `DataRef` of a name or a path.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from omkl.data import cache, registry
from omkl.data.dataset import Dataset
from omkl.data.preparation import AS_IT_IS, Preparation
from omkl.data.raw_files import own_reader
from omkl.data.reading import opening
from omkl.data.ref import DataRef, from_copy
from omkl.data.registry import DataEntry, Form, read_registered
from omkl.errors import OmklError, UserError, shown, suggest
from omkl.files import locked
from omkl.paths import cache_folder

Source = tuple[Form, list[Path]]  # a form, and its files in order; none where it is embedded or made


def find(spec: str, *, task: str = "classification", preparation: Preparation = AS_IT_IS) -> DataRef:
    """Return the data set of a registered name or of a path; a file is read when it is first needed.

    spec: ``-`` is standard input    task, preparation: of a file; a registered set has its own
    Raises UserError where there is neither.
    """
    if registry.is_name(spec):
        return registered(spec)
    from omkl.data.own_data import Own
    from omkl.data.reading.formats import data_name

    if spec == "-":
        return Own("stdin", task, spec, opening.standard_input(), preparation)
    path = Path(os.path.expanduser(spec))
    if not os.path.isfile(path):
        near = suggest(spec, registry.registered_names()) or "; `omkl list data` shows them"
        raise UserError(f"{shown(f'data={spec}')}: neither a registered data set nor a file{near}")
    return Own(data_name(path), task, spec, path, preparation)


def registered(name: str) -> "Registered":
    """Return the data set of a registered name. Raises UserError for an unknown one."""
    entry = registry.entry(name)
    return Registered(entry.name, entry.task, entry.name, entry)


def from_json(content: Mapping[str, Any]) -> DataRef:
    """Return the data set of `DataRef.to_json`."""
    preparation = Preparation.from_json(content.get("preparation", {}))
    return find(content["data"], task=content.get("task", "classification"), preparation=preparation)


# ------------------------------------------------------------------ a registered set


@dataclass(frozen=True, eq=False, repr=False)
class Registered(DataRef):
    """A data set of conf/data."""

    entry: DataEntry
    is_registered = True

    @property
    def known(self) -> DataEntry:
        return self.entry

    @property
    def notes(self) -> tuple[str, ...]:
        return self.entry.notes_on_content

    def load(self) -> Dataset:
        return self._dataset

    @cached_property
    def _dataset(self) -> Dataset:
        form, paths = self._found(True)
        reader = own_reader(form.format)  # whose copies are made anew where it is changed
        copy = cache.parsed_path(self.name, form, [*paths, *([reader] if reader else [])], self.task)
        dataset = cache.read_or_none(copy)
        if dataset is None or not self.entry.describes(dataset):
            dataset = from_copy(read_registered(self.entry, form, paths), copy)
        return dataset

    def named(self, name: str) -> "Registered":
        return self

    def to_json(self) -> dict[str, Any]:
        return {"data": self.name}

    @property
    def state(self) -> str:
        """Where the set is: file, embedded (in scikit-learn), generated or missing."""
        source = self._locate()
        if source is None or source[1]:
            return "file" if source else "missing"
        return "generated" if source[0].format == "stream" else "embedded"

    @property
    def is_downloadable(self) -> bool:
        """Whether a mirror or an address is known for it."""
        return any(map(_downloadable, self.entry.forms))

    @property
    def to_be_downloaded(self) -> bool:
        return not opening.offline() and self.is_downloadable and self._locate() is None

    def paths(self) -> list[Path]:
        """Return the set's files, or the parsed copy of one without. Raises UserError where it is missing."""
        return self._found(False)[1] or [copy for copy in [self.copy] if copy]

    def verify(self) -> str:
        """Read the source again, not its parsed copy, and return the content hash.

        Raises UserError with the file, the expected and the actual numbers and hash when they differ.
        """
        return read_registered(self.entry, *self._found(False)).content_hash

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

        Where the first addresses of its files fail, or give other content, their second ones are tried.
        """
        from omkl.data.fetch import fetch

        folder, failures = incoming / self.name, list[OmklError]()
        forms = [form for form in self.entry.forms if form.files]
        for form in list(filter(_downloadable, forms)) or forms[:1]:
            limit = self.entry.size_limit(form)
            most = 1 if opening.environment("OMKL_MIRROR") else max(len(file.urls) for file in form.files)
            for nth in range(max(most, 1)):
                try:
                    paths = [fetch(file, folder, limit, folder / "archives", nth) for file in form.files]
                    return self._kept_files(form, paths)
                except OmklError as error:
                    failures.append(error)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
        kind = UserError if any(isinstance(error, UserError) for error in failures) else OmklError
        said = "; ".join([*map(str, failures), f"ways out: {self.ways_out}"])
        raise kind(f"{self.name}: not downloaded: {said}")

    def _kept_files(self, form: Form, paths: list[Path]) -> list[Path]:
        """Return where the files are on the search path, if they hold the set. Raises UserError if not."""
        dataset = read_registered(self.entry, form, paths)
        opening.files_folder().mkdir(parents=True, exist_ok=True)
        final = [path.replace(opening.files_folder() / path.name) for path in paths]
        cache.write_parsed(dataset, cache.parsed_path(self.name, form, final, self.task))
        return final

    def _locate(self) -> Source | None:
        """Return the first form whose files are all on the search path, else the embedded form, else None."""
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
            folders = ", ".join(map(str, opening.search_folders()))
            looked = f"looked for {self._file_names()} (also compressed, or with .libsvm) in {folders}"
            raise UserError(f"data set {self.name} not found: {looked}; {self.ways_out}")
        return source

    @property
    def ways_out(self) -> str:
        """How to obtain the set that is missing here, as one sentence without its full stop."""
        forbidden = " (OMKL_OFFLINE forbids that now)" if opening.offline() else ""
        network = f"with a network, `omkl data get {self.name}` downloads it{forbidden}; or "
        has_address = any(file.urls for form in self.entry.forms for file in form.files)
        folder = f"set OMKL_DATA to a folder that holds {self._file_names()}, or OMKL_MIRROR to a URL"
        return f"{network if has_address else ''}{folder} to fetch it from"

    def _file_names(self) -> str:
        forms = [form for form in self.entry.forms if form.files]
        return " or ".join(" + ".join(file.name for file in form.files) for form in forms)


def _downloadable(form: Form) -> bool:
    """Whether there is a mirror, or every file of the form has an address."""
    return bool(form.files) and (
        bool(opening.environment("OMKL_MIRROR")) or all(file.urls for file in form.files)
    )

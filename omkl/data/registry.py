"""The data sets that have names: one YAML each in conf/data, read strictly and only when needed."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from omkl import plain_yaml
from omkl.data.forms import Affine, DataFile, Form, Link
from omkl.data.streams import EVERY
from omkl.errors import UserError, show, suggest
from omkl.paths import conf_folder
from omkl.tasks import TASKS

# format: the files that it needs at least
FORMATS = {"libsvm": 1, "table": 1, "sparse_binary": 2, "npz": 1, "sklearn": 0, "stream": 0}
EMBEDDED = {"sklearn": ("breast_cancer",), "stream": tuple(EVERY)}  # format: what a YAML may name

# What a YAML may say: keys and their types. float is any finite number, object is checked further on.
ENTRY = {"title": str, "description": str, "task": str, "T": int, "d": int, "nnz": int, "content_hash": str}
ENTRY |= {"source": str, "licence": str, "forms": list}
OPTIONAL = {"positive_share": float, "permutations": str, "aliases": list, "notes": list}
FORM = {
    "format": str,
    "files": list,
    "labels": dict,
    "values": dict,
    "drop": list,
    "times": list,
    "rows": int,
}
FORM |= {"delimiter": str, "missing": str, "header": bool, "unit": bool, "target": dict, "scale": dict}
FORM |= {"label": object, "dataset": object}
AFFINE = {"add": float, "divide": float, "keep": object}
FILE, LINK = {"name": object, "urls": list}, {"url": str, "member": str}


@dataclass(frozen=True)
class DataEntry:
    """What conf/data/NAME.yaml says. The content hash, checked after parsing, vouches for the numbers."""

    name: str
    title: str
    description: str
    task: str
    T: int
    d: int
    nnz: int
    content_hash: str
    source: str
    licence: str
    forms: tuple[Form, ...]
    positive_share: float | None = None  # of a classification
    permutations: str | None = None
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def size_limit(self, form: Form) -> int:
        """Return the bytes that a file of this form may hold: generous for what the entry declares."""
        sparse = form.format in ("libsvm", "sparse_binary")
        rows = form.rows or self.T * (2 if form.target else 1)  # a form may leave rows out
        numbers = self.nnz + self.T if sparse else rows * (self.d + 8)
        return 2**20 + 64 * numbers


def names() -> list[str]:
    """Return the names of all registered data sets, sorted."""
    return sorted(path.stem for path in (conf_folder() / "data").glob("*.yaml"))


def is_name(spec: str) -> bool:
    """Whether ``spec`` is a registered name or alias; no file is needed for the answer."""
    return spec in names() or spec in _aliases(conf_folder())


def entry(name: str) -> DataEntry:
    """Return the entry of a name or alias. Raises UserError with a suggestion for an unknown one."""
    known = names()
    if name not in known:
        aliases = _aliases(conf_folder())
        if name not in aliases:
            raise UserError(
                f"unknown data set {name!r}{suggest(name, [*known, *aliases])}; see `omkl list data`"
            )
        name = aliases[name]
    return _entry(conf_folder() / "data" / f"{name}.yaml")


@cache
def _aliases(folder: Path) -> dict[str, str]:
    entries = [_entry(path) for path in (folder / "data").glob("*.yaml")]
    return {alias: item.name for item in entries for alias in item.aliases}


@cache
def _entry(path: Path) -> DataEntry:
    import yaml

    plain_yaml.check(path)
    try:
        data = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: such as 2001-99-99, a date by its form
        raise UserError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    classes = isinstance(data, dict) and data.get("task") == "classification"
    needed = [*ENTRY, "positive_share"] if classes else ENTRY
    _check_block(str(path), data, ENTRY | OPTIONAL, needed)
    if data["task"] not in TASKS:
        guess = suggest(data["task"], TASKS)
        raise UserError(f"{path}: task: {show(data['task'])}{guess}; one of {', '.join(TASKS)}")
    if len(data["content_hash"]) != 64 or set(data["content_hash"]) - set("0123456789abcdef"):
        raise UserError(f"{path}: content_hash: should be 64 hexadecimal digits")
    if not data["forms"]:
        raise UserError(f"{path}: forms: at least one is needed")
    lists = {
        "forms": tuple(
            _form(f"{path}: forms[{n}]", form, classes) for n, form in enumerate(data["forms"], 1)
        ),
        "aliases": tuple(data.get("aliases", ())),
        "notes": tuple(data.get("notes", ())),
    }
    return DataEntry(name=path.stem, **data | lists)


def _check_block(where: str, data: Any, kinds: Mapping[str, type], needed: Collection[str]) -> None:
    """Raise UserError unless data is a mapping with all needed keys, known keys only, and fitting values."""
    if not isinstance(data, dict):
        raise UserError(f"{where}: should hold keys and values, not {show(data)}")
    for key in data:
        if key not in kinds:
            raise UserError(f"{where}: unknown key {show(key)}{suggest(key, kinds)}")
    if missing := sorted(set(needed) - set(data)):
        raise UserError(f"{where}: missing {', '.join(missing)}")
    for key, value in data.items():
        _check(f"{where}: {key}", value, kinds[key])


def _check(where: str, value: Any, kind: type) -> None:
    if kind is float:
        good = isinstance(value, int | float) and abs(value) <= sys.float_info.max
        wanted = "a finite number"
    else:
        good, wanted = isinstance(value, kind), f"of type {kind.__name__}"
    if not good or (isinstance(value, bool) and kind not in (bool, object)):
        raise UserError(f"{where}: {show(value)} should be {wanted}")


def _form(where: str, data: Any, classes: bool) -> Form:
    _check_block(where, data, FORM, {"format", "labels"} if classes else {"format"})
    form = data["format"]
    if form not in FORMATS:
        raise UserError(f"{where}: format: {show(form)}{suggest(form, FORMATS)}; one of {', '.join(FORMATS)}")
    files = tuple(_file(where, file) for file in data.get("files", []))
    needed = 2 if data.get("label") == "file" else FORMATS[form]
    if len(files) < needed:
        raise UserError(f"{where}: files: {needed} needed for format {form}")
    if form in EMBEDDED and data.get("dataset") not in EMBEDDED[form]:
        known = ", ".join(EMBEDDED[form])
        raise UserError(f"{where}: dataset: {show(data.get('dataset'))}; one of {known}")
    for word, value in data.get("values", {}).items():
        _check(f"{where}: values: {show(word)}", value, float)
    for key in ("drop", "times"):
        for column in data.get(key, []):
            _check(f"{where}: {key}", column, int)
    if data.get("rows", 1) < 1:
        raise UserError(f"{where}: rows: {data['rows']} should be at least 1")
    mark, label, labels = data.get("delimiter", ","), data.get("label", "last"), data.get("labels", {})
    if mark != "whitespace" and (len(mark) != 1 or mark in '\r\n" '):
        raise UserError(f"{where}: delimiter: {show(mark)}; 'whitespace' or one character")
    if label not in ("first", "last", "file") and not (type(label) is int and label > 0):
        raise UserError(f"{where}: label: {show(label)}; first, last, file, or a column number from 1")
    if not classes and labels:
        raise UserError(f"{where}: labels: only classification has classes to map")
    if classes and ({type(sign) for sign in labels.values()} != {int} or set(labels.values()) != {-1, 1}):
        raise UserError(f"{where}: labels: should map the source's labels to -1 and 1")
    made = {key: _affine(f"{where}: {key}", data[key]) for key in ("target", "scale") if key in data}
    made |= {key: tuple(data[key]) for key in ("drop", "times") if key in data}
    if "values" in data:
        made["values"] = {str(word): float(value) for word, value in data["values"].items()}
    made["labels"] = {str(label): sign for label, sign in labels.items()} if classes else None
    return Form(**data | made | {"files": files})


def _affine(where: str, data: Any) -> Affine:
    _check_block(where, data, AFFINE, ())
    keep = data.get("keep", [0, 0])
    if not isinstance(keep, list) or len(keep) != 2:
        raise UserError(f"{where}: keep: {show(keep)} should be two numbers, the least and the largest")
    for value in keep:
        _check(where, value, float)
    if data.get("divide") == 0:
        raise UserError(f"{where}: divide: must not be 0")
    numbers = {key: float(value) for key, value in data.items() if key != "keep"}
    return Affine(**numbers, keep=tuple(keep) if "keep" in data else None)


def _file(where: str, data: Any) -> DataFile:
    data = {"name": data} if isinstance(data, str) else data
    _check_block(f"{where}: files", data, FILE, {"name"})
    if not _plain(data["name"]):
        raise UserError(f"{where}: files: {show(data['name'])} should be a plain file name")
    return DataFile(data["name"], tuple(_link(f"{where}: urls", link) for link in data.get("urls", [])))


def _link(where: str, data: Any) -> Link:
    data = {"url": data} if isinstance(data, str) else data
    _check_block(where, data, LINK, {"url"})
    link = Link(**data)
    try:
        scheme = urlsplit(link.url).scheme
    except ValueError:  # such as http://[
        scheme = ""
    if scheme not in ("http", "https"):
        raise UserError(f"{where}: {show(link.url)} should begin with https:// or http://")
    if link.member is not None and not all(_plain(part) for part in link.member.split("/")):
        raise UserError(f"{where}: member {show(link.member)} leaves the archive")
    return link


def _plain(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")

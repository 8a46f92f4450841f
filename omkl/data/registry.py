"""The data sets that have names: one YAML each in conf/data, read strictly and only when asked for."""

import sys
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

FORMATS = {
    "libsvm": 1,
    "table": 1,
    "sparse_binary": 2,
    "npz": 1,
    "sklearn": 0,
    "stream": 0,
}  # format: files it needs at least
KINDS = {"format": str, "files": list, "labels": dict, "values": dict, "drop": list, "times": list}
KINDS |= {"delimiter": str, "missing": str, "header": bool, "rows": int, "unit": bool}
EMBEDDED = {"sklearn": ("breast_cancer",), "stream": tuple(EVERY)}  # format: what a YAML may name


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
        """Bytes that a file of this form may hold: generous for what the entry declares, no more."""
        sparse = form.format in ("libsvm", "sparse_binary")
        rows = form.rows or self.T * (2 if form.target else 1)  # a form may leave rows out
        cells = self.nnz + self.T if sparse else rows * (self.d + 8)
        return 2**20 + 64 * cells


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
    data = _read_yaml(path)
    keys = set(DataEntry.__dataclass_fields__) - {"name"}
    optional = {"permutations": None, "aliases": [], "notes": []}
    classes = data.get("task") == "classification"
    _check_keys(path, data, keys, keys - set(optional) - (set() if classes else {"positive_share"}))
    kinds = {
        "T": int,
        "d": int,
        "nnz": int,
        "positive_share": float,
        "forms": list,
        "aliases": list,
        "notes": list,
    }
    for key, value in data.items():
        _check_kind(f"{path}: {key}", value, kinds.get(key, str))
    data = optional | data
    if data["task"] not in TASKS:
        raise UserError(
            f"{path}: task: {show(data['task'])}{suggest(data['task'], TASKS)}; one of {', '.join(TASKS)}"
        )
    if len(data["content_hash"]) != 64 or set(data["content_hash"]) - set("0123456789abcdef"):
        raise UserError(f"{path}: content_hash: should be 64 hexadecimal digits")
    if not data["forms"]:
        raise UserError(f"{path}: forms: at least one is needed")
    forms = tuple(_form(path, number, form, classes) for number, form in enumerate(data.pop("forms"), 1))
    aliases, notes = tuple(data.pop("aliases")), tuple(data.pop("notes"))
    return DataEntry(name=path.stem, forms=forms, aliases=aliases, notes=notes, **data)


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    plain_yaml.check(path)
    try:
        data = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: such as 2001-99-99, a date by its form
        raise UserError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}: should hold keys and values")
    return data


def _check_kind(where: str, value: object, kind: type) -> None:
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise UserError(f"{where}: {show(value)} should be of type {kind.__name__}")


def _check_number(where: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        raise UserError(f"{where}: {show(value)} should be a finite number")


def _check_keys(where: str | Path, data: dict, known: set[str], needed: set[str]) -> None:
    for key in data:
        if key not in known:
            raise UserError(f"{where}: unknown key {show(key)}{suggest(key, known)}")
    if missing := sorted(needed - set(data)):
        raise UserError(f"{where}: missing {', '.join(missing)}")


def _form(path: Path, number: int, data: dict, classes: bool) -> Form:
    where = f"{path}: forms[{number}]"
    if not isinstance(data, dict):
        raise UserError(f"{where}: should hold keys and values")
    _check_keys(where, data, set(Form.__dataclass_fields__), {"format", "labels"} if classes else {"format"})
    for key, kind in KINDS.items():
        if key in data:
            _check_kind(f"{where}: {key}", data[key], kind)
    if data["format"] not in FORMATS:
        guess = suggest(data["format"], FORMATS)
        raise UserError(f"{where}: format: {show(data['format'])}{guess}; one of {', '.join(FORMATS)}")
    files = tuple(_file(where, file) for file in data.get("files", []))
    needed = 2 if data.get("label") == "file" else FORMATS[data["format"]]
    if len(files) < needed:
        raise UserError(f"{where}: files: {needed} needed for format {data['format']}")
    embedded = EMBEDDED.get(data["format"])
    if embedded and data.get("dataset") not in embedded:
        raise UserError(f"{where}: dataset: {show(data.get('dataset'))}; one of {', '.join(embedded)}")
    for word, value in data.get("values", {}).items():
        _check_number(f"{where}: values: {show(word)}", value)
    for key in ("drop", "times"):
        for column in data.get(key, []):
            _check_kind(f"{where}: {key}", column, int)
    if data.get("rows", 1) < 1:
        raise UserError(f"{where}: rows: {data['rows']} should be at least 1")
    mark = data.get("delimiter", ",")
    if mark != "whitespace" and (len(mark) != 1 or mark in '\r\n" '):
        raise UserError(f"{where}: delimiter: {show(mark)}; 'whitespace' or one character")
    label = data.get("label", "last")
    if label not in ("first", "last", "file") and not (type(label) is int and label > 0):
        raise UserError(f"{where}: label: {show(label)}; first, last, file, or a column number from 1")
    labels = data.get("labels", {})
    if not classes and labels:
        raise UserError(f"{where}: labels: only classification has classes to map")
    if classes and ({type(sign) for sign in labels.values()} != {int} or set(labels.values()) != {-1, 1}):
        raise UserError(f"{where}: labels: should map the source's labels to -1 and 1")
    own = ("files", "labels", "drop", "times", "values", "target", "scale")
    rest = {key: value for key, value in data.items() if key not in own}
    return Form(
        files=files,
        labels={str(label): sign for label, sign in labels.items()} if classes else None,
        drop=tuple(data.get("drop", ())),
        times=tuple(data.get("times", ())),
        target=_affine(f"{where}: target", data["target"]) if "target" in data else None,
        scale=_affine(f"{where}: scale", data["scale"]) if "scale" in data else None,
        values={str(word): float(value) for word, value in data["values"].items()}
        if "values" in data
        else None,
        **rest,
    )


def _affine(where: str, data: dict) -> Affine:
    _check_kind(where, data, dict)
    _check_keys(where, data, set(Affine.__dataclass_fields__), set())
    numbers = {key: value for key, value in data.items() if key != "keep"}
    keep = data.get("keep", [0, 0])
    if not isinstance(keep, list) or len(keep) != 2:
        raise UserError(f"{where}: keep: {show(keep)} should be two numbers, the least and the largest")
    for value in (*numbers.values(), *keep):
        _check_number(where, value)
    if numbers.get("divide") == 0:
        raise UserError(f"{where}: divide: 0 divides nothing")
    return Affine(**{k: float(v) for k, v in numbers.items()}, keep=tuple(keep) if "keep" in data else None)


def _file(where: str, data: str | dict) -> DataFile:
    data = {"name": data} if isinstance(data, str) else data
    if not isinstance(data, dict):
        raise UserError(f"{where}: files: {show(data)} should be a name, or name and urls")
    _check_keys(f"{where}: files", data, {"name", "urls"}, {"name"})
    if not _plain(data["name"]):
        raise UserError(f"{where}: files: {show(data['name'])} should be a plain file name")
    links = data.get("urls", [])
    _check_kind(f"{where}: urls", links, list)
    return DataFile(data["name"], tuple(_link(where, link) for link in links))


def _link(where: str, data: str | dict) -> Link:
    data = {"url": data} if isinstance(data, str) else data
    _check_kind(f"{where}: urls", data, dict)
    _check_keys(f"{where}: urls", data, {"url", "member"}, {"url"})
    for part in data.values():
        _check_kind(f"{where}: urls", part, str)
    link = Link(**data)
    if not _is_http(link.url):
        raise UserError(f"{where}: urls: {show(link.url)} should begin with https:// or http://")
    if link.member is not None and not all(_plain(part) for part in link.member.split("/")):
        raise UserError(f"{where}: urls: member {show(link.member)} leaves the archive")
    return link


def _is_http(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:  # such as http://[
        return False


def _plain(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")

"""What a conf file may hold: plain YAML, the right keys, each with a value of its type or domain.

A file is plain data before anything builds objects from it. `checked` compares a mapping with the check of
each key, `record` with the types of a dataclass's fields; both name the key that is wrong and what is right.
An alias counts as much as the nodes that it stands for, because nine levels of aliases are a billion items.
Tags are refused because they name types, and Hydra's own directives because they change more than the file.
"""

import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from omkl.errors import UserError, show, suggest

LARGEST = 2**20  # bytes
DEEPEST = 30  # levels of nesting
MOST = 30_000  # keys, values and items, aliases replaced; the largest of ours, results/today/tuned.yaml, has half as many
_PART = re.compile(r"\w+", re.ASCII)
# Numbers for Hydra's YAML, text for PyYAML's: 1e-5, 2.5e3
_EXPONENT = re.compile(r"[-+]?[0-9]+(_[0-9]+)*(\.[0-9_]*)?[eE][-+]?[0-9]+$", re.ASCII)


def check_file(path: Path) -> list[str]:
    """Return the names in the file's defaults list: the shared parts that Hydra reads before it.

    Raises UserError with file and line unless the file is plain, small YAML.
    """
    import yaml

    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
        text.decode("utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text: {error}") from error
    if len(text) > LARGEST:
        raise UserError(f"{path}: larger than {LARGEST:,} bytes")
    if re.search(rb"^\s*#\s*@package", text, re.MULTILINE):
        raise UserError(f"{path}: @package is refused; a conf file cannot move to another place")
    try:
        # PyYAML may have been built without libyaml's parser, which is ten times as fast
        return _check_nodes(path, yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        raise malformed(path, error) from error


def read(path: Path) -> Any:
    """Return the content of a file of plain YAML. Raises UserError with file and line for another."""
    import yaml

    check_file(path)
    try:
        return yaml.load(path.read_bytes(), Loader=loader())  # a safe loader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: such as a number of 5000 digits
        raise malformed(path, error) from error


def load_plain(path: Path) -> dict[str, Any] | None:
    """Return the content of a file that `check` has passed, as Hydra composes it; None leaves it to Hydra.

    Hydra and OmegaConf take half a second to import and to compose what has nothing to compose. So what is
    read here is only a mapping of words to plain values: without a defaults list, keys with a leading ``_``
    and interpolations. Whatever is at fault is left to Hydra, which says so.
    """
    import yaml

    try:
        with open(path, "rb") as file:
            content = yaml.load(file, Loader=loader())  # a safe loader
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return None
    plain = isinstance(content, dict) and content and "defaults" not in content and _is_plain(content)
    return content if plain else None


def _is_plain(value: Any) -> bool:
    """Whether Hydra would leave this value as it is."""
    if isinstance(value, dict):
        return all(type(key) is str and key[:1] != "_" and _is_plain(key) for key in value) and all(
            map(_is_plain, value.values())
        )
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return "${" not in value if isinstance(value, str) else type(value) in (int, float, bool, type(None))


@cache
def loader() -> Any:
    """Return PyYAML's safe loader with OmegaConf's rules: no dates, ``1e5`` is a number, no key twice."""
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                raise yaml.constructor.ConstructorError(None, None, "a key is given twice", node.start_mark)
            return super().construct_mapping(node, deep=deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))
    dates = "tag:yaml.org,2002:timestamp"
    Loader.yaml_implicit_resolvers = {
        sign: [(tag, form) for tag, form in known if tag != dates]
        for sign, known in Loader.yaml_implicit_resolvers.items()
    }
    return Loader


def malformed(path: object, error: Any) -> UserError:
    """Return the error for a file that PyYAML cannot read, with the line where PyYAML gives one."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
    line = f":{mark.line + 1}" if mark else ""
    return UserError(f"{path}{line}: malformed YAML: {' '.join(problem.split())}")


def _check_nodes(path: Path, events: Iterable[Any]) -> list[str]:
    """Check every node; return the values under ``defaults``.

    Raises MarkedYAMLError for an alias of nothing, or of a node that contains it.
    """
    import yaml

    parts: list[str] = []
    depth, count, top, is_key = 0, 0, None, False  # top: the key of the root mapping that a node belongs to
    anchors: dict[str | None, tuple[int, int]] = {}  # of complete nodes: their size and levels
    opened: list[list] = []  # anchor, nodes before it, deepest level in it
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            anchor, before, deepest = opened.pop()
            anchors[anchor] = count - before, deepest - depth
            if opened:
                opened[-1][2] = max(opened[-1][2], deepest)
        if not isinstance(event, yaml.NodeEvent):
            continue
        mark: Any = event.start_mark
        size, levels = 1, 0
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                problem = f"the alias *{event.anchor} has no anchor &{event.anchor} before it"
                raise yaml.MarkedYAMLError(None, None, problem, mark)
            size, levels = anchors[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append([event.anchor, count, depth])
            anchors.pop(event.anchor, None)
        else:
            anchors[event.anchor] = 1, 0
        count += size
        if depth:
            opened[-1][2] = max(opened[-1][2], depth + levels)
        if depth == 1:
            is_key = not is_key
            top = None if is_key else top
        if fault := _fault(event, depth + levels, count, top, depth == 1 and is_key):
            raise UserError(f"{path}:{mark.line + 1}: {fault}")
        if top == "defaults" and isinstance(event, yaml.ScalarEvent):
            parts.append(event.value)
        if depth == 1 and is_key:
            top = getattr(event, "value", None)
        depth += isinstance(event, yaml.CollectionStartEvent)
    return parts


def _fault(event: Any, deepest: int, count: int, top: str | None, is_key: bool) -> str | None:
    """Return what is wrong with a node: deepest and count are those up to it, is_key for a root's key."""
    import yaml

    is_alias = isinstance(event, yaml.AliasEvent)
    tag, value = getattr(event, "tag", None), getattr(event, "value", None)
    if tag:
        return f"the tag {show(tag)} is refused; a conf file is plain data"
    if deepest > DEEPEST:
        return f"nested more than {DEEPEST} levels deep"
    if count > MOST:
        return f"more than {MOST:,} keys, values and items, counting what aliases (*) stand for"
    if is_key and value == "hydra":
        return "'hydra' is refused; a conf file cannot set up Hydra"
    if is_key and (is_alias or value == "<<"):
        return "aliases (*) and merges (<<) are refused as keys of the whole file; write the keys themselves"
    if top == "defaults" and (is_alias or (value is not None and not _PART.fullmatch(value))):
        part = f"the alias *{event.anchor}" if is_alias else show(value)
        return f"defaults: {part} is refused; a shared part is a plain name such as _shared"
    return None


# ------------------------------------------------------------------ keys and values

Check = Callable[[Any], Any]  # returns a value in canonical form, or raises ValueError with what is right


def such(text: str, is_right: Callable[[Any], Any]) -> Check:
    """Return the check that a value is right; text: of the message, "must be TEXT"."""

    def check(value: Any) -> Any:
        if not is_right(value):
            raise ValueError(f"must be {text}, got {show(value)}")
        return value

    return check


def checked(
    content: Any, checks: Mapping[str, Check], where: object, required: Iterable[str] = (), group: str = ""
) -> dict[str, Any]:
    """Return the values of a mapping in a conf file in canonical form, by key.

    where: the file    group: what the mapping is, such as ``about.``
    Raises UserError that names the key where it is unknown, or missing, or its value is not right.
    """
    try:
        return _values(content, checks, required, group)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None


def _values(content: Any, checks: Mapping[str, Check], required: Iterable[str], group: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"{group.rstrip('.: ') or 'it'} must hold keys and values, got {show(content)}")
    for key in content:
        if key not in checks:
            raise ValueError(f"unknown key {show(f'{group}{key}')}{suggest(str(key), checks)}")
    for key in required:
        if key not in content:
            raise ValueError(f"'{group}{key}' is missing")
    values = {}
    for key, check in checks.items():
        if key in content:
            try:
                values[key] = check(content[key])
            except _OfItem as error:
                raise ValueError(f"{group}{key}{error}") from None
            except ValueError as error:
                raise ValueError(f"{group}{key}: {error}") from None
    return values


# ------------------------------------------------------------------ numbers

LARGEST_INT = 2**63 - 1  # what compiled code can hold
_INTERVAL = re.compile(r"(int )?([\[(])(-?[\w.+-]+), ?(-?[\w.+-]+)([\])])")


def canonical(number: float) -> float:
    """Return the float that stands for this number in configurations and keys.

    Decimal arithmetic is inexact (3 * 0.1 is 0.30000000000000004): a float within four units in the last
    place of a decimal of twelve digits is that decimal. Others, such as 2**-0.5, stay as they are. No -0.0.
    """
    short = float(f"{number:.12g}")
    return (short if abs(short - number) <= 4 * math.ulp(number) else number) + 0.0


def interval(body: str) -> Check:
    """Return the check of an interval such as "(0, 1)". Raises ValueError for anything else."""
    match = _INTERVAL.fullmatch(body) if isinstance(body, str) else None
    if not match:
        raise ValueError(f"{body!r} is not a domain such as '(0, 1)', 'int [1, inf)', 'bool' or 'kernel'")
    whole, left, low, high, right = match.groups()
    above, below = operator.ge if left == "[" else operator.gt, operator.le if right == "]" else operator.lt
    least, most = float(low), float(high)
    ends = [f"{'≥' if left == '[' else '>'} {low}", f"{'≤' if right == ']' else '<'} {high}"]
    text = " and ".join(end for end in ends if not end.endswith("inf"))
    text = f"a {'whole ' if whole else ''}number {text}"

    def check(value: Any) -> int | float:
        number = _number(value, text, bool(whole))
        if not (above(number, least) and below(number, most)):
            raise ValueError(f"must be {text}, got {show(value)}")
        return number

    return check


def _number(value: Any, text: str, whole: bool) -> int | float:
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        hint = f" (write {int(value)})" if isinstance(value, float) and value.is_integer() else ""
        raise ValueError(f"must be {text}, got {show(value)}{hint}")
    if isinstance(value, int) and abs(value) > LARGEST_INT:
        raise ValueError(f"must be {text}, got a number that is too large")
    return value if whole else canonical(float(value))


# ------------------------------------------------------------------ keys and values as a dataclass has them


class _OfItem(ValueError):
    """What is wrong with an item of a list; it begins with the item's number, ``[2]: ``."""


def as_dataclass(kind: Any, content: Any, where: object, **more: Any) -> Any:
    """Return the dataclass ``kind`` of a mapping in a conf file; ``more`` holds fields that are not in it.

    Fields are texts, whole numbers, finite numbers, ``tuple`` (a list), ``dict`` (names to values) or such
    dataclasses; of a dataclass with one required field that field alone may be written. Null is refused: None
    is only the default of a field. Raises UserError for a key or value that is not right, and for what the
    dataclass itself refuses.
    """
    try:
        return _record(kind, content, more)
    except (ValueError, UserError) as error:
        raise UserError(f"{where}: {error}") from None


def _record(kind: Any, content: Any, more: Mapping[str, Any]) -> Any:
    own = {field.name: field for field in fields(kind) if field.name not in more}
    required = [n for n, field in own.items() if field.default is field.default_factory is MISSING]
    if isinstance(content, str) and len(required) == 1:
        content = {required[0]: content}
    checks = {name: partial(_of_type, field.type) for name, field in own.items()}
    return kind(**more, **_values(content, checks, required, ""))


def _of_type(kind: Any, value: Any) -> Any:
    kinds = [one for one in get_args(kind) if one is not NoneType] if isinstance(kind, UnionType) else [kind]
    kind, origin, inner = kinds[0], get_origin(kinds[0]), get_args(kinds[0])
    if is_dataclass(kind):
        return _record(kind, value, {})
    if origin is tuple:
        length = None if inner[-1] is ... else len(inner)
        if not isinstance(value, list) or length not in (None, len(value)):
            raise ValueError(f"must be a list{f' of {length}' if length else ''}, got {show(value)}")
        return tuple(_item(inner[0], number, item) for number, item in enumerate(value, 1))
    if origin is dict:
        checks = {} if not isinstance(value, dict) else {key: partial(_of_type, inner[1]) for key in value}
        return {str(key): item for key, item in _values(value, checks, (), "").items()}
    if kind is float and type(value) in (int, float) and abs(value) <= sys.float_info.max:
        return float(value)
    if kind is float or type(value) not in kinds:
        raise ValueError(f"must be {' or '.join(_TYPES[one] for one in kinds)}, got {show(value)}")
    return value


def _item(kind: Any, number: int, value: Any) -> Any:
    try:
        return _of_type(kind, value)
    except _OfItem as error:
        raise _OfItem(f"[{number}]{error}") from None
    except ValueError as error:
        raise _OfItem(f"[{number}]: {error}") from None


_TYPES = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}

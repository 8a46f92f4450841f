"""Checks that a YAML file is plain data, before anything builds objects from it, and reads what is plain.

An alias counts as much as the nodes that it stands for, because nine levels of aliases are a billion items.
Tags are refused because they name types, and Hydra's own directives because they change more than the file.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from omkl.errors import UserError, show

LARGEST = 2**20  # bytes
DEEPEST = 30  # levels of nesting
MOST = 20_000  # keys, values and items, aliases replaced; the largest of ours has 869
_PART = re.compile(r"\w+", re.ASCII)
# Numbers for Hydra's YAML, text for PyYAML's: 1e-5, 2.5e3
_EXPONENT = re.compile(r"[-+]?[0-9]+(_[0-9]+)*(\.[0-9_]*)?[eE][-+]?[0-9]+$", re.ASCII)


def check(path: Path) -> list[str]:
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


def load(path: Path) -> dict[str, Any] | None:
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
                raise yaml.constructor.ConstructorError(None, None, "a key is there twice", node.start_mark)
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

"""Checks that a YAML file is plain data, before anything builds objects from it.

An alias counts as much as what it stands for, because nine levels of aliases are a billion items. Tags are
refused because they name types, Hydra's own directives because they change more than the file.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from omkl.errors import UserError, show

LARGEST = 2**20  # bytes
DEEPEST = 30  # levels of nesting
MOST = 20_000  # keys, values and items, aliases replaced; the largest of ours has 869
_PART = re.compile(r"\w+", re.ASCII)


class _Node(NamedTuple):
    """A node of the file: its event, its deepest level, and the number of nodes up to it.

    An alias has the levels and the nodes of what it stands for.
    """

    event: Any
    deepest: int
    count: int
    top: str | None  # the key of the root mapping whose value the node belongs to
    is_key: bool  # it is itself such a key


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
    parts = []
    try:
        # PyYAML may have been built without libyaml's parser, which is ten times as fast
        for node in _nodes(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
            if fault := _fault(node):
                raise UserError(f"{path}:{node.event.start_mark.line + 1}: {fault}")
            if node.top == "defaults" and isinstance(node.event, yaml.ScalarEvent):
                parts.append(node.event.value)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UserError(f"{path}{line}: malformed YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path}: malformed YAML: {' '.join(str(error).split())}") from error
    return parts


def _nodes(events: Iterable[Any]) -> Iterator[_Node]:
    """Yield every node. Raises MarkedYAMLError for an alias of nothing, or of a node that contains it."""
    import yaml

    depth, count, top, key_next = 0, 0, None, True
    anchors: dict[str, tuple[int, int]] = {}  # of what is complete: nodes, levels below the first
    opened: list[list] = []  # anchor, nodes before it, deepest level in it
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            anchor, before, deepest = opened.pop()
            anchors[anchor] = count - before, deepest - depth
            if opened:
                opened[-1][2] = max(opened[-1][2], deepest)
        elif isinstance(event, yaml.NodeEvent):
            is_key = depth == 1 and key_next
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    problem = f"the alias *{event.anchor} stands for nothing before it"
                    raise yaml.MarkedYAMLError(None, None, problem, event.start_mark)
                size, levels = anchors[event.anchor]
            else:
                size, levels = 1, 0
                if isinstance(event, yaml.CollectionStartEvent):
                    opened.append([event.anchor, count, depth])
                    anchors.pop(event.anchor, None)
                else:
                    anchors[event.anchor] = 1, 0
            count += size
            if depth and opened[-1][2] < depth + levels:
                opened[-1][2] = depth + levels
            yield _Node(event, depth + levels, count, None if is_key else top, is_key)
            if depth == 1:
                top = getattr(event, "value", None) if is_key else top
                key_next = not key_next
            depth += isinstance(event, yaml.CollectionStartEvent)


def _fault(node: _Node) -> str | None:
    import yaml

    event, is_alias = node.event, isinstance(node.event, yaml.AliasEvent)
    tag, value = getattr(event, "tag", None), getattr(event, "value", None)
    if tag:
        return f"the tag {show(tag)} is refused; a conf file is plain data"
    if node.deepest > DEEPEST:
        return f"nested more than {DEEPEST} levels deep"
    if node.count > MOST:
        return f"more than {MOST:,} keys, values and items, counting what aliases (*) stand for"
    if node.is_key and value == "hydra":
        return "'hydra' is refused; a conf file cannot set up Hydra"
    if node.is_key and (is_alias or value == "<<"):
        return "aliases (*) and merges (<<) are refused as keys of the whole file; write the keys themselves"
    if node.top == "defaults" and is_alias:
        return (
            f"defaults: the alias *{event.anchor} is refused; a shared part is a plain name such as _shared"
        )
    if node.top == "defaults" and value is not None and not _PART.fullmatch(value):
        return f"defaults: {show(value)} is refused; a shared part is a plain name such as _shared"
    return None

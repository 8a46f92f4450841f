"""Whether a YAML file is plain data, told before anything builds objects from it.

Anchors are refused because nine levels of aliases are a billion items, tags because they name types, Hydra's
own directives because they reach beyond the file.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from omkl.errors import UserError, show

LARGEST = 2**20  # bytes
DEEPEST = 30  # levels of nesting
_PART = re.compile(r"\w+", re.ASCII)


def check(path: Path) -> list[str]:
    """Return the names in the file's defaults list: the shared parts that Hydra puts before it.

    Raises UserError naming file and line for what is not plain, small YAML.
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
        raise UserError(f"{path}: asks for another @package; a conf file stays in its place")
    parts = []
    try:
        # PyYAML may have been built without libyaml's parser, which is ten times as fast
        for event, depth, top in _nodes(
            yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        ):
            if fault := _fault(event, depth, top):
                raise UserError(f"{path}:{event.start_mark.line + 1}: {fault}")
            if top == "defaults" and isinstance(event, yaml.ScalarEvent):
                parts.append(event.value)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UserError(f"{path}{line}: malformed YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path}: malformed YAML: {' '.join(str(error).split())}") from error
    return parts


def _nodes(events: Iterable[Any]) -> Iterator[tuple[Any, int, str | None]]:
    """Yield every node's event, its depth, and the key of the root mapping whose value it belongs to."""
    import yaml

    depth, top, key_next = 0, None, True
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            is_key = depth == 1 and key_next
            yield event, depth, None if is_key else top
            if depth == 1:
                top = getattr(event, "value", None) if is_key else top
                key_next = not key_next
            depth += isinstance(event, yaml.CollectionStartEvent)


def _fault(event: Any, depth: int, top: str | None) -> str | None:
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor:
        return "anchors (&) and aliases (*) are refused; write the value itself, in quotes if it is text"
    if event.tag:
        return f"the tag {show(event.tag)} is refused; a conf file is plain data"
    if depth > DEEPEST:
        return f"nested more than {DEEPEST} levels deep"
    value = getattr(event, "value", None)
    if depth == 1 and top is None and value == "hydra":
        return "'hydra' is refused; a conf file cannot set up Hydra"
    if top == "defaults" and value is not None and not _PART.fullmatch(value):
        return f"defaults: {show(value)} is refused; a shared part is a plain name such as _shared"
    return None

"""YAML files: read with their places, bounded in size and depth, and written.

In a file a value is what the same text is as a word of a command: ``1e3`` is a number, ``1:50``, ``yes`` and
``012`` are texts.
"""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from omkl.errors import UserError, show

LARGEST = 2**20  # bytes
DEEPEST = 30  # levels of nesting
MOST = 30_000  # keys, values and items, aliases replaced; the winners of a page have two thirds of it
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}  # whatever their case
_TAGS = {type(None): "null", bool: "bool", int: "int", float: "float"}


def scalar(text: str) -> Any:
    """Return what a text without quotes is as a value of a word: nothing, a truth value, a number, a text.

    Numbers are those of Python, without zeros before them: 012 is a text.
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    digits = text[1:] if text[0] in "+-" else text
    is_padded = digits[:1] == "0" and digits[1:].lstrip("_")[:1].isdigit()
    if is_padded or not text.isascii() or text != text.strip() or digits.lower() == "infinity":
        return text
    if digits.isdigit():
        return int(text)  # which refuses thousands of digits
    for number in (int, float):
        with suppress(ValueError):  # another kind of number, or a text
            return number(text)
    return text


@cache
def loader() -> Any:
    """Return PyYAML's safe loader with the scalars of words, and without a key twice."""
    import yaml

    # PyYAML may have been built without libyaml's parser, which is ten times as fast
    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):
        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            if kind is not yaml.ScalarNode or not implicit[0] or value == "<<":
                return super().resolve(kind, value, implicit)
            return f"tag:yaml.org,2002:{_TAGS.get(type(scalar(value)), 'str')}"

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys: set[str] = set()
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                if key.value in keys and key.value != "<<":
                    fault = f"the key {show(key.value)} is given twice"
                    raise yaml.constructor.ConstructorError(None, None, fault, key.start_mark)
                keys.add(key.value)
            return super().construct_mapping(node, deep=deep)

    for kind in _TAGS.values():
        Loader.add_constructor(f"tag:yaml.org,2002:{kind}", lambda _, node: scalar(node.value))
    return Loader


def yaml_text(content: Any, **how: Any) -> str:
    """Return the YAML of plain values, which `read_yaml` reads as they are; how: of PyYAML's dump.

    A text that `read_yaml` or PyYAML would take for something else has quotes, such as 12e4 and no.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            tag = super().resolve(kind, value, implicit)
            is_text = kind is yaml.ScalarNode and implicit[0] and tag.endswith(":str")
            return f"tag:yaml.org,2002:{_TAGS.get(type(scalar(value)), 'str')}" if is_text else tag

        def represent_float(self, data: float) -> Any:
            text = super().represent_float(data)
            text.value = text.value.replace(".inf", "inf").replace(".nan", "nan")
            return text

    Dumper.add_representer(float, Dumper.represent_float)
    return str(yaml.dump(content, Dumper=Dumper, sort_keys=False, **how))


def read_yaml(path: Path) -> Any:
    """Return the content of a file of plain YAML. Raises UserError with file and line for another."""
    return content_of(text_of(path), path)


def text_of(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise UserError(f"{path}: larger than {LARGEST:,} bytes")
        return text.decode()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text: {error}") from error


def content_of(text: str, path: Path) -> Any:
    import yaml

    try:
        content = yaml.load(text, Loader=loader())
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # such as a number of 5000 digits
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
        line = f":{mark.line + 1}" if mark else ""
        raise UserError(f"{path}{line}: malformed YAML: {' '.join(problem.split())}") from error
    _check_size(content, path)
    return content


def _check_size(content: Any, path: Path) -> None:
    """Raise UserError for a content that has grown: nine levels of aliases are a billion items."""
    waiting, count = [(content, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        count += len(items) * isinstance(value, dict)  # the keys
        if depth > DEEPEST or count > MOST:
            what = (
                f"nested more than {DEEPEST} levels deep"
                if depth > DEEPEST
                else f"more than {MOST:,} keys, values and items, counting what aliases (*) stand for"
            )
            raise UserError(f"{path}: {what}")
        waiting += [(part, depth + 1) for part in items]

"""What a conf file may hold: the right keys, each with a value of its type or domain.

`checked` compares a mapping with the check of each key, `as_dataclass` with the types of a dataclass's
fields; both name the key that is wrong and what is right.
"""

import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from omkl.errors import UserError, show, suggest

# ------------------------------------------------------------------ keys and values

Check = Callable[[Any], Any]  # returns a value in canonical form, or raises ValueError with what is right


def such(text: str, is_right: Callable[[Any], Any]) -> Check:
    """Return the check that a value is right; text: of the message, "must be TEXT"."""

    def check(value: Any) -> Any:
        if not is_right(value):
            raise ValueError(f"must be {text}, got {show(value)}")
        return value

    return check


def one_of(choices: Iterable[Any]) -> Check:
    """Return the check that a value is one of these, of its type."""
    choices = list(choices)

    def check(value: Any) -> Any:
        if isinstance(value, bool) and "yes" in choices:  # header=True, as Python says it
            value = "yes" if value else "no"
        for choice in choices:
            if value == choice and isinstance(value, bool) == isinstance(choice, bool):
                return choice
        hint = suggest(value, map(str, choices)) if isinstance(value, str) else ""
        raise ValueError(f"must be one of {', '.join(map(str, choices))}, got {show(value)}{hint}")

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


def as_dataclass(kind: Any, content: Any, where: object, group: str = "", **more: Any) -> Any:
    """Return the dataclass ``kind`` of a mapping in a conf file; ``more`` holds fields that are not in it.

    Fields are texts, whole numbers, finite numbers, ``tuple`` (a list), ``dict`` (names to values),
    ``Literal`` (one of its values), ``Annotated`` with an interval such as "[1, inf)" or with a `Check`, or
    such dataclasses; of a dataclass with one required field that field alone may be written. Null is refused:
    None is only the default of a field. group: what the mapping is, such as ``about.`` Raises UserError for a
    key or value that is not right, and for what the dataclass itself refuses.
    """
    try:
        return _record(kind, content, more, group)
    except (ValueError, UserError) as error:
        raise UserError(f"{where}: {error}") from None


def _record(kind: Any, content: Any, more: Mapping[str, Any], group: str = "") -> Any:
    own = {field.name: field for field in fields(kind) if field.name not in more}
    required = [n for n, field in own.items() if field.default is field.default_factory is MISSING]
    if isinstance(content, str) and len(required) == 1:
        content = {required[0]: content}
    checks = {name: partial(_of_type, field.type) for name, field in own.items()}
    return kind(**more, **_values(content, checks, required, group))


def _of_type(kind: Any, value: Any) -> Any:
    union = get_origin(kind) in (Union, UnionType)
    kinds = [one for one in get_args(kind) if one is not NoneType] if union else [kind]
    if get_origin(kind) is Annotated:
        kind, rule = get_args(kind)
        return (interval(f"int {rule}" if kind is int else rule) if isinstance(rule, str) else rule)(value)
    if get_origin(kind) is Literal:
        return one_of(get_args(kind))(value)
    if len(kinds) == 1 and kinds[0] is not kind:
        return _of_type(kinds[0], value)
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

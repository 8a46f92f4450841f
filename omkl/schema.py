"""What a value may be: one kind of check for words, conf files, headers and saved files.

A check comes from a *domain*, which a conf file writes, or from the type of a dataclass's field:

"(0, 1)"  "[0, inf)"       a number in the interval; a round bracket leaves the end out
"int [1, inf)"             a whole number in it
[max, sum]                 one of these
"bool"  "text"  "names"    true or false, a string, a list of words (a single word is a list of one)
"column"  "columns"        a column's name or number, a list of them
"words"                    a list of words or numbers
"keywords"                 a mapping of keywords to values
"class"                    the name of a class: a word, a number, true or false
"kernel"                   a kernel such as {kind: gaussian, sigma: 1}
"numbers"                  a list of numbers
"rounds"                   rounds of a stream: 5000 (the first ones), 5000: (those after them), 1000:5000,
                           0.5: (those after a share of them)
"test"                     what is held out: a share of the rows such as 0.2, a data set's name, or a file
"budget"                   vectors per kernel, or {match: LEARNER}, the size of another learner
"int [1, inf) or null"     any of the above, or nothing; "int [0, inf) or auto"
"""

import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from omkl.errors import UserError, show, suggest

Text = Annotated[str, "text"]  # a field that may not be empty
Check = Callable[[Any], Any]  # returns a value in canonical form, or raises ValueError with what is right


def wrong(text: str, value: Any, hint: str = "") -> ValueError:
    """Return the error of a value that must be ``text``."""
    return ValueError(f"must be {text}, got {show(value)}{hint}")


def such(
    text: str, is_right: Callable[[Any], Any], form: Callable[[Any], Any] = lambda value: value
) -> Check:
    """Return the check that a value is right; text: of the message    form: makes it canonical."""

    def check(value: Any) -> Any:
        if not is_right(value):
            raise wrong(text, value)
        return form(value)

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
        names = list(map(str, choices))
        raise wrong(
            f"one of {', '.join(names)}", value, suggest(value, names) if isinstance(value, str) else ""
        )

    return check


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


def is_number(value: Any, kinds: Any = int | float) -> bool:
    """Whether a value is a number, and finite; true and false are none."""
    return isinstance(value, kinds) and not isinstance(value, bool) and -math.inf < value < math.inf


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
        if not is_number(value, int if whole else int | float):
            is_whole = isinstance(value, float) and value.is_integer()
            raise wrong(text, value, f" (write {int(value)})" if is_whole else "")
        if isinstance(value, int) and abs(value) > LARGEST_INT:
            raise ValueError(f"must be {text}, got a number that is too large")
        number: int | float = value if whole else canonical(float(value))
        if not (above(number, least) and below(number, most)):
            raise wrong(text, value)
        return number

    return check


# ------------------------------------------------------------------ domains

BUDGET = "a whole number ≥ 1, or {match: LEARNER} for the size that this learner has on the same streams"
_ROUNDS = re.compile(r"(\d{0,18}):(\d{0,18})", re.ASCII)
_SHARE = re.compile(r"(0?\.\d{1,6}):", re.ASCII)


def domain_check(form: Any) -> Check:
    """Return the check of the domain written as in a conf file. Raises ValueError when it cannot be read."""
    if isinstance(form, list) and form and all(isinstance(item, str | int | float) for item in form):
        return one_of(form)
    if not isinstance(form, str):
        raise ValueError(f"{show(form)} is not a domain: an interval, 'int ...', 'bool', 'kernel' or a list")
    return _parsed(form)


@cache
def _parsed(form: str) -> Check:
    body, _, rest = form.partition(" or ")
    if rest not in ("", "null", "auto"):
        raise ValueError(f"{form!r} is not a domain: only 'or null' or 'or auto' may follow")
    check = DOMAINS.get(body.strip()) or interval(body.strip())
    other = None if rest == "null" else rest
    return (lambda value: other if value == other else check(value)) if rest else check


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_word(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _rounds(value: Any) -> str:
    text = f"0:{value}" if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(text, str) and (share := _SHARE.fullmatch(text)) and float(share[1]) > 0:
        return f"{float(share[1])}:"
    match = _ROUNDS.fullmatch(text) if isinstance(text, str) else None
    start, stop = (int(match[1] or 0), int(match[2] or LARGEST_INT)) if match else (0, 0)
    if not match or stop <= start:
        raise wrong("a number of rounds such as 5000, or a part such as 1000:5000 or 0.5:", value)
    return f"{start}:{match[2]}"


def _budget(value: Any) -> int | dict[str, Any]:
    if isinstance(value, dict):
        return such(BUDGET, lambda match: isinstance(match.get("match"), str))(value)
    return interval("int [1, inf)")(value)


_column = such("a name or a number", lambda value: _is_word(value) and not isinstance(value, float), str)

DOMAINS: dict[str, Check] = {  # config/kernel_kinds.py adds "kernel" and "kernels"
    "bool": such("true or false", lambda value: isinstance(value, bool)),
    "text": such("text", lambda value: isinstance(value, str) and value),
    "names": such(
        "a name or a list of names",
        lambda value: value is None or all(isinstance(one, str) and one for one in _listed(value)),
        lambda value: [] if value is None else _listed(value),
    ),
    "column": _column,
    "columns": lambda value: list(map(_column, _listed(value))),
    "words": such(
        "words",
        lambda value: all(map(_is_word, _listed(value))),
        lambda value: [one if isinstance(one, str) else f"{one:g}" for one in _listed(value)],
    ),
    "keywords": such("a mapping of keywords to values", lambda value: isinstance(value, dict), dict),
    "class": such(
        "a class, a word or a number",
        lambda value: isinstance(value, str | bool | int | float) and value != "",
        lambda value: value if isinstance(value, str) else repr(value),
    ),
    "numbers": such(
        "a list of numbers such as [1, 0.5]",
        lambda value: isinstance(value, list) and value and all(map(is_number, value)),
        lambda value: list(map(float, value)),
    ),
    "rounds": _rounds,
    "test": such(
        "a share such as 0.2, a data set or a file",
        lambda value: 0 < value < 1 if isinstance(value, float) else isinstance(value, str) and value,
    ),
    "budget": _budget,
}


# ------------------------------------------------------------------ keys and values


class _OfItem(ValueError):
    """What is wrong with an item of a list; it begins with the item's number, ``[2]: ``."""


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
    return {key: _at(f"{group}{key}", check, content[key]) for key, check in checks.items() if key in content}


def _at(place: str, check: Check, value: Any, error_of: type[ValueError] = ValueError) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise error_of(f"{place}{'' if isinstance(error, _OfItem) else ': '}{error}") from None


def as_dataclass(
    kind: Any,
    content: Any,
    where: object,
    group: str = "",
    checks: Mapping[str, Check] = MappingProxyType({}),
    **more: Any,
) -> Any:
    """Return the dataclass ``kind`` of a mapping in a conf file; ``more`` holds fields that are not in it.

    group: what the mapping is, such as ``about.``    checks: of fields, in place of those of their types.
    Of a dataclass with one required field that field alone may be written. Null is refused: None is only the
    default of a field. Raises UserError for a key or value that is not right, and for what the dataclass
    itself refuses.
    """
    try:
        return _record(kind, content, more, group, checks)
    except (ValueError, UserError) as error:
        raise UserError(f"{where}: {error}") from None


def _record(
    kind: Any,
    content: Any,
    more: Mapping[str, Any] = MappingProxyType({}),
    group: str = "",
    checks: Mapping[str, Check] = MappingProxyType({}),
) -> Any:
    inherited: list[Any] = [field for field in fields(kind) if field.name not in more]
    required = [field.name for field in inherited if field.default is field.default_factory is MISSING]
    if isinstance(content, str) and len(required) == 1:
        content = {required[0]: content}
    checks = {field.name: checks.get(field.name) or type_check(field.type) for field in inherited}
    return kind(**more, **_values(content, checks, required, group))


_TYPES = {str: "text", int: "a whole number", bool: "true or false"}


@cache
def type_check(kind: Any) -> Check:
    """Return the check of a dataclass's field.

    It is a text, a whole number, a finite number, ``tuple`` (a list), ``dict`` (names to values), ``Literal``
    (one of its values), ``Annotated`` with a domain (of ``int`` an interval alone) or a `Check`, or such a
    dataclass.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        kind_of_item, domain = inner
        return (
            domain if callable(domain) else domain_check(f"int {domain}" if kind_of_item is int else domain)
        )
    if origin is Literal:
        return one_of(inner)
    if origin in (Union, UnionType):
        kinds = [one for one in inner if one is not NoneType]
        text = " or ".join(_TYPES.get(one, "") for one in kinds)
        return type_check(kinds[0]) if len(kinds) == 1 else such(text, lambda value: type(value) in kinds)
    if is_dataclass(kind):
        return partial(_record, kind)
    if origin is tuple:
        length = None if inner[-1] is ... else len(inner)
        text, item = f"a list{f' of {length}' if length else ''}", type_check(inner[0])
        return such(
            text,
            lambda value: isinstance(value, list) and length in (None, len(value)),
            lambda value: tuple(
                _at(f"[{n}]", item, kind_of_item, _OfItem) for n, kind_of_item in enumerate(value, 1)
            ),
        )
    if origin is dict:
        item = type_check(inner[1])
        return lambda value: {
            str(key): kind_of_item
            for key, kind_of_item in _values(
                value, dict.fromkeys(value if isinstance(value, dict) else (), item), (), ""
            ).items()
        }
    if kind is float:
        most = sys.float_info.max
        return such("a finite number", lambda v: type(v) in (int, float) and abs(v) <= most, float)
    return such(_TYPES[kind], lambda value: type(value) is kind)

"""What values a hyperparameter or option may take: the domains written in the conf files, and their checks.

"(0, 1)"  "[0, inf)"       a number in the interval; a round bracket leaves the end out
"int [1, inf)"             a whole number in it
[max, sum]                 one of these
"bool"  "text"  "names"    true or false, a string, a list of words (a single word is a list of one)
"int [1, inf) or null"     any of the above, or nothing

Hyperparameters have two more: see hyperparameters.py.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from omkl.errors import show, suggest

_INTERVAL = re.compile(r"(int )?([\[(])(-?[\w.+-]+), ?(-?[\w.+-]+)([\])])")
_LARGEST_INT = 2**63 - 1  # what compiled code can hold


@dataclass(frozen=True)
class Domain:
    """A set of allowed values: ``check(value)`` returns its canonical form or raises ValueError."""

    text: str
    accepts: Callable[[Any], Any]
    nullable: bool = False

    def check(self, value: Any) -> Any:
        """Return the value in its declared type; raises ValueError that says what would be right."""
        if value is None and self.nullable:
            return None
        return self.accepts(value)


Words = Mapping[str, tuple[str, Callable[[Any], Any]]]  # what a word means, and the check of a value


def parse(form: Any, words: Words = MappingProxyType({})) -> Domain:
    """Return the domain written as in a conf file, with these words beside those above.

    Raises ValueError when it cannot be read.
    """
    if isinstance(form, list) and form and all(isinstance(item, str | int | float) for item in form):
        return Domain(f"one of {', '.join(map(show, form))}", lambda value: _choice(value, form))
    if not isinstance(form, str):
        raise ValueError(f"{show(form)} is not a domain: an interval, 'int ...', 'bool', 'kernel' or a list")
    body, _, rest = form.partition(" or ")
    if rest not in ("", "null"):
        raise ValueError(f"{form!r} is not a domain: only 'or null' may follow")
    text, accepts = _simple(body.strip(), words)
    return Domain(text + (" or null" if rest else ""), accepts, nullable=bool(rest))


def _simple(body: str, words: Words) -> tuple[str, Callable[[Any], Any]]:
    words = {
        "bool": ("true or false", _bool),
        "text": ("text", _text),
        "names": ("a list of names", _names),
        **words,
    }
    if body in words:
        return words[body]
    match = _INTERVAL.fullmatch(body)
    if not match:
        raise ValueError(f"{body!r} is not a domain such as '(0, 1)', 'int [1, inf)', 'bool' or 'kernel'")
    whole, left, low, high, right = match.groups()
    ends = (float(low), float(high))
    text = f"a {'whole ' if whole else ''}number {_interval(left, low, high, right)}"

    def accepts(value: Any) -> int | float:
        number = _int(value, text) if whole else _float(value, text)
        above = number > ends[0] or (left == "[" and number == ends[0])
        below = number < ends[1] or (right == "]" and number == ends[1])
        if not (above and below):
            raise ValueError(f"must be {text}, got {show(value)}")
        return number

    return text, accepts


def _interval(left: str, low: str, high: str, right: str) -> str:
    """Return an interval in words: ``> 0``, ``≥ 1 and ≤ 30``."""
    ends = [f"{'≥' if left == '[' else '>'} {low}", f"{'≤' if right == ']' else '<'} {high}"]
    return " and ".join(end for end in ends if not end.endswith("inf"))


def canonical(number: float) -> float:
    """Return the float that stands for this number in configurations and keys.

    Arithmetic on decimals leaves dust (3 * 0.1 is 0.30000000000000004): a float within four units in the last
    place of a decimal of twelve digits is that decimal. Others, such as 2**-0.5, stay as they are. No -0.0.
    """
    short = float(f"{number:.12g}")
    return (short if abs(short - number) <= 4 * math.ulp(number) else number) + 0.0


def _float(value: Any, text: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be {text}, got {show(value)}")
    if isinstance(value, int) and abs(value) > _LARGEST_INT:
        raise ValueError(f"must be {text}, is too large")
    if not math.isfinite(value):
        raise ValueError(f"must be {text}, got {show(value)}")
    return canonical(float(value))


def _int(value: Any, text: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        hint = f" (write {int(value)})" if isinstance(value, float) and value.is_integer() else ""
        raise ValueError(f"must be {text}, got {show(value)}{hint}")
    if abs(value) > _LARGEST_INT:
        raise ValueError(f"must be {text}, is too large")
    return value


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, got {show(value)}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be text, got {show(value)}")
    return value


def _names(value: Any) -> list[str]:
    names = value if isinstance(value, list) else [] if value is None else [value]
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"must be a name or a list of names, got {show(value)}")
    return names


def _choice(value: Any, choices: list) -> Any:
    for choice in choices:
        if value == choice and isinstance(value, bool) == isinstance(choice, bool):
            return choice
    hint = suggest(value, map(str, choices)) if isinstance(value, str) else ""
    raise ValueError(f"must be one of {', '.join(map(str, choices))}, got {show(value)}{hint}")

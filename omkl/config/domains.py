"""What values a hyperparameter or option may take: the domains written in the conf files, and their checks.

"(0, 1)"  "[0, inf)"       a number in the interval; a round bracket leaves the end out
"int [1, inf)"             a whole number in it
[max, sum]                 one of these
"bool"  "text"  "names"    true or false, a string, a list of words (a single word is a list of one)
"column"  "columns"        a column's name or number, a list of them
"words"                    a list of words or numbers
"separator"                a character, or its name such as tab or comma
"class"                    the name of a class: a word, a number, true or false
"kernel"                   a kernel such as {kind: gaussian, sigma: 1}
"numbers"                  a list of numbers
"rounds"                   rounds of a stream: 5000 (the first ones), 5000: (those after them), 1000:5000
"test"                     what is held out: a share of the rows such as 0.2, a data set's name, or a file
"budget"                   vectors per kernel, or {match: LEARNER}, the size of another learner
"int [1, inf) or null"     any of the above, or nothing; "separator or auto"
"""

import math
import re
from functools import cache
from typing import Any

from omkl.errors import UserError, counted, show, suggest
from omkl.schema import LARGEST_INT, Check, interval, one_of, such

SEPARATORS = {  # by their names, which need no quotes in a shell
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "space": " ",
    "pipe": "|",
    "point": ".",
    "apostrophe": "'",
}

BUDGET = "a whole number ≥ 1, or {match: LEARNER} for the size that this learner has on the same streams"
_ROUNDS = re.compile(r"(\d{0,18}):(\d{0,18})", re.ASCII)


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
    check = WORDS.get(body.strip()) or interval(body.strip())
    other = None if rest == "null" else rest
    return (lambda value: other if value == other else check(value)) if rest else check


def _names(value: Any) -> list[str]:
    names = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"must be a name or a list of names, got {show(value)}")
    return names


def _column(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"must be a name or a number, got {show(value)}")
    return str(value)


def _word_list(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if any(
        isinstance(item, bool) or not isinstance(item, str | int | float) or item == "" for item in values
    ):
        raise ValueError(f"must be words, got {show(value)}")
    return [item if isinstance(item, str) else f"{item:g}" for item in values]


def _separator(value: Any) -> str:
    text = value[1:-1] if isinstance(value, str) and re.fullmatch(r"""(["']).\1""", value) else value
    if not isinstance(text, str) or len(SEPARATORS.get(text, text)) != 1:
        known = ", ".join(SEPARATORS)
        near = suggest(text, SEPARATORS) if isinstance(text, str) else ""
        raise ValueError(f"must be one character or its name ({known}), got {show(value)}{near}")
    return SEPARATORS.get(text, text)


def _class(value: Any) -> str:
    if not isinstance(value, str | bool | int | float) or value == "":
        raise ValueError(f"must be a class, a word or a number, got {show(value)}")
    return value if isinstance(value, str) else repr(value)


def _rounds(value: Any) -> str:
    text = f"0:{value}" if isinstance(value, int) and not isinstance(value, bool) else value
    match = _ROUNDS.fullmatch(text) if isinstance(text, str) else None
    start, stop = (int(match[1] or 0), int(match[2] or LARGEST_INT)) if match else (0, 0)
    if not match or stop <= start:
        raise ValueError(
            f"must be a number of rounds such as 5000, or a part such as 1000:5000, got {show(value)}"
        )
    return f"{start}:{match[2]}"


def _held_out(value: Any) -> float | str:
    if isinstance(value, float) and 0 < value < 1:
        return value
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be a share such as 0.2, a data set or a file, got {show(value)}")
    return value


def rounds_of(rounds: str | None, T: int, data: str) -> tuple[int, int] | None:
    """Return the first round and the one after the last that ``rounds`` selects of T; None for all of them.

    data: the name of the data set. Raises UserError where it has none of these rounds.
    """
    if rounds is None:
        return None
    start, _, stop = rounds.partition(":")
    chosen = int(start), min(int(stop or T), T)
    if chosen[0] >= T:
        raise UserError(
            f"rounds={rounds}: data={data} has {counted(T, 'example')}; choose rounds within these"
        )
    return chosen if chosen != (0, T) else None


def _budget(value: Any) -> int | dict[str, Any]:
    if not isinstance(value, dict):
        try:
            return interval("int [1, inf)")(value)
        except ValueError as error:
            raise ValueError(f"{error}; or write {{match:bomkc_spa}}") from None
    if not isinstance(value.get("match"), str):
        raise ValueError(f"must be {BUDGET}, got {show(value)}")
    return value


# ------------------------------------------------------------------ the words


def _numbers(value: Any) -> list[float]:
    fits = isinstance(value, list) and value
    if not fits or not all(
        isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in value
    ):
        raise ValueError(f"must be a list of numbers such as [1, 0.5], got {show(value)}")
    return [float(one) for one in value]


# kernel_kinds.py, whose files have domains themselves, adds "kernel" and "kernels"
WORDS: dict[str, Check] = {
    "bool": such("true or false", lambda value: isinstance(value, bool)),
    "text": such("text", lambda value: isinstance(value, str) and value),
    "names": _names,
    "column": _column,
    "columns": lambda value: [_column(name) for name in (value if isinstance(value, list) else [value])],
    "words": _word_list,
    "separator": _separator,
    "class": _class,
    "numbers": _numbers,
    "rounds": _rounds,
    "test": _held_out,
    "budget": _budget,
}

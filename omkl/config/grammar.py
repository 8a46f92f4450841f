"""The words of the command line: KEY=VALUE, with Hydra's override grammar for values and lists of values."""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from omkl.config.compose import one_line, options, shown
from omkl.errors import UserError

MOST_VALUES = 100_000
_KEY = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)


@dataclass(frozen=True)
class Pattern:
    """``glob(omkc_*)``: the names that match."""

    glob: Any  # hydra's Glob

    def names(self, known: list[str]) -> list[str]:
        """Return the matching ones of the known names."""
        return self.glob.filter(known)


@dataclass(frozen=True)
class Override:
    """One KEY=VALUE word: its key, its values as plain data (several when it is a list), its text to show."""

    key: str
    values: tuple[Any, ...]
    text: str


def parse(words: list[str]) -> dict[str, Override]:
    """Return the overrides by key, in the order given.

    ``a=1,2``, ``a=choice(1,2)`` and ``a=range(0.1,1,0.1)`` are lists of values; a range leaves its end out
    and is computed in decimal. Raises UserError for a word that is not KEY=VALUE, cannot be read, asks for
    code or an interpolation, or repeats a key.
    """
    overrides: dict[str, Override] = {}
    for word in words:
        override = _parse_word(word)
        if override.key in overrides:
            hint = " (quote values with braces, the shell expands them)" if ":" in override.text else ""
            raise UserError(f"{override.text}: '{override.key}' is given twice{hint}")
        overrides[override.key] = override
    return overrides


def of_values(values: Mapping[str, Any]) -> dict[str, Override]:
    """Return the overrides that YAML gives as plain values by key; a list holds several values.

    A text may be a pattern of names, ``glob(omkc_*)``.
    """
    overrides = {}
    for key, value in values.items():
        items: list[Any] = []
        for item in value if isinstance(value, (list, tuple)) else [value]:
            pattern = isinstance(item, str) and item.startswith("glob(")
            items += _values(key, item, word(key, item)) if pattern else [item]
        overrides[key] = Override(key, tuple(items), word(key, value))
    return overrides


def word(key: str, value: Any) -> str:
    """Return the KEY=VALUE word of a plain value: lists bare (``a,b``), mappings in braces."""
    return f"{key}={_typed(value)}"


def _typed(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_typed, value)) if value else "[]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_typed(part)}" for key, part in value.items()) + "}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _parse_word(word: str) -> Override:
    key, equals, text = word.partition("=")
    if not equals:
        raise UserError(f"{shown(word)}: settings are KEY=VALUE words{_guess(word)}")
    if key[:1] in ("+", "~"):
        raise UserError(f"{shown(word)}: keys are set, never added or removed; write KEY=VALUE")
    if "${" in word or "_target_" in word:
        raise UserError(f"{shown(word)}: interpolations and _target_ are refused; write the value itself")
    if not _KEY.fullmatch(key):
        raise UserError(f"{shown(word)}: the key must be words such as data or algo.beta")
    if not text.strip():
        raise UserError(f"{shown(word)}: the value is missing")
    if key == "store" or (key == "data" and os.path.isfile(os.path.expanduser(text))):
        return Override(key, (text,), shown(word))
    return Override(key, _values(key, text, word), shown(word))


def _guess(word: str) -> str:
    """Return the setting that a bare word may have been meant as."""
    for group in ("algo", "data", "pool"):
        if near := get_close_matches(word, options(group), n=1, cutoff=0.8):
            return f" (did you mean '{group}={near[0]}'?)"
    return ", such as data=wdbc or algo.beta=0.9"


def _values(key: str, text: str, word: str) -> tuple[Any, ...]:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import ChoiceSweep, Glob, RangeSweep, Sweep
    from hydra.errors import HydraException

    try:
        value = OverridesParser.create().parse_override(f"{key}={text}")._value
    except (HydraException, ValueError, RecursionError) as error:
        if key == "data":  # a path with characters that the grammar keeps for itself
            return tuple(part for part in text.split(",") if part)
        reason = "nested too deeply" if isinstance(error, RecursionError) else shown(one_line(error))
        raise UserError(
            f"{shown(word)}: cannot be read ({reason}); quote text with special characters"
        ) from None
    if isinstance(value, Glob):
        return (Pattern(value),)
    if isinstance(value, RangeSweep):
        return _range(value, word)
    if isinstance(value, ChoiceSweep):
        if len(value.list) > MOST_VALUES:
            raise UserError(f"{shown(word)}: {len(value.list)} values; at most {MOST_VALUES}")
        return tuple(_plain(item, word) for item in value.list)
    if isinstance(value, Sweep):
        raise UserError(
            f"{shown(word)}: an interval has no end of values; write range(start,stop,step) or a list"
        )
    return (_plain(value, word),)


def _range(sweep: Any, word: str) -> tuple[Any, ...]:
    """Return the values of a range in exact decimal arithmetic: 0.1, 0.2, 0.3, not 0.30000000000000004."""
    ends = (sweep.start, sweep.stop, sweep.step)
    if not all(math.isfinite(end) for end in ends):
        raise UserError(f"{shown(word)}: the range must be finite")
    start, stop, step = (Decimal(repr(end)) for end in ends)
    count = math.ceil((stop - start) / step) if step else 0
    if not 0 < count <= MOST_VALUES:
        raise UserError(f"{shown(word)}: a range must have from 1 to {MOST_VALUES} values")
    number = int if all(isinstance(end, int) for end in ends) else float
    return tuple(number(start + i * step) for i in range(count))


def _plain(value: Any, word: str) -> Any:
    """Return a parsed element without Hydra's types."""
    from hydra.core.override_parser.types import Glob, QuotedString, Sweep

    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, Sweep | Glob):
        raise UserError(f"{shown(word)}: a list of values cannot hold another one")
    if isinstance(value, list):
        return [_plain(item, word) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key, word)): _plain(item, word) for key, item in value.items()}
    return value

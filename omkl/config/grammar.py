"""The words of the command line: KEY=VALUE, with Hydra's override grammar for values and lists of values.

`parse` reads words alone; a `Request` is the words of a command over the values of conf/config.yaml.
"""

import fnmatch
import math
import os
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from omkl.config import compose, domains
from omkl.config.kernel_kinds import kernel_of_text
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import (
    groups,
    hyperparameters,
    learner_names,
    learner_of,
    learner_specs,
    members,
)
from omkl.config.own_settings import RESERVED, LearnerChoice, choice, read_settings
from omkl.config.parameters import parameters
from omkl.config.settings_text import word_text
from omkl.errors import UserError, shown, suggest
from omkl.schema import Check

MOST_VALUES = 100_000
SYNONYMS = {
    ("target", "y", "class"): "label",
    ("learner", "algorithm", "model"): "algo",
    ("dataset", "file"): "data",
    ("kernels",): "pool",
    ("sep", "separator"): "delimiter",
    ("na_values", "missing_values"): "na",
    ("zero_based",): "index_base",
}
LISTS = ("algo", "data", "pool", "yardsticks", "drop", "id", "na")  # keys that take a list in every command
LITERAL = ("delimiter", "thousands", "decimal")  # keys whose value may be a character of the grammar
_KEY = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?")
_AS_WRITTEN = re.compile(r"[-+]?[\d._]+(e[-+]?\d+)?|true|false", re.IGNORECASE)  # 2.10 is not 2.1 as a class
_WITH_SETTINGS = re.compile(r"(\w+)\((\s*\w+\s*=.*)\)", re.ASCII)  # omkc_dd(beta=0.9, label=slow)
_NAME = re.compile(r"(?!(null|true|false|inf|nan)\Z)[^\W\d_]\w*( \w+)*", re.IGNORECASE)


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

    def checked(self, check: Check, hint: str = "") -> list[Any]:
        """Return the distinct values in canonical form; raises UserError that shows the word."""
        values: list[Any] = []
        for value in self.values:
            if isinstance(value, Pattern):
                raise UserError(f"{self.text}: glob(...) is for names of learners, data sets and pools")
            try:
                value = check(value)
            except ValueError as error:
                raise UserError(f"{self.text}: {error}{hint}") from None
            if value not in values:
                values.append(value)
        return values

    def is_pattern(self, value: Any) -> bool:
        """Whether a value stands for several names: a pattern, or a group of learners such as ``all``."""
        if isinstance(value, str) and self.key in LISTS[:3]:
            is_file = self.key == "data" and os.path.exists(os.path.expanduser(value))
            return (not is_file and bool({"*", "?"} & set(value))) or bool(self._group(value))
        return isinstance(value, Pattern)

    def _group(self, value: Any) -> list[str]:
        return members(value) if self.key == "algo" and isinstance(value, str) else []

    def names(self, known: list[str]) -> list[str]:
        """Return the names that the word gives, each once: ``a,b``, ``[a,b]``, ``a*``, a group."""
        names: dict[str, None] = {}
        for value in self.values:
            if self.is_pattern(value):
                if isinstance(value, Pattern):
                    more = value.names(known)
                else:
                    more = self._group(value) or fnmatch.filter(known, value)
                if not more:
                    raise UserError(f"{self.text}: no name matches; known names are {', '.join(known)}")
            elif isinstance(value, LearnerChoice):
                more = [value.learner]
            else:
                (more,) = Override(self.key, (value,), self.text).checked(domains.domain_check("names"))
            names |= dict.fromkeys(more)
        return list(names)


def _parts_of_all() -> set[str]:
    return {name for spec in learner_specs().values() for name in spec.hyperparameters}


def parse_words(words: list[str]) -> dict[str, Override]:
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

    A text may be a pattern of names, ``glob(omkc_*)``. The kernels of a pool are a list themselves: several
    pools are a list of lists.
    """
    overrides = {}
    for key, value in values.items():
        items: list[Any] = []
        several = isinstance(value, (list, tuple))
        if key == "pool.kernels" and several and not all(isinstance(item, (list, tuple)) for item in value):
            several = False
        for item in value if several else [value]:
            is_text = isinstance(item, str) and (key == "algo" or item.startswith("glob("))
            items += _values(key, item, word_text(key, item)) if is_text else [item]
        overrides[key] = Override(key, tuple(items), word_text(key, value))
    return overrides


def _parse_word(word: str) -> Override:
    key, equals, text = word.partition("=")
    if key in LISTS and text.endswith(","):
        raise UserError(f"{shown(word)}: ends with a comma; write a list without spaces, as in {key}=a,b")
    if word == "=":
        raise UserError(f"{shown(word)}: write no spaces around the sign, as in algo=omkc_ss")
    if not equals:
        near = {group: get_close_matches(word, compose.options(group), 1, 0.8) for group in LISTS[:3]}
        meant = next((f" (did you mean '{group}={names[0]}'?)" for group, names in near.items() if names), "")
        hint = meant or ", such as data=wdbc or algo.beta=0.9"
        raise UserError(f"{shown(word)}: settings are KEY=VALUE words{hint}")
    if key[:1] in ("+", "~"):
        raise UserError(f"{shown(word)}: keys are set, never added or removed; write KEY=VALUE")
    if "${" in word or "_target_" in word:
        raise UserError(f"{shown(word)}: interpolations and _target_ are refused; write the value itself")
    if not _KEY.fullmatch(key):
        raise UserError(f"{shown(word)}: the key must be words such as data or algo.beta")
    if not text.strip():
        raise UserError(f"{shown(word)}: the value is missing; write {key}=VALUE without spaces")
    if key in ("store", "settings") or (key == "data" and os.path.isfile(os.path.expanduser(text))):
        return Override(key, (text,), shown(word))
    if key in LITERAL:
        return Override(key, (None if text == "null" else text,), shown(word))
    if key == "na":  # words such as #N/A
        return Override(key, ([],) if text == "[]" else tuple(text.strip("[]").split(",")), shown(word))
    return Override(key, _values(key, text, word), shown(word))


def _simple(text: str) -> Any:
    """Return a name or a number as Hydra's grammar (0.2 s to import) reads it, None for other text.

    And names with letters beyond ASCII, which that grammar refuses, also with single spaces in them.
    """
    if number := _NUMBER.fullmatch(text):
        return float(text) if number[2] else int(text)
    return text if _NAME.fullmatch(text) else None


def _values(key: str, text: str, word: str) -> tuple[Any, ...]:
    if key == "positive" and _AS_WRITTEN.fullmatch(text):
        return (text,)
    simple = tuple(map(_simple, text.split(",")))
    if None not in simple and len(simple) <= MOST_VALUES:
        return simple
    if key == "algo" and any(map(_WITH_SETTINGS.fullmatch, parts := _split(text))):
        return tuple(own for part in parts for own in _learners(part, word))
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import ChoiceSweep, Glob, RangeSweep, Sweep
    from hydra.errors import HydraException

    def refused(reason: str) -> UserError:
        return UserError(f"{shown(word)}: {reason}")

    try:
        value = OverridesParser.create().parse_override(f"{key}={text}")._value
    except (HydraException, ValueError, RecursionError) as error:
        if key == "data":  # a path with characters that the grammar keeps for itself
            return tuple(part for part in text.split(",") if part)
        if key == "algo" and re.fullmatch(r"[\w(),*? -]+", text):  # labels as tables print them: OMKC(D,D)
            return tuple(re.findall(r"[^,(]+(?:\([^)]*\))?", text))
        kernels = re.findall(r"[^,(]+(?:\([^)]*\))?", text)  # gaussian(sigma=8), as tables print it
        if key.startswith("algo.") and kernels and all(map(kernel_of_text, kernels)):
            return tuple(kernels)
        reason = "nested too deeply" if isinstance(error, RecursionError) else shown(compose.one_line(error))
        escaped = text.replace("\\", "\\\\").replace('"', r"\"").split(",")
        quoted = ",".join(f'"{part}"' if _simple(part) is None else part for part in escaped)
        cure = f"quote a text with special characters: {shown(shlex.quote(f'{key}={quoted}'))}"
        if any(text.count(left) > text.count(right) for left, right in ("()", "[]", "{}")):
            reason, cure = "a bracket is not closed", "close it"
        raise refused(f"cannot be read ({reason}); {cure}") from None
    if isinstance(value, Glob):
        return (Pattern(value),)
    if isinstance(value, RangeSweep):  # in exact decimal arithmetic: 0.1, 0.2, 0.3, not 0.30000000000000004
        ends: tuple[Any, ...] = (value.start, value.stop, value.step)
        if not all(math.isfinite(end) for end in ends):
            raise refused("the range must be finite")
        start, stop, step = (Decimal(repr(end)) for end in ends)
        count = math.ceil((stop - start) / step) if step else 0
        if not 0 < count <= MOST_VALUES:
            many = f"a range must have at most {MOST_VALUES} values"
            raise refused(many if count > 0 else "the range is empty: its step leads away from its end")
        number = int if all(isinstance(end, int) for end in ends) else float
        return tuple(number(start + i * step) for i in range(count))
    if isinstance(value, ChoiceSweep):
        if len(value.list) > MOST_VALUES:
            raise refused(f"{len(value.list)} values; at most {MOST_VALUES} are possible")
        return tuple(_plain(item, word) for item in value.list)
    if isinstance(value, Sweep):
        raise refused("an interval has infinitely many values; write range(start,stop,step) or a list")
    return (_plain(value, word),)


def _split(text: str) -> list[str]:
    """Return the parts between the commas that stand in no brackets."""
    depth, commas = 0, [-1]
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        commas += [at] if sign == "," and depth == 0 else []
    parts = (text[start + 1 : stop].strip() for start, stop in pairwise([*commas, len(text)]))
    return list(filter(None, parts))


def _learners(text: str, word: str) -> tuple[Any, ...]:
    """Return the learners of a part of ``algo=``, where it is one with settings of its own: that one."""
    match = _WITH_SETTINGS.fullmatch(text)
    if not match:
        return _values("algo", text, word)
    given: dict[str, Any] = {}
    for part in _split(match[2]):
        name, equals, value = map(str.strip, part.partition("="))
        if not (equals and name and value) or name in given:
            form = "NAME(KEY=VALUE,...), each key once"
            raise UserError(f"{shown(word)}: write the settings of a learner as {form}")
        if name in RESERVED:
            given[name] = value
            continue
        values = _values(f"algo.{name}", value, word)
        if len(values) != 1:
            raise UserError(f"{shown(word)}: {name} takes one value here, got {len(values)}")
        given[name] = values[0]
    more = {name: given.pop(name) for name in RESERVED if name in given}
    more |= {"data": [more["data"]]} if "data" in more else {}
    try:
        return (choice(match[1], given, **more),)
    except UserError as error:
        raise UserError(f"{shown(word)}: {error}") from None


def _plain(value: Any, word: str) -> Any:
    """Return a parsed element without Hydra's types."""
    from hydra.core.override_parser.types import Glob, QuotedString, Sweep

    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, Sweep | Glob):
        raise UserError(f"{shown(word)}: a list of values cannot hold another list")
    if isinstance(value, list):
        return [_plain(item, word) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key, word)): _plain(item, word) for key, item in value.items()}
    return value


def _in_one(override: Override) -> str:
    """Return how one types a name with commas, for settings that take one name."""
    from omkl.data.preparation import column_word

    text = override.text.partition("=")[2]
    if override.key not in ("label", "positive") or '"' in text:
        return ""
    return f"; a name with commas is typed in quotes: {column_word(override.key, text)}"


class Request:
    """The words of a command over conf/config.yaml; every key is one that a configuration can have.

    Raises UserError for an unknown key, and for a list of values where one is taken: hyperparameters and
    parts of the pool take lists in a sweep only. others: further keys of the command, to suggest
    """

    def __init__(
        self,
        words: list[str],
        sweep: bool,
        values: Mapping[str, Any] | None = None,
        others: Iterable[str] = (),
    ) -> None:
        self.others = list(others)
        self.known = parameters(compose.read_config("", ["config"])["config"], compose.file("", "config"))
        self.given = of_values(values or {}) | parse_words(words)
        self.file = None
        if "settings" in self.given and (path := self.value("settings")) is not None:
            self.file = read_settings(path, self.known)
            beside = {"algo": self.file.choices, **({"data": self.file.data} if self.file.data else {})}
            self.given = of_values({**beside, **self.file.words}) | self.given
        for key, override in self.given.items():
            self._check_key(key, override)
            count = len(override.values)
            if count > 1 and key not in LISTS:
                if not key.startswith(("algo.", "pool.")):
                    raise UserError(f"{override.text}: {key} takes one value, got {count}{_in_one(override)}")
                if not sweep:
                    raise UserError(f"{override.text}: {key} has {count} values; `omkl sweep` runs a grid")

    def _check_key(self, key: str, override: Override) -> None:
        group, _, part = key.partition(".")
        if key in self.known or (part and group in ("algo", "exec")) or (group == "pool" and part in PARTS):
            return  # the parts of algo and exec are checked with the learners and the executor chosen
        known = [*self.known, *(f"pool.{name}" for name in PARTS)]
        everything = [*known, *self.others, *hyperparameters(learner_specs().values())]
        meant = [full for full in everything if full.endswith(f".{key}")] or [
            own for words, own in SYNONYMS.items() if key in words
        ]
        near = f" (did you mean '{meant[0]}'?)" if meant else suggest(key, everything)
        raise UserError(f"{override.text}: unknown key '{key}'{near or '; keys are ' + ', '.join(known)}")

    def parts(self, group: str) -> dict[str, Override]:
        """Return the words about the parts of a group (``algo.beta``), by the part's name."""
        prefix = f"{group}."
        return {key.removeprefix(prefix): o for key, o in self.given.items() if key.startswith(prefix)}

    def parts_of_learners(self, chosen: Iterable[str]) -> dict[tuple[str, str], Override]:
        """Return the words about one learner (``algo.alma.C``), by learner and hyperparameter.

        chosen: the learners that are meant. Raises UserError for another one.
        """
        made: dict[tuple[str, str], Override] = {}
        for part, override in self.parts("algo").items():
            name, dot, hyperparameter = part.partition(".")
            learner = learner_of(name)
            if not dot or (learner not in learner_names() and name in _parts_of_all()):
                continue  # a plain key, or a part of a kernel, which `settings` refuses
            if learner not in learner_names():
                hint = suggest(name, learner_names(), most=3) or "; `omkl list algos` shows them"
                raise UserError(f"{override.text}: unknown learner '{name}'{hint}")
            if learner not in chosen:
                names = ",".join(chosen)
                raise UserError(f"{override.text}: {learner} is not among the learners (algo={names})")
            made[learner, hyperparameter] = override
        return made

    def choices(self, data: Mapping[str, str]) -> list[LearnerChoice]:
        """Return the learners with their own settings, in order; data: the data sets' words by name.

        A learner that is named without settings has those of the settings file, where that has some.
        """
        own = self.given.get("algo")
        values = own.values if own else tuple(self.known["algo"].value)
        made: list[LearnerChoice] = []
        for value in values:
            if isinstance(value, LearnerChoice):
                made.append(value)
                continue
            override = Override("algo", (value,), own.text if own else f"algo={value}")
            for learner in map(learner_of, override.names(learner_names())):
                known = [one for one in self.file.choices if one.learner == learner] if self.file else []
                made += known
                left = [name for name, word in data.items() if not any(one.fits(name, word) for one in known)]
                if left:
                    made.append(LearnerChoice(learner, data=tuple(left) if known else ()))
                if left and self.file:
                    warnings.warn(
                        f"settings={self.file.path} has no settings of {learner} on {', '.join(left)}: "
                        "it runs there without settings of its own",
                        stacklevel=2,
                    )
        return made

    def value(self, key: str) -> Any:
        """Return the checked value of a key of config.yaml that takes one, or a list as a whole."""
        own = self.known[key]
        if key in LISTS and key in self.given:
            values = [
                v for value in self.given[key].values for v in (value if isinstance(value, list) else [value])
            ]
            return Override(key, (values,), self.given[key].text).checked(own.check)[0]
        return self.given[key].checked(own.check)[0] if key in self.given else own.value

    def has_pattern(self) -> bool:
        """Whether some learners are given by a pattern such as ``omkc_*``, or by a group."""
        given = self.given.get("algo")
        return given is not None and any(map(given.is_pattern, given.values))

    def named_learners(self) -> list[str]:
        """Return the learners that are not given by a pattern or a group."""
        own = self.given["algo"]
        plain = tuple(value for value in own.values if not own.is_pattern(value))
        return [learner_of(name) for name in Override("algo", plain, own.text).names([])]

    def names(self, key: str, known: list[str]) -> list[str]:
        """Return the names that a key has, each once; known: those that a pattern can match."""
        names = self.given[key].names(known) if key in self.given else list(self.known[key].value)
        if key == "algo":
            names = list(dict.fromkeys(learner_of(name) for name in names))
            for name in set(names) - set(learner_names()):
                near = "" if suggest(name, learner_names()) else suggest(name, groups())
                if near:
                    raise UserError(f"{shown(f'algo={name}')}: unknown learner or group{near}")
        if not names and key != "yardsticks":
            raise UserError(f"{self.given[key].text}: at least one name is needed")
        return names

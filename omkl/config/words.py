"""What is said in words: a learner with settings of its own, and the KEY=VALUE words of a command.

A `Setting` is said as ``omkc_dd(beta=0.9, label=slow)``, on the command line and as a line of a settings
file; `omkl.learner` gives the same object, and a plan completes it. Values and lists of values are those of
Hydra's override grammar.
"""

import fnmatch
import math
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config import hydra_words
from omkl.config.kernel_kinds import is_unnamed, kernel_pool, kinds, pool_of
from omkl.config.learners import LearnerSpec, learner_of, learner_spec, members
from omkl.config.parameters import as_typed, identity, in_quotes, word_text
from omkl.errors import UserError, show, shown
from omkl.schema import Check, domain_check

# ------------------------------------------------------------------ a learner with settings

RESERVED = ("pool", "label", "data", "scale", "target")  # arguments of a setting that are no hyperparameters
SCALES = {
    "scale": ("none", "online", "ranks"),
    "target": ("none", "standard", "minmax", "online"),
}  # words of a setting


@dataclass(frozen=True)
class Setting:
    """A learner with its hyperparameters, in canonical form.

    params: those that are given; in a plan all of them    pool: its kernel pool, None where it uses none or,
    before the plan, its usual one    label: its name in tables and figures, None for the learner's
    data: names of the data sets that it is for, none means all

    A plan adds the rest. task: of the data that it is for, where a plan has data of several tasks and the
    hyperparameters depend on the task; None for all data    per_data: hyperparameters that it has for these
    data sets, which make no learner of its own in a figure    scaling: ``scale`` of the features and
    ``target`` of a regression while its streams run, and ``delay`` of the labels, where asked for; before the
    plan its own words for the first two, of which ``none`` is one
    """

    learner: str
    params: dict[str, Any] = field(default_factory=dict)
    pool: dict[str, Any] | None = None
    label: str | None = None
    data: tuple[str, ...] = ()
    task: str | None = None
    per_data: tuple[str, ...] = ()
    scaling: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the word of the command line."""
        arguments: dict[str, Any] = dict(self.params)
        if self.pool:
            arguments["pool"] = self.pool["kernels"] if is_unnamed(self.pool) else self.pool["name"]
        arguments |= {name: self.scaling[name] for name in SCALES if name in self.scaling}
        arguments |= {"label": self.label} if self.label else {}
        arguments |= {"data": self.data[0] if len(self.data) == 1 else list(self.data)} if self.data else {}
        inner = ", ".join(f"{name}={as_typed(value)}" for name, value in arguments.items())
        return f"{self.learner}({inner})" if inner else self.learner

    @property
    def word(self) -> str:
        """The word of the command line without what is the learner's default."""
        return str(replace(self, params=self.spec.unusual(self.params, self.task or self.spec.tasks[0])))

    @property
    def spec(self) -> LearnerSpec:
        """What its file in conf/algo says."""
        return learner_spec(self.learner)

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The hyperparameters and the scaling: what the store has as ``params``."""
        return self.params | self.scaling

    @property
    def kernel_pool(self) -> dict[str, Any] | None:
        """The kernels that it runs on, ``{"normalise", "kernels"}``, None for a learner without."""
        return kernel_pool(self.params, self.pool)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Its kernels in order, none for a learner without."""
        pool = self.kernel_pool
        return pool["kernels"] if pool else []

    @cached_property
    def identity(self) -> str:
        """What makes two settings for the same data the same."""
        return identity(self.learner, self.stored, self.pool)

    def fits(self, task: str, data: str) -> bool:
        """Whether it is for data of this task and name."""
        return self.task in (None, task) and (not self.data or data in self.data)

    def is_for(self, data: str, word: str) -> bool:
        """Whether it is for a data set of this name, which the user calls so."""
        return not self.data or bool({data, word} & {*self.data, *map(_named, self.data)})


def _named(data: str) -> str:
    """Return the name of a data set that is given as a name or a path."""
    from omkl.data import registry
    from omkl.data.reading.formats import data_name

    return data if registry.is_name(data) else data_name(Path(data))


def setting_of_words(
    learner: str,
    params: Mapping[str, Any],
    *,
    pool: Any = None,
    label: str | None = None,
    data: Iterable[str] = (),
) -> Setting:
    """Return a learner with settings of its own, checked and in canonical form.

    pool: a pool's name, or a kernel or a list of kernels
    ``scale`` and ``target`` among params say how its streams are scaled, unless they are hyperparameters.
    Raises UserError for an unknown learner, hyperparameter or pool, and for a value out of its domain.
    """
    name = learner_of(learner)
    spec, values, scaling = learner_spec(name), {}, {}
    for key, value in params.items():
        if key in SCALES and key not in spec.hyperparameters:
            if value not in SCALES[key]:
                raise UserError(
                    f"algo={name}: {key} must be one of {', '.join(SCALES[key])}, got {show(value)}"
                )
            scaling[key] = value
            continue
        parameter = spec.hyperparameters.get(key)
        if parameter is None:
            raise UserError(f"algo={name} has no hyperparameter '{key}'{spec.nearest(key, RESERVED)}")
        plain = value.tolist() if hasattr(value, "tolist") else value
        try:
            values[key] = spec.check_of(key)(list(plain) if isinstance(plain, tuple) else plain)
        except ValueError as error:
            raise UserError(f"algo.{name}.{key}: {error} ({parameter.help})") from None
    kernels = pool_of(pool) if pool is not None else None
    if kernels and spec.kernels != "pool":
        raise UserError(f"algo={name} uses no kernel pool; leave out pool={pool}")
    if label is not None and not (isinstance(label, str) and label.strip() and label.isprintable()):
        raise UserError(f"algo={name}: label must be text on one line, got {show(label)}")
    return Setting(name, values, kernels, label, tuple(data), scaling=scaling)


# ------------------------------------------------------------------ words

MOST_VALUES = 100_000
LISTS = (
    "algo",
    "data",
    "pool",
    "yardsticks",
    "drop",
    "id",
)  # keys that take a list in every command
AS_TEXT = ("store", "settings")  # keys with a text as it is written
_KEY = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)
_AS_WRITTEN = re.compile(r"[-+]?[\d._]+(e[-+]?\d+)?|true|false", re.IGNORECASE)  # 2.10 is not 2.1 as a class
_NAME = re.compile(r"[\w.-]+( [\w.-]+)*")
_QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
_BEYOND_ASCII = re.compile(rf"{_QUOTED}|(?:\w+ )*\w*?(?![\x00-\x7f])\w+(?: \w+)*")
# the label of a setting is a text as it is written, to the comma or bracket after it: OMKC(D,D), 0.10
_LABEL = re.compile(
    rf"""{_QUOTED}|\b(?P<key>label\s*=\s*)(?P<text>(?![\s"'])(?:[^()\[\]{{}},]|\([^()]*\)|\[[^\[\]]*\]|{{[^{{}}]*}})+)"""
)
_LOG = re.compile(r"log\((.*)\)")
_FORM = "; write the settings of a learner as NAME(KEY=VALUE,...), each key once"


@dataclass(frozen=True)
class Pattern:
    """``glob(omkc_*)``: the names that match."""

    glob: Any  # hydra's Glob

    def names(self, all_names: list[str]) -> list[str]:
        """Return the matching ones of the known names."""
        return self.glob.filter(all_names)


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

    def names(self, all_names: list[str]) -> list[str]:
        """Return the names that the word gives, each once: ``a,b``, ``[a,b]``, ``a*``, a group."""
        names: dict[str, None] = {}
        for value in self.values:
            if self.is_pattern(value):
                if isinstance(value, Pattern):
                    more = value.names(all_names)
                else:
                    more = self._group(value) or fnmatch.filter(all_names, value)
                if not more:
                    raise UserError(f"{self.text}: no name matches; known names are {', '.join(all_names)}")
            elif isinstance(value, Setting):
                more = [value.learner]
            else:
                (more,) = Override(self.key, (value,), self.text).checked(domain_check("names"))
            names |= dict.fromkeys(more)
        return list(names)


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
            is_text = isinstance(item, str) and item.strip() and (key == "algo" or item.startswith("glob("))
            is_text = is_text or (key in LISTS and isinstance(item, str) and item.strip() == "[]")
            items += _values(key, item, word_text(key, item)) if is_text else [item]
        overrides[key] = Override(key, tuple(items), word_text(key, value))
    return overrides


def _parse_word(word: str) -> Override:
    key, equals, text = word.partition("=")
    for is_so, fault in (
        (text.endswith(",") and key in LISTS, "ends with a comma; write a list without spaces, as in {}=a,b"),
        (
            key in LISTS and ",," in re.sub(_QUOTED, "''", f",{text}"),
            "a name is missing before a comma; write a list as in {}=a,b",
        ),
        (word == "=", "write no spaces around the sign, as in algo=omkc_ss"),
        (instead := hydra_words.of_key(word), instead.replace("{", "{{").replace("}", "}}")),
        (not equals, f"settings are KEY=VALUE words{_meant(word)}"),
        (
            "${" in word or "_target_" in word,
            "interpolations and _target_ are refused; write the value itself",
        ),
        (not _KEY.fullmatch(key), "the key must be words such as data or algo.beta"),
        (not text.strip(), "the value is missing; write {}=VALUE without spaces"),
    ):
        if is_so:
            raise UserError(f"{shown(word)}: {fault.format(key)}")
    if key == "data" and os.path.isfile(os.path.expanduser(text)):
        return Override(key, (text,), shown(word))
    return Override(key, _values(key, text, word), shown(word))


def _meant(word: str) -> str:
    """Return the hint for a word without a sign."""
    for group in LISTS[:3] if "=" not in word else ():
        for name in get_close_matches(word, conf.options(group), 1, 0.8):
            return f" (did you mean '{group}={name}'?)"
    return ", such as data=wdbc or algo.beta=0.9"


@lru_cache(maxsize=256)  # a stack has some twenty words, which take a millisecond each
def _parsed(override: str) -> Any:
    return _parser().parse_override(override).value()


def _values(key: str, text: str, word: str) -> tuple[Any, ...]:
    """Return the values of a word, those of a list in several; word: to show."""
    written = _as_written(key, text, word)
    if written is not None:
        return written
    if key == "algo":
        text = _LABEL.sub(_label_in_quotes, text)
    if name := _twice(text):
        raise UserError(f"{shown(word)}: '{name}' is given twice{_FORM if key == 'algo' else ''}")
    from hydra.core.override_parser.types import ChoiceSweep, Glob, RangeSweep, Sweep
    from hydra.errors import HydraException

    try:
        # as a whole override: the rule of a value alone leaves out what follows one, as in reps=1=2
        value = _parsed(f"{key}={_BEYOND_ASCII.sub(_in_quotes, text)}")
    except (HydraException, ValueError, RecursionError) as error:
        if key == "data":  # a path with characters that the grammar keeps for itself
            return _texts(text)
        if (
            key == "algo" and "=" not in text and re.fullmatch(r"[\w(),*? +-]+", text)
        ):  # OMKC(D,D)-PA, as tables print it
            return tuple(re.findall(r"[^,(]+(?:\([^)]*\)[^,(]*)?", text))
        raise _unreadable(key, text, word, error) from None
    if isinstance(value, Glob):
        return (Pattern(value),)
    if isinstance(value, RangeSweep):
        return _range(value.start, value.stop, value.step, word)
    if isinstance(value, ChoiceSweep):
        if not 0 < len(value.list) <= MOST_VALUES:
            many = f"{len(value.list)} values; at most {MOST_VALUES} are possible"
            raise UserError(f"{shown(word)}: {many if value.list else 'it has no values'}")
        return tuple(_plain(key, item, word) for item in value.list)
    if isinstance(value, Sweep):
        fault = "an interval has infinitely many values; write range(start,stop,step) or a list"
        raise UserError(f"{shown(word)}: {fault}")
    plain = _plain(key, value, word)
    return tuple(plain) if key == "algo" and isinstance(plain, list) and plain else (plain,)


def _as_written(key: str, text: str, word: str) -> tuple[Any, ...] | None:
    """Return the values of a word whose text Hydra's grammar does not read, None for another one."""
    if key == "positive" and _AS_WRITTEN.fullmatch(text):
        return (text,)
    if key in AS_TEXT:
        whole = re.fullmatch(_QUOTED, text)
        return (None if text == "null" else _unquoted(text) if whole else text,)
    if key.startswith(("algo.", "pool.")) and (grid := _LOG.fullmatch(text.strip())):
        return _log_grid(grid, word)
    return _of_reader(text) if key.startswith("read.") else None


def _of_reader(text: str) -> tuple[Any, ...] | None:
    """Return the value of a keyword of pandas' reader: a text as it is written, ``\\t`` a tab.

    None for numbers, true, false, null, and for lists and mappings, which the grammar reads.
    """
    if re.fullmatch(_QUOTED, text):
        return (_unquoted(text),)
    if _AS_WRITTEN.fullmatch(text) or text == "null" or re.fullmatch(r"\{.*\}", text):
        return None
    if listed := re.fullmatch(r"\[(.*)\]", text):
        return None if re.fullmatch(r"[\d, -]*", listed[1]) else (list(_texts(listed[1])),)
    return (text.replace(r"\t", "\t"),)


def _range(start: Any, stop: Any, step: Any, word: str) -> tuple[float | int, ...]:
    """Return the values of a range in exact decimal arithmetic: 0.1, 0.2, 0.3, not 0.30000000000000004."""
    ends = (start, stop, step)
    if not all(math.isfinite(end) for end in ends):
        raise UserError(f"{shown(word)}: the range must be finite")
    start, stop, step = (Decimal(repr(end)) for end in ends)
    count = math.ceil((stop - start) / step) if step else 0
    if not 0 < count <= MOST_VALUES:
        many = f"a range must have at most {MOST_VALUES} values"
        empty = "the range is empty: its step leads away from its end"
        raise UserError(f"{shown(word)}: {many if count > 0 else empty}")
    number = int if all(isinstance(end, int) for end in ends) else float
    return tuple(number(start + i * step) for i in range(count))


def _log_grid(found: re.Match[str], word: str) -> tuple[float, ...]:
    """Return the values of ``log(1e-4, 1e-1, 4)``: both ends, and equal factors between them."""
    arguments = [part.strip() for part in found[1].split(",")]
    try:
        low, high, count = float(arguments[0]), float(arguments[1]), int(arguments[2])
        if len(arguments) != 3 or not (
            0 < low < math.inf and 0 < high < math.inf and 2 <= count <= MOST_VALUES
        ):
            raise ValueError
    except (ValueError, IndexError, OverflowError):
        form = f"write log(START,STOP,COUNT), both ends above 0 and 2 to {MOST_VALUES} values"
        raise UserError(f"{shown(word)}: {form}, as in log(1e-4,1e-1,4)") from None
    factors = [(high / low) ** (at / (count - 1)) for at in range(count)]
    values = [float(f"{low * factor:.12g}") for factor in factors]  # 0.001, not 0.0010000000000000002
    return (low, *values[1:-1], high)


def _texts(text: str) -> tuple[str, ...]:
    """Return the texts between commas as they are written; in quotes a text may have commas."""
    texts = re.findall(rf"({_QUOTED})(?=,|$)|([^,]+)", text)
    return tuple(_unquoted(quoted) if quoted else plain for quoted, plain in texts)


def _unquoted(text: str) -> str:
    return re.sub(r"\\([\\\"'])", r"\1", text[1:-1])


def _in_quotes(found: re.Match[str]) -> str:
    return found[0] if found[0][0] in "\"'" else f'"{found[0]}"'


def _label_in_quotes(found: re.Match[str]) -> str:
    return found[0] if found["text"] is None else found["key"] + in_quotes(found["text"].rstrip())


def _with_quotes(key: str, text: str) -> str:
    """Return a word that cannot be read as one may write it instead."""
    return f"{key}=" + ",".join(
        part if _NAME.fullmatch(part) else in_quotes(part) for part in text.split(",")
    )


def _twice(text: str) -> str | None:
    """Return a key that is given twice in one pair of round brackets."""
    text = re.sub(_QUOTED, "''", text)
    while found := re.search(r"\(([^()]*)\)", text):
        names = re.findall(r"(\w+)\s*=", found[1])
        if len(set(names)) < len(names):
            return next(name for name in names if names.count(name) > 1)
        text = text[: found.start()] + text[found.end() :]
    return None


@dataclass(frozen=True)
class _Call:
    """``NAME(KEY=VALUE, ...)``, where NAME is no function of Hydra's: a learner or a kernel."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]


@cache
def _parser() -> Any:
    """Return the parser of Hydra's override grammar; functions that it does not know become a `_Call`."""
    from hydra.core.override_parser import overrides_parser
    from hydra.core.override_parser.overrides_parser import OverridesParser, create_functions

    if not __debug__:  # Hydra's visitor reads in its assert statements, which python -O leaves out
        visitor: dict[str, Any] = {"__name__": f"{overrides_parser.__name__}_with_asserts"}
        path = Path(overrides_parser.__file__).with_name("overrides_visitor.py")
        exec(compile(path.read_bytes(), path, "exec", optimize=0), visitor)
        vars(overrides_parser)["HydraOverrideVisitor"] = visitor["HydraOverrideVisitor"]
    functions = create_functions()

    class Calls(type(functions)):  # type: ignore[misc]
        def eval(self, func: Any) -> Any:
            return (
                super().eval(func)
                if func.name in self.functions
                else _Call(func.name, func.args, func.kwargs)
            )

    return OverridesParser(Calls(functions.definitions, functions.functions))


def _learner(call: _Call, word: str) -> Any:
    """Return a learner with settings of its own; a label such as ``OMKC(D,D)`` is a text."""
    from hydra.core.override_parser.types import Glob, Sweep

    if many := next((name for name, value in call.kwargs.items() if isinstance(value, Sweep | Glob)), None):
        raise UserError(
            f"{shown(word)}: {many} takes one value here; `omkl sweep` takes algo.{call.name}.{many}="
        )
    given = {name: _plain(f"algo.{name}", value, word) for name, value in call.kwargs.items()}
    if call.args or not given:
        if given:
            raise UserError(f"{shown(word)}{_FORM.replace(';', ':', 1)}")
        return f"{call.name}({','.join(map(str, call.args))})"
    more: dict[str, Any] = {
        name: given.pop(name) for name in RESERVED if name in given and name not in SCALES
    }
    if "pool" in more and not _are_kernels(more["pool"]):
        more["pool"] = word_text("", more["pool"])[1:]
    if "data" in more:
        names = more["data"] if isinstance(more["data"], list) else [more["data"]]
        more["data"] = [str(name) for name in names]
    try:
        return setting_of_words(call.name, given, **more)
    except UserError as error:
        raise UserError(f"{shown(word)}: {error}") from None


def _are_kernels(pool: Any) -> bool:
    """Whether a kernel, or a list with one, stands in place of a pool's name."""
    items = pool if isinstance(pool, list) else [pool] if isinstance(pool, dict) else []
    return any(isinstance(item, dict) or item in kinds() for item in items)


def learner_setting(word: str) -> Setting:
    """Return the learner with settings that a text such as ``omkc_dd(beta=0.9)`` says.

    Raises UserError for another text.
    """
    values = _values("algo", word, word)
    if len(values) != 1 or not isinstance(values[0], str | Setting):
        raise UserError(f"{shown(word)}: must be one learner")
    return values[0] if isinstance(values[0], Setting) else setting_of_words(values[0], {})


def _plain(key: str, value: Any, word: str) -> Any:
    """Return a parsed element without Hydra's types."""
    from hydra.core.override_parser.types import Glob, QuotedString, Sweep

    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, Sweep | Glob):
        raise UserError(f"{shown(word)}: a list of values cannot hold another list")
    if isinstance(value, _Call):
        if key == "algo":
            return _learner(value, word)
        if value.args:
            raise UserError(f"{shown(word)}: {value.name}(...) takes KEY=VALUE, as in gaussian(sigma=8)")
        return {"kind": value.name} | {name: _plain("", part, word) for name, part in value.kwargs.items()}
    if isinstance(value, list):
        return [_plain(key, item, word) for item in value]
    if isinstance(value, dict):
        return {str(_plain("", member, word)): _plain("", item, word) for member, item in value.items()}
    return value


# ------------------------------------------------------------------ messages


def _unreadable(key: str, text: str, word: str, error: Exception) -> UserError:
    """Return what is said of a word that Hydra's grammar cannot read."""
    if "positional argument follows" in str(error):
        return UserError(f"{shown(word)}: {_FORM.removeprefix('; ')}")
    reason = "nested too deeply" if isinstance(error, RecursionError) else shown(conf.one_line(error))
    cure = f"quote a text with special characters: {shown(shlex.quote(_with_quotes(key, text)))}"
    if key == "algo" and "(" in text:
        cure = "write a learner as NAME(KEY=VALUE,...), and texts with special characters in quotes"
    if any(text.count(left) > text.count(right) for left, right in ("()", "[]", "{}")):
        reason, cure = "a bracket is not closed", "close it"
    return UserError(f"{shown(word)}: cannot be read ({reason}); {cure}")

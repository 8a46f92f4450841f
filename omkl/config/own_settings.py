"""Learners with settings of their own: a `LearnerChoice`, and the files that hold several of them.

    words: {pool: gauss3}         # further words of the command, which a typed word replaces
    settings:
    - {learner: rff, data: wdbc, params: {eta: 0.1}}
    - {learner: omkc_dd, params: {beta: 0.5}, label: forgets fast}      # on all data sets

`omkl tune --out best.yaml` writes such a file, and settings=best.yaml reads it. Own settings go before plain
keys such as algo.beta=0.9, and keys with the learner's name, algo.omkc_dd.beta=0.9, go before both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config import domains
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import LearnerSpec, learner_names, learner_of, learner_spec
from omkl.config.parameters import Parameter
from omkl.config.settings_text import value_text
from omkl.errors import UserError, show, suggest
from omkl.schema import Check, checked, such

RESERVED = ("pool", "data", "label")  # arguments of a choice that are no hyperparameters
_OTHERWISE = ("algo", "data", "settings", "store", "exec")  # keys that are no words of a settings file


@dataclass(frozen=True)
class LearnerChoice:
    """A learner with settings of its own.

    params: its hyperparameters, those that are given    pool: name of its kernel pool    label: its name in
    tables and figures    data: names of the data sets that this is for; none means all
    """

    learner: str
    params: Mapping[str, Any] = field(default_factory=dict)
    pool: str | None = None
    label: str | None = None
    data: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the choice as the command line takes it: ``omkc_dd(beta=0.9, label=slow)``."""
        parts = [f"{name}={_typed(value)}" for name, value in self.params.items()]
        parts += [f"{name}={value}" for name in ("pool", "label") if (value := getattr(self, name))]
        parts += [f"data={name}" for name in self.data]
        return f"{self.learner}({', '.join(parts)})" if parts else self.learner

    @property
    def spec(self) -> LearnerSpec:
        """What its file in conf/algo says."""
        return learner_spec(self.learner)

    def fits(self, data: str, word: str) -> bool:
        """Whether it is for a data set of this name, which the user calls so."""
        return not self.data or bool({data, word} & {*self.data, *map(_named, self.data)})


def _typed(value: Any) -> str:
    if isinstance(value, Mapping) and "kind" not in value:
        return "{" + ",".join(f"{name}:{_typed(part)}" for name, part in value.items()) + "}"
    return value_text(value)


def _named(data: str) -> str:
    """Return the name of a data set that is given as a name, an alias or a path."""
    from omkl.data import registry
    from omkl.data.formats import data_name

    return registry.entry(data).name if registry.is_name(data) else data_name(Path(data))


def choice(
    learner: str,
    params: Mapping[str, Any],
    *,
    pool: str | None = None,
    label: str | None = None,
    data: Iterable[str] = (),
) -> LearnerChoice:
    """Return a learner with settings of its own, checked and in canonical form.

    Raises UserError for an unknown learner, hyperparameter or pool, and for a value out of its domain.
    """
    name = learner_of(learner)
    if name not in learner_names():
        conf.known_option("algo", learner, "learner")  # which says what is wrong
    spec, values = learner_spec(name), {}
    for key, value in params.items():
        own = spec.hyperparameters.get(key)
        if own is None:
            hint = suggest(key, [*spec.hyperparameters, *RESERVED])
            known = ", ".join(spec.hyperparameters) or "none"
            raise UserError(f"algo={name} has no hyperparameter '{key}'{hint or f'; it has {known}'}")
        plain = value.tolist() if hasattr(value, "tolist") else value
        try:
            values[key] = spec.check_of(key)(list(plain) if isinstance(plain, tuple) else plain)
        except ValueError as error:
            raise UserError(f"algo.{name}.{key}: {error} ({own.help})") from None
    if pool is not None:
        conf.known_option("pool", pool, "kernel pool")
        if spec.kernels != "pool":
            raise UserError(f"algo={name} uses no kernel pool; leave out pool={pool}")
    if label is not None and not (isinstance(label, str) and label.strip() and label.isprintable()):
        raise UserError(f"algo={name}: label must be a text of one line, got {show(label)}")
    return LearnerChoice(name, values, pool, label, tuple(data))


# ------------------------------------------------------------------ files


@dataclass(frozen=True)
class SettingsFile:
    """A settings file: further words by key, and the learners with their settings."""

    path: str
    words: Mapping[str, Any]
    choices: tuple[LearnerChoice, ...]

    @property
    def data(self) -> list[str]:
        """The data sets that it names, each once."""
        return list(dict.fromkeys(name for own in self.choices for name in own.data))


_TEXT = domains.domain_check("text")
_ENTRY: dict[str, Check] = {
    "learner": _TEXT,
    "data": domains.domain_check("names"),
    "params": such("hyperparameters and their values", lambda value: isinstance(value, dict)),
    "pool": _TEXT,
    "label": _TEXT,
}


def read_settings(path: str, known: Mapping[str, Parameter]) -> SettingsFile:
    """Return a settings file; known: the keys of conf/config.yaml.

    Raises UserError that names file and key.
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise UserError(f"settings={path}: there is no such file; `omkl tune --out FILE` writes one")
    words: dict[str, Check] = {key: own.check for key, own in known.items() if key not in _OTHERWISE}
    words |= {f"pool.{part}": check for part, check in PARTS.items()}

    def entries(value: Any) -> list[LearnerChoice]:
        if not isinstance(value, list) or not value:
            raise ValueError(f"must be a list of learners with their settings, got {show(value)}")
        return [_entry(own, f"settings[{number}]") for number, own in enumerate(value, 1)]

    def further(value: Any) -> dict[str, Any]:
        checked(value, words, where, group="words.")
        return value

    content = checked(conf.read_yaml(where), {"words": further, "settings": entries}, where, ["settings"])
    return SettingsFile(path, content.get("words", {}), tuple(content["settings"]))


def _entry(content: Any, group: str) -> LearnerChoice:
    try:
        own = checked(content, _ENTRY, group, ["learner"])
        return choice(own.pop("learner"), own.pop("params", {}), **own)
    except UserError as error:
        text = str(error)
        raise ValueError(text if text.startswith(group) else f"{group}: {text}") from None


def settings_yaml(choices: Iterable[LearnerChoice], words: Mapping[str, Any], made_by: str) -> str:
    """Return the content of a settings file; made_by: the command that found the settings."""
    lines = [f"# The settings that `{made_by}` chose; settings=FILE runs them."]
    if words:
        lines += [f"words: {_flow(dict(words))}"]
    lines += ["settings:"]
    for own in choices:
        entry: dict[str, Any] = {"learner": own.learner}
        entry |= {"data": own.data[0] if len(own.data) == 1 else list(own.data)} if own.data else {}
        entry |= {name: value for name in ("pool", "label") if (value := getattr(own, name))}
        lines.append(f"- {_flow({**entry, 'params': dict(own.params)})}")
    return "\n".join(lines) + "\n"


def _flow(content: Any) -> str:
    import yaml

    how: Any = {"default_flow_style": True, "sort_keys": False, "allow_unicode": True}
    return yaml.safe_dump(content, width=10**6, **how).strip()

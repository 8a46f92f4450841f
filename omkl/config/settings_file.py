"""Settings files: a list of learners with their settings, as words, and further words of the command.

    words: {pool: gauss3}         # a typed word replaces one
    settings:
    - rff(eta=0.1, data=wdbc)
    - omkc_dd(beta=0.5, label=forgets fast)      # on all data sets

`omkl tune --out best.yaml` writes such a file, and settings=best.yaml reads it. Own settings go before plain
keys such as algo.beta=0.9, and keys with the learner's name, algo.omkc_dd.beta=0.9, go before both.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config.grammar import Override, learner_setting, of_values, parse_words
from omkl.config.kernel_pools import PARTS
from omkl.config.parameters import Parameter
from omkl.config.settings import Setting
from omkl.config.settings_text import is_plain_text
from omkl.errors import UserError, show, suggest
from omkl.schema import Check

_OTHERWISE = ("algo", "data", "settings", "store", "exec")  # keys that are no words of a settings file


@dataclass(frozen=True)
class SettingsFile:
    """A settings file: further words by key, and the learners with their settings."""

    path: str
    words: Mapping[str, Override]
    settings: tuple[Setting, ...]

    @property
    def data(self) -> list[str]:
        """The data sets that it names, each once."""
        return list(dict.fromkeys(name for own in self.settings for name in own.data))


def read_settings(path: str, known: Mapping[str, Parameter]) -> SettingsFile:
    """Return a settings file; known: the keys of conf/config.yaml.

    Raises UserError that names file and key.
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise UserError(f"settings={path}: there is no such file; `omkl tune --out FILE` writes one")
    content = conf.read_yaml(where)
    try:
        if not isinstance(content, dict) or not isinstance(content.get("settings"), list):
            raise UserError("must hold settings, a list such as [omkc_dd(beta=0.9)]")
        for key in content.keys() - {"words", "settings"}:
            raise UserError(f"unknown key {show(key)}{suggest(str(key), ('words', 'settings'))}")
        settings = [_setting(own, number) for number, own in enumerate(content["settings"], 1)]
        if not settings:
            raise UserError("settings: at least one learner is needed")
        return SettingsFile(path, _words(where, content.get("words") or {}, known), tuple(settings))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _setting(word: Any, number: int) -> Setting:
    if not isinstance(word, str):
        form = "must be a learner such as omkc_dd(beta=0.9), in quotes where YAML needs them"
        raise UserError(f"settings[{number}]: {form}, got {show(word)}")
    try:
        return learner_setting(word)
    except UserError as error:
        raise UserError(f"settings[{number}]: {error}") from None


def _words(path: Path, content: Any, known: Mapping[str, Parameter]) -> dict[str, Override]:
    """Return the further words: what is not in quotes is read as a word of the command is."""
    import yaml

    if not isinstance(content, dict):
        raise UserError(f"words: must be keys and values, got {show(content)}")
    checks: dict[str, Check] = {key: own.check for key, own in known.items() if key not in _OTHERWISE}
    checks |= {f"pool.{part}": check for part, check in PARTS.items()}
    root: Any = yaml.compose(path.read_bytes(), Loader=conf.loader())
    nodes = {
        key.value: value for name, part in root.value if name.value == "words" for key, value in part.value
    }
    given: dict[str, Override] = {}
    for key, value in content.items():
        if key not in checks:
            raise UserError(f"words: unknown key {show(key)}{suggest(str(key), checks)}")
        node = nodes.get(key)
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        given |= parse_words([f"{key}={node.value}"]) if plain and node else of_values({key: value})
        for one in given[key].values if len(given[key].values) > 1 else ():
            Override(key, (one,), given[key].text).checked(checks[key])
        if len(given[key].values) == 1:
            given[key].checked(checks[key])
    return given


def settings_yaml(settings: Iterable[Setting], words: Mapping[str, Any], made_by: str) -> str:
    """Return the content of a settings file; made_by: the command that found the settings."""
    lines = [f"# The settings that `{made_by}` chose; settings=FILE runs them."]
    lines += ["words:", *(f"  {key}: {_quoted(value)}" for key, value in words.items())] if words else []
    lines += ["settings:", *(f"- {_item(str(own))}" for own in settings)]
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    return value if isinstance(value, str) and is_plain_text(value) else json.dumps(value, ensure_ascii=False)


def _item(word: str) -> str:
    """Return a word as an item of a YAML list: in quotes where YAML would read more than a text."""
    return word if ": " not in word and " #" not in word and word.isprintable() else json.dumps(word)

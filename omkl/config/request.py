"""What a command asks for, key by key: its words over the values of conf/config.yaml."""

from collections.abc import Callable, Mapping
from typing import Any

from omkl.config import compose, domains, grammar
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import hyperparameters, learner_specs
from omkl.config.parameters import parameters
from omkl.errors import UserError, suggest

LISTS = ("algo", "data", "pool", "yardsticks")  # keys that take a list of names in every command


class Request:
    """The words of a command; every key is one that a configuration can have.

    Raises UserError for an unknown key, and for a list of values where one is taken: hyperparameters and
    parts of the pool take lists in a sweep only.
    """

    def __init__(self, words: list[str], sweep: bool, values: Mapping[str, Any] | None = None) -> None:
        content = compose.read_config()
        self.known = parameters(content, compose.config_file())
        self.given = grammar.of_values(values or {}) | grammar.parse(words)
        for key, override in self.given.items():
            self._check_key(key, override)
            if len(override.values) > 1 and key not in LISTS:
                _check_list(key, override, sweep)

    def _check_key(self, key: str, override: grammar.Override) -> None:
        group, _, part = key.partition(".")
        if key in self.known or (part and group in ("algo", "exec")) or (group == "pool" and part in PARTS):
            return  # the parts of algo and exec are looked at with the learners and the executor chosen
        known = [*self.known, *(f"pool.{name}" for name in PARTS)]
        everything = [*known, *hyperparameters(learner_specs().values())]
        meant = [full for full in everything if full.endswith(f".{key}")]
        near = f" (did you mean '{meant[0]}'?)" if meant else suggest(key, everything)
        raise UserError(f"{override.text}: unknown key '{key}'{near or '; keys are ' + ', '.join(known)}")

    def parts(self, group: str) -> dict[str, grammar.Override]:
        """Return the words about the parts of a group (``algo.beta``), by the part's name."""
        prefix = f"{group}."
        return {key.removeprefix(prefix): o for key, o in self.given.items() if key.startswith(prefix)}

    def value(self, key: str) -> Any:
        """Return the checked value of a key of config.yaml that takes one."""
        if key not in self.given:
            return self.known[key].value
        return checked(self.given[key], self.known[key].check)[0]

    def names(self, key: str, known: list[str]) -> list[str]:
        """Return the names that a key asks for, each once: ``a,b``, ``[a,b]``, ``a``, ``glob(a*)``."""
        if key not in self.given:
            return list(self.known[key].value)
        override = self.given[key]
        names: list[str] = []
        for value in override.values:
            if isinstance(value, grammar.Pattern):
                more = value.names(known)
                if not more:
                    raise UserError(f"{override.text}: no name matches; known are {', '.join(known)}")
            else:
                more = _check(override, value, domains.parse("names").check)
            names += more
        if not names and key != "yardsticks":
            raise UserError(f"{override.text}: at least one name is needed")
        return list(dict.fromkeys(names))


def checked(override: grammar.Override, check: Callable[[Any], Any], hint: str = "") -> list[Any]:
    """Return an override's distinct values in canonical form; raises UserError that shows the word."""
    values: list[Any] = []
    for value in override.values:
        if isinstance(value, grammar.Pattern):
            raise UserError(f"{override.text}: glob(...) is for names of learners, data sets and pools")
        value = _check(override, value, check, hint)
        if value not in values:
            values.append(value)
    return values


def _check(override: grammar.Override, value: Any, check: Callable[[Any], Any], hint: str = "") -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise UserError(f"{override.text}: {error}{hint}") from None


def _check_list(key: str, override: grammar.Override, sweep: bool) -> None:
    if not key.startswith(("algo.", "pool.")):
        raise UserError(f"{override.text}: {key} takes one value, is given {len(override.values)}")
    if not sweep:
        raise UserError(
            f"{override.text}: {key} is given {len(override.values)} values; `omkl sweep` runs a grid"
        )

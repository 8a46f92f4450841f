"""The words of a command over the values of conf/config.yaml."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from omkl import conf
from omkl.config.grammar import LISTS, Override, of_values, parse_words
from omkl.config.kernel_pools import PARTS
from omkl.config.learners import (
    groups,
    hyperparameters,
    learner_names,
    learner_of,
    learner_spec,
    learner_specs,
)
from omkl.config.parameters import parameters
from omkl.config.settings import Setting
from omkl.config.settings_file import read_settings
from omkl.errors import UserError, shown, suggest

SYNONYMS = {
    ("target", "y", "class"): "label",
    ("learner", "algorithm", "model"): "algo",
    ("dataset", "file"): "data",
    ("kernels",): "pool",
    ("sep", "separator"): "delimiter",
    ("na_values", "missing_values"): "na",
    ("zero_based",): "index_base",
}


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
        self.known = parameters(conf.keys(), conf.file("", "config"))
        self.given = of_values(values or {}) | parse_words(words)
        self.file = None
        if "settings" in self.given and (path := self.value("settings")) is not None:
            self.file = read_settings(path, self.known)
            beside = {"algo": self.file.settings, **({"data": self.file.data} if self.file.data else {})}
            self.given = of_values(beside) | dict(self.file.words) | self.given
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

    def compose(self) -> None:
        """Compose the options that the words name, and their yardsticks, in one go, unless they are known."""
        learners = [*self.names("algo", learner_names()), *self.names("yardsticks", learner_names())]
        specs = [learner_spec(name) for name in dict.fromkeys(learners) if name in learner_names()]
        wanted = {
            "algo": [spec.name for spec in specs],
            "data": self.names("data", conf.options("data")),
            "pool": [*self.names("pool", conf.options("pool")), *(spec.usual_pool or "" for spec in specs)],
            "exec": [self.value("exec")],
        }
        known = {group: set(names) & set(conf.options(group)) for group, names in wanted.items()}
        if not all(conf.is_composed(group, name) for group, names in known.items() for name in names):
            conf.compose({group: sorted(names) for group, names in known.items()})

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
            if not dot or (
                learner not in learner_names()
                and name in {name for spec in learner_specs().values() for name in spec.hyperparameters}
            ):
                continue  # a plain key, or a part of a kernel, which `settings` refuses
            if learner not in learner_names():
                hint = suggest(name, learner_names(), most=3) or "; `omkl list algos` shows them"
                raise UserError(f"{override.text}: unknown learner '{name}'{hint}")
            if learner not in chosen:
                names = ",".join(chosen)
                raise UserError(f"{override.text}: {learner} is not among the learners (algo={names})")
            made[learner, hyperparameter] = override
        return made

    def settings(self, data: Mapping[str, str]) -> list[Setting]:
        """Return the learners with their own settings, in order; data: the data sets' words by name.

        A learner that is named without settings has those of the settings file, where that has some.
        """
        own = self.given.get("algo")
        values = own.values if own else tuple(self.known["algo"].value)
        made: list[Setting] = []
        for value in values:
            if isinstance(value, Setting):
                made.append(value)
                continue
            override = Override("algo", (value,), own.text if own else f"algo={value}")
            for learner in map(learner_of, override.names(learner_names())):
                known = [one for one in self.file.settings if one.learner == learner] if self.file else []
                made += known
                left = [
                    name for name, word in data.items() if not any(one.is_for(name, word) for one in known)
                ]
                if left:
                    made.append(Setting(learner, data=tuple(left) if known else ()))
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

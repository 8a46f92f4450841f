"""What a command asks for: its words over conf/config.yaml, a settings file, and the data sets that it names.

A settings file is a list of learners with their settings, as words, and further words of the command:

    words: {pool: gauss3}         # a typed word replaces one
    settings:
    - rff(eta=0.1, data=wdbc)
    - omkc_dd(beta=0.5, label=forgets fast)      # on all data sets

`omkl tune --out best.yaml` writes such a file, and settings=best.yaml reads it. Own settings go before plain
keys such as algo.beta=0.9, and keys with the learner's name, algo.omkc_dd.beta=0.9, go before both.
"""

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl import conf, yaml_files
from omkl.config.kernel_kinds import PARTS
from omkl.config.learners import (
    IN_OBJECT,
    groups,
    hyperparameters,
    kin_of,
    learner_names,
    learner_of,
    learner_spec,
    learner_specs,
)
from omkl.config.learners import given as given_learners
from omkl.config.parameters import Parameter, is_plain_text, parameters
from omkl.config.words import (
    LISTS,
    Override,
    Setting,
    learner_setting,
    of_values,
    parse_words,
    setting_of_words,
)
from omkl.data.preparation import Preparation
from omkl.errors import UserError, show, shown, suggest
from omkl.schema import Check
from omkl.typed import column_word

if TYPE_CHECKING:
    from omkl.data import DataRef

# ------------------------------------------------------------------ a settings file

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
        return list(dict.fromkeys(name for setting in self.settings for name in setting.data))


def read_settings(path: str, parameters: Mapping[str, Parameter]) -> SettingsFile:
    """Return a settings file; parameters: of the keys of conf/config.yaml.

    Raises UserError that names file and key.
    """
    where = Path(path).expanduser()
    if not where.is_file():
        raise UserError(f"settings={path}: there is no such file; `omkl tune --out FILE` writes one")
    content = yaml_files.read_yaml(where)
    try:
        if not isinstance(content, dict) or not isinstance(content.get("settings"), list):
            raise UserError("must have the key settings with a list such as [omkc_dd(beta=0.9)]")
        for key in content.keys() - {"words", "settings"}:
            raise UserError(f"unknown key {show(key)}{suggest(str(key), ('words', 'settings'))}")
        settings = [_setting(word, number) for number, word in enumerate(content["settings"], 1)]
        if not settings:
            raise UserError("settings: at least one learner is needed")
        return SettingsFile(path, _words(where, content.get("words") or {}, parameters), tuple(settings))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _setting(word: Any, number: int) -> Setting:
    try:
        if not isinstance(word, str):
            form = "must be a learner such as omkc_dd(beta=0.9), in quotes where YAML needs them"
            raise UserError(f"{form}, got {show(word)}")
        return learner_setting(word)
    except UserError as error:
        raise UserError(f"settings[{number}]: {error}") from None


def _words(path: Path, content: Any, parameters: Mapping[str, Parameter]) -> dict[str, Override]:
    """Return the further words: what is not in quotes is read as a word of the command is."""
    import yaml

    if not isinstance(content, dict):
        raise UserError(f"words: must be keys and values, got {show(content)}")
    checks: dict[str, Check] = {
        key: parameter.check for key, parameter in parameters.items() if key not in _OTHERWISE
    }
    checks |= {f"pool.{part}": check for part, check in PARTS.items()}
    root: Any = yaml.compose(path.read_bytes(), Loader=yaml_files.loader())
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
        given[key].checked(checks[key])
    return given


def settings_yaml(settings: Iterable[Setting], words: Mapping[str, Any], made_by: str) -> str:
    """Return the content of a settings file; made_by: the command that found the settings."""
    lines = [f"# The settings that `{made_by}` chose; settings=FILE runs them."]
    lines += ["words:", *(f"  {key}: {_quoted(value)}" for key, value in words.items())] if words else []
    lines += ["settings:", *(f"- {_item(str(setting))}" for setting in settings)]
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    return value if isinstance(value, str) and is_plain_text(value) else json.dumps(value, ensure_ascii=False)


def _item(word: str) -> str:
    """Return a word as an item of a YAML list: in quotes where YAML would read more than a text."""
    return word if ": " not in word and " #" not in word and word.isprintable() else json.dumps(word)


# ------------------------------------------------------------------ a request

SYNONYMS = {
    ("target", "y", "class"): "label",
    ("learner", "algorithm", "model"): "algo",
    ("dataset", "file"): "data",
    ("kernels",): "pool",
    ("sep", "separator", "delimiter"): "read.sep",
    ("na", "na_values", "missing_values"): "read.na_values",
    ("header",): "read.header",
    ("skip", "skiprows"): "read.skiprows",
    ("encoding",): "read.encoding",
    ("decimal",): "read.decimal",
    ("thousands",): "read.thousands",
    ("categorical",): "read.dtype={NAME:category}",
    ("zero_based",): "index_base",
}


def _in_one(override: Override) -> str:
    """Return how one types a name with commas, for settings that take one name."""
    text = override.text.partition("=")[2]
    if override.key not in ("label", "positive") or '"' in text:
        return ""
    return f"; a name with commas is typed in quotes: {column_word(override.key, text)}"


def _parameters(name: str, content: dict[str, Any]) -> dict[str, Parameter]:
    return parameters(conf.keys(), conf.file("", name))


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
        self.given = of_values(values or {}) | parse_words(words)
        self.file = None
        if "settings" in self.given and (path := self.value("settings")) is not None:
            self.file = read_settings(path, self.known)
            beside = {"algo": self.file.settings, **({"data": self.file.data} if self.file.data else {})}
            self.given = of_values(beside) | dict(self.file.words) | self.given
        for key, override in self.given.items():
            self._check_key(key, override)
            count = len(override.values)
            if count > 1 and key not in LISTS and not key.startswith("read."):
                if not key.startswith(("algo.", "pool.")):
                    raise UserError(f"{override.text}: {key} takes one value, got {count}{_in_one(override)}")
                if not sweep:
                    raise UserError(f"{override.text}: {key} has {count} values; `omkl sweep` runs a grid")

    @property
    def known(self) -> dict[str, Parameter]:
        """The keys of conf/config.yaml, with its values."""
        checked: dict[str, Parameter] = conf.made_of("", conf.CONFIG, _parameters)
        return checked

    def _check_key(self, key: str, override: Override) -> None:
        group, _, part = key.partition(".")
        if (
            key in self.known
            or (part and group in ("algo", "exec", "read"))
            or (group == "pool" and part in PARTS)
        ):
            return  # parts of algo, exec, read are checked with what is chosen
        keys = [*self.known, *(f"pool.{name}" for name in PARTS)]
        everything = [*keys, *self.others, *hyperparameters(learner_specs().values())]
        meant = [full for full in everything if full.endswith(f".{key}")] or [
            synonym for words, synonym in SYNONYMS.items() if key in words
        ]
        near = f" (did you mean '{meant[0]}'?)" if meant else suggest(key, everything)
        raise UserError(f"{override.text}: unknown key '{key}'{near or '; keys are ' + ', '.join(keys)}")

    def options(self, data: "Sequence[DataRef | str]" = ()) -> dict[str, list[str]]:
        """Return the options of the conf folders that the words name, by group; no file of one is read.

        data: in place of the word ``data=``    A pool is one that is given: learners have their usual one.
        """
        options: dict[str, list[str]] = {group: [] for group in conf.GROUPS}
        for key in (*conf.GROUPS, "yardsticks"):
            values = self.given[key].values if key in self.given else (self.known[key].value,)
            if (key == "data" and data) or (key == "pool" and key not in self.given):
                values = tuple(data) if key == "data" else ()
            listed = [one for value in values for one in (value if isinstance(value, list) else [value])]
            names = [one.learner if isinstance(one, Setting) else one for one in listed]
            group = key if key in options else "algo"
            options[group] += [name for name in conf.options(group) if name in names]
        return options

    def parts(self, group: str) -> dict[str, Override]:
        """Return the words about the parts of a group (``algo.beta``), by the part's name."""
        prefix = f"{group}."
        return {key.removeprefix(prefix): o for key, o in self.given.items() if key.startswith(prefix)}

    def of_reader(self) -> dict[str, Any]:
        """Return the keywords of pandas' reader: ``read.sep``."""
        keywords = {}
        for part, override in self.parts("read").items():
            values = [list(value) if isinstance(value, tuple) else value for value in override.values]
            keywords[part] = values[0] if len(values) == 1 else values
        return keywords

    def has(self, key: str) -> bool:
        """Whether a key of the user's own data is given, of ``read`` one of its parts."""
        return key in self.given or (key == "read" and bool(self.parts("read")))

    def parts_of_learners(self, chosen: Iterable[str]) -> dict[tuple[str, str], Override]:
        """Return the words about one learner (``algo.alma.C``), by learner and hyperparameter.

        chosen: the learners that are meant. Raises UserError for another one.
        """
        overrides: dict[tuple[str, str], Override] = {}
        for part, override in self.parts("algo").items():
            name, dot, hyperparameter = part.partition(".")
            learner = learner_of(name)
            if not dot or (
                learner not in learner_names()
                and name in {name for spec in learner_specs().values() for name in spec.hyperparameters}
            ):
                continue  # a plain key, or a part of a kernel, which `settings` refuses
            if learner not in learner_names():
                for one in chosen:
                    if learner_spec(one).is_object and part.startswith(
                        (f"{one}.", f"{one.partition('.')[2]}.")
                    ):
                        raise UserError(f"{override.text}: {IN_OBJECT}")
                hint = suggest(name, learner_names(), most=3) or "; `omkl list algos` shows them"
                raise UserError(f"{override.text}: unknown learner '{name}'{hint}")
            if learner not in chosen:
                kin = (kin_of(learner, task) for task in ("classification", "regression"))
                learner = next((one for one in kin if one and one in chosen), learner)
            if learner not in chosen:
                names = ",".join(chosen)
                raise UserError(f"{override.text}: {learner} is not among the learners (algo={names})")
            overrides[learner, hyperparameter] = override
        return overrides

    def settings(self, data: Mapping[str, str]) -> list[Setting]:
        """Return the learners with their own settings, in order; data: the data sets' words by name.

        A learner that is named without settings has those of the settings file, where that has some.
        """
        algo = self.given.get("algo")
        values = algo.values if algo else tuple(self.known["algo"].value)
        chosen: list[Setting] = []
        for value in values:
            if isinstance(value, Setting):
                chosen.append(value)
                continue
            override = Override("algo", (value,), algo.text if algo else f"algo={value}")
            for learner in map(learner_of, override.names(learner_names())):
                of_learner = (
                    [one for one in self.file.settings if one.learner == learner] if self.file else []
                )
                chosen += of_learner
                left = [
                    name
                    for name, word in data.items()
                    if not any(one.is_for(name, word) for one in of_learner)
                ]
                if left:
                    chosen.append(Setting(learner, data=tuple(left) if of_learner else ()))
                if left and self.file:
                    warnings.warn(
                        f"settings={self.file.path} has no settings of {learner} on {', '.join(left)}: "
                        "it runs there without settings from the file",
                        stacklevel=2,
                    )
        return chosen

    def task(self) -> str:
        """Return the task of the user's own data: that of ``task=``, or of all learners; else auto."""
        task: str = self.value("task")
        if task != "auto" or "algo" not in self.given or self.value("positive") is not None:
            return "classification" if self.value("positive") is not None and task == "auto" else task
        tasks = set[str]()
        for name in self.names("algo", learner_names()):
            tasks_of_learner = set(learner_spec(name).tasks)
            tasks |= tasks_of_learner | {
                other for other in ("classification", "regression") if kin_of(name, other)
            }
        tasks -= {"novelty"} if len(tasks) > 1 else set()
        return tasks.pop() if len(tasks) == 1 and tasks != {"novelty"} else "auto"

    def of_tasks(self, data: "Sequence[DataRef]") -> None:
        """Put the learner of the data's task in place of one of the same name, see `kin_of`."""
        if (given := self.given.get("algo")) is not None:
            values = [
                value_of_task
                for value in given.values
                for value_of_task in self._of_tasks(given, value, data)
            ]
            self.given["algo"] = replace(given, values=tuple(values))

    def _of_tasks(self, given: Override, value: Any, data: "Sequence[DataRef]") -> list[Any]:
        """Return a learner of ``algo=`` as it is, or as one for each task of the data."""
        name = value.learner if isinstance(value, Setting) else value
        if given.is_pattern(value) or not isinstance(name, str) or learner_of(name) not in learner_names():
            return [value]
        spec, learners = learner_spec(learner_of(name)), dict[str, list[str]]()
        for ref in data:
            runs = ref.task in spec.tasks or "novelty" in spec.tasks  # which takes any rows
            other = None if runs else kin_of(spec.name, ref.task)
            learners.setdefault(other or spec.name, []).append(ref.name)
        settings: list[Any] = []
        for learner, sets in learners.items():
            named_sets = () if len(learners) == 1 else tuple(sets)
            if not isinstance(value, Setting):
                settings.append(
                    Setting(learner, data=named_sets)
                    if named_sets
                    else value
                    if learner == spec.name
                    else learner
                )
            elif learner != spec.name:
                settings.append(
                    setting_of_words(learner, value.params, label=value.label, data=value.data or named_sets)
                )
            else:
                settings.append(replace(value, data=value.data or named_sets))
        return settings

    def value(self, key: str) -> Any:
        """Return the checked value of a key of config.yaml that takes one, or a list as a whole."""
        parameter = self.known[key]
        if key not in self.given:
            return parameter.value
        word = self.given[key]
        if key in LISTS:
            values = [one for value in word.values for one in (value if isinstance(value, list) else [value])]
            word = replace(word, values=(values,))
        return word.checked(parameter.check)[0]

    def has_pattern(self) -> bool:
        """Whether some learners are given by a pattern such as ``omkc_*``, or by a group."""
        given = self.given.get("algo")
        return given is not None and any(map(given.is_pattern, given.values))

    def named_learners(self) -> list[str]:
        """Return the learners that are not given by a pattern or a group."""
        algo = self.given["algo"]
        plain = tuple(value for value in algo.values if not algo.is_pattern(value))
        return [learner_of(name) for name in Override("algo", plain, algo.text).names([])]

    def names(self, key: str, all_names: list[str]) -> list[str]:
        """Return the names that a key has, each once; known: those that a pattern can match."""
        names = self.given[key].names(all_names) if key in self.given else list(self.known[key].value)
        if key == "algo":
            names = list(dict.fromkeys(learner_of(name) for name in names))
            for name in set(names).difference(learner_names(), given_learners):
                near = "" if suggest(name, learner_names()) else suggest(name, groups())
                if near:
                    raise UserError(f"{shown(f'algo={name}')}: unknown learner or group{near}")
        if not names and key != "yardsticks":
            raise UserError(f"{self.given[key].text}: at least one name is needed")
        return names


# ------------------------------------------------------------------ data sets

PREPARATION = tuple(own.name for own in fields(Preparation))  # keys of config.yaml
ONLINE = "online"  # scale= of what is scaled by default


def files(
    words: list[str], values: Mapping[str, Any] | None = None, data: "Sequence[DataRef | str]" = ()
) -> "list[DataRef]":
    """Return the data sets of ``data=``, or those given, with their preparation, read when first needed."""
    return chosen_data(Request(words, False, values), data, decide=False)


def chosen_data(request: Request, data: "Sequence[DataRef | str]", decide: bool = True) -> "list[DataRef]":
    """Return the data sets of a request, each once; its settings go before those that a table has already.

    decide: whether a task that is still open is decided by the labels, for which the data are read
    Raises UserError for settings that none can have, and for different data sets of one name in memory.
    """
    from omkl.data import registry

    task = request.task()
    prepare = _Preparing(request, task)
    refs = [prepare.of(one) for one in data or request.names("data", registry.registered_names())]
    if decide:
        refs = [one.decided() for one in refs]
    _check_settings(request, refs, task)
    chosen: dict[tuple[str, str], DataRef] = {}
    for ref in refs:
        earlier = chosen.setdefault((ref.name, ref.word), ref)
        if earlier is ref or (earlier.is_registered and ref.is_registered):
            continue
        if (earlier.content_hash, earlier.task) != (ref.content_hash, ref.task):
            how = "data={'one': ..., 'two': ...}"
            raise UserError(f"two data sets are called '{ref.name}'; name them, as in {how}")
    return list(chosen.values())


class _Preparing:
    """How a request prepares the user's own data."""

    def __init__(self, request: Request, task: str) -> None:
        values: dict[str, Any] = {key: request.value(key) for key in PREPARATION}
        values |= {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        values["read"] = values["read"] | request.of_reader()
        self.task, self.preparation = task, Preparation(**values)
        self.given = {key: values[key] for key in PREPARATION if request.has(key)}
        self.has_task = "task" in request.given
        of_learners = task == "regression" and request.value("task") == "auto"
        self.said = ("the learners are for numbers, so task=regression",) if of_learners else ()

    def of(self, one: "DataRef | str") -> "DataRef":
        """Return a data set with its preparation, what is registered as it is."""
        from omkl.data import find

        if isinstance(one, str):
            ref: Any = find(one, task=self.task, preparation=self.preparation)
            return replace(ref, said=self.said) if ref.is_own else ref
        given: Any = one
        if not given.is_own:
            return given
        preparation = replace(given.preparation, **self.given)
        is_open = self.has_task or given.task == "auto"
        task, said = (self.task, self.said) if is_open else (given.task, ())
        return replace(given, task=task, preparation=preparation, said=said)


def _check_settings(request: Request, refs: "Sequence[DataRef]", task: str) -> None:
    """Raise UserError for settings of the user's own data that no data set can have."""
    from omkl.data.ref import Parsed

    for ref in refs:
        if ref.is_registered and "task" in request.given and task not in ("auto", ref.task):
            raise UserError(
                f"{request.given['task'].text}: data={ref.name} is registered for {ref.task};"
                " task=... is for files of your own"
            )
    if not all(ref.is_registered or isinstance(ref, Parsed) for ref in refs):
        return
    names = ",".join(dict.fromkeys(map(str, refs)))
    is_so = "is registered" if refs[0].is_registered else "holds numbers"
    for key, override in request.given.items():
        if key.partition(".")[0] in PREPARATION:
            raise UserError(f"{override.text}: data={names} {is_so}; {key} is for your own table")


def distinct_data(refs: "Sequence[DataRef]") -> "tuple[DataRef, ...]":
    """Return the data sets, of those with the same examples the first; a note names the others.

    The key of a cell has the examples, not the name: two names would have the same cells.
    """
    if len(refs) == 1:
        return tuple(refs)
    distinct: dict[tuple[str, str], DataRef] = {}
    for ref in refs:
        first = distinct.setdefault((ref.content_hash, ref.task), ref)
        if first is not ref:
            names = (ref.name, first.name) if ref.word == first.word else (ref, first)
            warnings.warn(
                "{} is left out, because it has the same examples as {}".format(*names), stacklevel=3
            )
    return tuple(distinct.values())

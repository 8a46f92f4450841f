"""A call: the words of a command, the same as keywords, and data of one's own, before they are a plan."""

import shlex
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from omkl.config import Plan, Setting
from omkl.config import plan as make_plan
from omkl.config.parameters import word_text
from omkl.config.request import Request
from omkl.data import DataRef, find, registry
from omkl.data.arrays import from_arrays, in_rows_of
from omkl.data.dataset import Dataset
from omkl.data.ref import Parsed, of_dataset
from omkl.errors import UserError, counted, show, with_article
from omkl.others.traits import is_estimator

LABEL = "y=..."  # the column of labels that are given beside a frame
OF_CALLS = {"jobs": "jobs=2", "fresh": "fresh=True", "progress": "progress=False", "stored": "stored=True"}
_RUNNING = "omkl.run, sweep, tune, bounds, table and claims"
_DATA_FRAME = "what comes back has .table, a DataFrame, to"
INSTEAD = {  # of options that are no keywords
    "by": "what comes back has .by(MEASURE)",
    "columns": f"{_DATA_FRAME} select from",
    "dry_run": "stored=True runs nothing and returns what is stored; `omkl run --dry-run` counts the cells",
    "fail_fast": "what comes back has .failed, the cells that failed",
    "format": "what comes back has .to_markdown(), .to_latex() and .to_html()",
    "out": "what comes back has .report(PATH) or .save(PATH)",
    "quiet": "progress=False shows no bar",
    "sort": f"{_DATA_FRAME} sort",
}

_OF_TASK = {"algo", "task", "positive", "settings"}  # keys that say which task the data are for


@dataclass(frozen=True)
class Call:
    """What a command or a function is asked for.

    words: as typed    values: plain values by key, which a word goes before    data: in place of ``data=``
    typed: the whole command line, where there is one
    """

    words: list[str]
    values: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[DataRef, ...] = ()
    typed: str = ""

    @classmethod
    def of(
        cls, words: Any, data: Any = None, y: Any = None, label: str | None = None, **settings: Any
    ) -> "Call":
        """Return the call of a function's arguments; data may come first, in place of words.

        Raises UserError for data that cannot be taken.
        """
        if not isinstance(words, str):
            if data is not None:
                raise UserError(
                    f"the first argument must be settings such as 'algo=arow', got {_kind(words)}"
                )
            words, data = "", words
        data, y = _features_and_labels(data, y)
        given, values = shlex.split(words), {key: _plain(value) for key, value in settings.items()}
        if "algo" in values:
            values["algo"] = _learners(values["algo"])
        _refuse_options(given)
        _check_once(given, data=data, y=y, label=label, **values)
        names = [*map(str, data)] if isinstance(data, Mapping) else []
        sets = list(data.values()) if isinstance(data, Mapping) else _listed(data)
        _check_labels(sets, y, label, _name_data(given, values))
        if y is not None and any(map(_is_frame, sets)):
            sets = [_with_labels(one, y) if _is_frame(one) else one for one in sets]
            values["label"] = LABEL
        if label is not None:
            values["label"] = label
        if _are_files(sets) and not names:  # words, or none
            return cls(given, values | ({"data": [*map(str, sets)]} if sets else {}))
        refs = _refs(sets, y, names, given, values)
        if all(isinstance(ref, Parsed) for ref in refs):
            if label is not None:
                fault = "is for a column of a frame or a file; y=... gives the labels of an array"
                raise UserError(f"label={label} {fault}")
            values.pop("task", None)
        return cls(given, values, tuple(map(_named, refs, names) if names else refs))

    def plan(self, sweep: bool = False) -> Plan:
        """Return the plan; sweep: whether hyperparameters may have several values."""
        self.check_options()
        others = () if self.typed else OF_CALLS
        values, names = self._each(sweep)
        plan = make_plan(self.words, sweep=sweep, values=values, data=self.data, others=others)
        return replace(plan, swept=(*plan.swept, *(f"algo.{name}" for name in names)))

    def _each(self, sweep: bool) -> tuple[Mapping[str, Any], list[str]]:
        """Return the values with a learner for each combination of what objects have several of, and what.

        Raises UserError where there is no sweep, or for a range.
        """
        if not any(getattr(one, "several", None) for one in self.values.get("algo", ())):
            return self.values, []
        from omkl.others.copies import with_params

        names: dict[str, None] = {}
        learners: list[Any] = []
        for one in self.values["algo"]:
            several = getattr(one, "several", {})
            for key, value in several.items():
                if not sweep or not isinstance(value, list):
                    takes = "takes one value here; omkl.sweep takes a list, omkl.tune a list or a range"
                    raise UserError(f"{one.learner}: {key}={show(value)}: {takes}")
            names |= dict.fromkeys(several)
            combinations = [dict(zip(several, each, strict=True)) for each in product(*several.values())]
            occasion = uuid.uuid4().hex
            learners += (
                [
                    setting_of(with_params(one.model, each), one.label, occasion, dict.fromkeys(each))
                    for each in combinations
                ]
                if several
                else [one]
            )
        return {**self.values, "algo": learners}, list(names)

    def searching(self) -> "Call":
        """Return the call whose objects are searched where they have several values or a range."""
        learners = [
            setting_of(one.model, one.label, uuid.uuid4().hex, one.several)
            if getattr(one, "several", None)
            else one
            for one in self.values.get("algo", ())
        ]
        return replace(self, values={**self.values, "algo": learners}) if learners else self

    def request(self, sweep: bool = False, others: Iterable[str] = ()) -> Request:
        """Return the words over conf/config.yaml; sweep: as of `plan`; others: keys to suggest, too."""
        return Request(self.words, sweep, self.values, others)

    def check_options(self, others: Iterable[str] = ()) -> None:
        """Raise UserError for an option of the command among the settings; others: keys that are settings."""
        given = {word.partition("=")[0].replace("-", "_"): word for word in self.words}
        given |= {key: word_text(key, value) for key, value in self.values.items()}
        for key in () if self.typed else [key for key in given if key not in others]:
            if key in OF_CALLS:
                how = f"{key} is no setting but a keyword argument of {_RUNNING}"
                raise UserError(f"{given[key]}: {how}, outside of the words: {OF_CALLS[key]}")
            if key in INSTEAD:
                raise UserError(f"{given[key]}: {_no_keyword(key)}")

    def line(self, verb: str) -> str:
        """Return the command line that says the same, for captions; objects have a call of Python."""
        if self.typed:
            return self.typed
        if any(isinstance(one, Setting) and one.spec.is_object for one in self.values.get("algo", ())):
            texts = {key: repr(value) for key, value in self.values.items()}
            texts |= {"algo": f"[{', '.join(map(str, self.values['algo']))}]"}
            texts |= {"data": f"[{', '.join(map(str, self.data))}]"} if self.data else {}
            words = [repr(" ".join(self.words))] if self.words else []
            return f"omkl.{verb}({', '.join([*words, *(f'{key}={text}' for key, text in texts.items())])})"
        shown = [word_text(key, value) for key, value in self.values.items()]
        shown += [f"data={','.join(map(str, self.data))}"] if self.data else []
        return shlex.join(["omkl", verb, *self.words, *shown])


def setting_of(
    model: Any, label: str | None = None, occasion: str = "", several: Mapping[str, Any] = {}
) -> Setting:
    """Return an estimator as a learner with settings. Raises UserError for one that cannot learn online.

    occasion, several: as of `spec_of`
    """
    from omkl.others.objects import spec_of

    spec, params = spec_of(model, occasion, several)
    return Setting(spec.name, params, label=label)


def _learners(values: Any) -> list[Any]:
    """Return what ``algo=`` has, estimators as settings. Raises UserError for what is no learner."""
    learners: list[Any] = []
    kinds: dict[str, type] = {}
    occasion = uuid.uuid4().hex
    for value in values if isinstance(values, list) else [values]:
        model = value if is_estimator(value) else getattr(value, "model", None)  # of omkl.learner
        if model is not None:  # its class may have been defined again since
            setting = setting_of(model, None if value is model else value.label, occasion)
            if getattr(value, "several", None):  # until the call is known to sweep, or to tune
                setting = replace(value, learner=setting.learner, params=setting.params)
            if kinds.setdefault(setting.learner, type(model)) is not type(model):
                raise UserError(
                    f"algo: two classes are called {setting.learner}; give one of them another name"
                )
            learners.append(setting)
        elif isinstance(value, str | Setting):
            learners.append(value)
        else:
            fault = (
                "must be names, learners of omkl.learner(...) and omkl.refit(...), or estimators with "
                "partial_fit or learn_one"
            )
            raise UserError(f"algo={show(value)}: {fault}")
    return learners


def _refuse_options(words: list[str]) -> None:
    """Raise UserError for an option of the command line among the words."""
    option = next((word for word in words if word.startswith("-")), None)
    if option is not None:
        key = option.lstrip("-").partition("=")[0].replace("-", "_")
        usual = "options are keyword arguments here, such as jobs=2 or fresh=True"
        raise UserError(f"{option}: {_no_keyword(key) if key in INSTEAD else usual}")


def _refs(
    sets: list[Any], y: Any, names: list[str], words: list[str], values: Mapping[str, Any]
) -> list[DataRef]:
    """Return given data as data sets, for the task that the words and values say."""
    words = [word for word in words if word.partition("=")[0] in _OF_TASK]
    task = Request(words, True, {key: values[key] for key in _OF_TASK & values.keys()}).task()
    names = names or ["data", *(f"data{at}" for at in range(2, len(sets) + 1))]
    return [_ref(one, y, task, name) for one, name in zip(sets, names, strict=True)]


def _name_data(words: Iterable[str], values: Mapping[str, Any]) -> bool:
    return "settings" in values or any(word.startswith(("data=", "settings=")) for word in words)


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns")


def _are_files(sets: list[Any]) -> bool:
    return all(isinstance(one, str | Path) for one in sets)


def _check_labels(sets: list[Any], y: Any, label: str | None, named: bool) -> None:
    """Raise UserError for no data, and for labels that are given twice or beside a file.

    named: whether words name data
    """
    if not sets and not named:
        raise UserError(
            "no data: give a name, a path, a frame with label=..., or an array with y=..., such as "
            'data="wdbc"'
        )
    if _are_files(sets) and y is not None:
        raise UserError("y=... gives the labels of an array; a file's labels are a column, label=...")
    if y is not None and label is not None:
        raise UserError(f"label={label} and y=... both name the labels; give one of them")


def _no_keyword(option: str) -> str:
    return f"an option of the command that is no keyword here; {INSTEAD[option]}"


def _listed(data: Any) -> list[Any]:
    return list(data) if isinstance(data, list | tuple) else [] if data is None else [data]


def _ref(data: Any, y: Any, task: str, name: str) -> DataRef:
    """Return given data as a data set; name: of what is in memory. Raises UserError for what is none."""
    if isinstance(data, DataRef):
        return data
    if isinstance(data, Dataset):
        return of_dataset(data)
    if isinstance(data, str | Path):
        return find(str(data), task="auto")  # the plan has the task
    if _is_frame(data):
        from omkl.data.own_data import Own

        return Own(name, "auto", name, data)
    if not hasattr(data, "shape"):
        fault = "must be a name, a path, a frame, an array with y=..., or a list or mapping of these"
        raise UserError(f"data={show(data)}: {fault}")
    if y is None:
        raise UserError("an array has no labels; give them with y=...")
    return of_dataset(from_arrays(data, y, name=name, task=task), not hasattr(data, "tocsr"))


def _named(ref: DataRef, name: str) -> DataRef:
    """Return a data set under the name that a mapping gives it; a registered one keeps its own."""
    if ref.is_registered:
        return ref
    if registry.is_name(name) and not (
        isinstance(ref, Parsed) and ref.content_hash == find(name).content_hash
    ):
        raise UserError(f"data={{{name!r}: ...}}: {name} is a registered data set; choose another name")
    if ref.name == name:
        return ref
    return ref.named(name)


def _with_labels(frame: Any, y: Any) -> Any:
    """Return a frame with its labels as a further column."""
    from omkl.data.preparing.user_table import as_frame

    rows, labels = as_frame(frame), in_rows_of(frame, y)
    if len(labels) != len(rows):
        raise UserError(
            f"y=... has {counted(len(labels), 'label')}, but the frame has {counted(len(rows), 'row')}"
        )
    return rows.assign(**{LABEL: labels})


def _are_columns(data: Any) -> bool:
    """Whether data are a dict of columns: lists or arrays, each of numbers and texts, of one length."""
    if not isinstance(data, Mapping) or hasattr(data, "target") or not data:
        return False
    shapes = {_shape(column) for column in data.values()}
    return len(shapes) == 1 and len(shapes.pop()) == 1


def _shape(values: Any) -> tuple[int, ...]:
    """Return the shape of an array or of a list of numbers and texts, () of anything else."""
    if isinstance(values, np.ndarray):
        return values.shape
    is_flat = isinstance(values, list | tuple) and not any(
        hasattr(one, "__len__") and not isinstance(one, str) for one in values
    )
    return (len(values),) if is_flat else ()


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) and all(np.ndim(one) == 0 for one in value.values())


def _features_and_labels(data: Any, y: Any) -> tuple[Any, Any]:
    """Return the features and the labels of a pair of them, of a Bunch of scikit-learn, and of river's data.

    A dict of columns and a list of records become a frame.
    """
    import pandas as pd

    if type(data).__module__.startswith("river.") and hasattr(data, "n_features"):
        if not getattr(data, "n_samples", None):
            raise UserError(f"data={_kind(data)}: it has no end; give a frame of some of its rows")
        rows, labels = zip(*data, strict=True)
        return pd.DataFrame(list(rows)), pd.Series(labels) if y is None else y
    if _are_columns(data) or (isinstance(data, list) and data and all(map(_is_record, data))):
        return pd.DataFrame(data), y
    if y is None and _is_bunch(data):
        return data["data"], data["target"]
    if y is None and _is_pair(data):
        return data
    return data, y


def _is_bunch(data: Any) -> bool:
    """Whether data are those of scikit-learn's loaders, a mapping with attributes."""
    return isinstance(data, Mapping) and hasattr(data, "target") and {"data", "target"} <= data.keys()


def _is_pair(data: Any) -> bool:
    """Whether data are a tuple (X, y), and not two data sets."""
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    X, labels = data
    ranks = [len(getattr(one, "shape", ())) for one in data]
    if isinstance(labels, list):
        return ranks[0] == 2 and len(labels) == X.shape[0]
    return ranks == [2, 1] or (ranks == [2, 2] and not any(map(_is_frame, data)))


def _kind(value: Any) -> str:
    return with_article(type(value).__name__)


def _check_once(words: Iterable[str], **values: Any) -> None:
    """Raise UserError for a setting that is given as a word and as a keyword."""
    as_words = {word.partition("=")[0]: word for word in words}
    beside = {key: key for key, value in values.items() if value is not None}
    beside |= {"label": "y"} if beside.pop("y", None) else {}
    for key in [key for key in as_words if key in beside]:
        keyword = f"{beside[key]}=..." if key in ("data", "label") else word_text(key, values[key])
        raise UserError(
            f"'{key}' is given twice, in the words as {as_words[key]} and as the keyword {keyword}"
        )


def _plain(value: Any) -> Any:
    """Return a setting as words hold it: lists for tuples and arrays, plain numbers, texts for paths."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, tuple) else value

"""From the words of a command to a `Plan`, and to the configuration that `omkl show` prints (`resolved`)."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.config import compose, kernel_pools
from omkl.config.grammar import Request
from omkl.config.learners import learner_names, learner_spec, learner_specs
from omkl.config.parameters import parameters
from omkl.config.search import texts
from omkl.config.settings import Setting, settings, yardsticks
from omkl.config.spec import LearnerSpec
from omkl.data.recipe import AS_IT_IS, Preparation
from omkl.errors import UserError, suggest
from omkl.paths import store_folder
from omkl.tasks import by_task

if TYPE_CHECKING:
    from omkl.data import Dataset
    from omkl.data.registry import DataEntry

PREPARATION = tuple(field.name for field in fields(Preparation))  # keys of config.yaml
MOST_CELLS = 1_000_000  # each takes some kB of memory before the first one runs
REPS = {"permuted": 20, "authors": 20, "file": 1}  # where reps is null


@dataclass(frozen=True)
class Plan:
    """All that a run depends on: settings × data × repetitions 0..reps-1, and the yardsticks.

    order: file, permuted or authors    seed: base of the permutation seeds    store: folder of the results
    exec: ``{"name", ...options}``    swept: the keys given several values, such as ("algo.beta",)
    rounds: those of each repetition that are run, as ``START:STOP``, None for all
    block: examples that the engine computes at once, None for its own choice
    task: of the data that are files of the user's    preparation: of those that are tables
    """

    settings: tuple[Setting, ...]
    data: tuple[str, ...]
    reps: int
    seed: int
    order: str
    store: Path
    exec: dict[str, Any]
    yardsticks: tuple[Setting, ...]
    swept: tuple[str, ...]
    block: int | None
    task: str = "classification"
    preparation: Preparation = AS_IT_IS
    rounds: str | None = None

    @property
    def has_choice(self) -> bool:
        """Whether a learner has several settings, of which one is the best."""
        return len(self.settings) > len({setting.learner for setting in self.settings})

    def task_of(self, data: str) -> str:
        """Return the task of one of its data sets, as registered, else that of the user's files."""
        return _task_of(data, self.task)

    def load(self, data: str) -> "Dataset":
        """Return one of its data sets; the preparation is for tables. Raises as `omkl.data.load`."""
        import omkl.data

        if omkl.data.registry.is_name(data):
            return omkl.data.load(data)
        return omkl.data.load(data, task=self.task, preparation=self.preparation)

    @property
    def about_data(self) -> tuple[str, ...]:
        """What is to be known of the user's own files: which label is +1, how a table was scaled.

        And which sets have fewer examples than ``rounds`` asks for.
        """
        from omkl.data import registry

        own = [self.load(name) for name in self.data if not registry.is_name(name)]
        notes = [f"{dataset.name}: {note}" for dataset in own for note in dataset.notes]
        most = int((self.rounds or "").partition(":")[2] or 0)
        for name in self.data if most else ():
            T = registry.entry(name).T if registry.is_name(name) else self.load(name).T
            if most > T:
                notes.append(f"{name} has {T} examples, fewer than rounds={self.rounds} asks for")
        return tuple(notes)

    @property
    def classes(self) -> dict[str, tuple[str, ...]]:
        """The names of the classes of each data set that has them, by the set's name."""
        from omkl.data import registry

        own = [registry.entry(n) if registry.is_name(n) else self.load(n) for n in self.data]
        return {dataset.name: dataset.classes for dataset in own if dataset.classes}


def plan(overrides: list[str], *, sweep: bool = False, values: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan that the words of a command describe, every value checked.

    overrides: KEY=VALUE words. ``algo``, ``data``, ``pool`` and ``yardsticks`` take lists; a list of values
    for another key needs ``sweep``. values: plain values by key, in place of words; a word goes before them.
    A hyperparameter applies to those of the learners that have it; settings that come out equal are kept
    once. Raises UserError, one line, for whatever is not right.
    """
    request = Request(overrides, sweep, values)
    specs = list(learner_specs(request.names("algo", learner_names())).values())
    data = tuple(dict.fromkeys(_data(request)))
    tasks = list(dict.fromkeys(_task_of(name, request.value("task")) for name in data))
    preparation = _preparation(request, data)
    if request.has_pattern():
        known = [_known(name, request.value("task"), preparation) for name in data]
        specs = _suitable(specs, tasks, known, request)
    chosen, swept = settings(request, specs, tasks)
    order = request.value("order")
    made = Plan(
        settings=chosen,
        data=data,
        reps=request.value("reps") or REPS[order],
        seed=request.value("seed"),
        order=order,
        store=store_folder(request.value("store")),
        exec=_exec(request),
        yardsticks=yardsticks(request, chosen, tasks),
        swept=tuple(key for key in request.given if key in swept),
        block=request.value("block"),
        task=request.value("task"),
        preparation=preparation,
        rounds=request.value("rounds"),
    )
    made = replace(made, data=_distinct(made))
    total = (len(chosen) + len(made.yardsticks)) * len(made.data) * made.reps
    if total > MOST_CELLS:
        raise UserError(f"reps={made.reps}: that makes {total} cells; at most {MOST_CELLS} are possible")
    return made


def resolved(overrides: list[str]) -> dict[str, Any]:
    """Return the configuration as plain data: what would run, and for each hyperparameter what it means."""
    from omkl.data import registry

    made = plan(overrides)
    shown: dict[str, Any] = {"data": list(made.data)}
    shown |= {key: getattr(made, key) for key in ("order", "rounds", "reps", "seed", "block", "exec")}
    if not all(registry.is_name(spec) for spec in made.data):
        shown["task"] = made.task
        shown |= {key: getattr(made.preparation, key) for key in PREPARATION}
        shown |= {key: list(value) for key, value in shown.items() if isinstance(value, tuple)}
        shown["notes"] = list(made.about_data)
    shown["store"] = str(made.store)
    shown["yardsticks"] = [setting.learner for setting in made.yardsticks]
    shown["pool"], shown["algo"] = {}, {}
    for setting in made.settings:
        spec = learner_spec(setting.learner)
        if setting.pool:
            shown["pool"][setting.pool["name"]] = {k: v for k, v in setting.pool.items() if k != "name"}
        hyper: dict[str, dict[str, Any]] = {}
        for name, own in spec.hyperparameters.items():
            hyper[name] = {"value": setting.params[name]}
            if by_task(own.value):  # the default depends on the task
                if setting.task and setting.params[name] == own.value[setting.task]:
                    hyper[name] = {"value": own.value}  # there are data of several tasks
                hyper[name]["default"] = own.value
            hyper[name] |= {"domain": own.domain, "help": own.help}
            if own.search:
                hyper[name]["search"] = texts(own.search)
        code = "estimator" if spec.estimator else "function"
        about = ("label", "cite", code, "tasks", "kernels", "revision")
        shown["algo"][spec.name] = {**{key: getattr(spec, key) for key in about}, "hyperparameters": hyper}
    return shown


def _task_of(data: str, task: str) -> str:
    from omkl.data import registry

    return registry.entry(data).task if registry.is_name(data) else task


def _known(data: str, task: str, preparation: Preparation) -> "DataEntry | Dataset":
    """Return what says how many examples and classes a data set has: its entry, or the user's file."""
    from omkl.data import load, registry

    return registry.entry(data) if registry.is_name(data) else load(data, task=task, preparation=preparation)


def _data(request: Request) -> Iterator[str]:
    """Yield the data sets of a request, aliases under their registered names."""
    from omkl.data import registry

    for spec in request.names("data", registry.names()):
        if registry.is_name(spec):
            item = registry.entry(spec)
            if "task" in request.given and item.task != request.value("task"):
                raise UserError(
                    f"{request.given['task'].text}: data={item.name} is registered for {item.task};"
                    " task=... is for files of your own"
                )
            yield item.name
        elif os.path.isfile(os.path.expanduser(spec)):
            yield spec
        else:
            near = suggest(spec, registry.names()) or "; `omkl list data` shows them"
            word = compose.shown(f"data={spec}")
            raise UserError(f"{word}: neither a registered data set nor a file{near}")


def _distinct(made: Plan) -> tuple[str, ...]:
    """Return the data sets of a plan, of those with the same examples the first; a note names the others.

    The key of a cell has the examples, not the name: two names would have the same cells.
    """
    from omkl.data import registry

    if len(made.data) == 1:
        return made.data
    names: dict[tuple[str, str], str] = {}
    for name in made.data:
        own = registry.entry(name) if registry.is_name(name) else made.load(name)
        first = names.setdefault((own.content_hash, own.task), name)
        if first != name:
            warnings.warn(f"left out, as it has the same examples as {first}: {name}", stacklevel=3)
    return tuple(names.values())


def _suitable(
    specs: list[LearnerSpec], tasks: list[str], data: Sequence["DataEntry | Dataset"], request: Request
) -> list[LearnerSpec]:
    """Return those of many learners that suit these tasks, data and pools; a note names the others.

    A learner that is named itself stays: then it is a mistake.
    """
    most, least = max(data, key=lambda own: own.n_classes), min(data, key=lambda own: own.T)
    named = request.named_learners()
    given = request.names("pool", kernel_pools.pool_names()) if "pool" in request.given else []
    kinds = {kernel["kind"] for pool in kernel_pools.pools(given) for kernel in pool["kernels"]}
    reasons: dict[str, list[LearnerSpec]] = {}
    for spec in specs:
        if spec.name not in named and not set(spec.tasks) & set(tasks):
            reasons.setdefault(f"not for {' and '.join(tasks)}", []).append(spec)
        elif spec.name not in named and not spec.takes(most.n_classes):
            reasons.setdefault(f"not for the {most.n_classes} classes of {most.name}", []).append(spec)
        elif spec.name not in named and spec.kernels == "pool" and kinds - {spec.pool} and spec.pool != "any":
            reasons.setdefault(f"not for {request.given['pool'].text}", []).append(spec)
        elif spec.name not in named and _usual_budget(spec, request) > least.T:
            few = f"{least.name} has {least.T} examples, fewer than the usual budget (set algo.budget=N)"
            reasons.setdefault(few, []).append(spec)
    left_out = [spec for some in reasons.values() for spec in some]
    if len(left_out) == len(specs):
        return specs  # the first one's own message says why
    for reason, some in reasons.items():
        names = ", ".join(spec.name for spec in some)
        warnings.warn(f"left out, as {reason}: {names}", stacklevel=2)
    return [spec for spec in specs if spec not in left_out]


def _usual_budget(spec: LearnerSpec, request: Request) -> int:
    """Return the budget that a learner has by default; 0 if it has none or another one was asked for."""
    usual = spec.defaults[spec.budget] if spec.budget else None
    return usual if isinstance(usual, int) and f"algo.{spec.budget}" not in request.given else 0


def _preparation(request: Request, data: tuple[str, ...]) -> Preparation:
    """Return how the user's tables are prepared. Raises UserError where there is none to prepare."""
    from omkl.data import registry

    given = {key: request.value(key) for key in PREPARATION}
    own = [name for name in data if not registry.is_name(name)]
    for key in PREPARATION:
        if key in request.given and not own:
            raise UserError(
                f"{request.given[key].text}: data={','.join(data)} is registered; {key} is for your own file"
            )
    return Preparation.from_json(given)


def _exec(request: Request) -> dict[str, Any]:
    name = compose.known_option("exec", request.value("exec"), "executor")
    options = parameters(compose.read("exec", [name])[name], compose.file("exec", name))
    values = {"name": name, **{option: own.value for option, own in options.items()}}
    for option, override in request.parts("exec").items():
        if option not in options:
            hint = suggest(option, options) or f"; it has {', '.join(options) or 'none'}"
            raise UserError(f"{override.text}: exec={name} has no option '{option}'{hint}")
        values[option] = override.checked(options[option].check)[0]
    return values

"""From the words of a command to what is to be run: `plan`, and to what `omkl show` prints: `resolved`."""

import itertools
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.config import compose, domains, kernel_pools
from omkl.config.budgets import check_budget
from omkl.config.hyperparameters import domain
from omkl.config.learners import AlgoSpec, algo_names, algo_spec, algo_specs, hyperparameters, typed_values
from omkl.config.request import Request, checked
from omkl.errors import UserError, suggest
from omkl.paths import store_folder
from omkl.tasks import by_task, for_task

MOST_SETTINGS = 100_000
MOST_CELLS = 1_000_000  # each takes some kB of memory before the first one runs
REPS = {"permuted": 20, "authors": 20, "file": 1}  # where reps is null


@dataclass(frozen=True)
class Setting:
    """One learner with its hyperparameters, in canonical form, on one pool (None unless it uses one).

    task: of the data that it is for, where a plan has data of several tasks and the hyperparameters depend on
    the task; None for all data
    """

    algo: str
    params: dict[str, Any]
    pool: dict[str, Any] | None
    task: str | None = None

    def fits(self, task: str) -> bool:
        """Whether it is for data of this task."""
        return self.task is None or self.task == task


@dataclass(frozen=True)
class Plan:
    """All that a run depends on: settings × data × repetitions 0..reps-1, and the yardsticks beside them.

    order: file, permuted or authors    seed: base of the permutation seeds    store: folder of the results
    exec: ``{"name", ...options}``    swept: the keys given several values, such as ("algo.beta",)
    block: examples that the engine computes at once, None for its own choice
    task: of the data that are files of the user's
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

    def task_of(self, data: str) -> str:
        """Return the task of one of its data sets, as registered, else that of the user's files."""
        return _task_of(data, self.task)


def plan(overrides: list[str], *, sweep: bool = False) -> Plan:
    """Return what the words of a command ask for, every value checked.

    overrides: KEY=VALUE words. ``algo``, ``data``, ``pool`` and ``yardsticks`` take lists; a list of values
    for another key needs ``sweep``. A hyperparameter applies to those of the learners that have it; settings
    that come out equal are kept once. Raises UserError, one line, for whatever is not right.
    """
    request = Request(overrides, sweep)
    specs = list(algo_specs(request.names("algo", algo_names())).values())
    axes = {name: _axis(name, override, specs) for name, override in request.parts("algo").items()}
    chosen, swept = _pools(request, specs)
    data = tuple(_data(request))
    tasks = list(dict.fromkeys(_task_of(name, request.value("task")) for name in data))
    swept += [f"algo.{name}" for name, axis in axes.items() if max(map(len, axis.values())) > 1]
    settings = _distinct(_grid(specs, axes, chosen, tasks))
    order = request.value("order")
    asked = Plan(
        settings=settings,
        data=data,
        reps=request.value("reps") or REPS[order],
        seed=request.value("seed"),
        order=order,
        store=store_folder(request.value("store")),
        exec=_exec(request),
        yardsticks=_yardsticks(request, settings, tasks),
        swept=tuple(key for key in request.given if key in swept),
        block=request.value("block"),
        task=request.value("task"),
    )
    total = (len(settings) + len(asked.yardsticks)) * len(asked.data) * asked.reps
    if total > MOST_CELLS:
        raise UserError(f"reps={asked.reps}: that makes {total} cells; at most {MOST_CELLS} are possible")
    return asked


def resolved(overrides: list[str]) -> dict[str, Any]:
    """Return the configuration as plain data: what would run, and for each hyperparameter what it means."""
    from omkl.data import registry

    asked = plan(overrides)
    found: dict[str, Any] = {"data": list(asked.data)}
    found |= {key: getattr(asked, key) for key in ("order", "reps", "seed", "block", "exec")}
    if not all(registry.is_name(spec) for spec in asked.data):
        found["task"] = asked.task
    found["store"] = str(asked.store)
    found["yardsticks"] = [setting.algo for setting in asked.yardsticks]
    found["pool"], found["algo"] = {}, {}
    for setting in asked.settings:
        spec = algo_spec(setting.algo)
        if setting.pool:
            found["pool"][setting.pool["name"]] = {k: v for k, v in setting.pool.items() if k != "name"}
        about = ("label", "cite", "function", "tasks", "kernels", "revision")
        found["algo"][spec.name] = {
            **{key: getattr(spec, key) for key in about},
            "hyperparameters": {
                name: {**_value(spec, name, setting), "domain": spec.domains[name], "help": spec.help[name]}
                for name in setting.params
            },
        }
    return found


def _value(spec: AlgoSpec, name: str, setting: Setting) -> dict[str, Any]:
    """Return what `omkl show` says of a value: with its default where that depends on the task."""
    value, default = setting.params[name], spec.defaults[name]
    if not by_task(default):
        return {"value": value}
    if setting.task and value == default[setting.task]:
        value = default  # there are data of several tasks
    return {"value": value, "default": default}


def _task_of(data: str, task: str) -> str:
    from omkl.data import registry

    return registry.entry(data).task if registry.is_name(data) else task


def _data(request: Request) -> Iterator[str]:
    """Yield the data sets asked for, aliases under their registered names, each once."""
    from omkl.data import registry

    seen = set()
    for spec in request.names("data", registry.names()):
        if registry.is_name(spec):
            item = registry.entry(spec)
            spec = item.name
            if "task" in request.given and item.task != request.value("task"):
                raise UserError(
                    f"{request.given['task'].text}: data={spec} is registered for {item.task};"
                    " task=... is for files of your own"
                )
        elif not os.path.isfile(os.path.expanduser(spec)):
            near = suggest(spec, registry.names()) or "; `omkl list data` shows them"
            raise UserError(
                f"{compose.shown(f'data={spec}')}: neither a registered data set nor a file{near}"
            )
        if spec not in seen:
            seen.add(spec)
            yield spec


def _exec(request: Request) -> dict[str, Any]:
    name = compose.known_option("exec", request.value("exec"), "executor")
    content = compose.read("exec", [name])[name]
    values = {"name": name, **typed_values(content, compose.file("exec", name))}
    forms = content["about"]["domains"]
    for option, override in request.parts("exec").items():
        if option not in forms:
            hint = suggest(option, forms) or f"; it has {', '.join(forms) or 'none'}"
            raise UserError(f"{override.text}: exec={name} has no option '{option}'{hint}")
        values[option] = checked(override, domains.parse(forms[option]).check)[0]
    return values


def _axis(name: str, override: Any, specs: list[AlgoSpec]) -> dict[str, list[Any]]:
    """Return a hyperparameter's values for each learner that has it, by learner."""
    axis = {}
    for spec in specs:
        if name in spec.defaults:
            form = spec.domains[name]
            check = check_budget if form == "budget" else domain(form).check
            axis[spec.name] = checked(override, check, f" ({spec.name}: {spec.help[name]})")
    if not axis:
        chosen, known = ",".join(spec.name for spec in specs), hyperparameters(specs)
        others = [other.name for other in algo_specs().values() if name in other.defaults]
        hint = f"; {', '.join(others)} can take it" if others else suggest(f"algo.{name}", known)
        hint = hint or f"; there is {', '.join(known) or 'none'}"
        raise UserError(f"{override.text}: algo={chosen} has no hyperparameter '{name}'{hint}")
    return axis


def _pools(request: Request, specs: list[AlgoSpec]) -> tuple[dict[str, list[dict]], list[str]]:
    """Return each learner's pools, changed as asked, and which ``pool.*`` keys take several values.

    These are the pools asked for; where none is, a learner's usual one, else that of config.yaml.
    """
    parts = request.parts("pool")
    if not any(spec.kernels == "pool" for spec in specs):
        for override in [request.given[key] for key in request.given if key == "pool"] + [*parts.values()]:
            names = ",".join(spec.name for spec in specs)
            own = "; its kernel is algo.kernel" if any(spec.kernels == "own" for spec in specs) else ""
            raise UserError(f"{override.text}: algo={names} uses no kernel pool{own}")
        return {}, []
    asked = request.names("pool", kernel_pools.pool_names())
    changes = {part: checked(override, kernel_pools.PARTS[part]) for part, override in parts.items()}
    chosen = {}
    for spec in specs:
        if spec.kernels == "pool":
            usual = spec.usual_pool and "pool" not in request.given
            chosen[spec.name] = _changed([spec.usual_pool] if usual else asked, changes)
    return chosen, [f"pool.{part}" for part, values in changes.items() if len(values) > 1]


def _changed(names: list[str], changes: dict[str, list]) -> list[dict]:
    found = kernel_pools.pools(names)
    if not changes:
        return found
    named = kernel_pools.pools(kernel_pools.pool_names())
    choices = [dict(zip(changes, values, strict=True)) for values in itertools.product(*changes.values())]
    return [kernel_pools.changed(base, choice, named) for base in found for choice in choices]


def _grid(
    specs: list[AlgoSpec], axes: dict[str, dict[str, list]], chosen: dict[str, list[dict]], tasks: list[str]
) -> Iterator[Setting]:
    """Yield learners × pools (for those that use one) × values of the hyperparameters they have."""
    grids = [
        (
            spec,
            chosen.get(spec.name, [None]),
            {name: axis[spec.name] for name, axis in axes.items() if spec.name in axis},
        )
        for spec in specs
    ]
    total = sum(len(used) * math.prod(map(len, own.values())) for _, used, own in grids)
    if total > MOST_SETTINGS:
        raise UserError(f"the grid has {total} settings; at most {MOST_SETTINGS} are possible")
    for spec, used, own in grids:
        for pool in used:
            if pool:
                spec.check_pool(pool)
            for values in itertools.product(*own.values()):
                params = {**spec.defaults, **dict(zip(own, values, strict=True))}
                for setting in _by_task(spec, params, pool, tasks):
                    spec.check_together(setting.params)
                    yield setting


def _by_task(spec: AlgoSpec, params: dict, pool: dict | None, tasks: list[str]) -> Iterator[Setting]:
    """Yield the settings that these hyperparameters, some of them by task, are on data of these tasks."""
    fit = [task for task in tasks if task in spec.tasks] or spec.tasks[:1]
    several = len(fit) > 1 and any(map(by_task, params.values()))
    for task in fit if several else fit[:1]:
        yield Setting(spec.name, for_task(params, task), pool, task if several else None)


def _distinct(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    return tuple({_identity(setting): setting for setting in settings}.values())


def _identity(setting: Setting) -> str:
    """Return what makes two settings the same; a pool's name does not count."""
    pool = setting.pool and (setting.pool["normalise"], setting.pool["kernels"])
    return repr((setting.algo, setting.params, pool, setting.task))


def _yardsticks(request: Request, settings: tuple[Setting, ...], tasks: list[str]) -> tuple[Setting, ...]:
    """Return the yardsticks with their defaults, less those that are among the settings already."""
    specs = algo_specs(request.names("yardsticks", algo_names())).values()
    for spec in specs:
        if not spec.yardstick:
            fit = [name for name, other in algo_specs().items() if other.yardstick]
            raise UserError(f"yardsticks: {spec.name} is not one; these are: {', '.join(fit)}")
    taken = {_identity(setting) for setting in settings}
    own = (setting for spec in specs for setting in _by_task(spec, spec.defaults, None, tasks))
    return tuple(setting for setting in own if _identity(setting) not in taken)

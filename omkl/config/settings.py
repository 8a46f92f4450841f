"""The settings of a plan: learners with their hyperparameters and pools, every combination once."""

import itertools
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from omkl.config import compose, domains, kernel_pools
from omkl.config.grammar import Override, Request
from omkl.config.learners import check_budget, hyperparameters, learner_names, learner_specs
from omkl.config.spec import LearnerSpec
from omkl.errors import UserError, suggest
from omkl.tasks import by_task, for_task

MOST_SETTINGS = 100_000


@dataclass(frozen=True)
class Setting:
    """One learner with its hyperparameters, in canonical form, on one pool (None unless it uses one).

    task: of the data that it is for, where a plan has data of several tasks and the hyperparameters depend on
    the task; None for all data
    """

    learner: str
    params: dict[str, Any]
    pool: dict[str, Any] | None
    task: str | None = None

    @property
    def kernel_pool(self) -> dict[str, Any] | None:
        """The kernels that it runs on, ``{"normalise", "kernels"}``, None for a learner without."""
        return kernel_pools.kernel_pool(self.params, self.pool)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Its kernels in order, none for a learner without."""
        pool = self.kernel_pool
        return pool["kernels"] if pool else []

    def fits(self, task: str) -> bool:
        """Whether it is for data of this task."""
        return self.task is None or self.task == task


def settings(
    request: Request, specs: list[LearnerSpec], tasks: list[str]
) -> tuple[tuple[Setting, ...], list[str]]:
    """Return the settings of these learners on data of these tasks, and which keys take several values."""
    specs, parts = _learners(request, specs)
    axes = {name: _axis(name, override, specs) for name, override in parts.items()}
    chosen, swept = _pools(request, specs)
    swept += [f"algo.{name}" for name, axis in axes.items() if max(map(len, axis.values())) > 1]
    distinct = {_identity(setting): setting for setting in _grid(specs, axes, chosen, tasks)}
    return tuple(distinct.values()), swept


def yardsticks(request: Request, settings: tuple[Setting, ...], tasks: list[str]) -> tuple[Setting, ...]:
    """Return the yardsticks with their defaults, without those that are among the settings already."""
    names = request.names("yardsticks", learner_names())
    for name in names:
        if name not in learner_names() or not learner_specs([name])[name].yardstick:
            fit = [known for known, other in learner_specs().items() if other.yardstick]
            near = suggest(name, fit) or f"; these are: {', '.join(fit)}"
            given = compose.shown(f"yardsticks={name}")
            raise UserError(f"{given} is not a yardstick{near}; yardsticks=[] means none")
    specs = learner_specs(names).values()
    taken = {_identity(setting) for setting in settings}
    own = (setting for spec in specs for setting in _by_task(spec, spec.defaults, None, tasks))
    return tuple(setting for setting in own if _identity(setting) not in taken)


def _learners(request: Request, specs: list[LearnerSpec]) -> tuple[list[LearnerSpec], dict[str, Override]]:
    """Return the learners that are meant and the words about their hyperparameters.

    A former hyperparameter that chose between learners (``variant`` of adaraker) still does, with a warning.
    """
    parts = request.parts("algo")
    chosen: dict[str, LearnerSpec] = {}
    for spec in specs:
        names = [spec.name]
        for old in spec.renamed.keys() & parts.keys():
            check = domains.parse(list(spec.renamed[old]))
            names = [spec.renamed[old][value] for value in parts[old].checked(check)]
            warnings.warn(
                f"algo={spec.name} {parts[old].text} is now algo={','.join(names)}; "
                f"{spec.name} no longer has the hyperparameter '{old}'",
                stacklevel=2,
            )
        chosen |= learner_specs(names)
    known = {name for spec in chosen.values() for name in spec.hyperparameters}
    dropped = {old for spec in specs for old in spec.renamed}
    dropped |= {name for spec in specs for name in spec.hyperparameters if spec.name not in chosen}
    parts = {name: word for name, word in parts.items() if name in known or name not in dropped}
    return list(chosen.values()), parts


def _axis(name: str, override: Override, specs: list[LearnerSpec]) -> dict[str, list[Any]]:
    """Return a hyperparameter's values for each learner that has it, by learner."""
    axis = {}
    for spec in specs:
        if own := spec.hyperparameters.get(name):
            check = check_budget if name == spec.budget else own.check
            axis[spec.name] = override.checked(check, f" ({spec.name}: {own.help})")
    if not axis:
        chosen, known = ",".join(spec.name for spec in specs), hyperparameters(specs)
        others = [other.name for other in learner_specs().values() if name in other.defaults]
        hint = f"; {', '.join(others)} can take it" if others else suggest(f"algo.{name}", known)
        hint = hint or f"; it has {', '.join(known) or 'none'}"
        raise UserError(f"{override.text}: algo={chosen} has no hyperparameter '{name}'{hint}")
    return axis


def _pools(request: Request, specs: list[LearnerSpec]) -> tuple[dict[str, list[dict]], list[str]]:
    """Return each learner's pools, with the request's changes, and which ``pool.*`` keys take several values.

    These are the pools of the request; where it names none, a learner's usual one, else that of config.yaml.
    """
    given, parts = request.given.get("pool"), request.parts("pool")
    users = [spec for spec in specs if spec.kernels == "pool"]
    if not users:
        for override in [*([given] if given else []), *parts.values()]:
            names = ",".join(spec.name for spec in specs)
            own = "; its kernel is algo.kernel" if any(spec.kernels == "own" for spec in specs) else ""
            raise UserError(f"{override.text}: algo={names} uses no kernel pool{own}")
        return {}, []
    requested = request.names("pool", kernel_pools.pool_names())
    changes = {part: override.checked(kernel_pools.PARTS[part]) for part, override in parts.items()}
    choices = [dict(zip(changes, values, strict=True)) for values in itertools.product(*changes.values())]
    named = kernel_pools.pools(kernel_pools.pool_names()) if changes else []
    chosen = {}
    for spec in users:
        usual = [spec.usual_pool] if spec.usual_pool and not given else requested
        bases = kernel_pools.pools(usual)
        chosen[spec.name] = [
            kernel_pools.changed(base, choice, named) for base in bases for choice in choices
        ]
    return chosen, [f"pool.{part}" for part, values in changes.items() if len(values) > 1]


def _grid(
    specs: list[LearnerSpec],
    axes: dict[str, dict[str, list]],
    chosen: dict[str, list[dict]],
    tasks: list[str],
) -> Iterator[Setting]:
    """Yield learners × pools (for those that use one) × values of the hyperparameters they have."""
    grids = []
    for spec in specs:
        own = {name: axis[spec.name] for name, axis in axes.items() if spec.name in axis}
        grids.append((spec, chosen.get(spec.name, [None]), own))
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


def _by_task(spec: LearnerSpec, params: dict, pool: dict | None, tasks: list[str]) -> Iterator[Setting]:
    """Yield the settings that these hyperparameters, some of them by task, are on data of these tasks."""
    fit = [task for task in tasks if task in spec.tasks] or spec.tasks[:1]
    several = len(fit) > 1 and any(map(by_task, params.values()))
    for task in fit if several else fit[:1]:
        yield Setting(spec.name, for_task(params, task), pool, task if several else None)


def _identity(setting: Setting) -> str:
    """Return what makes two settings the same; a pool's name does not count."""
    pool = setting.pool and (setting.pool["normalise"], setting.pool["kernels"])
    return repr((setting.learner, setting.params, pool, setting.task))

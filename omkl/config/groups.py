"""Groups of learners: ``algo=budget`` means all of one; conf/groups.yaml says what each has in common.

Most follow from what conf/algo says of each learner. Its file may name further ones under ``about.groups``.
"""

from collections.abc import Callable

from omkl.config import compose
from omkl.config.learners import learner_names, learner_specs
from omkl.config.spec import LearnerSpec
from omkl.resources.state import limits
from omkl.tasks import TASKS

ALL = "all"


def _bounded(spec: LearnerSpec) -> bool:
    return not any(resource.unlimited(spec.defaults) for resource in spec.state.values())


def _has_budget(spec: LearnerSpec) -> bool:
    return any(spec.defaults[name] is not None for name in limits(spec.state))


def _for(task: str) -> Callable[[LearnerSpec], bool]:
    return lambda spec: task in spec.tasks


_BELONGS: dict[str, Callable[[LearnerSpec], bool]] = {
    ALL: lambda spec: True,
    **{task: _for(task) for task in TASKS},
    "multiclass": lambda spec: spec.takes(3),
    "pooled": lambda spec: spec.kernels == "pool",
    "single": lambda spec: spec.kernels == "own",
    "budget": _has_budget,
    "features": lambda spec: any(resource.frequencies for resource in spec.state.values()),
    "bounded": _bounded,
    "yardsticks": lambda spec: spec.yardstick,
}


def groups() -> dict[str, list[str]]:
    """Return the names of each group's learners, sorted, by the group's name."""
    specs = learner_specs().values()
    made = {name: [spec.name for spec in specs if belongs(spec)] for name, belongs in _BELONGS.items()}
    for spec in specs:
        for name in spec.groups:
            if spec.name not in made.setdefault(name, []):
                made[name].append(spec.name)
    return made


def meanings() -> dict[str, str]:
    """Return what the learners of a group have in common, by its name; a user's family has none."""
    return compose.read("", ["groups"])["groups"]


def members(name: str) -> list[str]:
    """Return the learners of a group, none where it is no group."""
    if name == ALL:
        return learner_names()
    return [] if name in learner_names() else groups().get(name, [])

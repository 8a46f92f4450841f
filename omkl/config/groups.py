"""Groups of learners: ``algo=budget`` means all of one. Most follow from what conf/algo says of each.

A learner's file may name further groups of its own under ``about.groups``.
"""

from collections.abc import Callable

from omkl.config.learners import LearnerSpec, learner_names, learner_specs
from omkl.config.state import ExpansionForm, FeaturesForm
from omkl.tasks import TASKS

ALL = "all"


def _bounded(spec: LearnerSpec) -> bool:
    kept = [form for form in spec.state.values() if isinstance(form, ExpansionForm)]
    return not any(form.unless is None or spec.defaults[form.unless] is None for form in kept)


def _for(task: str) -> Callable[[LearnerSpec], bool]:
    return lambda spec: task in spec.tasks


_MEANINGS: dict[str, tuple[str, Callable[[LearnerSpec], bool]]] = {
    ALL: ("every learner", lambda spec: True),
    **{task: (f"for {task}", _for(task)) for task in TASKS},
    "pooled": ("runs on a pool of kernels (pool=...)", lambda spec: spec.kernels == "pool"),
    "single": ("has one kernel of its own (algo.kernel=...)", lambda spec: spec.kernels == "own"),
    "budget": ("stores at most algo.budget vectors per kernel", lambda spec: spec.budget is not None),
    "features": (
        "uses random features and stores no vectors",
        lambda spec: any(isinstance(form, FeaturesForm) for form in spec.state.values()),
    ),
    "bounded": ("with its defaults, its memory does not grow with the stream", _bounded),
    "yardsticks": ("simple learners to compare with", lambda spec: spec.yardstick),
}


def groups() -> dict[str, list[str]]:
    """Return the names of each group's learners, sorted, by the group's name."""
    specs = learner_specs().values()
    made = {name: [spec.name for spec in specs if belongs(spec)] for name, (_, belongs) in _MEANINGS.items()}
    for spec in specs:
        for name in spec.groups:
            if spec.name not in made.setdefault(name, []):
                made[name].append(spec.name)
    return made


def meaning(group: str) -> str:
    """Return what a group's learners have in common, in a few words."""
    return _MEANINGS[group][0] if group in _MEANINGS else "a family of learners"


def members(name: str) -> list[str]:
    """Return the learners of a group, none where it is no group."""
    if name == ALL:
        return learner_names()
    return [] if name in learner_names() else groups().get(name, [])

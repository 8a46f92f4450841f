"""The members of a stack: learners with settings, as words such as ``krls_t(noise=0.1, scale=online)``.

A member that is a stack itself stands for its members. An estimator that a call had as an object is a mapping
of ``kind``, its name, and its parameters.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from omkl import conf
from omkl.config.kernel_kinds import pool as pool_named
from omkl.config.learners import STACKS, LearnerSpec, given, kin_of, learner_of, learner_spec
from omkl.config.parameters import as_typed
from omkl.config.words import Setting, learner_setting
from omkl.errors import UserError
from omkl.schema import DOMAINS, wrong
from omkl.state.cost import bytes_needed
from omkl.state.resource import Setup

MOST_BYTES = 2**22  # of a member that a file names, of dense rows
_NAME = re.compile(r"\w+", re.ASCII)


def check_members(value: Any) -> list[Any]:
    """Return the members of a stack in canonical form. Raises ValueError that says what would be right."""
    members = list(value) if isinstance(value, list | tuple) else [value]
    if not members:
        raise wrong("a list of learners such as [auto,arow(r=10)]", value)
    return [_checked(member) for member in members]


def _checked(member: Any) -> Any:
    if isinstance(member, Mapping) and member.get("kind") in given:
        return dict(member)
    if isinstance(member, str) and _NAME.fullmatch(member):
        return learner_spec(learner_of(member)).name
    if not isinstance(member, str | Mapping):
        raise wrong("a list of learners such as [auto,arow(r=10)]", member)
    return str(learner_setting(member if isinstance(member, str) else as_typed(member)))


DOMAINS["members"] = check_members


def members_of(
    spec: LearnerSpec, params: Mapping[str, Any], d: int | None = None, classes: int = 2
) -> list[Setting]:
    """Return the members of a stack with all their hyperparameters and kernels; none of another learner.

    d, classes: of the data, where they are known: of the members that a file names, those are left out that
    may take more than MOST_BYTES; where all may, the smallest stay. Raises UserError for a learner that
    cannot be a member.
    """
    if not spec.is_stack:
        return []
    members = list(_members(spec, params, (), False))
    if d is None:
        return [setting for setting, _ in members]
    sizes = [_bytes(setting, d, classes) if is_named else 0 for setting, is_named in members]
    most = max(MOST_BYTES, min(sizes))
    return [setting for (setting, _), size in zip(members, sizes, strict=True) if size <= most]


def _bytes(setting: Setting, d: int, classes: int) -> int:
    """Return what a member's arrays, and the rows that it may store, take."""
    spec, setup = setting.spec, Setup(setting.params, setting.kernel_pool, d, classes=classes)
    stored = 8 * d * setup.m * setting.params[spec.budget] if spec.budget else 0
    return sum(bytes_needed(spec.state, setup).values()) + stored


def _members(
    spec: LearnerSpec, params: Mapping[str, Any], around: tuple[str, ...], is_named: bool
) -> Iterator[tuple[Setting, bool]]:
    """Yield the members, and whether a file names each."""
    is_named, task = is_named or spec.stack is not None, spec.tasks[0]
    where = f"algo={spec.name}" if spec.stack is None else str(conf.file("algo", spec.name))
    if spec.name in around and spec.stack is not None:
        raise UserError(f"{where}: {spec.name} is a member of itself")
    for word in params["members"] if spec.stack is None else spec.stack:
        try:
            setting = _of_task(_setting(word), task)
            if setting.spec.is_stack:
                params_of_stack = setting.spec.usual(task) | setting.params
                yield from _members(setting.spec, params_of_stack, (*around, spec.name), is_named)
            else:
                yield _completed(setting, task), is_named
        except (UserError, ValueError) as error:
            raise UserError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None


def _setting(word: Any) -> Setting:
    if isinstance(word, Mapping):
        return Setting(word["kind"], {name: value for name, value in word.items() if name != "kind"})
    return Setting(learner_of(word)) if _NAME.fullmatch(word) else learner_setting(word)


def tasks_of_members(words: Iterable[Any]) -> set[str]:
    """Return the tasks that all members can be for, by themselves or by the learner of their name for it."""
    specs = [_setting(word).spec for word in words]
    return {task for task in STACKS if all(task in spec.tasks or kin_of(spec.name, task) for spec in specs)}


def _of_task(setting: Setting, task: str) -> Setting:
    """Return a member, or the learner of its name for this task, as auto_regression is of auto."""
    name = None if task in setting.spec.tasks else kin_of(setting.learner, task)
    return setting if name is None else replace(setting, learner=name)


def _completed(setting: Setting, task: str) -> Setting:
    """Return a member with all its hyperparameters and its pool."""
    spec = setting.spec
    if task not in spec.tasks:
        raise UserError(
            f"{spec.name} is for {' and '.join(spec.tasks)}; the members of this stack are for {task}"
        )
    if spec.setup:
        raise UserError(f"{spec.name} chooses its kernel from later rows; choose another member of the stack")
    for name in ("label", "data"):
        if getattr(setting, name):
            raise UserError(f"{setting.learner}: a member of a stack has no {name}")
    if "target" in setting.scaling:
        why = "a stack has the targets less their mean" if task == "regression" else "it is for numbers"
        raise UserError(f"{setting.learner}: a member of a stack has no target=...: {why}")
    pool = setting.pool
    if spec.kernels == "pool" and pool is None:
        pool = pool_named(spec.usual_pool or str(conf.usual()["pool"]))
    if pool is not None:
        spec.check_pool(pool)
    scaling = {key: value for key, value in setting.scaling.items() if value != "none"}
    return replace(
        setting, params=spec.checked(spec.usual(task) | setting.params), pool=pool, scaling=scaling
    )

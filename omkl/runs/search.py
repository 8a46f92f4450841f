"""Where `omkl tune` looks for the settings of a learner, and the settings that it draws there."""

import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from omkl import seeds
from omkl.config import Setting, learner_spec
from omkl.config.kernel_kinds import check_kernel, kernel_pools, needs_stored_rows
from omkl.config.learners import LearnerSpec
from omkl.config.parameters import SCALING, Choices, Form, with_part
from omkl.errors import UserError

SEARCHED = {"scale": ("none", "online", "ranks"), "target": ("none", "online")}
STEP = 0.1  # σ of a step from one of the best points, in the unit cube of what is searched
_ATTEMPTS = 40  # points drawn for each setting: two may round to one, or break a rule of the learner


class Axis(NamedTuple):
    """What is searched: a hyperparameter, or a part of the kernel that it is ("" for all of it)."""

    name: str
    part: str
    form: Form


def axes(spec: LearnerSpec, task: str, fixed: Iterable[str] = ()) -> list[Axis]:
    """Return what is searched of a learner on data of a task.

    fixed: hyperparameters that are not, ``beta`` of all learners or ``omkc_dd.beta`` of one
    """
    kept = set(fixed)
    return [
        Axis(name, part, form)
        for name, parameter in spec.hyperparameters.items()
        if parameter.search and not {name, f"{spec.name}.{name}"} & kept
        for part, form in parameter.search.get(task, {}).items()
    ]


def pools_to_try(setting: Setting, pools: Iterable[str], fixed: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the pools among which a learner chooses, its own first; none where it has no choice.

    pools: names of those beside its own    fixed: as of `axes`, with ``pool`` where one was given
    """
    if setting.pool is None or {"pool", f"{setting.learner}.pool"} & set(fixed):
        return []
    spec, suitable = learner_spec(setting.learner), [setting.pool]
    for pool in kernel_pools(pools):
        with contextlib.suppress(UserError):  # a pool that is not for the learner
            spec.check_pool(pool)
            suitable.append(pool)
    distinct = list({pool["name"]: pool for pool in suitable}.values())
    return distinct if len(distinct) > 1 else []


def searched_scaling(spec: LearnerSpec, task: str, fixed: Iterable[str] = ()) -> list[str]:
    """Return which of ``scale`` and ``target`` are searched for a learner.

    fixed: as of `axes`, with these words where they were given
    """
    matters = {"scale": spec.sees_scale, "target": task == "regression" and not spec.equivariant}
    given = {*fixed, *spec.hyperparameters}
    return [
        name for name, decides in matters.items() if decides and not {name, f"{spec.name}.{name}"} & given
    ]


def scalings_to_try(first: Setting, task: str, fixed: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the ways to scale the streams of a learner among which it chooses, that of its setting first."""
    scalings = [first.scaling]
    for name in searched_scaling(first.spec, task, fixed):
        if name != "scale" or not needs_stored_rows(first.kernels):
            others = [word for word in SEARCHED[name] if word != first.scaling.get(name, "none")]
            scalings += [_with(scaling, name, word) for word in others for scaling in scalings]
    return scalings


def _with(scaling: dict[str, Any], name: str, word: str) -> dict[str, Any]:
    """Return a scaling with another word, of which none is left out."""
    changed = {**scaling, name: word}
    return {key: changed[key] for key in SCALING if changed.get(key, "none") != "none"}


@dataclass(frozen=True)
class Space:
    """Where the settings of a learner on a data set are looked for: a unit cube of axes, scalings and pools.

    first: the setting that gives all else    scalings: of its streams, its own first    rows: of the data,
    more of which no learner stores
    """

    first: Setting
    rows: int
    axes: tuple[Axis, ...]
    pools: tuple[dict[str, Any], ...]
    scalings: tuple[dict[str, Any], ...]

    @property
    def dimensions(self) -> int:
        """How many numbers a point has."""
        return len(self.axes) + bool(self.pools) + (len(self.scalings) > 1)

    @property
    def given(self) -> list[Setting]:
        """The first setting, then in each other size, all of them scaled in all ways.

        Prefixes do not show what a size is worth on the whole stream, so a race must not leave this to them.
        """
        sizes = [self.first, *self.in_other_sizes(self.first)]
        return [replace(own, scaling=scaling) for own in sizes for scaling in self.scalings]

    def in_other_sizes(self, setting: Setting) -> list[Setting]:
        """Return a setting with each other size of the ranges alone: budgets, numbers of random features."""
        sizes = [
            {**setting.params, axis.name: value}
            for axis in self.axes
            if isinstance(axis.form, Choices) and axis.form.multiples
            for value in axis.form.values
            if value != setting.params[axis.name]
        ]
        return [replace(setting, params=params) for params in filter(self._allows, sizes)]

    def _allows(self, params: dict[str, Any]) -> bool:
        """Whether the learner allows hyperparameters, and stores no more vectors than there are rows."""
        spec = self.first.spec
        if spec.budget and type(params[spec.budget]) is int and params[spec.budget] > self.rows:
            return False
        try:
            spec.check_together(params)
        except UserError:
            return False
        return True

    def at(self, point: Sequence[float]) -> Setting | None:
        """Return the setting at a point of the cube, None where the learner does not allow it."""
        params, rest = dict(self.first.params), list(point[len(self.axes) :])
        scaling = _share(self.scalings, rest.pop() if len(self.scalings) > 1 else 0.0)
        for axis, share in zip(self.axes, point, strict=False):
            value, param = axis.form.at(share), params[axis.name]
            params[axis.name] = check_kernel(with_part(param, axis.part, value)) if axis.part else value
        if not self._allows(params):
            return None
        pool = _share(self.pools, rest.pop()) if self.pools else self.first.pool
        return replace(self.first, params=params, pool=pool, scaling=scaling)


class Trial(NamedTuple):
    """A setting that races, and where it is in the unit cube of its space: the given one is nowhere."""

    setting: Setting
    point: tuple[float, ...] | None


def _share(choices: Sequence[Any], share: float) -> Any:
    """Return the choice at a place of the unit interval, which they share evenly."""
    return choices[min(int(share * len(choices)), len(choices) - 1)]


def space_of(first: Setting, task: str, rows: int, fixed: Collection[str], pools: Collection[str]) -> Space:
    """Return where the settings of a learner are looked for, on so many rows of this task."""
    own, scalings = pools_to_try(first, pools, fixed), scalings_to_try(first, task, fixed)
    return Space(first, rows, tuple(axes(first.spec, task, fixed)), tuple(own), tuple(scalings))


def draw(space: Space, count: int, seed: int) -> tuple[Trial, ...]:
    """Return so many trials: the given setting, in all sizes and scalings, then points.

    They are fewer where the space has no more. The points are those of a scrambled Halton sequence, so that
    more trials begin with those of fewer. seed: of the scrambling
    """
    import numpy as np
    from scipy.stats.qmc import Halton  # a second to import

    trials = [Trial(setting, None) for setting in space.given[:count]]
    if space.dimensions:
        rng = np.random.default_rng(seeds.derive("search", seed, space.first.learner))
        sequence = Halton(space.dimensions, scramble=True, seed=rng)
        points = (sequence.random(1)[0].tolist() for _ in range(count * _ATTEMPTS))
        trials += _distinct(points, trials, space, count - len(trials))
    return tuple(trials)


def draw_near(
    best: list[tuple[float, ...]], known: list[Trial], space: Space, count: int, seed: int
) -> list[Trial]:
    """Return so many new trials at points near the best ones, in turn; none where there is no best one.

    A step across a face of the cube is reflected there. best: points    known: trials that ran
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    steps = (rng.normal(0.0, STEP, space.dimensions) for _ in range(count * _ATTEMPTS * bool(best)))
    points = ((1 - abs(1 - abs(best[at % len(best)] + step))).tolist() for at, step in enumerate(steps))
    return _distinct(points, known, space, count)


def _distinct(points: Iterable[list[float]], known: list[Trial], space: Space, count: int) -> list[Trial]:
    """Return the trials at points whose settings the learner allows and that are new, ``count`` at most."""
    trials: list[Trial] = []
    seen = {trial.setting.identity for trial in known}
    for point in points:
        if len(trials) >= count:
            break
        setting = space.at(point)
        if setting and setting.identity not in seen:
            seen.add(setting.identity)
            trials.append(Trial(setting, tuple(point)))
    return trials

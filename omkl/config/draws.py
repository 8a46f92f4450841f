"""The settings that `omkl tune` tries of a learner: its default, then points of what its file searches."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from omkl import seeds
from omkl.config.search import Form
from omkl.config.spec import LearnerSpec
from omkl.errors import UserError

_ATTEMPTS = 40  # points drawn for each setting: two may round to one, or break a rule of the learner


class Axis(NamedTuple):
    """What is searched: a hyperparameter, or a part of the kernel that it is ("" for all of it)."""

    name: str
    part: str
    form: Form


def axes(spec: LearnerSpec, task: str, fixed: Iterable[str] = ()) -> list[Axis]:
    """Return what is searched of a learner on data of a task; fixed: hyperparameters that are not."""
    return [
        Axis(name, part, form)
        for name, own in spec.hyperparameters.items()
        if own.search and name not in set(fixed)
        for part, form in own.search.get(task, {}).items()
    ]


def draw(
    spec: LearnerSpec, first: dict[str, Any], task: str, fixed: Iterable[str], number: int, seed: int
) -> list[dict[str, Any]]:
    """Return this many distinct hyperparameters of a learner: ``first``, then points of its axes.

    They are fewer where the axes have no more. The points are those of a scrambled Halton sequence, so that a
    larger number begins with those of a smaller. seed: of the scrambling. A combination that the learner does
    not allow is passed over.
    """
    searched = axes(spec, task, fixed)
    drawn = {repr(first): first}
    points = _points(len(searched), number * _ATTEMPTS, seeds.derive("search", seed, spec.name))
    for point in points if searched else ():
        if len(drawn) >= number:
            break
        params = dict(first)
        for axis, share in zip(searched, point, strict=True):
            value = axis.form.at(share)
            params[axis.name] = {**params[axis.name], axis.part: value} if axis.part else value
        try:
            spec.check_together(params)
        except UserError:
            continue
        drawn.setdefault(repr(params), params)
    return list(drawn.values())[:number]


def _points(dimensions: int, most: int, seed: int) -> Iterator[list[float]]:
    """Yield points of the unit cube of this many dimensions, at most so many."""
    import numpy as np
    from scipy.stats.qmc import Halton  # a second to import

    sequence = Halton(max(dimensions, 1), scramble=True, seed=np.random.default_rng(seed))
    for _ in range(most):
        yield sequence.random(1)[0].tolist()

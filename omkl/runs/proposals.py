"""Settings proposed after those before: Optuna's tree-structured Parzen estimator (Bergstra et al., 2011)."""

import math
from collections.abc import Collection
from typing import Any, Protocol

from omkl.config import Setting
from omkl.errors import UserError

Point = tuple[float, ...]  # of the unit cube
EVEN = 10  # trials that are spread evenly before the first proposal, the default among them
_ATTEMPTS = 20  # proposals for each setting: two may round to one, or break a rule of the learner


class Cube(Protocol):
    """A space of settings."""

    @property
    def dimensions(self) -> int:
        """How many numbers a point has."""
        ...

    def at(self, point: Point) -> Setting | None:
        """Return the setting at a point, None where there is none."""
        ...


class Proposals:
    """The estimator over the points of a space; a failed trial counts as the worst that has been seen."""

    BATCH = 5  # settings that are proposed together

    def __init__(self, space: Cube, seed: int) -> None:
        """Raises UserError where Optuna is not installed. seed: of the estimator"""
        try:
            import optuna
        except ModuleNotFoundError:
            raise UserError("sampler=tpe needs Optuna: pip install 'omkl[tpe]'") from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with_liar: dict[str, Any] = {"multivariate": True, "constant_liar": True}
        self._optuna, self._space, self._worst = optuna, space, 0.0
        self._asked: dict[Point, Any] = {}
        sampler = optuna.samplers.TPESampler(seed=seed % 2**32, n_startup_trials=EVEN - 1, **with_liar)
        self._study = optuna.create_study(sampler=sampler)
        names = map(str, range(space.dimensions))
        self._cube: dict[str, Any] = dict.fromkeys(names, optuna.distributions.FloatDistribution(0.0, 1.0))

    def tell(self, point: Point | None, error: float) -> None:
        """Add what a trial at a point has brought; without a point nothing is added."""
        if point is None:
            return
        if math.isfinite(error):
            self._worst = max(self._worst, error)
        value = error if math.isfinite(error) else self._worst
        if (trial := self._asked.pop(point, None)) is not None:
            self._study.tell(trial, value)
            return
        params = dict(zip(self._cube, point, strict=True))
        done = self._optuna.trial.create_trial(params=params, distributions=self._cube, value=value)
        self._study.add_trial(done)

    def ask(self, count: int, known: Collection[str]) -> list[tuple[Point, Setting]]:
        """Return up to so many settings with their points, none of them known (by its identity)."""
        made: dict[str, tuple[Point, Setting]] = {}
        for _ in range(max(count, 0) * _ATTEMPTS):
            if len(made) >= count:
                break
            trial = self._study.ask(self._cube)
            point = tuple(trial.params[name] for name in self._cube)
            setting = self._space.at(point)
            if setting is None or setting.identity in known or setting.identity in made:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            self._asked[point] = trial
            made[setting.identity] = (point, setting)
        return list(made.values())

"""What all river models share: a learner behind ``learn_one`` and ``predict_one``.

Rows are mappings of names to numbers. A name that was never seen becomes a new column; a name that is missing
counts as 0. Values that are not numbers are refused.
"""

import math
import re
import secrets
from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
from river import base

from omkl.config import learner_spec
from omkl.engine.stream import Stream, make_stream
from omkl.estimators.copies import Copied
from omkl.estimators.make import (
    calibrate,
    follow,
    make_learner,
    new_calibration,
    planned_rounds,
    warn_of_rounds,
)
from omkl.learning.learner import Learner
from omkl.learning.model import Progress, Rows, score
from omkl.learning.overflow import check_rows, check_targets

Row = tuple[list[int], list[float], float]  # columns, values, and label, class or target


class _Columns:
    """The columns of the names, in the order in which they came; new ones of a row by `_by_number`."""

    def __init__(self) -> None:
        self.of: dict[Hashable, int] = {}

    def row(self, x: Mapping[Hashable, Any], learn: bool) -> tuple[list[int], list[float], int]:
        """Return columns and values of a row, ascending and without zeros, and how many columns there are."""
        of, x = self.of, x if type(x) is dict else _mapping(x)
        numbers = {name: _number(name, value) for name, value in x.items()}
        if not of.keys() >= x.keys():
            of = of if learn else dict(of)
            for name in sorted(x.keys() - of.keys(), key=_by_number):
                of[name] = len(of)
        pairs = sorted((of[name], value) for name, value in numbers.items())
        kept = [(column, value) for column, value in pairs if value != 0]
        return [column for column, _ in kept], [value for _, value in kept], len(of)


def _by_number(name: Hashable) -> list[tuple[int, str]]:
    """Sort x2 before x10, as arrays have them; a row's own order may not matter, as river's checks ask."""
    parts = re.split(r"(\d+)", str(name))
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


def _mapping(x: Any) -> dict[Hashable, Any]:
    """Return a row, such as a pandas Series, as a dictionary."""
    if not hasattr(x, "items") or getattr(x, "ndim", 1) != 1:
        raise TypeError(
            f"a row is a mapping of names to numbers, got {type(x).__name__}; write dict(zip(names, values))"
        )
    row = dict(x.items())
    if len(row) < len(x):
        raise ValueError("the row has two values for one name; rename one of them")
    return row


def _number(name: Hashable, value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"the feature {name!r} is too large for a number of 64 bits") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"the feature {name!r} is {value!r}, which is not a number; "
            "river.preprocessing.OneHotEncoder turns words into numbers"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"the feature {name!r} is {value!r}; it must be finite")
    return number


class Model(Copied):
    """A learner of omkl as a river model."""

    learner: ClassVar[str]
    task: ClassVar[str]

    @property
    def _lock(self) -> Any:
        """The lock of the learner, as soon as there is one: held by a whole call that learns or predicts."""
        return self._model.lock if "_model" in self.__dict__ else nullcontext()

    def _current(self) -> Learner:
        """Return the learner, with the hyperparameters that have been set since it began."""
        follow(self, self._model)
        return self._model

    def _learn(self, x: Mapping[Hashable, Any], y: float, classes: int = 2) -> Row:
        """Learn a row of label, class or target y; return its columns and values, and y."""
        if "_columns" not in self.__dict__:
            self._columns, self._progress = _Columns(), Progress(self.task)
        columns, values, d = self._columns.row(x, learn=True)
        stream = stream_of([(columns, values, y)], classes)
        if "_model" not in self.__dict__:
            self._begin(d, stream, classes)
        model = self._current()
        _room(model, d)
        check_rows(model.growth, stream.indptr, stream.values, self._progress.rounds + 1)
        warn_of_rounds(self, self.__dict__.get("_planned"), self._progress.rounds, 1)
        trace, _ = model.run(stream, progress=self._progress)
        calibrate(self.__dict__.get("_calibration"), stream, trace)
        return columns, values, y

    def _begin(self, d: int, stream: Stream, classes: int) -> None:
        """Make the learner; stream: what it is to learn first."""
        if "_seed" not in self.__dict__:
            given: Any = self.seed  # type: ignore[attr-defined]
            self._seed = secrets.randbits(32) if given is None else int(given)
        params = self._get_params()  # type: ignore[attr-defined]
        spec = learner_spec(self.learner)
        model = make_learner(spec, self.task, params, d, self._seed, stream, classes)
        check_rows(model.growth, stream.indptr, stream.values)
        self._calibration = new_calibration(params, classes)
        self._model, self._planned, self._given = model, planned_rounds(params, stream), params

    def _score(self, x: Mapping[Hashable, Any]) -> float:
        """Return the score of a row, 0 before anything was learnt."""
        if "_model" not in self.__dict__:
            return 0.0
        return float(score(self._model, *self._row(x))[0])

    def _row(self, x: Mapping[Hashable, Any]) -> Rows:
        """Return a row to be predicted, as CSR arrays."""
        self._current()
        columns, values, d = self._columns.row(x, learn=False)
        if d > self._model.d and any(resource.frequencies for resource in self._model.resources.values()):
            kept = sum(column < self._model.d for column in columns)  # nothing was drawn for other columns
            columns, values = columns[:kept], values[:kept]
        else:
            _room(self._model, d)
        rows = np.array([0, len(columns)]), np.array(columns, np.int32), np.array(values)
        check_rows(self._model.growth, rows[0], rows[2])
        return rows


def stream_of(rows: Sequence[Row], classes: int) -> Stream:
    """Return rows as a stream."""
    indptr = np.cumsum([0, *(len(columns) for columns, _, _ in rows)])
    indices = np.array([column for columns, _, _ in rows for column in columns], np.int32)
    values = np.array([value for _, values, _ in rows for value in values], np.float64)
    y = np.array([label for _, _, label in rows])
    return make_stream(indptr, indices, values, y, np.arange(len(rows)), classes)


def _room(model: Learner, d: int) -> None:
    if d > model.d:
        model.widen(max(d, model.d + model.d // 2))


class Regressor(Model, base.Regressor):
    """Regression."""

    def learn_one(self, x: dict, y: Any) -> None:
        """Learn one row. Raises ValueError for infinite or very large numbers, which spoil any model."""
        try:
            target = float(y)
        except OverflowError:
            raise ValueError("the target is too large for a number of 64 bits") from None
        except TypeError:
            target = math.nan
        if not math.isfinite(target):
            raise ValueError(f"the target is {y!r}; it must be a finite number")
        check_targets(np.array([target]))
        with self._lock:
            self._learn(x, target)

    def predict_one(self, x: dict, **kwargs: Any) -> float:
        """Return the prediction, 0 before anything has been learnt."""
        with self._lock:
            return self._score(x)


class NoveltyDetector(Model, base.AnomalyDetector):
    """Novelty detection: the higher the score, the more novel the row; above 0 it is flagged."""

    def learn_one(self, x: dict) -> None:
        """Learn one row."""
        with self._lock:
            self._learn(x, 1.0)

    def score_one(self, x: dict, **kwargs: Any) -> float:
        """Return the score, positive for novel rows."""
        with self._lock:
            return -self._score(x)

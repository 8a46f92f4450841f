"""What all river models share: a learner behind ``learn_one`` and ``predict_one``.

Rows are mappings of names to numbers. A name that was never seen becomes a new column; a name that is missing
counts as 0. Values that are no numbers are refused.
"""

import math
import secrets
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np
from river import base

from omkl.config import learner_spec
from omkl.engine.features import Features
from omkl.engine.stream import Stream, make_stream
from omkl.estimators.make import make_learner
from omkl.learner.learner import Learner
from omkl.learner.model import Progress, score
from omkl.learner.wider import widen


class _Columns:
    """The columns of the names, in the order in which they came; new ones of one row by their text."""

    def __init__(self) -> None:
        self.of: dict[Hashable, int] = {}

    def row(self, x: Mapping[Hashable, Any], learn: bool) -> tuple[list[int], list[float], int]:
        """Return columns and values of a row, ascending and without zeros, and how many columns there are."""
        of = self.of
        numbers = {name: _number(name, value) for name, value in x.items()}
        if not of.keys() >= x.keys():
            of = of if learn else dict(of)
            for name in sorted(x.keys() - of.keys(), key=str):
                of[name] = len(of)
        pairs = sorted((of[name], value) for name, value in numbers.items())
        kept = [(column, value) for column, value in pairs if value != 0]
        return [column for column, _ in kept], [value for _, value in kept], len(of)


def _number(name: Hashable, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"the feature {name!r} is {value!r}, which is no number; river.preprocessing.OneHotEncoder makes "
            "numbers of words"
        ) from None
    if not math.isfinite(number):
        raise ValueError(f"the feature {name!r} is {value!r}; it must be finite")
    return number


class _Model:
    """A learner of omkl as a river model."""

    learner: ClassVar[str]
    task: ClassVar[str]

    def _learn(self, x: Mapping[Hashable, Any], y: float) -> None:
        if "_columns" not in self.__dict__:
            self._columns, self._progress = _Columns(), Progress(self.task)
        columns, values, d = self._columns.row(x, learn=True)
        stream = _one(columns, values, y)
        if "_model" not in self.__dict__:
            seed = secrets.randbits(32) if self.seed is None else int(self.seed)  # type: ignore[attr-defined]
            given = self._get_params()  # type: ignore[attr-defined]
            self._model = make_learner(learner_spec(self.learner), self.task, given, d, seed, stream)
        _room(self._model, d)
        trace, _ = self._model.run(stream, first=self._progress.rounds)
        self._progress.add(trace, stream.y)

    def _score(self, x: Mapping[Hashable, Any]) -> float:
        """Return the score of a row, 0 before anything was learnt."""
        if "_model" not in self.__dict__:
            return 0.0
        columns, values, d = self._columns.row(x, learn=False)
        if d > self._model.d and any(isinstance(part, Features) for part in self._model.state.values()):
            kept = sum(column < self._model.d for column in columns)  # nothing was drawn for other columns
            columns, values = columns[:kept], values[:kept]
        else:
            _room(self._model, d)
        stream = _one(columns, values, 1.0)
        return float(score(self._model, stream.indptr, stream.indices, stream.values)[0])


def _one(columns: list[int], values: list[float], y: float) -> Stream:
    indptr = np.array([0, len(columns)])
    return make_stream(
        indptr, np.array(columns, np.int32), np.array(values), np.array([y]), np.zeros(1, np.int64)
    )


def _room(model: Learner, d: int) -> None:
    if d > model.d:
        widen(model, max(d, model.d + model.d // 2))


class Classifier(_Model, base.Classifier):
    """Binary classification: ``predict_one`` is None for a score of 0, and before any label is known."""

    def learn_one(self, x: dict, y: Any) -> None:
        """Learn one row. Raises ValueError for a third label."""
        sign, labels = self._with(y)
        self._learn(x, sign)
        self._labels = labels

    def predict_one(self, x: dict, **kwargs: Any) -> Any:
        """Return the label predicted, None where nothing speaks for either."""
        value = self._score(x)
        labels: dict[float, Any] = self.__dict__.get("_labels", {})
        return labels.get(math.copysign(1.0, value)) if value != 0 else None

    def _with(self, y: Any) -> tuple[float, dict[float, Any]]:
        """Return +1 or -1 for a label, and the labels with it. The first is -1, but True and 1 are +1."""
        labels: dict[float, Any] = self.__dict__.get("_labels", {})
        if not labels and isinstance(y, bool | np.bool_):
            labels = {1.0: type(y)(True), -1.0: type(y)(False)}
        for sign, label in labels.items():
            if label == y:
                return sign, labels
        if len(labels) == 2:
            raise ValueError(
                f"the label {y!r} is a third one beside {sorted(map(repr, labels.values()))}; "
                "river.multiclass.OneVsRestClassifier takes this model for each label"
            )
        usual = 1.0 if y == 1 else -1.0
        sign = usual if usual not in labels else -usual
        return sign, {**labels, sign: y}


class Regressor(_Model, base.Regressor):
    """Regression."""

    def learn_one(self, x: dict, y: Any) -> None:
        """Learn one row."""
        self._learn(x, float(y))

    def predict_one(self, x: dict, **kwargs: Any) -> float:
        """Return the prediction, 0 before anything was learnt."""
        return self._score(x)


class NoveltyDetector(_Model, base.AnomalyDetector):
    """Novelty detection: the higher the score, the more novel the row; above 0 it is flagged."""

    def learn_one(self, x: dict) -> None:
        """Learn one row."""
        self._learn(x, 1.0)

    def score_one(self, x: dict, **kwargs: Any) -> float:
        """Return the score, positive for novel rows."""
        return -self._score(x)

"""Classifiers for river: for two labels, or for as many as come."""

import math
from typing import Any

import numpy as np
from river import base

from omkl.config import learner_spec
from omkl.estimators.arguments import Argument, has_probabilities
from omkl.estimators.make import class_probabilities, learn
from omkl.passes.model import predicted_classes
from omkl.passes.model_file import with_classes
from omkl.river.base import Model, Row, stream_of

MOST_KEPT = 1000
CLASSES = Argument(
    None, f"all labels, a list; None: as they come, the third one among the first {MOST_KEPT} rows"
)


class Classifier(Model, base.Classifier):
    """Classification: ``predict_one`` is None before any label is known, and with two labels at a score of 0.

    Two labels are learnt as -1 and +1. At a third one, a learner for more classes begins with the rows so
    far, at most MOST_KEPT. Each further label is another class. ``classes`` names all labels beforehand.
    """

    _labels: dict[float, Any]  # of -1 and +1
    _many: list[Any] | None  # the labels in the order of their numbers, None while there are two
    _kept: list[Row] | None  # the rows so far, None where no third label may come

    @property
    def mistakes_(self) -> int:
        """Rows learnt whose prediction before the update was wrong."""
        return int(self._progress.total) if "_progress" in self.__dict__ else 0

    @property
    def _multiclass(self) -> bool:
        return learner_spec(self.learner).takes(3)

    def learn_one(self, x: dict, y: Any, w: float = 1.0) -> None:
        """Learn one row of weight w.

        Raises ValueError for None and NaN, for a third label where the learner is for two, or too late, and
        for a weight other than 1 of a learner whose step has no size.
        """
        weight = self._weight(w)
        if y is None or (isinstance(y, float | np.floating) and np.isnan(y)):
            raise ValueError(f"the label is {y!r}, not a label; leave out rows without a label")
        if weight == 0:
            return
        with self._lock:
            if "_labels" not in self.__dict__:
                self._begin_labels()
            if self._many is None and self._is_third(y):
                self._begin_again(y)
            if self._many is None:
                sign, labels = self._with(y)
                row = self._learn(x, sign, w=weight)
                self._labels = labels
                if self._kept is not None:
                    self._kept.append(row)
                    self._kept = self._kept if len(self._kept) < MOST_KEPT else None
                return
            if y not in self._many:
                if "_model" in self.__dict__:
                    self._model = with_classes(self._model, len(self._many) + 1)
                    if self._calibration is not None:
                        self._calibration.add_class()
                self._many = [*self._many, y]
            self._learn(x, float(self._many.index(y)), len(self._many), weight)

    def predict_one(self, x: dict, **kwargs: Any) -> Any:
        """Return the predicted label, None where there is no evidence for one."""
        if "_model" not in self.__dict__:
            return None
        with self._lock:
            if self._many is not None:
                return self._many[int(predicted_classes(self._model, *self._row(x))[0])]
            value = self._score(x)
            return self._labels.get(math.copysign(1.0, value)) if value != 0 else None

    def predict_proba_one(self, x: dict, **kwargs: Any) -> Any:
        """Return the probabilities of the labels known so far, which sum to 1.

        Before any label those of ``classes`` are equal; without these a learner for two labels has False and
        True there, as river's own have, and one for more has none.
        Raises NotImplementedError with ``calibration=None`` for a learner whose scores are not probabilities.
        """
        if not has_probabilities(self):
            raise NotImplementedError(
                f"{type(self).__name__} gives no probabilities; calibration='platt' makes some, or "
                "use predict_one, and wrappers and metrics that need labels alone, such as "
                "multiclass.OneVsOneClassifier, ensemble.VotingClassifier(use_probabilities=False) and "
                "metrics.Accuracy"
            )
        if "_model" not in self.__dict__:
            given = getattr(self, "classes", None) or ([] if self._multiclass else [False, True])
            return {label: 1.0 / len(given) for label in given}
        with self._lock:
            rows = self._row(x)
            P = class_probabilities(self._model, self.__dict__.get("_calibration"), rows)[0].tolist()
            if self._many is not None:
                return dict(zip(self._many, P, strict=True))
            known = {label: P[int(sign > 0)] for sign, label in sorted(self._labels.items())}
            return known if len(known) == 2 else dict.fromkeys(known, 1.0)

    def _begin_labels(self) -> None:
        given = list(getattr(self, "classes", None) or [])
        if len(set(given)) != len(given) or len(given) == 1:
            raise ValueError(f"classes={given}: two or more different labels are needed")
        self._many = given if len(given) > 2 else None
        self._labels = dict(zip((-1.0, 1.0), given, strict=True)) if len(given) == 2 else {}
        self._kept = [] if self._multiclass and not given else None

    def _is_third(self, y: Any) -> bool:
        return len(self._labels) == 2 and y not in self._labels.values()

    def _begin_again(self, y: Any) -> None:
        """Let a learner for more than two classes learn the rows so far. Raises ValueError without them."""
        if self._kept is None:
            way_out = "river.multiclass.OneVsOneClassifier uses this model for each pair of labels"
            if self._multiclass:
                way_out = f"after {MOST_KEPT} rows no label can be added; name all labels with classes="
            known = sorted(map(repr, self._labels.values()))
            raise ValueError(f"the label {y!r} is a third one besides {known}; {way_out}")
        self._many = [self._labels[-1.0], self._labels[1.0], y]
        rows = [(columns, values, float(sign > 0), w) for columns, values, sign, w in self._kept]
        stream, weights = stream_of(rows, 3)
        self._begin(self._model.d, stream, 3)
        learn(self._model, stream, weights, self._calibration)
        self._kept = None

    def _with(self, y: Any) -> tuple[float, dict[float, Any]]:
        """Return +1 or -1 for a label, and the labels with it. The first is -1, but True and 1 are +1."""
        labels = self._labels
        if not labels and isinstance(y, bool | np.bool_):
            labels = {1.0: type(y)(True), -1.0: type(y)(False)}
        for sign, label in labels.items():
            if label == y:
                return sign, labels
        usual = 1.0 if y == 1 else -1.0
        sign = usual if usual not in labels else -usual
        return sign, {**labels, sign: y}

"""The estimators of the three tasks: classification, regression and novelty detection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from omkl.data.preparing.labels import distinct, finder
from omkl.errors import show
from omkl.estimators import Later
from omkl.estimators.arguments import has_intervals, has_probabilities
from omkl.sklearn.base import ATTRIBUTES, OnlineLearner

if TYPE_CHECKING:
    from omkl.engine import conventions
    from omkl.engine.stream import Stream
    from omkl.models import asked, calibrated
    from omkl.rounds import overflow
else:
    asked, calibrated = Later("omkl.models.asked"), Later("omkl.models.calibrated")
    conventions, overflow = Later("omkl.engine.conventions"), Later("omkl.rounds.overflow")


class Classifier(ClassifierMixin, OnlineLearner):
    """Classification: with two classes ``predict`` gives ``classes_[1]`` where the score is positive."""

    task = "classification"
    attributes: ClassVar[str] = f"""{ATTRIBUTES.format(measure="mistakes")}
classes_ : (n_classes,), sorted; if there are two, the second is +1.
mistakes_ : rounds in which the prediction before the update was wrong."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._spec.takes(3)
        tags.classifier_tags.poor_score = True  # one pass over a few rows
        return tags

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, **others: Any) -> Any:
        """Continue with these rows; ``classes``: all labels, if the first rows may lack some."""
        self._refuse(others)
        return self._continue(X, y, classes)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores (n,), positive for ``classes_[1]``; for more than two classes (n, n_classes)."""
        rows = self._rows(X)
        scores = asked.score if self._n_classes == 2 else asked.class_scores
        return scores(self._model, *rows)

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities (n, n_classes) of the classes, in the order of ``classes_``.

        Only for learners that have them (`about.probabilities`), and with ``calibration="platt"``.
        """
        rows = self._rows(X)
        with self._model.lock:
            return calibrated.class_probabilities(self._model, self.__dict__.get("_calibration"), rows)

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes (n,) of the rows."""
        rows = self._rows(X)
        if self._n_classes > 2:
            return self.classes_[asked.predicted_classes(self._model, *rows)]
        return self.classes_[conventions.chosen_of_two(asked.score(self._model, *rows))]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows (n,) whose class is predicted."""
        _check_there(y, "label")
        return super().score(X, y, sample_weight)

    @property
    def mistakes_(self) -> int:
        """Rounds in which the prediction before the update was wrong."""
        return int(self._progress.total)

    def _one_label(self, y: Any) -> np.ndarray | None:
        """Return the label (1,) of one row as the learner takes it, None where it needs a closer look."""
        labels = self.classes_.tolist()
        if type(y) is not np.ndarray or y.shape != (1,) or (label := y.item()) not in labels:
            return None
        number = float(labels.index(label))
        return np.array([number if len(labels) > 2 else 2.0 * number - 1.0])

    def _target(self, y: Any, T: int, classes: Any, reset: bool) -> np.ndarray:
        if not reset and classes is None and T == 1 and (one := self._one_label(y)) is not None:
            return one
        labels = _column(self, y, T, "label")
        if reset:
            check_classification_targets(labels)
            classes_seen = np.unique(labels if classes is None else classes)
            if not self._spec.takes(len(classes_seen)):
                raise ValueError(
                    "Only binary classification is supported. The type of the target is "
                    f"{type_of_target(classes_seen)}: y has {len(classes_seen)} classes; "
                    "sklearn.multiclass.OneVsRestClassifier uses this estimator for each of them"
                )
            if len(classes_seen) < 2:
                remedy = "for data in parts, partial_fit takes both as classes="
                raise ValueError(f"y has one class, {classes_seen.tolist()[0]!r}; two are needed ({remedy})")
            self.classes_ = classes_seen
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={list(classes)} are not those of the first call, {self.classes_.tolist()}"
            )
        place = (labels == self.classes_[1]).astype(int)
        if len(self.classes_) > 2:
            place = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        other = self.classes_[place] != labels
        if other.any():  # such as '1' where the classes are numbers
            names, codes, _ = distinct(labels)
            found = list(map(finder(self.classes_.tolist()), names))
            if None in found:
                label = labels[np.argmax(codes == found.index(None))]
                label = label.item() if isinstance(label, np.generic) else label
                raise ValueError(
                    f"y holds the label {label!r}, which is not in classes_: {self.classes_.tolist()}"
                )
            place = np.array(found)[codes]
        return place.astype(float) if len(self.classes_) > 2 else np.where(place == 1, 1.0, -1.0)


class Regressor(RegressorMixin, OnlineLearner):
    """Regression."""

    task = "regression"
    attributes: ClassVar[str] = f"""{ATTRIBUTES.format(measure="the sum of the squared errors")}
loss_ : the sum of the squared errors of the predictions before their updates."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass over a few rows
        return tags

    def partial_fit(self, X: Any, y: Any, **others: Any) -> Any:
        """Continue with these rows."""
        self._refuse(others)
        return self._continue(X, y)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictions (n,) for the rows.

        return_std: also the standard deviations (n,) of the targets around them. Raises ValueError for a
        learner that does not know them.
        """
        if not return_std:
            return self._scores(X)
        rows = self._rows(X)  # first: it says so where nothing was learnt
        return asked.score_and_std(self._model, *rows)

    @available_if(has_intervals)
    def predict_interval(self, X: Any) -> np.ndarray:
        """Return the lower and upper ends (n, 2) of the intervals around the predictions for the rows.

        Only with ``interval``, the share of the targets that they are to hold, by adaptive conformal
        inference (Gibbs, Candès, 2021) on the errors of the rows learnt, each before its update. Ends are
        infinite while these are too few, 9 for 0.9.
        """
        rows = self._rows(X)
        with self._model.lock:
            assert self._calibration is not None
            return np.column_stack(asked.interval_ends(self._model, self._calibration, *rows))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared, the share of the variance of y (n,) that the predictions explain."""
        _check_there(y, "target")
        return super().score(X, y, sample_weight)

    @property
    def loss_(self) -> float:
        """The sum of the squared errors of the predictions before their updates."""
        return self._progress.total

    def _target(self, y: Any, T: int, classes: Any, reset: bool) -> np.ndarray:
        target = np.asarray(_column(self, y, T, "target"), dtype=np.float64)
        if not np.isfinite(target).all():
            t = int(np.argmin(np.isfinite(target)))
            raise ValueError(f"Input y contains infinity: row {t} has the target {target[t]}")
        overflow.check_targets(target)
        return target


class NoveltyDetector(OutlierMixin, OnlineLearner):
    """Novelty detection: ``predict`` gives -1 for novel rows and +1 for others."""

    task = "novelty"
    offset_ = 0.0
    attributes: ClassVar[str] = f"""{ATTRIBUTES.format(measure="the rows flagged as novel")}
flagged_ : rows that were novel when they came."""

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Continue with these rows; y is not read."""
        return self._continue(X, None)

    def fit(self, X: Any, y: Any = None, **others: Any) -> OnlineLearner:
        """Forget what was learnt, and make one pass over the rows in their order; y is not read."""
        return super().fit(X, None, **others)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores (n,), negative for novel rows."""
        return self._scores(X)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the scores (n,): ``decision_function``, since ``offset_`` is 0."""
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return -1 for novel rows, +1 for others (n,).

        ``nu`` is the share of rows to flag as they come. Of rows that were learnt fewer are novel, or none;
        for a fixed share of them, compare ``decision_function`` with its quantile. There is no
        ``contamination``: a threshold set by all rows of ``fit`` would differ from that of ``partial_fit``.
        """
        return np.where(conventions.are_novel(self._scores(X)), -1, 1)

    @property
    def flagged_(self) -> int:
        """Rows that were novel when they came."""
        return int(self._progress.total)

    def _target(self, y: Any, T: int, classes: Any, reset: bool) -> np.ndarray:
        return np.ones(T)


def _column(estimator: OnlineLearner, y: Any, T: int, what: str) -> np.ndarray:
    """Return the labels or targets (T,). Raises ValueError where one is missing."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain else column_or_1d(y, warn=True)
    if len(labels) != T:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[T, len(labels)]}")
    _check_there(labels, what)
    return labels


def _check_there(y: Any, what: str) -> None:
    """Raise ValueError, in scikit-learn's words, where a label or target is NaN, None or NA."""
    values = np.ravel(y if isinstance(y, np.ndarray) else np.asarray(y))
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in values], bool)
    else:
        return
    if missing.any():
        t = int(np.argmax(missing))
        raise ValueError(f"Input contains NaN: y[{t}] is {values[t]}, not a {what}; leave out such rows")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


WEIGHT = """sample_weight (n,), numbers above 0: the step of a row of weight w is w times as long, with the
        step size w eta in place of eta; AROW learns it with r / w in place of r."""


class WeightedClassifier(Classifier):
    """Classification by a learner whose step has a size, which a row's weight changes."""

    class_weight: Any

    def _row_weights(self, stream: Stream, weights: np.ndarray | None, is_whole: bool) -> np.ndarray | None:
        if self.class_weight is None:
            return super()._row_weights(stream, weights, is_whole)
        place = stream.label if stream.label is not None else (stream.y > 0).astype(int)
        weights_of_classes = _class_weights(
            self.class_weight, self.classes_, place, is_whole, type(self).__name__
        )
        row_weights = weights_of_classes[place] if weights is None else weights_of_classes[place] * weights
        self._check_weights(stream, row_weights, f"class_weight={self.class_weight}: weight", is_whole)
        return row_weights

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        self._refuse(others)
        return self._fit(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **others: Any
    ) -> Any:
        self._refuse(others)
        return self._continue(X, y, classes, sample_weight)

    fit.__doc__ = f"""{Classifier.fit.__doc__}
        {WEIGHT}"""
    partial_fit.__doc__ = f"""{Classifier.partial_fit.__doc__}
        {WEIGHT}"""


def _class_weights(
    given: Any, classes: np.ndarray, place: np.ndarray, is_whole: bool, name: str
) -> np.ndarray:
    """Return the weights (C,) of the classes. Raises ValueError for what cannot be such weights.

    given: the argument class_weight    place (n,): the classes of the rows by number    is_whole: whether
    these are all rows, which "balanced" needs    name: of the estimator
    """
    labels = classes.tolist()
    if isinstance(given, str) and given == "balanced":
        if not is_whole:
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' "
                "weights, use compute_class_weight('balanced', classes=classes, y=y). In place of y you can "
                "use a large enough sample of the full training set target to properly estimate the class "
                "frequency distributions. Pass the resulting weights as the class_weight parameter, "
                "dict(zip(classes, weights))."
            )
        return len(place) / (len(labels) * np.bincount(place, minlength=len(labels)))
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{name}: class_weight must be None, 'balanced' or a mapping of classes to weights, "
            f"got {show(given)}"
        )
    other = [label for label in given if label not in labels]
    if other and not given.keys() >= {*labels}:  # as scikit-learn: a class more does no harm
        raise ValueError(f"{name}: class_weight has the class {other[0]!r}, but the classes are {labels}")
    try:
        class_weights = np.array([given.get(label, 1.0) for label in labels], np.float64)
    except (TypeError, ValueError):
        class_weights = np.zeros(1)
    if not (np.isfinite(class_weights).all() and (class_weights > 0).all()):
        raise ValueError(f"{name}: each weight of class_weight must be a number > 0, got {given}")
    return class_weights


class WeightedRegressor(Regressor):
    """Regression by a learner whose step has a size, which a row's weight changes."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        self._refuse(others)
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **others: Any) -> Any:
        self._refuse(others)
        return self._continue(X, y, weights=sample_weight)

    fit.__doc__ = f"""{Regressor.fit.__doc__}
        {WEIGHT}"""
    partial_fit.__doc__ = f"""{Regressor.partial_fit.__doc__}
        {WEIGHT}"""

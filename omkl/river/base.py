"""What all river models share: a learner behind ``learn_one`` and ``predict_one``.

Rows are mappings of names to numbers. A name that was never seen becomes a new column; a name that a row does
not have counts as 0. None and NaN are gaps: the mean of the feature so far. Other values are refused.
"""

import math
import re
import secrets
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
from river import base
from river.conf import Interval
from river.proba import Gaussian

from omkl.config import learner_spec
from omkl.engine.stream import Stream, make_stream
from omkl.errors import show
from omkl.estimators import Copied
from omkl.estimators.arguments import WEIGHTLESS, Argument, has_intervals, has_probabilities
from omkl.estimators.make import (
    check_weights,
    follow,
    learn,
    learn_one_row,
    make_learner,
    new_calibration,
    planned_rounds,
    warn_of_rounds,
)
from omkl.models.asked import CsrArrays, check_std, interval_ends, predicted_classes, score, score_and_std
from omkl.models.calibrated import class_probabilities
from omkl.passes.packing import with_classes
from omkl.passes.platt import Platt
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_row, check_rows, check_targets
from omkl.rounds.record import Progress
from omkl.rounds.support_vectors import vectors_of_kernels

Row = tuple[list[int], list[float], float, float]  # columns, values, label, class or target, and weight


class _Columns:
    """The columns of the names, in the order in which they came; new ones of a row by `_by_number`."""

    def __init__(self) -> None:
        self.of: dict[Hashable, int] = {}

    def row(self, x: Mapping[Hashable, Any], learn: bool) -> tuple[list[int], list[float], int]:
        """Return columns and values of a row, ascending and without zeros, and how many columns there are."""
        column_of, x = self.of, x if type(x) is dict else _mapping(x)
        numbers = x if _are_finite(x.values()) else {name: _number(name, entry) for name, entry in x.items()}
        if not column_of.keys() >= x.keys():
            column_of = column_of if learn else dict(column_of)
            for name in sorted(x.keys() - column_of.keys(), key=_by_number):
                column_of[name] = len(column_of)
        kept = [(column_of[name], value) for name, value in numbers.items() if value != 0]
        kept.sort()
        return [column for column, _ in kept], [value for _, value in kept], len(column_of)


def _are_finite(values: Collection[Any]) -> bool:
    """Whether these are plain finite numbers, of a moderate size."""
    return {*map(type, values)} <= {float} and math.isfinite(sum(values))


def _by_number(name: Hashable) -> list[tuple[int, str]]:
    """Sort x2 before x10, as arrays have them; a row's own order may not matter, as river's checks ask."""
    pieces = re.split(r"(\d+)", str(name))
    return [(int(part) if part.isdecimal() else -1, part) for part in pieces]


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
    if value is None:
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"the feature {name!r} is too large for a number of 64 bits") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"the feature {name!r} is {value!r}, which is not a number; "
            "river.preprocessing.OneHotEncoder turns words into numbers"
        ) from None
    if math.isinf(number):
        raise ValueError(f"the feature {name!r} is {value!r}; it must be finite")
    return number


class OnlineModel(Copied):
    """A learner of omkl as a river model."""

    learner: ClassVar[str]
    task: ClassVar[str]

    @property
    def _lock(self) -> Any:
        """The lock of the learner, as soon as there is one: held by a whole call that learns or predicts."""
        return self._model.lock if "_model" in self.__dict__ else nullcontext()

    @property
    def n_seen_(self) -> int:
        """CsrArrays learnt."""
        return self._progress.rounds if "_progress" in self.__dict__ else 0

    @property
    def n_support_(self) -> Any:
        """How many support vectors each kernel uses (m,), of a learner that stores any."""
        counts = vectors_of_kernels(self._model) if "_model" in self.__dict__ else None
        if counts is None:
            why = "has no support vectors" if "_model" in self.__dict__ else "has learnt nothing yet"
            raise AttributeError(f"{type(self).__name__} {why}")
        return counts

    def _current(self) -> Learner:
        """Return the learner, with the hyperparameters that have been set since it began."""
        follow(self, self._model)
        return self._model

    def _weight(self, w: float) -> float:
        """Return the weight of a row. Raises ValueError for one that the learner cannot take."""
        if w == 1:
            return 1.0
        spec, name = learner_spec(self.learner), type(self).__name__
        if not spec.weight:
            raise ValueError(f"{name} takes no weight, w={w}: {WEIGHTLESS}")
        if not isinstance(w, int | float | np.number) or not 0 <= w < math.inf:
            raise ValueError(f"{name}: w must be a number ≥ 0, got {show(w)}")
        if w > 0:
            params = self._get_params()  # type: ignore[attr-defined]
            check_weights(spec, params, np.array([w], np.float64), name, "w", planned_rounds(params, 1))
        return float(w)

    def _learn(self, x: Mapping[Hashable, Any], y: float, classes: int = 2, w: float = 1.0) -> Row:
        """Learn a row of label, class or target y and weight w; return its columns and values, y and w."""
        if "_columns" not in self.__dict__:
            self._columns, self._progress = _Columns(), Progress(self.task)
        columns, values, d = self._columns.row(x, learn=True)
        row = columns, values, y, w
        if w == 1.0 and "_model" in self.__dict__:
            model = self._current()
            _room(model, d)
            done = self._progress.rounds
            check_row(model.growth, values, done + 1)
            warn_of_rounds(self, self.__dict__.get("_planned"), done, 1)
            learn_one_row(model, columns, values, y, self.__dict__.get("_calibration"), self._progress)
            return row
        stream, weights = stream_of_rows([row], classes)
        if "_model" not in self.__dict__:
            self._begin(d, stream, classes)
        model = self._current()
        _room(model, d)
        check_rows(model.growth, stream.indptr, stream.values, self._progress.rounds + 1)
        warn_of_rounds(self, self.__dict__.get("_planned"), self._progress.rounds, 1)
        learn(model, stream, weights, self.__dict__.get("_calibration"), self._progress)
        return row

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
        self._model, self._planned, self._given = model, planned_rounds(params, stream.T), params

    def _score(self, x: Mapping[Hashable, Any]) -> float:
        """Return the score of a row, 0 before anything was learnt."""
        if "_model" not in self.__dict__:
            return 0.0
        return float(score(self._model, *self._row(x))[0])

    def _row(self, x: Mapping[Hashable, Any]) -> CsrArrays:
        """Return a row to be predicted, as CSR arrays."""
        self._current()
        columns, values, d = self._columns.row(x, learn=False)
        if d > self._model.d and self._model.draws_frequencies:
            kept = sum(column < self._model.d for column in columns)  # nothing was drawn for other columns
            columns, values = columns[:kept], values[:kept]
        else:
            _room(self._model, d)
        rows = np.array([0, len(columns)]), np.array(columns, np.int32), np.array(values)
        check_rows(self._model.growth, rows[0], rows[2])
        return rows


def stream_of_rows(rows: Sequence[Row], classes: int) -> tuple[Stream, np.ndarray | None]:
    """Return rows as a stream, and their weights, None where all are 1."""
    indptr = np.cumsum([0, *(len(columns) for columns, *_ in rows)])
    indices = np.array([column for columns, *_ in rows for column in columns], np.int32)
    values = np.array([value for _, values, *_ in rows for value in values], np.float64)
    y, weights = (np.array([row[at] for row in rows]) for at in (2, 3))
    stream = make_stream(indptr, indices, values, y, np.arange(len(rows)), classes)
    return stream, None if (weights == 1).all() else weights


def _room(model: Learner, d: int) -> None:
    if d > model.d:
        model.add_features(max(d, model.d + model.d // 2))


class Regressor(OnlineModel, base.Regressor):
    """Regression."""

    def learn_one(self, x: dict, y: Any, w: float = 1.0) -> None:
        """Learn one row of weight w.

        Raises ValueError for infinite or very large numbers, which spoil any model, and for a weight other
        than 1 of a learner whose step has no size.
        """
        weight = self._weight(w)
        try:
            target = float(y)
        except OverflowError:
            raise ValueError("the target is too large for a number of 64 bits") from None
        except TypeError:
            target = math.nan
        if not math.isfinite(target):
            raise ValueError(f"the target is {y!r}; it must be a finite number")
        check_targets(np.array([target]))
        if weight > 0:
            with self._lock:
                self._learn(x, target, w=weight)

    def predict_one(
        self, x: dict, with_dist: bool = False, with_interval: bool = False, **kwargs: Any
    ) -> Any:
        """Return the prediction, 0 before anything has been learnt.

        with_dist: return its Gaussian in place of it, of the targets around it; before anything has been
        learnt its sigma is infinite. Raises ValueError for a learner that does not know it.
        with_interval: return its river.conf.Interval in place of it, which holds the share ``interval`` of
        the targets; the whole line while too few rows have been learnt, 9 for 0.9.
        """
        with self._lock:
            if with_interval:
                return Interval(*self._interval(x))
            if not with_dist:
                return self._score(x)
            check_std(learner_spec(self.learner))
            mean, std = [0.0], [math.inf]
            if "_model" in self.__dict__:
                mean, std = (value.tolist() for value in score_and_std(self._model, *self._row(x)))
            return Gaussian._from_state(n=1, m=mean[0], var=std[0] ** 2, ddof=0)

    def _interval(self, x: dict) -> tuple[float, float]:
        if not has_intervals(self):
            raise ValueError(f"{type(self).__name__} gives no intervals; interval=0.9 makes some")
        if "_model" not in self.__dict__:
            return -math.inf, math.inf
        assert self._calibration is not None
        low, high = interval_ends(self._model, self._calibration, *self._row(x))
        return float(low[0]), float(high[0])


class NoveltyDetector(OnlineModel, base.AnomalyDetector):
    """Novelty detection: the higher the score, the more novel the row; above 0 it is flagged."""

    def learn_one(self, x: dict) -> None:
        """Learn one row."""
        with self._lock:
            self._learn(x, 1.0)

    def score_one(self, x: dict, **kwargs: Any) -> float:
        """Return the score, positive for novel rows."""
        with self._lock:
            return -self._score(x)


MOST_KEPT = 1000
CLASSES = Argument(
    None, f"all labels, a list; None: as they come, the third one among the first {MOST_KEPT} rows"
)


class Classifier(OnlineModel, base.Classifier):
    """Classification: ``predict_one`` is None before any label is known, and with two labels at a score of 0.

    Two labels are learnt as -1 and +1. At a third one, a learner for more classes begins with the rows so
    far, at most MOST_KEPT. Each further label is another class. ``classes`` names all labels beforehand.
    """

    _labels: dict[float, Any]  # of -1 and +1
    _many: list[Any] | None  # the labels in the order of their numbers, None while there are two
    _kept: list[Row] | None  # the rows so far, None where no third label may come

    @property
    def mistakes_(self) -> int:
        """CsrArrays learnt whose prediction before the update was wrong."""
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
                    if isinstance(self._calibration, Platt):
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
            shares = {label: P[int(sign > 0)] for sign, label in sorted(self._labels.items())}
            return shares if len(shares) == 2 else dict.fromkeys(shares, 1.0)

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
            labels = sorted(map(repr, self._labels.values()))
            raise ValueError(f"the label {y!r} is a third one besides {labels}; {way_out}")
        self._many = [self._labels[-1.0], self._labels[1.0], y]
        rows = [(columns, values, float(sign > 0), w) for columns, values, sign, w in self._kept]
        stream, weights = stream_of_rows(rows, 3)
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

"""What all estimators share: a learner behind scikit-learn's methods.

``fit`` forgets and makes one pass over the rows in their order; ``partial_fit`` continues where the last
call ended, so that any cut of a stream gives the same learner, to the last bit.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from omkl.config import learner_spec
from omkl.config.learners import LearnerSpec
from omkl.config.unscaled import far_feature, far_text
from omkl.data.dataset import MANY
from omkl.errors import UserError, outside
from omkl.estimators import Copied, Later, dense_rows, sparse_rows
from omkl.estimators.arguments import CLASS_WEIGHT, WEIGHTLESS, argument_name

if TYPE_CHECKING:
    from omkl.engine import stream as streams
    from omkl.engine.stream import Stream
    from omkl.estimators import make
    from omkl.models import asked
    from omkl.models.asked import CsrArrays
    from omkl.rounds import overflow, record, support_vectors
    from omkl.rounds.learner import Learner
else:
    make, asked, record = (
        Later("omkl.estimators.make"),
        Later("omkl.models.asked"),
        Later("omkl.rounds.record"),
    )
    overflow, support_vectors = Later("omkl.rounds.overflow"), Later("omkl.rounds.support_vectors")
    streams = Later("omkl.engine.stream")

ATTRIBUTES = """Attributes
----------
n_features_in_, feature_names_in_ : number and names of the features of the first rows.
kernel_weights_ : (m,), the weights of the kernels, for learners that weigh them.
support_, support_vectors_ : row numbers, counted from the first row learnt, and rows (CSR), for learners that
    store examples; n_support_ : how many of them each kernel uses.
dual_coef_ : (m, n_support), the coefficients of the support vectors for each kernel; with more than two
    classes (m, n_support, n_classes).
curve_ : {measure} after up to 200 numbers of rounds, while learning."""


class OnlineLearner(Copied, BaseEstimator):
    """A learner of omkl as an estimator; see the subclasses.

    Threads may share one that has begun to learn: whoever learns, predicts or copies holds the lock of its
    learner. Only ``fit``, and the first ``partial_fit``, need an estimator to themselves.
    """

    learner: ClassVar[str]
    task: ClassVar[str]
    attributes: ClassVar[str]

    @property
    def _spec(self) -> LearnerSpec:
        return learner_spec(self.learner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None, **others: Any) -> OnlineLearner:
        """Forget what was learnt, and make one pass over the rows in their order.

        X (T, d): array, data frame or sparse matrix; y (T,). Ctrl-C leaves the estimator unfitted. Raises
        ValueError for arguments out of their domain and for data that do not suit the learner.
        """
        self._refuse(others)
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, weights: Any = None) -> OnlineLearner:
        try:
            return self._continue(X, y, weights=weights, reset=True)
        except KeyboardInterrupt:  # half of a pass, which would be taken for a whole one
            self.__dict__.pop("_model", None)
            raise

    def _continue(
        self, X: Any, y: Any, classes: Any = None, weights: Any = None, reset: bool = False
    ) -> OnlineLearner:
        """Learn these rows, the first ones where nothing has been learnt; weights (n,) or None."""
        if weights is None and not reset and self._is_one_row(X):
            return self._learn_row(X[0], y, classes)
        if weights is not None:
            n = _num_samples(X)
            weights = make.row_weights(weights, n, type(self).__name__)
            if (used := weights > 0).sum() < n:  # a row of weight 0 is none
                X, y, weights = _safe_indexing(X, used), _safe_indexing(y, used), weights[used]
            weights = None if (weights == 1).all() else weights
        if reset or "_model" not in self.__dict__:
            return self._learn(*self._first(X, y, classes, weights, reset))
        rows, target = self._validated(X, y, classes, reset=False)
        stream = self._stream(rows, target)
        return self._learn(stream, self._row_weights(stream, weights, False))

    def _is_one_row(self, X: Any) -> bool:
        """Whether a row may be learnt without what many rows need."""
        attributes = self.__dict__
        return (
            "_model" in attributes
            and attributes.get(CLASS_WEIGHT) is None
            and self._is_plain(X)
            and len(X) == 1
        )

    def _learn_row(self, x: np.ndarray, y: Any, classes: Any) -> OnlineLearner:
        columns = np.flatnonzero(x)
        values = x[columns]
        model = self._current()
        with model.lock:
            done = self._progress.rounds
            overflow.check_row(model.growth, values.tolist(), done + 1)
            target = float(self._target(y, 1, classes, False)[0])
            make.warn_of_rounds(self, self.__dict__.get("_planned"), done, 1)
            make.learn_one_row(
                model, columns, values, target, self.__dict__.get("_calibration"), self._progress
            )
        return self

    def _row_weights(self, stream: Stream, weights: np.ndarray | None, is_whole: bool) -> np.ndarray | None:
        """Return the weights of a stream's rows. Raises ValueError for what the learner cannot take.

        weights: those given, above 0, or None    is_whole: whether they are all rows, as those of fit
        """
        if weights is not None:
            self._check_weights(stream, weights, "sample_weight", is_whole)
        return weights

    def _check_weights(self, stream: Stream, weights: np.ndarray, what: str, is_whole: bool) -> None:
        given, begins = self.get_params(deep=False), is_whole or "_model" not in self.__dict__
        rounds = make.planned_rounds(given, stream.T) if begins else self._model.planned_rounds
        make.check_weights(self._spec, given, weights, type(self).__name__, what, rounds)

    def _refuse(self, others: dict[str, Any]) -> None:
        for name in others:
            why = f"{WEIGHTLESS}; repeat rows instead" if name == "sample_weight" else "unknown argument"
            raise TypeError(f"{type(self).__name__} takes no {name}: {why}")

    def _first(
        self, X: Any, y: Any, classes: Any, weights: np.ndarray | None, is_whole: bool
    ) -> tuple[Stream, np.ndarray | None]:
        """Begin: check the arguments, make the learner, and return the stream of these rows, and weights."""
        rows, target = self._validated(X, y, classes, reset=True)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        stream = self._stream(rows, target)
        weights = self._row_weights(stream, weights, is_whole)
        given = self.get_params(deep=False)
        shape = (given, self.n_features_in_, int(seed), stream, self._n_classes)
        model = make.make_learner(self._spec, self.task, *shape)
        overflow.check_rows(model.growth, stream.indptr, stream.values, stream.T)
        self._warn_of_offsets(stream, model.pool)
        self._calibration = make.new_calibration(given, self._n_classes)
        self._progress = record.Progress(self.task)
        self._planned = make.planned_rounds(given, stream.T)
        self._given = given
        self._model = model
        return stream, weights

    def _warn_of_offsets(self, stream: Stream, pool: dict[str, Any] | None) -> None:
        if self.__dict__.get("scale"):
            return
        kernels = pool["kernels"] if pool else []
        if far := far_feature(stream.T, stream.indices, stream.values, kernels):
            advice = "subtract the means (sklearn.preprocessing.StandardScaler, or scale='online')"
            warnings.warn(f"{far_text(*far)}; {advice}", UserWarning, stacklevel=outside())

    def _stream(self, rows: CsrArrays, target: np.ndarray) -> Stream:
        return streams.make_stream(*rows, target, np.arange(len(target)), self._n_classes)

    @property
    def _n_classes(self) -> int:
        """Number of classes; 2 for other tasks, too."""
        return 2

    def _learn(self, stream: Stream, weights: np.ndarray | None = None) -> OnlineLearner:
        model = self._current()
        with model.lock:
            make.warn_of_rounds(self, self.__dict__.get("_planned"), self._progress.rounds, stream.T)
            make.learn(model, stream, weights, self.__dict__.get("_calibration"), self._progress)
        return self

    def _current(self) -> Learner:
        """Return the learner, with the hyperparameters that have been set since it began."""
        model: Learner = self._model
        with model.lock:
            make.follow(self, model)
        return model

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._rows(X)  # first: it says so where nothing was learnt
        return asked.score(self._model, *rows)

    def _rows(self, X: Any) -> CsrArrays:
        """Return the rows to be predicted."""
        if "_model" not in self.__dict__:  # check_is_fitted alone takes longer than a prediction
            check_is_fitted(self, "_model")
        self._current()
        return self._validated(X, None, None, reset=False, learns=False)[0]

    # ------------------------------------------------------------------ data

    def _validated(
        self, X: Any, y: Any, classes: Any, reset: bool, learns: bool = True
    ) -> tuple[CsrArrays, np.ndarray]:
        """Return CSR arrays of the rows, and targets as the learner takes them, 1 if not learnt."""
        for name, array in (("X", X), ("y", y)):
            if np.ma.is_masked(array):
                raise ValueError(f"{name} has masked values; fill them in, or leave the rows out")
        if not reset and self._is_plain(X):
            rows = dense_rows(X)
            self._check_range(rows, learns)
            return rows, self._target(y, len(X), classes, reset) if learns else np.ones(len(X))
        given: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
        given["ensure_all_finite"] = "allow-nan"
        X = validate_data(self, X, **given)
        if X.shape[1] > MANY:
            raise ValueError(f"{X.shape[1]} features; at most {MANY} are possible")
        rows = sparse_rows(X) if sp.issparse(X) else dense_rows(X)
        if not reset:
            self._check_range(rows, learns)
        return rows, self._target(y, X.shape[0], classes, reset) if learns else np.ones(X.shape[0])

    def _check_range(self, rows: CsrArrays, learns: bool) -> None:
        """Raise ValueError for rows that are too large to be predicted, or learnt."""
        rounds = self._progress.rounds + len(rows[0]) - 1 if learns else 1
        overflow.check_rows(self._model.growth, rows[0], rows[2], rounds)

    def _is_plain(self, X: Any) -> bool:
        """Whether a check would find nothing: a shorter way for streams that come row by row."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == getattr(self, "n_features_in_", -1)
            and "feature_names_in_" not in self.__dict__
            and bool(np.isfinite(np.vdot(X, X)))
        )

    def _target(self, y: Any, T: int, classes: Any, reset: bool) -> np.ndarray:
        raise NotImplementedError

    # ------------------------------------------------------------------ what was learnt

    @property
    def kernel_weights_(self) -> np.ndarray:
        """The kernels' weights (m,)."""
        return self._known("kernel weights", self._model.weights)

    @property
    def support_(self) -> np.ndarray:
        """Row numbers of the support vectors, counted from the first row learnt."""
        return self._known("support vectors", support_vectors.stored_vectors(self._model))[0]

    @property
    def support_vectors_(self) -> sp.csr_array:
        """The support vectors (n, d)."""
        return self._known("support vectors", support_vectors.stored_vectors(self._model))[1]

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors each kernel uses (m,)."""
        return self._known("support vectors", support_vectors.vectors_of_kernels(self._model))

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficients (m, n) of the support vectors for each kernel; for many classes (m, n, C)."""
        return self._known("support vectors", support_vectors.expansion_coefficients(self._model))

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the features, (1, d) or (C, d), of a regressor (d,), in the features' own units.

        Of a learner whose prediction is linear: AROW, and those with one linear kernel. Not with
        ``scale="online"``, which scales a row with itself.
        """
        coefficients = self._at(sp.eye_array(self.n_features_in_, format="csr")) - self._at(self._origin)
        return coefficients.ravel() if self.task == "regression" else coefficients.T

    @property
    def intercept_(self) -> np.ndarray:
        """The prediction at 0 of a learner that has `coef_`: (1,) or (C,)."""
        return self._at(self._origin)[0]

    @property
    def _origin(self) -> sp.csr_array:
        return sp.csr_array((1, self.n_features_in_))

    def _at(self, X: sp.csr_array) -> np.ndarray:
        """Return the scores (n, 1) or (n, C) of a linear learner."""
        check_is_fitted(self, "_model")
        pool = self._model.pool or {"kernels": [], "normalise": "none"}
        is_linear = [kernel["kind"] for kernel in pool["kernels"]] == ["linear"] and pool[
            "normalise"
        ] == "none"
        is_scaled = self._model.scaling is not None and self._model.scaling.scale
        if is_scaled or not (is_linear or "mu" in self._model.resources):
            raise AttributeError(f"{type(self).__name__} has no coef_: its prediction is not linear")
        rows = sparse_rows(X)
        with self._current().lock:
            margins = (asked.score if self._n_classes == 2 else asked.class_scores)(self._model, *rows)
        return margins.reshape(X.shape[0], -1)

    @property
    def curve_(self) -> dict[str, np.ndarray]:
        """Totals at up to 200 rounds of the stream."""
        check_is_fitted(self, "_model")
        with self._model.lock:
            return self._progress.curve()

    def _known(self, what: str, value: Any) -> Any:
        if value is None:
            raise AttributeError(f"{type(self).__name__} has no {what}")
        return value

    def __getattr__(self, name: str) -> Any:
        if name in ("_model", "_progress") or ("_model" not in self.__dict__ and hasattr(type(self), name)):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit")
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    # ------------------------------------------------------------------ saved models

    def to_file(self, path: Any) -> None:
        """Save the fitted learner as a model (`omkl predict` reads it); the file is replaced in one step."""
        from omkl.models import model_file

        check_is_fitted(self, "_model")
        about = {"task": self.task, "features": list(getattr(self, "feature_names_in_", [])) or None}
        if self.task == "classification":
            about["classes"] = [
                label.item() if isinstance(label, np.generic) else label for label in self.classes_
            ]
            if (weights := getattr(self, CLASS_WEIGHT, None)) is not None:
                about[CLASS_WEIGHT] = (
                    weights
                    if isinstance(weights, str)
                    else [float(weights.get(label, 1.0)) for label in self.classes_.tolist()]
                )
        if calibration := self.__dict__.get("_calibration"):
            about[calibration.word] = calibration.to_json()
        with self._current().lock:
            model_file.write_model(path, self._model, {**about, "progress": self._progress.to_json()})

    @classmethod
    def from_file(cls, path: Any) -> OnlineLearner:
        """Return the fitted estimator of a saved model. Raises UserError for another file."""
        from omkl.models import model_file
        from omkl.passes.calibration import saved

        model, about = model_file.read_model(path)
        if model.spec.name != cls.learner or about.get("task") != cls.task:
            raise UserError(
                f"{path} is a model of {model.spec.name} for {about.get('task')}, not of {cls.__name__}"
            )
        estimator = cls()
        for name, value in model.params.items():
            setattr(estimator, argument_name(name), value)
        if "pool" in estimator.get_params():
            estimator.pool = model.pool
        for name, value in (model.scaling.words if model.scaling else {}).items():
            setattr(estimator, name, value)
        try:
            estimator._model, estimator._progress = (
                model,
                record.Progress.from_json(about.get("progress", {})),
            )
            if calibration := None if model.spec.probabilities else saved(about, model.classes):
                estimator._calibration = calibration
                if cls.task == "regression":
                    estimator.interval = calibration.level
                else:
                    estimator.calibration = calibration.word
            estimator._given = estimator.get_params(deep=False)
        except (ValueError, AttributeError) as error:
            raise UserError(f"{path} is not a valid model: {error}") from None
        estimator.n_features_in_ = model.d
        if about.get("features"):
            estimator.feature_names_in_ = np.array(about["features"], dtype=object)
        if cls.task == "classification":
            estimator.classes_ = np.array(about.get("values_of_classes") or about.get("classes") or [])
            if estimator.classes_.shape != (model.classes,):
                raise UserError(f"{path} is not a valid model: its classes are not {model.classes}")
            if (weights := about.get(CLASS_WEIGHT)) is not None:
                labels = estimator.classes_.tolist()
                if isinstance(weights, list) and len(weights) == len(labels):
                    weights = dict(zip(labels, weights, strict=True))
                estimator.class_weight = weights  # partial_fit checks it
        return estimator

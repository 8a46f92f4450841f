"""Stochastic gradient descent of scikit-learn on random features: rivals of the page results/today.md."""

from typing import Any

import numpy as np
import sklearn
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier, SGDRegressor


class _OnFeatures:
    """A linear model on D random features cos(w.x + b) of the kernel exp(-gamma |x - x'|^2).

    Rows come one at a time, so features and scores are computed directly: the checks of scikit-learn's
    methods would take most of the time.
    """

    model: Any

    def __init__(self, gamma: float, D: int, random_state: int) -> None:
        self._sampler = RBFSampler(gamma=gamma, n_components=D, random_state=random_state)
        self._is_drawn = False

    def _features(self, X: np.ndarray) -> np.ndarray:
        if not self._is_drawn:
            self._sampler.fit(X)
            self._is_drawn = True
        sampler = self._sampler
        angles = X @ sampler.random_weights_ + sampler.random_offset_
        return np.sqrt(2.0 / sampler.n_components) * np.cos(angles)

    def _learn(self, X: np.ndarray, y: np.ndarray, **more: Any) -> None:
        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            self.model.partial_fit(self._features(X), y, **more)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self._features(X) @ self.model.coef_.ravel() + self.model.intercept_


class Classifier(_OnFeatures):
    """SGDClassifier on random features."""

    def __init__(
        self,
        gamma: float = 0.05,
        D: int = 400,
        loss: str = "log_loss",
        step: str = "constant",
        eta0: float = 0.5,
        alpha: float = 0.0001,
        random_state: int = 0,
    ) -> None:
        super().__init__(gamma, D, random_state)
        how = {"loss": loss, "learning_rate": step, "eta0": eta0, "alpha": alpha}
        self.model = SGDClassifier(**how, random_state=random_state)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Learn one row."""
        self._learn(X, y, classes=classes)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the score of one row."""
        return self._scores(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted label."""
        return np.where(self._scores(X) > 0, 1, -1)


class Regressor(_OnFeatures):
    """SGDRegressor on random features."""

    def __init__(
        self,
        gamma: float = 0.5,
        D: int = 400,
        step: str = "constant",
        eta0: float = 0.1,
        alpha: float = 0.0001,
        random_state: int = 0,
    ) -> None:
        super().__init__(gamma, D, random_state)
        how = {"learning_rate": step, "eta0": eta0, "alpha": alpha}
        self.model = SGDRegressor(**how, random_state=random_state)

    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn one row."""
        self._learn(X, y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted number."""
        return self._scores(X)


class PassiveAggressive:
    """The passive-aggressive steps I of scikit-learn (1.8 or later) on the features themselves."""

    def __init__(self, C: float = 1.0, random_state: int = 0) -> None:
        steps = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": C}
        self.model = SGDClassifier(**steps, random_state=random_state)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Learn one row."""
        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            self.model.partial_fit(X, y, classes=classes)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the score of one row."""
        return X @ self.model.coef_.ravel() + self.model.intercept_

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted label."""
        return np.where(self.decision_function(X) > 0, 1, -1)

"""Stochastic gradient descent of scikit-learn on random features: rivals of the page results/today.md."""

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier, SGDRegressor


class _OnFeatures:
    """A linear model on D random features cos(w.x + b) of the kernel exp(-gamma |x - x'|^2)."""

    model: Any

    def __init__(self, gamma: float, D: int, random_state: int) -> None:
        self._sampler = RBFSampler(gamma=gamma, n_components=D, random_state=random_state)
        self._last: tuple[Any, np.ndarray] | None = None

    def _features(self, X: np.ndarray) -> np.ndarray:
        """Return the features of one row, which is predicted and then learnt."""
        if self._last is None:
            self._sampler.fit(X)
        if self._last is None or self._last[0] is not X:
            self._last = X, self._sampler.transform(X)
        return self._last[1]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return what the model predicts."""
        return self.model.predict(self._features(X))


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
        self.model.partial_fit(self._features(X), y, classes=classes)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the score of one row."""
        return self.model.decision_function(self._features(X))


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
        self.model.partial_fit(self._features(X), y)

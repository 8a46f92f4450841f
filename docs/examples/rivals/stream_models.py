"""Learners of river and Vowpal Wabbit that users of streams know: rivals of the page results/today.md."""

import math
from typing import Any

from river import compose, ensemble, forest, linear_model, optim, preprocessing, tree


def forest_of_trees(n_models: int = 10, grace_period: int = 50, random_state: int = 0) -> Any:
    """Return an Adaptive Random Forest (Gomes et al., 2017)."""
    return forest.ARFClassifier(n_models=n_models, grace_period=grace_period, seed=random_state)


def forest_of_regression_trees(n_models: int = 10, grace_period: int = 50, random_state: int = 0) -> Any:
    """Return an Adaptive Random Forest for numbers (Gomes et al., 2018)."""
    return forest.ARFRegressor(n_models=n_models, grace_period=grace_period, seed=random_state)


def random_patches(n_models: int = 10, random_state: int = 0) -> Any:
    """Return Streaming Random Patches (Gomes et al., 2019)."""
    return ensemble.SRPClassifier(n_models=n_models, seed=random_state)


def one_tree(grace_period: int = 200) -> Any:
    """Return a Hoeffding tree (Domingos, Hulten, 2000)."""
    return tree.HoeffdingTreeClassifier(grace_period=grace_period)


def scaled_logistic(eta0: float = 0.01, l2: float = 0.0) -> Any:
    """Return logistic regression by gradient descent, on features scaled as the stream runs."""
    model = linear_model.LogisticRegression(optimizer=optim.SGD(eta0), l2=l2)
    return compose.Pipeline(preprocessing.StandardScaler(), model)


class VowpalWabbit:
    """Vowpal Wabbit with its default adaptive, normalised steps (Ross, Mineiro, Langford, 2013)."""

    def __init__(self, rate: float = 0.5, random_state: int = 0) -> None:
        from vowpalwabbit import Workspace

        words = f"--quiet --loss_function logistic --link identity -b 24 -l {rate}"
        self._model = Workspace(f"{words} --random_seed {random_state}")

    def _text(self, x: dict[int, float]) -> str:
        return "| " + " ".join(f"{name}:{value!r}" for name, value in x.items() if value)

    def _score(self, x: dict[int, float]) -> float:
        return float(self._model.predict(self._text(x)))

    def predict_one(self, x: dict[int, float]) -> bool:
        """Return the class of a row."""
        return self._score(x) > 0.0

    def predict_proba_one(self, x: dict[int, float]) -> dict[bool, float]:
        """Return the probabilities of the classes, by the logistic function of the score."""
        p = 1.0 / (1.0 + math.exp(-max(min(self._score(x), 700.0), -700.0)))
        return {True: p, False: 1.0 - p}

    def learn_one(self, x: dict[int, float], y: bool) -> None:
        """Learn a row."""
        self._model.learn(f"{1 if y else -1} {self._text(x)}")

"""coef_ and intercept_: the prediction of a linear learner as a weighted sum of the features."""

import numpy as np
import pytest

import omkl.sklearn

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -1.0]
Y = (X[:, 1] > 5).astype(int)
MANY = Y + (X[:, 3] > 0)
LINEAR = [
    ("ArowClassifier", {}),
    ("PerceptronClassifier", {"kernel": "linear"}),
    ("NormaClassifier", {"kernel": "linear", "offset": True, "eta": 0.01}),
    ("NormaRegressor", {"kernel": "linear", "eta": 0.001}),
    ("NormaRegressor", {"kernel": "linear", "eta": 0.001, "target": "online"}),
]


@pytest.mark.parametrize("y", [Y, MANY], ids=["two", "three"])
@pytest.mark.parametrize(("name", "given"), LINEAR, ids=lambda own: str(own))
def test_the_prediction_is_the_sum_of_the_weighted_features(name, given, y):
    model = getattr(omkl.sklearn, name)(**given).fit(X, y.astype(float) if "Regressor" in name else y)
    predict = model.predict if "Regressor" in name else model.decision_function
    made = X @ model.coef_.T + model.intercept_
    assert made.ravel() == pytest.approx(predict(X).ravel(), rel=1e-6, abs=1e-9)
    classes = 1 if len(np.unique(y)) == 2 else 3
    assert model.coef_.shape == ((4,) if "Regressor" in name else (classes, 4))
    assert model.intercept_.shape == (1 if "Regressor" in name else classes,)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("AlmaClassifier", {}),
        ("RffRegressor", {}),
        ("OmkcDdClassifier", {}),
        ("ArowClassifier", {"scale": "online"}),
    ],
)
def test_another_learner_has_none(name, given):
    model = getattr(omkl.sklearn, name)(**given).fit(X, Y)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "intercept_")

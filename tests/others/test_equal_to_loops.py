"""The equality table: estimators of other packages as rows, and the same numbers from loops written by hand.

A loop shares nothing with omkl but the order of the rows. The mistakes of a repetition are equal; of numbers
the squared errors.
"""

import math

import numpy as np
import pytest
from river import (
    drift,
    ensemble,
    forest,
    linear_model,
    naive_bayes,
    neighbors,
    optim,
    preprocessing,
    rules,
    tree,
)
from river import multiclass as many
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import omkl
import omkl.data
from omkl import seeds
from omkl.errors import UserError
from omkl.others.adapters import adapter
from omkl.others.names import UNNAMED
from omkl.others.traits import Refit

T = 150
SERIAL = {"exec": "serial", "progress": False, "yardsticks": [], "reps": 1}
pytestmark = pytest.mark.filterwarnings("ignore")


def stream(classes):
    """Return rows (T, 4) in [0, 3) and classes, three and more as words, or, for 0, numbers."""
    rng = np.random.default_rng(classes)
    X = np.round(3 * rng.random((T, 4)), 2)
    f = X[:, 0] * X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=T)
    if not classes:
        return X, np.round(f, 3)
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
    return X, y if classes == 2 else np.array([f"c{c}" for c in y])


def in_order(model, classes):
    """Return the rows of repetition 0, the labels and the learner's seed, and what omkl says of it."""
    X, y = stream(classes)
    task = "classification" if classes else "regression"
    data = omkl.data.from_arrays(X, y, task=task)
    result = omkl.run(data, algo=[model], **SERIAL)
    assert not result.failed, result.failed
    order, permutation_seed = omkl.data.order(data, "permuted", 1, 0)
    seed = seeds.learner_seed(permutation_seed, result.cells.algo[0]) % 2**32
    return X[order], y[order], seed, result


def errors_of(answers, y, classes):
    """Return the mistakes, and of numbers the mean squared error; None is a mistake, or the number 0."""
    if classes:
        return sum(a is None or a != t for a, t in zip(answers, y, strict=True))
    errors = [((0.0 if a is None else a) - t) ** 2 for a, t in zip(answers, y, strict=True)]
    return np.mean(errors[2:])  # once the target has varied


def seeded(model, seed):
    """Return a copy whose seeds that are None are set, in the order of their names."""
    model = clone(model)
    names = sorted(
        k for k, v in model.get_params().items() if k.split("__")[-1] == "random_state" and v is None
    )
    return model.set_params(**{name: seed + at for at, name in enumerate(names)})


# ------------------------------------------------------------------ with partial_fit


def by_row(model, X, y, seed, classes):
    model, answers = seeded(model, seed), []
    *steps, last = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    labels = np.unique(y) if classes else None
    for t in range(len(y)):
        x = before = X[t : t + 1]
        try:
            for step in steps if t else []:
                before = step.transform(before)
            answers.append(last.predict(before)[0] if t else None)
        except NotFittedError:
            answers.append(None)
        for step in steps:
            x = (
                step.partial_fit(x)
                if hasattr(step, "partial_fit")
                else step
                if t
                else step.fit(np.vstack([x, x]))
            ).transform(x)
        last.partial_fit(x, y[t : t + 1], **({"classes": labels} if classes else {}))
    return answers


KNOTS = np.linspace(0.0, 3.0, 4)[:, None] + np.zeros(4)
ROWWISE = {
    "sgd": (SGDClassifier(), 2),
    "sgd log loss, 3": (SGDClassifier(loss="log_loss"), 3),
    "sgd average": (SGDClassifier(average=True), 2),
    "gaussian nb": (GaussianNB(), 2),
    "gaussian nb, 4": (GaussianNB(), 4),
    "multinomial nb": (MultinomialNB(), 3),
    "bernoulli nb": (BernoulliNB(binarize=1.0), 2),
    "complement nb": (ComplementNB(), 3),
    "mlp": (MLPClassifier(5), 3),
    "one against the rest": (OneVsRestClassifier(SGDClassifier()), 3),
    "naive bayes against the rest": (OneVsRestClassifier(GaussianNB()), 4),
    "sgd numbers": (make_pipeline(StandardScaler(), SGDRegressor()), 0),
    "mlp numbers": (MLPRegressor(hidden_layer_sizes=5), 0),
    "scaled": (make_pipeline(StandardScaler(), SGDClassifier()), 2),
    "scaled, features": (make_pipeline(StandardScaler(), RBFSampler(), SGDClassifier()), 2),
    "ranges, polynomial": (make_pipeline(MinMaxScaler(), PolynomialFeatures(), SGDClassifier()), 3),
    "splines with knots": (make_pipeline(SplineTransformer(knots=KNOTS), SGDClassifier()), 2),
    "sketch": (make_pipeline(MaxAbsScaler(), PolynomialCountSketch(), SGDClassifier()), 2),
    "chi squared": (make_pipeline(SkewedChi2Sampler(), SGDClassifier()), 2),
    "functions": (make_pipeline(Normalizer(), FunctionTransformer(np.sqrt), GaussianNB()), 2),
}


@pytest.mark.parametrize("name", ROWWISE)
def test_of_scikit_learn(name):
    model, classes = ROWWISE[name]
    X, y, seed, result = in_order(model, classes)
    assert error_in(result, classes) == pytest.approx(
        errors_of(by_row(model, X, y, seed, classes), y, classes)
    )


def error_in(result, classes):
    return result.cells["mistakes" if classes else "mse"][0]


@pytest.mark.parametrize(
    "step",
    [
        make_pipeline(StandardScaler(), PolynomialFeatures()),
        make_union(StandardScaler(), MinMaxScaler()),
        ColumnTransformer([("a", StandardScaler(), [0])]),
    ],
)
def test_a_step_that_holds_others_is_refitted(step):
    model = make_pipeline(step, SGDClassifier(random_state=3))
    with pytest.raises(UserError, match=r"holds other steps.*omkl\.refit\(\.\.\.\)"):
        in_order(model, 3)
    X, y, _, result = in_order(omkl.refit(model), 3)
    answers = by_fits(model, X, y, 0, 3)
    assert result.cells.mistakes[0] == errors_of(answers, y, 3)


# ------------------------------------------------------------------ fitted again


def by_fits(model, X, y, seed, classes, grow=1.1, window=10_000, first=2):
    model, due, fitted = seeded(model, seed), first, False
    answers = [None]
    for t in range(1, len(y)):
        rows = slice(max(0, t - window), t)
        if t >= due and (not classes or len(set(y[rows])) > 1):
            model.fit(X[rows], y[rows])
            due, fitted = (t + 1 if t < 100 else max(t + 1, int(np.ceil(t * grow)))), True
        if fitted:
            answers.append(model.predict(X[t : t + 1])[0])
        else:  # the most frequent class (of equal ones the first) or the mean so far
            answers.append(max(y[:t], key=y[:t].tolist().count) if classes else y[:t].mean())
    return answers


REFITTED = {
    "forest": (ExtraTreesClassifier(5), 2, {}),
    "forest, 3, window": (ExtraTreesClassifier(5), 3, {"window": 60}),
    "boosting": (GradientBoostingClassifier(n_estimators=5), 2, {"grow": 1.5}),
    "boosted histograms": (HistGradientBoostingClassifier(max_iter=5), 3, {"grow": 2}),
    "svc": (SVC(), 2, {}),
    "svc, 3": (make_pipeline(StandardScaler(), SVC()), 3, {}),
    "neighbours": (KNeighborsClassifier(3), 3, {"grow": 1.25, "first": 3}),
    "tree": (DecisionTreeClassifier(), 2, {}),
    "mlp": (MLPClassifier(5, max_iter=20), 2, {}),
    "discriminants": (LinearDiscriminantAnalysis(), 3, {}),
    "nystroem": (make_pipeline(Nystroem(n_components=10), SGDClassifier()), 2, {}),
    "stack": (
        StackingClassifier([("tree", DecisionTreeClassifier()), ("nb", GaussianNB())], cv=2),
        2,
        {"grow": 2, "first": 30},
    ),
    "forest, numbers": (RandomForestRegressor(5), 0, {}),
    "svr": (SVR(), 0, {}),
    "ridge": (make_pipeline(PolynomialFeatures(), Ridge()), 0, {"window": 8}),
    "bayesian ridge": (BayesianRidge(), 0, {}),
    "no deviation": (DummyRegressor(), 0, {}),
    "gaussian process": (GaussianProcessRegressor(alpha=0.1), 0, {"grow": 2}),
}


@pytest.mark.parametrize("name", REFITTED)
def test_refitted(name):
    model, classes, how = REFITTED[name]
    X, y, seed, result = in_order(omkl.refit(model, **how), classes)
    answers = by_fits(model, X, y, seed, classes, **how)
    assert error_in(result, classes) == pytest.approx(errors_of(answers, y, classes))
    assert ", refitted (scikit-learn)" in result.table["label"][0]


def test_a_fit_waits_for_a_second_class():
    X = np.arange(120.0)[:, None]
    y = np.array(["a"] * 70 + ["b"] * 50)
    result = omkl.run((X, y), algo=[omkl.refit(LogisticRegression())], order="file", **SERIAL)
    model, right = LogisticRegression(), 69  # before the first fit it answers a, but in the first round
    for due, after in [*((t, t + 1) for t in range(71, 100)), (100, 111), (111, 121)]:
        model.fit(X[:due], y[:due])
        right += (model.predict(X[due:after]) == y[due:after]).sum()
    assert result.cells.mistakes[0] == 120 - right


def test_an_estimator_that_asks_for_more_rows_says_what_helps():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    model = KNeighborsClassifier(5)
    (failure,) = omkl.run((X, y), algo=[omkl.refit(model)], order="file", **SERIAL).failed
    assert "fitted on 2 rows: Expected n_neighbors <= n_samples_fit" in failure["error"]
    assert "omkl.refit(model, first=N) fits from N rows on" in failure["error"]
    assert omkl.run((X, y), algo=[omkl.refit(model, first=5)], order="file", **SERIAL).failed == []


class Noted(ClassifierMixin, BaseEstimator):
    """Notes the rows and labels of each fit, and answers the last label of the fit."""

    def fit(self, X, y):
        self.fits = [*getattr(self, "fits", []), (X[:, 0].tolist(), y.tolist())]
        return self

    def predict(self, X):
        return np.full(len(X), self.fits[-1][1][-1])


@pytest.mark.parametrize("window", [None, 2, 5, 40])
@pytest.mark.parametrize("grow", [1.0, 1.1, 1.3])
@pytest.mark.parametrize("first", [2, 20])
@pytest.mark.parametrize("start", [2, 19, 20, 37])
def test_a_refit_is_due_after_a_factor_and_waits_for_two_classes_in_its_window(window, grow, first, start):
    """Labels come in runs, so that many windows hold one class; rows are asked for as a pass does."""
    runs = np.repeat([0, 1, 0, 2, 1, 0, 1], [start, 1, 30, 3, 45, 60, 99])
    model = Noted()
    asked = adapter(Refit(model, grow, window, first), "noted", 1, 3, False, UNNAMED)
    expected, answers, due, t = [], [], first, 0
    while t < len(runs):
        stop = min(len(runs), t + asked.unchanged(True))
        rows = np.arange(t, stop, dtype=float)[:, None]
        if t:
            answers += [saying.answer for saying in asked.said(rows)]
        asked.learn(rows, runs[t:stop].tolist())
        t = stop
    right = []
    for seen in range(1, len(runs) + 1):
        start = 0 if window is None else max(0, seen - window)
        labels = runs[start:seen].tolist()
        if seen >= due and len(set(labels)) > 1:
            expected.append(([*map(float, range(start, seen))], labels))
            due = seen + 1 if seen < 100 else max(seen + 1, math.ceil(grow * seen))
        counts = runs[:seen].tolist()
        right.append(expected[-1][1][-1] if expected else max(counts, key=counts.count))
    assert model.fits == expected
    assert answers == right[: len(runs) - 1]


# ------------------------------------------------------------------ of river


def by_river(model, X, y, classes):
    answers = []
    for x, label in zip(X, y, strict=True):
        row = dict(enumerate(x.tolist()))
        answers.append(model.predict_one(row) if answers else None)
        model.learn_one(row, bool(label) if classes == 2 else label)
    return answers


def scaled(model):
    return preprocessing.StandardScaler() | model


OF_RIVER = {
    "logistic": (lambda: scaled(linear_model.LogisticRegression()), 2),
    "perceptron": (lambda: linear_model.Perceptron(), 2),
    "passive aggressive": (lambda: linear_model.PAClassifier(), 2),
    "alma": (lambda: linear_model.ALMAClassifier(), 2),
    "softmax": (lambda: scaled(linear_model.SoftmaxRegression(optim.SGD(0.1))), 3),
    "gaussian nb": (lambda: naive_bayes.GaussianNB(), 3),
    "neighbours": (lambda: neighbors.KNNClassifier(), 2),
    "hoeffding tree": (lambda: tree.HoeffdingTreeClassifier(grace_period=20), 2),
    "hoeffding tree, 3": (lambda: tree.HoeffdingAdaptiveTreeClassifier(grace_period=20, seed=1), 3),
    "fast tree": (lambda: tree.ExtremelyFastDecisionTreeClassifier(grace_period=20), 3),
    "mondrian forest": (lambda: forest.AMFClassifier(3, seed=1), 3),
    "adaptive forest": (lambda: forest.ARFClassifier(3, seed=1), 2),
    "bagging": (lambda: ensemble.BaggingClassifier(linear_model.LogisticRegression(), 3, seed=1), 2),
    "one against the rest": (lambda: scaled(many.OneVsRestClassifier(linear_model.LogisticRegression())), 3),
    "pairs": (lambda: many.OneVsOneClassifier(linear_model.LogisticRegression()), 4),
    "drift": (lambda: drift.DriftRetrainingClassifier(naive_bayes.GaussianNB(), drift.binary.DDM()), 2),
    "linear": (lambda: scaled(linear_model.LinearRegression()), 0),
    "bayesian": (lambda: scaled(linear_model.BayesianLinearRegression()), 0),
    "regression tree": (lambda: tree.HoeffdingTreeRegressor(grace_period=20), 0),
    "rules": (lambda: rules.AMRules(n_min=20), 0),
}


@pytest.mark.parametrize("name", OF_RIVER)
def test_of_river(name):
    make, classes = OF_RIVER[name]
    X, y, _, result = in_order(make(), classes)
    assert error_in(result, classes) == pytest.approx(errors_of(by_river(make(), X, y, classes), y, classes))

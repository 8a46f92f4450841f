"""What an estimator of another package says and draws counts as it would in its own package; or it stops."""

import functools
import random

import numpy as np
import pytest
from river import linear_model, preprocessing
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import omkl
from omkl.errors import UserError

SERIAL = {"exec": "serial", "progress": False, "yardsticks": [], "reps": 1, "order": "file"}
rng = np.random.default_rng(5)
X = np.round(rng.normal(size=(120, 3)), 3)
Y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=120) > 0, "yes", "no")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)


class Plain(ClassifierMixin, BaseEstimator):
    """A perceptron, of which the others change one method."""

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "w_"):
            self.w_, self.classes_ = np.zeros(X.shape[1]), np.asarray(classes)
        s = 1 if y[0] == self.classes_[1] else -1
        self.w_ += s * X[0] * (s * (self.w_ @ X[0]) <= 0)

    def predict(self, X):
        return self.classes_[(X @ self.w_ > 0).astype(int)]


class Sure(Plain):
    """Has probabilities and scores."""

    def decision_function(self, X):
        return X @ self.w_

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.stack([1 - p, p], axis=1)


class ZeroOne(Plain):
    """Answers 0 and 1, whatever the labels are called."""

    def predict(self, X):
        return (X @ self.w_ > 0).astype(int)


class Words(Plain):
    """Answers in the words of the data."""

    def predict(self, X):
        return np.where(X @ self.w_ > 0, "yes", "no")


class OfRiver:
    """Answers in the words of the data, as a model of river."""

    def __init__(self, yes="yes"):
        self.yes, self.model = yes, linear_model.Perceptron()

    def _get_params(self):
        return {"yes": self.yes}

    def learn_one(self, x, y):
        self.model.learn_one(x, y)

    def predict_one(self, x):
        return self.yes if self.model.predict_one(x) else "no"


class Draws(Plain):
    """Draws from the global generators."""

    def predict(self, X):
        guess = np.random.random() < 0.3 or random.random() < 0.1  # noqa: NPY002
        return self.classes_[:1] if guess else super().predict(X)


class Late(Plain):
    """Cannot predict before it has seen ten rows."""

    seen_ = 0

    def partial_fit(self, X, y, classes=None):
        super().partial_fit(X, y, classes)
        self.seen_ += 1

    def predict(self, X):
        if self.seen_ < 10:
            raise NotFittedError("not yet")
        return super().predict(X)


class Tied(Plain):
    """Has scores of 0, of which it says the first class."""

    def decision_function(self, X):
        return np.zeros(1)

    def predict(self, X):
        return self.classes_[:1]


def run(model, y=Y, **more):
    return omkl.run((X, y), algo=[model], **SERIAL, **more)


def mistakes(model, y=Y):
    result = run(model, y)
    assert not result.failed
    return result.cells.mistakes[0]


def emptying(kind):
    """A class whose methods do as those of this one, and empty the rows that they are given."""

    def of(method):
        @functools.wraps(method)
        def call(self, rows, *more, **how):
            answer = method(self, rows.copy(), *more, **how)
            rows.clear() if isinstance(rows, dict) else rows.fill(0.0)
            return answer

        return call

    names = ("fit", "partial_fit", "predict", "decision_function", "predict_proba")
    names += ("learn_one", "predict_one", "predict_proba_one")
    return type("Emptying", (kind,), {name: of(getattr(kind, name)) for name in names if hasattr(kind, name)})


@pytest.mark.parametrize(
    ("kind", "wrap", "measure"),
    [
        (Sure, lambda model: model, "mistakes"),
        (linear_model.LogisticRegression, lambda model: model, "mistakes"),
        (linear_model.BayesianLinearRegression, lambda model: model, "nlpd"),
        (BayesianRidge, lambda model: omkl.refit(model, grow=1.1), "nlpd"),
    ],
)
def test_a_row_of_its_own_for_each_call(kind, wrap, measure):
    how = {"task": "regression" if measure == "nlpd" else "classification"}
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=len(X)) if measure == "nlpd" else Y
    found = [run(wrap(own()), y, **how).cells[measure][0] for own in (kind, emptying(kind))]
    assert found[0] == found[1]
    assert measure == "nlpd" or found[0] < 50


@pytest.mark.parametrize("names", [("no", "yes"), (1, 2)], ids=str)
def test_answers_that_are_no_class_stop_the_cell(names):
    y = np.where(Y == "yes", names[1], names[0])
    result = run(ZeroOne(), y)
    fault = f"ZeroOne) answers 0, which is no class: {names[0]}, {names[1]}"
    assert [fault in cell["error"] for cell in result.failed] == [True]
    if names[0] == "no":
        result = run(OfRiver("Yes"))
        fault = "answers 'Yes', which is no class: no, yes (it is told False, True)"
        assert fault in result.failed[0]["error"]


def test_words_of_the_data_are_answers():
    assert mistakes(Words()) == mistakes(Plain())
    assert mistakes(OfRiver()) == mistakes(linear_model.Perceptron())
    assert mistakes(ZeroOne(), (Y == "yes").astype(int)) == mistakes(Plain())


def test_the_global_generators_are_seeded_for_each_cell():
    random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first = mistakes(Draws())
    np.random.random(3)  # noqa: NPY002
    random.random()
    assert run(Draws(), fresh=True).cells.mistakes[0] == first != mistakes(Plain())
    random.setstate(before[0])
    run(Draws(), fresh=True)
    assert random.getstate() == before[0]


def test_what_cannot_predict_yet_errs():
    late, plain = run(Late()), run(Plain())
    curve = late.cells.curve[0]["mistakes"] if "curve" in late.cells else None
    assert curve is None or curve[9] >= 9
    assert late.cells.mistakes[0] >= plain.cells.mistakes[0]
    assert late.cells.mistakes[0] - plain.cells.mistakes[0] <= 10


def test_a_tie_counts_as_the_estimator_predicts():
    assert mistakes(Tied()) == 1 + (Y[1:] == "yes").sum()
    zero = np.zeros((120, 3))  # a score of 0 is scikit-learn's first class
    result = omkl.run((zero, Y), algo=[SGDClassifier(fit_intercept=False)], scale="none", **SERIAL)
    assert result.cells.mistakes[0] == 1 + (Y[1:] == "yes").sum()


# ------------------------------------------------------------------ measures


def of_probabilities(P, label):
    """Return log loss and Brier score of the probabilities (T, 2) of labels 0 and 1."""
    p = P[np.arange(len(label)), label]
    return -np.log(np.maximum(p, np.finfo(float).eps)).mean(), np.square(1.0 - p).mean()


@pytest.mark.parametrize("kind", ["scikit-learn", "river"])
def test_probabilities_are_measured(kind):
    label, P = (Y == "yes").astype(int), [[0.5, 0.5]]
    if kind == "river":
        model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        cell = run(model.clone()).cells.iloc[0]
        for t, x in enumerate(X):
            row = dict(enumerate(x.tolist()))
            if t:
                given = model.predict_proba_one(row)
                P.append([given[False], given[True]])
            model.learn_one(row, bool(label[t]))
    else:
        model = BernoulliNB()
        cell = run(model).cells.iloc[0]
        for t in range(len(X)):
            if t:
                P.append(model.predict_proba(X[t : t + 1])[0])
            model.partial_fit(X[t : t + 1], label[t : t + 1], classes=[0, 1])
    log_loss, brier = of_probabilities(np.array(P), label)
    assert cell.log_loss == pytest.approx(log_loss)
    assert cell.brier == pytest.approx(brier)
    assert 0 < cell.ece < 1
    assert cell.auc > 0.5


@pytest.mark.parametrize("kind", ["scikit-learn", "river"])
def test_densities_are_measured(kind):
    y = X @ [1.0, -2.0, 0.5] + 0.1 * np.random.default_rng(0).normal(size=len(X))
    told = []
    if kind == "river":
        model = linear_model.BayesianLinearRegression()
        cell = run(model.clone(), y, task="regression").cells.iloc[0]
        for t, x in enumerate(X):
            row = dict(enumerate(x.tolist()))
            if t > 1:  # before, the target has not varied
                density = model.predict_one(row, with_dist=True)
                told.append((y[t], density.mu, density.sigma))
            model.learn_one(row, y[t])
    else:
        model = BayesianRidge()
        cell = run(omkl.refit(model, grow=1.1, first=20), y, task="regression").cells.iloc[0]
        for due, after in [*((t, t + 1) for t in range(20, 100)), (100, 111), (111, 120)]:
            model.fit(X[:due], y[:due])
            mean, std = model.predict(X[due:after], return_std=True)
            told += zip(y[due:after], mean, std, strict=True)
    target, mean, std = np.array(told).T
    surprise = 0.5 * np.log(2 * np.pi * std**2) + np.square(target - mean) / (2 * std**2)
    assert cell.nlpd == pytest.approx(surprise.mean())
    assert cell.coverage == pytest.approx((abs(target - mean) <= 1.959964 * std).mean(), abs=1e-9)


@pytest.mark.parametrize("shape", [(120, 2), (120, 1)])
def test_labels_in_two_dimensions(shape):
    y = np.tile((Y == "yes")[:, None], shape[1])
    if shape[1] == 1:
        assert mistakes(Plain(), y) == mistakes(Plain())
        return
    with pytest.raises(UserError, match=r"y=\.\.\. has 2 columns; give one of them"):
        run(Plain(), y)


# ------------------------------------------------------------------ odd probabilities, odd copies


class Reversed(Sure):
    """Has its classes in the other order, and scores and probabilities as their order asks."""

    def partial_fit(self, X, y, classes=None):
        super().partial_fit(X, y, None if classes is None else classes[::-1])

    def predict(self, X):
        return self.classes_[(X @ self.w_ > 0).astype(int)]


class OfOneForm(Sure):
    """Gives the same numbers for the probabilities of each row."""

    def __init__(self, shares=(0.5, 0.5)):
        self.shares = shares

    def predict_proba(self, X):
        return np.array([self.shares] * len(X))


class Moved(Plain):
    """Changes its parameter where it keeps it, so that no copy can be made of it."""

    def __init__(self, eta=1.0):
        self.eta = eta + 1.0


def test_the_columns_of_scores_and_probabilities_are_those_of_classes_():
    plain, other = (run(model).cells.iloc[0] for model in (Sure(), Reversed()))
    measures = ["mistakes", "log_loss", "brier", "auc", "ece"]
    assert other[measures].tolist() == pytest.approx(plain[measures].tolist())
    assert plain.log_loss < 0.6
    assert plain.auc > 0.7
    wrapped = run(make_pipeline(StandardScaler(), Reversed())).cells.iloc[0]
    assert wrapped.auc > 0.7


def test_what_is_no_probability_is_not_measured_or_stops_the_cell():
    cell = run(OfOneForm((0.0, 0.0))).cells.iloc[0]
    assert cell.log_loss is None or np.isnan(cell.log_loss)
    assert cell.auc == run(Sure()).cells.auc[0]  # by its scores
    assert run(OfOneForm((1.0 + 1e-9, -1e-9))).cells.log_loss[0] > 1
    failed = run(OfOneForm((1.2, -0.2))).failed
    assert "OfOneForm) returns -0.2 as a probability" in failed[0]["error"]


def test_an_object_of_which_no_copy_can_be_made_is_refused():
    with pytest.raises(UserError, match=r"algo=Moved: Cannot clone object .* modifies parameter eta$"):
        run(Moved())


def test_the_note_on_scaling_is_of_learners_that_are_scaled():
    how = SERIAL | {"yardsticks": ["perceptron"]}
    for learner, is_scaled in ((Plain(), False), ("perceptron", True)):
        notes = omkl.run((X, Y), algo=[learner], **how).notes
        assert any("features are scaled with the rows seen so far" in note for note in notes) is is_scaled


# ------------------------------------------------------------------ NaN, and members that fail


class Broken(Sure):
    """Says numbers that are none from some row on, or raises."""

    def __init__(self, how="", rows=40):
        self.how, self.rows, self.n = how, rows, 0

    def partial_fit(self, X, y, classes=None):
        super().partial_fit(X, y, classes)
        self.n += 1
        if self.how == "raises" and self.n == self.rows:
            raise ValueError("out of order")

    def _said(self, how, values):
        return np.full(np.shape(values), np.nan) if self.how == how and self.n >= self.rows else values

    def decision_function(self, X):
        return self._said("score", super().decision_function(X))

    def predict_proba(self, X):
        return self._said("probability", super().predict_proba(X))


class BrokenNumbers(BaseEstimator):
    def __init__(self, value=np.nan):
        self.value, self.n = value, 0

    def partial_fit(self, X, y):
        self.n += 1

    def predict(self, X):
        return np.full(len(X), self.value if self.n == 40 else 1.0)


SAID = {
    "score": "Broken) returns NaN as a score (row 40 after the first)",
    "probability": "Broken) returns NaN as a probability (row 40 after the first)",
    "raises": "ValueError: out of order",
}


@pytest.mark.parametrize("how", SAID)
@pytest.mark.parametrize("in_stack", [False, True])
def test_what_is_no_number_is_named_and_so_is_the_member_that_fails(how, in_stack):
    model = Broken(how)
    (failure,) = run(omkl.stack("arow", model) if in_stack else model).failed
    assert SAID[how] in failure["error"]
    assert ("member Broken: " in failure["error"]) == in_stack


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_none_is_named(value):
    (failure,) = run(BrokenNumbers(value), X[:, 0], task="regression").failed
    said = f"BrokenNumbers) answers {value}, which is not finite (row 40 after the first)"
    assert failure["error"].endswith(said)


def test_probabilities_of_the_first_rows_may_be_none():
    result = omkl.run((X[:9], Y[:9]), algo=[Broken("probability", rows=1)], **SERIAL)
    assert result.failed == []


@pytest.mark.parametrize("in_stack", [False, True])
def test_a_refit_whose_window_never_holds_two_classes_when_a_fit_is_due_says_so(in_stack):
    model = omkl.refit(BernoulliNB(), window=10, first=20)
    labels = np.repeat(["yes", "no"], [5, 115])
    (failure,) = run(omkl.stack("arow", model) if in_stack else model, labels).failed
    assert "was never fitted: no window of 10 rows held two classes when a fit was due" in failure["error"]
    assert run(model, np.repeat(["yes", "no"], [12, 108])).failed == []

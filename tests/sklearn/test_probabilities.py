"""Probabilities: of learners that have them, and of others by online Platt scaling; who needs them, works."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict

import omkl
import omkl.sklearn
from omkl.cli import main
from omkl.config import learner_specs
from omkl.estimators.arguments import class_name
from omkl.models.asked import probabilities
from omkl.models.model_file import read_model
from omkl.passes.one_pass import whole_pass
from omkl.passes.platt import PRIOR, Platt
from omkl.passes.said import Said
from omkl.sklearn import ArowClassifier, EgpcClassifier, OmkcDdClassifier, PerceptronClassifier

OWN = [spec for spec in learner_specs().values() if spec.probabilities]
LETTERS = np.array(["a", "b", "c"])


def rows(T=120, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(classes, size=T)
    return rng.normal(size=(T, 3)) + 1.5 * label[:, None], LETTERS[label]


def distinct(P, y, classes):
    """Whether these are probabilities (n, C) that say something of the labels."""
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert ((P >= 0) & (P <= 1)).all()
    return log_loss(y, P, labels=classes) < math.log(len(classes))


@pytest.mark.parametrize(
    ("name", "classes"), [(own.name, classes) for own in OWN for classes in (2, 3) if own.takes(classes)]
)
def test_learners_with_probabilities_give_those_of_their_scores(name, classes, tmp_path):
    X, y = rows(classes=classes)
    model = getattr(omkl.sklearn, class_name(name, "classification"))(random_state=1).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (len(X), classes)
    assert distinct(P, y, model.classes_)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(P))
    if classes == 2:
        np.testing.assert_allclose(P[:, 1] - 0.5, model.decision_function(X), atol=1e-15)
    model.to_file(tmp_path / "model.omkl")
    learner, _ = read_model(tmp_path / "model.omkl")  # a saved model has them, too
    indptr = np.arange(0, 3 * len(X) + 1, 3)
    saved = probabilities(learner, indptr, np.tile(np.arange(3, dtype=np.int32), len(X)), X.ravel())
    np.testing.assert_array_equal(saved, P)
    assert "calibration" not in model.get_params()


def test_others_have_none_unless_asked():
    X, y = rows()
    plain = ArowClassifier().fit(X, y)
    for missing in ("predict_proba", "predict_log_proba"):
        assert not hasattr(plain, missing)
        assert hasattr(ArowClassifier(calibration="platt"), missing)
    assert not hasattr(omkl.sklearn.OkrRegressor(), "predict_proba")
    with pytest.raises(
        ValueError, match="ArowClassifier: calibration must be None or 'platt', got 'isotonic'"
    ):
        ArowClassifier(calibration="isotonic").fit(X, y)


def naive(scores, labels, new):
    """The same by matrices: a and b after labels (T,) of +1 and 0, and the probabilities of new scores."""
    theta, S, total = np.array([1.0, 0.0]), PRIOR * np.eye(2), 0.0
    for t, (s, y) in enumerate(zip(scores, labels, strict=True), 1):
        total += s * s
        z = np.array([s / math.sqrt(total / t) if total else s, 1.0])
        p = 1 / (1 + math.exp(-theta @ z))
        S = np.linalg.inv(np.linalg.inv(S) + p * (1 - p) * np.outer(z, z))
        theta = theta + S @ z * (y - p)
    scale = np.sqrt((total + new**2) / (len(scores) + 1))
    return 1 / (1 + np.exp(-(theta[0] * new / scale + theta[1])))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_platt_scaling_equals_its_twin_and_does_not_depend_on_the_scores_size(size):
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=200)
    s = size * (rng.normal(size=200) + 1.5 * y - 0.3)
    s[0] = 0.0
    platt, new = Platt(), size * np.linspace(-3, 3, 7)
    for part in (slice(0, 50), slice(50, 51), slice(51, None)):
        platt.learn(Said(s[part, None], y[part]))
    P = platt.probabilities(new[:, None])
    np.testing.assert_allclose(P[:, 1], naive(s, y, new), rtol=1e-8)
    again = Platt.from_json(platt.to_json(), 2)
    np.testing.assert_array_equal(again.probabilities(new[:, None]), P)
    sure = Platt.from_json({"rounds": 1, "squares": 1.0, "each": [[1e4, 0.0, 0.0, 0.0, 0.0]]}, 2)
    assert sure.probabilities(np.array([[-1.0]]))[0, 1] > 0.0
    for wrong in (
        {},
        {"rounds": 1, "squares": 1.0, "each": [[1.0]]},
        {"rounds": -1, "squares": 1, "each": [[0] * 5]},
    ):
        with pytest.raises(ValueError, match="calibration"):
            Platt.from_json(wrong, 2)


def test_platt_scaling_of_more_classes_is_one_for_each_of_the_margins():
    rng = np.random.default_rng(3)
    label = rng.integers(3, size=150)
    scores = rng.normal(size=(150, 3)) + 2 * np.eye(3)[label]
    scores[5::10, 1] = scores[5::10, 0] = scores[5::10].max(axis=1)  # two are the highest
    platt = Platt(3)
    platt.learn(Said(scores, label))
    margins = np.array([[s - max(np.delete(row, c)) for c, s in enumerate(row)] for row in scores])
    sizes = np.sqrt(np.cumsum((margins**2).mean(axis=1)) / np.arange(1, 151))
    each = []
    for c in range(3):
        theta, S = np.array([1.0, 0.0]), PRIOR * np.eye(2)
        for t in range(150):
            z = np.array([margins[t, c] / sizes[t], 1.0])
            p = 1 / (1 + math.exp(-theta @ z))
            S = np.linalg.inv(np.linalg.inv(S) + p * (1 - p) * np.outer(z, z))
            theta = theta + S @ z * ((label[t] == c) - p)
        sizes_then = np.sqrt((150 * sizes[-1] ** 2 + (margins**2).mean(axis=1)) / 151)
        each.append(1 / (1 + np.exp(-(theta[0] * margins[:, c] / sizes_then + theta[1]))))
    whole = np.array(each).T
    np.testing.assert_allclose(
        platt.probabilities(scores), whole / whole.sum(axis=1, keepdims=True), rtol=1e-8
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_a_calibrated_learner_learns_in_parts_and_is_copied_and_saved(classes, tmp_path):
    X, y = rows(classes=classes)
    how = {"calibration": "platt", "random_state": 0}
    whole = OmkcDdClassifier(**how).fit(X, y)
    P = whole.predict_proba(X)
    assert distinct(P, y, whole.classes_)
    parts = OmkcDdClassifier(**how).partial_fit(X[:40], y[:40], classes=LETTERS[:classes])
    copies = copy.deepcopy(parts), pickle.loads(pickle.dumps(parts))
    for model in (parts, *copies):
        model.partial_fit(X[40:], y[40:])
        np.testing.assert_array_equal(model.predict_proba(X), P)
    whole.to_file(tmp_path / "model.omkl")
    again = OmkcDdClassifier.from_file(tmp_path / "model.omkl")
    np.testing.assert_array_equal(again.predict_proba(X), P)
    saved = omkl.load_model(tmp_path / "model.omkl")  # which goes on to learn
    np.testing.assert_array_equal(saved.predict_proba(X), P)
    saved.update(X, y)
    np.testing.assert_array_equal(saved.predict_proba(X), whole.partial_fit(X, y).predict_proba(X))
    whole = OmkcDdClassifier(**how).fit(X, y)
    np.testing.assert_array_equal(whole.predict(X), OmkcDdClassifier(random_state=0).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "model", [EgpcClassifier(random_state=0), PerceptronClassifier(calibration="platt")], ids=["own", "platt"]
)
def test_estimators_that_need_probabilities_work(model):
    X, y = rows()
    P = cross_val_predict(model, X, y, method="predict_proba", cv=3)
    assert roc_auc_score(y, P[:, 1]) > 0.8
    for wrapper in (
        VotingClassifier([("one", model), ("other", ArowClassifier(calibration="platt"))], voting="soft"),
        CalibratedClassifierCV(model, cv=3),
        CalibratedClassifierCV(ArowClassifier(), cv=3),
    ):
        made = wrapper.fit(X, y)
        assert distinct(made.predict_proba(X), y, made.classes_)
        assert made.score(X, y) > 0.8


@pytest.mark.parametrize("delay", [1, 7])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_run_measures_calibrated_probabilities_before_each_label(classes, delay):
    """As a loop over the scores of the pass does, and the pass itself stays as it is."""
    X, y = rows(classes=classes)
    data, order, spec = omkl.data.from_arrays(X, y), np.arange(len(y)), omkl.config.learner_spec("arow")
    how = {"delay": delay, "calibration": "platt"}
    figures, _, trace, *_ = whole_pass(spec, spec.usual("classification"), None, data, order, 7, scaling=how)
    scores = trace.score[:, None] if classes == 2 else trace.class_scores
    true = np.searchsorted(LETTERS, y)
    platt, losses = Platt(classes), []
    for t in range(len(y)):
        if t % delay == 0:
            platt.learn(Said(scores[max(0, t - delay) : t], true[max(0, t - delay) : t]))
        losses.append(-np.log(platt.probabilities(scores[t : t + 1])[0, true[t]]))
    assert figures["log_loss"] == pytest.approx(np.mean(losses), rel=1e-9)
    plain = whole_pass(spec, spec.usual("classification"), None, data, order, 7, scaling={"delay": delay})
    assert plain.figures["mistakes"] == figures["mistakes"]
    assert "log_loss" not in plain.figures


def test_a_model_of_the_command_line_has_probabilities(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    rows = "".join(f"{x:.3f},{'yes' if x > 0 else 'no'}\n" for x in np.linspace(-1, 1, 80)[::7].repeat(4))
    (tmp_path / "my.csv").write_text("v,class\n" + rows)
    assert main(["fit", "algo=perceptron", "data=my.csv", "--out", "plain"]) == 0
    assert main(["predict", "plain", "my.csv", "--proba"]) == 2
    assert "train it with calibration=platt" in capsys.readouterr().err
    assert main(["fit", "algo=perceptron", "data=my.csv", "calibration=platt", "--out", "model"]) == 0
    assert main(["update", "model", "my.csv"]) == 0
    capsys.readouterr()
    assert main(["predict", "model", "my.csv", "--proba", "--format", "json"]) == 0
    for row in json.loads(capsys.readouterr().out):
        assert row["P no"] + row["P yes"] == pytest.approx(1.0)
        assert (row["P yes"] > 0.5) == (row["score"] > 0) or abs(row["P yes"] - 0.5) < 0.2

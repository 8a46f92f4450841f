"""The river models: river's own checks, and the mistakes of `omkl run` on the same stream."""

import itertools
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

river = pytest.importorskip("river")

from river import checks, datasets, evaluate, metrics  # noqa: E402

import omkl.river  # noqa: E402
import omkl.sklearn  # noqa: E402
from omkl.estimators.arguments import estimator_specs  # noqa: E402

NAMES = [name for name, (spec, _) in estimator_specs().items() if not spec.setup]


class Rare:
    """Stands for river's CreditCard, which would be downloaded: one row in fifty lies far out."""

    def take(self, count):
        rng = np.random.default_rng(0)
        for t in range(min(count, 1000)):
            far = t % 50 == 49
            yield dict(zip("ab", rng.normal(9.0 if far else 0.0, 1.0, 2).tolist(), strict=True)), int(far)


# One model of each task meets all of river's checks with the first rows of its streams: all models share one
# class, and a round in Python costs more than all that is compiled. With --slow all models meet all rows.
OF_EACH_TASK = ("PerceptronClassifier", "RakerRegressor", "NormaNoveltyDetector")
CHECKED = [name if name in OF_EACH_TASK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
FIRST_ROWS = {"NormaNoveltyDetector": 50}  # what is rare has to come; of the others 25


@pytest.mark.parametrize("name", CHECKED)
def test_river_s_own_checks(name, monkeypatch, pytestconfig):
    monkeypatch.setattr(datasets, "CreditCard", Rare)
    streams = checks._yield_datasets

    def shorter(model, scale=1):
        """River asks for a larger scale where it looks whether memory grows."""
        return (itertools.islice(rows, FIRST_ROWS.get(name, 25) * scale) for rows in streams(model, scale))

    if not pytestconfig.option.slow:
        monkeypatch.setattr(checks, "_yield_datasets", shorter)
    model, passed = getattr(omkl.river, name)(), 0
    for check in checks.yield_checks(model):
        if check.__name__ not in model._unit_test_skips():
            check(model.clone())
            passed += 1
    assert passed > 20


@pytest.mark.parametrize("name", ["AutoRegressor", "EdoebeRegressor"])
def test_dates_among_shares_that_come_late_end_no_stream(name):
    """The date 736,389 comes early or late: covariances of linear members keep what they have."""
    for seed in range(25):
        random.seed(seed)
        model = getattr(omkl.river, name)(seed=seed)
        checks.common.check_emerging_features(model, datasets.TrumpApproval().take(100))


def phishing(count=400):
    return list(itertools.islice(datasets.Phishing(), count))


@pytest.mark.parametrize(
    "name", ["OmkcDdClassifier", "BomkcBpasClassifier", "OmkcSsClassifier", "ArowClassifier"]
)
def test_progressive_validation_counts_the_mistakes_of_one_pass(name):
    stream = phishing()
    columns = sorted(stream[0][0])
    X = [[x[key] for key in columns] for x, _ in stream]
    y = [label for _, label in stream]
    estimator = getattr(omkl.sklearn, name)(random_state=5)
    first = estimator.partial_fit(X[:1], y[:1], classes=[False, True]).mistakes_
    later = estimator.partial_fit(X[1:], y[1:]).mistakes_ - first
    metric = evaluate.progressive_val_score(stream, getattr(omkl.river, name)(seed=5), metrics.Accuracy())
    count = metric.cm.n_samples  # without the first row, before which no label is known
    assert (count, count - round(metric.get() * count)) == (len(stream) - 1, later)


def test_random_features_are_those_of_an_array_with_these_columns():
    """x2 comes before x10."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 12)), rng.normal(size=200)
    model, estimator = omkl.river.RakerRegressor(seed=3), omkl.sklearn.RakerRegressor(random_state=3)
    estimator.fit(X, y)
    for x, target in zip(X, y, strict=True):
        model.learn_one({f"x{j}": value for j, value in enumerate(x)}, target)
    assert model.predict_one({f"x{j}": value for j, value in enumerate(X[0])}) == estimator.predict(X[:1])[0]


def test_a_learner_that_chooses_its_kernel_by_many_rows_is_no_river_model():
    assert "PerceptronStarClassifier" not in omkl.river.names()
    with pytest.raises(AttributeError, match="no estimator 'PerceptronStarClassifier'"):
        omkl.river.PerceptronStarClassifier  # noqa: B018


def test_names_that_come_and_go():
    model = omkl.river.OmkcDdClassifier()
    for x, y in [({"a": 1.0}, True), ({"b": 2.0, "c": 1.0}, False), ({"a": 1.0, "z": 0.5}, True)] * 5:
        model.predict_one(x)
        model.learn_one(x, y)
    assert model.predict_one({"a": 1.0}) is True
    assert model.predict_one({"b": 2.0, "c": 1.0, "new": 0.0}) is False


def test_a_name_first_seen_in_a_row_to_be_predicted_counts_as_0():
    for name in ("RakerRegressor", "OkrRegressor"):  # random features, and stored rows
        model = getattr(omkl.river, name)(seed=1)
        for t in range(5):
            model.learn_one({"a": 0.1 * t, "b": 1.0}, 1.0 + t)
        expected = model.predict_one({"a": 0.3, "b": 1.0})
        assert model.predict_one({"a": 0.3, "b": 1.0, "new": 0.0}) == expected != 0
    raker = omkl.river.RakerRegressor(seed=1)
    raker.learn_one({"a": 0.5}, 1.0)
    assert raker.predict_one({"a": 0.5, "new": 9.0}) == raker.predict_one({"a": 0.5})
    assert raker._row({"a": 0.5, "new": 9.0})[1].tolist() == [
        0
    ]  # memory beyond the frequencies may hold zeros


def test_a_score_of_0_is_no_label():
    model = omkl.river.ArowClassifier(bias=False)
    model.learn_one({"a": 1.0}, True)
    assert (model.predict_one({"a": 1.0}), model.predict_one({"b": 1.0})) == (True, None)


def test_a_metric_of_probabilities_is_told_that_there_are_none():
    rows = [({"a": 1.0}, True), ({"a": -1.0}, False)] * 3
    with pytest.raises(
        NotImplementedError,
        match="ArowClassifier gives no probabilities; calibration='platt' makes some, or",
    ):
        evaluate.progressive_val_score(rows, omkl.river.ArowClassifier(calibration=None), metrics.ROCAUC())


def test_a_word_and_a_third_label_are_named():
    model = omkl.river.AlmaClassifier()
    with pytest.raises(ValueError, match="feature 'colour' is 'red', which is not a number"):
        model.learn_one({"colour": "red"}, 1)
    model.learn_one({"a": 1}, "x")
    model.learn_one({"a": 2}, "y")
    with pytest.raises(ValueError, match="the label 'z' is a third one"):
        model.learn_one({"a": 3}, "z")


@pytest.mark.parametrize(
    ("name", "good", "bad", "said"),
    [
        (
            "RakerRegressor",
            (1.0, 2.0),
            (np.nan, -np.inf, None),
            "the target is .*; it must be a finite number",
        ),
        ("RakerRegressor", (1.0, 2.0), (10**400,), "the target is too large for a number"),
        ("RffRegressor", (1.0, 2.0), (1e200,), "a target of size 1e.200 is too large to be squared"),
        ("OmkcDdClassifier", ("x", "y"), (None, np.nan, np.float32("nan")), "the label is .*, not a label"),
    ],
)
def test_a_row_without_a_target_or_label_is_refused_and_changes_nothing(name, good, bad, said):
    model, same = (getattr(omkl.river, name)(seed=1) for _ in range(2))
    for t, y in enumerate(good * 3):
        model.learn_one({"a": t % 2}, y)
        same.learn_one({"a": t % 2}, y)
        for wrong in bad:
            with pytest.raises(ValueError, match=said):
                model.learn_one({"a": 9.0, f"b{t}": 1.0}, wrong)
    assert [model.predict_one({"a": t}) for t in (0, 1)] == [same.predict_one({"a": t}) for t in (0, 1)]


@pytest.mark.parametrize(
    "name", ["RffRegressor", "RidgeFeaturesRegressor", "ArowClassifier", "Om2Classifier"]
)
def test_a_row_too_large_is_refused_and_changes_nothing(name):
    model, same = (getattr(omkl.river, name)(seed=1) for _ in range(2))
    for size, said in ((1e308, "overflow"), (10**400, "too large for a number")):
        with pytest.raises(ValueError, match=said):
            model.learn_one({"a": size}, 1)  # the first row of all
    for t in range(6):
        model.learn_one({"a": t % 2 + 1}, t % 2)
        same.learn_one({"a": t % 2 + 1}, t % 2)
        for size, said in ((1e308, "overflow"), (10**400, "too large for a number")):
            for ask in (lambda x: model.learn_one(x, 1), model.predict_one):
                with pytest.raises(ValueError, match=said):
                    ask({"a": size})
    assert [model.predict_one({"a": t}) for t in (0, 1)] == [same.predict_one({"a": t}) for t in (0, 1)]


def digits(labels, count=80):
    """Rows of digits with these labels, as river has them."""
    X, y = load_digits(return_X_y=True)
    kept = [t for t in range(len(y)) if y[t] in labels][:count]
    return [(dict(enumerate((X[t] / 16).tolist())), int(y[t])) for t in kept]


@pytest.mark.parametrize("name", ["OmkcDdClassifier", "PerceptronClassifier"])
def test_labels_named_beforehand_are_those_of_scikit_learn(name):
    stream = digits(range(4))
    X, y = [list(x.values()) for x, _ in stream], [label for _, label in stream]
    estimator = getattr(omkl.sklearn, name)(random_state=5)
    first = estimator.partial_fit(X[:1], y[:1], classes=range(4)).mistakes_
    model = getattr(omkl.river, name)(seed=5, classes=[0, 1, 2, 3])
    metric = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    later = estimator.partial_fit(X[1:], y[1:]).mistakes_ - first
    count = metric.cm.n_samples
    assert (count, count - round(metric.get() * count)) == (len(stream) - 1, later)


def test_labels_as_they_come():
    later = digits(range(3))
    pair = [row for row in later if row[1] < 2][:9]
    rest = [row for row in later if row not in pair]
    named, model = omkl.river.OmkcDdClassifier(seed=1, classes=[0, 1, 2]), omkl.river.OmkcDdClassifier(seed=1)
    for x, y in [*pair, *rest]:
        named.learn_one(x, y)
        model.learn_one(x, y)
    assert pair[0][1] == 0  # the first label is the first class
    assert [model.predict_one(x) for x, _ in rest] == [named.predict_one(x) for x, _ in rest]
    known = [model.predict_one(x) for x, _ in rest]
    model = pickle.loads(pickle.dumps(model))
    model.learn_one({0: 100.0}, "four")  # a class more, far from all
    assert [model.predict_one(x) for x, _ in rest] == known
    assert model.predict_one({0: 100.0}) == "four"


def test_a_third_label_that_comes_late_is_named(monkeypatch):
    monkeypatch.setattr("omkl.river.base.MOST_KEPT", 3)
    model = omkl.river.OmkcDdClassifier()
    for y in (0, 1, 0):
        model.learn_one({"a": y}, y)
    with pytest.raises(ValueError, match=r"third one besides .*after 3 rows no label can be added; name all"):
        model.learn_one({"a": 2}, 2)
    with pytest.raises(ValueError, match="two or more different labels"):
        omkl.river.OmkcDdClassifier(classes=[1, 1]).learn_one({"a": 2}, 1)


def test_a_stream_longer_than_said_is_warned_of_once():
    model = omkl.river.OkrRegressor(rounds=2)
    for n in range(2):
        model.learn_one({"a": n}, float(n))
    with pytest.warns(UserWarning, match="it was made for a stream of 2 rows, but row 3"):
        model.learn_one({"a": 2}, 2.0)
    model.learn_one({"a": 3}, 3.0)


def test_what_was_learnt_is_counted():
    model, mistakes = omkl.river.ArowClassifier(seed=0), 0
    assert (model.n_seen_, model.mistakes_) == (0, 0)
    for t in range(30):
        x, y = {"a": float(t % 3), "b": 1.0}, t % 3 == 0
        mistakes += model.predict_one(x) != y
        model.learn_one(x, y)
    assert (model.n_seen_, model.mistakes_) == (30, mistakes)
    numbers = omkl.river.NormaRegressor(seed=0)
    numbers.learn_one({"a": 1.0}, 2.0)
    assert numbers.n_seen_ == 1


def test_without_river_a_sentence_says_so():
    code = "import sys; sys.modules['river'] = None\nimport importlib.util as u\nfind = u.find_spec\n"
    code += "u.find_spec = lambda name, *a: None if name == 'river' else find(name, *a)\nimport omkl.river"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: omkl.river needs the package river: pip install 'omkl[river]'"
    )

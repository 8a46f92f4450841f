"""Estimators of other packages see labels and columns as the user's data have them."""

import datetime
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from river import compose, imblearn, linear_model, preprocessing, tree
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import omkl
from omkl.data.preparing.labels import OTHERS
from omkl.errors import UserError

HOW = {"order": "file", "reps": 1, "yardsticks": [], "progress": False, "exec": "serial", "fresh": True}
T = 200
rng = np.random.default_rng(0)
X = rng.normal(size=(T, 3))
NOISY = X[:, 0] + rng.normal(size=T)
LABELS = {
    "numbers": np.where(NOISY > 0.8, 2, 1),
    "words": np.where(NOISY > 0.8, "yes", "no"),
    "truth": NOISY > 0.8,
    "three": np.digitize(NOISY, [-0.5, 0.8]) + 4,
    "three words": np.array(["mid", "low", "top"])[np.digitize(NOISY, [-0.5, 0.8])],
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def mistakes(model, y, data=X, **how):
    results = omkl.run({"d": data}, y=y, algo=[model], **{**HOW, "scale": "none", **how})
    assert not results.failed, results.failed
    return results.cells.mistakes[0]


def by_hand(model, y):
    wrong = 1
    for t, x in enumerate(X):
        wrong += t > 0 and model.predict([x])[0] != y[t]
        model.partial_fit([x], y[t : t + 1], classes=np.unique(y))
    return wrong


@pytest.mark.parametrize("labels", LABELS)
def test_weights_of_classes_are_of_the_user_s_labels(labels):
    y = LABELS[labels]
    for label in np.unique(y).tolist():
        model = SGDClassifier(random_state=0, class_weight={label: 20})
        assert mistakes(model, y) == by_hand(SGDClassifier(random_state=0, class_weight={label: 20}), y)
        refitted = omkl.refit(LogisticRegression(class_weight={label: 20}), grow=3.0, window=None, first=20)
        expected, due = LogisticRegression(class_weight={label: 20}), 20
        answers = [max(y[:t].tolist(), key=y[:t].tolist().count) if t else None for t in range(due)]
        while due < T:
            expected.fit(X[:due], y[:due])
            stop = min(T, due + 1 if due < 100 else 3 * due)
            answers, due = answers + expected.predict(X[due:stop]).tolist(), stop
        assert mistakes(refitted, y) == sum(a != b for a, b in zip(answers, y.tolist(), strict=True))


def test_the_same_numbers_with_other_labels_are_other_cells(tmp_path):
    """In this process, in workers, and in the store, where the numbers alone would be the same."""
    how = {**HOW, "scale": "none", "fresh": False, "store": tmp_path}
    found = {}
    for workers in ({"exec": "serial"}, {"exec": "loky", "jobs": 2}):
        for name in ("numbers", "words", "truth", "numbers"):
            y = LABELS[name]
            last = np.unique(y).tolist()[1]
            model = omkl.refit(LogisticRegression(class_weight={last: 20}))
            data = {"d": X} if name != "words" else {"d": pd.DataFrame(X, columns=list("abc"))}
            results = omkl.run(data, y=y, algo=[model, "perceptron"], **{**how, **workers})
            assert not results.failed
            found.setdefault(name, []).append(results)
        how["fresh"] = True
    assert [each.outcome.ran for each in found["numbers"]] == [2, 0, 2, 2]
    assert [each.outcome.ran for each in found["truth"]] == [1, 2]  # the perceptron is told no label
    of_refit = {each.cells.mistakes[0] for results in found.values() for each in results}
    assert len(of_refit) == 1


def test_the_word_1_is_no_label_1_among_parameters(tmp_path):
    """What scikit-learn refuses is not taken from the store, where the right mapping has a cell."""
    how = {**HOW, "scale": "none", "fresh": False, "store": tmp_path}
    for label, count in ((1, 1), ("1", 0)):
        model = SGDClassifier(random_state=0, class_weight={label: 20})
        results = omkl.run({"d": X}, y=LABELS["numbers"], algo=[model], **how)
        assert (len(results.cells), len(results.failed)) == (count, 1 - count)


class Told(ClassifierMixin, BaseEstimator):
    """Notes what it is told, and answers it."""

    seen: ClassVar[list] = []

    def partial_fit(self, X, y, classes=None):
        self.last = y[-1]
        self.seen.append((classes, y[0], type(X).__name__, list(getattr(X, "columns", []))))
        return self

    def predict(self, X):
        return np.array([self.last] * len(X))


@pytest.mark.parametrize("labels", LABELS)
def test_a_member_of_a_stack_and_a_model_are_told_them_too(labels, monkeypatch):
    y = LABELS[labels]
    monkeypatch.setattr(Told, "seen", [])
    mistakes(omkl.stack("arow", Told()), y)
    assert [label for _, label, *_ in Told.seen] == y.tolist()
    assert Told.seen[0][0].tolist() == np.unique(y).tolist()


def test_positive_says_which_class_is_meant_and_labels_stay(monkeypatch):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=LABELS["three words"])
    monkeypatch.setattr(Told, "seen", [])
    omkl.run(frame, label="y", positive="low", algo=[Told()], **HOW)
    assert {label for _, label, *_ in Told.seen} == {"low", OTHERS}


def test_two_classes_of_river_are_false_and_true():
    y = LABELS["words"]

    def sampler(shares):
        return imblearn.RandomUnderSampler(linear_model.LogisticRegression(), shares, seed=1)

    with pytest.raises(UserError, match="desired_dist has the label 'no', and it is told 'no' as False"):
        mistakes(sampler({"no": 0.5, "yes": 0.5}), y)
    with pytest.raises(UserError, match="desired_dist has the label 'no'"):
        mistakes(omkl.stack("arow", sampler({"no": 0.5, "yes": 0.5})), y)
    assert mistakes(sampler({False: 0.5, True: 0.5}), y) == mistakes(
        sampler({0: 0.5, 1: 0.5}), (y == "yes").astype(int)
    )
    many = imblearn.RandomUnderSampler(tree.HoeffdingTreeClassifier(), {"no": 0.5, "yes": 0.5}, seed=1)
    assert mistakes(many, y) < T // 2


@pytest.mark.parametrize("labels", LABELS)
def test_what_is_for_numbered_classes_is_told_numbers(labels, monkeypatch):
    from omkl.others import adapters

    monkeypatch.setattr(adapters, "NUMBERED", ("sklearn",))
    y = LABELS[labels]
    place = {label: at for at, label in enumerate(np.unique(y).tolist())}
    numbered = np.array([place[label] for label in y.tolist()])
    model = omkl.refit(LogisticRegression(), grow=3.0)
    assert mistakes(model, y) == mistakes(model, numbered)
    if place.get(1) != 1:
        with pytest.raises(UserError, match="class_weight has the label"):
            mistakes(omkl.refit(LogisticRegression(class_weight={next(iter(place)): 5})), y)


# ------------------------------------------------------------------ columns


def table():
    """Return a frame of words, dates, gaps and numbers, in which x alone decides the class."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"city": draw.choice(["rome", "oslo", "bern"], T)})
    days = draw.integers(9000, size=T).tolist()
    frame["day"] = [str(datetime.date(2000, 1, 1) + datetime.timedelta(day)) for day in days]
    frame["noise"] = 100 * draw.normal(size=T)
    frame["gaps"] = np.where(draw.random(T) < 0.2, np.nan, draw.normal(size=T))
    frame["x"] = draw.normal(size=T)
    return frame.assign(y=np.where(frame.x > 0, "yes", "no"))


def scaled():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def of_columns(columns):
    return omkl.refit(
        make_pipeline(ColumnTransformer([("x", StandardScaler(), columns)]), SGDClassifier(random_state=0))
    )


OTHERS_OF_X = ["city=bern", "city=oslo", "city=rome", "noise", "gaps"]
OTHERS_OF_X += [f"day ({part})" for part in ("days", "month", "day", "weekday")]
BY_NAME = {
    "columns": of_columns(["x"]),
    "select": compose.Select("x") | scaled(),
    "discard": compose.Discard(*OTHERS_OF_X) | scaled(),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_columns_are_chosen_by_name(name):
    found = []
    for frame in (table(), table()[["x", "y"]]):
        results = omkl.run(frame, label="y", algo=[BY_NAME[name]], scale="none", **HOW)
        assert not results.failed, results.failed
        found.append(results.cells.mistakes[0])
    assert found[0] == found[1] < 30  # as if there were no other column


@pytest.mark.parametrize("columns", [[4], 4, slice(4, 5), np.array([0, 4]), np.arange(12) == 4], ids=str)
def test_numbers_of_columns_are_refused_where_there_are_others(columns):
    with pytest.raises(UserError, match=r"transformers has numbers of columns.*give their names: city=bern"):
        omkl.run(table(), label="y", algo=[of_columns(columns)], **HOW)
    boosted = HistGradientBoostingClassifier(categorical_features=[0])
    with pytest.raises(UserError, match="categorical_features has numbers of columns"):
        omkl.run(table(), label="y", algo=[omkl.stack("arow", omkl.refit(boosted))], **HOW)


def test_numbers_of_columns_stay_where_the_columns_are_the_table_s():
    frame = table()[["noise", "gaps", "x", "y"]]
    results = omkl.run(frame, label="y", algo=[of_columns([2])], **HOW)
    assert results.cells.mistakes[0] < 30
    with pytest.raises(UserError, match="numbers of columns"):
        omkl.run(frame[["y", "noise", "gaps", "x"]], label="y", algo=[of_columns([2])], **HOW)
    array = frame[["noise", "x"]].to_numpy()
    assert mistakes(of_columns([1]), frame.y, array) < 30


def test_what_it_is_given_is_a_frame_with_names(monkeypatch, tmp_path):
    monkeypatch.setattr(Told, "seen", [])
    table().to_csv(tmp_path / "t.csv", index=False)
    omkl.run(data=str(tmp_path / "t.csv"), label="y", algo=[Told()], **HOW)
    of_file, Told.seen[:] = Told.seen[:], []
    omkl.run(table(), label="y", algo=[Told()], **HOW)
    assert [told[1:] for told in of_file] == [told[1:] for told in Told.seen]
    _, _, kind, columns = Told.seen[0]
    assert kind == "DataFrame"
    assert columns[:3] == ["city=bern", "city=oslo", "city=rome"]
    assert columns[-2:] == ["gaps", "x"]


def test_rows_of_a_frame_are_those_of_its_array():
    """Of words, dates and gaps, too: a loop by hand on the frame that omkl prepares."""
    from omkl.data.own_data import Own
    from omkl.data.preparation import Preparation

    data = Own("t", "classification", "t", table(), Preparation(label="y", missing="drop")).load()
    prepared = np.zeros((data.T, data.d))
    for i in range(data.T):
        span = slice(*data.indptr[i : i + 2])
        prepared[i, data.indices[span]] = data.values[span]
    frame = pd.DataFrame(prepared, columns=list(data.features))
    y = np.where(data.y > 0, "yes", "no")
    steps, last, wrong = StandardScaler(), SGDClassifier(random_state=0), 1
    for t in range(data.T):
        x = frame.iloc[t : t + 1]
        wrong += t > 0 and last.predict(steps.transform(x))[0] != y[t]
        last.partial_fit(steps.partial_fit(x).transform(x), y[t : t + 1], classes=["no", "yes"])
    model = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    how = {**HOW, "scale": "none", "missing": "drop"}
    assert omkl.run(table(), label="y", algo=[model], **how).cells.mistakes[0] == wrong

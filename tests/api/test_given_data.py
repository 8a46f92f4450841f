"""How data are given in Python: contradictions are refused, pandas objects are joined by their index."""

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl import data
from omkl.api.call import Call
from omkl.data.arrays import from_arrays, in_rows_of
from omkl.errors import UserError

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"), index=np.arange(60) + 100)
Y = pd.Series(np.where(X.a > 0, "yes", "no"), X.index)
FRAME = X.assign(label=Y)
HOW = {"algo": "arow", "reps": 2, "yardsticks": [], "progress": False, "exec": "serial"}


def rows_of(*given, **settings):
    """Return the content hash of the one data set of a call: its numbers, labels and their order."""
    (ref,) = Call.of(*given, **settings).plan().data
    return ref.content_hash


RIGHT = rows_of("", FRAME, label="label")


@pytest.mark.parametrize(
    ("words", "settings", "twice"),
    [
        ("algo=arow reps=1", {"algo": "alma", "reps": 2, "data": "wdbc"}, "algo"),
        ("reps=1", {"reps": 1, "data": "wdbc"}, "reps"),
        ("data=wdbc", {"data": "wdbc"}, "data"),
        ("data=wdbc", {"data": FRAME, "label": "label"}, "data"),
        ("label=a", {"data": FRAME, "label": "label"}, "label"),
        ("label=a", {"data": X, "y": Y}, "label"),
        ("algo.C=1", {"algo.C": 2, "data": "wdbc"}, "algo.C"),
        ("store=a", {"store": "b", "data": "wdbc"}, "store"),
    ],
)
def test_words_and_keywords_that_contradict_each_other(words, settings, twice):
    for call in (omkl.run, omkl.sweep, omkl.tune, omkl.fit):
        with pytest.raises(UserError, match=f"'{twice}' is given twice"):
            call(words, **settings)


@pytest.mark.parametrize("given", [{}, {"data": None}, {"data": []}, {"data": {}}, {"data": ()}])
def test_python_has_no_default_data(given):
    for call in (omkl.run, omkl.sweep, omkl.tune):
        with pytest.raises(UserError, match="no data: give a name"):
            call("algo=arow", **given)
    with pytest.raises(UserError, match="no data: give a name"):
        omkl.fit("arow", **given)


def test_the_name_of_a_registered_set_is_its_own():
    for given in (FRAME, from_arrays(X, Y), __file__):
        with pytest.raises(UserError, match="wdbc is a registered data set; choose another name"):
            Call.of("", {"wdbc": given}, label="label" if given is FRAME else None)
    for given in ("wdbc", data.find("wdbc").load()):
        assert Call.of("", {"wdbc": given}).plan().data[0].name == "wdbc"


SHUFFLED = Y.sample(frac=1, random_state=0)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (X, Y),
        (X, SHUFFLED),
        (X, SHUFFLED.astype("category")),
        (X, Y.reset_index(drop=True)),  # other labels: by position
        (X, Y.to_numpy()),
        (X, Y.tolist()),
        (X, SHUFFLED.to_frame()),
        (X.to_numpy(), Y),
        (X.set_index(np.repeat([1, 2], 30)), Y.set_axis(np.repeat([1, 2], 30))),
    ],
)
def test_labels_are_joined_to_the_rows(rows, labels):
    assert rows_of("", rows, y=labels) == RIGHT
    assert from_arrays(rows, labels).content_hash == RIGHT
    model = omkl.fit("arow", rows, y=labels)
    assert model.update(rows, y=labels).decision_function(rows) == pytest.approx(
        omkl.fit("arow", X, y=Y).update(X, y=Y).decision_function(X)
    )


def test_labels_that_cannot_be_joined():
    rows, labels = X.set_index(np.repeat([1, 2], 30)), Y.set_axis(np.tile([1, 2], 30))
    with pytest.raises(UserError, match=r"some of them twice, so they cannot be joined; y.to_numpy\(\)"):
        in_rows_of(rows, labels)
    with pytest.raises(UserError, match="59 labels, but the frame has 60 rows"):
        rows_of("", X, y=Y[1:])


def test_data_in_other_forms():
    pa = pytest.importorskip("pyarrow")
    from sklearn.utils import Bunch

    arrow = pa.Table.from_pandas(FRAME, preserve_index=False)
    pair = X.to_numpy(), Y.to_numpy()
    for given, settings in [
        (FRAME, {"label": "label"}),
        (arrow, {"label": "label"}),
        (arrow.drop_columns("label"), {"y": Y}),
        (pair, {}),
        ((X, SHUFFLED), {}),
        ((X, Y.tolist()), {}),
        (Bunch(data=pair[0], target=pair[1], feature_names=list("abc")), {}),
        (Bunch(data=X, target=SHUFFLED, frame=FRAME), {}),
    ]:
        assert rows_of("", given, **settings) == RIGHT
        assert rows_of(given, **settings) == RIGHT  # data first
    with pytest.raises(
        UserError, match="the first argument must be settings such as 'algo=arow', got a DataFrame"
    ):
        omkl.run(FRAME, data=FRAME)


def test_an_estimator_is_no_learner_s_name():
    from omkl.sklearn import ArowClassifier

    with pytest.raises(UserError, match="ArowClassifier is an estimator, which learns by its own fit"):
        omkl.fit(ArowClassifier(), FRAME)


def test_data_may_come_first_in_fit():
    X, y = np.eye(9), np.arange(9) % 2
    assert omkl.fit(X, y=y, algo="arow", order="file").predict(X).tolist() == (
        omkl.fit("arow", X, y=y, order="file").predict(X).tolist()
    )
    with pytest.raises(UserError, match="the first argument must be settings"):
        omkl.fit(X, X, y=y)


@pytest.mark.parametrize("algo", ["arow", "auto", "omkc_ss", "perceptron", "raker"])
def test_features_that_are_all_zero(algo, tmp_path):
    Z, y = np.zeros((20, 3)), np.arange(20) % 2
    made = omkl.run(data=Z, y=y, **HOW | {"algo": algo}, store=str(tmp_path))
    assert not made.failed
    assert set(omkl.fit(algo, Z, y=y).predict(Z)) <= {0, 1}

"""Tables in memory that are no frames are read as frames; labels that do not fit them are refused."""

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl.errors import UserError

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(["p", "q"], 40)})
LABEL = pd.Series(np.where(FRAME.a + rng.normal(size=40) > 0, "yes", "no"))
HOW = {"reps": 1, "yardsticks": [], "progress": False, "exec": "serial"}


def mistakes(data, y=None, **settings):
    """Return the mistakes of a run in file order."""
    return omkl.run("algo=arow order=file", data=data, y=y, **HOW, **settings).table.mistakes_mean[0]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))


def test_a_dict_of_columns_and_a_list_of_records_are_a_table():
    labelled = FRAME.assign(label=LABEL)
    expected = mistakes(labelled, label="label")
    columns = labelled.to_dict("list")
    assert mistakes(columns, label="label") == expected
    assert mistakes({name: np.array(own) for name, own in columns.items()}, label="label") == expected
    assert mistakes(labelled.to_dict("records"), label="label") == expected
    two = omkl.run("algo=arow", data={"one": labelled, "two": labelled[::-1]}, label="label", **HOW)
    assert set(two.table.data) == {"one", "two"}


def test_river_s_data_sets_are_data():
    datasets = pytest.importorskip("river.datasets")
    rows, labels = zip(*datasets.Phishing(), strict=True)
    assert mistakes(datasets.Phishing()) == mistakes(pd.DataFrame(rows), pd.Series(labels))
    with pytest.raises(UserError, match="no end"):
        mistakes(datasets.synth.Agrawal(seed=1))


@pytest.mark.parametrize(
    ("frame", "y", "said"),
    [
        (FRAME, pd.Series(LABEL.to_numpy(), np.arange(5, 45)), "has 35 of the frame's 40 labels"),
        (FRAME, pd.DataFrame({"u": LABEL, "v": LABEL}), r"y=... has 2 columns \(u, v\); give one"),
        (FRAME[["a"]].to_numpy(), np.column_stack([LABEL, LABEL]), "y=... has 2 columns; give one"),
        (pd.concat({"x": FRAME}, axis=1), LABEL, "are a MultiIndex; give each one name"),
    ],
)
def test_labels_and_names_that_do_not_fit_are_refused(frame, y, said):
    with pytest.raises(UserError, match=said):
        mistakes(frame, y)
    other = LABEL.set_axis(np.arange(100, 140))
    assert mistakes(FRAME, other) == mistakes(FRAME, LABEL)  # by position


def test_masked_arrays_are_refused_by_estimators():
    from omkl.sklearn import ArowClassifier

    X, y = FRAME[["a"]].to_numpy(), LABEL.to_numpy()
    masked = np.ma.masked_array(X, np.arange(40)[:, None] == 3)
    with pytest.raises(ValueError, match="X has masked values"):
        ArowClassifier().fit(masked, y)
    model = ArowClassifier().fit(X, y)
    for call in (model.predict, model.decision_function, lambda X: model.partial_fit(X, y)):
        with pytest.raises(ValueError, match="X has masked values"):
            call(masked)

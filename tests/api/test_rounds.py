"""The rounds of a cell as a frame, and what a trained model says of one row and of rows with labels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, r2_score

import omkl
from omkl.errors import UserError
from omkl.passes.scores import LEAST_P

SERIAL = {"exec": "serial", "progress": False, "yardsticks": [], "reps": 2}
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(90, 3)), 3)
F = X[:, 0] - 2 * X[:, 1]
CLASSES = np.array(["low", "mid", "high"])[np.digitize(F, [-1.0, 1.0])]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_the_rounds_are_those_of_the_cell(kind):
    y = {"two": F > 0, "three": CLASSES, "numbers": F}[kind]
    algo = ["norma"] if kind == "numbers" else ["arow", SGDClassifier()]
    task = "regression" if kind == "numbers" else "classification"
    result = omkl.run((X, y), algo=algo, task=task, **SERIAL)
    for _, cell in result.cells.iterrows():
        made = result.rounds(cell.algo, rep=cell.rep)
        assert made.index.tolist() == list(range(1, 91))
        assert sorted(made.row) == list(range(90))
        if kind == "numbers":
            assert made.loss.mean() == pytest.approx(cell.mse)
            assert made.index[made.loss.isna()].tolist() == [1, 2]  # before the target has varied
            np.testing.assert_allclose(made.label, F[made.row])
            np.testing.assert_allclose(made.loss[2:], np.square(made.prediction - made.label)[2:])
        else:
            assert made.loss.sum() == cell.mistakes
            assert made.label.tolist() == y[made.row].tolist()
            assert ((made.prediction != made.label) == made.loss).all()
        pd.testing.assert_frame_equal(result.rounds(cell.key), made)


def test_intervals_and_probabilities_are_columns():
    numbers = omkl.run((X, F), algo=["krls_t"], task="regression", interval=0.8, **SERIAL)
    made, cell = numbers.rounds(rep=1), numbers.cells.iloc[1]
    has = np.isfinite(made.low)
    assert 50 < has.sum() < 90
    inside = (made.low <= made.label) & (made.label <= made.high)
    assert inside[has].mean() == pytest.approx(cell.interval_coverage)
    np.testing.assert_allclose((made.low + made.high)[has], 2 * made.prediction[has])
    two = omkl.run((X, CLASSES), algo=["egpc", SGDClassifier(loss="log_loss")], **SERIAL)
    for algo in two.cells.algo.unique():
        made, cell = two.rounds(algo), two.cells[two.cells.algo == algo].iloc[0]
        P = made[["P high", "P low", "P mid"]]
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        of_label = [row[f"P {row.label}"] for _, row in made.iterrows()]
        assert -np.log(np.maximum(of_label, LEAST_P)).mean() == pytest.approx(cell.log_loss, rel=1e-3)


def test_the_cell_must_be_one():
    result = omkl.run((X, F > 0), algo=["arow", "alma"], **SERIAL)
    with pytest.raises(
        UserError, match=r"rounds of 2 cells \(arow on data, alma on data\): name the learner"
    ):
        result.rounds()
    with pytest.raises(UserError, match=r"algo=arrow: no such cell \(did you mean 'arow'\?\)"):
        result.rounds("arrow")
    with pytest.raises(UserError, match="rep=2: there are the repetitions 0 to 1"):
        result.rounds("arow", rep=2)


FRAME = pd.DataFrame(X, columns=list("abc"))
ONE_ROW = {
    "Series": lambda x: x,
    "dict": lambda x: dict(x),
    "array": lambda x: x.to_numpy(),
    "array of rows": lambda x: x.to_numpy()[None, :],
    "records": lambda x: [dict(x)],
    "frame": lambda x: x.to_frame().T,
}


@pytest.mark.parametrize("kind", ONE_ROW)
@pytest.mark.parametrize("of", ["frame", "array"])
def test_one_row(kind, of):
    model = omkl.fit("arow", FRAME if of == "frame" else X, y=CLASSES)
    expected = model.predict(FRAME if of == "frame" else X)
    if of == "array" and kind in ("dict", "records"):
        with pytest.raises(UserError, match="columns have no names"):
            model.predict(ONE_ROW[kind](FRAME.iloc[0]))
        return
    for at in (0, 7):
        assert model.predict(ONE_ROW[kind](FRAME.iloc[at])).tolist() == [expected[at]]
    if of == "frame":
        with pytest.raises(UserError, match="the model has the columns a, b, c; an array needs these 3"):
            model.predict(X[:, :2])


def test_words_in_one_row():
    frame = FRAME.assign(city=np.where(X[:, 2] > 0, "Bern", "Rome"), y=CLASSES)
    model = omkl.fit("arow", frame, label="y")
    row = frame.drop(columns="y").iloc[3]
    assert model.predict(row).tolist() == model.predict(dict(row)).tolist() == [model.predict(frame)[3]]
    records = frame.drop(columns="y").to_dict("records")
    assert model.predict(records).tolist() == model.predict(frame).tolist()


def test_score():
    model = omkl.fit("arow", FRAME.assign(y=CLASSES), label="y")
    assert model.score(FRAME.assign(y=CLASSES)) == pytest.approx(
        accuracy_score(CLASSES, model.predict(FRAME))
    )
    assert model.score(X[:9], CLASSES[:9]) == pytest.approx(
        accuracy_score(CLASSES[:9], model.predict(FRAME[:9]))
    )
    numbers = omkl.fit("norma", X, y=F, task="regression")
    assert numbers.score(X, F) == pytest.approx(r2_score(F, numbers.predict(X)))
    with pytest.raises(UserError, match="no labels to learn from"):
        numbers.score(X)

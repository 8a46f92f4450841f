"""Notes on the plan of a run: test rows that were learnt, labels that come late; Gram matrices and test=."""

import re

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl.data import order as order_of
from omkl.data.own_data import Own
from omkl.data.preparation import Preparation
from omkl.errors import UserError

rng = np.random.default_rng(0)
ROWS = pd.DataFrame(rng.normal(size=(60, 2)).round(3), columns=list("ab"))
ROWS["y"] = np.where(ROWS.a > 0, "yes", "no")
HOW = {"algo": "perceptron", "reps": 1, "yardsticks": [], "progress": False, "exec": "serial"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS[:40].to_csv("train.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(("start", "stop", "count"), [(0, 40, 40), (30, 60, 10), (39, 60, 1), (40, 60, 0)])
def test_test_rows_that_are_rows_of_the_data(start, stop, count, place):
    ROWS[start:stop].to_csv("test.csv", index=False)
    ROWS[start:stop][["b", "y", "a"]].to_csv("turned.csv", index=False)
    for data, test in (("train.csv", "test.csv"), (ROWS[:40], "turned.csv")):
        found = [
            note for note in omkl.run(data=data, test=test, store="s", **HOW).notes if "test row" in note
        ]
        are = "is a row" if count == 1 else "are rows"
        name = "train" if data is not ROWS and isinstance(data, str) else "data"
        said = f"{name}: {count} of {stop - start} test rows {are} of the data, so learnt before the test"
        assert found == ([said] if count else [])


def test_a_test_row_of_another_label_is_no_row_of_the_data(place):
    turned = ROWS[:40].assign(y=ROWS.y.map({"yes": "no", "no": "yes"}))
    turned.to_csv("test.csv", index=False)
    assert not any(
        "test row" in note for note in omkl.run(data="train.csv", test="test.csv", store="s", **HOW).notes
    )


@pytest.mark.parametrize("order", ["file", "permuted"])
@pytest.mark.parametrize("frame", [ROWS, pd.concat([ROWS, ROWS[:20]])])
def test_rows_that_are_there_twice_and_a_share_that_is_held_out(frame, order, place):
    how = HOW | {"order": order}
    found = [note for note in omkl.run(data=frame, test=0.25, store="s", **how).notes if "test row" in note]
    ref = Own("data", "auto", "data", frame, Preparation())
    places = order_of(ref, order, 1, 0)[0]
    first = len(frame) - round(0.25 * len(frame))
    learnt = {tuple(row) for row in frame.iloc[places[:first]].to_numpy().tolist()}
    count = sum(tuple(row) in learnt for row in frame.iloc[places[first:]].to_numpy().tolist())
    assert bool(count) == (len(frame) > 60)
    said = f"data: {count} of {len(frame) - first} test rows of the first repetition are rows of the data, so"
    assert len(found) == bool(count)
    assert all(note.startswith(said) for note in found)


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, None),
        ({3: [2]}, "1 column beyond those of the training data left out: {3} (1 value in 20 rows)"),
        (
            {3: [2, 5], 7: [5]},
            "2 columns beyond those of the training data left out: {3}, {7} (3 values in 20 rows)",
        ),
        (
            {2_000_000: range(20)},
            "1 column beyond those of the training data left out: {2000000} (20 values in 20",
        ),
    ],
)
def test_columns_of_libsvm_text_that_training_never_saw(base, more, said, place):
    """They are 0 in all rows of training, so no learner has a use for them: a9a.t has 122, a1a 119."""

    def write(path, rows, further):
        lines = []
        for i, (a, b, y) in enumerate(rows.itertuples(index=False)):
            new = "".join(f" {base + at}:0.5" for at, own in further.items() if i in own)
            lines.append(f"{'+1' if y == 'yes' else '-1'} {base}:{a} {base + 1}:{b}{new}\n")
        (place / path).write_text("".join(lines))

    write("a.libsvm", ROWS[:40], {})
    write("plain.libsvm", ROWS[40:], {})
    write("more.libsvm", ROWS[40:], more)
    want = omkl.run(data="a.libsvm", test="plain.libsvm", store="s", **HOW).cells["test_rate"].tolist()
    made = omkl.run(data="a.libsvm", test="more.libsvm", store="s", **HOW)
    assert made.cells["test_rate"].tolist() == want
    model = omkl.fit("perceptron", "a.libsvm")
    assert model.predict("more.libsvm").tolist() == model.predict("plain.libsvm").tolist()
    found = [note for note in made.notes if "beyond" in note]
    text = said and re.sub(r"\{(\d+)\}", lambda at: str(int(at[1]) + base), said)
    assert len(found) == bool(said)
    assert all(note.startswith(f"more.libsvm: {text}") for note in found)


def test_a_gram_matrix_has_no_rows_for_a_file_that_is_held_out(place):
    X = ROWS[:40][["a", "b"]].to_numpy()
    np.save("gram.npy", np.exp(-np.square(X[:, None] - X).sum(axis=2)))
    ROWS[20:60].to_csv("test.csv", index=False)
    kernel = {"kind": "precomputed", "file": "gram.npy"}
    words = {**HOW, "algo": omkl.learner("perceptron", kernel=kernel), "data": "train.csv", "store": "s"}
    with pytest.raises(UserError, match=r"test=test\.csv: .*gram\.npy is the Gram matrix of the data alone"):
        omkl.run(test="test.csv", **words)
    assert omkl.run(test=0.25, **words).cells["test_rate"].notna().all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"delay": 500}, "no label arrives within the 40 rounds, so nothing is learnt before a prediction"),
        ({"delay": 40}, "no label arrives within the 40 rounds, so nothing is learnt before a prediction"),
        ({"delay": 20, "rounds": "0:20"}, "no label arrives within the 20 rounds"),
        ({"delay": 30, "test": 0.25}, "no label arrives within the 30 rounds"),
        ({"delay": 10}, "the first 10 of 40 rounds (25 %) are predicted before a label arrives"),
        ({"delay": 1}, None),
        ({}, None),
    ],
)
def test_labels_that_come_too_late(settings, said, place):
    found = [
        note for note in omkl.run(data="train.csv", store="s", **HOW, **settings).notes if "delay=" in note
    ]
    assert len(found) == bool(said)
    assert all(note.startswith(f"train: delay={settings['delay']}: {said}") for note in found)


@pytest.mark.parametrize("rounds", [19, 20])
def test_rounds_too_few_for_an_interval(rounds, place):
    numbers = ROWS[:rounds].assign(y=ROWS.a)
    how = {**HOW, "algo": "ridge", "label": "y", "interval": 0.95, "store": "s"}
    found = [note for note in omkl.run(data=numbers, **how).notes if "interval=" in note]
    needs = "needs the errors of 19 rounds before its first interval, and there are 19 rounds"
    assert found == ([f"data: interval=0.95 {needs}: none is measured"] if rounds == 19 else [])

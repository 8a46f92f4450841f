"""Tables as programs write them, whose label is called y or target, are read with no further setting."""

import json

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl.config.request import files
from omkl.errors import UserError

T = 80
rng = np.random.default_rng(0)
A, B = rng.normal(size=T).round(3), rng.normal(size=T).round(3)
WORDS = np.where(A > 0, "yes", "no")
FRAME = pd.DataFrame({"a": A, "b": B, "y": WORDS})
PRICES = FRAME.assign(y=(100 + 20 * A + B).round(2))
COUNTS = FRAME.assign(y=(200 + 50 * A).astype(int))
HOLES = FRAME.assign(a=np.where(np.arange(T) % 7, A, np.nan))
COLOURS = FRAME.assign(b=np.where(np.arange(T) % 9, np.where(B > 0, "red", "blue"), None))
UNLABELLED = FRAME.assign(y=np.where(np.arange(T) % 10, WORDS, None))
EMPTY = FRAME.assign(e=None)[["a", "e", "b", "y"]]
MONTHS = pd.DataFrame({"month": pd.date_range("1949-01-01", periods=T, freq="MS").strftime("%Y-%m")})


def csv(frame, **how):
    return frame.to_csv(index=False, **how)


def of_r(frame, **how):
    """Return what R's write.table writes: names of the rows, without a name of their own."""
    return frame.to_csv(index_label=False, **how)


TARGETS = "so task=regression; task=classification takes them as classes"
FILES = {  # name: text, rows, features, what is said
    "prices.csv": (csv(PRICES), T, 2, f"different numbers, not all whole, {TARGETS}"),
    "counts.csv": (csv(COUNTS), T, 2, TARGETS),
    "semicolons.csv": (csv(PRICES, sep=";"), T, 2, TARGETS),
    "tabs.tsv": (csv(PRICES, sep="\t"), T, 2, TARGETS),
    "blanks.txt": (csv(PRICES, sep=" "), T, 2, TARGETS),
    "bars.txt": (csv(PRICES, sep="|"), T, 2, TARGETS),
    "no_names.csv": (csv(PRICES, header=False), T, 2, "different numbers, not all whole"),
    "prices.libsvm": ("".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in PRICES.to_numpy()), T, 2, TARGETS),
    "prices.json": (PRICES.to_json(orient="records"), T, 2, TARGETS),
    "prices.jsonl": (PRICES.to_json(orient="records", lines=True), T, 2, TARGETS),
    "array.jsonl": (PRICES.to_json(orient="records", indent=1), T, 2, TARGETS),
    "by_name.csv": (
        csv(PRICES.rename(columns={"y": "target", "b": "z"})[["target", "a", "z"]]),
        T,
        2,
        "column 'target' holds",
    ),
    "three.csv": (
        csv(FRAME.assign(y=np.arange(T) % 3)),
        T,
        2,
        "column 'y' holds 3 different numbers, so task=classification",
    ),
    "thirty.csv": (csv(FRAME.assign(y=np.arange(T) % 30)), T, 2, f"30 different numbers, {TARGETS}"),
    "eight.csv": (csv(FRAME.assign(y=np.arange(T) % 8)), T, 2, "8 different numbers, so task=classification"),
    "nine.csv": (csv(FRAME.assign(y=np.arange(T) % 9)), T, 2, f"9 different numbers, {TARGETS}"),
    "two_floats.csv": (csv(FRAME.assign(y=np.where(A > 0, 1.5, 2.5))), T, 2, TARGETS),
    "codes.csv": (csv(FRAME.assign(y=[f"{i % 30:03}" for i in range(T)])), T, 2, "30 different numbers"),
    "holes.csv": (csv(HOLES), T, 2, "'a' (12) with the mean of earlier rows"),
    "holes_na.csv": (csv(HOLES, na_rep="NA"), T, 2, "missing=error rejects them"),
    "holes.json": (HOLES.to_json(orient="records"), T, 2, "missing values were filled: 'a' (12)"),
    "python.jsonl": ("".join(json.dumps(row) + "\n" for row in HOLES.to_dict("records")), T, 2, "(12)"),
    "colours.csv": (csv(COLOURS), T, 4, "'b' (9) as a word of their own"),
    "unlabelled.csv": (csv(UNLABELLED), T - 8, 2, "8 of 80 rows have no label and are left out"),
    "empty.csv": (csv(EMPTY), T, 2, "'e': left out, since it has no value in any row"),
    "r.txt": (of_r(PRICES, sep=" "), T, 2, "their first column names them, and is left out"),
    "r.csv": (of_r(FRAME), T, 2, "the first line has one name fewer than the rows"),
    "months.csv": (csv(MONTHS.assign(y=PRICES.y)), T, 4, "'month': dates as days, month, day, weekday"),
    "truth.csv": (csv(FRAME.assign(b=B > 0, y=A > 0)), T, 2, "labels: "),
    "all.csv": (
        csv(pd.concat([UNLABELLED.a, EMPTY.e, COLOURS.b, HOLES.a.rename("c"), UNLABELLED.y], axis=1)),
        *(T - 8, 5, "'b' (8) as a word of their own"),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_table_is_read_with_no_setting(name, tmp_path):
    text, rows, features, said = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    (ref,) = files([], {}, [str(path)])
    made = ref.load()
    assert (made.T, made.d) == (rows, features)
    assert made.task == ("regression" if "so task=regression" in " ".join(made.notes) else "classification")
    assert any(said in note for note in made.notes), made.notes
    gaps = {"holes.csv": 12, "holes_na.csv": 12, "holes.json": 12, "python.jsonl": 12, "all.csv": 10}
    assert not np.isinf(made.values).any()
    assert np.isnan(made.values).sum() == gaps.get(name, 0), "the learner fills them"


@pytest.mark.parametrize("name", ["prices.csv", "all.csv", "prices.libsvm"])
def test_the_command_that_look_shows_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(FILES[name][0])
    command = omkl.look(name).findings[-1].removeprefix("To run it: omkl run ")
    how = {"reps": 1, "yardsticks": [], "store": "s", "exec": "serial", "progress": False}
    (row,) = omkl.run(command, **how).cells.to_dict("records")
    (as_it_is,) = omkl.run("algo=auto", data=name, **how).cells.to_dict("records")
    assert (row["data_hash"], row["task"]) == (as_it_is["data_hash"], as_it_is["task"])
    assert row["algo"] == ("auto" if name == "all.csv" else "auto_regression")


@pytest.mark.parametrize(
    ("algo", "frame", "task", "said"),
    [
        ("auto", PRICES, "regression", "so task=regression; task=classification"),
        ("auto", FRAME, "classification", None),
        ("auto,raker", PRICES, "regression", "so task=regression; task=classification"),
        ("iegp", FRAME.assign(y=np.arange(T) % 5), "regression", "the learners are for numbers, so"),
        ("arow", FRAME.assign(y=np.arange(T) % 2), "classification", None),
        ("auto", FRAME.assign(y=np.arange(T) % 5), "classification", None),
        ("norma", PRICES, "regression", "so task=regression"),
    ],
)
@pytest.mark.parametrize("way", ["file", "frame", "array"])
def test_the_task_is_that_of_the_learners_or_of_the_labels(algo, frame, task, said, way, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    X, y = frame[["a", "b"]].to_numpy(), frame.y.to_numpy()
    data = {"file": {"data": str(tmp_path / "rows.csv")}, "frame": {"data": frame}}
    words = data.get(way, {"data": X, "y": y})
    made = omkl.run(
        algo=algo, reps=1, yardsticks=[], store=tmp_path / "s", exec="serial", progress=False, **words
    )
    assert set(made.cells["task"]) == {task}
    assert said is None or way == "array" or any(said in note for note in made.notes)


def test_the_gaps_of_a_table_are_left_to_the_learner(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n,1,no\n2,,yes\n,3,no\n4,NA,yes\n,5,no\n")
    (ref,) = files([], {}, [str(path)])
    made = ref.load()
    gaps = np.isnan(made.values)
    assert made.indices[gaps].tolist() == [0, 1, 0, 1, 0]
    assert made.values[~gaps].tolist() == [1, 2, 3, 4, 5]
    for words, text in (("missing=error", "has no value"), ("missing=error label=a", "is missing")):
        with pytest.raises(UserError, match=text):
            files(words.split(), {}, [str(path)])[0].load()


def test_a_model_fills_gaps_with_the_means_of_its_training():
    model = omkl.fit("auto", HOLES)
    plain = FRAME.assign(a=np.where(np.isnan(HOLES.a), HOLES.a.mean(), A))
    with pytest.warns(
        UserWarning, match=r"missing values were filled: 'a' \(12\) with the mean of earlier rows"
    ):
        made = model.predict(HOLES)
    assert made.tolist() == model.predict(plain).tolist()


def test_words_that_name_the_rows_are_no_classes(tmp_path):
    (tmp_path / "rows.csv").write_text(csv(FRAME.assign(y=[f"row {i}" for i in range(T)])))
    with pytest.raises(UserError, match="name the rows rather than classes; label=COLUMN names another"):
        files([], {}, [str(tmp_path / "rows.csv")])[0].load()

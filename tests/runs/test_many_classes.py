"""Data of three classes through the commands: run, its cells, saved models; learners for two are refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from omkl.cli import main
from omkl.errors import counted
from omkl.models.model_file import read_model


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(150):
        c = int(rng.integers(3))
        x, y = rng.normal(3 * np.array([c == 1, c == 2]), 0.7)
        lines.append(f"{x:.3f},{y:.3f},{('low', 'high', 'mid')[c]}\n")
    for name, part in (("my", lines[:100]), ("new", lines[100:]), ("all", lines)):
        (tmp_path / f"{name}.csv").write_text("a,b,class\n" + "".join(part))
    return tmp_path


def omkl_(*words):
    return main([str(word) for word in words])


def test_a_table_of_three_classes_is_a_classification(capsys):
    words = ["run", "algo=omkc_dd,perceptron", "data=my.csv", "exec=serial", "yardsticks=[]"]
    assert omkl_(*words, "reps=2", "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    assert [row["classes"] for row in made["summary"]] == [["high", "low", "mid"]] * 2
    assert made["summary"][0]["mistake_pct_mean"] < 15
    for cell in made["cells"]:
        counts = np.array(cell["confusion"])
        wrong = counts.sum() - np.trace(counts)
        assert (counts.shape, counts.sum()) == ((3, 3), 100)
        assert cell["mistakes"] - 3 <= wrong <= cell["mistakes"]  # ties of the first rounds are mistakes
    assert omkl_(*words, "reps=2", "--fresh", "order=file") == 0  # as a stream in time
    made = capsys.readouterr().out
    assert "· 1 repetition ·" in made
    assert "order=file: omkc_dd, perceptron draw nothing" in made
    assert omkl_("figure", "confusion", *words[1:], "reps=2", "--out", "c.png") == 0
    assert omkl_("run", "algo=alma,omkc_dd", "data=my.csv") == 2
    assert "algo=alma is for two classes, data=my.csv has 3" in capsys.readouterr().err
    assert omkl_("run", "algo=alma", "data=my.csv", "positive=mid", "yardsticks=[]", "reps=1") == 0


def test_two_classes_have_a_matrix_too(capsys):
    words = ["algo=omkc_dd", "data=my.csv", "positive=low", "reps=1", "yardsticks=[]", "exec=serial"]
    assert omkl_("run", *words, "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    ((right, false_alarm), (missed, hit)) = made["cells"][0]["confusion"]
    assert false_alarm + missed == made["cells"][0]["mistakes"]
    truth = [line.endswith("low") for line in Path("my.csv").read_text(encoding="utf-8").splitlines()][1:]
    assert (right + false_alarm, missed + hit) == (100 - sum(truth), sum(truth))
    assert made["summary"][0]["classes"] == ["other", "low"]


@pytest.mark.parametrize("algo", ["omkc_dd", "perceptron"])
def test_a_model_of_three_classes(capsys, algo):
    assert omkl_("fit", f"algo={algo}", "data=my.csv", "order=file", "scale=none", "--out", "m.omkl") == 0
    assert Path("m.omkl").read_bytes().startswith(b"omkl model 4\n")
    capsys.readouterr()
    assert omkl_("predict", "m.omkl", "new.csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(out.splitlines()))
    truth = [line.split(",")[2] for line in Path("new.csv").read_text(encoding="utf-8").splitlines()][1:]
    wrong = sum(row["label"] != label for row, label in zip(rows, truth, strict=True))
    assert counted(wrong, "mistake") + " on 50 rows" in err
    assert wrong < (10 if algo == "omkc_dd" else 30)
    assert all(float(row["score"]) >= 0 for row in rows)  # how far it is ahead of the next class
    assert omkl_("update", "m.omkl", "new.csv") == 0
    assert (
        omkl_("fit", f"algo={algo}", "data=all.csv", "order=file", "scale=none", "--out", "whole.omkl") == 0
    )
    (one, about), (other, whole) = read_model("m.omkl"), read_model("whole.omkl")
    assert about["progress"] == whole["progress"]
    np.testing.assert_array_equal(one.classifiers.A[:, :20], other.classifiers.A[:, :20])
    assert omkl_("show", "m.omkl", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["classes"] == ["high", "low", "mid"]
    with open("new.csv", "a", encoding="utf-8") as file:
        file.write("1,2,xyz\n")
    assert omkl_("update", "m.omkl", "new.csv") == 2
    assert "label 'xyz'; the model knows high, low, mid" in capsys.readouterr().err


def test_a_tie_of_three_classes_is_a_mistake(capsys):
    words = ["algo=perceptron(kernel=linear)", "data=my.csv", "order=file", "scale=none"]  # a score of 0 at 0
    assert omkl_("fit", *words, "--out", "m.omkl") == 0
    Path("tie.csv").write_text("a,b,class\n0,0,high\n0,0,low\n0,0,mid\n", encoding="utf-8")
    capsys.readouterr()
    assert omkl_("predict", "m.omkl", "tie.csv") == 0
    out, err = capsys.readouterr()
    assert [float(row["score"]) for row in csv.DictReader(out.splitlines())] == [0, 0, 0]
    assert "3 mistakes on 3 rows" in err  # whichever class it names


@pytest.mark.parametrize("words", [("positive=low",), ()], ids=["two", "three"])
def test_the_class_predicted_has_the_largest_score(capsys, words):
    assert omkl_("fit", "algo=omkc_dd", "data=my.csv", *words, "order=file", "--out", "m.omkl") == 0
    capsys.readouterr()
    assert omkl_("predict", "m.omkl", "new.csv", "--scores") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    classes = ["other", "low"] if words else ["high", "low", "mid"]
    for row in rows:
        assert row["label"] == max(classes, key=lambda name: float(row[f"score {name}"]))
    assert len({row["label"] for row in rows}) == len(classes)


def test_the_class_predicted_before_the_labels_come_is_counted(capsys):
    """With delay=, a batch is predicted with what was learnt before it: of the first one, nothing."""
    words = ["algo=perceptron", "data=my.csv", "reps=1", "yardsticks=[]", "exec=serial", "--format", "json"]
    assert omkl_("run", *words, "delay=100") == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    counts = np.array(cell["confusion"])
    assert cell["mistakes"] == counts.sum() == counts[:, 0].sum() == 100  # ties, of which the first is named
    assert omkl_("run", *words, "delay=20") == 0
    (cell,) = json.loads(capsys.readouterr().out)["cells"]
    counts = np.array(cell["confusion"])
    assert cell["mistakes"] - 20 <= counts.sum() - np.trace(counts) <= cell["mistakes"]

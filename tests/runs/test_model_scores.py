"""What fit, predict and update print and score, for every task, against the estimator and against the run."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import omkl.data
import omkl.sklearn
from omkl.cli import main
from omkl.errors import counted
from omkl.models.model_file import read_model

WORDS = {  # of each task
    "two": ("algo=omkc_dd",),
    "many": ("algo=omkc_dd",),
    "regression": ("algo=norma_regression", "task=regression"),
    "novelty": ("algo=norma_novelty", "algo.nu=0.4", "algo.start=0.1"),  # of registered data
}
ESTIMATORS = {
    "two": omkl.sklearn.OmkcDdClassifier(random_state=0),
    "many": omkl.sklearn.OmkcDdClassifier(random_state=0),
    "regression": omkl.sklearn.NormaRegressor(target="online"),  # as of a file by default
    "novelty": omkl.sklearn.NormaNoveltyDetector(nu=0.4, start=0.1),
}
YAML = """
title: t
description: d
task: novelty
T: {0.T}
d: {0.d}
nnz: {0.nnz}
content_hash: {0.content_hash}
positive_share: 1.0
source: s
licence: l
forms: [{{format: libsvm, files: [{0.name}]}}]
"""
TASKS = pytest.mark.parametrize("task", WORDS)


def omkl_(*words):
    assert main([str(word) for word in words]) == 0


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Return X (200, 3) and the labels of each task; files of all rows, the first 120 and the last 80.

    Those of the novelty detection are registered.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3)).round(3)
    value = (np.sin(X[:, 0]) + X[:, 1] ** 2 + rng.normal(0, 0.2, 200)).round(4)
    monkeypatch.setenv("OMKL_DATA", str(tmp_path))
    monkeypatch.setenv("OMKL_PATH", str(tmp_path / "own"))
    (tmp_path / "own" / "conf" / "data").mkdir(parents=True)
    labels = {
        "two": np.where(value > 0.8, "yes", "no"),
        "many": np.array(["high", "low", "mid"])[np.digitize(value, [0.2, 1.2])],
        "regression": value,
    }
    for name, part in (("all", slice(0, 200)), ("first", slice(0, 120)), ("last", slice(120, 200))):
        made = omkl.data.from_arrays(X[part], np.ones(len(X[part])), name=f"novelty_{name}", task="novelty")
        (tmp_path / "own" / "conf" / "data" / f"novelty_{name}.yaml").write_text(YAML.format(made))
        lines = [f"1 1:{a} 2:{b} 3:{c}\n" for a, b, c in X[part]]
        (tmp_path / f"novelty_{name}").write_text("".join(lines))
    for task, y in labels.items():
        lines = [f"{a},{b},{c},{label}\n" for (a, b, c), label in zip(X, y, strict=True)]
        for name, part in (("all", lines), ("first", lines[:120]), ("last", lines[120:])):
            (tmp_path / f"{task}_{name}.csv").write_text("a,b,c,y\n" + "".join(part))
    return X, labels | {"novelty": np.ones(200)}


def named(task, part):
    """Return the words of a task and of its rows."""
    return [*WORDS[task], f"data={file(task, part)}"]


def file(task, part):
    return f"{task}_{part}" + (".csv" if task != "novelty" else "")


def scored(model, file, capsys):
    """Return the labels and scores that predict prints, and its line about them."""
    capsys.readouterr()
    omkl_("predict", model, file)
    out, err = capsys.readouterr()
    table = list(csv.DictReader(out.splitlines()))
    return [row["label"] for row in table], np.array([float(row["score"]) for row in table]), err.strip()


def expected(task, estimator, X, y):
    """Return the labels, scores and line of an estimator for rows X (T, d)."""
    predicted = estimator.predict(X)
    if task == "regression":
        return [repr(v) for v in predicted.tolist()], predicted, np.mean((predicted - y) ** 2)
    scores = estimator.decision_function(X)
    if task == "novelty":
        flagged = np.count_nonzero(predicted == -1)
        assert 0 < flagged < len(X) != 2 * flagged
        names = ["novel" if value == -1 else "usual" for value in predicted]
        return names, scores, f"omkl: {flagged} of {len(X)} rows are novel"
    if task == "many":
        best = np.sort(scores, axis=1)
        scores = best[:, -1] - best[:, -2]
    wrong = np.count_nonzero(predicted != y)
    line = f"omkl: {counted(wrong, 'mistake')} on {len(X)} rows ({100 * wrong / len(X):.2f} %)"
    return predicted.tolist(), scores, line


@TASKS
def test_fit_predict_and_update_are_the_estimators(rows, capsys, task):
    X, y = rows[0], rows[1][task]
    omkl_("fit", *named(task, "first"), "order=file", "scale=none", "--out", "m.omkl")
    estimator = clone(ESTIMATORS[task]).fit(X[:120], y[:120])
    total = {"regression": "loss_", "novelty": "flagged_"}.get(task, "mistakes_")
    measure = {"regression": "RMSE"}.get(task, total[:-1])
    printed = f"{WORDS[task][0].partition('=')[2]}: {{}} rows, {measure} {{:.6g}}, "
    for count in (120, 200):
        error = getattr(estimator, total)
        error = np.sqrt(error / count) if task == "regression" else error
        assert printed.format(count, error) in capsys.readouterr().err
        labels, scores, line = scored("m.omkl", file(task, "last"), capsys)
        names, values, said = expected(task, estimator, X[120:], y[120:])
        assert labels == names
        np.testing.assert_allclose(scores, values, rtol=1e-12, atol=1e-12)
        if task == "regression":
            rmse = re.fullmatch(r"omkl: RMSE (\S+) on 80 rows", line)
            assert float(rmse[1]) == pytest.approx(np.sqrt(said), rel=1e-5)
        else:
            assert line == said
        if count == 120:
            omkl_("update", "m.omkl", file(task, "last"))
            estimator.partial_fit(X[120:], y[120:])
    whole = clone(ESTIMATORS[task]).fit(X, y)
    assert read_model("m.omkl")[1]["progress"]["total"] == getattr(whole, total)


@TASKS
@pytest.mark.parametrize("part", ["30:130", "100:", "50"])
def test_fit_learns_exactly_the_rounds_of_the_run(rows, capsys, task, part):
    words = [*named(task, "all"), "seed=4", f"rounds={part}"]
    omkl_("run", *words, "reps=1", "yardsticks=[]", "exec=serial", "store=st", "--format", "json")
    cell = json.loads(capsys.readouterr().out)["cells"][0]
    omkl_("fit", *words, "--out", "m.omkl")
    progress = read_model("m.omkl")[1]["progress"]
    assert progress["rounds"] == cell["T"] == {"30:130": 100, "100:": 100, "50": 50}[part]
    assert progress["total"] > 0
    if task != "regression":  # whose first rounds, before the target has varied, count in no measure of a run
        assert progress["total"] == cell["mistakes"]


@pytest.mark.parametrize("scale", ["none", "online"])
@pytest.mark.parametrize("task", ["two", "regression"])
def test_a_row_alone_scores_as_within_a_file(tmp_path, rows, capsys, task, scale):
    prepared = [f"scale={scale}"]
    head, *lines = (tmp_path / f"{task}_all.csv").read_text().splitlines()
    words = [f"{('red', 'blue', 'green')[n % 3]},{line}" for n, line in enumerate(lines)]
    words[3], words[125] = ("red,,0.1,5," + words[3].split(",")[4], "red,,0.1,5," + words[125].split(",")[4])
    for name, part in (("my", words[:120]), ("new", words[120:140])):
        (tmp_path / f"{name}.csv").write_text(f"colour,{head}\n" + "\n".join(part) + "\n")
    omkl_("fit", *WORDS[task], *prepared, "data=my.csv", "order=file", "--out", "m.omkl")
    together, scores, _ = scored("m.omkl", "new.csv", capsys)
    for number, line in enumerate(words[120:126]):
        (tmp_path / "one.csv").write_text(f"colour,{head}\n{line}\n")
        label, score, _ = scored("m.omkl", "one.csv", capsys)
        assert (label, score.tolist()) == ([together[number]], [scores[number]])
    assert len(set(scores.tolist())) > 10


def test_labels_that_the_model_does_not_know_are_left_out_of_the_rate(tmp_path, rows, capsys):
    omkl_("fit", "algo=omkc_dd", "data=two_first.csv", "--out", "m.omkl")
    head, *lines = (tmp_path / "two_last.csv").read_text().splitlines()
    labels, _, _ = scored("m.omkl", "two_last.csv", capsys)
    truth = rows[1]["two"][120:]
    lines[0], lines[1], lines[2] = (
        f"{line.rpartition(',')[0]},{new}"
        for line, new in zip(lines[:3], ("maybe", "", "maybe"), strict=True)
    )
    (tmp_path / "new.csv").write_text("\n".join([head, *lines]))
    same, _, said = scored("m.omkl", "new.csv", capsys)
    wrong = sum(label != right for label, right in zip(labels[3:], truth[3:], strict=True))
    assert same == labels
    assert said.splitlines() == [
        "omkl: new.csv: 2 of 80 labels are unknown to the model: maybe (2)",
        f"omkl: {counted(wrong, 'mistake')} on 77 rows ({100 * wrong / 77:.2f} %)",
    ]
    (tmp_path / "none.csv").write_text("\n".join([head, *lines[:3]]))
    assert scored("m.omkl", "none.csv", capsys)[2] == (
        "omkl: none.csv: 2 of 3 labels are unknown to the model: maybe (2)"
    )


def test_rows_left_out_have_empty_fields(tmp_path, rows, capsys):
    omkl_(
        "fit",
        "algo=norma_regression",
        "task=regression",
        "missing=drop",
        "scale=none",
        "data=regression_first.csv",
        "--out",
        "m.omkl",
    )
    head, *lines = (tmp_path / "regression_last.csv").read_text().splitlines()
    _, scores, _ = scored("m.omkl", "regression_last.csv", capsys)
    lines[1] = "," + lines[1].partition(",")[2]
    lines[2] = lines[2].rpartition(",")[0] + ",NA"
    (tmp_path / "new.csv").write_text("\n".join([head, *lines]))
    capsys.readouterr()
    omkl_("predict", "m.omkl", "new.csv")
    out, err = capsys.readouterr()
    table = list(csv.reader(out.splitlines()))
    assert [row[0] for row in table] == ["row", *map(str, range(1, 81))]
    assert table[2] == ["2", "", ""]
    kept = np.delete(np.arange(80), 1)
    np.testing.assert_array_equal([float(table[n + 1][2]) for n in kept], scores[kept])
    known = np.delete(np.arange(80), [1, 2])
    error = np.mean((scores[known] - rows[1]["regression"][120:][known]) ** 2)
    note, rate = err.strip().splitlines()
    assert note == "omkl: new.csv: missing=drop leaves out 1 of 80 rows"
    rmse = re.fullmatch(r"omkl: RMSE (\S+) on 78 rows", rate)
    assert float(rmse[1]) == pytest.approx(np.sqrt(error), rel=1e-5)
    (tmp_path / "one.csv").write_text(f"{head}\n{lines[1]}\n")
    omkl_("predict", "m.omkl", "one.csv")
    out, err = capsys.readouterr()
    assert out == "row,label,score\n1,,\n"
    assert err == "omkl: one.csv: missing=drop leaves out 1 of 1 row\n"
    (tmp_path / "none.csv").write_text(f"{head}\n")
    for more in ([], ["--out", "none.out"]):
        omkl_("predict", "m.omkl", "none.csv", *more)
        out, err = capsys.readouterr()
        assert (Path("none.out").read_text() if more else out) == "row,label,score\n"
        assert err == ""
    lines[2] += "1"
    (tmp_path / "new.csv").write_text("\n".join([head, *lines]).replace("NA1", "1"))
    omkl_("update", "m.omkl", "new.csv")
    assert "omkl: new.csv: missing=drop leaves out 1 of 80 rows\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("train", "positive", "new", "right"),
    [
        ("0.0 1", "1", "0 1.0 +1 0", "- + + -"),
        ("0.0 1.0", None, "0 1 1.0 True", "0 1 1 1"),
        ("False True", "True", "FALSE true 1 0", "- + + -"),
        ("False True", None, "0 TRUE", "False True"),
        ("007 042 1", "7", "7 42 007 1", "+ - + -"),
        ("007 042", None, "7 42 042", "7 42 42"),
    ],
)
def test_a_model_knows_its_classes_however_they_are_written(tmp_path, rows, train, positive, new, right):
    from omkl.models import new_data, saved_models

    own = train.split()
    text = "".join(f"{n % 7},{own[n % len(own)]}\n" for n in range(42))
    (tmp_path / "my.csv").write_text("a,y\n" + text)
    words = [f"positive={positive}"] if positive else []
    omkl_("fit", "algo=omkc_dd", "data=my.csv", *words, "--out", "m.omkl")
    (tmp_path / "new.csv").write_text("a,y\n" + "".join(f"1,{label}\n" for label in new.split()))
    model = saved_models.load_saved(tmp_path / "m.omkl")
    y = next(new_data.rows_of_file(model, tmp_path / "new.csv", True)[0]).y
    names = {"-": -1, "+": 1} if positive else dict(zip(model.about["classes"], (-1, 1), strict=True))
    assert y.tolist() == [names[label] for label in right.split()]


@pytest.mark.parametrize(
    ("labels", "positive"), [("0.0 1 0 1.0", "1"), ("0.0 1.0", "1"), ("False True", "True")]
)
def test_a_saved_model_with_positive_is_the_run(tmp_path, rows, capsys, labels, positive):
    X, y = rows[0], rows[1]["two"] == "yes"
    texts = labels.split()
    for name, write in (
        ("plain", lambda n: int(y[n])),
        ("my", lambda n: texts[2 * (n % len(texts) // 2) + y[n]]),
    ):
        lines = [f"{a},{b},{c},{write(n)}\n" for n, (a, b, c) in enumerate(X)]
        (tmp_path / f"{name}.csv").write_text("a,b,c,y\n" + "".join(lines))
    counts = []
    for words in (["data=plain.csv"], ["data=my.csv", f"positive={positive}"]):
        omkl_(
            "run",
            "algo=omkc_dd",
            *words,
            "reps=1",
            "yardsticks=[]",
            "exec=serial",
            "store=st",
            "--format",
            "json",
        )
        made = json.loads(capsys.readouterr().out)["cells"][0]
        omkl_("fit", "algo=omkc_dd", *words, "--out", "m.omkl")
        assert read_model("m.omkl")[1]["progress"]["total"] == made["mistakes"]
        said = scored("m.omkl", words[0].removeprefix("data="), capsys)[2]
        counts.append((made["mistakes"], said.rpartition("omkl: ")[2]))
    assert counts[0] == counts[1]

"""omkl fit, predict, update and show MODEL: from a raw table to predictions."""

import csv
import errno
import json
import math

import numpy as np
import pytest
from support.forged_models import content, forged

import omkl
import omkl.data
from omkl.cli import main
from omkl.config import learner_spec, pool
from omkl.errors import counted
from omkl.models import saved_models
from omkl.models.model_file import read_model
from omkl.passes import Learner, one_pass, run_pass

HEAD = "age,colour,income,class\n"


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for t in range(120):
        age, income = rng.normal(40, 10), rng.normal(3, 1)
        gap = "" if t % 17 == 5 else f"{income:.3f}"
        rows.append(f"{age:.2f},{rng.choice(['red', 'blue'])},{gap},{'yes' if age > 40 else 'no'}\n")
    for name, part in (("my", rows[:80]), ("more", rows[80:100]), ("new", rows[100:])):
        (tmp_path / f"{name}.csv").write_text(HEAD + "".join(part))
    (tmp_path / "all.csv").write_text(HEAD + "".join(rows[:100]))
    return tmp_path


def omkl_(*words):
    return main([str(word) for word in words])


PREPARED = ("order=file",)


@pytest.mark.parametrize("algo", ["omkc_ss", "bomkc_rbp", "raker"])
def test_from_a_raw_table_to_predictions(table, capsys, algo):
    model, out = table / "model.omkl", table / "out.csv"
    assert omkl_("fit", f"algo={algo}", f"data={table / 'my.csv'}", *PREPARED, "--out", model) == 0
    said = capsys.readouterr().err
    assert f"{algo}: 80 rows, mistakes" in said
    assert omkl_("predict", model, table / "new.csv", "--out", out) == 0
    said = capsys.readouterr().err
    rows = list(csv.DictReader(out.open()))
    truth = [line.split(",")[3] for line in (table / "new.csv").read_text().splitlines()[1:]]
    wrong = sum(row["label"] != label for row, label in zip(rows, truth, strict=True))
    assert counted(wrong, "mistake") + " on 20 rows" in said
    assert wrong < 10
    unlabelled = table / "unlabelled.csv"
    lines = (table / "new.csv").read_text().splitlines()
    unlabelled.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    assert omkl_("predict", model, unlabelled) == 0
    assert capsys.readouterr().out == out.read_text()


def test_update_goes_on_as_one_pass_would(table, capsys):
    model, whole = table / "model.omkl", table / "whole.omkl"
    words = ["algo=omkc_dd", "drop=colour", "order=file"]
    assert omkl_("fit", *words, f"data={table / 'my.csv'}", "--out", model) == 0
    recipe = read_model(model)[1]["recipe"]
    assert omkl_("update", model, table / "more.csv") == 0
    learner, about = read_model(model)
    assert about["progress"]["rounds"] == 100
    assert about["recipe"] == recipe  # means and scales stay those of the first table
    assert omkl_("fit", *words, f"data={table / 'all.csv'}", "--out", whole) == 0
    assert learner.classifiers.origin[: learner.classifiers.n_sv_union[0]].max() >= 80
    capsys.readouterr()


def test_rows_that_are_dropped_keep_their_numbers(table, capsys):
    model, new = table / "model.omkl", table / "gaps.csv"
    words = ["algo=omkc_dd", f"data={table / 'my.csv'}", "missing=drop", "drop=colour"]
    assert omkl_("fit", *words, "--out", model) == 0
    new.write_text(HEAD + "41,red,2,yes\n,red,2,no\n39,red,2,no\n")
    capsys.readouterr()
    assert omkl_("predict", model, new) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["row"] for row in rows] == ["1", "2", "3"]
    assert (rows[1]["label"], rows[1]["score"]) == ("", "")
    new.write_text(HEAD + "41,red,2,yes\n39,red,2,\n")
    assert omkl_("predict", model, new) == 0  # a row without a label is predicted, and not in the rate
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), " on 1 row (" in err) == (3, True)


def test_unknown_words_are_counted_in_a_note(table, capsys):
    model, new = table / "model.omkl", table / "words.csv"
    assert omkl_("fit", "algo=omkc_dd", f"data={table / 'my.csv'}", *PREPARED, "--out", model) == 0
    new.write_text(HEAD + "41,pink,2,yes\n39,red,2,no\n39,,2,no\n39,pink,2,no\n39,gold,2,no\n")
    for command in ("predict", "update"):
        capsys.readouterr()
        assert omkl_(command, model, new) == 0
        notes = [line for line in capsys.readouterr().err.splitlines() if "not in the training" in line]
        assert [note.partition("words.csv: ")[2] for note in notes] == [
            "column 'colour' holds values that were not in the training data: pink (2), gold (1); "
            "in 3 of 5 rows all of its features are 0"
        ]


@pytest.mark.parametrize("name", ["omkc_ss", "omklp_da1", "bomkc_spa", "perceptron_star", "adaraker_authors"])
def test_a_model_is_the_pass_of_a_run(tmp_path, name, capsys):
    model = tmp_path / "model.omkl"
    assert omkl_("fit", f"algo={name}", "data=wdbc", "seed=3", "--out", model) == 0
    data, spec = omkl.data.find("wdbc").load(), learner_spec(name)
    order, permutation = omkl.data.order(data, "permuted", 3, 0)
    own = pool(spec.usual_pool or "paper16")
    figures = run_pass(spec, spec.usual("classification"), own, data, order, permutation)
    learner, about = read_model(model)
    assert about["progress"]["total"] == figures["mistakes"]
    if learner.classifiers is not None:
        assert [int(n) for n in learner.classifiers.n_sv] == figures["n_sv_per_kernel"]
    assert omkl_("show", model, "--format", "json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["learner"], shown["rounds"], shown["mistakes"]) == (name, data.T, figures["mistakes"])


def test_a_model_chooses_its_kernel_by_the_rows_that_a_run_does(tmp_path, monkeypatch):
    asked, choose = [], one_pass.choose_kernels

    def noted(spec, params, pool, d, stream, seed, *more):
        asked.append((stream.values.tolist(), seed))
        return choose(spec, params, pool, d, stream, seed, *more)

    for home in (one_pass, saved_models):
        monkeypatch.setattr(home, "choose_kernels", noted)
    words = "algo=perceptron_star data=wdbc scale=online rounds=40 seed=3"
    omkl.run(f"{words} reps=1 yardsticks=[] exec=serial", store=tmp_path, progress=False)
    of_run = asked[-1]
    omkl.fit(words)
    assert asked[-1] == of_run


def test_a_tie_of_more_classes_is_a_mistake(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zeros.csv").write_text("a,class\n" + "".join(f"0,{name}\n" for name in "xyz" * 3))
    words = ("algo=perceptron", "algo.kernel=linear", "scale=none", "data=zeros.csv", "--out", "m")
    assert omkl_("fit", *words) == 0
    capsys.readouterr()
    assert omkl_("predict", "m", "zeros.csv") == 0
    assert "9 mistakes on 9 rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("fit", "algo=krls_t", "algo.budget={match:omkc_dd}", "data=my.csv", "--out", "m"),
            "omkl fit needs a number",
        ),
        (("fit", "algo=omkc_dd"), "add --out model.omkl"),
        (
            ("fit", "algo=omkc_dd,omkc_ss", "--out", "m.omkl"),
            "trains one learner on one data set.* name 2 learners on 1 data set",
        ),
        (
            ("fit", "algo=omkc_dd", "reps=3", "--out", "m.omkl"),
            "one pass and stores no cells; leave out reps=",
        ),
        (("fit", "exec.jobs=2", "--out", "m.omkl"), "leave out exec="),
        (("predict", "none.omkl", "new.csv"), "none.omkl: No such file"),
        (("predict", "my.csv", "new.csv"), "my.csv is not a model of omkl"),
        (("predict", "model.omkl", "none.csv"), "none.csv: no such file"),
        (("predict", "model.omkl", "wdbc"), "wdbc: no such file; name a file, not a data set"),
        (("predict", "model.omkl", "other.csv"), "other.csv has no column 'age'"),
        (("update", "model.omkl", "unlabelled.csv"), "no column 'class' with the labels to learn from"),
        (
            ("predict", "model.omkl", "word.csv"),
            "word.csv: row 1: .*'abc', which is not a number; correct the cell, or",
        ),
        (
            ("update", "plain.omkl", "gap.csv"),
            "gap.csv: row 1: .*'age' has no value .*; write one, or remove the row",
        ),
        (("update", "model.omkl", "third.csv"), "label 'maybe'.*; the model knows no, yes"),
    ],
)
def test_mistakes_end_with_one_line(table, monkeypatch, capsys, words, said):
    import re

    monkeypatch.chdir(table)
    (table / "other.csv").write_text("a,class\n1,yes\n")
    (table / "unlabelled.csv").write_text("age,colour,income\n1,red,2\n")
    (table / "third.csv").write_text(HEAD + "1,red,2,maybe\n")
    (table / "word.csv").write_text(HEAD + "abc,red,2,yes\n")
    (table / "gap.csv").write_text(HEAD + ",red,2,yes\n")
    assert omkl_("fit", "algo=omkc_dd", "data=my.csv", *PREPARED, "--out", "model.omkl") == 0
    plain = ("missing=error", "drop=colour,income", "data=my.csv", "--out", "plain.omkl")
    assert omkl_("fit", "algo=omkc_dd", *plain) == 0
    before = (table / "model.omkl").read_bytes()
    capsys.readouterr()
    assert omkl_(*words) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert re.search(said, err)
    assert (table / "model.omkl").read_bytes() == before


def test_what_cannot_be_written_is_said_before_anything_is_learnt(table, monkeypatch, capsys):
    def read_only(folder, start):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.chdir(table)
    fitting = ("fit", "algo=omkc_dd", "data=my.csv", *PREPARED, "--out")
    assert omkl_(*fitting, "model.omkl") == 0
    assert sorted(path.name for path in table.glob(".*")) == []  # the attempt left nothing
    monkeypatch.setattr("omkl.files._new_part", read_only)
    monkeypatch.setattr(Learner, "run", lambda *_, **__: pytest.fail("it learns"))
    capsys.readouterr()
    for words in ((*fitting, "other/new.omkl"), ("update", "model.omkl", "my.csv")):
        assert omkl_(*words) == 1
        assert "omkl: cannot write" in (said := capsys.readouterr().err)
        assert "Read-only file system" in said
    assert not (table / "other").exists()


def test_control_characters_of_a_model_s_classes_are_escaped(table, monkeypatch, capsys):
    monkeypatch.chdir(table)
    rows = (table / "my.csv").read_text().replace(",yes", ",\x1b[31myes\x9b")
    (table / "my.csv").write_text(rows, encoding="utf-8")
    assert omkl_("fit", "algo=omkc_dd", "data=my.csv", *PREPARED, "--out", "model.omkl") == 0
    assert omkl_("predict", "model.omkl", "my.csv", "--out", "labels.csv") == 0
    assert omkl_("predict", "model.omkl", "my.csv") == 0
    assert omkl_("show", "model.omkl") == 0
    assert omkl_("show", "model.omkl", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert r"\u001b[31myes\u009b" in out
    assert r"\u001b[31myes\u009b" in (table / "labels.csv").read_text(encoding="utf-8")
    for text in (out, err, (table / "labels.csv").read_text(encoding="utf-8")):
        assert not {"\x1b", "\x9b"} & set(text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a: a["progress"].update(rounds=10**30), "rounds of the record"),
        (lambda a: a["progress"].update(total=math.inf), "totals of the record"),
        (lambda a: a["progress"].update(total=10**6), "totals of the record"),
        (lambda a: a["progress"].update(points=[[math.inf, 1]]), "curve of the record"),
        (lambda a: a["progress"].update(points=[[5, 1], [4, 1]]), "curve of the record"),
        (lambda a: a["progress"].update(task="regression", total=0.5, points=[]), "omkc_dd is not for"),
        (lambda a: a.update(progress=[]), "no record of its rounds"),
        (lambda a: a.update(classes=["no", "no"]), "its classes are not 2 different names"),
        (lambda a: a.update(classes=None), "the names of its classes are missing"),
        (lambda a: a.update(features=a["features"][:-1]), "its features are not 4 different names"),
        (lambda a: a["recipe"]["columns"].reverse(), "its features are not those of its recipe"),
        (
            lambda a: a["recipe"]["columns"][0].update(scaling=[[0.0, math.inf]]),
            "recipe of its data is broken",
        ),
    ],
)
def test_what_a_model_says_of_its_data_is_checked(table, monkeypatch, capsys, change, said):
    monkeypatch.chdir(table)
    assert omkl_("fit", "algo=omkc_dd", "data=my.csv", *PREPARED, "--out", "model.omkl") == 0
    header, arrays = content((table / "model.omkl").read_bytes())
    change(header["about"])
    (table / "model.omkl").write_bytes(forged(header, arrays))
    capsys.readouterr()
    for words in (("show", "model.omkl"), ("predict", "model.omkl", "new.csv")):
        assert omkl_(*words) == 2
        assert said in (err := capsys.readouterr().err)
        assert err.count("\n") == 1

"""Learners with settings of their own from Python: side by side, tuned, saved, run again."""

import json

import numpy as np
import pandas as pd
import pytest
from support.drawn import names_in

import omkl
from omkl.cli import main
from omkl.errors import UserError
from omkl.store.store import Store

HOW = {"exec": "serial", "progress": False}
FEW = {"trials": 4, "passes": 2, "reps": 5}


def frame(T=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(T, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(y=np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))


def test_learners_with_settings_of_their_own_stand_side_by_side(tmp_path):
    chosen = [omkl.learner("omkc_dd", beta=0.9, label="a"), omkl.learner("OMKC(D,D)", beta=0.2), "omkc_dd"]
    how = {**HOW, "data": "wdbc", "reps": 5, "store": str(tmp_path), "yardsticks": []}
    made = omkl.run(algo=chosen, **how)
    assert made.table["label"].tolist() == ["a", "OMKC(D,D)", "OMKC(D,D)"]
    assert made.table["settings"].tolist() == ["", "beta=0.2", "beta=0.8"]
    alone = omkl.run(algo="omkc_dd", **{"algo.beta": 0.9}, **how)
    assert alone.outcome.ran == 0  # the cells are those of the plain key
    assert alone.table["mistake_pct_mean"].tolist() == made.table["mistake_pct_mean"].tolist()[:1]
    assert names_in(made.figure("curve")) == ["a", "OMKC(D,D), beta=0.2", "OMKC(D,D), beta=0.8"]
    with pytest.raises(UserError, match=r"algo=alma has no hyperparameter 'c' \(did you mean 'C'\?\)|it has"):
        omkl.learner("alma", c=1)


def test_a_learner_shows_its_hyperparameters():
    own = omkl.learner("alma", C=1, kernel="gaussian(sigma=2)")
    assert repr(own) == "omkl.learner: alma(C=1, kernel=gaussian(sigma=2))"
    html = own._repr_html_()
    assert "<table" in html
    assert "step size of the first correction" in html


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    store = tmp_path_factory.mktemp("tuned") / "store"
    words = {"algo": ["arow", "alma"], "data": frame(), "label": "y", "store": str(store)}
    return store, omkl.tune(**words, **FEW, **HOW)


def test_tuned_learners_are_compared_with_their_defaults_and_the_yardsticks(tuned):
    _, best = tuned
    assert best.table["algo"].tolist() == ["arow", "alma"]
    assert (best.table["tuned_mean"] <= best.table["default_mean"] + 5).all()
    assert [own.learner for own in best.settings] == ["arow", "alma"]
    text = str(best)
    head = next(line for line in text.splitlines() if line.startswith("data "))
    assert " ".join(head.split()) == (
        "data learner best setting default mistake % #SV seconds trials tuning s"
    )
    assert "Majority class" in text
    assert "rule: 4 trials of 4 passes of one half of the rows" in text
    assert r"\toprule" in best.to_latex()
    assert "<script" not in best._repr_html_()
    assert repr(best) == text


def test_tuned_learners_run_again_from_the_object_and_from_the_file(tuned, tmp_path):
    store, best = tuned
    again = best.run(progress=False)
    assert again.outcome.ran == 0  # nor does an AROW that is a yardstick with its defaults
    learners = again.table[~again.table["is_yardstick"]]
    assert learners["mistake_pct_mean"].tolist() == best.table["tuned_mean"].tolist()
    assert names_in(again.figure("curve"))[:2] == ["AROW", "ALMA"]
    assert best.run(reps=6, progress=False).table["reps"].tolist()[:2] == [6, 6]
    how = {**HOW, "order": "halves", "rounds": "0.5:"}
    with pytest.warns(UserWarning, match="is for all rows: the trials knew half of the rows"):
        file = best.save(tmp_path / "best.yaml")
    read = omkl.run(settings=str(file), data=frame(), label="y", store=str(store), **how)
    assert read.outcome.ran == 0
    assert read.cells["key"].tolist() == again.cells["key"].tolist()
    with pytest.raises(UserError, match=r"must end in \.yaml"):
        best.save(tmp_path / "best.txt")


def test_what_is_given_is_not_tuned(tmp_path):
    how = {**HOW, **FEW, "data": "wdbc", "store": str(tmp_path)}
    best = omkl.tune(algo=[omkl.learner("arow", r=5), "alma"], **how, **{"algo.alma.C": 1})
    assert best.settings[0].params == {"r": 5.0}
    assert best.settings[1].params["C"] == 1.0
    assert best.table["trials"].tolist() == [3, 4]  # scaling is searched
    assert "given" in str(best)


def test_the_command_writes_a_file_that_the_commands_take(tmp_path, capsys, monkeypatch, shared_data):
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
    file = tmp_path / "best.yaml"
    words = ["algo=arow,omkc_dd", "data=wdbc,svmguide3", "exec=serial", "reps=3"]
    assert main(["tune", *words, "trials=3", "passes=1", "-q", "--format", "json", "--out", str(file)]) == 0
    tuned = json.loads(capsys.readouterr().out)
    assert {"rule", "tuned", "summary"} <= tuned.keys()
    on_all = ["exec=serial", f"settings={file}"]
    own = [*on_all, "order=halves", "rounds=0.5:"]
    assert main(["run", *own, "-q", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["summary"]
    found = {(row["data"], row["algo"]): row["mistake_pct_mean"] for row in rows if not row["is_yardstick"]}
    assert found == {(row["data"], row["algo"]): pytest.approx(row["tuned_mean"]) for row in tuned["tuned"]}
    picture, page, model = (tmp_path / name for name in ("c.png", "r.html", "m.omkl"))
    assert main(["figure", "curve", *own, "--out", str(picture)]) == 0
    assert main(["report", *own, "--out", str(page)]) == 0
    assert main(["bounds", *on_all, "algo=omkc_dd", "data=wdbc", "-q", "--rows", "50"]) == 0
    assert main(["fit", f"settings={file}", "reps=null", "algo=arow", "data=wdbc", "--out", str(model)]) == 2
    assert "leave out reps=" in capsys.readouterr().err
    assert main(["fit", f"settings={file}", "algo=arow", "data=wdbc", "--out", str(model)]) == 0
    assert main(["status", *own, "--format", "json"]) == 0
    assert all(row["done"] == row["cells"] for row in json.loads(capsys.readouterr().out))
    assert all(path.stat().st_size for path in (picture, page, model))


def test_in_file_order_what_is_reported_comes_after_the_trials(tmp_path, shared_data):
    how = {**HOW, "trials": 3, "least": 10, "order": "file", "store": str(tmp_path / "store")}
    best = omkl.tune(algo="arow", data=["wdbc", "svmguide3"], **how)
    assert {tuple(part) for part in best.run(progress=False).cells["rounds"]} == {(189, 569), (414, 1243)}
    with pytest.raises(UserError, match="tune one data set at a time"):
        best.save(tmp_path / "best.yaml")
    one = omkl.tune(algo="arow", data="wdbc", **how)
    read = omkl.run(settings=one.save(tmp_path / "one.yaml"), store=str(tmp_path / "store"), **HOW)
    assert read.outcome.ran == 0


def test_a_study_in_the_shell_and_in_python_has_the_same_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = """
        omkl tune algo=arow,alma data=wdbc trials=3 passes=1 reps=2 exec=serial -q --out best.yaml
        omkl run settings=best.yaml order=halves rounds=0.5: reps=3 exec=serial -q
        omkl fit algo=alma settings=best.yaml data=wdbc --out shell.omkl
    """
    for line in filter(str.strip, script.splitlines()):
        assert main(line.split()[1:]) == 0
    how = {"exec": "serial", "store": "python", "progress": False}
    best = omkl.tune(algo=["arow", "alma"], data="wdbc", trials=3, passes=1, reps=2, **how)
    tuned = best.run(reps=3, progress=False)
    file = best.save("python.yaml")
    omkl.fit("alma", data="wdbc", settings=file).save("python.omkl")
    stored = {store: Store(store).cells(columns=["key", "mistakes"]) for store in ("results", "python")}
    shell, python = (dict(own.itertuples(index=False)) for own in stored.values())
    assert shell == python
    assert set(tuned.cells["key"]) <= python.keys()
    first, second = (tmp_path.joinpath(name).read_text().splitlines()[1:] for name in ("best.yaml", file))
    assert first == second  # below the command
    rows = omkl.load_model("shell.omkl").described(), omkl.load_model("python.omkl").described()
    assert rows[0] == rows[1]

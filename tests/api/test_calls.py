"""The calls beside runs: models, papers' tables and claims, figures, bounds, pages, lists."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import omkl
import omkl.data
import omkl.sklearn
from omkl.api.call import INSTEAD
from omkl.cli import main
from omkl.data import find, of_dataset
from omkl.errors import UserError
from omkl.estimators.arguments import class_name
from omkl.store.store import Store
from omkl.testing.cases import matrix_of

SERIAL = {"exec": "serial", "progress": False}


def frame(T=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(y=np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))


# ------------------------------------------------------------------ models


def test_a_model_of_a_frame_is_that_of_the_command_s_file(tmp_path, capsys):
    rows, new = frame(), frame(20, 1)
    model = omkl.fit("omkc_dd", rows, label="y", order="file")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    file = tmp_path / "m.omkl"
    assert (
        main(["fit", "algo=omkc_dd", f"data={tmp_path / 'rows.csv'}", "order=file", "--out", str(file)]) == 0
    )
    read = omkl.load_model(file)
    assert str(read) == str(model)
    shuffled = new[["c", "y", "a", "b"]]  # columns are found by name
    predicted = model.predict(shuffled)
    assert set(predicted) <= {"yes", "no"}
    for given in (shuffled, new.drop(columns="y"), tmp_path / "new.csv"):
        assert read.predict(given).tolist() == predicted.tolist()
    assert read.decision_function(new) == pytest.approx(model.decision_function(new))
    assert omkl.load_model(model.save(tmp_path / "own.omkl")).predict(new).tolist() == predicted.tolist()
    more = model.update(new, label="y").predict(new)
    assert read.update(tmp_path / "new.csv").predict(new).tolist() == more.tolist()
    assert "100 rows" in repr(model)
    assert "omkc_dd" in model._repr_html_()


def test_a_model_of_arrays_predicts_the_labels_it_was_given():
    rows = frame()
    X, y = rows[["a", "b", "c"]].to_numpy(), np.where(rows["y"] == "yes", 7, 3)
    model = omkl.fit(omkl.learner("alma", kernel="gaussian(sigma=1)"), X, y=y)
    assert set(model.predict(X)) == {3, 7}
    assert model.predict(sp.csr_array(X)).tolist() == model.predict(X).tolist()
    target = omkl.fit("norma_regression", X, y=X[:, 0], task="regression")
    assert target.predict(X).dtype.kind == "f"
    for given, says in [
        (X[:, :1] * np.ones((1, 5)), "the model has 3 features"),
        (rows.drop(columns="a"), "no column|4 features|not an array of numbers"),
    ]:
        with pytest.raises(UserError, match=says):
            model.predict(given)
    with pytest.raises(UserError, match="no labels to learn from"):
        model.update(X)
    with pytest.raises(UserError, match=r"leave out reps="):
        omkl.fit("alma", X, y=y, reps=3)
    with pytest.raises(UserError, match="data has no column 'a'"):
        omkl.fit("alma", rows, label="y").predict(rows.drop(columns="a"))


def test_a_frame_is_read_as_its_model_s_file(tmp_path):
    rows = frame().round(3)
    rows.loc[::9, "a"] = np.nan
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = omkl.fit("arow", rows, label="y", drop="c")
    scores = model.decision_function(tmp_path / "rows.csv")
    assert model.decision_function(rows).tolist() == scores.tolist()
    more = omkl.fit("arow", rows, label="y", drop="c").update(tmp_path / "rows.csv")
    assert model.update(rows).decision_function(rows).tolist() == more.decision_function(rows).tolist()


@pytest.mark.parametrize("form", ["frame", "file"])
def test_a_prediction_for_each_row_and_a_word_on_those_left_out(form, tmp_path):
    rows = frame().assign(d=["u", "v"] * 40, n=np.arange(80.0))
    model = omkl.fit("auto", rows, label="y", missing="drop")
    new = rows[:5].assign(d=["u", "w", "u", "u", "u"], y=["yes", "no", "yes", "no", "perhaps"])
    new.loc[3, "a"] = np.nan
    given = new if form == "frame" else tmp_path / "new.csv"
    new.to_csv(tmp_path / "new.csv", index=False)
    with pytest.warns(UserWarning, match="missing=drop leaves out") as told:
        predicted = model.predict(given)
    where = "data" if form == "frame" else str(given)
    unseen, others = map(str, (one.message for one in told))
    assert unseen == (
        f"{where}: column 'd' holds values that were not in the training data: w (1); "
        "in 1 of 4 rows all of its features are 0"
    )
    assert others == (
        f"{where}: missing=drop leaves out 1 of 5 rows; 1 of 4 labels is unknown to the model: perhaps (1)"
    )
    assert [label is None for label in predicted] == [False, False, False, True, False]
    with pytest.warns(UserWarning, match="leaves out 1 of 5 rows"):
        scores, P = model.decision_function(given), model.predict_proba(given)
    assert np.isnan(scores).tolist() == [False, False, False, True, False]
    assert np.isnan(P).tolist() == [[own, own] for own in np.isnan(scores)]
    target = omkl.fit("norma_regression", rows, label="n", missing="drop", drop="y", task="regression")
    with pytest.warns(UserWarning, match="leaves out 1 of 5 rows"):
        numbers = target.predict(given)
    assert np.isnan(numbers).tolist() == np.isnan(scores).tolist()
    assert numbers.dtype == float


def test_large_whole_numbers_are_classes_to_learn_more_of():
    X, y = np.array([[0.0], [1.0]] * 30), np.array([2**53, 2**53 + 1] * 30)
    made = [omkl.fit("arow", X, y=y).update(X, labels) for labels in (y, y.astype(str))]
    assert made[0].decision_function(X).tolist() == made[1].decision_function(X).tolist()


# ------------------------------------------------------------------ papers, bounds, figures, pages


def test_a_paper_s_table_is_the_command_s(tmp_path, capsys):
    made = omkl.table("omkc/4", reps=2, data="wdbc", store=tmp_path, **SERIAL)
    words = ["omkc/4", "reps=2", "data=wdbc", f"store={tmp_path}", "exec=serial", "-q"]
    assert main(["table", *words]) == 0
    assert str(made) == capsys.readouterr().out
    assert set(made.table["data"]) == {"wdbc"}
    assert made.cells["key"].nunique() == made.table["reps"].sum()
    assert "OMKC(D,D)" in made._repr_html_()
    held = omkl.claims("norma", reps=2, data="switch", store=tmp_path, **SERIAL)
    assert "too few to say" in set(held.table["verdict"])  # of two permutations


def test_bounds_figures_and_pages_are_those_of_the_commands(tmp_path, capsys):
    words = f"algo=omkc_dd data=wdbc reps=2 exec=serial store={tmp_path / 'store'}"
    made = omkl.bounds(words, rows=60, progress=False)
    assert main(["bounds", *words.split(), "--rows", "60", "-q"]) == 0
    assert str(made).splitlines()[:6] == capsys.readouterr().out.splitlines()[:6]
    assert (made.table["bound"] > made.table["mean"]).all()
    with pytest.warns(UserWarning, match="holds 2 of 8 cells"):
        assert omkl.figure("curve", words, out=tmp_path / "c.png").axes
    assert (tmp_path / "c.png").stat().st_size
    with pytest.raises(UserError, match=r"holds 0 of 4 cells; `omkl run .*algo=alma.*` computes them"):
        omkl.figure("curve", words.replace("omkc_dd", "alma").replace("reps=2", "reps=1"))
    page = omkl.report(words, out=tmp_path / "page.html")
    assert "OMKC(D,D)" in page.read_text(encoding="utf-8")


def test_data_and_stores_say_on_one_line_what_they_are(tmp_path):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    assert repr(find("wdbc")) == "Registered('wdbc', classification)"
    file = find(str(tmp_path / "rows.csv"))
    assert repr(file).endswith("rows.csv', classification)")
    assert repr(of_dataset(file.load())) == "Parsed('rows', classification)"
    store = Store(tmp_path / "store")
    assert repr(store).endswith("store', 0 files of cells, 0.0 MiB)")


X = np.random.default_rng(0).normal(size=(60, 3))
FRAME = pd.DataFrame(X)
HOLE = frame(20).set_axis([f"id{t}" for t in range(20)])
HOLE.loc["id3", "a"] = np.nan
MISTAKES = [
    (lambda: omkl.run("algo=alma data=wdbc jobs=2"), "jobs=2: jobs is no setting but a keyword .*: jobs=2"),
    (lambda: omkl.tune("algo=alma data=wdbc fresh=True"), "fresh=True: .*outside of the words: fresh=True"),
    (lambda: omkl.fit("alma", data="wdbc", jobs=2), "jobs=2: .* argument of omkl.run, sweep, tune, bounds"),
    (lambda: omkl.run("algo=alma data=wdbc --sort sv"), "--sort: .* no keyword here; what comes back has"),
    (lambda: omkl.run(data="wdbc", sort="sv"), "sort=sv: .*a DataFrame, to sort"),
    (lambda: omkl.sweep("algo=alma data=wdbc dry-run=1"), "dry-run=1: an option"),
    (lambda: omkl.run(data="wdbc", by="auc"), r"by=auc: .*what comes back has \.by\(MEASURE\)"),
    (lambda: omkl.run("algo=alma data=wdbc --fresh"), "--fresh: options are keyword arguments here"),
    (lambda: omkl.table("bomk/1"), r"no such table \(did you mean 'bomkl/1'"),
    (lambda: omkl.table("bomkl/1", algoo="alma"), "the paper's conf sets this"),
    (lambda: omkl.figure("curvee", "algo=alma data=wdbc"), "no such figure .did you mean 'curve'"),
    (lambda: omkl.report("bomk"), "no such paper"),
    (lambda: omkl.run(algo="alma", data=3), "data=3: must be a name, a path, a frame, an array with y="),
    (lambda: omkl.run(data=[[1.0, 2.0]]), r"data=\[1.0, 2.0\]: must be a name"),
    (lambda: omkl.run(data=np.zeros((2, 2, 2)), y=[0, 1]), r"columns, but its shape is \(2, 2, 2\)"),
    (lambda: omkl.look(pd.DataFrame([[1, 2]], columns=["a", "a"])), "two columns are named 'a'"),
    (lambda: omkl.look("wdbc", missing="drop"), "missing='drop'|missing=drop: data=wdbc is registered"),
    (lambda: omkl.run("algo=omkc_s data=wdbc"), r"unknown learner \(did you mean 'omkc_ss'"),
    (lambda: omkl.run(data=FRAME, label="q"), "label=q: data has no such column; it has 3 columns: 0, 1, 2"),
    (lambda: omkl.run(algo="perceptron", data=FRAME), "data: no column is called label, class, target or y"),
    (lambda: omkl.run(data=FRAME, y=[1, 2]), r"y=\.\.\. has 2 labels, but the frame has 60 rows"),
    (lambda: omkl.run(algo="perceptron", data=X), "an array has no labels"),
    (lambda: omkl.run("algo=perceptron data=wdbc exec=slurm"), "exec=slurm submits cells"),
    (
        lambda: omkl.run(data=HOLE, label="y", missing="error"),
        r"row 4 \(index 'id3'\): column 'a' has no value",
    ),
    (
        lambda: omkl.run(data=HOLE.reset_index(drop=True), label="y", missing="error"),
        "row 4: column 'a' has no value",
    ),
    (lambda: omkl.run(data="wdbc", job=2), r"job=2: unknown key 'job' \(did you mean 'jobs'"),
    (
        lambda: omkl.run(data="wdbc", store_d=True),
        r"store_d=true: unknown key 'store_d' \(did you mean 'stored'",
    ),
    (
        lambda: omkl.run(data="nosuch"),
        "neither a registered data set nor a file; `omkl list data` shows them",
    ),
    (lambda: omkl.learner("zzz"), "unknown learner.*`omkl list algos` lists them"),
    (lambda: omkl.run(data="wdbc", **{"algo.C": None}, algo="alma"), "algo.C=null: .* got null"),
    (lambda: omkl.run(data="wdbc", stored=True, fresh=True), "stored=True runs nothing and fresh=True runs"),
    (lambda: omkl.tune(data="wdbc", stored=True), "stored is not a keyword of omkl.tune, but of omkl.run"),
]


@pytest.mark.parametrize(("call", "said"), MISTAKES)
def test_mistakes_are_the_command_s_sentence(call, said):
    with pytest.raises(UserError, match=said):
        call()


def test_completion_shows_keywords_and_no_machinery(tmp_path):
    keywords = set(inspect.signature(omkl.run).parameters)
    assert {
        "algo",
        "reps",
        "order",
        "scale",
        "target",
        "seed",
        "store",
        "test",
        "delay",
        "yardsticks",
    } <= keywords
    assert {"jobs", "progress", "stored"} <= keywords
    assert "stored" not in inspect.signature(omkl.tune).parameters
    for name in keywords - {"words"}:
        assert f"\n{name}\n" in inspect.cleandoc(omkl.run.__doc__)
    made = omkl.run("algo=alma data=wdbc reps=1", store=tmp_path, **SERIAL)
    for shown in (made, omkl.fit("alma", "wdbc"), omkl.learner("alma")):
        assert {name for name in dir(shown) if name[0] != "_"} & {
            "parts",
            "rows",
            "trained",
            "render",
            "spec",
        } == set()
    assert repr(omkl.fit("alma", "wdbc")).endswith(", order=permuted")


@pytest.mark.parametrize("algo", ["raker", "omkc_sd"])
def test_an_estimator_with_the_learner_s_seed_repeats_a_cell(algo, tmp_path):
    cell = omkl.run(algo=algo, data="wdbc", reps=2, store=tmp_path, yardsticks=[], **SERIAL).cells.iloc[1]
    data = omkl.data.find("wdbc").load()
    order = omkl.data.order(data, cell["order"], cell["seed"], cell["rep"])[0]
    model = getattr(omkl.sklearn, class_name(algo, "classification"))(random_state=cell["learner_seed"])
    if "rounds" in model.get_params():
        model.set_params(rounds=data.T)
    model.fit(matrix_of(data)[order], data.y[order])
    assert model.mistakes_ == cell["mistakes"]


def test_ctrl_c_says_what_is_kept_and_leaves_no_half_of_a_fit(tmp_path, monkeypatch):
    from omkl.rounds.learner import Learner
    from omkl.runs import runner

    own = {"algo": "alma", "data": "wdbc", "reps": 3, "store": tmp_path, "yardsticks": [], **SERIAL}
    done, run_cell = [], runner.run_cell

    def interrupted(cell):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(cell)
        return run_cell(cell)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "run_cell", interrupted)
        with pytest.raises(
            KeyboardInterrupt, match="2 of 3 cells are in the store; the same call runs the others"
        ):
            omkl.run(**own)
    assert len(omkl.run(**own, stored=True).cells) == 2
    assert omkl.run(**own).outcome.ran == 1

    X, y = np.eye(4), [0, 1, 0, 1]
    model = omkl.sklearn.AlmaClassifier().fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "run", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X, y).predict(X).tolist() == omkl.sklearn.AlmaClassifier().fit(X, y).predict(X).tolist()


def test_what_stands_in_place_of_an_option_is_there(tmp_path):
    made = omkl.run("algo=alma data=wdbc reps=1", store=tmp_path, **SERIAL)
    for text in INSTEAD.values():
        for name in re.findall(r"what comes back has \.(\w+)", text):
            assert hasattr(made, name)
    assert {"mistake_pct_mean", "auc_mean"} <= set(made.table)


def test_what_is_understood_shows_itself_as_its_text(tmp_path):
    looked = omkl.look(frame())
    assert repr(looked) == str(looked)
    assert "A run gets 80 rows with 3 features." in repr(looked)
    assert dir(omkl) == omkl.__all__
    with pytest.raises(AttributeError, match="nosuch"):
        omkl.nosuch  # noqa: B018


def test_lists_of_what_there_is():
    assert omkl.learners().loc["omkc_ss", "kernels"] == "pool"
    assert omkl.datasets().loc["wdbc", "T"] == 569
    assert omkl.pools().loc["paper16", "m"] == 16
    assert omkl.papers().loc["bomkl/1", "kind"].tolist() == ["table", "figure"]


# ------------------------------------------------------------------ control characters

RAW = re.compile("[\x1b\u202e]")


def test_names_with_control_characters_reach_no_message_note_or_table(tmp_path, recwarn):
    rows = frame().rename(columns={"a": "a\x1b[31m", "b": "b\u202e", "y": "y\x1b[2J"})
    rows["y\x1b[2J"] = np.where(rows["a\x1b[31m"] > 0, "yes\x1b[2J", "no")
    found = omkl.run(rows, algo="arow", label="y\x1b[2J", reps=1, store=str(tmp_path), **SERIAL)
    assert any("alone divides the classes" in note and "u001b" in note for note in found.notes)
    model = omkl.fit("arow", rows, label="y\x1b[2J")
    shown = [*found.notes, *model.notes, repr(found), found._repr_html_(), found.to_markdown(), repr(model)]
    shown += [str(warning.message) for warning in recwarn]
    for words in ({"label": "z\x1b[2J"}, {"label": "y\x1b[2J", "drop": "q\u202e"}):
        with pytest.raises(UserError, match=r"u001b|u202e") as error:
            omkl.run(rows, algo="arow", **words, **SERIAL)
        shown.append(str(error.value))
    assert not [text for text in shown if RAW.search(text)]


def test_a_model_of_numbers_says_that_it_has_no_probabilities():
    model = omkl.fit("running_mean", frame(), label="c", task="regression", drop="y")
    with pytest.raises(
        UserError, match=r"predicts numbers, which have no probabilities; train it with interval"
    ):
        model.predict_proba(frame())

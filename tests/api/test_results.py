"""Experiments from Python: the same cells, tables and figures as the commands', with data of one's own."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl.cli import main
from omkl.data import find, from_arrays
from omkl.data.preparation import Preparation
from omkl.errors import UserError
from omkl.reports.results_table import TableOptions
from omkl.reports.table_cells import INFLATED
from omkl.store.store import Store

WORDS = "algo=omkc_ss,alma data=wdbc reps=5 exec=serial"


def noise(T=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    store = tmp_path_factory.mktemp("front") / "store"
    return store, omkl.run(WORDS, store=str(store), progress=False)


def test_a_run_is_the_command_s_table_and_cells(ran, capsys):
    store, results = ran
    assert main(["run", *WORDS.split(), f"store={store}", "-q"]) == 0  # all is stored: nothing runs
    own, printed = str(results).splitlines(), capsys.readouterr().out.splitlines()
    assert own[:10] == printed[:10]
    assert set(results.cells["key"]) <= set(Store(store).cells(columns=["key"])["key"])  # others ran
    assert results.table["algo"].tolist() == ["omkc_ss", "alma", "majority", "perceptron", "arow"]
    assert results.best["algo"].iloc[0] == "omkc_ss"
    assert results.settings["algo"].tolist() == ["omkc_ss", "alma"]
    assert [note for note in results.notes if not note.startswith((INFLATED, "wdbc: the features"))] == []


def test_keywords_are_words(ran):
    store, results = ran
    again = omkl.run(
        algo=["omkc_ss", "alma"], data="wdbc", reps=5, exec="serial", store=str(store), progress=False
    )
    assert again.outcome.ran == 0
    assert again.table["mistake_pct_mean"].tolist() == results.table["mistake_pct_mean"].tolist()
    assert (
        omkl.run(WORDS, store=str(store), stored=True).cells["key"].tolist() == results.cells["key"].tolist()
    )


def test_two_results_make_one_table_with_each_row_once(ran):
    store, results = ran
    other = omkl.run(
        "algo=omkc_ss data=wdbc reps=5 exec=serial algo.beta=0.5", store=str(store), progress=False
    )
    both = results + other
    assert both.table["algo"].tolist() == ["omkc_ss", "alma", "omkc_ss", "majority", "perceptron", "arow"]
    assert "beta=0.5" in str(both)
    assert both.table["complete"].all()
    assert (both.table["reps"] == 5).all()
    assert both.table["best"].sum() == 1
    with pytest.raises(TypeError):
        results + 1


def test_results_of_other_data_stay_apart(tmp_path):
    how = {"algo": "perceptron", "reps": 2, "exec": "serial", "yardsticks": [], "progress": False}
    first, second = (omkl.run(data=X, y=y, store=str(tmp_path), **how) for X, y in (noise(), noise(seed=1)))
    both = first + second  # both are called "data"
    assert len(set(both.table["data"])) == 2
    assert both.table["mistake_pct_mean"].tolist() == [
        *first.table["mistake_pct_mean"],
        *second.table["mistake_pct_mean"],
    ]
    assert len((both + both).cells) == 4
    wdbc = omkl.run(data="wdbc", store=str(tmp_path), **{**how, "algo": "alma"})
    mixed = first + wdbc
    assert mixed.table["algo"].tolist() == ["perceptron", "alma"]  # no rows that nobody asked for
    assert not any("INCOMPLETE" in note for note in mixed.notes)
    assert mixed.figure("curve").warnings == []
    assert mixed.confusion().axes
    other = omkl.run(data="wdbc", store=str(tmp_path / "other"), **how)
    with pytest.raises(UserError, match="a page shows one store"):
        (wdbc + other).report(tmp_path / "page.html")


def test_a_sum_has_all_repetitions_and_each_part_of_a_stream(tmp_path):
    X, y = noise()
    how = {"algo": "perceptron", "exec": "serial", "yardsticks": [], "store": str(tmp_path / "s")}
    of = {"data": X, "y": y, **how}
    one, two = (omkl.run(seed=seed, reps=2, progress=False, **of) for seed in (1, 2))
    both = one + two
    assert both.table[["reps", "asked"]].values.tolist() == [[4, 4]]
    assert both.table["mistakes_mean"].iloc[0] == both.cells["mistakes"].mean()
    assert (one + one).table["asked"].tolist() == [2]
    assert (one + omkl.run(seed=1, reps=3, stored=True, **of)).table[["reps", "asked"]].values.tolist() == [
        [2, 3]
    ]
    assert (one + omkl.run(seed=3, reps=3, stored=True, **of)).table[["reps", "asked"]].values.tolist() == [
        [2, 5]
    ]
    stored = one + omkl.run(seed=2, reps=2, stored=True, **of)  # which has fewer columns
    assert stored.table["class_errors"].tolist() == both.table["class_errors"].tolist()
    assert stored.confusion().axes
    part = one + omkl.run(rounds="0:30", reps=2, progress=False, **of)
    assert part.table["data"].tolist() == ["data", "data (rounds=0:30)"]


def test_files_of_one_name_that_are_held_out_stay_apart(tmp_path):
    paths = [tmp_path / folder / "te.csv" for folder in "ab"]
    for seed, path in enumerate([tmp_path / "tr.csv", *paths]):
        X, y = noise(seed=seed)
        path.parent.mkdir(exist_ok=True)
        pd.DataFrame(X).assign(y=y).to_csv(path, index=False)
    how = {"algo": "perceptron", "exec": "serial", "yardsticks": [], "store": tmp_path / "s", "reps": 2}
    one, two = (omkl.run(data=tmp_path / "tr.csv", test=path, progress=False, **how) for path in paths)
    assert one.table["test_pct_mean"].iloc[0] != two.table["test_pct_mean"].iloc[0]
    table = (one + two).table
    assert table["reps"].tolist() == [2, 2]
    assert set(table["test_pct_mean"]) == {*one.table["test_pct_mean"], *two.table["test_pct_mean"]}
    assert {name[:16] for name in table["data"]} == {"tr (test=te.csv "}
    assert table["data"].nunique() == 2


def test_classes_have_the_names_of_their_own_file(tmp_path):
    for folder, words in (("a", ("neg", "pos")), ("b", ("u", "v"))):
        X, y = noise(seed=ord(folder))
        (tmp_path / folder).mkdir()
        table = pd.DataFrame(X).assign(y=[words[own == "yes"] for own in y])
        table.to_csv(tmp_path / folder / "x.csv", index=False)
    how = {"algo": "perceptron", "exec": "serial", "yardsticks": [], "store": str(tmp_path / "s"), "reps": 1}
    a, b = (tmp_path / folder / "x.csv" for folder in "ab")
    ran = omkl.run(data=[a, b], progress=False, **how)
    assert ran.table["classes"].tolist() == [["neg", "pos"], ["u", "v"]]
    both = omkl.run(data=a, stored=True, **how) + omkl.run(data=a, positive="neg", progress=False, **how)
    assert both.table["classes"].tolist() == [["neg", "pos"], ["pos", "neg"]]
    assert both.table["data"].tolist() == ["x", "x (positive=neg)"]


def test_the_label_of_a_file_may_be_a_keyword(tmp_path):
    X, y = noise()
    path = tmp_path / "mine.csv"
    pd.DataFrame(X, columns=list("abc")).assign(y=y)[["y", "a", "b", "c"]].to_csv(path, index=False)
    how = {"algo": "perceptron", "reps": 1, "exec": "serial", "store": str(tmp_path / "s"), "progress": False}
    made = [omkl.run(f"data={path}", label="y", **how), omkl.run(data=path, label="y", **how)]
    made.append(omkl.run(data=X, y=y, **how))
    assert len({one.cells["data_hash"].iloc[0] for one in made}) == 1
    with pytest.raises(UserError, match=r"label=y and y=\.\.\. both name the labels"):
        omkl.run(data=X, y=y, label="y", **how)
    with pytest.raises(UserError, match="label=y is for a column of a frame or a file"):
        omkl.run(data=from_arrays(X, y), label="y", **how)
    with pytest.raises(
        UserError, match="missing=drop: data=arrays holds numbers; missing is for your own table"
    ):
        omkl.run(data=from_arrays(X, y), missing="drop", **how)
    with pytest.raises(UserError, match=r"y=\.\.\. gives the labels of an array"):
        omkl.run(data=path, y=y, **how)


@pytest.mark.parametrize("form", ["frame", "array", "sparse", "dataset"])
def test_data_in_memory_are_data_of_a_file(form, tmp_path):
    import scipy.sparse as sp

    X, y = noise()
    given = {
        "frame": {"data": pd.DataFrame(X, columns=list("abc")).assign(y=y), "label": "y"},
        "array": {"data": X, "y": y},
        "sparse": {"data": sp.csr_array(X), "y": y},
        "dataset": {"data": from_arrays(X, y)},
    }[form]
    how = {"algo": "perceptron", "reps": 2, "exec": "serial", "store": str(tmp_path / "s"), "yardsticks": []}
    made = omkl.run(**given, **how, progress=False)
    path = tmp_path / "mine.csv"
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_csv(path, index=False)
    stored = form in ("sparse", "dataset")  # as a LIBSVM file is; frames and arrays are scaled as tables are
    assert any("scale=online, the default" in note for note in made.notes) != stored
    again = omkl.run(data=str(path), scale="none" if stored else "auto", **how, progress=False)
    assert made.cells["mistakes"].tolist() == again.cells["mistakes"].tolist()
    assert made.cells["data_hash"].tolist() == again.cells["data_hash"].tolist()


def raw():
    """A table as people have them: a name of each row, dates, times, words, gaps."""
    X, y = noise()
    columns = {
        "id": range(len(X)),
        "day": pd.date_range("2024-01-05", periods=len(X)),
        "city": np.where(X[:, 0] > 0, "Oslo", "Rome"),
        "share": [f"{number % 24}.5" for number in range(len(X))],
        "size": np.where(np.arange(len(X)) == 3, np.nan, 1000 * X[:, 1]),
        "label": y,
    }
    return pd.DataFrame(columns)


def test_a_frame_is_understood_as_the_same_table_in_a_file(tmp_path):
    raw().to_csv(tmp_path / "data.csv", index=False)
    how = {"algo": "perceptron", "id": "id", "reps": 1, "exec": "serial"}
    how |= {"store": str(tmp_path / "s"), "progress": False}
    of_file = omkl.run(data=tmp_path / "data.csv", **how)
    frame = raw()
    labels = frame.pop("label")
    for made in (omkl.run(data=raw(), **how), omkl.run(data=frame, y=labels, **how)):
        assert made.cells["key"].tolist() == of_file.cells["key"].tolist()
        said = "data: features are scaled with the rows seen so far (scale=online, the default for tables"
        assert said in "\n".join(made.notes)
        assert any("the rows are in the order of column 'day'" in note for note in made.notes)
    unscaled = omkl.run(data=raw(), scale="none", order="file", **how).notes
    assert "data: the features have standard deviations" in "\n".join(unscaled)
    assert not any("in the order" in note or "scaled with" in note for note in unscaled)
    shown = omkl.look(raw(), id="id")
    *lines, command = str(omkl.look(tmp_path / "data.csv", id="id")).splitlines()[1:]
    assert str(shown).splitlines()[1:-1] == lines
    assert command.endswith("data.csv id=id order=file task=classification")


def test_a_model_of_a_frame_prepares_others_like_it(tmp_path):
    model = omkl.fit("perceptron", raw(), id="id")
    again = omkl.load_model(model.save(tmp_path / "model.omkl"))
    new = raw().drop(columns="label").iloc[:5].assign(city="Bonn")
    assert again.predict(new).tolist() == model.predict(new).tolist()
    with pytest.raises(UserError, match="has no column 'size'"):
        again.predict(new.drop(columns="size"))


def test_a_sweep_has_its_best_settings_and_a_map(tmp_path):
    made = omkl.sweep(
        algo="omkc_ss",
        data="wdbc",
        reps=2,
        exec="serial",
        store=str(tmp_path),
        progress=False,
        **{"algo.beta": [0.2, 0.5], "algo.delta": [0.01, 0.1]},
    )
    assert len(made.table) == 4 + 3
    assert "best setting per data set and learner" in str(made)
    assert made.figure("sweep").panels == 1
    assert made.heatmap().axes


def test_it_is_shown_as_html_latex_markdown_figures_and_a_page(ran, tmp_path):
    _, results = ran
    html = results._repr_html_()
    assert "<table" in html
    assert "<script" not in html
    assert "OMKC(S,S)" in results.to_markdown()
    assert r"\toprule" in results.to_latex()
    assert results.curve().axes
    assert results.curve("n_sv_sum").axes
    assert results.times().axes
    assert results.pareto().axes
    assert results.confusion().axes
    page = results.report(tmp_path / "page.html")
    assert "OMKC(S,S)" in page.read_text(encoding="utf-8")
    with pytest.raises(UserError, match=r"must end in \.html"):
        results.report(tmp_path / "page.txt")
    with pytest.raises(UserError, match="mistakess"):
        results.curve("mistakess")


def test_a_mapping_names_data_in_memory(tmp_path):
    X, y = noise()
    how = {"algo": "perceptron", "reps": 1, "exec": "serial", "yardsticks": [], "progress": False}
    made = omkl.run(data={"mine": X, "wdbc": "wdbc"}, y=y, store=tmp_path, **how)
    assert made.table["data"].tolist() == ["mine", "wdbc"]


def test_files_of_a_mapping_or_a_list_have_the_call_s_settings(tmp_path):
    path = tmp_path / "rows.csv"
    raw().to_csv(path, index=False)
    how = {"algo": "perceptron", "reps": 1, "exec": "serial", "yardsticks": [], "progress": False}
    how |= {"store": tmp_path / "s", "id": "id", "scale": "online"}
    key = omkl.run(data=path, **how).cells["key"].tolist()
    frame = raw().drop(columns="city")
    for data, names in [
        ({"mine": path}, ["mine"]),
        ({"mine": str(path), "wdbc": "wdbc"}, ["mine", "wdbc"]),
        ({"mine": find(str(path))}, ["mine"]),
        ([path, frame], ["rows", "data2"]),
        ({"other": frame, "mine": path}, ["other", "mine"]),
    ]:
        made = omkl.run(data=data, stored=True, **how)
        assert set(made.cells["key"]) == set(key)
        assert list(dict.fromkeys(row.data for row in made.rows)) == names
    own = Preparation(label="day", missing="drop", id=("id",))  # the call's settings go before
    ref = find(str(path), preparation=own)
    made = omkl.config.plan([], values={"algo": "perceptron", "missing": "online"}, data=[ref])
    assert made.data[0].preparation == Preparation(label="day", missing="online", id=("id",))
    with pytest.raises(UserError, match="a file's labels are a column"):
        omkl.run(data={"mine": path}, y=[1], **how)


def test_data_sets_of_one_name_are_named_or_refused(tmp_path):
    made = [from_arrays(*noise(T)) for T in (50, 60)]
    how = {"algo": "perceptron", "reps": 1, "exec": "serial", "yardsticks": [], "progress": False}
    ran = omkl.run(data={"one": made[0], "two": made[1]}, store=tmp_path, **how)
    assert ran.table["data"].tolist() == ["one", "two"]
    assert ran.cells["T"].tolist() == [50, 60]
    assert len(omkl.run(data=[made[0], made[0]], store=tmp_path, **how).cells) == 1
    for data in (made, {"wdbc": made[0], "two": "wdbc"}):
        says = (
            "two data sets are called 'arrays'; name them"
            if data is made
            else "wdbc is a registered data set"
        )
        with pytest.raises(UserError, match=says):
            omkl.run(data=data, store=tmp_path, **how)
    X, _ = noise()
    ran = omkl.run("task=regression", data=X, y=X[:, 1], store=tmp_path, **{**how, "algo": "okr"})
    assert ran.cells["task"].tolist() == ["regression"]


def test_a_table_with_empty_columns_has_cells_of_its_own(tmp_path):
    X, y = noise()
    wide = np.hstack([X, np.zeros((len(X), 20))])
    how = {"algo": "arow_features", "reps": 1, "exec": "serial", "yardsticks": [], "progress": False, "y": y}
    short = omkl.run(data=X, store=tmp_path / "s", **how)
    after, alone = (omkl.run(data=wide, store=tmp_path / store, **how) for store in ("s", "other"))
    assert after.outcome.ran == 1
    assert after.cells["key"].tolist() == alone.cells["key"].tolist() != short.cells["key"].tolist()
    assert after.cells["mistakes"].tolist() == alone.cells["mistakes"].tolist()


def test_a_kernel_without_a_bar_of_its_own_shows_none(monkeypatch):
    import types

    from omkl.runs import progress

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("tqdm.notebook.IProgress", None)
    assert progress._kind_of_bar(True)[1] is True
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert progress._kind_of_bar(True)[1] is None  # shown where stderr is a terminal


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys, omkl.sklearn; print('sklearn.linear_model' in sys.modules)", "False"),
        ("import sys, omkl; dir(omkl); print([m for m in sys.modules if m.startswith('omkl')])", "['omkl']"),
    ],
)
def test_what_an_import_does_not_load(code, said):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said


def test_results_are_compared_by_any_measure_in_tables_figures_and_pages(ran, tmp_path, capsys):
    store, results = ran
    by = results.by("auc")
    table = by.table.set_index("algo")
    assert set(table["measure"]) == {"auc"}
    learners = table[~table["is_yardstick"]]
    assert by.best["algo"].iloc[0] == learners["auc_mean"].idxmax()
    assert table["auc_mean"].idxmax() == table.index[table["best"]][0]
    assert table.loc["majority", "auc_mean"] < 0.6 < learners["auc_mean"].min()
    assert not table.loc["majority", "marked"]
    command = ["run", *WORDS.split(), f"store={store}", "-q", "by=auc", "--sort", "mistakes"]
    assert main([*command, "--columns", "learner,auc,kappa,f1"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()[2:]
    assert head.split() == ["learner", "AUC", "κ", "F1"]
    first, second = (row.split()[2 if "*" in row else 1] for row in rows[:2])
    assert float(first) == pytest.approx(learners["auc_mean"].max(), abs=1e-4)
    assert float(first) > float(second)
    page = by.report(tmp_path / "page.html").read_text()
    assert "largest AUC on the data set" in page
    assert "macro F1" in page
    assert (
        main(["report", *WORDS.split(), f"store={store}", "by=auc", "--out", str(tmp_path / "b.html")]) == 0
    )
    with pytest.raises(UserError, match="no measure 'aucc' \\(did you mean 'auc'"):
        results.by("aucc")
    for wrong in ("rmse", "aucc"):
        assert main(["run", *WORDS.split(), f"store={store}", "-q", "--by", wrong]) == 2


def test_a_figure_of_a_sweep_shows_any_measure_with_its_best_ringed(tmp_path):
    swept = omkl.sweep(
        "algo=omkc_ss data=wdbc reps=2 exec=serial algo.beta=0.2,0.5,0.8", store=str(tmp_path), progress=False
    )
    figure = swept.figure("sweep", "kappa")
    (axes,) = figure.draw().axes
    assert (axes.get_ylabel(), "ring: largest κ" in figure.note) == ("κ", True)
    own, ring = (
        line
        for line in axes.get_lines()
        if line.get_color() == axes.get_lines()[0].get_color() or line.get_markersize() == 8
    )
    np.testing.assert_allclose(own.get_ydata(), swept.table["kappa_mean"][:3])
    assert ring.get_ydata()[0] == swept.table["kappa_mean"][:3].max()
    with pytest.raises(UserError, match="has no curve"):
        swept.figure("curve", "kappa")


def test_numbers_of_ones_own_are_in_the_target_s_units_and_long_ones_are_short(tmp_path, shared_data):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    how = {"algo": "okr", "task": "regression", "reps": 1, "exec": "serial", "yardsticks": []}
    how["progress"] = False
    texts = []
    for scale in (1e5, 1e9):
        made = omkl.run(data=X, y=scale * X.sum(axis=1), store=str(tmp_path), **how)
        (row,) = made.table.to_dict("records")
        assert row["measure"] == "rmse"
        assert row["rmse_mean"] == pytest.approx((row["mse_e3_mean"] / 1000) ** 0.5)
        texts.append(str(made))
    assert "MSE x" not in texts[0]
    assert texts[0].splitlines()[2].split()[2:5] == ["RMSE", "MAE", "#SV"]
    assert str(round(row["rmse_mean"]))[:2] in texts[1].replace(".", "")
    assert "MSE x 1e3" in str(omkl.run("data=air rounds=60", store=str(tmp_path), **how))


def test_a_regression_of_one_s_own_has_a_page_and_columns_by_name(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60)}).assign(y=lambda own: 1e5 * own.a)
    words = {"algo": "okr", "reps": 2, "exec": "serial", "store": str(tmp_path / "s"), "yardsticks": []}
    made = omkl.run(data=frame, label="y", task="regression", progress=False, **words)
    page = made.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for header in ("RMSE", "MSE x 1e3", "MAE"):
        assert header in page
    for wanted, known in (("rmse", "rmse"), ("mistakes", "rmse"), ("mse", "mse_e3")):
        table = made.report_table(TableOptions(columns=("learner", wanted)))
        assert [column.name for column in table.columns] == ["learner", known]
    with pytest.raises(UserError, match="auc is a measure of a classification, and the task is regression"):
        made.by("auc")

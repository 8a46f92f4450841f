"""test=: rows that are not learnt, on which the last hypothesis and the averaged one are measured."""

import csv

import numpy as np
import pandas as pd
import pytest
from support.engine_cases import case_stream, clouds, dataset, fresh_learner, matrix_of, one_pass, wdbc

import omkl.data
from omkl.cli import main
from omkl.config import learner_spec, plan
from omkl.data.held_out import absolute_test
from omkl.engine.stream import part
from omkl.errors import UserError
from omkl.passes.averaged import averaged_hypothesis
from omkl.passes.cell import detach
from omkl.passes.one_pass import whole_pass
from omkl.rounds.scaling import Scaling
from omkl.runs.cells import expand
from omkl.runs.runner import run_plan
from omkl.runs.slurm_chunks import described, plan_of
from omkl.schema import domain_check
from omkl.stacks.new_learner import new_learner

GAUSSIAN = {"kind": "gaussian", "sigma": 2.0}


@pytest.fixture
def ran(tmp_path):
    def run(*words, reps=2):
        words = [f"reps={reps}", "yardsticks=[]", f"store={tmp_path}", *words]
        made = plan(words)
        outcome = run_plan(made, progress=False, jobs=1)
        assert not outcome.failed
        return outcome.cells, made

    return run


# ------------------------------------------------------------------ the averaged hypothesis


def mean_scores(name, data, test, delay=1, **over):
    """(1/T) sum_t f_t of test rows, batch by batch."""
    learner, stream = fresh_learner(name, None, data.d, rounds=data.T, **over), case_stream(data)
    total = np.zeros(test.T)
    for t in range(0, stream.T, delay):
        batch = part(stream, t, min(t + delay, stream.T))
        total += batch.T * learner.run(test, learn=False)[0].score
        learner.run(batch)
    return total / stream.T


AVERAGED = [
    ("perceptron", {"kernel": GAUSSIAN}),
    ("perceptron", {"kernel": {"kind": "linear"}}),
    ("norma", {"kernel": GAUSSIAN, "lam": 0.1}),
    ("norma", {"kernel": GAUSSIAN, "lam": 0.3, "step": "sqrt", "eta": 2.0}),
    ("norma", {"kernel": GAUSSIAN, "lam": 0.9, "rho": 1.0}),  # its scale goes into the coefficients
    ("okr", {"kernel": GAUSSIAN, "lam": 0.1, "loss": "hinge"}),
    ("okr", {"kernel": GAUSSIAN, "lam": 0.1, "loss": "hinge", "eta": 0.3, "step": "sqrt"}),
    ("norma_regression", {"kernel": GAUSSIAN, "lam": 0.1, "loss": "huber", "eta": 0.2}),
]


@pytest.mark.parametrize("delay", [1, 7, 120, 500])
@pytest.mark.parametrize(("name", "over"), AVERAGED)
def test_the_averaged_hypothesis_is_the_mean_of_those_that_predicted(name, over, delay):
    data, test = clouds(T=120), case_stream(clouds(T=40, seed=5))
    learner, _ = one_pass(name, data, rounds=data.T, **over)
    other = averaged_hypothesis(learner, case_stream(data), delay)
    expected = mean_scores(name, data, test, delay, **over)
    np.testing.assert_allclose(other.run(test, learn=False)[0].score, expected, rtol=1e-9, atol=1e-12)
    assert np.abs(expected - learner.run(test, learn=False)[0].score).max() > 1e-3  # it is another one


@pytest.mark.parametrize(
    ("name", "over", "words"),
    [
        ("perceptron", {}, {"scale": "online"}),
        ("norma", {"lam": 0.1}, {"scale": "online"}),
        ("norma", {"lam": 0.1}, {"scale": "online", "delay": 9}),
        ("okr", {"lam": 0.0}, {"target": "online"}),
        ("norma_regression", {"lam": 0.1, "eta": 0.2}, {"scale": "online", "target": "online"}),
        ("norma_regression", {"lam": 0.1, "eta": 0.2}, {"scale": "online", "target": "standard"}),
        ("norma_regression", {"lam": 0.1, "eta": 0.2}, {"target": "online", "delay": 9}),
    ],
)
def test_the_averaged_hypothesis_of_a_scaled_stream_is_the_mean_of_all(name, over, words):
    X = matrix_of(clouds(T=100))
    numbers = "target" in words
    y = 1000.0 + 10.0 * X[:, 0] if numbers else np.where(X[:, 0] > 0, 1.0, -1.0)
    data = omkl.data.from_arrays(X, y, task="regression" if numbers else "classification")
    rows = np.random.default_rng(1).permutation(100)
    spec, tested = learner_spec(name), case_stream(data, rows[70:])
    params = {**spec.usual(data.task), "kernel": GAUSSIAN, **over}
    how = {"scaling": words, "test": (data, rows[70:])}
    figures, ended, *_ = whole_pass(spec, params, None, data, rows[:70], 7, **how)
    stream, pool = case_stream(data, rows[:70]), {"normalise": "none", "kernels": [GAUSSIAN]}
    learner = new_learner(
        spec, spec.checked(params), pool, data.d, 1, rounds=70, scaling=Scaling.of(words, data)
    )
    last = ended.scaling
    total = np.zeros(30)
    delay = words.get("delay", 1)
    for t in range(0, 70, delay):
        batch = part(stream, t, min(t + delay, 70))
        now = {name: getattr(learner.scaling, name) for name in ("features", "density", "seen")}
        for name in now:  # new rows are scaled as at the end
            setattr(learner.scaling, name, getattr(last, name))
        total += batch.T * learner.run(tested, learn=False)[0].score
        for name, value in now.items():
            setattr(learner.scaling, name, value)
        learner.run(batch)
    kind = "rmse" if numbers else "rate"
    errors = np.square(total / 70 - tested.y) if numbers else total * tested.y <= 0
    mean = np.sqrt(errors.mean()) if numbers else errors.mean()
    assert figures[f"averaged_{kind}"] == pytest.approx(mean, rel=1e-9)
    scores = averaged_hypothesis(ended, stream, delay).run(tested, learn=False)[0].score
    np.testing.assert_allclose(scores, total / 70, rtol=1e-9, atol=1e-12)


def test_each_kernel_is_averaged_and_the_last_weights_combine_them():
    data, test = clouds(T=120), case_stream(clouds(T=40, seed=5))
    kernels = [GAUSSIAN, {"kind": "gaussian", "sigma": 0.5}, {"kind": "linear"}]
    learner, _ = one_pass("omkc_dd", data, {"normalise": "none", "kernels": kernels})
    other = averaged_hypothesis(learner, case_stream(data))
    means = []
    for i, kernel in enumerate(kernels):
        one, _ = one_pass("perceptron", data, kernel=kernel)
        assert one.state["E"].n_sv[0] == learner.state["E"].n_sv[i]
        means.append(mean_scores("perceptron", data, test, kernel=kernel))
    votes = np.where(np.array(means) >= 0, 1.0, -1.0)
    expected = learner.weights @ votes
    np.testing.assert_allclose(other.run(test, learn=False)[0].score, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("norma", {"tau": 20}),
        ("norma", {"offset": True}),
        ("norma", {"lam": 0.999, "eta": 1.0}),  # terms shrink by 1000 in each round: the first are gone
        ("alma", {}),
    ],
)
def test_where_it_is_not_known_there_is_none(name, over):
    data = clouds(T=300)
    learner, _ = one_pass(name, data, kernel=GAUSSIAN, **over)
    assert averaged_hypothesis(learner, case_stream(data)) is None


def test_averaged_probabilities_are_those_of_the_averaged_output():
    data = clouds(T=60)
    learner, _ = one_pass("norma_logistic", data, kernel=GAUSSIAN, lam=0.1)
    other = averaged_hypothesis(learner, case_stream(data))
    means = np.zeros(data.T)
    one, stream = fresh_learner("norma_logistic", None, data.d, kernel=GAUSSIAN, lam=0.1), case_stream(data)
    for t in range(stream.T):
        means += 2 * np.arctanh(2 * one.run(stream, learn=False)[0].score)
        one.run(part(stream, t, t + 1))
    expected = 0.5 * np.tanh(0.5 * means / stream.T)
    np.testing.assert_allclose(other.run(stream, learn=False)[0].score, expected, rtol=1e-7, atol=1e-12)


# ------------------------------------------------------------------ what is held out


def test_a_share_is_the_last_of_each_permutation(ran):
    cells, made = ran("algo=arow,perceptron", "data=wdbc", "test=0.2")
    alone, _ = ran("algo=arow,perceptron", "data=wdbc", "rounds=455")
    assert cells["T"].tolist() == [455] * 4
    assert cells["mistakes"].tolist() == alone["mistakes"].tolist()
    assert cells["held_out"].tolist() == [[455, 569]] * 4
    assert not set(cells["key"]) & set(alone["key"])
    data = omkl.data.find("wdbc").load()
    for row in cells.to_dict("records"):
        over = {"kernel": {"kind": "linear"}} if row["algo"] == "perceptron" else {}
        order, _ = omkl.data.order(data, "permuted", made.seed, row["rep"])
        learner, trace = one_pass(row["algo"], data, order=order[:455], **over)
        assert trace.mistake.sum() == row["mistakes"]
        test = learner.run(case_stream(data, order[455:]), learn=False)[0].mistake
        assert row["test_rate"] == test.mean()
    assert cells["averaged_rate"].isna().tolist() == (cells["algo"] == "arow").tolist()


def test_another_set_in_file_order(ran, shared_data):
    cells, _ = ran("algo=perceptron", "data=usps", "order=file", "rounds=500", "test=usps_t", reps=1)
    train, test = omkl.data.find("usps").load(), omkl.data.find("usps_t").load()
    assert cells["held_out"].item() == test.content_hash
    assert 0.1 < cells["averaged_rate"].item() < cells["test_rate"].item() < 0.5
    assert train.n_classes == 10


def table(path, rows, classes=("no", "yes")):
    """Write a table of two columns and a label."""
    rng = np.random.default_rng(len(rows))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "colour", "label"])
        for row in rows:
            which = int(rng.random() < 0.5)
            writer.writerow([round(row + 2.0 * which, 3), ["red", "blue"][which], classes[which]])
    return path


def test_a_file_is_read_like_the_data(ran, tmp_path):
    train = table(tmp_path / "train.csv", np.linspace(0, 1, 80))
    test = table(tmp_path / "test.csv", np.linspace(0, 1, 30))
    cells, _ = ran("algo=perceptron", f"data={train}", f"test={test}")
    assert cells["test"].tolist() == ["test.csv"] * 2
    assert (cells["test_rate"] == 0.0).all()  # the colour is the label
    assert (cells["T"] == 80).all()
    swapped = table(tmp_path / "swapped.csv", np.linspace(0, 1, 30), ("yes", "no"))
    cells, _ = ran("algo=perceptron", f"data={train}", f"test={swapped}")
    assert (cells["test_rate"] == 1.0).all()
    other = table(tmp_path / "other.csv", np.linspace(0, 1, 30), ("no", "maybe"))
    with pytest.raises(UserError, match="label 'maybe'"):
        ran("algo=perceptron", f"data={train}", f"test={other}")


def test_a_regression_has_root_mean_squared_errors(ran, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    path = tmp_path / "numbers.csv"
    np.savetxt(path, np.column_stack([X, 5.0 + X @ [1.0, 2.0]]), delimiter=",", header="a,b,y", comments="")
    words = (
        "algo=norma_regression,krls_ald",
        f"data={path}",
        "task=regression",
        "target=online",
        "scale=none",
    )
    cells, _ = ran(*words, "algo.kernel=linear", "test=0.25", reps=1)
    known = dict(
        zip(cells["algo"], zip(cells["test_rmse"], cells["averaged_rmse"], strict=True), strict=True)
    )
    assert known["krls_ald"][0] < 0.5
    assert np.isnan(known["krls_ald"][1])
    assert known["norma_regression"][0] < 1.0  # in the units of the targets, whose mean is 5
    assert known["norma_regression"][1] < 2.0


def test_it_is_shown(tmp_path, capsys):
    words = ["algo=perceptron", "data=wdbc", "reps=2", "yardsticks=[]", f"store={tmp_path}"]
    assert main(["run", *words, "test=0.2"]) == 0
    shown = capsys.readouterr().out
    assert "rounds 0:455 · test=0.2" in shown
    assert "averaged %" in shown
    assert main(["run", *words]) == 0
    assert "test %" not in capsys.readouterr().out  # of other cells
    assert main(["results", "list", f"store={tmp_path}", "--format", "csv"]) == 0
    listed = capsys.readouterr().out
    assert "permuted 0:455 test=0.2" in listed


def test_the_user_is_told(tmp_path, capsys):
    for words, said in [
        (["data=wdbc", "test=2.5"], "must be a share such as 0.2"),
        (["data=wdbc", "test=0.0001"], "choose another share"),
        (["data=wdbc", "test=nosuch.csv"], "no such file"),
        (["data=wdbc", f"test={'a' * 5000}"], "File name too long"),
        (
            ["data=wdbc", "test=usps_t"],
            "usps_t is no data with the features and classes of wdbc (30 features, 2 classes)",
        ),
    ]:
        assert main(["run", "algo=perceptron", *words, f"store={tmp_path}"]) == 2
        assert said in capsys.readouterr().err, words
    assert main(["bounds", "algo=omkc_dd", "data=wdbc", "test=0.5"]) == 2
    assert main(["tune", "algo=perceptron", "data=wdbc", "test=0.5", f"store={tmp_path}"]) == 2
    assert main(["fit", "algo=perceptron", "data=wdbc", "test=0.5", "--out", str(tmp_path / "m")]) == 2
    assert capsys.readouterr().err.count("test=") >= 3


def test_the_domain():
    check = domain_check("test or null")
    assert [check(value) for value in (0.25, "usps_test", None)] == [0.25, "usps_test", None]
    for value in (0, 1, 0.0, 1.0, -0.2, True, [0.2], ""):
        with pytest.raises(ValueError, match="must be a share"):
            check(value)


def test_it_reaches_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = wdbc()
    for name, rows in (("train", slice(0, 400)), ("test", slice(400, 569))):
        X = np.zeros((data.T, data.d))
        X[np.repeat(np.arange(data.T), np.diff(data.indptr)), data.indices] = data.values
        np.savez(tmp_path / f"{name}.npz", X=X[rows], y=data.y[rows])
    made = plan(["algo=perceptron", "data=train.npz", "test=test.npz", "reps=1", "yardsticks=[]"])
    (cell,) = expand(made)
    bare, _ = detach(cell)
    assert bare.test.data.T == 169
    assert bare.test.data.path is None
    assert bare.key == cell.key
    (part,) = described(made, [cell])
    assert part["test"] == str(tmp_path / "test.npz") == absolute_test("test.npz")
    (again,) = expand(plan_of(part))
    assert again.key == cell.key


def test_rows_of_an_unknown_task_are_refused():
    with pytest.raises(UserError, match="has no labels"):
        expand(plan(["algo=norma_novelty", "data=usps_train", "test=0.5"]))


def test_a_class_that_is_missing_from_the_part(ran):
    """One class alone on the held-out rows is no fault."""
    X, y = np.arange(20.0)[:, None], np.where(np.arange(20) < 12, 1.0, -1.0)
    data = omkl.data.of_dataset(dataset(X, y))
    made = plan(["algo=perceptron", "order=file", "test=0.2", "yardsticks=[]"], data=[data])
    assert run_plan(made, progress=False, jobs=1).cells["test_rate"].notna().all()


@pytest.mark.parametrize(
    ("name", "task"),
    [(name, "classification") for name in ("arow", "omkc_dd", "krls_t")]
    + [(name, "regression") for name in ("ridge", "krls_t")],
)
def test_every_measure_of_a_pass_exists_on_rows_held_out(name, task, tmp_path, monkeypatch):
    """As scikit-learn computes it of the model's own answers for these rows."""
    metrics = pytest.importorskip("sklearn.metrics")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    y = (
        np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "yes", "no")
        if task == "classification"
        else X @ [1, 2, 3]
    )
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    words = f"algo={name} order=file task={task}"
    row = omkl.run(words, data=frame, test=0.25, store="s", yardsticks=[], progress=False).cells.iloc[0]
    model = omkl.fit(words, data=frame[:90])
    answers, true = model.predict(frame[90:].drop(columns="y")), frame["y"][90:]
    if task == "classification":
        want = {
            "rate": np.mean(answers != true),
            "balanced": 1 - metrics.balanced_accuracy_score(true, answers),
            "kappa": metrics.cohen_kappa_score(true, answers),
            "macro_f1": metrics.f1_score(true, answers, average="macro"),
            "auc": metrics.roc_auc_score(true == "yes", model.decision_function(frame[90:])),
        }
    else:
        want = {
            "rmse": metrics.root_mean_squared_error(true, answers),
            "mae": metrics.mean_absolute_error(true, answers),
            "r2": metrics.r2_score(true, answers),
        }
    assert {key: row[f"test_{key}"] for key in want} == pytest.approx(want, rel=1e-9)
    told = "test_nlpd" if task == "regression" else "test_log_loss"
    assert pd.notna(row.get(told)) == (task == "regression" and name == "krls_t")

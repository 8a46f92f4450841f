"""Estimators of scikit-learn and river as rows of a table: what they predict, their keys, their package."""

import importlib.metadata
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from support.extension import estimator, write

import omkl.data
from omkl.cli import main
from omkl.config import learner_spec, plan
from omkl.others.estimator import Estimator
from omkl.others.making import make_estimator
from omkl.paths import EXTENSIONS
from omkl.rounds.scaling import Scaling
from omkl.runs.cells import expand
from omkl.testing.cases import case_stream, clouds, matrix_of

MODULE = '''"""Estimators of the folder."""

from .helper import SIGN


class Copycat:
    """Predicts the label that it saw last; refuses to predict before it has learnt."""

    def __init__(self, random_state=None):
        self.last, self.seed = None, random_state

    def partial_fit(self, X, y, classes=None):
        assert classes is not None or self.last is not None, "the classes come with the first row"
        self.last = y[0]

    def predict(self, X):
        assert self.last is not None, "a prediction before anything was learnt"
        return np.array([SIGN * self.last])


import numpy as np


def scaled(l2):
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=l2)
'''
FILES = {
    "own.py": MODULE,
    "helper.py": "SIGN = 1\n",
    "conf/algo/copycat.yaml": estimator("own:Copycat"),
    "conf/algo/scaled.yaml": estimator("own:scaled", l2="value: 0.1, domain: '[0, inf)'"),
    "conf/algo/sgd.yaml": estimator(
        "sklearn.linear_model:SGDClassifier", loss="value: log_loss, domain: [log_loss, hinge]"
    ),
    "conf/algo/forest.yaml": estimator(
        "sklearn.ensemble:ExtraTreesClassifier", n_estimators="value: 5, domain: 'int [1, inf)'"
    ).replace("revision: 1", "revision: 1, refit: true"),
    "conf/algo/tree.yaml": estimator("river.tree:HoeffdingTreeClassifier"),
    "conf/algo/sgd_sparse.yaml": estimator("sklearn.linear_model:SGDClassifier").replace(
        "revision: 1", "revision: 1, sparse: true"
    ),
    "conf/algo/sgdr.yaml": estimator(
        "sklearn.linear_model:SGDRegressor", "regression", eta0="value: 0.01, domain: '(0, inf)'"
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", FILES)))
    monkeypatch.delenv("OMKL_STORE", raising=False)
    return tmp_path / "mine"


def run(words, capsys):
    assert main(["run", *words, "exec=serial", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def in_order(data, seed=1, rep=0):
    order, _ = omkl.data.order(data, "permuted", seed, rep)
    return matrix_of(data)[order], data.y[order]


def test_a_row_beside_ours_on_the_same_permutations(capsys):
    from sklearn.linear_model import SGDClassifier

    X = matrix_of(clouds(T=120))
    np.savetxt(
        "t.csv",
        np.column_stack([X, X[:, 0] > 0]),
        "%.6f",
        ",",
        header="a,b,c,d,e,y"[-2 * X.shape[1] - 1 :],
        comments="",
    )
    words = [
        "algo=sgd,sgd_sparse,copycat,scaled,majority",
        "data=t.csv",
        "scale=none",
        "reps=2",
        "yardsticks=[]",
    ]
    made = run(words, capsys)
    cells = {(cell["algo"], cell["rep"]): cell for cell in made["cells"]}
    for rep in (0, 1):
        X, y = in_order(omkl.data.find("t.csv").load(), rep=rep)
        model, mistakes = SGDClassifier(loss="log_loss"), 1
        for t in range(len(y)):
            mistakes += t > 0 and not y[t] * model.decision_function(X[t : t + 1])[0] > 0
            model.partial_fit(X[t : t + 1], y[t : t + 1].astype(int), classes=[-1, 1])
        assert cells["sgd", rep]["mistakes"] == mistakes
        assert cells["copycat", rep]["mistakes"] == 1 + (y[1:] != y[:-1]).sum()
    rows = {row["algo"]: row for row in made["summary"]}
    assert rows["scaled"]["mistake_pct_mean"] < 25
    best = [algo for algo, row in rows.items() if row["best"]]  # by the paired t-test
    assert "majority" not in best
    assert set(best) & {"sgd", "sgd_sparse", "scaled"}
    assert cells["sgd_sparse", 0]["n_sv_sum"] == 0
    assert cells["sgd_sparse", 0]["mistakes"] > 0


def test_river_predicts_then_learns(capsys):
    from river import linear_model, preprocessing

    made = run(["algo=scaled", "data=wdbc", "reps=1", "yardsticks=[]"], capsys)
    X, y = in_order(omkl.data.find("wdbc").load())
    model, mistakes = preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=0.1), 1
    for t, x in enumerate(X):
        row = dict(enumerate(x))
        mistakes += t > 0 and model.predict_one(row) != (y[t] > 0)
        model.learn_one(row, bool(y[t] > 0))
    assert made["cells"][0]["mistakes"] == mistakes


def test_many_classes(capsys):
    from river.tree import HoeffdingTreeClassifier
    from sklearn.linear_model import SGDClassifier

    made = run(["algo=sgd,tree,copycat", "data=iris", "reps=1", "yardsticks=[]"], capsys)
    cells = {cell["algo"]: cell for cell in made["cells"]}
    X, y = in_order(omkl.data.find("iris").load())
    y = y.astype(int)
    sgd, tree = SGDClassifier(loss="log_loss", random_state=0), HoeffdingTreeClassifier()
    wrong = {"sgd": [True], "tree": [True], "copycat": [True, *(y[1:] != y[:-1])]}
    for t, x in enumerate(X):
        if t:
            wrong["sgd"].append(sgd.predict([x])[0] != y[t])
            wrong["tree"].append(tree.predict_one(dict(enumerate(x))) != y[t])
        sgd.partial_fit([x], y[t : t + 1], classes=range(3))
        tree.learn_one(dict(enumerate(x)), int(y[t]))
    assert {algo: cell["mistakes"] for algo, cell in cells.items()} == {a: sum(w) for a, w in wrong.items()}
    for cell in cells.values():
        assert np.sum(cell["confusion"], axis=1).tolist() == [50, 50, 50]
    assert main(["run", "algo=scaled", "data=iris", "yardsticks=[]"]) == 2
    assert "own:scaled is for two classes, the data have 3" in capsys.readouterr().err


def test_a_batch_estimator_is_fitted_again_as_rows_come(folder, capsys):
    from sklearn.ensemble import ExtraTreesClassifier

    by_name = run(["algo=forest", "data=wdbc", "reps=1", "yardsticks=[]"], capsys)["cells"][0]
    X, y = in_order(omkl.data.find("wdbc").load())
    model, due = ExtraTreesClassifier(5), int(np.argmax(y != y[0])) + 1  # the first row of a second class
    mistakes = 2  # before the first fit it answers the most frequent class so far, and nothing at first
    _, permutation_seed = omkl.data.order(omkl.data.find("wdbc").load(), "permuted", 1, 0)
    model.random_state = omkl.seeds.learner_seed(permutation_seed, "forest") % 2**32
    while due < len(y):
        model.fit(X[:due], y[:due])
        after = due + 1 if due < 100 else int(np.ceil(1.1 * due))
        mistakes += (model.predict(X[due:after]) != y[due:after]).sum()
        due = after
    assert by_name["mistakes"] == mistakes
    assert by_name["log_loss"] > 0
    (folder / "conf/algo/forest.yaml").write_text(estimator("sklearn.ensemble:ExtraTreesClassifier"))
    assert main(["run", "algo=forest", "data=wdbc"]) == 2
    assert "has no partial_fit, so it cannot learn online; omkl.refit(...)" in capsys.readouterr().err


def test_regression(tmp_path, capsys):
    from sklearn.linear_model import SGDRegressor

    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    np.savetxt(
        "t.csv", np.column_stack([X, X @ [0.2, 0.3, -0.1]]), delimiter=",", header="a,b,c,y", comments=""
    )
    words = ["data=t.csv", "task=regression", "order=file", "scale=none", "yardsticks=[]"]
    made = run(["algo=sgdr", *words, "target=none"], capsys)
    data = omkl.data.find("t.csv", task="regression").load()
    model, errors = SGDRegressor(eta0=0.01), []
    for t, x in enumerate(matrix_of(data)):
        if t > 1:  # before, the target has not varied
            errors.append((model.predict([x])[0] - data.y[t]) ** 2)
        model.partial_fit([x], data.y[t : t + 1])
    assert made["cells"][0]["mse"] == pytest.approx(np.mean(errors), rel=1e-12)
    errors = [run(["algo=sgdr", *words, *own], capsys)["cells"][0]["mse"] for own in ([], ["target=online"])]
    assert errors[0] == made["cells"][0]["mse"] != errors[1]  # as the package would get them
    assert main(["run", "algo=sgd", "data=t.csv", "task=regression"]) == 2
    assert "algo=sgd is for classification" in capsys.readouterr().err


@pytest.mark.parametrize("target", [None, "online"])
def test_rows_that_were_learnt_count_as_seen(target):
    data = clouds(T=60)
    X = 100.0 + matrix_of(data)
    y = X @ np.arange(1.0, data.d + 1.0) if target else data.y
    data = omkl.data.from_arrays(X, y, task="regression" if target else "classification")
    spec, words = learner_spec("sgdr" if target else "sgd"), {"scale": "online"}
    words |= {"target": target} if target else {}

    def new():
        return Estimator(spec, spec.defaults, data.d, 1, data.task, 2, Scaling.of(words, data))

    whole, parts = new(), new()
    expected = whole.run(case_stream(data))[0].score
    for start in range(0, data.T, 7):
        rows = case_stream(data, np.arange(start, min(start + 7, data.T)))
        before = parts.run(rows, learn=False)[0].score
        found = parts.run(rows)[0].score
        assert before[0] == found[0] == expected[start]
        np.testing.assert_array_equal(found, expected[start : start + 7])


def key_of(algo, *words):
    (cell,) = expand(plan([f"algo={algo}", "data=wdbc", "reps=1", "yardsticks=[]", *words]))
    assert cell.setting["source"] == cell.source
    return cell.key


def test_the_key_follows_the_package_s_version_the_source_and_the_arguments(folder, monkeypatch):
    sgd, scaled, copycat = key_of("sgd"), key_of("scaled"), key_of("copycat")
    assert len({sgd, scaled, copycat, key_of("sgd", "algo.loss=hinge")}) == 4
    installed = importlib.metadata.version
    with monkeypatch.context() as patch:
        other = {"scikit-learn": "0.1"}
        patch.setattr(importlib.metadata, "version", lambda name: other.get(name) or installed(name))
        assert key_of("sgd") != sgd
        assert key_of("copycat") == copycat
        other["river"] = "0.1"
        assert key_of("scaled") != scaled
    assert (key_of("sgd"), key_of("copycat")) == (sgd, copycat)
    (folder / "helper.py").write_text("SIGN = -1\n")
    assert key_of("sgd") == sgd
    assert key_of("copycat") != copycat


def test_an_estimator_s_own_seed_is_the_learner_s():
    first, other = (make_estimator(learner_spec("copycat"), {}, seed) for seed in (2**40 + 3, 4))
    assert (first.seed, other.seed) == (3, 4)


def test_check(capsys):
    assert main(["check", "--format", "json"]) == 1  # two labels in a row say nothing about the next
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in rows} == {
        "copycat",
        "forest",
        "scaled",
        "sgd",
        "sgd_sparse",
        "sgdr",
        "tree",
    }
    failed = {(row["name"], row["check"]) for row in rows if row["result"] == "failed"}
    assert failed == {("copycat", "learns")}


def test_a_module_with_the_name_of_an_installed_one(folder, capsys):
    write(folder, {"sklearn/svm.py": "", "conf/algo/svm.yaml": estimator("sklearn.svm:LinearSVC")})
    assert main(["run", "algo=svm", "data=wdbc"]) == 2
    said = capsys.readouterr().err
    assert str(folder / "sklearn/svm.py") in said
    assert str(Path(importlib.util.find_spec("sklearn").origin)) in said


def test_omkl_fit_saves_no_estimator(capsys):
    assert main(["fit", "algo=sgd", "data=wdbc", "--out", "m.omkl"]) == 2
    assert "sklearn.linear_model:SGDClassifier is not one" in capsys.readouterr().err
    assert not Path("m.omkl").exists()


def test_a_model_that_predicts_nothing_is_named(folder, capsys):
    silent = "\n\nclass Silent:\n    def learn_one(self, x, y): ...\n    def predict_one(self, x): ...\n"
    write(folder, {"own.py": MODULE + silent, "conf/algo/silent.yaml": estimator("own:Silent")})
    assert main(["run", "algo=silent", "data=wdbc", "reps=1", "exec=serial"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "silent (own:Silent) predicts nothing in any round; it must return a prediction" in said


def test_a_package_that_a_function_imports_and_is_not_there_is_named(folder, capsys):
    (folder / "own.py").write_text("def lacks():\n    import not_installed_here\n", encoding="utf-8")
    (folder / "conf/algo/lacks.yaml").write_text(estimator("own:lacks"), encoding="utf-8")
    assert main(["run", "algo=lacks", "data=wdbc", "reps=1", "exec=serial"]) == 2
    assert "lacks.yaml: own:lacks: No module named 'not_installed_here'" in capsys.readouterr().err

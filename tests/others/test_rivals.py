"""The rivals of results/today.md (docs/examples/rivals) predict as their packages do, round by round."""

import json
from pathlib import Path

import numpy as np
import pytest

from omkl.cli import main
from omkl.config import learner_spec
from omkl.others.making import make_estimator
from omkl.paths import EXTENSIONS
from omkl.testing.cases import clouds, matrix_of

FOLDER = Path(__file__).parents[2] / "docs/examples/rivals"
ROWS = 60
SEED = 7
OF_RIVER = {  # what the page says of each, by the package's own names
    "river_forest": lambda: _river("forest").ARFClassifier(n_models=10, grace_period=50, seed=SEED),
    "river_patches": lambda: _river("ensemble").SRPClassifier(n_models=10, seed=SEED),
    "river_tree": lambda: _river("tree").HoeffdingTreeClassifier(grace_period=200),
    "river_logistic": lambda: (
        _river("preprocessing").StandardScaler()
        | _river("linear_model").LogisticRegression(optimizer=_river("optim").SGD(0.01), l2=0.0)
    ),
}


def _river(module):
    return pytest.importorskip(f"river.{module}")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(EXTENSIONS, str(FOLDER))
    monkeypatch.delenv("OMKL_STORE", raising=False)


@pytest.fixture
def rows():
    """X (T, d) and labels y (T,) in {-1, 1} or, for numbers, in [0, 1]."""
    data = clouds(T=ROWS)
    return matrix_of(data), data.y.astype(int)


def rival(name, **settings):
    spec = learner_spec(name)
    defaults = {key: one.value for key, one in spec.hyperparameters.items()}
    return make_estimator(spec, defaults | settings, SEED)


def test_every_rival_is_tested():
    names = {path.stem for path in (FOLDER / "conf/algo").glob("*.yaml")}
    others = {"sgd_features", "sgd_features_regression", "passive_aggressive", "river_forest_regression"}
    assert names == {*OF_RIVER, *others, "vowpal_wabbit"}


@pytest.mark.parametrize("settings", [{"loss": "hinge", "step": "invscaling"}, {"gamma": 2.0, "alpha": 0.01}])
def test_steps_on_features_are_a_pipeline_of_the_package(rows, settings):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier

    X, y = rows
    own = rival("sgd_features", **settings)
    sampler = RBFSampler(gamma=settings.get("gamma", 0.05), n_components=400, random_state=SEED)
    how = {"loss": settings.get("loss", "log_loss"), "alpha": settings.get("alpha", 0.0001)}
    model = SGDClassifier(**how, learning_rate=settings.get("step", "constant"), eta0=0.5, random_state=SEED)
    Z = sampler.fit_transform(X)
    for t in range(ROWS):
        x, label = X[t : t + 1], y[t : t + 1]
        if t:
            assert own.decision_function(x) == pytest.approx(model.decision_function(Z[t : t + 1]), rel=1e-9)
            assert own.predict(x) == model.predict(Z[t : t + 1])
        own.partial_fit(x, label, classes=[-1, 1])
        model.partial_fit(Z[t : t + 1], label, classes=[-1, 1])


def test_numbers_by_steps_on_features(rows):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDRegressor

    X, _ = rows
    target = np.sin(X[:, 0])
    own = rival("sgd_features_regression")
    Z = RBFSampler(gamma=0.5, n_components=400, random_state=SEED).fit_transform(X)
    model = SGDRegressor(learning_rate="constant", eta0=0.1, alpha=0.0001, random_state=SEED)
    for t in range(ROWS):
        if t:
            assert own.predict(X[t : t + 1]) == pytest.approx(model.predict(Z[t : t + 1]), rel=1e-9)
        own.partial_fit(X[t : t + 1], target[t : t + 1])
        model.partial_fit(Z[t : t + 1], target[t : t + 1])


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_passive_aggressive_steps_are_the_paper_s(rows, C):
    pytest.importorskip("sklearn", minversion="1.8")
    X, y = rows
    own = rival("passive_aggressive", C=C)
    w, b = np.zeros(X.shape[1]), 0.0
    for t, x in enumerate(X):
        if t:
            assert own.decision_function(X[t : t + 1]) == pytest.approx(x @ w + b, rel=1e-9)
        own.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        loss = max(0.0, 1 - y[t] * (x @ w + b))
        tau = min(C, loss / (x @ x))  # Crammer et al. (2006), PA-I; the intercept moves with the weights
        w, b = w + tau * y[t] * x, b + tau * y[t]


@pytest.mark.parametrize("name", sorted(OF_RIVER))
def test_a_learner_of_river_is_the_package_s_own(rows, name):
    X, y = rows
    own, model = rival(name), OF_RIVER[name]()
    for x, label in zip(X, y, strict=True):
        row = dict(enumerate(x))
        assert own.predict_one(row) == model.predict_one(row)
        own.learn_one(row, bool(label > 0))
        model.learn_one(row, bool(label > 0))


def test_a_forest_for_numbers_is_the_package_s_own(rows):
    X, _ = rows
    own = rival("river_forest_regression")
    model = _river("forest").ARFRegressor(n_models=10, grace_period=50, seed=SEED)
    for x in X:
        row = dict(enumerate(x))
        assert own.predict_one(row) == model.predict_one(row)
        own.learn_one(row, x[0])
        model.learn_one(row, x[0])


@pytest.mark.parametrize("name", ["sgd_features", "vowpal_wabbit"])
def test_a_rival_learns_in_a_table(name, capsys):
    if name == "vowpal_wabbit":
        pytest.importorskip("vowpalwabbit")
    data = clouds(T=200)
    names = ",".join([*(f"x{at}" for at in range(data.d)), "y"])
    np.savetxt("t.csv", np.column_stack([matrix_of(data), data.y]), "%.6f", ",", header=names, comments="")
    words = ["data=t.csv", "reps=1", "yardsticks=[]", "exec=serial", "--format", "json"]
    assert main(["run", f"algo={name}", *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)["summary"]
    assert row["mistake_pct_mean"] < 25

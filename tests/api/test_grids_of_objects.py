"""Parameters of an object that have several values, or a range: `omkl.sweep` and `omkl.tune`."""

import pytest
from river import linear_model
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import omkl
from omkl.errors import UserError

HOW = {"reps": 1, "exec": "serial", "yardsticks": [], "progress": False, "data": "wdbc"}


def test_a_sweep_runs_a_copy_for_each_combination(tmp_path):
    model = make_pipeline(StandardScaler(), SGDClassifier(alpha=5.0, random_state=1))
    grid = {"sgdclassifier__alpha": [1e-4, 1e-2], "sgdclassifier__average": [False, True]}
    swept = omkl.sweep(algo=omkl.learner(model, **grid), store=tmp_path, **HOW)
    assert len(swept.cells) == 4
    assert model.get_params()["sgdclassifier__alpha"] == 5.0
    for alpha in grid["sgdclassifier__alpha"]:
        for average in grid["sgdclassifier__average"]:
            own = SGDClassifier(alpha=alpha, average=average, random_state=1)
            alone = omkl.run(algo=[make_pipeline(StandardScaler(), own)], store=tmp_path, **HOW)
            params = {"sgdclassifier__alpha": alpha, "sgdclassifier__average": average}
            (same,) = [
                mistakes
                for given, mistakes in zip(swept.cells.params, swept.cells.mistakes, strict=True)
                if params.items() <= given.items()
            ]
            assert alone.cells.mistakes[0] == same
    assert "best setting per data set and learner" in str(swept)
    assert swept.figure("sweep").panels == 1


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [
        (linear_model.PAClassifier(), "C", [1e-6, 1.0]),
        (omkl.refit(LogisticRegression(), grow=2.0), "C", [1e-6, 1.0]),
    ],
)
def test_of_river_and_refitted(model, name, values, tmp_path):
    swept = omkl.sweep(algo=[omkl.learner(model, **{name: values}, label="own")], store=tmp_path, **HOW)
    assert swept.cells.mistakes.nunique() == 2
    assert set(swept.table.label) == {"own"}


def test_tune_searches_ranges_and_lists(tmp_path):
    model = SGDClassifier(random_state=1)
    chosen = omkl.learner(model, alpha="log 1e-6 10", penalty=["l2", "l1"], eta0=0.5)
    tuned = omkl.tune(algo=[chosen, "arow"], trials=6, scale="online", store=tmp_path, **HOW)
    (race, other) = tuned.study.races
    tried = [trial.setting.params for trial in race.trials]
    assert len({params["alpha"] for params in tried}) == len(tried) > 2
    assert {params["penalty"] for params in tried} <= {"l1", "l2"}
    assert {params["eta0"] for params in tried} == {0.5}
    assert other.space.first.learner == "arow"
    assert len(tuned.run().cells) == 2
    assert ".run(reps=20) runs the best settings" not in str(tuned)  # AROW has a command
    alone = omkl.tune(algo=[chosen], trials=6, scale="online", store=tmp_path, **HOW)
    assert ".run(reps=20) runs the best settings" in str(alone)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: omkl.run(algo=omkl.learner(SGDClassifier(), alpha=[1, 2]), **HOW), "takes one value here"),
        (lambda: omkl.learner(SGDClassifier(), alpah=1), "no parameter 'alpah' (did you mean 'alpha'?)"),
        (lambda: omkl.learner(SGDClassifier(), alpah=[1]), "no parameter 'alpah' (did you mean 'alpha'?)"),
        (lambda: omkl.learner(SGDClassifier(), pool="gauss13"), "has no kernel pool"),
        (
            lambda: omkl.sweep(algo=omkl.learner(SGDClassifier(), alpha="log 1 2"), **HOW),
            "omkl.tune a list or a range",
        ),
        (
            lambda: omkl.tune(algo=omkl.learner(SGDClassifier(), alpha="log 2 1"), **HOW),
            "algo=SGDClassifier: alpha: search: 'log 2 1': the ends must ascend",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, says):
    with pytest.raises(UserError) as error:
        call()
    assert says in str(error.value)

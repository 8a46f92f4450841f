"""How uncertain a prediction of a number is: standard deviations and intervals of the Gaussian processes."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import omkl
import omkl.data
import omkl.sklearn
from omkl.cli import main
from omkl.config import learner_spec, learner_specs, pool
from omkl.errors import UserError
from omkl.estimators.arguments import class_name
from omkl.passes.one_pass import whole_pass
from omkl.rounds.scored import has_std
from omkl.seeds import learner_seed

ABLE = [name for name, spec in learner_specs().items() if has_std(spec)]
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(60, 2))
Y = 20.0 + 5.0 * np.sin(3 * X[:, 0]) + rng.normal(size=60)


@pytest.mark.parametrize("target", [None, "online"])
@pytest.mark.parametrize("name", ABLE)
def test_the_deviation_of_a_row_is_that_of_the_next_round(name, target):
    spec = learner_spec(name)
    params = spec.usual("regression") | ({"budget": 20} if spec.budget else {})
    chosen = pool(spec.usual_pool or "paper16") if spec.kernels == "pool" else None
    scaling = {"target": target} if target else {}
    data = omkl.data.from_arrays(X, Y, task="regression")
    trace = whole_pass(spec, params, chosen, data, np.arange(len(Y)), 5, scaling=scaling).trace
    further = trace.further[:, spec.measures.index("variance")]
    given = {"random_state": learner_seed(5, spec.draws_as or name), "target": target}
    model = getattr(omkl.sklearn, class_name(name, "regression"))(**given)
    model.set_params(**({"budget": 20} if spec.budget else {})).partial_fit(X[:5], Y[:5])
    for t in range(5, len(Y)):
        mean, std = model.predict(X[t : t + 1], return_std=True)
        assert mean == model.predict(X[t : t + 1]) == trace.score[t]
        assert std**2 == pytest.approx(further[t])
        model.partial_fit(X[t : t + 1], Y[t : t + 1])
    together = model.predict(X, return_std=True)[1]  # of many rows as of one
    assert together == pytest.approx([model.predict(x[None], return_std=True)[1][0] for x in X])


def test_intervals_of_the_command_are_those_of_the_model(tmp_path, capsys):
    frame = pd.DataFrame(X, columns=list("ab")).assign(y=Y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = omkl.fit("krls_t", frame, label="y", task="regression", **{"algo.budget": 50})
    model.save(tmp_path / "m.omkl")
    mean, std = model.predict(frame, return_std=True)
    assert main(["predict", str(tmp_path / "m.omkl"), str(tmp_path / "rows.csv"), "--interval", "0.9"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    low, high = (np.array([float(row[end]) for row in rows]) for end in ("low", "high"))
    assert low == pytest.approx(mean - 1.6448536 * std)
    assert high == pytest.approx(mean + 1.6448536 * std)
    assert ((low <= Y) & (high >= Y)).mean() > 0.7


def test_other_learners_refuse(tmp_path, capsys):
    able = "for regression auto_regression, edoebe, iegp, krls_t, krls_t_pool, stack_regression have"
    for model in (
        omkl.fit("raker", X, y=Y, task="regression"),
        omkl.fit("krls_t", X, y=Y > 20, **{"algo.budget": 50}),
    ):
        with pytest.raises(UserError, match=f"has no standard deviations for .*; {able}"):
            model.predict(X, return_std=True)
    model.save(tmp_path / "m.omkl")
    pd.DataFrame(X, columns=["x1", "x2"]).to_csv(tmp_path / "rows.csv", index=False)
    words = ["predict", str(tmp_path / "m.omkl"), str(tmp_path / "rows.csv"), "--interval"]
    assert main([*words, "0.9"]) == 2
    assert able in capsys.readouterr().err
    assert main([*words, "95"]) == 2
    assert "--interval: must be a number between 0 and 1, such as 0.95, got '95'" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"does not say how uncertain a prediction is; .*KRLS-T"):
        omkl.sklearn.RakerRegressor().fit(X, Y).predict(X, return_std=True)

"""A warning names the round that makes more than half of a regression's squared error."""

import numpy as np
import pandas as pd
import pytest

import omkl

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2))
HOW = {"task": "regression", "target": "none", "yardsticks": [], "progress": False, "exec": "serial"}


@pytest.mark.parametrize(
    ("level", "at", "said"),
    [
        (100.0, None, "2 of 300 rows"),  # the level is learnt; round 1 does not count
        (0.0, None, ""),
        (0.0, [40], "round 41, in 1 repetition"),
        (0.0, [40, 90], "2 of 300 rows"),  # each makes nearly half
        (0.0, [40, *range(90, 97)], ""),  # these are not so few
    ],
)
def test_a_round_that_decides_an_rmse_is_named(level, at, said, tmp_path):
    y = level + 0.1 * X[:, 0]
    if at is not None:
        y[at] = 50.0
    order = {"order": "file"} if at else {"reps": 2}
    last = omkl.learner("krls_t", kernel="gaussian(sigma=100)") if level else "norma_regression"
    made = omkl.run(algo=last, data=X, y=y, store=str(tmp_path), **HOW, **order)
    found = [note for note in made.notes if "more than half" in note]
    assert len(found) == bool(said)
    starts = ("one round makes more than half", "few rows make more than half of the squared error, so MAE")
    assert all(note.startswith(starts["rows" in said]) for note in found)
    assert all(note.endswith(said) for note in found)
    again = omkl.run(algo=last, data=X, y=y, store=str(tmp_path), stored=True, **HOW, **order)
    assert [note for note in again.notes if "more than half" in note] == found


def test_a_classification_has_no_such_round(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(X[:, 0] > 0, "p", "n"))
    made = omkl.run(algo="arow", data=frame, reps=1, store=str(tmp_path), yardsticks=[], progress=False)
    assert not any("more than half" in note for note in made.notes)


def test_the_first_rows_of_a_level_far_from_0_decide_nothing(tmp_path):
    y = 316.0 + 0.1 * X[:, 0]
    made = omkl.run(algo=["auto", "running_mean"], data=X, y=y, store=str(tmp_path), **{**HOW, "reps": 1})
    errors = made.table.set_index("algo")["rmse_mean"]
    assert errors["auto_regression"] < errors["running_mean"] < 0.2
    assert "MAE" in str(made)
    assert set(made.cells["own"]) == {1}
    registered = omkl.run(
        algo="ridge", data="drift_numbers", rounds=20, reps=1, store=str(tmp_path), yardsticks=[]
    )
    assert registered.cells["own"].isna().all()
    assert "MAE" not in str(registered)

"""Every learner on small data through the command: all cells are there, and their figures are sane.

Also on real data, where OMKL_DATA is. Twins and the golden record say which figures are right.
"""

import json
import math
from collections import defaultdict

import numpy as np
import pytest

from omkl.cli import main
from omkl.config import learner_specs

pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a small table of a regression."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)
    rng = np.random.default_rng(2)
    X = rng.random((120, 3))
    y = X[:, 0] ** 2 + X[:, 1] * X[:, 2]
    names = ",".join([*(f"x{at}" for at in range(X.shape[1])), "y"])
    np.savetxt("targets.csv", np.column_stack([X, y]), "%.17g", ",", header=names, comments="")


def learners():
    """The learners by their first task."""
    names = defaultdict(list)
    for name, spec in learner_specs().items():
        names[spec.tasks[0]].append(name)
    return names


LEARNERS = learners()
SMALL = {
    "classification": ["data=wdbc", "rounds=0:150"],
    "regression": ["data=targets.csv", "task=regression"],
}
REAL = {"classification": "sonar_scale,votes84", "regression": "airfoil", "novelty": "usps_test"}


def runs(task, words, capsys):
    """Run all learners of a task; check what is true of the cells of any learner."""
    own = [f"algo={','.join(LEARNERS[task])}", "reps=2", "yardsticks=[]", "exec=serial", "-q"]
    assert main(["run", *own, *words, "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {row["algo"] for row in made["summary"]} == set(LEARNERS[task])
    assert all(row["complete"] for row in made["summary"])
    sets = {row["data"] for row in made["summary"]}
    cells = {(cell["algo"], cell["data"], cell["rep"]): cell for cell in made["cells"]}
    assert cells.keys() == {(algo, data, rep) for algo in LEARNERS[task] for data in sets for rep in (0, 1)}
    for cell in cells.values():
        T, errors = cell["T"], cell["mistakes"]
        if task == "regression":
            assert errors is None, cell
            assert 0 < cell["mse"] < math.inf, cell
        else:
            assert 0 < errors < T, cell
            assert cell["mistake_rate"] == pytest.approx(errors / T), cell
        # A regression's first error may be exactly 0: that example is stored, and is no support vector.
        most = cell["n_sv_sum"] + (task == "regression")
        assert 0 <= cell["n_sv_union"] <= min(T, most), cell
        assert sum(cell["n_sv_per_kernel"]) == cell["n_sv_sum"] >= cell["n_sv_combined"], cell
        assert cell["seconds"] > 0, cell
        assert cell["weights"] is None or sum(cell["weights"]) == pytest.approx(1, rel=1e-9), cell


@pytest.mark.parametrize("task", SMALL)
def test_every_learner_on_small_data(task, capsys):
    runs(task, SMALL[task], capsys)


@pytest.mark.parametrize("task", REAL)
def test_every_learner_on_real_data(task, shared_data, capsys):
    runs(task, [f"data={REAL[task]}"], capsys)


def test_every_task_has_its_data():
    assert LEARNERS.keys() == REAL.keys() == {*SMALL, "novelty"}  # of which nothing is shipped

"""The seeds of repetitions and of learners."""

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import learner_names, plan
from omkl.runs.cells import expand


def test_every_learner_has_draws_of_its_own_on_one_permutation():
    permutation = seeds.permutation_seed(1, "some content", 0)
    drawn = {seeds.learner_seed(permutation, name) for name in learner_names()}
    assert len(drawn | {permutation}) == len(learner_names()) + 1


def test_the_seeds_of_cells_are_those_of_their_orders_and_no_permutation_is_drawn(monkeypatch, tmp_path):
    wdbc = omkl.data.find("wdbc").load()
    expected = [str(omkl.data.order(wdbc, "permuted", 3, rep)[1]) for rep in range(4)]
    monkeypatch.setattr(np.random, "default_rng", None)
    cells = expand(
        plan(["algo=omkc_ss", "data=wdbc", "seed=3", "reps=4", "yardsticks=[]", f"store={tmp_path}"])
    )
    assert [cell.setting["permutation_seed"] for cell in cells] == expected

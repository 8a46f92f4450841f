"""Numbers that follow from the data before keys: algo.budget={match:...}, algo.beta={budget:...}."""

from dataclasses import replace

import pytest
from support.engine_cases import clouds

from omkl.config import plan
from omkl.errors import UserError
from omkl.runs import runner
from omkl.runs.cells import expand, matched_sizes
from omkl.store.store import Store

MATCH = "algo.budget={match:bomkc_spa}"


@pytest.fixture
def make_plan(tmp_path):
    """Function: words -> a plan on two small sets of its own, in a store of its own."""
    files = []
    for T in (60, 90):
        data = clouds(T=T, seed=T)
        rows = data.values.reshape(T, data.d)
        lines = [
            f"{int(y):+d} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in enumerate(row))
            for row, y in zip(rows, data.y, strict=True)
        ]
        files.append(tmp_path / f"clouds{T}.libsvm")
        files[-1].write_text("\n".join(lines) + "\n")
    words = [f"data={','.join(map(str, files))}", "reps=3", "pool=gauss3", "yardsticks=[]"]

    def make(*more, sweep=False):
        return replace(plan([*words, *more], sweep=sweep), store=tmp_path / "store")

    return make


def test_the_budget_is_nearest_to_the_size_on_each_data_set(make_plan):
    spa = runner.run_plan(make_plan("algo=bomkc_spa"), jobs=1).cells
    outcome = runner.run_plan(make_plan("algo=bomkc_rbp", MATCH), jobs=1)
    assert (outcome.requested, outcome.ran, len(outcome.cells)) == (6, 6, 6)
    budgets = matched_sizes(make_plan("algo=bomkc_rbp", MATCH))
    assert len(budgets) == 2
    known = {ref.content_hash: ref for ref in make_plan().data}
    for (digest, _), budget in budgets.items():
        data, name = known[digest], known[digest].name
        mean = spa.loc[spa["data"] == name, "n_sv_sum"].mean()
        assert abs(3 * budget - mean) <= 1.5
        # the cells of the number itself, so that nothing runs again
        again = replace(make_plan("algo=bomkc_rbp", f"algo.budget={budget}"), data=(data,))
        numbers = runner.run_plan(again, jobs=1)
        assert (numbers.ran, numbers.reused) == (0, 3)
        assert set(numbers.cells["key"]) == set(outcome.cells.loc[outcome.cells["data"] == name, "key"])
    # shown as the plan has it, stored as it ran
    assert all(params["budget"] == {"match": "bomkc_spa"} for params in outcome.cells["params"])
    stored = Store(make_plan().store).cells()["params"]
    assert all(isinstance(params.get("budget", 1), int) for params in stored)


def test_the_matched_learner_runs_where_the_store_lacks_its_cells(make_plan):
    outcome = runner.run_plan(make_plan("algo=bomkc_rbp,bomkc_bpas", MATCH), jobs=1)
    assert (outcome.requested, outcome.ran) == (12, 12)
    later = runner.run_plan(make_plan("algo=bomkc_spa"), jobs=1)
    assert (later.ran, later.reused) == (0, 6)


def test_hyperparameters_of_the_matched_learner(make_plan):
    words = ("algo=bomkc_rbp", "algo.budget={match:bomkc_spa,alpha:0.2},{match:bomkc_spa,alpha:2}")
    both = make_plan(*words, sweep=True)
    assert [s.params["budget"]["alpha"] for s in both.settings] == [0.2, 2.0]
    runner.run_plan(both, jobs=1)
    few, many = list(matched_sizes(both).values())[:2]  # of the first data set
    assert few < many


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (MATCH, r"holds 0 of 3 cells of bomkc_spa on .*clouds60"),  # nothing runs here
        ("algo.budget=901", r"algo.budget=901: bomkc_rbp .* data=clouds60 has examples, T = 60"),
        ("algo.budget=0", "whole number ≥ 1, got 0"),
        ("algo.budget=2.5", r"whole number ≥ 1, got 2\.5"),
        ("algo.budget=many", "whole number ≥ 1, got 'many'"),
        ("algo.budget={}", r"must be a whole number ≥ 1, or \{match: LEARNER\}"),
        ("algo.budget={match:bomkc_sp}", "did you mean 'bomkc_spa'"),
        ("algo.budget={match:bomkc_rbp}", "bomkc_rbp has no size to match"),
        ("algo.budget={match:perceptron}", "perceptron has no size to match"),
        ("algo.budget={match:bomkc_spa,alfa:1}", "bomkc_spa has no hyperparameter 'alfa'"),
        ("algo.budget={match:bomkc_spa,alpha:-1}", "alpha of bomkc_spa must be a number > 0, got -1"),
        ("algo.budget={match:bomkc_spa,alpha:9}", "alpha must be at most beta"),
        ("algo.beta={budget:61}", r"algo.beta=\{budget:61\}: bomkc_spa .* data=clouds60 has rounds, T = 60"),
        ("algo.beta={budget:0}", "must be a whole number ≥ 1, got 0"),
        ("algo.beta={budget:5,alpha:1}", r"must be a number, or \{budget: B\}"),
        ("algo.beta={match:omkc_dd}", r"must be a number, or \{budget: B\}"),
        ("algo.beta=0.5", "alpha must be at most beta"),
        ("algo.eta={budget:5}", "must be a number"),  # which follows from no budget
    ],
)
def test_what_is_wrong_is_refused(make_plan, word, says):
    algo = "bomkc_rbp" if "budget=" in word else "bomkc_spa"
    with pytest.raises(UserError, match=says) as refused:
        expand(make_plan(f"algo={algo}", word))
    assert "\n" not in str(refused.value)
    assert len(expand(make_plan("algo=bomkc_rbp", "algo.budget=60"))) == 6


def test_a_pool_that_a_learner_cannot_use_is_refused():
    with pytest.raises(UserError, match=r"bomkc_nogd needs a pool of gaussian .* pool=paper16 has polynom"):
        plan(["algo=bomkc_nogd", "pool=paper16"])
    for words in (["pool=gauss13"], []):
        assert plan(["algo=bomkc_nogd", *words]).settings[0].pool["name"] == "gauss13"


# ------------------------------------------------------------------ a probability that follows from a budget


def test_beta_of_a_budget_is_alpha_T_over_it_in_the_key_and_the_pass(make_plan):
    cells = expand(make_plan("algo=bomkc_spa", "algo.alpha=0.5", "algo.beta={budget:12}"))
    assert [cell.params["beta"] for cell in cells] == [0.5 * 60 / 12] * 3 + [0.5 * 90 / 12] * 3
    plain = expand(make_plan("algo=bomkc_spa", "algo.alpha=0.5", "algo.beta=2.5"))
    assert [cell.key for cell in cells[:3]] == [cell.key for cell in plain[:3]]
    assert cells[0].planned.stored["beta"] == {"budget": 12}
    part = expand(make_plan("algo=bomkc_spa", "algo.beta={budget:12}", "rounds=30"))
    assert part[0].params["beta"] == 30 / 12


def test_a_table_shows_the_budget_beside_what_was_stored(make_plan):
    made = make_plan("algo=bomkc_spa", "algo.beta={budget:12},{budget:3},4", sweep=True)
    outcome = runner.run_plan(made, jobs=1, progress=False)
    assert outcome.cells["params"].map(lambda params: params["beta"]).map(str).nunique() == 3
    sizes = outcome.cells.assign(beta=[str(own["beta"]) for own in outcome.cells["params"]])
    few = sizes[sizes["beta"] == "{'budget': 3}"]["n_sv_sum"].mean()
    many = sizes[sizes["beta"] == "{'budget': 12}"]["n_sv_sum"].mean()
    assert 0 < few < many < 3 * 12 + 9  # three kernels, in expectation

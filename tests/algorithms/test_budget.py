"""Budget learners: budgets, blocks, cuts and special cases."""

import numpy as np
import pytest
from support.engine_cases import csr_of, fitting, slots_of, wdbc

from omkl import data, seeds
from omkl.config import learner_spec, learner_specs, pool
from omkl.engine import slot_values
from omkl.engine.budgeted import add, make_budget, outputs, reserve_slots
from omkl.engine.kernels import make_pool
from omkl.engine.stream import make_stream
from omkl.passes import Learner, run_pass

VARIANTS = [
    ("bomkc_bogd", {"removal": "uniform", "clip": 2.0}),
    ("bomkc_bogd", {"removal": "nonuniform"}),
    ("bomkc_bpas", {"normalise": True, "C": 0.5}),
]
LEARNERS = [(spec.name, {}) for spec in learner_specs().values() if spec.budget] + VARIANTS
IDS = ["-".join([name, *map(str, over.values())]) for name, over in LEARNERS]


def rows(T, d=24):
    """T made-up rows (T, d), their labels, and both as a stream: two noisy classes that no line separates."""
    rng = np.random.default_rng(17)
    X = rng.uniform(-1.0, 1.0, (T, d))
    y = np.where(X[:, 0] + 2.0 * X[:, 1] * X[:, 2] + rng.normal(0.0, 0.5, T) > 0.0, 1.0, -1.0)
    return X, y, make_stream(*csr_of(X), y, np.arange(T))


def compiled(name, over, kernels, d, block=None):
    spec = learner_spec(name)
    seed = seeds.learner_seed(7, name)
    return Learner(spec, {**spec.defaults, **over}, fitting(spec, kernels), d, seed, block)


@pytest.mark.parametrize("over", LEARNERS, ids=IDS)
def test_how_many_rows_keep_their_kernel_values_changes_nothing(over, monkeypatch):
    X, _, stream = rows(100)
    whole, few = (compiled(over[0], {**over[1], "budget": 9}, pool("paper16"), X.shape[1]) for _ in range(2))
    expected, _ = whole.run(stream)
    monkeypatch.setattr(slot_values, "_NEAR", 0)
    trace, _ = few.run(stream)
    assert len(few.state["B"].K) == 16 < len(whole.state["B"].K)
    np.testing.assert_array_equal(expected.score, trace.score)
    np.testing.assert_array_equal(whole.state["B"].A, few.state["B"].A)


@pytest.mark.parametrize("over", LEARNERS, ids=IDS)
@pytest.mark.parametrize("budget", [1, 2, 7])
def test_no_budget_is_exceeded_in_any_round(over, budget):
    X, _, stream = rows(200)
    learner = compiled(over[0], {**over[1], "budget": budget}, pool("paper16"), X.shape[1])
    trace, _ = learner.run(stream)
    B = learner.state["B"]
    assert trace.n_sv_sum.max() <= 16 * budget
    assert B.n_sv.max() == budget
    assert len(B.A) == budget
    assert B.users.sum() == B.n_sv.sum() == B.n_sv_sum[0]
    held = set(B.holds[B.A[:, :, 0] != 0]) | set(np.flatnonzero(B.users))
    assert (B.users > 0).sum() == B.n_sv_union[0] == len(held)
    assert np.isfinite(B.A).all()


ONE = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 4.0}]}


@pytest.mark.parametrize("name", ["bomkc_rbp", "bomkc_forgetron", "bomkc_projectron"])
def test_one_kernel_with_a_budget_of_t_is_the_perceptron(name):
    """For projectron of distinct rows, whose Gram matrix has full rank: no mistake is projected."""
    X, _, stream = rows(500)
    ours, trace, theirs, perceptron = beside(name, {"budget": 501}, "perceptron", {}, X, stream)
    np.testing.assert_array_equal(ours.n_sv, theirs.n_sv)
    np.testing.assert_array_equal(ours.A[: ours.n_sv[0], 0, 0], theirs.A[0, : theirs.n_sv[0]])
    # the vote errs as the output does, but for outputs of exactly 0 with a positive label
    vote = perceptron.mistake & ((perceptron.score != 0) | (stream.y < 0))
    np.testing.assert_array_equal(trace.mistake, vote)


@pytest.mark.parametrize(
    ("name", "over", "lam"),
    [
        ("bomkc_bogd", {"eta": 0.2, "lam": 0.05}, 0.05),
        ("bomkc_bogd", {"eta": 0.2, "lam": 0.05, "removal": "nonuniform"}, 0.05),
        ("bomkc_nogd", {"eta": 0.2}, 0.0),
    ],
)
def test_one_kernel_with_a_budget_of_t_is_norma_with_the_hinge_loss(name, over, lam):
    X, _, stream = rows(500)
    norma = {"rho": 1.0, "eta": 0.2, "lam": lam}
    ours, trace, theirs, its = beside(name, {"budget": 501, **over}, "norma", norma, X, stream)
    n = theirs.n_sv[0]
    assert ours.n_sv[0] == n > 200
    scale = (1 - 0.2 * lam) ** 500  # of what NORMA has stored
    np.testing.assert_allclose(ours.A[:n, 0, 0], theirs.A[0, :n] * scale, rtol=1e-12)
    np.testing.assert_array_equal(trace.mistake, its.mistake & ((its.score != 0) | (stream.y < 0)))


def beside(name, over, other, its, X, stream):
    """Classifiers and trace of a budget learner on one kernel, and those of a learner without a budget."""
    ours = compiled(name, over, ONE, X.shape[1])
    theirs = compiled(other, {**its, "kernel": ONE["kernels"][0]}, ONE, X.shape[1])
    trace, same = ours.run(stream)[0], theirs.run(stream)[0]
    return ours.state["B"], trace, theirs.state["E"], same


def test_figures_of_a_cell():
    D = wdbc()
    order, seed = data.order(D, "permuted", 1, 0)
    spec = learner_spec("bomkc_rbp")
    found = run_pass(spec, {**spec.defaults, "budget": 9}, pool("paper16"), D, order, seed)
    assert found["n_sv_per_kernel"] == [9] * 16
    assert found["n_sv_sum"] == found["n_sv_combined"] == 144
    assert 9 <= found["n_sv_union"] <= 144
    assert found["m"] == len(found["weights"]) == 16


def test_budget_is_a_positive_whole_number():
    budget = learner_spec("bomkc_rbp").hyperparameters["budget"]
    for wrong in (0, -3, 2.5):
        with pytest.raises(ValueError, match="whole number"):
            budget.check(wrong)


def test_rows_without_any_feature_have_a_place_in_the_store():
    """A first stream that is empty, then zero rows: the store has room for examples of length 0."""
    B = make_budget(make_pool([{"kind": "gaussian", "sigma": 1.0}]), 2, 1)
    for T in (0, 3):
        stream = make_stream(
            np.zeros(T + 1, np.int64), np.zeros(0, np.int32), np.zeros(0), np.ones(T), np.arange(T)
        )
        B = reserve_slots(B, T, 0)
        assert B.ends.size == 2 * B.norm2.size
    assert outputs(B, stream, 0) == [0]
    add(B, stream, 0, 0, 0, 1.0)
    assert outputs(B, stream, 1) == [1]


NARROW = {
    "normalise": "none",
    "kernels": [{"kind": "gaussian", "sigma": s} for s in (2.0**-6, 2.0**-4, 0.25)],
}


@pytest.mark.parametrize("block", [1, 16])
def test_bpas_drops_the_oldest_of_equally_cheap_vectors(block):
    """No row sees another: each is stored with C = 0.1, and those that came last remain."""
    T, budget = 40, 7
    X, y = np.arange(T)[:, None] * 10.0, np.where(np.arange(T) % 3, 1.0, -1.0)
    learner = compiled("bomkc_bpas", {"budget": budget, "C": 0.1}, NARROW, 1, block)
    stream = make_stream(*csr_of(X), y, np.arange(T))
    for start, stop in ((0, 1), (1, 20), (20, T)):  # ages outlive the end of a part
        order, labels = stream.order[start:stop], stream.y[start:stop]
        learner.run(stream._replace(T=stop - start, order=order, y=labels))
        for i in range(3):
            held = sorted(values[0] if values else 0.0 for _, values, _ in slots_of(learner.state["B"], i))
            assert held == [10.0 * t for t in range(max(0, stop - budget), stop)]

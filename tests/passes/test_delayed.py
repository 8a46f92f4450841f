"""Labels that come in batches: predictions of a batch see none of it; what is learnt is as without delay."""

import numpy as np
import pytest

import omkl
from omkl.config import learner_spec
from omkl.config.kernel_kinds import pool as pool_named
from omkl.data import find
from omkl.errors import UserError
from omkl.passes.one_pass import whole_pass
from omkl.rounds.support_vectors import stored_vectors

T = 120


def traced(name, delay=1, scale=None, data="wdbc", **params):
    spec, dataset = learner_spec(name), find(data).load()
    pool = pool_named(spec.usual_pool or "paper16") if spec.kernels == "pool" else None
    scaling = ({"delay": delay} if delay > 1 else {}) | ({"scale": scale} if scale else {})
    return whole_pass(spec, {**spec.defaults, **params}, pool, dataset, np.arange(T), 7, scaling=scaling)


def dense(data="wdbc"):
    dataset = find(data).load()
    X = np.zeros((T, dataset.d))
    for t in range(T):
        own = slice(dataset.indptr[t], dataset.indptr[t + 1])
        X[t, dataset.indices[own]] = dataset.values[own]
    return X, dataset.y[:T]


@pytest.mark.parametrize("delay", [2, 7, 50, T, 500])
def test_a_perceptron_predicts_a_batch_with_what_it_had_before(delay):
    X, y = dense()
    w, mistakes = np.zeros(X.shape[1]), []
    for start in range(0, T, delay):
        batch = range(start, min(start + delay, T))
        mistakes += [y[t] * (w @ X[t]) <= 0 for t in batch]
        for t in batch:  # its own mistakes decide what it learns
            if y[t] * (w @ X[t]) <= 0:
                w += y[t] * X[t]
    figures, _, trace, *_ = traced("perceptron", delay, kernel={"kind": "linear"})
    assert trace.mistake.tolist() == mistakes
    assert figures["mistakes"] == sum(mistakes)
    assert figures["curve"]["mistakes"][-1] == sum(mistakes)


@pytest.mark.parametrize("name", ["omkc_dd", "bomkc_spa", "arow", "auto", "krls_t", "raker"])
def test_what_is_learnt_is_the_same_as_without_delay(name):
    at_once, learner, *_ = traced(name)
    late, other, *_ = traced(name, 10)
    assert late["n_sv_sum"] == at_once["n_sv_sum"]
    assert late["mistakes"] >= 10  # nothing is known of the first batch
    for key, value in learner.state.items():
        if isinstance(value, np.ndarray) and value.dtype == float:
            assert np.allclose(value, other.state[key], rtol=1e-9, atol=1e-12, equal_nan=True), key


@pytest.mark.parametrize("name", ["lasvm", "omkc_dd"])
def test_scaled_rows_keep_numbers_of_their_own(name):
    _, learner, *_ = traced(name, 1, "online")
    _, other, *_ = traced(name, 10, "online")
    (rounds, X), (same, Z) = stored_vectors(learner), stored_vectors(other)
    assert rounds.tolist() == same.tolist()
    assert len(set(rounds.tolist())) == len(rounds) > 20
    assert max(rounds) > 100
    assert np.array_equal(X.toarray(), Z.toarray())


def test_features_are_scaled_by_what_came_before_the_batch():
    figures, learner, *_ = traced("perceptron", 10, "online")
    assert figures["mistakes"] >= 10
    assert learner.scaling.seen[0] == T


@pytest.mark.parametrize("name", ["krls_t", "krls_t_pool", "iegp"])
def test_densities_and_variances_are_those_before_the_labels_came(name):
    """Of one batch nothing is known: the mean is 0, and the variance that of the prior."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    data, spec = omkl.data.from_arrays(X, X[:, 0] + 5.0, task="regression"), learner_spec(name)
    pool = pool_named("gauss3") if spec.kernels == "pool" else None
    params = spec.usual("regression")
    early, late = (
        whole_pass(spec, params, pool, data, np.arange(40), 7, scaling={"delay": delay}).trace.further.T
        for delay in (2, 40)
    )
    nlpd, variance = (dict(zip(spec.measures, late, strict=True))[own] for own in ("nlpd", "variance"))
    np.testing.assert_allclose(variance, variance[0])
    assert (dict(zip(spec.measures, early, strict=True))["variance"][20:] < 0.9 * variance[0]).all()
    expected = 0.5 * (np.log(2.0 * np.pi * variance) + data.y**2 / variance)
    np.testing.assert_allclose(nlpd, expected)


def test_a_delay_is_part_of_a_cell_and_of_the_table(tmp_path):
    words = "algo=perceptron,arow data=wdbc reps=2 rounds=100 exec=serial yardsticks=[last_label,majority]"
    how = {"store": str(tmp_path), "progress": False}
    late, at_once = omkl.run(f"{words} delay=20", **how), omkl.run(words, **how)
    assert not set(late.cells["key"]) & set(at_once.cells["key"])
    assert "delay 20" in str(late)
    both = str(late + at_once)
    assert "delay=20" in both
    assert omkl.run(f"{words} delay=1", **how).cells["key"].tolist() == at_once.cells["key"].tolist()
    assert (late.table["mistake_pct_mean"] >= 20).all()


def test_where_labels_that_come_late_mean_nothing_it_is_said(tmp_path):
    with pytest.raises(UserError, match="delay=5: the theorems assume labels without delay"):
        omkl.bounds("algo=omkc_dd data=wdbc delay=5", store=str(tmp_path))
    with pytest.raises(UserError, match="leave out delay="):
        omkl.fit("arow", "wdbc", delay=5)
    with pytest.raises(UserError, match="delay=0"):
        omkl.run("algo=arow data=wdbc delay=0", store=str(tmp_path))

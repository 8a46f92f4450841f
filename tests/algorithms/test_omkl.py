"""The learners of Jin et al. (2010), OM-2 and SPA: their twins, special cases, projections, options."""

import numpy as np
import pytest
from reference import TWINS
from reference.kernels import pool_rows

from omkl.config import learner_spec, plan
from omkl.engine.expansion import make_expansion, outputs, reserve, self_kernels
from omkl.engine.kernels import make_pool
from omkl.engine.open_block import close
from omkl.engine.stream import make_stream
from omkl.errors import UserError
from omkl.passes import Learner

POOL = [
    *({"kind": "gaussian", "sigma": s} for s in (0.25, 0.5, 1.0, 2.0, 4.0)),
    *({"kind": "polynomial", "degree": p, "scale": 1.0, "coef0": 0.0} for p in (1, 2, 3)),
]
GAUSSIAN = [{"kind": "gaussian", "sigma": 1.0}]
SEED = 7


def data(T=260, d=4, size=1.0, whole=False):
    """Two noisy classes with repeated examples, some under both labels; whole numbers make exact ties."""
    rng = np.random.default_rng(3)
    X = size * rng.normal(size=(T, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * size**2 * rng.normal(size=T) > 0, 1.0, -1.0)
    X = np.round(X) if whole else X
    X[-12:] = X[:12]
    y[-12:] = y[:12] * np.tile([1.0, -1.0], 6)
    return X, y


class Run:
    """A compiled learner after passes over parts of a stream, cut at these rounds."""

    def __init__(
        self, name, X, y, kernels=POOL, pool_normalise="none", block=64, cuts=(), score_first=False, **hyper
    ):
        spec = learner_spec(name)
        self.params = {**spec.defaults, **hyper}
        pool = {"normalise": pool_normalise, "kernels": kernels}
        learner = Learner(spec, self.params, pool, X.shape[1], SEED, block)
        T, d = X.shape
        rows = (np.arange(T + 1) * d, np.tile(np.arange(d), T), X.ravel(), y)
        traces = []
        for start, stop in zip((0, *cuts), (*cuts, T), strict=True):
            stream = make_stream(*rows, np.arange(start, stop))
            if score_first:
                learner.run(stream, learn=False)
            traces.append(learner.run(stream)[0])
        self.mistakes = np.concatenate([trace.mistake for trace in traces])
        self.scores = np.concatenate([trace.score for trace in traces])
        self.state, self.E, self.w = learner.state, learner.state["E"], learner.weights
        self.n_sv = int(self.E.n_sv_sum[0])

    @property
    def coefficients(self):
        A = self.E.A[:, : self.E.n_sv_union[0]]
        return A * self.state.get("scale", np.ones(len(A)))[:, None]


def same(a, b):
    """The same prediction in every round and the same classifiers, to the last bit."""
    np.testing.assert_array_equal(a.scores, b.scores)
    np.testing.assert_array_equal(a.coefficients, b.coefficients)
    assert (a.w is None) == (b.w is None)
    if a.w is not None:
        np.testing.assert_array_equal(a.w, b.w)


# --- special cases ---------------------------------------------------------------------------------------


def test_da2_that_sees_no_degrees_is_dd_with_the_root_of_beta():
    da2, dd = Run("omklp_da2", *data(), gamma=1e-12, beta=0.64), Run("omkc_dd", *data(), beta=0.8)
    np.testing.assert_array_equal(da2.mistakes, dd.mistakes)
    np.testing.assert_allclose(da2.w, dd.w, rtol=1e-6)


def test_doubling_moves_the_weights_only():
    doubling, dd = Run("omklp_da1", *data(), beta=None), Run("omkc_dd", *data())
    np.testing.assert_array_equal(doubling.coefficients, dd.coefficients)
    assert not np.array_equal(doubling.w, dd.w)
    assert doubling.state["k"][0] >= 4  # more than 1 + 2 + 4 + 8 mistakes of every kernel


def test_sua_stores_at_most_one_vector_a_round():
    run = Run("omklp_sua", *data())
    assert run.n_sv == run.E.n_sv_union[0]
    assert np.all((run.coefficients != 0).sum(axis=0) == 1)


@pytest.mark.parametrize("name", ["omklp_da1", "omklp_sua", "omklp_mua", "omklo_da", "om2"])
def test_one_kernel_is_the_perceptron(name):
    hyper = {"omklp_da1": {"beta": None}, "omklo_da": {"R": 1e9}, "om2": {"aggressive": False}}.get(name, {})
    one = Run(name, *data(), GAUSSIAN, **hyper)
    perceptron = Run("omkc_dd", *data(), GAUSSIAN)
    np.testing.assert_array_equal(one.mistakes, perceptron.mistakes)
    np.testing.assert_array_equal(one.coefficients, perceptron.coefficients)


def test_om2_with_p_2_that_learns_from_mistakes_is_the_mean_kernel_perceptron():
    om2, mean = Run("om2", *data(), p=2.0, aggressive=False), Run("perceptron_u", *data())
    np.testing.assert_array_equal(om2.mistakes, mean.mistakes)
    np.testing.assert_array_equal(om2.coefficients, mean.coefficients)
    np.testing.assert_allclose(om2.state["u"], 0.5, rtol=1e-12)


def test_om2_without_p_takes_q_from_the_number_of_kernels():
    q = 2 * np.log(len(POOL))
    given, default = Run("om2", *data(), p=q / (q - 1)), Run("om2", *data())
    np.testing.assert_array_equal(given.mistakes, default.mistakes)
    np.testing.assert_allclose(given.state["u"], default.state["u"], rtol=1e-9)


@pytest.mark.parametrize("normalise", [False, True])
def test_spa_that_always_samples_is_passive_aggressive(normalise):
    spa = Run("bomkc_spa", *data(), GAUSSIAN, alpha=1e-9, beta=1e-9, normalise=normalise)
    same(spa, replaced_scores(Run("omkc_ddpa", *data(), GAUSSIAN, C=0.1), spa))


def replaced_scores(run, other):
    """Scores of omkc_ddpa are votes, SPA's are outputs: the signs must agree."""
    np.testing.assert_array_equal(np.sign(run.scores), np.where(other.scores >= 0, 1, -1))
    run.scores = other.scores
    return run


def test_spa_predicts_by_the_mean_of_its_classifiers_and_learns_the_same():
    X, y = (part[:-12] for part in data())  # no repeated examples
    current, averaged = Run("bomkc_spa", X, y, GAUSSIAN), Run("bomkc_spa", X, y, GAUSSIAN, predict="averaged")
    np.testing.assert_array_equal(current.coefficients, averaged.coefficients)
    K, T = pool_rows(X, GAUSSIAN), len(y)
    mean = 0.0
    for row, a in zip(dense_rows(current.E, 4), current.coefficients[0], strict=True):
        s = int(np.flatnonzero((row == X).all(axis=1))[0])  # stored in round s + 1 of T
        mean += a * (T - 1 - s) / T * K(s)[0][T - 1]
    np.testing.assert_allclose(averaged.scores[-1], mean, rtol=1e-9, atol=1e-12)


def dense_rows(E, d):
    rows = np.zeros((E.n_sv_union[0], d))
    for j in range(len(rows)):
        rows[j, E.indices[E.indptr[j] : E.indptr[j + 1]]] = E.values[E.indptr[j] : E.indptr[j + 1]]
    return rows


def test_spa_options_matter_where_they_should():
    X, y = data()
    n_sv = {d: Run("bomkc_spa", X, y, discount=d).n_sv for d in ("hinge", "zero_one")}
    assert n_sv["hinge"] != n_sv["zero_one"]
    same(Run("bomkc_spa", X, y, GAUSSIAN, normalise=True), Run("bomkc_spa", X, y, GAUSSIAN, normalise=False))


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_om2_whose_classifiers_cancel_goes_on(label):
    X, y = np.ones((9, 2)), label * np.array([1.0, -1, 1, -1, 1, 1, -1, -1, 1])
    run, expected = Run("om2", X, y), TWINS["om2"](X, y, POOL, p=None, aggressive=True)
    np.testing.assert_array_equal(run.mistakes, expected.mistakes)
    np.testing.assert_allclose(run.scores, expected.scores, rtol=1e-9, atol=1e-9)
    assert np.isfinite(run.state["u"]).all()


# --- projections -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "R"), [(1.0, 0.7), (1.0, 3.0), (1e3, 1e-3), (1e-3, 1.0)])
@pytest.mark.parametrize("name", ["omklo_da", "omklo_sua"])
def test_norms_are_kept_and_bounded(name, size, R):
    X, y = data(size=size)
    run = Run(name, X, y, R=R, cuts=(100,))
    stored = dense_rows(run.E, X.shape[1])
    n = len(stored)
    K = pool_rows(stored, POOL)
    gram = np.array([K(j) for j in range(n)])  # (n, m, n)
    for i in range(len(POOL)):
        a = run.coefficients[i]
        direct = a @ gram[:, i, :] @ a
        np.testing.assert_allclose(run.state["norm2"][i], direct, rtol=1e-7, atol=1e-9 * R * R)
        assert np.sqrt(max(direct, 0.0)) <= R * (1 + 1e-6)


def test_scales_that_would_vanish_go_into_the_coefficients():
    X, y = data(size=1e3)
    run = Run("omklo_da", X, y, R=1e-6)
    assert run.state["scale"].min() >= 1e-100
    assert abs(run.E.A[-1, 0]) < 1e-100  # the cubic kernel's went in
    assert np.isfinite(run.scores).all()
    twin = TWINS["omklo_da"](X, y, POOL, beta=0.8, R=1e-6)
    np.testing.assert_array_equal(run.mistakes, twin.mistakes)
    np.testing.assert_allclose(run.scores, twin.scores, rtol=1e-7, atol=1e-15)
    for block, cuts in ((1, ()), (16, (33, 140)), (256, ())):
        same(Run("omklo_da", X, y, R=1e-6, block=block, cuts=cuts), run)


def test_projection_onto_a_large_ball_does_nothing():
    run = Run("omklo_da", *data(), R=1e9)
    np.testing.assert_array_equal(run.state["scale"], 1.0)
    assert set(np.unique(run.coefficients)) == {-1.0, 1.0}


# --- engine and configuration ----------------------------------------------------------------------------


@pytest.mark.parametrize("normalise", ["none", "cosine"])
def test_self_kernels(normalise):
    X, y = (part[:5] for part in data())
    X[2] = 0.0
    kernels = [*POOL, {"kind": "polynomial", "degree": 2, "scale": 0.5, "coef0": 1.0}]
    E = reserve(make_expansion(make_pool(kernels, normalise), 4, 8), 5, 20, 4)
    close(E.open)
    stream = make_stream(np.arange(6) * 4, np.tile(np.arange(4), 5), X.ravel(), y, np.arange(5))
    rows = pool_rows(X, kernels, normalise)
    for t in range(5):
        outputs(E, stream, t)
        np.testing.assert_allclose(self_kernels(E, t), rows(t)[:, t], rtol=1e-12)


def test_step_of_theorem_10_is_the_default():
    m, beta, R, delta = len(POOL), 0.7, 2.0, 0.1
    a = R**2 / 2 + np.log(m) / np.log(1 / beta)
    b = np.log(1 / beta) * R**2 * m**2 / (2 * delta**2) + m / (2 * delta)
    hyper = {"beta": beta, "R": R, "delta": delta}
    default, given = (Run("omklo_sua", *data(), **hyper, eta=eta) for eta in (None, np.sqrt(a / b)))
    np.testing.assert_allclose(default.scores, given.scores, rtol=1e-9, atol=1e-12)


def test_spa_refuses_alpha_above_beta():
    with pytest.raises(UserError, match=r"algo=bomkc_spa: alpha must be at most beta, got 5\.0 with beta=3"):
        plan(["algo=bomkc_spa", "algo.alpha=5"])
    assert plan(["algo=bomkc_spa", "algo.alpha=3"]).settings[0].params["alpha"] == 3.0

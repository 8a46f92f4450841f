"""Special cases in which one learner must equal a simpler one."""

import numpy as np
import pytest
from support.engine_cases import COSINE, MIXED, assert_same, clouds, one_pass, state, ties, traced, wdbc

from omkl.config import learner_spec, pool
from omkl.passes import run_pass

STREAMS = pytest.mark.parametrize("stream", [wdbc, ties, clouds], ids=lambda f: f.__name__)
GAUSSIANS = [{"kind": "gaussian", "sigma": s} for s in (4.0, 2.0, 1.0, 0.3)]
ALL_UPDATED = {"delta": 1.0, "floor": "delta"}  # p_i = 1
ALIKE = {"beta": 1.0 - 1e-9}  # weights stay alike: p_i is 1 but for rounding


def with_kernels(kernels, normalise="none"):
    return {"normalise": normalise, "kernels": kernels}


ONE = GAUSSIANS[1]
JUST_ONE = with_kernels([ONE])
NO_POLYNOMIAL = [*GAUSSIANS, {"kind": "laplacian", "sigma": 2.0}]
WEIGHTS = ("A", "n_sv", "w")
# Learner A with these options equals learner B: the same trace, and the same state, or the arrays named.
EQUAL = [
    *(
        (name, {"sampling": sampling, **ALL_UPDATED}, "omkc_dd", {}, "paper16", "paper16", None)
        for name in ("omkc_sd", "omkc_ss")
        for sampling in ("max", "sum")
    ),
    ("omkc_dspa", ALIKE, "omkc_ddpa", ALIKE, "paper16", "paper16", None),
    ("omkc_sdpa", {"delta": 0.0, **ALIKE}, "omkc_ddpa", ALIKE, "paper16", "paper16", None),
    ("omkc_sspa", {"delta": 0.0, **ALIKE}, "omkc_ddpa", ALIKE, "paper16", "paper16", None),
    ("omkc_growing", {"first": 16}, "omkc_dd", {}, "paper16", "paper16", WEIGHTS),
    ("omkc_growing", {"first": 40, "every": 1}, "omkc_dd", {}, "paper16", "paper16", WEIGHTS),
    ("omklp_da1", {}, "omkc_dd", {}, "paper16", "paper16", WEIGHTS),
    ("omklp_mua", {"delta": 1.0}, "omkc_dd", {}, "paper16", "paper16", WEIGHTS),
    ("bomkc_rbp", {"budget": 600}, "omkc_dd", {"beta": 0.99}, "paper16", "paper16", ("n_sv", "w")),
    ("perceptron_u", {}, "perceptron", {"kernel": ONE}, with_kernels([ONE, ONE]), None, ()),
    *(
        (name, {}, name, {}, with_kernels(NO_POLYNOMIAL), with_kernels(NO_POLYNOMIAL, "cosine"), None)
        for name in ("omkc_dd", "omkc_ss", "omkc_u", "perceptron_u")
    ),
    *(
        ("perceptron", {"kernel": one}, "perceptron", {"kernel": other}, None, None, None)
        for one, other in (
            ({"kind": "linear"}, {"kind": "polynomial", "degree": 1, "scale": 1.0, "coef0": 0.0}),
            ({"kind": "gaussian", "sigma": 2.0}, {"kind": "gaussian", "gamma": 0.125}),
        )
    ),
    (
        "arow_features_pool",
        {"D": 9},
        "arow_features",
        {"D": 9, "kernel": ONE},
        with_kernels([ONE]),
        None,
        None,
    ),
]


@STREAMS
@pytest.mark.parametrize(("name", "over", "other", "its", "given", "its_given", "arrays"), EQUAL)
def test_one_learner_equals_another(stream, name, over, other, its, given, its_given, arrays):
    data = stream()
    learner, trace = one_pass(name, data, given, **over)
    twin, same = one_pass(other, data, its_given, **its)
    assert_same(traced(trace), traced(same))
    mine, theirs = state(learner), state(twin)
    arrays = mine.keys() if arrays is None else arrays
    assert_same({key: mine[key] for key in arrays}, {key: theirs[key] for key in arrays})


def kept(learner):
    """The expansion's arrays without the weights."""
    return {name: array for name, array in state(learner).items() if name != "w"}


@STREAMS
@pytest.mark.parametrize("kernel", MIXED["kernels"], ids=lambda k: "-".join(map(str, k.values())))
def test_one_kernel_is_the_kernel_perceptron(stream, kernel):
    """The same vectors; mistakes differ only where f = 0: the ensemble votes +1, the perceptron errs."""
    data = stream()
    alone, trace = one_pass("perceptron", data, kernel=kernel)
    for name in ("omkc_u", "omkc_dd", "omkc_ds"):
        learner, votes = one_pass(name, data, with_kernels([kernel]))
        assert_same(kept(alone), kept(learner), name)
        differ = np.flatnonzero(trace.mistake != votes.mistake)
        np.testing.assert_array_equal(differ, np.flatnonzero((trace.score == 0) & (data.y > 0)))
        np.testing.assert_array_equal(votes.score, np.where(trace.score >= 0, 1.0, -1.0))
    mean, trace_mean = one_pass("perceptron_u", data, with_kernels([kernel]))
    own, others = traced(trace), traced(trace_mean)
    if kernel["kind"] == "linear":  # the perceptron's is the product with its weight vector
        scores = own.pop("score"), others.pop("score")
        np.testing.assert_allclose(*scores, rtol=0.0, atol=1e-13 * np.abs(trace.score).max())
    assert_same(own, others)
    assert_same(kept(alone), kept(mean))


def test_a_kernel_that_has_entered_begins_empty_with_the_mean_weight():
    data = clouds()
    learner, _ = one_pass("omkc_growing", data, with_kernels(GAUSSIANS), first=2, every=100, beta=0.5)
    born = learner.state["E"].A[:, : learner.state["E"].n_sv_union[0]]
    first = [learner.state["E"].origin[np.flatnonzero(row)[0]] for row in born]
    assert max(first[:2]) < 100 <= first[2] < 200 <= first[3]  # the rounds of the first vectors
    assert learner.weights.sum() == 1.0 or abs(learner.weights.sum() - 1.0) < 1e-12
    short, _ = one_pass("omkc_growing", clouds(T=100), with_kernels(GAUSSIANS), first=2, every=100, beta=0.5)
    np.testing.assert_array_equal(short.weights[2:], 0.25)  # they share what is left of 1


@STREAMS
def test_a_leader_without_perturbation_is_the_kernel_with_the_fewest_mistakes(stream):
    """eta = 1e9: the draws change nothing but ties."""
    data = stream()
    learner, trace = one_pass("omkc_fpl", data, with_kernels(GAUSSIANS), eta=1e9)
    alone = [one_pass("perceptron", data, kernel=kernel)[1] for kernel in GAUSSIANS]
    counts = np.cumsum([one.mistake for one in alone], axis=1)
    np.testing.assert_array_equal(learner.state["M"], counts[:, -1])
    for t in range(1, data.T):
        least = np.flatnonzero(counts[:, t - 1] == counts[:, t - 1].min())
        assert np.isclose(trace.score[t], [alone[i].score[t] for i in least], rtol=1e-9, atol=1e-12).any()


def test_a_perturbed_leader_follows_every_kernel_at_times():
    """eta near 0: each kernel is followed in a share of 1 / m of the rounds."""
    data = clouds(T=3000)
    _, trace = one_pass("omkc_fpl", data, with_kernels(GAUSSIANS), eta=1e-9)
    alone = [one_pass("perceptron", data, kernel=kernel)[1] for kernel in GAUSSIANS]
    expected = np.mean([one.mistake.mean() for one in alone])
    assert abs(trace.mistake.mean() - expected) < 0.03


@STREAMS
def test_delta_one_without_a_floor_of_its_own_shares_one_vector_a_round(stream):
    """p_i = 1/m, so each kernel stores about 1/m of what it stores when always updated."""
    data = stream()
    few = one_pass("omkc_sd", data, "paper16", delta=1.0, floor="delta/m")[0].state["E"]
    every = one_pass("omkc_dd", data, "paper16")[0].state["E"]
    assert 0 < few.n_sv_sum[0] < 0.35 * every.n_sv_sum[0]


@STREAMS
@pytest.mark.parametrize("given", [MIXED, COSINE], ids=("none", "cosine"))
def test_the_order_of_the_kernels_is_of_no_account(stream, given):
    """omkc_u counts whole votes, and each kernel's list is its own whatever comes before it in the pool."""
    data, m = stream(), len(given["kernels"])
    learner, trace = one_pass("omkc_u", data, given)
    for seed in range(3):
        shuffled = np.random.default_rng(seed).permutation(m)
        other, same = one_pass("omkc_u", data, {**given, "kernels": [given["kernels"][i] for i in shuffled]})
        assert_same(traced(trace), traced(same))
        np.testing.assert_array_equal(kept(learner)["A"][shuffled], kept(other)["A"])
        np.testing.assert_array_equal(learner.state["E"].n_sv[shuffled], other.state["E"].n_sv)


@STREAMS
def test_standard_and_published_differ_only_with_polynomials(stream):
    data = stream()
    gaussians, mixed = with_kernels(GAUSSIANS), pool("paper16")
    runs = [
        [one_pass("omkc_sd", data, given, variant=v)[0].state["E"].n_sv for v in ("standard", "published")]
        for given in (gaussians, mixed)
    ]
    np.testing.assert_array_equal(*runs[0])
    assert (runs[1][0][-3:] > 0).any()
    np.testing.assert_array_equal(runs[1][1][-3:], 0)


@STREAMS
def test_star_over_the_whole_prefix_has_the_fewest_mistakes_of_all_kernels(stream):
    data, spec, given = stream(), learner_spec("perceptron_star"), pool("paper16")
    star = run_pass(spec, {**spec.defaults, "prefix": 1.0}, given, data, np.arange(data.T), 1)
    each = [one_pass("perceptron", data, kernel=k)[1].mistake.sum() for k in given["kernels"]]
    assert star["mistakes"] == min(each)


@STREAMS
def test_a_passive_aggressive_step_settles_its_example(stream):
    """C >= 1, k(x, x) = 1: after the step y f(x) = 1, so that an example seen twice stores nothing more."""
    data = stream()
    twice = np.repeat(np.arange(data.T), 2)
    learner, trace = one_pass("omkc_ddpa", data, with_kernels(GAUSSIANS), twice, C=100.0)
    np.testing.assert_array_equal(trace.n_sv_sum[2::2], trace.n_sv_sum[1:-1:2])
    assert learner.state["E"].n_sv_union[0] > 1

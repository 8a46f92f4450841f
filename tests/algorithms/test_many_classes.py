"""More than two classes: every learner of `about.classes: many` against its naive twin, and for two classes
against itself.
"""

import dataclasses
import math

import numpy as np
import pytest
from reference import TWINS
from reference.rounds import rounds
from support.engine_cases import COSINE, MIXED, assert_same, dataset, one_pass, state, traced
from support.twin_cases import OPTIONS

import omkl.data
from omkl.config import learner_names, learner_spec
from omkl.engine.stream import make_stream, part
from omkl.passes.packing import pack, unpack
from omkl.state.resource import Setup
from omkl.testing import twins
from omkl.testing.cases import case_stream, class_clouds, class_ties, csr_of, fresh_learner, matrix_of

NAMES = [name for name in learner_names() if learner_spec(name).classes == "many"]
GAUSSIAN = {"kind": "gaussian", "sigma": 1.0}
STREAMS = {"clouds of 5": (class_clouds(100, 5, seed=1), MIXED), "ties of 3": (class_ties(80, 3), COSINE)}


def small(name, **over):
    """Hyperparameters under which a budget is full early, and a kernel is no line."""
    spec = learner_spec(name)
    own = {"budget": 12} if spec.budget else {"D": 6} if "D" in twins.small(name) else {}
    return own | ({"kernel": GAUSSIAN} if spec.kernels == "own" else {}) | over


def compare(name, data, given, block=None, **over):
    twin = TWINS.get(name) or TWINS[learner_spec(name).function]
    passes = twins.both(name, twin, data, np.arange(data.T), given, block, **over)
    twins.assert_equal(name, data, np.arange(data.T), passes)
    return passes.trace


@pytest.mark.parametrize(
    ("name", "stream"), [(n, s) for n in NAMES for s in STREAMS if (n, s) != ("auto", "clouds of 5")]
)
def test_learner_equals_its_twin(name, stream):
    trace = compare(name, *STREAMS[stream], **small(name))
    label = STREAMS[stream][0].y
    assert 0 < trace.mistake.sum() < len(label)
    assert (trace.mistake | (trace.predicted == label)).all()
    best = trace.class_scores[np.arange(len(label)), trace.predicted]  # of all classes, in every round
    assert (best >= trace.class_scores.max(axis=1) - 1e-9 * np.abs(trace.class_scores).max(axis=1)).all()


# Not of more than two classes: the slip counts vectors twice, which twins of classes do not; and weights of
# squared losses underflow, so that the order of products decides them.
OF_TWO = [("omkc_sd", {"variant": "published"}), ("raker", {"loss": "squared", "lam": 0.01})]
OF_MANY = [
    (at, name, over)
    for at, (name, over) in enumerate(OPTIONS)
    if name in NAMES
    and not any(name == left_out and part_of.items() <= over.items() for left_out, part_of in OF_TWO)
]


@pytest.mark.parametrize(("at", "name", "over"), OF_MANY)
def test_options_equal_the_twin(at, name, over):
    compare(name, *STREAMS[list(STREAMS)[at % 2]], **small(name, **over))


def passed(name, data, given, **how):
    return one_pass(name, data, given, rounds=data.T, **how)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "auto"])  # a stack of others
def test_blocks_and_cuts_change_nothing(name):
    data, given = STREAMS["clouds of 5"]
    learner, trace = passed(name, data, given, **small(name))
    other, same = passed(name, data, given, block=1, **small(name))
    assert_same(traced(trace), traced(same), "block 1")
    assert_same(state(learner), state(other), "block 1")
    cut = fresh_learner(name, given, data.d, block=16, rounds=data.T, classes=5, **small(name))
    stream = case_stream(data)
    parts = [traced(cut.run(part(stream, *ends))[0]) for ends in ((0, 50), (50, data.T))]
    assert_same(traced(trace), {k: np.concatenate([one[k] for one in parts]) for k in parts[0]}, "cut at 50")
    assert_same(state(learner), state(cut), "cut at 50")


@pytest.mark.parametrize("name", ["omkc_dd", "bomkc_rbp", "raker", "norma"])
def test_a_learner_of_saved_arrays_goes_on(name):
    data, given = STREAMS["clouds of 5"]
    stream = case_stream(data)
    learner, trace = passed(name, data, given, **small(name))
    half = fresh_learner(name, given, data.d, rounds=data.T, classes=5, **small(name))
    half.run(part(stream, 0, 60))
    other = unpack(*pack(half))
    rest, _ = other.run(part(stream, 60, data.T))
    assert_same(traced(rest), {k: v[60:] for k, v in traced(trace).items()})
    assert_same(state(learner), state(other))


@pytest.mark.parametrize(("damage", "said"), [(5, "outside"), (-1, "outside"), (None, "its own rival")])
def test_damaged_classes_of_saved_arrays_are_found(damage, said):
    learner, _ = passed("omkc_dd", *STREAMS["clouds of 5"])
    header, arrays = pack(learner)
    class_of = arrays["E.class_of"].copy()
    class_of[0, 3] = class_of[-1, 3] if damage is None else damage
    with pytest.raises(ValueError, match=f"E: .*{said}"):
        unpack(header, arrays | {"E.class_of": class_of})


@pytest.mark.parametrize("name", NAMES)
def test_labels_do_not_change_predictions_of_new_rows(name):
    """Scoring learns nothing; rows without labels, which are given class 0, are predicted as with them."""
    data, given = STREAMS["ties of 3"]
    learner, _ = passed(name, data, given, **small(name))
    before, draws = state(learner), learner.state["rng"].bit_generator.state
    predicted = []
    for labels in (data.y, np.zeros_like(data.y)):
        learner.state["rng"].bit_generator.state = draws
        rows = case_stream(dataclasses.replace(data, y=labels))
        predicted.append(learner.run(rows, learn=False)[0].predicted)
    np.testing.assert_array_equal(*predicted)
    assert_same(before, state(learner), "after scoring")


# ------------------------------------------------------------------ two classes through the form for many

HALF = {"eta": 0.5, "lam": 2.0}  # a fixed step eta changes two classes; eta lam stays
HALF_CAP = {"C": 0.5}  # of a step that is divided by 2 kappa(x, x)
# margins are doubled: in beta^margin, and sum_c ||f_c||^2 is twice ||f||^2
DOUBLED = {"beta": "root", "R": math.sqrt(2.0)}
ADAPTED = {
    **dict.fromkeys(
        ("bomkc_bogd", "bomkc_fogd", "bomkc_nogd", "bomkc_spa", "norma", "norma_growing", "rff"), HALF
    ),
    **dict.fromkeys(("raker", "ahpatron", "bomkc_ahpatron"), HALF),
    **dict.fromkeys(("omkc_ddpa", "omkc_dspa", "omkc_sdpa", "omkc_sspa", "bomkc_bpas"), HALF_CAP),
    "avp": {"eta": 0.5, "U": math.sqrt(0.5)},  # sum_c ||f_c||^2 is half of ||f||^2
    **dict.fromkeys(("omklo_da", "omklo_sua"), DOUBLED),
    **{name: twin.adapted for name, twin in TWINS.items() if hasattr(twin, "adapted")},
}
# A learner that cannot be its binary self, and why.
APART = {
    "omklp_da2": "the degree of a mistake, 1/2 + min(gamma, -margin), is not proportional to the margin",
    "bomkc_projectronpp": "its mistakes double the margin, which its other steps compare with 1",
    "arow": "the two classes' variances are kept apart, so that the update is not of their difference",
    **{name: twin.apart for name, twin in TWINS.items() if hasattr(twin, "apart")},
}
CHOSEN = {  # options beside the defaults under which the rest of the rule applies
    "raker": {"pool": [GAUSSIAN], "eta": 0.3, "step": "constant"},  # eta is also the weights', of no account
    "rff": {"eta": 0.3},
    "omklo_sua": {"eta": 0.5},
    # its radius depends on the budget alone: one that is never reached
    "ahpatron": {"eta": 0.05},
    "bomkc_ahpatron": {"pool": [{**GAUSSIAN, "sigma": sigma} for sigma in (0.5, 1.0, 2.0)], "eta": 0.05},
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in APART])
@pytest.mark.parametrize("make", [class_clouds, class_ties])
def test_two_classes_are_the_learner_itself(name, make, monkeypatch):
    """F = f_0 - f_1 is twice f, or f where eta is halved: the same mistakes; class 0 is +1, as of a tie."""
    rows = make(150, 2, seed=3)
    X, label = matrix_of(rows), rows.y
    over = small(name) | CHOSEN.get(name, {})
    kernels = over.pop("pool", MIXED["kernels"])
    given = {"normalise": "none", "kernels": kernels}
    params = {**learner_spec(name).usual("classification"), **over}
    adapted = {
        key: math.sqrt(params[key]) if factor == "root" else params[key] * factor
        for key, factor in ADAPTED.get(learner_spec(name).function, ADAPTED.get(name, {})).items()
        if key in params
    }
    data = dataset(X, 1.0 - 2.0 * label)
    learner, trace = one_pass(name, data, given, rounds=data.T, **over)
    monkeypatch.setattr(Setup, "many", property(lambda self: 2))
    many = fresh_learner(name, given, data.d, rounds=data.T, **{**over, **adapted})
    same, _ = many.run(make_stream(*csr_of(X), label, np.arange(150), 3))
    np.testing.assert_array_equal(trace.mistake, same.mistake)
    np.testing.assert_array_equal(trace.n_sv_sum, same.n_sv_sum)
    if learner.weights is not None:
        np.testing.assert_allclose(many.weights, learner.weights, rtol=1e-9)


def test_usps_in_time_order(shared_data):
    """One kernel, sigma = 4: the perceptron errs on 6.9 % of the digits."""
    data = omkl.data.find("usps_train").load()
    stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T), 10)
    over = {"kernel": {**GAUSSIAN, "sigma": 4.0}}
    trace, _ = fresh_learner("perceptron", None, data.d, rounds=data.T, classes=10, **over).run(stream)
    assert 0.0685 <= trace.mistake.mean() < 0.0695


NEAR = [
    *({"kind": "gaussian", "sigma": sigma} for sigma in (4.0, 2.0, 0.25)),
    {"kind": "gaussian", "gamma": 0.3},
    *({"kind": "laplacian", "sigma": sigma} for sigma in (0.5, 8.0)),
]


def test_which_score_is_larger_is_decided_by_plain_sums():
    """Scores that tie exactly, or up to a residue of rounding that decides: each kernel's vectors are those
    of plain sums from left to right. The streams hold ties of both kinds, else they would prove little.
    """
    exact = residues = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, label = rng.integers(0, 3, (100, 1)).astype(float), rng.integers(4, size=100)
        compare("omkc_u", dataset(X, label, classes=4), {"normalise": "none", "kernels": NEAR}, block=24)
        E = rounds(X, label, NEAR, "none")
        for _ in E:
            for s, d_i in zip(E.f, E.d, strict=True):
                size = max(map(abs, s))
                exact += size > 0 and d_i == 0
                residues += 0 < abs(d_i) <= 1e-12 * size
            E.learn(E.d <= 0)
    assert exact > 30
    assert residues > 10

"""Widths in medians: what they are, cut anywhere, saved at any round, and what the kept rows must be."""

import itertools
import pickle

import numpy as np
import pytest
from reference import TWINS, medians
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.base import clone

from omkl import river, sklearn
from omkl.config import learner_spec, plan
from omkl.config.kernel_kinds import check_kernel, with_median
from omkl.engine.stream import make_stream, part
from omkl.errors import UserError
from omkl.models.asked import score
from omkl.passes.chosen_kernels import choose_kernels
from omkl.passes.packing import pack, snapshot, unpack, with_classes
from omkl.rounds.scaling import Scaling
from omkl.rounds.support_vectors import stored_vectors
from omkl.rounds.widths import STEPS, Widths, median_distance
from omkl.runs.cells import expand
from omkl.testing.cases import assert_same, clouds, dataset, fresh_learner, matrix_of, traced
from omkl.theorems.evaluation import with_theorems

HALF, ONE = check_kernel("gaussian(sigma=0.5 median)"), check_kernel("laplacian(sigma=1 median)")
POOL = {"normalise": "none", "kernels": [HALF, ONE, check_kernel("linear")]}
T = 330
LEARNERS = {
    "krls_t": {"kernel": HALF, "budget": 20},
    "arow_features": {"kernel": HALF, "D": 4},  # draws its features
    "lasvm": {"kernel": HALF},
    "ahpatron": {"kernel": HALF, "budget": 12},
    "omkc_ss": {},  # draws in each round
    "norma": {"kernel": HALF, "tau": 15},
    "okr": {"kernel": HALF},  # its step depends on the length of the pass
}


def fresh(name, classes=2, d=5):
    return fresh_learner(name, POOL, d, rounds=T, classes=classes, **LEARNERS[name])


def rows_of(classes=2):
    data = clouds(T)
    y = data.y if classes == 2 else (np.arange(T) * 7 % 5 % classes).astype(float)
    return make_stream(data.indptr, data.indices, data.values, y, np.arange(T)[::-1], classes)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_between_two_steps_it_is_a_learner_of_one_width_that_has_learnt_all_rows(name, classes):
    spec = learner_spec(name)
    if not spec.takes(classes) or name == "okr" or (name, classes) == ("omkc_ss", 3):
        pytest.skip("for two classes, or the twin needs rows beyond the step")
    stream, learner = rows_of(classes), fresh(name, classes)
    trace, _ = learner.run(stream)
    X, y = matrix_of(clouds(T))[::-1], stream.y if classes == 2 else stream.label
    params = {**spec.usual(spec.tasks[0]), **LEARNERS[name]}
    hyper = {key: value for key, value in params.items() if key != "kernel"}
    rng, kernels = np.random.default_rng(1), learner.pool["kernels"]
    expected, _ = medians.scores(TWINS[name], X, y, kernels, rng=rng, normalise="none", **hyper)
    np.testing.assert_allclose(trace.score, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_cuts_and_saving_change_no_bit(name):
    stream, whole, cut = rows_of(), fresh(name), fresh(name)
    trace, _ = whole.run(stream)
    ends = sorted({0, 1, 3, *STEPS, 299, 301, T} - {10, 50})
    traces = []
    for start, stop in itertools.pairwise(ends):
        traces.append(cut.run(part(stream, start, stop))[0])
        cut = unpack(*snapshot(cut))
    np.testing.assert_array_equal(np.concatenate([own.score for own in traces]), trace.score)
    (header, arrays), (other, others) = pack(whole), pack(cut)
    assert header == other
    assert_same(arrays, others)
    assert arrays["@y"].size == 0  # the width stays, and nothing is kept


def test_row_by_row_scaled_online():
    stream, one, many = rows_of(), fresh("krls_t"), fresh("krls_t")
    one.steps.insert(0, Scaling(5, "online"))
    many.steps.insert(0, Scaling(5, "online"))
    trace, _ = one.run(stream)
    for t, row in enumerate(stream.order):
        own = slice(*stream.indptr[row : row + 2])
        _, made = many.run_row(stream.indices[own], stream.values[own], stream.y[t])
        assert_same(traced(made), {key: each[t : t + 1] for key, each in traced(trace).items()}, f"in {t}")
    assert_same(snapshot(one)[1], snapshot(many)[1])  # also the numbers of the rows that it stores
    distance = one.widths.distance[0]
    scaled = Scaling(5, "online").scaled(part(stream, 0, STEPS[-1]), True)[0]
    X = csr_array((scaled.values, scaled.indices, scaled.indptr), shape=(STEPS[-1], 5)).toarray()
    assert distance == pytest.approx(medians.distance(X))
    first = medians.distance(matrix_of(clouds(T))[::-1][:20])  # in the order of the stream
    assert median_distance(part(stream, 0, 20)) == pytest.approx(first)


def test_scoring_changes_nothing_and_numbers_stay_the_rows():
    stream, learner = rows_of(), fresh("krls_t")
    learner.run(part(stream, 0, 99))
    before = snapshot(learner)[1]
    rows = stream.indptr, stream.indices, stream.values
    first = score(learner, *rows)
    np.testing.assert_array_equal(score(learner, *rows), first)
    assert_same(snapshot(learner)[1], before)
    assert not any(np.shares_memory(before[name], array) for name, array in pack(learner)[1].items())
    learner.run(part(stream, 99, 101))  # begins again at 100
    numbers, stored = stored_vectors(learner)
    assert set(numbers) <= set(stream.order[:101])
    np.testing.assert_array_equal(stored.toarray(), matrix_of(clouds(T))[numbers])


def test_a_kernel_is_chosen_with_the_median_of_the_first_rows():
    stream, spec = rows_of(), learner_spec("perceptron_star")
    params = spec.usual("classification") | {"select": "prefix"}
    chosen = choose_kernels(spec, params, {**POOL, "kernels": [ONE]}, 5, stream, 1)["kernels"]
    first = medians.distance(matrix_of(clouds(T))[::-1][: STEPS[-1]])
    assert chosen[0]["sigma"] == pytest.approx(first)


def test_the_data_unit_does_not_matter():
    data = clouds(T)
    near = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(T))
    far = make_stream(data.indptr, data.indices, 1024.0 * data.values, data.y, np.arange(T))
    traces = [fresh("krls_t").run(own)[0] for own in (near, far)]
    np.testing.assert_array_equal(traces[0].score[2:], traces[1].score[2:])


def test_rows_that_are_all_the_same_have_the_distance_1():
    X = np.ones((30, 2))
    stream = make_stream(np.arange(31) * 2, np.tile([0, 1], 30), X.ravel(), np.ones(30), np.arange(30))
    learner = fresh_learner("krls_t", None, 2, kernel=HALF)
    learner.run(stream)
    assert learner.widths.distance[0] == 1.0
    far = make_stream(np.arange(3), np.arange(2), np.full(2, 1e200), np.ones(2), np.arange(2))
    assert median_distance(far) == 1.0  # its square overflows


def test_columns_and_classes_that_come_later():
    stream, learner = rows_of(3), fresh("krls_t", 3)
    learner.run(part(stream, 0, 60))
    rows = stream.indptr, stream.indices, stream.values
    before = score(learner, *rows)
    learner = with_classes(learner, 4)
    learner.add_features(9)
    learner.run(part(stream, 60, 120))
    assert learner.widths.y.size == learner.widths.seen[0] == 120
    assert before.shape == score(learner, *rows).shape
    header, arrays = snapshot(learner)
    with pytest.raises(ValueError, match="other classes"):
        unpack(header, arrays | {"@y": arrays["@y"] + 9})


@pytest.mark.parametrize("estimator", ["sklearn", "river"])
def test_estimators_take_them_in_any_cut(estimator):
    data = clouds(60)
    X, y = matrix_of(data), data.y > 0
    if estimator == "sklearn":
        made = sklearn.KrlsTClassifier(kernel="gaussian(sigma=0.5 median)", scale="online", budget=20)
        whole, parts = clone(made).fit(X, y), clone(made)
        for rows in np.array_split(np.arange(60), [1, 7, 30]):
            parts.partial_fit(X[rows], y[rows], classes=[False, True])
        np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))
        again = pickle.loads(pickle.dumps(parts))
        np.testing.assert_array_equal(again.decision_function(X), parts.decision_function(X))
        return
    model = river.KrlsTClassifier(kernel="gaussian(sigma=0.5 median)", budget=20)
    for x, label in zip(X, y, strict=True):
        model.learn_one(dict(enumerate(x)), label)
    assert (
        np.mean([model.predict_one(dict(enumerate(x))) == label for x, label in zip(X, y, strict=True)]) > 0.8
    )


def test_keys_hold_the_words_and_the_theorems_refuse_them():
    def cells(*words):
        own = plan([*words, "data=wdbc", "reps=1", "yardsticks=[]"])
        return [cell.key for cell in expand(own)]

    keys = cells("algo=krls_t(kernel=gaussian(sigma=0.5 median)),krls_t(kernel=gaussian(sigma=0.5))")
    assert len(set(keys)) == 2
    assert cells("algo=krls_t", "algo.kernel={kind:gaussian,sigma:0.50 median}") == keys[:1]
    with pytest.raises(UserError, match="give each width as a number"):
        with_theorems(plan(["algo=omkc_dd", "pool.kernels=[{kind:gaussian,sigma:1 median}]", "data=wdbc"]))
    for word in ("median", "-1 median", "0 median", "1 medians", "x median"):
        with pytest.raises(ValueError, match="sigma of a gaussian kernel"):
            check_kernel({"kind": "gaussian", "sigma": word})
    assert with_median({"kernels": [HALF]}, 1e200)["kernels"][0]["sigma"] == 1e100


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("seen", lambda own: own + 1, "other rows"),
        ("distance", lambda own: -own, "other rows"),
        ("values", lambda own: own * np.inf, "not finite"),
        ("indices", lambda own: own + 9, "other columns"),
        ("indptr", lambda own: own[::-1], "bounds"),
        ("y", lambda own: own[:-1], "other rows"),
        ("origin", lambda own: own.astype(float), "no right array"),
        ("values", lambda own: own * 1e200, "overflow"),
    ],
)
def test_a_model_whose_kept_rows_are_broken_is_refused(name, change, says):
    learner = fresh("krls_t")
    learner.run(part(rows_of(), 0, 40))
    header, arrays = snapshot(learner)
    with np.errstate(invalid="ignore"):
        arrays[f"@{name}"] = np.ascontiguousarray(change(arrays[f"@{name}"]))
    with pytest.raises(ValueError, match=says):
        unpack(header, arrays)


def test_steps_are_these_and_after_the_last_one_the_distance_stays_and_rows_are_let_go():
    X = np.random.default_rng(0).normal(size=(300, 3)) * np.linspace(1, 4, 300)[:, None]
    data, widths, distance = dataset(X, np.ones(300)), Widths(), 1.0
    steps = [2, 5, 10, 20, 50, 100, 300]
    for n in range(1, 301):
        assert widths.left == next(step for step in steps if step >= n) - (n - 1)
        rounds = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(n - 1, n))
        assert widths.keep(rounds, 0) == (n in steps)
        if n in steps:
            distance = np.median(pdist(X[:n]))
        assert widths.distance[0] == pytest.approx(distance, rel=1e-9)
        widths.forget_if_last()
        assert widths.y.size == (n if n < 300 else 0)
    assert widths.left == 0

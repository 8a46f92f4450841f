"""Scaling while the stream runs: the naive twin, no look ahead, parts, files, estimators."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reference.scaling import ranked_rows, scaled_rows, scaled_targets
from scipy import stats

import omkl.sklearn
from omkl.cli import main
from omkl.config import learner_spec, learner_specs, plan, pool
from omkl.config.kernel_kinds import check_kernel
from omkl.config.plans import resolved
from omkl.data.dataset import content_hash
from omkl.models.model_file import read_model, write_model
from omkl.passes import run_pass, warm_up
from omkl.passes.one_pass import whole_pass
from omkl.passes.packing import snapshot, unpack
from omkl.rounds.scaling import Scaling, are_dense
from omkl.runs.cells import expand
from omkl.stacks.new_learner import new_learner
from omkl.testing.cases import case_stream, dataset, matrix_of, sparse
from omkl.testing.twins import SEED

T = 120
GAUSS3 = pool("gauss3")


def offset(T=T, seed=0):
    """Rows with a constant feature, one that begins late, one far from 0, and zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 6)) * [1, 50, 1e-3, 1, 1, 1] + [0, 1000, 0, 0, 0, 0]
    X[:, 3] = 7.0
    X[: T // 3, 4] = 0.0
    X[:, 5] *= rng.random(T) < 0.5
    return dataset(X, np.where(X[:, 1] + 50 * X[:, 0] > 1000, 1.0, -1.0))


def few():
    """Rows that are too sparse to be centred."""
    return sparse(T, 40, 3)


def with_targets(factor=1.0):
    data = offset()
    y = factor * (300 + 40 * np.tanh(matrix_of(data)[:, 0]) + matrix_of(data)[:, 1] / 50)
    return replace(
        data, y=y, task="regression", content_hash=content_hash(data.indptr, data.indices, data.values, y)
    )


def traced(name, data, scaling=None, order=None):
    """The trace of a pass."""
    spec = learner_spec(name)
    kernels = pool(spec.usual_pool or "gauss3") if spec.kernels == "pool" else None
    order = np.arange(len(data.y)) if order is None else order
    ended = whole_pass(spec, spec.usual(data.task), kernels, data, order, SEED, scaling=scaling)
    return ended.trace, ended.figures


def matrix(indptr, indices, values, d):
    X = np.zeros((len(indptr) - 1, d))
    X[np.repeat(np.arange(len(X)), np.diff(indptr)), indices] = values
    return X


def ties():
    """Rows with equal values, gaps, a constant, and more rows than ranks are among."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4)).round(1)
    X[:, 2], X[rng.random(700) < 0.2, 3], X[50:60, 1] = 7.0, np.nan, np.nan
    return dataset(X, np.where(X[:, 0] > 0, 1.0, -1.0))


def turned():
    """Rows that are sparse at first, and dense from some row on; with gaps."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 12)).round(1) * (rng.random((400, 12)) < 0.07)
    X[40:] = rng.normal(size=(360, 12)).round(1) * (rng.random((360, 12)) < 0.5)
    X[rng.random((400, 12)) < 0.02] = np.nan
    return dataset(X, np.where(X[:, 0] > 0, 1.0, -1.0))


def back():
    """The same rows, the last first: dense rows, then sparse ones."""
    data = turned()
    return dataset(matrix_of(data)[::-1], data.y[::-1])


@pytest.mark.parametrize("made", [offset, few, ties, turned, back])
def test_ranks_are_those_of_the_naive_twin_in_any_cut(made):
    data = made()
    order = np.random.default_rng(1).permutation(data.T) if made in (offset, few, ties) else np.arange(data.T)
    own = Scaling.of({"scale": "ranks"}, data)
    X, cuts = [], np.sort(np.random.default_rng(2).integers(0, data.T, 9))
    for cut in np.split(order, cuts):
        part = case_stream(data, cut)
        stream, _ = own.scaled(part, learn=True)
        X.append(matrix(stream.indptr, stream.indices, stream.values, data.d))
        again = own.scaled(part, learn=False)[0]
        if cut.size:
            stop = stream.indptr[1]
            assert np.array_equal(again.values[:stop], stream.values[:stop])
        own.see(part)
    expected = ranked_rows(matrix_of(data)[order].tolist())
    assert np.allclose(np.vstack(X), expected, rtol=0, atol=1e-12)
    whole = Scaling.of({"scale": "ranks"}, data).scaled(case_stream(data, order), learn=True)[0]
    assert np.array_equal(
        np.vstack(X), matrix(whole.indptr, whole.indices, whole.values, data.d), equal_nan=False
    )
    assert not X[0][:1].any(), "the first row has nothing to be compared with"
    assert np.abs(expected).max() < 2.95 if made is not few else True


@pytest.mark.parametrize("made", [ties, turned, back])
def test_saved_ranks_go_on_as_they_would_have(made):
    data, spec = made(), learner_spec("arow")
    scaling = Scaling.of({"scale": "ranks"}, data)
    learner = new_learner(spec, spec.usual("classification"), None, data.d, 1, scaling=scaling)
    learner.run(case_stream(data, np.arange(60)))
    again = unpack(*snapshot(learner))
    rows = [
        own.scaling.scaled(case_stream(data, np.arange(60, 120)), learn=True)[0] for own in (learner, again)
    ]
    assert np.array_equal(rows[0].values, rows[1].values)


def test_ranks_of_wide_rows_are_among_as_many_rows_as_there_is_room_for(monkeypatch):
    """The memory has a bound: of 64 values here, with rows of 3; a row that is larger is held by none."""
    monkeypatch.setattr("omkl.rounds.feature_scales.LEAST_VALUES", 64)
    monkeypatch.setattr("omkl.rounds.feature_scales.MOST_VALUES", 64)
    data = sparse(T, 500, 3)
    own = Scaling.of({"scale": "ranks"}, data)
    for cut in np.array_split(np.arange(T), 7):
        own.see(case_stream(data, cut))
        last = own.scaled(case_stream(data, cut[-1:]), learn=True)[0].values
    assert len(own.features.arrays()["indptr"]) == 22  # 21 rows
    fresh = Scaling.of({"scale": "ranks"}, data)
    fresh.see(case_stream(data, np.arange(T - 21, T)))
    assert np.array_equal(fresh.scaled(case_stream(data, cut[-1:]), learn=True)[0].values, last)
    large = dataset(np.ones((1, 500)), np.ones(1))
    own.see(case_stream(large))
    assert len(own.features.arrays()["indptr"]) == 1


@pytest.mark.parametrize("made", [offset, few])
def test_rows_are_scaled_as_the_naive_twin_does(made):
    data = made()
    own = Scaling.of({"scale": "online"}, data)
    order = np.random.default_rng(1).permutation(T)
    stream, units = own.scaled(case_stream(data, order), learn=True)
    expected = np.array(scaled_rows(matrix_of(data)[order].tolist()))
    X = matrix(stream.indptr, stream.indices, stream.values, data.d)
    assert units is None
    assert np.allclose(X, expected, rtol=1e-9, atol=1e-9)
    assert not X[0].any(), "the first row has nothing to be compared with"
    if made is offset:
        assert not X[:, 3].any(), "a feature that does not vary is 0"
        assert np.abs(X).max() <= np.sqrt(T)
    else:
        assert stream.values.size <= data.nnz, "sparse rows stay sparse"
        assert [are_dense(sparse(T, 40, count)) for count in (4, 5)] == [False, True]  # one in eight


@pytest.mark.parametrize("made", [offset, few])
def test_rows_of_another_size_are_scaled_as_the_naive_twin_does(made):
    data = made()
    values = data.values.copy()
    for row in (0, 5, 40, *range(70, 90, 2), 110):
        values[data.indptr[row] : data.indptr[row + 1]] *= 1000.0
    data = replace(data, values=values)
    own = Scaling.of({"scale": "online"}, data)
    stream, _ = own.scaled(case_stream(data), learn=True)
    X = matrix(stream.indptr, stream.indices, stream.values, data.d)
    assert np.allclose(X, scaled_rows(matrix_of(data).tolist()), rtol=1e-9, atol=1e-9)
    assert np.abs(X).max() == 10.0
    own.see(case_stream(data))
    assert own.features.begun.tolist() == [32, 64]


def xor(bad):
    """The mistakes of a learner that is scaled online on an XOR of normals, of whose rows some are x 1000."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    X[bad] *= 1000.0
    return traced("arow_features", dataset(X, y), {"scale": "online"})[1]["mistakes"]


def test_rows_of_another_size_cost_little():
    clean = xor([])
    assert clean < 250
    assert xor([0]) <= 1.05 * clean
    assert xor([100]) <= 1.05 * clean
    assert xor(range(0, 2000, 100)) <= 1.2 * clean


@pytest.mark.parametrize("name", ["omkc_dd", "arow", "bomkc_spa", "last_label"])
def test_a_pass_is_that_over_the_scaled_rows(name):
    data, order = offset(), np.random.default_rng(1).permutation(T)
    trace, _ = traced(name, data, {"scale": "online"}, order)
    plain = dataset(scaled_rows(matrix_of(data)[order].tolist()), data.y[order])
    expected, _ = traced(name, plain)
    assert np.allclose(trace.score, expected.score, rtol=1e-6, atol=1e-9)
    assert np.array_equal(trace.mistake, expected.mistake)


@pytest.mark.parametrize("scale", ["online", "ranks"])
@pytest.mark.parametrize("made", [offset, few])
def test_no_row_depends_on_later_ones(made, scale):
    data = made()
    other = replace(data, values=data.values.copy(), y=data.y.copy())
    half = T // 2
    other.values[other.indptr[half] :] *= 1000.0
    other.y[half:] *= -1
    own = Scaling.of({"scale": scale}, data)
    rows = [own.scaled(case_stream(one), learn=True)[0] for one in (data, other)]
    stop = rows[0].indptr[half]
    assert np.array_equal(rows[0].values[:stop], rows[1].values[:stop])
    assert not np.array_equal(rows[0].values, rows[1].values)
    first, second = (traced("omkc_dd", one, {"scale": scale})[0].score for one in (data, other))
    assert np.array_equal(first[:half], second[:half])
    prefix = traced("omkc_dd", data, {"scale": scale}, np.arange(half))[0].score
    assert np.array_equal(prefix, first[:half])


@pytest.mark.parametrize("scale", ["online", "ranks"])
@pytest.mark.parametrize(("name", "made"), [("omkc_dd", offset), ("omkc_dd", few), ("raker", with_targets)])
def test_a_pass_in_parts_and_through_a_file_is_the_same_pass(name, made, scale, tmp_path):
    data, spec = made(), learner_spec(name)
    words = {"scale": scale} | ({"target": "online"} if data.task == "regression" else {})
    kernels = GAUSS3
    params = spec.usual(data.task)
    warm_up([(spec, params, 2)])

    def learner():
        return new_learner(spec, params, kernels, data.d, 1, rounds=T, scaling=Scaling.of(words, data))

    whole = learner().run(case_stream(data))[0]
    model, scores = learner(), []
    for cut in np.array_split(np.arange(T), 7):
        part = case_stream(data, cut)
        again = model.run(part, learn=False)[0].score
        assert again[0] == model.run(part, learn=False)[0].score[0], "scoring changes nothing"
        scores.append(model.run(part)[0].score)
        assert scores[-1][0] == again[0], "a row is scored as the next round would"
        about = {"task": data.task, "classes": None if data.task == "regression" else ["a", "b"]}
        write_model(tmp_path / "m", model, about)
        model = read_model(tmp_path / "m")[0]
    assert np.array_equal(np.concatenate(scores), whole.score)


@pytest.mark.parametrize("scale", ["online", "ranks"])
def test_an_estimator_goes_on_as_one_pass_does(scale):
    data = offset()
    X, y = matrix_of(data), data.y
    expected = traced("arow", data, {"scale": scale})[1]["mistakes"]
    model = omkl.sklearn.ArowClassifier(scale=scale)
    for cut in np.array_split(np.arange(T), 5):
        model.partial_fit(X[cut], y[cut], classes=[-1, 1])
    assert model.mistakes_ == expected == omkl.sklearn.ArowClassifier(scale=scale).fit(X, y).mistakes_
    plain = omkl.sklearn.ArowClassifier().fit(X, y)
    assert not np.allclose(plain.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="scale cannot change"):
        model.set_params(scale=None).predict(X)
    with pytest.raises(ValueError, match="scale must be None or 'online' or 'ranks', got 'standard'"):
        omkl.sklearn.ArowClassifier(scale="standard").fit(X, y)


def test_an_estimator_of_a_file_keeps_its_scaling(tmp_path):
    data = with_targets()
    X, y = matrix_of(data), data.y
    model = omkl.sklearn.OmkrRegressor(scale="online", target="online", pool="gauss3").fit(X, y)
    model.to_file(tmp_path / "m.omkl")
    again = omkl.sklearn.OmkrRegressor.from_file(tmp_path / "m.omkl")
    assert (again.scale, again.target) == ("online", "online")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert 250 < model.predict(X).mean() < 350, "in the targets' units"


@pytest.mark.parametrize("scale", ["online", "ranks"])
def test_a_river_model_counts_new_features_as_0_so_far(scale):
    river = pytest.importorskip("river")
    import omkl.river

    assert river
    data = offset()
    X, y = matrix_of(data), data.y
    model = omkl.river.ArowClassifier(scale=scale, classes=[-1, 1])
    own = omkl.sklearn.ArowClassifier(scale=scale)
    for t in range(T):
        row = {j: x for j, x in enumerate(X[t].tolist()) if j != 4 or t >= T // 3}  # feature 4 begins late
        model.learn_one(row, y[t])
        own.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    features = [one._model.scaling.features for one in (model, own)]
    places = [model._columns.of[j] for j in range(6)]
    if scale == "online":
        assert np.array_equal(features[0].rows[..., places], features[1].rows)
    else:
        assert np.array_equal(features[0].window[places], features[1].window)
    assert model._progress.total == own.mistakes_


@pytest.mark.parametrize("name", ["omkr", "raker", "running_mean", "krls_t"])
def test_targets_are_scaled_as_the_naive_twin_does(name):
    data = with_targets()
    trace, figures = traced(name, data, {"target": "online"})
    y, units = scaled_targets(data.y.tolist())
    expected, _ = traced(name, replace(data, y=np.array(y)))
    worth = [place + width * f for (place, width), f in zip(units, expected.score, strict=True)]
    assert np.allclose(trace.score, worth, rtol=1e-9)
    assert trace.score[0] == 0
    assert trace.score[1] == pytest.approx(data.y[0])
    assert figures["mse"] == pytest.approx(np.mean(np.square(worth - data.y)))


@pytest.mark.parametrize("target", ["standard", "minmax"])
def test_targets_are_scaled_over_the_whole_file(target):
    data = with_targets()
    y = data.y
    place, width = (y.mean(), y.std()) if target == "standard" else (y.min(), y.max() - y.min())
    expected, _ = traced("omkr", replace(data, y=(y - place) / width))
    assert np.allclose(traced("omkr", data, {"target": target})[0].score, place + width * expected.score)


def test_the_unit_of_the_targets_does_not_matter_where_they_are_scaled():
    names = ["omkr", "raker", "iegp", "krls_t", "adamkl", "vaw2"]
    spec = {name: learner_spec(name) for name in names}
    words = {"scale": "online", "target": "online"}
    errors = [{name: traced(name, with_targets(c), words)[1] for name in spec} for c in (1.0, 1e5)]
    for name in names:
        assert errors[1][name]["mse"] == pytest.approx(1e10 * errors[0][name]["mse"], rel=1e-6)
    ranks = [sorted(names, key=lambda name: own[name]["mse"]) for own in errors]
    assert ranks[0] == ranks[1]
    assert errors[0]["krls_t"]["coverage"] == errors[1]["krls_t"]["coverage"] > 0.8
    nlpd = [own["iegp"]["nlpd"] for own in errors]
    assert nlpd[1] == pytest.approx(nlpd[0] + np.log(1e5), rel=1e-6)  # a density has a unit, too
    plain = [sorted(names, key=lambda name: traced(name, with_targets(c))[1]["mse"]) for c in (1e-2, 1.0)]
    assert plain[0] != plain[1], "unscaled, the unit decides"


DENSE = [spec.name for spec in learner_specs().values() if "nlpd" in spec.measures]


@pytest.mark.parametrize("words", [{}, {"target": "standard"}, {"target": "online"}], ids=str)
@pytest.mark.parametrize("name", DENSE)
def test_nlpd_is_that_of_the_targets_in_their_own_units(name, words):
    spec, data = learner_spec(name), with_targets()
    data.y[T // 2] = 4000.0  # an outlier is no less surprising where it scales itself
    trace, figures = traced(name, data, words)
    variance = trace.further[:, spec.measures.index("variance")]
    known = variance > 0
    not_yet = "online" in words.values() or spec.is_stack  # before the targets have varied
    assert np.flatnonzero(~known).tolist() == ([0, 1] if not_yet else [])
    if spec.is_stack and "online" not in words.values():  # it is surprised as by a deviation of 1 there
        variance[~known], known[:] = np.var(data.y) if words else 1.0, True
    error, deviation = (data.y - trace.score)[known], np.sqrt(variance[known])
    logs = stats.norm.logpdf(error, scale=deviation)
    if "degrees" in spec.measures:
        degrees = trace.further[known, spec.measures.index("degrees")]
        scale = deviation * stats.norm.ppf(0.975) / stats.t.ppf(0.975, degrees)
        logs = stats.t.logpdf(error, degrees, scale=scale)
    assert figures["nlpd"] == pytest.approx(-logs.mean(), rel=1e-9)
    curve = dict(zip(figures["curve"]["t"], figures["curve"]["nlpd"], strict=True))
    assert curve[T] == pytest.approx(T * figures["nlpd"])
    some = next(t for t in curve if t > 10)
    assert curve[some] / some == pytest.approx(-logs[: some - np.count_nonzero(~known)].mean())


@pytest.mark.parametrize("target", ["online", "standard"])
def test_targets_that_do_not_vary_have_no_nlpd(target):
    data = replace(with_targets(), y=np.full(T, 3.0))
    figures = traced("krls_t", data, {"target": target})[1]
    assert "nlpd" not in figures.keys() | figures["curve"].keys()
    data.y[5] = 4.0
    figures = traced("krls_t", data, {"target": target}, np.arange(7))[1]  # the last of them has a width
    assert np.isfinite(figures["nlpd"])


def test_scales_that_follow_from_the_data_are_the_ranges_of_the_scaled_rows():
    data, spec = offset(), learner_spec("lasvm")
    X = np.array(scaled_rows(matrix_of(data).tolist()))
    ranges = np.ptp(X, axis=0)
    kernels = [{"kind": "ard", "scales": own} for own in ("auto", np.where(ranges > 0, ranges, 1.0).tolist())]
    found, expected = (
        run_pass(
            *(spec, {**spec.defaults, "kernel": check_kernel(kernel)}, None, data, np.arange(T), SEED),
            scaling={"scale": "online"},
        )
        for kernel in kernels
    )
    for name in ("mistakes", "n_sv_sum"):
        assert found[name] == expected[name] > 0


REGRESSORS = [spec.name for spec in learner_specs().values() if "regression" in spec.tasks]


@pytest.mark.parametrize("name", REGRESSORS)
def test_only_an_equivariant_learner_needs_no_scaling(name):
    data, T = with_targets(), 40
    order, words = np.arange(T), {"scale": "online"}
    moved = replace(data, y=1000.0 + 1024.0 * data.y)
    first, second = (traced(name, own, words, order)[0].score[1:] for own in (data, moved))
    same = np.allclose(second, 1000.0 + 1024.0 * first, rtol=1e-9)
    assert same == learner_spec(name).equivariant


def test_a_value_too_large_to_be_squared_is_held():
    """As any value far from the others, it costs its own row, not those after it."""
    data = offset()
    values = data.values.copy()
    values[3] = 1e200
    trace, _ = traced("arow", replace(data, values=values), {"scale": "online"})
    assert np.isfinite(trace.score).all()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scaling", None),
        ("scaling", {"scale": "online", "target": 1}),
        ("scaling", {"scale": "offline", "target": None}),
        ("scaling", {"scale": "online", "target": None, "gaps": 1}),
        (".rows", np.zeros((2, 4, 5))),
        (".rows", np.full((2, 4, 6), -1.0)),
        (".rows", np.full((2, 4, 6), np.nan)),
        (".rows", np.concatenate([np.full((1, 4, 6), 35.0), np.zeros((1, 4, 6))])),  # of 34 rows
        (".density", np.array([301, 1])),
        (".density", np.array([300, 2])),
        (".begun", np.array([16, 51])),
        (".begun", np.array([-1, 32])),
        (".means", np.full((3, 6), 26.0)),
        (".seen", np.array([-1])),
        (".targets", np.array([1.0, 0.0, -1.0])),
        (".more", np.zeros(1)),
    ],
)
def test_a_saved_scaling_that_cannot_be_is_refused(part, value):
    data, spec = offset(), learner_spec("arow")
    scaling = Scaling.of({"scale": "online"}, data, later=False)
    model = new_learner(spec, spec.usual("classification"), None, 6, 1, scaling=scaling)
    model.run(case_stream(data, np.arange(50)))
    header, arrays = snapshot(model)
    assert unpack(header, arrays).scaling.seen[0] == 50
    assert arrays[".begun"].tolist() == [16, 32]
    with pytest.raises(ValueError, match="its scaling"):
        unpack(
            {**header, **({part: value} if part == "scaling" else {})},
            {**arrays, **({part: value} if part != "scaling" else {})},
        )


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("indptr", lambda own: own[:0]),
        ("indptr", lambda own: np.r_[own, own[-1]]),  # of 51 rows, where 50 were seen
        ("indptr", lambda own: own[::-1]),
        ("indptr", lambda own: own + 1),
        ("indices", lambda own: own * 0),  # a column twice in a row
        ("indices", lambda own: own + 1),
        ("indices", lambda own: own[:-1]),
        ("values", lambda own: own * np.inf),
        ("values", lambda own: own[:, None]),
    ],
)
def test_saved_ranks_that_cannot_be_are_refused(name, broken, monkeypatch):
    data, spec = ties(), learner_spec("arow")
    scaling = Scaling.of({"scale": "ranks"}, data, later=False)
    model = new_learner(spec, spec.usual("classification"), None, 4, 1, scaling=scaling)
    model.run(case_stream(data, np.arange(50)))
    header, arrays = snapshot(model)
    assert np.array_equal(snapshot(unpack(header, arrays))[1][f".{name}"], arrays[f".{name}"])
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=r"its (scaling|ranks)"):
        unpack(header, {**arrays, f".{name}": broken(arrays[f".{name}"])})
    monkeypatch.setattr("omkl.rounds.feature_scales.MOST_VALUES", arrays[".values"].size - 1)
    with pytest.raises(ValueError, match="among rows that cannot be"):
        unpack(header, arrays)


# ------------------------------------------------------------------ the command line


@pytest.fixture
def prices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    data = with_targets()
    for name, factor in (("prices", 1.0), ("small", 1e-5)):
        rows = [[*x, factor * y] for x, y in zip(matrix_of(data).tolist(), data.y.tolist(), strict=True)]
        text = "\n".join(",".join(map(repr, row)) for row in [*rows])
        (tmp_path / f"{name}.csv").write_text("a,b,c,d,e,f,price\n" + text + "\n")
    return data


def errors(capsys, *words):
    """The mean squared error of each learner, as `omkl run` prints it in JSON."""
    assert main(["run", *words, "label=price", "order=file", "store=store", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    return {cell["algo"]: cell["mse"] for cell in json.loads(out)["cells"]}, out + err


def test_prices_are_learnt_as_well_as_prices_of_another_unit(prices, capsys):
    words = ["algo=omkr,norma_regression,krls_t,running_mean", "yardsticks=[]"]
    words += ["task=regression", "pool=gauss3"]
    found = [errors(capsys, f"data={name}.csv", *words) for name in ("prices", "small")]
    for name, error in found[0][0].items():
        assert error == pytest.approx(1e10 * found[1][0][name], rel=1e-6)
    assert "the targets have" not in found[0][1] + found[1][1]
    raw, said = errors(capsys, "data=prices.csv", *words, "target=none")
    assert "nothing scales them for omkr, norma_regression, krls_t; target=online does" in said
    assert raw["omkr"] > 2 * found[0][0]["omkr"]
    assert raw["running_mean"] == found[0][0]["running_mean"]
    shown = resolved([*words, "data=prices.csv", "label=price", "scale=online"])
    assert shown["scale"] == "online"
    targets = {name: own.get("target") for name, own in shown["algo"].items()}
    assert targets == {
        "omkr": "online",
        "norma_regression": "online",
        "krls_t": "online",
        "running_mean": None,
    }
    registered = ["data=adaraker_air", "algo=raker", "rounds=100", "--dry-run"]
    assert all("target" not in cell.scaling for cell in expand(plan(registered[:3])))


def test_a_model_goes_on_scaling_and_predicts_in_the_file_s_units(prices, capsys):
    lines = Path("prices.csv").read_text(encoding="utf-8").splitlines()
    for name, part in (("first", lines[1:61]), ("rest", lines[61:])):
        Path(f"{name}.csv").write_text("\n".join([lines[0], *part]) + "\n", encoding="utf-8")
    fit = ["fit", "algo=krls_t", "label=price", "task=regression", "scale=online", "order=file"]
    assert main([*fit, "data=first.csv", "--out", "m"]) == 0
    assert main(["update", "m", "rest.csv"]) == 0
    assert main([*fit, "data=prices.csv", "--out", "whole"]) == 0
    capsys.readouterr()
    found = []
    for model in ("m", "whole"):
        assert main(["predict", model, "prices.csv"]) == 0
        found.append(capsys.readouterr())
    assert found[0] == found[1]
    scores = [float(line.split(",")[-1]) for line in found[0].out.splitlines()[1:]]
    assert 200 < min(scores) < max(scores) < 450
    assert main(["show", "m"]) == 0
    assert "scale: online" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("data=wdbc scale=standard", "scale=standard: must be one of"),
        ("data=wdbc target=online", "target=online: data=wdbc has no targets"),
        ("data=wdbc scale=onlin", "scale"),
    ],
)
def test_a_scaling_that_cannot_be_is_refused(words, said, capsys):
    assert main(["run", "algo=arow", *words.split()]) == 2
    assert said in capsys.readouterr().err

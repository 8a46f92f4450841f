"""Gaps filled while the stream runs: the naive twin, no look ahead, parts, files, estimators."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reference.scaling import filled_rows, scaled_rows
from sklearn.linear_model import SGDClassifier

import omkl
import omkl.sklearn
from omkl.cli import main
from omkl.config import learner_spec, pool
from omkl.models.asked import score
from omkl.models.model_file import read_model, write_model
from omkl.passes import Learner, run_pass, warm_up
from omkl.passes.one_pass import whole_pass
from omkl.rounds.scaling import Scaling
from omkl.rounds.steps import Rounds
from omkl.stacks.new_learner import new_learner
from omkl.testing.cases import case_stream, clouds, dataset, matrix_of, sparse
from omkl.testing.twins import SEED

T = 150
GAUSS3 = pool("gauss3")


def holes(seed=0):
    """Rows with gaps: in the first row, in one feature from the start, in none of another, beside zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 5)) * [1, 30, 1, 1, 1] + [0, 100, 0, 0, 5]
    y = np.where(X[:, 0] + X[:, 2] > 0, 1.0, -1.0)
    X[:, 3] *= rng.random(T) < 0.5
    gaps = rng.random((T, 5)) < [0.3, 0.3, 0.6, 0.2, 0.0]
    gaps[0, :3], gaps[:20, 2] = True, True
    return dataset(np.where(gaps, np.nan, X), y)


def few():
    """Sparse rows, some of whose values are gaps."""
    data = sparse(T, 40, 3)
    values = data.values.copy()
    values[::4] = np.nan
    return replace(data, values=values)


def matrix(stream, d):
    X = np.zeros((stream.T, d))
    X[np.repeat(np.arange(stream.T), np.diff(stream.indptr)), stream.indices] = stream.values
    return X[stream.order]


def traced(name, data, scaling=None, order=None, **how):
    """The trace of a pass, and its figures."""
    spec = learner_spec(name)
    kernels = pool(spec.usual_pool or "gauss3") if spec.kernels == "pool" else None
    order = np.arange(data.T) if order is None else order
    ended = whole_pass(spec, spec.usual(data.task), kernels, data, order, SEED, scaling=scaling, **how)
    return ended.trace, ended.figures


@pytest.mark.parametrize("made", [holes, few])
def test_members_of_a_stack_have_gaps_filled_as_each_is_scaled(made):
    """The ranks of a stack's member are those of a learner alone: a gap is 0, not the mean."""
    data, words = made(), [None, "online", "ranks"]
    members = ["arow", "arow(scale=online)", "arow(scale=ranks)"]
    gaps = Scaling.of({}, data)
    whole = new_learner(learner_spec("stack"), {"members": members}, None, data.d, 1, scaling=gaps)
    margins = whole.of_members.before(whole, Rounds(case_stream(data), 0, True)).margins
    spec = learner_spec("arow")
    for word, found in zip(words, margins[:, 0].T, strict=True):
        alone = Scaling.of({} if word is None else {"scale": word}, data)
        learner = new_learner(spec, spec.usual("classification"), None, data.d, 1, scaling=alone)
        np.testing.assert_array_equal(found, learner.run(case_stream(data))[0].score)


@pytest.mark.parametrize("words", [{}, {"scale": "online"}], ids=str)
@pytest.mark.parametrize("made", [holes, few])
def test_gaps_are_filled_as_the_naive_twin_does(made, words):
    data = made()
    order = np.random.default_rng(1).permutation(T)
    own = Scaling.of(words, data)
    stream, units = own.scaled(case_stream(data, order), learn=True)
    expected = filled_rows(matrix_of(data)[order].tolist())
    if words:
        expected = scaled_rows(expected)
    assert units is None
    assert np.allclose(matrix(stream, data.d), expected, rtol=1e-9, atol=1e-9)
    assert (stream.values != 0.0).all(), "a gap that is 0 is not stored, as no 0 is"
    assert np.isnan(data.values).any(), "the data stay as they are"


@pytest.mark.parametrize("words", [{}, {"scale": "online"}], ids=str)
@pytest.mark.parametrize("name", ["omkc_dd", "arow", "bomkc_spa", "arow_features", "egpc"])
def test_a_pass_is_that_over_the_filled_rows(name, words):
    data, order = holes(), np.random.default_rng(1).permutation(T)
    trace, figures = traced(name, data, words, order)
    plain = dataset(filled_rows(matrix_of(data)[order].tolist()), data.y[order])
    expected, others = traced(name, plain, words)
    assert np.allclose(trace.score, expected.score, rtol=1e-5, atol=1e-6)
    assert figures["mistakes"] == others["mistakes"] > 0


@pytest.mark.parametrize("made", [holes, few])
def test_no_row_depends_on_later_ones(made):
    data = made()
    half = T // 2
    other = replace(data, values=data.values.copy())
    other.values[other.indptr[half] :] *= 1000.0
    rows = [Scaling.of({}, one).scaled(case_stream(one), True)[0] for one in (data, other)]
    stop = rows[0].indptr[half]
    assert np.array_equal(rows[0].values[:stop], rows[1].values[:stop])
    assert not np.array_equal(rows[0].values, rows[1].values)


def test_rows_without_gaps_stay_as_they_are():
    data = clouds(T)
    stream, own = case_stream(data), Scaling(data.d, gaps=False)
    assert own.scaled(stream, True)[0] is stream
    assert Scaling.of({}, data) is None
    spec = learner_spec("omkc_dd")
    how = {"rounds": T}
    plain = Learner(spec, spec.defaults, GAUSS3, data.d, 1, **how)
    ready = new_learner(spec, spec.defaults, GAUSS3, data.d, 1, scaling=own, **how)
    traces = [learner.run(stream)[0] for learner in (plain, ready)]
    assert np.array_equal(traces[0].score, traces[1].score)
    X = matrix_of(data)
    gap = np.where(np.arange(data.d) == 2, np.nan, X[:1])
    filled = np.where(np.isnan(gap), X.mean(axis=0), gap)
    own = [score(ready, *(np.array([0, data.d]), np.arange(data.d), row.ravel())) for row in (gap, filled)]
    assert own[0] == pytest.approx(own[1], rel=1e-9), "what has been learnt fills the gaps of later rows"


@pytest.mark.parametrize("words", [{}, {"scale": "online"}], ids=str)
@pytest.mark.parametrize(("name", "made"), [("omkc_dd", holes), ("omkc_dd", few), ("bomkc_spa", holes)])
def test_a_pass_in_parts_and_through_a_file_is_the_same_pass(name, made, words, tmp_path):
    data, spec = made(), learner_spec(name)
    params = spec.usual(data.task)
    warm_up([(spec, params, 2)])

    def learner(block=None):
        scaling = Scaling.of(words, data)
        return new_learner(spec, params, GAUSS3, data.d, 1, block=block, rounds=T, scaling=scaling)

    whole = learner().run(case_stream(data))[0]
    assert np.array_equal(learner(7).run(case_stream(data))[0].score, whole.score)
    model, scores = learner(), []
    for cut in np.array_split(np.arange(T), 7):
        part = case_stream(data, cut)
        again = model.run(part, learn=False)[0].score
        scores.append(model.run(part)[0].score)
        assert scores[-1][0] == again[0], "a row is scored as the next round would"
        write_model(tmp_path / "m", model, {"task": data.task, "classes": ["a", "b"]})
        model = read_model(tmp_path / "m")[0]
    assert np.array_equal(np.concatenate(scores), whole.score)


def test_labels_that_come_late_fill_no_earlier():
    data = holes()
    at_once, late = (traced("omkc_dd", data, {"delay": delay})[0] for delay in (1, T))
    assert len(set(at_once.score)) > 2
    assert len(set(late.score)) == 1, "nothing has been learnt before the first label"
    fives = traced("omkc_dd", data, {"delay": 5})[0]
    spec = learner_spec("omkc_dd")
    model = new_learner(spec, spec.defaults, GAUSS3, data.d, 0, rounds=T, scaling=Scaling.of({}, data))
    expected = []
    for cut in np.split(np.arange(T), T // 5):
        expected.append(model.run(case_stream(data, cut), learn=False)[0].score)
        model.run(case_stream(data, cut))
    assert np.array_equal(fives.score, np.concatenate(expected))


@pytest.mark.parametrize("scale", [None, "online"])
def test_estimators_learn_and_predict_as_a_run_does(scale, tmp_path):
    data = holes()
    X, y = matrix_of(data), data.y
    expected = traced("arow", data, {"scale": scale} if scale else {})[1]["mistakes"]
    whole = omkl.sklearn.ArowClassifier(scale=scale).fit(X, y)
    model = omkl.sklearn.ArowClassifier(scale=scale)
    for cut in np.array_split(np.arange(T), 11):
        model.partial_fit(X[cut], y[cut], classes=[-1, 1])
    assert model.mistakes_ == whole.mistakes_ == expected
    assert np.array_equal(model.decision_function(X), whole.decision_function(X))
    whole.to_file(tmp_path / "m")
    again = omkl.sklearn.ArowClassifier.from_file(tmp_path / "m")
    assert np.array_equal(
        again.partial_fit(X, y).decision_function(X), model.partial_fit(X, y).decision_function(X)
    )
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(np.isnan(X), np.inf, X))


def test_a_river_model_takes_none_and_nan_as_gaps():
    pytest.importorskip("river")
    import omkl.river

    data = holes()
    X, y = matrix_of(data), data.y
    own = omkl.sklearn.ArowClassifier(scale="online")
    model = omkl.river.ArowClassifier(scale="online", classes=[-1, 1])
    for t in range(T):
        row = {j: None if np.isnan(x) and t % 2 else x for j, x in enumerate(X[t].tolist())}
        if t:
            assert model.predict_one(row) == own.predict(X[t : t + 1])[0]
        model.learn_one(row, y[t])
        own.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    assert np.array_equal(model._model.scaling.means, own._model.scaling.means)
    assert model._progress.total == own.mistakes_ > 0


@pytest.mark.parametrize("scale", [None, "online"])
def test_a_gap_of_a_name_that_came_late_is_filled_by_its_mean(scale):
    pytest.importorskip("river")
    import omkl.river

    model, filled = (omkl.river.ArowClassifier(scale=scale, classes=[-1, 1]) for _ in range(2))
    for t in range(6):
        for own in (model, filled):
            own.learn_one({"a": 1.0 + t}, 1 - 2 * (t % 2))
    late = [({"a": 1.0, "b": 4.0, "c": -2.0}, 1), ({"a": 2.0, "b": 12.0, "c": 6.0}, -1)]
    for row, y in late:
        for own in (model, filled):
            own.learn_one(row, y)
    row = {"a": 1.0, "b": None, "c": float("nan")}  # the name counted as 0 in the six rows before
    mean = {"a": 1.0, "b": 16.0 / 8, "c": 4.0 / 8}
    assert model._score(row) == filled._score(mean) != filled._score({"a": 1.0})
    model.learn_one(row, 1)
    filled.learn_one(mean, 1)
    assert model._score(late[0][0]) == filled._score(late[0][0])


def test_estimators_of_other_packages_get_filled_rows(tmp_path):
    data = holes()
    X, how = matrix_of(data), {"order": "file", "store": tmp_path, "yardsticks": [], "exec": "serial"}
    filled = np.array(filled_rows(X.tolist()))
    found = [
        omkl.run(rows, y=data.y, algo=SGDClassifier(random_state=0), scale=scale, **how).cells["mistakes"][0]
        for rows in (X, filled)
        for scale in ("none", "online")
    ]
    assert found[:2] == found[2:]
    assert 0 < found[0] < T


def test_rows_held_out_are_filled_by_those_learnt():
    data = holes()
    order, rest = np.arange(100), np.arange(100, T)
    X = np.array(filled_rows(matrix_of(data).tolist()))
    whole = matrix_of(data)
    means = np.nanmean(whole[:100], axis=0)
    plain = dataset(np.where(np.isnan(whole), np.where(np.arange(T)[:, None] < 100, X, means), whole), data.y)
    figures = [traced("omkc_dd", one, order=order, test=(one, rest))[1] for one in (data, plain)]
    for name in ("mistakes", "test_rate", "averaged_rate"):
        assert figures[0][name] == figures[1][name] > 0
    clean = clouds(T, 5)
    filled = dataset(np.where(np.isnan(whole), matrix_of(clean).mean(axis=0), whole), data.y)
    figures = [traced("arow", clean, test=(one, rest))[1] for one in (data, filled)]
    for name in ("mistakes", "test_rate", "test_auc"):
        assert figures[0][name] == figures[1][name] > 0


def test_kernels_with_ranges_of_the_data_pass_gaps_over():
    data, spec = holes(), learner_spec("lasvm")
    X = matrix_of(data)
    kernels = [{"kind": "ard", "scales": own} for own in ("auto", np.nanmax(X, 0) - np.nanmin(X, 0))]
    kernels[1]["scales"] = kernels[1]["scales"].tolist()
    found = [
        run_pass(spec, {**spec.defaults, "kernel": kernel}, None, data, np.arange(T), SEED)["mistakes"]
        for kernel in kernels
    ]
    assert found[0] == found[1] > 0


# ------------------------------------------------------------------ the command line


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Noise with gaps, sorted by class: features say nothing of the class."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    values = [
        f"{x:.4f}" if there else ""
        for x, there in zip(rng.normal(size=400), rng.random(400) < 0.4, strict=True)
    ]
    lines = [f"{value},{'sick' if t < 200 else 'well'}" for t, value in enumerate(values)]
    Path("sorted.csv").write_text("\n".join(["v,class", *lines]) + "\n")
    return lines


def mistakes(capsys, *words):
    """The mean of the mistakes of a run, in percent."""
    assert (
        main(
            ["run", *words, "algo=omkc_dd", "pool=gauss3", "yardsticks=[]", "store=store", "--format", "json"]
        )
        == 0
    )
    out, err = capsys.readouterr()
    cells = json.loads(out)["cells"]
    return 100 * np.mean([cell["mistake_rate"] for cell in cells]), out + err


def test_gaps_of_a_sorted_file_say_nothing_of_the_class(table, capsys):
    found, said = mistakes(capsys, "data=sorted.csv", "reps=5")
    assert 46 < found < 54
    gaps = sum(line.startswith(",") for line in table)
    assert f"missing values were filled: 'v' ({gaps}) with the mean of earlier rows" in said


def test_a_model_fills_gaps_in_any_cut_of_its_rows(table, capsys):
    for name, part in (("first", table[:150]), ("rest", table[150:])):
        Path(f"{name}.csv").write_text("\n".join(["v,class", *part]) + "\n")
    Path("first.csv").write_text(Path("first.csv").read_text() + "0.5,well\n")
    Path("whole.csv").write_text(Path("first.csv").read_text() + "\n".join(table[150:]) + "\n")
    fit = ["fit", "algo=omkc_dd", "pool=gauss3", "order=file"]
    for scale in ("none", "online"):
        words = [*fit, f"scale={scale}"]
        assert main([*words, "data=first.csv", "--out", "m"]) == 0
        assert main(["update", "m", "rest.csv"]) == 0
        assert main([*words, "data=whole.csv", "--out", "w"]) == 0
        capsys.readouterr()
        found = []
        for model in ("m", "w"):
            assert main(["predict", model, "sorted.csv"]) == 0
            found.append(capsys.readouterr().out)
        assert found[0] == found[1]


def test_bounds_are_for_rows_without_gaps(table, capsys):
    assert main(["bounds", "algo=omkc_dd", "data=sorted.csv", "store=store"]) == 2
    assert "missing=drop" in capsys.readouterr().err


def test_workers_fill_gaps_as_one_process_does(table, tmp_path):
    found = []
    for executor in ("serial", "loky"):
        words = f"data=sorted.csv algo=arow,krls_t reps=2 exec={executor} store={executor}"
        cells = omkl.run(words, progress=False).cells
        found.append(sorted(zip(cells["algo"], cells["rep"], cells["mistakes"], strict=True)))
    assert found[0] == found[1]

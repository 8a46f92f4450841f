"""The measures of a pass: those of scikit-learn and river, on the same rounds."""

import numpy as np
import pytest
from river import metrics
from sklearn import metrics as sk

from omkl import data
from omkl.config import learner_spec, pool
from omkl.config.kernel_kinds import kernel_pool
from omkl.engine.stream import UNRECORDED
from omkl.passes import scores, warm_up
from omkl.passes.one_pass import whole_pass
from omkl.store.fields import CellMeasures, with_extra
from omkl.tasks import BINS


def passed(name, dataset, T=300):
    """The figures and the trace of a pass over the first rows, and the stream's labels or targets."""
    import pandas as pd

    spec = learner_spec(name)
    own = pool(spec.usual_pool or "paper16") if spec.kernels == "pool" else None
    warm_up([(spec, spec.usual(dataset.task), dataset.n_classes)])
    order = np.random.default_rng(4).permutation(dataset.T)[:T]
    figures, _, trace, *_ = whole_pass(spec, spec.usual(dataset.task), own, dataset, order, 0)
    assert kernel_pool(spec.usual(dataset.task), own) is not None or spec.kernels == "none"
    cells = with_extra(pd.DataFrame([{**figures, "provenance": {}}]))
    return figures, trace, dataset.y[order], CellMeasures(cells)


def two_classes(T=300):
    """Rows of two unlike classes, in an order with runs of a label."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(T, 4)), np.where(rng.random(T) < 0.3, 1.0, -1.0)
    return data.from_arrays(X + 0.7 * y[:, None], y, name="two", task="classification")


def many_classes(T=300):
    rng = np.random.default_rng(5)
    y = rng.choice(4, T, p=[0.5, 0.3, 0.15, 0.05])
    return data.from_arrays(rng.normal(size=(T, 3)) + y[:, None], y, name="many", task="classification")


def numbers(T=300):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(T, 3))
    return data.from_arrays(
        X, 5 + X @ [1.0, 0.5, -1.0] + 0.1 * rng.normal(size=T), name="own", task="regression"
    )


def test_two_classes():
    figures, trace, y, of_cells = passed("egpc", two_classes())
    predicted = np.where(trace.mistake, -y, y)
    P = 0.5 + trace.score
    assert figures["auc"] == pytest.approx(sk.roc_auc_score(y, trace.score), rel=1e-12)
    assert figures["log_loss"] == pytest.approx(sk.log_loss(y, P), rel=1e-12)
    assert figures["brier"] == pytest.approx(sk.brier_score_loss(y, P, pos_label=1), rel=1e-12)
    online = {"balanced": metrics.BalancedAccuracy(), "kappa": metrics.CohenKappa(), "f1": metrics.MacroF1()}
    for own in online.values():
        for true, guess in zip(y, predicted, strict=True):
            own.update(true, guess)
    balanced, kappa, f1 = (float(of_cells.of(name)[0]) for name in ("balanced_pct", "kappa", "macro_f1"))
    for found, theirs in (
        (1 - balanced / 100, (sk.balanced_accuracy_score(y, predicted), online["balanced"].get())),
        (kappa, (sk.cohen_kappa_score(y, predicted), online["kappa"].get())),
        (f1, (sk.f1_score(y, predicted, average="macro"), online["f1"].get())),
    ):
        assert found == pytest.approx(theirs[0], abs=1e-12)
        assert found == pytest.approx(theirs[1], abs=1e-12)
    last = np.mean(y[1:] == y[:-1]) * (len(y) - 1) / len(y)
    assert figures["kappa_temporal"] == pytest.approx((1 - figures["mistake_rate"] - last) / (1 - last))
    bins, right = np.clip(np.maximum(P, 1 - P) * BINS, 0, BINS - 1).astype(int), ~trace.mistake
    parts = [(bins == k, np.mean(bins == k)) for k in set(bins)]
    gaps = [share * abs(right[own].mean() - np.maximum(P, 1 - P)[own].mean()) for own, share in parts]
    assert figures["ece"] == pytest.approx(sum(gaps))


def test_scores_of_few_values_tie_and_count_half():
    y, score = np.array([1, 1, 0, 0, 0, 1]), np.array([1.0, 0.0, 0.0, -1.0, 1.0, 1.0])
    assert scores.auc(y, score[:, None]) == pytest.approx(sk.roc_auc_score(y, score))
    assert scores.auc(y[:2], score[:2, None]) is None


def test_a_mean_is_of_the_rounds_that_have_a_value():
    sums = scores.sums_of(np.array([UNRECORDED, 2.0, UNRECORDED, 4.0]))
    assert (sums / [1, 2, 3, 4]).tolist() == [0.0, 2.0, 2.0, 3.0]
    assert scores.sums_of(np.full(3, UNRECORDED)) is None


@pytest.mark.parametrize("name", ["egpc", "omkc_dd", "majority", "arow"])
def test_many_classes(name):
    figures, trace, y, of_cells = passed(name, many_classes())
    each = [sk.roc_auc_score(y == c, trace.class_scores[:, c]) for c in range(4)]
    assert figures["auc"] == pytest.approx(np.mean(each), rel=1e-12)
    kappa = sk.cohen_kappa_score(y, trace.predicted)
    assert of_cells.of("kappa")[0] == pytest.approx(kappa, abs=1e-12)
    assert of_cells.of("macro_f1")[0] == pytest.approx(sk.f1_score(y, trace.predicted, average="macro"))
    probabilistic = learner_spec(name).probabilities
    assert {"log_loss", "brier", "ece"} <= figures.keys() or not probabilistic
    if probabilistic:
        P = trace.class_scores
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert figures["log_loss"] == pytest.approx(sk.log_loss(y, P), rel=1e-12)
        there = np.arange(4) == y[:, None]
        assert figures["brier"] == pytest.approx(np.mean(np.sum((P - there) ** 2, axis=1)))
        assert figures["curve"]["log_loss"][-1] == pytest.approx(300 * figures["log_loss"])
        assert "log_loss" not in passed("arow", many_classes())[0]


@pytest.mark.parametrize("name", ["iegp", "krls_t", "krls_t_pool", "edoebe", "okr"])
def test_numbers(name):
    figures, trace, y, of_cells = passed(name, numbers())
    rmse = float(of_cells.of("rmse")[0])
    assert rmse == pytest.approx(sk.root_mean_squared_error(y, trace.score), rel=1e-12)
    assert figures["mae"] == pytest.approx(sk.mean_absolute_error(y, trace.score), rel=1e-12)
    assert figures["r2"] == pytest.approx(sk.r2_score(y, trace.score), rel=1e-12)
    online = metrics.RMSE() + metrics.MAE() + metrics.R2()
    for true, guess in zip(y, trace.score, strict=True):
        online.update(true, guess)
    assert online.get() == pytest.approx([rmse, figures["mae"], figures["r2"]], rel=1e-9)
    assert ("coverage" in figures) == (name != "okr")
    if name != "okr":
        nlpd, variance = trace.further.T
        density = 0.5 * (np.log(2 * np.pi * variance) + (y - trace.score) ** 2 / variance)
        np.testing.assert_allclose(nlpd, density, rtol=1e-12)
        inside = np.abs(y - trace.score) <= 1.96 * np.sqrt(variance)
        assert figures["coverage"] == pytest.approx(np.mean(inside), abs=2 / len(y))


def test_a_stream_of_one_value_has_no_share_of_variance_and_one_of_one_class_no_area():
    flat = data.from_arrays(np.eye(20), np.full(20, 3.0), name="flat", task="regression")
    assert "r2" not in passed("okr", flat, 20)[0]


@pytest.mark.parametrize("delay", [1, 10])
def test_rounds_before_the_target_has_varied_count_in_no_measure_of_own_numbers(delay):
    dataset = numbers()
    dataset.y[:12] = 300.0  # of which round 13 is the first that knows another one
    spec, scaling = learner_spec("krls_t"), {"target": "online", "delay": delay}
    one = spec, spec.usual("regression"), None, dataset, np.arange(300), 0
    (figures, _, trace, *_), (whole, *_) = (
        whole_pass(*one, own=own, scaling=scaling) for own in (True, False)
    )
    first = 13 if delay == 1 else 20
    assert np.flatnonzero(~scores.before_variation(dataset.y, delay))[0] == first
    y, score = dataset.y[first:], trace.score[first:]
    assert figures["mse"] == pytest.approx(sk.mean_squared_error(y, score), rel=1e-9)
    assert figures["mae"] == pytest.approx(sk.mean_absolute_error(y, score), rel=1e-9)
    spread = np.square(y - dataset.y.mean()).sum()
    assert figures["r2"] == pytest.approx(1 - np.square(y - score).sum() / spread, rel=1e-9)
    assert figures["curve"]["loss"][-1] == pytest.approx(300 * figures["mse"], rel=1e-9)
    assert whole["mse"] > 1.1 * figures["mse"]
    assert whole["nlpd"] == figures["nlpd"]
    assert whole.keys() == figures.keys()


def test_all_rounds_count_where_the_target_never_varies_before_the_end():
    for y in (np.full(5, 3.0), np.array([3.0, 3.0, 4.0])):
        assert not scores.before_variation(y).any()
    assert scores.before_variation(np.array([3.0, 4.0, 3.0])).tolist() == [True, True, False]


def test_how_many_rounds_make_half():
    for values, count in (([1, 9, 1], 1), ([5, 5], 2), ([1] * 9, 5), ([0, 4, 3, 2], 2)):
        assert scores.rounds_of_half(np.array(values, float)) == count

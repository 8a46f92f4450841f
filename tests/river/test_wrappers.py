"""river's wrappers, rows of other kinds, columns that come later, and arguments set in mid-stream."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

river = pytest.importorskip("river")

from river import ensemble, evaluate, metrics, multiclass  # noqa: E402

import omkl.river  # noqa: E402
from omkl.config import learner_spec  # noqa: E402
from omkl.estimators.arguments import estimator_specs  # noqa: E402

NAMES = [name for name, (spec, _) in estimator_specs().items() if not spec.setup]
rng = np.random.default_rng(0)
THREE = [
    ({"a": float(a), "b": float(b)}, "uvw"[int(a > 0) + int(b > 0)]) for a, b in rng.normal(size=(60, 2))
]
TWO = [(x, x["a"] > 0) for x, _ in THREE]


def test_wrappers_that_need_labels_alone_hold_models_of_two_classes():
    pairs = multiclass.OneVsOneClassifier(omkl.river.AlmaClassifier(seed=0))
    assert evaluate.progressive_val_score(THREE, pairs, metrics.Accuracy()).get() > 0.6
    votes = ensemble.VotingClassifier(
        [omkl.river.AlmaClassifier(), omkl.river.OmkcDdClassifier(), omkl.river.ArowClassifier()],
        use_probabilities=False,
    )
    assert evaluate.progressive_val_score(TWO, votes, metrics.Accuracy()).get() > 0.7


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda model: multiclass.OneVsRestClassifier(model),
        lambda model: ensemble.BaggingClassifier(model, n_models=2, seed=1),
    ],
    ids=["one-vs-rest", "bagging"],
)
def test_wrappers_that_ask_for_probabilities_have_them_unless_there_are_none(wrapped):
    made = evaluate.progressive_val_score(TWO, wrapped(omkl.river.AlmaClassifier(seed=0)), metrics.Accuracy())
    assert made.get() > 0.7
    wrapper = wrapped(omkl.river.AlmaClassifier(seed=0, calibration=None))
    for x, y in TWO:
        wrapper.learn_one(x, y)
    said = "AlmaClassifier gives no probabilities; .* use predict_one, .*OneVsOneClassifier"
    with pytest.raises(NotImplementedError, match=said):
        wrapper.predict_one(TWO[0][0])


def test_the_way_out_for_a_third_label_is_one():
    model = omkl.river.AlmaClassifier()
    for x, y in THREE[:10]:
        if y != "w":
            model.learn_one(x, y)
    with pytest.raises(ValueError, match=r"river.multiclass.OneVsOneClassifier uses this model"):
        model.learn_one({"a": 1.0}, "w")


def test_a_row_may_be_a_series():
    models = [omkl.river.OmkcDdClassifier(), omkl.river.OmkcDdClassifier()]
    for x, y in TWO:
        assert models[0].predict_one(x) == models[1].predict_one(pd.Series(x))
        models[0].learn_one(x, y)
        models[1].learn_one(pd.Series(x), y)
    for model in (omkl.river.RakerRegressor(seed=0), omkl.river.NormaNoveltyDetector()):
        model.learn_one(pd.Series({"a": 1.0}), *([1.0] if "Regressor" in type(model).__name__ else []))
    for wrong in ([1.0, 2.0], np.ones(2), pd.DataFrame({"a": [1.0]}), None):
        with pytest.raises(TypeError, match=r"a row is a mapping of names to numbers, got .*; write dict"):
            models[0].learn_one(wrong, True)
    with pytest.raises(ValueError, match="two values for one name"):
        models[0].learn_one(pd.Series([1.0, 2.0], index=["a", "a"]), True)


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_come_one_after_another_are_columns_that_were_0(name):
    """A stream of rows that name their columns as they come equals one whose first row names them all."""
    spec = learner_spec(getattr(omkl.river, name).learner)
    if spec.is_stack or any(resource.frequencies for resource in spec.state.values()):
        pytest.skip("its random features are drawn for the columns as they come")
    later, at_once = (made(name) for _ in range(2))
    columns = "abcdefgh"
    for t in range(20):
        known = columns[: 1 + t // 2]
        values = rng.normal(size=len(known)).round(2).tolist()
        x = dict(zip(known, values, strict=True))
        full = {**dict.fromkeys(columns, 0.0), **x}
        y = {"classification": [sum(values) > 0], "regression": [sum(values)]}.get(later.task, [])
        for model, row in ((later, x), (at_once, full)):
            model.learn_one(row, *y)
        if later.task == "classification":
            assert later.predict_one(x) == at_once.predict_one(full)
        assert later._score(x) == pytest.approx(at_once._score(full), rel=1e-9, abs=1e-12)
    assert later._score(x) != 0 or spec.kernels == "none"


def made(name):
    model = getattr(omkl.river, name)(seed=0)
    return model.clone({"rounds": 40}) if "rounds" in model._get_params() else model


def test_arguments_set_in_mid_stream():
    kept, changed = omkl.river.OmkcDdClassifier(seed=0), omkl.river.OmkcDdClassifier(seed=0)
    for model in (kept, changed):
        for x, y in TWO[:30]:
            model.learn_one(x, y)
    changed.beta = 0.3
    for model in (kept, changed):
        for x, y in TWO[30:]:
            model.learn_one(x, y)
    assert changed._model.params["beta"] == 0.3
    assert not np.allclose(kept._model.weights, changed._model.weights)
    changed.pool = "gauss3"
    with pytest.raises(ValueError, match="OmkcDdClassifier: pool cannot change after learning has begun"):
        changed.learn_one(*TWO[0])
    changed.pool = kept.pool
    again = pickle.loads(pickle.dumps(changed))
    for x, y in TWO:
        assert again.predict_one(x) == changed.predict_one(x)
        again.learn_one(x, y)
        changed.learn_one(x, y)


def scored(model, stream, metric):
    return evaluate.progressive_val_score(stream, model, metric).get()


@pytest.mark.parametrize(
    "model",
    [
        lambda: omkl.river.EgpcClassifier(seed=0),
        lambda: omkl.river.AutoClassifier(seed=0),
        lambda: omkl.river.PerceptronClassifier(kernel={"kind": "linear"}),
    ],
    ids=["egpc", "auto", "platt"],
)
def test_models_with_probabilities_work_with_what_needs_them(model):
    for stream, chance in ((TWO, math.log(2)), (THREE, math.log(3))):
        own, surprise = model(), []
        assert own.predict_proba_one(stream[0][0]) == {}
        for count, (x, y) in enumerate(stream, 1):
            surprise.append(-math.log(own.predict_proba_one(x).get(y, 1.0)))  # a new label is no surprise
            own.learn_one(x, y)
            P = own.predict_proba_one(x)
            assert set(P) >= {label for _, label in stream[:count]}
            assert set(P) <= {label for _, label in stream}
            assert sum(P.values()) == pytest.approx(1.0)
        assert own.predict_one(x) == max(P, key=P.get)
        assert np.mean(surprise) < chance
        copied = pickle.loads(pickle.dumps(own))
        assert copied.predict_proba_one(x) == P
    assert scored(model(), TWO, metrics.LogLoss()) < math.log(2)
    assert scored(model(), TWO, metrics.ROCAUC()) > 0.75
    wrapped = (
        ensemble.BaggingClassifier(model(), n_models=2, seed=1),
        ensemble.VotingClassifier([model(), omkl.river.ArowClassifier()]),
        multiclass.OneVsRestClassifier(model()),
    )
    for wrapper in wrapped:
        assert scored(wrapper, TWO, metrics.Accuracy()) > 0.7

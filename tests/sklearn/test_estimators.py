"""The scikit-learn estimators: their checks, chunks, pickles, and the same mistakes as `omkl run`."""

import itertools
import pickle
import re
import warnings
from fnmatch import fnmatch
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator

import omkl.data
import omkl.river
import omkl.sklearn
from omkl import seeds
from omkl.config import learner_spec, learner_specs, pool
from omkl.estimators.arguments import estimator_specs
from omkl.passes import run_pass

NAMES = list(estimator_specs())
PAGE = Path(__file__).parents[2] / "docs/estimators.md"


def excepted():
    """Return the checks of scikit-learn that fail by estimator, with the reasons: the table of the page."""
    text = PAGE.read_text(encoding="utf-8").partition("`check_estimator` passes, except for:")[2]
    table = text.strip().partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    found = {name: {} for name in NAMES}
    for whom, checks, reason in rows[1:]:
        patterns = re.findall(r"`([\w*]+)`", whom)
        for name, (spec, _) in estimator_specs().items():
            if spec.weight if whom.startswith("all with") else any(fnmatch(name, own) for own in patterns):
                found[name] |= dict.fromkeys(re.findall(r"`(\w+)`", checks), reason)
    return found


IN_FULL = (
    *("OmkcSsClassifier", "BomkcSpaClassifier", "LasvmClassifier", "NormaNoveltyDetector", "ArowClassifier"),
    *("PerceptronStarClassifier", "RakerRegressor", "OkrRegressor"),
)


EXPECTED = excepted()


def made(name, **given):
    return getattr(omkl.sklearn, name)(**given)


def seeded(name, rows):
    """The estimator with a seed and, where it must know it, the length of the stream."""
    estimator = made(name, random_state=7)
    return estimator.set_params(rounds=rows) if "rounds" in estimator.get_params() else estimator


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.min(0)) / (X.max(0) - X.min(0))
    X[:, 3] *= X[:, 3] > 0.3  # zeros, which are not stored
    return X[:150], y[:150]


def target(estimator, X, y):
    return {"classification": y, "regression": X[:, 0] - y}.get(estimator.task)


def scores(estimator, X):
    return getattr(estimator, "decision_function", estimator.predict)(X)


def test_every_learner_has_an_estimator_for_each_of_its_tasks():
    assert len(NAMES) == sum(len(spec.tasks) for spec in learner_specs().values())
    for name in ("OmkcSsClassifier", "BomkcSpaClassifier", "NormaRegressor", "NormaNoveltyDetector"):
        assert name in NAMES
        assert name in dir(omkl.sklearn)


@pytest.mark.parametrize("module", ["sklearn", "river"])
def test_the_list_of_estimators_holds_what_one_takes(module):
    home, star = getattr(omkl, module), {}
    exec(f"from omkl.{module} import *", star)  # as one types it
    assert {*home.names(), "names"} == {*dir(home)} == star.keys() - {"__builtins__"}
    for name in (
        "MajorityClassifier",
        "RunningMeanRegressor",
        "OmkcGrowingClassifier",
        "AdarakerAuthorsRegressor",
    ):
        assert name not in home.names()
        assert getattr(home, name).__name__ == name  # a table of a paper has it


@pytest.mark.parametrize(
    "name", [name if name in IN_FULL else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_scikit_learn_s_own_checks(name):
    """All share one class: one estimator of each kind of state and task is not slow."""
    failed, passed = {}, 0
    for instance, check in estimator_checks_generator(made(name)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(instance)
            passed += 1
        except SkipTest:
            pass
        except Exception as error:
            failed[check.func.__name__] = error
    assert failed.keys() == EXPECTED[name].keys(), failed
    assert passed > 35


@pytest.mark.parametrize(
    ("name", "checks", "given"),
    [
        ("NormaNoveltyDetector", list(EXPECTED["NormaNoveltyDetector"]), {"nu": 0.1}),
    ],
)
def test_what_fails_by_the_default_passes_with_another_setting(name, checks, given):
    for check in checks:
        getattr(estimator_checks, check)(name, made(name, **given))
        with pytest.raises((AssertionError, ValueError)):
            getattr(estimator_checks, check)(name, made(name))


@pytest.mark.parametrize("name", NAMES)
def test_any_chunks_of_partial_fit_are_fit_to_the_last_bit(name, rows):
    X, y = rows
    whole, parts = seeded(name, len(X)), seeded(name, len(X))
    y = target(whole, X, y)
    first = 70 if whole._spec.setup else 1  # one learner chooses its kernel by the rows of the first call
    cuts = [0, first, first + 1, 80, len(X)]
    more = {"classes": [0, 1]} if whole.task == "classification" else {}
    whole.fit(X[: first if first > 1 else len(X)], None if y is None else y[: first if first > 1 else len(X)])
    if first > 1:
        whole.partial_fit(X[first:], y[first:])
    for start, stop in itertools.pairwise(cuts):
        parts.partial_fit(X[start:stop], None if y is None else y[start:stop], **more)
        parts = pickle.loads(pickle.dumps(parts))  # in the middle of the stream
    np.testing.assert_array_equal(scores(parts, X), scores(whole, X))
    np.testing.assert_array_equal(parts.curve_["t"], whole.curve_["t"])
    np.testing.assert_array_equal(list(parts.curve_.values())[1], list(whole.curve_.values())[1])
    if hasattr(whole, "support_"):
        np.testing.assert_array_equal(parts.support_, whole.support_)
        np.testing.assert_array_equal(X[whole.support_], whole.support_vectors_.toarray())


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_are_the_same_rows(name, rows):
    X, y = rows
    dense, sparse = seeded(name, len(X)), seeded(name, len(X))
    y = target(dense, X, y)
    dense.fit(X, y)
    sparse.fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(scores(sparse, sp.csc_matrix(X)), scores(dense, X))


@pytest.mark.parametrize(
    "name", ["OmkcSsClassifier", "OmklpDa1Classifier", "BomkcRbpClassifier", "RakerClassifier"]
)
def test_mistakes_and_state_are_those_of_a_run_in_file_order(name):
    data = omkl.data.find("wdbc").load()
    order, permutation = omkl.data.order(data, "file", 1, 0)
    spec = learner_spec(made(name).learner)
    given = pool(spec.usual_pool or "paper16")
    figures = run_pass(spec, spec.usual("classification"), given, data, order, permutation)
    X = sp.csr_array((data.values, data.indices, data.indptr), shape=(data.T, data.d))
    estimator = made(name, random_state=seeds.learner_seed(permutation, spec.name)).fit(X, data.y)
    assert estimator.mistakes_ == figures["mistakes"]
    if figures["weights"] is not None:
        assert estimator.kernel_weights_.tolist() == figures["weights"]
    if hasattr(estimator, "n_support_"):
        assert estimator.n_support_.tolist() == figures["n_sv_per_kernel"]


def test_dual_coefficients_give_the_decision_function(rows):
    X, y = rows
    for name in ("PerceptronClassifier", "NormaClassifier", "AlmaClassifier"):
        estimator = made(name, kernel="gaussian(sigma=2)").fit(X, y)
        square = np.square(X[:, None] - estimator.support_vectors_.toarray()).sum(2)
        expected = np.exp(-square / 8) @ estimator.dual_coef_[0]
        expected += estimator._model.state.get("b", [0.0])[0]
        np.testing.assert_allclose(estimator.decision_function(X), expected, rtol=1e-7, atol=1e-12)


def test_predictions_of_a_sampling_learner_do_not_depend_on_what_else_is_predicted(rows):
    X, y = rows
    estimator = made("OmklpDa1Classifier", random_state=0).fit(X, y)
    all_at_once = estimator.decision_function(X)
    one_by_one = [estimator.decision_function(X[t : t + 1])[0] for t in range(len(X))]
    np.testing.assert_array_equal(all_at_once, one_by_one)


@pytest.mark.parametrize("first", [int, float, bool, str])
def test_later_labels_may_be_written_differently(tmp_path, first):
    X, y = np.eye(4), np.array([0, 1, 1, 0])
    same = (
        omkl.sklearn.OmkcDdClassifier(random_state=0).fit(X, y.astype(first)).partial_fit(X, y.astype(first))
    )
    for again in (y, y.astype(float), y > 0, y.astype(str), y.astype(float).astype(str), y.astype(object)):
        model = omkl.sklearn.OmkcDdClassifier(random_state=0).fit(X, y.astype(first)).partial_fit(X, again)
        assert model.mistakes_ == same.mistakes_
        np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
        model.to_file(tmp_path / "m.omkl")
        model = omkl.sklearn.OmkcDdClassifier.from_file(tmp_path / "m.omkl")
        assert model.partial_fit(X, again).classes_.tolist() == same.classes_.tolist()


def test_a_label_never_seen_is_named(rows):
    X, _ = rows
    estimator = made("OmkcDdClassifier").fit(X[:4], ["yes", "no", "no", "yes"])
    with pytest.raises(ValueError, match=r"'maybe', which is not in classes_: \['no', 'yes'\]"):
        estimator.partial_fit(X[4:6], ["no", "maybe"])
    with pytest.raises(ValueError, match=r"3 classes; sklearn.multiclass.OneVsRestClassifier"):
        made("AlmaClassifier").fit(X[:3], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("OmkcSsClassifier", {"beta": 1.5}, "OmkcSsClassifier: beta must be a number > 0"),
        ("OmkcSsClassifier", {"pool": "paper61"}, "OmkcSsClassifier: .*paper61.*did you mean .paper16"),
        (
            "OmkcSsClassifier",
            {"pool": [{"kind": "gauss"}]},
            "pool: kernel 1 of the list: unknown kernel kind",
        ),
        (
            "PerceptronClassifier",
            {"kernel": "gaussian(sigma=0)"},
            "kernel sigma of a gaussian kernel must be",
        ),
        ("BomkcRbpClassifier", {"budget": {"match": "bomkc_spa"}}, "budget must be a whole number"),
    ],
)
def test_arguments_out_of_their_domain_are_named(name, given, said, rows):
    with pytest.raises(ValueError, match=said):
        made(name, **given).fit(*rows)
    with pytest.raises(TypeError, match=r"has no argument 'betta' .did you mean 'beta'"):
        made("OmkcSsClassifier", betta=1)


def test_search_and_pipeline(rows):
    X, y = rows
    search = GridSearchCV(made("OmkcDdClassifier"), {"beta": np.array([0.5, 0.9])}, cv=3).fit(X, y)
    assert search.best_params_["beta"] in (0.5, 0.9)
    assert make_pipeline(MinMaxScaler(), made("OmkcDdClassifier")).fit(X, y).score(X, y) > 0.8


def test_a_million_columns_take_little_memory():
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(300, 1_000_000, density=2e-5, random_state=rng))
    y = np.where(X[:, :500_000].sum(axis=1) > X[:, 500_000:].sum(axis=1), "left", "right")
    estimator = made("OmkcDdClassifier", pool=[{"kind": "linear"}, {"kind": "gaussian", "sigma": 2}]).fit(
        X, y
    )
    state = sum(array.nbytes for array in _arrays(estimator._model.state.values()))
    assert state < 40e6
    assert estimator.support_vectors_.shape[1] == 1_000_000


def _arrays(values):
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(value)


def test_the_rows_of_a_long_stream_are_not_copied_for_each_row():
    """Room for stored vectors grows by half: the seconds of a call may not, but its copies can be counted."""
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 3)), rng.random(400) < 0.5
    estimator, copies, last = made("OmkcDdClassifier"), 0, None
    for t in range(400):
        estimator.partial_fit(X[t : t + 1], y[t : t + 1], classes=[False, True])
        room = estimator._model.state["E"].norm2
        copies += room is not last
        last = room
    assert len(estimator.support_) > 100
    assert copies < 25


def test_help_has_every_argument_with_meaning_and_domain():
    text = omkl.sklearn.BomkcSpaClassifier.__doc__
    assert "step size; in (0, inf)" in text
    assert "one of current, averaged, votes" in text
    assert "mistakes_" in text
    with pytest.raises(AttributeError, match=r"did you mean .OmkcSsClassifier"):
        _ = omkl.sklearn.OmkcSSClassifier


@pytest.mark.parametrize(
    ("given", "y", "said"),
    [
        ({"random_state": -1}, [0, 1], "OmkcSsClassifier: random_state must be ≥ 0, got -1"),
        ({"pool": "paper61"}, [0, 1], r"pool='paper61': unknown kernel pool \(did you mean 'paper16'\?\)$"),
        ({"pool": "foo"}, [0, 1], "pool='foo': unknown kernel pool; known: [^;]*paper16[^;]*$"),
        ({}, [0.0, 0.0], "y has one class, 0.0; two are needed"),
    ],
)
def test_a_wrong_argument_is_named_in_the_words_of_python(given, y, said):
    with pytest.raises(ValueError, match=said):
        made("OmkcSsClassifier", **given).fit([[0.0], [1.0]], y)


def test_chunks_beyond_the_length_that_was_said_are_warned_of_once(recwarn):
    X, y = np.random.default_rng(0).random((9, 2)), np.arange(9.0)
    model = omkl.sklearn.OkrRegressor(random_state=0).fit(X[:3], y[:3])
    with pytest.warns(UserWarning, match=r"stream of 3 rows, but row 4 has arrived; .* as rounds="):
        model.partial_fit(X[3:6], y[3:6])
    model.partial_fit(X[6:], y[6:])
    omkl.sklearn.OkrRegressor(random_state=0, rounds=9).fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    assert not [str(one.message) for one in recwarn]

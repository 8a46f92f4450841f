"""Estimators given as objects: what they predict, their keys, their copies, and what is refused."""

import importlib.metadata
import sys
import types

import numpy as np
import pytest
from river import (
    anomaly,
    cluster,
    compose,
    ensemble,
    feature_extraction,
    forest,
    linear_model,
    neighbors,
    optim,
    preprocessing,
    tree,
)
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import omkl
import omkl.data
from omkl.config import plan
from omkl.config.learners import given
from omkl.errors import OmklError, UserError
from omkl.others.objects import spec_of
from omkl.passes.cell import run_cell
from omkl.passes.source import source
from omkl.runs.cells import expand
from omkl.runs.slurm import check_objects
from omkl.testing.cases import matrix_of

SERIAL = {"exec": "serial", "progress": False, "yardsticks": []}


class Copycat(ClassifierMixin, BaseEstimator):
    """Predicts the label that it saw last."""

    def __init__(self, faithful=True):
        self.faithful = faithful

    def partial_fit(self, X, y, classes=None):
        self.last_ = y[0] if self.faithful else -y[0]

    def predict(self, X):
        return np.array([self.last_])


class Silent:
    """Learns, and does not say its parameters."""

    def partial_fit(self, X, y):
        self.y = y

    def predict(self, X):
        return self.y


class LessFirst(TransformerMixin, BaseEstimator):
    """Takes the first row that it is fitted on off the others."""

    def fit(self, X, y=None):
        self.first_ = X[0]
        return self

    def transform(self, X):
        return X - self.first_


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)


def by_hand_of_sklearn(X, y, model, scaler=None):
    mistakes = 1  # before anything is learnt
    for t in range(len(y)):
        x = X[t : t + 1]
        if t:
            mistakes += model.predict(scaler.transform(x) if scaler else x)[0] != y[t]
        model.partial_fit(scaler.partial_fit(x).transform(x) if scaler else x, y[t : t + 1], [-1, 1])
    return mistakes


def by_hand_of_river(X, y, model):
    mistakes = 1
    for t, x in enumerate(X):
        row = dict(enumerate(x))
        mistakes += t > 0 and bool(model.predict_one(row)) != (y[t] > 0)
        model.learn_one(row, bool(y[t] > 0))
    return mistakes


OBJECTS = {
    "sklearn": (SGDClassifier(alpha=0.01), lambda X, y: by_hand_of_sklearn(X, y, SGDClassifier(alpha=0.01))),
    "pipeline": (
        make_pipeline(StandardScaler(), "passthrough", SGDClassifier()),
        lambda X, y: by_hand_of_sklearn(X, y, SGDClassifier(), StandardScaler()),
    ),
    "stateless step": (
        make_pipeline(Normalizer(), GaussianNB()),
        lambda X, y: by_hand_of_sklearn(Normalizer().transform(X), y, GaussianNB()),
    ),
    "river": (
        preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=0.1),
        lambda X, y: by_hand_of_river(
            X, y, preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=0.1)
        ),
    ),
    "own": (Copycat(), lambda X, y: 1 + int((y[1:] != y[:-1]).sum())),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_an_object_is_a_row_on_the_same_permutations(kind):
    model, mistakes = OBJECTS[kind]
    made = omkl.run(algo=["majority", model], data="wdbc", reps=2, rounds=150, **SERIAL)
    data = omkl.data.find("wdbc").load()
    X, y = matrix_of(data), data.y.astype(int)
    own = made.cells[made.cells["algo"] != "majority"].set_index("rep")["mistakes"]
    for rep in (0, 1):
        order = omkl.data.order(data, "permuted", 1, rep)[0][:150]
        with np.errstate(all="ignore"):
            assert own[rep] == mistakes(X[order], y[order])
    assert omkl.run(algo=[model], data="wdbc", reps=2, rounds=150, **SERIAL).outcome.ran == 0
    assert made.curve().axes[0].get_legend_handles_labels()[1]
    assert "alpha=0.01" in str(made) or kind != "sklearn"


def test_workers_get_objects_and_more_classes_and_numbers_are_taken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    many = ["arow", GaussianNB(), omkl.learner(tree.HoeffdingTreeClassifier(), label="tree")]
    made = omkl.run((X, X[:, 0].round().astype(int) % 3), algo=many, reps=2, jobs=2, progress=False)
    assert not made.failed
    assert {"GaussianNB (scikit-learn)", "tree"} <= set(made.table["label"])
    numbers = omkl.run((X, X @ [1.0, 2.0]), task="regression", algo=[SGDRegressor()], reps=1, **SERIAL)
    assert numbers.table["mse_e3_mean"][0] > 0
    tuned = omkl.tune((X, X[:, 0] > 0), algo=["alma", SGDClassifier()], trials=2, reps=1, progress=False)
    assert "SGDClassifier (scikit-learn)" in str(tuned)  # of which the scaling alone is searched
    with pytest.warns(UserWarning, match="does not contain the estimators"):
        assert "- sklearn" not in tuned.save("best.yaml").read_text()


def key(model):
    spec, params = spec_of(model)
    return spec.name, params, source(spec)


def test_the_key_is_class_version_and_parameters():
    name, params, code = key(SGDClassifier(alpha=0.01))
    assert (name, params) == ("sklearn.SGDClassifier", {"alpha": 0.01})
    assert f"scikit-learn {importlib.metadata.version('scikit-learn')}" in code
    assert key(SGDClassifier(alpha=1e-4))[1] == {}  # the default
    fitted = SGDClassifier().partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    assert key(fitted) == key(SGDClassifier())
    optimizer = optim.SGD(0.5)
    assert "0.5" in str(key(linear_model.LogisticRegression(optimizer=optimizer))[1])
    step = key(make_pipeline(StandardScaler(), SGDClassifier(alpha=3)))
    assert step[:2] == ("sklearn.StandardScaler+SGDClassifier", {"sgdclassifier__alpha": 3})
    assert "source" not in step[2]
    assert step == key(make_pipeline(StandardScaler(), "passthrough", SGDClassifier(alpha=3)))
    assert key(omkl.refit(GaussianNB(), grow=2.0))[1] == {"refit_grow": 2.0}
    file = key(Copycat())[2]
    assert "scikit-learn" in file
    assert file == key(Copycat(faithful=False))[2]
    assert file != key(Silent2())[2]


class Silent2(Copycat):
    """Another class of this file."""


DIFFERENT = [
    (neighbors.KNNClassifier(), neighbors.KNNClassifier(engine=neighbors.LazySearch())),
    (GaussianNB(priors=[0.3, 0.7]), GaussianNB(priors=[0.7, 0.3])),
    (GaussianNB(priors=np.array([0.3, 0.7])), GaussianNB(priors=np.array([0.7, 0.3]))),
    (
        make_pipeline(StandardScaler(), GaussianNB()),
        make_pipeline(StandardScaler(with_mean=False), GaussianNB()),
    ),
    (make_pipeline(StandardScaler(), GaussianNB()), make_pipeline(Normalizer(), GaussianNB())),
    (
        make_pipeline(FunctionTransformer(np.sin), GaussianNB()),
        make_pipeline(FunctionTransformer(np.cos), GaussianNB()),
    ),
    (
        ensemble.BaggingClassifier(linear_model.LogisticRegression(), n_models=3),
        ensemble.BaggingClassifier(linear_model.LogisticRegression(l2=0.1), n_models=3),
    ),
    (
        compose.Select(0) | linear_model.LogisticRegression(),
        compose.Select(1) | linear_model.LogisticRegression(),
    ),
    (Copycat(np.zeros(2)), Copycat(np.zeros(2, np.int64))),
    (Copycat(np.zeros((1, 2))), Copycat(np.zeros((2, 1)))),
    (Copycat(csr_array([[1.0, 0.0]])), Copycat(csr_array([[2.0, 0.0]]))),
    (Copycat(slice(0, 4, 1)), Copycat(slice(0, 4, 2))),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda model: type(model).__name__)
def test_other_parameters_have_another_key(one, other):
    assert key(one) == key(one)
    assert key(one) != key(other)


def test_the_order_of_a_set_is_not_in_the_key():
    assert key(Copycat({0, 8})) == key(Copycat({8, 0}))


REFUSED = [
    (
        RandomForestClassifier(),
        "algo=RandomForestClassifier has no partial_fit, so it cannot learn online; omkl.refit(...) fits it",
    ),
    (SGDClassifier, "SGDClassifier is a class: give an object, SGDClassifier(...)"),
    (
        make_pipeline(PCA(2), SGDClassifier()),
        "the step 'pca' (PCA) has no partial_fit, and fitting it on all rows would leak later rows",
    ),
    (make_pipeline(StandardScaler(), RandomForestClassifier()), "the step 'randomforestclassifier'"),
    (
        make_pipeline(Nystroem(), SGDClassifier()),
        "the step 'nystroem' (Nystroem) has no partial_fit, and fitting",
    ),
    (make_pipeline(RBFSampler(gamma="scale"), SGDClassifier()), "the step 'rbfsampler' (RBFSampler) has no"),
    (make_pipeline(LessFirst(), SGDClassifier()), "the step 'lessfirst' (LessFirst) has no partial_fit"),
    (
        make_pipeline(ColumnTransformer([("one", PCA(1), [0])]), SGDClassifier()),
        "the step 'columntransformer' (ColumnTransformer) holds other steps",
    ),
    (MiniBatchKMeans(), "it is a clusterer; a classifier or a regressor is needed"),
    (cluster.KMeans(), "it is a clusterer"),
    (anomaly.HalfSpaceTrees(), "does not learn row by row"),
    (Silent(), "does not say its parameters, which are part of the keys of results"),
    (SGDClassifier(random_state=np.random.RandomState(0)), "random_state is RandomState"),
    (SGDRegressor(), "is for regression, data=wdbc for classification"),
    (3, "must be names, learners of omkl.learner(...) and omkl.refit(...), or estimators with"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED, ids=lambda own: str(own)[:30])
def test_what_cannot_be_learnt_online_is_refused(model, message):
    with pytest.raises(UserError) as error:
        omkl.run(algo=["auto", model], data="wdbc", reps=1, **SERIAL)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


IN_OBJECT = "the parameters of an object are set in the object itself"
OUTSIDE = [
    ("", {"algo.alpha": 3}, f"algo.alpha=3: {IN_OBJECT}"),
    ("algo.alpha=3", {}, f"algo.alpha=3: {IN_OBJECT}"),
    ("", {"algo.SGDClassifier.alpha": 3}, f"algo.SGDClassifier.alpha=3: {IN_OBJECT}"),
    ("algo.sklearn.SGDClassifier.alpha=3", {}, f"algo.sklearn.SGDClassifier.alpha=3: {IN_OBJECT}"),
    (
        "algo.alpha=3",
        {"algo": ["auto", SGDClassifier()]},
        f"algo.alpha=3: algo=auto has no hyperparameter 'alpha', and {IN_OBJECT}",
    ),
    (
        "exec=slurm",
        {},
        "exec=slurm: SGDClassifier (scikit-learn) is an object of Python, and the file of a job",
    ),
]


@pytest.mark.parametrize(("words", "settings", "message"), OUTSIDE)
def test_what_an_object_cannot_be_told_from_outside_is_refused(words, settings, message):
    with pytest.raises(UserError) as error:
        omkl.run(words, data="wdbc", reps=1, progress=False, **{"algo": [SGDClassifier()], **settings})
    assert str(error.value).startswith(message)


def test_dask_sends_objects_and_slurm_s_jobs_get_none():
    """As dask sends a job: it comes to another process as the same cell, with the same results."""
    distributed = pytest.importorskip("distributed")
    for model in (
        make_pipeline(StandardScaler(), SGDClassifier()),
        tree.HoeffdingTreeClassifier(),
        Copycat(),
    ):
        setting = omkl.learner(model)
        made = plan(["data=wdbc", "reps=1", "exec=serial", "yardsticks=[]"], values={"algo": [setting]})
        (cell,) = expand(made)
        sent = distributed.protocol.pickle.dumps(cell)
        own = given.pop(cell.spec.name)
        try:
            arrived = distributed.protocol.pickle.loads(sent)
            assert arrived.key == cell.key
            assert run_cell(arrived)["mistakes"] == run_cell(cell)["mistakes"]
        finally:
            given[own.name] = own
        with pytest.raises(UserError, match="is an object of Python, and the file of a job holds names"):
            check_objects(made)


SEEDED = [
    forest.ARFClassifier(n_models=2),
    ensemble.BaggingClassifier(linear_model.LogisticRegression(), n_models=2),
    preprocessing.StandardScaler() | forest.ARFClassifier(n_models=2),
]


@pytest.mark.parametrize("model", SEEDED, ids=str)
def test_the_seed_of_a_repetition_is_that_of_the_object(model):
    spec, params = spec_of(model)
    rows = [({0: float(t % 7), 1: float(t % 3)}, t % 2 == 0) for t in range(80)]

    def learnt(seed):
        made = spec.fresh(params, seed)
        for x, y in rows:
            made.learn_one(x, y)
        return [made.predict_proba_one(x) for x, _ in rows]

    assert learnt(1) == learnt(1)
    assert learnt(1) != learnt(2)


@pytest.mark.parametrize(
    ("model", "name"), [(SGDClassifier(), "random_state"), (forest.ARFClassifier(), "seed")], ids=str
)
def test_a_seed_that_the_object_names_stays(model, name):
    spec, params = spec_of(model)
    assert getattr(spec.fresh(params, 7), name) == 7
    setattr(model, name, 3)
    spec, params = spec_of(model)
    assert getattr(spec.fresh(params, 7), name) == 3


def test_two_steps_that_draw_have_seeds_of_their_own():
    spec, params = spec_of(make_pipeline(RBFSampler(), SGDClassifier()))
    sampler, last = (step for _, step in spec.fresh(params, 7).steps)
    assert sampler.random_state != last.random_state
    assert {sampler.random_state, last.random_state} == {7, 8}
    spec, params = spec_of(feature_extraction.RBFSampler() | forest.ARFClassifier())
    assert [step.seed for step in spec.fresh(params, 7).steps.values()] == [7, 8]
    spec, params = spec_of(ensemble.VotingClassifier([forest.ARFClassifier(), forest.ARFClassifier()]))
    assert [model.seed for model in spec.fresh(params, 7).models] == [7, 8]


def test_the_same_object_with_a_label_is_a_row_of_its_own():
    model = GaussianNB()
    results = omkl.run(algo=[model, omkl.learner(model, label="again")], data="wdbc", reps=2, **SERIAL)
    assert results.table.label.tolist() == ["GaussianNB (scikit-learn)", "again"]
    assert len(results.cells) == 2


def test_what_only_transforms_is_not_refitted():
    for model in (StandardScaler(), make_pipeline(StandardScaler())):
        with pytest.raises(UserError, match="StandardScaler only transforms"):
            omkl.refit(model)


def test_a_worker_with_another_version_says_so():
    spec, _ = spec_of(GaussianNB())
    spec.packages["scikit-learn"], own = "0.1", spec.packages["scikit-learn"]
    with pytest.raises(OmklError, match=r"this worker has scikit-learn .*, and the command 0\.1"):
        source(spec)
    spec.packages["scikit-learn"] = own


def test_a_class_that_is_defined_again_is_the_new_one():
    def made(name):  # as in a notebook, where the name stays
        return type("Copycat", (Copycat,), {"__module__": __name__, "__qualname__": name})()

    earlier = omkl.learner(Copycat(), label="first")
    assert key(made("Silent2"))[0] == "Copycat"
    run = omkl.run(algo=[earlier], data="wdbc", reps=1, **SERIAL)
    assert run.cells["source"][0] == key(Copycat())[2]
    with pytest.raises(UserError, match="two classes are called Copycat"):
        omkl.run(algo=[earlier, made("Silent2")], data="wdbc", reps=1, **SERIAL)


SCRIPT = """
from sklearn.base import BaseEstimator, ClassifierMixin
import numpy as np
FLIP = False
class Options:
    flip = False
class Mine(ClassifierMixin, BaseEstimator):
    _flip = False
    def __init__(self, sign=1):
        self.sign = sign
    def partial_fit(self, X, y, classes=None):
        return self
    def flips(self):
        return False
    def predict(self, X):
        return np.where((X[:, 0] > 0) ^ (self._flip or self.flips() or FLIP or Options.flip), 1, -1)
"""
CHANGES = {
    "private constant": "Mine._flip = True",
    "method assigned later": "Mine.flips = lambda self: True",
    "global": "FLIP = True",
    "constant of another class": "Options.flip = True",
}


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The names of a script that runs as __main__."""
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(SCRIPT, vars(main))
    return vars(main)


def of_script(model, tmp_path, **how):
    X = np.random.default_rng(0).normal(size=(60, 2))
    data, y = {"d": X}, np.where(X[:, 0] > 0, "p", "n")
    return omkl.run(data, y=y, algo=model, store=str(tmp_path / "store"), reps=1, **{**SERIAL, **how})


@pytest.mark.parametrize("change", CHANGES)
def test_a_script_s_class_is_computed_anew_in_each_call(change, script, tmp_path):
    found = []
    for _ in range(2):
        for model in (script["Mine"](), omkl.stack("arow", script["Mine"]()), script["Mine"](sign=-1)):
            results = of_script([model], tmp_path)
            found.append(results)
        exec(CHANGES[change], script)
    assert [each.cells.mistakes[0] for each in found[::3]] == [1, 60]
    assert [each.cells.mistakes[0] for each in found[2::3]] == [1, 60]
    assert len(found[0].curve().axes[0].lines) == 1  # what was not kept can still be looked at
    for results in found:
        assert any("Mine: computed anew in each call and not kept" in note for note in results.notes)
    assert not [*(tmp_path / "store").glob("cells/*")]
    both = of_script([script["Mine"](), script["Mine"](sign=-1)], tmp_path)
    assert len(both.cells) == 2
    assert of_script([script["Mine"]()], tmp_path, stored=True).cells.empty


def test_cells_of_a_class_in_a_module_are_kept_until_its_source_changes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = []
    for helper in ("False", "False", "True"):
        (tmp_path / "beside_of_mine.py").write_text(f"FLIP = {helper}\n")
        text = SCRIPT.replace("FLIP = False", "from beside_of_mine import FLIP")
        (tmp_path / "module_of_mine.py").write_text(text)
        for name in ("module_of_mine", "beside_of_mine"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        model = importlib.import_module("module_of_mine").Mine()
        sys.dont_write_bytecode = before
        ran.append(of_script([model], tmp_path))
    assert [each.outcome.ran for each in ran] == [1, 0, 1]
    assert [each.cells.mistakes[0] for each in ran] == [1, 1, 60]

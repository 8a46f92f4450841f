"""Stacks of learners: cuts, threads, what their keys and models hold, and members of other packages."""

import copy
import itertools
import math
import pickle
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.extension import write

import omkl
from omkl.cli import main
from omkl.config import learner_spec, learners, members_of, plan
from omkl.config import members as stacks
from omkl.engine.stream import make_stream, part
from omkl.errors import UserError
from omkl.models.asked import noted_scores, score
from omkl.models.model_file import read_model, write_model
from omkl.passes.packing import pack, snapshot, unpack, with_classes
from omkl.passes.source import source
from omkl.paths import EXTENSIONS
from omkl.rounds.steps import Rounds
from omkl.rounds.support_vectors import stored_vectors
from omkl.runs.cells import expand
from omkl.stacks.new_learner import new_learner
from omkl.stacks.stack import _answers_of, _log_odds
from omkl.state.cost import held_bytes
from omkl.testing.cases import assert_same, clouds, matrix_of, sparse, state

MEMBERS = [
    "arow",
    "omkc_ss(pool=gauss3)",  # draws for its predictions, stores all vectors
    "krls_t(budget=20,scale=ranks)",
    "egpc(D=5,pool=gauss3,scale=online)",
]
OF_NUMBERS = [
    "ridge(lam=0.001)",
    "krls_t(budget=20,kernel=gaussian(sigma=1 median))",
    "krls_t(budget=20,scale=ranks)",
    "iegp(D=5,pool=gauss3,scale=online)",
    "iegp(D=5,pool=gauss3,scale=online,drift=0.01)",
    "omkl_gf",  # draws for its predictions
    "last_value",
]

SMALL = {"reps": 1, "yardsticks": [], "progress": False, "exec": "serial"}


def rows_of(classes, T=300):
    """A stream of rows and their labels; of 0 classes their targets."""
    data = clouds(T)
    if not classes:
        y = np.sin(np.arange(T)) + 5.0 * data.y
        return make_stream(data.indptr, data.indices, data.values, y, np.arange(T)[::-1])
    label = (np.arange(T) * 7 % 5 % classes).astype(float)
    y = data.y if classes == 2 else label
    return make_stream(data.indptr, data.indices, data.values, y, np.arange(T)[::-1], classes)


def fresh(classes, threads=1, members=None):
    spec = learner_spec("stack" if classes else "stack_regression")
    members = members or (MEMBERS if classes else OF_NUMBERS)
    return new_learner(spec, {"members": members}, None, 5, 3, classes=classes or 2, threads=threads)


def arrays_of(learner):
    members = [(str(number), state(own)) for number, own in enumerate(learner.members)]
    rounds = [own and own[0] for own in map(stored_vectors, learner.members)]  # of the rows that each stores
    members += [("rounds", {str(number): own for number, own in enumerate(rounds) if own is not None})]
    return {
        f"{name}.{key}": array for name, own in [("", state(learner)), *members] for key, array in own.items()
    }


def assert_equal(first, other):
    assert_same(arrays_of(first), arrays_of(other))
    assert first.shared.keys() == other.shared.keys()
    for word, scaling in first.shared.items():
        assert_same(scaling.arrays(), other.shared[word].arrays())


@pytest.mark.parametrize("classes", [0, 2, 4])
@pytest.mark.parametrize(("cuts", "threads"), [([], 3), ([1, 2, 70, 299], 1), ([130], 2)])
def test_cuts_and_threads_change_no_bit(classes, cuts, threads):
    stream, whole, cut = rows_of(classes), fresh(classes), fresh(classes, threads)
    trace, _ = whole.run(stream)
    traces = [cut.run(part(stream, *ends))[0] for ends in itertools.pairwise([0, *cuts, stream.T])]
    np.testing.assert_array_equal(np.concatenate([own.score for own in traces]), trace.score)
    assert_equal(whole, cut)


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_a_saved_stack_goes_on_as_if_it_had_not_been(tmp_path, classes):
    stream, learner = rows_of(classes), fresh(classes)
    learner.run(part(stream, 0, 200))
    about = {"task": "classification", "classes": list(range(classes))}
    about = about if classes else {"task": "regression"}
    write_model(tmp_path / "m", learner, about)
    again, _ = read_model(tmp_path / "m")
    traces = [own.run(part(stream, 200, 300))[0] for own in (learner, again)]
    np.testing.assert_array_equal(traces[0].score, traces[1].score)
    assert_equal(learner, again)


def test_a_model_whose_members_are_others_is_refused():
    header, arrays = snapshot(fresh(2))
    for forged, what in (
        ({"members": header["members"][:-1]}, "squares: the array|the scalings"),
        ({"members": []}, "its members are not those"),
        ({"members": [*header["members"][:-1], 3]}, "no learner"),
        ({"members": header["members"][::-1]}, "there is no array|is not the one|is missing"),
        ({"params": {"members": ["arow(r=2)", *MEMBERS[1:]]}}, "another source"),
        ({"params": {"members": [math.nan, *MEMBERS[1:]]}}, "must be a list of learners"),
        ({"shared": None}, "the scalings of its members are broken"),
        ({"shared": header["shared"][::-1]}, "the scalings of its members are others"),
        ({"shared": header["shared"][:1]}, "the scalings of its members are others"),
    ):
        with pytest.raises((ValueError, UserError), match=what):
            unpack({**header, **forged}, arrays)
    r_of_another = [
        {**header["members"][0], "params": {"r": 2.0, "bias": True, "full": True, "squares": False}}
    ]
    with pytest.raises(ValueError, match="its member 1 is not the one"):
        unpack({**header, "members": r_of_another + header["members"][1:]}, arrays)
    wider = new_learner(learner_spec("stack"), {"members": ["arow"]}, None, 6, 3)
    for members, change, what in (
        (["arow", "arow(r=10)"], lambda own: own["members"].reverse(), "its member 2 is not the one"),
        (
            [MEMBERS[3]],
            lambda own: own["members"][0]["pool"]["kernels"][0].update(gamma=9.0),
            "member 1 is not the one",
        ),
        (["arow"], lambda own: own.update(members=snapshot(wider)[0]["members"]), "other columns or classes"),
    ):
        header, arrays = snapshot(fresh(2, members=members))
        header = copy.deepcopy(header)
        change(header)
        if "columns" in what:
            arrays |= {name: own for name, own in snapshot(wider)[1].items() if name.startswith("0:")}
        with pytest.raises(ValueError, match=what):
            unpack(header, arrays)


def test_scoring_draws_and_changes_nothing():
    stream, learner = rows_of(2), fresh(2)
    learner.run(part(stream, 0, 100))
    before, rows = arrays_of(learner), (stream.indptr, stream.indices, stream.values)
    np.testing.assert_array_equal(score(learner, *rows), score(learner, *rows))
    assert_same(arrays_of(learner), before)


def test_it_goes_on_with_more_classes_and_more_features():
    stream, learner = rows_of(3), fresh(3, members=["arow", "arow(r=10,scale=online)", "arow(scale=ranks)"])
    learner.run(part(stream, 0, 200))
    wider, rows = with_classes(learner, 5), (stream.indptr, stream.indices, stream.values)
    P, _ = noted_scores(wider, *rows)
    assert P.shape == (300, 5)
    np.testing.assert_array_equal(P[:, 3], P[:, 4])
    wider.add_features(8)
    assert wider.shared["online"].features.rows.shape[2] == 8
    assert len(wider.shared["ranks"].features.window) == 8
    wider.run(part(stream, 200, 300))
    assert wider.members[0].state["mu"].shape == (5, 9)


def test_a_member_that_is_a_stack_stands_for_its_members(tmp_path, monkeypatch):
    text = "about: {cite: mine, stack: [arow, 'egpc(D=5, pool=gauss3)']}"
    nested = "about: {cite: mine, stack: ['stack(members=[arow(full=false), krls_t])']}"
    files = {"conf/algo/duo.yaml": text, "conf/algo/nested.yaml": nested}
    files["conf/algo/large.yaml"] = "about: {cite: mine, stack: [krls_t]}"
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", files)))
    assert [own.learner for own in members_of(learner_spec("nested"), {}, 50_000)] == ["arow"]  # named by it
    assert len(members_of(learner_spec("large"), {}, 50_000)) == 1  # not none
    words = {"whole": ["duo", "krls_t"], "flat": ["arow", "egpc(D=5,pool=gauss3)", "krls_t"]}
    specs = {name: members_of(learner_spec("stack"), {"members": own}) for name, own in words.items()}
    assert specs["whole"] == specs["flat"]
    assert [own.learner for own in members_of(learner_spec("duo"), {})] == ["arow", "egpc"]
    data = clouds()
    stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T))
    traces = [fresh(2, members=own).run(stream)[0].score for own in words.values()]
    np.testing.assert_array_equal(*traces)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about: {cite: mine, stack: [arow, self]}", "self is a member of itself"),
        ("about: {cite: mine, stack: [arow, other]}", "is a member of itself"),
        ("about: {cite: mine, stack: [arow, ridge]}", "ridge is for regression"),
        ("about: {cite: mine, stack: [arow], kernels: pool}", "'about.kernels' is not possible"),
        ("r: {value: 1, domain: '(0, inf)', help: r}\nabout: {cite: mine, stack: [arow]}", "r: a stack has"),
        ("about: {cite: mine, stack: ['arow(q=1)']}", "no hyperparameter 'q'"),
    ],
)
def test_faults_of_a_file_name_it(tmp_path, monkeypatch, capsys, text, said):
    other = "about: {cite: mine, stack: [self]}"
    files = {"conf/algo/self.yaml": text, "conf/algo/other.yaml": other}
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", files)))
    assert main(["run", "algo=self", "data=wdbc", f"store={tmp_path / 's'}"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "self.yaml" in error


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ("[nosuch]", "unknown learner"),
        ("[arow(label=x)]", "a member of a stack has no label"),
        ("[perceptron_star]", "chooses its kernel from later rows"),
        ("[]", "must be a list of learners"),
        ("[norma_novelty]", "is for novelty"),
    ],
)
def test_faults_of_words(tmp_path, capsys, members, said):
    assert main(["run", f"algo=stack(members={members})", "data=wdbc", f"store={tmp_path}"]) == 2
    assert said in capsys.readouterr().err


def test_the_key_holds_what_the_members_are(monkeypatch):
    def key(word):
        return expand(plan([f"algo={word}", "data=wdbc", "reps=1", "yardsticks=[]"]))[0].key

    words = ["stack(members=[arow,egpc])", "stack(members=[egpc,arow])", "stack(members=[arow])"]
    words += ["stack(members=[arow(r=2),egpc])", "stack(members=[arow(scale=online),egpc])"]
    assert len({key(word) for word in words}) == len(words)
    before = source(learner_spec("stack"), {"members": ["arow"]})
    monkeypatch.setitem(vars(learner_spec("arow")), "revision", 99)
    assert source(learner_spec("stack"), {"members": ["arow"]}) != before


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # of its first rows
def test_members_share_features_wherever_one_of_another_package_stands():
    shared = ["egpc(D=5,pool=gauss3,scale=online)", "egpc(D=5,pool=gauss3,scale=online,drift=0.01)"]
    words = omkl.stack(GaussianNB(), *shared).params["members"]
    together, apart = fresh(2, members=words), fresh(2, members=words)
    assert together.of_members._lifted_together == [together.members[1:]]
    apart.of_members._lifted_together = []
    scores = [learner.run(rows_of(2))[0].score for learner in (together, apart)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # of its first rows
def test_members_of_other_packages_give_log_odds():
    data = clouds(120)
    members = omkl.stack(GaussianNB(), "arow").params["members"]
    learner = fresh(2, 2, members)
    learner.of_members._pool.submit = None  # one at a time: the process's random numbers are theirs
    stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T))
    margins = learner.of_members.before(learner, Rounds(stream, 0, True)).margins
    X, model = matrix_of(data), GaussianNB()
    for t in range(data.T):
        if t > 20:
            P = np.clip(model.predict_proba(X[t : t + 1])[0, 1], 0.01, 0.99)
            assert margins[t, 0, 0] == pytest.approx(np.log(P / (1 - P)))
        model.partial_fit(X[t : t + 1], data.y[t : t + 1].astype(int), classes=[-1, 1])
    assert margins[0, 0, 0] == 0.0
    with pytest.raises(UserError, match="cannot be saved, as its package"):
        pack(learner)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # of its first rows
def test_a_model_with_a_member_of_another_package_is_used_and_not_saved(tmp_path, monkeypatch):
    data = clouds(200)
    X, y = matrix_of(data), np.where(data.y > 0, "yes", "no")
    model = omkl.fit(omkl.stack("arow", GaussianNB()), X[:120], y=y[:120], order="file")
    member = GaussianNB().fit(X[:120], y[:120])
    asked = model.trained.learner.members[1]._asked.model
    np.testing.assert_allclose(asked.theta_, member.theta_)
    assert model.score(X[120:], y[120:]) > 0.7
    assert set(model.predict(X)) == {"yes", "no"}
    np.testing.assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1.0)
    assert model.update(X[120:], y[120:]).described()["rounds"] == 200
    np.testing.assert_allclose(asked.theta_, GaussianNB().fit(X, y).theta_)
    with pytest.raises(UserError, match=r"member sklearn\.GaussianNB cannot be saved"):
        model.save(tmp_path / "m.omkl")
    assert not [*tmp_path.iterdir()]


def test_a_worker_knows_members_that_are_objects(monkeypatch):
    setting = omkl.stack("arow", omkl.refit(GaussianNB()))
    cell = expand(plan(["data=wdbc", "reps=1", "yardsticks=[]"], values={"algo": [setting]}))[0]
    sent = pickle.dumps(cell)
    monkeypatch.setattr(learners, "given", {})
    monkeypatch.setattr(stacks, "given", learners.given)
    with pytest.raises(UserError, match="unknown learner"):
        members_of(cell.spec, cell.params)
    again = pickle.loads(sent)
    assert [own.learner for own in members_of(again.spec, again.params)] == [
        "arow",
        "sklearn.GaussianNB.refit",
    ]
    assert again.key == cell.key


def test_help_lists_the_members(tmp_path, monkeypatch, capsys):
    text = "about: {cite: mine, stack: [arow, 'egpc(scale=online)']}"
    monkeypatch.setenv(EXTENSIONS, str(write(tmp_path / "mine", {"conf/algo/duo.yaml": text})))
    assert main(["help", "duo"]) == 0
    assert "members:\n  arow\n  egpc(pool=gauss13, scale=online)\n" in capsys.readouterr().out


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_row_by_row_is_a_pass(classes):
    stream, whole, rows = rows_of(classes, 120), fresh(classes), fresh(classes)
    trace, _ = whole.run(stream)
    for t in range(stream.T):
        start, stop = stream.indptr[stream.order[t]], stream.indptr[stream.order[t] + 1]
        y = stream.y[t] if classes <= 2 else stream.label[t]
        row = stream.indices[start:stop], stream.values[start:stop]
        rows.run_row(*row, y, learn=False)
        _, one = rows.run_row(*row, y, first=int(stream.order[t]))
        assert one.score[0] == trace.score[t]
    assert_equal(whole, rows)


def test_what_members_begin_with_say_and_hold():
    """Features of the same frequencies, log odds within rounding, growth of what is not scaled."""
    learner = fresh(2, members=[MEMBERS[1], MEMBERS[3], MEMBERS[3].replace("D=5", "D=6"), MEMBERS[3]])
    V = [member.state["F"].V for member in learner.members[1:]]
    np.testing.assert_array_equal(V[0], V[2])
    assert not np.isin(V[0], V[1]).any()
    assert (
        held_bytes(learner.held) - held_bytes(learner.held[:-1])
        >= learner.shared["online"].features.rows.nbytes
    )
    trace, _ = learner.members[1].run(rows_of(2))
    trace.score[:2] = 0.5, -0.5
    margins = _log_odds(*_answers_of(learner.members[1], trace))
    np.testing.assert_allclose(margins[:2, 0], [13.8155, -13.8155], rtol=1e-5)
    assert fresh(2, members=["arow"]).growth
    assert not fresh(2, members=["arow(scale=online)"]).growth
    assert not members_of(learner_spec("stack"), {"members": ["arow(scale=none)"]})[0].scaling


def test_members_that_overflow_say_nothing_from_then_on():
    data = clouds(60)
    values = data.values.copy()
    values[data.indptr[30] : data.indptr[31]] = 1.7e308
    stream = make_stream(data.indptr, data.indices, values, data.y, np.arange(60))
    learner = fresh(2, members=["arow", MEMBERS[3].replace(",scale=online", "")])
    other = fresh(2, members=["arow", MEMBERS[3].replace(",scale=online", "")])
    margins = other.of_members.before(other, Rounds(stream, 0, True)).margins
    assert abs(margins[30, 0, 0]) == 1e100
    assert not margins[31:, 0, 1].any()
    trace, _ = learner.run(stream)
    assert np.isfinite(trace.score).all()
    assert np.isfinite(learner.state["squares"]).all()


def test_a_file_leaves_out_large_members_and_words_do_not():
    spec, whole = learner_spec("auto"), members_of(learner_spec("auto"), {})
    assert members_of(spec, {}, 200, 2) == whole
    assert len(members_of(spec, {}, 1000, 100)) < len(members_of(spec, {}, 1000, 2))
    fewer = members_of(spec, {}, 50_000, 2)
    assert {own.learner for own in fewer} == {"arow"}
    none_fits = members_of(spec, {}, 2**20, 2)  # the smallest stay
    assert {own.learner for own in none_fits} == {"arow"}
    assert len(none_fits) < len(whole)
    words = [own.word for own in whole]
    assert len(members_of(learner_spec("stack"), {"members": words}, 50_000, 2)) == len(whole)
    data = sparse(300, 50_000, 20)
    stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T))
    learner = new_learner(spec, {}, None, 50_000, 1)
    assert held_bytes(learner.held) < 2**24
    learner.run(part(stream, 0, 200))
    again = unpack(*snapshot(learner))
    traces = [own.run(part(stream, 200, 300))[0].score for own in (learner, again)]
    np.testing.assert_array_equal(*traces)


def test_a_note_says_how_many_members_are_left_out():
    """As many as `omkl help auto` lists less those that a model of these rows has; none where all fit."""
    X = csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [0, 39_999, 5])), shape=(3, 40_000))
    found = [
        note
        for rows in (X, X[:, :100])
        for note in omkl.run(rows, y=[0, 1, 1], algo="auto", **SMALL).notes
        if "leaves out" in note
    ]
    total, left = len(members_of(learner_spec("auto"), {})), len(members_of(learner_spec("auto"), {}, 40_000))
    assert found == [
        f"data has 40000 features: Auto leaves out {total - left} of its {total} members, which may take "
        "more than 4 MB each"
    ]


@pytest.mark.parametrize("of", ["auto", "auto_regression"])
@pytest.mark.parametrize("name", ["unscaled", "no_gaussians", "not_linear", "no_trackers", "no_drifts"])
def test_ablations_are_auto_with_fewer_members(of, name, monkeypatch):
    monkeypatch.setenv(EXTENSIONS, str(Path(__file__).parents[2] / "docs/examples/ablations"))
    words = learner_spec(of).stack
    fewer = learner_spec(f"{of}_{name}").stack
    assert fewer == [word for word in words if word in fewer]
    assert 0 < len(fewer) < len(words)


class Remembers(SGDClassifier):
    """Notes with which seed each of its copies learns."""

    seeds: ClassVar[dict[float, int]] = {}

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.seeds[self.alpha] = self.random_state
        return super().partial_fit(X, y, classes, sample_weight)


def test_members_of_another_package_have_seeds_of_their_own():
    data = clouds()

    def seeds_of(seed):
        Remembers.seeds = {}
        members = omkl.stack(Remembers(alpha=0.1), "arow", Remembers(alpha=0.2))
        omkl.fit(members, matrix_of(data), y=data.y, seed=seed)
        return Remembers.seeds

    first = seeds_of(0)
    assert len(set(first.values())) == 2
    assert seeds_of(0) == first
    assert set(seeds_of(1).values()).isdisjoint(first.values())

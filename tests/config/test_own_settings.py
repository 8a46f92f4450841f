"""Learners with settings of their own: on the command line, in a settings file, and beside plain keys."""

import pytest

from omkl.config import plan
from omkl.config.own_settings import choice
from omkl.errors import UserError
from omkl.runs.cells import expand

FILE = """\
words: {pool: gauss3, reps: 3}
settings:
- {learner: omkc_dd, data: wdbc, params: {beta: 0.5}}
- {learner: omkc_dd, data: svmguide3, params: {beta: 0.9}, label: forgets slowly}
- {learner: alma, params: {C: 1}}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "best.yaml"
    path.write_text(FILE)
    return f"settings={path}"


def params(made, learner, data="wdbc"):
    """The hyperparameters of each setting of a learner on a data set."""
    return [
        own.params for own in made.settings if own.learner == learner and own.fits("classification", data)
    ]


def keys(*words):
    return {cell.key for cell in expand(plan([*words, "yardsticks=[]", "reps=2"]))}


def test_a_cell_does_not_depend_on_how_its_setting_was_given(tmp_path):
    alone = keys("algo=alma", "algo.C=1", "data=wdbc") | keys("algo=omkc_dd", "data=wdbc")
    assert keys("algo=alma,omkc_dd", "algo.alma.C=1", "data=wdbc") == alone
    assert keys("algo=alma(C=1, label=mine),omkc_dd", "data=wdbc") == alone
    path = tmp_path / "own.yaml"
    path.write_text(
        "settings: [{learner: alma, params: {C: 1}, label: mine}, {learner: omkc_dd, data: wdbc}]"
    )
    assert keys(f"settings={path}") == alone
    two = keys("algo=omkc_dd", "algo.beta=0.9", "data=wdbc") | keys("algo=omkc_dd", "data=wdbc")
    assert keys("algo=omkc_dd(beta=0.9),omkc_dd(beta=0.8)", "data=wdbc") == two


def test_the_learner_s_name_goes_before_own_settings_and_these_before_plain_keys(file):
    words = ["algo=alma(C=2),alma,omkc_dd", "algo.C=3", "data=wdbc"]
    assert [own["C"] for own in params(plan(words), "alma")] == [2.0, 3.0]
    assert [own["C"] for own in params(plan([*words, "algo.alma.C=4"]), "alma")] == [4.0]
    made = plan([file])
    assert [own["beta"] for own in params(made, "omkc_dd")] == [0.5]
    assert [own["beta"] for own in params(made, "omkc_dd", "svmguide3")] == [0.9]
    swept = plan(["algo=omkc_dd,omkc_ss", "algo.omkc_dd.beta=0.5,0.9", "data=wdbc"], sweep=True)
    assert (len(swept.settings), swept.swept) == (3, ("algo.omkc_dd.beta",))


def test_a_settings_file_says_what_runs_where(file):
    made = plan([file])
    assert [ref.name for ref in made.data] == ["wdbc", "svmguide3"]
    assert made.reps == 3
    assert [own.pool["name"] for own in made.settings if own.pool] == ["gauss3", "gauss3"]
    assert [(own.learner, own.label, own.data) for own in made.settings] == [
        ("omkc_dd", None, ("wdbc",)),
        ("omkc_dd", "forgets slowly", ("svmguide3",)),
        ("alma", None, ()),
    ]
    assert plan([file, "reps=2", "pool=paper16"]).reps == 2
    with pytest.warns(UserWarning, match="has no settings of omkc_ss on wdbc: it runs there without"):
        beside = plan([file, "algo=omkc_ss,omkc_dd", "data=wdbc"])
    assert [own.params["beta"] for own in beside.settings] == [0.8, 0.5]


def test_a_choice_is_written_as_the_command_line_takes_it():
    own = choice("alma", {"kernel": "gaussian(sigma=2)", "C": 1}, label="narrow")
    assert str(own) == "alma(kernel=gaussian(sigma=2), C=1, label=narrow)"
    (setting,) = plan([f"algo={own}", "data=wdbc"]).settings
    assert (setting.label, setting.params["kernel"]["sigma"]) == ("narrow", 2.0)
    matched = choice("bomkc_rbp", {"budget": {"match": "bomkc_spa"}})
    assert plan([f"algo={matched}", "data=wdbc"]).settings[0].params["budget"] == {"match": "bomkc_spa"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "algo=alma algo.alm.C=1",
            r"algo.alm.C=1: unknown learner 'alm' \(did you mean 'alma' or 'alma0'",
        ),
        ("algo=alma algo.alma.CC=1", r"algo=alma has no hyperparameter 'CC' \(did you mean"),
        ("algo=alma algo.omkc_dd.beta=0.5", "omkc_dd is not among the learners .algo=alma"),
        ("algo=alma algo.kernel.sigma=2", "algo=alma has no hyperparameter 'kernel.sigma'"),
        ("algo=alma(C=1) algo.C=2", "algo.C=2: no effect, since each learner has its own C"),
        ("algo=alma(C=-1)", r"algo.alma.C: must be a number > 0, got -1"),
        ("algo=alma(C=1,C=2)", "each key once"),
        ("algo=alma(D=1)", "algo=alma has no hyperparameter 'D'; it has kernel, alpha, C"),
        ("algo=alma(pool=gauss3)", "algo=alma uses no kernel pool"),
        ("algo=omkc_dd(pool=gauss33)", r"unknown kernel pool \(did you mean 'gauss3'"),
        ("algo=omkc_dd algo.omkc_dd.beta=0.5,0.6", "`omkl sweep` runs a grid"),
        ("settings=nosuch.yaml", "there is no such file; `omkl tune --out FILE` writes one"),
    ],
)
def test_mistakes_are_told_at_once(words, says):
    with pytest.raises(UserError, match=says):
        plan([*words.split(), "data=wdbc"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("settings: 3", "settings: must be a list of learners with their settings"),
        ("settings: []", "settings: must be a list of learners with their settings"),
        ("setings: [{learner: alma}]", r"unknown key 'setings' \(did you mean 'settings'"),
        ("settings: [{learner: alma, param: {C: 1}}]", r"unknown key 'param' \(did you mean 'params'"),
        ("settings: [{params: {C: 1}}]", "'learner' is missing"),
        ("settings: [{learner: alma}, {learner: alma, params: {c: 1}}]", r"settings\[2\]: algo=alma has no"),
        ("settings: [{learner: almaa}]", r"settings\[1\]: .*unknown learner \(did you mean 'alma'"),
        ("words: {order: fil}\nsettings: [{learner: alma}]", "words.order: must be one of"),
        ("words: {algo: alma}\nsettings: [{learner: alma}]", "unknown key 'words.algo'"),
        ("settings: [{learner: alma, data: german}]", "no settings for data=wdbc; add learners with algo="),
        ("settings: !!python/name:os.system", "could not determine a constructor for the tag"),
    ],
)
def test_a_faulty_file_is_named_with_its_key(content, says, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=says) as caught:
        plan([f"settings={path}", "data=wdbc"])
    assert str(path) in str(caught.value)

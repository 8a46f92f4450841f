"""Learners with settings of their own: on the command line, in a settings file, and beside plain keys."""

import pytest

from omkl.config import plan, resolved
from omkl.config.request import settings_yaml
from omkl.config.words import learner_setting, setting_of_words
from omkl.errors import UserError
from omkl.runs.cells import expand

FILE = """\
words: {pool: gauss3, reps: 3}
settings:
- omkc_dd(beta=0.5, data=wdbc)
- omkc_dd(beta=0.9, data=svmguide3, label=forgets slowly)
- alma(C=1)
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
    path.write_text("settings:\n- alma(C=1, label=mine)\n- omkc_dd(data=wdbc)\n")
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
    made = plan(["algo=[omkc_dd,alma(C=2)]", "data=wdbc"])
    assert [own.learner for own in made.settings] == ["omkc_dd", "alma"]
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


LABELS = (
    'my "arow", 2',
    "it's",
    "a\\",
    "\\3 a\\b",
    'a\\"b',
    "1e3",
    "null",
    "k=v (x) #1: [y]",
    "Größe",
    "β = 0.9",
)


@pytest.mark.parametrize(
    "own",
    [
        setting_of_words("alma", {"kernel": "gaussian(sigma=2)", "C": 1}, label="narrow"),
        setting_of_words("bomkc_rbp", {"budget": {"match": "bomkc_spa"}}),
        setting_of_words("omkc_sd", {"floor": "delta/m"}, pool="gauss3", data=["wdbc", "german"]),
        setting_of_words("norma", {"tau": None, "offset": True, "eta": 1e-3}, data=["my (1), file.csv"]),
        *(setting_of_words("omkc_dd", {}, label=label) for label in LABELS),
    ],
    ids=str,
)
def test_a_setting_is_written_as_a_word_and_in_a_file_and_read_back(own, tmp_path):
    assert learner_setting(str(own)) == own
    path = tmp_path / "own.yaml"
    path.write_text(settings_yaml([own], {"reps": 2, "rounds": "1:50"}, "omkl tune"))
    if own.data == ("my (1), file.csv",):
        return
    made = plan([f"settings={path}"])
    assert (made.reps, made.rounds, made.settings[0].label) == (2, "1:50", own.label)
    assert {name: made.settings[0].params[name] for name in own.params} == own.params


def test_quotes_are_quotes_everywhere(tmp_path):
    made = plan(['algo="OMKC(D,D)",alma(label="my, \\"first\\" one"),\'OMKC (D,S)-PA\'', "data=wdbc"])
    assert [own.learner for own in made.settings] == ["omkc_dd", "alma", "omkc_dspa"]
    assert made.settings[1].label == 'my, "first" one'
    path = tmp_path / "a, b (1).csv"
    path.write_text("x,y\n" + "1,#N/A\n2,a\n3,b\n" * 5)
    for word in (f'data="{path}"', f"data={path}"):
        made = plan([word, 'label="y"', "missing=drop", "algo=arow", f'store="{tmp_path}"'])
        assert made.data[0].T == 10
        assert made.store == tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rounds: 1:50", "1:50"),
        ("rounds: '1:50'", "1:50"),
        ("rounds: 100", "0:100"),
        ("reps: 1_0", 10),
        ("order: file", "file"),
        ("test: 2e-1", 0.2),
    ],
)
def test_a_word_of_a_settings_file_is_what_it_is_on_the_command_line(text, expected, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(f"words: {{{text}}}\nsettings: [alma]\n")
    key, _, value = text.partition(": ")
    made = [plan(words) for words in ([f"settings={path}"], [f"{key}={value.strip(chr(39))}", "algo=alma"])]
    assert [getattr(one, key) for one in made] == [expected, expected]


def test_lists_in_a_settings_file_are_lists_of_words(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("words:\n  pool: gauss3,gauss13\n  yardsticks: [arow]\nsettings: [omkc_dd]\n")
    made = plan([f"settings={path}"])
    assert [own.pool["name"] for own in made.settings] == ["gauss3", "gauss13"]
    assert [own.learner for own in made.yardsticks] == ["arow"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "algo=alma algo.alm.C=1",
            r"algo.alm.C=1: unknown learner 'alm' \(did you mean 'alma'",
        ),
        ("algo=alma algo.alma.CC=1", r"algo=alma has no hyperparameter 'CC' \(did you mean"),
        ("algo=alma algo.omkc_dd.beta=0.5", "omkc_dd is not among the learners .algo=alma"),
        ("algo=alma algo.kernel.sigma=2", "algo=alma has no hyperparameter 'kernel.sigma'"),
        ("algo=alma(C=1) algo.C=2", "algo.C=2: no effect, since each learner has its own C"),
        ("algo=alma(C=-1)", r"algo.alma.C: must be a number > 0, got -1"),
        ("algo=alma(C=1,C=2)", "each key once"),
        ("algo=omkc_dd(beta=choice(0.1,0.5))", "beta takes one value here"),
        ("algo=omkc_dd(beta=0.1,0.5)", "write the settings of a learner as NAME"),
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
        ("settings: 3", "must have the key settings with a list such as"),
        ("settings: []", "settings: at least one learner is needed"),
        ("setings: [alma]", "must have the key settings with a list such as"),
        ("settings: [alma]\nword: {}", r"unknown key 'word' \(did you mean 'words'"),
        ("settings: [{learner: alma}]", r"settings\[1\]: must be a learner such as omkc_dd\(beta=0.9\)"),
        ("settings: [alma, alma(c=1)]", r"settings\[2\]: .*algo=alma has no hyperparameter 'c'"),
        ("settings: ['alma,arow']", r"settings\[1\]: alma,arow: must be one learner"),
        ("settings: [almaa]", r"settings\[1\]: .*unknown learner \(did you mean 'alma'"),
        ("words: {order: fil}\nsettings: [alma]", "order=fil: must be one of"),
        ("words: {store: '${oc.env:HOME}'}\nsettings: [alma]", "words: unknown key 'store'"),
        ("words: {order: ${oc.env:HOME}}\nsettings: [alma]", "malformed YAML|interpolations"),
        ("words: {algo: alma}\nsettings: [alma]", "words: unknown key 'algo'"),
        ("words: 3\nsettings: [alma]", "words: must be keys and values, got 3"),
        ("settings: ['alma(data=german)']", "no settings for data=wdbc; add learners with algo="),
        ("settings: !!python/name:os.system", "could not determine a constructor for the tag"),
    ],
)
def test_a_faulty_file_is_named_with_its_key(content, says, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=says) as caught:
        plan([f"settings={path}", "data=wdbc"])
    assert str(path) in str(caught.value)


def test_two_learners_of_one_label_are_both_shown():
    shown = resolved(["algo=omkc_dd(beta=0.9,label=x),omkc_dd(beta=0.8,label=x)", "data=wdbc"])["algo"]
    values = {name: own["hyperparameters"]["beta"]["value"] for name, own in shown.items()}
    assert values == {"x": 0.9, "x 2": 0.8}

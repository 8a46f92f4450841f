"""The words of a command: what they are read as, and that nothing but a UserError comes of a bad one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omkl.config import plan
from omkl.config.words import Pattern, parse_words
from omkl.errors import UserError


def values(word):
    (override,) = parse_words([word]).values()
    return list(override.values)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("algo.beta=0.5", [0.5]),
        ("algo.beta=1,2,3", [1, 2, 3]),
        ("algo.beta=choice(0.1,0.5)", [0.1, 0.5]),
        ("algo.beta=range(1,4)", [1, 2, 3]),
        ("algo.beta=range(5,0,-2)", [5, 3, 1]),
        ("algo.beta=range(0.1,1,0.1)", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
        ("algo.beta=range(0.7,1,0.1)", [0.7, 0.8, 0.9]),  # Hydra's own iteration gives a fourth, 1.0
        ("algo.floor=delta/m", ["delta/m"]),
        ("algo.floor='a,b'", ["a,b"]),
        ("algo.kernel={kind:gaussian,gamma:0.01}", [{"kind": "gaussian", "gamma": 0.01}]),
        ("algo.kernel={kind: linear},{kind: gaussian, sigma: 2}", None),
        ("pool.kernels=[{kind:gaussian,sigma:[1,2]}]", [[{"kind": "gaussian", "sigma": [1, 2]}]]),
        ("reps=null", [None]),
        ("store=a,b (1)/ü", ["a,b (1)/ü"]),
        ("drop=Größe,id", ["Größe", "id"]),
        ("label=Écart", ["Écart"]),
        ("drop=mean radius,meine Größe", ["mean radius", "meine Größe"]),
        ('drop=id,"Preis (€)"', ["id", "Preis (€)"]),
        ("data=~/x(1).txt,wdbc", ["~/x(1).txt", "wdbc"]),
        ("data=some/dir/my.libsvm", ["some/dir/my.libsvm"]),
    ],
)
def test_words_are_read_as(word, expected):
    if expected is None:
        expected = [{"kind": "linear"}, {"kind": "gaussian", "sigma": 2}]
    result = values(word)
    assert result == expected
    assert [type(value) for value in result] == [type(value) for value in expected]


def test_an_existing_file_is_a_path_whatever_its_name(tmp_path):
    path = tmp_path / "a,b (1) [x].libsvm"
    path.write_text("1 1:1\n-1 1:2\n")
    assert values(f"data={path}") == [str(path)]


@pytest.mark.parametrize(
    "label", ["OMKC(D,D) slow", "0.10", "1e3", "null", "[1,2]", "{a:1}", "a = b", "it's", "~x", "\\3", "a\\"]
)
def test_a_label_is_the_text_that_is_written(label):
    word = f"omkc_dd(beta=0.9,label={label})"
    for words in (f"algo={word}", f"algo={word},arow", f"algo=omkc_dd(label={label} ,beta=0.9)"):
        own = values(words)[0]
        assert (own.label, own.params) == (label, {"beta": 0.9})
        assert values(f"algo={own}") == [own]


def test_glob_matches_known_names():
    (pattern,) = values("algo=glob(omkc_*)")
    assert isinstance(pattern, Pattern)
    assert pattern.names(["omkc_dd", "arow", "omkc_ss"]) == ["omkc_dd", "omkc_ss"]


AFTER_A_VALUE = ("reps=1=2", "seed=1]", "algo.beta=0.5)", "order=file}", "pool=[gauss3]x", "seed={a:1}2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["wdbc"], "did you mean 'data=wdbc'"),
        (["omkc_s"], "did you mean 'algo=omkc_s"),
        (["=3"], "the key must be words"),
        (["algo..beta=1"], "the key must be words"),
        (["algo@x=omkc_dd"], "omkl has no packages"),
        (["reps="], "value is missing"),
        (["reps=  "], "value is missing"),
        (["+algo.beta=1"], "every key has a value already, which a word replaces; write algo.beta=1"),
        (["~algo=omkc_dd"], "no key can be removed; leave the word out for its default"),
        (["seed=1", "seed=2"], "given twice"),
        (["algo.kernel=kind:linear", "algo.kernel=sigma:1"], "the shell expands them"),
        (["store=${oc.env:HOME}"], "interpolations"),
        (["seed=${oc.env:SEED}"], "interpolations"),
        (["algo.beta={_target_:os.system}"], "_target_ are refused"),
        (["algo._target_=os.system"], "_target_ are refused"),
        (["algo.beta=(("], "cannot be read"),
        (["algo.beta=range(1,0,0.1)"], "the range is empty: its step leads away from its end"),
        (["algo.beta=range(0.2,0.1"], "(a bracket is not closed); close it"),
        (["algo.kernel={kind:gaussian,sigma:1"], "(a bracket is not closed); close it"),
        (["label=a!b"], """quote a text with special characters: 'label="a!b"'"""),
        (["drop=id,Preis (€)"], """quote a text with special characters: 'drop=id,"Preis (€)"'"""),
        (["algo.beta=range(0,1,0)"], "the range is empty"),
        (["algo.beta=range(0,1,1e-9)"], "at most 100000 values"),
        (["algo.beta=range(0,inf,1)"], "must be finite"),
        (["algo.beta=interval(0,1)"], "an interval has infinitely many values"),
        (["algo.beta=" + "[" * 4000], "cannot be read"),
        *(([word], "cannot be read") for word in AFTER_A_VALUE),
        (["algo=omkc_dd(beta=0.5)(x=1)"], "write a learner as NAME(KEY=VALUE,...)"),
        (["algo=omkc_dd(beta=)"], "write a learner as NAME(KEY=VALUE,...)"),
        (
            ["algo=omkc_dd(beta=range(1,4))"],
            "beta takes one value here; `omkl sweep` takes algo.omkc_dd.beta=",
        ),
        (["algo=omkc_dd(pool=[a,b])"], "pool=a,b: unknown kernel pool"),
        (["seed=" + "9" * 5000], "cannot be read"),
    ],
)
def test_a_bad_word_is_refused(words, said):
    with pytest.raises(UserError) as error:
        parse_words(words)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


TOP = ("algo", "data", "pool", "exec", "reps", "seed", "order", "store", "yardsticks", "block")
PARTS = ("algo.beta", "algo.delta", "algo.kernel", "algo.x", "pool.normalise", "pool.kernels", "exec.jobs")
KEYS = st.sampled_from(TOP + PARTS)
WIDE = st.sampled_from(["1e400", "-0", "0x1", "1_0"])
NUMBERS = st.one_of(st.integers().map(str), st.floats().map(repr), WIDE)
NAMES = st.sampled_from(["omkc_dd", "omkc_ss", "perceptron", "arow", "wdbc", "paper16", "cosine", "null"])
SIGNS = st.text("{}[](),:=$.'\" \\+~*@%-_\n\tü0aez", max_size=12)
ATOMS = st.one_of(NUMBERS, NAMES, SIGNS, st.text(max_size=8))
FUNCTIONS = st.sampled_from(["range", "choice", "glob", "interval", "sort", "shuffle", "tag", "float", "str"])
CALLS = st.builds(lambda name, inner: f"{name}({','.join(inner)})", FUNCTIONS, st.lists(ATOMS, max_size=4))
FIELDS = st.sampled_from(["kind", "sigma", "gamma", "degree", "scale", "coef0"])
KINDS = st.sampled_from(["gaussian", "polynomial", "linear", "laplacian", "[1,2]"])
KERNELS = st.lists(st.builds("{}:{}".format, FIELDS, NUMBERS | KINDS), max_size=4).map(
    lambda items: "{" + ",".join(items) + "}"
)
LISTS = st.lists(ATOMS, max_size=3).map(",".join)
VALUES = st.one_of(ATOMS, CALLS, KERNELS, LISTS, KERNELS.map("[{}]".format))
SANE = st.one_of(
    st.floats(0.001, 0.999).map("algo.beta={!r}".format),
    st.lists(st.floats(0.001, 0.999), min_size=1, max_size=3).map(
        lambda x: f"algo.delta={','.join(map(repr, x))}"
    ),
    st.integers(0, 2**70).map("seed={}".format),
    st.sampled_from(["algo=omkc_dd,omkc_ss", "pool.normalise=cosine,none", "algo.beta=range(0.1,1,0.2)"]),
    st.sampled_from(["data=wdbc,german", "yardsticks=[arow]", "order=file", "exec=serial", "block=7"]),
)
WORDS = st.one_of(SANE, SANE, st.builds("{}={}".format, KEYS, VALUES), VALUES)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=4), st.booleans())
def test_any_words_give_a_plan_or_a_clear_line(words, sweep):
    result, said = None, "-"
    try:
        result = plan(words, sweep=sweep)
    except UserError as error:
        said = str(error)
    assert said.isprintable()
    assert 0 < len(said) < 1000
    assert result is None or (result.settings and result.data and result.reps >= 1)

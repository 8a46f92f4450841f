"""The files of a conf folder: what a value means, what Hydra composes of them, and faults of one line."""

import math
import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ROOT, script

from omkl import conf, yaml_files
from omkl.cli import main
from omkl.config import learner_spec, plan, resolved
from omkl.config.words import parse_words
from omkl.errors import UserError

VALUES = {  # what YAML 1.1 reads otherwise is a text or a number as in a word
    "1:50": "1:50",
    "1:30.5": "1:30.5",
    "1e3": 1000.0,
    "1E-3": 0.001,
    "2.5e3": 2500.0,
    "1.": 1.0,
    ".5": 0.5,
    "-.5e1": -5.0,
    "+3": 3,
    "-0": 0,
    "012": "012",
    "0o7": "0o7",
    "0x1F": "0x1F",
    "0b1": "0b1",
    "1_000": 1000,
    "1__0": "1__0",
    "1_0.5": 10.5,
    "_1": "_1",
    "e5": "e5",
    "1e": "1e",
    "inf": float("inf"),
    "-INF": float("-inf"),
    ".inf": ".inf",
    "yes": "yes",
    "No": "No",
    "on": "on",
    "off": "off",
    "y": "y",
    "true": True,
    "False": False,
    "null": None,
    "NULL": None,
    "none": "none",
    "2001-01-01": "2001-01-01",
    "1-2": "1-2",
    "1.2.3": "1.2.3",
    "delta/m": "delta/m",
}


def of_word(text):
    return parse_words([f"key={text}"])["key"].values[0]


@pytest.mark.parametrize("text", VALUES)
def test_a_value_in_a_file_means_what_the_same_text_means_as_a_word(text, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(f"key: {text}\nlist: [{text}]\n")
    read = yaml_files.read_yaml(path)
    found = [read["key"], read["list"][0], of_word(text)]
    assert found == [VALUES[text]] * len(found)
    assert {type(value) for value in found} == {type(VALUES[text])}


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.text("0123456789eE+-._:xno", min_size=1, max_size=6))
def test_and_any_text_of_such_signs_does(text):

    try:
        word = of_word(text)
        value = yaml.load(f"key: {text}", Loader=yaml_files.loader())["key"]
    except (UserError, yaml.YAMLError, TypeError):
        return
    assert (repr(value), type(value)) == (repr(word), type(word))


# ------------------------------------------------------------------ a folder of one's own


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of OMKL_PATH."""
    for group in ("algo", "data", "pool"):
        (tmp_path / "mine" / "conf" / group).mkdir(parents=True)
    monkeypatch.setenv("OMKL_PATH", str(tmp_path / "mine"))
    return tmp_path / "mine" / "conf"


def test_a_file_may_build_on_others_and_refer_to_them(folder, monkeypatch):
    (folder / "algo" / "slow.yaml").write_text(
        "defaults: [omkc_dd, _self_]\nbeta: {value: 0.95}\nabout: {label: Slow, function: omkc_dd}\n"
    )
    (folder / "algo" / "_shared.yaml").write_text("about: {label: Shared, groups: [mine]}\n")
    (folder / "algo" / "slower.yaml").write_text(
        "defaults: [omkc_dd, _shared, _self_]\nbeta: {value: '${oc.decode:${oc.env:BETA}}'}\n"
    )
    (folder / "pool" / "two.yaml").write_text(
        "width: 2\nlabel: 'of width ${.width}'\nnormalise: none\n"
        "kernels: [{kind: gaussian, sigma: '${pool.two.width}'}]\n"
    )
    monkeypatch.setenv("BETA", "0.99")
    made = plan(["algo=slow,slower,omkc_dd", "data=wdbc"])
    assert [own.params for own in made.settings] == [{"beta": 0.95}, {"beta": 0.99}, {"beta": 0.8}]
    assert (learner_spec("slow").function, learner_spec("slow").label) == ("omkc_dd", "Slow")
    assert [own.learner for own in plan(["algo=mine", "data=wdbc"]).settings] == ["slower"]
    assert resolved(["algo=slow"])["algo"]["slow"]["hyperparameters"]["beta"]["value"] == 0.95
    (folder / "algo" / "_shared.yaml").write_text("about: {label: Changed, groups: [mine]}\n")
    assert learner_spec("slower").label == "Changed"
    with pytest.raises(UserError, match=r"two\.yaml: .*'width'"):
        plan(["pool=two"])


def test_the_example_of_the_page_builds_on_a_learner_and_refers_to_values(tmp_path, monkeypatch, capsys):
    """The files and the command of docs/extend.md."""
    monkeypatch.chdir(tmp_path)
    check_readme = script("check_readme")
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    for name, content in check_readme.example_files(text).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (command,) = (one for one in check_readme.commands(text) if "algo=slow_dd,omkc_dd" in one.words)
    assert main(command.words[1:]) == 0
    rows = [line.rpartition(" ")[0] for line in capsys.readouterr().out.splitlines()]
    printed = [line.rpartition(" ")[0] for line in command.printed if line != "..."]
    assert rows[: len(printed)] == printed
    monkeypatch.setenv("BETA", "0.5")
    assert main(["show", "algo=slow_dd", "--with", "mylearners"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)["algo"]["slow_dd"]
    assert (shown["label"], shown["hyperparameters"]["beta"]["value"]) == ("OMKC(D,D), beta = 0.5", 0.5)


@pytest.fixture
def compositions(monkeypatch):
    """The options of each composition, by their packages, with no file read yet."""
    import hydra

    composed, compose = [], hydra.compose

    def noted(config, overrides):
        composed.append({word[1:].partition("=")[0] for word in overrides if word[0] == "+"})
        return compose(config, overrides)

    monkeypatch.setattr(hydra, "compose", noted)
    monkeypatch.setattr(conf, "_read", {})
    monkeypatch.setattr(conf, "_files", {})
    return composed


def packages(**options):
    """Return where Hydra puts options, by group."""
    return {f"{group}@{group}.{name}" for group, names in options.items() for name in names.split()}


def test_a_command_is_composed_at_once_and_only_once(compositions):
    words = ["algo=omkc_dd,omklp_da2", "data=wdbc,sonar", "pool=gauss3", "yardsticks=arow", "exec=serial"]
    plan(words)
    options = packages(algo="omkc_dd omklp_da2 arow", data="wdbc sonar", pool="gauss3", exec="serial")
    assert compositions == [options]
    plan([*words, "reps=3"])
    resolved(["algo=omkc_ss", *words[1:]])
    assert compositions[1:] == [packages(algo="omkc_ss")]


def test_what_hydra_composes_is_what_a_plan_reads(compositions, monkeypatch):
    compose = conf._composed

    def changed(chosen):
        contents, settings, states = compose(chosen)
        by_name = dict(zip(chosen, contents, strict=True))
        by_name["algo", "omkc_ss"]["beta"]["value"] = 0.125
        by_name["exec", "loky"]["jobs"]["value"] = 3
        return contents, settings | {"seed": 99}, states

    monkeypatch.setattr(conf, "_composed", changed)
    made = plan(["algo=omkc_ss", "data=wdbc"])
    assert (made.settings[0].params["beta"], made.exec["jobs"], made.seed) == (0.125, 3, 99)


def test_a_run_opens_the_files_that_it_asks_for_once_and_no_other(compositions):
    import sys

    opened = []
    folder = str(conf.conf_folder())
    watching = [True]
    sys.addaudithook(
        lambda event, arguments: (
            opened.append(arguments[0].removeprefix(folder)[1:])
            if watching and event == "open" and str(arguments[0]).startswith(folder)
            else None
        )
    )
    plan(["algo=omkc_ss", "data=wdbc"])
    watching.clear()
    yardsticks = [f"algo/{name}.yaml" for name in conf.read("", "config")["yardsticks"]]
    asked = ["config.yaml", "algo/omkc_ss.yaml", "data/wdbc.yaml", "pool/paper16.yaml", "exec/loky.yaml"]
    assert sorted(opened) == sorted([*asked, *yardsticks])


@pytest.mark.parametrize("group", ["algo", "pool", "exec", pytest.param("data", marks=pytest.mark.slow)])
def test_hydra_makes_of_a_file_of_ours_what_it_holds(group):
    names = conf.options(group)
    contents, settings, _ = conf._composed([(group, name) for name in names])
    assert contents == [yaml_files.read_yaml(conf.file(group, name)) for name in names]
    written = yaml_files.read_yaml(conf.file("", "config"))
    assert settings == {key: value for key, value in written.items() if key != "defaults"}


def test_the_hydra_of_a_program_around_us_stays_as_it_is(folder, tmp_path):
    import hydra
    from hydra.core.global_hydra import GlobalHydra

    (folder / "algo" / "slow.yaml").write_text(
        "defaults: [omkc_dd, _self_]\nabout: {label: Slow, function: omkc_dd}\n"
    )
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "main.yaml").write_text("rate: 0.5\n")
    plan(["algo=slow"])
    with hydra.initialize_config_dir(str(tmp_path / "theirs"), version_base="1.3"):
        (folder / "algo" / "slow.yaml").write_text(
            "defaults: [omkc_dd, _self_]\nabout: {label: Slower, function: omkc_dd}\n"
        )
        assert plan(["algo=slow"]).settings[0].spec.label == "Slower"
        assert hydra.compose("main") == {"rate": 0.5}
        sources = GlobalHydra.instance().config_loader().get_sources()
        assert not [one for one in sources if one.scheme() == "omkl"]


def test_a_data_set_may_build_on_a_shared_part(folder):
    from omkl.data import registry

    (folder / "data" / "again.yaml").write_text("defaults: [wdbc, _self_]\ntitle: wdbc again\n")
    assert registry.entry("again").title == "wdbc again"
    assert registry.entry("again").content_hash == registry.entry("wdbc").content_hash
    (folder / "data" / "_part.yaml").write_text("title: not a data set\n")
    assert "_part" not in registry.registered_names()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("beta: ${oc.env\n", "cannot be composed"),
        (
            "beta: {null: 1}\nabout: {task: novelty}\n",
            "cannot be composed: Incompatible key type 'NoneType' full_key: beta",
        ),
        ("defaults: [nosuch, _self_]\n", "cannot be composed: .*algo/nosuch"),
        ("about: {label: '${nowhere}'}\n", "cannot be composed: Interpolation key 'nowhere' not found"),
        ("about: {label: '${oc.env:NO_SUCH_NAME}'}\n", "Environment variable 'NO_SUCH_NAME' not found"),
        ("about: {label: '${eval:1}'}\n", "Unsupported interpolation type eval"),
        ("a: &a ['${b}', *a]\n", "nested more than 30 levels"),
    ],
)
def test_what_cannot_be_composed_names_its_file(folder, text, said):
    (folder / "algo" / "mine.yaml").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        plan(["algo=omkc_dd,mine"])
    assert str(caught.value).startswith(str(folder / "algo" / "mine.yaml"))
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------ what no file may be

LAUGHS = "\n".join(
    ['l0: &l0 ["ha"]', *(f"l{i}: &l{i} [{','.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 10))]
)
MERGES = "\n".join(["l0: &l0 {a: 1}", *(f"l{i}: &l{i} {{<<: [*l{i - 1}, *l{i - 1}]}}" for i in range(1, 20))])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "more than 30,000 keys, values and items"),
        ("label: " + "[" * 200 + "]" * 200, "nested more than 30 levels deep"),
        ("label: " + "[" * 5000, "malformed YAML: exceeded maximum nesting depth"),
        ("label: " + "x" * 2**20, "larger than 1,048,576 bytes"),
        ("label: !!python/name:os.system", "malformed YAML: could not determine a constructor for the tag"),
        ("label: 1" + "0" * 5000, "malformed YAML"),
        ("beta: [1\nabout: 2\n", "mine.yaml:2: malformed YAML"),
        ("a: 1\nb: 2\na: 3\n", ":3: malformed YAML: the key 'a' is given twice"),
        ("a: *b\n", ":1: malformed YAML: found undefined alias"),
        ("a: x\n---\nb: y\n", "malformed YAML: but found another document"),
        ("label: a\0b", "malformed YAML"),
        ("label: x".encode("utf-16"), "not UTF-8 text"),
        ("- a", "must be a mapping of keys to values, got ['a']"),
        ("", "must be a mapping of keys to values, got null"),
    ],
)
@pytest.mark.parametrize("group", ["algo", "data"])
def test_a_file_that_is_no_small_plain_yaml_is_one_line(folder, group, text, said):
    from omkl.data import registry

    path = folder / group / "mine.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    began = time.process_time()
    with pytest.raises(UserError) as caught:
        learner_spec("mine") if group == "algo" else registry.entry("mine")
    assert time.process_time() - began < 2
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_merges_do_not_grow(tmp_path):
    (tmp_path / "x.yaml").write_text(MERGES)
    assert yaml_files.read_yaml(tmp_path / "x.yaml")["l19"] == {"a": 1}


def test_what_is_written_is_read_as_it_was(tmp_path):
    """Words such as 712841e9, a hash, are texts, and remain texts."""
    content = {
        "a": ["712841e9", "true", "~", "inf", "1", "", "a: b", "no"],
        "1e5": [1e-5, math.inf, 1, None, True],
    }
    (tmp_path / "x.yaml").write_text(yaml_files.yaml_text(content))
    assert yaml_files.read_yaml(tmp_path / "x.yaml") == content
    assert yaml.safe_load(yaml_files.yaml_text(content["a"])) == content["a"]

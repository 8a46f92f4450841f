"""Nothing that a user writes names an object or runs code, ends a command in a traceback, or never ends.

Conf files are plain data: everything else is refused before anything is built from it.
"""

import shutil
import sys
import time

import pytest
import yaml

from omkl.cli import main
from omkl.config import compose, learner_spec, plan, pool, resolved
from omkl.data import registry
from omkl.errors import UserError
from omkl.paths import conf_folder

MARK = "omkl-was-here"
TOUCH = f"open('{MARK}', 'w').close()"


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A copy of the conf folder that everything is read from; whatever code runs would leave MARK here."""
    folder = shutil.copytree(conf_folder(), tmp_path / "conf")
    monkeypatch.setattr(compose, "conf_folder", lambda: folder)
    monkeypatch.setattr(registry, "conf_folder", lambda: folder)
    monkeypatch.setattr(registry, "_aliases", registry._aliases.__wrapped__)
    monkeypatch.setattr(registry, "_entry", registry._entry.__wrapped__)
    monkeypatch.chdir(tmp_path)
    yield folder
    assert not list(tmp_path.rglob(MARK))
    assert "omkl_evil" not in sys.modules


def laughs(levels=9):
    """The billion laughs: each level ten times the one below it."""
    lines = ['l0: &l0 ["ha"]']
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, levels + 1)]
    return "\n".join(lines)


MERGE = "l{0}: &l{0} {{<<: [*l{1}, *l{1}, *l{1}]}}"
HOSTILE = {
    "object/apply": f'label: !!python/object/apply:builtins.exec ["{TOUCH}"]',
    "object/new": f'label: !!python/object/new:builtins.eval ["{TOUCH}"]',
    "python name": "label: !!python/name:os.system",
    "python module": "label: !!python/module:omkl_evil",
    "own tag": "label: !run x",
    "binary": "label: !!binary aGE=",
    "target": "_target_: os.system\nlabel: x",
    "target inside": "about: {x: {_target_: builtins.exec, _args_: ['x']}}",
    "environment": "label: ${oc.env:HOME}",
    "decode": "label: ${oc.decode:'1'}",
    "create": "label: ${oc.create:{a:1}}",
    "relative": "label: ${.about}",
    "hydra": "hydra: {searchpath: ['file:///tmp']}\nlabel: x",
    "hydra run dir": "hydra:\n  run: {dir: /tmp/x}",
    "package": "# @package _global_\nlabel: x",
    "package of hydra": "# @package hydra\nsearchpath: [file:///tmp]",
    "defaults elsewhere": "defaults: [/hydra/launcher/basic]\nlabel: x",
    "defaults above": "defaults: [../../../etc/passwd]\nlabel: x",
    "defaults override": "defaults:\n  - override /hydra/launcher: joblib\nlabel: x",
    "defaults interpolated": "defaults:\n  - x: ${oc.env:HOME}\nlabel: x",
    "defaults at a package": "defaults: [_a@hydra]\nlabel: x",
    "billion laughs": laughs(),
    "an alias of itself": "a: &a [*a]",
    "merge": "a: &a {label: x}\n<<: *a",
    "merge of hydra": "a: &a {hydra: {searchpath: ['file:///tmp']}}\n<<: *a",
    "merge of quadrillions": "\n".join(["l0: &l0 {a: 1}", *(MERGE.format(i, i - 1) for i in range(1, 30))]),
    "an alias as a key": "a: &a hydra\n*a : {searchpath: ['file:///tmp']}",
    "an alias of later": "a: *a\nb: &a x",
    "an alias in defaults": "a: &a [/hydra/launcher/basic]\ndefaults: *a",
    "an alias in the list of defaults": "a: &a ../x\ndefaults: [*a]",
    "deep aliases": "\n".join(["l0: &l0 [x]", *(f"l{i}: &l{i} [*l{i - 1}]" for i in range(1, 40))]),
    "many items": f"label: [{'1,' * 30_000}]",
    "deep lists": "label: " + "[" * 5000 + "]" * 5000,
    "deep maps": "label: " + "{a: " * 5000 + "}" * 5000,
    "deep lines": "\n".join(f"{' ' * i}a:" for i in range(500)),
    "a megabyte": "label: " + "x" * 2**20,
    "a huge integer": "revision: 1" + "0" * 5000,
    "a date that is none": "label: 2001-99-99",
    "two documents": "label: x\n---\nlabel: y",
    "NUL": "label: a\0b",
    "UTF-16": "label: x".encode("utf-16"),
}
READERS = {
    "algo": (learner_spec, "mine"),
    "pool": (pool, "mine"),
    "exec": (lambda name: plan([f"exec={name}", "data=breast_cancer"]), "mine"),
    "data": (registry.entry, "mine"),
    "": (lambda name: plan(["data=breast_cancer"]), "config"),
}


@pytest.mark.slow
@pytest.mark.parametrize("group", READERS)
@pytest.mark.parametrize("what", HOSTILE)
def test_no_conf_file_runs_code_or_grows(conf, what, group):
    read, name = READERS[group]
    text = HOSTILE[what]
    (conf / group / f"{name}.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    began = time.process_time()
    with pytest.raises(UserError) as caught:
        read(name)
    assert time.process_time() - began < 2
    assert "\n" not in str(caught.value)
    assert str(conf) in str(caught.value)


@pytest.mark.slow
def test_what_is_appended_to_a_good_learner_is_refused_too(conf):
    good = (conf / "algo" / "omkc_dd.yaml").read_text()
    for what, text in HOSTILE.items():
        if isinstance(text, str) and ":" in text and "document" not in what:
            (conf / "algo" / "mine.yaml").write_text(f"{text}\n{good}")
            with pytest.raises(UserError):
                learner_spec("mine")
    assert learner_spec("omkc_dd").name == "omkc_dd"


def test_a_shared_part_is_read_as_strictly(conf):
    good = (conf / "algo" / "omkc_dd.yaml").read_text()
    (conf / "algo" / "mine.yaml").write_text(f"defaults: [_part, _self_]\n{good}")
    (conf / "algo" / "_part.yaml").write_text("beta: 0.3\n")
    assert learner_spec("mine").defaults == {"beta": 0.8}
    (conf / "algo" / "_part.yaml").write_text(laughs())
    with pytest.raises(UserError, match=r"_part\.yaml:6: more than 30,000 keys"):
        learner_spec("mine")


def test_anchors_aliases_and_merges_are_read_while_they_are_few(conf):
    (conf / "paper" / "mine.yaml").write_text("""
sets: {a: &a [x, y], b: &b {algo.beta: 0.9}}
runs: {one: {words: {data: *a, <<: *b}}}
""")
    content = compose.read_config("paper", ["mine"])["mine"]
    assert content["runs"]["one"]["words"] == {"data": ["x", "y"], "algo.beta": 0.9}
    (conf / "paper" / "mine.yaml").write_text(laughs(2))
    assert compose.read_config("paper", ["mine"])["mine"]["l1"] == [["ha"]] * 10


@pytest.mark.slow
def test_all_conf_files_are_plain(conf):
    from omkl import schema

    files = sorted(conf.rglob("*.yaml"))
    assert len(files) > 70
    for path in files:
        assert schema.check_file(path) == []
        assert isinstance(yaml.safe_load(path.read_text()), dict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "word",
    [
        "_target_=os.system",
        "algo._target_=os.system",
        "algo={_target_:os.system}",
        "algo.kernel={kind:{_target_:os.getcwd}}",
        "pool.kernels=[{_target_:os.getcwd}]",
        "store=${oc.env:HOME}",
        "data=${oc.env:HOME}",
        "algo=${algo}",
        "pool.normalise=$" + "{oc.decode:cosine}",
        "+hydra.searchpath=[file:///tmp]",
        "hydra.searchpath=[file:///tmp]",
        "hydra/launcher=joblib",
        "hydra.run.dir=/tmp",
        "+x=1",
        "++x=1",
        "~algo",
        "algo@x=omkc_dd",
        "pool=../../../etc/passwd",
        "pool=/etc/passwd",
        "pool=..",
        "pool=conf/pool/paper16",
        "pool=paper16.yaml",
        "pool=pool/paper16",
        "pool=paper16@hydra",
        "pool=[../x]",
        "algo=../data/wdbc",
        "algo=omkc_dd/../omkc_ss",
        "algo=_part",
        "algo=glob(../*)",
        "algo=glob(_*)",
        "exec=../config",
        "exec=hydra/launcher/basic",
        "yardsticks=[../x]",
        "data=../conf/data/wdbc.yaml@x",
        "pool.kernels=!!python/name:os.system",
        "algo.beta=__import__('os')",
        "algo.beta=" + "[" * 500,
        "algo.beta=" + "{a:" * 500,
        "seed=" + "9" * 4000,
        "algo.beta=1e" + "9" * 4000,
        "seed=range(0,9)",
        "reps=0x10",
        "algo.beta=int(os.getcwd())",
    ],
)
def test_no_word_names_an_object_or_leaves_the_conf_folder(conf, word):
    for read in (plan, lambda words: plan(words, sweep=True), resolved):
        with pytest.raises(UserError) as caught:
            read([word])
        assert "\n" not in str(caught.value)


# --- the command line

COMMANDS = [
    "run",
    "sweep",
    "figure",
    "figure curve",
    "list",
    "list algos",
    "show",
    "data",
    "data get",
    "data path",
]
COMMANDS += ["data verify", "data list", "bench", ""]
WORDS = [
    "",
    " ",
    "\0",
    "=",
    "==",
    "algo.=",
    "=x",
    "a=b=c",
    "algo=",
    "algo=\0",
    "data=a\nb",
    "é=ü",
    "\u202ex",
    "\ud800",
]
WORDS += [
    "x" * 100_000,
    "algo=" + "x" * 100_000,
    "-" + "x" * 5000,
    "--x=" + "y" * 5000,
    "-\n",
    "--\u2028",
    "---",
    "-=",
    "@x",
]
WORDS += [
    "--help=1",
    "--format",
    "--format=",
    "-j",
    "-j=",
    "-j0",
    "--jobs=\u0663",
    "--out",
    "\x1b[31mred",
    "data=\x1b]0;x\x07",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_words_end_in_one_line_and_exit_code_2(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "none"))
    for word in WORDS:
        assert main([*command.split(), word]) == 2, word
        out, err = capsys.readouterr()
        assert out == "", word
        assert err.startswith("omkl: "), (word, err)
        assert err[:-1].isprintable(), (word, err)  # so it is one line, and moves no cursor
        assert err.endswith("\n")
        assert len(err) < 2500, word


def test_no_option_hides_behind_two_dashes(capsys):
    assert main(["show", "--", "--format", "json"]) == 2
    assert "unknown option --format" in capsys.readouterr().err

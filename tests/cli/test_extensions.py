"""Learners, pools and data sets of a folder (--with, OMKL_PATH), in every command."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.extension import TINY, YAML, estimator, page_examples, tiny, write

import omkl.runs.runner
from omkl.cli import main
from omkl.config import learner_spec, plan
from omkl.errors import UserError
from omkl.paths import EXTENSIONS, conf_folder
from omkl.runs.cells import expand
from omkl.store import provenance

PARALLEL = ["run", "algo=tiny", "data=wdbc", "reps=3", "yardsticks=[]"]
RUN = [*PARALLEL, "exec=serial"]
OURS = Path(omkl.__file__).parent / "algorithms"
RECORD = (  # the small learner with a record for its state
    TINY.replace("stream, v,", "stream, state: State,")
    .replace('size"""\n', 'size"""\n    v = state.v\n')
    .replace("import njit\n", "import njit\nfrom omkl.engine.records import Record\nSTATE")
    .replace(
        "STATE", "from collections import namedtuple\nclass State(Record, namedtuple('State', 'v')): pass\n"
    )
)
pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """The folder with the small learner, which is compiled once for all tests."""
    return str(tiny(tmp_path_factory.mktemp("with a space") / "my learners"))


def keys(folder, monkeypatch):
    """The keys of the cells of the learner of a folder."""
    monkeypatch.setenv(EXTENSIONS, str(folder))
    return {cell.key for cell in expand(plan(RUN[1:]))}


def lines(store="results"):
    """The lines of a store's cells."""
    paths = sorted(Path(store, "cells").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def test_a_learner_of_a_folder_runs_beside_ours(mine, capsys):
    assert main([*RUN[:1], "algo=tiny,omkc_dd", *RUN[2:], "--with", mine, "--format", "json"]) == 0
    table = json.loads(capsys.readouterr().out)["summary"]
    assert [row["label"] for row in table] == ["Tiny", "OMKC(D,D)"]
    assert os.environ.get(EXTENSIONS) is None
    sources = {line["algo"]: line.get("source") for line in lines()}
    assert len(sources["tiny"]) == 64
    assert sources["omkc_dd"] is None
    assert main(RUN) == 2
    assert "algo=tiny: unknown learner" in capsys.readouterr().err
    assert main([*RUN, "--with", mine]) == 0
    assert len(lines()) == 6  # the same cells, from the store


def test_a_record_of_the_state_s_arrays_is_an_argument(place, mine, capsys):
    other = str(tiny(place / "two", RECORD))
    for folder in (mine, other):
        assert main([*RUN, "--with", folder]) == 0
    found = {
        source: sorted((line["rep"], line["mistakes"]) for line in lines() if line["source"] == source)
        for source in {line["source"] for line in lines()}
    }
    arrays, record = found.values()
    assert arrays == record
    tiny(place / "three", RECORD, **{"conf/algo/tiny.yaml": YAML.replace("v:", "u:")})
    assert main([*RUN, "--with", "three"]) == 2
    assert "nothing provides v, which its function takes" in capsys.readouterr().err


def test_rounds_that_are_not_recorded_fail(place, capsys):
    tiny(place / "mine", TINY.replace("        trace.", "        if t != 7:\n            trace."))
    assert main([*RUN, "--with", "mine"]) == 1
    assert "the learner recorded no prediction in round 8: it must call `record`" in " ".join(
        capsys.readouterr().out.split()
    )


def test_cells_of_another_source_are_found_beside_settings_that_others_lack(place, capsys):
    """Of numbers, which are the user's own and a registered set's."""
    yaml = YAML.replace("task: classification", "task: regression")
    Path("own.csv").write_text("x,y\n" + "".join(f"{t},{t % 7}.5\n" for t in range(60)))
    words = [*RUN[:2], "data=own.csv,drift_numbers", "task=regression", "rounds=50", "reps=1", *RUN[4:]]
    for name, code in (("one", TINY), ("two", TINY + "\n")):
        folder = tiny(place / name, code, **{"conf/algo/tiny.yaml": yaml})
        capsys.readouterr()
        assert main([*words, "--with", str(folder)]) == 0
    assert "2 cells of revision 1 with another source" in " ".join(capsys.readouterr().out.split())


def test_another_source_has_cells_of_its_own(place, mine, capsys):
    other = str(tiny(place / "two", TINY.replace("y * f <= 0.0", "y * f <= 1e6")))
    for folder in (mine, other):
        assert main([*RUN, "--with", folder]) == 0
    assert len({line["key"] for line in lines()}) == 6
    said = " ".join(capsys.readouterr().out.split())
    about = "3 cells of revision 1 with another source of tiny in the store are not used: its source has"
    assert about in said
    command = f"results prune --old --with {other} --yes"
    assert f"`omkl {command}` removes such cells" in said
    assert len({line["mistakes"] for line in lines()}) > 3
    assert main(["results", "list"]) == 0
    assert capsys.readouterr().out.count("tiny") == 2
    assert main(command.split()) == 0
    assert "of another source of the learner" in capsys.readouterr().out
    (source,) = {line["source"] for line in lines()}
    assert len(lines()) == 3
    assert main([*RUN, "--with", other]) == 0
    assert {line["source"] for line in lines()} == {source}
    assert len(lines()) == 3


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("[d]}", "[d], fill: 0.01}", False),
        ("revision: 1", "revision: 2", False),
        ("[d]}", '[d], domain: "(-1e9, 1e9)"}', True),  # what a saved model is held to
    ],
)
def test_state_and_revision_are_part_of_the_key(place, mine, monkeypatch, old, new, same):
    other = tiny(place / "two", **{"conf/algo/tiny.yaml": YAML.replace(old, new)})
    assert (keys(mine, monkeypatch) == keys(other, monkeypatch)) is same
    assert learner_spec("tiny").state["v"].domain == ("(-1e9, 1e9)" if same else None)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("conf/algo/omkc_ss.yaml", conf_folder() / "algo" / "omkc_ss.yaml"),
        ("conf/data/wdbc.yaml", conf_folder() / "data" / "wdbc.yaml"),
        ("conf/pool/paper16.yaml", conf_folder() / "pool" / "paper16.yaml"),
        ("conf/paper/omkc.yaml", conf_folder() / "paper" / "omkc.yaml"),
        ("algorithms/omkc.py", OURS / "omkc.py"),
    ],
)
def test_a_name_that_is_taken_is_an_error_with_both_files(place, capsys, name, ours):
    write(place / "mine", {name: "x"})
    assert main(["list", "pools", "--with", "mine"]) == 2
    said = capsys.readouterr().err
    assert str(place / "mine" / name) in said
    assert str(ours) in said


def test_a_file_that_is_gone_is_left_out_by_its_own_name(place, capsys):
    folder = tiny(place / "mine")
    (folder / "conf/pool").mkdir()
    broken = [folder / part for part in ("algorithms/gone.py", "conf/algo/gone.yaml", "conf/pool/gone.yaml")]
    for path in broken:
        path.symlink_to(place / "nothing")
    assert main([*RUN, "--with", str(folder)]) == 0
    told = capsys.readouterr().err
    for path in broken:
        assert f"omkl: warning: {path} is left out: it is no file, nor a link to one\n" in told
    assert main(["list", "algos", "--with", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "tiny" in out
    assert "gone" not in out
    provenance.deciding_versions()


def test_two_folders_and_a_function_that_is_taken(place, capsys):
    tiny(place / "one")
    tiny(place / "two")
    assert main(["list", "pools", "--with", "one", "--with", "two"]) == 2
    both = capsys.readouterr().err
    assert str(place / "one/algorithms/small.py") in both
    assert str(place / "two/algorithms/small.py") in both
    tiny(place / "three", TINY.replace("def tiny", "def omkc_dd"))
    assert main([*RUN, "--with", "three"]) == 2
    said = capsys.readouterr().err
    assert str(OURS / "omkc.py") in said
    assert str(place / "three/algorithms/small.py") in said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("algorithms/small.py", "def x(:", "cannot be imported: SyntaxError"),
        ("algorithms/small.py", TINY.replace("0.0\n", "zero\n"), "tiny cannot be compiled: NameError"),
        ("algorithms/small.py", TINY.replace("@njit(cache=True)\n", ""), "tiny is not compiled; write @njit"),
        ("conf/algo/tiny.yaml", YAML.replace("state:", "stat:"), "unknown key 'about.stat'"),
        ("conf/algo/tiny.yaml", YAML.replace("v:", "u:"), "nothing provides v"),
        ("conf/algo/tiny.yaml", estimator("nosuch:X"), "there is no nosuch"),
        ("conf/algo/tiny.yaml", estimator("os:system"), "there is no os"),
        ("conf/algo/tiny.yaml", estimator("small model"), "must be module:Class"),
        ("conf/algo/tiny.yaml", estimator("sklearn.svm:SVC"), "so it cannot learn online; omkl.refit"),
        ("conf/algo/tiny.yaml", estimator("sklearn.svm:SvC"), "did you mean 'SVC'"),
        ("conf/algo/tiny.yaml", estimator("a:B", "novelty"), "for classification or regression"),
        (
            "conf/algo/tiny.yaml",
            estimator("sklearn.linear_model:Perceptron", alfa="value: 1, domain: '(0, 2)'"),
            "no argument 'alfa' (did you mean 'alpha'?)",
        ),
    ],
)
def test_a_fault_of_a_folder_is_one_line_with_the_file_s_name(place, capsys, name, text, said):
    tiny(place / "mine", **{name: text})
    assert main([*RUN, "--with", "mine"]) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert str(place / "mine" / name) in last
    assert said in last


@pytest.mark.parametrize(
    ("folder", "said"), [("nothere", "no such folder"), ("empty", "is not a folder of extensions")]
)
def test_a_folder_that_is_none(place, capsys, monkeypatch, folder, said):
    (place / "empty").mkdir()
    assert main(["list", "algos", "--with", folder]) == 2
    assert f"--with '{folder}'" in (err := capsys.readouterr().err)
    assert said in err
    (place / f"a{os.pathsep}b" / "algorithms").mkdir(parents=True)
    assert main(["list", "algos", "--with", f"a{os.pathsep}b"]) == 2
    monkeypatch.setenv(EXTENSIONS, folder)
    capsys.readouterr()
    assert main(["list", "algos"]) == 2
    assert said in capsys.readouterr().err
    assert main(["check"]) == 2


def test_pools_and_data_sets_of_omkl_path(place, capsys, monkeypatch):
    named = page_examples("kernels") | page_examples("data")
    write(place / "mine", named | {"data/my.libsvm": "+1 1:1\n-1 1:2\n"})
    monkeypatch.setenv(EXTENSIONS, "mine")
    assert main(["list", "pools"]) == 0
    assert "narrow_wide" in capsys.readouterr().out
    assert main(["show", "algo=omkc_dd", "data=mine", "pool=narrow_wide"]) == 0
    assert main(["data", "path", "mine"]) == 0
    assert str(place / "mine/data/my.libsvm") in capsys.readouterr().out
    assert main(["data", "verify", "mine"]) == 2
    assert "label '-1'; expected one of 0, 1" in capsys.readouterr().err


def test_the_commands_that_tune_prints_work_as_they_are(mine, capsys):
    words = ["algo=tiny", "data=wdbc", "trials=3", "reps=2", "exec=serial", "--format", "json"]
    assert main(["tune", *words, "--with", mine]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tuned"]
    assert shlex.split(row["command"])[-2:] == ["--with", mine]
    before = len(lines())
    assert main([*shlex.split(row["command"])[1:], "yardsticks=[]"]) == 0
    assert len(lines()) == before


@pytest.mark.parametrize("command", [["run", "reps=2"], ["sweep", "algo.alpha=0.1,1"], ["tune", "trials=2"]])
def test_a_dry_run_of_another_package_s_estimator(place, capsys, command):
    sgd = estimator("sklearn.linear_model:SGDClassifier", alpha="value: 0.1, domain: '(0, inf)'")
    write(place / "mine", {"conf/algo/sgd.yaml": sgd})
    words = [*command, "algo=sgd", "data=wdbc", "--with", "mine", "--dry-run"]
    assert main([*words, "yardsticks=[]"] if command[0] != "tune" else words) == 0
    assert "0 in the store" in capsys.readouterr().out


@pytest.mark.slow
def test_the_second_process_compiles_nothing(place):
    tiny(place / "mine", RECORD)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment |= {"OMKL_CACHE": str(place / "cache"), "PYTHONPATH": str(ROOT)}

    def run():
        command = [sys.executable, "-m", "omkl", *RUN, "--with", str(place / "mine"), "--fresh"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        files = {path: path.stat().st_mtime_ns for path in (place / "cache").rglob("*.nb?")}
        return done.stderr, files

    said, first = run()
    assert "compiling" in said
    assert any(path.name.startswith("small.tiny") for path in first)
    again, second = run()
    assert "compiling" not in again
    assert second == first


def test_workers_see_the_folder(mine, monkeypatch):
    monkeypatch.setattr(omkl.runs.runner, "SMALL_WORK", 0.0)
    assert main([*PARALLEL, "exec=loky", "-j", "2", "--with", mine]) == 0
    assert {line["provenance"]["backend"] for line in lines()} == {"loky"}
    assert main([*RUN, "store=serial", "--with", mine]) == 0
    mistakes = [
        sorted((line["rep"], line["mistakes"]) for line in lines(own)) for own in ("results", "serial")
    ]
    assert mistakes[0] == mistakes[1]


def test_a_cluster_s_jobs_get_the_folder(place, monkeypatch):
    from omkl.runs.slurm import _environment

    safe = "export PYTHONSAFEPATH=1"  # also without a folder
    assert _environment() == [safe]
    assert EXTENSIONS not in provenance.deciding_versions()
    tiny(place / "my learners")
    monkeypatch.setenv(EXTENSIONS, "my learners")
    assert _environment() == [safe, f"export {EXTENSIONS}='{place / 'my learners'}'"]
    before = provenance.deciding_versions()[EXTENSIONS]  # a dask worker with another one is refused
    (place / "my learners/conf/algo/tiny.yaml").write_text(YAML.replace("0.5", "0.6"))
    assert provenance.deciding_versions()[EXTENSIONS] != before


def test_a_model_of_a_folder_s_learner(place, mine, capsys):
    tiny(place / "two", TINY.replace("0.0\n", "0.25\n"))
    assert main(["fit", "algo=tiny", "data=wdbc", "--out", "m.omkl", "--with", mine]) == 0
    assert main(["show", "m.omkl", "--with", mine]) == 0
    capsys.readouterr()
    for more, said in ((["--with", "two"], "another source of tiny"), ([], "--with DIR")):
        assert main(["show", "m.omkl", *more]) == 2
        assert said in capsys.readouterr().err


def test_estimators_of_a_folder_s_learners(place, monkeypatch):
    import omkl.sklearn

    tiny(place / "mine", **{"conf/algo/other.yaml": estimator("sklearn.linear_model:Perceptron")})
    assert "TinyClassifier" not in omkl.sklearn.names()
    monkeypatch.setenv(EXTENSIONS, str(place / "mine"))
    assert "TinyClassifier" in omkl.sklearn.names()
    assert not [name for name in omkl.sklearn.names() if name.startswith("Other")]
    assert learner_spec("tiny").label == "Tiny"
    monkeypatch.delenv(EXTENSIONS)
    with pytest.raises(UserError, match="unknown learner"):
        learner_spec("tiny")

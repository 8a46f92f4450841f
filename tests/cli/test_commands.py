"""What the commands do and print, run for real on the embedded data set with the cheapest learners."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

import omkl
from omkl import conf
from omkl.api import lists
from omkl.cli import main
from omkl.cli.parser import build_parser
from omkl.config import learner_spec
from omkl.config.parameters import parameters
from omkl.data.reading.formats import data_name

ROOT = Path(omkl.__file__).resolve().parents[1]
CHEAP = ["data=wdbc", "reps=2", "yardsticks=[majority]", "algo=arow"]
pytestmark = pytest.mark.usefixtures("place")


def test_help_imports_nothing_but_the_standard_library():
    commands = ["--help", "help", "help run", "run --help", "data --help", "results --help", "--version"]
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom omkl.cli import main\n"
        f"for words in {commands!r}:\n"
        "    try: main(words.split())\n"
        "    except SystemExit as end: assert not end.code\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0
    assert done.stdout.count("usage: omkl") == len(commands) - 1
    modules = done.stderr.split()
    assert "omkl.cli" in modules
    assert {name.partition(".")[0] for name in modules} - sys.stdlib_module_names == {"omkl", "lazy_loader"}
    assert not [name for name in modules if name.startswith(("omkl.config", "omkl.data"))]


def test_commands_that_compute_nothing_import_no_numba(place):
    """Of a full store, which `run` fills first."""
    assert main(["run", *CHEAP, "-q"]) == 0
    commands = [
        f"run {' '.join(CHEAP)}",
        f"status {' '.join(CHEAP)}",
        f"report {' '.join(CHEAP)} --out page.html",
        f"show {' '.join(CHEAP)}",
        f"figure curve {' '.join(CHEAP)} --out curve.svg",
        "list algos",
        "list kernels",
        "results list",
        "data list",
        "help auto",
    ]
    code = (
        "import sys\nfrom omkl.cli import main\n"
        f"for words in {commands!r}:\n"
        "    assert main(words.split()) == 0 and 'numba' not in sys.modules, words\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "made with" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        [*CHEAP, "--format", "json", "-j", "1", "-q"],
        ["--format", "json", *CHEAP, "-q", "--jobs", "1"],
        ["data=wdbc", "--format=json", "reps=2", "-j1", "yardsticks=[majority]", "--quiet", "algo=arow"],
        ["--format", "json", "-q", "--", *CHEAP],
    ],
)
def test_options_and_settings_in_any_order(words, capsys):
    assert main(["run", *words]) == 0
    out, err = capsys.readouterr()
    shown = json.loads(out)
    assert [(row["algo"], row["reps"]) for row in shown["summary"]] == [("arow", 2), ("majority", 2)]
    assert {cell["data"] for cell in shown["cells"]} == {"wdbc"}
    assert "omkl:" not in err


@pytest.mark.parametrize("name", ["tab.tsv", "tab.tsv.gz", "x.txt.libsvm", "a.b.csv", "plain"])
def test_a_file_has_one_row_under_one_name(place, capsys, name):
    import gzip

    table = name.startswith(("tab", "a.b"))
    text = "a,b,y\n1,2,1\n2,1,-1\n" if table else "1 1:1\n-1 2:1\n"
    text = text.replace(",", "\t") if ".tsv" in name else text
    (place / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    words = [f"data={place / name}", "algo=majority", "yardsticks=[]", "reps=2", "--format", "json"]
    assert main(["run", *words]) == 0
    rows = json.loads(capsys.readouterr().out)["summary"]
    assert [(row["data"], row["reps"]) for row in rows] == [(data_name(name), 2)]


def test_json_is_alone_on_stdout_and_the_second_run_reuses_the_cells(place, capsys):
    words = ["run", *CHEAP, "--format", "json"]

    def cells():
        assert main(words) == 0
        return json.loads(capsys.readouterr().out)["cells"]

    first = cells()
    needed = "algo data rep seed T mistakes mistake_rate n_sv_sum n_sv_union n_sv_combined n_sv_per_kernel"
    assert all({*needed.split(), "weights", "seconds"} <= cell.keys() for cell in first)
    assert len(first) == 4
    stored = sorted((place / "results" / "cells").glob("*.jsonl"))
    assert cells() == first
    assert sorted((place / "results" / "cells").glob("*.jsonl")) == stored
    words.append("--fresh")
    assert [cell["mistakes"] for cell in cells()] == [cell["mistakes"] for cell in first]
    assert sorted((place / "results" / "cells").glob("*.jsonl")) != stored


@pytest.mark.parametrize(
    ("fmt", "sign"),
    [("table", "mistake %"), ("csv", "mistake_pct_mean"), ("markdown", "|"), ("latex", r"\toprule")],
)
def test_formats(fmt, sign, capsys):
    assert main(["run", *CHEAP, "--format", fmt]) == 0
    out = capsys.readouterr().out
    assert sign in out
    assert "AROW" in out


def test_a_failed_cell_ends_with_1_and_is_tried_again(monkeypatch, capsys):
    from omkl.passes import one_pass

    honest = one_pass.run_pass

    def broken(spec, *args, **kwargs):
        if spec.name == "arow":
            raise FloatingPointError("weights overflow")
        return honest(spec, *args, **kwargs)

    monkeypatch.setattr(one_pass, "run_pass", broken)
    assert main(["run", *CHEAP, "-j", "1"]) == 1
    out, err = capsys.readouterr()
    assert "0/2" in out
    assert "2 cells failed" in err
    assert "weights overflow" in err
    assert "Traceback" not in err
    monkeypatch.setattr(one_pass, "run_pass", honest)
    assert main(["run", *CHEAP, "-j", "1"]) == 0
    assert "· 2 repetitions ·" in capsys.readouterr().out


def test_ctrl_c_prints_the_finished_cells_and_the_same_command_continues(monkeypatch, capsys):
    from omkl.passes import one_pass, precompile

    honest, passes = one_pass.run_pass, []

    def interrupted(*args, **kwargs):
        passes.append(args)
        if len(passes) == 3:
            raise KeyboardInterrupt
        return honest(*args, **kwargs)

    monkeypatch.setattr(one_pass, "run_pass", interrupted)
    monkeypatch.setattr(precompile, "warm_up", lambda specs: None)
    assert main(["run", *CHEAP, "-j", "1"]) == 130
    out, err = capsys.readouterr()
    assert "mistake %" in out
    assert "interrupted with 2 of 4 cells; run the same command again to continue" in err
    assert main(["run", *CHEAP, "-j", "1"]) == 0
    assert len(passes) == 5  # two finished, one interrupted, two more
    assert "· 2 repetitions ·" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process group")
def test_ctrl_c_in_a_real_process(place):
    words = ["run", "algo=arow", "data=wdbc", "reps=20000", "yardsticks=[]", "-j", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "omkl", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    while not any(path.stat().st_size for path in place.glob("results/cells/*.jsonl")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "of 20000 cells; run the same command again to continue" in err
    assert "/20000" in out


AT_ITS_END = """
import signal, sys, threading
from omkl.cli import command
threading._register_atexit(lambda: signal.raise_signal(signal.SIGINT))  # as loky waits for its workers
sys.exit(command())
"""


def test_ctrl_c_at_a_command_s_end_prints_no_traceback():
    words = [sys.executable, "-c", AT_ITS_END, "list", "pools"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="a shell's pipe")
def test_a_closed_pipe_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "omkl", "list", "data"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1


def test_a_terminal_without_the_signs_of_the_table_gets_it_all_the_same(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["run", *CHEAP]) == 0
    shown = written.getvalue().decode("ascii")
    assert "AROW" in shown
    assert "?" in shown  # for ±


def test_figure_draws_from_the_store_only(place, capsys):
    assert main(["figure", "curve", *CHEAP]) == 2
    assert "holds 0 of 4 cells; `omkl run data=wdbc" in capsys.readouterr().err
    assert main(["run", *CHEAP]) == 0
    assert main(["figure", "curve", *CHEAP]) == 0
    files = sorted(path.suffix for path in (place / "results" / "figures" / "local").iterdir())
    assert files == [".pdf", ".png"]
    capsys.readouterr()
    assert main(["figure", "curve", *CHEAP[:1], "reps=3", *CHEAP[2:], "--out", "more.png"]) == 0
    assert "warning: the store results holds 4 of 6 cells" in capsys.readouterr().err
    assert (place / "more.png").is_file()
    assert main(["figure", "curve", *CHEAP, "by=windowed_pct", "--out", "window.png"]) == 0
    assert (place / "window.png").is_file()
    assert main(["figure", "curve", *CHEAP, "by=nlpd"]) == 2  # which these learners do not report
    assert "the curves of these cells lack nlpd" in capsys.readouterr().err
    assert main(["figure", "curve", *CHEAP, "by=n_sv_unio"]) == 2
    assert "no measure 'n_sv_unio' (did you mean 'n_sv_union'?)" in capsys.readouterr().err
    look = ["--width", "3.3in", "--style", "paper", "--no-title", "--out", "paper.svg"]
    assert main(["figure", "curve", *CHEAP, *look]) == 0
    assert 'width="237.6pt"' in (place / "paper.svg").read_text()
    capsys.readouterr()
    for option in (["--width", "3"], ["--style", "big"]):
        assert main(["figure", "curve", *CHEAP, *option]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_show_is_yaml_that_says_everything(capsys):
    assert main(["show", "algo=omkc_ss", "algo.beta=0.9"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    beta = shown["algo"]["omkc_ss"]["hyperparameters"]["beta"]
    assert (beta["value"], beta["domain"]) == (0.9, "(0, 1]")
    assert shown["data"] == ["wdbc"]
    assert main(["show", "algo=omkc_ss", "algo.beta=0.9", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == shown


def test_help_shows_every_command_in_one_group(capsys):
    assert main(["help"]) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out == shown
    assert "start here:" in shown
    assert Path(shown.split("Documentation: ")[1].strip()).is_file()
    assert re.findall(r"^  ([a-z]+)  +[a-z]", shown, re.M) == list(build_parser().commands)


@pytest.mark.parametrize("command", build_parser().commands)
def test_help_of_a_command(command, capsys):
    assert main(["help", command]) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert capsys.readouterr().out == shown
    assert shown.startswith(f"usage: omkl {command} ")
    assert [line for line in shown.splitlines() if line.isspace()] == []
    description = shown.split("\n\n", 1)[1].partition("positional arguments:")[0].partition("options:")[0]
    assert not re.search(r"^ ", description, re.M)


@pytest.mark.parametrize("name", ["dask", "loky", "serial", "slurm"])
def test_help_of_an_executor_has_each_option_with_its_meaning(name, capsys):
    assert main(["help", name]) == 0
    said = capsys.readouterr().out
    for key, option in parameters(conf.read("exec", name), conf.file("exec", name)).items():
        assert f"  exec.{key}=" in said
        assert option.help in said


def test_help_of_a_learner_and_of_the_settings(capsys):
    assert main(["help", "OMKC(S,S)"]) == 0
    shown = capsys.readouterr().out
    spec = learner_spec("omkc_ss")
    assert shown.startswith("algo=omkc_ss\n")
    assert spec.summary in " ".join(shown.split())
    assert all(f"algo.{name}=" in shown for name in spec.hyperparameters)
    assert main(["help", "settings"]) == 0
    assert {"algo=NAME", "label=COLUMN", "exec=NAME"} <= set(re.findall(r"\w+=\w+", capsys.readouterr().out))


def test_the_list_of_learners_is_a_line_for_each(capsys):
    assert main(["list", "algos", "--format", "json"]) == 0
    rows = {row["algo"]: row for row in json.loads(capsys.readouterr().out)}
    assert main(["list", "learners", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(rows.values())
    assert rows["omkc_ss"]["label"] == "OMKC(S,S)"
    assert all(row["what it does"] for row in rows.values())
    assert rows["norma"]["memory"] == "grows without tau"
    assert main(["list", "algos"]) == 0
    assert capsys.readouterr().out.split("\n")[0].split() == ["algo", "what", "it", "does", "memory"]


def test_the_examples_of_help_are_valid(capsys):
    """Their commands exist and take these options; words are planned by the tests of pages."""
    parser = build_parser()
    for own in (parser, *parser.commands.values()):
        for line in re.findall(r"^  (?:\w+=\S+ )?(omkl .*)", own.format_help(), re.M):
            parser.parse_known_args(shlex.split(re.split(r"  +| > ", line)[0])[1:])


def test_without_words_commands_say_what_they_show(place, capsys):
    assert main(["status"]) == 0
    assert "`omkl run` without words" in capsys.readouterr().err
    assert main(["status", "algo=arow"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["status", "store=elsewhere"]) == 0
    assert "`omkl run` without words other than store=" in capsys.readouterr().err


@pytest.mark.parametrize("topic", ["settings", "auto"])
def test_help_fits_on_a_screen(topic, capsys):
    assert main(["help", topic]) == 0
    assert 10 < capsys.readouterr().out.count("\n") < 40


def test_show_without_words_is_what_a_run_without_words_uses(capsys):
    assert main(["show"]) == 0
    usual = capsys.readouterr().out
    assert main(["show", "algo=omkc_ss", "data=wdbc"]) == 0
    assert capsys.readouterr().out == usual
    assert main(["show", "auto"]) == 2
    assert "did you mean 'algo=auto'" in capsys.readouterr().err


def test_list_without_a_kind_lists_the_kinds(capsys):
    assert main(["list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["command"] for row in rows] == [f"omkl list {kind}" for kind in lists.KINDS]


@pytest.mark.parametrize(
    ("kind", "name", "column"),
    [("algos", "omkc_ss", "algo"), ("data", "wdbc", "data"), ("pools", "paper16", "pool")],
)
@pytest.mark.parametrize("fmt", ["table", "json", "csv", "markdown", "latex"])
def test_list(kind, name, column, fmt, capsys):
    assert main(["list", kind, "--format", fmt]) == 0
    out = capsys.readouterr().out
    assert name in out.replace("\\_", "_")
    if fmt == "json":
        assert name in [row[column] for row in json.loads(out)]


@pytest.mark.parametrize(
    ("name", "size", "found", "got"),
    [
        ("wdbc", (569, 30), "scikit-learn", "wdbc: comes with scikit-learn\n"),
        ("drift", (10000, 2), "generated", "drift: is generated\n"),
    ],
)
def test_data_list_path_get_verify_of_a_set_without_files(place, monkeypatch, capsys, name, size, found, got):
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_CACHE", str(place / "cache"))
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    assert main(["data", "list", name, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["T"], row["d"], row["found"]) == (*size, found)
    assert main(["data", "verify", name]) == 0
    assert f"{name}: ok, sha256 " in capsys.readouterr().out
    assert main(["data", "get", name]) == 0
    assert capsys.readouterr().out == got
    assert main(["data", "path", name]) == 0
    assert Path(capsys.readouterr().out.strip()).exists()


def test_data_continues_past_a_set_that_is_missing(place, monkeypatch, capsys):
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_CACHE", str(place / "cache"))
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    assert main(["data", "verify", "german", "wdbc"]) == 2
    out, err = capsys.readouterr()
    assert "wdbc: ok" in out
    assert err.startswith("omkl: data set german not found")

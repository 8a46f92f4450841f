"""Completion: the words offered, and really completed in the shells that are here, without slow imports."""

import io
import os
import shutil
import subprocess
import sys

import argcomplete
import pytest
from support import ROOT

from omkl.cli import main
from omkl.cli.completion import complete
from omkl.cli.parser import KEYS, build_parser
from omkl.config import learner_names
from omkl.config.learners import groups
from omkl.config.request import PREPARATION
from omkl.data import registry


@pytest.fixture
def offered(monkeypatch):
    """Return a function that gives what can come next on a line, as bash with these word breaks gets it."""
    monkeypatch.setattr(argcomplete.CompletionFinder, "_init_debug_stream", lambda self: None)  # opens fd 9
    monkeypatch.setattr(argcomplete.io, "debug_stream", io.StringIO())

    def words(line: str, breaks: str = "") -> list[str]:
        for name, value in (("COMP_LINE", line), ("COMP_POINT", str(len(line))), ("_ARGCOMPLETE", "1")):
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("_ARGCOMPLETE_COMP_WORDBREAKS", breaks)
        written, codes = io.StringIO(), []
        parser = build_parser()
        complete(parser, parser.commands.values(), output_stream=written, exit_method=codes.append)
        assert codes == [0]
        return [word.removesuffix(" ") for word in written.getvalue().split("\013") if word]

    return words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("omkl ru", ["run"]),
        ("omkl help bou", ["bounds"]),
        ("omkl help norma_n", ["norma_novelty", "norma_nu"]),
        ("omkl run alg", ["algo="]),
        ("omkl run algo=omkc_d", ["algo=omkc_dd", "algo=omkc_ddpa", "algo=omkc_ds", "algo=omkc_dspa"]),
        ("omkl run algo=omkc_dd,omkc_sd", ["algo=omkc_dd,omkc_sd", "algo=omkc_dd,omkc_sdpa"]),
        ("omkl run algo=omkc_dd algo.", ["algo.beta="]),
        ("omkl run algo.", ["algo.beta=", "algo.delta=", "algo.sampling=", "algo.floor="]),  # of the default
        ("omkl run algo=omkc_sd algo.sampling=", ["algo.sampling=max", "algo.sampling=sum"]),
        ("omkl run algo.beta=", ["algo.beta=0.8"]),
        ("omkl run data=wd", ["data=wdbc"]),
        ("omkl run order=f", ["order=file"]),
        ("omkl run data=my.csv miss", ["missing="]),
        ("omkl fit data=my.csv rea", ["read="]),
        ("omkl run index_base=", ["index_base=auto", "index_base=0", "index_base=1"]),
        ("omkl run exec=dask exec.w", ["exec.wait="]),
        ("omkl run pool.normalise=c", ["pool.normalise=cosine"]),
        ('omkl run "yardsticks=[arow,maj', ["yardsticks=[arow,majority"]),
        ("omkl run --sort ", ["mistakes", "seconds", "sv"]),
        ("omkl run by=au", ["by=auc"]),
        ("omkl run b", ["block=", "by="]),
        ("omkl table bomkl/1 data=wdbc,a1", ["data=wdbc,a1a"]),
        ("omkl tune by=log", ["by=log_loss"]),
        ("omkl figure curve by=rm", ["by=rmse"]),
        ("omkl run --format=m", ["--format=markdown"]),
        ("omkl run --dry", ["--dry-run"]),
        ("omkl run seed=1 se", ["settings="]),  # seed is given already
        ("omkl run algo=omkc_dd,alma algo.o", ["algo.omkc_dd."]),
        (
            "omkl run algo=omkc_dd,alma algo.alma.",
            [f"algo.alma.{name}=" for name in ("kernel", "alpha", "C")],
        ),
        ("omkl run algo=alma algo.alma.C=", ["algo.alma.C=1.4142135623730951"]),
        ("omkl table bomkl/3", ["bomkl/3"]),
        ("omkl figure cur", ["curve"]),
        ("omkl data path svmguide3", ["svmguide3", "svmguide3_t"]),
        ("omkl nonsense ", []),
        ("omkl run 'algo=omkc_ss", ["algo=omkc_ss", "algo=omkc_sspa"]),
        ("omkl run -j 2 algo=omkc_ss", ["algo=omkc_ss", "algo=omkc_sspa"]),
        ("omkl run algo=omkc_sd -j 2 --fresh algo.sampling=", ["algo.sampling=max", "algo.sampling=sum"]),
        ("omkl run data=wdbc --sort ", ["mistakes", "seconds", "sv"]),
        ("omkl run data=wdbc -j ", []),
        ("omkl figure curve --out x.pdf by=rm", ["by=rmse"]),
        ("omkl --debug ru", ["run"]),
        ("omkl tune pools=gauss13,paper16_", ["pools=gauss13,paper16_cosine"]),
        ("omkl completion f", ["fish"]),
    ],
)
def test_words_that_can_come_next(line, words, offered):
    assert offered(line) == words


def test_a_word_is_cut_where_bash_breaks_it(offered):
    assert offered("omkl run algo=omkc_dd,omkc_sd", "=:") == ["omkc_dd,omkc_sd", "omkc_dd,omkc_sdpa"]
    assert offered("omkl run --format=m", "=:") == ["markdown"]


def test_nothing_is_offered_where_a_file_is_at_fault(offered, tmp_path):
    (tmp_path / "conf" / "algo").mkdir(parents=True)
    assert "algo=omkc_ss" in offered(f"omkl run --with {tmp_path} algo=omkc_s")
    (tmp_path / "conf" / "algo" / "mine.yaml").write_text("beta: {value: 1\n")
    assert offered(f"omkl run --with {tmp_path} algo=mi") == ["algo=mine"]
    assert offered(f"omkl run --with {tmp_path} algo=mine algo.") == []
    assert offered(f"omkl run --with {tmp_path}/none algo=mi") == []


def test_all_names_are_offered(offered):
    assert set(offered("omkl list ")) >= {"algos", "groups", "papers"}
    names = {word.removeprefix("algo=") for word in offered("omkl run algo=")}
    assert names == {*learner_names(), *groups()}
    assert {f"data={name}" for name in registry.registered_names()} <= set(offered("omkl run data="))


def test_settings_of_files_are_offered_and_in_the_help(offered):
    names = {word.removesuffix("=") for word in offered("omkl run ")}
    assert names >= {*PREPARATION, "task"}
    assert all(f" {name}=" in KEYS or f"{name}." in KEYS for name in (*PREPARATION, "task"))


def test_paths_are_offered_with_a_slash_after_folders(tmp_path, monkeypatch, offered):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "my.csv").touch()
    (tmp_path / "model.omkl").touch()
    assert offered("omkl run data=./su") == ["data=./sub/"]
    assert offered("omkl run data=sub/") == ["data=sub/my.csv"]
    assert offered("omkl predict mod") == ["model.omkl"]
    assert offered("omkl check su") == ["sub/"]
    assert offered("omkl predict model.omkl sub/m") == ["sub/my.csv"]


def test_it_imports_nothing_slow(tmp_path):
    line = "omkl run algo=omkc_ss algo.sampling="
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked["_ARGCOMPLETE_STDOUT_FILENAME"] = str(tmp_path / "words")
    command = [sys.executable, "-X", "importtime", "-m", "omkl"]
    done = subprocess.run(
        command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | asked, check=True
    )
    assert (tmp_path / "words").read_text().split("\013") == ["algo.sampling=max", "algo.sampling=sum"]
    imported = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
    assert "argcomplete" in imported
    assert not {"numpy", "hydra", "tqdm"} & imported


BASH = """
source <(omkl completion bash)
complete -p omkl
for COMP_LINE in 'omkl ru' 'omkl run algo=omkc_dd,omkc_s' 'omkl run algo.beta=0.1 -j 2 algo.sampling=m'; do
    COMP_POINT=${#COMP_LINE} COMPREPLY=()
    _python_argcomplete omkl
    echo "${COMPREPLY[*]}"
done
"""
FISH = """
omkl completion fish | source
complete -C 'omkl ru'
complete -C 'omkl run algo=omkc_dd,omkc_s'
complete -C 'omkl run algo.sampling=m'
"""
ZSH = r"""
zmodload zsh/zpty
zpty shell TERM=dumb zsh -f -i
zpty -w shell "bindkey -e; autoload -U compinit; compinit -D -u; source <(omkl completion zsh); print REA''DY"
zpty -r -m shell line '*READY*'
zpty -w -n shell $'true && A=b omkl run -j 2 algo.sampling=m\t\C-aecho \n'
zpty -r -m shell line '*sampling=max*'
print -r -- "$line"
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a function that runs a script in a shell, where ``omkl`` is this checkout's."""
    (tmp_path / "omkl").write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m omkl "$@"\n')
    (tmp_path / "omkl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(name: str, script: str) -> list[str]:
        if shutil.which(name) is None:
            pytest.skip(f"no {name} here")
        command = [name, *(["--norc"] if name == "bash" else []), "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_bash_completes(shell):
    registered, *found = shell("bash", BASH)
    assert registered.endswith("-F _python_argcomplete omkl")
    assert [words.rstrip() for words in found] == [
        "run",
        "omkc_dd,omkc_sd omkc_dd,omkc_sdpa omkc_dd,omkc_ss omkc_dd,omkc_sspa",
        "max",
    ]


def test_fish_completes(shell):
    words = [line.partition("\t")[0] for line in shell("fish", FISH)]
    offered = [f"algo=omkc_dd,omkc_{name}" for name in ("sd", "sdpa", "ss", "sspa")]
    assert words == ["run", *offered, "algo.sampling=max"]


def test_zsh_completes(shell):
    assert "omkl run -j 2 algo.sampling=max" in " ".join(shell("zsh", ZSH))


def test_each_shell_has_a_script(capsys):
    scripts = {}
    for name in ("bash", "zsh", "fish"):
        assert main(["completion", name]) == 0
        scripts[name] = capsys.readouterr().out
        assert "_ARGCOMPLETE" in scripts[name]
    assert "[=/:.]$ ]]" in scripts["bash"]  # algo.omkc_dd. gets no space
    assert "[=/:.] ]]" in scripts["zsh"]
    assert not {"$BUFFER", "$CURSOR"} & set(scripts["zsh"].split('"'))  # omkl's own words are completed

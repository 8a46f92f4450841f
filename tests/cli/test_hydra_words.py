"""A person who knows Hydra types its words, and reads omkl's."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import omkl
from omkl.cli import main

pytestmark = pytest.mark.usefixtures("place")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run --cfg job algo=arow", "--cfg: `omkl show algo=arow` prints what a run"),
        ("run --cfg=all algo=arow reps=2", "--cfg=all: `omkl show algo=arow reps=2` prints"),
        ("run -c job -p algo", "-c: `omkl show KEY=VALUE ...` prints"),
        (
            "run -m algo=omkc_dd 'algo.beta=range(0.1,1,0.4)'",
            "-m: `omkl sweep algo=omkc_dd 'algo.beta=range(",
        ),
        ("run --multirun algo.beta=0.1,0.2", "--multirun: `omkl sweep algo.beta=0.1,0.2` runs"),
        ("run --config-dir mine", "--config-dir: a folder with YAML files of your own is --with DIR"),
        ("run --config-path=mine", "--config-path=mine: a folder with YAML files"),
        ("run -cn mine", "-cn: settings=FILE names"),
        ("run --hydra-help", "--hydra-help: `omkl help settings` explains"),
        ("run -sc install=bash", "-sc: `omkl completion SHELL` prints"),
        ("run +reps=3", "+reps=3: every key has a value already, which a word replaces; write reps=3"),
        ("run ++reps=3", "write reps=3"),
        ("run ~pool", "~pool: no key can be removed; leave the word out for its default"),
        ("run hydra/launcher=joblib", "exec=NAME says where the cells run (loky, serial, dask, slurm)"),
        ("run hydra.launcher.n_jobs=2", "exec=NAME says where the cells run"),
        ("tune hydra/sweeper=optuna", "`omkl sweep` runs a grid of settings, and `omkl tune` searches"),
        ("run hydra.run.dir=out", "store=PATH names the folder of the results"),
        ("run hydra.mode=MULTIRUN", "`omkl sweep` every combination of several values"),
        ("run 'hydra.searchpath=[mine]'", "a folder with YAML files of your own is --with DIR"),
        ("run hydra.verbose=true", "omkl has no settings of Hydra's own"),
        ("run pool.kernels.0.sigma=2", "such as 'pool.kernels=[{kind:gaussian,sigma:2}]'"),
        ("run algo@mine=omkc_dd", "omkl has no packages; algo=A,B runs two learners"),
        ("run db/x=3", "no key has a slash"),
        ("run mine/x.csv", "settings are KEY=VALUE words"),
    ],
)
def test_each_has_one_sentence(capsys, words, said):
    assert main(shlex.split(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    if command := re.search(r"`omkl show (?!KEY)(\S+=.*?)`", err):
        assert main(["show", *shlex.split(command[1])]) == 0


@pytest.mark.parametrize("level", ["1", "2"])
def test_words_mean_the_same_without_assert_statements(level):
    """Hydra's parser reads in them, and python -O leaves them out."""
    words = ["algo=omkc_dd(beta=0.9),arow", "pool.kernels=[{kind:gaussian,sigma:[1,2]},linear]", "reps=3"]
    shown = []
    for optimised in ("", level):
        environment = os.environ | {
            "PYTHONPATH": str(Path(omkl.__file__).parents[1]),
            "PYTHONOPTIMIZE": optimised,
        }
        shown.append(
            subprocess.check_output(
                [sys.executable, "-m", "omkl", "show", *words], env=environment, text=True
            )
        )
    assert shown[0] == shown[1]
    assert "value: 0.9" in shown[0]

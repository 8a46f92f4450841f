"""What a pass runs has been compiled before its clock starts: whatever the setting, in whatever process."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from support import ROOT

import omkl.learning.cell
import omkl.learning.precompile
from omkl.config import learner_names, learner_spec
from omkl.learning.compiled import cold, turns, version
from omkl.learning.learner import compiled_value

pytestmark = pytest.mark.slow

# In a process of its own, where nothing has been compiled yet, or loaded.
PROBE = """
import dataclasses, json, re, sys
import numpy as np
from support.engine_cases import COSINE, MIXED, clouds, fitting
from omkl.algorithms import function
from omkl.config import learner_names, learner_spec
from omkl.errors import UserError
from omkl.learning import run_pass, warm_up

KERNELS = [
    {"kind": "gaussian", "sigma": 1},
    {"kind": "gaussian", "gamma": 0.5},
    {"kind": "laplacian", "sigma": 2.0},
    {"kind": "polynomial", "degree": 2, "scale": 0.5, "coef0": 1.0},
    {"kind": "linear"},
]

def values(domain, spec):
    if isinstance(domain, list):
        return domain
    if domain == "bool":
        return [True, False]
    if domain == "kernel":
        return [k for k in KERNELS if spec.fits(k["kind"])]
    if domain == "budget":
        return [5, 9]
    low, high = re.search(r"[(\\[](\\S+), (\\S+?)[)\\]]", domain).groups()
    some = [3] if domain.startswith("int") else [0.5, 1] if float(high) > 1 or "1]" in domain else [0.5]
    if float(low) >= 1 and not domain.startswith("int"):
        some = [1.5]
    return some + [None] * domain.endswith("null")

def possible(spec, params, task):
    try:
        spec.check_data(spec.checked(params), task, "")
    except UserError:
        return False
    return True

def settings(spec, usual, task):
    yield usual
    for name, own in spec.hyperparameters.items():
        for value in values(own.domain, spec):
            params = {**usual, name: value}
            if params not in [usual] and possible(spec, params, task):
                yield params

late, tried = [], 0
for name in learner_names():
    spec = learner_spec(name)
    compiled = function(spec.function)
    for task in spec.tasks:
        data = dataclasses.replace(clouds(T=40), task=task)
        usual = spec.usual(task)
        if "budget" in usual:
            usual["budget"] = 6
        if "levels" in usual:
            usual["levels"] = 4
        for params in settings(spec, usual, task):
            for pool in [MIXED, COSINE] if spec.kernels == "pool" and params == usual else [MIXED]:
                warm_up([(spec, params)])
                before = set(compiled.signatures)
                given = fitting(spec, pool) if spec.kernels == "pool" else None
                block = 7 if params == usual else None
                run_pass(spec, params, given, data, np.arange(data.T), 1, block=block)
                tried += 1
                if set(compiled.signatures) != before:
                    late.append([name, task, params])
print(json.dumps([tried, late]))
"""


def test_no_first_pass_of_any_learner_and_setting_compiles():
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    tried, compiled_late = json.loads(done.stdout.splitlines()[-1])
    assert tried > 4 * len(learner_names())
    assert compiled_late == []


def test_a_window_is_a_version_with_a_mark_of_its_own(tmp_path, monkeypatch):
    spec = learner_spec("norma")
    both = [(spec, spec.defaults), (spec, {**spec.defaults, "tau": 50}), (spec, {**spec.defaults, "tau": 9})]
    versions = [version(*setting) for setting in both]
    assert versions == ["norma-without_B", "norma-without_E", "norma-without_E"]
    assert version(learner_spec("omkc_dd"), {"beta": 0.5}) == "omkc_dd"
    assert version(learner_spec("omkc_dd"), {"beta": 0.5}, many=True) == "omkc_dd-many"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for one in versions[:1], versions[1:]:
        assert cold(versions) == list(dict.fromkeys(one + versions[1:]))
        assert list(turns(one[:1])) == one[:1]
    assert cold(versions) == []


def test_what_will_run_is_warmed_up_in_every_process(monkeypatch):
    """By the command before its workers start, and by a worker before its cell."""
    spec, seen = learner_spec("norma"), []
    monkeypatch.setattr(omkl.learning.cell, "_warm", set())
    monkeypatch.setattr(omkl.learning.precompile, "warm_up", seen.append)
    monkeypatch.setattr(omkl.learning.cell, "check_memory", lambda job: None)
    data = SimpleNamespace(n_classes=2, load=lambda: 1 / 0)  # which are not needed
    windows = [None, None, 50, 7, None]
    for tau in windows:
        job = SimpleNamespace(spec=spec, params={**spec.defaults, "tau": tau}, source="", data=data)
        with pytest.raises(ZeroDivisionError):
            omkl.learning.cell.run_cell(job)
    assert [[params["tau"] for _, params, *_ in settings] for settings in seen] == [[None], [50]]
    seen.clear()
    monkeypatch.setattr(omkl.learning.cell, "_warm", set())
    omkl.learning.cell.warm_up_once((spec, {**spec.defaults, "tau": tau}) for tau in windows)
    assert [[params["tau"] for _, params, *_ in settings] for settings in seen] == [[None, 50]]


def test_a_hyperparameter_has_the_type_of_its_domain():
    for value in (1, 1.0, 0.5, None):
        assert isinstance(compiled_value(value, "(0, inf) or null", {}), float)
        assert isinstance(compiled_value(value, "int [1, inf) or null", {}), float)
    assert isinstance(compiled_value(np.int64(3), "int [1, inf)", {}), int)
    assert compiled_value("sqrt", ["constant", "sqrt"], {"constant": 0, "sqrt": 1}) == 1
    assert compiled_value(True, "bool", {}) is True


def test_the_notice_names_the_learners(capsys):
    names = [f"learner{number}" for number in range(10)]
    with ExitStack() as stack:
        omkl.learning.precompile._announce([*names[:2], names[1]], "once; kept on disk", stack)
        omkl.learning.precompile._announce(names, "once; kept on disk", stack)
    few, many = capsys.readouterr().err.splitlines()
    assert few == "compiling learner0, learner1 (once; kept on disk) ..."
    assert many.startswith("compiling learner0, ")
    assert "learner7 and 2 more (once" in many


def test_the_bar_counts_and_says_what_is_left():
    def said(done, seconds):
        bar = SimpleNamespace(disable=False, total=4, n=done, format_dict={"elapsed": seconds})
        return omkl.learning.precompile._progress(bar, "omkc_ss", "once; kept on disk", shared)

    shared = 10  # learners' worth of engine, which the first one compiles
    assert said(0, 0.0) == "compiling 1 of 4: omkc_ss (once; kept on disk)"
    assert said(1, 22.0) == "compiling 2 of 4: omkc_ss, about 6 s left (once; kept on disk)"
    shared = 0
    assert said(3, 6.0) == "compiling 4 of 4: omkc_ss, about 2 s left (once; kept on disk)"

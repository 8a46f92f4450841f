"""What a pass runs is compiled before its clock starts: by one process, which others help."""

import io
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from support import ROOT

import omkl.passes.cell
import omkl.passes.warm
from omkl.algorithms import functions
from omkl.config import learner_names, learner_spec, learner_specs
from omkl.engine import by_address, numba_cache
from omkl.engine.choices import Choice
from omkl.files import hold_lock
from omkl.passes import precompile
from omkl.passes.precompile import setting, version, warm_up
from omkl.rounds.compiled_values import compiled_value

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    functions()  # which are imported now: where their files lie is decided then
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    return tmp_path / "compiled"


def settings(*names):
    return [(learner_spec(name), learner_spec(name).defaults, False) for name in names]


def missing(given):
    """Return the learners of which a version has no mark yet."""
    return [one[0].name for one in map(setting, given) if not precompile._mark(version(*one)).exists()]


def test_what_is_compiled_is_marked_and_not_announced_again(folder, capsys):
    majority = settings("majority")
    assert missing(majority) == ["majority"]
    warm_up(majority)
    assert missing(majority) == []
    assert capsys.readouterr().err == "compiling majority (once; kept on disk) ...\n"
    warm_up(majority)
    assert capsys.readouterr().err == ""


def test_what_was_not_compiled_to_the_end_is_not_marked(folder, monkeypatch):
    def interrupted(*setting):
        raise KeyboardInterrupt

    monkeypatch.setattr(precompile, "_load", interrupted)
    monkeypatch.setattr(precompile, "_helped", lambda new: io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        warm_up(settings("majority"))
    assert missing(settings("majority")) == ["majority"]


def test_a_version_has_a_mark_of_its_own(folder):
    """A window is one, and so are more than two classes."""
    spec = learner_spec("norma")
    given = [(spec, spec.defaults), (spec, {**spec.defaults, "tau": 50}), (spec, {**spec.defaults, "tau": 9})]
    versions = [version(*setting(own)) for own in given]
    assert versions == ["norma-without_B", "norma-without_E", "norma-without_E"]
    assert version(learner_spec("omkc_dd"), {"beta": 0.5}) == "omkc_dd"
    assert version(learner_spec("omkc_dd"), {"beta": 0.5}, many=True) == "omkc_dd-many"
    assert len({precompile._mark(name) for name in versions}) == 2
    precompile._compile(versions[1], setting(given[1]))
    assert [bool(missing([own])) for own in given] == [True, False, False]


def test_a_learner_that_another_process_compiles_is_the_last_and_others_do_not_wait(
    folder, monkeypatch, capsys
):
    """The other process is a lock that ends when it is waited for."""
    compiled = []
    monkeypatch.setattr(precompile, "_compile", lambda name, one: compiled.append(name))
    monkeypatch.setattr(precompile, "_helped", lambda new: nullcontext())
    path = folder / "locks" / precompile._mark("majority").name
    path.parent.mkdir(parents=True)
    other = hold_lock(path)
    monkeypatch.setattr(
        "omkl.files.hold_lock",
        lambda path, wait=0.0: (compiled.append(wait), wait and other.release(), hold_lock(path, wait))[2],
    )
    warm_up(settings("majority", "last_value"))
    assert compiled == [0.0, 0.0, "last_value", 0.0, 60.0, "majority"]
    said = capsys.readouterr().err
    assert said == (
        "compiling majority, last_value (once; kept on disk) ...\n"
        "waiting: another process is compiling majority\n"
    )


def test_without_locks_each_process_compiles_for_itself(folder, monkeypatch):
    def refused(path, wait=0.0):
        raise OSError("no locks")

    monkeypatch.setattr("omkl.files.hold_lock", refused)
    warm_up(settings("majority"))
    assert missing(settings("majority")) == []


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch, started):
    functions()
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.warns(UserWarning, match=r"compiled code is not kept, so later runs .*Not a directory"):
        warm_up(settings("majority"))
    assert started == []


@pytest.fixture
def started(monkeypatch):
    """The helpers that were started, on a machine of three cores: none of them runs."""
    processes = []
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    monkeypatch.setattr(precompile.subprocess, "Popen", lambda *args, **how: processes.append(args) or Idle())
    monkeypatch.setattr(by_address, "_first", 0.0)
    return processes


@pytest.mark.parametrize(
    ("versions", "room", "helpers"), [(1, 9e9, 1), (7, 9e9, 2), (99, 9e9, 2), (99, 1.5e9, 1)]
)
def test_helpers_follow_the_work_the_cores_and_the_memory(
    folder, monkeypatch, started, versions, room, helpers
):
    monkeypatch.setattr(precompile, "memory", lambda: room)
    with precompile._helped(settings("majority") * versions):
        assert len(started) == helpers


def test_where_no_process_can_be_started_there_are_no_helpers(folder, monkeypatch, started):
    def refused(*args, **how):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(precompile.subprocess, "Popen", refused)
    with precompile._helped(settings("omkc_dd")):
        pass
    monkeypatch.setattr(sys, "executable", None)
    with precompile._helped(settings("omkc_dd")):
        pass


def test_a_helper_that_fails_is_heard(folder, monkeypatch, started):
    monkeypatch.setattr(Idle, "code", 3)
    with (
        pytest.warns(UserWarning, match="^a process that compiled learners ended with code 3$"),
        precompile._helped(settings("majority")),
    ):
        pass


def test_a_helper_compiles_all_but_the_first(folder, monkeypatch):
    monkeypatch.setattr(by_address, "_first", 0.0)
    written = [[spec.name, params, many] for spec, params, many in settings("last_value", "majority")]
    precompile._help(json.dumps({"share": 0.5, "settings": written}))
    assert missing(settings("majority", "last_value")) == ["last_value"]
    assert numba_cache.base() == folder


@pytest.fixture
def pointed(monkeypatch):
    """The functions to which pointers were wanted; nothing is compiled."""
    functions = []
    monkeypatch.setattr(
        by_address, "pointer_to", lambda function, kinds: functions.append(function) or (1, 1)
    )
    monkeypatch.setattr(by_address, "_first", 0.0)
    return functions


def test_a_helper_compiles_what_a_learner_calls(pointed):
    for spec in learner_specs().values():
        if not spec.estimator:
            pointed.clear()
            precompile._make((spec, spec.usual(spec.tasks[0]), False))
            assert bool(pointed) == any(each.record for each in spec.state.values()), spec.name


def test_helpers_begin_with_other_functions(pointed):
    precompile._make(settings("omkc_dd")[0])
    first = list(pointed)
    pointed.clear()
    by_address.begin_at(0.5)
    precompile._make(settings("omkc_dd")[0])
    middle = len(first) // 2
    assert pointed == first[middle:] + first[:middle]


class Idle:
    """Stands for a process that has ended already."""

    code = 0

    def __init__(self):
        self.stdin = io.StringIO()

    def wait(self):
        return self.code

    def poll(self):
        return self.code

    def kill(self):
        pass


def test_the_notice_names_the_learners(capsys):
    names = [f"learner{number}" for number in range(10)]
    for some in ([*names[:2], names[1]], names):
        with precompile._announced(some, "once; kept on disk"):
            pass
    few, many = capsys.readouterr().err.splitlines()
    assert few == "compiling learner0, learner1 (once; kept on disk) ..."
    assert many.startswith("compiling learner0, ")
    assert "learner7 and 2 more (once" in many


# In a process of its own, where nothing has been compiled yet, or loaded.
PROBE = """
import dataclasses, json, re, sys
import numpy as np
from support.engine_cases import COSINE, MIXED, clouds, fitting
from omkl.algorithms import function
from omkl.config import learner_names, learner_spec
from omkl.errors import UserError
from omkl.passes import run_pass, warm_up

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


def test_what_will_run_is_warmed_up_in_every_process(monkeypatch):
    """By the command before its workers start, and by a worker before its cell."""
    spec, seen = learner_spec("norma"), []
    monkeypatch.setattr(omkl.passes.warm, "_warm", set())
    monkeypatch.setattr(precompile, "warm_up", seen.append)
    monkeypatch.setattr(omkl.passes.cell, "check_memory", lambda job: None)
    data = SimpleNamespace(n_classes=2, load=lambda: 1 / 0)  # which are not needed
    windows = [None, None, 50, 7, None]
    for tau in windows:
        job = SimpleNamespace(spec=spec, params={**spec.defaults, "tau": tau}, source="", data=data)
        with pytest.raises(ZeroDivisionError):
            omkl.passes.cell.run_cell(job)
    assert [[params["tau"] for _, params, *_ in settings] for settings in seen] == [[None], [50]]
    seen.clear()
    monkeypatch.setattr(omkl.passes.warm, "_warm", set())
    omkl.passes.warm.warm_up_once((spec, {**spec.defaults, "tau": tau}) for tau in windows)
    assert [[params["tau"] for _, params, *_ in settings] for settings in seen] == [[None, 50]]


def test_a_hyperparameter_has_the_type_of_its_domain():
    for value in (1, 1.0, 0.5, None):
        assert isinstance(compiled_value(value, "(0, inf) or null"), float)
        assert isinstance(compiled_value(value, "int [1, inf) or null"), float)
    assert isinstance(compiled_value(np.int64(3), "int [1, inf)"), int)
    assert isinstance(compiled_value("sqrt", ["constant", "sqrt"]), Choice)
    assert compiled_value(True, "bool") is True


THREADS = """
from concurrent.futures import ThreadPoolExecutor
import omkl
call = lambda seed: omkl.run(
    algo="arow", data="wdbc", reps=1, seed=seed, yardsticks=[], progress=False, store=f"s{seed}"
)
with ThreadPoolExecutor(4) as pool:
    print([found.table.mistake_pct_mean[0] for found in pool.map(call, range(1, 5))] == [
        call(seed).table.mistake_pct_mean[0] for seed in range(1, 5)
    ])
"""


def test_the_first_calls_of_a_process_may_come_from_several_threads(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", THREADS]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr

"""Protocols and compiled methods agree, the tutorial's table is made from them, and mypy finds wrong uses."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import omkl
from omkl.api.calls import Settings
from omkl.engine import api, budgeted, expansion, features, methods, stores, stream

ROOT = Path(methods.__file__).parents[2]
RECORDS = (stream.Stream, stream.Trace, stores.Store, expansion.Expansion, budgeted.Budget, features.Features)


def compiled_methods(record):
    """The parameters of each compiled method: names without the record's, and defaults."""
    own = {name: value.py_func for name, value in vars(record).items() if hasattr(value, "get_call_template")}
    return {name: arguments(function) for name, function in own.items()}


def declared(protocol):
    own = {name: value for name, value in vars(protocol).items() if inspect.isfunction(value)}
    return {name: value for name, value in own.items() if not name.startswith("_")}


def arguments(function):
    return [(one.name, one.default) for one in inspect.signature(function).parameters.values()][1:]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_protocols_and_methods_agree(record):
    protocol = getattr(methods, record.__name__)
    assert api  # it adds all methods
    assert {name: arguments(one) for name, one in declared(protocol).items()} == compiled_methods(record)
    if record is not stores.Store:
        assert set(inspect.get_annotations(protocol)) <= set(record._fields)


def test_every_method_says_what_it_does():
    """omkl/engine/methods.py is the list that the tutorial on learners points to."""
    for name in ("Stream", "Trace", "Store", "Expansion", "Budget", "Features"):
        for method, function in declared(getattr(methods, name)).items():
            assert inspect.getdoc(function), (name, method)


def test_type_checkers_know_all_settings():
    """What `run` takes by name is what conf/ has; at runtime it refuses others before any work."""
    files = (yaml.safe_load((ROOT / "conf" / name).read_text()) for name in ("config.yaml", "tune.yaml"))
    own = {key for content in files for key in content} - {"defaults", "choices"}
    keywords = set(inspect.signature(omkl.run).parameters) - {"settings"}  # which is **settings
    assert set(inspect.get_annotations(Settings)) == (own | {"exec"}) - keywords


PROGRAM = """
import numpy as np
import omkl
from omkl.engine.api import Expansion, Stream, Trace

def margin(stream: Stream, E: Expansion, trace: Trace, learn: bool, rho: float) -> None:
    for t in range(stream.T):
        f = E.outputs(stream, t)
        trace.record(t, f[0], stream.y[t], E)
        if learn and stream.y[t] * f[0] <= rho:
            E.add(stream, t, np.full(1, stream.y[t]))

def wrong(E: Expansion, stream: Stream) -> None:
    E.outptus(stream, 0)

print(omkl.run("algo=omkc_ss data=wdbc", reps=2).rows)
omkl.run(rep=2)
"""
FOUND = ['14: error: "Expansion" has no attribute "outptus"', '17: error: Unexpected keyword argument "rep"']


def test_mypy_finds_what_is_wrong_in_a_program(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 2, done.stdout + done.stderr
    assert all(said in error for said, error in zip(FOUND, errors, strict=True)), errors

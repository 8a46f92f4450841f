"""`omkl check` of a folder: what it finds, and where; faulty learners stop no others."""

import json
import re

import pytest
from support.extension import TINY, TWIN, YAML, page_examples, tiny, write

from omkl.cli import main

RUN = ["run", "data=wdbc", "reps=2", "exec=serial", "yardsticks=[]", "--with", "mine"]
pytestmark = pytest.mark.usefixtures("place")


def faults(capsys):
    """What `omkl check mine` finds, by learner and check."""
    assert main(["check", "mine", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    return {
        (row["name"], row["check"]): row["what differs first"] for row in rows if row["result"] == "failed"
    }


def test_check_of_the_learner_of_the_tutorial(place, capsys):
    write(place / "mine", page_examples("tutorials/own-learner"))
    assert main(["check", "mine", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in rows} == {"perceptron_margin"}
    assert {"twin: wdbc", "block size", "a pass in parts"} <= {row["check"] for row in rows}


def test_check_names_the_first_round_that_differs(place, capsys):
    wrong = TWIN.replace("eta * y[t]", "(eta if t < 30 else 2 * eta) * y[t]")
    tiny(place / "mine", **{"tests/reference/small.py": wrong})
    assert main(["check", "--with", "mine", "--format", "json"]) == 1
    failed = {row["check"]: row["what differs first"] for row in json.loads(capsys.readouterr().out)}
    failed = {check: fault for check, fault in failed.items() if fault}
    assert {"twin: wdbc", "twin: ties"} <= failed.keys()
    assert all(check.startswith("twin") for check in failed)
    assert int(failed["twin: wdbc"].split()[1].rstrip(":")) > 31


def test_check_finds_a_broken_contract_of_a_learner_without_a_twin(place, capsys):
    source = TINY.replace("f = 0.0", "f = 1e-3 * t")  # the round counts from the start of each part
    tiny(place / "mine", source)
    (place / "mine/tests/reference/small.py").unlink()
    assert main(["check", "mine", "--format", "json"]) == 1
    results = {row["check"]: row["result"] for row in json.loads(capsys.readouterr().out)}
    assert (results["a pass in parts"], results["same seed, same result"]) == ("failed", "ok")
    assert results["twin"] == "no twin: not compared"


def test_a_learner_without_a_twin_is_not_compared_and_that_is_no_fault(place, capsys):
    tiny(place / "mine")
    (place / "mine/tests/reference/small.py").unlink()
    assert main(["check", "mine"]) == 0
    assert re.search(r"tiny +twin +no twin: not compared", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tests/reference/small.py", "import nosuch", ": cannot be imported"),
        ("tests/reference/kernels.py", "", ": the name is taken"),
        ("conf/pool/p.yaml", "label: x\nnormalise: none\nkernels: []\n", ""),
    ],
)
def test_check_of_a_folder_that_is_wrong(place, capsys, name, text, said):
    tiny(place / "one", **{name: text})
    assert main(["check", "one"]) == 2
    assert f"{place}/one/{name}{said}" in capsys.readouterr().err


def beside(place, wrong):
    """A folder with the sound learner tiny, and with another, made of it, that is wrong."""
    second = {"algorithms/second.py": wrong.replace("def tiny", "def second")}
    second |= {"tests/reference/second.py": TWIN.replace("def tiny", "def second")}
    tiny(place / "mine", **second, **{"conf/algo/second.yaml": YAML})


def test_an_exception_of_a_learner_stops_no_other(place, capsys):
    beside(place, TINY.replace("f = 0.0", "f = 1.0 / (stream.values[0] - stream.values[0])"))
    found = faults(capsys)
    assert {learner for learner, _ in found} == {"second"}
    assert "ZeroDivisionError: division by zero" in found["second", "twin: wdbc"]
    assert main([*RUN, "algo=second,tiny", "--format", "json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert {row["algo"]: row["reps"] for row in made["summary"]} == {"second": 0, "tiny": 2}


@pytest.mark.parametrize(
    ("wrong", "line", "said"),
    [
        (TINY.replace("f += v", "f += w"), 13, "NameError: name 'w' is not defined"),
        (TINY.replace(", eta)", ")"), 18, "NameError: name 'eta' is not defined"),  # its docstring has it
        (
            TINY.replace("f += v[stream.indices[j]]", "f += 'x'"),
            13,
            "No implementation of function Function(",
        ),
    ],
)
def test_a_compile_error_has_its_line_and_stops_no_other(place, capsys, wrong, line, said):
    beside(place, wrong)
    found = faults(capsys)
    assert list(found) == [("second", "compiles")]
    (text,) = found.values()
    assert text.startswith(f"{place}/mine/algorithms/second.py:{line}: second cannot be compiled: {said}")
    assert len(text) < len(str(place)) + 400
    assert "<source elided>" not in text


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            '*, eta, normalise="none", rng=None',
            "eta",
            "small.py: it takes tiny(X, y, kernels, eta), but must have the form",
        ),
        (
            "*, eta, norm",
            "*, step=0.5, norm",
            "small.py:8: the twin tiny does not take the learner's hyperparameters: got an unexpected",
        ),
        ("return E.result()", "E.result()", "the twin returns nothing: it must return a Result"),
        ("v = v + eta", "v = v + eta[0]", "small.py:16: TypeError: 'float' object is not subscriptable"),
    ],
)
def test_a_twin_s_fault_says_what_and_where(place, capsys, before, after, said):
    tiny(place / "mine", **{"tests/reference/small.py": TWIN.replace(before, after)})
    found = faults(capsys)
    assert all(check.startswith("twin") for _, check in found)
    assert said in next(iter(found.values()))


MANY = {
    "algorithms/several.py": '''"""OMKC(D,D) again."""

from numba import njit

from omkl.engine.api import discount, mistakes


@njit(cache=True)
def several(stream, E, w, trace, learn, beta):
    """w (m,) weights"""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, E.weighted_vote(w, f), y, E)
        z = mistakes(y, f)
        if learn and z.any():
            discount(w, beta, z)
            E.add(stream, t, y * z)
''',
    "conf/algo/several.yaml": """
beta: {value: 0.8, domain: "(0, 1)", help: discount}
about:
  {label: Several, cite: ours, task: classification, classes: many, kernels: pool, revision: 1, state:
  {E: {expansion: true}, w: {shape: [m], fill: 1/m, domain: "[0, 1]"}}}
""",
    "tests/reference/several.py": '''"""OMKC(D,D) again, round by round."""

import numpy as np

from .classes import Classes, best, class_votes, classes_of, margin
from .expansion import Expansions
from .kernels import pool_rows
from .weights import Weights


def several(X, y, kernels, *, beta, normalise="none", rng=None):
    m, C = len(kernels), classes_of(y)
    W = Weights(m)
    if C is None:
        E = Expansions(pool_rows(X, kernels, normalise), m, len(y))
        for t in range(len(y)):
            f = E.F[:, t].copy()
            E.record(W.vote(f, [True] * m), y[t], [True] * m)
            z = [y[t] * f[i] <= 0 for i in range(m)]
            W.discount(beta, z)
            E.add(t, y[t] * np.array(z, float))
        return E.result(weights=W.w)
    E = Classes(X, C, kernels, normalise)
    for t in range(len(y)):
        f = E.scores(t)
        E.record(class_votes(W, [best(f[i]) for i in range(m)], C), y[t])
        z = [margin(f[i], y[t]) <= 0 for i in range(m)]
        W.discount(beta, z)
        for i in range(m):
            E.step(t, i, float(z[i]), y[t], best(f[i], without=y[t]))
    return E.result(W.w)
''',
}


@pytest.mark.parametrize(
    ("before", "after", "failed"),
    [
        ("", "", set()),
        ("E.step(t, i, float(z[i]),", "E.step(t, i, 2.0 * z[i],", {"clouds", "ties"}),
        ("    E = Classes(X, C, kernels, normalise)\n", "    raise ValueError(C)\n", {"clouds", "ties"}),
    ],
)
def test_a_learner_of_many_classes_is_compared_on_three(place, capsys, monkeypatch, before, after, failed):
    """Its twin tells them by whole numbers as labels."""
    if failed:  # the contracts look at no twin
        monkeypatch.setattr("omkl.testing.check.CONTRACTS", {})
    twin = "tests/reference/several.py"
    write(place / "mine", MANY | {twin: MANY[twin].replace(before, after)})
    assert main(["check", "mine", "--format", "json"]) == bool(failed)
    rows = {row["check"]: row["result"] for row in json.loads(capsys.readouterr().out)}
    assert {check for check, result in rows.items() if result == "failed"} == {
        f"twin: {kind} of three classes" for kind in failed
    }
    assert rows["twin: wdbc"] == "ok"


QUANTILE = {
    "algorithms/quantile.py": '''"""Kernel quantile regression: subgradient steps on the pinball loss."""

import numpy as np
from numba import njit


@njit(cache=True)
def quantile(stream, E, trace, learn, tau):
    """tau in (0, 1), the quantile"""
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        trace.record(t, f[0], y, E)
        if learn:
            E.add(stream, t, np.full(1, 0.1 * (tau - (y < f[0]))))
''',
    "tests/reference/quantile.py": '''"""The twin."""

import numpy as np

from .expansion import Expansions
from .kernels import pool_rows


def quantile(X, y, kernels, *, tau, normalise="none", rng=None):
    E = Expansions(pool_rows(X, kernels, normalise), 1, len(y))
    for t in range(len(y)):
        f = E.F[0, t]
        E.record(f, y[t], [True])
        E.add(t, np.array([0.1 * (tau - (y[t] < f))]))
    return E.result()
''',
    "conf/algo/quantile.yaml": """
kernel: {value: {kind: gaussian, sigma: 1 median}, domain: kernel, help: the one kernel}
tau: {value: 0.5, domain: "(0, 1)", help: the quantile}
about:
  {label: Quantile, cite: Koenker, task: regression, kernels: own, revision: 1, state: {E: {expansion: true}}}
""",
}


def test_a_learner_of_numbers_is_checked_on_targets_other_than_1_and_at_a_width_in_medians(place, capsys):
    write(place / "sound", QUANTILE)
    assert main(["check", "sound"]) == 0
    capsys.readouterr()
    twin = QUANTILE["tests/reference/quantile.py"].replace("F[0, t]", "F[0, t]; y = np.sign(y)")
    write(place / "mine", QUANTILE | {"tests/reference/quantile.py": twin})
    found = faults(capsys)
    assert {check for _, check in found} == {"twin: small numbers", "twin: numbers of equal rows"}


def test_data_that_are_named_are_a_stream_of_the_check(place, capsys):
    tiny(place / "mine")
    (place / "own.csv").write_text("a,label\n" + "1.5,0\n-2,1\n" * 30)
    assert main(["check", "mine", "data=own.csv", "--format", "json"]) == 0
    checks = {row["check"]: row["result"] for row in json.loads(capsys.readouterr().out)}
    assert checks["twin: own.csv"] == "ok"
    assert main(["check", "mine", "data=drift_numbers"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("omkl: data=drift_numbers: the folder has no kernel, and no learner with a twin")

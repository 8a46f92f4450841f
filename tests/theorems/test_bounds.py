"""`omkl bounds`: no observed count exceeds a theorem's right-hand side, as its proof gives it."""

import inspect
import json
import math
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from omkl.cli import main
from omkl.config import learner_specs
from omkl.theorems import evaluation
from omkl.theorems.case import Bound
from omkl.theorems.evaluation import bound_function

REPS = 4  # of a learner that draws random numbers


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


LEARNERS = (
    "omkc_dd,omkc_ds,omkc_sd,omklp_da1,omklp_da2,omklp_sua,omklp_mua,omklo_da,omklo_sua,"
    "bomkc_spa,perceptron,perceptron_u"
)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Keep cells in an empty folder."""
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))


def bounds(capsys, *words):
    assert main(["bounds", *words, "-q", "-j", "1", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


# ------------------------------------------------------------------ observed counts


@pytest.mark.parametrize("data_name", ["wdbc", "sonar_scale", "votes84", "ionosphere"])
def test_no_count_exceeds_its_bound(data_name, capsys, request):
    if data_name != "wdbc":  # which comes with scikit-learn
        request.getfixturevalue("shared_data")
    words = (
        f"algo={LEARNERS},omklp_da1(beta=null)",
        f"data={data_name}",
        "reps=2",
        "pool=paper16_cosine",
        "algo.R=1",
        "algo.delta=0.5",
    )
    rows = bounds(capsys, *words)
    theorems = {row["theorem"] for row in rows}
    assert len(theorems) == 21, theorems
    second_forms = [f"Lu et al., {what}, second form" for what in ("Lemma 1", "Theorem 1", "Theorem 2")]
    specs = {spec.label: spec for spec in learner_specs().values()}
    for row in rows:
        if row["bound"] is None:
            assert row["theorem"] in ("Lu et al., Lemma 1", *second_forms), row
            continue
        assert row["reps"] == 2
        # a theorem on a stochastic learner speaks of its expectation
        observed = row["mean"] if specs[row["learner"]].stochastic else row["max"]
        assert 0 < observed <= row["bound"], row
        if row["printed"] is not None:
            assert observed <= row["printed"], row
        assert row["gap"] < 2e-3  # 1e-3 of batch multiple kernel learning


@pytest.mark.parametrize("data_name", ["wdbc", "german"])
def test_no_count_exceeds_its_bound_with_raw_polynomials(data_name, capsys, request):
    if data_name != "wdbc":
        request.getfixturevalue("shared_data")
    rows = bounds(
        capsys, "algo=omkc_dd,omklp_da2,bomkc_spa,perceptron", f"data={data_name}", "reps=2", "pool=paper16"
    )
    assert all(row["max"] <= row["bound"] for row in rows if row["bound"] is not None)
    refused = [row["theorem"] for row in rows if row["bound"] is None]
    both = ("Lemma 1", "Theorem 1")
    forms = [*(form for one in both for form in (one, f"{one}, second form")), "Theorem 2, second form"]
    assert refused == [f"Lu et al., {form}" for form in forms]


@pytest.mark.parametrize("data_name", ["wdbc", "votes84"])
@pytest.mark.parametrize(("alpha", "eta"), [(0.5, 0.1), slow(1.0, 0.4), slow(0.2, 0.02)])
def test_spa_obeys_the_second_forms_and_one_kernel_its_lemma(data_name, alpha, eta, capsys, request):
    if data_name != "wdbc":
        request.getfixturevalue("shared_data")
    words = [f"data={data_name}", f"algo.alpha={alpha}", f"algo.eta={eta}", f"reps={REPS}"]
    rows = bounds(capsys, "algo=bomkc_spa", "pool=paper16_cosine", "algo.delta=0.5", *words)
    rows += bounds(capsys, "algo=bomkc_spa", "pool.kernels=[{kind:gaussian,sigma:8}]", *words)
    applied = [row for row in rows if row["bound"] is not None]
    assert len(applied) == 4 + 6
    for row in applied:
        error = row["std"] / math.sqrt(REPS)  # of the mean, in place of the expectation
        assert 0 < row["mean"] <= row["bound"] + 4 * error, row
        assert row["counts"] != "regret" or row["theorem"].startswith("Lu et al., Lemma 1")


def test_spa_stores_no_more_than_its_budget(capsys):
    words = ["algo.beta={budget:5}", "data=wdbc", f"reps={REPS}", "pool=paper16_cosine"]
    rows = bounds(capsys, "algo=bomkc_spa", *words)
    (row,) = [row for row in rows if row["theorem"] == "Lu et al., Theorem 2"]
    assert row["settings"] == "beta=budget=5"
    assert row["bound"] == pytest.approx(16 * 5)
    assert 0 < row["mean"] <= row["bound"] + 4 * row["std"] / math.sqrt(REPS)


@pytest.mark.parametrize("step", ["constant", "sqrt"])
def test_norma_obeys_its_bounds_for_any_parameters(step, capsys):
    applied = 0
    for lam, rho, eta, tau in [
        (0, 0, 1, 0),
        (0, 1, 0.2, 0),
        (0.01, 1, 0.5, 0),
        (1, 0.3, 0.5, 300),
        (0.001, 3, 2, 0),
    ]:
        words = [f"algo.lam={lam}", f"algo.rho={rho}", f"algo.eta={eta}", f"algo.step={step}"]
        words += [f"algo.tau={tau}"] if tau else []
        rows = bounds(
            capsys, "algo=norma", "data=wdbc", "algo.kernel={kind:gaussian,sigma:64}", "reps=2", *words
        )
        of = [row["counts"] for row in rows]
        assert of[:2] == (
            ["mistakes", "share of new rows"][: len(of)] if step == "sqrt" else ["vectors", "mistakes"]
        )
        assert of[2:] == (["truncation error"] if tau and step == "constant" else [])
        for row in rows:
            applied += row["bound"] is not None
            assert row["bound"] is None or row["max"] is None or row["max"] <= row["bound"], row
    assert applied == (5 if step == "sqrt" else 9)


@pytest.mark.slow
def test_moving_targets_and_averaged_hypotheses_obey_their_bounds(capsys, tmp_path):
    words = ["data=drift", "order=file", "reps=2", "algo.lam=0.05", "algo.eta=0.3", f"store={tmp_path}"]
    rows = bounds(capsys, "algo=norma", "algo.kernel={kind:gaussian,sigma:0.7}", *words)
    moving = [row for row in rows if row["theorem"].endswith("moving target")]
    assert [row["counts"] for row in moving] == ["vectors", "mistakes"]
    assert all(row["max"] <= row["bound"] for row in moving)
    words = ["algo.lam=2", "algo.eta=0.4", "algo.step=sqrt", "test=switch", f"store={tmp_path}"]
    rows = bounds(capsys, "algo=norma,norma_logistic", "data=drift", "reps=2", *words)
    shares = [row for row in rows if row["counts"] == "share of new rows"]
    assert len(shares) == 2
    assert all(0 < row["mean"] <= row["bound"] for row in shares)


# ------------------------------------------------------------------ the command


def test_every_bound_belongs_to_a_learner():
    known = {name: spec for name, spec in learner_specs().items() if bound_function(spec)}
    others = {"norma", "norma_growing", "norma_logistic", "raker", "adaraker"}
    assert {*LEARNERS.split(","), *others} == set(known)
    for spec in known.values():
        names = set(inspect.signature(bound_function(spec)).parameters) - {"case"}
        assert names <= set(spec.defaults), spec.name


def test_a_learner_without_a_theorem_is_refused(capsys):
    for name in ("omkc_ss", "perceptron_star", "arow"):
        assert main(["bounds", f"algo={name}", "data=wdbc"]) == 2
        error = capsys.readouterr().err
        assert error.startswith(
            f"omkl: algo={name} has no bound; these have: "
            "adaraker, bomkc_spa, norma, norma_growing, norma_logistic, omkc_dd"
        )
        assert error.count("\n") == 1


def test_formats(capsys):
    words = ["bounds", "algo=perceptron", "data=wdbc", "reps=2", "--rows", "100", "-q"]
    shown = {}
    for fmt in ("table", "csv", "markdown", "latex", "json"):
        assert main([*words, "--format", fmt]) == 0
        shown[fmt] = capsys.readouterr().out
    (row,) = json.loads(shown["json"])
    assert row["kernel"] == "polynomial(degree=1, coef0=1)"
    assert row["ratio"] == pytest.approx(row["bound"] / row["mean"])
    assert row["std"] == pytest.approx((row["max"] - row["mean"]) * 2**0.5) != 0  # the sample's, of two
    assert f"{row['bound']:.5g}" in shown["table"]
    assert "f from 100 of 569 examples (--rows)" in shown["table"]
    assert shown["markdown"].startswith("`omkl bounds algo=perceptron data=wdbc")
    assert shown["csv"].splitlines()[0].startswith("data,learner,settings,pool,theorem")
    assert "\\toprule" in shown["latex"]


def test_where_repetitions_have_bounds_of_their_own_the_ratio_is_the_least():
    spec = SimpleNamespace(label="one", stochastic=False, unusual=lambda *_: {})
    setting, case = SimpleNamespace(params={}, pool=None), SimpleNamespace(batch=Mock(), gap=None)
    bound = Bound("Theorem", 15.0, values=(10.0, 20.0, 9.0))
    row = evaluation._row(spec, setting, "classification", bound, np.array([5.0, 4.0, 0.0]), case)
    assert (row["ratio"], row["mean"]) == (2.0, 3.0)

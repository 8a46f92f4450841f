"""Data that break numerics: every learner gives finite figures or is refused in one clear line."""

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest
from support.engine_cases import dataset, sparse

from omkl.config import learner_names, learner_spec, plan
from omkl.data import of_dataset
from omkl.errors import UserError
from omkl.runs.runner import run_plan
from omkl.tasks import by_task

GAUSSIAN = "[{kind:gaussian,sigma:1},{kind:gaussian,sigma:0.1}]"
MIXED = "[{kind:gaussian,sigma:1},{kind:laplacian,sigma:0.5},{kind:linear},{kind:polynomial,degree:3}]"

# Of these rows, in classes, every learner is compared with its twin (EDGES of omkl.testing.twins).
COMPARED = ("all rows zero", "duplicated rows with both labels", "constant features")


def made():
    """The data sets, by what is odd about them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], 60)
    mixed = X.copy()
    mixed[::7] *= 1e300
    mixed[3::7] *= 1e-310
    zeros = X.copy()
    zeros[::2] = 0.0
    empty = dataset(np.zeros((20, 0)), y[:20])
    many = sparse(T=60, d=300_000, per_row=5)
    return {
        "features of 1e300": dataset(X * 1e300, y),
        "features of 1e150, whose squares just fit": dataset(X * 1e150, y),
        "some rows of 1e300, some subnormal": dataset(mixed, y),
        "subnormal features": dataset(X * 1e-310, y),
        "the smallest subnormal": dataset(np.full((20, 2), 5e-324), y[:20]),
        "half of the rows zero": dataset(zeros, y),
        "all rows zero": dataset(np.zeros((40, 3)), y[:40]),
        "duplicated rows with both labels": dataset(np.tile(X[:3], (20, 1)), y),
        "one class": dataset(X, np.ones(60)),
        "one example": dataset(X[:1], y[:1]),
        "no features": empty,
        "hundreds of thousands of columns": many,
        "three thousand equal labels": dataset(rng.normal(size=(3000, 2)), -np.ones(3000)),
        "constant features": dataset(np.ones((40, 3)), y[:40]),
    }


@pytest.fixture(scope="module")
def hostile():
    return made()


def finite(value) -> bool:
    """Whether every number in a nest of figures is finite."""
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list | tuple | np.ndarray):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def attempt(planned):
    """Run a plan: what it was refused with, and its outcome."""
    try:
        return "", run_plan(planned, progress=False)
    except UserError as error:
        return str(error), None


def may_be_refused(what):
    """Whether a plan with these data may end before any work: each has a plan of its own."""
    return "1e300" in what or "1e150" in what


@pytest.mark.parametrize(
    ("name", "task"), [(n, task) for n in learner_names() for task in learner_spec(n).tasks]
)
def test_odd_data_give_finite_figures_or_a_clear_line(name, task, hostile, tmp_path):
    spec = learner_spec(name)
    words = [f"algo={name}", "yardsticks=[]", "exec=serial", "reps=1", "order=file", f"store={tmp_path}"]
    words += [f"pool.kernels={MIXED if spec.pool == 'any' else GAUSSIAN}"] if spec.kernels == "pool" else []
    # of many columns, D frequencies are D times as many numbers, and a matrix would be too large
    own = {"budget": 12, "D": 2, "linear": "false"}
    first = "ridge, iegp(D=2)" if task == "regression" else "arow, 'egpc(linear=false,D=2)'"
    own["members"] = f"[{first}, krls_t(budget=12)]"
    words += [f"algo.{key}={value}" for key, value in own.items() if key in spec.defaults]
    planned = plan([*words, "data=breast_cancer"])
    (setting,) = planned.settings
    usual = {key: spec.usual(task)[key] for key, value in spec.defaults.items() if by_task(value)}
    setting = dataclasses.replace(setting, params={**setting.params, **usual})
    planned = dataclasses.replace(planned, settings=(setting,))
    given = {
        what: of_dataset(dataclasses.replace(data, task=task, name=what))
        for what, data in hostile.items()
        if not (what in COMPARED and task == "classification")
        and (what != "three thousand equal labels" or "budget" not in spec.defaults)  # the same, slowly
    }
    cells, failed, refused = {}, {}, {}
    together = tuple(given[what] for what in given if not may_be_refused(what))
    for part in (together, *((given[what],) for what in given if may_be_refused(what))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of the order
            message, outcome = attempt(dataclasses.replace(planned, data=part))
        if message:
            assert len(part) == 1, message
            refused[part[0].name] = message
            continue
        cells |= {row["data"]: row for row in outcome.cells.to_dict("records")}
        failed |= {line["data"]: line["error"] for line in outcome.failed}
    ran = 0
    for what in given:
        if what in refused:
            assert "overflow" in refused[what]
            assert "scale the features" in refused[what]
            continue
        if what in failed and task == "regression":  # squared losses can diverge, which must be reported
            assert "overflowed; rescale the data or reduce the step size" in failed[what], what
            continue
        assert what not in failed, (what, failed[what])
        row = cells[what]
        assert not any(isinstance(value, float) and math.isinf(value) for value in row.values()), what
        assert row["T"] == hostile[what].T, what
        assert math.isfinite(row["mse" if task == "regression" else "mistake_rate"]), what
        assert row["mse"] >= 0 if task == "regression" else 0 <= row["mistakes"] <= row["T"], what
        ran += 1
    assert ran >= 6
    for file in tmp_path.glob("*/*.jsonl"):
        for text in file.read_text().splitlines():
            assert finite(json.loads(text)), file

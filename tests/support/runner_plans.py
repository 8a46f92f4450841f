"""A small plan on fake learners, and what the tests of the runner do with it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from omkl.config import Plan, Setting
from omkl.data import find
from omkl.runs import other_runs, runner
from support import runner_fakes

POOL = {
    "name": "two",
    "normalise": "none",
    "kernels": [{"kind": "linear"}, {"kind": "gaussian", "sigma": 1.0}],
}


def write_data(path: Path, T: int = 30, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    rows = [
        f"{'+1' if i % 3 else '-1'} 1:{a:.3f} 2:{b:.3f}" for i, (a, b) in enumerate(rng.normal(size=(T, 2)))
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def make_plan(tmp_path, monkeypatch) -> Plan:
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells."""
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runner, "run_cell", runner_fakes.run_cell)
    for module in (runner, other_runs):
        monkeypatch.setattr(module, "warm_up_once", lambda specs: None)
    return Plan(
        settings=(Setting("omkc_dd", {"beta": 0.8}, POOL), Setting("omkc_ss", {"beta": 0.5}, POOL)),
        data=(
            find(write_data(tmp_path / "one.libsvm")),
            find(write_data(tmp_path / "two.libsvm", 50, 1)),
        ),
        reps=4,
        seed=1,
        order="permuted",
        store=tmp_path / "store",
        exec={"name": "loky", "jobs": None},
        yardsticks=(Setting("majority", {}, None),),
        swept=(),
        block=None,
    )


def faulty(plan: Plan, what: str, argument: object) -> Plan:
    """The plan with a third learner that misbehaves, in the last cell of all."""
    fault = {"beta": 0.9, "fault": [what, argument]}
    return replace(plan, settings=(*plan.settings, Setting("omkc_u", fault, POOL)), reps=1)


def without_time(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.drop(columns=["seconds", "provenance"])

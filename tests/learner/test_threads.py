"""Threads that share a pass change no bit of it."""

import numpy as np
import pytest

import omkl.data
from omkl.config import learner_spec, pool
from omkl.learner import learner, run_pass

ROWS = 1100


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    return omkl.data.from_arrays(rng.normal(size=(ROWS, 5)).round(1), np.where(rng.random(ROWS) < 0.5, 1, -1))


@pytest.mark.parametrize(
    ("name", "changes"),
    [("omkc_dd", {}), ("bomkc_spa", {"predict": "averaged"})],
    ids=["one", "two-expansions"],
)
def test_results_do_not_depend_on_threads(name: str, changes: dict, noise, monkeypatch) -> None:
    monkeypatch.setattr(learner, "WORTH", 100)
    spec = learner_spec(name)
    params = {**spec.usual("classification"), **changes}
    ends: dict[int, list[int]] = {}

    def figures(threads: int) -> dict:
        order, ends[threads] = np.arange(ROWS), []
        how = {"threads": threads, "on_part": ends[threads].append}
        made = run_pass(spec, params, pool("gauss3"), noise, order, 0, **how)
        return {name: value for name, value in made.items() if name not in ("seconds", "memory")}

    alone = figures(1)
    assert alone["n_sv_union"] > 300
    assert figures(2) == alone
    assert figures(5) == alone
    assert ends[1] == ends[2] == ends[5]

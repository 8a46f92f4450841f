"""Threads that share a pass change no bit of it."""

import numpy as np
import pytest

import omkl.data
from omkl.config import learner_spec, pool
from omkl.passes import run_pass
from omkl.rounds import learner
from omkl.rounds.threads import rows_of_block

ROWS = 1100


def noise(binary: bool) -> omkl.data.Dataset:
    """Rows without a pattern; rows of 0 and 1 have larger blocks where threads share them."""
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, 40)) < 0.4 if binary else rng.normal(size=(ROWS, 5)).round(1)
    return omkl.data.from_arrays(X.astype(float), np.where(rng.random(ROWS) < 0.5, 1, -1))


@pytest.mark.parametrize(
    ("name", "changes", "binary"),
    [("omkc_dd", {}, False), ("omkc_dd", {}, True), ("bomkc_spa", {"predict": "averaged"}, False)],
    ids=["one", "looked-up", "two-expansions"],
)
def test_results_do_not_depend_on_threads(name: str, changes: dict, binary: bool, monkeypatch) -> None:
    monkeypatch.setattr(learner, "WORTH", 100)
    spec = learner_spec(name)
    params = {**spec.usual("classification"), **changes}
    ends: dict[int, list[int]] = {}

    def figures(threads: int) -> dict:
        order, ends[threads] = np.arange(ROWS), []
        how = {"threads": threads, "on_part": ends[threads].append}
        made = run_pass(spec, params, pool("gauss3"), noise(binary), order, 0, **how)
        return {name: value for name, value in made.items() if name not in ("seconds", "memory")}

    alone = figures(1)
    assert alone["n_sv_union"] > 300
    assert figures(2) == alone
    assert figures(5) == alone
    assert ends[1] == ends[2] == ends[5]


def test_blocks_that_threads_share_are_larger_where_values_are_looked_up() -> None:
    assert [rows_of_block(count, False) for count in (1, 2, 16)] == [64, 128, 1024]
    assert [rows_of_block(count, True) for count in (1, 2, 3, 16)] == [64, 384, 512, 1024]

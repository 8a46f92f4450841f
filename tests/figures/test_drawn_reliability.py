"""Reliability diagrams: dots are shares of right predictions, outlines are counts of rounds."""

import json

import numpy as np
import pandas as pd
import pytest
from support.drawn import line_named
from support.reports_cells import YARDSTICKS, cell, expected, frame, setting

from omkl.cli import main
from omkl.errors import UserError
from omkl.figures.kinds import figure_named
from omkl.figures.reliability import reliability_diagram
from omkl.passes.scores import calibration_error
from omkl.passes.scores import reliability as bins_of
from omkl.tasks import BINS

DD, SS = setting("omkc_dd"), setting("omkc_ss")


def made(cells, settings=(DD,), **more):
    plan = expected(settings, ("wdbc",), 2, yardsticks=YARDSTICKS)
    return figure_named("calibration", frame(*cells), {}, plan, **more)


def test_bins_hold_the_rounds_and_give_the_calibration_error():
    rng = np.random.default_rng(0)
    P = rng.uniform(0.5, 1.0, 1000)
    right = rng.random(1000) < P**2
    bins = bins_of(P, right)
    assert [at for at, *_ in bins] == list(range(7, BINS))
    for at, rounds, probability, hits in bins:
        inside = np.floor(P * BINS) == at
        assert (rounds, hits) == (inside.sum(), (inside & right).sum())
        assert probability == pytest.approx(P[inside].mean(), rel=1e-5)
    error = sum(abs(hits - rounds * probability) for _, rounds, probability, hits in bins) / 1000
    assert error == pytest.approx(calibration_error(P, right), abs=1e-5)
    assert bins_of(np.ones(3), np.ones(3, bool)) == [[BINS - 1, 3, 1.0, 3]]
    json.dumps(bins)


def test_dots_are_of_all_repetitions_and_outlines_of_one_pass():
    first, second = [[8, 10, 0.55, 6], [14, 30, 0.95, 30]], [[8, 30, 0.57, 12]]
    cells = [cell(DD, 0, 5, reliability=first), cell(DD, 1, 5, reliability=second)]
    cells += [cell(YARDSTICKS[2], rep, 5, reliability=second) for rep in (0, 1)]
    figure = made(cells)
    assert figure.name.startswith("calibration-omkc_dd-wdbc")
    assert "15 equal bins" in figure.note
    top, bottom = figure.draw().axes
    (dots,) = [line for line in top.get_lines() if line.get_label().startswith("OMKC")]
    np.testing.assert_allclose(dots.get_xdata(), [(10 * 0.55 + 30 * 0.57) / 40, 0.95])
    np.testing.assert_allclose(dots.get_ydata(), [18 / 40, 1.0])
    (outline,) = bottom.patches
    values, edges, _ = outline.get_data()
    assert (values[8], values[14], values.sum()) == (20, 15, 35)
    np.testing.assert_allclose(edges, np.linspace(0, 1, BINS + 1))
    assert top.get_xlim() == pytest.approx((8 / BINS, 1.0))


def test_learners_without_probabilities_have_no_line():
    bins = [[10, 4, 0.7, 3]]
    cells = [cell(DD, rep, 5, reliability=bins) for rep in (0, 1)] + [cell(SS, rep, 5) for rep in (0, 1)]
    top, _ = made(cells, (DD, SS)).draw().axes
    assert line_named(top, "OMKC(D,D)")
    assert not [line for line in top.get_lines() if "OMKC(S,S)" in str(line.get_label())]
    with pytest.raises(UserError, match=r"no stored cell has probabilities; .*calibration=platt"):
        made([cell(SS, rep, 5) for rep in (0, 1)], (SS,))


def test_more_lines_and_sets_than_fit_are_named():
    many = tuple(setting("omkc_dd", beta=n / 20) for n in range(1, 15))
    cells = [cell(which, rep, 5, reliability=[[10, 4, 0.7, 3]]) for which in many for rep in (0, 1)]
    plan = expected(many, ("wdbc",), 2, yardsticks=())
    figure = reliability_diagram(frame(*cells), plan)
    assert "drawn: the first 10 of 14 learners" in figure.note
    assert len(figure.draw().axes[0].get_lines()) == 11


def test_the_command_draws_what_a_run_stored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(X[:, 0] > 0, "yes", "no")).to_csv(
        "t.csv", index=False
    )
    words = ["algo=perceptron", "data=t.csv", "reps=2", "store=s", "yardsticks=[]", "exec=serial"]
    assert main(["run", *words, "calibration=platt"]) == 0
    assert (
        main(["figure", "calibration", *words, "calibration=platt", "--width", "3.3in", "--out", "c.png"])
        == 0
    )
    assert (tmp_path / "c.png").stat().st_size > 5000
    assert main(["run", *words]) == 0
    assert main(["figure", "calibration", *words]) == 2
    assert "no stored cell has probabilities" in capsys.readouterr().err
    numbers = ["algo=ridge", "data=t.csv", "label=a", "drop=y", "store=s"]
    assert main(["figure", "calibration", *numbers]) == 2
    assert "a figure of probabilities needs a classification" in capsys.readouterr().err

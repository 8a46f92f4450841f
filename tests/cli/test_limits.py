"""``omkl run --fail-above`` and ``--fail-below``: the exit code of a run that is worse than a number."""

import json

import pytest

from omkl.cli import main

RUN = ["run", "data=wdbc", "reps=2", "yardsticks=[majority]", "algo=arow,perceptron", "-q"]
RUN += ["--format", "json"]
pytestmark = pytest.mark.usefixtures("place")


@pytest.fixture
def means(capsys):
    """The means of the two learners, by measure."""
    assert main(RUN) == 0
    rows = json.loads(capsys.readouterr().out)["summary"]
    assert [row["algo"] for row in rows] == ["arow", "perceptron", "majority"]
    return {
        name: [row[f"{name}_mean"] for row in rows[:2]] for name in ("mistake_pct", "auc", "balanced_pct")
    }


def test_a_run_within_its_limits_ends_with_0(means, capsys):
    limits = ["--fail-above", f"mistakes={max(means['mistake_pct'])!r}"]  # a mean at the limit is within
    limits += ["--fail-below", f"auc={min(means['auc']) - 0.0001}"]
    assert main([*RUN, *limits]) == 0
    out, err = capsys.readouterr()
    assert "worse" not in err
    assert json.loads(out)["summary"]


def test_rows_that_are_worse_are_named_and_yardsticks_are_not(means, capsys):
    arow, perceptron = means["mistake_pct"]
    assert arow < perceptron
    assert main([*RUN, "--fail-above", f"mistakes={(arow + perceptron) / 2}"]) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("omkl: worse than --fail-above mistakes=")
    assert f"Perceptron on wdbc has {perceptron:.2f}" in said
    assert "AROW" not in said
    assert "Majority" not in said  # it errs most


def test_more_auc_is_better_and_several_limits_have_a_sentence_each(means, capsys):
    worst = min(means["auc"])
    limits = ["--fail-below", f"auc={worst + 0.0001}", "--fail-above", "mistakes=0,balanced=100"]
    assert main([*RUN, *limits]) == 1
    above, below = capsys.readouterr().err.splitlines()
    assert "--fail-above mistakes=0 allows: AROW on wdbc" in above
    assert f"has {worst:.4f}" in below
    assert below.count(" on wdbc") == sum(value == worst for value in means["auc"])


def test_a_row_without_the_measure_has_not_passed(capsys):
    assert main([*RUN, "--fail-above", "log_loss=9"]) == 1
    assert "AROW on wdbc has no log_loss" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--fail-above mistake=3", "no measure 'mistake' (did you mean 'mistakes'?)"),
        ("--fail-above auc=0.9", "a larger value is better; write --fail-below auc=0.9"),
        ("--fail-below mistakes=3", "a smaller value is better; write --fail-above mistakes=3"),
        ("--fail-above rmse=3", "rmse is a measure of a regression, and the task is classification"),
        ("--fail-above mistakes", "must be MEASURE=NUMBER, such as mistakes=12, got 'mistakes'"),
        ("--fail-above mistakes=nan", "must be MEASURE=NUMBER"),
        ("--fail-above =3", "must be MEASURE=NUMBER"),
        ("--fail-above mistakes=few", "must be MEASURE=NUMBER"),
    ],
)
def test_a_limit_that_cannot_be_is_said_before_any_work(words, said, place, capsys):
    assert main([*RUN, *words.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    assert not (place / "results").exists()

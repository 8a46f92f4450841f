"""`omkl sweep`: the table, the best settings and the figure, for real with the cheapest learners."""

import pytest

from omkl.cli import main

pytestmark = pytest.mark.usefixtures("place")


def test_sweep_prints_grid_and_best_and_draws(place, capsys):
    words = ["algo=arow", "data=wdbc", "reps=2", "yardsticks=[]", "algo.r=1,10,100"]
    assert main(["sweep", *words, "--out", "r.png"]) == 0
    out, err = capsys.readouterr()
    assert "best setting" in out
    assert "wrote r.png" in err
    assert (place / "r.png").read_bytes().startswith(b"\x89PNG")
    assert main(["figure", "sweep", *words, "--out", "again.pdf"]) == 0
    assert (place / "again.pdf").read_bytes().startswith(b"%PDF")
    assert "no setting has several values" not in capsys.readouterr().err


def test_a_sweep_of_no_values_is_a_run(capsys):
    words = ["algo=arow,perceptron", "data=wdbc", "reps=2", "yardsticks=[majority]"]
    assert main(["run", *words]) == 0
    table = capsys.readouterr().out
    assert main(["sweep", *words]) == 0
    out, err = capsys.readouterr()
    assert "no setting has several values, so this is a plain run" in err
    assert "wrote" not in err
    assert out == table
    assert main(["figure", "sweep", *words, "--out", "one.png"]) == 0
    assert "no setting has several values; give a key several values" in capsys.readouterr().err


def test_a_sweep_of_pools_has_a_best_one(capsys):
    words = ["algo=omkc_dd", "data=wdbc", "reps=1", "yardsticks=[]", "pool=paper16,laplace13"]
    assert main(["sweep", *words, "--out", "pools.png"]) == 0
    out, err = capsys.readouterr()
    assert "best setting" in out
    assert "no setting has several values" not in err
    assert "wrote pools.png" in err

"""rounds=START:STOP: a part of each repetition, which is part of a cell's key only where it is given."""

import pytest

from omkl.cli import main
from omkl.config import plan
from omkl.data.orders import rounds_of
from omkl.errors import UserError
from omkl.runs.cells import expand
from omkl.runs.runner import run_plan
from omkl.schema import domain_check
from omkl.store.store import Store


@pytest.fixture
def ran(tmp_path):
    def run(*words, reps=2):
        words = [f"reps={reps}", "data=wdbc", "yardsticks=[]", f"store={tmp_path}", *words]
        made = plan(words)
        return run_plan(made, progress=False, jobs=1).cells, Store(made.store), made

    return run


def test_the_first_rounds_are_those_of_the_whole_pass(ran):
    whole, store, _ = ran("algo=arow")
    curves = store.curves(whole["key"])
    place = 40
    t = curves[whole["key"][0]]["t"][place]
    part, _, made = ran("algo=arow", f"rounds={t}")
    assert part["mistakes"].tolist() == [curves[key]["mistakes"][place] for key in whole["key"]]
    assert part["T"].tolist() == [t, t]
    assert part["permutation_seed"].tolist() == whole["permutation_seed"].tolist()
    assert part["rounds"].tolist() == [[0, t]] * 2
    assert made.rounds == f"0:{t}"
    rest, _, _ = ran("algo=arow", f"rounds={t}:")
    assert rest["T"].tolist() == [569 - t] * 2
    assert len({*whole["key"], *part["key"], *rest["key"]}) == 6
    assert ran("algo=arow", "rounds=:9999")[0]["key"].tolist() == whole["key"].tolist()  # all of them


def test_a_learner_that_chooses_kernels_by_the_stream_sees_the_part_only(ran):
    words = ("algo=perceptron_star", "algo.select=hindsight", "pool=gauss3")
    cells, _, _ = ran(*words, "rounds=100:160", reps=1)
    assert cells["T"].tolist() == [60]


def test_rows_of_different_parts_are_apart(ran, capsys):
    _, store, _ = ran("algo=arow", "rounds=100")
    ran("algo=arow", "rounds=200")
    assert main(["results", "list", f"store={store.path}", "--format", "csv"]) == 0
    listed = capsys.readouterr().out
    assert "permuted 0:100" in listed
    assert "permuted 0:200" in listed
    assert main(["run", "algo=arow", "data=wdbc", "reps=2", "rounds=100", f"store={store.path}"]) == 0
    assert "rounds 0:100 · seed 1 · 2 repetitions · wdbc: 100 examples" in capsys.readouterr().out


def test_more_rounds_than_there_are_are_said(tmp_path, capsys):
    words = ["algo=arow", "data=wdbc,drift", "reps=1", "yardsticks=[]", "rounds=600", f"store={tmp_path}"]
    assert main(["run", *words]) == 0
    assert capsys.readouterr().out.count("fewer than rounds=") == 1
    assert plan(words).about_data == ("wdbc has 569 examples, fewer than rounds=0:600 asks for",)


def test_what_may_be_written():
    check = domain_check("rounds or null")
    assert [check(value) for value in (5, "5:", ":7", "2:7", None)] == ["0:5", "5:", "0:7", "2:7", None]
    for value in (0, -1, 1.5, True, "5", "a:b", "7:2", "3:3", "1:2:3"):
        with pytest.raises(ValueError, match="must be a number of rounds"):
            check(value)
    assert rounds_of("0:5", 9, "x") == (0, 5)
    assert rounds_of("0:50", 9, "x") is None
    assert rounds_of("3:50", 9, "x") == (3, 9)
    with pytest.raises(UserError, match="rounds=9:: data=x has 9 examples"):
        rounds_of("9:", 9, "x")
    with pytest.raises(UserError, match="data=wdbc has 569 examples"):
        expand(plan(["algo=arow", "data=wdbc", "rounds=600:"]))


def test_bounds_are_those_of_the_whole_stream(capsys):
    assert main(["bounds", "algo=omkc_dd", "data=wdbc", "rounds=50"]) == 2
    assert "whole data set" in capsys.readouterr().err

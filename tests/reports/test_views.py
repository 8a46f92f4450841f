"""What a reader chooses of a table: order of the rows, columns, width; and best values at an edge."""

import pandas as pd
import pytest
from support.reports_cells import (
    SPECS,
    YARDSTICKS,
    expected,
    frame,
    repetitions,
    report,
    setting,
    study,
    sweep_report,
)

from omkl.config import learner_spec
from omkl.config.planned import Group
from omkl.errors import UserError
from omkl.reports.results_table import TableOptions
from omkl.reports.rows import Row, by_count
from omkl.reports.summary import top_kernels
from omkl.reports.table import Table
from omkl.reports.table_cells import WIDTH
from omkl.store.fields import with_extra

DD, SS = setting("omkc_dd"), setting("omkc_ss")
EXPECTED = expected((DD, SS), ("wdbc",), 3)
CELLS, _ = study((DD, SS, *YARDSTICKS), {"wdbc": 300}, 3)


@pytest.fixture
def narrow():
    """Make the terminal as wide as the test says."""
    tokens = []
    yield lambda width: tokens.append(WIDTH.set(width))
    for token in reversed(tokens):
        WIDTH.reset(token)


def labels(text: str) -> list[str]:
    """The learners of a table, in order."""
    rows = [line for line in text.split("\n\n")[1].splitlines()[2:] if "---" not in line]
    return [line.replace("wdbc", "").strip().split("  ")[0] for line in rows]


def values(by: str) -> list[list[float]]:
    """The sorted column of the learners, and of the yardsticks."""
    from omkl.reports.summary import summary_of

    table = TableOptions(by).sorted(summary_of(CELLS, EXPECTED))
    name = {"mistakes": "mistake_pct_mean", "seconds": "seconds_mean", "sv": "n_sv_sum_mean"}[by]
    return [table[table["is_yardstick"] == own][name].tolist() for own in (False, True)]


@pytest.mark.parametrize("by", ["mistakes", "seconds", "sv"])
def test_rows_are_sorted_with_the_yardsticks_below(by):
    for part in values(by):
        assert part == sorted(part)
    assert sum(map(len, values(by))) == 5


def test_columns_are_chosen_added_and_left_out():
    def header(*columns: str) -> list[str]:
        text = report(CELLS, EXPECTED, options=TableOptions(columns=columns))
        return text.split("\n\n")[1].splitlines()[0].split()

    usual = header()
    assert header("learner", "mistakes", "kernel") == ["learner", "mistake", "%", "kernel"]
    assert header("+kernel", "-union") == [*(name for name in usual if name != "union"), "kernel"]
    assert header("T", "m", "learner") == ["T", "m", "learner"]
    with pytest.raises(UserError, match=r"--columns \+kernl: no such column \(did you mean 'kernel'\?\)"):
        header("+kernl")
    with pytest.raises(UserError, match="--columns has no effect with --format csv"):
        report(CELLS, EXPECTED, "csv", TableOptions(columns=("kernel",)))


def test_memory_is_a_column_on_request():
    cells = CELLS.assign(memory=[3 * 2**19] * (len(CELLS) - 1) + [None])  # the last is of an older version
    text = report(cells, EXPECTED, options=TableOptions(columns=("learner", "memory")))
    assert {row.split()[-1] for row in text.split("\n\n")[1].splitlines()[2:]} == {"1.5", "–", "-----"}
    assert "arrays of state, stream and trace" in text
    assert "MiB" not in report(cells, EXPECTED)


def winner(cells: list[dict]) -> str:
    row = Row("d", Group("d", "", "permuted", "", ""), DD, False, cells=list(range(len(cells))))
    return top_kernels(by_count([row]), 1, with_extra(pd.DataFrame(cells)))[0]


def test_the_winner_is_the_kernel_of_the_largest_weight():
    pool = {"normalise": "none", "kernels": [{"kind": "linear"}, {"kind": "gaussian", "sigma": 2.0}]}

    def cell(*weights: float) -> dict:
        return {"weights": list(weights) or None, "params": {}, "pool_spec": pool}

    assert winner([cell(0.2, 0.8), cell(0.1, 0.3)]) == "gaussian(sigma=2)"
    assert winner([cell(0.9, 0.1), cell(-0.9, 0.1), cell(0.1, 0.3)]) == "linear 2/3"
    assert winner([cell(), cell(1.0)]) == "–"  # no weights, or of kernels that the learner chose
    own = {"weights": None, "params": {"kernel": {"kind": "linear"}}, "pool_spec": None}
    assert winner([own]) == "linear"
    pool["kernels"] += [{"kind": "linear", "scale": 1.0}]  # the same as the first
    assert winner([cell(0, 1, 0), cell(1, 0, 0), cell(0, 0, 1)]) == "linear 2/3"
    assert winner([cell(0, 1, 0), cell(1, 0, 0)]) == "gaussian(sigma=2) 1/2"


def test_a_narrow_table_fits_and_says_what_is_not_shown(narrow):
    wide = report(CELLS, EXPECTED)
    assert max(map(len, wide.splitlines())) > 79
    narrow(72)
    text = report(CELLS, EXPECTED)
    assert max(map(len, text.splitlines())) <= 72
    assert "3 repetitions" in text.partition("\n\n")[0].replace("\n", " ")  # in place of its column
    assert labels(text) == labels(wide)
    narrow(50)
    text = report(CELLS, EXPECTED)
    assert max(map(len, text.splitlines())) <= 50
    assert "not shown" in text
    assert "union" not in text.split("\n\n")[1]
    narrow(200)
    assert report(CELLS, EXPECTED) == wide


def test_incomplete_repetitions_are_never_left_out(narrow):
    narrow(40)
    some = report(CELLS[CELLS["rep"] < 2], EXPECTED)
    assert "! 2/3" in some


def test_lists_wrap_and_leave_out_what_is_empty_or_least(narrow):
    rows = [{"name": "a", "about": "some words " * 9, "none": "", "count": 3, "source": "x" * 30}]
    wide = Table.of(rows, least=["source"]).render()
    assert "none" in wide
    narrow(60)
    text = Table.of(rows, least=["source"]).render()
    assert max(map(len, text.splitlines())) <= 60
    assert "none" not in text
    assert text.count("some words") >= 6
    narrow(40)
    text = Table.of(rows, least=["source"]).render()
    assert "x" * 5 not in text
    assert "not shown  source: hidden to fit the terminal" in " ".join(text.split(" ")).replace(
        "\n" + " " * 11, " "
    )
    assert Table.of(rows).render("csv").count("\n") == 2


def sweep_of(mistakes: dict[float, int | list[int]]) -> str:
    settings = [setting("omkc_dd", beta=beta) for beta in mistakes]
    pairs = zip(settings, mistakes.values(), strict=True)
    lines = [line for one, own in pairs for line in repetitions(one, own if type(own) is list else [own] * 3)]
    about = expected(tuple(settings), ("wdbc",), 3, specs=SPECS | {"omkc_dd": learner_spec("omkc_dd")})
    return sweep_report(frame(*lines), about).replace("\n  ", " ")


def test_a_best_value_at_the_edge_of_its_grid_is_remarked():
    remark = "OMKC(D,D) on wdbc: the best beta, 0.7, is the largest of its grid; try larger values too"
    assert remark in sweep_of({0.3: 90, 0.5: 80, 0.7: 70})
    assert "beta, 0.1, is the smallest of its grid; try smaller" in sweep_of({0.1: 60, 0.5: 80, 0.7: 70})
    for inside in ({0.3: 90, 0.5: 60, 0.7: 70}, {0.3: 90, 0.5: 70, 0.7: 70}, {0.3: 90, 0.7: 70}):
        assert "of its grid" not in sweep_of(inside)
    equal = {0.3: [60, 64, 64], 0.5: [61, 64, 63], 0.7: 90}  # rates differ in their last bits
    assert "of its grid" not in sweep_of(equal)
    assert "of its grid" not in sweep_of({0.3: 90, 0.5: 80, 1.0: 70})  # the domain ends there


def test_a_swept_kernel_and_the_one_of_the_largest_weight_have_headers_of_their_own():
    settings = [setting("perceptron", kernel={"kind": kind}) for kind in ("linear", "gaussian")]
    cells = frame(*(line for one in settings for line in repetitions(one, [10, 20])))
    about = expected(tuple(settings), ("wdbc",), 2, swept=("algo.kernel",))
    heads = [
        sweep_report(cells, about, options=TableOptions(columns=columns)).split("data  ")[1].splitlines()[0]
        for columns in ((), ("+kernel",))
    ]
    assert [head.count("kernel") for head in heads] == [1, 1]
    assert ["largest weight" in head for head in heads] == [False, True]


def test_a_column_that_was_added_stays_where_others_make_room(narrow):
    narrow(64)
    text = report(CELLS, EXPECTED, options=TableOptions(columns=("+union",)))
    head = text.split("\n\n")[1].splitlines()[0]
    assert "union" in head
    assert "combined" not in head
    assert max(map(len, text.splitlines())) <= 64


def test_an_unknown_column_is_refused_before_any_cell_runs(tmp_path, capsys):
    from omkl.cli import main

    words = ["algo=omkc_dd", "data=wdbc", f"store={tmp_path / 's'}", "algo.beta=0.5,0.6", "reps=1"]
    for command, wrong in (("run", "+kernl"), ("run", "beta"), ("sweep", "bta")):
        own = words if command == "sweep" else [word for word in words if "beta" not in word]
        assert main([command, *own, "--columns", wrong]) == 2
        assert f"--columns {wrong}: no such column" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
    assert main(["sweep", *words, "--columns", "beta,mistakes,auc,f1", "--dry-run"]) == 0
    assert main(["sweep", *words, "--columns", "beta,mistakes,nlpd"]) == 2  # of another task

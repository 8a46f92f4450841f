"""Words that mean the same are one: grids in equal factors, by and measure, data with and without dashes."""

import pytest

from omkl.cli import _in_one_spelling
from omkl.cli.parser import build_parser
from omkl.config.words import of_values, parse_words
from omkl.errors import UserError

COMMANDS = build_parser().commands


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("log(1e-4,1e-1,4)", (1e-4, 1e-3, 1e-2, 1e-1)),
        ("log(1e-4, 1e-1, 4)", (1e-4, 1e-3, 1e-2, 1e-1)),
        ("log(1,100,3)", (1, 10, 100)),
        ("log(100,1,3)", (100, 10, 1)),
        ("log(2,32,5)", (2, 4, 8, 16, 32)),
        ("log(0.5,8,2)", (0.5, 8)),
        ("log(3,3,2)", (3, 3)),
    ],
)
def test_a_grid_in_equal_factors(text, values):
    assert parse_words([f"algo.delta={text}"])["algo.delta"].values == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("logspace(-4,-1,4)", r"are written log\(0\.0001,0\.1,4\)"),
        ("geomspace(1e-4,1,5)", r"are written log\(0\.0001,1,5\)"),
        ("log(0,1,4)", "both ends above 0"),
        ("log(1,-1,4)", "both ends above 0"),
        ("log(1,2)", r"write log\(START,STOP,COUNT\)"),
        ("log(1,2,1)", "2 to 100000 values"),
        ("log(1,2,x)", r"write log\(START,STOP,COUNT\)"),
        ("log(1,inf,3)", "both ends above 0"),
        ("log()", r"write log\(START,STOP,COUNT\)"),
    ],
)
def test_what_is_no_such_grid_is_told_how_to_write_one(text, said):
    with pytest.raises(UserError, match=said):
        parse_words([f"algo.delta={text}"])


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("run algo=arow by=auc", "run algo=arow --by auc"),
        ("run algo=arow measure=auc", "run algo=arow --by auc"),
        ("run algo=arow --measure auc", "run algo=arow --by auc"),
        ("run algo=arow --by=auc", "run algo=arow --by auc"),
        ("sweep --data wdbc algo=arow", "sweep data=wdbc algo=arow"),
        ("run --data=wdbc algo=arow", "run data=wdbc algo=arow"),
        ("tune algo=arow --by auc", "tune algo=arow by=auc"),
        ("tune algo=arow measure=auc", "tune algo=arow by=auc"),
        ("tune algo=arow --data wdbc", "tune algo=arow data=wdbc"),
        ("tune today data=german", "tune today --data german"),
        ("figure curve algo=arow --by n_sv_sum", "figure curve algo=arow by=n_sv_sum"),
        ("figure curve --data wdbc by=mae", "figure curve data=wdbc by=mae"),
        ("figure omkc/1 data=wdbc", "figure omkc/1 --data wdbc"),
        ("figure --quick omkc/1 --data wdbc", "figure --quick omkc/1 --data wdbc"),
        ("table --data wdbc omkc/3", "table --data wdbc omkc/3"),
        ("table omkc/3 data=wdbc,german", "table omkc/3 --data wdbc,german"),
        ("claims omkc data=wdbc", "claims omkc --data wdbc"),
        ("report omkc data=wdbc", "report omkc --data wdbc"),
        ("report algo=arow --data wdbc measure=auc", "report algo=arow data=wdbc --by auc"),
        ("status --data wdbc", "status data=wdbc"),
        ("fit --data wdbc --out m.omkl", "fit data=wdbc --out m.omkl"),
        ("run algo=arow --by", "run algo=arow --by"),
        ("predict m.omkl data", "predict m.omkl data"),
        ("list data", "list data"),
    ],
)
def test_by_measure_and_data_are_understood_in_each_spelling(typed, understood):
    assert _in_one_spelling(typed.split(), COMMANDS) == understood.split()


def test_an_empty_list_is_one_from_python_too():
    assert of_values({"yardsticks": "[]"})["yardsticks"].names([]) == []
    assert of_values({"drop": "[]"})["drop"].values == parse_words(["drop=[]"])["drop"].values

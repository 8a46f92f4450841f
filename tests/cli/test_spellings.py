"""Words that mean the same are one: grids in equal factors; by and data are words."""

import pytest

from omkl.cli import main
from omkl.config.words import of_values, parse_words
from omkl.errors import UserError


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
    ("typed", "said"),
    [
        ("run algo=arow --by auc", "--by: settings have no dashes; write by=auc"),
        ("run algo=arow --by=auc", "--by=auc: settings have no dashes; write by=auc"),
        ("tune algo=arow --by auc", "--by: settings have no dashes; write by=auc"),
        ("table omkc/3 --data wdbc", "--data: settings have no dashes; write data=wdbc"),
        ("figure omkc/1 --data=wdbc", "--data=wdbc: settings have no dashes; write data=wdbc"),
        ("run algo=arow by=auc by=mae", "by=mae: given twice"),
        ("table omkc/3 data=", "data=: the value is missing"),
        ("table omkc/3 data=wdbc data=german", "data=german: given twice"),
        ("report omkc by=auc", "by= needs a report of settings (KEY=VALUE), not of a paper"),
        ("status by=auc", "by=auc: unknown key 'by'"),
        ("tune tody data=german", "tody: no such page (did you mean 'today'?)"),
    ],
)
def test_by_and_data_are_words_alone(typed, said, capsys):
    assert main(typed.split()) == 2
    assert said in capsys.readouterr().err


def test_an_empty_list_is_one_from_python_too():
    assert of_values({"yardsticks": "[]"})["yardsticks"].names([]) == []
    assert of_values({"drop": "[]"})["drop"].values == parse_words(["drop=[]"])["drop"].values

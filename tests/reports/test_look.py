"""What is understood of a file, column by column, before a run."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from omkl import look
from omkl.cli import main
from omkl.data import data_files

TEXT = "id,when,clock,home,name,size,bought\n" + "".join(
    f"r{n},2024-01-{n + 1:02d},{n % 24}:30,{'rented' if n % 3 else 'owned'},name {n},"
    f"{n / 4 if n != 7 else ''},{'no' if n % 2 else 'yes'}\n"
    for n in range(30)
)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(TEXT)
    return "my.csv"


def test_each_column_has_a_row(path):
    table = look(path, ["id=id"])
    rows = {row["column"]: row for row in table.records}
    assert {name: (row["kind"], row["use"]) for name, row in rows.items()} == {
        "id": ("words", "names the rows"),
        "when": ("dates", "4 features: days, month, day, weekday"),
        "clock": ("times", "a feature"),
        "home": ("words", "2 features, one for each word"),
        "name": ("words", "left out (30 different words in 30 rows are too many)"),
        "size": ("numbers", "a feature, the mean of the rows before in gaps"),
        "bought": ("words", "label: classes"),
    }
    assert rows["when"]["values"] == "2024-01-01 to 2024-01-30"
    assert rows["clock"]["values"] == "0.5 to 23.5"
    assert rows["home"]["values"] == "rented (20), owned (10)"
    assert (rows["size"]["gaps"], rows["size"]["to change"]) == (1, "drop=size")
    command = "omkl run algo=auto data=my.csv label=bought id=id missing=online task=classification"
    assert table.findings[-1] == f"To run it: {command}"
    strict = look(path, ["id=id", "missing=error"])
    size = next(row for row in strict.records if row["column"] == "size")
    assert (size["use"], size["to change"]) == ("stops a run: gaps", "missing=mean, missing=drop, drop=size")
    assert "A run stops: my.csv:9: column 'size' has no value" in strict.text()
    assert "To run it" not in strict.text()
    right = look(path, id=["id"], missing="mean", label="bought", dates="drop", categorical="onehot")
    assert "A run gets 30 rows with 33 features." in right.text()
    assert "left out (dates=drop)" in right.text()
    assert "<td" in right._repr_html_()
    target = look(path, ["label=size", "task=regression", "missing=drop"]).records[5]
    assert (target["use"], target["values"]) == (
        "label: a number to predict, rows without it left out",
        "0 to 7.25",
    )


@pytest.mark.parametrize(
    ("cells", "words", "use", "helps"),
    [
        (["1,5", "2,5", "3"], [], "'1,5' is in another notation", "drop=a, decimal=,"),
        (["1,518", "2,518"], [], "'1,518' is in another notation", "drop=a, decimal=, or thousands=,"),
        (["1.234,5", "2.234,5"], ["categorical=onehot"], "'1.234,5' is in", "drop=a, decimal=, thousands=."),
        (["1,5", "2.5"], [], "'1,5' is in another notation", "drop=a"),
        (["12 %", "3 %"], [], "'12 %' is a percentage", "drop=a"),
        (["1", "2", "oops", "4"], [], "'oops' is no number", "drop=a, na=oops"),
        (["u", "v"], ["categorical=error"], "'u' is no number", "drop=a, categorical=onehot"),
        (
            ["1", "2", "oops", ""],
            [],
            "'oops' is no number",
            "drop=a, na=oops",
        ),
        (["u", "v"] * 10, [], None, "drop=a, categorical=error"),
        (["1", "2", "oops", "4"], ["categorical=onehot"], None, "drop=a, categorical=error"),
    ],
)
def test_words_that_stop_a_run_are_said_to(path, cells, words, use, helps):
    text = "".join(f"{cell};{place % 2}\n" for place, cell in enumerate(cells))
    Path("words.csv").write_text("a;y\n" + text)
    table = look("words.csv", words)
    row = table.records[0]
    assert row["to change"].startswith(helps)
    assert ("A run stops" in table.text()) == (use is not None)
    assert row["use"].startswith(
        f"stops a run: {use}" if use else f"{len(set(cells))} features, one for each"
    )


def test_the_command_reads_standard_input(path, capsys, monkeypatch):
    data_files.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode()), encoding="utf-8"))
    assert main(["data", "look", "-", "missing=mean", "--format", "json"]) == 0
    assert [row["gaps"] for row in json.loads(capsys.readouterr().out)] == [0, 0, 0, 0, 0, 1, 0]
    data_files.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert main(["data", "look", "-"]) == 2
    assert "standard input holds nothing" in capsys.readouterr().err
    data_files.standard_input.cache_clear()


def test_data_without_names_are_summed_up(path, capsys):
    np.savez("my.npz", data=np.array([[0, 1.5], [2, 0]]), target=np.array(["no", "yes"]))
    label, features = look("my.npz").records
    assert (label["values"], features["column"], features["values"]) == (
        "no (1), yes (1)",
        "1 to 2",
        "0 to 2",
    )
    assert main(["data", "look", "my.npz", "header=yes"]) == 2
    assert "data=my.npz: header=yes is for delimited text" in capsys.readouterr().err
    assert main(["data", "look", path, "my.npz"]) == 2
    assert "name one file" in capsys.readouterr().err

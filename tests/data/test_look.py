"""What is understood of a file, column by column, before a run."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import omkl
from omkl import look
from omkl.cli import main
from omkl.data.reading import opening
from omkl.errors import UserError

TEXT = "id,when,hour,home,name,size,bought\n" + "".join(
    f"r{n},2024-01-{n + 1:02d},{n % 24 + 0.5},{'rented' if n % 3 else 'owned'},name{n}x,"
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
    stop = "A run stops: my.csv: no column is called label, class, target or y; name the label's column"
    assert table.findings[0].startswith(
        f"{stop} with label=COLUMN; the columns are id, when, hour, home, name, "
    )
    assert table.findings[1:] == ["To run it: omkl run algo=auto data=my.csv id=id label=COLUMN"]
    table = look(path, ["id=id", "label=bought"])
    rows = {row["column"]: row for row in table.records}
    assert {name: (row["kind"], row["use"]) for name, row in rows.items()} == {
        "id": ("words", "names the rows"),
        "when": ("dates", "4 features: days, month, day, weekday"),
        "hour": ("numbers", "a feature"),
        "home": ("words", "2 features, one for each word"),
        "name": ("words", "left out (30 different words in 30 rows are too many)"),
        "size": ("numbers", "a feature, gaps: the mean of the rows seen"),
        "bought": ("words", "label: classes"),
    }
    assert rows["when"]["values"] == "2024-01-01 to 2024-01-30"
    assert rows["hour"]["values"] == "0.5 to 23.5"
    assert rows["home"]["values"] == "rented (20), owned (10)"
    assert rows["size"]["gaps"] == 1
    assert "A run gets 30 rows with 8 features." in table.findings
    command = "omkl run algo=auto data=my.csv label=bought id=id order=file task=classification"
    assert table.findings[-1] == f"To run it: {command}"  # the rows are in the order of their dates
    strict = look(path, ["id=id", "missing=error", "label=bought"])
    size = next(row for row in strict.records if row["column"] == "size")
    assert size["use"] == "stops a run: gaps"
    assert "A run stops: my.csv: row 8: column 'size' has no value" in strict.text()
    assert "To run it" not in strict.text()
    assert "<td" in strict._repr_html_()
    target = look(path, ["label=size", "task=regression", "missing=drop"]).records[5]
    assert (target["use"], target["values"]) == (
        "label: a number to predict, rows without it left out",
        "0 to 7.25",
    )


def test_a_notation_without_a_line_leaves_a_comment_in_the_script(tmp_path):
    (tmp_path / "own.csv").write_text("a,y\n(3),x\n(4),y\n(5),x\n(6),y\n")
    script = look(str(tmp_path / "own.csv"), label="y").findings[-3]
    assert script.startswith("These lines of Python, with yours in place of comments, write own-mended.csv")


def test_all_stops_are_found_at_once_and_one_script_mends_them(path, tmp_path):
    rows = [
        f"{n};{'unbekannt' if n % 9 == 0 else 1900 + n};{n + 0.5:.1f} m;{50 + n},7;"
        f"{12 + n % 9}.07.{1990 + n % 20};{100 + n % 7}.620,13"
        for n in range(60)
    ]
    text = "Nr;gebaut;Höhe;Fläche;verkauft;Preis (€)\n" + "\n".join(rows) + "\n"
    Path("houses.csv").write_bytes(text.encode("cp1252"))
    with pytest.raises(UserError, match=r"read\.encoding=cp1252 may read it"):
        look("houses.csv")
    table = look("houses.csv", ["read.encoding=cp1252"])
    said = [own for own in table.findings if "A run stops" in own]
    assert [own.partition("column '")[2].partition("'")[0] for own in said[1:]] == [
        *("gebaut", "Höhe", "Fläche", "verkauft", "Preis (€)")
    ]
    script, then, drop = table.findings[-3:]
    lines = [line.strip() for line in script.splitlines()[1:]]
    assert lines[0] == "import pandas"
    assert lines[-1] == "frame.to_csv('houses-mended.csv', index=False)"
    assert then == "To run that: omkl run algo=auto data=houses-mended.csv label=COLUMN"
    assert drop.startswith(
        "Dropping them instead loses what gebaut, Höhe, Fläche, verkauft, Preis (€) hold: "
    )
    exec("\n".join(lines), {})
    words = then.removeprefix("To run that: omkl run ").partition(" label=")[0]
    made = omkl.run(words, label="Preis (€)", reps=1, yardsticks=[], store="s", exec="serial", progress=False)
    assert made.cells.task[0] == "regression"
    mended = look("houses-mended.csv", label="Preis (€)")
    assert [row["kind"] for row in mended.records] == [
        "numbers",
        "numbers",
        "numbers",
        "numbers",
        "dates",
        "numbers",
        "words",
    ]


def test_the_command_that_drops_runs_too(path):
    Path("units.csv").write_text("a,b,y\n" + "".join(f"{n} %,{n / 3},{n % 2}\n" for n in range(40)))
    command = look("units.csv").findings[-1].rpartition(": ")[2]
    assert command == "omkl run algo=auto data=units.csv drop=a"
    made = omkl.run(
        "algo=arow data=units.csv drop=a", reps=1, yardsticks=[], store="s", exec="serial", progress=False
    )
    assert made.cells["T"][0] == 40
    frame = look(pd.DataFrame({"a": ["1 %", "2 %"] * 9, "b": range(18), "y": [0, 1] * 9}))
    assert frame.findings[-1] == "Or leave out what stops it: omkl run algo=auto data=data drop=a"


@pytest.mark.parametrize("text", ["a,b,y\n1,2,0\n3,1,4,5\n", 'a,b,y\n1,"2,0\n', ""])
def test_what_cannot_be_read_at_all_is_an_error(path, text):
    Path("odd.csv").write_text(text)
    with pytest.raises(UserError, match=r"odd\.csv: "):
        look("odd.csv")


def test_the_command_reads_standard_input(path, capsys, monkeypatch):
    opening.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode()), encoding="utf-8"))
    assert main(["data", "look", "-", "label=bought", "missing=drop", "--format", "json"]) == 0
    assert [row["gaps"] for row in json.loads(capsys.readouterr().out)] == [0, 0, 0, 0, 0, 1, 0]
    opening.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert main(["data", "look", "-"]) == 2
    assert "standard input is empty" in capsys.readouterr().err
    opening.standard_input.cache_clear()


def test_data_without_names_are_summed_up(path, capsys):
    np.savez("my.npz", X=np.array([[0, 1.5], [2, 0]]), y=np.array(["no", "yes"]))
    assert "my.npz: 2 rows, 2 features, no named columns" in str(look("my.npz"))
    assert main(["data", "look", "my.npz", "read.header=0"]) == 2
    assert "data=my.npz: read.header: .npz with X and y has no such keyword" in capsys.readouterr().err
    assert main(["data", "look", path, "my.npz"]) == 2
    assert "name one file" in capsys.readouterr().err

"""What is understood of a file, column by column, before a run."""

import io
import json
import sys
from pathlib import Path

import numpy as np
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
    assert (rows["size"]["gaps"], rows["size"]["to change"]) == (1, "drop=size")
    command = "omkl run algo=auto data=my.csv label=bought id=id missing=online task=classification"
    assert table.findings[-1] == f"To run it: {command}"
    strict = look(path, ["id=id", "missing=error", "label=bought"])
    size = next(row for row in strict.records if row["column"] == "size")
    assert (size["use"], size["to change"]) == ("stops a run: gaps", "missing=mean, missing=drop")
    assert "A run stops: my.csv:9: column 'size' has no value" in strict.text()
    assert "To run it" not in strict.text()
    right = look(path, id=["id"], missing="mean", label="bought", dates="drop", categorical="onehot")
    assert "A run gets 30 rows with 34 features." in right.text()
    assert "left out (dates=drop)" in right.text()
    assert "<td" in right._repr_html_()
    target = look(path, ["label=size", "task=regression", "missing=drop"]).records[5]
    assert (target["use"], target["values"]) == (
        "label: a number to predict, rows without it left out",
        "0 to 7.25",
    )


@pytest.mark.parametrize(
    ("cells", "helps"),
    [
        (["1,5", "2,5", "3"], "decimal=,"),
        (["1,518", "2,518"], "decimal=,"),
        (["1.234,5", "2.234,5"], "thousands=. decimal=,"),
        (["1,5", "2.5"], "drop=a"),
        (["12 %", "3 %"], "drop=a"),
        (["1", "2", "oops", "4"], "na=oops"),
        (["1", "2", "oops", ""], "na=oops"),
    ],
)
def test_what_stops_a_run_is_said_with_what_helps(path, cells, helps):
    text = "".join(f"{cell};{place};{place % 2}\n" for place, cell in enumerate(cells))
    Path("words.csv").write_text("a;b;y\n" + text)
    table = look("words.csv")
    assert (table.records[0]["use"], table.records[0]["to change"]) == ("stops a run, see below", helps)
    (stop,) = (said for said in table.findings if said.startswith("A run stops"))
    assert "column 'a' holds" in stop
    helps = "label=y drop=a" if helps == "drop=a" else helps
    assert f" data=words.csv {helps} " in table.findings[-1].replace("thousands=. decimal=, ", f"{helps} ")


def test_all_stops_are_found_at_once_and_the_last_command_runs(path, tmp_path):
    """As if each had been mended: encoding, label, notation, gaps, dates, units."""
    rows = [
        f"{n};{'unbekannt' if n % 9 == 0 else 1900 + n};{n + 0.5:.1f} m;{50 + n},7;12.07.{1990 + n % 20};"
        f"{100 + n % 7}.620,13"
        for n in range(60)
    ]
    text = "Nr;gebaut;Höhe;Fläche;verkauft;Preis (€)\n" + "\n".join(rows) + "\n"
    Path("houses.csv").write_bytes(text.encode("cp1252"))
    table = look("houses.csv")
    said = [own.removeprefix("A run stops: houses.csv:") for own in table.findings if "A run stops" in own]
    assert [
        part in own
        for own, part in zip(
            said,
            (
                "encoding=cp1252 reads it",
                "name the label's column",
                "decimal=, thousands=. reads it as 100620.13",
                "na=unbekannt takes it as a missing value",
                ".str.removesuffix(' m').astype(float)",
                "format='%d.%m.%Y'",
            ),
            strict=True,
        )
    ] == [True] * 6
    words = "encoding=cp1252 thousands=. decimal=, na=unbekannt 'label=\"Preis (€)\"' drop=Höhe,verkauft"
    command = table.findings[-1].removeprefix("To run it: omkl run ")
    assert command == f"algo=auto data=houses.csv {words} missing=online task=regression"
    made = omkl.run(command, reps=1, yardsticks=[], store="s", exec="serial", progress=False)
    assert made.cells.task[0] == "regression"


@pytest.mark.parametrize("text", ["a,b,y\n1,2,0\n3,1\n", 'a,b,y\n1,"2,0\n', "a,a,y\n1,2,0\n"])
def test_what_cannot_be_read_at_all_is_an_error(path, text):
    Path("odd.csv").write_text(text)
    with pytest.raises(UserError, match=r"odd\.csv:\d"):
        look("odd.csv")


def test_the_command_reads_standard_input(path, capsys, monkeypatch):
    opening.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode()), encoding="utf-8"))
    assert main(["data", "look", "-", "label=bought", "missing=mean", "--format", "json"]) == 0
    assert [row["gaps"] for row in json.loads(capsys.readouterr().out)] == [0, 0, 0, 0, 0, 1, 0]
    opening.standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert main(["data", "look", "-"]) == 2
    assert "standard input is empty" in capsys.readouterr().err
    opening.standard_input.cache_clear()


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

"""What is near numbers or dates stops a run; each line of pandas that a message advises mends its column."""

import datetime
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.workbooks import xlsx

import omkl
from omkl.data import find
from omkl.data.own_data import Own
from omkl.data.preparation import Preparation, Stop
from omkl.data.preparing.columns import DATE, NUMBERS, WORDS, Column, date_of
from omkl.data.preparing.recipe import choice_of
from omkl.data.preparing.user_table import table_of
from omkl.data.reading import opening
from omkl.data.reading.formats import ReadFrame
from omkl.errors import UserError

UNITS = ("%", "kg", "°C", "mg/l", "kWh", "s")
MONEY = ("$", "€", "US$", "GBP")
DATES = [  # forms of strftime in which the year is not first, or has two digits
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%m/%Y %H:%M"),
    *(
        "%m/%d/%Y %I:%M %p",
        "%d.%m.%Y %H:%M:%S",
        "%d %b %Y %H:%M",
        "%m/%Y",
        "%Y-%d-%m",
        "%Y-%b",
        "%b %Y",
        "%a, %d %b %Y",
    ),
]
DAYS = pd.date_range("2003-01-05", periods=20, freq="17D")
VALUES = [0.5 + n for n in range(20)]
KINDS = {  # columns of which every cell is of that kind
    "units": [[f"{number} {unit}" for number in VALUES] for unit in UNITS],
    "units without a blank": [[f"{number}{unit}" for number in VALUES] for unit in UNITS],
    "money": [[f"{mark}{number}" for number in VALUES] for mark in MONEY],
    "money after": [[f"{number} {mark}" for number in VALUES] for mark in MONEY],
    "powers of ten": [[f"{n + 0.5}{power[n % len(power)]}" for n in range(20)] for power in ("K", "kMB")],
    "two units": [[f"{number} {('kg', 'lb')[n % 2]}" for n, number in enumerate(VALUES)]],
    "dates": [[day.strftime(form) for day in DAYS] for form in DATES],
    "limits": [[f"{mark}{number}" for number in VALUES] for mark in ("<", "<=", "≥", "~")],
    "minus signs": [[f"{mark}{number}" for number in VALUES] for mark in "\u2212\u2013"],
    "times of day": [[f"{n}:{minute:02}" for n in range(1, 21)] for minute in (0, 20, 59)],
    "times with seconds": [[f"{n}:05:{minute:02}" for n in range(1, 21)] for minute in (0, 20, 59)],
    "thousands": [
        [f"{n}{mark}{n:03}{rest}" for n in range(100, 120)]
        for mark, rest in ((",", ".5"), (".", ",5"), (" ", ",5"), (",", ""))
    ],
    "decimal commas": [[f"{n},{n % 7}{n % 3}" for n in range(20)]],
}  # fmt: skip
NEAR = {  # columns for which no line of pandas is known
    "brackets": [[f"({number})" for number in VALUES], [f"({n},000.5)" for n in range(1, 21)]],
    "times am and pm": [[f"{n + 1}:30{gap}{('AM', 'pm')[n % 2]}" for n in range(9)] for gap in ("", " ")],
    "quarters": [[f"{1990 + n}{mark}{n % 4 + 1}" for n in range(20)] for mark in ("Q", "q", "-Q", " Q")],
    "weeks": [[f"{1990 + n}{mark}{n % 50 + 1:02}" for n in range(20)] for mark in ("W", "-W")],
    "thousands": [[f"{n}'{n:03}.5" for n in range(100, 120)]],
    "dates and more": [[f"{day:%Y-%m-%d} 01:30 UTC" for day in DAYS]],
    "dates in words": [[f"{day:%A}, the {day.day}th of {day:%B %Y}" for day in DAYS]],
}
COLUMNS = [(kind, at) for kind, columns in KINDS.items() for at in range(len(columns))]


def frame_of(cells, **others):
    T = len(cells)
    return pd.DataFrame(
        {"a": cells, "x": np.arange(T) + 0.5, "z": ["no", "yes"] * (T // 2) + ["no"] * (T % 2)} | others
    )


def decided(frame, label="z"):
    """What becomes of column a, or what stops a run at it."""
    chosen = choice_of(table_of(ReadFrame(frame), "data"), label)
    return chosen.stops[0] if chosen.stops else chosen.columns.get("a", chosen.left_out.get("a"))


def mended(frame, stop):
    scope = {"pandas": pd, "numpy": np, "frame": frame.copy()}
    exec("\n".join(stop.lines), scope)
    return scope["frame"]


def check_mended(frame, kinds=(NUMBERS, DATE), most_gaps=0):
    """The lines of the stop, and of each other way that it names, make a column that a run takes."""
    stop = decided(frame)
    assert isinstance(stop, Stop), (stop, frame.a.tolist()[:3])
    ways = [stop.lines, *([line.removeprefix("# or ")] for line in stop.lines if line.startswith("# or "))]
    for lines in ways:
        other = mended(frame, Stop("", lines))
        found = decided(other)
        assert getattr(found, "kind", None) in kinds, (found, lines)
        assert other.a.isna().sum() <= frame.a.isna().sum() + most_gaps
        assert "; ".join(line for line in lines if line[0] != "#") in str(stop)
    return stop, mended(frame, stop)


@pytest.mark.parametrize(("kind", "at"), COLUMNS, ids=[f"{kind}-{at}" for kind, at in COLUMNS])
def test_what_is_near_stops_and_its_lines_mend_it(kind, at):
    """As a whole column, with a gap, with a code among it, and half of it numbers."""
    cells = KINDS[kind][at]
    for own in (cells, [None, *cells[1:]]):
        stop, other = check_mended(frame_of(own))
        first = next(n for n, cell in enumerate(own) if cell is not None and date_of(cell) is None)
        assert f"row {first + 1}: column 'a' holds {own[first]!r}" in str(stop)
        assert other.a.notna().sum() == len([cell for cell in own if cell])
    check_mended(frame_of([*cells[:-1], "unknown"]), most_gaps=1)
    if kind not in (
        "dates",
        "times of day",
        "times with seconds",
        "two units",
        "thousands",
        "decimal commas",
    ):
        check_mended(frame_of([cell if n % 2 else str(n) for n, cell in enumerate(cells)]))


@pytest.mark.parametrize("kind", NEAR)
def test_what_is_near_stops_and_may_be_declared_to_be_words(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for cells in NEAR[kind]:
        stop = decided(frame_of(cells))
        assert f"row 1: column 'a' holds {cells[0]!r}, which is near a number or a date" in str(stop)
        assert "'read.dtype={a:category}' (in a frame .astype('category')) makes words of them" in str(stop)
        frame_of(cells).to_csv("own.csv", index=False)
        assert omkl.look("own.csv", ["read.dtype={a:category}"]).records[0]["kind"] == "words"
        as_words = mended(frame_of(cells), Stop("", ["frame['a'] = frame['a'].astype('category')"]))
        assert decided(as_words).kind == WORDS
        assert mended(frame_of(cells), stop).a.tolist() == cells  # a comment


def test_what_the_lines_make_is_what_was_meant():
    def made(cells):
        return check_mended(frame_of(cells))[1].a.tolist()

    assert made(["81.2 °C", "-3 °C", "4 °C", "1e3 °C"]) == [81.2, -3, 4, 1000]
    assert made(["$1,234.5", "$2", "$3", "$4"]) == [1234.5, 2, 3, 4]
    assert made(["1.234,5", "2", "3,25", "4"]) == [1234.5, 2, 3.25, 4]
    assert made(["1:30", "0:15", "12:00", "9:45"]) == [1.5, 0.25, 12, 9.75]
    assert made(["4-May-65", "5-May-15", "6-Jun-24", "7-Jul-99"]) == [
        pd.Timestamp(day) for day in ("1965-05-04", "2015-05-05", "2024-06-06", "1999-07-07")
    ]
    one, two = decided(frame_of(["05/04/1999", "06/07/2000", "01/02/2003"])).lines
    assert "%d/%m/%Y" in one
    assert two.startswith("# or frame['a'] = pandas.to_datetime(frame['a'], format='%m/%d/%Y'")
    kept = decided(frame_of(["05/04/1999", "16/07/2000", "01/02/2003"]))
    assert len(kept.lines) == 1
    stop, _ = check_mended(frame_of(["9.6 %", "0.1", "8 %", "7 %"]))
    assert "holds '9.6 %', a number with a text; 1 cell has none (3 such cells)" in str(stop)
    units = check_mended(frame_of(["70 kg", "150 lb", "80 kg", "90 kg"]))[1]
    assert units["a unit"].tolist() == ["kg", "lb", "kg", "kg"]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["?"], 4),
        (["-", "--", "."], 4),
        (["#N/A", "#DIV/0!"], 4),
        (["not known"], 4),
        (["[NULL]"], 1),
        (["no", "low", "hi", "mid"], 4),
    ],
)
def test_words_in_a_column_of_numbers_or_dates(words, count):
    for good in ([str(n) for n in range(20)], [str(day.date()) for day in DAYS]):
        cells = [
            words[n % len(words)] if n % 5 == 3 and n < 5 * count else cell for n, cell in enumerate(good)
        ]
        stop, other = check_mended(frame_of(cells), most_gaps=count)
        assert f"row 4: column 'a' holds {words[3 % len(words)]!r}" in str(stop)
        assert (count == 1) != (f"({count} such cells)" in str(stop))
        assert other.a.isna().sum() == count


@pytest.mark.parametrize(
    "cells",
    [
        [f"{n} Elm Street" for n in range(1, 21)],
        [f"{n}{'abcd'[n % 4]}" for n in range(1, 21)],
        ["A/5 21171", "PC 17599", "113803", "373450", "330877", "17463", "349909", "W./C. 6608"],
        [f"S{n:03}" for n in range(20)],
        ["5E3B", "1E2", "9E1A", "12", "14X", "7"] * 3,
        ["192.168.1.1", "10.0.0.1", "10.0.0.2"] * 3,
        ["18-25", "26-35", "36-50"] * 5,
        ["1.2.3", "1.10.0", "2.0"] * 5,
        ["SW1A 2AA", "EC1A 1BB", "W1A 0AX"] * 3,
        ["4wd", "front", "rear"] * 4,
        ["Mr. 3", "no", "yes", "maybe"] * 4,
        ["+49 30 1234", "+49 40 99"] * 4,
        ["May", "June", "July", "Friday 13"] * 3,
        ["1st", "2nd", "3rd", "4th"] * 6,
    ],
)
def test_codes_addresses_and_names_are_words(cells):
    found = decided(frame_of(cells))
    assert not isinstance(found, Stop)
    assert found == getattr(found, "kind", found) or found.kind == WORDS


def test_dates_that_are_none_and_eight_digits():
    good = [f"{day:%Y-%m-%d}" for day in DAYS]
    stop, _ = check_mended(frame_of([*good[:-1], "2023-02-30"]), most_gaps=1)
    assert "row 20: column 'a' holds '2023-02-30', which is no date" in str(stop)
    stop, _ = check_mended(frame_of([f"{day:%Y-%d-%m}" for day in DAYS]))
    assert "row 2: column 'a' holds '2003-22-01', a date in another order" in str(stop)
    eight = [int(f"{day:%Y%m%d}") for day in DAYS]
    assert decided(frame_of(eight)).kind == DATE
    stop, _ = check_mended(frame_of([*eight[:-1], 20230230]), most_gaps=1)
    assert "row 20: column 'a' holds 20230230, which is no date, as the others are" in str(stop)
    assert decided(frame_of([12345678 + n for n in range(20)])).kind == NUMBERS
    days = [f"{day:%Y-%m-%d} 03:00+0{n % 2}:00" for n, day in enumerate(DAYS)]
    stop, _ = check_mended(frame_of(days))
    assert "different offsets from UTC (+00:00 and +01:00)" in str(stop)
    assert decided(frame_of([day.replace("+00", "+01") for day in days])).offset == "+01:00"
    far = decided(frame_of([*good[:-1], "9999-12-31"]))
    assert far.kind == DATE


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ([datetime.timedelta(hours=n) for n in range(4)], "durations"),
        ([datetime.time(n, 30) for n in range(4)], "a time of day"),
        (pd.period_range("2020Q1", periods=4, freq="Q"), "periods"),
        ([True, 1, 0, 2.5], "both numbers and true or false"),
    ],
)
def test_values_of_other_kinds(cells, what):
    stop, _ = check_mended(frame_of(list(cells) if not hasattr(cells, "freq") else cells))
    assert f"column 'a' holds {what}" in str(stop) or what in str(stop)


def test_lists_and_mixed_frames():
    for cells in ([[1], [2, 3]], [1 + 2j, 2]):
        stop = decided(frame_of(cells))
        assert "holds lists, objects or complex numbers" in str(stop)
        assert "a" not in mended(frame_of(cells), stop)
    check_mended(frame_of(["4 %", 5.0, None, "7 %", 3]))  # texts among numbers


@pytest.mark.parametrize(
    "cells",
    [["1,5", "2,5", "3,25", "4"], [f"{n} %" for n in range(24)], [True, 1, 0, 0]],
)
def test_a_label_in_another_notation_stops_a_run(cells):
    frame = pd.DataFrame({"x": np.arange(len(cells)) + 0.5, "y": cells})
    stops = choice_of(table_of(ReadFrame(frame), "data"), "y").stops
    assert "'y'" in str(stops[0])
    other = mended(frame, stops[0])
    assert not choice_of(table_of(ReadFrame(other), "data"), "y").stops
    assert other.y.dtype.kind in "if"
    days = pd.DataFrame({"x": range(4), "y": DAYS[:4]})
    (stop,) = choice_of(table_of(ReadFrame(days), "data"), "y").stops
    assert "the label (column 'y') holds dates or times" in str(stop)
    assert not choice_of(table_of(ReadFrame(mended(days, stop)), "data"), "y").stops


def test_classes_beside_numbers_are_words():
    """As labels and as features."""
    frame = frame_of(["<=50K", ">50K", "<=50K", ">50K"] * 10)
    assert decided(frame).kind == WORDS
    assert not choice_of(table_of(ReadFrame(frame), "data"), "a").stops


def test_the_name_again_is_a_line_of_names():
    frame = frame_of(["1", "2", "a", "4"], x=["1", "2", "x", "4"])
    stop = decided(frame)
    assert "the column's name" in str(stop)
    assert mended(frame, stop).a.tolist() == [1, 2, 4]


def test_many_different_words_take_no_time():
    words = [f"name {n} of {n * 7}" for n in range(100_000)]
    column = Column("a", pd.Series(words))
    assert decided(frame_of(words)) == "100000 different words in 100000 rows are too many"
    assert len(column.words) == 100_000


# ------------------------------------------------------------------ all ways in


def write(frame, way):
    """Write a table in a given way, and return what reads it."""
    if way in ("frame", "dict", "records", "arrow"):
        made = {"frame": frame, "dict": frame.to_dict("list"), "records": frame.to_dict("records")}
        if way == "arrow":
            made["arrow"] = pytest.importorskip("pyarrow").Table.from_pandas(frame)
        return lambda: Own("data", "auto", "data", made[way], Preparation(label="z"))
    name = f"my.{way}"
    writers = {
        "csv": lambda: frame.to_csv(name, index=False),
        "csv.gz": lambda: frame.to_csv(name, index=False),
        "tsv": lambda: frame.to_csv(name, index=False, sep="\t"),
        "quoted.csv": lambda: frame.to_csv(name, index=False, quoting=2, sep=";"),
        "txt": lambda: frame.to_csv(name, index=False, sep="|"),
        "xlsx": lambda: Path(name).write_bytes(xlsx([list(frame), *frame.to_numpy().tolist()])),
        "jsonl": lambda: Path(name).write_text("\n".join(map(json.dumps, frame.to_dict("records")))),
        "json": lambda: Path(name).write_text(json.dumps(frame.to_dict("records"))),
        "parquet": lambda: frame.to_parquet(name),
        "feather": lambda: frame.to_feather(name),
        "arff": lambda: Path(name).write_text(arff(frame), encoding="utf-8"),
    }
    writers[way]()
    return lambda: omkl.data.find(name, task="auto", preparation=Preparation(label="z"))


def arff(frame):
    """Return the frame as ARFF, whose cells are strings."""
    head = "@relation r\n@attribute a string\n@attribute x numeric\n@attribute z {no,yes}\n@data\n"
    rows = frame.assign(a=[f'"{cell}"' if pd.notna(cell) else "?" for cell in frame.a])
    return head + "".join(f"{a},{x},{z}\n" for a, x, z in rows.itertuples(index=False))


FILES = ("csv", "csv.gz", "tsv", "quoted.csv", "txt", "xlsx", "jsonl", "json", "parquet", "feather", "arff")
WAYS = (*FILES, "frame", "dict", "records", "arrow")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_in_say_the_same(way):
    for kind, columns in KINDS.items():
        said = set()
        for one in ("frame", way):
            with pytest.raises(Stop, match="column 'a' holds ") as caught:
                write(frame_of(columns[0]), one)().load()
            where, _, what = str(caught.value).partition("column 'a'")
            said.add(what.replace(".map(str, na_action='ignore')", ""))
            assert re.search(r": row 1: $", where)
        assert len(said) == 1, kind


GOOD = {  # cells, and how many features they make
    "numbers": ([0.5, 2.0, -3.25, 1e30, 1 / 3, 0.07], 1),
    "whole numbers": ([1, 20, 300, -4, 5, 6], 1),
    "numbers with gaps": ([0.5, None, -3.25, 2.0, 1 / 3, 0.07], 1),
    "words": (["b", "a", "b", "c", "a", "\u00e4 b"], 4),
    "words with gaps": (["b", "a", None, "b", "a", "b"], 3),
    "true and false": ([True, False, True, True, False, True], 1),
    "dates": ([f"2024-0{n}-1{n}" for n in range(1, 7)], 4),
    "dates with gaps": ([None, *(f"2024-0{n}-1{n} 1{n}:30" for n in range(2, 7))], 5),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", GOOD)
def test_all_ways_in_make_the_same_numbers_and_predictions(kind, way):
    cells, count = GOOD[kind]
    frame = pd.concat([frame_of(cells)] * 10, ignore_index=True).assign(x=np.arange(60) + 0.5)
    made, plain = write(frame, way)(), write(frame, "frame")()
    assert made.load().content_hash == plain.load().content_hash
    assert len(made.recipe.features) == count + 1
    if way in ("csv", "xlsx", "jsonl", "parquet"):
        model = omkl.fit("algo=perceptron task=classification", data=frame, label="z")
        expected = model.predict(frame).tolist()
        assert model.predict(f"my.{way}").tolist() == expected
        assert model.predict(frame.to_dict("records")[0]).tolist() == expected[:1]


@pytest.mark.parametrize("kind", ["units", "dates", "thousands", "times of day"])
def test_a_model_refuses_new_rows_of_such_cells(kind, monkeypatch):
    """In a file, on standard input, in a frame, as test=; and it takes the numbers that it learnt."""
    write(frame_of([str(number) for number in VALUES]), "csv")
    Path("my.csv").rename("learnt.csv")
    model = omkl.fit("algo=perceptron task=classification", data="learnt.csv", label="z")
    assert len(model.predict("learnt.csv")) == 20
    frame = frame_of(KINDS[kind][0])
    write(frame, "csv")
    at = rf": row 1: column 'a' holds {re.escape(repr(KINDS[kind][0][0]))}, which is not a number"
    for data in ("my.csv", frame, frame.to_dict("records")[0]):
        with pytest.raises(UserError, match=at):
            model.predict(data)
    with pytest.raises(UserError, match=at):
        omkl.run(
            "algo=perceptron reps=1 exec=serial yardsticks=[] store=s",
            data="learnt.csv",
            label="z",
            test="my.csv",
        )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("my.csv").read_bytes())))
    opening.standard_input.cache_clear()
    with pytest.raises(UserError, match=at):
        model.predict("-")
    opening.standard_input.cache_clear()


def test_two_columns_that_stop_are_both_named():
    frame_of(["4 %", "5 %", "7 %", "3 %"], x=["1:30", "2:30", "3:30", "4:00"]).to_csv("my.csv", index=False)
    with pytest.raises(Stop, match=r"or drop=a leaves the column out; so does x: `omkl data look` shows all"):
        find("my.csv", preparation=Preparation(label="z")).load()

"""What is near a number and is none stops a run, in twenty variations of each kind and by all ways in."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.workbooks import xlsx

import omkl
from omkl.data import load
from omkl.data.own_data import Frame
from omkl.data.preparation import Preparation, Stop
from omkl.data.reading import opening
from omkl.errors import UserError

UNITS = (
    *("%", "kg", "km", "°C", "mg/l", "m²", "h", "min", "s", "ms", "W", "kWh", "GB", "MHz", "ppm", "dB"),
    *("hPa", "mmHg", "in", "oz"),
)
MONEY = (
    *("$", "€", "£", "¥", "₹", "₽", "฿", "US$", "A$", "R$", "C$", "HK$", "MX$"),
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR"),
)
DATES = [  # forms of strftime in which the year is not first, or has two digits
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%m/%Y %H:%M"),
    *("%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M", "%d %b %Y %H:%M", "%m/%Y", "%d%b%Y"),
]
DAYS = pd.date_range("2003-01-05", periods=20, freq="17D")
NUMBERS = [0.5 + n for n in range(20)]
KINDS = {  # twenty columns each, of which every cell is of that kind
    "units": [[f"{number} {unit}" for number in NUMBERS] for unit in UNITS],
    "units without a blank": [[f"{number}{unit}" for number in NUMBERS] for unit in UNITS],
    "money": [[f"{mark}{number}" for number in NUMBERS] for mark in MONEY],
    "money after": [[f"{number} {mark}" for number in NUMBERS] for mark in MONEY],
    "powers of ten": [[f"{number}{power}" for number in NUMBERS] for power in "kKmMbBtTGgPpuµnfzyhc"],
    "dates": [[day.strftime(form) for day in DAYS] for form in DATES],
    "fractions": [[f"{top}/{below}" for below in range(101, 121)] for top in range(1, 21)],
    "ranges": [[f"{low}-{low + width}" for low in range(100, 120)] for width in range(1, 21)],
    "brackets": [
        [f"{left}{number * scale}{right}" for number in NUMBERS]
        for left, right in ("()", "[]", "(]", "[)", "{}")
        for scale in (1, 10, 100, 1000)
    ],
    "limits": [
        [f"{mark}{number * scale}" for number in NUMBERS]
        for mark in ("<", ">", "<=", "≥", "~")
        for scale in (1, 10, 100, 1000)
    ],
    "times of day": [[f"{n}:{minute:02}" for n in range(1, 21)] for minute in range(20, 40)],
    "notations": [
        [f"{n}{mark}{n:03}{rest}" for n in range(100, 120)]
        for mark, rests in ((",", ".5"), (".", ",5"), (" ", ",5"), ("'", ".5"), ("_", ""))
        for rest in (rests, rests.replace("5", "25"), rests.replace("5", "0"), rests.replace("5", "75"))
    ],
}


def table(cells, way):
    """Write a table of these cells and a label, in a given way, and return what reads it."""
    frame = pd.DataFrame(
        {"a": cells, "x": np.arange(len(cells)) + 0.5, "z": ["no", "yes"] * (len(cells) // 2)}
    )
    if way == "frame":
        return lambda: Frame("data", "auto", "data", frame, Preparation(label="z")).load()
    name = f"my.{way}"
    writers = {
        "csv": lambda: frame.to_csv(name, index=False),
        "csv.gz": lambda: frame.to_csv(name, index=False),
        "tsv": lambda: frame.to_csv(name, index=False, sep="\t"),
        "quoted.csv": lambda: frame.to_csv(name, index=False, quoting=2, sep=";"),
        "xlsx": lambda: Path(name).write_bytes(xlsx([list(frame), *frame.to_numpy().tolist()])),
        "jsonl": lambda: frame.to_json(name, orient="records", lines=True, force_ascii=False),
        "json": lambda: frame.to_json(name, orient="records"),
        "parquet": lambda: frame.to_parquet(name),
        "feather": lambda: frame.to_feather(name),
        "arff": lambda: Path(name).write_text(arff(frame), encoding="utf-8"),
    }
    writers[way]()
    return lambda: load(name, preparation=Preparation(label="z"))


def arff(frame):
    """Return the frame as ARFF, whose cells are strings."""
    head = "@relation r\n@attribute a string\n@attribute x numeric\n@attribute z {no,yes}\n@data\n"
    return head + "".join(f'"{a}",{x},{z}\n' for a, x, z in frame.itertuples(index=False))


WAYS = ("csv", "tsv", "quoted.csv", "csv.gz", "xlsx", "jsonl", "json", "parquet", "feather", "arff", "frame")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_variations_of_each_kind_stop_a_run(kind):
    """As a whole column, and as half of one whose other cells are numbers."""
    assert len(KINDS[kind]) == 20
    for cells in KINDS[kind]:
        for own in (cells, [cell if n % 2 else str(n) for n, cell in enumerate(cells)]):
            with pytest.raises(Stop, match="column 'a' holds ") as caught:
                table(own, "frame")()
            first = next(n for n, cell in enumerate(own) if Preparation().number(cell) is None)
            assert f"row {first + 1}: column 'a' holds {own[first]!r}" in str(caught.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_ways_in_say_the_same(kind, way):
    """A way says where the cell is, and then what all say; a frame's words as those of a file."""
    cells = KINDS[kind][len(kind) % 20]
    said = set()
    for one in ("frame", way):
        with pytest.raises(Stop, match="column 'a' holds ") as caught:
            table(cells, one)()
        where, _, what = str(caught.value).partition("column 'a'")
        said.add(what)
        assert re.search(r":( row )?\d+: $", where)
    assert len(said) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_refuses_new_rows_of_such_cells(kind, monkeypatch):
    """In a file, on standard input, in a frame; and it takes the numbers that it learnt."""
    cells = KINDS[kind][len(kind) % 20]
    if Preparation().number(cells[0]) is not None:
        cells = [cell + "?" for cell in cells]
    table([str(number) for number in NUMBERS], "csv")
    model = omkl.fit("algo=perceptron task=classification", data="my.csv", label="z")
    assert len(model.predict("my.csv")) == 20
    table(cells, "csv")
    at = rf":2: column 'a' holds {re.escape(repr(cells[0]))}, which is not a number"
    with pytest.raises(UserError, match=at):
        model.predict("my.csv")
    frame = pd.read_csv("my.csv", dtype=str)
    with pytest.raises(UserError, match=at.replace(":2:", ": row 1:")):
        model.predict(frame)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("my.csv").read_bytes())))
    opening.standard_input.cache_clear()
    with pytest.raises(UserError, match=at):
        model.predict("-")

"""Users' tables: what is understood of the columns, and what is refused by file, line, column and setting.

``made`` gives the data set, the recipe and the features by name of a text, in whose one line / ends lines.
"""

import json
import math
import re
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omkl.data import load
from omkl.data.own_data import Frame, read_file
from omkl.data.preparation import Preparation, Stop
from omkl.data.preparing import columns
from omkl.data.preparing.recipe import Recipe, recipe_of
from omkl.data.reading import tables
from omkl.data.reading.formats import parts_of, read_table
from omkl.errors import UserError

TEXT = "age,colour,income,class/31,red,1.5,yes/,blue,2.5,no/45,red,,yes/60,green,4,no/"
AGE = (31 + 45 + 60) / 3


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.csv"


def write(path, text):
    path.write_text(text if "\n" in text else text.replace("/", "\n"), newline="")
    return path


def made(path, text, task="classification", **wanted):
    dataset, recipe = read_file(write(path, text), task, Preparation(**wanted))
    X = recipe.apply(read_table(path, recipe.preparation))[0]
    return dataset, recipe, dict(zip(recipe.features, X.T.tolist(), strict=True))


def column(cells):
    return "a\tz\n" + "".join(f"{cell}\t{n % 2}\n" for n, cell in enumerate(cells))


def cases(name):
    """Return the cases of a file: the text of a table, settings, and what is to come of it."""
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [(text, _settings(wanted), *rest) for text, wanted, *rest in map(json.loads, lines)]


def _settings(wanted):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in wanted.items()}


@pytest.mark.parametrize(("text", "wanted", "features", "said"), cases("features.jsonl"))
def test_what_a_table_becomes(path, text, wanted, features, said):
    """And as much from its recipe after JSON, and from parts of the file."""
    dataset, recipe, found = made(path, text, **wanted)
    assert list(found) == list(features)
    for name, numbers in features.items():
        assert found[name] == pytest.approx(numbers, rel=1e-12), name
    assert said in "; ".join(dataset.notes)
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    whole = again.apply(read_table(path, again.preparation), True, False)[0]
    parts = parts_of(path, again.preparation, None, 1, again.texts)
    np.testing.assert_array_equal(
        np.concatenate([again.apply(part, True, False)[0] for part in parts]), whole
    )
    assert dataset.content_hash == load(str(path), preparation=Preparation(**wanted)).content_hash


@pytest.mark.parametrize(("text", "wanted", "said"), cases("mistakes.jsonl"))
def test_what_is_wrong_is_named(path, text, wanted, said):
    with pytest.raises(UserError, match=said):
        made(path, text, **wanted)


STOPS = {  # the cells of a column of 60 rows: what they are, and what helps
    "12%,7.5%": (
        "a number with a text",
        "in pandas frame['a'] = frame['a'].str.removesuffix('%').astype(float)",
    ),
    "78.0 °C,79.5 °C": ("a number with a text", ".str.removesuffix(' °C').astype(float)"),
    "$1200.50,$3": ("a number with a text", ".str.removeprefix('$').astype(float)"),
    "EUR 4,EUR 3.50": ("a number with a text", ".str.removeprefix('EUR ').astype(float)"),
    "3.2k,4M": ("a number in a notation that is not read", "write numbers such as -1.5 or 2e3"),
    "1/2,3/4": ("a number in a notation that is not read", "categorical=a makes a feature of each value"),
    "(1.5),(2.5)": ("a number with a text", ".str.removeprefix('(').str.removesuffix(')')"),
    "[1.5),[2.5)": ("a number with a text", ".str.removeprefix('[').str.removesuffix(')')"),
    "25-34,35-44": ("a number in a notation that is not read", "categorical=a makes a feature of each value"),
    "1.5,2,<0.5": ("which is no number", "'na=<0.5' takes it as a missing value"),
    "1.5,2,unknown": ("which is no number", "na=unknown takes it as a missing value"),
    "1.5,2,n.a.,unknown": ("which is no number", "na=n.a.,unknown takes these words as a missing value"),
    "5/1/20,31/12/2021": ("a date", "write the year with four digits and first, as in 2024-03-05"),
    "31/12/99,30/11/98": ("a date", "write the year with four digits and first, as in 2024-03-05"),
    "31/12/1999,30/11/1998": ("a date that does not begin", "to_datetime(frame['a'], format='%d/%m/%Y')"),
    "12/31/1999,11/30/1998": ("a date that does not begin", "to_datetime(frame['a'], format='%m/%d/%Y')"),
    "01.02.2020,03.02.2020": ("a date that does not begin", "format='%d.%m.%Y' or format='%m.%d.%Y')"),
    "5 Jan 2020,Feb 3 2020": (
        "which is no date that begins with the year",
        "= pandas.to_datetime(frame['a'])",
    ),
    "2020-01-05,2020-02-30,2020-03-01": ("which is no date", "na=2020-02-30 takes it as a missing value"),
    "2020-01-05,05.01.2020,2020-03-01": ("a date that does not begin", "format='%d.%m.%Y'"),
    "12:30,1:45": ("a time of day", "pandas.to_timedelta(frame['a'] + ':00').dt.total_seconds() / 3600"),
    "8,518|22,029|7": (
        "a number in another notation",
        "decimal=, reads it as 8.518 or thousands=, reads it as 8518",
    ),
    "1.234,5|1.000|2": ("a number in another notation", "decimal=, thousands=. reads it as 1234.5"),
    "0,5|-1,25e3|,5": ("a number in another notation", "decimal=, reads it as 0.5"),
    "1 234|5\u00a0678,5|1": ("a number in another notation", "decimal=, thousands=space reads it as 1234"),
    "1'234.5|1|2\u2019000": ("a number in another notation", "thousands=' reads it as 1234.5"),
}


@pytest.mark.parametrize("categorical", [("auto",), ("onehot",), ("letters",), ("error",)])
@pytest.mark.parametrize("cells", STOPS)
def test_what_is_near_a_number_stops_a_run(path, cells, categorical):
    what, helps = STOPS[cells]
    texts = cells.split("|") if "|" in cells else cells.split(",")
    first = next(text for text in texts if Preparation().number(text) is None)
    if "2020-01-05" in texts:
        first = texts[1]
    text = column(texts * (60 // len(texts)))
    holds = re.escape(f"my.csv:{texts.index(first) + 2}: column 'a' holds ")
    with pytest.raises(
        Stop, match=rf"{holds}.*, {re.escape(what)}.*; .*drop=a leaves the column out$"
    ) as caught:
        made(path, text, label="z", categorical=categorical)
    assert helps in str(caught.value)
    other = (
        made(path, text, **Preparation(label="z").mended(caught.value.mend).__dict__ | {"drop": ()})
        if (caught.value.mend.keys() - {"drop"})
        else None
    )
    assert other is None or next(iter(other[2])).startswith("a")
    kept = made(path, text, label="z", categorical=("a",))[0]  # as words, because that is said
    assert kept.d == len(set(texts))


@pytest.mark.parametrize(
    "cells",
    ["red,blue", "A1,B2", "S0001,S0002", "x-1,y-2", "very low,low", "US,1,FR,UK", "+,-", "TRUE,FALSE"],
)
def test_words_are_words(path, cells):
    dataset, _, found = made(path, column(cells.split(",") * 30), label="z")
    assert dataset.d == len(found) == (1 if cells == "TRUE,FALSE" else len(set(cells.split(","))))


def test_all_stops_of_a_table_are_counted_and_looked_up(path, tmp_path):
    text = "a\tb\tz\n" + "".join(f"{n}%\t{n} km\t{n % 2}\n" for n in range(30))
    with pytest.raises(
        Stop, match=r"column 'a' holds '0%'.* \(30 such cells\); .*; so do b: `omkl data look`"
    ):
        made(path, text, label="z")


@pytest.mark.parametrize(
    ("cells", "days", "said"),
    [
        (["2020-01-05", "2020-03-01"], [0, 56], "dates as days, month, day, weekday"),
        (["2020/1/5", "2020/03/01"], [0, 56], "dates as days"),
        (
            ["2020-01-05T12:00:00Z", "2020-01-06 06:00:00+00:00"],
            [0.5, 1.25],
            "hour, in local time (offset +00:00)",
        ),
        (["2020-01-05 12:00+0200", "2020-01-06 06:00+02:00"], [0.5, 1.25], "in local time (offset +02:00)"),
        (["2020-01-05 12:00", "2020-01-06 06:00"], [0.5, 1.25], "month, day, weekday, hour"),
        (["20200105", "20200301"], [0, 56], "eight digits that are dates as days"),
        (["2020-01", "2020-03"], [0, 60], "dates as days"),
        (["1900-01-01", "9999-12-31"], [0, 2958463], "dates as days"),
    ],
)
def test_dates_are_numbers(path, cells, days, said):
    dataset, recipe, features = made(path, column(cells), label="z")
    assert features["a (days)"] == pytest.approx(days)
    assert said in dataset.notes[0]
    assert made(path, column(cells), label="z", dates="ordinal")[2] == {"a (days)": features["a (days)"]}
    later = write(path.with_name("new.csv"), "a\tz\n2020-01-15\t0\n")
    new = recipe.apply(read_table(later, recipe.preparation, texts=recipe.texts), new=True)[0][0]
    assert new[1:4].tolist() == [1, 15, 2]
    frame = pd.DataFrame({"a": cells, "z": [0, 1]})
    assert Frame("f", "auto", "f", frame, Preparation(label="z")).load().content_hash == dataset.content_hash


def test_offsets_that_differ_stop_a_run(path):
    text = column(["2020-01-05 12:00+01:00", "2020-07-05 12:00+02:00"])
    with pytest.raises(
        Stop, match=r"times with different offsets from UTC \(\+01:00 and \+02:00\); write local"
    ):
        made(path, text, label="z")
    zone = pd.to_datetime(["2020-01-05 12:00", "2020-07-05 12:00"]).tz_localize("Europe/Berlin")
    frame = pd.DataFrame({"a": zone, "z": [0, 1]})
    ref = Frame("f", "auto", "f", frame, Preparation(label="z"))
    assert (
        ref.load().content_hash
        == made(path, column(["2020-01-05 12:00", "2020-07-05 12:00"]), label="z")[0].content_hash
    )
    assert "'a': the local times of Europe/Berlin" in ref.notes[0]


@pytest.mark.parametrize("year", [1900, 2050])
def test_what_a_file_says_does_not_depend_on_the_clock(path, year, monkeypatch):
    clock = time.struct_time((year, 6, 1, 0, 0, 0, 0, 152, 0))
    plain = made(path, column(["1975-01-05", "2075-03-01"]), label="z")[0].content_hash
    monkeypatch.setattr(time, "localtime", lambda seconds=None: clock)
    assert made(path, column(["1975-01-05", "2075-03-01"]), label="z")[0].content_hash == plain
    with pytest.raises(Stop, match="write the year with four digits"):
        made(path, column(["05/01/75", "01/03/74"]), label="z")


@pytest.mark.parametrize(
    ("cells", "other"),
    [
        (["2020-01-05", "2020-03-01"], "soon"),
        (["2020-01-05 12:00+01:00", "2020-03-01 12:00+01:00"], "2020-03-01 12:00+02:00"),
        (["20200105", "20200301"], "20200230"),
    ],
)
def test_new_rows_are_of_the_same_kind(path, cells, other):
    recipe = made(path, column(cells), label="z")[1]
    write(path, f"a\tz\n{cells[1]}\t1\n{other}\t0\n")
    with pytest.raises(
        UserError, match=rf"my\.csv:3: column 'a' holds '{re.escape(other)}', which is not a date as"
    ):
        recipe.apply(read_table(path, recipe.preparation, texts=recipe.texts), new=True)


@pytest.mark.parametrize(
    ("first", "label"),
    [
        ("a,Class,c", "Class"),
        ("a,b,y", "y"),
        ("TARGET,b,c", "TARGET"),
        ("1,0,3", "3"),
        ("a,b,c", None),
        ("y,b,class", None),
    ],
)
def test_which_column_is_the_label(path, first, label):
    text = first + "\n1,0,1\n2,1,0\n3,1,0\n"
    if label is None:
        with pytest.raises(
            Stop,
            match=rf"name the label's column with label=COLUMN; the columns are {first.replace(',', ', ')}",
        ):
            made(path, text)
    else:
        assert made(path, text)[1].label == label
    assert made(path, text, label=first.split(",")[0])[1].label == first.split(",")[0]


def test_many_words_are_left_out_with_a_note(path):
    text = "name,kind,size,y\n" + "".join(f"name{n}x,{'xyz'[n % 3]},{n}.5,{n % 2}\n" for n in range(60))
    dataset, _, features = made(path, text)
    assert list(features) == ["kind=x", "kind=y", "kind=z", "size"]
    assert (
        "'name': left out, since 60 different words in 60 rows are too many; 3 features of kind"
        in dataset.notes[0]
    )
    assert len(made(path, text, categorical=("onehot",))[2]) == 64
    assert len(made(path, text, categorical=("name",))[2]) == 64
    with pytest.raises(
        Stop, match=r"my\.csv:2: column 'name' holds 'name0x', which is not a number; drop=name leaves"
    ):
        made(path, text, categorical=("error",))
    with pytest.raises(
        Stop,
        match=r"column 'kind' holds 'x', which is not a number; categorical=kind makes",
    ):
        made(path, text, categorical=("error",), drop=("name",))


def test_numbers_that_are_codes_become_words_if_they_are_named(path):
    text = "region,y\n" + "".join(f"{n % 3},{n % 2}\n" for n in range(30))
    assert list(made(path, text)[2]) == ["region"]
    assert list(made(path, text, categorical=("region",))[2]) == ["region=0", "region=1", "region=2"]


def test_too_many_categories(path, monkeypatch):
    monkeypatch.setattr(columns, "MOST_CATEGORIES", 2)
    wanted = {"missing": "mean", "categorical": ("colour",)}
    with pytest.raises(
        Stop, match=r"categorical=colour: 3 different words in 4 rows are too many; at most 2"
    ):
        made(path, TEXT, **wanted)
    assert list(made(path, TEXT, missing="mean", categorical=("onehot",))[2]) == ["age", "income"]


def test_words_are_in_one_form_and_lose_quotes_of_one_kind(path):
    text = "'colour','y'\n" + "'caf\u00e9 au lait','A'\n'cafe\u0301  au lait','B'\n" * 10
    dataset, _, features = made(path, text)
    assert (list(features), dataset.classes) == (["colour=caf\u00e9 au lait"], ("A", "B"))


def test_the_class_that_is_not_positive_keeps_its_name_where_it_is_one(path):
    wanted = {"positive": "no", "missing": "mean", "categorical": ("onehot",)}
    for text, other in ((TEXT, "yes"), (TEXT + "3,red,1,maybe/", "other")):
        dataset, _, _ = made(path, text, **wanted)
        assert (dataset.classes, dataset.y[:4].tolist()) == ((other, "no"), [-1, 1, -1, 1])
        assert f"labels: {other} -> -1, no -> +1" in dataset.notes


def test_a_gap_in_the_label_drops_the_row(path):
    dataset, own, _ = made(path, "a,y/1,yes/2,/?,no/4,no/5,yes/", missing="drop")
    assert (dataset.values.tolist(), dataset.y.tolist()) == ([1, 4, 5], [1, -1, 1])
    table = read_table(path)
    assert own.apply(table, new=True)[2].tolist() == [0, 3, 4]
    _, labels, kept = own.apply(table, new=True, labelled=False)  # to be predicted
    assert (labels.tolist(), kept.tolist()) == (["yes", "", "no", "yes"], [0, 1, 3, 4])


def test_columns_that_name_the_rows(path):
    _, recipe, _ = made(path, "id,a,y/r1,1,0/r2,2,1/", id=("1",))
    assert recipe.preparation.id == ("id",)
    assert recipe.ids(read_table(path))["id"].tolist() == ["r1", "r2"]


def test_later_letters_are_read_as_far_as_the_first_ones(path):
    recipe = made(path, column(["ab", "b", "aba"]), categorical=("letters",), label="z")[1]
    write(path, "a\tz\nbbbbb\t1\n")
    assert recipe.apply(read_table(path, recipe.preparation), new=True)[0].tolist() == [[98, 98, 98]]


def test_other_files_of_the_same_table(path):
    """Parquet, Feather and JSON lines have the same numbers, and dates of their own."""
    pytest.importorskip("pyarrow")
    one = made(path, TEXT, missing="mean", categorical=("onehot",))[0]
    frame, wanted = pd.read_csv(path), Preparation(missing="mean", categorical=("onehot",))
    frame.to_parquet("my.parquet")
    frame.to_feather("my.feather")
    frame.to_json("my.jsonl", orient="records", lines=True)
    for name in ("my.parquet", "my.feather", "my.jsonl"):
        other = read_file(path.with_name(name), "classification", wanted)[0]
        assert (other.content_hash, other.name, other.d) == (one.content_hash, "my", 5)
        assert other.notes == one.notes
    frame.assign(age=pd.to_datetime("2025-01-01")).to_parquet("my.parquet")
    own = read_file(path.with_name("my.parquet"), "classification", wanted)[1]
    assert own.features[:4] == ["age (days)", "age (month)", "age (day)", "age (weekday)"]


def test_a_data_frame_is_a_table_too(path):
    words = ["a", None, "b"]
    frame = pd.DataFrame({"n": [1, 2, 3], "flag": [True, False, True], "word": words, "y": [0, 1, 1]})
    form = Preparation(missing="mean", categorical=("onehot",))
    table = tables.of_frame(frame, path, form)
    own, _ = recipe_of(table)
    X, labels, _ = own.apply(table)
    assert X.tolist() == [[1, 0, 1, 1, 0], [2, 1, 0, 0, 0], [3, 0, 1, 0, 1]]  # as of a file
    open_gaps = recipe_of(tables.of_frame(frame, path, Preparation(categorical=("onehot",))))[0].features
    assert open_gaps[-3:] == ["word=a", "word=b", "word (no value)"]
    assert labels.tolist() == ["0", "1", "1"]


@pytest.mark.parametrize("dtype", [complex, object])
def test_complex_numbers_of_a_frame_are_refused(path, dtype):
    frame = pd.DataFrame({"a": [1.0, 2.0], "z": np.array([1j, 2 + 1j], dtype), "y": [0, 1]})
    said = r"my\.csv: row 1: column 'z' holds 1j, a complex number; give its real and imaginary parts as two"
    with pytest.raises(UserError, match=said + " columns, or drop=z leaves it out"):
        tables.of_frame(frame, path)
    dropped = Preparation(drop=("z",))
    assert recipe_of(tables.of_frame(frame, path, dropped))[0].features == ["a"]
    with pytest.raises(UserError, match="column 'z' holds 1j, a complex number"):
        tables.of_frame(frame, path, Preparation(label="z"))


def test_a_recipe_is_kept_as_json_and_applied_to_other_rows(path):
    own = made(path, TEXT, missing="mean", categorical=("onehot",), scale="minmax")[1]
    again = Recipe.from_json(json.loads(json.dumps(own.to_json())))
    other = write(path.with_name("new.csv"), "income,age,colour/2,NA,violet/")
    X, labels, kept = again.apply(read_table(other))
    np.testing.assert_allclose(X, [[(AGE - 31) / 29, 0, 0, 0, 0.2]], rtol=1e-12)
    assert labels is None
    assert again.unseen(read_table(other), kept)["colour"] == {"violet": 1}
    write(other, "income,colour/2,red/")
    with pytest.raises(UserError, match="has no column 'age'"):
        again.apply(read_table(other))


CHANGED = [[], {}, {"columns": []}]
CHANGED += [{"scaling": [[1]]}, {"scaling": [[0, math.inf]]}, {"scaling": [[0, 1], [0, 1]]}]
CHANGED += [{"means": [math.nan]}, {"means": [10**400]}, {"means": [1.0, 2.0]}]
CHANGED += [{"kind": "colours"}, {"parts": [["red"]]}]
CHANGED += [{"drop": [1]}, {"positive": ["yes"]}, {"delimiter": "ab"}, {"delimiter": 1}, {"header": []}]
CHANGED += [{"na": "x"}, {"thousands": "5"}]


@pytest.mark.parametrize("change", CHANGED)
def test_a_broken_recipe_is_refused(path, change):
    own = made(path, TEXT, missing="mean", categorical=("onehot",), scale="minmax")[1].to_json()
    first, *others = own["columns"]
    if change and change.keys() <= first.keys():
        broken = {**own, "columns": [{**first, **change}, *others]}
    elif change and change.keys() <= asdict(Preparation()).keys():
        broken = {**own, "preparation": {**own["preparation"], **change}}
    else:
        broken = {**own, **change} if change else change
    with pytest.raises(ValueError, match="recipe of its data is broken"):
        Recipe.from_json(broken)


def test_a_recipe_reads_other_files_in_the_same_way(path):
    wanted = {"thousands": ".", "decimal": ",", "na": ("n.v.",), "missing": "mean"}
    own = made(path, "1.234,5;7;red/2,5;n.v.;blue/3,5;1;red/", **wanted)[1]
    assert (own.preparation.header, own.features, own.label) == ("no", ["1", "2"], "3")
    new = write(path.with_name("new.csv"), "3.000\t8/0,5\tn.v./")
    X, labels, _ = own.apply(read_table(new, own.preparation), new=True)
    assert (X.tolist(), labels) == ([[3000, 8], [0.5, 4]], None)
    write(new, "3.5\t8/")
    with pytest.raises(UserError, match=r":1: column '1' holds '3.5', which is not a number; correct"):
        own.apply(read_table(new, own.preparation), new=True)


# ------------------------------------------------------------------ encodings


@pytest.mark.parametrize("encoding", ["auto", "utf-8", "UTF8", "utf-8-sig", "utf-16-le"])
def test_a_byte_order_mark_belongs_to_no_column(path, encoding):
    content = "\ufeffy;a\n1;2\n0;3\n1;2\n0;4\n"
    path.write_bytes(content.encode("utf-8" if encoding in ("auto", "utf-8-sig") else encoding))
    wanted = Preparation(encoding=encoding)
    dataset = load(str(path), preparation=wanted)
    assert (dataset.T, dataset.d, dataset.y.tolist()) == (4, 1, [1.0, -1.0, 1.0, -1.0])
    assert read_table(path, wanted).names == ["y", "a"]
    path.write_bytes(content.replace("y;a\n", "").encode("utf-16-le" if "16" in encoding else "utf-8"))
    assert load(str(path), preparation=wanted).T == 4


@pytest.mark.parametrize("encoding", ["latin1", "utf-16", "cp1252"])
def test_other_encodings(path, encoding):
    path.write_bytes("größe;y\n1;ä\n2;ö\n".encode(encoding))
    dataset = load(str(path), preparation=Preparation(encoding=encoding))
    assert (dataset.classes, dataset.d) == (("ä", "ö"), 1)
    with pytest.raises(UserError, match=r"my\.csv:1: .*UTF-8.*; encoding=\S+ reads it"):
        load(str(path))
    for wrong, said in (
        ("latin3000", "did you mean 'latin1'"),
        ("utf-32", r"my\.csv:1: .*correct encoding="),
    ):
        with pytest.raises(UserError, match=said):
            load(str(path), preparation=Preparation(encoding=wrong))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,ä\n2,ö\n".encode("latin-1"), r":2: the text is not UTF-8 \(byte 0xe4\); encoding=latin1"),
        ("ä,b\n1,n\n2,y\n".encode("latin-1"), r":1: the text is not UTF-8"),
        ("a,b\n1,n\n2,y\n".encode("utf-16"), r":1: the text is UTF-16, not UTF-8; encoding=utf-16 reads it"),
        ("a,b\n1,n\n2,y\n".encode("utf-16-be"), r":1: this is no text"),
        (b"a,y\n1,no\n2,n\0o\n", r":3: this is no text: it holds a byte 0x00"),
        (b"a,y\n1,no\n2,\x80\n", r":3: the text is not UTF-8 \(byte 0x80\); encoding=cp1252 reads it"),
    ],
)
def test_text_that_is_not_utf_8_is_refused(path, content, said):
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^\S+my\.csv{said}"):
        load(str(path))


def test_times_are_no_classes_of_a_frame():
    frame = pd.DataFrame({"a": np.arange(40.0), "when": pd.to_datetime(["2025-01-01", "2025-01-02"] * 20)})
    with pytest.raises(
        Stop, match=r"the label \(column 'when'\) holds dates or times; if each is a class, .*astype\(str\)"
    ):
        Frame("f", "auto", "f", frame, Preparation(label="when")).load()
    texts = frame.assign(when=frame["when"].astype(str))
    assert Frame("f", "auto", "f", texts, Preparation(label="when")).load().classes == (
        "2025-01-01",
        "2025-01-02",
    )

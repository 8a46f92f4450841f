"""Users' tables: what is understood of the columns, and what is refused by file, line, column and setting.

``made`` gives the data set, the recipe and the features by name of a text, in whose one line / ends lines.
"""

import json
import math
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omkl.data import columns, load, tables
from omkl.data.formats import parts_of, read_table
from omkl.data.preparation import Preparation
from omkl.data.recipe import Recipe, recipe_of
from omkl.data.ref import read_file
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


SIGNS = [
    (["1", "12%", "7.5 %"], "3: column 'a' holds '12%', a percentage"),
    (["$1,200.50", "$3"], "2: column 'a' holds '$1,200.50', an amount of money"),
    (["3,50 €", "EUR 4"], "2: column 'a' holds '3,50 €', an amount of money"),
]
ORDERS = (["13/03/2024", "03/13/2024"], ["05/03/24", "40/03/05"], ["2/29/2024", "2/30/2024"])


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


@pytest.mark.parametrize("wanted", [{}, *({"categorical": how} for how in ("onehot", "error", "letters"))])
@pytest.mark.parametrize(("cells", "said"), SIGNS)
def test_numbers_with_a_sign_are_refused_with_what_helps(path, cells, said, wanted):
    helps = "; write the numbers without their sign, for example in pandas, or drop=a"
    with pytest.raises(UserError, match=re.escape(f"my.csv:{said}{helps}")):
        made(path, column(cells * 20), **wanted)


@pytest.mark.parametrize("cells", ORDERS)
def test_dates_in_two_orders_are_words(path, cells):
    dataset, _, features = made(path, column(cells * 10))
    assert features == {f"a={cell}": [float(cell == own) for own in cells * 10] for cell in sorted(cells)}
    assert f"'a': no dates, since '{cells[1]}' is none" in dataset.notes[0]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["8,518", "22,029", "7"], "which is 8.518 with decimal=, or 8518 with thousands=,"),
        (["1,234.5", "1", "2"], r"which is 1234.5 with thousands=,$"),
        (["1.234,5", "1.000", "2"], r"which is 1234.5 with decimal=, thousands=\.$"),
        (["0,5", "-1,25e3", ",5"], r"which is 0.5 with decimal=,$"),
        (["1 234", "5\u00a0678,5", "1"], r"which is 1234 with decimal=, thousands=space$"),
        (["1'234.5", "1", "2\u2019000"], "which is 1234.5 with thousands='$"),
        (["1", "12%", "7.5 %"], "a percentage; write the numbers without their sign, for example in pandas$"),
    ],
)
def test_numbers_in_another_notation(path, cells, said):
    """As features and as targets."""
    text = column(cells)
    holds = r"my\.csv:[23]: column 'a' holds ['\"].*['\"], "
    with pytest.raises(UserError, match=holds + said):
        made(path, text, "regression", label="a")
    for more in ({}, {"categorical": "onehot"}, {"categorical": "letters"}):
        with pytest.raises(UserError, match=holds + said.rstrip("$")):
            made(path, text, **more)


@pytest.mark.parametrize(
    ("cells", "days", "said"),
    [
        (["2020-01-05", "2020-03-01"], [0, 56], "dates as days, month, day, weekday"),
        (["5/1/20", "31/12/2021"], [0, 726], "weekday, the day before the month"),
        (["1/5/20", "12/31/2021"], [0, 726], "weekday, the month before the day"),
        (["01.02.2020", "03.02.2020"], [0, 2], "the day before the month (day_first=no if"),
        (["01/02/2020", "03/02/2020"], [0, 60], "the month before the day (day_first=yes if"),
        (["2020-01-05T12:00:00Z", "2020-01-06 06:00"], [0.5, 1.25], "month, day, weekday, hour"),
        (["5 Jan 2020", "Feb 3, 2020"], [0, 29], "dates as days"),
    ],
)
def test_dates_are_numbers(path, cells, days, said):
    dataset, recipe, features = made(path, column(cells))
    assert features["a (days)"] == pytest.approx(days)
    assert said in dataset.notes[0]
    assert made(path, column(cells), dates="ordinal")[2] == {"a (days)": features["a (days)"]}
    if "day_first=" in said:
        other = said.split("day_first=")[1].split()[0]
        dataset, _, features = made(path, column(cells), day_first=other)
        assert features["a (days)"] == pytest.approx([0, {2: 60, 60: 2}[days[1]]])
        assert "month before" not in dataset.notes[0]
    elif "/" in cells[0]:  # what the dates show goes before the setting
        assert made(path, column(cells), day_first="no")[2]["a (days)"] == pytest.approx(days)
    later = write(path.with_name("new.csv"), "a/2020-01-15/")
    new = recipe.apply(read_table(later, recipe.preparation), new=True)[0][0]
    assert new[1:4].tolist() == [1, 15, 2]


@pytest.mark.parametrize(
    ("cells", "other", "kind"),
    [
        (["13/03/2024", "05/03/2024"], "03/13/2024", "a date"),
        (["3/13/24", "3/5/24"], "13/3/24", "a date"),
        (["2020-01-05", "2020-03-01"], "soon", "a date"),
        (["12:30", "1:30"], "soon", "a time"),
    ],
)
def test_new_rows_are_of_the_same_kind(path, cells, other, kind):
    recipe = made(path, column(cells))[1]
    write(path, f"a\tz\n{cells[1]}\t1\n{other}\t0\n")
    with pytest.raises(
        UserError, match=rf"my\.csv:3: column 'a' holds '{other}', which is not {kind} as the"
    ):
        recipe.apply(read_table(path, recipe.preparation), new=True)


@pytest.mark.parametrize(
    ("first", "label", "said"),
    [
        ("a,b,c", "c", "the label is column 'c', the last; label="),
        ("a,Class,c", "Class", "the label is column 'Class', by its name; label="),
        ("y,target,c", "target", "the label is column 'target', by its name; label="),
        ("a,label,y", "y", "the label is column 'y', the last"),
        ("1,0,3", "3", "the label is column 3, the last"),
    ],
)
def test_which_column_is_the_label(path, first, label, said):
    text = first + "\n1,0,1\n2,1,0\n3,1,0\n"
    dataset, recipe, _ = made(path, text)
    assert (recipe.label, dataset.notes[0][: len(said)]) == (label, said)
    assert not any("the label is" in note for note in made(path, text, label="1")[0].notes)
    if label == "target":
        assert made(path, text, drop=("target",))[1].label == "y"


def test_many_words_are_left_out_until_they_are_asked_for(path):
    text = "name,kind,size,bought\n" + "".join(f"name {n},{'xyz'[n % 3]},{n},{n % 2}\n" for n in range(60))
    dataset, _, features = made(path, text)
    assert list(features) == ["kind=x", "kind=y", "kind=z", "size"]
    said = "'name': left out, since 60 different words in 60 rows are too many; categorical=onehot"
    assert said in dataset.notes[0]
    assert len(made(path, text, categorical="onehot")[2]) == 64
    numbers = "a,b\n" + "".join(f"{n},{n % 2}\n" for n in range(60)) + "oops,1\n"
    with pytest.raises(UserError, match=r"my\.csv:62: column 'a' holds 'oops', which is not a number"):
        made(path, numbers)  # a typing error makes no words of numbers
    with pytest.raises(UserError, match=r"my\.csv:2: column 'name' holds 'name 0', which is not a number"):
        made(path, text, categorical="error")


def test_too_many_categories(path, monkeypatch):
    monkeypatch.setattr(columns, "MOST_CATEGORIES", 2)
    with pytest.raises(UserError, match=r"column .colour. has 3 different values.*drop=colour"):
        made(path, TEXT, missing="mean", categorical="onehot")


def test_the_class_that_is_not_positive_keeps_its_name_where_it_is_one(path):
    wanted = {"positive": "no", "missing": "mean", "categorical": "onehot"}
    for text, other in ((TEXT, "yes"), (TEXT + "3,red,1,maybe/", "other")):
        dataset, _, _ = made(path, text, **wanted)
        assert (dataset.classes, dataset.y[:4].tolist()) == ((other, "no"), [-1, 1, -1, 1])
        assert f"labels: {other} -> -1, no -> +1" in dataset.notes


def test_a_gap_in_the_label_drops_the_row(path):
    dataset, own, _ = made(path, "a,b/1,yes/2,/?,no/4,no/5,yes/", missing="drop")
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
    recipe = made(path, column(["ab", "b", "aba"]), categorical="letters")[1]
    write(path, "a\tz\nbbbbb\t1\n")
    assert recipe.apply(read_table(path, recipe.preparation), new=True)[0].tolist() == [[98, 98, 98]]


def test_other_files_of_the_same_table(path):
    """Parquet, Feather and JSON lines have the same numbers, and dates of their own."""
    pytest.importorskip("pyarrow")
    one = made(path, TEXT, missing="mean", categorical="onehot")[0]
    frame, wanted = pd.read_csv(path), Preparation(missing="mean", categorical="onehot")
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
    form = Preparation(missing="mean", categorical="onehot")
    table = tables.of_frame(frame, path, form)
    own, _ = recipe_of(table, form)
    X, labels, _ = own.apply(table)
    assert X.tolist() == [[1, 0, 1, 1, 0], [2, 1, 0, 0, 0], [3, 0, 1, 0, 1]]  # as of a file
    open_gaps = recipe_of(tables.of_frame(frame, path), Preparation(categorical="onehot"))[0].features
    assert open_gaps[-3:] == ["word=a", "word=b", "word (no value)"]
    assert labels.tolist() == ["0", "1", "1"]


@pytest.mark.parametrize("dtype", [complex, object])
def test_complex_numbers_of_a_frame_are_refused(path, dtype):
    frame = pd.DataFrame({"a": [1.0, 2.0], "z": np.array([1j, 2 + 1j], dtype), "y": [0, 1]})
    said = r"my\.csv: row 1: column 'z' holds 1j, a complex number; give its real and imaginary parts as two"
    with pytest.raises(UserError, match=said + " columns, or drop=z leaves it out"):
        tables.of_frame(frame, path)
    dropped = Preparation(drop=("z",))
    assert recipe_of(tables.of_frame(frame, path, dropped), dropped)[0].features == ["a"]
    with pytest.raises(UserError, match="column 'z' holds 1j, a complex number"):
        tables.of_frame(frame, path, Preparation(label="z"))


def test_a_recipe_is_kept_as_json_and_applied_to_other_rows(path):
    own = made(path, TEXT, missing="mean", categorical="onehot", scale="minmax")[1]
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
    own = made(path, TEXT, missing="mean", categorical="onehot", scale="minmax")[1].to_json()
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
    own = made(path, "1.234,5;7;red/2,5;n.v.;blue/", **wanted)[1]
    assert (own.preparation.header, own.features, own.label) == ("no", ["1", "2"], "3")
    new = write(path.with_name("new.csv"), "3.000\t8/0,5\tn.v./")
    X, labels, _ = own.apply(read_table(new, own.preparation), new=True)
    assert (X.tolist(), labels) == ([[3000, 8], [0.5, 7]], None)
    write(new, "3.5\t8/")
    with pytest.raises(UserError, match=r":1: column '1' holds '3.5', which is not a number in the nota"):
        own.apply(read_table(new, own.preparation), new=True)
    names = made(path, "0,1,2,3\n" + "".join(f"{n}.25,{n}.5,7.5,{n % 2}\n" for n in range(20)))[1]
    write(new, "0,1,2,3\n0.5,1,2,0\n")  # too few rows for auto
    assert names.apply(read_table(new, names.preparation), new=True)[0].shape == (1, 3)


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
        ("a,b\n1,n\n2,y\n".encode("utf-16-be"), r":1: the text is UTF-16"),
        (b"a,b\n1,no\n2,n\0o\n", r":3: the line holds a NUL byte"),
    ],
)
def test_text_that_is_not_utf_8_is_refused(path, content, said):
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^\S+my\.csv{said}"):
        load(str(path))

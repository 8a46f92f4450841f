"""Labels of a user's files: what a class is, how classes are numbered, and what is not taken for a class."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omkl import data
from omkl.data.own_data import Frame, read_file
from omkl.data.preparation import Preparation
from omkl.data.preparing.labels import class_numbers, distinct, finder
from omkl.data.reading.formats import parts_of
from omkl.data.reading.tables import of_frame
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


def write(path, text):
    path.write_text(text)
    return path


def test_three_and_more_classes_are_numbered_in_their_order(tmp_path):
    d = data.load(str(write(tmp_path / "my.libsvm", "10 1:1\n9.0 1:2\n-1 2:1\n9 1:3\n")))
    assert (d.y.tolist(), d.n_classes, d.classes) == ([2, 1, 0, 1], 3, ("-1", "9", "10"))
    assert d.notes == ("labels: -1 -> 0, 9 -> 1, 10 -> 2",)
    many = data.load(str(write(tmp_path / "many", "".join(f"{i} 1:1\n" for i in range(1, 1001)) * 2)))
    assert (many.n_classes, many.y[999]) == (1000, 999)
    assert many.notes == (
        "labels: 1 -> 0, 2 -> 1, 3 -> 2, 4 -> 3, 5 -> 4, 6 -> 5, 7 -> 6, ..., 1000 -> 999",
        "1000 different numbers are taken as classes; task=regression takes them as targets",
    )
    plain = write(tmp_path / "plain.libsvm", "0 1:1\n1 1:2\n2 1:2\n")
    again = [data.load(str(plain)) for _ in range(2)][1]  # of the parsed copy
    assert (again.notes, again.classes, again.n_classes) == ((), ("0", "1", "2"), 3)
    (tmp_path / "words.csv").write_text("1.5,b\n2,c\n3,a\n4,10\n")
    words = data.load(str(tmp_path / "words.csv"))
    assert (words.classes, words.y.tolist()) == (("10", "a", "b", "c"), [2, 3, 1, 0])
    one = data.load(str(tmp_path / "words.csv"), preparation=Preparation(positive="c"))
    assert (one.n_classes, one.y.tolist()) == (2, [-1, 1, -1, -1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:1\n1 1:2\n", r"every label is 1; classification needs at least two$"),
        ("0.5 1:1\n2 1:1\n3 1:1", r"3 .*\(0.5, 2, 3\); task=regression takes them as targets; positive="),
        ("".join(f"{i} 1:1\n" for i in range(1001)) * 2, r"1001 different .* at most 1000; task=regression"),
        ("".join(f"{i} 1:1\n" for i in range(21)), r"21 different labels \(0, .*, 7, ...\); task=regression"),
    ],
)
def test_labels_that_are_no_classes(tmp_path, content, message):
    with pytest.raises(UserError, match=message):
        data.load(str(write(tmp_path / "labels", content)))


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("1 1.0 +1 1. 1e0 0", "0 1"),
        ("0.0 -0 1.0 1", "0 1"),
        ("-1 +1 -1.0 1.00", "-1 1"),
        ("10 9 9.0 -1", "-1 9 10"),
        ("007 7 0", "0 007 7"),
        ("007 042", "007 042"),
        ("00 0 1", "0 00 1"),
        ("0.5 .5 0.50", "0.5 0.50"),
        ("2.1 2.10 2.2", "2.1 2.10 2.2"),
        ("2 2.0 2.1", "2 2.1"),
        ("1.50 1.5 15e-1", "1.5 1.50"),
        ("0.1 0.10000000000000001", "0.1"),
        ("1e25 10000000000000000000000000", "10000000000000000000000000 1e25"),
        ("9007199254740993 9007199254740992", "9007199254740992 9007199254740993"),
        ("1_0 10 9", "9 10 1_0"),
        ("inf Infinity 2", "2 inf"),
        ("True true FALSE", "FALSE True"),
        ("yes Yes no", "Yes no yes"),
        ("1 1.0 a 2.10 2.1", "1 2.1 2.10 a"),
        ("10 9 b", "10 9 b"),
        ("1 True", "1 True"),
    ],
)
def test_what_a_class_is(labels, names):
    given = labels.split()
    made, place, _ = distinct(np.array(given, object))
    assert made == tuple(names.split())
    find = finder(made)
    assert [find(label) for label in given] == place.tolist()
    y, classes = class_numbers(np.array(given * 9), None, "here") if len(made) > 1 else (place, made)
    assert classes == made
    assert len(set(y.tolist())) == len(made)


@pytest.mark.parametrize(
    ("classes", "label", "found"),
    [
        ("0 1", "1.0", "1"),
        ("0 1", "True", "1"),
        ("False True", "true", "True"),
        ("False True", "1", "True"),
        ("False True", "0.0", "False"),
        ("False True 1", "1", "1"),
        ("007 042", "7", "007"),
        ("007 7 0", "7.0", "7"),
        ("007 7 0", "07", None),
        ("7 42", "007", "7"),
        ("2.1 2.2", "2.10", "2.1"),
        ("no yes", "Yes", None),
        ("0 1", "2", None),
        ("0 1", "nan", None),
    ],
)
def test_where_a_class_is_looked_up(classes, label, found):
    names = classes.split()
    place = finder(names)(label)
    assert (None if place is None else names[place]) == found


def test_numbers_in_memory_are_compared_without_their_texts():
    labels = np.array([2**53, 2**53 + 1, 2**53])
    assert distinct(labels)[0] == ("9007199254740992", "9007199254740993")
    assert distinct(np.array([0.5, 2.0]))[0] == ("0.5", "2")
    assert distinct(np.array([True, False]))[0] == ("False", "True")


def test_a_note_says_which_classes_are_one_number(tmp_path):
    made = data.load(str(write(tmp_path / "v.csv", "a,y\n" + "1,2.1\n2,2.10\n3,2.2\n4,007\n5,7\n" * 2)))
    assert made.classes == ("2.1", "2.10", "2.2", "007", "7")
    assert made.notes[1] == (
        "labels: 2.1 and 2.10, 007 and 7 are different classes; write them alike if they are the same"
    )
    one, recipe = read_file(tmp_path / "v.csv", "classification", Preparation(positive="7"))
    assert (one.classes, one.y.tolist(), recipe.alike) == (("other", "7"), [-1, -1, -1, -1, 1] * 2, ("007",))
    assert one.notes[0].startswith("labels: 7 and 007 are different classes")
    assert data.load(str(write(tmp_path / "n.csv", "a,y\n1,1.0\n2,+1\n3,0\n"))).notes == (
        "labels: 0 -> -1, 1 -> +1",
    )


@pytest.mark.parametrize(
    ("labels", "positive", "y"),
    [
        ("0 0.0 1 1.0", "1", [-1, -1, 1, 1]),
        ("0.0 1.0", "1", [-1, 1]),
        ("0 1", "+1.0", [-1, 1]),
        ("False True", "true", [-1, 1]),
        ("False True", "1", [-1, 1]),
        ("2.1 2.10 2.2", "2.10", [-1, 1, -1]),
        ("2.1 2.10 2.2", "2.1", [1, -1, -1]),
        ("007 042", "7", [1, -1]),
    ],
)
def test_the_positive_class_is_found_as_the_classes_are(tmp_path, labels, positive, y):
    rows = "".join(f"{number},{label}\n" for number, label in enumerate(labels.split()))
    path = write(tmp_path / "my.csv", f"a,y\n{rows}")
    assert data.load(str(path), preparation=Preparation(positive=positive)).y.tolist() == y


def test_a_positive_class_that_no_row_has_or_several_have(tmp_path):
    path = write(tmp_path / "my.csv", "a,y\n1,007\n2,7\n3,8\n")
    for wrong in ("9", "07", "True"):
        with pytest.raises(
            UserError, match=rf"positive={wrong}: .* no such class.*; it has '007', '7', '8'$"
        ):
            data.load(str(path), preparation=Preparation(positive=wrong))


def test_true_and_false_are_1_and_0_as_features_and_words_as_classes(tmp_path):
    path = write(tmp_path / "my.csv", "a,y\nTrue,TRUE\nFalse,FALSE\nTrue,FALSE\n")
    made = data.load(str(path))
    assert (made.values.tolist(), made.indptr.tolist()) == ([1, 1], [0, 1, 1, 2])
    assert (made.y.tolist(), made.classes) == ([1, -1, -1], ("FALSE", "TRUE"))
    words = data.load(str(path), preparation=Preparation(categorical=("onehot",)))
    assert (words.d, words.indices.tolist()) == (2, [1, 0, 1])


def test_a_parquet_files_labels_have_all_their_digits(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": [1.0, 2.0], "id": [1234567, 1234568], "flag": [True, False], "t": [0.1234567, 2]}
    )
    frame.to_parquet(tmp_path / "my.parquet")

    def load(label, task="classification"):
        return data.load(str(tmp_path / "my.parquet"), task=task, preparation=Preparation(label=label))

    assert load("id").classes == ("1234567", "1234568")
    assert (load("flag").classes, load("flag").y.tolist()) == (("False", "True"), [1, -1])
    assert load("t", "regression").y.tolist() == [0.1234567, 2]


def test_whole_numbers_beside_gaps_have_all_their_digits(tmp_path):
    """Of two such labels that are one float; pandas itself makes floats of them."""
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    parquet, feather = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.feather")
    columns = {"a": [1, 2, 3, None], "y": [2**53, 2**53 + 1, None, 5]}
    wanted = Preparation(missing="drop", label="y")
    expected = ("9007199254740992", "9007199254740993")
    parquet.write_table(pa.table(columns), tmp_path / "my.parquet")
    feather.write_feather(pa.table(columns), str(tmp_path / "my.feather"))
    frames = [pl.DataFrame(columns), pd.DataFrame(columns, dtype="Int64")]
    refs = [data.find(str(tmp_path / name), preparation=wanted) for name in ("my.parquet", "my.feather")]
    refs += [Frame("my", "classification", "my", frame, wanted) for frame in frames]
    assert [ref.load().classes for ref in refs] == [expected] * 4
    (part,) = parts_of(tmp_path / "my.parquet", wanted, None, 10, ())
    assert part.text("y").tolist() == ["9007199254740992", "9007199254740993", "", "5"]
    assert [ref.load().content_hash for ref in refs[1:]] == [refs[0].content_hash] * 3


def test_true_and_false_are_one_word_each(tmp_path):
    """In features as in labels, whether a file or a frame holds them, and in new rows."""
    wanted = Preparation(categorical=("onehot",), label="y")
    frame = pd.DataFrame({"c": [True, False, True], "x": [1, 2, 3], "y": ["a", "b", "a"]})
    (tmp_path / "my.csv").write_text("c,x,y\nTRUE,1,a\nfalse,2,b\ntrue,3,a\n")
    of_file = data.find(str(tmp_path / "my.csv"), preparation=wanted)
    of_memory = Frame("my", "classification", "my", frame, wanted)
    assert of_file.recipe.features == ["c=TRUE", "c=false", "x"]
    assert of_memory.recipe.features == ["c=False", "c=True", "x"]
    new = pd.DataFrame({"c": [False, True], "x": [4, 5]})
    for recipe, places in ((of_file.recipe, (1, 0)), (of_memory.recipe, (0, 1))):
        for table in (of_frame(new, Path("new")), of_frame(new.astype(str), Path("new"))):
            X, _, kept = recipe.apply(table, new=True)
            assert X[:, places].tolist() == [[1, 0], [0, 1]]
            assert not recipe.unseen(table, kept)["c"]

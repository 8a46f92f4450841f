"""Labels of a user's files: what a class is, how classes are numbered, and what is not taken for a class."""

import numpy as np
import pandas as pd
import pytest

from omkl import data
from omkl.data.preparation import Preparation
from omkl.data.preparing.labels import distinct, finder, y_of
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


def write(path, text):
    path.write_text(text)
    return path


def test_three_and_more_classes_are_numbered_in_their_order(tmp_path):
    d = data.find(str(write(tmp_path / "my.libsvm", "10 1:1\n9.0 1:2\n-1 2:1\n9 1:3\n"))).load()
    assert (d.y.tolist(), d.n_classes, d.classes) == ([2, 1, 0, 1], 3, ("-1", "9", "10"))
    assert d.notes == ("labels: -1, 10 have one row each; correct or remove the row if this is no class",)
    many = data.find(str(write(tmp_path / "many", "".join(f"{i} 1:1\n" for i in range(1, 1001)) * 2))).load()
    assert (many.n_classes, many.y[999]) == (1000, 999)
    plain = write(tmp_path / "plain.libsvm", "0 1:1\n1 1:2\n2 1:2\n" * 2)
    again = [data.find(str(plain)).load() for _ in range(2)][1]  # of the parsed copy
    assert (again.notes, again.classes, again.n_classes) == ((), ("0", "1", "2"), 3)
    (tmp_path / "words.csv").write_text("x,y\n1.5,b\n2,c\n3,a\n4,10\n")
    words = data.find(str(tmp_path / "words.csv")).load()
    assert (words.classes, words.y.tolist()) == (("10", "a", "b", "c"), [2, 3, 1, 0])
    one = data.find(str(tmp_path / "words.csv"), preparation=Preparation(positive="c")).load()
    assert (one.n_classes, one.y.tolist()) == (2, [-1, 1, -1, -1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:1\n1 1:2\n", r"every label is 1; classification takes 2 to 1000 classes; "),
        ("0.5 1:1\n2 1:1\n3 1:1", r"3 .*\(0.5, 2, 3\); .*; task=regression takes them as targets, positive="),
        (
            "".join(f"{i} 1:1\n" for i in range(1001)) * 2,
            r"1001 different .* 2 to 1000 classes; task=regression",
        ),
        (
            "".join(f"{i} 1:1\n" for i in range(21)),
            r"21 different labels \(0, .*, 7, ...\); .*; task=regression",
        ),
    ],
)
def test_labels_that_are_no_classes(tmp_path, content, message):
    with pytest.raises(UserError, match=message):
        data.find(str(write(tmp_path / "labels", content))).load()


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("1 1.0 +1 1. 1e0 0", "0 1"),
        ("0.0 -0 1.0 1", "0 1"),
        ("10 9 9.0 -1", "-1 9 10"),
        ("007 7 0", "0 7"),
        ("2.1 2.10 2.2", "2.1 2.2"),
        ("1_0 10 9", "10 1_0 9"),
        ("True true FALSE", "FALSE True true"),
        ("yes Yes no", "Yes no yes"),
        ("1 1.0 a 2.10 2.1", "1 1.0 2.1 2.10 a"),
        ("1 True", "1 True"),
    ],
)
def test_what_a_class_is(labels, names):
    """Numbers are numbers, words are words, without blanks around them and in NFC."""
    given = labels.split()
    made, place, _ = distinct(np.array([f" {label} " for label in given], object))
    assert made == tuple(names.split())
    assert [finder(made)(label) for label in given] == place.tolist()
    y, classes = y_of(np.array(given * 9), "classification", "here") if len(made) > 1 else (place, made)
    assert classes == made
    assert len(set(y.tolist())) == len(made)


def test_declared_classes_are_words():
    made, place, numbers = distinct(np.array(["10", "9", "010", "9"], object), declared=True)
    assert (made, place.tolist(), numbers) == (("9", "010", "10"), [2, 0, 1, 0], None)
    assert distinct(np.array(["cafe\u0301", "caf\u00e9", "b"], object))[0] == ("b", "caf\u00e9")


@pytest.mark.parametrize(
    ("classes", "label", "found"),
    [
        ("0 1", "1.0", "1"),
        ("0 1", "True", "1"),
        ("False True", "true", "True"),
        ("False True", "0.0", "False"),
        ("False True 1", "1", "1"),
        ("7 42", "007", "7"),
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


@pytest.mark.parametrize(
    ("labels", "positive", "y"),
    [
        ("0 0.0 1 1.0", "1", [-1, -1, 1, 1]),
        ("0 1", "+1.0", [-1, 1]),
        ("False True", "true", [-1, 1]),
        ("False True", "1", [-1, 1]),
        ("007 042", "7", [1, -1]),
        ("a b c", "b", [-1, 1, -1]),
    ],
)
def test_the_positive_class_is_found_as_the_classes_are(tmp_path, labels, positive, y):
    rows = "".join(f"{number},{label}\n" for number, label in enumerate(labels.split()))
    path = write(tmp_path / "my.csv", f"a,y\n{rows}")
    assert data.find(str(path), preparation=Preparation(positive=positive)).load().y.tolist() == y
    with pytest.raises(UserError, match=r"positive=9: .* no such class.*; it has "):
        data.find(str(path), preparation=Preparation(positive="9")).load()


def test_true_and_false_are_1_and_0_as_features_and_words_as_classes(tmp_path):
    path = write(tmp_path / "my.csv", "a,y\nTrue,TRUE\nFalse,FALSE\nTrue,FALSE\n")
    made = data.find(str(path)).load()
    assert (made.values.tolist(), made.indptr.tolist()) == ([1, 1], [0, 1, 1, 2])
    assert (made.y.tolist(), made.classes) == ([1, -1, -1], ("False", "True"))


def test_a_parquet_files_labels_have_all_their_digits(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": [1.0, 2.0], "id": [1234567, 1234568], "flag": [True, False], "t": [0.1234567, 2]}
    )
    frame.to_parquet(tmp_path / "my.parquet")

    def load(label, task="classification"):
        return data.find(str(tmp_path / "my.parquet"), task=task, preparation=Preparation(label=label)).load()

    assert load("id").classes == ("1234567", "1234568")
    assert (load("flag").classes, load("flag").y.tolist()) == (("False", "True"), [1, -1])
    assert load("t", "regression").y.tolist() == [0.1234567, 2]


def test_whole_numbers_that_all_differ_are_no_classes(tmp_path):
    path = write(tmp_path / "my.csv", "a,y\n" + "".join(f"{n},{60000 + 7 * n}\n" for n in range(16)))
    with pytest.raises(UserError, match=r"16 different labels .*; task=regression takes them as targets"):
        data.find(str(path)).load()
    few = write(tmp_path / "few.csv", "a,y\n1,1\n2,2\n3,3\n")
    assert data.find(str(few)).load().classes == ("1", "2", "3")

"""Labels of a user's files: three and more classes are numbered, targets are not taken for classes."""

import pytest

from omkl import data
from omkl.data.recipe import Preparation
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
        "1000 different numbers are classes; task=regression takes them as targets",
    )
    plain = write(tmp_path / "plain.libsvm", "0 1:1\n1 1:2\n2 1:2\n")
    again = [data.load(str(plain)) for _ in range(2)][1]  # of the parsed copy
    assert (again.notes, again.classes, again.n_classes) == ((), ("0", "1", "2"), 3)
    (tmp_path / "words.csv").write_text("1,b\n2,c\n3,a\n4,10\n")
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

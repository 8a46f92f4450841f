"""Tables of a user: labels, gaps, words, scales; what is wrong is named by file, line, column and setting."""

import json
import math
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from omkl.data import recipe, tables
from omkl.data.delimited import delimiter_of
from omkl.data.formats import read_table
from omkl.data.prepare import read_file
from omkl.data.recipe import Preparation, Recipe, recipe_of
from omkl.errors import UserError

TEXT = """age,colour,income,class
31,red,1.5,yes
,blue,2.5,no
45,red,,yes
60,green,4,no
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(TEXT)
    return path


def prepared(path, **wanted):
    table = read_table(path)
    own, notes = recipe_of(table, Preparation(**wanted))
    X, labels, kept = own.apply(table)
    return own, X, labels, kept, notes


def test_gaps_and_words_with_every_setting(path):
    own, X, labels, kept, notes = prepared(path, missing="mean", categorical="onehot")
    assert notes == [
        "the label is column 'class', the last; label= names another",
        "categorical=onehot makes 3 features of colour",
    ]
    assert own.features == ["age", "colour=blue", "colour=green", "colour=red", "income"]
    mean_age, mean_income = (31 + 45 + 60) / 3, (1.5 + 2.5 + 4) / 3
    expected = [[31, 0, 0, 1, 1.5], [mean_age, 1, 0, 0, 2.5], [45, 0, 0, 1, mean_income], [60, 0, 1, 0, 4]]
    np.testing.assert_allclose(X, expected, rtol=1e-15)
    assert labels.tolist() == ["yes", "no", "yes", "no"]
    _, X, labels, kept, _ = prepared(path, missing="drop", drop=("colour",))
    np.testing.assert_array_equal(X, [[31, 1.5], [60, 4]])
    assert kept.tolist() == [0, 3]


def test_a_column_of_gaps_has_no_mean(path):
    path.write_text("a,b,c\n?,1,yes\n?,2,no\n")
    with pytest.raises(
        UserError, match=r"column 'a' has no value in any row, so no mean; drop=a leaves it out"
    ):
        prepared(path, missing="mean")
    assert prepared(path, missing="mean", drop=("a",))[1].tolist() == [[1], [2]]


def test_the_class_that_is_not_positive_keeps_its_name_where_it_is_one(path):
    chosen = Preparation(positive="no", missing="mean", categorical="onehot")
    made, _ = read_file(path, "classification", chosen)
    assert (made.classes, made.y.tolist()) == (("yes", "no"), [-1, 1, -1, 1])
    assert "labels: yes -> -1, no -> +1" in made.notes
    path.write_text(TEXT + "3,red,1,maybe\n")
    made, _ = read_file(path, "classification", chosen)
    assert (made.classes, made.y.tolist()) == (("other", "no"), [-1, 1, -1, 1, -1])
    assert "labels: other -> -1, no -> +1" in made.notes


def test_a_gap_in_the_label_drops_the_row(path):
    path.write_text("a,b\n1,yes\n2,\n?,no\n4,no\n5,yes\n")
    made, own = read_file(path, "classification", Preparation(missing="drop"))
    assert (made.values.tolist(), made.y.tolist()) == ([1, 4, 5], [1, -1, 1])
    assert made.notes[1:3] == (
        "missing=drop leaves out 2 of 5 rows",
        "taken as missing: ?; na= says which words are",
    )
    table = read_table(path)
    assert own.apply(table, new=True)[2].tolist() == [0, 3, 4]
    _, labels, kept = own.apply(table, new=True, labelled=False)  # to be predicted
    assert (labels.tolist(), kept.tolist()) == (["yes", "", "no", "yes"], [0, 1, 3, 4])
    path.write_text("a,b\n1,?\n2,\n")
    with pytest.raises(UserError, match=r"every row has a missing value$"):
        prepared(path, missing="drop")


def test_a_parquet_file_is_the_same_table(path):
    pytest.importorskip("pyarrow")
    frame = pd.read_csv(path)
    frame.to_parquet(path.with_suffix(".parquet"))
    wanted = Preparation(missing="mean", categorical="onehot")
    files = (path, path.with_suffix(".parquet"))
    one, other = (read_file(file, "classification", wanted)[0] for file in files)
    assert one.content_hash == other.content_hash
    assert (one.name, one.notes, one.d) == (other.name, other.notes, other.d) == ("my", other.notes, 5)
    frame.to_feather(path.with_suffix(".feather"))
    lines = path.with_suffix(".jsonl")
    frame.to_json(lines, orient="records", lines=True)
    for other in (path.with_suffix(".feather"), lines):
        assert read_file(other, "classification", wanted)[0].content_hash == one.content_hash
    frame.assign(age=pd.to_datetime("2025-01-01")).to_parquet(path.with_suffix(".parquet"))
    own = read_file(path.with_suffix(".parquet"), "classification", wanted)[1]
    assert own.features[:4] == ["age (days)", "age (month)", "age (day)", "age (weekday)"]


def test_scales_are_of_the_whole_table_and_say_so(path):
    _, X, _, _, notes = prepared(path, missing="mean", drop=("colour",), scale="minmax")
    assert X.min(axis=0).tolist() == [0, 0]
    assert X.max(axis=0).tolist() == [1, 1]
    assert notes[1:] == ["scale=minmax uses the whole file: every round knows what comes later"]
    _, X, _, _, _ = prepared(path, missing="drop", drop=("2",), scale="standard", label="class")
    values = np.array([[31, 1.5], [60, 4]])
    known = np.array([31, 45, 60]), np.array([1.5, 2.5, 4])
    expected = (values - [column.mean() for column in known]) / [column.std() for column in known]
    np.testing.assert_allclose(X, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ("1 2 -1e300", {"scale": "standard"}),
        ("-1e308 2 1.1e308", {"scale": "minmax"}),
        ("1e308 1e308 ?", {"missing": "mean"}),
    ],
)
def test_what_a_scale_or_mean_cannot_hold_is_named(path, cells, wanted):
    path.write_text("a,b\n" + "".join(f"{cell},{number}\n" for number, cell in enumerate(cells.split())))
    with pytest.raises(
        UserError, match=r"my\.csv:[24]: column 'a': a feature of size \S+e\+30. makes the mean"
    ):
        prepared(path, **wanted)
    path.write_text("a,b\n1,0\ninf,1\n")  # no warning of numpy before the error
    with pytest.raises(UserError, match="column 'a' is not finite"):
        prepared(path, **wanted)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, r"my\.csv:3: column 'age' has no value \(''\); missing=mean fills it in, missing=drop"),
        (
            {"missing": "mean", "categorical": "error"},
            r"my\.csv:2: column 'colour' holds 'red', which is not a number; categorical=onehot",
        ),
        (
            {"label": "klass"},
            r"label=klass: .*my\.csv has no such column .did you mean .class.*it has 4 columns: ",
        ),
        ({"label": "5"}, r"label=5: .*no such column"),
        ({"drop": ("class",)}, "drop=class: this is the label"),
        ({"drop": ("age", "colour", "income")}, r"drop=age,colour,income leaves no feature"),
    ],
)
def test_what_is_wrong_is_named(path, wanted, said):
    with pytest.raises(UserError, match=said):
        prepared(path, **wanted)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n3\n", r"my\.csv:3: 1 column; the lines before have 2"),
        ("a,b\n1,yes\ninf,no\n", r"my\.csv:3: column 'a' is not finite \('inf'\)"),
        ("a,b\n\n1,yes\n+nan,no\n", r"my\.csv:4: column 'a' is not finite \('\+nan'\)"),
        ("a,b\n1,yes\n1_0,no\n", r"my\.csv:3: column 'a' holds '1_0', which is not a number"),
        (
            "a,b\n1,yes\n2,\n",
            r"my\.csv:3: the label \(column 'b'\) is missing; remove the row, or missing=drop leaves",
        ),
        ("a,a,b\n1,1,yes\n", "two columns are named 'a'"),
        ("a,b\n", "no examples"),
        ("b\nyes\nno\n", r"1 column, so no features; is the delimiter right"),
        ("", "no examples"),
    ],
)
def test_broken_tables_are_refused_with_file_and_line(path, text, said):
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        prepared(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,ä\n2,ö\n".encode("latin-1"), r":2: the text is not UTF-8 \(byte 0xe4\); encoding=latin1"),
        ("ä,b\n1,n\n2,y\n".encode("latin-1"), r":1: the text is not UTF-8"),
        ("a,b\n1,n\n2,y\n".encode("utf-16"), r":1: the text is UTF-16, not UTF-8; encoding=utf-16 reads it"),
        ("a,b\n1,n\n2,y\n".encode("utf-16-be"), r":1: the text is UTF-16"),
        (b"a,b\n1,no\n2,n\0o\n", r":3: the line holds a NUL byte"),
        ("\ufeffa,b\n1,\u00e4\n2,\u00f6\n".encode(), None),
    ],
)
def test_text_that_is_not_utf_8_is_refused(path, content, said):
    path.write_bytes(content)
    if said is None:
        own, _, labels, _, _ = prepared(path)
        assert (own.columns, labels.tolist()) == (("a",), ["ä", "ö"])
        return
    with pytest.raises(UserError, match=rf"^\S+my\.csv{said}"):
        prepared(path)


@pytest.mark.parametrize("categorical", ["error", "onehot"])
@pytest.mark.parametrize(
    ("cells", "refused"),
    [("82,5 25,5 -3,0", "82,5"), ("82 25,5 3.5 1e5", "25,5"), ("? 7,5 7,5", "7,5"), ("1,2,3 4,5 6,7", None)],
)
def test_numbers_with_a_decimal_comma_are_no_categories(path, categorical, cells, refused):
    path.write_text("a\tb\n" + "".join(f"{cell}\t{number}\n" for number, cell in enumerate(cells.split())))
    table, wanted = read_table(path), Preparation(categorical=categorical, missing="mean")
    said = (
        rf"column 'a' holds '{refused}', (which is .* with decimal=,|a number with a decimal comma in a co)"
    )
    if refused is None:
        said = "column 'a' holds '1,2,3', which is not a number"
        if categorical == "onehot":
            assert recipe_of(table, wanted)[0].features == ["a=1,2,3", "a=4,5", "a=6,7"]
            return
    with pytest.raises(UserError, match=said):
        recipe_of(table, wanted)[0].apply(table)


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("0,5;1,25;ja", ";"),
        ("a;b;c", ";"),
        ("1,2,a;b", ","),
        ("1,2,a", ","),
        ("1 2\t3", "\t"),
        ("1 2", "whitespace"),
    ],
)
def test_the_delimiter_of_a_table(path, line, mark):
    path.write_text(line + "\n")
    assert delimiter_of(path) == (mark, 0)


def test_quotes_and_an_unnamed_counting_column(path):
    path.write_text(',"a, b",label\n0,"1.5","x, y"\n1,2.5,z\n')
    own, _, labels, _, notes = prepared(path)
    assert own.columns == ("column 1", "a, b")
    assert labels.tolist() == ["x, y", "z"]
    assert "the first column has no name and counts the rows; drop=1 leaves it out" in notes[1]
    assert len(prepared(path, drop=("1",))[4]) == 1


def test_a_table_without_names_has_numbered_columns(path):
    path.write_text("1,2,0\n3,4,1\n")
    own, _, labels, _, _ = prepared(path)
    assert own.columns == ("1", "2")
    assert labels.tolist() == ["0", "1"]
    assert prepared(path, label="1")[1].tolist() == [[2, 0], [4, 1]]


def test_a_recipe_is_kept_as_json_and_applied_to_other_rows(path, tmp_path):
    own = prepared(path, missing="mean", categorical="onehot", scale="minmax")[0]
    again = Recipe.from_json(json.loads(json.dumps(own.to_json())))
    assert again == own
    other = tmp_path / "new.csv"
    other.write_text("income,age,colour\n2,NA,violet\n")
    X, labels, _ = again.apply(read_table(other))
    mean = ((31 + 45 + 60) / 3 - 31) / 29
    np.testing.assert_allclose(X, [[mean, 0, 0, 0, 0.2]], rtol=1e-12)
    assert labels is None
    other.write_text("income,colour\n2,red\n")
    with pytest.raises(UserError, match="has no column 'age'"):
        again.apply(read_table(other))
    changes = (
        {"columns": []},
        {"scaling": {"age": [1]}},
        {"scaling": {"age": [0, math.inf]}},
        {"means": {"age": math.nan}},
        {"means": {"age": 10**400}},
        {"means": {"nobody": 1.0}},
        {"categories": {"colour": [["red"]]}},
        {"preparation": {**asdict(own.preparation), "drop": [1]}},
        {"preparation": {**asdict(own.preparation), "positive": ["yes"]}},
    )
    for broken in ([], {}, *({**own.to_json(), **change} for change in changes)):
        with pytest.raises(ValueError, match="recipe of its data is broken"):
            Recipe.from_json(broken)


def test_too_many_categories(path, monkeypatch):
    monkeypatch.setattr(recipe, "MOST_CATEGORIES", 2)
    with pytest.raises(UserError, match=r"column .colour. has 3 different values.*drop=colour"):
        prepared(path, missing="mean", categorical="onehot")


def test_a_name_with_a_comma_is_shown_as_one_types_it(path):
    path.write_text('"price, net",size,y\n1,2,no\n3,4,yes\n')
    with pytest.raises(
        UserError, match=r"\(did you mean 'price, net'\?\); type 'drop=\"price, net\"'; it has 3"
    ):
        prepared(path, drop=("price", "net"))
    with pytest.raises(
        UserError, match=r"\(did you mean 'size'\?\); it has 3 columns: 'price, net', size, y"
    ):
        prepared(path, drop=("siz",))
    assert prepared(path, drop=("price, net",))[0].columns == ("size",)


def test_a_data_frame_is_a_table_too(path):
    frame = pd.DataFrame(
        {"n": [1, 2, 3], "flag": [True, False, True], "word": ["a", None, "b"], "y": [0, 1, 1]}
    )
    table = tables.of_frame(frame, path)
    own, _ = recipe_of(table, Preparation(missing="mean", categorical="onehot"))
    X, labels, _ = own.apply(table)
    assert X.tolist() == [[1, 0, 1, 1, 0], [2, 1, 0, 0, 0], [3, 0, 1, 0, 1]]  # as of a file
    assert labels.tolist() == ["0", "1", "1"]

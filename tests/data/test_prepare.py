"""The sources' own formats: small files written here, and the real sets written back in that format."""

import lzma

import numpy as np
import pytest

from omkl import data
from omkl.data import formats, labels, prepare
from omkl.data.registry import DataFile, Form
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def nothing_but_here(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    (tmp_path / "data").mkdir()


def form(name, kind):
    """The form of a registered set with this format."""
    return next(f for f in data.registry.entry(name).forms if f.format == kind)


def read(folder, form, *contents):
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / str(number))
        paths[-1].write_text(content)
    rows = prepare.read_form(form, paths)
    X = np.zeros((len(rows.labels), rows.d))
    X[np.repeat(np.arange(len(X)), np.diff(rows.indptr)), rows.indices] = rows.values
    return X.tolist(), labels.class_numbers(rows.labels, form.labels, "x")[0].tolist()


def test_wdbc_format_id_then_diagnosis(tmp_path):
    text = "842302,M,17.99,10.38\n8510426,B,13.54,0\n"
    assert read(tmp_path, form("wdbc", "table"), text) == ([[17.99, 10.38], [13.54, 0]], [1, -1])


def test_breast_format_id_and_missing_values(tmp_path):
    text = "1000025,5,1,2\n1057013,8,?,4\n1002945,5,4,4\n"
    assert read(tmp_path, form("breast", "table"), text) == ([[5, 1], [5, 4]], [-1, 1])
    assert read(tmp_path, form("breast_cancer", "table"), text)[0] == [[1000025, 5, 1], [1002945, 5, 4]]


def test_votes_format_party_first_and_words(tmp_path):
    text = "republican,n,y,?\ndemocrat,?,n,y\n"
    assert read(tmp_path, form("votes84", "table"), text) == ([[-1, 1, 0], [0, -1, 1]], [-1, 1])


@pytest.mark.parametrize(
    ("name", "plus", "minus"),
    [("magic04", "g", "h"), ("ionosphere", "g", "b"), ("sonar", "R", "M"), ("spambase", "1", "0")],
)
def test_label_last_formats(tmp_path, name, plus, minus):
    text = f"28.79,-0.5,{plus}\n0,2e-3,{minus}\n"
    assert read(tmp_path, form(name, "table"), text) == ([[28.79, -0.5], [0, 0.002]], [1, -1])


def test_australian_format_is_separated_by_spaces(tmp_path):
    assert read(tmp_path, form("australian", "table"), "1 22.08 0\n0 5 1 \n") == (
        [[1, 22.08], [0, 5]],
        [-1, 1],
    )


def test_madelon_format_data_and_labels(tmp_path):
    assert read(tmp_path, form("madelon", "table"), "485 477 \n3 0 \n", "-1\n1\n") == (
        [[485, 477], [3, 0]],
        [-1, 1],
    )


def test_elec2_labels_mean_up_for_zero(tmp_path):
    assert read(tmp_path, form("elec2", "table"), "0 2 0.5\n0 3 1\n", "0\n1\n")[1] == [1, -1]


def test_dorothea_format_lists_columns(tmp_path):
    X, y = read(tmp_path, form("dorothea", "sparse_binary"), "2 3 \n1 \n", "-1\n1\n")
    assert (X, y) == ([[0, 1, 1], [1, 0, 0]], [-1, 1])


TABLE = Form("table", (DataFile("t"),), {"1": 1, "0": -1})
LABELLED = Form("table", (DataFile("t"), DataFile("l")), {"1": 1, "0": -1}, label="file")
COLUMNS = Form("sparse_binary", (DataFile("t"), DataFile("l")), {"1": 1, "0": -1}, label="file")


@pytest.mark.parametrize(
    ("form", "contents", "message"),
    [
        (TABLE, ["1,2,1\n1,2,3\n"], "label '3'; expected one of 1, 0"),
        (TABLE, ["1,2,1\n1,?,0\n"], ":2: column 2: '?' is not a number"),
        (TABLE, ["a,b,class\n1,2,0\n"], ":1: column 1: 'a' is not a number"),
        (TABLE, ["<html><p>, no such file\n"], "is not a number"),
        (LABELLED, ["1,2\n3,4\n", "1\n"], "1 label for the 2 rows"),
        (LABELLED, ["1,2\n", "1 0\n"], ":1: 2 words; a label file has one label per line"),
        (COLUMNS, ["1 2\n", ""], "0 labels for the 1 rows"),
        (COLUMNS, ["3 2\n", "1\n"], ":1: column numbers must start at 1 and ascend"),
        (COLUMNS, ["0 2\n", "1\n"], ":1: column numbers must start at 1 and ascend"),
        (COLUMNS, ["1 x\n", "1\n"], ":1: 'x' is not a column number"),
        (COLUMNS, ["", "1\n"], "no examples in it"),
        (Form("table", (DataFile("t"),), {"1": 1}, label=9), ["1,2\n"], "column 9, but the file has 2 col"),
    ],
)
def test_content_that_does_not_fit(tmp_path, form, contents, message):
    with pytest.raises(UserError) as caught:
        read(tmp_path, form, *contents)
    assert message in str(caught.value)


def test_labels_written_differently_are_the_same():
    y, classes = labels.class_numbers(np.array(["+1", "1", "-1", "1.0", "-1e0"]), {"1": 1, "-1": -1}, "x")
    assert (y.tolist(), classes) == ([1, 1, -1, 1, -1], None)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("my.libsvm.xz", "my"),
        ("a.b.csv", "a.b"),
        ("a.parquet", "a"),
        ("cod-rna.t", "cod-rna.t"),
        ("x.npz", "x"),
        ("tab.tsv", "tab"),
        ("tab.tsv.gz", "tab"),
        ("x.txt.libsvm", "x.txt"),
        ("german.numer_scale", "german.numer_scale"),
        (".libsvm", ".libsvm"),
    ],
)
def test_stem(tmp_path, name, stem):
    assert formats.data_name(tmp_path / name) == formats.data_name(str(tmp_path / name)) == stem


def as_source(d, form):
    """Write a loaded set back in the format of its source; return the text of each of its files."""
    words = {sign: label for label, sign in form.labels.items()}
    labels = [words[int(sign)] for sign in d.y]
    rows = [slice(a, b) for a, b in zip(d.indptr[:-1], d.indptr[1:], strict=True)]
    separator = "," if form.delimiter == "," else " "
    if form.format == "sparse_binary":
        lines = [" ".join(str(i + 1) for i in d.indices[row]) + " " for row in rows]
        return ["\n".join(lines) + "\n", "\n".join(labels) + "\n"]
    values = {value: word for word, value in (form.values or {}).items()}
    lines = []
    for number, (row, label) in enumerate(zip(rows, labels, strict=True)):
        x = np.zeros(d.d)
        x[d.indices[row]] = d.values[row]
        cells = [values[v] if form.values else repr(float(v)) for v in x]
        if form.label != "file":
            cells.insert(len(cells) if form.label == "last" else {"first": 0}.get(form.label, 0), label)
        for column in form.drop:
            cells.insert(column - 1, str(10_000 + number))
        lines.append(separator.join(cells))
        if form.missing and number % 40 == 7:
            lines.append(
                separator.join([*cells[:5], form.missing, *cells[6:]])
            )  # a row that must be left out
    return ["\n".join(lines) + "\n", *(["\n".join(labels) + "\n"] if form.label == "file" else [])]


ELSEWHERE = ("spam_corpus", "susy_1m")  # too large: test_public_sets.py
SOURCES = [
    (name, number)
    for name in data.registry.names()
    if name not in ELSEWHERE
    for number, form in enumerate(data.registry.entry(name).forms)
    if form.format in ("table", "sparse_binary") and form.labels  # targets: test_regression_files.py
]


def test_every_set_of_another_format_is_among_the_sources():
    names = {name for name, _ in SOURCES}
    one = "wdbc magic04 spambase ionosphere sonar votes84 breast breast_cancer australian"
    two = "madelon madelon_t dorothea dorothea_val elec2 weather usps usps_t"
    assert names == {*one.split(), *two.split()}


@pytest.mark.parametrize(("name", "number"), SOURCES)
def test_real_set_in_its_source_format_has_the_registered_content(
    shared_data, tmp_path, monkeypatch, name, number
):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    expected = data.load(name)
    item = data.registry.entry(name)
    form = item.forms[number]
    for file, text in zip(form.files, as_source(expected, form), strict=True):
        packed = tmp_path / "data" / (file.name + ".xz")
        packed.write_bytes(lzma.compress(text.encode(), preset=0))
    monkeypatch.setenv("OMKL_DATA", str(tmp_path / "data"))
    assert [path.parent for path in data.registered(name).paths()] == [tmp_path / "data"] * len(form.files)
    loaded = data.load(name)
    assert loaded.content_hash == expected.content_hash == item.content_hash == data.registered(name).verify()
    assert loaded.path != expected.path
    for key in ("indptr", "indices", "values", "y"):
        assert np.array_equal(getattr(loaded, key), getattr(expected, key))


def test_unit_brings_each_feature_to_0_1_by_its_own_range(tmp_path):
    scaled = Form("libsvm", labels={"1": 1, "-1": -1}, unit=True)
    X, y = read(tmp_path, scaled, "1 1:-5 2:3 3:7\n-1 1:5 3:7\n1 2:1 3:7\n")
    assert X == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1 / 3, 0.0]]
    assert y == [1, -1, 1]

"""The sources' own formats: small files written here, and the real sets written back in that format."""

import lzma

import numpy as np
import pytest

from omkl import data
from omkl.data import registry
from omkl.data.preparing import labels
from omkl.data.raw_files import READERS
from omkl.data.reading import formats
from omkl.data.reading.numbered import joined, undense
from omkl.data.registry import Form
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def nothing_but_here(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    (tmp_path / "data").mkdir()


def form(name):
    """The form of a registered set that a function reads."""
    return next(f for f in data.registry.entry(name).forms if f.format in READERS)


def read(folder, form, *contents):
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / str(number))
        paths[-1].write_text(content)
    rows = joined(list(registry.source_parts(form, paths, None)))
    return undense(rows).tolist(), labels.y_of(rows.labels, "classification", "x", mapping=form.labels)[
        0
    ].tolist()


@pytest.mark.parametrize(
    ("name", "texts", "X", "y"),
    [
        ("wdbc", ["842302,M,17.99,10.38\n8510426,B,13.54,0\n"], [[17.99, 10.38], [13.54, 0]], [1, -1]),
        ("breast", ["1000025,5,1,2\n1057013,8,?,4\n1002945,5,4,4\n"], [[5, 1], [5, 4]], [-1, 1]),
        ("votes84", ["republican,n,y,?\ndemocrat,?,n,y\n"], [[-1, 1, 0], [0, -1, 1]], [-1, 1]),
        ("magic04", ["28.79,-0.5,g\n0,2e-3,h\n"], [[28.79, -0.5], [0, 0.002]], [1, -1]),
        ("ionosphere", ["28.79,-0.5,g\n0,2e-3,b\n"], [[28.79, -0.5], [0, 0.002]], [1, -1]),
        ("sonar", ["28.79,-0.5,R\n0,2e-3,M\n"], [[28.79, -0.5], [0, 0.002]], [1, -1]),
        ("spambase", ["28.79,-0.5,1\n0,2e-3,0\n"], [[28.79, -0.5], [0, 0.002]], [1, -1]),
        ("australian", ["1 22.08 0\n0 5 1 \n"], [[1, 22.08], [0, 5]], [-1, 1]),
        ("madelon", ["485 477 \n3 0 \n", "-1\n1\n"], [[485, 477], [3, 0]], [-1, 1]),
        ("elec2", ["0 2 0.5\n0 3 1\n", "0\n1\n"], [[0, 2, 0.5], [0, 3, 1]], [1, -1]),
        ("dorothea", ["2 3 \n1 \n", "-1\n1\n"], [[0, 1, 1], [1, 0, 0]], [-1, 1]),
        (
            "codrna_unit",
            ["1 1:-5 2:3 3:7\n-1 1:5 3:7\n1 2:1 3:7\n"],
            [[0, 1, 0], [1, 0, 0], [0.5, 1 / 3, 0]],
            [1, -1, 1],
        ),
        ("susy_1m", ["1,0.5\n0,2\n"], [[0.5], [2]], [1, -1]),
    ],
)
def test_a_reader_of_each_kind(tmp_path, name, texts, X, y):
    assert read(tmp_path, form(name), *texts) == (X, y)


TWO = {"1": 1, "0": -1}


@pytest.mark.parametrize(
    ("kind", "contents", "message"),
    [
        ("table", ["1,2,1\n1,2,3\n"], "label '3'; expected one of 1, 0"),
        ("table", ["1,2,1\n1,x,0\n"], "could not convert string to float: 'x'"),
        ("table", ["<html><p>, no such file\n"], "could not convert string to float: '<html><p>'"),
        ("labels_apart", ["1,2\n3,4\n", "1\n"], "1 label for 2 rows"),
        ("labels_apart", ["1,2\n1,?\n", "1\n0\n"], "could not convert string to float: '?'"),
        ("labels_apart", ["1,2\n1,2,3\n", "1\n0\n"], "Expected 2 fields in line 2, saw 3"),
        ("ones", ["1 2\n", ""], "not the file that is registered"),
        ("ones", ["1 x\n", "1\n"], "not the file that is registered: "),
        ("ones", ["", "1\n"], "not the file that is registered"),
        ("votes84", ["democrat,y,n\nrepublican,y,maybe\n"], "could not convert string to float: 'maybe'"),
    ],
)
def test_content_that_does_not_fit(tmp_path, kind, contents, message):
    with pytest.raises(UserError) as caught:
        read(tmp_path, Form(kind, labels=TWO), *contents)
    assert message in str(caught.value)


def test_labels_written_differently_are_the_same():
    y, classes = labels.y_of(
        np.array(["+1", "1", "-1", "1.0", "-1e0"]), "classification", "x", mapping={"1": 1, "-1": -1}
    )
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


WORDS = {1.0: "y", -1.0: "n", 0.0: "?"}
PLACES = {"votes84": 0, "wdbc": 0}  # of the label, after the id; else the last


def as_source(d, form):
    """Write a loaded set back in the format of its source; return the text of each of its files."""
    words = {sign: label for label, sign in form.labels.items()}
    own = [words[int(sign)] for sign in d.y]
    rows = [slice(a, b) for a, b in zip(d.indptr[:-1], d.indptr[1:], strict=True)]
    if form.format == "ones":
        lines = [" ".join(str(i + 1) for i in d.indices[row]) + " " for row in rows]
        return ["\n".join(lines) + "\n", "\n".join(own) + "\n"]
    is_apart = form.format == "labels_apart"
    separator = " " if is_apart or d.name == "australian" else ","
    lines = []
    for number, (row, label) in enumerate(zip(rows, own, strict=True)):
        x = np.zeros(d.d)
        x[d.indices[row]] = d.values[row]
        cells = [WORDS[v] if form.format == "votes84" else repr(float(v)) for v in x]
        if not is_apart:
            cells.insert(PLACES.get(form.format, len(cells)), label)
        if form.format in ("breast", "wdbc"):
            cells.insert(0, str(10_000 + number))
        lines.append(separator.join(cells))
        if form.format.startswith("breast") and number % 40 == 7:  # a row that must be left out
            lines.append(separator.join([*cells[:5], "?", *cells[6:]]))
    return ["\n".join(lines) + "\n", *(["\n".join(own) + "\n"] if is_apart else [])]


ELSEWHERE = ("spam_corpus", "susy_1m", "adaraker_har", "susy_30k")  # large, or of MATLAB: test_public_sets.py
SOURCES = [
    (name, number)
    for name in data.registry.registered_names()
    if name not in ELSEWHERE
    for number, form in enumerate(data.registry.entry(name).forms)
    if form.format in READERS and form.labels and name != "codrna_unit"  # targets: test_regression_files.py
]


def test_every_set_of_another_format_is_among_the_sources():
    names = {name for name, _ in SOURCES}
    one = "wdbc magic04 spambase ionosphere sonar votes84 breast australian"
    two = "madelon madelon_t dorothea dorothea_val elec2 weather"
    assert names == {*one.split(), *two.split()}


@pytest.mark.parametrize(("name", "number"), SOURCES)
def test_real_set_in_its_source_format_has_the_registered_content(
    shared_data, tmp_path, monkeypatch, name, number
):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    expected = data.find(name).load()
    item = data.registry.entry(name)
    form = item.forms[number]
    for file, text in zip(form.files, as_source(expected, form), strict=True):
        packed = tmp_path / "data" / (file.name + ".xz")
        packed.write_bytes(lzma.compress(text.encode(), preset=0))
    monkeypatch.setenv("OMKL_DATA", str(tmp_path / "data"))
    assert [path.parent for path in data.registered(name).paths()] == [tmp_path / "data"] * len(form.files)
    loaded = data.find(name).load()
    assert loaded.content_hash == expected.content_hash == item.content_hash == data.registered(name).verify()
    assert loaded.path != expected.path
    for key in ("indptr", "indices", "values", "y"):
        assert np.array_equal(getattr(loaded, key), getattr(expected, key))


ODD = """import numpy
import pandas


def odd(paths):
    rows = [line.split() for line in open(paths[0])]
    X = [[float(cell) for cell in row[1:]] for row in rows]
    return {made}
"""
YAML = """title: Odd
description: "Lines such as: a 1.5 0"
task: classification
T: 3
d: 2
source: here
licence: none
forms:
  - format: odd
    files: [name: odd.txt]
    labels: {a: -1, b: 1}
"""


@pytest.mark.parametrize(
    "made",
    [
        "numpy.array(X), [row[0] for row in rows]",
        "pandas.DataFrame(X, columns=['u', 'v']).assign(label=[row[0] for row in rows])",
    ],
)
def test_an_odd_file_is_a_function_of_a_folder(tmp_path, monkeypatch, made):
    """It returns X and y, or a frame; what it raises is named, and an edit is read."""
    for folder in ("conf/data", "data"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / "conf" / "data" / "mine.yaml").write_text(YAML)
    (tmp_path / "data" / "odd.py").write_text(ODD.format(made=made))
    (tmp_path / "odd.txt").write_text("a 1.5 0\nb 0 2\na 3 0.25\n")
    for name, value in (("OMKL_PATH", tmp_path), ("OMKL_DATA", tmp_path), ("OMKL_CACHE", tmp_path / "cache")):
        monkeypatch.setenv(name, str(value))
    loaded = data.find("mine").load()
    assert (loaded.y.tolist(), loaded.values.tolist()) == ([-1, 1, -1], [1.5, 2, 3, 0.25])
    assert loaded.indices.tolist() == [0, 1, 0, 1]
    (tmp_path / "data" / "odd.py").write_text(ODD.format(made=made).replace("row[1:]", "reversed(row[1:])"))
    assert data.find("mine").load().indices.tolist() == [1, 0, 0, 1]
    (tmp_path / "data" / "odd.py").write_text(ODD.format(made=made).replace("paths[0]", "paths[7]"))
    with pytest.raises(UserError, match=r"odd\.py: odd\(\.\.\.\) ended with IndexError: "):
        data.find("mine").load()

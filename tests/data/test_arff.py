"""ARFF: dense and sparse, nominal classes are labels, and what is wrong is named by its line."""

import gzip
import tracemalloc

import numpy as np
import pytest

from omkl.data import load
from omkl.data.preparation import Preparation
from omkl.data.preparing.recipe import recipe_of
from omkl.data.reading.formats import read_table
from omkl.errors import UserError

HEAD = """% a comment
@relation 'a name'

@ATTRIBUTE size\tREAL
@attribute 'in cm' integer % a comment
@attribute colour {red,'dark blue',\"x,y\"}
@attribute day date 'yyyy-MM-dd'
@attribute class {no, yes}
@DATA
"""
DENSE = HEAD + "1.5,2,red,2020-01-01,yes\n?, 3.5 ,'dark blue','2020-01-02',no\n% note\n\n-2,0,\"x,y\",?,yes\n"
SPARSE = HEAD + "{0 1.5, 1 2,3 2020-01-01, 4 yes}\n{}\n{2 'dark blue',0 ?}\n"


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.arff"


def test_dense_rows(path):
    path.write_text(DENSE)
    table = read_table(path)
    assert table.names == ["size", "in cm", "colour", "day", "class"]
    assert list(table.frame.index) == [10, 11, 14]
    assert table.numbers("in cm").tolist() == [2, 3.5, 0]  # an integer attribute is not truncated
    assert table.text("colour").tolist() == ["red", "dark blue", "x,y"]
    assert [table.missing(name).tolist() for name in ("size", "day")] == [
        [False, True, False],
        [False, False, True],
    ]
    dataset = load(str(path), preparation=Preparation(drop=("day",), categorical=("onehot",), missing="mean"))
    assert (dataset.classes, dataset.y.tolist(), dataset.d) == (("no", "yes"), [1, -1, 1], 5)
    with pytest.raises(UserError, match=r"my\.arff:11: column 'size' has no value \('\?'\)"):
        load(str(path), preparation=Preparation(missing="error"))
    path.with_suffix(".ARFF.gz").write_bytes(gzip.compress(DENSE.encode()))
    assert list(read_table(path.with_suffix(".ARFF.gz")).frame.index) == [10, 11, 14]


def test_sparse_rows(path):
    path.write_text(SPARSE)
    table = read_table(path)
    assert table.sparse
    assert table.cell("size", 2) == "?"
    np.testing.assert_array_equal(table.numbers("size"), [1.5, 0, np.nan])
    assert table.numbers("in cm").tolist() == [2, 0, 0]
    assert table.text("colour").tolist() == ["red", "red", "dark blue"]  # the first is not written
    assert table.text("class").tolist() == ["yes", "no", "no"]
    wanted = Preparation(drop=("day",), categorical=("onehot",), missing="mean")
    table = read_table(path, wanted)
    own, _ = recipe_of(table)
    X, labels, _ = own.apply(table)
    assert own.features == ["size", "in cm", "colour=dark blue", "colour=red"]
    assert X.toarray().tolist() == [[1.5, 2, 0, 1], [0, 0, 0, 1], [0.75, 0, 1, 0]]
    assert labels.tolist() == ["yes", "no", "no"]
    dataset = load(str(path), preparation=wanted)
    assert (dataset.nnz, dataset.indices.tolist()) == (6, [0, 1, 3, 3, 0, 2])


def test_a_class_called_none_is_a_class(path):
    path.write_text("@relation r\n@attribute a numeric\n@attribute y {None,Mild}\n@data\n1,None\n2,Mild\n")
    assert load(str(path)).classes == ("Mild", "None")
    with pytest.raises(UserError, match=r"header=no is for delimited text"):
        load(str(path), preparation=Preparation(header="no"))


@pytest.mark.slow
def test_a_sparse_file_is_not_made_dense(path, monkeypatch):
    d, T = 1500, 3000
    head = (
        "@relation r\n"
        + "".join(f"@attribute w{i} numeric\n" for i in range(d))
        + "@attribute y {a,b}\n@data\n"
    )
    path.write_text(
        head + "".join(f"{{{n * 7 % d} 1.5, {d} b}}\n" if n % 2 else f"{{{n // 2} 2}}\n" for n in range(T))
    )
    tracemalloc.start()
    try:
        dataset = load(str(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (dataset.T, dataset.d, dataset.nnz) == (T, d, T)
    assert peak < 8 * T * d / 3
    monkeypatch.setenv("OMKL_MAX_BYTES", "200000")
    with pytest.raises(
        UserError, match=r"my\.arff: 3000 rows with over \d+ values other than 0 are too many"
    ):
        load(str(path), preparation=Preparation(scale="standard"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "1,2,red,?,maybe\n", r":10: 'maybe' is not one of the values that its attribute declares"),
        (HEAD + "1,2,red,50%\n", r":10: the row does not have 5 values"),
        (HEAD + "{9 1}\n", r":10: an entry is beyond the last of 5 attributes"),
        (HEAD + "{0 1}\n1,2,red,?,yes\n", r":11: not valid ARFF"),
        (HEAD + "x,2,red,?,yes\n1,2,red,?,no\n", r":10: column 'size' holds 'x', which is no number"),
        (HEAD, ": no examples in it"),
        ("@relation r\n@attribute a {x,y\n@data\n", r":2: the attribute .* cannot be read; .*a blank"),
        ("@relation r\n@attribute a {" + "x," * 60 + "\n", r":2: the attribute .* cannot be read"),
        ("@relation r\n@attribute a relational\n", r":2: the attribute '@attribute a rel.* cannot be read"),
        (
            "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
            r":3: two attributes have this name",
        ),
        ("a,b\n1,2\n", r":2: not valid ARFF"),
        (HEAD + "1,2,red,\\z'\n", r":10: "),
    ],
)
def test_broken_files_are_refused_with_their_line(path, text, said):
    path.write_text(text)
    with pytest.raises(UserError, match=rf"my\.arff{said}"):
        load(
            str(path), preparation=Preparation(drop=() if text.startswith(("a", "@")) else ("colour", "day"))
        )


def test_the_limit_holds(path):
    path.write_text(DENSE)
    with pytest.raises(UserError, match="holds more than 100 bytes"):
        read_table(path, limit=100)

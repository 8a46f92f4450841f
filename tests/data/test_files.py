"""Users' files: by their ending to pandas, two rules for text, keywords, what pandas says of faults."""

import dataclasses
import io
import sys

import numpy as np
import pandas as pd
import pytest
from support.workbooks import ods, xls, xlsx

import omkl
from omkl.cli import main
from omkl.config.request import files
from omkl.data import find, from_arrays
from omkl.data.preparing.recipe import Recipe
from omkl.data.preparing.user_table import table_of
from omkl.data.reading import opening
from omkl.data.reading.formats import parts_of
from omkl.errors import UserError

T = 40
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(T, 2)).round(3), columns=list("ab"))
FRAME["y"] = np.where(FRAME.a > 0, "yes", "no")
CSV = FRAME.to_csv(index=False)
ROWS = FRAME.to_csv(index=False, header=False)


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def ref(text, name="rows.csv", *words, **settings):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        (found,) = files(list(words), settings, [str(path)])
        return found

    return ref


def same(ref):
    return ref.load().content_hash == from_arrays(FRAME[["a", "b"]].to_numpy(), FRAME.y).content_hash


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (CSV, "rows.CSV", []),
        ("\ufeff" + CSV, "rows.csv", []),
        (CSV.replace(",", ";"), "rows.csv", []),
        (CSV.replace(",", "|"), "rows.txt", []),
        (CSV.replace(",", "\t"), "rows.tsv", []),
        (CSV.replace("a,b", '"a","b"'), "rows", []),
        (CSV.replace(",", " , "), "rows.csv", []),
        (CSV.replace("\n", "\r\n"), "rows.data", []),
        (CSV.replace(",", " "), "rows.txt", [r"read.sep=\s+"]),
        (CSV.replace(",", "~"), "rows.csv", ["read.sep=~"]),
        (CSV.replace(",", ";").replace(".", ","), "rows.csv", ["read.decimal=,"]),
        ("made by me\n\n" + CSV, "rows.csv", ["read.skiprows=2"]),
        ("sep=;\n" + CSV.replace(",", ";"), "rows.csv", ["read.skiprows=1"]),
        (CSV.encode("utf-16"), "rows.csv", ["read.encoding=utf-16"]),
        (CSV.replace("\n", ",\n"), "rows.csv", []),
        (CSV.replace("\n", ",\n").replace("y,\n", "y\n", 1), "rows.csv", []),
        (FRAME.to_csv(), "rows.csv", []),
        (FRAME.to_csv().replace(",", "", 1), "rows.csv", ["read.index_col=0"]),
        (FRAME.rename(index="r{}".format).to_csv(), "rows.csv", []),
        (ROWS, "rows.csv", ["read.header=null", "label=3"]),
        (ROWS, "rows.csv", ["read.names=[a,b,y]"]),
        (ROWS.replace("yes", "1").replace("no", "0"), "rows.csv", ["label=3"]),
        (xlsx([list(FRAME), *FRAME.to_numpy().tolist()]), "rows.xlsx", []),
        (xlsx([["x"]], [list(FRAME), *FRAME.to_numpy().tolist()]), "rows.xlsx", ["read.sheet_name=1"]),
        (xlsx(FRAME.to_numpy().tolist()), "rows.xlsx", ["read.header=null", "label=3"]),
        (xls([list(FRAME), *FRAME.to_numpy().tolist()]), "rows.xls", []),
        (ods([list(FRAME), *FRAME.to_numpy().tolist()]), "rows.ods", []),
    ],
)  # fmt: skip
def test_one_table_in_many_forms(text, name, words, read):
    ref = read(text, name, *words)
    assert same(ref)
    assert ref.load().classes in (("no", "yes"), ("0", "1"))


def test_a_first_line_with_a_gap_written_as_nan_is_a_row(read):
    assert read("NaN,2,0\n3,NaN,1\n4,5,1\n", "rows.csv", "label=3").load().T == 3


def test_python_takes_the_keywords_too(read):
    read(CSV.replace(",", ";").replace(".", ","))
    for words in ({"read.decimal": ","}, {"read": {"decimal": ","}}):
        assert same(files([], words, ["rows.csv"])[0])
    ref = read(CSV, "rows.csv", "read.dtype={a:str}", "read.nrows=20", "read.na_values=[no data,-]")
    assert ref.preparation.read == {"dtype": {"a": "str"}, "nrows": 20, "na_values": ["no data", "-"]}
    assert ref.prepared == "'read.dtype={a:str}' read.nrows=20 'read.na_values=[\"no data\",\"-\"]'"
    again = read(CSV, "rows.csv", *[word.strip("'") for word in ref.prepared.split(" ", 2)])
    assert again.preparation == ref.preparation
    assert ref.load().T == 20


ARFF = """% made by me
@relation r
@attribute k {1,2,3}
@attribute 'a b' integer
@attribute n real % a comment
@attribute d date "yyyy-MM-dd"
@attribute class {no,yes} % the classes
@data
1,1.5,2,2024-01-02,no
2,?,3,2024-01-03,yes
% nothing
?,3,4,2024-01-04,'yes'
"""


def test_arff(read):
    ref = read(ARFF, "rows.arff")
    days = [f"d ({part})" for part in ("days", "month", "day", "weekday")]
    assert ref.recipe.features == ["k=1", "k=2", "k (no value)", "a b", "n", *days]
    assert ref.load().classes == ("no", "yes")
    assert ref.load().values[:3].tolist() == [1, 1.5, 2]
    sparse = "@relation r\n@attribute a real\n@attribute w {p,q}\n@attribute y {no,yes}\n@data\n"
    sparse += "{0 2.5, 2 yes}\n{1 q}\n{0 1, 1 q, 2 yes}\n"
    made = read(sparse, "sparse.arff")
    assert made.recipe.features == ["a", "w=p", "w=q"]
    assert made.load().y.tolist() == [1, -1, 1]
    assert made.load().values.tolist() == [2.5, 1, 1, 1, 1]


@pytest.mark.parametrize("way", ["arff", "parquet", "frame", "csv"])
def test_declared_classes_are_words_whatever_they_look_like(way, read):
    numbers = [1, 2, 3] * 20
    frame = pd.DataFrame(
        {"k": pd.Categorical(numbers), "x": np.arange(60) + 0.5, "y": pd.Categorical(numbers[::-1])}
    )
    if way == "arff":
        text = "@relation r\n@attribute k {1,2,3}\n@attribute x real\n@attribute y {1,2,3}\n@data\n"
        ref = read(text + frame.to_csv(index=False, header=False), "my.arff")
    elif way == "parquet":
        out = io.BytesIO()
        frame.to_parquet(out)
        ref = read(out.getvalue(), "my.parquet")
    elif way == "csv":
        ref = read(frame.to_csv(index=False), "my.csv", "read.dtype={k:category,y:category}", task="auto")
    else:
        ref = omkl.data.own_data.Own("my", "auto", "my", frame)
    ref = dataclasses.replace(ref, task="auto")
    assert (ref.load().task, ref.load().classes) == ("classification", ("1", "2", "3"))
    assert ref.recipe.features == ["k=1", "k=2", "k=3", "x"]


def test_codes_that_a_number_does_not_keep_are_named(read):
    rows = "".join(
        f"{'0' * (n % 2)}{1000 + n},{n}E{n % 3 + 1},{2**53 + n},{n},{'yn'[n % 2]}\n" for n in range(20)
    )
    notes = read("zip,part,big,n,y\n" + rows).load().notes
    assert [note.partition(";")[0] for note in notes if "read.dtype" in note] == [
        "column 'zip': 01001 in row 2 is read as the number 1001 (10 such cells)",
        "column 'part': 0E1 in row 1 is read as the number 0 (20 such cells)",
        "column 'big': 9007199254740992 in row 1 is read as the number 9007199254740992 (20 such cells)",
    ]
    assert "'read.dtype={zip:str}' reads codes as words" in "".join(notes)
    words = read("zip,part,big,n,y\n" + rows, "rows.csv", "read.dtype={zip:str,part:str,big:str}")
    assert words.recipe.features == ["n"]
    assert not [note for note in words.load().notes if "is read as" in note]
    assert not [note for note in read(CSV).load().notes if "read.dtype" in note]


def test_a_text_is_read_in_parts_with_words_as_words(read):
    """Numbers among words stay words in a part of numbers alone; so do names of rows."""
    rows = "".join(
        f"{n:03},{'7' if n > 48 else 'abc'[n % 3]},{n / 4},{'no' if n % 2 else 'yes'}\n" for n in range(60)
    )
    ref = read("id,w,x,y\n" + rows, "rows.csv", "id=id")
    recipe = Recipe.from_json(ref.recipe.to_json())
    assert recipe == ref.recipe
    read_parts = parts_of(ref.source, recipe.preparation, 25, recipe.texts)
    parts = [table_of(part, "rows.csv", recipe.preparation) for part in read_parts]
    assert [(len(part), part.where(0).rpartition(" ")[2]) for part in parts] == [
        (25, "1"),
        (25, "26"),
        (10, "51"),
    ]
    X = np.vstack([recipe.apply(part, new=True)[0] for part in parts])
    assert np.array_equal(X, recipe.apply(ref.table())[0])
    assert recipe.ids(parts[1])["id"][0] == "025"


def test_standard_input_is_text_by_the_same_rules(read, monkeypatch, capsys):
    read(CSV.replace(",", ";"))
    for text in (CSV.replace(",", ";"), "1 1:2\n0 2:1\n" * 20):
        opening.standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        words = "algo=perceptron reps=1 exec=serial yardsticks=[] store=s data=-"
        assert main(["run", *words.split(), "-q"]) == 0
        assert "perceptron" in capsys.readouterr().out.lower()
    opening.standard_input.cache_clear()


def test_a_saved_model_prepares_new_rows_by_the_same_columns(read, tmp_path):
    frame = FRAME.assign(w=np.where(FRAME.b > 0, "up", "down"), d="2024-01-05")
    frame.loc[3, "b"] = np.nan
    read(frame.to_csv(index=False))
    model = omkl.fit("algo=arow", data="rows.csv")
    expected = model.predict(frame)
    assert model.predict(frame[["w", "d", "y", "b", "a"]].assign(more=1)).tolist() == expected.tolist()
    with pytest.warns(UserWarning, match="column 'w' holds values that were not in the training data: new"):
        assert len(model.predict(frame.assign(w="new"))) == T
    (tmp_path / "names.csv").write_text(frame.to_csv().replace(",", "", 1))
    with pytest.raises(UserError, match="the rows have more fields than the first line"):
        model.predict("names.csv")
    with pytest.raises(UserError, match="data has no column 'w'"):
        model.predict(frame.drop(columns="w"))
    with pytest.raises(UserError, match="row 1: column 'd' holds 'now', which is not a date"):
        model.predict(frame.assign(d="now"))
    model.save("m.omkl")
    assert omkl.load_model("m.omkl").predict("rows.csv").tolist() == expected.tolist()
    assert main(["predict", "m.omkl", "rows.csv", "--out", "p.csv"]) == 0
    assert find("rows.csv").load().T == T

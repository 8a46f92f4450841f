"""What users' files hold beside plain tables: words among numbers, odd numbers, titles, other formats."""

import json
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest

from omkl.config.request import files
from omkl.data.formats import read_table
from omkl.errors import UserError

T = 40
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(T, 2)).round(3), columns=list("ab"))
FRAME["y"] = np.where(FRAME.a > 0, "yes", "no")
CSV = FRAME.to_csv(index=False)
ROWS = FRAME.to_csv(index=False, header=False)


@pytest.fixture
def read(tmp_path):
    def load(text, name="rows.csv", **settings):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        (ref,) = files([], settings, [str(path)])
        return ref.load()

    return load


def with_words(*words):
    """Return the table with these words in column a, one in each fifth row in turn."""
    texts = FRAME.a.astype(str).tolist()
    for number, row in enumerate(range(0, T, 5)):
        texts[row] = words[number % len(words)]
    return FRAME.assign(a=texts).to_csv(index=False)


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        (["unbekannt"], "na=unbekannt"),
        (["#N/A", "#DIV/0!"], "'na=#DIV/0!,#N/A'"),
        (["-", "--", "."], "na=-,--,."),
        (["not known"], "'na=not known'"),
        (["n.a.", "NULL"], "na=null,n.a."),
    ],
)
def test_words_in_a_column_of_numbers_may_be_gaps(words, setting, read):
    with pytest.raises(UserError, match="is not a number; ") as caught:
        read(with_words(*words), missing="mean")
    assert f"; {setting} takes" in str(caught.value).lower().replace("#n/a", "#N/A").replace("div", "DIV")
    assert "onehot" not in str(caught.value)
    assert read(with_words(*words), missing="mean", na=words).d == 2


def test_a_column_of_numbers_that_is_mostly_one_word(read):
    """133 features for one word would be the wrong advice."""
    texts = ["unknown" if row % 3 else value for row, value in enumerate(FRAME.a.astype(str))]
    made = read(FRAME.assign(a=texts).to_csv(index=False))
    said = "'a': left out, since 26 of 40 rows hold unknown in place of a number; na=unknown takes it as"
    assert any(said in note for note in made.notes)
    assert made.d == 1


@pytest.mark.parametrize("minus", list("\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"))
@pytest.mark.parametrize("settings", [{}, {"label": "b", "task": "regression"}], ids=["feature", "target"])
def test_minus_signs_that_are_no_hyphens_are_minus_signs(minus, settings, read):
    made, plain = read(ROWS.replace("-", minus), **_by_number(settings)), read(ROWS, **_by_number(settings))
    assert made.content_hash == plain.content_hash
    semicolons = ROWS.replace(",", ";").replace(".", ",").replace("-", minus)
    assert read(semicolons, decimal=",", **_by_number(settings)).content_hash == plain.content_hash


def _by_number(settings):
    return {**settings, "label": "2", "drop": ["3"]} if settings else {}


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("({})", "(0.126)"),
        ("{}*", "0.126*"),
        ("~{}", "~0.126"),
        ("<{}", "<0.126"),
        ("{}D+00", "0.126D+00"),
        ("{}\u00b0", "0.126\u00b0"),
        ("[{}]", "[0.126]"),
        ("{}-", "0.126-"),
        ("'{}", '"\'0.126"'),
        ("\u2019{}", "\u20190.126"),
    ],
)
def test_numbers_in_a_notation_that_is_not_read_are_not_called_words(form, shown, read):
    made = read(FRAME.assign(a=[form.format(abs(value)) for value in FRAME.a]).to_csv(index=False))
    (note,) = (note for note in made.notes if "'a'" in note)
    shown = shown if shown.startswith('"') else f"'{shown}'"
    assert f"'a': left out, since {shown} (" in note
    assert "rows.csv:2) is a number in a notation that is not read" in note


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CSV + CSV, "line 42 repeats the names and is left out: two files in one?"),
        (CSV + CSV + CSV, "lines 42, 83 repeat the names and are left out"),
        ("# made by me\n" + CSV, "the line before the table is left out ('# made by me')"),
        ("# a\n#\n\n# b, c, d\n" + CSV, "the 3 lines before the table are left out ('# a', ...)"),
        ("Sales in 2024\n\n" + CSV, "the line before the table is left out ('Sales in 2024')"),
        ("# one\nSales\n" + CSV, "the 2 lines before the table are left out ('# one', ...)"),
        ("# x y\n" + CSV.replace(",", "\t"), "the line before the table is left out ('# x y')"),
        ("# by R\n" + CSV.replace(",", " "), "the line before the table is left out ('# by R')"),
    ],
)
@pytest.mark.parametrize("header", ["auto", "yes"])
def test_lines_that_are_no_rows_are_left_out(text, said, header, read):
    made = read(text, header=header)
    assert made.content_hash == read(CSV + ROWS * (text.count(CSV) - 1)).content_hash
    assert said in made.notes[0]


def test_a_line_of_names_may_begin_with_a_hash(read, tmp_path):
    for text, name in (("#a,b,y\n" + ROWS, "#a"), ("# a,b,y\n" + ROWS, "# a")):
        made = read(text)
        assert read_table(tmp_path / "rows.csv").names == [name, "b", "y"]
        assert made.content_hash == read(CSV).content_hash


def test_words_that_come_again_are_rows_in_a_table_of_words(read):
    assert read("p,x\n" + "e,b\np,x\n" * 20).T == 41


def test_numbered_lines_are_those_of_the_file(read):
    with pytest.raises(UserError, match=r":86: column 'a' holds 'oops'"):
        read("# made by me\n\n" + CSV + CSV + "1.5,oops,no\noops,1,yes\n", missing="error")


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (FRAME.to_html(), "rows.csv", r"a page of HTML; .*pandas\.read_html\('rows.csv'\)"),
        ("<!DOCTYPE html>\n<html>404</html>", "rows.csv", "a page of HTML"),
        ("<?xml version='1.0'?><r/>", "rows.xml", r"XML; pandas\.read_xml"),
        ("version https://git-lfs.github.com/spec/v1\noid 1\n", "rows.csv", "pointer of Git LFS"),
        ("%PDF-1.4\n", "rows.pdf", "a PDF"),
        (pickle.dumps(FRAME), "rows.pkl", "a pickle, which is never read"),
        (b"\x93NUMPY\x01\x00", "rows.npy", "one array of NumPy; numpy.savez"),
        (b"X\n\0\0\0\3\0", "rows.rds", r"a file of R; write\.csv"),
        (b"RDX3\nX\n\0\0\0\3", "rows.RData", "a file of R"),
        (b"\x89HDF\r\n\x1a\n", "rows.h5", r"HDF5; pandas\.read_hdf"),
        (b"$FL2@(#) SPSS", "rows.sav", "SPSS's format"),
        ("| a | y |\n|---|---|\n| 1 | no |\n", "rows.txt", "a table of Markdown"),
        ("1 | a:1 b:2\n-1 | a:2 b:1\n", "rows.txt", "Vowpal Wabbit's format; write LIBSVM"),
        ("1 |f a:1 b:2\n-1 |f a:2 b:1\n", "rows.vw", "Vowpal Wabbit's format"),
        ("- a: 1\n  y: no\n- a: 2\n  y: yes\n", "rows.yaml", "YAML; write JSON lines"),
        (FRAME.to_json(), "rows.json", r"one object of columns; frame\.to_json\('rows.json', orient='recor"),
        (FRAME.to_json(orient="split"), "rows.json", "one object of columns"),
        (FRAME.to_json(orient="values"), "rows.json", "an array of arrays, without names"),
        (json.dumps(FRAME.to_dict("list"), indent=1), "rows.json", "one object of columns"),
        (json.dumps({"data": FRAME.to_dict("records")}), "rows.jsonl", "with an array of records as 'data'"),
        (CSV.replace(",", "~"), "rows.csv", r"1 column, so no features; 'delimiter=~' divides it"),
        (CSV.replace(",", "^"), "rows.txt", r"'delimiter=\^' divides it"),
        (CSV.replace(",", ":"), "rows.csv", r"delimiter=: divides it"),
    ],
)
def test_a_near_format_is_named_with_what_to_write(content, name, said, read):
    with pytest.raises(UserError, match=said):
        read(content, name)


def test_formats_that_programs_write_are_named(read, tmp_path):
    FRAME.to_stata(tmp_path / "rows.dta", write_index=False)
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        FRAME.to_sql("rows", connection)
    for name, said in (("rows.dta", "Stata's format"), ("rows.db", "a database of SQLite")):
        with pytest.raises(UserError, match=said):
            read((tmp_path / name).read_bytes(), name)


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.txt"])
@pytest.mark.parametrize("indent", [None, 2])
def test_records_are_read_with_any_ending(name, indent, read):
    made = read(json.dumps(FRAME.to_dict("records"), indent=indent), name)
    assert made.content_hash == read(CSV).content_hash
    lines = FRAME.to_json(orient="records", lines=True)
    assert read(lines, name).content_hash == made.content_hash

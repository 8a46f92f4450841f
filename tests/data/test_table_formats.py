"""How a user's table is written: names in its first line, delimiters, numbers, gaps; what auto decides."""

import json
import random
import shlex

import numpy as np
import pytest

from omkl.config import plan
from omkl.data import load
from omkl.data.own_data import read_file
from omkl.data.preparation import Preparation, Stop, column_word
from omkl.data.reading import delimited, opening, tables
from omkl.data.reading.delimited import delimiter_of
from omkl.data.reading.formats import format_of, read_table
from omkl.errors import UserError

DRAWN = random.Random(7)
ROWS = [
    [f"{DRAWN.gauss(0, 1):.3f}", f"{DRAWN.gauss(0, 1):.3f}", str(DRAWN.randrange(9)), str(n % 2)]
    for n in range(20)
]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.csv"


def write(path, first, rows=ROWS, mark=","):
    path.write_text("".join(mark.join(row) + "\n" for row in ([first.split(",")] if first else []) + rows))
    return path


def made(path, **wanted):
    return read_file(path, "classification", Preparation(**wanted))[0]


def columns(path, **wanted):
    return read_table(path, Preparation(**wanted)).names


HEADERS = {  # first line: whether auto takes it as names; None where it is refused
    "a,b,c,y": True,
    "a,2,7,y": True,
    "0,1,2,3": False,
    "2019,2020,2021,2022": False,
    "1.5,2,3,0": False,
    "0,1,2,label": True,
    "0,1,2,target": True,
    "-,0.852,8,0": None,
    "0.5,0,8,y": None,
    "a,b,2.5,y": None,
}


@pytest.mark.parametrize("first", HEADERS)
def test_whether_the_first_line_names_the_columns(path, first):
    named = HEADERS[first]
    write(path, first)
    if named is None:
        with pytest.raises(
            Stop, match=r"my\.csv:1: the first line .* may hold names or be a row; set header=yes to use it"
        ):
            read_table(path)
    else:
        table = read_table(path)
        assert (table.named, table.notes) == (named, ())
        assert table.names == (first.split(",") if named else ["1", "2", "3", "4"])
    assert columns(path, header="no") == ["1", "2", "3", "4"]
    assert columns(path, header="yes") == first.split(",")


def test_in_a_table_of_words_a_word_that_comes_again_is_a_row(path):
    words = [[DRAWN.choice("xyz"), DRAWN.choice("abc"), DRAWN.choice(("no", "yes"))] for _ in range(30)]
    table = read_table(write(path, "", words))
    assert (table.named, table.frame.index[0], len(table)) == (False, 1, 30)
    assert made(path, categorical=("onehot",)).T == 30
    assert not read_table(write(path, "x,colour,bought", words)).named
    write(path, "size,colour,bought", words)
    with pytest.raises(Stop, match="may hold names or be a row"):
        read_table(path)
    assert read_table(path, Preparation(label="bought")).named  # which says that it holds names
    assert read_table(write(path, "size,colour,Label", words)).named
    for form in (Preparation(header="yes"), Preparation(label="no")):
        with pytest.raises(UserError, match=r"my\.csv:1: two columns are named 'x'; rename one$"):
            read_table(write(path, "x,x,no", [["1", "2", "a"], ["2", "3", "b"]]), form)


def test_a_label_that_is_a_number_is_the_column_of_that_name(path):
    write(path, "0,1,2,3")
    plain = made(write(path.with_name("plain.csv"), "a,b,c,y"))
    dataset = made(path, label="3", header="yes")
    assert dataset.content_hash == plain.content_hash
    assert "label=3 is the column named 3, which is column 4 of the file" in dataset.notes
    assert made(path, label="3", header="no").d == 3  # the third: column 2 of the header
    with pytest.raises(UserError, match=r"label=4: .*numbers as names; write a name: 0, 1, 2"):
        made(path, label="4", header="yes")
    assert made(write(path, "a,2020,c,y"), drop=("3",)).d == 2  # a year is no place


def test_the_index_that_pandas_writes(path):
    rows = [[str(n), *row] for n, row in enumerate(ROWS)]
    plain = made(write(path.with_name("plain.csv"), "a,b,c,y"))
    named = [[f"row {n}", *row] for n, row in enumerate(ROWS)]
    for before in (rows, named):
        dataset = made(write(path, ",a,b,c,y", before))
        assert dataset.content_hash == plain.content_hash
        assert "'column 1': left out, since it has no name and names the rows" in dataset.notes[0]
    assert made(write(path, ",a,b,c,y", [["7", *row] for row in ROWS])).d == 4
    path.write_text(",1,2\n,1.5,0\n,2.5,1\n")
    assert read_table(path, Preparation(header="no")).missing("1").any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size, cm\tb\ty\n1\t2\t0\n", ("\t", 0)),
        ('"Price, EUR";b;y\n1;2;0\n', (";", 0)),
        ("Price, EUR;b;y\n1;2;0\n", (";", 0)),
        ('"a\n(cm, ""x"")",b,y\n1,2,0\n', (",", 0)),
        ("sep=;\na,b;c\n1,5;2\n", (";", 1)),
        ('"sep=\t"\r\na,b\tc\r\n', ("\t", 1)),
        ("a\tb\n1,5\t2\n", ("\t", 0)),
        ("a|b|c\n1|2|3\n", ("|", 0)),
        ("a b\n1 2\n", ("whitespace", 0)),
        ('5" pipe,3\n6" pipe,4\n', (",", 0)),
        ("0,5;1,25;ja\n", (";", 0)),
        ("1,2,a;b\n", (",", 0)),
        ("1 2\t3\n", ("\t", 0)),
    ],
)
def test_the_delimiter_is_what_divides_all_lines(path, text, expected):
    path.write_text(text, newline="")
    assert delimiter_of(path)[:2] == expected
    assert delimiter_of(path, Preparation(delimiter="|"))[:2] == ("|", expected[1])


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("2,9 1,4 0\n1,7 7,0 1\n", {"decimal": ","}, "whitespace"),
        ("1,200 3 0\n12,000 4 1\n", {"thousands": ","}, "whitespace"),
        ("2,9 1,4 0\n1,7 7,0 1\n", {}, ","),
        ('a,b,y\n"2,9",x z,0\n', {"decimal": ","}, ","),
        ("6,0,1\n4,2,0\n", {"decimal": ","}, ","),
        ("6, 0, 1\n4, 2, 0\n", {"decimal": ","}, ","),
        ("1,2024-01-01 10:00,5\n2,2024-01-02 11:00,6\n", {"decimal": ","}, ","),
    ],
)
def test_commas_in_numbers_are_no_delimiter_between_blanks(path, text, form, expected):
    path.write_text(text)
    assert delimiter_of(path, Preparation(**form))[0] == expected
    if expected == "whitespace":
        values = [2.9, 1.4, 1.7, 7] if "decimal" in form else [1200, 3, 12000, 4]
        assert made(path, **form).values.tolist() == values


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my.tsv", "size, cm\tb\tc\ty\n{}"),
        ("sep.csv", "SEP=\t\na\tb\tc\ty\n{}"),
        ("my.CSV", "a\tb\tc\ty\n{}"),
        ("my.data", "{}"),
        ("my.txt", "a\tb\tc\ty\n{}"),
        ("no_ending", "{}"),
    ],
)
def test_the_same_table_under_other_endings(path, name, content):
    plain = made(write(path, "a,b,c,y"))
    for mark in ("\t", ",", ";", "|"):
        text = content.format("".join("\t".join(row) + "\n" for row in ROWS))
        if mark != "\t" and name == "my.tsv":
            continue
        other = path.with_name(name)
        other.write_text(text.replace("\t", mark))
        assert format_of(other).is_table
        assert load(str(other)).content_hash == plain.content_hash
    assert load(str(other)).name == name.partition(".")[0]


@pytest.mark.parametrize(
    "text", ["1 1:2\n", "# c, d\n\n+1\n-1 3:1 # a,b\n", "1:0.5 2:1\n", "1,3 1:0.5\n", "1\n"]
)
def test_libsvm_text_stays_libsvm_text(tmp_path, text):
    for name in ("my.txt", "my.data", "my"):
        (tmp_path / name).write_text(text)
        assert not format_of(tmp_path / name).is_table


@pytest.mark.parametrize("first", ["a,b,c,y", "a,b,c,y,", "a,b,c,y,,", ""])
def test_delimiters_at_the_ends_of_the_lines(path, first):
    plain = made(write(path.with_name("plain.csv"), first.rstrip(",")))
    ends = [""] * max(1, first.count(",") - 3)
    dataset = made(write(path, first, [row + ends for row in ROWS]))
    assert dataset.content_hash == plain.content_hash
    assert "no name and no value (the lines end with a delimiter), and" in dataset.notes[0]
    assert made(write(path, "a,b,c,y,", ROWS)).content_hash == made(write(path, "a,b,c,y")).content_hash
    write(path, "a,b,c,y", [row + ends for row in ROWS[:5]] + [[*ROWS[5], "7"]])
    with pytest.raises(UserError, match=r"my\.csv:7: 5 columns|column 'y'|6 columns|the lines before have"):
        made(path)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["decimal=,", "thousands=."], {"decimal": ",", "thousands": "."}),
        (["delimiter=;", "thousands='"], {"delimiter": ";", "thousands": "'"}),
        (["delimiter=tab", "thousands=space"], {"delimiter": "\t", "thousands": " "}),
        (["delimiter=pipe", "header=no", "na=[]"], {"delimiter": "|", "header": "no", "na": ()}),
        (["na=#N/A,<na>,-999"], {"na": ("#N/A", "<na>", "-999")}),
        (["na=[?]", "thousands=null"], {"na": ("?",)}),
    ],
)
def test_the_words_of_the_command(path, words, expected):
    write(path, "a,b,c,y")
    preparation = plan([f"data={path}", "algo=arow", *words]).data[0].preparation
    assert preparation == Preparation(**expected)
    again = shlex.split(preparation.words)
    assert plan([f"data={path}", "algo=arow", *again]).data[0].preparation == preparation


NAMES = [
    "a",
    "mean radius",
    "Größe",
    "1",
    "007",
    "1e5",
    "true",
    "null",
    "price, net",
    "a,b",
    "b drop=c",
    "C:\\d, e\\",
]
NAMES += ['say "hi"', "it's", "$5 {net}", " lead"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_of_a_column_can_be_typed(path, name):
    """In a shell, and, of a cell, in the command of a report's row."""
    for wanted in (
        Preparation(label=name, drop=("z", "Größe")),
        Preparation(id=("z", name, "ö"), missing="mean"),
        Preparation(positive=name),
    ):
        words = shlex.split(wanted.words)
        assert shlex.split(wanted.words) == words
        assert plan([f"data={write(path, 'a,b,c,y')}", "algo=arow", *words]).data[0].preparation == wanted
    assert shlex.split(column_word("label", name)) == shlex.split(Preparation(label=name).words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["header=maybe"], "must be one of auto, yes, no, got 'maybe'"),
        (["delimiter=semicolumn"], r"one character or its name \(comma.*did you mean 'semicolon'"),
        (["delimiter=x"], "this character cannot separate columns"),
        (["decimal=;"], "must be a point or a comma"),
        (["thousands=."], r"thousands=\.: the decimal sign is the same; add decimal=,"),
        (["index_base=0"], r"my\.csv: index_base=0 is for LIBSVM text"),
    ],
)
def test_settings_that_cannot_be(path, words, said):
    write(path, "a,b,c,y")
    with pytest.raises(UserError, match=said):
        plan([f"data={path}", "algo=arow", *words]).data[0].load()


def test_settings_are_part_of_the_parsed_copy_s_name(path):
    path.write_text("1,2,0\n3,4,1\n5,6,0\n")
    copies = {
        load(str(path), preparation=Preparation(header=header, label="3" if header == "no" else "0")).path
        for header in ("no", "yes")
    }
    assert len(copies) == 2
    assert load(str(path), preparation=Preparation(header="yes", label="0")).T == 2


def test_settings_of_other_kinds_of_files(tmp_path):
    libsvm = tmp_path / "my.libsvm"
    libsvm.write_text("1 1:1\n-1 1:2\n")
    with pytest.raises(UserError, match=r"my.libsvm: header=yes is for .* or a workbook \(.csv, .tsv, .xlsx"):
        load(str(libsvm), preparation=Preparation(header="yes", delimiter="\t", label="1"))
    with pytest.raises(
        UserError,
        match=r"na=x label=1 is for tables \(\.csv",
    ):
        load(str(libsvm), preparation=Preparation(label="1", na=("x",)))
    pytest.importorskip("pyarrow")
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, -999.0], "b": ["1,5", "x"], "y": [0, 1]})
    frame.to_parquet(tmp_path / "my.parquet")
    with pytest.raises(UserError, match=r"header=no is for delimited text"):
        load(str(tmp_path / "my.parquet"), preparation=Preparation(header="no"))
    table = read_table(tmp_path / "my.parquet", Preparation(na=("-999", "x"), decimal=","))
    assert [table.missing(name).tolist() for name in table.names] == [
        [False, True],
        [False, True],
        [False] * 2,
    ]
    assert np.nansum(table.numbers("b")) == 1.5


def test_true_and_false_are_no_names(path):
    rows = [[f"{n}.5", ("True", "False")[n % 2]] for n in range(6)]
    assert not read_table(write(path, "", rows)).named
    assert read_table(write(path, "a,true story", rows)).named


def test_numbers_are_those_of_float_however_the_lines_are_read(path, monkeypatch):
    """By pandas, or by csv and float; and in blocks, of which a later one may hold the first word."""
    texts = ["0.1", ".5", "1e-5", "+3", "-0", "1.7976931348623157e308", "5e-324", " 4.35", "9" * 30, "0.1e1"]
    texts += [repr(DRAWN.gauss(0, 1) * 10.0 ** DRAWN.randint(-300, 300)) for _ in range(2000)]
    rows = [[text, str(n), "" if n % 7 else "NA", f" {n % 3}", str(n % 2)] for n, text in enumerate(texts)]
    write(path, "a,b,c,d,y", rows)
    found = {}
    for lines, block in ((1, 2**22), (10**9, 2**22), (1, 5000), (10**9, 5000)):
        monkeypatch.setattr(delimited, "MANY_LINES", lines)
        monkeypatch.setattr(opening, "BLOCK", block)
        table = read_table(path)
        assert table.numbers("a").tolist() == list(map(float, texts))
        assert (table.numbers("d")[:4].tolist(), table.words["c"]) == ([0, 1, 2, 0], {"NA": 0})
        assert table.cell("c", 1) == ""
        write(path.with_name("late.csv"), "a,b,c,d,y", [*rows, ["late", "7", "", "1", "0"]])
        late = read_table(path.with_name("late.csv"))
        assert late.text("a").tolist() == [*map(str.strip, texts), "late"]
        assert late.where(len(rows)) == f"{path.with_name('late.csv')}:{len(rows) + 2}"
        found[lines, block] = made(path, drop=("c",)).content_hash
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("lines", [1, 500])
def test_a_row_that_is_too_short_or_too_long_is_named(path, monkeypatch, lines):
    monkeypatch.setattr(delimited, "MANY_LINES", lines)
    for row in (["1", "2"], ["1", "2", "3", "0", "x"]):
        write(path, "a,b,c,y", [*ROWS, row, *ROWS])
        with pytest.raises(UserError, match=rf"my\.csv:22: {len(row)} columns; the lines before have 4"):
            read_table(path)


@pytest.mark.parametrize("mark", [" ", ",", "\t"])
def test_the_names_of_rows_that_r_writes(path, mark):
    rows = [[f'"{n}"', *row] for n, row in enumerate(ROWS, 1)]
    write(path, "", [['"a"', '"b"', '"c"', '"y"'], *rows], mark)
    dataset = made(path)
    assert dataset.content_hash == made(write(path, "a,b,c,y")).content_hash
    assert "one name fewer than the rows" in dataset.notes[0]


@pytest.mark.parametrize("cell", ["{}", "{},5", "t{}"])
def test_a_delimiter_at_the_ends_of_the_rows_is_no_name_of_rows(path, cell):
    rows = [[cell.format(n), *row] for n, row in enumerate(ROWS, 1)]
    wanted = {"id": ("n",), "label": "y"}
    names = made(write(path, "n,a,b,c,y", [[*row, ""] for row in rows], ";"), **wanted)
    assert names.content_hash == made(write(path, "n,a,b,c,y", rows, ";"), **wanted).content_hash


def test_decimal_commas_name_no_rows(path):
    write(path, "a,b,c,y", [[f"{n},5", *row] for n, row in enumerate(ROWS, 1)], ";")
    with pytest.raises(UserError, match=r"my\.csv:2: 5 columns; the lines before have 4"):
        made(path)


@pytest.mark.parametrize(("task", "label"), [("classification", "y"), ("regression", "a")])
def test_nan_that_is_no_gap_is_a_number_and_no_category(path, task, label):
    write(path, "a,y", [["1", "0"], ["NaN", "1"], ["NaN", "0"]])
    with pytest.raises(UserError, match=r"my\.csv:3: column 'a' is not finite \('NaN'\)"):
        read_file(path, task, Preparation(na=("-999",), label=label))


def test_json_in_an_array(tmp_path):
    rows = [{"a": float(row[0]), "b": row[1], "late": None, "y": row[3]} for row in ROWS]
    (tmp_path / "my.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "my.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    array, lines = (
        load(str(tmp_path / name), preparation=Preparation(drop=("late",)))
        for name in ("my.json", "my.jsonl")
    )
    assert array.content_hash == lines.content_hash
    (tmp_path / "my.json").write_text('[{"a": NaN, "y": 0}, {"a": 1, "y": 1}]')
    assert load(str(tmp_path / "my.json"), preparation=Preparation(missing="mean")).values.tolist() == [1, 1]
    with pytest.raises(UserError, match=r"my\.json: row 1: column 'a' has no value"):
        load(str(tmp_path / "my.json"), preparation=Preparation(missing="error"))


def test_a_forest_of_columns_is_refused_before_it_takes_memory(tmp_path, monkeypatch):
    path = tmp_path / "my.jsonl"
    path.write_text("".join(f'{{"key{n}": {n % 10}, "y": {n % 2}}}\n' for n in range(8000)))
    said = (
        r"my\.jsonl:2896: 2,897 different keys in 2,896 rows make 8,389,712 cells, more than 8,388,608; give"
    )
    with pytest.raises(UserError, match=said):
        load(str(path))
    monkeypatch.setattr(tables, "MOST_COLUMNS", 1000)
    with pytest.raises(UserError, match=r"my\.jsonl:1000: 1,001 columns; a table may have 1,000; write wide"):
        load(str(path))
    (tmp_path / "my.csv").write_text("," * 2000 + "\n")
    with pytest.raises(UserError, match=r"my\.csv: no examples|my\.csv:1: 2,001 columns"):
        load(str(tmp_path / "my.csv"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "y": "no"}\n{"y": "yes", "a": 2.5}\n', None),
        ('{"a": 1, "y": 0}\n[1, 2]\n', r"my\.jsonl:2: not a JSON object"),
        ('{"a": 1, "y": 0}\n{"a": 1\n', r"my\.jsonl:2: not a JSON object on one line"),
        ('{"a": [1], "y": 0}\n', r"my\.jsonl:1: 'a' holds a list; write a number or a text"),
        ('{"a": 1, "y": 0}\n{"y": 1}\n', r"my\.jsonl:2: column 'a' has no value"),
    ],
)
def test_json_lines(tmp_path, text, said):
    (tmp_path / "my.jsonl").write_text(text)
    if said is None:
        dataset = load(str(tmp_path / "my.jsonl"))
        assert (dataset.values.tolist(), dataset.classes) == ([1, 2.5], ("no", "yes"))
        return
    with pytest.raises(UserError, match=said):
        load(str(tmp_path / "my.jsonl"), preparation=Preparation(missing="error"))


def test_groups_of_rankings_are_left_out_if_asked(tmp_path):
    (tmp_path / "my.libsvm").write_text("1 qid:3 1:0.5\n-1 qid:4 2:1 # qid:4\n")
    with pytest.raises(UserError, match=r"my\.libsvm:1: 'qid:3' belongs to a ranking file; qid=drop leaves"):
        load(str(tmp_path / "my.libsvm"))
    assert load(str(tmp_path / "my.libsvm"), preparation=Preparation(qid="drop")).nnz == 2

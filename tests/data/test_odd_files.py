"""What users' files hold beside plain tables: words among numbers, signs, lines before, other formats."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from omkl.config.request import files
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
        (["#N/A", "#DIV/0!"], "'na=#N/A,#DIV/0!'"),
        (["-", "--", "."], "na=-,--,."),
        (["not known"], "'na=not known'"),
        (["n.a.", "NULL"], "na=null,n.a."),
    ],
)
def test_words_in_a_column_of_numbers_may_be_gaps(words, setting, read):
    with pytest.raises(UserError, match="which is no number") as caught:
        read(with_words(*words), missing="mean")
    assert f"; {setting} takes" in str(caught.value).lower().replace("#n/a", "#N/A").replace("div", "DIV")
    assert "onehot" not in str(caught.value)
    assert read(with_words(*words), missing="mean", na=words).d == 2


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
    "form",
    [
        "({})",
        "{}*",
        "~{}",
        "<{}",
        "{}D+00",
        "{}\u00b0",
        "[{}]",
        "{}-",
        "'{}",
        "\u2019{}",
        "{} %",
        "$ {}",
        "{}k",
        "{}/2",
    ],
)
def test_numbers_in_a_notation_that_is_not_read_stop_the_run(form, read):
    text = FRAME.assign(a=[form.format(abs(value)) for value in FRAME.a]).to_csv(index=False)
    with pytest.raises(UserError, match=r"rows\.csv:2: column 'a' holds .* \(40 such cells\); .*drop=a"):
        read(text)
    assert read(text, drop="a").d == 1


@pytest.mark.parametrize("before", ["# made by me\n", "Sales in 2024\nand 2023\n"])
def test_lines_before_a_table_stop_the_run(before, read):
    lines = before.count("\n")
    with pytest.raises(
        UserError, match=rf"if the table begins later, skip={lines} leaves out the lines before it"
    ):
        read(before + CSV)
    assert read(before + CSV, skip=lines).content_hash == read(CSV).content_hash
    with pytest.raises(UserError, match=r"rows\.csv:\d+: column 'a' holds 'oops'"):
        read(before + CSV + "oops,1,yes\n", skip=lines, missing="error")


def test_names_that_come_again_are_a_row(read):
    with pytest.raises(UserError, match=r"rows\.csv:42: column 'a' holds 'a', which is no number"):
        read(CSV + CSV)


def test_a_cell_in_quotes_that_goes_over_lines_is_named(read):
    text = "a,b,item,y\n" + "1.5,2,pipe,no\n" * 3 + '2,3,"pipe,no\n4,5,pipe",no\n' + "1.5,2,pipe,yes\n" * 9
    (note,) = (note for note in read(text).notes if "several lines" in note)
    assert (
        "the row that ends in line 6 goes over several lines, since a cell in quotes holds a line end" in note
    )


def test_bytes_0x80_to_0x9f_are_of_cp1252(read):
    text = FRAME.rename(columns={"b": "b (\u20ac)"}).to_csv(index=False)
    with pytest.raises(UserError, match=r"rows\.csv:1: the text is not UTF-8 .*; encoding=cp1252 reads it"):
        read(text.encode("cp1252"))
    assert read(text.encode("cp1252"), encoding="cp1252").content_hash == read(CSV).content_hash


def test_words_that_come_again_are_rows_in_a_table_of_words(read):
    assert read("p,x\n" + "e,b\np,x\n" * 20).T == 41


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (pickle.dumps(FRAME), "rows.pkl", "no table|no text|not UTF-8"),
        (
            b"\x93NUMPY\x01\x00",
            "rows.npy",
            r"rows\.npy:1: this is no text: it holds a byte 0x00",
        ),
        (b"%PDF-1.4\n\x00", "rows.pdf", "this is no text"),
        (FRAME.to_html(), "rows.csv", "column"),
        (FRAME.to_json(), "rows.json", r"rows\.json:1: 'a' holds an object; write a number or a text"),
        (FRAME.to_json(orient="values"), "rows.json", r"rows\.json: row 1: not a JSON object"),
        (json.dumps(FRAME.to_dict("list"), indent=1), "rows.json", "not a JSON object on one line"),
        (CSV.replace(",", "~"), "rows.csv", "1 column, so no features; delimiter=CHARACTER says"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(content, name, said, read):
    with pytest.raises(UserError, match=said):
        read(content, name)


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.txt"])
@pytest.mark.parametrize("indent", [None, 2])
def test_records_are_read_with_any_ending(name, indent, read):
    made = read(json.dumps(FRAME.to_dict("records"), indent=indent), name)
    assert made.content_hash == read(CSV).content_hash
    lines = FRAME.to_json(orient="records", lines=True)
    assert read(lines, name).content_hash == made.content_hash

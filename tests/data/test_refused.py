"""Hostile and broken files: what is given, and the words with which it is refused."""

import gzip
import io
import lzma
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from support.workbooks import xlsx

from omkl.cli import main
from omkl.config.request import files
from omkl.errors import UserError

T = 40
FRAME = pd.DataFrame({"a": np.arange(T) + 0.5, "b": np.arange(T) % 7 / 4, "y": ["no", "yes"] * (T // 2)})
CSV = FRAME.to_csv(index=False)
NEXT = "is not the next 'index:value'; the indices are whole numbers that ascend, from"
FIRST = "a line begins with its label, a number"
ARFF = "@relation r\n@attribute a real\n@data\n"


def zipped(marks=0, **members):
    """A .zip with these members; of an encrypted one, marks is 1."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    made = bytearray(out.getvalue())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)) if marks else ():
        made[made.index(mark) + place] |= marks
    return bytes(made)


def npz(**arrays):
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def lying(header):
    """An .npz whose arrays have this header."""
    body = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(16)
    return zipped(X__npy=body, y__npy=body)


def far():
    """A workbook whose last cell is in the last row and column."""
    out = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(xlsx([["a", "y"], [1, 0]])))
    with source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            is_sheet = name.startswith("xl/worksheets/")
            cell = b'r="XFD1048576"' if is_sheet else b'r="B2"'
            target.writestr(name, source.read(name).replace(b'r="B2"', cell))
    return out.getvalue()


def npy(shape, descr="<f8"):
    return f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"


LINES = {  # the fourth line of LIBSVM text
    "1 1:x": "value of index 1: 'x' is not a number",
    "1 1:": "'' is not a number",
    "1 :1": f"':1' {NEXT} 1",
    "1 1": f"'1' {NEXT} 1",
    "1 1:2:3": "is not a number",
    "1 2:1 2:1": f"'2:1' {NEXT} 1",
    "1 3:1 2:1": f"'2:1' {NEXT} 1",
    "1 -1:1": f"'-1:1' {NEXT}",
    "1 1.0:1": f"'1.0:1' {NEXT}",
    "1 4294967296:1": f"{NEXT} 1 (index_base=1) to 2147483647",
    f"1 {'9' * 5000}:1": f"... {NEXT}",
    "1 1:nan": "'nan' is not finite",
    "1 1:1e999": "'1e999' is not finite",
    "1 1:1_0": "'1_0' is not a number",
    "1 1:0x10": "'0x10' is not a number",
    "1-1 1:": f"{FIRST}: '1-1' is not a number",
    "nan 1:1": f"{FIRST}: 'nan' is not finite",
    "1:1 2:1": f"{FIRST}: '1:1' is not a number",
    "1,2 1:1": f"{FIRST}: '1,2' is not a number",
    "1 qid:3 1:1": "'qid:3' is not the next 'index:value'; qid=drop leaves these fields out",
    "1 1:1\0": "is not a number",
    "1 1:\u0661": "is not a number",
    "\ufeff1 1:2": f"{FIRST}: ",
}
REFUSED = [  # name, content, settings, words of the message
    *(("a.svm", f"1 1:1\n# c\n\n{row}\n0 1:2\n", "index_base=1", f"a.svm:4: ~{LINES[row]}") for row in LINES),
    ("a.svm", "1 0:1\n0 1:1\n", "index_base=1", f"'0:1' {NEXT} 1 (index_base=1)"),
    ("a.svm", "1\n-1\n", "", "no features in any example"),
    ("a.svm", "", "", "no examples in it; LIBSVM text has one"),
    ("a.svm", "# c\n\n", "", "no examples in it; LIBSVM text has one"),
    ("a.svm", "1 1:2\n0 2:1\n", "read.sep=;", "read.sep: LIBSVM text has no such keyword"),
    ("a.svm", "1 1:2\n0 2:1\n", "label=a", "label=a is for tables, and this is LIBSVM text"),
    ("a.svm", "1 1:1\n-1 1:2\n".encode("utf-16"), "", f"a.svm:1: {FIRST}: "),
    ("a.csv", CSV, "index_base=0", "index_base=0 is for LIBSVM text, and this is text"),
    ("a.csv", CSV, "read.seperator=;", "read.seperator: pandas.read_csv has no such keyword"),
    ("a.csv", CSV, "read.chunksize=3", "read.chunksize: pandas.read_csv has no such keyword"),
    ("a.csv", CSV, "read.decimal=xx", "a.csv: pandas.read_csv(~decimal='xx'~): ~decimal"),
    ("a.csv", CSV, "delimiter=tab", "unknown key 'delimiter' (did you mean 'read.sep'"),
    ("a.csv", CSV, "header=no", "did you mean 'read.header'"),
    ("a.csv", CSV, "na=7", "did you mean 'read.na_values'"),
    ("a.csv", CSV, "missing=mean", "missing=mean: must be one of online, drop, error, got 'mean'"),
    ("a.csv", CSV, "label=Z", "label=Z: ~no such column; it has 3 columns: a, b, y"),
    ("a.csv", CSV.replace("y", "buy", 1), "", "no column is called label, class, target or y; ~label=COLUMN"),
    ("a.csv", CSV.replace("b", "class", 1), "", "the label may be column 'class' or 'y'"),
    ("a.txt", CSV.replace(",", " "), "", r"what separates the ~has none ~'read.sep=\s+'"),
    ("a.txt", "a,b;c\n1,2;3\n", "", "has ',' and ';'; ~'read.sep=;' a semicolon"),
    ("a.csv", "0,1,2,3\n5,6,7,8\n", "", "the first line (0, 1, 2, 3) counts: ~read.header=null"),
    ("a.csv", "a,b,y\n1,2,no\n3,4,5,yes\n", "", "Expected 3 fields in line 3, saw 4; read.skiprows=N"),
    ("a.csv", "a,b\n1,2,no\n3,4,yes\n", "", "more fields than the first line: read.index_col=0"),
    ("a.csv", CSV.replace("yes", "ja\u20ac").encode("cp1252"), "", "read.encoding=cp1252 may read it"),
    ("a.csv", CSV.encode("utf-16"), "", "read.encoding=utf-16 may read it"),
    ("a.csv", CSV, "read.encoding=utf-99", "unknown encoding: utf-99"),
    ("a.csv", "", "", "no examples in it"),
    ("a.csv", "\n\n", "", "no examples in it"),
    ("a.csv", "a,b,y\n", "", "no examples in it"),
    ("a.csv", "y\n1\n0\n", "", "no column is left as a feature: ~'read.sep=;'"),
    ("a.parquet", pickle.dumps(FRAME), "", "pandas.read_parquet(): "),
    ("a.xlsx", b"PK\x03\x04", "", "pandas.read_excel(engine='calamine'~): "),
    ("a.xlsx", far(), "", "rows and 16,384 columns ~cells; clear the cells"),
    ("a.jsonl", FRAME.to_json(orient="values"), "", "a.jsonl"),
    ("a.jsonl", '{"a": [1], "y": 1}\n{"a": [2], "y": 0}\n', "", "column 'a' holds lists"),
    ("a.arff", ARFF.replace("real", "what"), "", "not valid ARFF: Bad @ATTRIBUTE"),
    ("a.arff", ARFF.replace("real", "{p,q}") + "z\n", "", "not valid ARFF: "),
    ("a.npz", "text", "", "not an .npz file with arrays X and y"),
    ("a.npz", npz(X=np.ones((2, 2))), "", "has no arrays X and y, only 'X'"),
    ("a.npz", npz(X=np.ones((2, 2)), y=np.ones(3)), "", "should be (T, d) and (T,)"),
    ("a.npz", npz(X=np.array([[1], [np.inf]]), y=np.array([0, 1])), "", "row 2 holds a number that is not"),
    ("a.npz", npz(X=np.array([[1], [{}]], object), y=np.array([0, 1])), "", "Object arrays cannot be loaded"),
    ("a.npz", npz(X=np.ones((3, 1)), y=np.array([0.1, 0.2, 0.3])), "", "3 different labels"),
    ("a.npz", lying(npy("(1000000000000, 2)")), "", "a.npz: "),
    ("a.npz", lying(npy("(18446744073709551616, 1)")), "", "a.npz: "),
    ("a.npz", lying(npy("(-1, 2)")), "", "a.npz: "),
    ("a.npz", lying(npy("(1, 1)", "<c16")), "", "a.npz: "),
    ("a.npz", lying("{" + " " * 60_000 + "}"), "", "a.npz: "),
    ("a.csv.gz", gzip.compress(CSV.encode() * 50)[:-30], "", "a.csv.gz: ~cannot be decompressed or read: "),
    ("a.csv.xz", lzma.compress(CSV.encode() * 50)[:-30], "", "a.csv.xz: ~cannot be decompressed or read: "),
    ("a.csv.zip", zipped(a__csv=CSV)[:-30], "", "a.csv.zip: ~cannot be decompressed or read: "),
    ("a.csv.zip", zipped(a__csv=CSV, b__csv=CSV), "", "holds 2 files ('a.csv', 'b.csv'); extract the one"),
    ("a.csv.zip", zipped(), "", "the archive holds 0 files"),
    ("a.csv.zip", zipped(1, a__csv=CSV), "", "cannot be decompressed or read: ~encrypted"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words", "said"), REFUSED)
def test_what_is_refused_says_what_helps(name, content, words, said, tmp_path, monkeypatch):
    """In one line. A tilde among the words stands for others."""
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as caught:
        files(words.split(), {"task": "classification"}, [str(path)])[0].load()
    message, rest = str(caught.value), str(caught.value)
    assert "\n" not in message
    assert len(message) < 800
    for part in said.split("~"):
        assert part in rest, message
        rest = rest.partition(part)[2]


def test_a_command_ends_with_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    for name, content in (("a.svm", b"1 1:x\n"), ("a.csv", b"a,y\n1 %,0\n2 %,1\n"), ("a.npz", b"text")):
        (tmp_path / name).write_bytes(content)
        for command in ("run algo=arow yardsticks=[] exec=serial store=s", "data look"):
            assert main([*command.split(), name if "look" in command else f"data={name}"]) == (
                0 if command == "data look" and name == "a.csv" else 2
            )
            assert "Traceback" not in "".join(capsys.readouterr())

"""Reading LIBSVM text, tables and .npz: right values, and every kind of bad line named by file and line."""

import bz2
import gzip
import io
import lzma
import re
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omkl import data
from omkl.data.preparation import Preparation
from omkl.data.reading import numbered, opening
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dense(d):
    """The (T, d) matrix of a Dataset or of Examples."""
    X = np.zeros((len(d.indptr) - 1, d.d))
    X[np.repeat(np.arange(len(X)), np.diff(d.indptr)), d.indices] = d.values
    return X


GOOD = b"+1 1:0.5 3:-2e-3\n\n# a comment line\n-1\t2:1 \t4:0 5:-0.0  # rest\r\n1\n-1 1:.5 2:+7."


@pytest.mark.parametrize("wrap", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_libsvm_text_plain_and_compressed(tmp_path, wrap):
    rows = numbered.read_libsvm([write(tmp_path / "a", wrap(GOOD))])
    assert rows.labels.tolist() == [1, -1, 1, -1]
    assert rows.indptr.tolist() == [0, 2, 3, 3, 5]
    assert rows.indices.tolist() == [0, 2, 1, 0, 1]
    assert rows.values.tolist() == [0.5, -0.002, 1, 0.5, 7]  # 4:0 and 5:-0.0 are dropped
    assert rows.d == 5
    assert (rows.indptr.dtype, rows.indices.dtype, rows.values.dtype) == (np.int64, np.int32, np.float64)


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path, wrap, monkeypatch):
    mark = b"\xef\xbb\xbf"
    plain = numbered.read_libsvm([write(tmp_path / "plain", GOOD)])
    for block in (opening.BLOCK, 1):  # by whole blocks, and line by line
        monkeypatch.setattr(opening, "BLOCK", block)
        rows = numbered.read_libsvm([write(tmp_path / str(n), wrap(mark + GOOD)) for n in (1, 2)])
        assert rows.labels.tolist() == plain.labels.tolist() * 2
        assert rows.values.tolist() == plain.values.tolist() * 2
    with pytest.raises(UserError, match=r"x:1: a line begins with its label.* is not a number"):
        numbered.read_libsvm([write(tmp_path / "x", mark + mark + GOOD)])
    with pytest.raises(UserError, match="no examples in it"):
        numbered.read_libsvm([write(tmp_path / "empty", mark)])


def test_several_files_are_one_after_the_other(tmp_path):
    one, two = write(tmp_path / "1", "1 1:1\n"), write(tmp_path / "2", "-1 2:2")
    assert dense(numbered.read_libsvm([one, two])).tolist() == [[1, 0], [0, 2]]


def test_broken_line_far_into_a_large_file_has_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK", 1000)
    lines = [f"{'-' if i % 2 else '+'}1 {1 + i % 7}:{i}.25" for i in range(5000)]
    path = write(tmp_path / "large", "\n".join(lines))
    assert len(numbered.read_libsvm([path]).labels) == 5000
    lines[4321] += " 1:nonsense"
    with pytest.raises(UserError, match=":4322: "):
        numbered.read_libsvm([write(path, "\n".join(lines))])


number = st.floats(-1e300, 1e300, allow_nan=False).map(lambda x: x + 0.0)
row = st.tuples(st.sampled_from([-1, 1]), st.dictionaries(st.integers(1, 10**6), number, max_size=6))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(row, min_size=1, max_size=8),
    st.sampled_from([" ", "  ", "\t"]),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_block_and_line_readers_agree_and_keep_every_bit(rows, space, end):
    text = end.join(
        space.join([str(y), *(f"{i}:{x!r}" for i, x in sorted(xs.items()))]) for y, xs in rows
    ).encode()
    with mock.patch.object(numbered, "_LARGE", 0):
        fast, slow = numbered._fast_block(text, 1), numbered._slow_block(text, 1, "text", 1)
    assert fast is not None
    for a, b in zip(fast, slow, strict=True):
        assert np.array_equal(a, b)
    assert fast[3].tolist() == [x for _, xs in rows for _, x in sorted(xs.items())]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="1290:.-+e# \n\tna", max_size=25))
def test_block_reader_never_accepts_what_the_line_reader_refuses(text):
    with mock.patch.object(numbered, "_LARGE", 0):
        fast = numbered._fast_block(text.encode(), 1)
    if fast is not None:
        slow = numbered._slow_block(text.encode(), 1, "text", 1)
        assert all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))


def test_reader_agrees_with_scikit_learn_on_real_data(shared_data):
    from sklearn.datasets import load_svmlight_file

    path = shared_data / "svmguide3.libsvm.xz"
    rows = numbered.read_libsvm([path])
    X, y = load_svmlight_file(io.BytesIO(lzma.decompress(path.read_bytes())), n_features=rows.d)
    assert np.array_equal(dense(rows), X.toarray())
    assert np.array_equal(rows.labels, y)


def test_decompression_is_bounded(tmp_path):
    bomb = write(tmp_path / "bomb.xz", lzma.compress(b"1 1:1\n" * 2_000_000))
    assert bomb.stat().st_size < 5000
    with pytest.raises(UserError, match="more than 1,000,000 bytes after decompression"):
        numbered.read_libsvm([bomb], 1_000_000)


def test_two_classes_are_mapped_and_noted(tmp_path):
    d = data.find(str(write(tmp_path / "my.libsvm", "4 1:1\n2 1:2\n4 2:1\n"))).load()
    assert (d.name, d.T, d.d, d.task) == ("my", 3, 2, "classification")
    assert d.y.tolist() == [1, -1, 1]
    assert (d.classes, d.notes) == (("2", "4"), ())
    assert data.find(str(write(tmp_path / "plain.libsvm", "+1 1:1\n-1 1:2\n"))).load().notes == ()


def test_rows_without_features_are_fine(tmp_path):
    assert data.find(str(write(tmp_path / "a", "1\n-1 2:3\n"))).load().indptr.tolist() == [0, 0, 1]


def test_huge_dimension_stays_sparse(tmp_path):
    d = data.find(str(write(tmp_path / "wide", "1 2147483647:1\n-1 1:1\n"))).load()
    assert (d.d, d.nnz) == (2**31 - 1, 2)


@pytest.mark.parametrize(
    "content",
    [
        "a,b,class\n1,0,no\n0,2.5,yes\n",
        "class;a;b\n0;1;0\n1;0;2.5",
        '"a", "b", "y"\n1.0, 0, "x"\n0,2.5,y\n',
    ],
)
def test_the_label_of_a_csv_is_called_so(tmp_path, content):
    d = data.find(str(write(tmp_path / "my.csv", content))).load()
    assert dense(d).tolist() == [[1, 0], [0, 2.5]]
    assert (d.y.tolist(), d.nnz) == ([-1, 1], 2)


def test_npz_stream(tmp_path):
    path = tmp_path / "s.npz"
    np.savez(path, X=np.array([[0, 1.5], [2, 0]], np.float32), y=np.array([[0], [1]]))
    d = data.find(str(path)).load()
    assert dense(d).tolist() == [[0, 1.5], [2, 0]]
    assert (d.y.tolist(), d.name) == ([-1, 1], "s")
    np.savez(path, X=np.array([[0, 1.5], [2, 0]]), y=np.array(["no", "yes"]))
    other = data.find(str(path)).load()
    assert (other.content_hash, other.classes) == (d.content_hash, ("no", "yes"))
    assert not any("are read" in note for note in [*d.notes, *other.notes])


def test_npz_is_bounded_before_it_is_read(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 1000)), y=np.zeros(1000))
    with pytest.raises(UserError, match="8,00"):
        numbered.read_npz(tmp_path / "bomb.npz", 100_000)


def test_unknown_name_and_missing_file():
    with pytest.raises(UserError, match=r"did you mean 'svmguide3'\?"):
        data.find("svmgiude3").load()
    with pytest.raises(UserError, match="neither a registered data set"):
        data.find("no/such/file.libsvm").load()


@pytest.mark.parametrize("text", ["1 0:1 2:2\n-1 1:3\n", "1 1:3\n" * 3 + "-1 0:2\n# c\n", "1\n-1 0:1\n"])
def test_an_index_0_is_the_first_column(tmp_path, text):
    path = write(tmp_path / "a", text)
    rows = numbered.read_libsvm([path], base=None)
    assert (rows.base, rows.d) == (0, 1 + max(int(part[0]) for part in re.findall(r"\d:", text)))
    again = write(tmp_path / "b", re.sub(r"(\d):", lambda match: f"{int(match[1]) + 1}:", text))
    assert dense(numbered.read_libsvm([again])).tolist() == dense(rows).tolist()
    assert numbered.read_libsvm([again], base=None).base == 1
    shifted = numbered.read_libsvm([again], base=0)
    assert (shifted.d, dense(shifted)[:, 0].tolist()) == (rows.d + 1, [0] * len(rows.labels))
    assert dense(numbered.read_libsvm([path, again], base=None)).shape[1] == rows.d + 1


def test_a_note_says_that_columns_count_from_0(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = write(tmp_path / "my.txt", "1 0:1 2:2\n-1 1:3\n")
    for _ in range(2):  # parsed, and of the copy
        made = data.find(str(path)).load()
        assert made.notes == ("an index is 0, so the columns count from 0 (index_base=0)",)
        assert (made.d, made.index_base) == (3, 0)
    assert data.find(str(path), preparation=Preparation(index_base=0)).load().notes == ()


def test_comments_may_hold_any_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"1 1:1 # caf\xe9\n-1 2:2\n")
    assert numbered.undense(numbered.read_libsvm([path])).tolist() == [[1, 0], [0, 2]]

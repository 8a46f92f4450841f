"""LIBSVM text in other encodings than UTF-8."""

import pytest

from omkl.data import parse
from omkl.errors import UserError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 1:1\n-1 1:2\n".encode("utf-16"), r"x:1: the text is UTF-16, not UTF-8; save it as UTF-8"),
        (b"1 1:1\n\xe9 1:2\n", r"x:2: the text is not UTF-8 \(byte 0xe9\); save it as UTF-8"),
        (b"1 1:1\n-1 1:2\0\n", r"x:2: the line holds a NUL byte; remove it"),
    ],
)
def test_another_encoding_is_named(tmp_path, text, said):
    path = tmp_path / "x"
    path.write_bytes(text)
    with pytest.raises(UserError, match=said):
        parse.read_libsvm([path])


def test_comments_may_hold_any_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"1 1:1 # caf\xe9\n-1 2:2\n")
    assert parse.undense(parse.read_libsvm([path])).tolist() == [[1, 0], [0, 2]]

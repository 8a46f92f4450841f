"""Compressed files: every kind is opened, in a download up to a limit."""

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from omkl.data import find
from omkl.data.reading.formats import data_name, format_of
from omkl.data.reading.opening import open_binary
from omkl.errors import UserError

TABLE = b"a,b,y\n" + b"1.5,2,0\n3,4,1\n" * 10


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name.replace("__", "/"), data)
    return out.getvalue()


PACKERS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": lambda data: archive(**{"inside.csv": data}),
}


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("ending", PACKERS)
def test_every_kind_of_compression(tmp_path, ending):
    plain = tmp_path / "my.csv"
    plain.write_bytes(TABLE)
    expected = find(str(plain)).load().content_hash
    for name in (f"my.csv{ending}", f"MY.CSV{ending.upper()}"):
        path = tmp_path / name
        path.write_bytes(PACKERS[ending](TABLE))
        assert format_of(path).is_table
        dataset = find(str(path)).load()
        assert (dataset.content_hash, dataset.name.lower()) == (expected, "my")
    assert data_name(f"x.arff{ending}") == "x"


@pytest.mark.parametrize("ending", PACKERS)
def test_the_limit_of_a_download_holds_for_all(tmp_path, ending):
    bomb = tmp_path / f"bomb.csv{ending}"
    bomb.write_bytes(PACKERS[ending](b"1" * 10**6))
    with pytest.raises(UserError, match=r"holds more than 1,000 bytes after decompression"):
        open_binary(bomb, 1000).read()
    assert len(open_binary(bomb).read()) == 10**6  # a user's own file


def test_a_mac_s_own_files_and_folders_do_not_count(tmp_path):
    path = tmp_path / "data.zip"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("d/rows.libsvm", b"1 1:1\n-1 2:1\n")
        made.writestr("__MACOSX/d/._rows.libsvm", b"x")
    path.write_bytes(out.getvalue())
    dataset = find(str(path)).load()
    assert (dataset.name, dataset.T) == ("data", 2)

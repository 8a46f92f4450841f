"""Downloads, from a real server on loopback: whole, broken, mirrored, forbidden; hostile answers, bombs."""

import bz2
import contextlib
import dataclasses
import gzip
import io
import lzma
import os
import resource
import socket
import stat
import threading
import zipfile

import pytest
from support.download_server import BODY

from omkl import data
from omkl.data import fetch, registry
from omkl.data.reading import opening
from omkl.data.registry import DataFile, Link
from omkl.errors import OmklError, UserError

pytestmark = pytest.mark.usefixtures("surroundings")
GIB = 2**30
PACKERS = {"xz": lzma.compress, "gz": gzip.compress, "bz2": bz2.compress}
TEXTS = {"zeros": b"\0" * 6, "rows": b"1 1:1\n"}


def left(folder):
    return sorted(path.name for path in folder.iterdir())


REFUSED = [  # how the server behaves (or an address), the most bytes, and the message
    ("404", 10**6, "the server answered 404"),
    ("403", 10**6, "the server answered 403"),
    ("500", 10**6, "the server answered 500"),
    ("redirect file:///etc/passwd", 10**6, "not allowed"),
    ("redirect ftp://127.0.0.1/f", 10**6, "refused, after 3 attempts"),
    ("redirect gopher://127.0.0.1/f", 10**6, "not allowed"),
    ("redirect /f", 10**6, "redirect"),  # for ever
    ("", 1000, "larger than the 1,000"),
    ("no length", 1000, "larger than the 1,000"),
    pytest.param("stalls", 10**6, "timed out, after 3 attempts", marks=pytest.mark.slow),
    ("file:///etc/passwd", 10**6, "only http and https addresses"),
    ("ftp://127.0.0.1/f", 10**6, "only http and https addresses"),
    ("data:,x", 10**6, "only http and https addresses"),
    ("http://127.0.0.1:9/f", 10**6, "refused, after 3 attempts"),
]


@pytest.mark.parametrize(("mode", "limit", "said"), REFUSED)
def test_what_is_refused_leaves_nothing(server, tmp_path, monkeypatch, mode, limit, said):
    monkeypatch.setattr(fetch, "TIMEOUT", 0.2)
    is_address = mode.partition(":")[0] in ("file", "ftp", "data", "http")
    server.modes["/f"] = "" if is_address else mode
    with pytest.raises(fetch.NotFound if mode == "404" else OmklError, match=said):
        fetch.download(mode if is_address else f"{server.url}/f", tmp_path / "x", limit)
    assert left(tmp_path) == []


@pytest.mark.parametrize("mode", ["", "no length"])
def test_whole_file(server, tmp_path, mode):
    server.modes["/f"] = mode
    assert fetch.download(f"{server.url}/f", tmp_path / "x", 10**6).read_bytes() == BODY
    assert left(tmp_path) == ["x"]


def test_a_broken_download_begins_again_three_times(server, tmp_path):
    server.modes["/f"] = "breaks once"
    assert fetch.download(f"{server.url}/f", tmp_path / "x", 10**6).read_bytes() == BODY
    assert server.requests == ["/f", "/f"]
    server.modes["/f"] = "breaks always"
    with pytest.raises(OmklError, match=r"ended after [\d,]+ of [\d,]+ bytes, after 3 attempts"):
        fetch.download(f"{server.url}/f", tmp_path / "y", 10**6)
    assert left(tmp_path) == ["x"]


def test_redirect_within_http_is_followed(server, tmp_path):
    server.modes["/old"] = "redirect /f"
    assert fetch.download(f"{server.url}/old", tmp_path / "x", 10**6).read_bytes() == BODY


def test_a_file_that_cannot_be_written(server, tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(OmklError, match="Is a directory"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)


# --- get: a registered set from a server or a mirror


def test_get_downloads_verifies_and_is_found_afterwards(server, mine, tmp_path):
    paths = data.registered("mine").get()
    assert paths == [tmp_path / "cache" / "files" / "mine.t"]
    assert data.find("mine").load().content_hash == mine.content_hash == data.registered("mine").verify()
    assert data.registered("mine").get() == paths
    assert len(server.requests) == 1
    data.registered("mine").get(force=True)
    assert len(server.requests) == 2


def test_the_next_address_is_tried_and_all_failures_are_listed(server, mine, tmp_path):
    """Where one has nothing, and where one gives other content."""
    yaml = tmp_path / "conf" / "data" / "mine.yaml"
    yaml.write_text(
        yaml.read_text().replace('urls: ["', f'urls: ["{server.url}/gone", "{server.url}/other", "')
    )
    registry._entry.cache_clear()
    server.files["/other"] = b"1 1:1\n"
    assert data.find("mine").load().content_hash == mine.content_hash
    assert server.requests == ["/gone", "/other", "/f"]
    server.modes["/f"] = "404"
    said = r"(?s)mine: not downloaded:.*/gone: the server answered 404.*not the registered.*/f: the server"
    with pytest.raises(OmklError, match=said):
        data.registered("mine").get(force=True)


def test_wrong_content_never_joins_the_search_path(server, mine):
    server.files["/f"] = BODY.replace(b"0.5", b"0.25", 1)
    with pytest.raises(
        UserError, match=rf"mine\.t: not the registered content of mine: expected {mine.content_hash}"
    ):
        data.registered("mine").get()
    assert data.registered("mine").state == "missing"
    server.files["/f"] = BODY
    data.registered("mine").get()
    server.files["/f"] = b"<html>moved</html>"
    with pytest.raises(UserError, match=r"mine\.t:1: .*: '<html>moved</html>' is not a number"):
        data.registered("mine").get(force=True)
    assert data.find("mine").load().content_hash == mine.content_hash  # the good one is still there


def test_downloads_folder_that_cannot_be_written(mine, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "file"))
    with pytest.raises(OmklError, match="name another folder with OMKL_CACHE"):
        data.registered("mine").get()


def test_offline_forbids_the_network(server, mine, monkeypatch):
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.registered("mine").get()
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.find("mine").load()
    monkeypatch.setenv("OMKL_MIRROR", server.url)
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.registered("mine").get()
    assert server.requests == []


def test_mirror_url_replaces_the_source(server, mine, monkeypatch):
    monkeypatch.setenv("OMKL_MIRROR", f"{server.url}/mirror/")
    with pytest.raises(OmklError, match="not at the mirror"):
        data.registered("mine").get()
    assert "/f" not in server.requests
    server.files["/mirror/mine.t.xz"] = lzma.compress(BODY)
    assert data.find("mine").load().content_hash == mine.content_hash


def test_a_mirror_is_an_address(mine, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_MIRROR", str(tmp_path))
    with pytest.raises(
        UserError, match="only http and https addresses are downloaded; OMKL_DATA names folders"
    ):
        data.registered("mine").get()


def test_two_gets_at_once_download_once(server, mine):
    threads = [threading.Thread(target=data.registered("mine").get) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert data.find("mine").load().content_hash == mine.content_hash
    assert len(server.requests) == 1


def test_set_without_an_address(monkeypatch):
    files = (DataFile("adaraker_tom.npz"),)
    item = registry.entry("adaraker_tom")
    item = dataclasses.replace(item, forms=(dataclasses.replace(item.forms[0], files=files),))
    monkeypatch.setattr(registry, "entry", lambda name: item)
    with pytest.raises(UserError, match=r"adaraker_tom\.npz: no download address is known"):
        data.registered("adaraker_tom").get()
    assert not data.registered("adaraker_tom").is_downloadable


# --- bombs


def bomb(kind, text, size=10 * GIB):
    """A text of this size, compressed: all three formats allow one stream after the other."""
    piece = TEXTS[text] * (2 ** (20 if kind == "bz2" else 24) // 6)
    return PACKERS[kind](piece) * (size // len(piece) + 1)


def tree(folder):
    """Every file below a folder except the locks, with its content."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path: path.read_bytes() for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_of_10_gib_is_refused_at_the_size_the_data_can_have(
    server, mine, tmp_path, monkeypatch, kind, text
):
    server.files["/f"] = BODY
    data.registered("mine").get()
    before = tree(tmp_path / "cache")
    server.files["/f"] = bomb(kind, text)
    unpacked, readinto = [], opening._Capped.readinto

    def counted(self, buffer):
        unpacked.append(len(buffer))
        return readinto(self, buffer)

    monkeypatch.setattr(opening._Capped, "readinto", counted)
    with pytest.raises(
        OmklError, match=r"mine.t: holds more than|larger than the [\d,]+ bytes that mine.t can"
    ):
        data.registered("mine").get(force=True)
    assert sum(unpacked) < GIB / 10
    assert tree(tmp_path / "cache") == before


# --- archives


def archive_of(**members):
    """A .zip with names that an attacker would choose, and these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../evil", b"evil")
        archive.writestr("/tmp/omkl-evil", b"evil")
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_of_an_archive_only_the_named_member_is_read_and_links_are_text(server, tmp_path):
    server.files["/a.zip"] = archive_of(**{"D/x": BODY})
    folder = tmp_path / "in" / "deep"
    for name in ("D/x", "link", "../evil"):
        member = DataFile(f"as-{name[-1]}", (Link(f"{server.url}/a.zip", name),))
        fetch.fetch(member, folder, 10**6, folder / "archives")
    assert sorted(path.name for path in folder.iterdir()) == ["archives", "as-k", "as-l", "as-x"]
    assert len(server.requests) == 1  # the archive is shared
    assert (folder / "as-x").read_bytes() == BODY
    assert (folder / "as-k").read_text() == "/etc/passwd"
    assert not (folder / "as-k").is_symlink()
    assert not list(tmp_path.rglob("evil"))
    assert not os.path.exists("/tmp/omkl-evil")


@pytest.mark.parametrize("damage", ["bomb", "method", "crc", "encrypted", "lzma", "text", "none", "cut"])
def test_a_bad_member_leaves_nothing(server, tmp_path, damage):
    content = bytearray(archive_of(x=bytes(10**7) if damage == "bomb" else BODY))
    local, central = content.rfind(b"PK\x03\x04"), content.rfind(b"PK\x01\x02")
    if damage == "method":
        content[local + 8] = content[central + 10] = 99
    elif damage == "lzma":
        content[local + 8] = content[central + 10] = 14
    elif damage == "crc":
        content[central + 16] ^= 1
    elif damage == "encrypted":
        content[local + 6] |= 1
        content[central + 8] |= 1
    elif damage in ("text", "none"):
        content = b"no archive" if damage == "text" else archive_of(other=b"-")
    server.files["/a.zip"] = bytes(content[:-30] if damage == "cut" else content)
    with pytest.raises(OmklError, match=r"no readable member x|holds more than 1,000,000 bytes") as caught:
        fetch.fetch(DataFile("x", (Link(f"{server.url}/a.zip", "x"),)), tmp_path, 10**6, tmp_path / "a")
    assert "Traceback" not in str(caught.value)
    assert not (tmp_path / "x").exists()


# --- servers whose answers no real server gives


class RawServer:
    """Sends this answer to every client, and closes the connection."""

    def __init__(self, answer):
        self.answer = answer
        self.over = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/f"
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def serve(self):
        while not self.over.is_set():
            try:
                line, _ = self.socket.accept()
            except OSError:
                return
            with line, contextlib.suppress(OSError):
                line.settimeout(0.5)
                line.recv(10_000)
                line.sendall(self.answer)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(5)


OK = b"HTTP/1.1 200 OK\r\n"


def redirect(place):
    return b"HTTP/1.1 302 Found\r\nLocation: " + place + b"\r\nContent-Length: 0\r\n\r\n"


ODD = {
    "nothing": b"",
    "noise": b"\xff\x00" * 50,
    "a status without number": b"HTTP/1.1 OK\r\n\r\n",
    "a huge status": b"HTTP/1.1 99999999999999999999 x\r\n\r\n",
    "too many headers": OK + b"X: y\r\n" * 200 + b"\r\n",
    "an endless header": OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n",
    "a bad chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc",
    "a huge length": OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc",
    "a length beyond": OK + b"Content-Length: 1000\r\n\r\nabc",
    "a part without request": b"HTTP/1.1 206 P\r\nContent-Range: bytes 5-6/7\r\nContent-Length: 2\r\n\r\nab",
    "no place": redirect(b""),
    "half an address": redirect(b"http://[::1"),
    "a port of words": redirect(b"http://127.0.0.1:port/"),
    "control characters": redirect(b"http://127.0.0.1:9/a\x00b c"),
    "FILE": redirect(b"FILE:///etc/passwd"),
    "a status that has no body": b"HTTP/1.1 204 None\r\n\r\n",
}


@pytest.mark.parametrize("what", ODD)
def test_odd_answers_are_refused_in_one_line(tmp_path, monkeypatch, what):
    monkeypatch.setattr(fetch, "TIMEOUT", 2.0)
    monkeypatch.setattr(fetch, "ATTEMPTS", 2)
    with RawServer(ODD[what]) as it, pytest.raises(OmklError) as caught:
        fetch.fetch(DataFile("x", (Link(it.url),)), tmp_path, 10**6, tmp_path / "archives")
    assert str(caught.value).startswith("http://127.0.0.1")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "x").exists()


def test_a_full_disk_is_reported_and_leaves_no_file(server, mine, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))  # a write fails as on a full disk
    try:
        with pytest.raises(OmklError, match="File too large"):
            data.registered("mine").get()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert data.registered("mine").state == "missing"
    assert data.registered("mine").get() == [tmp_path / "cache" / "files" / "mine.t"]

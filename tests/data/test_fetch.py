"""Downloading, against a real HTTP server on loopback: whole, broken, hostile, mirrored, forbidden."""

import dataclasses
import io
import lzma
import threading
import zipfile

import pytest
from support.download_server import BODY

from omkl import data
from omkl.data import fetch, registry
from omkl.data.registry import DataFile, Link
from omkl.errors import OmklError, UserError

pytestmark = pytest.mark.usefixtures("surroundings")


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whole_file(server, tmp_path):
    assert fetch.download(f"{server.url}/f", tmp_path / "x", 10**6).read_bytes() == BODY
    assert left(tmp_path) == ["x"]


def test_no_length_announced(server, tmp_path):
    server.modes["/f"] = "no length"
    assert fetch.download(f"{server.url}/f", tmp_path / "x", 10**6).read_bytes() == BODY


def test_a_broken_download_begins_again_three_times(server, tmp_path):
    server.modes["/f"] = "breaks once"
    assert fetch.download(f"{server.url}/f", tmp_path / "x", 10**6).read_bytes() == BODY
    assert server.requests == ["/f", "/f"]
    server.modes["/f"] = "breaks always"
    with pytest.raises(OmklError, match=r"ended after [\d,]+ of [\d,]+ bytes, after 3 attempts"):
        fetch.download(f"{server.url}/f", tmp_path / "y", 10**6)
    assert left(tmp_path) == ["x"]


@pytest.mark.parametrize(("mode", "kind"), [("404", fetch.NotFound), ("403", OmklError), ("500", OmklError)])
def test_server_errors(server, tmp_path, mode, kind):
    server.modes["/f"] = mode
    with pytest.raises(kind, match=f"the server answered {mode}"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)
    assert left(tmp_path) == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/f", "gopher://127.0.0.1/f"])
def test_redirect_to_another_scheme_is_refused(server, tmp_path, target):
    server.modes["/f"] = f"redirect {target}"
    with pytest.raises(OmklError, match=r"not allowed|refused the redirect from http to"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)
    assert left(tmp_path) == []


def test_redirect_within_http_is_followed_but_never_from_https(server, tmp_path):
    server.modes["/old"] = "redirect /f"
    assert fetch.download(f"{server.url}/old", tmp_path / "x", 10**6).read_bytes() == BODY
    request = fetch.urllib.request.Request("https://example.org/f")
    with pytest.raises(OmklError, match="refused the redirect from https to http"):
        fetch._SameScheme().redirect_request(request, None, 302, "", {}, "http://example.org/f")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/f", "data:,x"])
def test_other_schemes_are_never_opened(tmp_path, url):
    with pytest.raises(OmklError):
        fetch.download(url, tmp_path / "x", 10**6)
    assert left(tmp_path) == []


def test_redirect_loop_ends(server, tmp_path):
    server.modes["/f"] = "redirect /f"
    with pytest.raises(OmklError, match="redirect"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)


@pytest.mark.slow
def test_stalled_server(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_TIMEOUT", "0.2")
    server.modes["/f"] = "stalls"
    with pytest.raises(OmklError, match=r"no data for 0.2 s"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)
    monkeypatch.setenv("OMKL_TIMEOUT", "soon")
    with pytest.raises(UserError, match="OMKL_TIMEOUT='soon'"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)


def test_no_server(tmp_path):
    with pytest.raises(OmklError, match="no connection"):
        fetch.download("http://127.0.0.1:9/f", tmp_path / "x", 10**6)


@pytest.mark.parametrize("mode", ["", "no length"])
def test_size_is_bounded(server, tmp_path, mode):
    server.modes["/f"] = mode
    with pytest.raises(OmklError, match="larger than the 1,000"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 1000)
    assert left(tmp_path) == []


def test_a_file_that_cannot_be_written(server, tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(OmklError, match=r"to .*x: Is a directory"):
        fetch.download(f"{server.url}/f", tmp_path / "x", 10**6)


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


def test_archive_member(server, tmp_path):
    server.files["/a.zip"] = zipped(D__x=BODY, other=b"-")
    link = Link(f"{server.url}/a.zip", "D/x")
    files = [DataFile("x", (link,)), DataFile("y", (Link(link.url, "other"),))]
    paths = [fetch.fetch(file, tmp_path, 10**6, tmp_path / "archives")[0] for file in files]
    assert [path.read_bytes() for path in paths] == [BODY, b"-"]
    assert len(server.requests) == 1  # the archive is shared


@pytest.mark.parametrize(
    "content",
    [b"no archive", zipped(other=b"-"), zipped(x=BODY)[:-30], zipped(x=bytes(10**7))],
    ids=["text", "without the member", "cut", "a bomb"],  # zip files hold the time, so they cannot be names
)
def test_bad_archive(server, tmp_path, content):
    server.files["/a.zip"] = content
    with pytest.raises(OmklError, match=r"no readable member x|holds more than"):
        fetch.fetch(
            DataFile("x", (Link(f"{server.url}/a.zip", "x"),)), tmp_path, 10**6, tmp_path / "archives"
        )
    assert not (tmp_path / "x").exists()


def test_links_are_tried_in_turn_and_all_failures_are_listed(server, tmp_path):
    links = Link(f"{server.url}/gone"), Link(f"{server.url}/f")
    path, link = fetch.fetch(DataFile("x", links), tmp_path, 10**6, tmp_path)
    assert (path.read_bytes(), link) == (BODY, links[1])
    with pytest.raises(
        OmklError, match=r"(?s)/gone: the server answered 404.*/lost: the server answered 404"
    ):
        fetch.fetch(DataFile("y", (links[0], Link(f"{server.url}/lost"))), tmp_path, 10**6, tmp_path)


# --- get: a registered set from a server or a mirror


def test_get_downloads_verifies_and_is_found_afterwards(server, mine, tmp_path):
    paths = data.registered("mine").get()
    assert paths == [tmp_path / "cache" / "files" / "mine.t"]
    assert data.load("mine").content_hash == mine.content_hash == data.registered("mine").verify()
    assert data.registered("mine").get() == paths
    assert len(server.requests) == 1
    data.registered("mine").get(force=True)
    assert len(server.requests) == 2


def test_load_downloads_what_is_missing(server, mine):
    with pytest.raises(UserError, match="`omkl data get mine` downloads it"):
        data.load("mine", download=False)
    assert server.requests == []
    assert data.load("mine").content_hash == mine.content_hash


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
    with pytest.raises(UserError, match=r"mine\.t:1: label: '<html>moved</html>' is not a number"):
        data.registered("mine").get(force=True)
    assert data.load("mine").content_hash == mine.content_hash  # the good one is still there


def test_downloads_folder_that_cannot_be_written(mine, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "file"))
    with pytest.raises(OmklError, match="name another folder with OMKL_CACHE"):
        data.registered("mine").get()


def test_missing_on_the_server(server, mine):
    server.modes["/f"] = "404"
    with pytest.raises(OmklError, match=r"mine\.t: not downloaded"):
        data.load("mine")


def test_offline_forbids_the_network_but_not_a_mirror_folder(server, mine, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.registered("mine").get()
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.load("mine")
    monkeypatch.setenv("OMKL_MIRROR", server.url)
    with pytest.raises(UserError, match="OMKL_OFFLINE forbids"):
        data.registered("mine").get()
    assert server.requests == []
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "mine.t.libsvm.xz").write_bytes(lzma.compress(BODY))
    monkeypatch.setenv("OMKL_MIRROR", str(tmp_path / "mirror"))
    assert [path.name for path in data.registered("mine").get()] == ["mine.t.libsvm.xz"]
    assert data.load("mine").content_hash == mine.content_hash


def test_mirror_url_replaces_the_source(server, mine, monkeypatch):
    monkeypatch.setenv("OMKL_MIRROR", f"{server.url}/mirror/")
    with pytest.raises(OmklError, match="not at the mirror"):
        data.registered("mine").get()
    assert "/f" not in server.requests
    server.files["/mirror/mine.t.xz"] = lzma.compress(BODY)
    assert data.load("mine").content_hash == mine.content_hash


def test_mirror_that_is_neither_an_address_nor_a_folder(mine, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="neither an http"):
        data.registered("mine").get()
    (tmp_path / "nowhere").mkdir()
    with pytest.raises(OmklError, match="not in the mirror"):
        data.registered("mine").get()


def test_two_gets_at_once_download_once(server, mine):
    threads = [threading.Thread(target=data.registered("mine").get) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert data.load("mine").content_hash == mine.content_hash
    assert len(server.requests) == 1


def test_set_without_an_address(monkeypatch):
    files = (DataFile("adaraker_tom.npz"),)
    item = registry.entry("adaraker_tom")
    item = dataclasses.replace(item, forms=(dataclasses.replace(item.forms[0], files=files),))
    monkeypatch.setattr(registry, "entry", lambda name: item)
    with pytest.raises(UserError, match=r"adaraker_tom\.npz: no address to download it from is known"):
        data.registered("adaraker_tom").get()
    assert not data.registered("adaraker_tom").is_downloadable

"""A real HTTP server on loopback that misbehaves as told, and a registered data set that it serves."""

import http.server
import threading

import pytest

from omkl import data
from omkl.data import fetch

BODY = b"".join(b"%+d 1:%d 2:0.5\n" % (1 if i % 3 else -1, i) for i in range(1, 4001))


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ``server.files``; a path's behaviour is told by ``server.modes``."""

    def do_GET(self):
        server, path = self.server, self.path
        server.requests.append(path)
        mode, body = server.modes.get(path, ""), server.files.get(path)
        if mode.startswith("redirect "):
            self.send_response(302)
            self.send_header("Location", mode.partition(" ")[2])
            self.end_headers()
            return
        if mode.isdecimal() or body is None:
            self.send_error(int(mode or 404))
            return
        self.send_response(200)
        if mode != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut = len(body)
        if mode in ("breaks always", "stalls") or (mode == "breaks once" and len(server.requests) == 1):
            cut = len(body) // 2
        self.wfile.write(body[:cut])
        if mode == "stalls":
            self.wfile.flush()
            server.release.wait()

    def log_message(self, *args):
        """Keep the test's output quiet."""


@pytest.fixture
def server(surroundings):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as it:
        it.files, it.modes, it.requests = {"/f": BODY}, {}, []
        it.release = threading.Event()
        it.url = f"http://127.0.0.1:{it.server_address[1]}"
        thread = threading.Thread(target=it.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield it
        it.release.set()
        it.shutdown()
        thread.join()


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("OMKL_MIRROR", "OMKL_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fetch.time, "sleep", lambda seconds: None)


FORM = """
  - format: libsvm
    files: [{{name: {name}, urls: ["{url}"]}}]
    labels: {{-1: -1, 1: 1}}
"""


@pytest.fixture
def mine(server, tmp_path, monkeypatch):
    """A registered set ``mine`` with content BODY, at the server's /f."""
    (tmp_path / "given").write_bytes(BODY)
    d = data.find(str(tmp_path / "given")).load()
    lines = ["title: t", "description: d", "task: classification", f"T: {d.T}", "d: 2", f"nnz: {d.nnz}"]
    lines += ["positive_share: 0.5", f'content_hash: "{d.content_hash}"', "source: s", "licence: l"]
    (tmp_path / "conf" / "data").mkdir(parents=True)
    text = "\n".join(lines) + "\nforms:" + FORM.format(name="mine.t", url=f"{server.url}/f")
    (tmp_path / "conf" / "data" / "mine.yaml").write_text(text)
    monkeypatch.setenv("OMKL_PATH", str(tmp_path))
    assert data.registered("mine").state == "missing"
    return d

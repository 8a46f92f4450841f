"""The server of a page: the loopback address, its own host and its token only, nothing but the page."""

import http.client
import socket
import threading

import pytest
from support.stored_pages import fill, payload

from omkl.errors import UserError
from omkl.pages.runs import run_page
from omkl.pages.serve import Pages, Server, store_state

WORDS = ["algo=omkc_dd,omkc_ss", "data=wdbc", "reps=2", "yardsticks=[]"]


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A server of a run whose first repetition is stored, and its plan."""
    monkeypatch.setattr("omkl.pages.serve.REST", 0.0)
    plan = fill([*WORDS, f"store={tmp_path / 'store'}"], reps=1)
    pages = Pages(lambda: run_page(plan, WORDS, "", progress=True), lambda: store_state(plan.store))
    with Server(pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server, plan
        server.shutdown()
        thread.join()


def ask(server, path, host=None, method="GET"):
    """The code, headers and text of an answer; host: the header, as a browser sets it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def test_only_the_page_is_served_and_only_to_its_token_and_host(served):
    server, _ = served
    assert server.server_address[0] == "127.0.0.1"
    token, port = server.token, server.server_port
    assert len(token) >= 32
    for wrong in (
        "",
        "?token=",
        f"?token={token[:-1]}",
        f"?token={token}x",
        "?token=%C3%A9",
        f"?tok={token}",
    ):
        code, _, text = ask(server, f"/{wrong}")
        assert code == 403
        assert token not in text
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", "[::1]"):
        assert ask(server, f"/?token={token}", host)[0] == 421
    assert ask(server, f"/?token={token}", f"localhost:{port}")[0] == 200
    for path in ("/pyproject.toml", "/../etc/passwd", "/cells/", "/news/", "/web/page.js"):
        assert ask(server, f"{path}?token={token}")[0] == 404
    assert ask(server, f"/?token={token}", method="POST")[0] == 501


def test_what_is_no_address_is_refused_without_a_word_on_stderr(served, capfd):
    server, _ = served
    for path in ("http://[/", f"http://[/?token={server.token}"):
        with socket.create_connection(server.server_address, timeout=30) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = client.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.0 400")
        assert answer.endswith(b"this is not an address")
    assert capfd.readouterr().err == ""


def test_the_page_brings_news_of_the_run(served):
    server, plan = served
    code, headers, text = ask(server, f"/?token={server.token}")
    assert code == 200
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert "connect-src 'self'" in text
    assert "2 of 4 cells done, 0 failed" in text
    version = payload(text)["live"]
    assert ask(server, f"/news?token={server.token}&since={version}")[0] == 204
    fill([*WORDS, f"store={plan.store}"])
    code, _, news = ask(server, f"/news?token={server.token}&since={version}")
    assert code == 200
    assert "4 of 4 cells done, 0 failed" in news
    assert len(news) < 0.1 * len(text)  # without the plotting library
    assert payload(news)["live"] != version


def test_a_port_in_use_is_a_mistake(served):
    with pytest.raises(UserError, match=r"^--port \d+: Address already in use"):
        Server(served[0].pages, served[0].server_port)

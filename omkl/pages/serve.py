"""The page of a run that has not ended, for a browser on this machine.

Only the loopback address is bound. Each request must name this server as its host, which no page of another
site can do under its own name (DNS rebinding), and carry the token that the address printed at the start
holds. Nothing but the page is served, and no file is read for a request.
"""

import hmac
import secrets
import sys
import threading
import time
from collections.abc import Callable, Hashable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from omkl.errors import OmklError, UserError
from omkl.pages.document import Page, document

HOST = "127.0.0.1"
REST = 3.0  # the page is made again after this many times what it took at most, so that the run has the cores
_TIMEOUT = 10.0  # seconds that a client may take for its request


class Pages:
    """The page as it is now: made again when the store has changed, but not too often.

    make: returns the page    state: what the store's files look like, compared with the last time
    """

    def __init__(self, make: Callable[[], Page], state: Callable[[], Hashable]) -> None:
        self._make, self._state = make, state
        self._lock = threading.Lock()
        self._seen: Hashable = None
        self._due = 0.0
        self._number = 0
        self._page: Page | None = None

    def now(self) -> tuple[str, Page]:
        """Return the version of the page, and the page. Raises as ``make`` does."""
        with self._lock:
            if self._page is None or (time.monotonic() >= self._due and self._state() != self._seen):
                began, self._seen = time.monotonic(), self._state()
                self._page = self._make()
                self._number += 1
                self._due = time.monotonic() + REST * (time.monotonic() - began)
            return str(self._number), self._page


class Server(ThreadingHTTPServer):
    """A server of one page on the loopback address; port 0 takes a free one.

    token: what a request must carry; a new one for each server. Raises UserError for a port in use.
    """

    daemon_threads = True

    def __init__(self, pages: Pages, port: int = 0) -> None:
        self.pages, self.token = pages, secrets.token_urlsafe(24)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            text = f"--port {port}: {error.strerror or error}; choose another, or leave --port out"
            raise UserError(text) from error

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that went away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version, timeout = "omkl", "", _TIMEOUT

    def do_GET(self) -> None:
        try:
            url = urlsplit(self.path)
        except ValueError:  # http://[/
            self._answer(HTTPStatus.BAD_REQUEST, "this is not an address")
            return
        query = parse_qs(url.query)
        hosts = [f"{name}:{self.server.server_port}" for name in (HOST, "localhost")]
        token = query.get("token", [""])[0]
        if self.headers.get("Host", "") not in hosts:
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, "this server answers on the loopback address only")
        elif not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self._answer(HTTPStatus.FORBIDDEN, "open the address that omkl report --serve printed")
        elif url.path not in ("/", "/news"):
            self._answer(HTTPStatus.NOT_FOUND, "there is one page here")
        else:
            self._page(url.path == "/news", query.get("since", [""])[0])

    def _page(self, news: bool, since: str) -> None:
        try:
            version, page = self.server.pages.now()
        except OmklError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        if news and since == version:
            self._answer(HTTPStatus.NO_CONTENT)
        else:
            self._answer(HTTPStatus.OK, document(page, live=version, library=not news), "html")

    def _answer(self, code: HTTPStatus, text: str = "", kind: str = "plain") -> None:
        body = text.encode()
        self.send_response(code)
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Connection": "close"}
        headers |= {"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
        headers |= {"Cross-Origin-Resource-Policy": "same-origin"}
        if code != HTTPStatus.NO_CONTENT:
            headers |= {"Content-Type": f"text/{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address holds the token."""


def store_state(store: Path) -> Hashable:
    """Return what changes when a run writes to a store: its files with sizes and times."""
    files = [path for folder in ("cells", "curves") for path in sorted((store / folder).glob("*"))]
    return tuple((path.name, *_look(path)) for path in files)


def _look(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except FileNotFoundError:  # removed since
        return 0, 0
    return about.st_size, about.st_mtime_ns

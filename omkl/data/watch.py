"""Ending a transfer that crawls: a socket's own timeout begins anew with every byte that drips in."""

import contextlib
import http.client
import socket
import threading
import urllib.request
from typing import Any

SLOWEST = 100  # bytes per second


class Watch:
    """While it is entered, a thread looks now and then whether ``count`` grew enough, else it cuts the line.

    seconds: the socket's timeout, which is given the time to speak first. ``slow`` tells afterwards that the
    line was cut. The caller raises ``count`` by the bytes that came; the sockets are of ``handlers``.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.count, self.slow = 1.5 * seconds, 0, False
        self._sockets: list[socket.socket] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def handlers(self) -> list[urllib.request.BaseHandler]:
        """Return handlers for http and https whose connections are watched."""

        class Http(urllib.request.HTTPHandler):
            def http_open(this, req):
                return this.do_open(lambda *a, **k: self._noted(http.client.HTTPConnection(*a, **k)), req)

        class Https(urllib.request.HTTPSHandler):
            def https_open(this, req):
                return this.do_open(
                    lambda *a, **k: self._noted(http.client.HTTPSConnection(*a, **k)),
                    req,
                    context=this._context,
                )

        return [Http(), Https()]

    def _noted(self, connection: Any) -> Any:
        connect = connection.connect

        def noted() -> None:
            connect()
            self._sockets.append(connection.sock)

        connection.connect = noted
        return connection

    def _look(self) -> None:
        before = 0
        while not self._done.wait(self.seconds):
            if self.count - before < SLOWEST * self.seconds:
                self.slow = True
                for line in self._sockets:
                    with contextlib.suppress(OSError):
                        line.shutdown(socket.SHUT_RDWR)
                return
            before = self.count

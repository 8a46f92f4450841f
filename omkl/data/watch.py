"""Ending a transfer that is too slow: a socket's own timeout starts again with every byte that arrives."""

import contextlib
import http.client
import socket
import threading
import urllib.request

SLOWEST = 100  # bytes per second


class Watch:
    """A context whose thread checks now and then whether ``count`` grew enough, else ends the connection.

    seconds: the socket's timeout, which may act first. ``slow`` says afterwards whether the connection was
    ended. The caller adds the bytes that arrived to ``count``; the connections are those of ``handlers``.
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
                return this.do_open(self._watched(http.client.HTTPConnection), req)

        class Https(urllib.request.HTTPSHandler):
            def https_open(this, req):
                made = self._watched(http.client.HTTPSConnection)
                return this.do_open(made, req, context=this._context)

        return [Http(), Https()]

    def _watched(self, kind: type[http.client.HTTPConnection]) -> type[http.client.HTTPConnection]:
        class Watched(kind):
            def connect(this) -> None:
                super().connect()
                self._sockets.append(this.sock)

        return Watched

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

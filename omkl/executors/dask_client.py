"""The connection to a dask scheduler: made within a time limit, with TLS or without, and watched."""

import asyncio
import contextlib
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from omkl.errors import OmklError, UserError

LOOK = 1.0  # seconds between questions
GRACE = 0.5  # seconds for dask's own error, which says more than a timeout
CLOSING = 3.0  # seconds that closing may take
TLS = {"tls_ca_file": "tls_ca_file", "tls_cert": "tls_client_cert", "tls_key": "tls_client_key"}


def connect(address: str, wait: float, tls: dict[str, str | None]) -> Any:
    """Return a client of the scheduler at an address; `close` ends it.

    tls: the options ``tls_…`` of conf/exec/dask.yaml. Raises UserError for an invalid address or
    certificate, OmklError when no scheduler answers within ``wait`` seconds.
    """
    from distributed import Client

    class Ours(Client):
        def __del__(self) -> None:
            """Print nothing about a client that was never complete; the others are closed."""

    security = _security(address, tls)
    made: list[Any] = []
    late = threading.Event()

    def make() -> None:
        try:
            made.append(Ours(address, timeout=wait, security=security, set_as_default=False))
        except Exception as error:
            made.append(error)
        if late.is_set() and isinstance(made[0], Client):
            close(made[0])

    # in a thread: a silent server at this address would block the constructor forever
    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    thread.join(wait + GRACE)
    late.set()
    outcome = made[0] if made else TimeoutError()
    if isinstance(outcome, Client):
        return outcome
    _check_address(address, outcome)
    raise OmklError(
        f"exec.address={address}: no dask scheduler answers within {wait:g} s{_cause(outcome)}"
    ) from outcome


def close(client: Any) -> None:
    """End the connection, even to a scheduler that does not answer."""
    with contextlib.suppress(Exception):  # nothing is left to do if the scheduler has gone
        client.close(timeout=CLOSING)
    client.status = "closed"


def _check_address(address: str, cause: BaseException) -> None:
    """Raise UserError for an invalid address. cause: the error of the attempt to connect."""
    from distributed.comm import get_address_host_port

    try:
        get_address_host_port(address)
    except (ValueError, TypeError) as error:
        raise UserError(f"exec.address={address}: not an address such as tcp://host:8786: {error}") from cause


def _security(address: str, tls: dict[str, str | None]) -> Any:
    """Return how to connect. Certificates that are not given are those of dask's own configuration."""
    from distributed import Security

    given = {name: str(Path(path).expanduser()) for name, path in tls.items() if path is not None}
    if not address.startswith("tls://"):
        if given:
            raise UserError(f"exec.{next(iter(given))}: certificates are for exec.address=tls://host:8786")
        return None
    for name, path in given.items():
        if not Path(path).is_file():
            raise UserError(f"exec.{name}={path}: there is no such file")
    security = Security(**{TLS[name]: path for name, path in given.items()}, require_encryption=True)
    missing = [name for name, theirs in TLS.items() if getattr(security, theirs) is None]
    if missing:
        names = " and ".join(f"exec.{name}" for name in missing)
        raise UserError(f"exec.address={address}: TLS needs {names} (or the same in dask's configuration)")
    try:
        security.get_connection_args("client")
    except OSError as error:  # of ssl
        text = " ".join(str(error).split())
        raise UserError(
            "exec.tls_ca_file, exec.tls_cert, exec.tls_key must be the authority's certificate, and this "
            f"client's certificate and key, as PEM files: {text}"
        ) from error
    return security


def _cause(error: BaseException) -> str:
    """Return the first cause of an error, as the end of a message."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())[:300]
    return f": {text}" if text else ""


class Pulse:
    """Asks the scheduler regularly how many threads its workers have, and never waits for the answer.

    threads: the last answer    silent, idle: seconds without an answer, and without a worker
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads, self.silent, self.idle = 0, 0.0, 0.0
        self._question: Future | None = None
        self._asked, self._last = 0.0, time.monotonic()

    def look(self) -> None:
        """Take an answer that has come, count the time, and ask again."""
        now = time.monotonic()
        passed = min(now - self._last, LOOK)  # this process may have been stopped, or busy with results
        self._last = now
        self.idle = 0.0 if self.threads else self.idle + passed
        self.silent += passed
        if self._question is not None and self._question.done():
            with contextlib.suppress(OSError):  # a connection that broke: it counts as silence
                self.threads, self.silent = sum(self._question.result().values()), 0.0
            self._question = None
        if self._question is None and now - self._asked > LOOK:
            self._asked = now
            self._question = asyncio.run_coroutine_threadsafe(self._ask(), self.client.loop.asyncio_loop)

    async def _ask(self) -> dict[str, int]:
        return await self.client.scheduler.ncores()

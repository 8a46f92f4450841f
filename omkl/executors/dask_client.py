"""The connection to a dask scheduler: made within a time limit, with TLS or without."""

import contextlib
import threading
from pathlib import Path
from typing import Any

from omkl.errors import OmklError, UserError

GRACE = 0.5  # seconds for dask's own error, which says more than a timeout
CLOSING = 3.0  # seconds that closing may take
TLS = {"tls_ca_file": "tls_ca_file", "tls_cert": "tls_client_cert", "tls_key": "tls_client_key"}


def connect(address: str, wait: float, tls: dict[str, str]) -> Any:
    """Return a client of the scheduler at an address; `close` ends it.

    tls: the options ``tls_…`` of conf/exec/dask.yaml that are given. Raises UserError for an invalid address
    or certificate, OmklError when no scheduler answers within ``wait`` seconds.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port

    class Ours(Client):
        def __del__(self) -> None:
            """Print nothing about a client that was never complete; the others are closed."""

    security = _security(address, tls) if address.startswith("tls://") else None
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
    try:
        get_address_host_port(address)
    except (ValueError, TypeError) as error:
        raise UserError(
            f"exec.address={address}: not an address such as tcp://host:8786: {error}"
        ) from outcome
    cause = outcome
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())[:300]
    raise OmklError(
        f"exec.address={address}: no dask scheduler answers within {wait:g} s{text and f': {text}'}"
    ) from outcome


def close(client: Any) -> None:
    """End the connection, even to a scheduler that does not answer."""
    with contextlib.suppress(Exception):  # nothing is left to do if the scheduler has gone
        client.close(timeout=CLOSING)
    client.status = "closed"


def _security(address: str, tls: dict[str, str]) -> Any:
    """Return how to connect. Certificates that are not given are those of dask's own configuration."""
    from distributed import Security

    given = {name: str(Path(path).expanduser()) for name, path in tls.items()}
    for name, path in given.items():
        if not Path(path).is_file():
            raise UserError(f"exec.{name}={path}: there is no such file")
    security = Security(**{TLS[name]: path for name, path in given.items()}, require_encryption=True)
    missing = [f"exec.{name}" for name, theirs in TLS.items() if getattr(security, theirs) is None]
    if missing:
        names = " and ".join(missing)
        raise UserError(f"exec.address={address}: TLS needs {names}, here or in dask's configuration")
    try:
        security.get_connection_args("client")
    except OSError as error:  # of ssl
        text = " ".join(str(error).split())
        raise UserError(
            "exec.tls_ca_file, exec.tls_cert, exec.tls_key must be the authority's certificate, and this "
            f"client's certificate and key, as PEM files: {text}"
        ) from error
    return security

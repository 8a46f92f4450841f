"""Workers of a dask cluster, through Client.submit and gather.

joblib's own dask backend waits forever for a job that always kills its worker; here it becomes a Failure.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
import time
import warnings
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from omkl.data.cache import ARRAYS
from omkl.data.dataset import Dataset
from omkl.data.ref import keep
from omkl.errors import OmklError, UserError
from omkl.executors import Failure, Function, Outcomes, attempt, error_line, leftovers
from omkl.learning.cell import Cell, detach
from omkl.learning.guards import ctrl_c_later
from omkl.paths import safe_children
from omkl.store import provenance

POLL = 0.005  # seconds between looks at the results
LOOK = 1.0  # seconds between questions to the scheduler
LOGS = ("distributed", "tornado", "asyncio")
DIED = (
    "the dask workers that ran it died, the last one while it ran nothing else: "
    "out of memory, or a crash in compiled code"
)
TRIES = 3  # of a job whose data were lost with the workers that had them
AHEAD = 64  # jobs the scheduler holds beyond one per thread: more only costs it memory


class Dask:
    """Jobs on a dask cluster: at ``address``, or made here with ``jobs`` workers and ended after the run.

    Data go to a cluster at an address as separate tasks, that a worker's first job fetches once. Workers made
    here map the parsed copy. When a worker dies, the scheduler reruns its jobs. One whose workers died too
    often (``allowed-failures``) runs again alone, and is a Failure if they die there too.
    ``wait``: seconds without answer or worker before OmklError.
    """

    name = "dask"

    def __init__(
        self,
        address: str | None = None,
        jobs: int | None = None,
        wait: float = 60.0,
        threads: int = 1,
    ) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise UserError("exec=dask needs the package distributed: pip install 'omkl[dask]'") from None
        self.address, self.wait, self.threads = address, wait, threads
        self.remote = address is not None
        # a remote worker computes one at a time
        self.workers = 1 if self.remote else jobs or max(1, provenance.cores() // threads)

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, result or Failure) as they finish.

        Raises UserError for an invalid address, OmklError when the cluster cannot be reached, disappears, has
        no workers, or has workers that cannot run the function.
        """
        with _quiet(), ExitStack() as stack:
            client = self._client(stack)
            stack.callback(close_client, client)
            sent = _Sent(client, function, self)
            stack.callback(sent.cancel)
            yield from sent.all(jobs, together=True)
            yield from sent.all(sent.suspects, together=False)

    def _client(self, stack: ExitStack) -> Any:
        import dask
        from distributed import Client, LocalCluster

        if self.address is not None:
            return connect(self.address, self.wait)
        stack.enter_context(safe_children())  # also those that replace dead ones
        stack.enter_context(leftovers.scratch())
        leftovers.mark_semaphores()
        # a cell whose worker died twice runs alone, as on loky
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1}))
        try:
            with _ctrl_c_blocked():
                cluster = LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
            return Client(cluster, set_as_default=False)
        except Exception as error:  # of many kinds, by what was killed and when
            why = f"the workers of exec=dask did not start: {error_line(error)}"
            raise OmklError(f"{why}; run the same command again, or use exec=loky") from error


class _Sent:
    """The jobs that a cluster has received and not yet answered, and the state of the cluster.

    workers: those that the scheduler has    refused: addresses of those that cannot run our cells
    silent, idle: seconds without an answer of its scheduler, and without a worker
    gone: whether the scheduler was gone when it was last looked at
    """

    def __init__(self, client: Any, function: Function, settings: Dask) -> None:
        self.client, self.function, self.settings = client, function, settings
        self.address = client.scheduler.address
        # with tries, the workers that it may run on (None: all) and the result, by dask's future
        self.jobs: dict[Any, tuple[Any, int, set[str] | None, Future[Any]]] = {}
        self.data: dict[str, Any] = {}  # futures by content hash
        self.suspects: list[Any] = []
        self.workers: dict[str, int] = {}  # threads by address
        self.refused: set[str] = set()
        self.silent, self.idle, self.gone = 0.0, 0.0, False
        self.watching = self._start(self._watch())

    def all(self, jobs: Iterable[Any], together: bool) -> Outcomes:
        """Yield (job, outcome) of jobs given to the cluster many at a time or, not together, one by one.

        A job that killed its workers becomes one of the suspects, or a Failure where it ran alone.
        """
        waiting = iter(jobs)
        while True:
            room = AHEAD + sum(self.workers.values()) if together else 1
            for job in islice(waiting, max(0, room - len(self.jobs))):
                self._submit(job, 1)
            if not self.jobs:
                return
            self._check()
            arrived = [future for future, (*_, result) in self.jobs.items() if result.done()]
            if not arrived:
                time.sleep(POLL)
            for future in arrived:
                job, tries, where, result = self.jobs.pop(future)
                try:
                    outcome = result.result()
                except (Exception, CancelledError) as error:
                    if isinstance(error, Refused) and future.status == "error":
                        self._refuse(error)
                        self._submit(job, tries)
                    elif future.status == "cancelled":  # the scheduler was gone
                        self._check()
                        self._submit(job, tries)
                    elif future.status != "error":
                        self._check()
                        self.jobs[future] = job, tries, where, self._fetch(future)  # a connection broke
                    elif self._given_up(error) != future.key and tries < TRIES:
                        self._submit(job, tries + 1)  # its data were lost with others
                    elif together:
                        self.suspects.append(job)
                    else:
                        yield job, Failure(DIED)
                else:
                    yield job, outcome

    def cancel(self) -> None:
        """Cancel the jobs that have not begun."""
        self.watching.cancel()
        if self.client.status == "running":
            self.client.cancel([*self.jobs, *self.data.values()], force=True)
        self.jobs, self.data = {}, {}

    def _submit(self, job: Any, tries: int) -> None:
        bare, data, where = job, None, self.workers.keys() - self.refused if self.refused else None
        if isinstance(job, Cell) and (self.settings.remote or job.data.copy is None):
            bare, dataset = detach(job)
            data = self.data.get(job.data.content_hash)
            if data is None or data.status == "cancelled":
                data = self.client.submit(_given, dataset, pure=False, workers=where)
            self.data[job.data.content_hash] = data
        future = self.client.submit(
            work, self.function, bare, data, provenance.deciding(), pure=False, workers=where
        )
        self.jobs[future] = job, tries, where, self._fetch(future)

    def _fetch(self, future: Any) -> Future[Any]:
        """Return a future of the result's arrival: the result may be lost before, and computed again."""
        return self._start(self.client.gather(future, asynchronous=True))

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def _given_up(self, error: BaseException) -> str:
        """Return the key of the task whose workers died too often, and forget it if it was data.

        Raises OmklError for another error: the job did not kill its workers, but cannot be run there.
        """
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            what = str(error) if isinstance(error, OmklError) else error_line(error)
            raise OmklError(f"a dask worker cannot run cells: {what}")
        self.data = {digest: data for digest, data in self.data.items() if data.key != error.task}
        return str(error.task)

    async def _watch(self) -> None:
        """Ask the scheduler regularly for its workers. Time in which this process stops is not counted."""
        question = None
        while True:
            question = question or asyncio.ensure_future(self.client.scheduler.ncores())
            await asyncio.wait({question}, timeout=LOOK)
            if question.done():
                with suppress(OSError):  # a connection that broke: it counts as silence
                    self.workers, self.silent = question.result(), -LOOK
                question = None
                await asyncio.sleep(LOOK)
            self.silent += LOOK
            self.idle = 0.0 if self.workers.keys() - self.refused else self.idle + LOOK

    def _check(self) -> None:
        """Raise OmklError when the scheduler is gone or silent, or there has been no worker for too long.

        A scheduler that is gone may come back: dask's client connects again, and the jobs are sent again.
        """
        wait, status, silent = self.settings.wait, self.client.status, self.silent
        if status == "running":
            self.gone = False
        elif status != "connecting" or silent >= wait:
            raise _ended(f"the connection to the dask scheduler at {self.address} was lost")
        elif not self.gone:
            self.gone = True
            warnings.warn(f"the dask scheduler at {self.address} is gone; waiting {wait:g} s", stacklevel=2)
        if silent >= wait:
            raise _ended(f"the dask scheduler at {self.address} has not answered for {wait:g} s")
        if self.idle >= wait:
            raise _ended(f"the cluster has had no dask worker for {wait:g} s", "start workers and ")
        if self.refused and not self.gone:
            self._send_elsewhere()

    def _refuse(self, error: "Refused") -> None:
        """Use a worker no more. Raises OmklError where there is no other one."""
        first = error.worker not in self.refused
        self.refused.add(error.worker)
        self.workers = self._start(self.client.scheduler.ncores()).result(self.settings.wait)
        if not self.workers.keys() - self.refused:
            raise OmklError(f"a dask worker cannot run cells: {error}")
        if first:
            warnings.warn(f"the dask worker {error.worker} is not used: {error}", stacklevel=2)

    def _send_elsewhere(self) -> None:
        """Send those jobs again whose workers have all gone, where others have come."""
        there = self.workers.keys() - self.refused
        for future, (job, tries, allowed, result) in list(self.jobs.items()):
            if allowed is not None and not allowed & there and there and not result.done():
                del self.jobs[future]
                self.client.cancel([future], force=True)
                self._submit(job, tries)


class Refused(OmklError):
    """A worker's versions or sources differ from the command's. worker: its address."""

    def __init__(self, text: str, worker: str) -> None:
        super().__init__(text, worker)
        self.worker = worker

    def __str__(self) -> str:
        return str(self.args[0])


def _ended(why: str, remedy: str = "") -> OmklError:
    return OmklError(f"{why}. The finished cells are safe; {remedy}run the same command again to continue")


# ------------------------------------------------------------------ in the workers

_one_at_a_time = threading.Lock()  # cells hold the interpreter, whatever threads a worker has
_pools = cache(ThreadpoolController)


def _given(dataset: Dataset) -> Dataset:
    """Return the data: as a task, unlike a scattered value, they survive the death of their worker."""
    return dataset


def work(function: Function, job: Any, dataset: Dataset | None, deciding: dict[str, str]) -> Any:
    """Run one job in a worker, with data that came with it or were fetched before.

    deciding: the command's `omkl.store.provenance.deciding`. Raises Refused where it differs here.
    """
    here = provenance.deciding()
    differ = "; ".join(
        f"{name} {here.get(name, 'unknown')} there, {deciding.get(name, 'unknown')} here"
        for name in deciding | here
        if deciding.get(name) != here.get(name)
    )
    if differ:
        from distributed import get_worker

        raise Refused(
            f"the versions on {socket.gethostname()} differ: {differ}; "
            "install the same versions on both machines and restart the worker",
            get_worker().address,
        )
    with _one_at_a_time, _pools().limit(limits=1):
        if dataset is not None:  # arrays from the network may be read-only: compiled code takes writable ones
            arrays = {name: np.require(getattr(dataset, name), requirements="W") for name in ARRAYS}
            keep(replace(dataset, **arrays))
        outcome = attempt(function, job)
    own = provenance.collect("dask", 1) | provenance.stamp()
    own = {name: own[name] for name in ("versions", "commit", "dirty", "host", "cpu", "cores", "load")}
    if isinstance(outcome, Failure):
        return replace(outcome, provenance=own)
    return outcome | {"provenance": own} if isinstance(outcome, dict) else outcome


# ------------------------------------------------------------------ the terminal


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Delay Ctrl-C: a half-made cluster cannot be closed. The workers ignore Ctrl-C from now on."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would undo the mask
    with ctrl_c_later():
        mask = signal.pthread_sigmask(
            signal.SIG_BLOCK, {signal.SIGINT}
        )  # which threads and processes inherit
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's messages off the terminal: the important ones become errors of ours."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith(LOGS)]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
            yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


GRACE = 0.5  # seconds for dask's own error, which says more than a timeout
CLOSING = 3.0  # seconds that closing may take
TLS = {"ca-file": "tls_ca_file", "client.cert": "tls_client_cert", "client.key": "tls_client_key"}


# ------------------------------------------------------------------ the connection to a scheduler


def connect(address: str, wait: float) -> Any:
    """Return a client of the scheduler at an address; `close` ends it.

    Raises UserError for an invalid address, or invalid certificates in dask's configuration, OmklError when
    no scheduler answers within ``wait`` seconds.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port

    class Ours(Client):
        def __del__(self) -> None:
            """Print nothing about a client that was never complete; the others are closed."""

    security = _security(address) if address.startswith("tls://") else None
    made: list[Any] = []
    late = threading.Event()

    def make() -> None:
        try:
            made.append(Ours(address, timeout=wait, security=security, set_as_default=False))
        except Exception as error:
            made.append(error)
        if late.is_set() and isinstance(made[0], Client):
            close_client(made[0])

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


def close_client(client: Any) -> None:
    """End the connection, even to a scheduler that does not answer."""
    with contextlib.suppress(Exception):  # nothing is left to do if the scheduler has gone
        client.close(timeout=CLOSING)
    client.status = "closed"


def _security(address: str) -> Any:
    """Return how to connect, with the certificates of dask's own configuration."""
    from distributed import Security

    security = Security(require_encryption=True)
    missing = [f"distributed.comm.tls.{name}" for name, own in TLS.items() if getattr(security, own) is None]
    if missing:
        names = " and ".join(missing)
        raise UserError(f"exec.address={address}: TLS needs {names} in dask's configuration")
    try:
        security.get_connection_args("client")
    except OSError as error:  # of ssl, or a file that is not there
        text = " ".join(str(error).split())
        raise UserError(
            "distributed.comm.tls.ca-file, client.cert and client.key of dask's configuration must name the "
            f"authority's certificate, and this client's certificate and key, as PEM files: {text}"
        ) from error
    return security

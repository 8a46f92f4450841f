"""Workers of a dask cluster, through Client.submit.

joblib's own dask backend waits forever for a job that always kills its worker; here it becomes a Failure.
"""

import asyncio
import logging
import socket
import threading
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import islice
from ssl import SSLError
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from omkl.data.cache import ARRAYS
from omkl.data.dataset import Dataset
from omkl.data.ref import keep
from omkl.errors import OmklError, UserError
from omkl.passes.cell import Cell, detach
from omkl.paths import safe_children
from omkl.runs.workers import (
    WHY,
    Death,
    Failure,
    Function,
    Outcomes,
    attempt,
    ctrl_c_blocked,
    error_line,
    with_retries,
)
from omkl.store import provenance

LOOK = 1.0  # seconds without a result between questions to the scheduler
CLOSING = 30.0  # seconds that the end of a cluster made here may take
AHEAD = 64  # jobs the scheduler holds beyond one per core: more only costs it memory
LOGS = ("distributed", "tornado", "asyncio")
DIED = f"the dask workers that ran it died, the last one while it ran nothing else: {WHY}"


class Dask:
    """Jobs on a dask cluster: at ``address``, or made here with ``jobs`` workers and ended after the run.

    Data go to a cluster at an address as separate tasks, that a worker's first job fetches once. Workers made
    here map the parsed copy. A job whose workers died too often (``allowed-failures``; made here, once) runs
    again alone, and is a Failure if they die there too. ``wait``: seconds without answer or worker before
    OmklError.
    """

    name = "dask"

    def __init__(
        self, address: str | None = None, jobs: int | None = None, wait: float = 60.0, threads: int = 1
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
        with ExitStack() as stack:
            _silence(stack)
            client = stack.enter_context(self._client(stack))
            ahead = AHEAD + sum(client.nthreads().values())
            yield from with_retries(partial(self._outcomes, client, function), jobs, ahead)

    def _outcomes(self, client: Any, function: Function, jobs: Iterable[Any], ahead: int) -> Outcomes:
        """Yield (job, result or Failure), ``ahead`` jobs at a time."""
        from distributed import KilledWorker

        waiting, data = iter(jobs), dict[str, Any]()
        sent: dict[Future[Any], tuple[Any, Any]] = {}  # job and dask's future by that of the result's arrival
        while True:
            for job in islice(waiting, ahead - len(sent)):
                future = self._submit(client, function, job, data)
                # as_completed would wait forever for a result that was lost with its worker and fails again
                arrival = client.gather(future, asynchronous=True)
                sent[asyncio.run_coroutine_threadsafe(arrival, client.loop.asyncio_loop)] = job, future
            if not sent:
                return
            for arrived in self._arrived(client, sent):
                job, future = sent.pop(arrived)
                try:
                    outcome = arrived.result()
                except KilledWorker:
                    data.clear()  # it may have been the data that died too often: they are sent again
                    outcome = Death(DIED)
                except (Exception, asyncio.CancelledError) as error:
                    if future.status != "error":  # all are cancelled when the scheduler is gone
                        raise self._lost() from error
                    what = str(error) if isinstance(error, OmklError) else error_line(error)
                    raise OmklError(f"a dask worker cannot run cells: {what}") from error
                yield job, outcome

    def _submit(self, client: Any, function: Function, job: Any, data: dict[str, Any]) -> Any:
        """Return dask's future of a job; data: futures by content hash, to which its own are added."""
        dataset = None
        if isinstance(job, Cell) and (self.remote or job.data.copy is None):
            job, rows = detach(job)
            if (digest := job.data.content_hash) not in data:
                # as a task's result, unlike a scattered value, they survive the death of their worker
                data[digest] = client.submit(copy, rows, pure=False)
            dataset = data[digest]
        return client.submit(work, function, job, dataset, provenance.deciding_versions(), pure=False)

    def _arrived(self, client: Any, results: Iterable[Future[Any]]) -> set[Future[Any]]:
        """Wait for a result. Raises OmklError where the scheduler is gone or silent, or without workers."""
        seen = time.monotonic()
        while not (done := wait(results, LOOK, FIRST_COMPLETED).done):
            try:
                if client.sync(client.scheduler.ncores, callback_timeout=self.wait):
                    seen = time.monotonic()
            except TimeoutError:
                silent = f"has not answered for {self.wait:g} s"
                raise _ended(f"the dask scheduler at {self.address} {silent}") from None
            except OSError as error:
                raise self._lost() from error
            if time.monotonic() - seen >= self.wait:
                raise _ended(f"the cluster has had no dask worker for {self.wait:g} s", "start workers and ")
        return done

    def _lost(self) -> OmklError:
        return _ended(f"the connection to the dask scheduler at {self.address or 'this machine'} was lost")

    def _client(self, stack: ExitStack) -> Any:
        """Return a client of the cluster at the address, or of one made here that ends with the stack."""
        from distributed import Client

        if self.address is None:
            return self._client_here(stack)
        connection: Future[Any] = Future()

        def connect() -> None:
            try:
                connection.set_result(Client(self.address, timeout=self.wait, set_as_default=False))
            except Exception as error:
                connection.set_exception(error)

        threading.Thread(target=connect, daemon=True).start()  # a silent server would block it forever
        try:
            return connection.result(self.wait + LOOK)  # dask's own error says more than a timeout
        except (ValueError, TypeError, FileNotFoundError, SSLError) as error:
            what = "an address is such as tcp://host:8786; tls:// needs certificates, see docs/security.md"
            raise UserError(f"exec.address={self.address}: {error_line(error)}; {what}") from error
        except OSError as error:  # also TimeoutError
            text = " ".join(str(error.__cause__ or error).split())[:300]
            none = f"no dask scheduler answers within {self.wait:g} s"
            raise OmklError(f"exec.address={self.address}: {none}{text and f': {text}'}") from error

    def _client_here(self, stack: ExitStack) -> Any:
        """Return a client of a cluster made here that ends with the stack."""
        import dask
        from distributed import Client, LocalCluster

        stack.enter_context(safe_children())  # also those that replace dead ones
        # Each death costs the start of a worker. One is started again however often it dies.
        settings = {"scheduler.allowed-failures": 0, "deploy.lost-worker-timeout": "1 day"}
        stack.enter_context(dask.config.set({"distributed." + name: settings[name] for name in settings}))
        how = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
        try:
            with ctrl_c_blocked():
                cluster = LocalCluster(n_workers=self.workers, silence_logs=logging.CRITICAL, **how)
                stack.callback(_close, cluster)
            return Client(cluster, set_as_default=False)
        except Exception as error:  # of many kinds, by what was killed and when
            why = f"the workers of exec=dask did not start: {error_line(error)}"
            raise OmklError(f"{why}; run the same command again, or use exec=loky") from error


def _close(cluster: Any) -> None:
    """End a cluster made here; one that waits for a worker that only starts is left to the end of Python."""
    with suppress(TimeoutError):
        cluster.close(timeout=CLOSING)


def _ended(why: str, remedy: str = "") -> OmklError:
    return OmklError(f"{why}. The finished cells are safe; {remedy}run the same command again to continue")


def _silence(stack: ExitStack) -> None:
    """Keep the library's messages off the terminal: the important ones become errors of ours."""
    for logger in [
        logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(LOGS)
    ]:
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL + 1)
    stack.enter_context(warnings.catch_warnings())
    warnings.filterwarnings("ignore", category=UserWarning, module="distributed")


# ------------------------------------------------------------------ in the workers

_one_at_a_time = threading.Lock()  # cells hold the interpreter, whatever threads a worker has


def work(function: Function, job: Any, dataset: Dataset | None, deciding: dict[str, str]) -> Any:
    """Run one job in a worker, with data that came with it or were fetched before.

    deciding: the command's `omkl.store.provenance.deciding_versions`. Raises OmklError where it differs here.
    """
    here = provenance.deciding_versions()
    differ = [
        f"{name} {here.get(name, 'unknown')} there, {deciding.get(name, 'unknown')} here"
        for name in deciding | here
        if deciding.get(name) != here.get(name)
    ]
    if differ:
        where = f"the versions on {socket.gethostname()} differ: {'; '.join(differ)}"
        raise OmklError(f"{where}; install the same versions on both machines and restart the worker")
    with _one_at_a_time, threadpool_limits(1):
        if dataset is not None:  # arrays from the network may be read-only: compiled code takes writable ones
            arrays = {name: np.require(getattr(dataset, name), requirements="W") for name in ARRAYS}
            keep(replace(dataset, **arrays))
        outcome = attempt(function, job)
    origin = provenance.here() | {"load": provenance.stamp()["load"]}
    if isinstance(outcome, Failure):
        return replace(outcome, provenance=origin)
    return outcome | {"provenance": origin} if isinstance(outcome, dict) else outcome

"""Workers of a dask cluster, through Client.submit and as_completed.

joblib's own dask backend waits forever for a job that always kills its worker; here it becomes a Failure.
"""

import asyncio
import logging
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from omkl.errors import OmklError, UserError
from omkl.executors import dask_worker, leftovers
from omkl.executors.base import Failure, Function
from omkl.executors.dask_client import Pulse, close, connect
from omkl.learner.job import Job, detach
from omkl.store import provenance

POLL = 0.005  # seconds between looks at what has finished
LOGS = ("distributed", "tornado", "asyncio")
DIED = (
    "the dask workers that ran it died, at last while running it alone: "
    "out of memory, or a crash in compiled code"
)
TRIES = 3  # of a job whose data were lost with the workers that had them
AHEAD = 64  # jobs the scheduler holds beyond one per thread: more only costs it memory


class Dask:
    """Jobs on a dask cluster: at ``address``, or made here with ``jobs`` workers and ended after the run.

    Data go to a cluster at an address as separate tasks. A worker's first job fetches them once, from another
    worker if one has them. Workers made here map the parsed copy. When a worker dies, the scheduler reruns
    its jobs. A job whose workers died too often (the scheduler's ``allowed-failures``) runs again alone, and
    becomes a Failure if its workers die there as well. Workers may come and go.
    ``wait``: seconds without an answer, or without any worker, until the run ends with OmklError.
    ``tls``: the certificates for an address with TLS, see conf/exec/dask.yaml.
    """

    name = "dask"

    def __init__(
        self, address: str | None = None, jobs: int | None = None, wait: float = 60.0, **tls: str | None
    ) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise UserError("exec=dask needs the package distributed: pip install 'omkl[dask]'") from None
        from omkl.store.provenance import cores

        self.address, self.wait, self.tls = address, wait, tls
        if address is None and any(tls.values()):
            raise UserError("exec.tls_…: certificates are for a cluster at exec.address=tls://host:8786")
        self.remote = address is not None
        self.workers = 1 if self.remote else jobs or cores()  # a remote worker computes one at a time

    def run(self, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (job, result or Failure) as they finish.

        Raises UserError for an invalid address, OmklError when the cluster cannot be reached, disappears, has
        no workers, or has workers that cannot run the function.
        """
        with _quiet(), ExitStack() as stack:
            client = self._client(stack)
            stack.callback(close, client)
            sent = _Sent(client, function, self)
            try:
                for together in (True, False):
                    yield from sent.all(jobs, together)
                    jobs, sent.suspects = sent.suspects, []
            finally:
                sent.cancel()

    def _client(self, stack: ExitStack) -> Any:
        import dask
        from distributed import Client, LocalCluster

        if not self.remote:
            stack.enter_context(leftovers.scratch())
            leftovers.mark_semaphores()
            # a cell whose worker died twice runs alone, as on loky
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1}))
            with _ctrl_c_later():
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
        return connect(self.address, self.wait, self.tls)


class _Sent:
    """The jobs that a cluster has received and not yet answered."""

    def __init__(self, client: Any, function: Function, settings: Dask) -> None:
        self.client, self.function, self.settings = client, function, settings
        self.address = client.scheduler.address
        self.jobs: dict[Any, tuple[Any, int]] = {}  # and their tries, by their future
        self.data: dict[str, Any] = {}  # futures by content hash
        self.suspects: list[Any] = []
        self.pulse = Pulse(client)

    def all(self, jobs: Iterable[Any], together: bool) -> Iterator[tuple[Any, Any]]:
        """Yield (job, outcome) of jobs given to the cluster many at a time or, not together, one by one.

        A job that killed its workers becomes one of the suspects, or a Failure where it ran alone.
        """
        from distributed import as_completed

        waiting = iter(jobs)
        finished = as_completed(loop=self.client.loop)  # with_results=True would lose errors on arrival
        arriving: dict[Any, Any] = {}
        while True:
            room = AHEAD + self.pulse.threads if together else 1
            for job in islice(waiting, max(0, room - len(self.jobs))):
                finished.add(self._submit(job, 1))
            if not self.jobs:
                return
            self._look()
            arriving |= {future: self._fetch(future) for future in finished.next_batch(block=False)}
            arrived = [future for future, result in arriving.items() if result.done()]
            if not arrived:
                time.sleep(POLL)
            for future in arrived:
                error, result = _outcome(arriving.pop(future))
                if error is not None and future.status != "error":
                    if future.status == "cancelled" or self.client.status != "running":
                        raise self._gone()
                    finished.add(future)  # a connection that broke
                    continue
                job, tries = self.jobs.pop(future)
                if error is None:
                    yield job, result
                elif self._given_up(error) != future.key and tries < TRIES:  # its data were lost with others
                    finished.add(self._submit(job, tries + 1))
                elif together:
                    self.suspects.append(job)
                else:
                    yield job, Failure(DIED)

    def _fetch(self, future: Any) -> Any:
        """Return a future of the result's arrival: the result may be lost before, and computed again."""

        async def fetch() -> Any:
            return await self.client.gather(future, asynchronous=True)

        return asyncio.run_coroutine_threadsafe(fetch(), self.client.loop.asyncio_loop)

    def _given_up(self, error: BaseException) -> str:
        """Return the key of the task whose workers died too often, and forget it if it was data.

        Raises OmklError for another error: the job did not kill its workers, but cannot be run there.
        """
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            what = str(error) if isinstance(error, OmklError) else _line(error)
            raise OmklError(f"a dask worker cannot run cells: {what}")
        self.data = {digest: data for digest, data in self.data.items() if data.key != error.task}
        return error.task

    def cancel(self) -> None:
        """Cancel the jobs that have not begun."""
        if self.client.status == "running":
            self.client.cancel([*self.jobs, *self.data.values()], force=True)
        self.jobs, self.data = {}, {}

    def _submit(self, job: Any, tries: int) -> Any:
        data = None
        if isinstance(job, Job) and (self.settings.remote or not isinstance(job.data, Path)):
            bare, dataset = detach(job)
            digest = job.content_hash
            if digest not in self.data:
                key = f"omkl-data-{uuid.uuid4().hex}"
                self.data[digest] = self.client.submit(dask_worker.given, dataset, key=key)
            data = self.data[digest]
        else:
            bare = job
        deciding = provenance.deciding()
        future = self.client.submit(dask_worker.work, self.function, bare, data, deciding, pure=False)
        self.jobs[future] = job, tries
        return future

    def _look(self) -> None:
        """Raise OmklError when the scheduler is gone or silent, or there has been no worker for too long."""
        if self.client.status != "running":
            raise self._gone()
        self.pulse.look()
        wait = self.settings.wait
        if self.pulse.silent > wait:
            raise OmklError(
                f"the dask scheduler at {self.address} has not answered for {wait:g} s. "
                "The finished cells are safe; run the same command again to continue"
            )
        if self.pulse.idle > wait:
            raise OmklError(
                f"the cluster has had no dask worker for {wait:g} s. "
                "The finished cells are safe; start workers and run the same command again"
            )

    def _gone(self) -> OmklError:
        return OmklError(
            f"the connection to the dask scheduler at {self.address} is lost. "
            "The finished cells are safe; run the same command again to continue"
        )


def _outcome(arrived: Any) -> tuple[BaseException | None, Any]:
    """Return the error, if any, and the result."""
    try:
        return None, arrived.result()
    except Exception as error:
        return error, None


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Delay Ctrl-C: a half-made cluster cannot be closed. The workers ignore Ctrl-C from now on."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it later would undo the mask
    pressed = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which threads and processes inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's messages off the terminal: the important ones become errors of ours."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(LOGS)]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="distributed")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
